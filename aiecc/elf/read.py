"""One ELF file as plain values: header, sections, symbols, relocations.

Everything is decoded in bulk with `struct`, which takes a seventh of pyelftools' time for the same symbols and
relocations (`relocs.py` asks pyelftools for the names of foreign machines' relocation types). Every offset is checked
against the file first, so a file that is cut, patched or no ELF at all ends in `ElfProblem` with one line that says
why.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

EM_RISCV = 243
EM_AIE = 264
EM_X86_64 = 62
EM_386 = 3

_MACHINES = {EM_386: "x86", 40: "ARM", EM_X86_64: "x86-64", 183: "AArch64", EM_RISCV: "RISC-V", EM_AIE: "AIE"}

SHN_UNDEF = 0
SHN_ABS = 0xFFF1
SHN_COMMON = 0xFFF2
_SHN_XINDEX = 0xFFFF
_SHN_LORESERVE = 0xFF00

_SHT_SYMTAB, _SHT_STRTAB, _SHT_RELA, _SHT_NOBITS, _SHT_REL, _SHT_SYMTAB_SHNDX = 2, 3, 4, 8, 9, 18
_SHF_WRITE, _SHF_ALLOC, _SHF_EXECINSTR = 1, 2, 4


class ElfProblem(Exception):
    """A file that cannot be read as what it should be. The text is one line, without the file's name."""


class FileType(enum.IntEnum):
    RELOCATABLE = 1
    EXECUTABLE = 2
    SHARED = 3


class SymbolType(enum.IntEnum):
    NOTYPE = 0
    OBJECT = 1
    FUNC = 2
    SECTION = 3
    FILE = 4
    COMMON = 5
    TLS = 6


class Binding(enum.IntEnum):
    LOCAL = 0
    GLOBAL = 1
    WEAK = 2


@dataclass(frozen=True, slots=True)
class Section:
    """A section header. `address` is 0 in a relocatable file; `size` is also what a `.bss` would occupy."""

    index: int
    name: str
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int

    @property
    def allocated(self) -> bool:
        return bool(self.flags & _SHF_ALLOC)

    @property
    def executable(self) -> bool:
        return bool(self.flags & _SHF_EXECINSTR)

    @property
    def nobits(self) -> bool:
        """It occupies memory but no bytes of the file."""
        return self.type == _SHT_NOBITS

    @property
    def is_relocation(self) -> bool:
        return self.type in (_SHT_REL, _SHT_RELA)

    @property
    def end(self) -> int:
        return self.address + self.size


class Symbol(NamedTuple):
    """A symbol. `value` is an address in a linked file, an offset into `section` in a relocatable one."""

    name: str
    value: int
    size: int
    type: int
    binding: int
    section: int

    @property
    def defined(self) -> bool:
        return self.section != SHN_UNDEF

    @property
    def is_exported(self) -> bool:
        """Other objects can name it: global or weak."""
        return self.binding in (Binding.GLOBAL, Binding.WEAK)


class Relocation(NamedTuple):
    """A relocation. `offset` is an address in a linked file; `addend` is 0 where the format stores it in place."""

    offset: int
    type: int
    symbol: int
    addend: int


