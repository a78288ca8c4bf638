"""Which addresses an extent may try, and in which order.

A free extent is offered the best fit of every bank, of the whole memory, and of the whole memory at
bank boundaries, ranked by: banks touched, then the free run left behind (capped by the bytes still to
place), then distance from a round-robin cursor, then tightness, then lowest address. Only after those
come both ends of every free run, which backtracking may need. A bank-required extent goes where it
fragments least. `spread` puts the number of buffers already starting in a bank before the cursor.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from aiecc.place.problem import Item, Runs, round_up


@dataclass(frozen=True, slots=True)
class Geometry:
    """The tile as the ranking sees it. `has_core` switches the free-run key on."""

    memory: int
    banks: int
    bank_size: int
    has_core: bool


def _longest_two(runs: Runs) -> tuple[int, int]:
    """The lengths of the longest and second longest run; equal ones count as each other's second."""
    first = second = 0
    for lo, hi in runs:
        length = hi - lo
        if length > first:
            first, second = length, first
        elif length > second:
            second = length
    return first, second


def _from(runs: Runs, lowest: int) -> Runs:
    """The runs without the bytes below `lowest`."""
    if not lowest or not runs or runs[0][0] >= lowest:
        return runs
    return tuple((max(lo, lowest), hi) for lo, hi in runs if hi > lowest)


def free_candidates(
    runs: Runs, item: Item, geometry: Geometry, left: int, cursor: int, counts: list[int] | None
) -> list[int]:
    """Scored addresses of an extent that may lie anywhere, best first.

    `left`: bytes still to place after it. `cursor`: the bank the round robin points at. `counts`:
    non-empty buffers starting in each bank for the spread ranking, None for the default one.
    """
    runs = _from(runs, item.lowest)
    size, bank_size, banks = item.size, geometry.bank_size, geometry.banks
    found = _best_fits(runs, item, geometry)
    if len(found) == 1:
        return list(found)
    longest, second = _longest_two(runs) if geometry.has_core else (0, 0)
    keyed: list[tuple[int, int, int, int, int, int]] = []
    for address, (lo, hi) in found.items():
        bank = address // bank_size
        touched = (address + size - 1) // bank_size - bank + 1 if size else 1
        run_left = 0
        if geometry.has_core and left:
            other = second if hi - lo == longest else longest
            run_left = -min(max(address - lo, hi - address - size, other), left)
        bank = min(bank, banks - 1)
        crowd = counts[bank] if counts is not None else 0
        keyed.append((touched, run_left, crowd, (bank - cursor) % banks, hi - lo - size, address))
    keyed.sort()
    return [key[-1] for key in keyed]


def _best_fits(runs: Runs, item: Item, geometry: Geometry) -> dict[int, tuple[int, int]]:
    """The tightest start in each bank, in the memory, and in the memory at bank boundaries, by address.

    Each comes with the run it lies in. Ties go to the lowest; padding in front counts as waste.
    """
    size, align, bank_size, banks = item.size, item.align, geometry.bank_size, geometry.banks
    at_boundary = bank_size % align == 0
    whole, edge = banks, banks + 1
    waste = [1 << 62] * (banks + 2)
    start = [-1] * (banks + 2)
    home: list[tuple[int, int]] = [(0, 0)] * (banks + 2)
    for run in runs:
        lo, hi = run
        length = hi - lo
        if length < size:
            continue
        first = lo + -lo % align
        slack = length - size
        if first + size <= hi and slack < waste[whole]:
            waste[whole], start[whole], home[whole] = slack, first, run
        bank, last = lo // bank_size, (hi - 1) // bank_size
        if bank == last:
            if slack < waste[bank] and first + size <= hi:
                waste[bank], start[bank], home[bank] = slack, first, run
            if size and lo != bank * bank_size:
                continue
        else:
            for b in range(bank, last + 1):
                clip_lo, clip_hi = max(lo, b * bank_size), min(hi, (b + 1) * bank_size)
                at = clip_lo + -clip_lo % align
                if clip_hi - clip_lo - size < waste[b] and at + size <= clip_hi:
                    waste[b], start[b], home[b] = clip_hi - clip_lo - size, at, run
        if at_boundary and slack < waste[edge]:
            at = lo + -lo % bank_size
            if at + size <= hi:
                waste[edge], start[edge], home[edge] = slack, at, run
    return {at: run for at, run in zip(start, home, strict=True) if at >= 0}


def fallbacks(runs: Runs, item: Item) -> list[int]:
    """Both ends of every run a non-empty free extent fits in, lowest first."""
    ends: set[int] = set()
    if item.size > 0:
        for lo, hi in _from(runs, item.lowest):
            first = round_up(lo, item.align)
            if first + item.size <= hi:
                ends.add(first)
                ends.add(max(first, (hi - item.size) // item.align * item.align))
    return sorted(ends)


def required_candidates(runs: Runs, item: Item, geometry: Geometry) -> list[int]:
    """Addresses of a bank-required extent, best first: both ends of every hole of its banks.

    Ranked by banks touched, then the largest free run left in the tile (uncapped: such an extent is
    placed before the ones the cap counts), then address.
    """
    assert item.banks is not None
    bank_size, size = geometry.bank_size, item.size
    runs = _from(runs, item.lowest)
    spans = {(b * bank_size, (b + 1) * bank_size) for b in item.banks} | set(item.ranges)
    longest, second = _longest_two(runs)
    keys: dict[int, tuple[int, int, int]] = {}
    for at in flush_ends(runs, spans, size, item.align):
        if min(at // bank_size, geometry.banks - 1) not in item.banks or at in keys:
            continue
        touched = (at + size - 1) // bank_size - at // bank_size + 1 if size else 1
        keys[at] = (touched, -largest_left(runs, at, size, longest, second), at)
    return sorted(keys, key=keys.__getitem__)


def flush_ends(runs: Runs, spans: set[tuple[int, int]], size: int, align: int) -> set[int]:
    """The lowest and highest aligned start in every hole of every span."""
    ends: set[int] = set()
    for span_lo, span_hi in spans:
        for lo, hi in runs:
            lo, hi = max(lo, span_lo), min(hi, span_hi)
            if lo >= hi:
                continue
            first = round_up(lo, align)
            if first + size <= hi:
                ends.add(first)
                ends.add(max(first, (hi - size) // align * align))
    return ends


def largest_left(runs: Runs, address: int, size: int, longest: int, second: int) -> int:
    """The largest free run of the tile once `[address, address + size)` is taken; an empty one takes nothing."""
    if not size:
        return longest
    lo, hi = runs[bisect_right(runs, (address, 1 << 62)) - 1]
    other = second if hi - lo == longest else longest
    return max(address - lo, hi - address - size, other)


def least_fragmenting(runs: Runs, span: tuple[int, int], size: int, align: int) -> int | None:
    """The start inside `span` that leaves the largest free run in the tile; ties to the lowest."""
    longest, second = _longest_two(runs)
    best: tuple[int, int] | None = None
    for at in flush_ends(runs, {span}, size, align):
        key = (-largest_left(runs, at, size, longest, second), at)
        if best is None or key < best:
            best = key
    return None if best is None else best[1]
