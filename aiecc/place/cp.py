"""The last resort: CP-SAT on what the exact search left undecided.

Needs the `exact` extra (ortools), which is imported only when a tile gets here. One worker and a limit
in the solver's deterministic time, so that the answer is reproducible. One interval per extent, its
start a multiple of the alignment inside the free runs and ranges; extents may not overlap; equal
extents are ordered. Redundant per-run slot counts let it see pigeonholes that intervals do not show.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

from aiecc.place.problem import Item, Runs
from aiecc.place.search import Status

DETERMINISTIC_LIMIT = 10.0
"""CP-SAT's deterministic time; about as many seconds on a small machine."""


def available() -> bool:
    """Whether the `exact` extra is installed."""
    return importlib.util.find_spec("ortools") is not None


def solve_cp(items: Sequence[Item], runs: Runs, limit: float = DETERMINISTIC_LIMIT) -> tuple[Status, dict[int, int]]:
    """Place every non-empty item, by its index. SOLVED with addresses, REFUTED (a proof) or PAUSED (undecided)."""
    real = [(index, item) for index, item in enumerate(items) if item.size]
    model, starts = _model(real, runs)
    if model is None:
        return Status.REFUTED, {}
    from ortools.sat.python import cp_model  # pyright: ignore[reportMissingImports]  # the optional extra

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = limit
    outcome = solver.solve(model)
    if outcome in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Status.SOLVED, {i: item.align * solver.value(starts[i]) for i, item in real}
    return (Status.REFUTED if outcome == cp_model.INFEASIBLE else Status.PAUSED), {}


def _windows(item: Item, runs: Runs) -> list[tuple[int, int, int]]:
    """For each run and range the item fits in: the run's index and the first and last start, in alignments."""
    found: list[tuple[int, int, int]] = []
    for index, (run_lo, run_hi) in enumerate(runs):
        for lo, hi in item.ranges:
            first = -(-max(run_lo, lo) // item.align)
            last = (min(run_hi, hi) - item.size) // item.align
            if first <= last and min(run_hi, hi) > max(run_lo, lo):
                found.append((index, first, last))
    return found


def _model(real: list[tuple[int, Item]], runs: Runs) -> tuple[Any, dict[int, Any]]:
    from ortools.sat.python import cp_model  # pyright: ignore[reportMissingImports]  # the optional extra

    model = cp_model.CpModel()
    starts: dict[int, Any] = {}
    intervals: list[Any] = []
    homes: dict[int, dict[int, Any]] = {}
    for i, item in real:
        windows = _windows(item, runs)
        if not windows:
            return None, {}
        domain = cp_model.Domain.from_intervals([[first, last] for _, first, last in windows])
        starts[i] = model.new_int_var_from_domain(domain, f"at{i}")
        intervals.append(model.new_fixed_size_interval_var(item.align * starts[i], item.size, f"run{i}"))
        homes[i] = {}
        for run in sorted({run for run, _, _ in windows}):
            here = model.new_bool_var(f"in{i}_{run}")
            those = cp_model.Domain.from_intervals([[first, last] for r, first, last in windows if r == run])
            model.add_linear_expression_in_domain(starts[i], those).only_enforce_if(here)
            homes[i][run] = here
        model.add_exactly_one(homes[i].values())
    model.add_no_overlap(intervals)
    _order_equals(model, real, starts)
    _count_slots(model, real, runs, homes)
    return model, starts


def _order_equals(model: Any, real: list[tuple[int, Item]], starts: dict[int, Any]) -> None:
    previous: dict[tuple[int, int, Runs], int] = {}
    for i, item in real:
        key = (item.size, item.align, item.ranges)
        if key in previous:
            model.add(starts[previous[key]] < starts[i])
        previous[key] = i


def _count_slots(model: Any, real: list[tuple[int, Item]], runs: Runs, homes: dict[int, dict[int, Any]]) -> None:
    """In every run and for every alignment: no more aligned slots than the run has (see `bound`)."""
    for step in sorted({item.align for _, item in real}):
        for run, (lo, hi) in enumerate(runs):
            supply = -(-hi // step) - -(-lo // step)
            terms = [
                -(-item.size // step) * homes[i][run] for i, item in real if item.align % step == 0 and run in homes[i]
            ]
            if terms:
                model.add(sum(terms) <= supply)
