"""A design after the whole objectFifo lowering, told in short texts."""

from __future__ import annotations

from chainkit import Told, programs
from passkit import Ran

from aiecc.ir.dialects.aie.flows import FlowOp, PacketFlowOp
from aiecc.ir.dialects.aie.memory import BufferOp, LockOp
from aiecc.ir.dialects.aie.runtime import ShimDmaAllocationOp
from aiecc.ir.passes.fifo_transform import ObjectFifoStatefulTransform
from aiecc.ir.text import print_module
from aiecc.ir.verify import verify


class Lowered(Ran):
    """A design after all passes, once and once more: the second time changes nothing."""

    def __init__(self, text: str, *, check: bool = True) -> None:
        super().__init__(text, ObjectFifoStatefulTransform(skip_verify=not check))
        assert self.said == []
        assert not verify(self.module)
        once = self.text
        ObjectFifoStatefulTransform(skip_verify=not check).apply(self.device, self.sink)
        assert self.said == [] and print_module(self.module) == once
        assert "objectfifo.pool" not in once and "endpoint" not in once and "aie.route" not in once

    @property
    def buffers(self) -> dict[str, list[str]]:
        """The pools' buffers on each tile, in order: `0,2` -> names. Those of the cores' results are left out."""
        return self._held(BufferOp, lambda op: f"{op.symbol}")

    @property
    def locks(self) -> dict[str, list[str]]:
        """The locks on each tile, in order, as `name=init`."""
        return self._held(LockOp, lambda op: f"{op.symbol}={op.init}")

    def _held(self, kind: type, told) -> dict[str, list[str]]:  # type: ignore[no-untyped-def]
        found: dict[str, list[str]] = {}
        for op in self.ops(kind):
            if not op.symbol.startswith("seen"):
                found.setdefault(",".join(map(str, op.tile_op.coord)), []).append(told(op))
        return found

    @property
    def flows(self) -> list[str]:
        """`0,2 DMA 0 -> 2,4 DMA 0`, packets behind their id."""
        found: list[str] = []
        for op in self.device.block.ops:
            if isinstance(op, FlowOp):
                ends = [(op.source_tile, op.source_port), (op.dest_tile, op.dest_port)]
                found.append(" -> ".join(_port(tile, port) for tile, port in ends))
            elif isinstance(op, PacketFlowOp):
                ends = [" + ".join(_port(end.tile_op, end.port) for end in group) for group in (op.sources, op.dests)]
                found.append(f"{op.id}: " + " -> ".join(ends))
        return found

    @property
    def records(self) -> list[str]:
        """The shim records: `name MM2S 0`, with the id of their packets."""
        return [
            f"{op.symbol} {op.direction.word} {op.channel}" + (f" id {op.packet.pkt_id}" if op.packet else "")
            for op in self.ops(ShimDmaAllocationOp)
        ]

    @property
    def programs(self) -> dict[str, Told]:
        return programs(self.module)


def _port(tile, port) -> str:  # type: ignore[no-untyped-def]
    return f"{tile.coord[0]},{tile.coord[1]} {port.bundle.word} {port.channel}"
