"""Put a core's own names back into an object that was compiled under canonical ones.

Only the string tables and the fields that point into them change; code, data, relocations and symbol order stay as they
are. LIEF was tried first and not kept: it merges relocations against local symbols of one name (`.L0` in every
RISC-V object with debug lines), which links to other addresses, and its import alone takes 250 ms
where this renames 32 objects of 3 KB in a few milliseconds.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from aiecc.elf.read import ElfProblem, FileType, Image, Section, SymbolType, read

_NAMED_AFTER_SYMBOLS = (".text", ".data", ".rodata", ".bss", ".sdata", ".srodata", ".sbss", ".init_array")
_SYMTAB = 2
_MAX_ALIGNMENT = 1 << 20


def rename(data: bytes, names: Mapping[str, str]) -> bytes:
    """The object with symbols renamed, and with them the sections named after them (`.text.core`, `.rela.text.core`).

    `names`: old to new; a name not in it stays. Raises `ElfProblem` if `data` is no relocatable object.
    """
    image = read(data)
    if image.type != FileType.RELOCATABLE:
        raise ElfProblem("not a relocatable object")
    tables = {s.link for s in image.sections if s.type == _SYMTAB}
    section_names = _section_name_table(image)
    strings = {i: _Strings() for i in tables | {section_names}}
    contents = {s.index: image.contents(s) for s in image.sections if not s.nobits and s.type != 0}
    for s in image.sections:
        if s.type == _SYMTAB:
            contents[s.index] = _renamed_symbols(image, s, names, strings[s.link])
    titles = [strings[section_names].add(_section_name(s.name, names)) for s in image.sections]
    contents.update({i: table.bytes() for i, table in strings.items()})
    return _assemble(image, contents, titles)


class _Strings:
    """A string table under construction."""

    def __init__(self) -> None:
        self._data = bytearray(b"\0")
        self._at: dict[str, int] = {"": 0}

    def add(self, text: str) -> int:
        if text not in self._at:
            self._at[text] = len(self._data)
            self._data += text.encode("utf-8", "surrogateescape") + b"\0"
        return self._at[text]

    def bytes(self) -> bytes:
        return bytes(self._data)


def _order(image: Image) -> str:
    return "<" if image.little else ">"


def _section_name_table(image: Image) -> int:
    at = 50 if image.word == 4 else 62
    index: int = struct.unpack_from(_order(image) + "H", image.data, at)[0]
    if not 0 < index < len(image.sections):
        raise ElfProblem("the object has more sections than can be renamed")
    return index


def _renamed_symbols(image: Image, table: Section, names: Mapping[str, str], strings: _Strings) -> bytes:
    body = bytearray(image.contents(table))
    size = 16 if image.word == 4 else 24
    for i, symbol in enumerate(image.symbols_of(table)):
        # A section symbol has no name of its own; a file's name is no symbol's.
        old = symbol.name
        keep = symbol.type in (SymbolType.SECTION, SymbolType.FILE)
        # st_name comes first in both formats.
        struct.pack_into(_order(image) + "I", body, i * size, strings.add(old if keep else names.get(old, old)))
    return bytes(body)


def _section_name(name: str, names: Mapping[str, str]) -> str:
    base = name.removeprefix(".rela").removeprefix(".rel")
    if not base.startswith(_NAMED_AFTER_SYMBOLS):
        return name
    # The longest tail that is a symbol: symbols may hold dots themselves.
    at = name.find(".", len(name) - len(base) + 1)
    while at >= 0:
        new = names.get(name[at + 1 :])
        if new is not None:
            return name[: at + 1] + new
        at = name.find(".", at + 1)
    return name


def _assemble(image: Image, contents: Mapping[int, bytes], titles: list[int]) -> bytes:
    """The file anew: header, the sections in their old order of offsets, section table."""
    wide = image.word == 8
    layout = struct.Struct(_order(image) + ("IIQQQQIIQQ" if wide else "IIIIIIIIII"))
    out = bytearray(image.data[: 64 if wide else 52])
    offsets: dict[int, int] = {}
    for s in sorted(image.sections, key=lambda s: (s.offset, s.index)):
        body = contents.get(s.index)
        if body is None:
            offsets[s.index] = len(out) if s.type else 0
            continue
        if s.alignment > _MAX_ALIGNMENT:
            raise ElfProblem(f"section '{s.name}' is damaged: an alignment of {s.alignment} bytes")
        out += bytes(-len(out) % max(1, s.alignment))
        offsets[s.index] = len(out)
        out += body
    out += bytes(-len(out) % 8)
    table_at = len(out)
    for s in image.sections:
        size = len(contents[s.index]) if s.index in contents else s.size
        where = (s.flags, s.address, offsets[s.index], size, s.link, s.info, s.alignment, s.entry_size)
        out += layout.pack(titles[s.index], s.type, *where)
    struct.pack_into(_order(image) + ("Q" if wide else "I"), out, 40 if wide else 32, table_at)
    return bytes(out)
