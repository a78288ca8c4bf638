"""Fifos become pools, endpoints and routes: where objects lie, how many, under which names."""

from __future__ import annotations

import pytest
from passkit import Ran
from splitkit import accesses, core, design, fifo_names, lines_of, short, split, split_loudly

from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.ir.passes.fifo_split import ObjectFifoSplit
from aiecc.ir.verify import verify

FAR = "aie.objectfifo @f(%c02, {%c33}, 3 : i32) : !aie.objectfifo<memref<8xi32>>\n"
TYPE = "!aie.objectfifo<memref<8xi32>>"


def test_two_cores_that_share_no_memory() -> None:
    ran = split(
        FAR + core("c02", "Produce f 1", "-Produce f 1") + core("c33", "Consume f 2", "-Consume f 1", "-Consume f 1")
    )
    assert short(ran) == [
        "pool f_pool (0,2) 2 x memref<8xi32> s0=0+8",
        "core f_prod (0,2) fills f_pool",
        "dma f_prod_dma (0,2) drains f_pool",
        "pool f_cons_pool (3,3) 3 x memref<8xi32> s0=0+8",
        "core f_cons (3,3) drains f_cons_pool",
        "dma f_cons_dma (3,3) fills f_cons_pool",
        "route f_prod_dma -> f_cons_dma",
    ]
    assert accesses(ran) == ["+1 f_prod", "-1 f_prod", "+2 f_cons", "-1 f_cons", "-1 f_cons"]
    assert list(ran.ops(ObjectFifoOp)) == []
    assert set(fifo_names(ran).values()) == {"f"}


def test_everything_stands_where_the_fifo_stood_at_its_line() -> None:
    ran = split("%l = aie.lock(%c02)\n" + FAR + "%k = aie.lock(%c33)\n" + core("c02", "Produce f 1"))
    assert {line for _, line in lines_of(ran)} == {2}
    names = [op.name for op in ran.device.block.ops if op.name not in ("aie.tile", "aie.end")]
    assert names[0] == names[-2] == "aie.lock" and names[-1] == "aie.core"
    assert names.count("aie.lock") == 2


def test_a_core_that_uses_neither_end_gets_no_endpoint() -> None:
    assert [line for line in short(split(FAR)) if line.startswith("core")] == []


# --- shared memory ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ends", "home"),
    [
        (("c03", "c03"), "(0,3)"),  # one core with itself
        (("c02", "c03"), "(0,2)"),  # above and below: either would do, the producer's is taken
        (("c03", "c02"), "(0,3)"),
        (("c13", "c23"), "(1,3)"),  # east of the producer: only the producer's is reached by both
        (("c23", "c13"), "(1,3)"),  # west of the producer: only the consumer's
    ],
)
def test_the_pool_lies_where_both_reach_it(ends: tuple[str, str], home: str) -> None:
    producer, consumer = ends
    ran = split(f"aie.objectfifo @f(%{producer}, {{%{consumer}}}, [2, 4]) : {TYPE}")
    assert short(ran) == [f"pool f_pool {home} 4 x memref<8xi32> s0=0+8"]


def test_both_cores_work_one_pool() -> None:
    ran = split(
        f"aie.objectfifo @f(%c02, {{%c03}}, 2 : i32) : {TYPE}\n"
        + core("c02", "Produce f 1", "-Produce f 1")
        + core("c03", "Consume f 2", "-Consume f 2")
    )
    assert short(ran) == [
        "pool f_pool (0,2) 2 x memref<8xi32> s0=0+8",  # the acquires do not count
        "core f_prod (0,2) fills f_pool",
        "core f_cons (0,3) drains f_pool",
    ]
    assert accesses(ran) == ["+1 f_prod", "-1 f_prod", "+2 f_cons", "-2 f_cons"]


def test_one_core_may_use_both_ends() -> None:
    ran = split(
        f"aie.objectfifo @f(%c02, {{%c02}}, 2 : i32) : {TYPE}\n"
        + core("c02", "Produce f 1", "-Produce f 1", "Consume f 1", "-Consume f 1")
    )
    assert accesses(ran) == ["+1 f_prod", "-1 f_prod", "+1 f_cons", "-1 f_cons"]


