"""Tiles by name, and extents in few words."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from aiecc.base.spans import Span
from aiecc.model.memory import Extent, Kind, StackExtent, TileLayout, TileProblem
from aiecc.place.problem import free_runs, make_item, search_order
from aiecc.place.rank import Geometry
from aiecc.place.refuse import Refusal
from aiecc.place.search import RankedSearch
from aiecc.place.solve import solve

BENCH = str(Path(__file__).resolve().parents[1] / "bench")
if BENCH not in sys.path:
    sys.path.insert(0, BENCH)

PAIRS = {5: (0,), 6: (1,), 7: (2,), 8: (3,), 9: (0, 1), 10: (0, 2), 11: (0, 3), 12: (1, 2), 13: (1, 3), 14: (2, 3)}


def at(line: int) -> Span:
    return Span("design.mlir", line, 5)


def buf(
    name: str,
    size: int,
    address: int | None = None,
    *,
    bank: int | None = None,
    space: int | None = None,
    aligned: bool = True,
    init: bool = False,
    line: int | None = None,
) -> Extent:
    banks = PAIRS[space] if space is not None else None
    where = at(line) if line is not None else None
    return Extent(name, Kind.BUFFER, size, address, bank, banks, 1, aligned, init, where)


def data(size: int, alignment: int = 1, address: int | None = None) -> Extent:
    return Extent("core_data_0_2", Kind.CORE_DATA, size, address, alignment=alignment, where=at(90))


def reserved(bank: int, size: int, alignment: int = 1, address: int | None = None, aligned: bool = True) -> Extent:
    name = f"bank_reserved_0_2_{bank}"
    return Extent(name, Kind.BANK_RESERVED, size, address, bank, alignment=alignment, aligned=aligned, where=at(90))


def prebaked(address: int, size: int) -> Extent:
    return Extent(f"prebaked_0_2_{address}", Kind.PREBAKED, size, address, aligned=False, where=at(90))


def _stack(stack: int | StackExtent | None) -> StackExtent | None:
    return StackExtent(stack, where=at(90)) if isinstance(stack, int) else stack


def npu2(*extents: Extent, stack: int | StackExtent | None = 1024) -> TileProblem:
    return TileProblem(0, 2, 65536, 4, 32, 64, 64, extents, _stack(stack), where=at(3))


def npu1(*extents: Extent, stack: int | StackExtent | None = 1024) -> TileProblem:
    return TileProblem(3, 4, 65536, 4, 32, 32, 32, extents, _stack(stack), where=at(3))


def aie1(*extents: Extent, stack: int | StackExtent | None = 1024) -> TileProblem:
    return TileProblem(3, 3, 32768, 4, 16, 16, 32, extents, _stack(stack), where=at(3))


def memtile(*extents: Extent, guard: int = 0) -> TileProblem:
    return TileProblem(1, 1, 524288, 8, 4, 4, 4, extents, None, guard, where=at(3))


def ranked_search(problem: TileProblem) -> RankedSearch:
    """The ranked search alone, for a tile whose stack has an address."""
    stack = problem.stack
    taken = [(e.address, e.address + e.size) for e in problem.extents if e.address is not None]
    if stack is not None:
        taken.append((stack.address or 0, (stack.address or 0) + stack.size))
    items = [make_item(problem, extent) for extent in search_order(problem)]
    geometry = Geometry(problem.memory, problem.banks, problem.bank_size, stack is not None)
    return RankedSearch(items, free_runs(problem.memory, taken), geometry)


def placed(problem: TileProblem) -> TileLayout:
    answer = solve(problem)
    assert isinstance(answer, TileLayout), answer
    return answer


def refused(problem: TileProblem) -> Refusal:
    answer = solve(problem)
    assert isinstance(answer, Refusal), answer
    return answer


def texts(refusal: Refusal) -> Sequence[str]:
    return [diagnostic.text for diagnostic in refusal.diagnostics]
