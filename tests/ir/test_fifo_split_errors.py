"""What split refuses or warns of, each at the user's line, each once."""

from __future__ import annotations

import math

import pytest
from passkit import Ran
from splitkit import TILES, core, design, invalid, refused, short, split, split_loudly, spoken

from aiecc.base.diag import Level
from aiecc.ir.passes.fifo_split import ObjectFifoSplit
from aiecc.ir.verify import verify

HUGE = (1 << 63) - 1
TYPE = "!aie.objectfifo<memref<8xi32>>"


def fifo(ends: str = "%c02, {%c33}", depth: str = "2 : i32", more: str = "", type: str = TYPE) -> str:
    return f"aie.objectfifo @f({ends}, {depth}) {{{more}}} : {type}\n"


OLDER = "%c02 = aie.tile(0, 2)\n%c33 = aie.tile(6, 6)\n"


def link_of(
    total: int, sizes: tuple[int, int], layout: str = "", offsets: tuple[int, int] | None = None, joins: bool = True
) -> str:
    """A join of two fifos, or a distribute to them; the third fifo has the whole objects, and the layout."""
    first, second = offsets or (0, sizes[0])
    ends = [("%c02", "%m0"), ("%c33", "%m0"), ("%m0", "%s0")]
    names, at = ("[@a, @b] -> [@all]", f"([{first}, {second}] [])") if joins else (
        "[@all] -> [@a, @b]", f"([] [{first}, {second}])"
    )  # fmt: skip
    lines: list[str] = []
    for name, (source, dest), size in zip(("a", "b", "all"), ends, (*sizes, total), strict=True):
        source, dest = (source, dest) if joins else (dest, source)
        out = layout if name == "all" else ""
        lines.append(
            f"aie.objectfifo @{name}({source} {out}, {{{dest}}}, 2 : i32) : !aie.objectfifo<memref<{size}xi32>>"
        )
    return "\n".join([*lines, f"aie.objectfifo.link {names} {at}"])


# --- shared memory that cannot be had ---------------------------------------------------------------------------------

SHARED = "transport = #aie.transport<shared_mem>"
NEAR = "%c02, {%c03}"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (fifo(NEAR, more=f"{SHARED}, repeat_count = 1 : i32"), "it repeats objects (`repeat_count`)"),
        (
            fifo(NEAR, more=SHARED, type=f"{TYPE} -> !aie.objectfifo<memref<4xi32>>"),
            "its consumer takes a different element type",
        ),
        (fifo("%c02, {%c03, %c12}", more=SHARED), "it has more than one consumer"),
        (
            fifo("%c02 dimensionsToStream [<size = 8, stride = 1>], {%c03}", more=SHARED),
            "its producer reshapes the data (`dimensionsToStream`)",
        ),
        (fifo(more=SHARED), "its ends share no memory module"),
        (fifo("%m0, {%m1}", more=SHARED), "its ends share no memory module"),
        (fifo("%s0, {%c02}", more=SHARED), "its ends share no memory module"),
        (
            fifo("%c02, {%c03 dimensionsFromStream [<size = 8, stride = 1>]}", more=SHARED),
            "a consumer reshapes the data (`dimensionsFromStream`)",
        ),
        (
            fifo(NEAR, more=SHARED)
            + f"aie.objectfifo @in(%s0, {{%c02}}, 2 : i32) : {TYPE}\naie.objectfifo.link [@in] -> [@f] ([] [])",
            "it is linked through a tile's DMAs",
        ),
    ],
)
def test_shared_memory_cannot_be_had(body: str, reason: str) -> None:
    text = f"'aie.objectfifo' op asks for a shared_mem transport, but {reason}"
    assert refused(body) == [(1, text)]


@pytest.mark.parametrize(
    "more",
    [
        "",
        SHARED,
        "iter_count = 2 : i32",
        "disable_synchronization = true",
        "plio = true",
        "prod_port = #aie.end_port<DMA : 1>",
        "transport = #aie.transport<auto>",
    ],
)
def test_what_does_not_force_dmas(more: str) -> None:
    assert [line.split()[1] for line in short(split_loudly(fifo(NEAR, more=more)))] == ["f_pool"]


