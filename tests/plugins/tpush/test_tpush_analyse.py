"""What is said of programs that deadlock or race: the ops that make the cycle or the pair, and what cures it."""

import time
from collections.abc import Iterable

import pytest
from tpush_clusters import A2A3, A5, C2V, V2C, at, cluster, one_way, pipe, tile

from aiecc.api import Diagnostic, Sink
from aiecc.plugins.tpush.analyse import analyse
from aiecc.plugins.tpush.graph import check
from aiecc.plugins.tpush.model import Branch, Cluster, Direction, Free, Loop, Op, Pop, Push, Split, Use
from aiecc.plugins.tpush.protocol import FreeRule
from aiecc.plugins.tpush.unroll import MESSAGES, messages, streams, worlds


def push(line: int, direction: Direction = C2V) -> Push:
    return Push(0, direction, tile(), site=at(line, f"pto.tpush_to_ai{'v' if direction is C2V else 'c'}"))


def pop(line: int, value: int, direction: Direction = C2V) -> Pop:
    return Pop(0, direction, tile(), value, site=at(line, f"pto.tpop_from_ai{'c' if direction is C2V else 'v'}"))


def use(line: int, *values: int) -> Use:
    return Use(values, at(line, "func.call"))


def free(line: int, value: int) -> Free:
    return Free(0, C2V, value=value, site=at(line, "pto.tfree_from_aic"))


def loop(line: int, trips: int | str, *ops: Op) -> Loop:
    return Loop(trips, ops, site=at(line, "scf.for"))


def refused(made: Cluster, rule: FreeRule = FreeRule.AFTER_USE) -> Diagnostic:
    diag = Sink()
    assert not analyse(made, diag, rule)
    (found,) = diag.items
    return found


def lines(found: Diagnostic) -> list[int]:
    return [note.where.line for note in (found, *found.notes) if note.where is not None]


def test_nothing_is_said_of_good_programs() -> None:
    diag = Sink()
    assert analyse(one_way(A5, 8, 20), diag) and not diag.items


@pytest.mark.parametrize("times", (1, 6, "n"))
def test_both_cores_pop_first(times: int | str) -> None:
    cube, vector = (pop(10, 0, V2C), push(11)), (pop(20, 0), push(21, V2C))
    found = refused(cluster(A5, pipe(3), [loop(9, times, *cube)], [loop(19, times, *vector)]))
    assert found.code == "E1202" and lines(found) == [10, 21, 20, 11]
    assert found.text == (
        "'pto.tpop_from_aiv' op never ends: the cores wait for one another: "
        "Cube waits until slot 0 of V2C is ready (message 0)"
    )
    assert found.notes[1].text == "Vector 0 waits here until slot 0 of C2V is ready (message 0)"
    assert found.todo == "in @vector, put the push of V2C (line 21) before the pop of C2V (line 20)"


def test_a_push_that_may_need_the_popped_tile_stays_behind_its_use() -> None:
    """So the other core has to change; and when both may need theirs, nothing is proposed."""
    vector = [loop(19, 6, pop(20, 0), use(22, 0), push(21, V2C))]
    found = refused(cluster(A5, pipe(3), [loop(9, 6, pop(10, 0, V2C), push(11))], vector))
    assert found.todo == "in @cube, put the push of C2V (line 11) before the pop of V2C (line 10)"
    found = refused(cluster(A5, pipe(3), [loop(9, 6, pop(10, 0, V2C), use(12, 0), push(11))], vector))
    assert not found.todo


def test_long_runs_of_pushes_on_both_sides() -> None:
    cube = [loop(9, 5, push(10)), loop(12, 5, pop(13, 0, V2C))]
    vector = [loop(19, 5, push(20, V2C)), loop(22, 5, pop(23, 0))]
    found = refused(cluster(A5, pipe(3), cube, vector))
    assert "Cube waits until slot 0 of C2V is free (message 4)" in found.text and lines(found) == [10, 23, 20, 13]
    assert found.todo.startswith("in @vector, make one loop of the two of lines 19 and 22")


