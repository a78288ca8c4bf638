"""Place one tile, or say in words why not. Start here.

The ladder: check what the author fixed; the ranked search, exactly as specified; slot counting, which
often proves at once that nothing fits; a complete search; CP-SAT if asked for. Each step runs only when
the ones before left the tile undecided, all are bounded by counts, and `judge` checks the answer before
it leaves. The ranked search runs first even where slot counting would refuse at once: a refusal shows
the closest arrangement it reached.
"""

from __future__ import annotations

from typing import Literal

from aiecc.model.memory import Extent, TileLayout, TileProblem
from aiecc.place import cp
from aiecc.place.bound import Shortage, shortage
from aiecc.place.exact import search_exactly
from aiecc.place.judge import judge
from aiecc.place.pins import check_pins, space_conflicts
from aiecc.place.problem import Item, Run, counts_in_spread, free_runs, in_one_range, make_item, search_order
from aiecc.place.rank import Geometry, least_fragmenting
from aiecc.place.refuse import Refusal, no_room_for_stack, not_placed
from aiecc.place.search import RankedSearch, Status
from aiecc.place.settle import settle

BUDGET = 20000
"""Placements of the ranked search per tile (the specification's number)."""
NODES = 200000
"""Nodes of the exact search per tile."""

HINT = "install aiecc[exact], whose solver may decide it"

Ranking = Literal["ranked", "spread"]


class PlacementBug(RuntimeError):
    """A search returned a layout that the judge rejects: an error of ours, never of the design."""


def solve(
    problem: TileProblem,
    *,
    ranking: Ranking = "ranked",
    use_cp: bool = False,
    budget: int = BUDGET,
    nodes: int | None = None,
) -> TileLayout | Refusal:
    """Give every extent of the tile and its stack an address.

    `ranking` "spread" prefers banks where few buffers start. `use_cp` lets CP-SAT decide what is left,
    if the `exact` extra is installed. `budget` (placements) and `nodes` bound the searches; without
    `nodes`, a budget below the default bounds both. The same problem always gets the same answer.
    Raises ValueError for a count below 1 or two extents of one name, PlacementBug for an answer the
    judge rejects.
    """
    if nodes is None:
        nodes = budget if budget < BUDGET else max(NODES, budget)
    if budget < 1 or nodes < 1:
        raise ValueError("placement counts must be positive")
    if len({extent.name for extent in problem.extents}) != len(problem.extents):
        raise ValueError("two extents of a tile have one name")
    conflicts = space_conflicts(problem)
    if conflicts:
        return Refusal(conflicts, True)
    stack_at = _stack_address(problem)
    if problem.stack is not None and stack_at is None:
        return Refusal((no_room_for_stack(problem),), True)
    stack = _stack_run(problem, stack_at)
    fault = check_pins(problem, stack)
    if fault is not None:
        return Refusal((fault,), True)
    answer = _Ladder(problem, stack_at, stack, ranking).climb(budget, nodes, use_cp)
    if isinstance(answer, TileLayout):
        faults = judge(problem, answer)
        if faults:
            raise PlacementBug(f"tile ({problem.col}, {problem.row}): " + "; ".join(faults))
    return answer


def _pinned_runs(problem: TileProblem) -> list[Run]:
    return [(e.address, e.address + e.size) for e in problem.extents if e.address is not None]


def _stack_address(problem: TileProblem) -> int | None:
    """Where the stack starts; None when there is none, or its bank has no room for it."""
    stack = problem.stack
    if stack is None:
        return None
    if stack.address is not None or stack.bank is None:
        return stack.address or 0
    pins = [(lo, hi) for lo, hi in _pinned_runs(problem) if lo >= 0 and hi <= problem.memory]
    width = problem.bank_size
    span = (stack.bank * width, (stack.bank + 1) * width)
    return least_fragmenting(free_runs(problem.memory, pins), span, stack.size, problem.stack_align)


def _stack_run(problem: TileProblem, at: int | None) -> Run | None:
    if problem.stack is None or at is None:
        return None
    return at, max(at, min(at + problem.stack.size, problem.memory))


