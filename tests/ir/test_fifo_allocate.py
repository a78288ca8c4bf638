"""Allocating objectFifo pools: buffers, locks, what is kept, what is lock-free, flows and their headers."""

from __future__ import annotations

import pytest
from allockit import (
    allocated,
    channels,
    core,
    device,
    dma,
    fifo,
    flows,
    held,
    locks,
    notes,
    outside,
    pool,
    refused,
    route,
    tiles,
)
from passkit import Ran, line_of

from aiecc.ir.dialects.aie.memory import BufferOp
from aiecc.ir.passes.fifo_allocate import ObjectFifoAllocate
from aiecc.ir.spans import span_of
from aiecc.ir.text import print_module


def link(*, depth: int = 2, more: str = "", init: str = "") -> tuple[str, ...]:
    """A fifo of i32 from (0, 2) to (1, 3) by DMA."""
    return (
        pool("of_pool", "%t02", depth, 16, f', fifoName = "of"{more}{init}'),
        core("of_prod", "%t02", "fills", "of_pool"),
        dma("of_prod_dma", "%t02", "drains", "of_pool", fifo("of")),
        pool("of_cons_pool", "%t13", 3, 16, ', fifoName = "of"'),
        core("of_cons", "%t13", "drains", "of_cons_pool"),
        dma("of_cons_dma", "%t13", "fills", "of_cons_pool", fifo("of")),
        route("@of_prod_dma", "of_cons_dma"),
    )


# --- the plain case ---------------------------------------------------------------------------------------------------


def test_core_to_core_over_dmas() -> None:
    ran = allocated(*link())
    assert held(ran) == {
        "0,2": ["of_buff_0", "of_buff_1", "of_prod_lock_0=2", "of_cons_lock_0=0"],
        "1,3": ["of_cons_buff_0", "of_cons_buff_1", "of_cons_buff_2", "of_cons_prod_lock_0=3", "of_cons_cons_lock_0=0"],
    }
    assert channels(ran) == {"of_prod_dma": 0, "of_cons_dma": 0}
    assert flows(ran) == ["0,2:0 > 1,3:0"]
    assert "buffers = [@of_buff_0, @of_buff_1]" in ran.text
    assert "consumeLock = @of_cons_lock_0, offset = 0 : i32, produceLock = @of_prod_lock_0" in ran.text
    assert not ran.lines("aie.route")


def test_buffers_and_locks_stand_right_below_their_tile() -> None:
    ran = allocated(*link(), grid=tiles((0, 2), (1, 3)))
    words = [line.split(" = ")[0] for line in ran.text.splitlines() if " = aie." in line]
    assert [w.strip() for w in words] == [
        "%tile_0_2", "%of_buff_0", "%of_buff_1", "%of_prod_lock_0", "%of_cons_lock_0",
        "%tile_1_3", "%of_cons_buff_0", "%of_cons_buff_1", "%of_cons_buff_2", "%of_cons_prod_lock_0",
        "%of_cons_cons_lock_0",
    ]  # fmt: skip


def test_new_ops_come_from_where_their_pool_or_route_was_written() -> None:
    text = device(*link())
    ran = Ran(text, ObjectFifoAllocate())
    at = {}
    for op in ran.device.walk():
        span = span_of(op)
        assert span is not None, op.name
        at.setdefault(op.name, []).append(span.line)
    assert set(at["aie.buffer"]) == set(at["aie.lock"]) == {line_of(text, "@of_pool("), line_of(text, "@of_cons_pool(")}
    assert at["aie.flow"] == [line_of(text, "aie.route from")]


def test_shared_memory_needs_no_channel() -> None:
    lines = (pool("of_pool", "%t13", 4), core("of_prod", "%t23", "fills", "of_pool"),
             core("of_cons", "%t13", "drains", "of_pool"))  # fmt: skip
    ran = allocated(*lines)
    assert held(ran) == {
        "1,3": ["of_buff_0", "of_buff_1", "of_buff_2", "of_buff_3", "of_prod_lock_0=4", "of_cons_lock_0=0"]
    }
    assert flows(ran) == []


