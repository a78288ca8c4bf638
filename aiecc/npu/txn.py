"""Transactions: what the NPU's command processor executes, as a flat list of 32-bit little-endian words.

`encode` writes version 0.1, `decode` reads 0.1 and the shorter 1.0. Offsets and sizes are bytes.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from aiecc.base.collector import paused
from aiecc.model.targets import Target
from aiecc.npu.bits import Unfit

WRITE, BLOCKWRITE, MASKWRITE, MASKPOLL, PREEMPT, LOADPDI = 0, 1, 3, 4, 6, 8
CREATE_SCRATCHPAD, UPDATE_REG, TCT, DDR_PATCH = 10, 12, 0x80, 0x81

OPCODES = {
    WRITE: "WRITE32",
    BLOCKWRITE: "BLOCKWRITE",
    MASKWRITE: "MASKWRITE",
    MASKPOLL: "MASKPOLL",
    PREEMPT: "PREEMPT",
    LOADPDI: "LOAD_PDI",
    CREATE_SCRATCHPAD: "CREATE_SCRATCHPAD",
    UPDATE_REG: "UPDATE_FROM_SCRATCHPAD",
    TCT: "TCT",
    DDR_PATCH: "ADDRESS_PATCH",
}

FIRMWARE_BUFFERS = 5
"""The firmware translates the addresses of so many host buffers; those of later ones are folded by the compiler."""
FOLD = 0x8000_0000
"""What folding adds to the offset of a patch."""
FUNCTIONS = ("mul", "incr", "decr")


@dataclass(frozen=True, slots=True)
class Write:
    """Write one register."""

    address: int
    value: int


@dataclass(frozen=True, slots=True)
class BlockWrite:
    """Write consecutive registers. `tile`: (column, row) where the header says it, else None."""

    address: int
    data: tuple[int, ...]
    tile: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class MaskWrite:
    """Change the bits of a register that `mask` has."""

    address: int
    value: int
    mask: int


@dataclass(frozen=True, slots=True)
class MaskPoll:
    """Wait until the bits of a register that `mask` has are those of `value`.

    No public description has its words; they follow those of MASKWRITE, whose head it shares.
    """

    address: int
    value: int
    mask: int


@dataclass(frozen=True, slots=True)
class Preempt:
    """A place where another context may take over. Level 0 none, 1 memory tile, 2 core tile, 3 core registers."""

    level: int


@dataclass(frozen=True, slots=True)
class LoadPdi:
    """Load a configuration."""

    id: int
    size: int
    address: int


@dataclass(frozen=True, slots=True)
class CreateScratchpad:
    """Reserve host memory for parameters. `size` in bytes, a multiple of 4 up to 128."""

    size: int
    usage: int = 0


@dataclass(frozen=True, slots=True)
class UpdateReg:
    """Add a value derived from a scratchpad word to a 48-bit address register. `function`: 0 mul, 1 incr, 2 decr."""

    index: int
    function: int
    argument: int
    address: int


@dataclass(frozen=True, slots=True)
class Sync:
    """Wait for a task-completion token of `columns` x `rows` channels from (col, row) on."""

    col: int
    row: int
    sends: bool
    channel: int
    columns: int = 1
    rows: int = 1


@dataclass(frozen=True, slots=True)
class Patch:
    """Write the address of host buffer `argument` plus `plus` bytes into the descriptor words from `address` on."""

    address: int
    argument: int
    plus: int


Op: TypeAlias = (
    Write | BlockWrite | MaskWrite | MaskPoll | Preempt | LoadPdi | CreateScratchpad | UpdateReg | Sync | Patch
)


@dataclass(frozen=True, slots=True)
class Header:
    """The first four words. `unread`: bits of the second that are set and mean nothing."""

    rows: int
    generation: int
    columns: int
    mem_rows: int
    operations: int
    size: int
    major: int = 0
    minor: int = 1
    unread: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """One operation and the bytes it takes. `unread`: numbers of its words, with bits set there that mean nothing."""

    offset: int
    size: int
    op: Op
    unread: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """A transaction as read. `stopped`: what is wrong with the rest, and at which byte; None if all of it was read."""

    header: Header
    entries: tuple[Entry, ...]
    stopped: tuple[int, str] | None = None


class NotATransaction(ValueError):
    """Bytes of which nothing can be read."""


def _fit(name: str, value: int, bits: int) -> int:
    if not 0 <= value < 1 << bits:
        raise Unfit(name, value, 0, (1 << bits) - 1)
    return value


def _word(name: str, value: int) -> int:
    """A 32-bit word; signed values are taken as their two's complement."""
    if not -(1 << 31) <= value < 1 << 32:
        raise Unfit(name, value, 0, 0xFFFFFFFF)
    return value & 0xFFFFFFFF


