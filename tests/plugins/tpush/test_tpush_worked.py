"""The worked examples, addresses and flags included. Flag numbers are those of the wire they travel on."""

import pytest
from tpush_clusters import A2A3, A5, AIV0, AIV1, C2V, CUBE, V2C, cluster, half, one_way, pipe, script, taken, tile

from aiecc.api import Sink
from aiecc.plugins.tpush.explore import explore
from aiecc.plugins.tpush.graph import check
from aiecc.plugins.tpush.model import (
    Branch,
    Direction,
    Free,
    Loop,
    Op,
    Pipe,
    Pop,
    Push,
    Space,
    Split,
    Tile,
    Use,
    default_slot_num,
)
from aiecc.plugins.tpush.protocol import FreeRule
from aiecc.plugins.tpush.simulate import simulate
from aiecc.plugins.tpush.size import arranged, pipe_bytes, with_flags, workspace
from aiecc.plugins.tpush.split import halves, part
from aiecc.plugins.tpush.steps import Act, Flag
from aiecc.plugins.tpush.unroll import streams, worlds
from aiecc.plugins.tpush.verdict import RaceKind


def test_w1_one_direction_on_a2a3() -> None:
    run = streams(
        cluster(
            A2A3,
            pipe(1, 1024, c2v=0x100000),
            [Push(0, C2V, tile(space=Space.ACC))] * 9,
            [op for i in range(9) for op in taken(i, C2V)],
        )
    )
    assert sorted(run.preset) == [Flag(0, False, n) for n in range(8)]  # the Vector core sets f0 to f7
    slots = [0x100000, 0x100400, 0x100800, 0x100C00, 0x101000, 0x101400, 0x101800, 0x101C00, 0x100000]
    cube = [w for n, a in enumerate(slots) for w in (f"W f{n % 8}", f"copy 0x{a:X} 1024", f"S r{n % 8}")]
    vector = [w for n, a in enumerate(slots) for w in (f"W r{n % 8}", f"copy 0x{a:X} 1024", f"S f{n % 8}")]
    assert script(run, CUBE) == cube and script(run, AIV0) == vector
    # The ninth push blocks until the first pop has freed slot 0.
    at = [i for i, s in enumerate(run.streams[CUBE].steps) if s.act is Act.WAIT][8]
    log = simulate(run).log
    free = next(i for i, s in enumerate(run.streams[AIV0].steps) if s.act is Act.SET)
    assert log.index((AIV0, free)) < log.index((CUBE, at))
    assert simulate(run).flags == run.preset  # all free, none ready


def test_w2_both_directions_on_a2a3() -> None:
    small = tile(8, 16)
    cube = [Push(0, C2V, small), Pop(0, V2C, small, 0)] * 4
    vector = [Pop(0, C2V, small, 0), Push(0, V2C, small)] * 4
    made = cluster(A2A3, pipe(3, 512), cube, vector)
    assert workspace(made.pipes).size == 4096
    found = arranged(made, Sink(), base=0x200000)
    assert found is not None
    run = streams(found)
    assert sorted(run.preset) == [Flag(0, False, n) for n in range(4)] + [Flag(0, True, n) for n in range(4, 8)]
    there = [0x200000, 0x200200, 0x200400, 0x200600]
    back = [0x200800, 0x200A00, 0x200C00, 0x200E00]
    assert script(run, CUBE) == [
        word
        for n in range(4)
        for word in (
            *(f"W f{n}", f"copy 0x{there[n]:X} 512", f"S r{n}"),
            *(f"W r{n + 4}", f"copy 0x{back[n]:X} 512", f"S f{n + 4}"),
        )
    ]
    assert script(run, AIV0) == [
        word
        for n in range(4)
        for word in (
            *(f"W r{n}", f"copy 0x{there[n]:X} 512", f"S f{n}"),
            *(f"W f{n + 4}", f"copy 0x{back[n]:X} 512", f"S r{n + 4}"),
        )
    ]
    assert check(run).good
    only = arranged(cluster(A2A3, pipe(2, 512), [], []), Sink(), base=0x200000)
    assert only is not None and only.pipes[0].v2c_base == 0x200000 and only.pipes[0].slot_num == 8


