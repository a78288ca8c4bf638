"""Links: one pool where the fifos meet, in segments or in turns."""

from __future__ import annotations

import pytest
from passkit import Ran
from splitkit import accesses, core, fifo_names, lines_of, refused, short, split, split_loudly

from aiecc.ir.dialects.aie.pools import DmaEndpointOp, ObjectFifoPoolOp


def fifo(name: str, ends: str, size: int = 8, depth: str = "2 : i32", more: str = "") -> str:
    producer, consumers = ends.split(" -> ")
    listed = ", ".join(f"%{c}" for c in consumers.split())
    return (
        f"aie.objectfifo @{name}(%{producer}, {{{listed}}}, {depth}) {{{more}}} : !aie.objectfifo<memref<{size}xi32>>\n"
    )


def link(ins: str, outs: str, src: str = "", dst: str = "", mode: str = "") -> str:
    def names(text: str) -> str:
        return ", ".join(f"@{n}" for n in text.split())

    timed = " {mode = #aie.link_mode<time>}" if mode else ""
    return f"aie.objectfifo.link [{names(ins)}] -> [{names(outs)}] ([{src}] [{dst}]){timed}\n"


def pools(ran: Ran) -> list[str]:
    return [line for line in short(ran) if line.startswith("pool")]


# --- one to one -------------------------------------------------------------------------------------------------------


def test_passing_through_a_memory_tile() -> None:
    body = fifo("a", "s0 -> m0") + fifo("b", "m0 -> c02") + link("a", "b") + core("c02", "Consume b 1", "-Consume b 1")
    ran = split(body)
    assert short(ran) == [
        "pool a_cons_pool (0,1) 2 x memref<8xi32> s0=0+8",
        "end a_prod_dma (0,0) DMA",
        "dma a_cons_dma (0,1) fills a_cons_pool",
        "route a_prod_dma -> a_cons_dma",
        "dma b_prod_dma (0,1) drains a_cons_pool",
        "pool b_cons_pool (0,2) 2 x memref<8xi32> s0=0+8",
        "core b_cons (0,2) drains b_cons_pool",
        "dma b_cons_dma (0,2) fills b_cons_pool",
        "route b_prod_dma -> b_cons_dma",
    ]
    names = fifo_names(ran)
    assert names["a_cons_pool"] == "a" and names["b_prod_dma"] == "b"
    assert "aie.objectfifo.link" not in ran.text
    # The pool is the link's, everything else its fifo's.
    assert dict(lines_of(ran)) == {
        "pool a_cons_pool": 3,
        "end a_prod_dma": 1,
        "dma a_cons_dma": 1,
        "route a_prod_dma": 1,
        "dma b_prod_dma": 2,
        "pool b_cons_pool": 2,
        "core b_cons": 2,
        "dma b_cons_dma": 2,
        "route b_prod_dma": 2,
    }


@pytest.mark.parametrize(
    ("sizes", "more", "owner"),
    [
        ((8, 8), "", "a_cons_pool (0,1) 3 x memref<8xi32>"),
        ((16, 8), "", "a_cons_pool (0,1) 3 x memref<16xi32>"),
        ((8, 16), "", "b_pool (0,1) 2 x memref<16xi32>"),  # several inputs make one output
        ((8, 8), " = [dense<0> : memref<8xi32>, dense<1> : memref<8xi32>]", "b_pool (0,1) 2 x memref<8xi32>"),
    ],
)
def test_whose_objects_the_pool_holds(sizes: tuple[int, int], more: str, owner: str) -> None:
    out = fifo("b", "m0 -> c02", sizes[1]).rstrip() + more + "\n"
    found = pools(split(fifo("a", "s0 -> m0", sizes[0], "3 : i32") + out + link("a", "b")))
    assert found[0].startswith(f"pool {owner} s0=0+")
    assert ("initValues" in found[0]) == bool(more)
    assert found[1].startswith("pool b_cons_pool (0,2) 2 x")


