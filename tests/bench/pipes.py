"""How fast pipes between cores are judged; called by `bench.py`. Processor time, the best of three.

`python tests/bench/pipes.py 5000` puts so many random programs before the three judges and counts the verdicts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins" / "tpush"))

from tpush_clusters import A2A3, A5, C2V, V2C, cluster, one_way, pipe, taken, tile
from tpush_random import tally

from aiecc.plugins.tpush.explore import explore
from aiecc.plugins.tpush.graph import check
from aiecc.plugins.tpush.model import Cluster, Loop, Push, Split
from aiecc.plugins.tpush.unroll import streams

MESSAGES = 10_000


def both_ways(messages: int) -> Cluster:
    """As many messages each way, in loops."""
    cube = Loop(messages, (Push(0, C2V, tile()), *taken(0, V2C)))
    vector = Loop(messages, (*taken(0, C2V), Push(0, V2C, tile())))
    return cluster(A5, pipe(3), [cube], [vector])


def best(work: Callable[[], object]) -> float:
    found = float("inf")
    for _ in range(3):
        start = time.process_time()
        work()
        found = min(found, time.process_time() - start)
    return found


def rows() -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    designs = (
        (f"event graph, {MESSAGES} messages", one_way(A2A3, 8, MESSAGES)),
        (f"event graph, {MESSAGES} each way", both_ways(MESSAGES)),
        (f"event graph, {MESSAGES}, two lanes", one_way(A5, 8, MESSAGES, None, C2V, Split.UP_DOWN, 2)),
    )
    for name, made in designs:
        run = streams(made)
        unrolled, judged = best(lambda made=made: streams(made)), best(lambda run=run: check(run))
        steps = sum(len(stream.steps) for stream in run.streams)
        found.append((name, f"{judged:.2f} s", f"{steps} steps, unrolled in {unrolled:.2f} s"))
    run = streams(one_way(A5, 4, 40, None, V2C, Split.UP_DOWN, 2))
    states = explore(run).states
    found.append(("all schedules", f"{states / best(lambda: explore(run)) / 1000:.0f} k/s", f"{states} states"))
    return found


if __name__ == "__main__":
    print(dict(tally(range(int(sys.argv[1])))))
