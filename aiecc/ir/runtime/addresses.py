"""Registers and memory that a sequence names itself: that they are there."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerType

from aiecc.ir.dialects.aie.memory import BufferOp, constant_int, element_count, size_in_bytes
from aiecc.ir.dialects.aiex.lookup import sequence_of
from aiecc.ir.dialects.aiex.npu import Addressed, NpuAddressPatchOp, NpuBlockWriteOp, NpuUpdateFromScratchpadOp
from aiecc.ir.dialects.constraints import number
from aiecc.ir.errors import VerifyError
from aiecc.model.targets import Target, TileKind


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
    if isinstance(op, NpuUpdateFromScratchpadOp):
        return number(op.address_attr) or 0, 1
    return constant_int(op.operands[0]), 1


def elsewhere(op: Addressed, target: Target) -> str | None:
    """What is odd about an address: not on the array, between registers, or of another tile than the one it is meant
    in. Raises VerifyError for a tile that is not there, or is told by half."""
    col, row = op.column, op.row
    if (col is None) != (row is None):
        given, missing = ("row", "column") if col is None else ("column", "row")
        raise VerifyError(f"names a {given} and no {missing}: registers of a tile need both, others neither", op)
    if op.buffer is not None:
        return None if col is None else f"names both a buffer and a tile: the place of buffer '{op.buffer}' counts"
    address, _ = first_word(op)
    if col is None or row is None:
        return None if address is None else _off(address & 0xFFFFFFFF, target)
    if target.tile_kind(col, row) is None:
        raise VerifyError(f"tile ({col}, {row}) does not exist on the device", op)
    if address is None:
        return None
    if address % 4:
        return _off(target.tile_base(col, row) | address & (1 << target.family.row_shift) - 1, target)
    shift = target.family.row_shift
    high = (address & 0xFFFFFFFF) >> shift
    # The whole address is as good, if it is one of the tile.
    if not high or high == target.tile_base(col, row) >> shift:
        return None
    there = target.tile_base(col, row) | address & (1 << shift) - 1
    return f"address {address & 0xFFFFFFFF:#x} is not one of tile ({col}, {row}): {there:#x} is meant"


def _off(address: int, target: Target) -> str | None:
    """What is odd about a whole address."""
    family = target.family
    col, row = address >> family.column_shift, address >> family.row_shift & 0x1F
    if target.tile_kind(col, row) is None:
        return f"address {address:#x} is one of tile ({col}, {row}), which does not exist on the device"
    return f"address {address:#x} is not one of a 32-bit word: no multiple of 4" if address % 4 else None


def odd_patch(op: NpuAddressPatchOp, target: Target) -> str | None:
    """What is odd about an address of a host buffer that is put somewhere: no such buffer, or no such place."""
    sequence = sequence_of(op)
    if sequence is None or op.addr_val is not None:
        return None
    arguments = sequence.body.block.args
    if op.arg_idx >= len(arguments):
        return f"puts the address of argument {op.arg_idx}, and the sequence has {len(arguments)}"
    type = arguments[op.arg_idx].type if op.arg_idx >= 0 else None
    if isinstance(type, IntegerType | IndexType):
        return f"puts the address of argument {op.arg_idx}, which is a number"
    size, plus = size_in_bytes(type) if type is not None else 0, constant_int(op.arg_plus)
    if plus is not None and 0 < size <= plus & 0xFFFFFFFF:
        return f"puts the address of byte {plus & 0xFFFFFFFF} of argument {op.arg_idx}, which has {size} bytes"
    return (
        None
        if _holds_address(op.addr, target)
        else (f"puts the address of a host buffer at {op.addr:#x}, where no shim descriptor has its address")
    )


def _holds_address(address: int, target: Target) -> bool:
    family = target.family
    col, row = address >> family.column_shift, address >> family.row_shift & 0x1F
    kind = target.tile_kind(col, row)
    dma = target.dma(kind) if kind is TileKind.SHIM_NOC else None
    if dma is None:
        return False
    bd, rest = divmod((address & (1 << family.row_shift) - 1) - dma.bd_base, dma.bd_pitch)
    return 0 <= bd < dma.bds and rest == dma.bd_address_offset
