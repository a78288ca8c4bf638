"""Endpoints that take turns, whole streams in one buffer, programs that are there already, and what is refused."""

from __future__ import annotations

from collections import Counter

import pytest
from chainkit import Told, programs
from hypothesis import given
from hypothesis import strategies as st
from passkit import Ran, line_of
from poolkit import bd, chains, device, end, lowered, pool

from aiecc.ir.fifo.chains import window_uses
from aiecc.ir.passes.fifo_lower_dmas import ObjectFifoLowerDmas
from aiecc.ir.verify import verify

# --- turns ------------------------------------------------------------------------------------------------------------


def turning(turns: str, **depths: int) -> dict[str, Told]:
    """Pools by name and depth on the memory tile, whose draining ends take turns: `xxy`."""
    names = ", ".join(f"@{t}_out" for t in turns)
    pools = [pool(name, "%t01", depth, 4 + 4 * i) for i, (name, depth) in enumerate(depths.items())]
    ends = [end(f"{n}_out", "%t01", "drains", n, f"channelIndex = 2 : i32, turns = [{names}]") for n in depths]
    return chains(*pools, *ends)


def moved(told: Told) -> list[str]:
    """The buffers in order."""
    return [text.split(" | ")[1].split()[0] for text in told.bds]


@pytest.mark.parametrize(
    ("turns", "depths", "buffers"),
    [
        ("xy", {"x": 2, "y": 1}, "x0 y0 x1 y0"),
        ("xy", {"x": 2, "y": 2}, "x0 y0 x1 y1"),
        ("xy", {"x": 2, "y": 3}, "x0 y0 x1 y1 x0 y2 x1 y0 x0 y1 x1 y2"),
        ("xxy", {"x": 2, "y": 1}, "x0 x1 y0"),
        ("xyx", {"x": 3, "y": 2}, "x0 y0 x1 x2 y1 x0 x1 y0 x2 x0 y1 x1 x2 y0 x0 x1 y1 x2"),
        ("yx", {"x": 1, "y": 1}, "y0 x0"),
        ("x", {"x": 2}, "x0 x1"),
    ],
)
def test_turns_are_taken_until_all_are_back(turns: str, depths: dict[str, int], buffers: str) -> None:
    got = turning(turns, **depths)
    assert list(got) == ["0,1 MM2S 2"]
    assert moved(got["0,1 MM2S 2"]) == buffers.split()
    assert got["0,1 MM2S 2"].back == 0


def test_each_turn_uses_its_own_pools_locks() -> None:
    got = turning("xy", x=1, y=1)
    assert got["0,1 MM2S 2"].bds == [bd("xC0", "x0 0+4", "xP0"), bd("yC0", "y0 0+8", "yP0")]


@given(st.data())
def test_rounds_are_the_fewest_that_bring_everybody_back(data: st.DataObject) -> None:
    """By definition: round after round is played until every pool is at its first buffer."""
    names = "xyz"[: data.draw(st.integers(1, 3))]
    depths = {name: data.draw(st.integers(1, 4)) for name in names}
    turns = names + "".join(data.draw(st.lists(st.sampled_from(names), max_size=3)))
    at, played = Counter[str](), list[str]()
    while not played or any(at[n] % depths[n] for n in names):
        for name in turns:
            played.append(f"{name}{at[name] % depths[name]}")
            at[name] += 1
    if len(played) <= 48:
        assert moved(turning(turns, **depths)["0,1 MM2S 2"]) == played


def test_the_segments_of_an_object_are_one_turn() -> None:
    turns = "turns = [@e, @f]"
    got = chains(
        pool("p", "%t01", 2, 8, segments=(4, 4)),
        pool("q", "%t01", 1, 8),
        end("e", "%t01", "fills", "p", f"channelIndex = 1 : i32, segments = [@s0, @s1], {turns}"),
        end("f", "%t01", "fills", "q", f"channelIndex = 1 : i32, {turns}"),
    )
    assert [text.split(" | ")[1] for text in got["0,1 S2MM 1"].bds] == [
        "p0 0+4",
        "p0 4+4",
        "q0 0+8",
        "p1 0+4",
        "p1 4+4",
        "q0 0+8",
    ]


