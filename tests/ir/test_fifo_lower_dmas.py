"""DMA endpoints become channel programs: one descriptor per object and segment, guarded by the pool's locks."""

from __future__ import annotations

import pytest
from chainkit import Told, programs
from passkit import Ran
from poolkit import bd, chains, device, end, lowered, pool

from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.passes.fifo_lower_dmas import ObjectFifoLowerDmas
from aiecc.ir.verify import verify

# --- plain chains -----------------------------------------------------------------------------------------------------


def test_a_drain_waits_for_full_objects_and_gives_back_free_ones() -> None:
    got = chains(pool("p", "%t02", 2, 16), end("e", "%t02", "drains", "p"))
    assert got == {"0,2 MM2S 0": Told([bd("pC0", "p0 0+16", "pP0"), bd("pC0", "p1 0+16", "pP0")], back=0)}


def test_a_fill_is_the_other_way_round() -> None:
    got = chains(pool("p", "%t02", 1, 16), end("e", "%t02", "fills", "p", "channelIndex = 1 : i32"))
    assert got == {"0,2 S2MM 1": Told([bd("pP0", "p0 0+16", "pC0")], back=0)}


def test_buffer_major_and_segment_minor() -> None:
    got = chains(
        pool("p", "%t01", 2, 48, segments=(16, 32)),
        end("part", "%t01", "fills", "p", "channelIndex = 3 : i32, segments = [@s1]"),
        end("all", "%t01", "drains", "p", "channelIndex = 2 : i32, segments = [@s0, @s1]"),
    )
    assert list(got) == ["0,1 S2MM 3", "0,1 MM2S 2"]
    assert got["0,1 S2MM 3"].bds == [bd("pP1", "p0 16+32", "pC1"), bd("pP1", "p1 16+32", "pC1")]
    assert got["0,1 MM2S 2"].bds == [
        bd("pC0", "p0 0+16", "pP0"),
        bd("pC1", "p0 16+32", "pP1"),
        bd("pC0", "p1 0+16", "pP0"),
        bd("pC1", "p1 16+32", "pP1"),
    ]
    assert {told.back for told in got.values()} == {0}


def test_each_tile_gets_its_own_kind_of_program() -> None:
    ran = lowered(
        pool("a", "%t02", 1, 8),
        pool("b", "%t01", 1, 8),
        'aie.external_buffer {sym_name = "x"} : memref<64xi32>',
        "aie.objectfifo.pool @c(%t00) {depth = 1 : i32, buffers = [@x]} : memref<64xi32> {",
        "aie.objectfifo.segment @s0 {offset = 0 : i32, size = 64 : i32} }",
        end("ea", "%t02", "drains", "a"),
        end("eb", "%t01", "fills", "b"),
        end("ec", "%t00", "drains", "c"),
    )
    names = [op.name for op in ran.device.block.ops]
    assert [name for name in names if name in ("aie.mem", "aie.memtile_dma", "aie.shim_dma")] == [
        "aie.mem",
        "aie.memtile_dma",
        "aie.shim_dma",
    ]
    assert names[-1] == "aie.end"
    assert programs(ran.module)["0,0 MM2S 0"].bds == ["x 0+64"]


def test_a_pool_without_locks_moves_without_asking() -> None:
    text = pool("p", "%t02", 2, 16).replace(", produceLock = @pP0, consumeLock = @pC0", "")
    assert chains(text, end("e", "%t02", "drains", "p"))["0,2 MM2S 0"].bds == ["p0 0+16", "p1 0+16"]


def test_a_pool_of_no_objects_moves_none() -> None:
    got = lowered(pool("p", "%t02", 0, 16), end("e", "%t02", "drains", "p"))
    assert "aie.mem" not in got.text


def test_two_names_for_one_tile_share_a_program() -> None:
    ran = lowered(
        "%again = aie.tile(0, 2)",
        pool("p", "%t02", 1, 16),
        pool("q", "%again", 1, 16),
        end("e", "%t02", "drains", "p"),
        end("f", "%again", "fills", "q"),
    )
    assert ran.text.count("aie.mem(") == 1
    assert list(programs(ran.module)) == ["0,2 MM2S 0", "0,2 S2MM 0"]


def test_a_buffer_on_a_neighbour_is_reached_by_name() -> None:
    text = pool("p", "%t01", 2, 16).replace("%p1 = aie.buffer(%t01)", "%t11 = aie.tile(1, 1)\n%p1 = aie.buffer(%t11)")
    got = chains(text, end("e", "%t01", "fills", "p"))
    assert got["0,1 S2MM 0"].bds == [bd("pP0", "p0 0+16", "pC0"), bd("pP0", "p1 0+16", "pC0")]


