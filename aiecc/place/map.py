"""The tile's memory in words: upstream's memory map, and our table of what each bank has left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aiecc.model import runs
from aiecc.model.memory import Extent, Kind, TileLayout, TileProblem
from aiecc.place.problem import Run, Runs, free_runs, preconstrained, search_order

MAP_TITLE = "Current configuration of buffers in bank(s) : MemoryMap:\n"
"""First line of the note that carries the map of a tile that could not be placed."""


def label(extent: Extent) -> str:
    """How the map calls an extent."""
    if extent.kind is Kind.CORE_DATA:
        return "(core data sections)"
    return extent.name if extent.kind is Kind.BUFFER else "(bank-pinned static data)"


def stack_run(problem: TileProblem, layout: TileLayout) -> Run | None:
    """The bytes of the stack, cut at the end of memory; None without a stack."""
    if problem.stack is None or layout.stack_address is None or problem.stack.size <= 0:
        return None
    return layout.stack_address, min(layout.stack_address + problem.stack.size, problem.memory)


def occupied(problem: TileProblem, layout: TileLayout) -> list[Run]:
    """Every byte range the stack and the placed, non-empty extents take."""
    stack = stack_run(problem, layout)
    taken = [] if stack is None else [stack]
    taken += [
        (layout.addresses[e.name], layout.addresses[e.name] + e.size)
        for e in problem.extents
        if e.size and e.name in layout.addresses
    ]
    return taken


def layout_runs(problem: TileProblem, layout: TileLayout) -> Runs:
    """The free runs of a (possibly partial) layout."""
    return free_runs(problem.memory, occupied(problem, layout))


def memory_map(problem: TileProblem, layout: TileLayout) -> str:
    """The map, a line each for every bank and every placed extent, ending in a newline.

    In a bank: the stack, then extents with a demand of their own (addresses ascending, then bank pins
    in program order), then the others in the order they were placed. An extent is listed in the bank of
    its first byte.
    """
    lines: list[str] = []
    stack = stack_run(problem, layout)
    if stack is None:
        lines.append("\t(no stack allocated)")
    if problem.stack is not None and problem.stack.measured is not None:
        lines.append(f"\t(aiecc measured this core's stack requirement as {problem.stack.measured} bytes)")
    width = problem.bank_size
    inside: list[list[str]] = [[] for _ in range(problem.banks)]
    if stack is not None and problem.stack is not None and width:
        bank = max(0, min(stack[0] // width, problem.banks - 1))
        inside[bank].append(_entry("(stack)", stack[0], problem.stack.size, None))
    for extent in _listed(problem):
        at = layout.addresses.get(extent.name)
        if at is None or not width:
            continue
        bank = min(at // width, problem.banks - 1)
        straddles = bank + 1 if at + extent.size > (bank + 1) * width else None
        inside[bank].append(_entry(label(extent), at, extent.size, straddles))
    for bank, entries in enumerate(inside if width else ()):
        lines.append(f"\tbank : {bank}\t0x{bank * width:X}-0x{(bank + 1) * width - 1:X}")
        lines += entries
    return "".join(f"{line}\n" for line in lines)


def _listed(problem: TileProblem) -> Iterable[Extent]:
    first = preconstrained(problem)
    seen = {extent.name for extent in first}
    return (*first, *(e for e in search_order(problem) if e.name not in seen))


def _entry(name: str, at: int, size: int, straddles: int | None) -> str:
    last = at + size - 1 if size else at
    suffix = "" if straddles is None else f" (straddles into bank {straddles})"
    return f"\t\t{name} \t: 0x{at:X}-0x{last:X} \t({size} bytes){suffix}"


@dataclass(frozen=True, slots=True)
class BankUse:
    """What one bank holds, bytes. `run`: start and size of its largest free run, (start of bank, 0) if full."""

    bank: int
    used: int
    free: int
    run: tuple[int, int]


def bank_use(problem: TileProblem, layout: TileLayout) -> tuple[BankUse, ...]:
    """Used and free bytes and the largest free run of every bank."""
    taken = occupied(problem, layout)
    width = problem.bank_size
    rows: list[BankUse] = []
    for bank in range(problem.banks):
        lo, hi = bank * width, (bank + 1) * width
        free = sum(runs.size(run) for run in runs.free((lo, hi), taken))
        rows.append(BankUse(bank, width - free, free, _largest(lo, hi, taken)))
    return tuple(rows)


def bank_table(problem: TileProblem, layout: TileLayout) -> str:
    """`bank_use` as aligned text: a heading, a row per bank, and the tile's total with its largest free run."""
    start, size = _largest(0, problem.memory, occupied(problem, layout))
    uses = bank_use(problem, layout)
    rows = [("bank", "used", "free", "largest free run")]
    rows += [(str(use.bank), str(use.used), str(use.free), _run_text(*use.run)) for use in uses]
    rows.append(("tile", str(sum(u.used for u in uses)), str(sum(u.free for u in uses)), _run_text(start, size)))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return "".join(
        f"{bank:<{widths[0]}}  {used:>{widths[1]}}  {free:>{widths[2]}}  {run}\n" for bank, used, free, run in rows
    )


def _largest(lo: int, hi: int, taken: Iterable[Run]) -> tuple[int, int]:
    """Start and size of the largest free run of `[lo, hi)`, the lowest of equals; `(lo, 0)` if there is none."""
    start, end = runs.largest(runs.free((lo, hi), taken)) or (lo, lo)
    return start, end - start


def _run_text(start: int, size: int) -> str:
    return f"{size} at 0x{start:X}" if size else "none"
