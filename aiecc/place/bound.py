"""Proofs of infeasibility that need no search: counting aligned slots.

For an alignment A and an address range [l, h), every extent that must lie in the range and starts at
a multiple of A occupies ceil(size / A) whole slots of A bytes, each of which begins at a free byte. A
free run offers as many slots as multiples of A lie in it. More demand than supply: no layout exists.
This settles "the bytes fit but the padding does not" at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aiecc.place.problem import Item, Runs


@dataclass(frozen=True, slots=True)
class Shortage:
    """Why a tile cannot hold its extents: in `[lo, hi)` slots of `step` bytes run out."""

    step: int
    lo: int
    hi: int
    demand: int
    supply: int


def slots(runs: Runs, step: int, lo: int, hi: int) -> int:
    """How many multiples of `step` are free bytes of `[lo, hi)`."""
    total = 0
    for run_lo, run_hi in runs:
        run_lo, run_hi = max(run_lo, lo), min(run_hi, hi)
        if run_lo < run_hi:
            total += -(-run_hi // step) - -(-run_lo // step)
    return total


def ranges_to_check(items: Iterable[Item], memory: int) -> list[tuple[int, int]]:
    """The address ranges that some extent's bank restriction or the memory itself delimits."""
    edges = {0, memory}
    for item in items:
        if item.size:
            edges.update((item.ranges[0][0], item.ranges[-1][1]))
    points = sorted(edges)
    return [(lo, hi) for lo in points for hi in points if lo < hi]


def shortage(items: Sequence[Item], runs: Runs, memory: int) -> Shortage | None:
    """The first shortage found, or None. `items` without an address; `runs` what is free for them."""
    real = [item for item in items if item.size]
    steps = sorted({item.align for item in real})
    for lo, hi in sorted(ranges_to_check(real, memory), key=lambda r: (r[0] - r[1], r)):
        inside = [item for item in real if lo <= item.ranges[0][0] and item.ranges[-1][1] <= hi]
        if not inside:
            continue
        for step in steps:
            demand = sum(-(-item.size // step) for item in inside if item.align % step == 0)
            supply = slots(runs, step, lo, hi)
            if demand > supply:
                return Shortage(step, lo, hi, demand, supply)
    return None