def test_devices_do_not_know_of_one_another() -> None:
    one = device(pool("p", "%t02", 1, 8), end("e", "%t02", "drains", "p"))
    two = one.replace("aie.device(npu2)", "aie.device(npu2) @other").replace("memref<8xi32>", "memref<4xi32>")
    two = two.replace("size = 8", "size = 4")
    ran = Ran(f"{one}\n{two}", ObjectFifoLowerDmas())
    assert ran.said == []
    assert [programs(d)["0,2 MM2S 0"].bds for d in ran.devices] == [
        [bd("pC0", "p0 0+8", "pP0")],
        [bd("pC0", "p0 0+4", "pP0")],
    ]


# --- repeats and passes -----------------------------------------------------------------------------------------------

REPEAT = ", repeatCount = 3 : i32"


def test_a_repeating_drain_lists_every_descriptor_that_often() -> None:
    got = chains(pool("p", "%t01", 2, 16, more=REPEAT), end("e", "%t01", "drains", "p"))
    first, second = bd("pC0", "p0 0+16", "pP0"), bd("pC0", "p1 0+16", "pP0")
    assert got == {"0,1 MM2S 0": Told([first] * 3 + [second] * 3, back=0)}


def test_the_filler_of_a_repeating_pool_takes_a_whole_batch() -> None:
    got = chains(pool("p", "%t01", 2, 16, more=REPEAT), end("e", "%t01", "fills", "p"))
    assert got["0,1 S2MM 0"].bds == [bd("pP0", "p0 0+16", "pC0", 3), bd("pP0", "p1 0+16", "pC0", 3)]


def test_one_descriptor_is_repeated_by_the_channel() -> None:
    got = chains(pool("p", "%t01", 1, 16, more=REPEAT), end("e", "%t01", "drains", "p"))
    assert got == {"0,1 MM2S 0": Told([bd("pC0", "p0 0+16", "pP0")], back=0, repeat=2)}


def test_an_object_of_several_segments_repeats_as_a_whole() -> None:
    """Each repeat is the object, so its segments follow one another in every one of them."""
    got = chains(
        pool("p", "%t01", 1, 12, segments=(4, 8), more=REPEAT),
        end("e", "%t01", "drains", "p", "channelIndex = 0 : i32, segments = [@s0, @s1]"),
    )
    first, second = bd("pC0", "p0 0+4", "pP0"), bd("pC1", "p0 4+8", "pP1")
    assert got == {"0,1 MM2S 0": Told([first, second] * 3, back=0)}


@pytest.mark.parametrize(("count", "repeat"), [(1, 0), (3, 2), (256, 255)])
def test_a_bounded_chain_ends(count: int, repeat: int) -> None:
    got = chains(
        pool("p", "%t01", 2, 16), end("e", "%t01", "drains", "p", f"channelIndex = 0 : i32, iterCount = {count} : i32")
    )
    assert got["0,1 MM2S 0"] == Told([bd("pC0", "p0 0+16", "pP0"), bd("pC0", "p1 0+16", "pP0")], None, repeat)


def test_passes_take_the_channels_counter_so_repeats_are_listed() -> None:
    got = chains(
        pool("p", "%t01", 1, 16, more=REPEAT),
        end("e", "%t01", "drains", "p", "channelIndex = 0 : i32, iterCount = 4 : i32"),
    )
    assert got["0,1 MM2S 0"] == Told([bd("pC0", "p0 0+16", "pP0")] * 3, None, 3)


def test_a_chain_before_a_bounded_one_goes_on_behind_it() -> None:
    """The bounded chain's own end is not the program's."""
    bounded = "channelIndex = 0 : i32, iterCount = 2 : i32"
    got = chains(
        pool("p", "%t02", 1, 8),
        pool("q", "%t02", 1, 8),
        end("e", "%t02", "drains", "p", bounded),
        end("f", "%t02", "fills", "q", bounded),
        end("g", "%t02", "fills", "p", "channelIndex = 1 : i32"),
    )
    assert list(got) == ["0,2 MM2S 0", "0,2 S2MM 0", "0,2 S2MM 1"]
    assert [told.back for told in got.values()] == [None, None, 0]