@pytest.mark.parametrize(("delegate", "fits"), [("c02", True), ("c12", False), ("c03", True)])
def test_a_delegate_holds_the_objects(delegate: str, fits: bool) -> None:
    body = f"aie.objectfifo @f(%c02, {{%c03}}, 2 : i32) : {TYPE}\naie.objectfifo.allocate @f (%{delegate})"
    ran = Ran(design(body), ObjectFifoSplit())
    if fits:
        assert short(ran) == [f"pool f_pool (0,{delegate[2]}) 2 x memref<8xi32> s0=0+8"]
        assert "allocate" not in ran.text
    else:
        text = "'aie.objectfifo.allocate' op objectfifo has no shared memory access to delegate tile's memory module"
        assert ran.said == [text]


def test_aie1_shares_by_the_parity_of_the_row() -> None:
    """On an even row the core reaches its eastern neighbour, on an odd one the western."""
    tiles = "\n  %a = aie.tile(2, 2)\n  %b = aie.tile(3, 2)\n  %d = aie.tile(2, 3)\n  %e = aie.tile(3, 3)\n"
    pools = {
        (p, c): short(split(f"aie.objectfifo @f(%{p}, {{%{c}}}, 2 : i32) : {TYPE}", "xcvc1902", tiles=tiles))[0]
        for p, c in ("ab", "ba", "de", "ed", "ad", "da")
    }
    assert {pair: line.split()[2] for pair, line in pools.items()} == {
        ("a", "b"): "(3,2)",
        ("b", "a"): "(3,2)",
        ("d", "e"): "(2,3)",
        ("e", "d"): "(2,3)",
        ("a", "d"): "(2,2)",
        ("d", "a"): "(2,3)",
    }


# --- depths -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("depth", "acquires", "expected"),
    [
        ("3 : i32", (0, 0), (3, 3)),  # nobody says otherwise
        ("3 : i32", (1, 2), (2, 3)),
        ("1 : i32", (1, 1), (1, 1)),  # one deep stays one deep
        ("2 : i32", (2, 1), (3, 2)),
        ("[4, 3]", (1, 1), (2, 3)),  # stated one by one: the consumer's counts as it stands
        ("[4, 3]", (0, 2), (4, 3)),
        ("[1, 3]", (1, 1), (1, 3)),
    ],
)
def test_depths(depth: str, acquires: tuple[int, int], expected: tuple[int, int]) -> None:
    body = f"aie.objectfifo @f(%c02, {{%c33}}, {depth}) : {TYPE}\n"
    for tile, port, count in zip(("c02", "c33"), ("Produce", "Consume"), acquires, strict=True):
        if count:
            body += core(tile, f"{port} f 1", f"{port} f {count}", f"-{port} f {count}")
    pools = [line for line in short(split(body)) if line.startswith("pool")]
    assert tuple(int(line.split()[3]) for line in pools) == expected


def test_acquires_in_loops_and_branches_count() -> None:
    body = FAR + (
        "aie.core(%c33) {\n  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
        "  %t = arith.constant true\n  scf.for %i = %c0 to %c1 step %c1 {\n    scf.if %t {\n"
        "      %a, %b, %d = aie.objectfifo.acquire @f (Consume, 3) : memref<8xi32>, memref<8xi32>, memref<8xi32>\n"
        "      aie.objectfifo.release @f (Consume, 3)\n    }\n  }\n  aie.end\n}\n"
    )
    ran = split(body)
    assert "pool f_cons_pool (3,3) 4 x memref<8xi32> s0=0+8" in short(ran)
    assert accesses(ran) == ["+3 f_cons", "-3 f_cons"]