def padded(name: str, value: int) -> str:
    return end(
        name,
        "%t01",
        "drains",
        name.upper(),
        f"channelIndex = 0 : i32, turns = [@e, @f], padValue = {value} : i32, "
        "dimensions = #aie<bd_dim_layout_array_array[[<size = 2, stride = 4>, <size = 4, stride = 1>]]>, "
        "padDimensions = #aie<bd_pad_layout_array_array[[<const_pad_before = 0, const_pad_after = 1>, "
        "<const_pad_before = 0, const_pad_after = 0>]]>",
    )


def test_one_channel_pads_with_one_value() -> None:
    pools = [pool("E", "%t01", 1, 8), pool("F", "%t01", 1, 8)]
    assert chains(*pools, padded("e", 5), padded("f", 5))["0,1 MM2S 0"].pad_value == 5
    ran = Ran(device(*pools, padded("e", 5), padded("f", 6)), ObjectFifoLowerDmas())
    assert ran.only.text.startswith("'aie.objectfifo.dma_endpoint' op takes turns with endpoints that pad with other")
    assert "(5, 6)" in ran.only.text


# --- windows over a whole stream --------------------------------------------------------------------------------------


def stream(count: int, before: int, after: int, dims: str, size: int = 8, more: str = "") -> tuple[str, ...]:
    """A pool of a whole stream, filled on channel 0 and drained on channel 1."""
    rows = count + before + after
    layout = f"dimensions = #aie<bd_dim_layout_array_array[[{dims}]]>"
    return (
        pool("w", "%t01", 1, rows * size, more=f", stream = array<i64: {size}, {count}, {before}>"),
        end("in", "%t01", "fills", "w", f"channelIndex = 0 : i32{more}"),
        end("out", "%t01", "drains", "w", f"channelIndex = 1 : i32, {layout}"),
    )


def dims(*pairs: tuple[int, int]) -> str:
    return ", ".join(f"<size = {size}, stride = {stride}>" for size, stride in pairs)


def test_three_row_windows_over_four_rows_between_zeros() -> None:
    got = chains(*stream(4, 1, 1, dims((4, 8), (3, 8), (8, 1))))
    assert got["0,1 S2MM 0"] == Told([bd("wP0", "w0 8+8 iter(4*8)", "wC0")], back=0)
    assert got["0,1 MM2S 1"] == Told(
        [
            "AGE wC0 2 | w0 0+24 [3*8 8*1]",
            "AGE wC0 1 | w0 8+24 [3*8 8*1] | REL wP0 1",
            "AGE wC0 1 | w0 16+24 [3*8 8*1] | REL wP0 1",
            "w0 24+24 [3*8 8*1] | REL wP0 2",
        ],
        back=0,
    )


def test_windows_that_do_not_overlap_are_whole_objects() -> None:
    got = chains(*stream(3, 0, 0, dims((3, 8), (8, 1))))
    assert got["0,1 S2MM 0"].bds == [bd("wP0", "w0 0+8 iter(3*8)", "wC0")]
    assert got["0,1 MM2S 1"].bds == [bd("wC0", f"w0 {8 * j}+8 [8*1]", "wP0") for j in range(3)]


def test_rows_that_no_window_reads_go_with_the_next() -> None:
    """Windows of one row, every third row: the two rows between are taken and given back with the window behind."""
    got = chains(*stream(4, 0, 0, dims((2, 24), (8, 1))))
    assert got["0,1 MM2S 1"].bds == ["AGE wC0 1 | w0 0+8 [8*1] | REL wP0 1", "AGE wC0 3 | w0 24+8 [8*1] | REL wP0 3"]


