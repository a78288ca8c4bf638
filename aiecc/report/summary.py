"""The figures of a finished build, one row per core: what it needs, what it has, what is left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aiecc.model import runs
from aiecc.model.build import CoreReport, Placement
from aiecc.model.measure import StackSource
from aiecc.model.memory import TileLayout, TileProblem


@dataclass(frozen=True, slots=True)
class CoreRow:
    """One core; all sizes in bytes. None: not known, which is never the same as 0.

    `stack_exact` is False for a lower bound. `banks` has (used, size) per bank, stack and core data included.
    """

    device: str
    col: int
    row: int
    stack_needed: int | None
    stack_exact: bool
    stack_reserved: int
    data: int | None
    banks: tuple[tuple[int, int], ...]
    program: int
    program_limit: int
    largest_free: int


def occupied(problem: TileProblem, layout: TileLayout) -> list[runs.Run]:
    """Every byte range of the tile that something lies in."""
    taken = [runs.extent(layout.addresses[e.name], e.size) for e in problem.extents]
    if problem.stack is not None:
        taken.append(runs.extent(layout.stack_address or 0, problem.stack.size))
    return taken


def rows(reports: Iterable[CoreReport], placement: Placement) -> list[CoreRow]:
    """One row per report, in the order given."""
    tiles = {(d.name, p.col, p.row): (p, y) for d, p, y in placement.tiles}
    out: list[CoreRow] = []
    for report in reports:
        core = report.core.id
        problem, layout = tiles[core.device, core.col, core.row]
        taken = occupied(problem, layout)
        free = runs.free((0, problem.memory), taken)
        banks: list[tuple[int, int]] = []
        for b in range(problem.banks):
            window = (b * problem.bank_size, (b + 1) * problem.bank_size)
            banks.append((problem.bank_size - sum(runs.size(r) for r in runs.free(window, taken)), problem.bank_size))
        longest = runs.largest(free)
        known = report.stack is not None and report.stack.source in (StackSource.MEASURED, StackSource.LOWER_BOUND)
        out.append(
            CoreRow(
                device=core.device,
                col=core.col,
                row=core.row,
                stack_needed=report.stack.size if report.stack is not None and known else None,
                stack_exact=report.stack is not None and report.stack.source is StackSource.MEASURED,
                stack_reserved=report.stack_reserved,
                data=_static(report),
                banks=tuple(banks),
                program=report.program,
                program_limit=report.program_limit,
                largest_free=runs.size(longest) if longest else 0,
            )
        )
    return out


def _static(report: CoreReport) -> int | None:
    return None if report.data is None else report.data.size + sum(report.data.bank_sizes)
