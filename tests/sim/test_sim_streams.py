"""Streams: broadcast, join and distribute by hand, dimensions, padding, packets, cascades, streams of cores."""

from __future__ import annotations

import struct

import pytest

from aiecc.base.diag import Refused
from aiecc.ir.text import parse
from aiecc.sim.array import simulate
from aiecc.sim.outcome import Kind, Outcome, Status

SEEDS = range(5)


def run(body: str, device: str = "npu2", **options: object) -> Outcome:
    text = f"aie.device({device}) {{\n{body}\n}}"
    return simulate(parse(text, "streams.mlir"), **options)  # type: ignore[arg-type]


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def ints(data: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(data) // 4}i", data))


def chain(
    direction: str, channel: int, label: str, blocks: list[tuple[str, str, str]], after: str, more: str = ""
) -> str:
    """One channel that goes round its blocks: (lock taken, descriptor, lock given)."""
    text = f"%{label} = aie.dma_start({direction}, {channel}, ^{label}0, ^{after}{more})\n"
    for at, (take, bd, give) in enumerate(blocks):
        text += f"^{label}{at}:\n"
        if take:
            text += f"aie.use_lock(%{take}, AcquireGreaterEqual, 1)\n"
        text += f"aie.dma_bd({bd})\n"
        if give:
            text += f"aie.use_lock(%{give}, Release, 1)\n"
        text += f"aie.next_bd ^{label}{(at + 1) % len(blocks)}\n"
    return text + f"^{after}:\n"


def ping_pong(tile: str, name: str) -> str:
    """Two buffers of four words and their locks."""
    return f"""
    %{name}0 = aie.buffer(%{tile}) {{sym_name = "{name}0"}} : memref<4xi32>
    %{name}1 = aie.buffer(%{tile}) {{sym_name = "{name}1"}} : memref<4xi32>
    %{name}_free = aie.lock(%{tile}) {{init = 2 : i32, sym_name = "{name}_free"}}
    %{name}_full = aie.lock(%{tile}) {{init = 0 : i32, sym_name = "{name}_full"}}"""


def through(name: str, into: int, out: int) -> str:
    """In through one channel, out through another."""
    bds = [f"%{name}{i} : memref<4xi32> offset = 0 len = 4" for i in (0, 1)]
    return (
        chain("S2MM", into, "in", [(f"{name}_free", bd, f"{name}_full") for bd in bds], "next")
        + chain("MM2S", out, "out", [(f"{name}_full", bd, f"{name}_free") for bd in bds], "end")
        + "aie.end"
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_broadcast_gives_everybody_everything(seed: int) -> None:
    parts = ["%s0 = aie.tile(0, 0)\n%s1 = aie.tile(1, 0)\n%s2 = aie.tile(2, 0)"]
    for n in range(3):
        parts.append(f"%t{n} = aie.tile({n}, 2)" + ping_pong(f"t{n}", f"b{n}_"))
        parts.append(f"aie.flow(%s0, DMA : 0, %t{n}, DMA : 0)\naie.flow(%t{n}, DMA : 0, %s{n}, DMA : 0)")
        parts.append(f"%m{n} = aie.mem(%t{n}) {{\n{through(f'b{n}_', 0, 0)}\n}}")
    data = words(*range(24))
    outcome = run("\n".join(parts), feeds={(0, 0): data}, drains={(n, 0): 96 for n in range(3)}, seed=seed)
    assert outcome.finished, outcome.report()
    assert list(outcome.received.values()) == [data] * 3


def test_one_receiver_that_stops_holds_up_a_broadcast() -> None:
    parts = ["%s0 = aie.tile(0, 0)\n%s1 = aie.tile(1, 0)"]
    for n in range(2):
        parts.append(f"%t{n} = aie.tile({n}, 2)" + ping_pong(f"t{n}", f"b{n}_"))
        parts.append(f"aie.flow(%s0, DMA : 0, %t{n}, DMA : 0)")
    parts.append(f"aie.flow(%t0, DMA : 0, %s0, DMA : 0)\n%m0 = aie.mem(%t0) {{\n{through('b0_', 0, 0)}\n}}")
    only = [("b1__free", f"%b1_{i} : memref<4xi32> offset = 0 len = 4", "b1__full") for i in (0, 1)]
    parts.append(f"%m1 = aie.mem(%t1) {{\n{chain('S2MM', 0, 'in', only, 'end')} aie.end\n}}")
    outcome = run("\n".join(parts), feeds={(0, 0): words(*range(24))}, drains={(0, 0): 96})
    assert outcome.status is Status.STUCK
    # Two blocks went to both; then the second tile has nothing free.
    assert len(outcome.received["(0, 0) DMA : 0"]) == 32
    waits = {w.actor: w.what for w in outcome.waits}
    assert waits["S2MM 0 of tile (1, 2)"] == "lock b1__free to reach 1 (it is 0)"
    assert waits["feed (0, 0) DMA : 0"] == "(1, 2) DMA : 0 to take 64 more bytes from the stream"


JOIN = """
%s = aie.tile(0, 0)
%s1 = aie.tile(1, 0)
%m = aie.tile(0, 1)
%whole = aie.buffer(%m) {sym_name = "whole"} : memref<8xi32>
%f0 = aie.lock(%m) {init = 1 : i32, sym_name = "f0"}
%f1 = aie.lock(%m) {init = 1 : i32, sym_name = "f1"}
%g0 = aie.lock(%m) {init = 0 : i32, sym_name = "g0"}
%g1 = aie.lock(%m) {init = 0 : i32, sym_name = "g1"}
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_join_of_two_streams_in_a_memory_tile(seed: int) -> None:
    halves = [f"%whole : memref<8xi32> offset = {o} len = 4" for o in (0, 4)]
    dma = (
        chain("S2MM", 0, "a", [("f0", halves[0], "g0")], "b")
        + chain("S2MM", 1, "c", [("f1", halves[1], "g1")], "d")
        + chain("MM2S", 0, "e", [("g0", halves[0], "f0"), ("g1", halves[1], "f1")], "end")
    )
    flows = (
        "aie.flow(%s, DMA : 0, %m, DMA : 0)\naie.flow(%s1, DMA : 0, %m, DMA : 1)\naie.flow(%m, DMA : 0, %s, DMA : 0)"
    )
    body = f"{JOIN}{flows}\n%d = aie.memtile_dma(%m) {{\n{dma} aie.end\n}}"
    outcome = run(
        body, feeds={(0, 0): words(*range(12)), (1, 0): words(*range(100, 112))}, drains={(0, 0): 96}, seed=seed
    )
    assert outcome.finished, outcome.report()
    expected = [v for b in range(3) for base in (0, 100) for v in range(base + 4 * b, base + 4 * b + 4)]
    assert ints(outcome.received["(0, 0) DMA : 0"]) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_distribute_of_one_stream_to_two(seed: int) -> None:
    halves = [f"%whole : memref<8xi32> offset = {o} len = 4" for o in (0, 4)]
    dma = (
        chain("S2MM", 0, "a", [("f0", halves[0], "g0"), ("f1", halves[1], "g1")], "b")
        + chain("MM2S", 0, "c", [("g0", halves[0], "f0")], "d")
        + chain("MM2S", 1, "e", [("g1", halves[1], "f1")], "end")
    )
    flows = (
        "aie.flow(%s, DMA : 0, %m, DMA : 0)\naie.flow(%m, DMA : 0, %s, DMA : 0)\naie.flow(%m, DMA : 1, %s1, DMA : 0)"
    )
    body = f"{JOIN}{flows}\n%d = aie.memtile_dma(%m) {{\n{dma} aie.end\n}}"
    outcome = run(body, feeds={(0, 0): words(*range(24))}, drains={(0, 0): 48, (1, 0): 48}, seed=seed)
    assert outcome.finished, outcome.report()
    assert ints(outcome.received["(0, 0) DMA : 0"]) == [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19]
    assert ints(outcome.received["(1, 0) DMA : 0"]) == [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23]


def once(bd: str, more: str = "", start: str = "") -> str:
    """A memory tile that sends one buffer with initial values, once."""
    return f"""
    %s = aie.tile(0, 0)
    %m = aie.tile(0, 1)
    %b = aie.buffer(%m) {{sym_name = "b"}} : memref<12xi32> = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]>
    aie.flow(%m, DMA : 0, %s, DMA : 0)
    %d = aie.memtile_dma(%m) {{
      %x = aie.dma_start(MM2S, 0, ^send, ^end{start})
    ^send:
      aie.dma_bd({bd})
      {more or "aie.next_bd ^end"}
    ^end:
      aie.end
    }}"""


OUT = "(0, 0) DMA : 0"


def test_dimensions_transpose() -> None:
    outcome = run(once("%b : memref<12xi32> offset = 0 len = 12 sizes = [4, 3] strides = [1, 4]"), drains={(0, 0): 48})
    assert ints(outcome.received[OUT]) == [4 * j + i for i in range(4) for j in range(3)]


def test_padding_surrounds_the_data() -> None:
    pads = "[<const_pad_before = 1, const_pad_after = 1>, <const_pad_before = 2, const_pad_after = 0>]"
    bd = f"%b : memref<12xi32> offset = 1 len = 20 sizes = [2, 3] strides = [4, 1] pad {pads}"
    text = once(bd, start="").replace("^end)\n    ^send", "^end) {pad_value = -1 : i32}\n    ^send")
    outcome = run(text, drains={(0, 0): 80})
    row = [-1] * 5
    assert ints(outcome.received[OUT]) == [*row, -1, -1, 1, 2, 3, -1, -1, 5, 6, 7, *row]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_repeats_run_the_chain_again(count: int) -> None:
    outcome = run(once("%b : memref<12xi32> offset = 2 len = 3", start=f", repeat_count = {count}"))
    assert ints(outcome.received[OUT]) == [2, 3, 4] * (count + 1)
    assert "MM2S 0 of tile (0, 1)" in outcome.ended


def test_an_iteration_moves_on_each_time_and_starts_over() -> None:
    bd = "%b : memref<12xi32> offset = 0 len = 2"
    text = once(bd, start=", repeat_count = 4").replace(
        "len = 2)", "len = 2) {iteration = #aie.bd_iteration<size = 3, stride = 4, current = 1>}"
    )
    outcome = run(text)
    assert ints(outcome.received[OUT]) == [4, 5, 8, 9, 0, 1, 4, 5, 8, 9]


def test_descriptors_in_a_list() -> None:
    body = """
    %s = aie.tile(0, 0)
    %m = aie.tile(0, 1)
    %b = aie.buffer(%m) {sym_name = "b"} : memref<4xi32> = dense<[5, 6, 7, 8]>
    aie.flow(%m, DMA : 0, %s, DMA : 0)
    %d = aie.memtile_dma(%m) {
      %x = aie.dma(MM2S, 0) {loop = false, repeat_count = 1 : i32} [{
        aie.dma_bd(%b : memref<4xi32> offset = 2 len = 2)
      }, {
        aie.dma_bd(%b : memref<4xi32> offset = 0 len = 1)
      }]
      aie.end
    }"""
    assert ints(run(body).received[OUT]) == [7, 8, 5, 7, 8, 5]


def packets(keep: str = "") -> str:
    """Two cores' DMAs send packets of different ids into one shim channel."""
    text = ["%s = aie.tile(0, 0)"]
    for n in range(2):
        info = f"#aie.packet_info<pkt_type = {n}, pkt_id = {n + 4}>"
        values = ", ".join(str(100 * n + i) for i in range(4))
        text.append(f"""
        %t{n} = aie.tile({n}, 2)
        %b{n} = aie.buffer(%t{n}) {{sym_name = "b{n}"}} : memref<4xi32> = dense<[{values}]>
        aie.packet_flow({n + 4}) {{
          aie.packet_source<%t{n}, DMA : 0>
          aie.packet_dest<%s, DMA : 0>
        }} {keep}
        %m{n} = aie.mem(%t{n}) {{
          %x = aie.dma_start(MM2S, 0, ^send, ^end, repeat_count = 2)
        ^send:
          aie.dma_bd(%b{n} : memref<4xi32> offset = 0 len = 4) {{packet = {info}}}
          aie.next_bd ^end
        ^end:
          aie.end
        }}""")
    return "\n".join(text)


def test_packets_of_two_sources_do_not_mix() -> None:
    orders: set[tuple[int, ...]] = set()
    for seed in range(12):
        outcome = run(packets(), drains={(0, 0): 96}, seed=seed)
        assert outcome.finished, outcome.report()
        got = ints(outcome.received[OUT])
        heads = tuple(got[::4])
        assert sorted(heads) == [0, 0, 0, 100, 100, 100]
        assert got == [v for head in heads for v in range(head, head + 4)]
        orders.add(heads)
    assert len(orders) > 1, "different seeds should let different sources win"


def test_kept_headers_say_where_a_packet_is_from() -> None:
    outcome = run(packets("{keep_pkt_header = true}"), drains={(0, 0): 120}, seed=1)
    got = struct.unpack("<30I", outcome.received[OUT])
    for at in range(0, 30, 5):
        header, first = got[at], got[at + 1]
        source = first // 100
        assert bin(header).count("1") % 2 == 1
        assert header & 31 == source + 4
        assert header >> 12 & 7 == source
        assert (header >> 16 & 31, header >> 21 & 127) == (2, source)


def test_packets_of_one_source_part_by_their_ids() -> None:
    body = """
    %s = aie.tile(0, 0)
    %s1 = aie.tile(1, 0)
    %m = aie.tile(0, 1)
    %b = aie.buffer(%m) {sym_name = "b"} : memref<4xi32> = dense<[1, 2, 3, 4]>
    aie.packet_flow(1) { aie.packet_source<%m, DMA : 0> aie.packet_dest<%s, DMA : 0> }
    aie.packet_flow(2) {
      aie.packet_source<%m, DMA : 0>
      aie.packet_dest<%s1, DMA : 0>
      aie.packet_dest<%s, DMA : 1>
    }
    %d = aie.memtile_dma(%m) {
      %x = aie.dma_start(MM2S, 0, ^a, ^end)
    ^a:
      aie.dma_bd(%b : memref<4xi32> offset = 0 len = 2) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 1>}
      aie.next_bd ^b
    ^b:
      aie.dma_bd_packet(0, 2)
      aie.dma_bd(%b : memref<4xi32> offset = 2 len = 2)
      aie.next_bd ^end
    ^end:
      aie.end
    }"""
    outcome = run(body)
    got = {name: ints(data) for name, data in outcome.received.items()}
    assert got == {"(0, 0) DMA : 0": [1, 2], "(1, 0) DMA : 0": [3, 4], "(0, 0) DMA : 1": [3, 4]}


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (", pkt_id = 5>", ", pkt_id = 9>", "sends packets of id 9, but no flow takes them"),
        (" {packet = #aie.packet_info<pkt_type = 1, pkt_id = 5>}", "", "without a packet header into a packet flow"),
    ],
)
def test_packets_nobody_takes_trap(old: str, new: str, text: str) -> None:
    outcome = run(packets().replace(old, new))
    assert outcome.trap is not None
    assert outcome.trap.kind is Kind.STREAM
    assert text in outcome.trap.text


