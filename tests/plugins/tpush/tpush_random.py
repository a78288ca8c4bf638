"""Random programs of both directions, good and bad, for three judges that know nothing of one another."""

from __future__ import annotations

import random
import sys
from collections import Counter
from dataclasses import dataclass

from tpush_clusters import A2A3, A5, C2V, V2C, cluster, half, tile

from aiecc.plugins.tpush.explore import explore
from aiecc.plugins.tpush.graph import check
from aiecc.plugins.tpush.model import Cluster, Direction, Free, Op, Pipe, Pop, Push, Split, Use
from aiecc.plugins.tpush.simulate import simulate
from aiecc.plugins.tpush.unroll import streams


def draw_cluster(seed: int) -> Cluster:
    """One to three slots, up to four messages each way; frees after the read, before it, late, or out of order.

    Sometimes a pop is missing, sometimes a free comes twice. One program in four is split over two lanes.
    """
    draw = random.Random(seed)
    mask = draw.choice((3, 3, 3, 1, 2))
    split = draw.choice((Split.NONE, Split.NONE, Split.NONE, Split.UP_DOWN, Split.LEFT_RIGHT))
    counts = {d: draw.randint(0, 3 if split else 4) if mask & d else 0 for d in Direction}
    careful = draw.random() < 0.4
    cube = _side(draw, C2V, V2C, counts, split, True, careful)
    vector = _side(draw, V2C, C2V, counts, split, False, careful)
    slots = draw.randint(1, 3)
    platform = draw.choice((A5, A5, A5, A2A3))
    return cluster(platform, Pipe(0, mask, 1024, slots), cube, vector, lanes=2 if split else 1)


def _side(
    draw: random.Random,
    out: Direction,
    back: Direction,
    counts: dict[Direction, int],
    split: Split,
    whole: bool,
    careful: bool,
) -> list[Op]:
    """One core: its pushes and pops, shuffled; every popped tile is read and freed somewhere behind its pop."""
    mine = tile() if whole else half(split, tile())
    pops = max(counts[back] - (draw.random() < 0.15), 0)
    order = ["push"] * counts[out] + ["pop"] * pops
    draw.shuffle(order)
    ops: list[Op] = []
    waiting: list[tuple[int, Op]] = []
    number = 0
    for word in order:
        ops += _due(waiting)
        if word == "push":
            ops.append(Push(0, out, mine, split))
            continue
        ops.append(Pop(0, back, mine, number, split))
        use, free = Use((number,)), Free(0, back, split, number)
        late = 0 if draw.random() < 0.6 else draw.randint(1, 2)
        early = not careful and draw.random() < 0.2
        waiting += [(late, free), (late, use)] if early else [(late, use), (late, free)]
        if draw.random() < 0.02:
            waiting.append((late, free))
        number += 1
    ops += [op for _, op in waiting]
    return ops


def _due(waiting: list[tuple[int, Op]]) -> list[Op]:
    now = [op for left, op in waiting if left <= 0]
    waiting[:] = [(left - 1, op) for left, op in waiting if left > 0]
    return now


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the three say. `race` is None where a deadlock, or a flag set twice, makes the judges look at other runs."""

    dead: bool
    race: bool
    twice: bool
    left: bool


def judge(made: Cluster) -> Judgement:
    """All three, which must agree; an AssertionError when they do not."""
    run = streams(made)
    verdict = check(run)
    everything = explore(run)
    once = [simulate(run, seed) for seed in (0, 1)]
    twice = verdict.twice is not None
    assert twice == bool(everything.twice), "set twice"
    if not twice:  # a flag that is set twice loses a SET, which counting does not
        assert bool(verdict.deadlock) == bool(everything.dead), "deadlock"
        assert all(bool(verdict.deadlock) == bool(outcome.stuck) for outcome in once), "deadlock in one schedule"
        assert (verdict.race is not None) == bool(everything.bad), "race"
        assert verdict.race is not None or not any(outcome.bad for outcome in once), "race in one schedule"
        assert bool(verdict.left) == everything.left, "left over"
        if not verdict.deadlock:
            assert everything.ends == 1, "ends"
    return Judgement(bool(verdict.deadlock), verdict.race is not None, twice, bool(verdict.left))


def tally(seeds: range) -> Counter[str]:
    """Verdicts of so many programs, counted."""
    found: Counter[str] = Counter()
    for seed in seeds:
        try:
            each = judge(draw_cluster(seed))
        except AssertionError as wrong:
            raise AssertionError(f"seed {seed}: {wrong}") from wrong
        words = [w for w, yes in (("deadlock", each.dead), ("race", each.race), ("set twice", each.twice)) if yes]
        found[" and ".join(words) or ("left over" if each.left else "good")] += 1
    return found


if __name__ == "__main__":
    print(dict(tally(range(int(sys.argv[1])))))
