"""The searches against exhaustive enumeration on tiles of a few bytes.

The oracle tries every address of every extent and knows the rules only as stated here.
"""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placement_help import ranked_search

from aiecc.model.memory import Extent, Kind, StackExtent, TileLayout, TileProblem
from aiecc.place.bound import shortage
from aiecc.place.cp import solve_cp
from aiecc.place.exact import ExactSearch
from aiecc.place.judge import judge
from aiecc.place.problem import free_runs, make_item, search_order
from aiecc.place.search import Status
from aiecc.place.solve import solve


def legal(problem: TileProblem, extent: Extent, at: int) -> bool:
    """Whether one extent may start there, the others aside."""
    pinned = extent.address is not None
    if at < 0 or at + extent.size > problem.memory or (pinned and at != extent.address):
        return False
    # An empty extent at the end of memory counts for the last bank.
    touched = {min(byte // problem.bank_size, problem.banks - 1) for byte in range(at, at + max(extent.size, 1))}
    if extent.mem_bank is not None and (min(touched) != extent.mem_bank if pinned else touched != {extent.mem_bank}):
        return False
    if extent.banks is not None and not touched <= set(extent.banks):
        return False
    if at % extent.alignment or (extent.aligned and at % problem.bus):
        return False
    if pinned:
        return True
    if extent.aligned and extent.size >= problem.vector and at % problem.vector:
        return False
    return not (problem.guard and extent.initialized and extent.size and at < problem.guard)


def stack_starts(problem: TileProblem) -> list[int | None]:
    stack = problem.stack
    if stack is None:
        return [None]
    if stack.bank is None or stack.address is not None:
        return [stack.address or 0]
    width = problem.bank_size
    lo, hi = stack.bank * width, (stack.bank + 1) * width
    return [at for at in range(lo, hi - stack.size + 1) if at % problem.stack_align == 0]


def pins_legal(problem: TileProblem) -> bool:
    """Every pin is legal on its own, and none overlaps another."""
    used: set[int] = set()
    for extent in problem.extents:
        if extent.address is None:
            continue
        if not legal(problem, extent, extent.address):
            return False
        span = set(range(extent.address, extent.address + extent.size))
        if span & used:
            return False
        used |= span
    return True


def feasible(problem: TileProblem) -> bool:
    for start in stack_starts(problem):
        used = frozenset[int]()
        if start is not None and problem.stack is not None:
            used = frozenset(range(start, start + problem.stack.size))
        if _place(problem, 0, used):
            return True
    return False


def _place(problem: TileProblem, index: int, used: frozenset[int]) -> bool:
    if index == len(problem.extents):
        return True
    extent = problem.extents[index]
    for at in range(problem.memory + 1):
        span = frozenset(range(at, at + extent.size))
        if legal(problem, extent, at) and not span & used and _place(problem, index + 1, used | span):
            return True
    return False


@st.composite
def tiles(draw: st.DrawFn, pins: bool = True) -> TileProblem:
    banks = draw(st.sampled_from([1, 2, 4]))
    memory = draw(st.sampled_from([8, 12]))
    bus = draw(st.sampled_from([1, 2]))
    vector = draw(st.sampled_from([bus, 4]))
    extents: list[Extent] = []
    for i in range(draw(st.integers(1, 5))):
        size = draw(st.integers(0, 5))
        kind = draw(st.sampled_from(["free", "free", "free", "pin", "bank", "space"]))
        address = draw(st.integers(0, memory)) if kind == "pin" and pins else None
        bank = draw(st.integers(0, banks - 1)) if kind == "bank" else None
        space = None
        if kind == "space":
            space = tuple(sorted(draw(st.sets(st.integers(0, banks - 1), min_size=1, max_size=2))))
        aligned = draw(st.booleans()) or draw(st.booleans())
        alignment = draw(st.sampled_from([1, 1, 1, 2, 4]))
        init = draw(st.booleans())
        extents.append(Extent(f"e{i}", Kind.BUFFER, size, address, bank, space, alignment, aligned, init))
    stack = draw(
        st.none()
        | st.builds(StackExtent, st.integers(1, 4))
        | st.builds(StackExtent, st.integers(1, 3), st.just(None), st.integers(0, banks - 1))
    )
    guard = draw(st.sampled_from([0, 0, 1])) if stack is None else 0
    return TileProblem(0, 2, memory, banks, bus, vector, 2, tuple(extents), stack, guard)


@settings(max_examples=600, deadline=None, derandomize=True)
@given(tiles())
def test_the_ladder_decides_as_enumeration_does(problem: TileProblem) -> None:
    answer = solve(problem)
    if isinstance(answer, TileLayout):
        assert judge(problem, answer) == []
        assert feasible(problem)
    else:
        assert answer.proven
        assert not (pins_legal(problem) and feasible(problem))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(tiles())
def test_spread_decides_alike(problem: TileProblem) -> None:
    answer, other = solve(problem), solve(problem, ranking="spread")
    assert isinstance(answer, TileLayout) == isinstance(other, TileLayout)


def _without_stack_choice(problem: TileProblem) -> TileProblem:
    stack = problem.stack
    return replace(problem, stack=StackExtent(stack.size) if stack is not None else None)


def _parts(problem: TileProblem):
    items = [make_item(problem, extent) for extent in search_order(problem)]
    taken = [(e.address, e.address + e.size) for e in problem.extents if e.address is not None]
    if problem.stack is not None:
        taken.append((0, problem.stack.size))
    return items, free_runs(problem.memory, taken)


@settings(max_examples=600, deadline=None, derandomize=True)
@given(tiles(), st.booleans())
def test_the_exact_search_is_complete(problem: TileProblem, small_first: bool) -> None:
    problem = _without_stack_choice(problem)
    if isinstance(solve(problem, nodes=1), TileLayout) and problem.extents and not pins_legal(problem):
        raise AssertionError("illegal pins were accepted")
    if not pins_legal(problem) or not _stack_is_clear(problem):
        return
    items, runs = _parts(problem)
    search = ExactSearch(items, runs, problem.memory, small_first=small_first)
    status = search.run(10**6)
    assert (status is Status.SOLVED) == feasible(problem)
    if status is Status.SOLVED:
        found = {items[index].name: at for index, at in search.addresses().items()}
        pinned = {e.name: e.address for e in problem.extents if e.address is not None}
        assert judge(problem, TileLayout({**pinned, **found}, 0 if problem.stack else None)) == []


def _stack_is_clear(problem: TileProblem) -> bool:
    size = problem.stack.size if problem.stack is not None else 0
    return all(e.address is None or not e.size or e.address >= size for e in problem.extents)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(tiles(), st.integers(1, 30))
def test_pausing_changes_nothing(problem: TileProblem, pause: int) -> None:
    problem = _without_stack_choice(problem)
    if not pins_legal(problem) or not _stack_is_clear(problem):
        return
    items, runs = _parts(problem)
    straight, halting = (ExactSearch(items, runs, problem.memory) for _ in range(2))
    wanted = straight.run(10**6)
    limit = pause
    while (status := halting.run(limit)) is Status.PAUSED:
        limit += pause
    assert (status, halting.nodes) == (wanted, straight.nodes)
    assert status is not Status.SOLVED or halting.addresses() == straight.addresses()


@settings(max_examples=600, deadline=None, derandomize=True)
@given(tiles())
def test_a_shortage_is_a_proof(problem: TileProblem) -> None:
    problem = _without_stack_choice(problem)
    if not pins_legal(problem) or not _stack_is_clear(problem):
        return
    items, runs = _parts(problem)
    found = shortage(items, runs, problem.memory)
    if found is not None:
        assert not feasible(problem)
        assert found.demand > found.supply


@settings(max_examples=300, deadline=None, derandomize=True)
@given(tiles())
def test_the_ranked_search_is_sound(problem: TileProblem) -> None:
    problem = _without_stack_choice(problem)
    if not pins_legal(problem) or not _stack_is_clear(problem):
        return
    search = ranked_search(problem)
    if search.run(20000) is not Status.SOLVED:
        return
    found = {item.name: at for item, at in zip(search.items, search.addresses(), strict=True)}
    pinned = {e.name: e.address for e in problem.extents if e.address is not None}
    assert judge(problem, TileLayout({**pinned, **found}, 0 if problem.stack else None)) == []


@pytest.mark.skipif(importlib.util.find_spec("ortools") is None, reason="needs the exact extra")
@settings(max_examples=60, deadline=None, derandomize=True)
@given(tiles())
def test_cp_decides_as_enumeration_does(problem: TileProblem) -> None:
    problem = _without_stack_choice(problem)
    if not pins_legal(problem) or not _stack_is_clear(problem):
        return
    items, runs = _parts(problem)
    status, found = solve_cp(items, runs)
    assert status is (Status.SOLVED if feasible(problem) else Status.REFUTED)
    if status is Status.SOLVED:
        empty = ExactSearch(items, runs, problem.memory).empty_addresses()
        named = {items[index].name: at for index, at in {**empty, **found}.items()}
        pinned = {e.name: e.address for e in problem.extents if e.address is not None}
        assert judge(problem, TileLayout({**pinned, **named}, 0 if problem.stack else None)) == []
