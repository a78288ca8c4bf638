"""timeline.svg and the model time it is drawn in."""

import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest
from tpush_clusters import A2A3, A5, C2V, V2C, cluster, one_way, pipe, taken, tile

from aiecc.api import Module, Sink, load
from aiecc.plugins.tpush.build import clusters_in
from aiecc.plugins.tpush.model import Agent, Cluster, Loop, Push, Split
from aiecc.plugins.tpush.steps import Act, Flag
from aiecc.plugins.tpush.timeline import boxes, lines, lives, timeline, timelines
from aiecc.plugins.tpush.timing import Timing, cost, timing
from aiecc.plugins.tpush.unroll import streams

SVG = "{http://www.w3.org/2000/svg}"
EXAMPLES = Path(__file__).parents[3] / "examples"


def both_ways(messages: int) -> Cluster:
    cube = Loop(messages, (Push(0, C2V, tile()), *taken(0, V2C)))
    vector = Loop(messages, (*taken(0, C2V), Push(0, V2C, tile())))
    return cluster(A5, pipe(3), [cube], [vector])


CLUSTERS = {
    "one way, A2A3": one_way(A2A3, 8, 16),
    "one way, A5": one_way(A5, 8, 16),
    "two slots": one_way(A5, 2, 7),
    "both ways": both_ways(8),
    "two lanes": one_way(A5, 4, 8, None, C2V, Split.UP_DOWN, 2),
    "two lanes to the Cube": one_way(A2A3, 4, 8, None, V2C, Split.UP_DOWN, 2),
}


@pytest.mark.parametrize("name", CLUSTERS)
def test_model_time_keeps_the_order_that_flags_enforce(name: str) -> None:
    """Without the queues of `timing`: a core's steps follow one another, and the n-th WAIT of a flag goes on
    when the n-th SET has ended, no earlier and no later."""
    made = CLUSTERS[name]
    unrolled = streams(made)
    run = timing(unrolled)
    sets: dict[Flag, list[int]] = {flag: [0] for flag in unrolled.preset}
    for steps in run.cores.values():
        at = 0
        for each in steps:
            assert each.asked == at and each.begin is not None and each.end == each.begin + cost(each.step)
            at = each.end
            if each.step.act is Act.SET and each.step.flag is not None:
                sets.setdefault(each.step.flag, []).append(each.end)
    waits: Counter[Flag] = Counter()
    for steps in run.cores.values():
        for each in steps:
            flag = each.step.flag
            if each.step.act is Act.WAIT and flag is not None:
                assert each.begin == max(each.asked, sorted(sets[flag])[waits[flag]])
                waits[flag] += 1
            else:
                assert each.begin == each.asked
    assert run.left_out == 0
    assert [len(s.steps) for s in unrolled.streams] == [len(steps) for steps in run.cores.values()]


def box_words(run: Timing, agent: Agent) -> list[list[str]]:
    return [lines(box.steps) for box in boxes(agent, run.cores[agent])]


def test_boxes_say_what_the_specifications_diagram_says() -> None:
    """C2V with four slots: the diagram of the specification, iteration by iteration."""
    run = timing(streams(one_way(A5, 4, 4)))
    assert box_words(run, Agent.CUBE) == [[f"WAIT f:{t}", f"MTE→slot[{t}]", f"SET r:{t}"] for t in range(4)]
    assert box_words(run, Agent.AIV0) == [[f"WAIT r:{t}", f"use [{t}]", f"SET f:{t}"] for t in range(4)]


def test_flags_of_both_ways_are_those_of_the_specification() -> None:
    run = timing(streams(both_ways(4)))
    cube = box_words(run, Agent.CUBE)
    assert cube[0] == ["WAIT f:0", "MTE→slot[0]", "SET r:0"]
    assert cube[7] == ["WAIT r:7", "use [3]", "SET f:7"]


def test_a_push_to_both_lanes_is_one_box() -> None:
    run = timing(streams(CLUSTERS["two lanes"]))
    assert box_words(run, Agent.CUBE)[0] == ["WAIT f:0 2x", "MTE→slot[0]", "SET r:0 2x"]