def test_initial_values_are_all_there() -> None:
    init = "[dense<1> : memref<8xi32>, dense<2> : memref<8xi32>, dense<3> : memref<8xi32>]"
    body = f"aie.objectfifo @f(%c02, {{%c33}}, 3 : i32) : {TYPE} = {init}\n" + core("c02", "Produce f 1")
    lines = short(split(body))
    assert lines[0].startswith("pool f_pool (0,2) 3 x memref<8xi32> s0=0+8 initValues=[dense<1>")
    assert "initValues" not in "".join(lines[1:])


# --- DMAs -------------------------------------------------------------------------------------------------------------


def test_broadcast() -> None:
    """Every consumer has a pool of its own, and all of them one route."""
    body = f"aie.objectfifo @f(%c02, {{%c03, %c33, %s0}}, [2, 2, 3, 2]) : {TYPE}\n" + core("c33", "Consume f 1")
    assert short(split(body)) == [
        "pool f_pool (0,2) 2 x memref<8xi32> s0=0+8",
        "dma f_prod_dma (0,2) drains f_pool",
        "pool f_0_cons_pool (0,3) 2 x memref<8xi32> s0=0+8",
        "dma f_0_cons_dma (0,3) fills f_0_cons_pool",
        "pool f_1_cons_pool (3,3) 3 x memref<8xi32> s0=0+8",
        "core f_1_cons (3,3) drains f_1_cons_pool",
        "dma f_1_cons_dma (3,3) fills f_1_cons_pool",
        "end f_2_cons_dma (0,0) DMA",
        "route f_prod_dma -> f_0_cons_dma,f_1_cons_dma,f_2_cons_dma",
    ]


def test_what_ends_say_goes_to_their_endpoints() -> None:
    body = (
        "aie.objectfifo @f(%m0 dimensionsToStream [<size = 2, stride = 4>, <size = 4, stride = 1>], "
        "{%c02 dimensionsFromStream [<size = 8, stride = 1>]}, 2 : i32) {repeat_count = 3 : i32, "
        "iter_count = 5 : i32, disable_synchronization = true, prod_port = #aie.end_port<DMA : 1>, "
        "cons_ports = [#aie.end_port<DMA : 0>], padValue = 7 : i32, padDimensions = #aie<bd_pad_layout_array["
        "<const_pad_before = 1, const_pad_after = 0>, <const_pad_before = 0, const_pad_after = 2>]>} : "
        "!aie.objectfifo<memref<8xi32>>"
    )
    ran = split_loudly(body)
    assert short(ran) == [
        "pool f_pool (0,1) 2 x memref<8xi32> s0=0+8 repeatCount=3 disableSynchronization=true",
        "dma f_prod_dma (0,1) drains f_pool channelIndex=1 iterCount=5 padValue=7 dims=2/4,4/1 pads=1/0,0/2",
        "pool f_cons_pool (0,2) 2 x memref<8xi32> s0=0+8 disableSynchronization=true",
        # The padding is the sender's business; every pass of the sender is three for the receiver.
        "dma f_cons_dma (0,2) fills f_cons_pool channelIndex=0 iterCount=15 dims=8/1",
        "route f_prod_dma -> f_cons_dma",
    ]


@pytest.mark.parametrize(
    ("transport", "header"),
    [
        ("dma", ""),
        ("dma, packet = #aie.packet_info<>", " packet ?"),
        ("dma, packet = #aie.packet_info<pkt_id = 7>", " packet 7"),
        ("auto, packet = #aie.packet_info<pkt_type = 2, pkt_id = 7>", " packet 2:7"),
    ],
)
def test_headers_ride_on_the_route(transport: str, header: str) -> None:
    consumer = "c33" if transport.startswith("auto") else "c03"
    body = f"aie.objectfifo @f(%c02, {{%{consumer}}}, 2 : i32) {{transport = #aie.transport<{transport}>}} : {TYPE}"
    assert short(split(body))[-1] == f"route f_prod_dma -> f_cons_dma{header}"


