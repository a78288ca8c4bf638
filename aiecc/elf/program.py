"""Program memory: what a core's code takes of it."""

from __future__ import annotations

from collections.abc import Sequence

from aiecc.base.diag import Diagnostic, Level, Note
from aiecc.base.spans import Span
from aiecc.elf.inputs import Part
from aiecc.elf.read import Image
from aiecc.model.ids import CoreId

NEAR = 90
"""Percent of program memory from which on a core is worth a remark."""


def program_size(image: Image) -> int:
    """Bytes of program memory in use: the linked executable sections, not the size of the file."""
    return sum(s.size for s in image.sections if s.allocated and s.executable)


def largest_note(parts: Sequence[Part], what: str = "functions", limit: int = 5) -> Note | None:
    """`largest functions: a (64 bytes, k.o), ...`; None if there are none."""
    if not parts:
        return None
    rest = len(parts) - limit
    shown = ", ".join(str(p) for p in parts[:limit])
    return Note(f"largest {what}: {shown}{f', and {rest} more' if rest > 0 else ''}")


def check_program(
    core: CoreId, where: Span | None, used: int, limit: int, functions: Sequence[Part] = ()
) -> Diagnostic | None:
    """An error above the limit, a remark from `NEAR` percent on, None below."""
    if used * 100 < limit * NEAR:
        return None
    largest = largest_note(functions)
    notes = () if largest is None else (largest,)
    if used <= limit:
        text = f"core {core.at}: its code takes {used} of {limit} bytes of program memory ({used * 100 // limit} %)"
        return Diagnostic(Level.REMARK, text, where, notes=notes)
    return Diagnostic(
        Level.ERROR,
        f"core {core.at}: this core's code exceeds the tile's program memory: {used} bytes, {limit} available, "
        f"{used - limit} too many",
        where,
        "E0602",
        notes,
        PROGRAM_TODO,
    )


PROGRAM_TODO = (
    "split the work across more cores, remove unused kernels from link_files, or lower the optimization level"
)