class _Ladder:
    """The searches over one tile whose pins are legal."""

    def __init__(self, problem: TileProblem, stack_at: int | None, stack: Run | None, ranking: Ranking) -> None:
        self.problem = problem
        self.stack_at = stack_at
        self.order = search_order(problem)
        self.items = [make_item(problem, extent) for extent in self.order] if problem.bank_size else []
        pins = _pinned_runs(problem)
        self.runs = free_runs(problem.memory, pins if stack is None else [*pins, stack])
        self.movable = self._movable_stack(stack)
        # The complete searches may also move a stack whose bank only is given; else a refusal would be no proof.
        self.all_items = [*self.items, self.movable] if self.movable is not None else self.items
        self.all_runs = free_runs(problem.memory, pins) if self.movable is not None else self.runs
        self.geometry = Geometry(problem.memory, problem.banks, problem.bank_size, problem.stack is not None)
        self.counts = self._starting_counts() if ranking == "spread" else None
        self.ranked = RankedSearch(self.items, self.runs, self.geometry, self.counts)
        self.tries = 0

    def _movable_stack(self, stack: Run | None) -> Item | None:
        given = self.problem.stack
        if given is None or stack is None or given.address is not None or given.bank is None:
            return None
        bank = (given.bank,)
        ranges = in_one_range(bank, self.problem.bank_size, self.problem.memory)
        return Item("", given.size, self.problem.stack_align, bank, ranges)

    def _starting_counts(self) -> list[int]:
        counts = [0] * self.problem.banks
        for extent in self.problem.extents:
            if extent.address is not None and counts_in_spread(extent):
                counts[min(extent.address // self.problem.bank_size, self.problem.banks - 1)] += 1
        return counts

    def climb(self, budget: int, nodes: int, use_cp: bool) -> TileLayout | Refusal:
        if self.order and not self.items:
            # A tile without memory (a shim): nothing to search in.
            return self._refusal(None, None, budget)
        ranked = self.ranked
        if ranked.run(budget) is Status.SOLVED:
            return self._ranked_layout()
        ranked.give_up()
        short = shortage(self.all_items, self.all_runs, self.problem.memory)
        if short is not None:
            self.tries = ranked.tries
            return self._refusal(Status.REFUTED, short, budget)
        status, addresses, spent = search_exactly(self.all_items, self.all_runs, self.problem.memory, nodes)
        self.tries = ranked.tries + spent
        if status is Status.SOLVED:
            return self._complete_layout(addresses, "exact")
        if status is Status.PAUSED and use_cp and cp.available():
            status, found = cp.solve_cp(self.all_items, self.all_runs)
            if status is Status.SOLVED:
                return self._complete_layout({**addresses, **found}, "cp")
        hint = HINT if use_cp and not cp.available() else ""
        return self._refusal(status, None, budget, hint)

    def _pins(self) -> dict[str, int]:
        return {e.name: e.address for e in self.problem.extents if e.address is not None}

    def _named(self, addresses: dict[str, int]) -> dict[str, int]:
        """All addresses in program order."""
        known = {**self._pins(), **addresses}
        return {e.name: known[e.name] for e in self.problem.extents if e.name in known}

    def _ranked_layout(self) -> TileLayout:
        ranked = self.ranked
        chosen = dict(zip((item.name for item in self.items), ranked.addresses(), strict=True))
        return TileLayout(self._named(chosen), self.stack_at, ranked.undone > 0, ranked.tries, "ranked")

    def _complete_layout(self, addresses: dict[int, int], solver: str) -> TileLayout:
        settled = settle(self.all_items, addresses, self.all_runs, self.geometry, self.counts)
        chosen = {item.name: settled[index] for index, item in enumerate(self.items)}
        stack_at = self.stack_at if self.movable is None else addresses[len(self.items)]
        return TileLayout(self._named(chosen), stack_at, True, self.tries, solver)

    def _refusal(self, status: Status | None, short: Shortage | None, budget: int, hint: str = "") -> Refusal:
        proven = status is not Status.PAUSED
        ranked = self.ranked
        position = ranked.deepest or 0
        placed = dict(zip((e.name for e in self.order), ranked.deepest_addresses, strict=False))
        deepest = TileLayout(self._named(placed), self.stack_at, ranked.undone > 0, self.tries, "ranked")
        extent: Extent = self.order[position]
        diagnostics = not_placed(self.problem, extent, deepest, None if proven else budget, short, hint)
        return Refusal(diagnostics, proven, deepest, self.tries)