@pytest.mark.parametrize(
    "more", ["transport = #aie.transport<dma>", "repeat_count = 1 : i32", "prod_port = #aie.end_port<Core : 0>"]
)
def test_what_does(more: str) -> None:
    assert short(split(fifo(NEAR, more=more)))[-1] == "route f_prod_dma -> f_cons_dma"


def test_the_first_reason_is_told() -> None:
    body = fifo("%c02, {%c33, %m0}", more=f"{SHARED}, repeat_count = 2 : i32")
    assert refused(body)[0][1].endswith("but it repeats objects (`repeat_count`)")


# --- headers and bounds that come to nothing --------------------------------------------------------------------------


def test_a_header_in_shared_memory() -> None:
    """Nothing travels, so nobody would ever see the header."""
    ran = split_loudly(fifo(NEAR, more="transport = #aie.transport<auto, packet = #aie.packet_info<pkt_id = 4>>"))
    text = "the packet header of this fifo has no effect: its ends share memory, so nothing travels"
    assert spoken(ran) == [(1, text)]
    assert ran.only.level is Level.WARNING and "#aie.transport<dma" in ran.only.todo
    assert short(ran) == ["pool f_pool (0,2) 2 x memref<8xi32> s0=0+8"]


def test_bounded_ends_over_pools_of_different_depths() -> None:
    """Three passes over two objects send six, three passes over four would take twelve."""
    ran = split_loudly(fifo(depth="[2, 4]", more="iter_count = 3 : i32"))
    text = (
        "`iter_count` lets each end make its passes over a pool of its own: @f_prod_dma stops after 48 elements and "
        "@f_cons_dma after 96, so one of them waits forever"
    )
    assert spoken(ran) == [(1, text)]
    assert ran.only.level is Level.WARNING


@pytest.mark.parametrize(
    "body",
    [
        fifo(depth="[2, 2]", more="iter_count = 3 : i32"),
        fifo(depth="[2, 2]", more="iter_count = 3 : i32, repeat_count = 2 : i32"),
        fifo(depth="[2, 4]"),
        fifo("%s0, {%c33}", depth="[2, 4]", more="iter_count = 3 : i32"),  # the host knows what it sends
        # Half as many objects, each twice the size.
        fifo(depth="[2, 4]", more="iter_count = 3 : i32", type=f"{TYPE} -> !aie.objectfifo<memref<4xi32>>"),
    ],
)
def test_bounded_ends_that_finish_together(body: str) -> None:
    split(body)


def test_more_passes_than_a_channel_counts() -> None:
    text = (
        "'aie.objectfifo' op `iter_count` 200 times `repeat_count` 2 makes 400 passes at the receiving end, whose DMA "
        "counts at most 256"
    )
    assert refused(fifo(more="iter_count = 200 : i32, repeat_count = 2 : i32")) == [(1, text)]
    assert split(fifo(more="iter_count = 128 : i32, repeat_count = 2 : i32")).lines("iterCount = 256") != []


@pytest.mark.parametrize("more", ["iter_count = 2 : i32", "iter_count = 1 : i32, repeat_count = 2 : i32"])
def test_passes_where_no_channel_counts(more: str) -> None:
    text = f"'aie.objectfifo' op `iter_count` {more[13]} cannot be had: a DMA of this device runs once or for ever"
    assert refused(fifo(more=more), "xcvc1902", tiles=OLDER) == [(1, text)]


def test_one_pass_needs_no_count() -> None:
    assert split(fifo(more="iter_count = 1 : i32"), "xcvc1902", tiles=OLDER).lines("iterCount = 1") != []


