"""Does bank-annotated data lie in its bank? Compares what objects ask for with where the linker put it.

No proof that a pair of tables is apart: symbols whose meaning is not clear are skipped (`lut.py` is the strict check).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aiecc.base.diag import Diagnostic, Level
from aiecc.base.spans import Span
from aiecc.elf.data import BANK_LETTERS, bank_names, classify
from aiecc.elf.inputs import InputObject
from aiecc.elf.read import Image, SymbolType
from aiecc.model.ids import CoreId


@dataclass(frozen=True, slots=True)
class Request:
    """A variable that its object puts into a section for certain banks."""

    symbol: str
    section: str
    banks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """A core's own memory: absolute base, bytes, banks."""

    base: int
    size: int
    banks: int

    @property
    def bank_size(self) -> int:
        return self.size // self.banks

    def bank_of(self, address: int) -> int:
        """Bank of a tile-relative address."""
        return address // self.bank_size


def requests(objects: Iterable[InputObject]) -> list[Request]:
    """What the objects ask for, by symbol name. A name that two definitions share, pinned or not, is dropped."""
    found: dict[str, Request | None] = {}
    for o in objects:
        for s in o.image.symbols:
            if s.type != SymbolType.OBJECT or not s.defined or not s.name:
                continue
            section = o.image.sections[s.section].name if s.section < len(o.image.sections) else ""
            home = classify(section)
            banks = () if home is None else home.banks
            found[s.name] = None if s.name in found else Request(s.name, section, banks)
    return sorted((r for r in found.values() if r is not None and r.banks), key=lambda r: r.symbol)


def placed(image: Image, memory: Memory) -> dict[str, tuple[int, int]]:
    """Tile-relative address and size of every variable in the core's own memory.

    A name with two addresses is left out.
    """
    found: dict[str, tuple[int, int] | None] = {}
    for s in image.symbols:
        if s.type != SymbolType.OBJECT or not s.defined or not s.name:
            continue
        here = (s.value - memory.base, s.size)
        known = found.get(s.name, here)
        if known is None or known[0] != here[0]:
            found[s.name] = None
        else:
            found[s.name] = (here[0], max(here[1], known[1]))
    return {n: p for n, p in found.items() if p is not None and 0 <= p[0] < memory.size}


def check_banks(
    core: CoreId, where: Span | None, image: Image, objects: Sequence[InputObject], memory: Memory
) -> list[Diagnostic]:
    """One error for each annotated variable outside its bank."""
    out: list[Diagnostic] = []
    at = placed(image, memory)
    for request in requests(objects):
        found = at.get(request.symbol)
        if found is None:
            continue
        address, size = found
        bank = memory.bank_of(address)
        crosses = size > 0 and address + size > (bank + 1) * memory.bank_size
        if bank in request.banks and not crosses:
            continue
        wanted = bank_names(request.banks)
        extent = f", and its {size}-byte extent crosses that bank's boundary" if crosses else ""
        text = (
            f"core {core.at}: '{request.symbol}' is placed for memory bank {wanted} ({request.section}), but "
            f"the linker put it at 0x{address:X}, which is bank {BANK_LETTERS[bank]}{extent}. A parallel access that "
            f"relies on this table being in bank {wanted} reads the wrong bank"
        )
        out.append(Diagnostic(Level.ERROR, text, where, "E0501"))
    return out