def test_a_name_that_is_taken_is_not_taken_twice() -> None:
    ran = allocated('%x = aie.buffer(%t04) {sym_name = "of_buff_0"} : memref<4xi32>', *link())
    assert held(ran)["0,2"][:2] == ["of_buff_0_0", "of_buff_1"]
    assert "buffers = [@of_buff_0_0, @of_buff_1]" in ran.text


def test_a_pool_of_another_name_is_its_own_base() -> None:
    ran = allocated(pool("p", "%t02", 1), core("c", "%t02", "fills", "p"), core("d", "%t02", "drains", "p"))
    assert held(ran) == {"0,2": ["p_buff_0", "p_prod_lock_0=1", "p_cons_lock_0=0"]}


def test_nothing_to_do() -> None:
    ran = Ran(device(), ObjectFifoAllocate())
    assert ran.text == Ran(device()).text


def test_two_devices_know_nothing_of_each_other() -> None:
    one, two = device(*link()), device(*link()).replace("aie.device(npu2)", "aie.device(npu2) @other")
    ran = Ran(one + "\n" + two, ObjectFifoAllocate())
    assert not ran.said
    first, second = (text for text in print_module(ran.module).split("aie.device")[1:])
    assert (
        first.replace("(npu2)", "(npu2) @other").split("{", 1)[1].split("}")[0] == second.split("{", 1)[1].split("}")[0]
    )


# --- what is there is kept --------------------------------------------------------------------------------------------


def test_what_the_author_wrote_is_kept() -> None:
    mine = (
        '%m0 = aie.buffer(%t02) {sym_name = "m0", address = 4096 : i32} : memref<16xi32>',
        '%m1 = aie.buffer(%t02) {sym_name = "m1"} : memref<16xi32>',
        '%free = aie.lock(%t02) {init = 1 : i32, sym_name = "free"}',
        '%full = aie.lock(%t02) {init = 1 : i32, sym_name = "full"}',
    )
    lines = (
        "aie.objectfifo.pool @p_pool(%t02) {depth = 2 : i32, buffers = [@m0, @m1]} : memref<16xi32> {",
        "aie.objectfifo.segment @s0 {offset = 0 : i32, size = 16 : i32, produceLock = @free, consumeLock = @full}",
        "}",
        dma("p_dma", "%t02", "drains", "p_pool", "channelIndex = 1 : i32"),
        pool("c_pool", "%t13", 2),
        dma("c_dma", "%t13", "fills", "c_pool"),
        route("@p_dma", "c_dma"),
    )
    ran = allocated(*mine, *lines)
    assert held(ran)["0,2"] == ["m0", "m1", "free=1", "full=1"]
    assert flows(ran) == ["0,2:1 > 1,3:0"]


def test_a_segment_with_one_lock_gets_a_pair_of_its_own() -> None:
    lines = (
        '%free = aie.lock(%t02) {init = 1 : i32, sym_name = "free"}',
        "aie.objectfifo.pool @p_pool(%t02) {depth = 2 : i32} : memref<16xi32> {",
        "aie.objectfifo.segment @s0 {offset = 0 : i32, size = 16 : i32, produceLock = @free}",
        "}",
        core("c", "%t02", "fills", "p_pool"),
    )
    ran = allocated(*lines)
    assert "produceLock = @p_prod_lock_0" in ran.text and "consumeLock = @p_cons_lock_0" in ran.text