@dataclass(frozen=True)
class Image:
    """One ELF file. Made by `read`; nothing here changes it."""

    data: bytes
    type: int
    machine: int
    flags: int
    entry: int
    word: int
    """Bytes of an address: 4 or 8."""
    little: bool
    sections: tuple[Section, ...]
    _prefix: str = field(default="<", repr=False)

    @property
    def linked(self) -> bool:
        return self.type in (FileType.EXECUTABLE, FileType.SHARED)

    @property
    def machine_name(self) -> str:
        return machine_name(self.machine)

    def section(self, name: str) -> Section | None:
        """The first section of that name."""
        return next((s for s in self.sections if s.name == name), None)

    def sections_named(self, name: str) -> list[Section]:
        return [s for s in self.sections if s.name == name]

    def contents(self, section: Section) -> bytes:
        """The section's bytes; empty where the file holds none."""
        if section.nobits:
            return b""
        return self.data[section.offset : section.offset + section.size]

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """The static symbol table in file order, its null entry included; empty if stripped."""
        table = next((s for s in self.sections if s.type == _SHT_SYMTAB), None)
        return () if table is None else self.symbols_of(table)

    def symbols_of(self, table: Section) -> tuple[Symbol, ...]:
        """The entries of a symbol-table section, in file order."""
        strings = self._linked_strings(table)
        layout = struct.Struct(self._prefix + ("IIIBBH" if self.word == 4 else "IBBHQQ"))
        raw = self._entries(table, layout)
        wide = self._wide_indexes(table)
        out: list[Symbol] = []
        cache: dict[int, str] = {}
        for i, fields in enumerate(raw):
            if self.word == 4:
                name_at, value, size, info, _, section = fields
            else:
                name_at, info, _, section, value, size = fields
            name = cache.get(name_at)
            if name is None:
                name = cache[name_at] = _text(strings, name_at)
            if section == _SHN_XINDEX:
                section = wide[i] if i < len(wide) else SHN_UNDEF
            out.append(Symbol(name, value, size, info & 15, info >> 4, section))
        return tuple(out)

    def relocation_sections(self) -> Iterator[tuple[Section, Section | None]]:
        """Each relocation section with the section it patches (None: the whole file, as in a dynamic link)."""
        for s in self.sections:
            if s.is_relocation:
                yield s, self.sections[s.info] if 0 < s.info < len(self.sections) else None

    def relocations(self, section: Section) -> Iterator[Relocation]:
        """The entries of one relocation section, in file order."""
        with_addend = section.type == _SHT_RELA
        if self.word == 4:
            layout = struct.Struct(self._prefix + ("IIi" if with_addend else "II"))
            shift, mask = 8, 0xFF
        else:
            layout = struct.Struct(self._prefix + ("QQq" if with_addend else "QQ"))
            shift, mask = 32, 0xFFFFFFFF
        for fields in self._entries(section, layout):
            info = fields[1]
            yield Relocation(fields[0], info & mask, info >> shift, fields[2] if with_addend else 0)

    def symbols_for(self, relocations: Section) -> tuple[Symbol, ...]:
        """The symbol table a relocation section counts in."""
        table = self.sections[relocations.link] if relocations.link < len(self.sections) else None
        if table is None or table.type != _SHT_SYMTAB:
            return self.symbols
        first = next(s for s in self.sections if s.type == _SHT_SYMTAB)
        return self.symbols if table is first else self.symbols_of(table)

    def section_at(self, address: int) -> Section | None:
        """The allocated section that holds an address of a linked file."""
        return next((s for s in self.sections if s.allocated and s.address <= address < s.end), None)

    def _entries(self, section: Section, layout: struct.Struct) -> Iterator[tuple[int, ...]]:
        raw = self.contents(section)
        if len(raw) % layout.size:
            raise ElfProblem(
                f"section '{section.name}' is damaged: {len(raw)} bytes are no multiple of {layout.size}-byte entries"
            )
        return layout.iter_unpack(raw)

    def _linked_strings(self, table: Section) -> bytes:
        if not 0 < table.link < len(self.sections) or self.sections[table.link].type != _SHT_STRTAB:
            raise ElfProblem(f"section '{table.name}' is damaged: it names no string table")
        return self.contents(self.sections[table.link])

    def _wide_indexes(self, table: Section) -> tuple[int, ...]:
        for s in self.sections:
            if s.type == _SHT_SYMTAB_SHNDX and s.link == table.index:
                return tuple(v for (v,) in self._entries(s, struct.Struct(self._prefix + "I")))
        return ()


