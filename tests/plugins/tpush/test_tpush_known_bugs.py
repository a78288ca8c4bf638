"""What others got wrong with pipes like these, each as a test of ours."""

from dataclasses import replace

import pytest
from tpush_clusters import A2A3, A5, AIV0, AIV1, C2V, CUBE, V2C, cluster, half, one_way, pipe, taken, tile

from aiecc.api import Extent, Kind, Sink
from aiecc.plugins.tpush.explore import explore
from aiecc.plugins.tpush.graph import check
from aiecc.plugins.tpush.memories import GRANULE, MEMORIES
from aiecc.plugins.tpush.model import Free, Loop, Op, Pipe, Platform, Pop, Push, Reserve, Space, Split, Tile, Use
from aiecc.plugins.tpush.simulate import simulate
from aiecc.plugins.tpush.size import arranged, in_workspace, pipe_bytes, workspace
from aiecc.plugins.tpush.split import part
from aiecc.plugins.tpush.steps import Streams
from aiecc.plugins.tpush.unroll import streams


def both_ways(platform: Platform, count: int, size: int = 1024) -> list[list[Op]]:
    what = tile(size // 64, 16)
    cube: list[Op] = [op for i in range(count) for op in (Push(0, C2V, what), *taken(i, V2C, what))]
    vector: list[Op] = [op for i in range(count) for op in (Push(0, V2C, what), *taken(i, C2V, what))]
    return [cube, vector]


def slots(run: Streams, direction: int) -> set[range]:
    return {
        range(a.address, a.address + a.size)
        for stream in run.streams
        for step in stream.steps
        for a in step.accesses
        if step.direction == direction
    }


def test_both_rings_of_a_pipe_are_apart() -> None:
    """Once both were the same slots, and most results were wrong; the check sees such a thing, too."""
    made = arranged(cluster(A2A3, pipe(3), *both_ways(A2A3, 6)), Sink())
    assert made is not None
    run = streams(made)
    assert check(run).good
    assert not any(set(a) & set(b) for a in slots(run, C2V) for b in slots(run, V2C))
    one = replace(made, pipes=(replace(made.pipes[0], v2c_base=made.pipes[0].c2v_base),))
    verdict = check(streams(one))
    assert verdict.race is not None and not verdict.deadlock
    assert explore(streams(one)).bad


@pytest.mark.parametrize("first", (1, 2, 3))
@pytest.mark.parametrize("second", (1, 2, 3))
def test_a_second_pipe_starts_behind_all_rings_of_the_first(first: int, second: int) -> None:
    """A workspace for one ring, and an offset computed with one ring, put the second pipe into the first's V2C ring."""
    pipes = (Pipe(0, first, 512, 4), Pipe(1, second, 256, 2))
    made = in_workspace(cluster(A2A3, pipes, [], []))
    ends = [max((p.base(d) or 0) + p.ring_size for d in p.directions) for p in made.pipes]
    starts = [min(p.base(d) or 0 for d in p.directions) for p in made.pipes]
    rings = 2 if first == 3 else 1
    assert starts == [0, rings * 4 * 512] and ends[0] == starts[1]
    assert workspace(pipes).size == ends[1] == sum(map(pipe_bytes, pipes))


def test_slots_are_strided_by_slot_size_whatever_is_popped() -> None:
    """Tiles of two sizes, all orders of four messages, on both platforms."""
    big, small = tile(16, 16), tile(4, 16)
    for platform in Platform:
        for bits in range(16):
            kinds = [big if bits >> i & 1 else small for i in range(4)]
            cube = [Push(0, C2V, t) for t in kinds]
            vector = [op for i, t in enumerate(kinds) for op in taken(i, C2V, t)]
            run = streams(cluster(platform, pipe(1, 1024, slots=2), cube, vector))
            assert check(run).good and not explore(run).bad
            addresses = {a.address for s in run.streams[CUBE].steps for a in s.accesses}
            assert max(addresses) - min(addresses) == 1024


@pytest.mark.parametrize("slots_of_ring", (1, 2, 8))
@pytest.mark.parametrize("platform", Platform)
def test_any_number_of_messages_leaves_the_flags_as_they_were(platform: Platform, slots_of_ring: int) -> None:
    """No drain at the end takes too much or too little: a second kernel runs on the flags the first has left."""
    for count in range(5 * slots_of_ring + 1):
        first = streams(one_way(platform, slots_of_ring, count))
        outcome = simulate(first)
        assert not outcome.stuck and outcome.flags == first.preset and check(first).good
        again = simulate(replace(first, preset=frozenset(outcome.flags)))
        assert not again.stuck and not again.bad and not again.twice


def test_forty_pushes_into_eight_slots() -> None:
    run = streams(one_way(A2A3, 8, 40))
    assert check(run).good and simulate(run).flags == run.preset


def test_both_directions_are_full_at_the_same_time() -> None:
    """One cursor, or one capacity, for both directions was a deadlock."""
    cube = [Push(0, C2V, tile())] * 4 + [op for i in range(4) for op in taken(i, V2C)]
    vector = [Push(0, V2C, tile())] * 4 + [op for i in range(4) for op in taken(i, C2V)]
    run = streams(cluster(A2A3, pipe(3), cube, vector))
    assert check(run).good
    outcome = simulate(run)
    place = {place: at for at, place in enumerate(outcome.log)}
    last = {agent: [i for i, op in enumerate(run.streams[agent].ops) if isinstance(op, Push)][-1] for agent in (0, 1)}
    first = {agent: next(i for i, op in enumerate(run.streams[agent].ops) if isinstance(op, Pop)) for agent in (0, 1)}
    assert max(place[run.streams[a].agent, last[a]] for a in (0, 1)) < min(
        place[run.streams[a].agent, first[a]] for a in (0, 1)
    )


def test_rows_are_as_wide_as_what_is_valid() -> None:
    """The distance of rows in a slot is that of the valid part, in the core's own tile that of the whole."""
    ragged = Tile(16, 16, 4, Space.ACC, 10, 12)
    run = streams(cluster(A5, pipe(1), [Push(0, C2V, ragged)], taken(0, C2V, Tile(16, 16, 4, Space.VEC, 10, 12))))
    (copy,) = next(s.accesses for s in run.streams[CUBE].steps if s.accesses)
    assert (copy.rows, copy.row_bytes, copy.stride, copy.local_stride, copy.size) == (10, 48, 48, 64, 480)


@pytest.mark.parametrize(("split", "first_byte"), ((Split.UP_DOWN, 8 * 128), (Split.LEFT_RIGHT, 8 * 4)))
def test_the_second_half_starts_where_it_lies_in_the_cores_own_tile(split: Split, first_byte: int) -> None:
    """The Cube cuts on A5: 16 x 16 valid of 16 x 32 floats, whose rows are 128 bytes apart."""
    whole = Tile(16, 32, 4, Space.ACC, 16, 16)
    run = streams(cluster(A5, pipe(1), [Push(0, C2V, whole, split)], [], lanes=2))
    lanes = next(s.accesses for s in run.streams[CUBE].steps if s.accesses)
    assert [(a.local_offset, a.local_stride, a.size) for a in lanes] == [(0, 128, 512), (first_byte, 128, 512)]
    assert [a.owner for a in lanes] == [AIV0, AIV1]


@pytest.mark.parametrize(("cols", "shared"), ((8, True), (16, False), (24, True), (32, False)))
def test_lanes_share_a_granule_where_a_row_is_no_multiple_of_32_bytes(cols: int, shared: bool) -> None:
    """V2C, left-right, on A2A3: both lanes write one 32-byte block of global memory, and one write is lost."""
    own = half(Split.LEFT_RIGHT, tile(4, cols))
    blocks = [
        {
            (found.offset + row * found.stride + byte) // GRANULE
            for row in range(found.rows)
            for byte in range(found.row_bytes)
        }
        for found in (part(Split.LEFT_RIGHT, lane, own) for lane in (0, 1))
    ]
    assert bool(blocks[0] & blocks[1]) == shared == bool(own.cols * own.element % GRANULE)


def test_a_slot_in_use_is_not_given_to_anything_else() -> None:
    """Liveness includes the copy: the slot is busy from the start of the write to the free, not from its end."""
    run = streams(one_way(A5, 1, 2))
    outcome = simulate(run)
    log = [(agent, run.streams[agent].steps[i].act.value, run.streams[agent].messages[i]) for agent, i in outcome.log]
    assert log.index((AIV0, "use done", 0)) < log.index((CUBE, "copy start", 1))


def test_messages_keep_their_order() -> None:
    """Several messages per direction and iteration: the k-th pop gets the k-th push, by number."""
    names = [tile(4, 16), tile(8, 16)]
    cube = [Loop(5, tuple(Push(0, C2V, t) for t in names))]
    vector = [Loop(5, (*taken(0, C2V, names[0]), *taken(1, C2V, names[1])))]
    assert check(streams(cluster(A2A3, pipe(1), cube, vector))).good
    # One message moved ahead of another on one side only: the first pop of 512 bytes finds 256 of the other tile.
    swapped = [Loop(5, (*taken(1, C2V, names[1]), *taken(0, C2V, names[0])))]
    run = streams(cluster(A2A3, pipe(1), cube, swapped))
    assert check(run).race is not None and explore(run).bad


@pytest.mark.parametrize("order", ((0, 1, 2), (2, 1, 0), (1, 0, 2)))
def test_pops_and_frees_interleaved(order: tuple[int, ...]) -> None:
    """Frees go by age, whatever tile their author names: with all uses before them any order is fine."""
    pops = [Pop(0, C2V, tile(), i) for i in range(3)]
    vector = [*pops, Use((0, 1, 2)), *(Free(0, C2V, value=i) for i in order)]
    run = streams(cluster(A5, pipe(1, slots=4), [Push(0, C2V, tile())] * 3, vector))
    assert check(run).good and not explore(run).bad


@pytest.mark.parametrize(("size", "enough"), ((8192, True), (8160, False), (4096, False)))
def test_a_reservation_smaller_than_its_ring(size: int, enough: bool) -> None:
    """8 slots of 1024 bytes in 4096 run into whatever lies behind: here a tile that the search put there."""
    reserve = Reserve("ring", size, Space.VEC)
    own = Extent("tile", Kind.BUFFER, MEMORIES[A5][Space.VEC].usable - size)
    made = replace(cluster(A5, replace(pipe(1), c2v_ring="ring"), [], []), reserves=(reserve,))
    placed = arranged(made, Sink(), {Space.VEC: (own,)})
    assert placed is not None
    base = placed.pipes[0].c2v_base
    assert base is not None
    assert (base + placed.pipes[0].ring_size <= base + size) == enough


def test_reserved_more_than_needed_is_fine() -> None:
    made = replace(
        cluster(A5, replace(pipe(1), c2v_ring="ring"), [], []), reserves=(Reserve("ring", 65536, Space.VEC),)
    )
    assert arranged(made, Sink()) is not None