def test_lowered_ir_with_one_more_fifo_gains_only_that() -> None:
    first = allocated(*link())
    more = [pool("g_pool", "%tile_0_2", 1), core("g_prod", "%tile_0_2", "fills", "g_pool"),
            dma("g_prod_dma", "%tile_0_2", "drains", "g_pool"), pool("g_cons_pool", "%tile_1_3", 1),
            dma("g_cons_dma", "%tile_1_3", "fills", "g_cons_pool"), route("@g_prod_dma", "g_cons_dma")]  # fmt: skip
    text = first.text.rstrip()
    head, tail = text[: text.rindex("}", 0, text.rindex("}"))], text[text.rindex("}", 0, text.rindex("}")) :]
    ran = Ran(head + "\n".join(more) + "\n" + tail, ObjectFifoAllocate())
    assert not ran.said
    assert channels(ran) == {"of_prod_dma": 0, "of_cons_dma": 0, "g_prod_dma": 1, "g_cons_dma": 1}
    assert flows(ran) == ["0,2:0 > 1,3:0", "0,2:1 > 1,3:1"]
    assert set(locks(first).items()) < set(locks(ran).items())


# --- locks and first values -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("depth", "filled", "times", "produce", "consume"),
    [(2, 0, None, 2, 0), (4, 2, None, 2, 2), (2, 0, 3, 6, 0), (3, 1, 4, 8, 4), (1, 0, 63, 63, 0)],
)
def test_locks_count_objects_times_repeats(
    depth: int, filled: int, times: int | None, produce: int, consume: int
) -> None:
    init = ", ".join("dense<7> : tensor<16xi32>" for _ in range(filled))
    more = f", repeatCount = {times} : i32" if times else ""
    ran = allocated(*link(depth=depth, more=more, init=f", initValues = [{init}]" if filled else ""))
    assert locks(ran)["of_prod_lock_0"] == produce
    assert locks(ran)["of_cons_lock_0"] == consume
    with_value = [op.symbol for op in ran.ops(BufferOp) if op.initial_value is not None]
    assert with_value == [f"of_buff_{i}" for i in range(filled)]


def test_a_pair_for_every_segment_with_the_same_values() -> None:
    ran = allocated(
        pool("in_cons_pool", "%t01", 2, 24, ", repeatCount = 2 : i32", parts=(8, 16)),
        outside("in_prod_dma", "%t00", fifo("in")),
        dma("in_cons_dma", "%t01", "fills", "in_cons_pool", "segments = [@s0, @s1]"),
        dma("a_prod_dma", "%t01", "drains", "in_cons_pool", "segments = [@s0]"),
        dma("b_prod_dma", "%t01", "drains", "in_cons_pool", "segments = [@s1]"),
        pool("a_cons_pool", "%t02", 2, 8),
        dma("a_cons_dma", "%t02", "fills", "a_cons_pool"),
        pool("b_cons_pool", "%t03", 2, 16),
        dma("b_cons_dma", "%t03", "fills", "b_cons_pool"),
        route("@in_prod_dma", "in_cons_dma"),
        route("@a_prod_dma", "a_cons_dma"),
        route("@b_prod_dma", "b_cons_dma"),
    )
    assert held(ran)["0,1"] == [
        "in_cons_buff_0", "in_cons_buff_1",
        "in_cons_prod_lock_0=4", "in_cons_cons_lock_0=0", "in_cons_prod_lock_1=4", "in_cons_cons_lock_1=0",
    ]  # fmt: skip
    assert flows(ran) == ["0,0:0 > 0,1:0", "0,1:0 > 0,2:0", "0,1:1 > 0,3:0"]
    assert ran.lines("aie.shim_dma_allocation") == [
        "aie.shim_dma_allocation @in_shim_alloc(%shim_noc_tile_0_0, MM2S, 0)"
    ]


def test_no_locks_where_the_author_wants_none() -> None:
    ran = allocated(*link(more=", disableSynchronization = true"))
    assert held(ran)["0,2"] == ["of_buff_0", "of_buff_1"]