# --- amounts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", ["4/1", "2/1 2/2", "0/1", "2/1 4/1 2/2"])
def test_a_layout_that_names_another_amount(sizes: str) -> None:
    """The descriptor's length is the object, whatever its dimensions come to."""
    dims = [pair.split("/") for pair in sizes.split()]
    layout = f"[{', '.join(f'<size = {size}, stride = {stride}>' for size, stride in dims)}]"
    named = math.prod(int(size) for size, _ in dims)
    for ends, key in (
        (f"%c02 dimensionsToStream {layout}, {{%c33}}", "dimensionsToStream"),
        (f"%c02, {{%c33 dimensionsFromStream {layout}}}", "dimensionsFromStream"),
    ):
        ran = split_loudly(fifo(ends))
        assert spoken(ran) == [(1, f"`{key}` names {named} elements, but its DMA moves 8 at a time")]
        assert ran.only.level is Level.WARNING and ran.only.todo == "let the product of its sizes be 8"


def test_a_layout_at_a_link_names_a_slice() -> None:
    """Right for one slice, wrong for the other. Where there is padding, the descriptor moves what it names."""
    layout = "dimensionsToStream [<size = 2, stride = 1>, <size = 2, stride = 2>]"
    ran = split_loudly(link_of(12, (4, 8), layout))
    assert spoken(ran) == [(3, "`dimensionsToStream` names 4 elements, but its DMA moves 8 at a time")]
    assert split(link_of(8, (4, 4), layout)).said == []
    pads = "padDimensions = #aie<bd_pad_layout_array[<const_pad_before = 1, const_pad_after = 0>]>"
    split(fifo("%m0 dimensionsToStream [<size = 4, stride = 2>], {%c33}", more=pads))


@pytest.mark.parametrize(
    ("total", "sizes", "offsets", "odd"),
    [
        (8, (4, 4), (0, 4), {}),
        (12, (4, 8), (0, 4), {}),
        (12, (4, 4), (0, 4), {}),  # the last slice is two objects
        (8, (4, 4), (0, 2), {0: 2, 1: 6}),
        (6, (4, 4), (0, 4), {1: 2}),
        (12, (4, 4), (0, 6), {0: 6, 1: 6}),
    ],
)
@pytest.mark.parametrize("joins", [True, False])
def test_slices_that_fit_no_object(
    total: int, sizes: tuple[int, int], offsets: tuple[int, int], odd: dict[int, int], joins: bool
) -> None:
    ran = split_loudly(link_of(total, sizes, offsets=offsets, joins=joins))
    assert spoken(ran) == [
        (
            1 + at,
            f"the offsets of its link give this fifo {size} elements of each object, which are no whole number of its "
            f"own objects of {sizes[at]}",
        )
        for at, size in odd.items()
    ]
    assert all(d.level is Level.WARNING and d.notes[0].where is not None for d in ran.sink.items)


@pytest.mark.parametrize("joins", [True, False])
@pytest.mark.parametrize("offset", [8, 9, 1 << 31, (1 << 63) - 1])
def test_an_offset_outside_of_the_objects(offset: int, joins: bool) -> None:
    text = f"'aie.objectfifo.link' op offset {offset} of 'b' is outside of the objects at the link, of 8 elements"
    assert refused(link_of(8, (4, 4), offsets=(0, offset), joins=joins)) == [(4, text)]


# --- tiles ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ends", "side"), [("%l, {%c02}", "producer"), ("%c02, {%c03, %l}", "consumer")])
def test_tiles_that_are_not_placed(ends: str, side: str) -> None:
    text = f"'aie.objectfifo' op {side} tile is not a placed aie.tile; run --aie-place-tiles before this pass"
    assert refused("%l = aie.logical_tile<CoreTile>(?, ?)\n" + fifo(ends)) == [(2, text)]


def test_a_tile_off_the_array() -> None:
    ran = Ran(design("%far = aie.tile(0, 9)\n" + fifo("%c02, {%far}")))
    assert [(d.text, d.where.line if d.where else 0) for d in verify(ran.module)] == [
        ("'aie.tile' op row index (9) must be less than the number of rows in the device (6)", TILES.count("\n") + 1)
    ]
    ObjectFifoSplit().apply(ran.device, ran.sink)  # without the verifier: no traceback either


