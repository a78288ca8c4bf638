"""A core's program, cut out of its design."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CoreProgram:
    """One core as an MLIR module of its own, ready for `mlir-opt`.

    What tells cores apart is replaced in `text` by canonical names, so that equal programs are equal texts;
    `names` holds (canonical, real) pairs that put the names back.
    """

    text: str
    names: tuple[tuple[str, str], ...] = ()
