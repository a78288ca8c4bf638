"""Registers and memory that a sequence names itself: that they are there."""

from __future__ import annotations

from aiecc.ir.dialects.aie.memory import BufferOp, constant_int, element_count, size_in_bytes
from aiecc.ir.dialects.aiex.npu import Addressed, NpuBlockWriteOp
from aiecc.ir.errors import VerifyError
from aiecc.model.targets import Target


def start_of(op: Addressed, buffer: BufferOp | None, target: Target) -> int:
    """The address of the buffer an op names. Raises VerifyError where there is none."""
    if buffer is None:
        raise VerifyError(f"buffer '{op.buffer}' not found in device", op, bare=True)
    tile = buffer.tile_op
    if buffer.address is None or tile is None or tile.coord is None:
        note = ("This buffer must have an address.", buffer)
        raise VerifyError("referenced buffer must have address assigned", op, [note], bare=True)
    return target.tile_base(*tile.coord) + buffer.address


def outside(name: str, buffer: BufferOp | None, first: int | None, count: int = 1) -> str:
    """What is wrong with words that are named in a buffer, from word `first` on; empty where nothing is known to be."""
    size = size_in_bytes(buffer.results[0].type) if buffer is not None else 0
    if first is None or not size or 0 <= 4 * first <= size - 4 * count:
        return ""
    what = f"word {first}" if count == 1 else f"words {first} to {first + count - 1}"
    return f"names {what} of buffer '{name}', which holds {size // 4} words"


def first_word(op: Addressed) -> tuple[int | None, int]:
    """What a write names first, None where that is not known, and how many words it writes."""
    if isinstance(op, NpuBlockWriteOp):
        return op.address, element_count(op.data.type) or 1
    return constant_int(op.operands[0]), 1


def elsewhere(op: Addressed, target: Target) -> str | None:
    """What is odd about an address that is meant inside a tile: bits of another tile, which go. Raises VerifyError for
    a tile that is not there."""
    if op.buffer is not None or op.column is None or op.row is None:
        return None
    col, row = op.column, op.row
    if target.tile_kind(col, row) is None:
        raise VerifyError(f"tile ({col}, {row}) does not exist on the device", op)
    address, _ = first_word(op)
    if address is None:
        return None
    shift = target.family.row_shift
    high = (address & 0xFFFFFFFF) >> shift
    # The whole address is as good, if it is one of the tile.
    if not high or high == target.tile_base(col, row) >> shift:
        return None
    there = target.tile_base(col, row) | address & (1 << shift) - 1
    return f"address {address & 0xFFFFFFFF:#x} is not one of tile ({col}, {row}): {there:#x} is meant"
