"""Links that cut windows out of the whole stream: the pool that holds it, and the walks that are refused."""

from __future__ import annotations

import itertools

import pytest
from aiekit import Said, complaint
from passkit import Ran
from splitkit import core, design, fifo_names, invalid, short, split, split_loudly

from aiecc.ir.dialects.aie.pools import ObjectFifoPoolOp, Stream
from aiecc.ir.dialects.aie.windows import Window
from aiecc.ir.passes.fifo_split import ObjectFifoSplit
from aiecc.ir.verify import verify


def windows(
    dims: str = "4/8 3/8 8/1",
    pads: str = "1/1 0/0 0/0",
    *,
    out: int = 24,
    size: int = 8,
    point: str = "m0",
    more: str = "",
    source: str = "",
    type: str = "i32",
) -> str:
    """Rows of `size` elements, windows of `out`; the three rows of the specification's example by default."""

    def pairs(text: str, form: str) -> str:
        return ", ".join(form.format(*part.split("/")) for part in text.split())

    layout = pairs(dims, "<size = {}, stride = {}>")
    padding = pairs(pads, "<const_pad_before = {}, const_pad_after = {}>")
    keys = [f"padDimensions = #aie<bd_pad_layout_array[{padding}]>"] if pads else []
    keys += [more] if more else []
    return (
        f"aie.objectfifo @rows(%s0, {{%{point}{source}}}, 2 : i32) : !aie.objectfifo<memref<{size}x{type}>>\n"
        f"aie.objectfifo @windows(%{point} dimensionsToStream [{layout}], {{%c03}}, 2 : i32) {{{', '.join(keys)}}} : "
        f"!aie.objectfifo<memref<{out}x{type}>>\n"
        "aie.objectfifo.link [@rows] -> [@windows] ([] [])\n"
    )


def test_the_example() -> None:
    ran = split(windows() + core("c03", "Consume windows 1", "-Consume windows 1", type="memref<24xi32>"))
    assert short(ran) == [
        "pool rows_cons_pool (0,1) 1 x memref<48xi32> s0=0+48 initValues=[dense<0>:tensor<48xi32>]"
        " stream=array<i64:8,4,1>",
        "end rows_prod_dma (0,0) DMA",
        "dma rows_cons_dma (0,1) fills rows_cons_pool",
        "route rows_prod_dma -> rows_cons_dma",
        # The whole walk, and none of the padding: the zero rows are stored.
        "dma windows_prod_dma (0,1) drains rows_cons_pool dims=4/8,3/8,8/1",
        "pool windows_cons_pool (0,3) 2 x memref<24xi32> s0=0+24",
        "core windows_cons (0,3) drains windows_cons_pool",
        "dma windows_cons_dma (0,3) fills windows_cons_pool",
        "route windows_prod_dma -> windows_cons_dma",
    ]


@pytest.mark.parametrize(
    ("dims", "pads", "out", "stream", "elements"),
    [
        ("4/8 3/8 8/1", "", 24, Stream(8, 6, 0), 48),
        ("4/8 3/8 8/1", "2/1 0/0 0/0", 24, Stream(8, 3, 2), 48),
        ("3/16 3/8 8/1", "", 24, Stream(8, 7, 0), 56),  # every other row begins a window
        ("3/24 2/8 8/1", "", 16, Stream(8, 8, 0), 64),  # a row between two windows is read by none
        ("4/8 2/1 3/8 4/2", "0/1 0/0 0/0 0/0", 24, Stream(8, 5, 0), 48),  # the rows need not come first
        ("5/8 4/2", "", 4, Stream(8, 5, 0), 40),  # a part of each row
        ("24/8 3/8 8/1", "", 24, Stream(8, 26, 0), 208),
        ("5/0 2/8 8/1", "", 16, Stream(8, 2, 0), 16),
    ],
)
def test_what_the_walk_implies(dims: str, pads: str, out: int, stream: Stream, elements: int) -> None:
    body = windows(dims, pads, out=out)
    ran = Ran(design(body), ObjectFifoSplit())
    assert verify(ran.module) == []
    pool = next(ran.ops(ObjectFifoPoolOp))
    if dims == "5/0 2/8 8/1":
        # Five times the same two rows: the reach stays in one output object, which is an ordinary link.
        assert pool.stream is None
        assert ran.said == ["`dimensionsToStream` names 80 elements, but its DMA moves 16 at a time"]
        return
    assert ran.said == []
    assert (pool.stream, pool.depth, pool.elem_type.get_shape()) == (stream, 1, (elements,))
    assert (pool.init_values is not None) == bool(pads)