def test_a_stream_of_one_object_needs_no_steps() -> None:
    got = chains(*stream(1, 1, 0, dims((1, 8), (2, 8), (8, 1))))
    assert got["0,1 S2MM 0"].bds == [bd("wP0", "w0 8+8", "wC0")]
    assert got["0,1 MM2S 1"].bds == ["AGE wC0 1 | w0 0+16 [2*8 8*1] | REL wP0 1"]


def test_a_bounded_stream_is_that_many_objects() -> None:
    got = chains(*stream(3, 0, 0, dims((3, 8), (8, 1)), more=", iterCount = 4 : i32"))
    assert got["0,1 S2MM 0"] == Told([bd("wP0", "w0 0+8 iter(3*8)", "wC0")], None, 4 * 3 - 1)


def test_a_walk_needs_dimensions() -> None:
    parts = stream(3, 0, 0, dims((3, 8), (8, 1)))
    bare = end("out", "%t01", "drains", "w", "channelIndex = 1 : i32")
    ran = Ran(device(*parts[:2], bare), ObjectFifoLowerDmas())
    assert "has no dimensions that walk it" in ran.only.text


def test_windows_in_turns_name_every_object() -> None:
    turns = "turns = [@in, @f]"
    got = chains(
        *stream(2, 0, 0, dims((2, 8), (8, 1)), more=f", {turns}"),
        pool("q", "%t01", 1, 4),
        end("f", "%t01", "fills", "q", f"channelIndex = 0 : i32, {turns}"),
    )
    assert [text.split(" | ")[1] for text in got["0,1 S2MM 0"].bds] == ["w0 0+8", "q0 0+4", "w0 8+8", "q0 0+4"]


@given(
    st.integers(1, 6),
    st.integers(1, 4),
    st.integers(1, 5),
    st.integers(0, 2),
    st.integers(0, 2),
)
def test_windows_take_what_they_read_and_give_back_what_is_read_no_more(
    outputs: int, advance: int, span: int, before: int, after: int
) -> None:
    """Played object by object: a window holds what it reads, nothing is given back that a later one reads."""
    count = (outputs - 1) * advance + span - before - after
    if count < 1:
        return
    rows = [set(range(advance * j, advance * j + span)) for j in range(outputs)]
    real = list(range(before, before + count))
    taken = given_back = 0
    for j, (take, give) in enumerate(window_uses(outputs, advance, span, count, before)):
        taken += take
        held = set(real[given_back:taken])
        assert rows[j] & set(real) <= held
        assert all(row < advance * j + span for row in held), "waits for an object it does not read"
        given_back += give
        later = set[int]().union(*rows[j + 1 :])
        assert given_back <= taken
        assert not set(real[:given_back]) & later
        unread = [row for row in real[given_back:taken] if row not in later]
        assert not unread, "keeps an object nobody reads any more"
    assert taken == given_back == count


# --- programs that are there already ----------------------------------------------------------------------------------


HAND = """
%hb = aie.buffer(%t02) {sym_name = "hb"} : memref<4xi32>
%hl = aie.lock(%t02) {sym_name = "hl", init = 1 : i32}
%m = aie.mem(%t02) {
  %s = aie.dma_start(S2MM, 0, ^bd, ^TAIL)
^bd:
  aie.use_lock(%hl, AcquireGreaterEqual, 1)
  aie.dma_bd(%hb : memref<4xi32>, 0, 4)
  aie.next_bd ^NEXT
REST
}
"""

