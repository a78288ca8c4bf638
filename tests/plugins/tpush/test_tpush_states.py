"""The numbers of states that the protocol's authors' model and ours agree on, and the verdicts that come with them.

Micro-steps: a push is WAIT, copy begins, copy ends, SET; so is a pop. 2N + 2 tiles.
"""

from dataclasses import replace

import pytest
from tpush_clusters import A2A3, A5, AIV0, AIV1, C2V, CUBE, V2C, cluster, held, one_way, pipe, taken, tile

from aiecc.plugins.tpush.explore import TooManyStates, explore
from aiecc.plugins.tpush.graph import check
from aiecc.plugins.tpush.model import Agent, Direction, Pipe, Platform, Pop, Push, Split, Use
from aiecc.plugins.tpush.protocol import FreeRule
from aiecc.plugins.tpush.simulate import simulate
from aiecc.plugins.tpush.steps import Act, Flag, Step, Stream, Streams
from aiecc.plugins.tpush.unroll import streams
from aiecc.plugins.tpush.verdict import RaceKind

ONE_WAY = {1: 33, 2: 129, 3: 273, 4: 465, 8: 1713}
TWO_LANES = {1: 149, 2: 1245, 4: 9485}


def good(run: Streams, states: int) -> None:
    found = explore(run)
    assert (found.states, found.dead, found.ends) == (states, 0, 1)
    assert not found.bad and not found.twice and not found.left
    assert check(run).good


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("platform", Platform)
@pytest.mark.parametrize(("slots", "states"), ONE_WAY.items())
def test_one_direction(slots: int, states: int, platform: Platform, direction: Direction) -> None:
    """On A5 the slot is freed after its use."""
    good(streams(one_way(platform, slots, 2 * slots + 2, direction=direction)), states)


@pytest.mark.parametrize("slots", ONE_WAY)
def test_freeing_inside_pop_on_a5_is_a_race(slots: int) -> None:
    """W7: for every N, and N + 1 pushes are enough, the read of message 0 against the write of message N."""
    run = streams(one_way(A5, slots, slots + 1), FreeRule.IN_POP)
    assert explore(run).bad
    race = check(run).race
    assert race is not None and race.kind is RaceKind.OVERLAP
    writer, reader = (run.streams[place[0]] for place in (race.first, race.second) if place)
    assert race.first is not None
    assert (writer.messages[race.first[1]], reader.messages[race.second[1]]) == (slots, 0)
    assert check(streams(one_way(A5, slots, slots), FreeRule.IN_POP)).race is None


def test_without_the_free_flags_set_nobody_moves() -> None:
    run = streams(one_way(A2A3, 4, 10))
    found = explore(replace(run, preset=frozenset()))
    assert (found.states, found.dead, found.ends) == (1, 1, 0)
    assert check(replace(run, preset=frozenset())).deadlock


@pytest.mark.parametrize("platform", Platform)
@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize(("slots", "states"), TWO_LANES.items())
def test_two_lanes(slots: int, states: int, direction: Direction, platform: Platform) -> None:
    good(streams(one_way(platform, slots, 2 * slots + 2, None, direction, Split.UP_DOWN, 2)), states)


@pytest.mark.parametrize("split", (Split.UP_DOWN, Split.LEFT_RIGHT))
def test_the_cube_waits_for_one_lane_only(split: Split) -> None:
    """C2V: lane 1's free flag is set when it is set already. V2C: lane 1's half is read before it is written."""

    def lame(direction: Direction) -> Streams:
        run = streams(one_way(A2A3, 2, 6, None, direction, split, 2))
        stream = run.streams[CUBE]
        kept = [
            i for i, s in enumerate(stream.steps) if not (s.act is Act.WAIT and s.flag is not None and s.flag.lane == 1)
        ]
        for name in ("steps", "messages", "ops"):
            setattr(stream, name, [getattr(stream, name)[i] for i in kept])
        return run

    forth = lame(C2V)
    found = explore(forth)
    assert any(place[0] is AIV1 and forth.streams[AIV1].steps[place[1]].role == "free" for place in found.twice)
    twice = check(forth).twice
    assert twice is not None and twice[0] is AIV1
    back = lame(V2C)
    assert any(place[0] is CUBE for place in explore(back).bad)
    race = check(back).race
    assert race is not None and race.second[0] is CUBE and race.first is not None and race.first[0] is AIV1


@pytest.mark.parametrize("direction", Direction)
def test_lane_1_is_absent(direction: Direction) -> None:
    run = streams(one_way(A2A3, 2, 6, None, direction, Split.UP_DOWN, 2))
    run.streams[AIV1].steps.clear()
    run.streams[AIV1].messages.clear()
    found = explore(run)
    assert found.dead and not found.ends
    assert check(run).deadlock[-1].payer is None