def test_a_few_moves_are_proposed_together() -> None:
    """Straight-line code, five pushes and five pops a side: one pop before the fifth push is enough."""
    cube = [*(push(10 + i) for i in range(5)), *(pop(20 + i, i, V2C) for i in range(5))]
    vector = [*(push(30 + i, V2C) for i in range(5)), *(pop(40 + i, i) for i in range(5))]
    found = refused(cluster(A2A3, pipe(3), cube, vector))
    assert found.todo == "in @vector, put the pop of C2V (line 40) before the push of V2C (line 34)"
    vector = [*(push(30 + i, V2C) for i in range(6)), *(pop(40 + i, i) for i in range(6))]
    cube = [*(push(10 + i) for i in range(6)), *(pop(20 + i, i, V2C) for i in range(6))]
    found = refused(cluster(A2A3, pipe(3), cube, vector))
    assert found.todo.count("in @vector, put the pop") == 2


UNEQUAL = (
    (5, 4, "E1204", "C2V has 5 pushes and 4 pops", "leave out the last push of C2V, or pop one more"),
    (4, 5, "E1202", "nobody pushes message 4 of C2V (4 pushed, 5 popped)", "leave out the last pop of C2V, or push"),
    (9, 4, "E1202", "nobody frees message 4 of C2V (9 pushed, 4 popped)", ""),
)


@pytest.mark.parametrize(("pushes", "pops", "code", "text", "todo"), UNEQUAL)
def test_unequal_counts(pushes: int, pops: int, code: str, text: str, todo: str) -> None:
    cube = [push(10 + i) for i in range(pushes)]
    found = refused(cluster(A2A3, pipe(1, slots=4), cube, [pop(30 + i, i) for i in range(pops)]))
    assert found.code == code and text in found.text and found.todo.startswith(todo)


def test_a_free_before_the_last_use() -> None:
    vector = [loop(19, "n", pop(20, 0), free(21, 0), use(22, 0))]
    found = refused(cluster(A5, pipe(1, slots=2), [loop(9, "n", push(10))], vector))
    assert found.code == "E1203" and lines(found) == [22, 10, 21]
    assert "may read slot 0 of C2V, for message 0, while it is overwritten" in found.text
    assert found.notes[1].text == "Vector 0 frees slot 0 of C2V here, before it is read"
    assert found.todo == "move the free of line 21 behind the last use of its tile"
    # On A2A3 the pop has copied the tile out and freed the slot itself.
    assert analyse(cluster(A2A3, pipe(1, slots=2), [loop(9, "n", push(10))], vector), Sink())


def test_the_literal_form_of_a5_is_refused_as_the_race_it_is() -> None:
    made = cluster(A5, pipe(1), [loop(9, 20, push(10))], [loop(19, 20, pop(20, 0), use(22, 0))])
    found = refused(made, FreeRule.IN_POP)
    assert found.code == "E1203" and lines(found) == [22, 10, 20]
    assert found.todo == "free slots after the last use of their tiles, in pop order"
    assert analyse(made, Sink())


def test_freeing_another_tile_than_the_oldest() -> None:
    vector = [pop(20, 0), pop(21, 1), use(30, 1), free(31, 1), use(32, 0), free(33, 0), pop(34, 2), free(35, 2)]
    found = refused(cluster(A5, pipe(1, slots=2), [push(10), push(11), push(12)], vector))
    assert found.code == "E1203" and lines(found) == [32, 12, 31]
    assert found.todo == "in @vector, free every slot right after the last use of its tile, oldest first"


def test_holding_more_tiles_than_there_are_slots() -> None:
    """Earlier frees cure it where the uses allow them; more slots where they do not."""
    pops = [pop(20 + i, i) for i in range(3)]
    frees = [free(30 + i, i) for i in range(3)]
    cube = [push(10 + i) for i in range(3)]
    found = refused(cluster(A5, pipe(1, slots=2), cube, [*pops, *frees]))
    assert lines(found) == [12, 30, 22, 12]
    assert found.todo == "in @vector, free every slot right after the last use of its tile, oldest first"
    found = refused(cluster(A5, pipe(1, slots=2), cube, [*pops, use(26, 0, 1, 2), *frees]))
    assert found.todo == "set slot_num = 3 on both sides of pipe 0"
    eight = [pop(20 + i, i) for i in range(9)]
    held = [*eight, use(40, *range(9)), *(free(50 + i, i) for i in range(9))]
    found = refused(cluster(A5, pipe(1), [push(i) for i in range(1, 10)], held))
    assert not found.todo  # there are no flags for nine slots