def test_too_many_passes_are_refused_by_the_channel() -> None:
    ran = Ran(
        device(
            pool("p", "%t01", 2, 16),
            end("e", "%t01", "drains", "p", "channelIndex = 0 : i32, iterCount = 258 : i32"),
        ),
        ObjectFifoLowerDmas(),
    )
    told = [d.text for d in verify(ran.module)]
    assert told == ["'aie.dma_start' op repeat_count 257 is out of range [0, 255] for this target"]


# --- headers, layouts -------------------------------------------------------------------------------------------------


def test_a_packet_header_stands_before_the_descriptor() -> None:
    got = chains(
        pool("p", "%t02", 1, 16),
        end("e", "%t02", "drains", "p", "channelIndex = 0 : i32, packet = #aie.packet_info<pkt_type = 2, pkt_id = 7>"),
    )
    assert got["0,2 MM2S 0"].bds == ["AGE pC0 1 | pkt(2,7) | p0 0+16 | REL pP0 1"]


@pytest.mark.parametrize(
    ("depth", "ids", "buffers", "headers"),
    [
        (2, (0, 9, 1), "010101", "091091"),
        (3, (1, 0), "012012", "101010"),
        (2, (4, 5), "01", "45"),
        (1, (4, 5, 6), "000", "456"),
        (4, (7,), "0123", "7777"),
    ],
)
def test_dispatch_meets_every_turn_with_every_object(
    depth: int, ids: tuple[int, ...], buffers: str, headers: str
) -> None:
    names = ", ".join(f"@d{i}" for i in range(len(ids)))
    packets = ", ".join(f"#aie.packet_info<pkt_id = {i}>" for i in ids)
    got = chains(
        pool("p", "%t01", depth, 8),
        *(f"aie.route_endpoint @d{i}(%t00) DMA {{channelIndex = 0 : i32}}" for i in range(len(ids))),
        end("e", "%t01", "drains", "p", f"channelIndex = 0 : i32, dispatch = [{names}], dispatchPackets = [{packets}]"),
    )
    assert got["0,1 MM2S 0"].bds == [
        f"AGE pC0 1 | pkt(0,{header}) | p{buffer} 0+8 | REL pP0 1"
        for buffer, header in zip(buffers, headers, strict=True)
    ]
    assert got["0,1 MM2S 0"].back == 0


def test_a_dispatching_object_keeps_its_header_over_its_segments() -> None:
    got = chains(
        pool("p", "%t01", 1, 8, segments=(4, 4)),
        *(f"aie.route_endpoint @d{i}(%t00) DMA {{channelIndex = 0 : i32}}" for i in range(2)),
        end(
            "e",
            "%t01",
            "drains",
            "p",
            "channelIndex = 0 : i32, segments = [@s0, @s1], dispatch = [@d0, @d1], "
            "dispatchPackets = [#aie.packet_info<pkt_id = 5>, #aie.packet_info<pkt_id = 6>]",
        ),
    )
    assert [text.split(" | ")[1] for text in got["0,1 MM2S 0"].bds] == ["pkt(0,5)", "pkt(0,5)", "pkt(0,6)", "pkt(0,6)"]


def test_a_bounded_dispatch_counts_rounds() -> None:
    got = chains(
        pool("p", "%t01", 3, 8),
        *(f"aie.route_endpoint @d{i}(%t00) DMA {{channelIndex = 0 : i32}}" for i in range(2)),
        end(
            "e",
            "%t01",
            "drains",
            "p",
            "channelIndex = 0 : i32, iterCount = 4 : i32, dispatch = [@d0, @d1], "
            "dispatchPackets = [#aie.packet_info<pkt_id = 5>, #aie.packet_info<pkt_id = 6>]",
        ),
    )
    told = got["0,1 MM2S 0"]
    assert (len(told.bds), told.back, told.repeat) == (6, None, 1)


def test_layouts_and_padding_belong_to_their_segments() -> None:
    got = chains(
        pool("p", "%t01", 1, 28, segments=(12, 16)),
        end(
            "e",
            "%t01",
            "drains",
            "p",
            "channelIndex = 0 : i32, segments = [@s0, @s1], padValue = 7 : i32, "
            "dimensions = #aie<bd_dim_layout_array_array[[<size = 3, stride = 4>, <size = 4, stride = 1>], []]>, "
            "padDimensions = #aie<bd_pad_layout_array_array[[<const_pad_before = 1, const_pad_after = 0>, "
            "<const_pad_before = 2, const_pad_after = 2>], []]>",
        ),
    )
    told = got["0,1 MM2S 0"]
    assert told.bds == [
        bd("pC0", f"p0 0+{(3 + 1) * (4 + 4)} [3*4 4*1] pad[1:0 2:2]", "pP0"),
        bd("pC1", "p0 12+16", "pP1"),
    ]
    assert told.pad_value == 7