def test_padding_is_added_on_the_way_out() -> None:
    """The output's object is larger by its padding only, so the pool holds what arrives."""
    body = fifo("in", "s0 -> m0", 12) + (
        "aie.objectfifo @out(%m0 dimensionsToStream [<size = 3, stride = 4>, <size = 4, stride = 1>], {%c02}, 2 : i32)"
        "{padDimensions = #aie<bd_pad_layout_array[<const_pad_before = 1, const_pad_after = 0>, "
        "<const_pad_before = 2, const_pad_after = 2>]>} : !aie.objectfifo<memref<32xi32>>\n"
    )
    lines = short(split(body + link("in", "out")))
    assert lines[0] == "pool in_cons_pool (0,1) 2 x memref<12xi32> s0=0+12"
    assert "dma out_prod_dma (0,1) drains in_cons_pool dims=3/4,4/1 pads=1/0,2/2" in lines
    assert "pool out_cons_pool (0,2) 2 x memref<32xi32> s0=0+32" in lines


def test_each_end_has_its_own_layout() -> None:
    body = fifo("wide", "s0 -> m0", 160) + (
        "aie.objectfifo @narrow(%m0 dimensionsToStream [<size = 4, stride = 40>, <size = 8, stride = 5>, "
        "<size = 5, stride = 1>], {%c02}, 2 : i32) : !aie.objectfifo<memref<40xi32>>\n"
    )
    lines = short(split(body + link("wide", "narrow")))
    assert lines[0] == "pool wide_cons_pool (0,1) 2 x memref<160xi32> s0=0+160"
    assert "dma narrow_prod_dma (0,1) drains wide_cons_pool dims=4/40,8/5,5/1" in lines
    assert "pool narrow_cons_pool (0,2) 2 x memref<40xi32> s0=0+40" in lines


def test_gathering_small_objects_is_no_window() -> None:
    """The layout stays inside the larger output object that the pool holds."""
    body = fifo("a", "s0 -> m0", 16) + (
        "aie.objectfifo @b(%m0 dimensionsToStream [<size = 3, stride = 16>, <size = 16, stride = 1>], {%c02}, 2 : i32)"
        " : !aie.objectfifo<memref<48xi32>>\n"
    )
    assert pools(split(body + link("a", "b")))[0] == "pool b_pool (0,1) 2 x memref<48xi32> s0=0+48"


def test_the_pool_of_a_broadcast_input_is_named_by_the_consumer() -> None:
    body = fifo("a", "s0 -> c02 m0", 8, "[1, 2, 5]") + fifo("b", "m0 -> c03", 8) + link("a", "b")
    assert pools(split(body)) == [
        "pool a_1_cons_pool (0,1) 5 x memref<8xi32> s0=0+8",
        "pool a_0_cons_pool (0,2) 2 x memref<8xi32> s0=0+8",
        "pool b_cons_pool (0,3) 2 x memref<8xi32> s0=0+8",
    ]


def test_repeats_are_the_outputs_business() -> None:
    body = (
        fifo("a", "c03 -> m0", more="repeat_count = 2 : i32")
        + fifo("b", "m0 -> c02", more="repeat_count = 3 : i32, disable_synchronization = true")
        + link("a", "b")
    )
    assert pools(split(body)) == [
        "pool a_cons_pool (0,1) 2 x memref<8xi32> s0=0+8 repeatCount=3",
        "pool a_pool (0,3) 2 x memref<8xi32> s0=0+8 repeatCount=2",
        "pool b_cons_pool (0,2) 2 x memref<8xi32> s0=0+8 disableSynchronization=true",
    ]


def test_a_bound_is_of_one_fifo() -> None:
    body = fifo("a", "s0 -> m0") + fifo("b", "m0 -> c02", more="iter_count = 4 : i32") + link("a", "b")
    assert [line for line in short(split(body)) if line.startswith("dma")] == [
        "dma a_cons_dma (0,1) fills a_cons_pool",
        "dma b_prod_dma (0,1) drains a_cons_pool iterCount=4",
        "dma b_cons_dma (0,2) fills b_cons_pool iterCount=4",
    ]


