"""The meaning of fifos on small designs worked out by hand: what arrives, who waits, and what is a mistake."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pytest

from aiecc.base.diag import Refused
from aiecc.ir.text import parse
from aiecc.sim.fifo.meaning import meaning
from aiecc.sim.memory import View
from aiecc.sim.outcome import Kind, Outcome, Status

TILES = """
%shim = aie.tile(0, 0)
%shim1 = aie.tile(1, 0)
%mem = aie.tile(0, 1)
%a = aie.tile(0, 2)
%b = aie.tile(0, 3)
%far = aie.tile(2, 5)
%far2 = aie.tile(3, 5)
"""


def run(body: str, *, device: str = "npu2", **options: object) -> Outcome:
    return meaning(parse(f"aie.device({device}) {{{TILES}{body}}}", "design.mlir"), **options)  # type: ignore[arg-type]


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def ints(outcome: Outcome, name: str) -> list[int]:
    data = outcome.received[f"{name}_shim_alloc"]
    return list(struct.unpack(f"<{len(data) // 4}i", data))


def core(tile: str, *lines: str) -> str:
    """A core with constants for loops: %c0 to %c12."""
    constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in range(13))
    return f"aie.core(%{tile}) {{\n{constants}\n" + "\n".join(lines) + "\naie.end\n}\n"


def fifo(name: str, producer: str, consumers: str, depth: str | int, size: int, more: str = "", after: str = "") -> str:
    written = f"{depth} : i32" if isinstance(depth, int) else depth
    ends = f"(%{producer}, {{{consumers}}}, {written})"
    return f"aie.objectfifo @{name}{ends} {more} : !aie.objectfifo<memref<{size}xi32>>{after}\n"


def link(inputs: str, outputs: str, offsets: str = "[] []", more: str = "") -> str:
    return f"aie.objectfifo.link [{inputs}] -> [{outputs}] ({offsets}) {more}\n"


def take(name: str, fifo: str, size: int, count: int = 1, port: str = "Consume") -> str:
    names = ", ".join(f"%{name}{i}" for i in range(count))
    return f"{names} = aie.objectfifo.acquire @{fifo} ({port}, {count}) : {', '.join([f'memref<{size}xi32>'] * count)}"


def give(fifo: str, count: int = 1, port: str = "Consume") -> str:
    return f"aie.objectfifo.release @{fifo} ({port}, {count})"


def put(fifo: str, size: int, times: int, source: str = "") -> list[str]:
    """A core's loop that puts numbered objects: element j of object i is 100 i + j."""
    return [
        f"scf.for %i = %c0 to %c{times} step %c1 {{",
        take("y", fifo, size, 1, "Produce"),
        f"scf.for %j = %c0 to %c{size} step %c1 {{",
        "%hundred = arith.constant 100 : index",
        "%m = arith.muli %i, %hundred : index",
        "%s = arith.addi %m, %j : index",
        "%v = arith.index_cast %s : index to i32",
        f"memref.store %v, %y0[%j] : memref<{size}xi32>",
        "}",
        give(fifo, 1, "Produce"),
        "}",
    ]


def copy(source: str, target: str, size: int, times: int) -> list[str]:
    """A core's loop that hands objects on as they are."""
    return [
        f"scf.for %i = %c0 to %c{times} step %c1 {{",
        take("x", source, size),
        take("y", target, size, 1, "Produce"),
        f"memref.copy %x0, %y0 : memref<{size}xi32> to memref<{size}xi32>",
        give(source),
        give(target, 1, "Produce"),
        "}",
    ]


OBJECTS = [100 * i + j for i in range(6) for j in range(4)]


@pytest.mark.parametrize("seed", range(4))
def test_objects_come_through_a_core_in_order(seed: int) -> None:
    body = fifo("in", "shim", "%a", 2, 4) + fifo("out", "a", "%shim", 2, 4) + core("a", *copy("in", "out", 4, 6))
    outcome = run(body, feeds={"in": words(*OBJECTS)}, drains={"out": 96}, cores_end=True, seed=seed)
    assert outcome.finished, outcome.report()
    assert ints(outcome, "out") == OBJECTS


# --- how much a fifo holds --------------------------------------------------------------------------------------------

