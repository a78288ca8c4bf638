"""What a fifo asks for and cannot have is told, never dropped: refused where data would differ, else warned of."""

from __future__ import annotations

import pytest
from splitkit import core, refused, short, split, split_loudly, spoken

from aiecc.base.diag import Level

TYPE = "!aie.objectfifo<memref<8xi32>>"
PAD = "padDimensions = #aie<bd_pad_layout_array[<const_pad_before = 1, const_pad_after = 0>]>"
DIMS = "[<size = 2, stride = 1>, <size = 4, stride = 2>]"
INIT = " = [dense<1> : memref<8xi32>, dense<2> : memref<8xi32>]"


def fifo(name: str, ends: str, more: str = "", after: str = "") -> str:
    return f"aie.objectfifo @{name}({ends}, 2 : i32) {{{more}}} : {TYPE}{after}\n"


def link(ins: str, outs: str, offsets: str = "([] [])", mode: str = "") -> str:
    return f"aie.objectfifo.link [{ins}] -> [{outs}] {offsets} {{{mode}}}\n"


TIME = "mode = #aie.link_mode<time>"

# --- ends that share memory -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (PAD, "`padDimensions` have"),
        ("iter_count = 2 : i32", "`iter_count` has"),
        ("prod_port = #aie.end_port<DMA : 1>", "a pinned DMA channel has"),
        ("cons_ports = [#aie.end_port<DMA : 0>]", "a pinned DMA channel has"),
    ],
)
def test_what_dmas_would_do_where_there_are_none(more: str, what: str) -> None:
    ran = split_loudly(fifo("f", "%c02, {%c03}", more))
    assert spoken(ran) == [(1, f"{what} no effect: the ends of this fifo share memory, so nothing travels")]
    assert ran.only.level is Level.WARNING and "#aie.transport<dma>" in ran.only.todo
    far = "%c02, {%c33}" if more != PAD else "%m0 dimensionsToStream [<size = 8, stride = 1>], {%c33}"
    assert split(fifo("f", far, more)).said == []


def test_an_allocate_where_there_are_dmas() -> None:
    body = fifo("f", f"%c02, {{%c03 dimensionsFromStream {DIMS}}}") + "aie.objectfifo.allocate @f (%c02)\n"
    ran = split_loudly(body)
    text = (
        "this has no effect: objectFifo 'f' needs DMAs, because a consumer reshapes the data (`dimensionsFromStream`)"
    )
    assert spoken(ran) == [(2, text)]
    assert ran.only.level is Level.WARNING
    plain = fifo("f", "%c02, {%c03}") + "aie.objectfifo.allocate @f (%c02)\n"
    assert split(plain).said == []


# --- links ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ends", "how"),
    [("([] [0, 4])", ""), ("([] [])", TIME)],
)
def test_initial_values_behind_a_link_that_holds_its_input(ends: str, how: str) -> None:
    type = TYPE if how else "!aie.objectfifo<memref<4xi32>>"
    init = INIT if how else INIT.replace("8x", "4x")
    body = (
        fifo("in", "%s0, {%m0}")
        + fifo("p", "%m0, {%c02}", after=init).replace(TYPE, type)
        + fifo("q", "%m0, {%c03}").replace(TYPE, type)
        + link("@in", "@p, @q", ends, how)
    )
    text = "'aie.objectfifo' op `init_values` have no place: the objects at the link are those of 'in'"
    assert refused(body) == [(2, text)]
    assert split(body.replace(init, "")).said == []


def test_initial_values_of_a_fifo_that_works_on_the_pool_of_a_link() -> None:
    """The link's pool is right beside the core, which so needs no pool of its own that could start full."""
    body = (
        fifo("in", "%c02, {%c03}", after=INIT)
        + fifo("out", "%c03, {%c33}")
        + "aie.objectfifo.allocate @in (%c03)\n"
        + link("@in", "@out")
        + core("c02", "Produce in 1", "-Produce in 1")
    )
    text = "'aie.objectfifo' op `init_values` have no place: its ends work on the link's pool @in_cons_pool"
    assert refused(body) == [(1, text)]
    assert short(split(body.replace(INIT, "")))[0].startswith("pool in_cons_pool")