def test_different_element_types() -> None:
    body = (
        "aie.objectfifo @t(%c02, {%m0}, 2 : i32) : !aie.objectfifo<memref<40xi32>> -> !aie.objectfifo<memref<10xi32>>"
    )
    assert short(split(body)) == [
        "pool t_pool (0,2) 2 x memref<40xi32> s0=0+40",
        "dma t_prod_dma (0,2) drains t_pool",
        "pool t_cons_pool (0,1) 2 x memref<10xi32> s0=0+10",
        "dma t_cons_dma (0,1) fills t_cons_pool",
        "route t_prod_dma -> t_cons_dma",
    ]


def test_memory_tiles_next_to_each_other_need_dmas() -> None:
    """They reach each other's memory, but no core could work a pool there."""
    for ends in (("m0", "m1"), ("m0", "m0")):
        body = f"aie.objectfifo @f(%{ends[0]}, {{%{ends[1]}}}, 2 : i32) : {TYPE}"
        assert short(split(body))[-1] == "route f_prod_dma -> f_cons_dma"


@pytest.mark.parametrize("producer", [True, False])
def test_a_stream_port_holds_no_objects(producer: bool) -> None:
    key = "prod_port = #aie.end_port<Core : 1>" if producer else "cons_ports = [#aie.end_port<Core : 1>]"
    lines = short(split(f"aie.objectfifo @f(%c02, {{%c33}}, 2 : i32) {{{key}}} : {TYPE}"))
    open_end = "end f_prod_dma (0,2) Core" if producer else "end f_cons_dma (3,3) Core"
    assert f"{open_end} channelIndex=1" in lines
    assert [line.split()[1] for line in lines if line.startswith("pool")] == ["f_cons_pool" if producer else "f_pool"]
    assert lines[-1] == "route f_prod_dma -> f_cons_dma"


# --- shims ------------------------------------------------------------------------------------------------------------

SEQUENCE = """
aie.runtime_sequence @run(%a: memref<8xi32>) {
  aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]) {id = 0 : i64, metadata = @f} : memref<8xi32>
  aiex.npu.dma_wait {symbol = @f}
}
"""


def test_a_shim_end_is_open_and_stands_for_the_fifo_in_sequences() -> None:
    ran = split(f"aie.objectfifo @f(%s0, {{%c02}}, 2 : i32) : {TYPE}\n" + SEQUENCE)
    assert short(ran) == [
        "end f_prod_dma (0,0) DMA",
        "pool f_cons_pool (0,2) 2 x memref<8xi32> s0=0+8",
        "dma f_cons_dma (0,2) fills f_cons_pool",
        "route f_prod_dma -> f_cons_dma",
    ]
    assert "metadata = @f_prod_dma" in ran.text and "symbol = @f_prod_dma" in ran.text


def test_of_several_shim_ends_the_first_stands_for_the_fifo() -> None:
    ran = split(f"aie.objectfifo @f(%s0, {{%s1}}, 2 : i32) : {TYPE}\n" + SEQUENCE)
    assert short(ran)[:2] == ["end f_prod_dma (0,0) DMA", "end f_cons_dma (1,0) DMA"]
    assert "symbol = @f_prod_dma" in ran.text
    ran = split(f"aie.objectfifo @f(%c02, {{%s1, %s0}}, 2 : i32) : {TYPE}\n" + SEQUENCE)
    assert "symbol = @f_0_cons_dma" in ran.text


def test_plio_has_no_pool_even_over_external_buffers() -> None:
    body = f"""
%x = aie.external_buffer {{sym_name = "x"}} : memref<64xi32>
aie.objectfifo @f(%s0, {{%c02}}, 2 : i32) {{plio = true, prod_port = #aie.end_port<DMA : 1>}} : {TYPE}
aie.objectfifo.register_external_buffers @f (%s0, {{%x}}) : (memref<64xi32>)
"""
    ran = split_loudly(body)
    assert [d.text for d in ran.sink.items] == ["these buffers are not used: 'f' passes a PLIO"]
    assert short(ran)[0] == "end f_prod_dma (0,0) PLIO channelIndex=1"
    assert "register" not in ran.text