# A core that puts objects nobody takes reaches its end as long as they all fit.
CAPACITIES = [
    # Memory that both reach: the depth as it stands, the largest where there are several.
    ("%b", 3, "", "Consume", 3),
    ("%b", "[1, 4]", "", "Consume", 4),
    ("%b", 1, "", "Consume", 1),
    # A stream: two on the producer (it acquires one at a time), and what the other end holds: its own largest acquire
    # and one more, or what the array says.
    ("%far", 4, "", "Consume", 2 + 2),
    ("%far", "[4, 4]", "", "Consume", 2 + 4),
    ("%far", "[1, 1]", "", "Consume", 1 + 1),
    ("%b", 4, "{transport = #aie.transport<dma>}", "Consume", 2 + 2),
    # Without a core at the other end its depth is the fifo's.
    ("%far", 3, "", "", 2 + 3),
]


@pytest.mark.parametrize(("consumer", "depth", "more", "port", "room"), CAPACITIES)
@pytest.mark.parametrize("over", [0, 1])
def test_a_producer_may_be_that_far_ahead(
    consumer: str, depth: str | int, more: str, port: str, room: int, over: int
) -> None:
    body = fifo("f", "a", consumer, depth, 4, more) + core("a", *put("f", 4, room + over))
    if port:
        # The consumer acquires one object in the end, and keeps it.
        body += fifo("go", "shim", consumer, 1, 1)
        body += core(consumer[1:], take("g", "go", 1), take("x", "f", 4))
    outcome = run(body, cores_end=None)
    assert ("core (0, 2)" in outcome.ended) == (not over), outcome.report()
    if over:
        wait = next(w for w in outcome.waits if w.actor == "core (0, 2)")
        assert wait.what.startswith("room for 1 object in @f")


def test_a_window_needs_its_own_size_and_one_more() -> None:
    """Acquires of 3 on a scalar depth make a pool of 4: while three are held, a fourth comes."""
    body = fifo("f", "a", "%far", 3, 4) + core("a", *put("f", 4, 6)) + core("far", take("x", "f", 4, 3))
    outcome = run(body)
    # Two on the producer's side, four on the other.
    assert "core (0, 2)" in outcome.ended
    assert outcome.locks["@f at (2, 5)"].high == 4


def test_a_shim_can_feed_what_the_pools_hold_and_no_more() -> None:
    body = fifo("f", "shim", "%a", "[1, 2]", 4) + core("a", take("x", "f", 4))
    assert run(body, feeds={"f": words(*range(8))}).finished
    outcome = run(body, feeds={"f": words(*range(9))})
    assert outcome.status is Status.STUCK
    assert "feed f_shim_alloc has bytes left" in outcome.missing[0]


# --- acquire and release ----------------------------------------------------------------------------------------------


def test_acquires_are_absolute_and_give_the_oldest_first() -> None:
    """Acquire 2, 1, 3, then release 3: four objects are taken when a fourth acquire of 1 follows."""
    tell = [
        "%w = aie.objectfifo.acquire @out (Produce, 1) : memref<4xi32>",
        "%zero = arith.constant 0 : index",
    ]

    def note(at: int, name: str) -> list[str]:
        return [f"%v{at} = memref.load {name}[%c0] : memref<1xi32>", f"memref.store %v{at}, %w[%c{at}] : memref<4xi32>"]

    body = fifo("in", "shim", "%a", 3, 1) + fifo("out", "a", "%shim", 1, 4)
    body += core(
        "a", *tell,
        take("p", "in", 1, 2), *note(0, "%p1"),
        take("q", "in", 1, 1), *note(1, "%q0"),
        take("r", "in", 1, 3), *note(2, "%r2"),
        give("in", 3),
        take("s", "in", 1, 1), *note(3, "%s0"),
        give("out", 1, "Produce"),
    )  # fmt: skip
    outcome = run(body, feeds={"in": words(10, 11, 12, 13)}, drains={"out": 16})
    assert ints(outcome, "out") == [11, 10, 12, 13]