def words_of(op: Op, *, fold: bool = True) -> list[int]:
    """The words of one operation. `fold`: patches of later host buffers carry `FOLD`.

    Raises Unfit for a value that does not fit.
    """
    match op:
        case Write(address, value):
            return [WRITE, 0, _word("address", address), 0, _word("value", value), 24]
        case BlockWrite(address, data, tile):
            where = 0 if tile is None else _fit("column", tile[0], 8) | _fit("row", tile[1], 8) << 8
            payload = [_word("data", word) for word in data]
            return [BLOCKWRITE, where, _word("address", address), 16 + 4 * len(payload), *payload]
        case MaskWrite(address, value, mask):
            return [MASKWRITE, 0, _word("address", address), 0, _word("value", value), _word("mask", mask), 28]
        case MaskPoll(address, value, mask):
            return [MASKPOLL, 0, _word("address", address), 0, _word("value", value), _word("mask", mask), 28]
        case Preempt(level):
            return [PREEMPT | _fit("level", level, 8) << 8]
        case LoadPdi(id, size, address):
            whole = _fit("address", address, 64)
            return [LOADPDI | _fit("id", id, 16) << 16, _word("size", size), whole & 0xFFFFFFFF, whole >> 32]
        case CreateScratchpad(size, usage):
            return [CREATE_SCRATCHPAD | _fit("usage_type", usage, 8) << 8, _word("size", size), 0, 0]
        case UpdateReg(index, function, argument, address):
            head = UPDATE_REG | _fit("state_table_idx", index, 8) << 8 | _fit("func", function, 8) << 16
            return [head, _word("func_arg", argument), _word("address", address)]
        case Sync(col, row, sends, channel, columns, rows):
            where = int(sends) | _fit("row", row, 8) << 8 | _fit("column", col, 8) << 16
            many = _fit("row_num", rows, 8) << 8 | _fit("column_num", columns, 8) << 16
            return [TCT, 16, where, many | _fit("channel", channel, 8) << 24]
        case Patch(address, argument, plus):
            more = plus + FOLD if fold and argument >= FIRMWARE_BUFFERS else plus
            index = _fit("arg_idx", argument, 32)
            return [DDR_PATCH, 48, 0, 0, 0, 0, _word("address", address), 0, index, 0, _fit("arg_plus", more, 32), 0]


def encode(target: Target, ops: Iterable[Op], *, fold: bool = True) -> bytes:
    """A whole transaction for a device, version 0.1. Raises Unfit for a value that does not fit."""
    count, body = 0, array("I")
    for op in ops:
        body.extend(words_of(op, fold=fold))
        count += 1
    if sys.byteorder == "big":
        body.byteswap()
    data = body.tobytes()
    head = struct.pack(
        "<IIII",
        target.rows << 24 | target.txn_generation << 16 | 1 << 8,
        target.mem_rows << 8 | target.columns,
        count,
        16 + len(data),
    )
    return head + data


