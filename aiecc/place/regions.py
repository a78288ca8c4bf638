"""What is left for the linker once a tile is placed: the data region and the bank regions.

Pure functions on byte ranges; addresses relative to the tile's memory. `occupied` holds half-open
ranges in any order; empty ones occupy and split nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aiecc.place.problem import Run, free_runs, round_up


def aligned_runs(lo: int, hi: int, occupied: Iterable[Run], alignment: int = 1) -> list[Run]:
    """The free runs of `[lo, hi)` with their starts rounded up, ascending; runs that vanish are left out."""
    runs: list[Run] = []
    for run_lo, run_hi in free_runs(hi, (*occupied, (0, lo))):
        start = round_up(max(run_lo, lo), alignment)
        if start < run_hi:
            runs.append((start, run_hi))
    return runs


def largest_free_run(lo: int, hi: int, occupied: Iterable[Run], alignment: int = 1) -> tuple[int, int]:
    """Start and size of the largest aligned free run of `[lo, hi)`, the lowest of equals; `(lo, 0)` if none."""
    best = (lo, 0)
    for start, end in aligned_runs(lo, hi, occupied, alignment):
        if end - start > best[1]:
            best = (start, end - start)
    return best


def data_region(
    memory: int, occupied: Iterable[Run], alignment: int, reserved: tuple[int, int] | None = None
) -> tuple[int, int]:
    """Start and size of a core's ordinary data: its `core_data` reservation (start, size), else what is left.

    What is left is the largest free run around the stack and all non-empty buffers. Size 0: no room.
    """
    if reserved is not None:
        return reserved
    return largest_free_run(0, memory, occupied, alignment)


def bank_regions(
    memory: int,
    banks: int,
    occupied: Iterable[Run],
    alignment: int,
    reserved: Mapping[int, tuple[int, int]] | None = None,
) -> list[tuple[int, int]]:
    """Start and size of each bank's pinned sections: its reservation (start, size), else its largest free run.

    `occupied` holds buffers, stack, core data and reservations. Size 0: the bank is full.
    """
    taken = list(occupied)
    width = memory // banks
    regions: list[tuple[int, int]] = []
    for bank in range(banks):
        if reserved is not None and bank in reserved:
            regions.append(reserved[bank])
        else:
            regions.append(largest_free_run(bank * width, (bank + 1) * width, taken, alignment))
    return regions
