"""Writes small ELF files byte by byte, so that tests can choose every function, frame, relocation and fault."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

RISCV, AIE, X86_64 = 243, 264, 62
NOTYPE, OBJECT, FUNC, SECTION, FILE = 0, 1, 2, 3, 4
LOCAL, GLOBAL, WEAK = 0, 1, 2
PROGBITS, SYMTAB, STRTAB, RELA, NOBITS, REL = 1, 2, 3, 4, 8, 9
WRITE, ALLOC, EXEC = 1, 2, 4
# RISC-V relocation types by their psABI numbers.
R_32, R_BRANCH, R_JAL, R_CALL_PLT, R_PCREL_HI20, R_PCREL_LO12_I, R_HI20, R_LO12_I = 1, 16, 17, 19, 23, 24, 26, 27
R_RVC_JUMP, R_RELAX = 45, 51


@dataclass
class Sec:
    name: str
    data: bytes = b""
    type: int = PROGBITS
    flags: int = 0
    address: int = 0
    align: int = 1
    size: int | None = None
    relocations: list[tuple[int, int, str, int]] = field(default_factory=list)
    """(offset, type, symbol name, addend)"""


@dataclass
class Sym:
    name: str
    value: int = 0
    size: int = 0
    type: int = FUNC
    binding: int = GLOBAL
    section: str = ".text"
    """A section's name, `ABS` or empty for undefined."""
    shown: str | None = None
    """The name in the file; `name` is how relocations here refer to the symbol."""


@dataclass
class Maker:
    machine: int = RISCV
    flags: int = 0
    type: int = 2
    entry: int = 0
    word: int = 4
    little: bool = True
    sections: list[Sec] = field(default_factory=list)
    symbols: list[Sym] = field(default_factory=list)
    rela: bool = True

    def build(self) -> bytes:
        """The file: header, section bytes, section table. Symbols keep the order given."""
        order = "<" if self.little else ">"
        wide = self.word == 8
        index = {s.name: i + 1 for i, s in enumerate(self.sections)}
        numbers = {"": 0, "ABS": 0xFFF1, **index}
        strings = bytearray(b"\0")
        table = bytearray(24 if wide else 16)
        position: dict[str, int] = {}
        for i, s in enumerate(self.symbols):
            position.setdefault(s.name, i + 1)
            shown = s.name if s.shown is None else s.shown
            at = len(strings) if shown else 0
            strings += shown.encode() + b"\0" if shown else b""
            info = s.binding << 4 | s.type
            if wide:
                table += struct.pack(order + "IBBHQQ", at, info, 0, numbers[s.section], s.value, s.size)
            else:
                table += struct.pack(order + "IIIBBH", at, s.value, s.size, info, 0, numbers[s.section])
        out = [*self.sections]
        symtab_at = len(out) + 1
        out.append(Sec(".symtab", bytes(table), SYMTAB, align=4))
        out.append(Sec(".strtab", bytes(strings), STRTAB))
        links = {symtab_at: (symtab_at + 1, 1, 24 if wide else 16)}
        for s in self.sections:
            if s.relocations:
                body = b"".join(self._relocation(order, r, position) for r in s.relocations)
                out.append(Sec((".rela" if self.rela else ".rel") + s.name, body, RELA if self.rela else REL))
                links[len(out)] = (symtab_at, index[s.name], self._relocation_size())
        names = bytearray(b"\0")
        name_at: list[int] = []
        for s in [*out, Sec(".shstrtab")]:
            name_at.append(len(names))
            names += s.name.encode() + b"\0"
        out.append(Sec(".shstrtab", bytes(names), STRTAB))
        return self._assemble(order, out, links, name_at)

    def _relocation_size(self) -> int:
        return self.word * (3 if self.rela else 2)

    def _relocation(self, order: str, r: tuple[int, int, str, int], position: dict[str, int]) -> bytes:
        offset, kind, name, addend = r
        shift = 32 if self.word == 8 else 8
        form = ("QQq" if self.word == 8 else "IIi") if self.rela else ("QQ" if self.word == 8 else "II")
        values = (offset, position[name] << shift | kind, addend)
        return struct.pack(order + form, *values[: len(form)])

    def _assemble(
        self, order: str, out: Sequence[Sec], links: dict[int, tuple[int, int, int]], name_at: Sequence[int]
    ) -> bytes:
        wide = self.word == 8
        body = bytearray(64 if wide else 52)
        rows = [bytes(64 if wide else 40)]
        for i, s in enumerate(out, start=1):
            link, info, entry = links.get(i, (0, 0, 0))
            size = len(s.data) if s.size is None else s.size
            fields = (name_at[i - 1], s.type, s.flags, s.address, len(body), size, link, info, s.align, entry)
            rows.append(struct.pack(order + ("IIQQQQIIQQ" if wide else "IIIIIIIIII"), *fields))
            body += b"" if s.type == NOBITS else s.data
        at = len(body)
        ident = b"\x7fELF" + bytes([2 if wide else 1, 1 if self.little else 2, 1]) + bytes(9)
        head = struct.pack(
            order + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"),
            self.type, self.machine, 1, self.entry, 0, at, self.flags,
            64 if wide else 52, 0, 0, 64 if wide else 40, len(rows), len(rows) - 1,
        )  # fmt: skip
        body[: 16 + len(head)] = ident + head
        return bytes(body) + b"".join(rows)


def leb(value: int) -> bytes:
    """ULEB128."""
    out = bytearray()
    while True:
        out.append(value & 0x7F | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(out)


# auipc ra, 0; jalr ra, 0(ra): a call that saves its return address. And the same through t1 into x0: a tail call.
CALL_CODE = struct.pack("<II", 0x00000097, 0x000080E7)
TAIL_CODE = struct.pack("<II", 0x00000317, 0x00030067)


@dataclass
class Fn:
    """A function of a linked core. Calls: names, each by an R_RISCV_CALL_PLT. `frame` None: no `.stack_sizes` entry."""

    name: str
    frame: int | None = 0
    calls: Sequence[str] = ()
    tails: Sequence[str] = ()
    binding: int = GLOBAL
    size: int = 0
    """0: as its code needs."""


def core(functions: Sequence[Fn], *, extra: Sequence[Sym] = (), data: Sequence[Sec] = ()) -> Maker:
    """A linked RISC-V core: functions one after the other from address 0, the first one is the entry."""
    text, stack_sizes = bytearray(), bytearray()
    symbols: list[Sym] = []
    relocations: list[tuple[int, int, str, int]] = []
    for f in functions:
        start = len(text)
        for name in f.calls:
            relocations.append((len(text), R_CALL_PLT, name, 0))
            text += CALL_CODE
        for name in f.tails:
            relocations.append((len(text), R_CALL_PLT, name, 0))
            text += TAIL_CODE
        text += struct.pack("<I", 0x00008067)
        text += bytes(max(0, f.size - (len(text) - start)))
        symbols.append(Sym(f.name, start, len(text) - start, FUNC, f.binding))
        if f.frame is not None:
            stack_sizes += struct.pack("<I", start) + leb(f.frame)
    sections = [
        Sec(".text", bytes(text), flags=ALLOC | EXEC, align=4, relocations=relocations),
        Sec(".stack_sizes", bytes(stack_sizes)),
        *data,
    ]
    return Maker(sections=sections, symbols=[*symbols, *extra])


def at(maker: Maker, name: str) -> int:
    """The address of a symbol."""
    return next(s.value for s in maker.symbols if s.name == name)