def decode(data: bytes) -> Program:
    """Read a transaction. What cannot be read ends it: `Program.stopped` says where and why.

    Raises NotATransaction where not even the header can be.
    """
    if len(data) < 16:
        raise NotATransaction(f"Transaction binary is too small for header: {len(data)} of 16 bytes")
    usable = len(data) & ~3
    words = array("I", data[:usable])
    if sys.byteorder == "big":
        words.byteswap()
    first, second, count, size = words[0], words[1], words[2], words[3]
    header = Header(
        rows=first >> 24,
        generation=first >> 16 & 0xFF,
        columns=second & 0xFF,
        mem_rows=second >> 8 & 0xFF,
        operations=count,
        size=size,
        major=first & 0xFF,
        minor=first >> 8 & 0xFF,
        unread=second & 0xFFFF0000,
    )
    if (header.major, header.minor) not in ((0, 1), (1, 0)):
        raise NotATransaction(f"Unsupported TXN binary version: {header.major}.{header.minor}")
    with paused():
        entries, stopped = _entries(words, header.major == 1, count)
    if stopped is None:
        end = entries[-1].offset + entries[-1].size if entries else 16
        if end != len(data):
            stopped = end, f"{len(data) - end} bytes follow the last of {count} operations"
        elif size != len(data):
            stopped = 12, f"the header says {size} bytes, there are {len(data)}"
    return Program(header, tuple(entries), stopped)


def _entries(words: Sequence[int], short: bool, count: int) -> tuple[list[Entry], tuple[int, str] | None]:
    entries: list[Entry] = []
    at, end = 4, len(words)
    readers, reserved = (_SHORT, _RESERVED_SHORT) if short else (_LONG, _RESERVED)
    for _ in range(count):
        if at >= end:
            return entries, (4 * at, f"the header says {count} operations, there are {len(entries)}")
        opcode = words[at] & 0xFF
        read = readers.get(opcode)
        if read is None:
            return entries, (4 * at, f"Unhandled opcode: {opcode}")
        try:
            op, length = read(words, at)
        except IndexError:
            return entries, (4 * at, "Transaction binary truncated while parsing opcode")
        except _Damaged as damage:
            return entries, (4 * at, str(damage))
        if at + length > end:
            return entries, (4 * at, "Transaction binary truncated while parsing opcode")
        unread: tuple[tuple[int, int], ...] = ()
        for place, bits in reserved[opcode]:
            if words[at + place] & bits:
                unread += ((place, words[at + place] & bits),)
        if opcode == DDR_PATCH and length > PATCH_WORDS:
            unread += tuple((i, words[at + i]) for i in range(PATCH_WORDS, length) if words[at + i])
        entries.append(Entry(4 * at, 4 * length, op, unread))
        at += length
    return entries, None


class _Damaged(ValueError):
    pass


def _sized(words: Sequence[int], at: int, place: int, expected: int | None, least: int = 0) -> int:
    """The number of words an operation says it has, if it can be true."""
    size = words[at + place]
    if size % 4 or size < least or (expected is not None and size != expected):
        wanted = f"{expected}" if expected is not None else f"at least {least}"
        raise _Damaged(f"{OPCODES[words[at] & 0xFF]} says it has {size} bytes instead of {wanted}")
    return size // 4


def _write(words: Sequence[int], at: int) -> tuple[Op, int]:
    return Write(words[at + 2], words[at + 4]), _sized(words, at, 5, 24)


def _write_short(words: Sequence[int], at: int) -> tuple[Op, int]:
    return Write(words[at + 1], words[at + 2]), 3


def _block(words: Sequence[int], at: int) -> tuple[Op, int]:
    length = _sized(words, at, 3, None, 16)
    where = words[at + 1]
    if at + length > len(words):
        raise IndexError
    tile = (where & 0xFF, where >> 8 & 0xFF) if where else None
    return BlockWrite(words[at + 2], tuple(words[at + 4 : at + length]), tile), length


def _block_short(words: Sequence[int], at: int) -> tuple[Op, int]:
    length = _sized(words, at, 2, None, 12)
    if at + length > len(words):
        raise IndexError
    return BlockWrite(words[at + 1], tuple(words[at + 3 : at + length])), length