HOLDING = {(4, 1): 353, (4, 2): 277, (4, 3): 205, (4, 4): 137, (2, 1): 177, (2, 2): 77}


@pytest.mark.parametrize(("case", "states"), HOLDING.items())
def test_holding_tiles(case: tuple[int, int], states: int) -> None:
    slots, hold = case
    good(streams(held(hold, 8, slots)), states)


@pytest.mark.parametrize("slots", (1, 2, 4))
def test_holding_more_tiles_than_there_are_slots(slots: int) -> None:
    run = streams(held(slots + 1, 8, slots))
    assert explore(run).dead
    assert check(run).deadlock and simulate(run).stuck


ROUNDS = {("pc", "pc"): 449, ("pc", "cp"): 97, ("cp", "pc"): 97}


@pytest.mark.parametrize(("orders", "states"), ROUNDS.items())
def test_both_directions_in_rounds(orders: tuple[str, str], states: int) -> None:
    """W6: six iterations, four slots each way; p pushes, c pops."""
    good(streams(rounds(orders)), states)


def rounds(orders: tuple[str, str], count: int = 6):
    def side(order: str, out: Direction, back: Direction):
        return [
            op
            for i in range(count)
            for letter in order
            for op in ([Push(0, out, tile())] if letter == "p" else [Pop(0, back, tile(), i)])
        ]

    return cluster(A2A3, pipe(3), side(orders[0], C2V, V2C), side(orders[1], V2C, C2V))


def test_both_pop_first() -> None:
    run = streams(rounds(("cp", "cp")))
    found = explore(run)
    assert (found.states, found.dead, found.ends) == (1, 1, 0)
    chain = check(run).deadlock
    assert [run.streams[b.at[0]].steps[b.at[1]].role for b in chain] == ["ready", "ready"]


@pytest.mark.parametrize("k", range(3, 7))
@pytest.mark.parametrize("m", range(3, 7))
def test_all_pushes_before_all_pops(k: int, m: int) -> None:
    """W6: dead if and only if both runs are longer than the four slots."""
    cube = [Push(0, C2V, tile())] * k + [op for i in range(m) for op in taken(i, V2C)]
    vector = [Push(0, V2C, tile())] * m + [op for i in range(k) for op in taken(i, C2V)]
    run = streams(cluster(A5, pipe(3), cube, vector))
    dead = k > 4 and m > 4
    found = explore(run)
    assert bool(found.dead) == dead == bool(check(run).deadlock) == bool(simulate(run).stuck)
    assert not found.bad and check(run).race is None


def test_the_bound_of_an_exploration() -> None:
    with pytest.raises(TooManyStates):
        explore(streams(one_way(A2A3, 4, 10)), bound=464)
    assert explore(streams(one_way(A2A3, 4, 10)), bound=465).states == 465


def test_a_slot_that_two_pipes_use_one_after_the_other() -> None:
    """Orderly sharing is no race: what is read is the latest write, whoever made it."""
    pipes = (Pipe(0, 1, 1024, 1, 0, c2v_base=0), Pipe(1, 2, 1024, 1, 1, v2c_base=0))
    there, back = Push(0, C2V, tile()), Push(1, V2C, tile())
    cube = [there, Pop(1, V2C, tile(), 0)] * 2
    vector = [Pop(0, C2V, tile(), 0), back] * 2
    run = streams(cluster(A2A3, pipes, cube, vector))
    assert check(run).good and not explore(run).bad
    # Pushed before the other pipe's tile is taken out.
    hasty = streams(cluster(A2A3, pipes, cube, vector[::-1]))
    assert check(hasty).race is not None and explore(hasty).bad


def test_a_flag_may_be_set_again_before_its_wait() -> None:
    """The waiter says so much, then waits: the second SET may come between."""
    f, g = Flag(0, True, 0), Flag(0, False, 0)

    def stream(agent: Agent, *words: tuple[Act, Flag]) -> Stream:
        steps = [Step(act, 0, C2V, 0, "ready", flag) for act, flag in words]
        return Stream(agent, steps, [0] * len(steps), [Use(())] * len(steps))

    def judged(*vector: tuple[Act, Flag]) -> tuple[bool, bool]:
        cube = stream(CUBE, (Act.SET, f), (Act.WAIT, g), (Act.SET, f))
        run = Streams(A2A3, (cube, stream(AIV0, *vector)), frozenset())
        return check(run).twice is not None, bool(explore(run).twice)

    assert judged((Act.SET, g), (Act.WAIT, f), (Act.WAIT, f)) == (True, True)
    assert judged((Act.WAIT, f), (Act.SET, g), (Act.WAIT, f)) == (False, False)