def test_w3_both_directions_on_a5() -> None:
    small = tile(8, 16)
    cube = [op for i in range(4) for op in (Push(0, C2V, small), *taken(i, V2C, small))]
    vector = [op for i in range(4) for op in (*taken(i, C2V, small), Push(0, V2C, small))]
    run = streams(cluster(A5, pipe(3, 512, c2v=0x1000, v2c=0x2000), cube, vector))
    expected = [
        word
        for n in range(4)
        for word in (
            *(f"W r{n}", f"alias 0x{0x1000 + n * 0x200:X}", f"use 0x{0x1000 + n * 0x200:X}", f"S f{n}"),
            *(f"W f{n + 4}", f"copy 0x{0x2000 + n * 0x200:X} 512", f"S r{n + 4}"),
        )
    ]
    assert script(run, AIV0) == expected
    homes = {(a.space, a.owner) for s in run.streams[AIV0].steps for a in s.accesses}
    assert homes == {(Space.VEC, AIV0), (Space.MAT, CUBE)}
    assert check(run).good


W4 = (
    # rows, columns, slot, split, then of each lane: offset, rows, bytes of a row, stride, bytes
    (16, 128, 8192, Split.UP_DOWN, (0, 8, 512, 512, 4096), (4096, 8, 512, 512, 4096)),
    (16, 128, 8192, Split.LEFT_RIGHT, (0, 16, 256, 512, 4096), (256, 16, 256, 512, 4096)),
    (17, 128, 8704, Split.UP_DOWN_ODD, (0, 9, 512, 512, 4608), (4608, 8, 512, 512, 4096)),
    (16, 17, 1088, Split.LEFT_RIGHT_ODD, (0, 16, 36, 68, 576), (36, 16, 32, 68, 512)),
)


