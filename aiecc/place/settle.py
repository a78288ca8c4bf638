"""Second thoughts about a layout of a complete search, which packs from the bottom and ignores the ranking.

Every free extent is taken out once and may move to its best-ranked address, if that touches fewer
banks (or, with the spread ranking, meets fewer buffers in its bank). A legal layout stays legal.
"""

from __future__ import annotations

from collections.abc import Sequence

from aiecc.place.problem import Item, Runs, free_runs
from aiecc.place.rank import Geometry, free_candidates

ROUNDS = 3


def settle(
    items: Sequence[Item], addresses: dict[int, int], runs: Runs, geometry: Geometry, counts: Sequence[int] | None
) -> dict[int, int]:
    """The addresses (by index into `items`) after at most ROUNDS rounds of moves.

    `runs`: what is free for the items. `counts`: pinned buffers starting in each bank for the spread
    ranking, None for the default one.
    """
    settled = dict(addresses)
    crowd = list(counts) if counts is not None else None
    if crowd is not None:
        for index, item in enumerate(items):
            if item.counts:
                crowd[settled[index] // geometry.bank_size] += 1
    taken = [(hi, lo) for (_, hi), (lo, _) in zip(((0, 0), *runs), (*runs, (geometry.memory, 0)), strict=True)]
    for _ in range(ROUNDS):
        moved = False
        for index, item in enumerate(items):
            if item.banks is None and item.size and _move(index, items, settled, taken, geometry, crowd):
                moved = True
        if not moved:
            break
    return settled


def _move(
    index: int,
    items: Sequence[Item],
    settled: dict[int, int],
    taken: list[tuple[int, int]],
    geometry: Geometry,
    crowd: list[int] | None,
) -> bool:
    item, at, width = items[index], settled[index], geometry.bank_size

    def cost(address: int) -> tuple[int, int]:
        bank = address // width
        return (address + item.size - 1) // width - bank, crowd[bank] if crowd is not None else 0

    if crowd is not None and item.counts:
        crowd[at // width] -= 1
    best = at
    if crowd is not None or cost(at)[0]:
        others = [(settled[i], settled[i] + other.size) for i, other in enumerate(items) if i != index]
        free = free_runs(geometry.memory, (*taken, *others))
        best = free_candidates(free, item, geometry, 0, 0, crowd)[0]
        if cost(best) >= cost(at):
            best = at
    if crowd is not None and item.counts:
        crowd[best // width] += 1
    settled[index] = best
    return best != at