def test_a_link_on_a_core_tile_leaves_the_core_its_other_fifos() -> None:
    body = (
        fifo("a", "s0 -> c02")
        + fifo("b", "c02 -> c04")
        + fifo("own", "c02 -> c12")
        + link("a", "b")
        + core("c02", "Produce own 1", "-Produce own 1")
    )
    ran = split(body)
    assert "dma b_prod_dma (0,2) drains a_cons_pool" in short(ran)
    assert accesses(ran) == ["+1 own_prod", "-1 own_prod"]


def test_a_delegate_lets_a_linked_fifo_do_without_dmas() -> None:
    body = (
        fifo("a", "s0 -> c02")
        + fifo("b", "c02 -> c03")
        + link("a", "b")
        + "aie.objectfifo.allocate @b (%c02)\n"
        + core("c03", "Consume b 1", "-Consume b 1")
    )
    assert short(split(body)) == [
        "pool a_cons_pool (0,2) 2 x memref<8xi32> s0=0+8",
        "end a_prod_dma (0,0) DMA",
        "dma a_cons_dma (0,2) fills a_cons_pool",
        "route a_prod_dma -> a_cons_dma",
        "core b_cons (0,3) drains a_cons_pool",
    ]


def test_a_linked_fifo_without_a_delegate_takes_dmas() -> None:
    body = fifo("a", "s0 -> c02") + fifo("b", "c02 -> c03") + link("a", "b")
    assert "route b_prod_dma -> b_cons_dma" in short(split(body))


# --- join and distribute ----------------------------------------------------------------------------------------------


def test_join() -> None:
    body = (
        fifo("x", "c02 -> m0", 16, "1 : i32")
        + fifo("y", "c03 -> m0", 20, "1 : i32")
        + fifo("z", "m0 -> s0", 36, "1 : i32", "iter_count = 3 : i32")
        + link("x y", "z", "0, 16")
        + core("c02", "Produce x 1", "-Produce x 1", type="memref<16xi32>")
    )
    assert short(split(body)) == [
        "pool x_pool (0,2) 1 x memref<16xi32> s0=0+16",
        "core x_prod (0,2) fills x_pool",
        "dma x_prod_dma (0,2) drains x_pool",
        "dma x_cons_dma (0,1) fills z_pool segments=[@s0]",
        "route x_prod_dma -> x_cons_dma",
        "pool y_pool (0,3) 1 x memref<20xi32> s0=0+20",
        "dma y_prod_dma (0,3) drains y_pool",
        "dma y_cons_dma (0,1) fills z_pool segments=[@s1]",
        "route y_prod_dma -> y_cons_dma",
        "pool z_pool (0,1) 1 x memref<36xi32> s0=0+16 s1=16+20",
        "dma z_prod_dma (0,1) drains z_pool segments=[@s0,@s1] iterCount=3",
        "end z_cons_dma (0,0) DMA",
        "route z_prod_dma -> z_cons_dma",
    ]


def test_distribute_with_a_repeat() -> None:
    body = (
        fifo("in", "s0 -> m0", 24)
        + fifo("a", "m0 -> c02", 8, more="repeat_count = 2 : i32")
        + fifo("b", "m0 -> c03", 16, more="repeat_count = 2 : i32")
        + link("in", "a b", "", "0, 8")
    )
    assert short(split(body)) == [
        "pool in_cons_pool (0,1) 2 x memref<24xi32> s0=0+8 s1=8+16 repeatCount=2",
        "end in_prod_dma (0,0) DMA",
        "dma in_cons_dma (0,1) fills in_cons_pool segments=[@s0,@s1]",
        "route in_prod_dma -> in_cons_dma",
        "dma a_prod_dma (0,1) drains in_cons_pool segments=[@s0]",
        "pool a_cons_pool (0,2) 2 x memref<8xi32> s0=0+8",
        "dma a_cons_dma (0,2) fills a_cons_pool",
        "route a_prod_dma -> a_cons_dma",
        "dma b_prod_dma (0,1) drains in_cons_pool segments=[@s1]",
        "pool b_cons_pool (0,3) 2 x memref<16xi32> s0=0+16",
        "dma b_cons_dma (0,3) fills b_cons_pool",
        "route b_prod_dma -> b_cons_dma",
    ]