@pytest.mark.parametrize("sending", [True, False])
def test_external_buffers_are_the_pool_of_a_shim(sending: bool) -> None:
    ends = "%s0, {%c02}" if sending else "%c02, {%s0}"
    body = f"""
%x = aie.external_buffer {{sym_name = "x"}} : memref<64xi32>
%y = aie.external_buffer : memref<64xi32>
aie.objectfifo @f({ends}, 2 : i32) : {TYPE}
aie.objectfifo.register_external_buffers @f (%s0, {{%x, %y}}) : (memref<64xi32>, memref<64xi32>)
"""
    lines = short(split(body))
    stem, role, end = ("f_pool", "drains", "f_prod_dma") if sending else ("f_cons_pool", "fills", "f_cons_dma")
    assert f"pool {stem} (0,0) 2 x memref<64xi32> s0=0+64 buffers=[@x,@f_ext_buff_1]" in lines
    assert f"dma {end} (0,0) {role} {stem}" in lines


# --- again, and beside what is there ----------------------------------------------------------------------------------

MIXED = (
    "aie.objectfifo.pool @done_pool(%c12) {depth = 2 : i32} : memref<8xi32> {\n"
    "  aie.objectfifo.segment @s0 {offset = 0 : i32, size = 8 : i32}\n}\n"
    "aie.objectfifo.core_endpoint @done(%c12) fills @done_pool\n"
)


def test_a_second_run_changes_nothing() -> None:
    once, twice = (
        split(MIXED + FAR + core("c02", "Produce f 1")),
        split(MIXED + FAR + core("c02", "Produce f 1"), times=2),
    )
    assert once.text == twice.text


def test_what_is_split_already_stays() -> None:
    before = Ran(design(MIXED)).lines("done")
    ran = split(MIXED + FAR)
    assert ran.lines("done") == before
    assert len(short(ran)) == 2 + 5


def test_nothing_is_done_without_fifos() -> None:
    ran = Ran(design(MIXED))
    text = ran.text
    ObjectFifoSplit().apply(ran.device, ran.sink)
    assert ran.text == text


def test_names_that_are_taken_are_not_used_again() -> None:
    """Another fifo may be called as a pool of the first would be."""
    body = (
        f"aie.objectfifo @f(%c02, {{%c03}}, 2 : i32) : {TYPE}\n"
        f"aie.objectfifo @f_pool(%c12, {{%c13}}, 2 : i32) : {TYPE}\n"
        f"aie.objectfifo @f_cons(%c13, {{%c23}}, 2 : i32) : {TYPE}\n"
        + core("c03", "Consume f 1", "-Consume f 1")
        + core("c13", "Consume f_pool 1", "Produce f_cons 1")
    )
    ran = split(body)
    assert short(ran) == [
        "pool f_pool_0 (0,2) 2 x memref<8xi32> s0=0+8",
        "core f_cons_0 (0,3) drains f_pool_0",
        "pool f_pool_pool (1,2) 2 x memref<8xi32> s0=0+8",
        "core f_pool_cons (1,3) drains f_pool_pool",
        "pool f_cons_pool (1,3) 2 x memref<8xi32> s0=0+8",
        "core f_cons_prod (1,3) fills f_cons_pool",
    ]
    assert accesses(ran) == ["+1 f_cons_0", "-1 f_cons_0", "+1 f_pool_cons", "+1 f_cons_prod"]


def test_two_names_for_one_tile_are_one_tile() -> None:
    body = "%again = aie.tile(0, 2)\n" + FAR + core("again", "Produce f 2", "-Produce f 2")
    ran = Ran(design(body), ObjectFifoSplit())
    assert verify(ran.module) == []
    assert short(ran)[:2] == ["pool f_pool (0,2) 3 x memref<8xi32> s0=0+8", "core f_prod (0,2) fills f_pool"]


def test_devices_do_not_know_each_other() -> None:
    one = design(FAR).replace("aie.device(npu2)", "aie.device(npu2) @one")
    two = design(FAR).replace("aie.device(npu2)", "aie.device(npu2) @two")
    ran = Ran(one + two, ObjectFifoSplit())
    assert ran.said == []
    assert ran.text.count("@f_pool(") == 2