@pytest.mark.parametrize(("rows", "cols", "slot", "split", "first", "second"), W4)
def test_w4_parts_of_a_tile(
    rows: int, cols: int, slot: int, split: Split, first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    whole = tile(rows, cols)
    assert whole.size == slot
    for lane, (own, expected) in enumerate(zip(halves(split, whole), (first, second), strict=True)):
        found = part(split, lane, own)
        assert (found.offset, found.rows, found.row_bytes, found.stride, found.size) == expected
        assert found.end <= slot


def test_w4_slot_3_of_lane_1() -> None:
    """On A2A3 lane 1 reads its half of the tile in global memory; on A5 the start of a slot of its own ring."""
    whole = tile(16, 128)
    for platform, address in ((A2A3, 0x100000 + 28672), (A5, 0x100000 + 24576)):
        own = half(Split.UP_DOWN, whole)
        vector = [Pop(0, C2V, own, i, Split.UP_DOWN) for i in range(4)]
        cube = [Push(0, C2V, whole, Split.UP_DOWN)] * 4
        run = streams(cluster(platform, pipe(1, 8192, c2v=0x100000), cube, vector, lanes=2))
        reads = [s.accesses[0] for s in run.streams[AIV1].steps if s.act in (Act.COPY_START, Act.ALIAS)]
        assert reads[3].address == address
        assert reads[3].owner is (None if platform is A2A3 else AIV1)


def test_w5_two_sizes_on_one_pipe() -> None:
    """Slots are SLOT_SIZE apart; striding by the tile's own size would put the second tile into the first."""
    big, small = tile(16, 16), tile(8, 16)
    cube = [Push(0, C2V, t) for t in (big, small, big)]
    vector = [op for i, t in enumerate((big, small, big)) for op in taken(i, C2V, t)]
    run = streams(cluster(A2A3, pipe(1, 1024, slots=2, c2v=0), cube, vector))
    copies = [w for w in script(run, CUBE) if w.startswith("copy")]
    assert copies == ["copy 0x0 1024", "copy 0x400 512", "copy 0x0 1024"]
    assert check(run).good
    # The bug, had the protocol had it: two tiles of a pipe with slots of 512 bytes.
    wrong = streams(cluster(A2A3, pipe(1, 512, slots=2, c2v=0), cube, vector))
    race = check(wrong).race
    assert race is not None and explore(wrong).bad


def test_w7_freeing_inside_pop() -> None:
    """Two slots, three pushes: slot 0 is written again while the Vector core reads tile 0."""
    run = streams(one_way(A5, 2, 3), FreeRule.IN_POP)
    assert script(run, AIV0)[:4] == ["W r0", "alias 0x10000000000", "S f0", "use 0x10000000000"]
    race = check(run).race
    assert race is not None and race.kind is RaceKind.OVERLAP and race.first is not None
    assert run.streams[CUBE].messages[race.first[1]] == 2 and run.streams[AIV0].messages[race.second[1]] == 0


def test_w8_holding_two_of_two() -> None:
    def vector(*ops: Op) -> list[Op]:
        return [*ops, *taken(9, C2V), Free(0, C2V)]

    def judged(*ops: Op):
        run = streams(cluster(A5, pipe(1, slots=2), [Push(0, C2V, tile())] * 3, vector(*ops)))
        return check(run), explore(run)

    pops = (Pop(0, C2V, tile(), 0), Pop(0, C2V, tile(), 1))
    frees = (Free(0, C2V, value=0), Free(0, C2V, value=1))
    verdict, found = judged(*pops, Use((0, 1)), *frees)
    assert verdict.good and not found.bad and not found.dead
    # "Free 1", which releases slot 0, then use 0.
    verdict, found = judged(*pops, Use((1,)), Free(0, C2V, value=1), Use((0,)), Free(0, C2V, value=0))
    assert verdict.race is not None and found.bad
    run = streams(cluster(A5, pipe(1, slots=2), [Push(0, C2V, tile())] * 3, [Pop(0, C2V, tile(), i) for i in range(3)]))
    assert check(run).good  # frees that nobody wrote come right after each pop
    late = [*(Pop(0, C2V, tile(), i) for i in range(3)), *(Free(0, C2V, value=i) for i in range(3))]
    run = streams(cluster(A5, pipe(1, slots=2), [Push(0, C2V, tile())] * 3, late))
    assert check(run).deadlock and explore(run).dead


def test_w9_the_cube_shakes_hands_with_both_lanes() -> None:
    run = streams(one_way(A2A3, 2, 1, None, C2V, Split.UP_DOWN, 2))
    waits = ["W f0 lane 0", "W f0 lane 1"]
    assert script(run, CUBE) == [*waits, "copy 0x10000000000 1024", "S r0 lane 0", "S r0 lane 1"]
    assert script(run, AIV0) == ["W r0", "copy 0x10000000000 512", "S f0"]
    assert script(run, AIV1) == ["W r0", "copy 0x10000000200 512", "S f0"]
    back = streams(one_way(A2A3, 2, 1, None, V2C, Split.UP_DOWN, 2))
    at = 0x10000000000 + 2048
    assert script(back, AIV1) == ["W f0", f"copy 0x{at + 512:X} 512", "S r0"]
    ready, free = ["W r0 lane 0", "W r0 lane 1"], ["S f0 lane 0", "S f0 lane 1"]
    assert script(back, CUBE) == [*ready, f"copy 0x{at:X} 1024", *free]


def test_w9_a_lane_that_never_pops_stops_the_cube_at_tile_n() -> None:
    run = streams(one_way(A2A3, 2, 6, None, C2V, Split.UP_DOWN, 2))
    for name in ("steps", "messages", "ops"):
        getattr(run.streams[AIV1], name).clear()
    stuck = dict(simulate(run).stuck)
    assert run.streams[CUBE].messages[stuck[CUBE]] == 2


W10 = (
    # pushes, pops, dead, then the flags of slot 0 at the end: free, ready
    (5, 4, False, 0, 1),
    (4, 5, True, None, None),
    (8, 4, False, 0, 1),
    (9, 4, True, None, None),
)


@pytest.mark.parametrize(("pushes", "pops", "dead", "free", "ready"), W10)
def test_w10_unequal_counts(pushes: int, pops: int, dead: bool, free: int | None, ready: int | None) -> None:
    run = streams(one_way(A2A3, 4, pushes, pops))
    verdict, outcome, found = check(run), simulate(run), explore(run)
    assert bool(verdict.deadlock) == bool(outcome.stuck) == bool(found.dead) == dead
    if dead:
        last = verdict.deadlock[-1]
        assert last.payer is None
        who, number = (AIV0, 4) if pops > pushes else (CUBE, 8)
        assert last.at[0] is who and run.streams[who].messages[last.at[1]] == number
        return
    assert (Flag(0, False, 0) in outcome.flags, Flag(0, True, 0) in outcome.flags) == (bool(free), bool(ready))
    assert found.left and not verdict.good
    wrong = pushes - pops
    assert verdict.left == tuple(sorted(Flag(0, way, n) for way in (False, True) for n in range(wrong)))


def test_w11_two_pipes() -> None:
    pipes = (Pipe(0, 3, 512, 4), Pipe(1, 1, 1024, 8))
    assert [pipe_bytes(p) for p in pipes] == [4096, 8192]
    space = workspace(pipes)
    assert dict(space.starts) == {0: 0, 1: 4096} and space.size == 12288
    # With a flag per tag the first pipe takes all there are.
    diag = Sink()
    with_flags(cluster(A2A3, pipes, [], []), diag)
    assert [d.is_error for d in diag.items] == [True] and "needs 8 flags on each wire" in diag.items[0].text
    fits = (Pipe(0, 3, 512, 2), Pipe(1, 1, 1024, 4))
    diag = Sink()
    assert [p.flag_base for p in with_flags(cluster(A2A3, fits, [], []), diag).pipes] == [0, 4] and not diag.items


def test_w12_conditions_and_trip_counts() -> None:
    """The same condition on both sides, or the same trip count, is safe whatever it comes to; others are not."""
    push, pop = Push(0, C2V, tile()), Pop(0, C2V, tile(), 0)

    def fine(cube: Op, vector: Op) -> bool:
        made = cluster(A2A3, pipe(1), [cube], [vector])
        return all(check(streams(made, world=world)).good for world in worlds(made))

    assert fine(Branch("p", (push,)), Branch("p", (pop,)))
    assert not fine(Branch("p", (push,)), Branch("q", (pop,)))
    assert not fine(Branch("p", (push,)), pop)
    assert fine(Loop("n", (push,)), Loop("n", (pop,)))
    assert not fine(Loop("n", (push,)), Loop("m + 1", (pop,)))
    assert fine(Loop(100, (push,)), Loop(10, (Loop(10, (pop,)),)))
    assert not fine(Loop(100, (push,)), Loop(99, (pop,)))


def test_numbers_of_the_specification() -> None:
    assert [A2A3.number, A5.number] == [0, 1]
    assert [int(d) for d in Direction] == [1, 2]
    assert [default_slot_num(mask) for mask in (1, 2, 3)] == [8, 8, 4]
    assert [int(s) for s in Split][:3] == [0, 1, 2]


@pytest.mark.parametrize("mask", (1, 2, 3))
def test_every_flag_of_a_pair(mask: int) -> None:
    """One direction takes 0 to 7; of two, C2V takes 0 to 3 and V2C 4 to 7; ready and free travel on different wires."""
    made = pipe(mask)
    for direction in made.directions:
        first = 4 if mask == 3 and direction is V2C else 0
        count = 4 if mask == 3 else 8
        assert [made.flag(direction, tag) for tag in range(made.slot_num)] == list(range(first, first + count))
    assert made.flags == 8


@pytest.mark.parametrize("platform", (A2A3, A5))
@pytest.mark.parametrize("direction", Direction)
def test_slot_of_every_message(platform: object, direction: Direction) -> None:
    """tag = n mod N, address = base + tag * SLOT_SIZE, recomputed for n = 0 .. 2N."""
    count = 17
    whole = Tile(16, 16, 4, Space.VEC)
    sides = ([Push(0, direction, whole)] * count, [Pop(0, direction, whole, i) for i in range(count)])
    made = cluster(
        A2A3 if platform is A2A3 else A5,
        pipe(int(direction), 2048, c2v=0x4000, v2c=0x4000),
        *(sides if direction is C2V else sides[::-1]),
    )
    for stream in streams(made).streams:
        found = {(n, s.tag, a.address) for s, n in zip(stream.steps, stream.messages, strict=True) for a in s.accesses}
        assert found == {(n, n % 8, 0x4000 + n % 8 * 2048) for n in range(count)}