def weights(*more: str, depth: int = 1) -> tuple[str, ...]:
    """Constant objects that a memory tile sends seven times over."""
    values = ", ".join(["dense<1> : tensor<64xi8>"] * depth)
    extra = f', fifoName = "w", repeatCount = 7 : i32, initValues = [{values}]'
    return (
        pool("w_pool", "%t01", 1, 64, extra, type="i8"),
        dma("w_prod_dma", "%t01", "drains", "w_pool", fifo("w")),
        pool("w_cons_pool", "%t02", 1, 64, ', fifoName = "w"', type="i8"),
        core("w_cons", "%t02", "drains", "w_cons_pool"),
        dma("w_cons_dma", "%t02", "fills", "w_cons_pool", fifo("w")),
        route("@w_prod_dma", "w_cons_dma"),
        *more,
    )


def test_objects_that_start_full_and_are_never_filled_have_no_locks() -> None:
    ran = allocated(*weights())
    assert held(ran) == {"0,1": ["w_buff_0"], "0,2": ["w_cons_buff_0", "w_cons_prod_lock_0=1", "w_cons_cons_lock_0=0"]}
    assert '{sym_name = "w_buff_0"} : memref<64xi8> = dense<1>' in ran.text


def test_full_objects_that_someone_fills_again_have_locks() -> None:
    ran = allocated(*weights(core("f", "%t02", "fills", "x_pool"), pool("x_pool", "%t02", 1, 16,
                    ", initValues = [dense<0> : tensor<16xi32>]"), core("g", "%t02", "drains", "x_pool")))  # fmt: skip
    assert locks(ran)["x_prod_lock_0"] == 0
    assert locks(ran)["x_cons_lock_0"] == 1


def test_partly_full_objects_have_locks() -> None:
    extra = ", initValues = [dense<0> : tensor<16xi32>]"
    ran = allocated(pool("x_pool", "%t02", 2, 16, extra), core("g", "%t02", "drains", "x_pool"))
    assert locks(ran) == {"x_prod_lock_0": 1, "x_cons_lock_0": 1}


STREAM = ", initValues = [dense<0> : tensor<48xi32>], stream = array<i64: 8, 4, 1>"


def test_a_stream_in_one_buffer_counts_the_objects_that_arrive() -> None:
    ran = allocated(
        pool("rows_cons_pool", "%t01", 1, 48, STREAM),
        dma("in", "%t01", "fills", "rows_cons_pool"),
        dma("out", "%t01", "drains", "rows_cons_pool"),
    )
    assert held(ran) == {"0,1": ["rows_cons_buff_0", "rows_cons_prod_lock_0=4", "rows_cons_cons_lock_0=0"]}


def test_a_stream_that_nobody_fills_has_locks_all_the_same() -> None:
    assert locks(allocated(pool("p", "%t01", 1, 48, STREAM))) == {"p_prod_lock_0": 4, "p_cons_lock_0": 0}


@pytest.mark.parametrize(("depth", "times", "total"), [(64, None, 64), (8, 8, 64), (1, 200, 200)])
def test_more_objects_than_a_lock_counts(depth: int, times: int | None, total: int) -> None:
    ran = refused(*link(depth=depth, more=f", repeatCount = {times} : i32" if times else ""))
    each = f", each repeated {times} times" if times else ""
    text = f"needs locks that count to {total} ({depth} objects{each}), but a lock counts to at most 63"
    assert ran.only.text == f"'aie.objectfifo.pool' op {text}"
    assert ran.only.todo


def aie1(filled: int = 0) -> tuple[str, ...]:
    init = f", initValues = [{', '.join(['dense<0> : tensor<16xi32>'] * filled)}]" if filled else ""
    return (
        pool("of_pool", "%t12", 2, 16, init),
        core("of_prod", "%t12", "fills", "of_pool"),
        dma("of_prod_dma", "%t12", "drains", "of_pool"),
        pool("of_cons_pool", "%t33", 2, 16),
        dma("of_cons_dma", "%t33", "fills", "of_cons_pool"),
        route("@of_prod_dma", "of_cons_dma"),
    )