def read_linked(data: bytes) -> Image:
    """A linked ELF of a core, or `ElfProblem`: objects and programs of other machines are none."""
    image = read(data)
    if image.type != FileType.EXECUTABLE:
        kinds = {FileType.RELOCATABLE: "an object", FileType.SHARED: "a shared library"}
        raise ElfProblem(
            f"it is {next((n for k, n in kinds.items() if k == image.type), 'no program')}, not a linked core"
        )
    # Decoded here, so that damage shows now and not where the tables are used.
    _ = image.symbols
    for section, _ in image.relocation_sections():
        _ = image.symbols_for(section), list(image.relocations(section))
    if image.machine not in (EM_AIE, EM_RISCV) or image.word != 4:
        raise ElfProblem(f"it is built for {image.machine_name}{' 64-bit' * (image.word == 8)}, which no core is")
    return image


def machine_name(machine: int) -> str:
    return _MACHINES.get(machine, f"machine {machine}")


def read(data: bytes) -> Image:
    """The ELF file in `data`, or `ElfProblem`. Symbols and relocations are decoded when asked for."""
    if not data:
        raise ElfProblem("the file is empty")
    if data[:4] != b"\x7fELF":
        raise ElfProblem("not an ELF file")
    if len(data) < 16 or data[4] not in (1, 2) or data[5] not in (1, 2):
        raise ElfProblem("the ELF header is damaged")
    wide, little = data[4] == 2, data[5] == 1
    prefix = "<" if little else ">"
    layout = struct.Struct(prefix + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"))
    if len(data) < 16 + layout.size:
        raise ElfProblem(f"the file is cut short: {len(data)} bytes do not hold an ELF header")
    fields = layout.unpack_from(data, 16)
    kind, machine, _, entry, _, table_at, flags = fields[:7]
    entry_size, count, names_index = fields[10:13]
    image = Image(
        data=data,
        type=kind,
        machine=machine,
        flags=flags,
        entry=entry,
        word=8 if wide else 4,
        little=little,
        sections=(),
        _prefix=prefix,
    )
    if table_at == 0:
        return image
    headers = _headers(data, prefix, wide, table_at, entry_size, count)
    if names_index == _SHN_XINDEX and headers:
        names_index = headers[0][6]
    object.__setattr__(image, "sections", _sections(data, headers, names_index))
    return image


def _headers(data: bytes, prefix: str, wide: bool, table_at: int, entry_size: int, count: int) -> list[tuple[int, ...]]:
    """The raw section headers, fields in the order of the 32-bit format."""
    layout = struct.Struct(prefix + ("IIQQQQIIQQ" if wide else "IIIIIIIIII"))
    if entry_size != layout.size:
        raise ElfProblem(f"the section table is damaged: entries of {entry_size} bytes instead of {layout.size}")
    if count == 0 and table_at + layout.size <= len(data):
        # More sections than the header's 16 bits can count: the first entry holds the number.
        count = layout.unpack_from(data, table_at)[5]
    end = table_at + count * layout.size
    if end > len(data):
        raise ElfProblem(f"the file is cut short: its section table ends at byte {end}, the file at {len(data)}")
    return list(layout.iter_unpack(data[table_at:end]))


def _sections(data: bytes, headers: list[tuple[int, ...]], names_index: int) -> tuple[Section, ...]:
    for i, h in enumerate(headers):
        if h[1] not in (0, _SHT_NOBITS) and h[4] + h[5] > len(data):
            raise ElfProblem(f"the file is cut short: section {i} ends at byte {h[4] + h[5]}, the file at {len(data)}")
    names = b""
    if 0 < names_index < len(headers) and headers[names_index][1] == _SHT_STRTAB:
        h = headers[names_index]
        names = data[h[4] : h[4] + h[5]]
    elif headers:
        raise ElfProblem("the section table is damaged: it names no string table")
    return tuple(Section(i, _text(names, h[0]), *h[1:]) for i, h in enumerate(headers))


def _text(strings: bytes, at: int) -> str:
    if at == 0:
        return ""
    if at >= len(strings):
        raise ElfProblem("a name lies outside its string table")
    end = strings.find(b"\0", at)
    return strings[at : end if end >= 0 else len(strings)].decode("utf-8", "surrogateescape")