def test_a_stream_without_a_reader_traps() -> None:
    outcome = run(once("%b : memref<12xi32> offset = 0 len = 4").replace("%s, DMA : 0", "%m, DMA : 3"))
    assert outcome.trap is not None
    assert outcome.trap.text == "(0, 1) DMA : 3 is the end of a stream, but nobody reads it"


def test_a_channel_without_a_flow_traps() -> None:
    outcome = run(once("%b : memref<12xi32> offset = 0 len = 4").replace("aie.flow(", "// "))
    assert outcome.trap is not None
    assert outcome.trap.where is not None
    assert "no flow starts there" in outcome.trap.text
    assert outcome.trap.where.line == 10


@pytest.mark.parametrize(
    "cascade",
    ["aie.cascade_flow(%a, %b)", "aie.configure_cascade(%a, North, South)\naie.configure_cascade(%b, North, South)"],
)
def test_cores_talk_by_stream_and_cascade(cascade: str) -> None:
    body = """
    %a = aie.tile(0, 3)
    %b = aie.tile(0, 2)
    %out = aie.buffer(%b) {sym_name = "out"} : memref<2xi32>
    aie.flow(%a, Core : 0, %b, Core : 0)
    CASCADE
    %ca = aie.core(%a) {
      %c0 = arith.constant 0 : i32
      %v = arith.constant -5 : i32
      %w = arith.constant 77 : i512
      aie.put_stream(%c0 : i32, %v : i32)
      aie.put_cascade(%w : i512)
      aie.end
    }
    %cb = aie.core(%b) {
      %c0 = arith.constant 0 : i32
      %i0 = arith.constant 0 : index
      %i1 = arith.constant 1 : index
      %v = aie.get_stream(%c0 : i32) : i32
      memref.store %v, %out[%i0] : memref<2xi32>
      %w = aie.get_cascade() : i512
      %t = arith.trunci %w : i512 to i32
      memref.store %t, %out[%i1] : memref<2xi32>
      aie.end
    }"""
    outcome = run(body.replace("CASCADE", cascade))
    assert outcome.finished, outcome.report()
    assert ints(outcome.memory["out"]) == [-5, 77]