@pytest.mark.parametrize("filled", [0, 1, 2])
def test_binary_locks_one_a_buffer(filled: int) -> None:
    ran = allocated(*aie1(filled), kind="xcvc1902", grid=tiles((1, 2), (3, 3)))
    assert held(ran) == {
        "1,2": ["of_buff_0", "of_buff_1", f"of_lock_0={int(filled > 0)}", f"of_lock_1={int(filled > 1)}"],
        "3,3": ["of_cons_buff_0", "of_cons_buff_1", "of_cons_lock_0=0", "of_cons_lock_1=0"],
    }
    assert "locks = [@of_lock_0, @of_lock_1]" in ran.text


# --- which tile's locks -----------------------------------------------------------------------------------------------


def crowd(n: int, tile: str = "%t02") -> list[str]:
    return [f'%l{i} = aie.lock({tile}, {i}) {{sym_name = "l{i}"}}' for i in range(n)]


def test_a_full_tile_leaves_its_locks_to_another_in_reach() -> None:
    # Core (0, 2) reaches (0, 3) to the north and (0, 3) is the consumer's own.
    lines = (pool("of_pool", "%t02", 2), core("a", "%t02", "fills", "of_pool"), core("b", "%t03", "drains", "of_pool"))
    ran = allocated(*crowd(15), *lines)
    assert held(ran)["0,3"] == ["of_prod_lock_0=2", "of_cons_lock_0=0"]
    assert [n for n in held(ran)["0,2"] if n.startswith("of")] == ["of_buff_0", "of_buff_1"]


def test_a_core_tiles_dma_has_only_its_own_locks() -> None:
    ran = refused(*crowd(15), *link())
    assert ran.only.text == "'aie.tile' op could not place locks within tile lock capacity"
    assert notes(ran) == [
        "pool @of_pool needs 2 more locks; the tile has 16",
        "15 are declared in the design",
    ]


def test_who_holds_the_locks_is_told() -> None:
    lines = [pool(f"p{i}_pool", "%t02", 1) + "\n" + dma(f"d{i}", "%t02", "drains", f"p{i}_pool") for i in range(9)]
    ran = refused(*lines)
    capacity = next(d for d in ran.sink.items if "lock capacity" in d.text)
    assert [n.text for n in capacity.notes] == [
        "pool @p8_pool needs 2 more locks; the tile has 16",
        *(f"pool @p{i}_pool holds 2" for i in range(8)),
    ]


def test_locks_out_of_reach() -> None:
    ran = refused(
        pool("of_pool", "%t02", 2), core("a", "%t02", "fills", "of_pool"), core("b", "%t23", "drains", "of_pool")
    )
    assert ran.only.text == "'aie.objectfifo.core_endpoint' op cannot access pool locks"
    assert ran.only.where is not None and ran.only.where.line == line_of(device(*[]), "}") + 4
    assert notes(ran) == ["pool @of_pool is on tile(0, 2), out of reach of tile(2, 3)"]


def test_named_locks_out_of_reach() -> None:
    lines = (
        '%free = aie.lock(%t23) {init = 2 : i32, sym_name = "free"}',
        '%full = aie.lock(%t23) {init = 0 : i32, sym_name = "full"}',
        "aie.objectfifo.pool @p_pool(%t02) {depth = 2 : i32} : memref<16xi32> {",
        "aie.objectfifo.segment @s0 {offset = 0 : i32, size = 16 : i32, produceLock = @free, consumeLock = @full}",
        "}",
        core("c", "%t02", "fills", "p_pool"),
    )
    assert refused(*lines).only.text == "'aie.objectfifo.core_endpoint' op cannot access pool locks"