def test_a_layout_without_padding_moves_the_segment() -> None:
    dims = "dimensions = #aie<bd_dim_layout_array_array[[<size = 2, stride = 8>, <size = 8, stride = 1>]]>"
    got = chains(pool("p", "%t02", 1, 16), end("e", "%t02", "fills", "p", f"channelIndex = 0 : i32, {dims}"))
    assert got["0,2 S2MM 0"].bds == [bd("pP0", "p0 0+16 [2*8 8*1]", "pC0")]


# --- binary locks -----------------------------------------------------------------------------------------------------


def binary(depth: int, more: str = "") -> str:
    lines = [f'%p{i} = aie.buffer(%t02) {{sym_name = "p{i}"}} : memref<16xi32>' for i in range(depth)]
    lines += [f'%l{i} = aie.lock(%t02, {i}) {{sym_name = "l{i}", init = 0 : i32}}' for i in range(depth)]
    buffers, locks = (", ".join(f"@{c}{i}" for i in range(depth)) for c in "pl")
    return "\n".join(
        [
            *lines,
            f"aie.objectfifo.pool @p(%t02) {{depth = {depth} : i32, buffers = [{buffers}], locks = [{locks}]{more}}} "
            ": memref<16xi32> {",
            "aie.objectfifo.segment @s0 {offset = 0 : i32, size = 16 : i32} }",
        ]
    )


def on_aie1(*parts: str) -> dict[str, Told]:
    tiles = "%t02 = aie.tile(1, 2)"
    ran = Ran("\n".join(["aie.device(xcvc1902) {", tiles, *parts, "}"]), ObjectFifoLowerDmas())
    assert ran.said == [] and not verify(ran.module)
    return programs(ran.module)


def test_a_binary_lock_follows_its_buffer() -> None:
    assert on_aie1(binary(2), end("e", "%t02", "drains", "p"))["1,2 MM2S 0"] == Told(
        ["ACQ l0 1 | p0 0+16 | REL l0 0", "ACQ l1 1 | p1 0+16 | REL l1 0"], back=0
    )
    assert on_aie1(binary(2), end("e", "%t02", "fills", "p"))["1,2 S2MM 0"] == Told(
        ["ACQ l0 0 | p0 0+16 | REL l0 1", "ACQ l1 0 | p1 0+16 | REL l1 1"], back=0
    )


@pytest.mark.parametrize("depth", [1, 2])
def test_a_binary_lock_is_held_over_all_repeats(depth: int) -> None:
    """It cannot be taken again before it was given back, and this target's channels do not repeat by themselves."""
    got = on_aie1(binary(depth, ", repeatCount = 3 : i32"), end("e", "%t02", "drains", "p"))["1,2 MM2S 0"]
    assert got.repeat == 0
    assert got.bds == [
        text for i in range(depth) for text in (f"ACQ l{i} 1 | p{i} 0+16", f"p{i} 0+16", f"p{i} 0+16 | REL l{i} 0")
    ]


def test_the_filler_of_a_repeating_pool_has_no_batch_on_binary_locks() -> None:
    got = on_aie1(binary(1, ", repeatCount = 3 : i32"), end("e", "%t02", "fills", "p"))
    assert got["1,2 S2MM 0"].bds == ["ACQ l0 0 | p0 0+16 | REL l0 1"]


# --- order and repetition ---------------------------------------------------------------------------------------------


def test_positions_are_those_of_the_endpoint() -> None:
    text = device(pool("p", "%t02", 1, 8), end("e", "%t02", "drains", "p"))
    ran = Ran(text, ObjectFifoLowerDmas())
    line = next(i for i, row in enumerate(text.splitlines(), 1) if "@e(" in row)
    program = next(op for op in ran.device.block.ops if op.name == "aie.mem")
    from aiecc.ir.spans import span_of

    spans = [span_of(op) for op in program.walk()]
    assert {span.line for span in spans if span is not None} == {line}
    assert None not in spans


def test_nothing_changes_without_endpoints() -> None:
    text = device(pool("p", "%t02", 1, 8))
    assert Ran(text, ObjectFifoLowerDmas()).text == Ran(text).text


def test_a_device_without_anything() -> None:
    ran = Ran("aie.device(npu2) {}", ObjectFifoLowerDmas())
    assert ran.said == []
    assert isinstance(ran.device, DeviceOp)