def test_a_channel_that_may_not_reach_a_buffer_is_refused() -> None:
    body = once("%b : memref<12xi32> offset = 0 len = 4").replace(
        "%m = aie.tile(0, 1)", "%m = aie.tile(0, 1)\n%n = aie.tile(3, 1)"
    )
    with pytest.raises(Refused, match=r"cannot reach buffer b of tile \(3, 1\)"):
        run(body.replace("aie.buffer(%m)", "aie.buffer(%n)"))


def test_a_shim_program_moves_between_buffers_outside() -> None:
    body = """
    %s = aie.tile(0, 0)
    %from = aie.external_buffer {sym_name = "from"} : memref<16xi32>
    %to = aie.external_buffer {sym_name = "to"} : memref<16xi32>
    %l = aie.lock(%s) {init = 1 : i32, sym_name = "l"}
    aie.flow(%s, DMA : 0, %s, DMA : 1)
    %d = aie.shim_dma(%s) {
      %x = aie.dma_start(MM2S, 0, ^out, ^next)
    ^out:
      aie.use_lock(%l, AcquireGreaterEqual, 1)
      aie.dma_bd(%from : memref<16xi32> offset = 4 len = 8)
      aie.next_bd ^end
    ^next:
      %y = aie.dma_start(S2MM, 1, ^in, ^end)
    ^in:
      aie.dma_bd(%to : memref<16xi32> offset = 0 len = 8)
      aie.next_bd ^end
    ^end:
      aie.end
    }"""
    outcome = run(body, feeds={"from": words(*range(16))})
    assert outcome.finished, outcome.report()
    assert ints(outcome.memory["to"])[:8] == list(range(4, 12))
    assert outcome.written["to"] == 32