@pytest.mark.parametrize("type", ["i8", "i16", "bf16", "f32"])
def test_zeros_of_any_type(type: str) -> None:
    ran = split(windows(type=type))
    again = Ran(ran.text)
    assert again.text == ran.text
    assert verify(again.module) == []


def test_a_bounded_input_moves_a_stream_at_each_pass() -> None:
    """A pass of the receiver is a stream of four objects; one of the sender is what its own pool holds."""
    body = windows().replace("%s0, {%m0}, 2 : i32)", "%c02, {%m0}, 2 : i32) {iter_count = 3 : i32}")
    text = (
        "`iter_count` lets each end make its passes over a pool of its own: @rows_prod_dma stops after 48 elements and "
        "@rows_cons_dma after 96, so one of them waits forever"
    )
    assert split_loudly(body).said == [text]
    split(body.replace("%c02, {%m0}, 2 : i32)", "%c02, {%m0}, 4 : i32)"))


def test_the_stream_is_printed_and_read() -> None:
    ran = split(windows())
    assert ran.lines("stream = array<i64: 8, 4, 1>") != []
    assert next(Ran(ran.text).ops(ObjectFifoPoolOp)).stream == Stream(8, 4, 1)


def test_a_second_run_changes_nothing() -> None:
    assert split(windows()).text == split(windows(), times=2).text


def test_the_pool_is_named_by_the_consumer() -> None:
    """Also where the output's objects, being larger, would own an ordinary link."""
    body = windows(pads="").replace("{%m0}, 2 : i32", "{%c02, %m0}, 2 : i32")
    ran = split(body)
    assert short(ran)[0] == "pool rows_1_cons_pool (0,1) 1 x memref<48xi32> s0=0+48 stream=array<i64:8,6,0>"
    assert fifo_names(ran)["rows_1_cons_pool"] == "rows"


def test_an_output_without_data_is_found_by_looking_at_every_row() -> None:
    for outputs, advance, span, before, after in itertools.product(
        range(1, 5), range(4), range(1, 4), range(4), range(4)
    ):
        window = Window(8, outputs, advance, span, before, after)
        real = range(before, before + window.objects)
        idle = [j for j in range(outputs) if not any(row in real for row in range(j * advance, j * advance + span))]
        assert window.reads_nothing() == next(iter(idle), None)