def _mask(words: Sequence[int], at: int) -> tuple[Op, int]:
    length = _sized(words, at, 6, 28)
    cls = MaskPoll if words[at] & 0xFF == MASKPOLL else MaskWrite
    return cls(words[at + 2], words[at + 4], words[at + 5]), length


def _mask_short(words: Sequence[int], at: int) -> tuple[Op, int]:
    return MaskWrite(words[at + 1], words[at + 2], words[at + 3]), 4


def _preempt(words: Sequence[int], at: int) -> tuple[Op, int]:
    return Preempt(words[at] >> 8 & 0xFF), 1


def _load_pdi(words: Sequence[int], at: int) -> tuple[Op, int]:
    return LoadPdi(words[at] >> 16, words[at + 1], words[at + 2] | words[at + 3] << 32), 4


def _scratchpad(words: Sequence[int], at: int) -> tuple[Op, int]:
    return CreateScratchpad(words[at + 1], words[at] >> 8 & 0xFF), 4


def _update(words: Sequence[int], at: int) -> tuple[Op, int]:
    head = words[at]
    return UpdateReg(head >> 8 & 0xFF, head >> 16 & 0xFF, words[at + 1], words[at + 2]), 3


def _sync(words: Sequence[int], at: int) -> tuple[Op, int]:
    length = _sized(words, at, 1, 16)
    where, many = words[at + 2], words[at + 3]
    op = Sync(
        col=where >> 16 & 0xFF,
        row=where >> 8 & 0xFF,
        sends=bool(where & 1),
        channel=many >> 24,
        columns=many >> 16 & 0xFF,
        rows=many >> 8 & 0xFF,
    )
    return op, length


def _patch(words: Sequence[int], at: int) -> tuple[Op, int]:
    length = _sized(words, at, 1, None, 44)
    argument, plus = words[at + 8], words[at + 10]
    if argument >= FIRMWARE_BUFFERS and plus >= FOLD:
        plus -= FOLD
    return Patch(words[at + 6], argument, plus), length


_LONG = {
    WRITE: _write,
    BLOCKWRITE: _block,
    MASKWRITE: _mask,
    MASKPOLL: _mask,
    PREEMPT: _preempt,
    LOADPDI: _load_pdi,
    CREATE_SCRATCHPAD: _scratchpad,
    UPDATE_REG: _update,
    TCT: _sync,
    DDR_PATCH: _patch,
}
_SHORT = {**_LONG, WRITE: _write_short, BLOCKWRITE: _block_short, MASKWRITE: _mask_short}

PATCH_WORDS = 11
"""Words of the shortest patch: what may follow says nothing."""
_ALL, _HEAD = 0xFFFFFFFF, (0, 0xFFFFFF00)
_RESERVED: dict[int, tuple[tuple[int, int], ...]] = {
    WRITE: (_HEAD, (1, _ALL), (3, _ALL)),
    BLOCKWRITE: (_HEAD, (1, 0xFFFF0000)),
    MASKWRITE: (_HEAD, (1, _ALL), (3, _ALL)),
    MASKPOLL: (_HEAD, (1, _ALL), (3, _ALL)),
    PREEMPT: ((0, 0xFFFF0000),),
    LOADPDI: ((0, 0xFF00),),
    CREATE_SCRATCHPAD: ((0, 0xFFFF0000), (2, _ALL), (3, _ALL)),
    UPDATE_REG: ((0, 0xFF000000),),
    TCT: (_HEAD, (2, 0xFF0000FE), (3, 0xFF)),
    DDR_PATCH: (_HEAD, (2, _ALL), (3, _ALL), (4, _ALL), (5, _ALL), (7, _ALL), (9, _ALL)),
}
"""By opcode: words of an operation, and their bits that are always 0. The upper half of an address is one of them."""
_RESERVED_SHORT = {**_RESERVED, WRITE: (_HEAD,), BLOCKWRITE: (_HEAD,), MASKWRITE: (_HEAD,)}
