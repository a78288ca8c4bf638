"""Transactions as text and as JSON: every operation with the registers and fields it means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aiecc.model.targets import Target
from aiecc.npu.bits import Layout
from aiecc.npu.registers import DESCRIPTORS, Register, device_of, locate
from aiecc.npu.txn import (
    FUNCTIONS,
    OPCODES,
    BlockWrite,
    CreateScratchpad,
    Entry,
    LoadPdi,
    MaskPoll,
    MaskWrite,
    Op,
    Patch,
    Preempt,
    Program,
    Sync,
    UpdateReg,
    Write,
)

_NAMES = {
    Write: "write32",
    BlockWrite: "blockwrite",
    MaskWrite: "maskwrite32",
    MaskPoll: "maskpoll",
    Preempt: "preempt",
    LoadPdi: "load_pdi",
    CreateScratchpad: "create_scratchpad",
    UpdateReg: "update_from_scratchpad",
    Sync: "sync",
    Patch: "address_patch",
}


def device_for(program: Program, target: Target | None = None) -> Target | None:
    """The device whose names are used: the one given, else the one the header describes."""
    header = program.header
    return target or device_of(header.columns, header.rows, header.mem_rows, header.generation)


def facts(program: Program, target: Target | None = None) -> dict[str, Any]:
    """All of it as plain values, for JSON. `operations` holds the bytes each takes, and what each says."""
    device = device_for(program, target)
    header = program.header
    found: dict[str, Any] = {
        "version": f"{header.major}.{header.minor}",
        "device": device.name if device is not None else None,
        "generation": header.generation,
        "columns": header.columns,
        "rows": header.rows,
        "mem_tile_rows": header.mem_rows,
        "operation_count": header.operations,
        "size": header.size,
        "operations": [_facts(entry, device) for entry in program.entries],
    }
    if header.unread:
        found["unread_bits"] = {"1": header.unread}
    if program.stopped is not None:
        found["stopped"] = {"byte_offset": program.stopped[0], "reason": program.stopped[1]}
    return found


def _facts(entry: Entry, device: Target | None) -> dict[str, Any]:
    op = entry.op
    found: dict[str, Any] = {"byte_offset": entry.offset, "byte_size": entry.size, "op": _NAMES[type(op)]}
    for name in type(op).__slots__:  # pyright: ignore[reportAttributeAccessIssue]
        value = getattr(op, name)
        if value is not None:
            found[name] = list(value) if isinstance(value, tuple) else value
    register = _register(op, device)
    if register is not None:
        found["register"] = str(register)
        fields = _fields(op, register)
        if fields:
            found["fields"] = fields
    unread = _unread(entry, register)
    if unread:
        found["unread_bits"] = {str(word): bits for word, bits in unread.items()}
    return found


def _unread(entry: Entry, register: Register | None) -> dict[int, int]:
    """Word number in an operation -> bits set there that are part of nothing shown."""
    found = dict(entry.unread)
    op = entry.op
    if isinstance(op, BlockWrite) and register is not None and register.layout and _fields(op, register):
        head = entry.size // 4 - len(op.data)
        found |= {head + word: bits for word, bits in register.layout.reserved(op.data).items()}
    return found


def _register(op: Op, device: Target | None) -> Register | None:
    if device is None or not isinstance(op, Write | BlockWrite | MaskWrite | MaskPoll | UpdateReg | Patch):
        return None
    return locate(device, op.address)


def _fields(op: Op, register: Register) -> dict[str, int]:
    """What the words written mean, as far as whole registers are written or the mask covers whole fields."""
    layout = register.layout
    if layout is None:
        return {}
    if isinstance(op, BlockWrite):
        return layout.unpack(op.data) if register.word == 0 and len(op.data) == layout.words else {}
    if isinstance(op, Write):
        return _covered(layout, register.word, op.value, 0xFFFFFFFF)
    if isinstance(op, MaskWrite | MaskPoll):
        return _covered(layout, register.word, op.value, op.mask)
    return {}


def _covered(layout: Layout, word: int, value: int, mask: int) -> dict[str, int]:
    """The fields of one word that a mask covers in full."""
    words = [0] * layout.words
    words[word] = value
    every = layout.unpack(words)
    return {
        field.name: every[field.name]
        for field in layout.fields
        if field.word == word and mask >> field.low & field.mask == field.mask
    }


def text(program: Program, target: Target | None = None) -> str:
    """One line per operation: byte offset, name, what it does; fields that are not zero."""
    return "\n".join(_lines(program, device_for(program, target))) + "\n"


def _lines(program: Program, device: Target | None) -> Iterator[str]:
    header = program.header
    name = device.name if device is not None else f"an unknown device of generation {header.generation}"
    yield (
        f"transaction {header.major}.{header.minor} for {name}: {header.columns} columns, {header.rows} rows "
        f"({header.mem_rows} of memory tiles), {header.operations} operations, {header.size} bytes"
        f"{_meaningless({1: header.unread} if header.unread else {})}"
    )
    for entry in program.entries:
        register = _register(entry.op, device)
        line = f"{entry.offset:6}  {_NAMES[type(entry.op)]:<22} {_say(entry.op, register)}".rstrip()
        yield line + _meaningless(_unread(entry, register))
    if program.stopped is not None:
        yield f"{program.stopped[0]:6}  stopped: {program.stopped[1]}"


def _meaningless(bits: dict[int, int]) -> str:
    found = " ".join(f"word {word} 0x{value:08X}" for word, value in sorted(bits.items()))
    return f"; bits that mean nothing: {found}" if found else ""


def _say(op: Op, register: Register | None) -> str:
    where = "" if register is None else _where(op, register)
    fields = {} if register is None else _fields(op, register)
    shown = " ".join(f"{name}={value}" for name, value in fields.items() if value) or "all zero"
    match op:
        case Write(address, value):
            return f"{where or f'0x{address:08X}'} = 0x{value:08X}" + (f": {shown}" if fields else "")
        case BlockWrite(address, data, tile):
            words = " ".join(f"{word:08X}" for word in data)
            at = where or f"0x{address:08X}"
            if tile is not None and (register is None or tile != (register.col, register.row)):
                at += f" (said to be of tile({tile[0]}, {tile[1]}))"
            return f"{at} = {shown if fields else words}"
        case MaskWrite(address, value, mask) | MaskPoll(address, value, mask):
            return f"{where or f'0x{address:08X}'} = 0x{value:08X} mask 0x{mask:08X}" + (
                f": {shown}" if fields else _partial(register, value, mask)
            )
        case Preempt(level):
            return f"level {level}"
        case LoadPdi(id, size, address):
            return f"id {id}, {size} bytes at 0x{address:X}"
        case CreateScratchpad(size, usage):
            return f"{size} bytes, usage {usage}"
        case UpdateReg(index, function, argument, address):
            name = FUNCTIONS[function] if function < len(FUNCTIONS) else f"function {function}"
            return f"{where or f'0x{address:08X}'} by word {index}, {name} {argument}"
        case Sync(col, row, sends, channel, columns, rows):
            many = f", {columns} columns, {rows} rows" if (columns, rows) != (1, 1) else ""
            return f"wait for a token of tile({col}, {row}) {'MM2S' if sends else 'S2MM'} {channel}{many}"
        case Patch(address, argument, plus):
            return f"{where or f'0x{address:08X}'} = host buffer {argument} + {plus}"


def _where(op: Op, register: Register) -> str:
    """A register by name; of words of descriptors, which one, unless it is the first of a block or the address."""
    usual = 0 if isinstance(op, BlockWrite) else next(iter(_address_words(register)), 0)
    odd = register.layout in DESCRIPTORS and register.word != usual
    return f"{register} word {register.word}" if odd else str(register)


def _address_words(register: Register) -> list[int]:
    layout = register.layout
    return [] if layout is None else [f.word for f in layout.fields if f.name == "buffer_offset"]


def _partial(register: Register | None, value: int, mask: int) -> str:
    """The address part of a descriptor, which a mask covers without the rest of its field's word."""
    if register is None or register.layout not in DESCRIPTORS:
        return ""
    return f": address 0x{value & mask:X}"


def opcode_name(op: Op) -> str:
    """How a location map names an operation."""
    kinds = {
        Write: 0,
        BlockWrite: 1,
        MaskWrite: 3,
        MaskPoll: 4,
        Preempt: 6,
        LoadPdi: 8,
        CreateScratchpad: 10,
        UpdateReg: 12,
        Sync: 0x80,
        Patch: 0x81,
    }
    return OPCODES[kinds[type(op)]]