@pytest.mark.parametrize("slots", (1, 2, 4, 8))
def test_slots_are_never_taken_twice_and_backpressure_shows(slots: int) -> None:
    """The consumer is slower: as soon as the ring is full, every push waits for the free of its slot's last tile."""
    made = one_way(A5, slots, 16)
    run = timing(streams(made))
    found = lives(made, run, (0, C2V), 0)
    assert [life.message for life in found] == list(range(16))
    for life, later in zip(found, found[slots:], strict=False):
        assert life.begin < life.ready < life.taken < life.free <= later.begin
    waiting = [s for s in run.cores[Agent.CUBE] if s.step.act is Act.WAIT and s.waited]
    assert bool(waiting) is (slots < 8)
    assert max(sum(a.begin <= t < a.free for a in found) for t in range(run.end)) == min(slots, 16)


def test_a_deadlock_is_drawn_up_to_where_everybody_waits() -> None:
    cube = [*taken(0, V2C), Push(0, C2V, tile())]
    vector = [*taken(0, C2V), Push(0, V2C, tile())]
    made = cluster(A5, pipe(3), cube, vector)
    run = timing(streams(made))
    assert [steps[-1].begin for steps in run.cores.values()] == [None, None]
    picture = timeline(made, streams(made))
    assert picture.count("for ever") == 2
    ElementTree.fromstring(picture)


def test_long_runs_show_the_ring_going_round_twice() -> None:
    made = one_way(A2A3, 8, 1000)
    run = timing(streams(made), slots={0: 8})
    assert len(box_words(run, Agent.CUBE)) == 16
    assert run.left_out == 984
    assert "The 984 messages after these go on in the same way" in timeline(made, streams(made))


@pytest.mark.parametrize("name", CLUSTERS)
def test_pictures_are_well_formed_and_everything_lies_inside(name: str) -> None:
    picture = ElementTree.fromstring(timeline(CLUSTERS[name], streams(CLUSTERS[name])))
    width, height = float(picture.attrib["width"]), float(picture.attrib["height"])
    assert width < 1500
    bands = picture.findall(f"{SVG}svg")
    for band in bands:
        assert float(band.attrib["x"]) + float(band.attrib["width"]) <= width
        assert float(band.attrib["y"]) + float(band.attrib["height"]) <= height
    strip = next(g for g in picture.iter(f"{SVG}g"))
    views = [[float(n) for n in band.attrib["viewBox"].split()] for band in bands]
    first, last = views[0][0], views[-1][0] + views[-1][2]
    for box in strip.iter(f"{SVG}rect"):
        left, wide = float(box.attrib["x"]), float(box.attrib["width"])
        assert first <= left and left + wide <= last and wide >= 0
        top, high = float(box.attrib["y"]), float(box.attrib["height"])
        assert top >= 0 and top + high <= views[0][3]
    # A box's words fit into it: at 11 pixels a letter of these fonts is at most 6.7 wide.
    texts = [t for t in strip.iter(f"{SVG}text") if (t.text or "").startswith(("WAIT", "SET", "MTE", "use"))]
    fills = [b for b in strip.iter(f"{SVG}rect") if float(b.attrib["height"]) > 30 and "wait" not in b.attrib["fill"]]
    for text in texts:
        x = float(text.attrib["x"])
        box = next(b for b in fills if float(b.attrib["x"]) == x - 4 and float(b.attrib["y"]) < float(text.attrib["y"]))
        assert 4 + 6.7 * len(text.text or "") <= float(box.attrib["width"]) + 4, text.text


def test_several_clusters_are_drawn_one_below_the_other() -> None:
    made = [CLUSTERS["one way, A5"], CLUSTERS["both ways"]]
    whole = ElementTree.fromstring(timelines(made))
    inner = whole.findall(f"{SVG}svg/{SVG}svg")
    assert len(inner) == 2
    assert float(whole.attrib["height"]) == sum(float(each.attrib["height"]) for each in inner)
    names = [g.attrib["id"] for g in whole.iter(f"{SVG}g")]
    assert names == ["strip0", "strip1"]


@pytest.mark.parametrize(
    "file", ("pipes_matmul/design", "pipes_matmul/a2a3", "pipes_two_way/design", "pipes_split/design")
)
def test_examples_can_be_drawn(file: str) -> None:
    path = EXAMPLES / f"{file}.mlir"
    ((_, made),) = clusters_in(load(Module(path.read_text("utf-8"), file=str(path))), Sink())
    ElementTree.fromstring(timelines([made]))