def test_buffers_out_of_reach() -> None:
    lines = (
        pool("of_pool", "%t02", 2, 16, ", disableSynchronization = true"),
        core("a", "%t02", "fills", "of_pool"),
        core("b", "%t23", "drains", "of_pool"),
    )
    ran = refused(*lines)
    assert ran.only.text == "'aie.objectfifo.core_endpoint' op cannot access pool buffers"


# --- flows ------------------------------------------------------------------------------------------------------------


def test_a_broadcast_is_a_flow_for_each_destination() -> None:
    ends = [
        f"{pool(f'c{i}_pool', t, 1)}\n{dma(f'c{i}', t, 'fills', f'c{i}_pool')}" for i, t in enumerate(("%t02", "%t03"))
    ]
    ran = allocated(pool("m_pool", "%t01", 3), dma("m", "%t01", "drains", "m_pool"), *ends, route("@m", "c0", "c1"))
    assert flows(ran) == ["0,1:0 > 0,2:0", "0,1:0 > 0,3:0"]


def test_a_fan_in_is_one_packet_flow() -> None:
    ran = allocated(
        pool("p_pool", "%t02", 1), dma("p", "%t02", "drains", "p_pool"),
        pool("q_pool", "%t03", 1), dma("q", "%t03", "drains", "q_pool"),
        pool("o_pool", "%t01", 2), dma("o", "%t01", "fills", "o_pool"),
        route("[@p, @q]", "o", packet="pkt_type = 2, pkt_id = 5"),
    )  # fmt: skip
    assert flows(ran) == ["5: 0,2:0 + 0,3:0 > 0,1:0"]
    header = "packet = #aie.packet_info<pkt_type = 2, pkt_id = 5>"
    assert [header in line for line in ran.lines("dma_endpoint")] == [True, True, False]
    assert held(ran)["0,1"] == ["o_buff_0", "o_buff_1", "o_prod_lock_0=2", "o_cons_lock_0=0"]


def test_a_dispatching_end_gets_its_headers_in_the_order_of_its_turns() -> None:
    ran = allocated(
        pool("y_pool", "%t01", 3), dma("hub", "%t01", "drains", "y_pool", "dispatch = [@q, @p]"),
        pool("p_pool", "%t02", 2), dma("p", "%t02", "fills", "p_pool"),
        pool("q_pool", "%t03", 2), dma("q", "%t03", "fills", "q_pool"),
        route("@hub", "p", packet="pkt_id = 0"), route("@hub", "q", packet="pkt_id = 1"),
    )  # fmt: skip
    assert flows(ran) == ["0: 0,1:0 > 0,2:0", "1: 0,1:0 > 0,3:0"]
    (hub,) = ran.lines("@hub(")
    assert "dispatchPackets = [#aie.packet_info<pkt_id = 1>, #aie.packet_info<pkt_id = 0>]" in hub
    assert "packet =" not in hub


def test_a_header_without_its_id() -> None:
    lines = [*link()[:-1], "aie.route from @of_prod_dma to [@of_cons_dma] {packet = #aie.packet_info<>}"]
    ran = refused(*lines)
    text = "has a packet header with no pkt_id; run --aie-assign-packet-ids before this pass"
    assert ran.only.text == f"'aie.route' op {text}"


def test_ends_that_take_turns_by_hand_have_one_channel_and_one_flow() -> None:
    out, into = "turns = [@b_out, @c_out]", "turns = [@b_in, @c_in]"
    ran = allocated(
        pool("mb", "%t01", 2), pool("mc", "%t01", 1), pool("b", "%t02", 2), pool("c", "%t02", 2),
        dma("b_out", "%t01", "drains", "mb", out), dma("c_out", "%t01", "drains", "mc", out),
        dma("b_in", "%t02", "fills", "b", into), dma("c_in", "%t02", "fills", "c", into),
        route("@b_out", "b_in"), route("@c_out", "c_in"),
    )  # fmt: skip
    assert set(channels(ran).values()) == {0}
    assert flows(ran) == ["0,1:0 > 0,2:0"]