def test_a_layout_counts_for_every_segment() -> None:
    body = (
        fifo("x", "c02 -> m0", 16)
        + fifo("y", "c03 -> m0", 16)
        + "aie.objectfifo @z(%m0 dimensionsToStream [<size = 4, stride = 1>, <size = 4, stride = 4>], {%s0}, 2 : i32)"
        " : !aie.objectfifo<memref<32xi32>>\n" + link("x y", "z", "0, 16")
    )
    lines = short(split(body))
    assert "dma z_prod_dma (0,1) drains z_pool segments=[@s0,@s1] dims=4/1,4/4 dims=4/1,4/4" in lines


def test_the_order_of_declarations_does_not_matter_to_the_pool() -> None:
    """A link may stand before its fifos, and the owner behind the others."""
    parts = [fifo("x", "c02 -> m0", 16), fifo("y", "c03 -> m0", 16), fifo("z", "m0 -> s0", 32)]
    first = split("".join(parts) + link("x y", "z", "0, 16"))
    other = split(link("x y", "z", "0, 16") + "".join(reversed(parts)))
    assert sorted(short(first)) == sorted(short(other))


# --- taking turns -----------------------------------------------------------------------------------------------------


def test_dispatch() -> None:
    """Routes come as the outputs were declared, turns as the link lists them."""
    body = (
        fifo("in", "s0 -> m0", 8, "3 : i32")
        + fifo("p", "m0 -> c02", more="iter_count = 4 : i32, prod_port = #aie.end_port<DMA : 2>")
        + fifo(
            "q", "m0 -> c03", more="iter_count = 4 : i32, transport = #aie.transport<dma, packet = "
            "#aie.packet_info<pkt_type = 1, pkt_id = 9>>",
        )
        + link("in", "q p", mode="time")
    )  # fmt: skip
    ran = split_loudly(body)
    assert short(ran) == [
        "pool in_cons_pool (0,1) 3 x memref<8xi32> s0=0+8",
        "end in_prod_dma (0,0) DMA",
        "dma in_cons_dma (0,1) fills in_cons_pool",
        "route in_prod_dma -> in_cons_dma",
        "dma in_dispatch_dma (0,1) drains in_cons_pool channelIndex=2 iterCount=4 dispatch=[@q_cons_dma,@p_cons_dma]",
        "pool p_cons_pool (0,2) 2 x memref<8xi32> s0=0+8",
        "dma p_cons_dma (0,2) fills p_cons_pool iterCount=4",
        "route in_dispatch_dma -> p_cons_dma packet ?",
        "pool q_cons_pool (0,3) 2 x memref<8xi32> s0=0+8",
        "dma q_cons_dma (0,3) fills q_cons_pool iterCount=4",
        "route in_dispatch_dma -> q_cons_dma packet 1:9",
    ]
    assert fifo_names(ran)["in_dispatch_dma"] == "in"