# --- objects ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "text"),
    [
        ("memref<4x!foo.bar>", "element type '!foo.bar' has no size in memory"),
        ("memref<4xmemref<2xi32>>", "element type 'memref<2xi32>' has no size in memory"),
        (
            "memref<4xi32, strided<[2]>>",
            "objects of type 'memref<4xi32, strided<[2]>>' have a layout of their own; DMAs move them row by row",
        ),
        ("memref<4x0xi32>", "objects of type 'memref<4x0xi32>' hold no element"),
        (f"memref<{HUGE}xi8>", f"objects of type 'memref<{HUGE}xi8>' are larger than any memory they could lie in"),
        ("memref<33554433xi8>", "objects of type 'memref<33554433xi8>' are larger than any memory they could lie in"),
    ],
)
def test_objects_without_a_size(type: str, text: str) -> None:
    assert refused(fifo(type=f"!aie.objectfifo<{type}>")) == [(1, f"'aie.objectfifo' op {text}")]


@pytest.mark.parametrize("type", ["i1", "i4", "i8", "bf16", "f32", "i64", "index", "vector<16xi8>", "complex<f32>"])
def test_objects_with_a_size(type: str) -> None:
    assert len(short(split(fifo(type=f"!aie.objectfifo<memref<4x{type}>>")))) == 5


@pytest.mark.parametrize(
    ("ends", "depth"),
    [("%c02, {%c33}", "0 : i32"), ("%c02, {%c33}", "[2, 0]"), ("%c02, {%c33}", "[0, 2]"), (NEAR, "0 : i32")],
)
def test_a_depth_of_nothing(ends: str, depth: str) -> None:
    text = "'aie.objectfifo' op has a depth of 0: every end in the array holds at least one object"
    assert refused(fifo(ends, depth)) == [(1, text)]


def test_a_shim_needs_no_depth() -> None:
    assert len(short(split(fifo("%s0, {%c33}", "[0, 2]")))) == 4


# --- stream ports -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "tile", "port"),
    [
        ("prod_port = #aie.end_port<Core : 0>", "c02", "Produce"),
        ("cons_ports = [#aie.end_port<Core : 0>]", "c33", "Consume"),
    ],
)
def test_a_stream_port_hands_out_no_objects(key: str, tile: str, port: str) -> None:
    """The verifier of the access says so first; a pass that runs alone does not rely on it."""
    body = fifo(more=key) + core(tile, f"{port} f 1", f"-{port} f 1")
    ran = Ran(design(body), ObjectFifoSplit())
    assert spoken(ran) == [
        (3, "'aie.objectfifo.acquire' op cannot acquire from objectfifo stream port"),
        (4, "'aie.objectfifo.release' op cannot release from objectfifo stream port"),
    ]


# --- links that make no sense -----------------------------------------------------------------------------------------


def test_a_fifo_linked_with_itself() -> None:
    body = fifo("%m0, {%m0}") + "aie.objectfifo.link [@f] -> [@f] ([] [])"
    text = "'aie.objectfifo.link' op names '@f' twice; what a link takes on comes from another fifo"
    assert invalid(body) == (2, text)


def test_links_in_a_circle() -> None:
    body = (
        fifo("%m0, {%m1}")
        + f"aie.objectfifo @g(%m1, {{%m0}}, 2 : i32) : {TYPE}\n"
        + "aie.objectfifo.link [@f] -> [@g] ([] [])\naie.objectfifo.link [@g] -> [@f] ([] [])"
    )
    assert invalid(body) == (2, "'aie.objectfifo' op objectfifo cannot be in more than one ObjectFifoLinkOp")


def test_inputs_of_a_merge_all_come_to_the_link_point() -> None:
    fifos = (
        fifo("%c02, {%m0}")
        + f"aie.objectfifo @g(%c03, {{%m1}}, 2 : i32) : {TYPE}\naie.objectfifo @out(%m0, {{%s0}}, 2 : i32) : {TYPE}\n"
    )
    body = fifos + "aie.objectfifo.link [@f, @g] -> [@out] ([] []) {mode = #aie.link_mode<time>}"
    text = "ObjectFifoLinkOp must have a link point, i.e., a shared tile between objectFifos"
    assert invalid(body) == (4, text)
    body = body.replace("{%m1}", "{%m0, %c12}")
    text = "'aie.objectfifo.link' op each input of a merge has one consumer, but 'g' has 2"
    assert invalid(body) == (4, text)
