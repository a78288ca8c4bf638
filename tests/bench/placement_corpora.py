"""The allocator on its corpora: the four families of tiles, and what solving them comes to.

`measure` solves a corpus and sums it up; `measure_all` yields the rows of the benchmark's table. Run as
a script with a fraction of the full counts (and `cp`) to see them.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

from placement_tiles import (
    INFEASIBLE,
    bank_reservation,
    base,
    borderline,
    core_tile,
    crowd,
    infeasible,
    memory_tile,
    packed,
)

from aiecc.model.memory import Kind, TileLayout, TileProblem
from aiecc.place.judge import judge
from aiecc.place.refuse import Refusal
from aiecc.place.solve import Ranking, solve

__all__ = [
    "COLUMNS",
    "INFEASIBLE",
    "Row",
    "bank_reservation",
    "base",
    "borderline",
    "cells",
    "core_tile",
    "corpora",
    "crossings",
    "crowd",
    "infeasible",
    "measure",
    "measure_all",
    "memory_tile",
    "packed",
    "sharing",
]


def sharing(problem: TileProblem, layout: TileLayout) -> float | None:
    """How many pairs of non-empty buffers start in one bank: 0 for the most even split, 1 for a single bank.

    Core data is left out. None: fewer than two buffers, or no split is better than another.
    """
    names = [e.name for e in problem.extents if e.size and e.kind is not Kind.CORE_DATA]
    per_bank = Counter(layout.addresses[name] // problem.bank_size for name in names)

    def pairs(count: int) -> int:
        return count * (count - 1) // 2

    each, more = divmod(len(names), problem.banks)
    fewest = more * pairs(each + 1) + (problem.banks - more) * pairs(each)
    most = pairs(len(names))
    if most == fewest:
        return None
    return (sum(pairs(count) for count in per_bank.values()) - fewest) / (most - fewest)


def crossings(problem: TileProblem, layout: TileLayout) -> int:
    """Free extents across a bank's end although some bank has a hole for them, the others staying put."""
    spans = {e.name: (layout.addresses[e.name], layout.addresses[e.name] + e.size) for e in problem.extents if e.size}
    stack = (0, problem.stack.size) if problem.stack else (0, 0)
    count = 0
    for extent in problem.extents:
        if not extent.size or extent.address is not None or extent.mem_bank is not None:
            continue
        lo, hi = spans[extent.name]
        if lo // problem.bank_size == (hi - 1) // problem.bank_size:
            continue
        others = sorted([stack, *(span for name, span in spans.items() if name != extent.name)])
        count += any(_longest(problem, others, bank) >= extent.size for bank in range(problem.banks))
    return count


def _longest(problem: TileProblem, taken: list[tuple[int, int]], bank: int) -> int:
    cursor, end, best = bank * problem.bank_size, (bank + 1) * problem.bank_size, 0
    for lo, hi in taken:
        if hi > cursor and lo < end:
            best, cursor = max(best, lo - cursor), max(cursor, hi)
    return max(best, end - cursor)


@dataclass(frozen=True, slots=True)
class Row:
    """What solving one corpus came to. Times in milliseconds; `sharing` None where nothing can be shared.

    `undecided` tiles were refused with the budget note; `refuted` ones with a proof. `searched` tiles
    needed a choice undone; `exact` and `cp` were solved by those engines.
    """

    corpus: str
    tiles: int
    solved: int
    refuted: int
    undecided: int
    illegal: int
    unstable: int
    searched: int
    exact: int
    cp: int
    mean_ms: float
    worst_ms: float
    most_tries: int
    crossings: int
    sharing: float | None

    @property
    def decided(self) -> float:
        """Percentage of tiles placed or refused with a proof."""
        return 100.0 * (self.tiles - self.undecided) / self.tiles if self.tiles else 100.0


def measure(
    corpus: str,
    problems: Iterable[TileProblem | None],
    *,
    ranking: Ranking = "ranked",
    use_cp: bool = False,
    twice: bool = True,
) -> Row:
    """Solve every tile and sum it up. `twice` solves each again (untimed) to see whether the answer changes."""
    times: list[float] = []
    shares: list[float] = []
    count: Counter[str] = Counter()
    most = 0
    for problem in problems:
        if problem is None:
            continue
        begin = time.perf_counter()
        answer = solve(problem, ranking=ranking, use_cp=use_cp)
        times.append(1000 * (time.perf_counter() - begin))
        most = max(most, answer.tries)
        if twice:
            count["unstable"] += solve(problem, ranking=ranking, use_cp=use_cp) != answer
        if isinstance(answer, Refusal):
            count["refuted" if answer.proven else "undecided"] += 1
            continue
        count["solved"] += 1
        count["searched"] += answer.searched
        count[answer.solver] += 1
        count["illegal"] += bool(judge(problem, answer))
        count["crossings"] += crossings(problem, answer)
        share = sharing(problem, answer)
        if share is not None:
            shares.append(share)
    return Row(
        corpus,
        len(times),
        count["solved"],
        count["refuted"],
        count["undecided"],
        count["illegal"],
        count["unstable"],
        count["searched"],
        count["exact"],
        count["cp"],
        sum(times) / len(times) if times else 0.0,
        max(times, default=0.0),
        most,
        count["crossings"],
        sum(shares) / len(shares) if shares else None,
    )


def corpora(scale: float = 1.0) -> Iterator[tuple[str, list[TileProblem | None]]]:
    """Every corpus by name, at full counts or a fraction of them."""

    def some(count: int) -> range:
        return range(max(1, int(count * scale)))

    yield "base", [base(seed) for seed in some(200)]
    yield "base beyond 200", [base(200 + seed) for seed in some(11800)]
    yield "bank reservations", [bank_reservation(seed) for seed in some(12000)]
    yield "borderline", [borderline(seed) for seed in some(6000)]
    for family in INFEASIBLE:
        yield f"infeasible: {family}", [infeasible(family, seed) for seed in some(40)]
    yield "300 buffers", [crowd(300)]
    for core in (True, False):
        tiles = [packed(seed, 300, 75, 256, core=core, grain=64) for seed in some(10)]
        yield f"300 buffers, 75 pinned, {'core' if core else 'memory tile'}", list(tiles)


def measure_all(scale: float = 1.0, *, use_cp: bool = False) -> Iterator[Row]:
    """The benchmark: a row per corpus with the default ranking, then `base` with the spread ranking."""
    for name, problems in corpora(scale):
        yield measure(name, problems, use_cp=use_cp)
        if name == "base":
            yield measure("base, spread", problems, ranking="spread", use_cp=use_cp)


COLUMNS = [field.name for field in fields(Row)] + ["decided"]


def cells(row: Row) -> list[str]:
    """A row as text, in the order of COLUMNS."""
    out: list[str] = []
    for name in COLUMNS:
        value = getattr(row, name)
        out.append(f"{value:.2f}%" if name == "decided" else f"{value:.4g}" if isinstance(value, float) else str(value))
    return out


if __name__ == "__main__":
    print("  ".join(COLUMNS))
    for line in measure_all(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0, use_cp="cp" in sys.argv):
        print("  ".join(cells(line)), flush=True)