@pytest.mark.parametrize(
    ("headers", "header"), [(("", ""), "?"), (("", "pkt_id = 5"), "5"), (("pkt_type = 1", "pkt_id = 5"), "5")]
)
def test_merge(headers: tuple[str, str], header: str) -> None:
    def sent(name: str, ends: str, info: str) -> str:
        more = f"transport = #aie.transport<dma, packet = #aie.packet_info<{info}>>" if info else ""
        return fifo(name, ends, 8, "1 : i32", more)

    body = (
        "%l = aie.lock(%c02)\n"
        + sent("p", "c02 -> m0", headers[0])
        + sent("q", "c03 -> m0", headers[1])
        + link("p q", "out", mode="time")
        + fifo("out", "m0 -> s0")
        + core("c02", "Produce p 1", "-Produce p 1")
    )
    ran = split(body)
    assert short(ran) == [
        "pool p_pool (0,2) 1 x memref<8xi32> s0=0+8",
        "core p_prod (0,2) fills p_pool",
        "dma p_prod_dma (0,2) drains p_pool",
        "dma out_merge_dma (0,1) fills out_pool",
        "pool q_pool (0,3) 1 x memref<8xi32> s0=0+8",
        "dma q_prod_dma (0,3) drains q_pool",
        f"route p_prod_dma,q_prod_dma -> out_merge_dma packet {header}",
        "pool out_pool (0,1) 2 x memref<8xi32> s0=0+8",
        "dma out_prod_dma (0,1) drains out_pool",
        "end out_cons_dma (0,0) DMA",
        "route out_prod_dma -> out_cons_dma",
    ]
    assert fifo_names(ran)["out_merge_dma"] == "out"
    assert dict(lines_of(ran))["route p_prod_dma,q_prod_dma"] == 4


@pytest.mark.parametrize("mode", ["", "time"])
@pytest.mark.parametrize("join", [True, False])
def test_a_tile_with_two_names(mode: str, join: bool) -> None:
    """Each op uses the tile that stands before it."""
    one = fifo("x", "c02 -> m0") + fifo("y", "c03 -> m0")
    again = "%again = aie.tile(0, 1)\n"
    if join:
        offsets = "" if mode else "0, 8"
        body = one + again + fifo("z", "again -> s0", 8 if mode else 16) + link("x y", "z", offsets, mode=mode)
    else:
        offsets = "" if mode else "0, 8"
        outs = fifo("y", "again -> c02") + fifo("z", "again -> c03")
        body = fifo("x", "s0 -> m0", 8 if mode else 16) + again + outs + link("x", "y z", "", offsets, mode=mode)
    assert pools(split(body)) != []


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("access", "name"), [("Consume in 1", "in"), ("Produce out 1", "out")])
def test_the_core_at_the_link_point_takes_no_part(access: str, name: str) -> None:
    body = fifo("in", "s0 -> c02") + fifo("out", "c02 -> c04") + link("in", "out") + core("c02", access)
    text = f"core on the shared tile cannot access '{name}': a link moves objects by DMA"
    assert refused(body) == [(3, f"'aie.objectfifo.link' op {text}")]


def test_a_shim_has_no_memory_for_a_link() -> None:
    body = fifo("in", "c02 -> s0") + fifo("out", "s0 -> c04") + link("in", "out")
    text = "holds its objects on the link point, which a shim tile has no memory for"
    assert refused(body) == [(3, f"'aie.objectfifo.link' op {text}")]


def test_a_delegate_counts_for_the_owner_of_a_link_only() -> None:
    fifos = fifo("a", "c03 -> c02") + fifo("b", "c02 -> c12") + link("a", "b")
    text = "'aie.objectfifo.allocate' op objectfifo has no shared memory access to delegate tile's memory module"
    assert refused(fifos + "aie.objectfifo.allocate @a (%c33)") == [(4, text)]
    assert "route b_prod_dma -> b_cons_dma" in short(split(fifos + "aie.objectfifo.allocate @b (%c33)"))


def test_turns_of_one_chain_stop_together() -> None:
    body = (
        fifo("in", "s0 -> m0")
        + fifo("p", "m0 -> c02", more="iter_count = 2 : i32")
        + fifo("q", "m0 -> c03")
        + link("in", "p q", mode="time")
    )
    text = "takes turns on one channel, so its outputs have one `iter_count` in common"
    assert refused(body) == [(4, f"'aie.objectfifo.link' op {text}")]


def test_segments_select_nothing_where_there_is_one() -> None:
    ran = split(fifo("a", "s0 -> m0") + fifo("b", "m0 -> c02") + link("a", "b"))
    assert all(end.segments_attr is None for end in ran.ops(DmaEndpointOp))
    assert all(len(pool.segments) == 1 for pool in ran.ops(ObjectFifoPoolOp))
