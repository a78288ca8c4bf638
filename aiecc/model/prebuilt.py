"""Where the image of a prebuilt core lies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from aiecc.base.diag import Note, refuse
from aiecc.model.design import CoreFacts


def find_elf(core: CoreFacts, search: tuple[str, ...], first: Callable[[Iterable[str | Path]], Path | None]) -> Path:
    """The file that `elf_file` names; `first` picks the first candidate that is a file. Raises `Refused`."""
    given = Path(core.elf_file or "")
    tried = [given] if given.is_absolute() else [Path(folder, given) for folder in search]
    found = first(tried)
    if found is None:
        refuse(
            f"aiecc: elf_file '{core.elf_file}' of core {core.id.at} not found",
            core.where,
            code="E0702",
            notes=[Note(f"looked for {p}") for p in tried],
        )
    return found
