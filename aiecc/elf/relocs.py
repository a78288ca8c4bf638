"""What a relocation in code means for the call graph, per machine.

Sources: the RISC-V psABI; for AIE, the field a relocation patches (`addr`: a jump or call target; `w..`: an
immediate) as the public linker lists it, and the plain data words mlir-aie names. Other machines go by the type's name.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

from aiecc.elf.read import EM_386, EM_AIE, EM_RISCV, EM_X86_64, Image


class Use(enum.Enum):
    """How code uses the symbol it names."""

    CALL = "call"
    """Control goes there. Also every type nobody has classified: better an edge too many."""
    LINKLESS = "jump"
    """Control goes there and pushes nothing: a branch or a tail call."""
    ADDRESS = "address"
    """An instruction loads the address."""
    WORD = "word"
    """A plain address word in between the instructions."""
    NONE = "none"
    """Not a use: padding hints, differences, the low half of a pair whose high half counts."""


_RISCV: Mapping[int, Use] = {
    0: Use.NONE,
    1: Use.WORD,  # 32
    2: Use.WORD,  # 64
    16: Use.LINKLESS,  # BRANCH
    17: Use.CALL,  # JAL: the register written decides, see `is_jump`
    18: Use.CALL,  # CALL
    19: Use.CALL,  # CALL_PLT
    20: Use.ADDRESS,  # GOT_HI20
    21: Use.NONE,  # TLS_GOT_HI20
    22: Use.NONE,  # TLS_GD_HI20
    23: Use.ADDRESS,  # PCREL_HI20
    # PCREL_LO12 names the label of its PCREL_HI20 instruction. That label may be the function's own first
    # instruction, and taking it for the target would invent a recursion.
    24: Use.NONE,
    25: Use.NONE,
    26: Use.ADDRESS,  # HI20
    27: Use.ADDRESS,  # LO12_I
    28: Use.ADDRESS,  # LO12_S
    29: Use.NONE,  # TPREL_HI20
    30: Use.NONE,
    31: Use.NONE,
    32: Use.NONE,  # TPREL_ADD
    **dict.fromkeys((33, 34, 37, 38, 39, 40, 52, 53, 54, 55, 56, 60, 61), Use.NONE),  # ADD, SUB, SET of differences
    35: Use.WORD,  # ADD32: the address half of a relative table entry
    36: Use.WORD,  # ADD64
    41: Use.WORD,  # GOT32_PCREL
    43: Use.NONE,  # ALIGN
    44: Use.LINKLESS,  # RVC_BRANCH
    45: Use.CALL,  # RVC_JUMP: c.j or c.jal, see `is_jump`
    46: Use.ADDRESS,  # RVC_LUI
    51: Use.NONE,  # RELAX
    57: Use.WORD,  # 32_PCREL
    59: Use.WORD,  # PLT32
    **dict.fromkeys((62, 63, 64, 65), Use.NONE),  # TLSDESC
    191: Use.NONE,  # VENDOR
}

# By architecture number (e_flags & 7): the plain data word, and the types that patch an `addr` field. AIE1's and
# AIE2PS's fields are not tabulated: there everything but the word counts as a call.
_AIE_WORD = {0: 72, 1: 72, 2: 50, 3: 62, 4: 135}
_AIE_TARGETS = {2: range(9), 3: range(8)}

_JAL, _CALLS, _RVC_JUMP = 17, (18, 19), 45


class Table:
    """Classifies the relocation types of one image."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._machine = image.machine
        self._arch = image.flags & 7
        self._known: dict[int, Use] = {}

    def use(self, kind: int) -> Use:
        """What a relocation of that type means in code."""
        found = self._known.get(kind)
        if found is None:
            found = self._known[kind] = self._classify(kind)
        return found

    def target(self, kind: int, value: int, addend: int, *, section: bool) -> int:
        """The address meant by symbol value and addend. `section`: the symbol stands for a whole section."""
        if self._machine in (EM_RISCV, EM_AIE):
            return value + addend
        if self._machine == EM_X86_64:
            # PC32, PLT32, GOTPCREL and the like count from the end of their 4-byte field.
            return value + addend + (4 if kind in (2, 4, 9, 41, 42) else 0)
        if self._machine == EM_386 or not section:
            return value
        return value + addend

    @property
    def tells_jumps(self) -> bool:
        """Whether `is_jump` can tell a call from a jump on this machine."""
        return self._machine == EM_RISCV

    def is_jump(self, kind: int, code: bytes) -> bool:
        """Whether a CALL-type RISC-V relocation sits on instructions that save no return address.

        `code`: the bytes from the patched address on.
        """
        if self._machine != EM_RISCV:
            return False
        if kind == _JAL and len(code) >= 4:
            return _rd(code, 0) == 0
        if kind in _CALLS and len(code) >= 8:
            return _rd(code, 4) == 0
        if kind == _RVC_JUMP and len(code) >= 2:
            # funct3 001 is c.jal (RV32 only), 101 is c.j.
            return int.from_bytes(code[:2], "little") >> 13 == 0b101 or self._image.word == 8
        return False

    def _classify(self, kind: int) -> Use:
        if self._machine == EM_RISCV:
            return _RISCV.get(kind, Use.ADDRESS)
        if self._machine == EM_AIE:
            if kind == _AIE_WORD.get(self._arch):
                return Use.WORD
            targets = _AIE_TARGETS.get(self._arch)
            return Use.CALL if targets is None or kind in targets else Use.ADDRESS
        return _by_name(_type_name(self._machine, kind)) if kind else Use.NONE


def _rd(code: bytes, at: int) -> int:
    """Destination register of a 32-bit RISC-V instruction."""
    return int.from_bytes(code[at : at + 4], "little") >> 7 & 31


def _by_name(name: str) -> Use:
    if any(word in name for word in ("CALL", "JUMP", "BRANCH", "PLT32")):
        return Use.CALL
    if name in ("R_X86_64_64", "R_X86_64_32", "R_X86_64_32S", "R_386_32") or "ABS" in name or "ADDR" in name:
        return Use.WORD
    return Use.CALL


def _type_name(machine: int, kind: int) -> str:
    """The psABI's name of a relocation type; empty if unknown."""
    from elftools.elf import enums

    tables = {
        EM_386: enums.ENUM_RELOC_TYPE_i386,
        40: enums.ENUM_RELOC_TYPE_ARM,
        EM_X86_64: enums.ENUM_RELOC_TYPE_x64,
        183: enums.ENUM_RELOC_TYPE_AARCH64,
    }
    for name, value in tables.get(machine, {}).items():
        if value == kind and name.startswith("R_"):
            return str(name)
    return ""
