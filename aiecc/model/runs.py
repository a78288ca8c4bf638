"""Free runs of a memory: pure interval arithmetic that placement, scripts and reports share.

A run is a half-open pair `(start, end)` of byte addresses. Sizes and addresses are plain integers; nothing here
knows a bank, a stack or a tile.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Run = tuple[int, int]


def align_up(address: int, alignment: int) -> int:
    """The first multiple of `alignment` at or above `address`. `alignment` below 1 counts as 1."""
    step = max(1, alignment)
    return -(-address // step) * step


def size(run: Run) -> int:
    return run[1] - run[0]


def extent(start: int, length: int) -> Run:
    """The run of `length` bytes at `start`."""
    return start, start + length


def merged(taken: Iterable[Run]) -> list[Run]:
    """The same bytes as ascending runs that neither touch nor overlap. Empty and negative runs vanish."""
    out: list[Run] = []
    for start, end in sorted(r for r in taken if r[1] > r[0]):
        if out and start <= out[-1][1]:
            out[-1] = out[-1][0], max(out[-1][1], end)
        else:
            out.append((start, end))
    return out


def free(window: Run, taken: Iterable[Run]) -> list[Run]:
    """What `taken` leaves of `window`, ascending. A zero-sized extent takes nothing and splits nothing."""
    low, high = window
    out: list[Run] = []
    for start, end in merged(taken):
        if end <= low:
            continue
        if start >= high:
            break
        if start > low:
            out.append((low, start))
        low = max(low, end)
    if low < high:
        out.append((low, high))
    return out


def aligned(run: Run, alignment: int) -> Run:
    """The run with its start rounded up; empty at its own end if the rounding uses it up."""
    return min(align_up(run[0], alignment), run[1]), run[1]


def largest(runs: Iterable[Run], alignment: int = 1) -> Run | None:
    """The largest run after its start is rounded up; ties go to the lowest. None if nothing is left."""
    best: Run | None = None
    for run in runs:
        candidate = aligned(run, alignment)
        if size(candidate) > 0 and (best is None or size(candidate) > size(best)):
            best = candidate
    return best


def holds(outer: Run, inner: Run) -> bool:
    """Whether every byte of `inner` lies in `outer`."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def overlap(a: Run, b: Run) -> bool:
    """Whether the two share a byte; empty runs share nothing."""
    return max(a[0], b[0]) < min(a[1], b[1])


def total(runs: Sequence[Run]) -> int:
    return sum(size(r) for r in runs)
