"""What a sequence does to channels by writing registers by address."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation

from aiecc.ir.dialects.aie.memory import constant_int, element_count
from aiecc.ir.dialects.aiex.npu import (
    NpuBlockWriteOp,
    NpuBlockWriteValuesOp,
    NpuMaskWrite32Op,
    NpuWrite32Op,
)
from aiecc.ir.dialects.aiex.transfers import NpuDmaMemcpyNdOp
from aiecc.ir.runtime.tasks import ChannelKey
from aiecc.model.targets import DmaDirection, Target

CONTROL_PACKETS = "ctrlpkt"
"""How the names of channels begin through which a sequence sends writes of registers as data."""


class ByHand:
    """The channels whose registers a sequence writes by address: nobody knows what is pushed there."""

    def __init__(self, ops: Iterable[Operation], target: Target) -> None:
        self.keys: set[ChannelKey] = set()
        self.all = False
        for op in ops:
            if isinstance(op, NpuDmaMemcpyNdOp):
                self.all |= op.metadata.startswith(CONTROL_PACKETS)
            elif isinstance(op, NpuWrite32Op | NpuMaskWrite32Op | NpuBlockWriteOp | NpuBlockWriteValuesOp):
                written = _registers(op, target)
                if written is None:
                    self.all = True
                else:
                    self.keys.update(_channels(*written, target))

    def __contains__(self, key: ChannelKey) -> bool:
        return self.all or key in self.keys


def _registers(
    op: NpuWrite32Op | NpuMaskWrite32Op | NpuBlockWriteOp | NpuBlockWriteValuesOp, target: Target
) -> tuple[int, int] | None:
    """The first address an op writes, and how many words; no words for memory. None where that is not known."""
    if isinstance(op, NpuBlockWriteValuesOp):
        address, count = constant_int(op.operands[0]), len(op.operands) - 1
        return None if address is None else (address & 0xFFFFFFFF, count)
    if op.buffer is not None:
        return 0, 0
    if isinstance(op, NpuBlockWriteOp):
        type = op.data.type
        address, count = op.address, element_count(type) if isinstance(type, MemRefType) else None
    else:
        address, count = constant_int(op.operands[0]), 1
    if address is None or count is None:
        return None
    if op.column is not None and op.row is not None:
        return target.tile_base(op.column, op.row) | address & 0xFFFFF, count
    return address & 0xFFFFFFFF, count


def _channels(address: int, count: int, target: Target) -> Iterator[ChannelKey]:
    """The channels that have a control or queue register among some words."""
    family = target.family
    col, row = address >> family.column_shift, address >> family.row_shift & 0x1F
    kind = target.tile_kind(col, row)
    dma = target.dma(kind) if kind is not None else None
    for direction in (DmaDirection.S2MM, DmaDirection.MM2S) if dma is not None else ():
        for channel in range(dma.channels if dma is not None else 0):
            control = target.channel_control(col, row, direction, channel)
            if control is not None and address < control + 8 and control < address + 4 * count:
                yield (col, row), int(direction is DmaDirection.MM2S), channel
