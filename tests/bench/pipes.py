"""How fast pipes between cores are judged; called by `bench.py`. Processor time, the best of three.

`python tests/bench/pipes.py 5000` puts so many random programs before the three judges and counts the verdicts,
`python tests/bench/pipes.py 1000000 tiles` moves so many tiles through threads.
"""

from __future__ import annotations

import sys
import tempfile
import time
from array import array
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins" / "tpush"))

from pipes_kit import Built, Text
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
    return [*found, *threaded(50_000)]


def threaded(tiles: int) -> list[tuple[str, str, str]]:
    """Tiles of 1 KiB from thread to thread, each added up by the Vector core and the sum compared."""
    found: list[tuple[str, str, str]] = []
    window = 64
    numbers = array("i", ((i * 2654435761) % 1000 for i in range(window * 256)))
    wanted = [sum((tiles + window - 1 - w) // window * numbers[w * 256 + i] for w in range(window)) for i in range(256)]
    wanted = [(each + 2**31) % 2**32 - 2**31 for each in wanted]
    with tempfile.TemporaryDirectory() as scratch:
        for arch, split in (("a5", 0), ("a5", 1), ("a2a3", 0)):
            built = Built(Text(arch, 1, tiles, 8, 32, split, element="i32").sums(window), Path(scratch))
            for judge in (True, False):
                start = time.perf_counter()
                ended = built.run(numbers.tobytes(), bytes(1024), judge=judge)
                seconds = time.perf_counter() - start
                if not ended.finished or array("i", bytes(ended.arrays[1])).tolist() != wanted:
                    raise SystemExit(f"a threaded run went wrong: {ended.text}")
                lanes = ", two lanes" if split else ""
                name = f"threads, {arch.upper()}{lanes}{', judged' if judge else ''}"
                found.append((name, f"{tiles / seconds / 1000:.0f} k/s", f"{tiles} tiles of 1 KiB, no error"))
    return found


if __name__ == "__main__":
    count = int(sys.argv[1])
    if sys.argv[2:] == ["tiles"]:
        for row in threaded(count):
            print(*row, sep="  ")
    else:
        print(dict(tally(range(count))))