SHAPES = {
    "loops": HAND.replace("TAIL", "end").replace("NEXT", "bd").replace("REST", "^end:\n aie.end"),
    "shares the end": HAND.replace("TAIL", "end").replace("NEXT", "end").replace("REST", "^end:\n aie.end"),
    "own end": HAND.replace("TAIL", "end").replace("NEXT", "stop").replace("REST", "^stop:\n aie.end\n^end:\n aie.end"),
    "own end last": HAND.replace("TAIL", "end")
    .replace("NEXT", "stop")
    .replace("REST", "^end:\n aie.end\n^stop:\n aie.end"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_channel_is_added_behind_a_hand_written_program(shape: str) -> None:
    """However the program's blocks hang together, both channels are started and each does what it did."""
    alone = programs(Ran(device(SHAPES[shape])).module)
    got = chains(SHAPES[shape], pool("p", "%t02", 1, 8), end("e", "%t02", "drains", "p"))
    assert list(got) == ["0,2 S2MM 0", "0,2 MM2S 0"]
    assert got["0,2 S2MM 0"] == alone["0,2 S2MM 0"]
    assert got["0,2 MM2S 0"] == Told([bd("pC0", "p0 0+8", "pP0")], back=0)


def test_a_program_without_channels_gets_its_first() -> None:
    got = chains("%m = aie.mem(%t02) { aie.end }", pool("p", "%t02", 1, 8), end("e", "%t02", "drains", "p"))
    assert got == {"0,2 MM2S 0": Told([bd("pC0", "p0 0+8", "pP0")], back=0)}


def test_a_later_fifo_goes_behind_the_earlier_ones() -> None:
    """Lowered, one more endpoint written by hand, lowered again."""
    ran = lowered(pool("p", "%t02", 2, 8), end("e", "%t02", "drains", "p"))
    first = programs(ran.module)
    body = ran.text.rstrip().removesuffix("}").rstrip()
    assert body.endswith("}"), "module and device"
    more = "\n".join([pool("q", "%tile_0_2", 1, 4), end("f", "%tile_0_2", "fills", "q")])
    text = body.removesuffix("}") + more + "\n}\n}"
    again = Ran(text, ObjectFifoLowerDmas())
    assert again.said == []
    assert not verify(again.module)
    assert programs(again.module) == {**first, "0,2 S2MM 0": Told([bd("qP0", "q0 0+4", "qC0")], back=0)}


# --- refused ----------------------------------------------------------------------------------------------------------


def refused(*parts: str, kind: str = "npu2") -> Ran:
    """Refused, and nothing changed."""
    text = device(*parts, kind=kind)
    ran = Ran(text, ObjectFifoLowerDmas())
    assert ran.sink.failed
    assert ran.text == Ran(text).text
    return ran


OP = "'aie.objectfifo.dma_endpoint' op "


def test_no_channel() -> None:
    ran = refused(pool("p", "%t02", 1, 8), end("e", "%t02", "drains", "p", ""))
    assert ran.only.text == OP + "has no channel; run --aie-objectfifo-allocate"


def test_no_headers_for_its_turns() -> None:
    ran = refused(
        pool("p", "%t02", 1, 8),
        "aie.route_endpoint @d(%t00) DMA {channelIndex = 0 : i32}",
        end("e", "%t02", "drains", "p", "channelIndex = 0 : i32, dispatch = [@d]"),
    )
    assert ran.only.text == OP + "has no dispatchPackets; run --aie-objectfifo-allocate"


def test_a_header_without_an_id() -> None:
    more = "channelIndex = 0 : i32, packet = #aie.packet_info<pkt_type = 1>"
    ran = refused(pool("p", "%t02", 1, 8), end("e", "%t02", "drains", "p", more))
    assert ran.only.text == OP + "has a packet header with no pkt_id; run --aie-assign-packet-ids"


def test_buffers_that_do_not_exist() -> None:
    text = pool("p", "%t02", 3, 12, segments=(4, 8)).replace("[@p0, @p1, @p2]", "[@p0, @gone, @p2]")
    ran = refused(text, end("e", "%t02", "drains", "p", "channelIndex = 0 : i32, segments = [@s0, @s1]"))
    assert ran.only.text == OP + "lowers to 4 descriptors per pass, but its channel was allocated for 6"


def test_no_buffers_yet() -> None:
    ran = refused(pool("p", "%t02", 1, 8).replace(", buffers = [@p0]", ""), end("e", "%t02", "drains", "p"))
    assert ran.only.text == OP + "works on pool 'p', which has no buffers; run --aie-objectfifo-allocate"


def test_a_lock_that_does_not_exist() -> None:
    ran = refused(
        pool("p", "%t02", 1, 8).replace("produceLock = @pP0", "produceLock = @x"), end("e", "%t02", "fills", "p")
    )
    assert ran.only.text == OP + "uses pool 'p', whose lock 'x' does not exist"


def test_a_channel_that_is_programmed() -> None:
    parts = (SHAPES["loops"], pool("p", "%t02", 1, 8), end("e", "%t02", "fills", "p"))
    ran = refused(*parts)
    assert ran.only.text == OP + "uses channel S2MM 0, which an existing aie.dma_start already programs"
    (note,) = ran.only.notes
    assert note.where is not None and note.where.line == line_of(device(*parts), "dma_start")
    assert ran.only.where is not None and ran.only.where.line == line_of(device(*parts), "@e(")


def test_a_channel_that_another_endpoint_has() -> None:
    ran = refused(
        pool("p", "%t02", 1, 8), pool("q", "%t02", 1, 8), end("e", "%t02", "fills", "p"), end("f", "%t02", "fills", "q")
    )
    assert ran.only.text == OP + "uses channel S2MM 0, which @e already programs"


def test_all_offenders_are_told_at_once() -> None:
    ran = refused(pool("p", "%t02", 1, 8), *(end(n, "%t02", "drains", "p", "") for n in "ef"))
    assert ran.said == [OP + "has no channel; run --aie-objectfifo-allocate"] * 2


def test_a_route_that_was_not_lowered() -> None:
    ran = refused(
        pool("p", "%t02", 1, 8),
        end("e", "%t02", "drains", "p"),
        "aie.route_endpoint @d(%t00) DMA {channelIndex = 0 : i32}",
        "aie.route from @e to [@d]",
    )
    assert ran.only.text.startswith("'aie.route' op connects endpoints that this pass replaces")


def test_a_program_that_waits_for_its_channel() -> None:
    ran = refused(
        "aie.route_endpoint @d(%t02) DMA {}",
        SHAPES["loops"].replace("S2MM, 0", "S2MM, @d"),
    )
    assert ran.only.text == ("'aie.dma_start' op starts @d, which has no channel yet; run --aie-objectfifo-allocate")


REGIONS = """
%hb = aie.buffer(%t02) {sym_name = "hb"} : memref<4xi32>
%hl = aie.lock(%t02) {sym_name = "hl", init = 1 : i32}
%m = aie.mem(%t02) {
  %s = aie.dma(S2MM, 0) [{
    aie.use_lock(%hl, AcquireGreaterEqual, 1)
    aie.dma_bd(%hb : memref<4xi32>, 0, 4)
    aie.use_lock(%hl, Release, 1)
  }]
  aie.end
}
"""


def test_a_program_of_regions_takes_no_blocks() -> None:
    ran = refused(REGIONS, pool("p", "%t02", 1, 8), end("e", "%t02", "drains", "p"))
    assert "a program of aie.dma ops" in ran.only.text


def test_a_program_that_starts_in_circles() -> None:
    hand = """
    %m = aie.mem(%t02) {
      %s = aie.dma_start(S2MM, 0, ^bd, ^more)
    ^bd:
      aie.end
    ^more:
      %r = aie.dma_start(S2MM, 1, ^bd, ^more)
    }
    """
    ran = refused(hand, pool("p", "%t02", 1, 8), end("e", "%t02", "drains", "p"))
    assert "does not end in aie.end" in ran.only.text