def test_a_sliding_window_moves_by_what_is_released() -> None:
    body = fifo("in", "shim", "%a", 2, 1) + fifo("out", "a", "%shim", 2, 1)
    body += core(
        "a",
        "scf.for %i = %c0 to %c5 step %c1 {",
        take("x", "in", 1, 2),
        take("y", "out", 1, 1, "Produce"),
        "%p = memref.load %x0[%c0] : memref<1xi32>",
        "%q = memref.load %x1[%c0] : memref<1xi32>",
        "%s = arith.addi %p, %q : i32",
        "memref.store %s, %y0[%c0] : memref<1xi32>",
        give("in"),
        give("out", 1, "Produce"),
        "}",
    )
    outcome = run(body, feeds={"in": words(1, 2, 4, 8, 16, 32)}, drains={"out": 20}, cores_end=True)
    assert ints(outcome, "out") == [3, 6, 12, 24, 48]


MISTAKES = {
    "touched after its release": (
        [take("x", "in", 1), give("in"), "%v = memref.load %x0[%c0] : memref<1xi32>"],
        Kind.HELD,
        "which it has given back",
        3,
    ),
    "held, but not by this name": (
        [take("x", "in", 1), give("in"), take("z", "in", 1), "%v = memref.load %x0[%c0] : memref<1xi32>"],
        Kind.HELD,
        "reads bytes 0 to 3 of object 0 of @in",
        4,
    ),
    "released twice": (
        [take("x", "in", 1), give("in"), give("in")],
        Kind.HELD,
        "releases 1 objects of @in and holds 0",
        3,
    ),
    "released without having": ([give("in", 2)], Kind.HELD, "releases 2 objects of @in and holds 0", 1),
    "read before it was written": (
        [take("y", "out", 1, 1, "Produce"), "%v = memref.load %y0[%c0] : memref<1xi32>"],
        Kind.UNWRITTEN,
        "reads byte 0 of object 0 of @out",
        2,
    ),
    "sent on without having been written": (
        [take("y", "out", 1, 1, "Produce"), give("out", 1, "Produce")],
        Kind.UNWRITTEN,
        "reads byte 0 of object 0 of @out",
        None,
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_traps(name: str) -> None:
    lines, kind, text, at = MISTAKES[name]
    body = fifo("in", "shim", "%a", 2, 1) + fifo("out", "a", "%shim", 1, 1) + core("a", *lines)
    outcome = run(body, feeds={"in": words(1, 2)})
    assert outcome.trap is not None, outcome.report()
    assert outcome.trap.kind is kind
    assert text in outcome.trap.text
    if at is not None:
        first = f"aie.device(npu2) {{{TILES}{body}".partition(lines[0])[0].count("\n")
        assert outcome.trap.where is not None
        assert outcome.trap.where.line == first + at


def test_what_an_earlier_object_left_is_not_in_a_new_one() -> None:
    """The second object lies where the first did, and only its first element is written."""
    body = fifo("out", "a", "%shim", 1, 2)
    body += core(
        "a",
        "%v = arith.constant 7 : i32",
        take("x", "out", 2, 1, "Produce"),
        "memref.store %v, %x0[%c0] : memref<2xi32>",
        "memref.store %v, %x0[%c1] : memref<2xi32>",
        give("out", 1, "Produce"),
        take("y", "out", 2, 1, "Produce"),
        "memref.store %v, %y0[%c0] : memref<2xi32>",
        give("out", 1, "Produce"),
    )
    outcome = run(body)
    assert outcome.trap is not None
    assert outcome.trap.kind is Kind.UNWRITTEN
    assert "byte 4" in outcome.trap.text


# --- links ------------------------------------------------------------------------------------------------------------


def test_a_distribute_cuts_objects_at_its_offsets() -> None:
    body = fifo("in", "shim", "%mem", 2, 6) + fifo("p", "mem", "%shim", 2, 2) + fifo("q", "mem", "%shim1", 2, 4)
    body += link("@in", "@p, @q", "[] [0, 2]")
    outcome = run(body, feeds={"in": words(*range(12))})
    assert ints(outcome, "p") == [0, 1, 6, 7]
    assert ints(outcome, "q") == [2, 3, 4, 5, 8, 9, 10, 11]


def test_a_join_puts_parts_together() -> None:
    body = fifo("p", "shim", "%mem", 1, 1) + fifo("q", "shim", "%mem", 1, 3) + fifo("out", "mem", "%shim", 1, 4)
    body += link("@p, @q", "@out", "[0, 1] []")
    outcome = run(body, feeds={"p": words(1, 2), "q": words(10, 11, 12, 20, 21, 22)})
    assert ints(outcome, "out") == [1, 10, 11, 12, 2, 20, 21, 22]


def test_a_part_of_a_join_that_never_comes_holds_up_the_rest() -> None:
    body = fifo("p", "shim", "%mem", 1, 1) + fifo("q", "shim", "%mem", 1, 3) + fifo("out", "mem", "%shim", 1, 4)
    body += link("@p, @q", "@out", "[0, 1] []")
    outcome = run(body, feeds={"p": words(1)}, drains={"out": 16})
    assert outcome.status is Status.STUCK
    # The first part goes out when it is there, each part on its own.
    assert ints(outcome, "out") == [1]


def test_a_link_changes_the_size_of_objects() -> None:
    """One object of 8 fills four of 2; the link holds the larger one, so 5 elements bring nothing."""
    body = fifo("in", "shim", "%mem", 1, 8) + fifo("out", "mem", "%shim", 1, 2) + link("@in", "@out")
    assert ints(run(body, feeds={"in": words(*range(16))}), "out") == list(range(16))
    assert ints(run(body, feeds={"in": words(*range(13))}), "out") == list(range(8))


def test_a_link_onto_larger_objects_waits_for_a_whole_one() -> None:
    body = fifo("in", "shim", "%mem", 2, 2) + fifo("out", "mem", "%shim", 2, 6) + link("@in", "@out")
    outcome = run(body, feeds={"in": words(*range(10))})
    assert ints(outcome, "out") == list(range(6))
    assert set(outcome.locks) == {"the link of @out"}


def test_a_dispatch_takes_turns_in_the_order_of_the_link() -> None:
    body = fifo("in", "shim", "%mem", 3, 1) + fifo("p", "mem", "%shim", 2, 1) + fifo("q", "mem", "%shim1", 2, 1)
    body += link("@in", "@q, @p", "", "{mode = #aie.link_mode<time>}")
    outcome = run(body, feeds={"in": words(*range(6))})
    assert ints(outcome, "q") == [0, 2, 4]
    assert ints(outcome, "p") == [1, 3, 5]


def test_a_dispatch_waits_for_the_one_whose_turn_it_is() -> None:
    body = fifo("in", "shim", "%mem", 1, 1) + fifo("p", "mem", "%a", "[1, 1]", 1) + fifo("q", "mem", "%shim1", 2, 1)
    body += link("@in", "@p, @q", "", "{mode = #aie.link_mode<time>}") + core("a", take("x", "p", 1))
    outcome = run(body, feeds={"in": words(*range(6))})
    # p holds one object and its core keeps it; the next one for p never leaves, and none for q after it.
    assert ints(outcome, "q") == [1]


@pytest.mark.parametrize("seed", range(8))
def test_a_merge_keeps_objects_whole_and_each_source_in_order(seed: int) -> None:
    body = fifo("p", "shim", "%mem", 1, 2) + fifo("q", "shim", "%mem", 1, 2) + fifo("out", "mem", "%shim", 2, 2)
    body += link("@p, @q", "@out", "", "{mode = #aie.link_mode<time>}")
    feeds = {"p": [words(1, i) for i in range(5)], "q": [words(2, i) for i in range(5)]}
    got = ints(run(body, feeds=feeds, seed=seed), "out")
    pairs = list(zip(got[::2], got[1::2], strict=True))
    assert [i for source, i in pairs if source == 1] == list(range(5))
    assert [i for source, i in pairs if source == 2] == list(range(5))


def test_merges_come_in_different_orders() -> None:
    body = fifo("p", "shim", "%mem", 1, 2) + fifo("q", "shim", "%mem", 1, 2) + fifo("out", "mem", "%shim", 2, 2)
    body += link("@p, @q", "@out", "", "{mode = #aie.link_mode<time>}")
    feeds = {"p": [words(1, i) for i in range(5)], "q": [words(2, i) for i in range(5)]}
    assert len({tuple(ints(run(body, feeds=feeds, seed=seed), "out")) for seed in range(8)}) > 1


ROWS = [[10 * row + j for j in range(8)] for row in range(1, 5)]


def flat(rows: list[list[int]]) -> list[int]:
    return [v for row in rows for v in row]


def windows(more: str, dims: str, size: int) -> str:
    body = fifo("rows", "shim", "%mem", 2, 8)
    body += fifo("w", f"mem dimensionsToStream [{dims}]", "%shim", 2, size, more)
    return body + link("@rows", "@w")


def test_windows_walk_the_whole_stream() -> None:
    """Three rows at a time over four rows of eight, a zero row above and below."""
    pads = ", ".join(f"<const_pad_before = {n}, const_pad_after = {n}>" for n in (1, 0, 0))
    dims = "<size = 4, stride = 8>, <size = 3, stride = 8>, <size = 8, stride = 1>"
    body = windows(f"{{padDimensions = #aie<bd_pad_layout_array[{pads}]>}}", dims, 24)
    zero = [0] * 8
    padded = [zero, *ROWS, zero]
    wanted = [v for top in range(4) for row in padded[top : top + 3] for v in row]
    outcome = run(body, feeds={"rows": words(*flat(ROWS + ROWS))})
    assert ints(outcome, "w") == wanted * 2


def test_a_window_goes_as_soon_as_its_rows_are_there() -> None:
    """Two rows at a time, one row on: three rows are enough for the first two of three windows."""
    dims = "<size = 3, stride = 8>, <size = 2, stride = 8>, <size = 8, stride = 1>"
    outcome = run(windows("", dims, 16), feeds={"rows": words(*flat(ROWS[:3]))})
    assert ints(outcome, "w") == flat([*ROWS[0:2], *ROWS[1:3]])


def test_windows_that_leave_rows_out() -> None:
    """One row of every two: the rows in between are taken from the stream all the same."""
    dims = "<size = 2, stride = 16>, <size = 8, stride = 1>"
    outcome = run(windows("", dims, 8), feeds={"rows": words(*flat([*ROWS[:3], *ROWS[:3]]))})
    # A stream has three rows: the first is one window, the third another.
    assert ints(outcome, "w") == flat([ROWS[0], ROWS[2]] * 2)


# --- order, repeats, contents -----------------------------------------------------------------------------------------


def test_dimensions_reorder_on_both_ends() -> None:
    to = "dimensionsToStream [<size = 2, stride = 1>, <size = 3, stride = 2>]"
    body = fifo("in", "shim", "%mem", 2, 6) + link("@in", "@out")
    body += f"aie.objectfifo @out(%mem {to}, {{%shim}}, 2 : i32) : !aie.objectfifo<memref<6xi32>>\n"
    assert ints(run(body, feeds={"in": words(*range(6))}), "out") == [0, 2, 4, 1, 3, 5]
    back = "%mem dimensionsFromStream [<size = 2, stride = 1>, <size = 3, stride = 2>]"
    body = fifo("in", "shim", back, 2, 6) + fifo("out", "mem", "%shim", 2, 6) + link("@in", "@out")
    # What comes goes to places 0, 2, 4, 1, 3, 5.
    assert ints(run(body, feeds={"in": words(*range(6))}), "out") == [0, 3, 1, 4, 2, 5]


@pytest.mark.parametrize(("device", "value"), [("npu2", 0), ("npu1", 0), ("npu2", 7)])
def test_padding_stands_around_what_leaves(device: str, value: int) -> None:
    to = "dimensionsToStream [<size = 2, stride = 2>, <size = 2, stride = 1>]"
    pads = "<const_pad_before = 1, const_pad_after = 0>, <const_pad_before = 0, const_pad_after = 1>"
    more = f"padDimensions = #aie<bd_pad_layout_array[{pads}]>" + (f", padValue = {value} : i32" if value else "")
    body = fifo("in", "shim", "%mem", 2, 4) + link("@in", "@out")
    body += f"aie.objectfifo @out(%mem {to}, {{%shim}}, 2 : i32) {{{more}}} : !aie.objectfifo<memref<9xi32>>\n"
    n = value
    if value and device == "npu2" and not _pads(device):
        pytest.skip("no such register")
    assert ints(run(body, device=device, feeds={"in": words(1, 2, 3, 4)}), "out") == [n, n, n, 1, 2, n, 3, 4, n]


def _pads(device: str) -> bool:
    from aiecc.model.targets import TileKind, get

    dma = get(device).dma(TileKind.MEM)
    return dma is not None and dma.pad_value


def test_repeats_come_object_by_object() -> None:
    body = fifo("in", "shim", "%mem", 2, 2) + fifo("out", "mem", "%shim", 2, 2, "{repeat_count = 3 : i32}")
    outcome = run(body + link("@in", "@out"), feeds={"in": words(1, 2, 3, 4)})
    assert ints(outcome, "out") == [1, 2] * 3 + [3, 4] * 3


def test_a_join_repeats_whole_objects() -> None:
    body = fifo("p", "shim", "%mem", 1, 1) + fifo("q", "shim", "%mem", 1, 1)
    body += fifo("out", "mem", "%shim", 1, 2, "{repeat_count = 2 : i32}") + link("@p, @q", "@out", "[0, 1] []")
    outcome = run(body, feeds={"p": words(1, 3), "q": words(2, 4)})
    assert ints(outcome, "out") == [1, 2, 1, 2, 3, 4, 3, 4]


def test_iterations_bound_what_passes() -> None:
    """Three passes over a pool of two are six objects."""
    body = fifo("in", "shim", "%mem", 2, 1) + fifo("out", "mem", "%shim", 2, 1, "{iter_count = 3 : i32}")
    outcome = run(body + link("@in", "@out"), feeds={"in": words(*range(10))})
    assert ints(outcome, "out") == list(range(6))
    # The fill goes on: two more fit.
    assert outcome.status is Status.STUCK
    assert outcome.locks["the link of @in"].value == 2


def test_initial_values_come_first() -> None:
    body = fifo("out", "a", "%shim", 2, 4, after=" = [dense<5> : memref<4xi32>, dense<[6, 7, 8, 9]> : memref<4xi32>]")
    outcome = run(body + core("a", *put("out", 4, 2)), cores_end=True)
    assert ints(outcome, "out") == [5] * 4 + [6, 7, 8, 9] + [0, 1, 2, 3, 100, 101, 102, 103]


def test_initial_values_fill_the_room() -> None:
    """Through memory: two of three places are full from the start."""
    body = fifo("f", "a", "%b", "[2, 3]", 1, after=" = [dense<5> : memref<1xi32>, dense<6> : memref<1xi32>]")
    body += core("b", "%one = arith.constant 1 : i32")
    assert run(body + core("a", *put("f", 1, 1)), cores_end=True).finished
    assert run(body + core("a", *put("f", 1, 2)), cores_end=True).stuck


def test_values_nobody_refills_come_round_for_ever() -> None:
    body = fifo("w", "mem", "%a", 2, 1, after=" = [dense<5> : memref<1xi32>, dense<6> : memref<1xi32>]")
    body += fifo("out", "a", "%shim", 2, 1) + core("a", *copy("w", "out", 1, 7))
    outcome = run(body, drains={"out": 28}, cores_end=True)
    assert ints(outcome, "out") == [5, 6, 5, 6, 5, 6, 5]


def test_values_that_are_reset_come_once() -> None:
    body = fifo("w", "mem", "%a", 2, 1, after=" = [dense<5> : memref<1xi32>, dense<6> : memref<1xi32>]")
    body += fifo("out", "a", "%shim", 2, 1) + core("a", *copy("w", "out", 1, 3))
    body += "aie.runtime_sequence @s() { aiex.dma_channel_reset_for(@w) }\n"
    outcome = run(body, drains={"out": 12})
    assert outcome.stuck
    assert ints(outcome, "out") == [5, 6]


def test_both_ends_may_have_objects_of_their_own_size() -> None:
    body = "aie.objectfifo @f(%a, {%far}, 2 : i32) : !aie.objectfifo<memref<4xi32>> -> !aie.objectfifo<memref<2xi32>>\n"
    body += fifo("out", "far", "%shim", 2, 2) + core("a", *put("f", 4, 2)) + core("far", *copy("f", "out", 2, 4))
    outcome = run(body, drains={"out": 32}, cores_end=True)
    assert outcome.finished, outcome.report()
    assert ints(outcome, "out") == [0, 1, 2, 3, 100, 101, 102, 103]


# --- several ends -----------------------------------------------------------------------------------------------------


def test_a_broadcast_goes_as_fast_as_its_slowest_consumer() -> None:
    body = fifo("f", "shim", "%a, %far", "[1, 1, 1]", 1) + fifo("out", "a", "%shim", 1, 1)
    body += core("a", *copy("f", "out", 1, 4)) + core("far", take("x", "f", 1))
    outcome = run(body, feeds={"f": words(*range(4))}, drains={"out": 16})
    assert outcome.stuck
    # The other core keeps its one object; the second one comes to neither of them.
    assert ints(outcome, "out") == [0]


def test_two_shims_have_names_in_order() -> None:
    body = fifo("f", "mem", "%shim, %shim1", 2, 1) + fifo("in", "shim", "%mem", 2, 1) + link("@in", "@f")
    outcome = run(body, feeds={"in_shim_alloc": words(1, 2)}, drains={"f_shim_alloc": 8, "f_shim_alloc_0": 8})
    assert outcome.finished
    assert outcome.received["f_shim_alloc_0"] == words(1, 2)
    assert outcome.names == {"f_shim_alloc": "f_shim_alloc", "f_shim_alloc_0": "f_shim_alloc_0"}


def test_a_core_may_feed_itself() -> None:
    body = fifo("f", "a", "%a", 2, 1) + fifo("out", "a", "%shim", 2, 1)
    put_two, take_two = put("f", 1, 2), copy("f", "out", 1, 2)
    assert ints(run(body + core("a", *put_two, *[x.replace("%i", "%k") for x in take_two])), "out") == [0, 100]
    assert run(body + core("a", *put("f", 1, 3)), cores_end=True).stuck


def test_a_stream_port_is_an_end_without_objects() -> None:
    body = fifo("f", "a", "%far", 2, 2, "{prod_port = #aie.end_port<Core : 0>}") + fifo("out", "far", "%shim", 2, 2)
    words_out = [f"%v{i} = arith.constant {7 + i} : i32\naie.put_stream(%p : i32, %v{i} : i32)" for i in range(4)]
    body += core("a", "%p = arith.constant 0 : i32", *words_out) + core("far", *copy("f", "out", 2, 2))
    outcome = run(body, drains={"out": 16}, cores_end=True)
    assert ints(outcome, "out") == [7, 8, 9, 10]


def test_a_core_works_on_a_links_objects_where_an_allocate_says_so() -> None:
    """The link's pool of two is all there is between the core and the shim."""
    body = fifo("in", "b", "%a", 2, 4) + fifo("out", "a", "%shim", 2, 4) + link("@in", "@out")
    streams = run(body + core("b", *put("in", 4, 6)), drains={"out": 0})
    both = body + "aie.objectfifo.allocate @in(%a)\n"
    memory = run(both + core("b", *put("in", 4, 6)), drains={"out": 0})
    assert set(streams.locks) == {"@in", "the link of @in"}
    assert set(memory.locks) == {"the link of @in"}
    assert ints(run(both + core("b", *put("in", 4, 6))), "out") == OBJECTS


# --- models, limits, refusals -----------------------------------------------------------------------------------------


def test_kernels_work_on_objects() -> None:
    def double(x: View, y: View) -> None:
        y.assign([2 * v for v in x.tolist()])

    body = fifo("in", "shim", "%a", 2, 4) + fifo("out", "a", "%shim", 2, 4)
    body += "func.func private @double(memref<4xi32>, memref<4xi32>)\n"
    call = "func.call @double(%x0, %y0) : (memref<4xi32>, memref<4xi32>) -> ()"
    body += core("a", *[call if "copy" in x else x for x in copy("in", "out", 4, 2)])
    outcome = run(body, feeds={"in": words(*range(8))}, kernels={"double": double})
    assert ints(outcome, "out") == [2 * v for v in range(8)]


def test_who_waits_for_what_at_which_line() -> None:
    body = fifo("in", "shim", "%a", 2, 4) + fifo("out", "a", "%shim", 2, 4) + core("a", *copy("in", "out", 4, 2))
    outcome = run(body, feeds={"in": words(*range(4))}, cores_end=True)
    assert outcome.stuck
    wait = next(w for w in outcome.waits if w.actor == "core (0, 2)")
    assert wait.what == "1 object to come in @in at (0, 2) (0 of 2 are full)"
    assert wait.where is not None
    text = f"aie.device(npu2) {{{TILES}{body}".splitlines()
    assert "acquire @in" in text[wait.where.line - 1]


def test_a_limit_ends_what_does_not_end() -> None:
    body = fifo("f", "mem", "%a", 1, 1, after=" = [dense<5> : memref<1xi32>]") + fifo("out", "a", "%shim", 2, 1)
    loop = [x.replace("%c12", "%many") for x in copy("f", "out", 1, 12)]
    body += core("a", "%many = arith.constant 1000000 : index", *loop)
    assert run(body, max_events=1000).status is Status.LIMIT


REFUSED = {
    "hand-written": ("aie.flow(%a, DMA : 0, %b, DMA : 0)", "'aie.flow' is not modelled here: it is programmed by hand"),
    "no locks": (fifo("f", "a", "%b", 2, 4, "{disable_synchronization = true}"), "without synchronization"),
    "split": (
        "aie.objectfifo.pool @p(%a) {depth = 1 : i32} : memref<4xi32> {\n"
        "aie.objectfifo.segment @s0 {offset = 0 : i32, size = 4 : i32}}",
        "the design is split already",
    ),
    "no room": (fifo("f", "a", "%b", 0, 4), "its depths are not one or more objects for each end"),
    "depths that do not go with the ends": (
        fifo("f", "a", "%b", "[1, 2, 3]", 4),
        "its depths are not one or more objects for each end",
    ),
    "a walk of too few": (
        fifo("f", "a dimensionsToStream [<size = 2, stride = 1>]", "%b", 2, 4),
        "its dimensions cover 2 elements of 4",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_here_is_refused(name: str) -> None:
    body, text = REFUSED[name]
    with pytest.raises(Refused) as refused:
        run(body)
    first = refused.value.diagnostics[0]
    assert text in first.text
    assert first.where is not None
    assert first.where.line == 2 + TILES.count("\n") - 1


@pytest.mark.parametrize("end", ["nobody", (0, 0), "out"])
def test_ends_that_do_not_exist_are_told(end: str | tuple[int, int]) -> None:
    body = fifo("in", "shim", "%a", 2, 4) + fifo("out", "a", "%shim", 2, 4) + core("a", *copy("in", "out", 4, 2))
    with pytest.raises(Refused, match="there are: in_shim_alloc"):
        run(body, feeds={end: words(1)})


def test_a_lowered_design_is_not_one_with_fifos() -> None:
    outcome = run("")
    assert outcome.finished
    assert not outcome.received


@pytest.mark.parametrize("sequence", [range(1, 30)])
def test_interleavings_do_not_change_what_a_design_means(sequence: Sequence[int]) -> None:
    body = fifo("in", "shim", "%a, %far", 2, 4) + fifo("p", "a", "%mem", 2, 4) + fifo("q", "far", "%mem", 2, 4)
    body += fifo("out", "mem", "%shim", 2, 8) + link("@p, @q", "@out", "[0, 4] []")
    body += core("a", *copy("in", "p", 4, 6)) + core("far", *copy("in", "q", 4, 6))
    wanted = [v for i in range(0, 24, 4) for v in OBJECTS[i : i + 4] * 2]
    events = set()
    for seed in sequence:
        outcome = run(body, feeds={"in": words(*OBJECTS)}, drains={"out": 192}, cores_end=True, seed=seed)
        assert ints(outcome, "out") == wanted
        events.add(tuple(u.high for u in outcome.locks.values()))
    assert len(events) > 1


def test_it_knows_nothing_of_the_passes() -> None:
    """Or it would be no second opinion: neither the passes nor what they share is imported."""
    import ast
    from pathlib import Path

    import aiecc.sim.fifo

    files = sorted(Path(aiecc.sim.fifo.__file__ or "").parent.glob("*.py"))
    assert len(files) > 5
    found: set[str] = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                found.add(node.module or "")
            elif isinstance(node, ast.Import):
                found |= {a.name for a in node.names}
    assert "aiecc.ir.dialects.aie.fifo" in found
    assert not [name for name in found if name.startswith(("aiecc.ir.passes", "aiecc.ir.fifo", "aiecc.ir.pipeline"))]
