"""Channels of shim tiles by name."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.attrs import PacketInfo
from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aie.runtime import ShimDmaAllocationOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.passes.report import op_error


@dataclass(frozen=True)
class Channel:
    """A DMA channel of a tile, and the header of what goes through it."""

    tile: SSAValue
    direction: Direction
    index: int
    packet: PacketInfo | None = None


def allocations(device: DeviceOp) -> dict[str, ShimDmaAllocationOp]:
    """The shim allocations of a device by name."""
    return {op.symbol: op for op in device.block.ops if isinstance(op, ShimDmaAllocationOp)}


def channel_of(op: Operation, name: str, names: dict[str, ShimDmaAllocationOp], sink: Sink) -> Channel | None:
    """The channel that `op` means by a name; None, and an error at `op`, where there is none."""
    found = names.get(name)
    if found is None:
        op_error(sink, op, "no shim DMA allocation found for symbol", code="E1002")
        return None
    if found.tile_op is None:
        op_error(sink, op, "shim DMA allocation must reference a valid TileOp", code="E1002")
        return None
    return Channel(found.tile, found.direction, found.channel, found.packet)