@pytest.mark.parametrize(("ends", "more", "what"), [
    (f"%m0 dimensionsToStream {DIMS}, {{%c03}}", "", "`dimensionsToStream`"),
    ("%m0, {%c03}", PAD, "`padDimensions`"),
])  # fmt: skip
def test_a_dispatch_shapes_nothing(ends: str, more: str, what: str) -> None:
    body = (
        fifo("in", "%s0, {%m0}") + fifo("p", "%m0, {%c02}") + fifo("q", ends, more) + link("@in", "@p, @q", mode=TIME)
    )
    text = f"'aie.objectfifo' op {what} has no place: the link takes turns with whole objects, as they are"
    assert refused(body) == [(3, text)]


def test_a_merge_shapes_nothing() -> None:
    ins = fifo("p", f"%c02, {{%m0 dimensionsFromStream {DIMS}}}") + fifo("q", "%c03, {%m0}")
    body = ins + fifo("out", "%m0, {%s0}") + link("@p, @q", "@out", mode=TIME)
    text = (
        "'aie.objectfifo' op `dimensionsFromStream` has no place: the link takes turns with whole objects, as they are"
    )
    assert refused(body) == [(1, text)]
    # At other ends of its fifos everything has its place.
    ins = fifo("p", f"%c02 dimensionsToStream {DIMS}, {{%m0}}") + fifo("q", "%c03, {%m0}")
    assert (
        split(ins + fifo("out", f"%m0 dimensionsToStream {DIMS}, {{%s0}}") + link("@p, @q", "@out", mode=TIME)).said
        == []
    )


def pinned(n: int) -> str:
    return f"prod_port = #aie.end_port<DMA : {n}>"


def test_any_turn_of_a_dispatch_may_pin_the_channel() -> None:
    body = fifo("in", "%s0, {%m0}") + fifo("p", "%m0, {%c02}") + fifo("q", "%m0, {%c03}", pinned(3))
    [end] = [line for line in short(split(body + link("@in", "@p, @q", mode=TIME))) if "in_dispatch_dma (" in line]
    assert "channelIndex=3" in end


def test_any_input_of_a_merge_may_pin_the_channel() -> None:
    port = "cons_ports = [#aie.end_port<DMA : 4>]"
    body = fifo("p", "%c02, {%m0}") + fifo("q", "%c03, {%m0}", port) + fifo("out", "%m0, {%s0}")
    [end] = [line for line in short(split(body + link("@p, @q", "@out", mode=TIME))) if "out_merge_dma (" in line]
    assert "channelIndex=4" in end


def test_but_not_different_ones() -> None:
    body = fifo("in", "%s0, {%m0}") + fifo("p", "%m0, {%c02}", pinned(2)) + fifo("q", "%m0, {%c03}", pinned(3))
    text = "'aie.objectfifo.link' op takes turns on one channel, but its fifos pin different ones"
    assert refused(body + link("@in", "@p, @q", mode=TIME)) == [(4, text)]
    assert split(body.replace("DMA : 2", "DMA : 3") + link("@in", "@p, @q", mode=TIME)).said == []


@pytest.mark.parametrize("side", ["in", "out"])
def test_a_stream_port_at_the_point_of_a_link(side: str) -> None:
    port = {"in": "cons_ports = [#aie.end_port<Core : 0>]", "out": "prod_port = #aie.end_port<Core : 0>"}
    body = (
        fifo("in", "%s0, {%c02}", port["in"] if side == "in" else "")
        + fifo("out", "%c02, {%c33}", port["out"] if side == "out" else "")
        + link("@in", "@out")
    )
    text = f"'aie.objectfifo.link' op moves objects by DMA, so '{side}' cannot use a Core stream port there"
    assert refused(body) == [(3, text)]


# --- buffers outside --------------------------------------------------------------------------------------------------


def test_buffers_on_a_tile_where_the_fifo_does_not_end() -> None:
    body = (
        '%x = aie.external_buffer {sym_name = "x"} : memref<64xi32>\n'
        + fifo("f", "%s0, {%c02}")
        + "aie.objectfifo.register_external_buffers @f (%s1, {%x}) : (memref<64xi32>)\n"
    )
    name = "'aie.objectfifo.register_external_buffers' op"
    assert refused(body) == [(3, f"{name} registers buffers on a tile where 'f' does not end")]