# --- refused ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            windows("4/12 3/8 8/1", ""),
            "window stride 12 is not a whole number of input objects of 8 elements: the outer dimension steps from "
            "output to output",
        ),
        (
            windows("4/8 3/8 4/1"),
            "window dimensions move 12 elements for each output, but its object has 24",
        ),
        (
            windows("4/8 3/8 2/8 4/1", "1/1 0/0 0/0 0/0"),
            "only one inner window dimension may step by exactly one input object",
        ),
        (
            windows("4/8 3/16 8/1"),
            "window dimensions leave an input object of 8 elements other than by stepping to the next one",
        ),
        (windows(pads="1/1 0/0 0/1"), "only the outer window dimension may be padded"),
        (windows(pads="1/1"), "window dimensions and padDimensions have different ranks"),
        (windows(pads="3/0 0/0 0/0"), "window 0 of 4 reads no data, only zero objects"),
        (windows(pads="0/3 0/0 0/0"), "window 3 of 4 reads no data, only zero objects"),
        (
            windows(point="c02"),
            "cuts windows out of the whole stream, which only a MemTile link point can",
        ),
        (
            windows(more="repeat_count = 1 : i32"),
            "cuts windows out of the whole stream, so 'windows' takes neither a `repeat_count` nor an `iter_count`",
        ),
        (
            windows(more="iter_count = 2 : i32"),
            "cuts windows out of the whole stream, so 'windows' takes neither a `repeat_count` nor an `iter_count`",
        ),
        (
            windows(out=24).replace(
                "memref<24xi32>>", "memref<24xi32>> = [dense<0> : memref<24xi32>, dense<0> : memref<24xi32>]"
            ),
            "cuts windows out of the whole stream, so 'windows' takes no initial values",
        ),
        (
            windows(more="padValue = 3 : i32"),
            "a window's padding is stored as zero objects, so it takes no `padValue`",
        ),
        (
            windows(source=" dimensionsFromStream [<size = 8, stride = 1>]"),
            "a window keeps its stream as it arrives, so 'rows' takes no `dimensionsFromStream`",
        ),
        (
            windows("22/24 1/8 8/1", "", out=8),
            "a window's stream holds at most 63 objects, which is what its lock counts to, but this one holds 64",
        ),
        (
            windows("25/8 3/8 8/1", ""),
            "a window yields at most 24 outputs, a descriptor of one MemTile channel each, but this one yields 25",
        ),
    ],
)  # fmt: skip
def test_refused(body: str, text: str) -> None:
    assert invalid(body) == (3, f"'aie.objectfifo.link' op {text}")


def test_sixty_three_objects_are_not_too_many() -> None:
    assert split(windows("21/24 3/8 8/1", "")).lines("stream = array<i64: 8, 63, 0>") != []


# --- the pool ---------------------------------------------------------------------------------------------------------

POOL = """\
aie.objectfifo.pool @p(%m) {{depth = {depth} : i32, stream = array<i64: {stream}>{more}}} : memref<48xi32> {{
  aie.objectfifo.segment @s0 {{offset = 0 : i32, size = {cut} : i32}}{rest}
}}"""


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"depth": "2"}, "a pool over a whole stream has a depth of 1 and one segment"),
        (
            {"cut": "24", "rest": "\n  aie.objectfifo.segment @s1 {offset = 24 : i32, size = 24 : i32}"},
            "a pool over a whole stream has a depth of 1 and one segment",
        ),
        ({"more": ", repeatCount = 2 : i32"}, "a pool over a whole stream cannot repeat its objects"),
        (
            {"stream": "8, 4"},
            "stream expects an object size, a number of objects and a number of zero objects ahead",
        ),
        ({"stream": "8, 0, 1"}, "a stream of 0 objects is out of what one lock counts, 1 to 63"),
        ({"stream": "1, 64, 1"}, "a stream of 64 objects is out of what one lock counts, 1 to 63"),
        ({"stream": "7, 4, 1"}, "stream objects of 7 elements do not divide the pool's 48"),
        ({"stream": "0, 4, 1"}, "stream objects of 0 elements do not divide the pool's 48"),
        (
            {"stream": "8, 4, 3"},
            "stream has 3 zero objects and 4 objects, but the pool has room for 6",
        ),
        (
            {"stream": "8, 4, -1"},
            "stream has -1 zero objects and 4 objects, but the pool has room for 6",
        ),
    ],
)  # fmt: skip
def test_a_pool_that_holds_no_such_stream(change: dict[str, str], text: str) -> None:
    parts = {"depth": "1", "stream": "8, 4, 1", "more": "", "cut": "48", "rest": "", **change}
    assert complaint(POOL.format(**parts)) == Said(1, f"'aie.objectfifo.pool' op {text}")
