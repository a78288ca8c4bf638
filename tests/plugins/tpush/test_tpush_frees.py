"""Frees that nobody wrote, and lanes that go along without data."""

import random
from dataclasses import replace

import pytest
from tpush_clusters import A2A3, A5, AIV0, AIV1, C2V, CUBE, V2C, cluster, one_way, pipe, script, taken, tile
from tpush_random import draw_cluster

from aiecc.plugins.tpush.explore import explore
from aiecc.plugins.tpush.frees import freed
from aiecc.plugins.tpush.graph import check
from aiecc.plugins.tpush.model import Branch, Carry, Cluster, Free, Kind, Loop, Op, Pop, Program, Push, Split, Use
from aiecc.plugins.tpush.unroll import streams


def pop(value: int) -> Pop:
    return Pop(0, C2V, tile(), value)


def shape(ops: tuple[Op, ...]) -> list[object]:
    """`p1 u1 f1` for pop, use and free of tile 1; loops and branches as lists."""
    found: list[object] = []
    for op in ops:
        if isinstance(op, Loop):
            found.append(shape(op.body))
        elif isinstance(op, Branch):
            found.append([shape(op.then), shape(op.orelse)])
        elif isinstance(op, Use):
            found.append("u" + "".join(map(str, op.values)))
        elif isinstance(op, Push):
            found.append("push")
        elif isinstance(op, Pop | Free):
            found.append(f"{'p' if isinstance(op, Pop) else 'f'}{op.value}")
    return found


PLACES = (
    ((pop(1), Use((1,))), ["p1", "u1", "f1"]),
    ((pop(1),), ["p1", "f1"]),
    ((pop(1), pop(2), Use((1, 2))), ["p1", "p2", "u12", "f1", "f2"]),
    # The younger tile waits for the older one, although it is done with earlier.
    ((pop(1), pop(2), Use((2,)), Use((1,))), ["p1", "p2", "u2", "u1", "f1", "f2"]),
    ((pop(1), Use((1,)), pop(2), Use((1,)), Use((2,))), ["p1", "u1", "p2", "u1", "f1", "u2", "f2"]),
    ((pop(1), Loop(3, (Use((1,)),)), Use(())), ["p1", ["u1"], "f1", "u"]),
    ((Loop(3, (pop(1), Use((1,)))),), [["p1", "u1", "f1"]]),
    ((pop(1), Branch("p", (Use((1,)),))), ["p1", [["u1"], []], "f1"]),
    ((Branch("p", (pop(1), Use((1,))), (pop(2),)),), [[["p1", "u1", "f1"], ["p2", "f2"]]]),
    ((pop(1), Push(0, V2C, tile(), uses=(1,)), Use(())), ["p1", "push", "f1", "u"]),
)


@pytest.mark.parametrize(("ops", "expected"), PLACES)
def test_places(ops: tuple[Op, ...], expected: list[object]) -> None:
    found = freed(Program("vector", Kind.VECTOR, ops))
    assert shape(found.ops) == expected
    assert freed(found) is found  # what is written stays as it is


def ahead() -> Cluster:
    """Pops one tile ahead: each iteration uses the one before; the last is used behind the loop."""
    body = (pop(2), Use((10,)))
    loop = Loop(5, body, (Carry(10, 1, 2, 11),))
    return cluster(A5, pipe(1, slots=2), [Push(0, C2V, tile())] * 6, [pop(1), loop, Use((11,))])


def test_a_tile_handed_to_the_next_iteration() -> None:
    made = ahead()
    assert shape(freed(made.vector).ops)[0:] == ["p1", ["p2", "u10", "f10"], "u11", "f11"]
    run = streams(made)
    assert check(run).good and not explore(run).bad
    uses = [
        n for s, n in zip(run.streams[AIV0].steps, run.streams[AIV0].messages, strict=True) if s.act.value[:3] == "use"
    ]
    assert uses[::2] == [0, 1, 2, 3, 4, 5]
    # One slot is too few for two tiles at a time.
    assert check(streams(replace(made, pipes=(pipe(1, slots=1),)))).deadlock


def bare(made: Cluster) -> Cluster:
    """Without a free that somebody wrote."""

    def without(program: Program) -> Program:
        return replace(program, ops=tuple(op for op in program.ops if not isinstance(op, Free)))

    return replace(made, cube=without(made.cube), vector=without(made.vector))


def test_frees_put_in_never_race() -> None:
    """And never come twice: whatever is wrong with a program without frees, it is not that."""
    for seed in range(300):
        run = streams(bare(draw_cluster(seed)))
        verdict = check(run)
        assert verdict.race is None and verdict.twice is None, seed
        for stream in run.streams:
            kinds = [type(op) for i, op in enumerate(stream.ops) if i == 0 or op is not stream.ops[i - 1]]
            if run.platform is A5 and not verdict.deadlock:
                assert kinds.count(Free) == kinds.count(Pop), seed


@pytest.mark.parametrize("seed", range(20))
def test_loops_and_their_unrolling(seed: int) -> None:
    """A loop with frees put in does what its body does, written out."""
    draw = random.Random(seed)
    count, ahead_by = draw.randint(1, 5), draw.randint(1, 3)
    body = tuple(op for i in range(ahead_by) for op in taken(i, C2V))
    written = tuple(op for k in range(count) for i in range(ahead_by) for op in taken(100 * k + i, C2V))
    cube = [Push(0, C2V, tile())] * (count * ahead_by)
    loop = streams(cluster(A5, pipe(1, slots=3), cube, [Loop(count, body)]))
    flat = streams(cluster(A5, pipe(1, slots=3), cube, written))
    assert script(loop, AIV0) == script(flat, AIV0)
    assert loop.streams[AIV0].messages == flat.streams[AIV0].messages


def test_lane_1_of_a_whole_tile() -> None:
    """A2A3: a SET of the Cube reaches both lanes and its WAIT waits for both, so lane 1 goes along, without data. On A5
    it has no part in it."""
    run = streams(replace(one_way(A2A3, 2, 6), lanes=2))
    assert script(run, AIV1) == [w for n in range(6) for w in (f"W r{n % 2}", f"S f{n % 2}")]
    assert script(run, CUBE)[:5] == [
        "W f0 lane 0",
        "W f0 lane 1",
        "copy 0x10000000000 1024",
        "S r0 lane 0",
        "S r0 lane 1",
    ]
    assert check(run).good and explore(run).ends == 1 and not explore(run).dead
    back = streams(replace(one_way(A2A3, 2, 6, direction=V2C), lanes=2))
    assert script(back, AIV1) == [w for n in range(6) for w in (f"W f{n % 2}", f"S r{n % 2}")]
    assert check(back).good
    silent = streams(replace(one_way(A5, 2, 6), lanes=2))
    assert not silent.streams[AIV1].steps and check(silent).good
    # Lane 1 that does not go along stops the Cube on A2A3.
    for name in ("steps", "messages", "ops"):
        getattr(run.streams[AIV1], name).clear()
    assert check(run).deadlock


def test_lanes_with_programs_of_their_own() -> None:
    """Lane 1 pops once less: the Cube waits for it."""
    made = one_way(A2A3, 2, 5, None, C2V, Split.UP_DOWN, 2)
    less = replace(made, vector1=replace(made.vector, ops=made.vector.ops[:-4]))
    verdict = check(streams(less))
    assert verdict.deadlock or verdict.left
    assert check(streams(replace(made, vector1=made.vector))).good
