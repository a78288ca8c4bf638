"""What the linked core says it needs."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class StackSource(enum.Enum):
    """How far a stack figure can be trusted."""

    MEASURED = "measured"
    LOWER_BOUND = "lower bound"
    UNBOUNDED = "unbounded"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Frame:
    """One function on a call chain. `size` None: no frame data. `given`: a `stack_size_override`.

    `indirect`: reached through a pointer. `where` is `kernel.c:12` when the ELF has debug lines.
    """

    function: str
    size: int | None
    given: bool = False
    indirect: bool = False
    where: str = ""


@dataclass(frozen=True, slots=True)
class StackMeasure:
    """The deepest root-to-leaf path. `size` in bytes counts missing frames as 0 (see `unmeasured`).

    `problem` is upstream's inner text for UNBOUNDED (recursion) and UNKNOWN. For UNBOUNDED `chain` is the path
    from the entry to the function met again, and `cycles` are the paths to further recursions.
    """

    source: StackSource
    size: int = 0
    chain: tuple[Frame, ...] = ()
    unmeasured: tuple[str, ...] = ()
    problem: str = ""
    cycles: tuple[tuple[Frame, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class DataMeasure:
    """Static data of a linked core, bytes; bank figures have one entry per bank.

    `size` and `bank_sizes` include padding between sections when taken from a probe. `sized` False: only the banks
    were measured, `size` and `alignment` say nothing.
    """

    size: int = 0
    alignment: int = 1
    bank_sizes: tuple[int, ...] = ()
    bank_alignments: tuple[int, ...] = ()
    sized: bool = True


@dataclass(frozen=True, slots=True)
class CoreMeasure:
    """All that placement wants to know of one core. `ranges`: (address, size) pairs a prebuilt ELF holds.

    `about` says in words what the data is, for the day it does not fit.
    """

    data: DataMeasure | None = None
    ranges: tuple[tuple[int, int], ...] = ()
    stack: StackMeasure | None = None
    about: str = ""