def test_each_transfer_of_a_feed_is_a_packet_of_its_own() -> None:
    body = """
    %s = aie.tile(0, 0)
    %s1 = aie.tile(1, 0)
    aie.shim_dma_allocation @a(%s, MM2S, 0, <pkt_id = 3>)
    aie.shim_dma_allocation @b(%s1, MM2S, 0, <pkt_id = 3>)
    aie.shim_dma_allocation @out(%s, S2MM, 0)
    aie.packet_flow(3) {
      aie.packet_source<%s, DMA : 0>
      aie.packet_source<%s1, DMA : 0>
      aie.packet_dest<%s, DMA : 0>
    }"""
    orders: set[tuple[int, ...]] = set()
    for seed in range(10):
        feeds = {"a": [words(1, 1), words(2, 2)], "b": [words(3, 3), words(4, 4)]}
        outcome = run(body, feeds=feeds, drains={"out": 32}, seed=seed)
        got = ints(outcome.received["out"])
        assert got[::2] == got[1::2]
        assert sorted(got[::2]) == [1, 2, 3, 4]
        orders.add(tuple(got))
    assert len(orders) > 2


def test_a_design_with_only_switch_settings_is_refused() -> None:
    with pytest.raises(Refused, match="only switch settings left"):
        run("%t = aie.tile(0, 2)\n%b = aie.switchbox(%t) {\naie.connect<DMA : 0, South : 0>\n}")
