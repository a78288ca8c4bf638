"""Static data of a core: which sections count, how much they take, where a prebuilt core holds them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aiecc.elf.read import Image, Section
from aiecc.model import runs
from aiecc.model.measure import DataMeasure

_PINNED = re.compile(r"\.aie\.bank([0-3])(?:\.|$)")
_CHESS = re.compile(r"DM_bank([A-D]+)")
_ORDINARY = (".data", ".rodata", ".bss", ".sdata", ".srodata", ".sbss")

BANK_LETTERS = "ABCD"


@dataclass(frozen=True, slots=True)
class DataClass:
    """What a section's name says. `banks` it asks for; one bank pins it, several leave it among ordinary data."""

    banks: tuple[int, ...] = ()

    @property
    def pinned(self) -> int | None:
        return self.banks[0] if len(self.banks) == 1 else None


def classify(name: str) -> DataClass | None:
    """The class of a data section by its name; None for a section that holds no static data.

    The one rule that every reader shares: `.aie.bank1` and `.aie.bank1.x` (Peano), `..DM_bankB..` (Chess), and ordinary
    sections by prefix.
    """
    pinned = _PINNED.match(name)
    if pinned:
        return DataClass((int(pinned.group(1)),))
    chess = _CHESS.search(name)
    if chess:
        return DataClass(tuple(sorted({BANK_LETTERS.index(c) for c in chess.group(1)})))
    return DataClass() if name.startswith(_ORDINARY) else None


def data_sections(image: Image) -> list[tuple[Section, DataClass]]:
    """Allocated static data of an image in address order, empty sections left out."""
    found = ((s, classify(s.name)) for s in image.sections if s.allocated and s.size and not s.executable)
    return sorted(((s, c) for s, c in found if c is not None), key=lambda p: (p[0].address, p[0].index))


def probe_data(image: Image, banks: int) -> DataMeasure:
    """What the sections of a probe want: sizes with the padding between sections, and the alignments of the starts.

    `banks`: how many the tile has; a bank beyond it counts nowhere.
    """
    sections = data_sections(image)
    ordinary = _packed(s for s, c in sections if c.pinned is None)
    pinned = [_packed(s for s, c in sections if c.pinned == b) for b in range(banks)]
    return DataMeasure(
        size=ordinary[0],
        alignment=ordinary[1],
        bank_sizes=tuple(size for size, _ in pinned),
        bank_alignments=tuple(alignment for _, alignment in pinned),
    )


def linked_data(image: Image, banks: int) -> DataMeasure:
    """What the sections of a final link occupy: plain sums."""
    sections = data_sections(image)
    return DataMeasure(
        size=sum(s.size for s, c in sections if c.pinned is None),
        alignment=max((s.alignment for s, c in sections if c.pinned is None), default=1),
        bank_sizes=tuple(sum(s.size for s, c in sections if c.pinned == b) for b in range(banks)),
        bank_alignments=tuple(
            max((s.alignment for s, c in sections if c.pinned == b), default=1) for b in range(banks)
        ),
    )


def prebuilt_ranges(image: Image, own_base: int, memory: int) -> tuple[tuple[int, int], ...]:
    """Tile-relative (address, size) of the data a prebuilt core holds in its own memory, in address order."""
    own = (own_base, own_base + memory)
    return tuple((s.address - own_base, s.size) for s, _ in data_sections(image) if runs.holds(own, (s.address, s.end)))


def _packed(sections: Iterable[Section]) -> tuple[int, int]:
    """Size and alignment of sections put one after the other, each start rounded up to its own alignment."""
    end, alignment = 0, 1
    for s in sections:
        end = runs.align_up(end, s.alignment) + s.size
        alignment = max(alignment, s.alignment)
    return end, alignment


def bank_names(banks: Sequence[int]) -> str:
    """`A`, or `A or B`."""
    return " or ".join(BANK_LETTERS[b] for b in banks)