def test_a_free_too_many() -> None:
    vector = [pop(20, 0), free(31, 0), free(32, 0)]
    found = refused(cluster(A5, pipe(1, slots=2), [push(10)], vector))
    assert found.code == "E1204" and lines(found)[0] == 32
    assert "Vector 0 frees slot 1 of C2V once too often" in found.text


def test_conditions_are_told() -> None:
    found = refused(cluster(A5, pipe(1), [Branch("p", (push(10),))], [pop(20, 0)]))
    assert found.code == "E1202" and found.notes[-1].text == "in a run with not p"


def test_long_loops_are_cut_where_they_show_nothing_new() -> None:
    made = cluster(A5, pipe(3), [loop(1, 10**9, push(2), pop(3, 0, V2C))], [loop(4, 10**9, pop(5, 0), push(6, V2C))])
    (world,) = worlds(made)
    assert world.count(10**9) % 4 == 0 and world.count(10**9) < 40
    assert analyse(made, Sink())
    late = [loop(1, 10**9, push(2)), loop(1, 10**9, pop(3, 0, V2C))]
    other = [loop(4, 10**9, push(6, V2C)), loop(4, 10**9, pop(5, 0))]
    assert refused(cluster(A5, pipe(3), late, other)).code == "E1202"


@pytest.mark.parametrize("trips", range(1, 30))
def test_cut_loops_come_to_the_same_as_whole_ones(trips: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit of no message at all, every loop is cut."""
    from aiecc.plugins.tpush import unroll

    def shapes() -> Iterable[Cluster]:
        yield cluster(A5, pipe(3), [loop(1, trips, push(2), pop(3, 0, V2C))], [loop(4, trips, pop(5, 0), push(6, V2C))])
        yield cluster(
            A5,
            pipe(3),
            [loop(1, trips, push(2)), loop(1, trips, pop(3, 0, V2C))],
            [loop(4, trips, push(6, V2C)), loop(4, trips, pop(5, 0))],
        )
        yield cluster(
            A5,
            pipe(1, slots=2),
            [loop(1, trips, push(2))],
            [pop(8, 9), loop(4, trips - 1, pop(5, 0), free(6, 0), use(7, 0)), free(9, 9)],
        )

    for made in shapes():
        whole = check(streams(made))
        monkeypatch.setattr(unroll, "MESSAGES", 0)
        found = [check(streams(made, world=world)) for world in worlds(made)]
        monkeypatch.undo()
        cut = found[0]
        assert (bool(cut.deadlock), cut.race is None, cut.good) == (
            bool(whole.deadlock),
            whole.race is None,
            whole.good,
        )


def test_loops_nested_differently_are_left_whole() -> None:
    """Cutting both would leave other numbers of messages on the two sides."""
    twice = loop(3, 200, loop(4, 100, pop(5, 0)), loop(6, 100, pop(7, 0)))
    made = cluster(A2A3, pipe(1), [loop(1, 40_000, push(2))], [twice])
    (world,) = worlds(made)
    assert world.cap is None and sum(messages(made.cube, world).values()) == MESSAGES
    # A loop that holds nothing but a loop is one loop.
    made = cluster(A2A3, pipe(1), [loop(1, 10**9, push(2))], [loop(3, 10**5, loop(4, 10**4, pop(5, 0)))])
    (world,) = worlds(made)
    assert world.cap is not None
    assert analyse(made, Sink())


def test_what_is_too_long_to_be_checked_is_said() -> None:
    twice = loop(3, 10**5, loop(4, 5000, pop(5, 0)), loop(6, 5000, pop(7, 0)))
    diag = Sink()
    assert analyse(cluster(A2A3, pipe(1), [loop(1, 10**9, push(2))], [twice]), diag)
    (found,) = diag.items
    assert not found.is_error and found.code == "W1202" and "too many messages to be checked" in found.text


def test_ten_thousand_messages() -> None:
    """The check itself takes under two seconds on one core of a machine that does nothing else; here much else runs."""
    for made in (one_way(A5, 8, 10_000), one_way(A2A3, 8, 5_000, None, V2C, Split.UP_DOWN, 2)):
        start = time.process_time()
        assert check(streams(made)).good
        assert time.process_time() - start < 4