# --- stream ports -----------------------------------------------------------------------------------------------------


def port(name: str, tile: str, n: int | None = 0) -> str:
    return outside(name, tile, "" if n is None else f"channelIndex = {n} : i32", bundle="Core")


def test_stream_ports() -> None:
    ran = allocated(port("a", "%t02", 0), pool("p", "%t13", 2), dma("b", "%t13", "fills", "p"), route("@a", "b"))
    assert flows(ran) == ["0,2:0 Core > 1,3:0"]
    assert held(ran)["1,3"]


def test_a_stream_port_without_a_number() -> None:
    ran = refused(port("a", "%t02", None), port("b", "%t13", 0), route("@a", "b"))
    assert ran.only.text == "'aie.route_endpoint' op a stream port names its own channel"


def test_a_stream_port_that_is_not_there() -> None:
    ran = refused(port("a", "%t02", 1), port("b", "%t13", 0), route("@a", "b"))
    text = "source Core:1 does not exist: tile (0, 2) has 1 Core port into its stream switch"
    assert ran.only.text == f"'aie.route_endpoint' op {text}"
    ran = refused(port("a", "%t02", 0), port("b", "%t13", -1), route("@a", "b"))
    assert "destination Core:-1 does not exist: tile (1, 3) has 1 Core port out of its stream switch" in ran.only.text


def test_two_circuits_on_one_stream_port() -> None:
    ran = refused(
        port("a", "%t02"), port("b", "%t13"), port("c", "%t02"), port("d", "%t03"), route("@a", "b"), route("@c", "d")
    )
    assert ran.only.text == "'aie.route_endpoint' op Core output 0 is already in use on this tile"
    assert notes(ran) == ["the other stream is here"]
    ran = refused(
        port("a", "%t02"), port("b", "%t13"), port("c", "%t03"), port("d", "%t13"), route("@a", "b"), route("@c", "d")
    )
    assert ran.only.text == "'aie.route_endpoint' op Core input 0 is already in use on this tile"


def test_packets_share_a_stream_port_and_circuits_do_not() -> None:
    ends = (port("a", "%t02"), port("b", "%t13"), port("c", "%t02"), port("d", "%t03"))
    ran = allocated(*ends, route("@a", "b", packet="pkt_id = 0"), route("@c", "d", packet="pkt_id = 1"))
    assert flows(ran) == ["0: 0,2:0 Core > 1,3:0 Core", "1: 0,2:0 Core > 0,3:0 Core"]
    assert refused(*ends, route("@a", "b", packet="pkt_id = 0"), route("@c", "d")).said


@pytest.mark.parametrize("type", ["none", "memref<4xi8>", "vector<2xnone>"])
def test_an_element_type_without_a_size(type: str) -> None:
    ran = refused(pool("p", "%t02", 1, 4, type=type))
    assert (
        ran.only.text == f"'aie.objectfifo.pool' op has objects of unknown size: its element type {type} has no width"
    )


def test_more_objects_than_there_is_memory() -> None:
    """Refused before each of them is given a place."""
    ran = refused(pool("p", "%t02", 2**31 - 1, 4))
    assert ran.only.text == (
        f"'aie.objectfifo.pool' op needs {(2**31 - 1) * 16} bytes for its {2**31 - 1} objects, more than all tiles "
        "together have"
    )


@pytest.mark.parametrize("type", ["vector<16xi8>", "complex<f32>", "i4", "bf16", "index"])
def test_element_types_with_a_size(type: str) -> None:
    assert held(allocated(pool("p", "%t02", 1, 4, type=type)))


def test_a_pool_without_objects() -> None:
    ran = refused(pool("p", "%t02", 0))
    assert ran.only.text == "'aie.objectfifo.pool' op has a depth of 0, but needs at least one object"
