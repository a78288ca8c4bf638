"""DMA channels for objectFifo endpoints: pins, what is taken, exhaustion in words, channels a program owns."""

from __future__ import annotations

import pytest
from allockit import allocated, channels, dma, fifo, flows, notes, outside, pool, refused, route, tiles

from aiecc.base.diag import Level


def sends(name: str, tile: str, more: str = "") -> str:
    return pool(f"{name}_pool", tile, 1) + "\n" + dma(name, tile, "drains", f"{name}_pool", more)


def takes(name: str, tile: str, more: str = "") -> str:
    return pool(f"{name}_pool", tile, 1) + "\n" + dma(name, tile, "fills", f"{name}_pool", more)


def pair(name: str, a: str, b: str, more: str = "", more_b: str = "") -> str:
    """A fifo by DMA from tile `a` to tile `b`."""
    return "\n".join([sends(f"{name}_s", a, more), takes(f"{name}_r", b, more_b), route(f"@{name}_s", f"{name}_r")])


PIN = "channelIndex = {} : i32".format


def test_each_end_takes_the_lowest_free_channel_of_its_direction() -> None:
    ran = allocated(pair("a", "%t02", "%t13"), pair("b", "%t02", "%t03"), pair("c", "%t13", "%t02"))
    assert channels(ran) == {"a_s": 0, "a_r": 0, "b_s": 1, "b_r": 0, "c_s": 0, "c_r": 0}


def test_pins_come_first_whatever_the_order() -> None:
    ran = allocated(pair("a", "%t02", "%t13"), pair("b", "%t02", "%t03", PIN(0)))
    assert (channels(ran)["a_s"], channels(ran)["b_s"]) == (1, 0)


def test_two_ops_for_one_tile_are_one_tile() -> None:
    grid = tiles((0, 2), (1, 3), (0, 3)) + "\n%again = aie.logical_tile<CoreTile>(0, 2)"
    ran = allocated(pair("a", "%t02", "%t13"), pair("b", "%again", "%t03"), grid=grid)
    assert (channels(ran)["a_s"], channels(ran)["b_s"]) == (0, 1)


PROGRAM = """
%b = aie.buffer(%t02) {{sym_name = "b"}} : memref<16xi32>
%mem = aie.mem(%t02) {{
  %0 = aie.dma_start({direction}, {channel}, ^bd, ^end)
^bd:
  aie.dma_bd(%b : memref<16xi32>, 0, 16)
  aie.next_bd ^bd
^end:
  aie.end
}}"""


def program(direction: str = "MM2S", channel: str = "0") -> str:
    return PROGRAM.format(direction=direction, channel=channel)


def test_channels_that_a_program_starts_are_taken() -> None:
    ran = allocated(program(), pair("a", "%t02", "%t13"))
    assert channels(ran) == {"a_s": 1, "a_r": 0}


def test_a_flow_reserves_no_channel() -> None:
    ran = allocated("aie.flow(%t02, DMA : 0, %t03, DMA : 1)", pair("a", "%t02", "%t13"))
    assert channels(ran)["a_s"] == 0


@pytest.mark.parametrize("channel", [0, 2, -1])
def test_a_pin_that_cannot_be(channel: int) -> None:
    ran = refused(program(), pair("a", "%t02", "%t13", PIN(channel)))
    text = f"pinned MM2S DMA channel {channel} is out of range or already in use on this tile"
    assert ran.only.text == f"'aie.objectfifo.dma_endpoint' op {text}"
    assert notes(ran) == (["pre-existing aie.dma_start is here"] if channel == 0 else [])


def test_two_pins_on_one_channel() -> None:
    ran = refused(pair("a", "%t13", "%t02", "", PIN(1) + ", " + fifo("of")), pair("b", "%t03", "%t02", "", PIN(1)))
    text = "pinned S2MM DMA channel 1 is out of range or already in use on this tile"
    assert ran.only.text == f"'aie.objectfifo.dma_endpoint' op {text}"
    assert notes(ran) == ["DMA endpoint @a_r for ObjectFifo @of; occupies channel 1"]


# --- running out ------------------------------------------------------------------------------------------------------


def test_too_many_outputs() -> None:
    ran = refused(
        pair("a", "%t02", "%t13", fifo("fa")), pair("b", "%t02", "%t03"), pair("c", "%t02", "%t04", fifo("fc"))
    )
    text = "number of output DMA channel exceeded! requires at least 3 MM2S channels, but capacity is 2"
    assert ran.only.text == f"'aie.tile' op {text}"
    assert notes(ran) == [
        "tile(0, 2) has 2 MM2S channels, and 3 are wanted",
        "DMA endpoint @a_s for ObjectFifo @fa; occupies channel 0",
        "DMA endpoint @b_s; occupies channel 1",
        "DMA endpoint @c_s for ObjectFifo @fc",
    ]


def test_too_many_inputs_beside_a_program() -> None:
    ran = refused(program("S2MM", "1"), pair("a", "%t13", "%t02"), pair("b", "%t03", "%t02"))
    text = "number of input DMA channel exceeded! requires at least 3 S2MM channels, but capacity is 2"
    assert ran.only.text == f"'aie.tile' op {text}"
    assert notes(ran) == [
        "tile(0, 2) has 2 S2MM channels, and 3 are wanted",
        "DMA endpoint @a_r; occupies channel 0",
        "pre-existing aie.dma_start reserves DMA channel 1",
        "DMA endpoint @b_r",
    ]


def test_all_that_want_a_channel_are_listed() -> None:
    ran = refused(*(pair(name, "%t13", "%t02") for name in "abcd"))
    (told,) = [d for d in ran.sink.items if "input" in d.text]
    assert [n.text for n in told.notes] == [
        "tile(0, 2) has 2 S2MM channels, and 4 are wanted",
        "DMA endpoint @a_r; occupies channel 0", "DMA endpoint @b_r; occupies channel 1",
        "DMA endpoint @c_r", "DMA endpoint @d_r",
    ]  # fmt: skip
    assert told.todo.startswith("join some of them on a memory tile")


def test_every_tile_that_runs_out_is_told() -> None:
    names = [("a", "%t02", "%t13"), ("b", "%t02", "%t13"), ("c", "%t02", "%t13")]
    ran = refused(*(pair(*name) for name in names))
    words = sorted(d.text.split("op ")[1][:32] for d in ran.sink.items)
    assert words == ["number of input DMA channel exce", "number of output DMA channel exc"]


def test_a_memory_tile_that_runs_out_says_that_packing_was_tried() -> None:
    grid = tiles((0, 1), *((c, r) for c in range(2) for r in range(2, 6)))
    far = [f"%t{c}{r}" for c in range(2) for r in range(2, 6)]
    ran = refused(*(pair(f"f{i}", "%t01", far[i]) for i in range(7)), grid=grid)
    error, remark = ran.sink.items
    assert "requires at least 7 MM2S channels, but capacity is 6" in error.text
    assert len(error.notes) == 8
    assert remark.level is Level.REMARK
    assert remark.text.startswith("could not find a spill-aware allocation with size-first and demand-first packing")


# --- channels the design programs itself ------------------------------------------------------------------------------


def own(name: str = "e", tile: str = "%t02") -> str:
    return outside(name, tile)


def test_a_program_gets_the_channel_of_the_endpoint_it_names() -> None:
    ran = allocated(own(), program("MM2S", "@e"), pair("a", "%t02", "%t13"), takes("d", "%t04"), route("@e", "d"))
    assert channels(ran) == {"a_s": 0, "a_r": 0, "d": 0, "e": 1}
    assert len(ran.lines("aie.dma_start(MM2S, 1,")) == 1
    assert flows(ran) == ["0,2:0 > 1,3:0", "0,2:1 > 0,4:0"]


def test_a_program_keeps_a_pinned_channel() -> None:
    ran = allocated(outside("e", "%t02", PIN(0)), program("MM2S", "0"), takes("d", "%t04"), route("@e", "d"))
    assert flows(ran) == ["0,2:0 > 0,4:0"]


def test_a_program_that_starts_the_wrong_way() -> None:
    ran = refused(own(), program("S2MM", "@e"), takes("d", "%t04"), route("@e", "d"))
    assert ran.only.text == "'aie.dma_start' op starts S2MM on @e, but its route makes it MM2S"


def test_a_program_on_another_tile_than_its_endpoint() -> None:
    ran = refused(own("e", "%t03"), program("MM2S", "@e"), takes("d", "%t04"), route("@e", "d"))
    assert ran.only.text == "'aie.dma_start' op starts a channel by the name @e, which is on tile(0, 3)"


def test_a_program_on_an_endpoint_without_a_route() -> None:
    ran = allocated(own(), program("MM2S", "@e"), pair("a", "%t02", "%t13"))
    assert ran.lines("aie.dma_start(MM2S, 1,")


def test_a_program_on_an_endpoint_with_a_pool() -> None:
    ran = refused(pair("a", "%t02", "%t13"), program("MM2S", "@a_s"))
    assert ran.only.text.startswith("'aie.dma_start' op names @a_s")


def test_a_program_may_send_on_a_packet_route_with_an_id() -> None:
    ran = allocated(own(), program("MM2S", "@e"), takes("d", "%t04"), route("@e", "d", packet="pkt_id = 3"))
    assert flows(ran) == ["3: 0,2:0 > 0,4:0"]


TASK = """
aie.runtime_sequence @seq(%h: memref<16xi32>) {
  %t = aiex.dma_configure_task_for @e {
    aie.dma_bd(%x : memref<16xi32>, 0, 16)
    aie.end
  } {issue_token = true, repeat_count = 2 : i32}
  aiex.dma_start_task(%t)
  aiex.dma_await_task(%t)
}"""
MINE = '%x = aie.buffer(%t02) {sym_name = "x"} : memref<16xi32>'


def test_a_task_gets_the_channel_of_the_endpoint_it_names() -> None:
    ran = allocated(own(), MINE, takes("d", "%t04"), route("@e", "d", packet="pkt_id = 3"), TASK)
    (line,) = ran.lines("aiex.dma_configure_task(")
    assert "(%tile_0_2, MM2S, 0, <pkt_id = 3>)" in line
    assert ran.lines("issue_token = true, repeat_count = 2 : i32")
    assert not ran.lines("dma_configure_task_for")
    assert len(ran.lines("aiex.dma_start_task(%")) == len(ran.lines("aiex.dma_await_task(%")) == 1


def test_a_shim_end_with_a_fifo_keeps_its_task() -> None:
    task = TASK.replace("@e", "@in").replace("%x", "%h")
    ran = allocated(outside("in", "%t00", fifo("f")), takes("d", "%t02", fifo("f")), route("@in", "d"), task)
    assert len(ran.lines("aiex.dma_configure_task_for @f_shim_alloc {")) == 1


MEM = """
%mb = aie.buffer(%t01) {{sym_name = "mb"}} : memref<16xi32>
%mdma = aie.memtile_dma(%t01) {{
  %0 = aie.dma_start(MM2S, {channel}, ^b0, ^end)
{blocks}
^end:
  aie.end
}}"""


def mem_program(channel: str, bds: int) -> str:
    blocks = [f"^b{i}:\n  aie.dma_bd(%mb : memref<16xi32>, 0, 16)\n  aie.next_bd ^b{(i + 1) % bds}" for i in range(bds)]
    return MEM.format(channel=channel, blocks="\n".join(blocks))


def test_a_program_goes_where_there_is_room_for_its_descriptors() -> None:
    # Even channels share 24 descriptors, odd ones the other 24. The fifo takes channel 0 and 20 of the even ones.
    lines = (
        pool("a_pool", "%t01", 20), dma("a_s", "%t01", "drains", "a_pool"), takes("a_r", "%t02"), route("@a_s", "a_r"),
        own("e", "%t01"), mem_program("@e", 6), takes("d", "%t04"), route("@e", "d"),
    )  # fmt: skip
    assert channels(allocated(*lines))["e"] == 1


def crowded(*, more: str) -> list[str]:
    """Two fifos that use 20 of the 24 descriptors of the even channels and 20 of the odd ones, and an end beside."""
    lines = [own("e", "%t01"), more, takes("d", "%t04"), route("@e", "d")]
    for i in range(2):
        lines += [pool(f"a{i}_pool", "%t01", 20), dma(f"a{i}_s", "%t01", "drains", f"a{i}_pool", fifo(f"a{i}"))]
        lines += [takes(f"a{i}_r", ("%t02", "%t13")[i]), route(f"@a{i}_s", f"a{i}_r")]
    return lines


def test_a_fifo_goes_where_there_is_room_for_its_descriptors() -> None:
    assert channels(allocated(*crowded(more=mem_program("@e", 2)))) == {
        "a0_s": 0, "a1_s": 1, "a0_r": 0, "a1_r": 0, "d": 0, "e": 2,
    }  # fmt: skip


def test_tasks_that_do_not_fit_beside_the_others_are_warned_of() -> None:
    bds = "\n".join(["aie.dma_bd(%mb : memref<16xi32>, 0, 16)\n aie.next_bd ^b\n^b:"] * 5).replace("^b", "^bb{}")
    chain = "".join(part + str(i // 2) for i, part in enumerate(bds.split("{}")))[:-1]
    task = f"""
%mb = aie.buffer(%t01) {{sym_name = "mb"}} : memref<16xi32>
aie.runtime_sequence @seq() {{
  %t = aiex.dma_configure_task_for @e {{
    {chain}
    aie.dma_bd(%mb : memref<16xi32>, 0, 16)
    aie.end
  }}
}}"""
    ran = allocated(*crowded(more=task), quiet=False)
    assert channels(ran)["e"] == 2
    first = ran.sink.items[0]
    assert first.level is Level.WARNING
    assert first.text == (
        "channel 2 can use 24 BDs, but it and the channels sharing them need 26 at once; BD id assignment fails unless "
        "tasks free their BDs before others start"
    )


def test_a_chain_longer_than_a_channels_descriptors() -> None:
    """A pool of 26 objects, filled and drained: its two chains go to different halves, and neither fits."""
    lines = (
        pool("deep_cons_pool", "%t01", 26, 16, ', fifoName = "deep"'),
        outside("deep_prod_dma", "%t00", fifo("deep")),
        dma("deep_cons_dma", "%t01", "fills", "deep_cons_pool", fifo("deep")),
        dma("out_prod_dma", "%t01", "drains", "deep_cons_pool", fifo("out")),
        takes("c", "%t02"), route("@deep_prod_dma", "deep_cons_dma"), route("@out_prod_dma", "c"),
    )  # fmt: skip
    ran = refused(*lines)
    assert ran.only.text == (
        "'aie.objectfifo.dma_endpoint' op of ObjectFifo @deep on tile(0, 1) needs 26 buffer descriptors, but S2MM "
        "channel 0 can use 24"
    )
    assert ran.only.todo == "a depth of at most 24 for fifo @deep"
    assert notes(ran) == ["DMA endpoint @deep_cons_dma for ObjectFifo @deep on S2MM channel 0 needs 26"]
    fits = allocated(*(line.replace("depth = 26", "depth = 24") for line in lines))
    assert (channels(fits)["deep_cons_dma"], channels(fits)["out_prod_dma"]) == (0, 1)


def test_long_chains_choose_first_where_the_halves_do_not_suffice_otherwise() -> None:
    # 8 + 16 and 10 + 14 are the only halves; in the order of declaration 8 and 14 come together.
    depths = {"a": 8, "b": 10, "c": 14, "d": 16}
    lines = [f"{pool(f'{n}_pool', '%t01', d)}\n{dma(n, '%t01', 'drains', f'{n}_pool')}" for n, d in depths.items()]
    found = channels(allocated(*lines))
    assert found["a"] % 2 == found["d"] % 2 != found["b"] % 2 == found["c"] % 2
    fits = channels(allocated(*(line.replace("depth = 16", "depth = 8") for line in lines)))
    assert fits == {"a": 0, "b": 1, "c": 2, "d": 3}
    assert refused(*(line.replace("depth = 16", "depth = 17") for line in lines)).only.text.startswith(
        "'aie.objectfifo.dma_endpoint' op on tile(0, 1) needs 17 buffer descriptors"
    )


def test_chains_that_do_not_fit_together() -> None:
    lines = (
        pool("a_pool", "%t02", 10), dma("a", "%t02", "drains", "a_pool", fifo("fa")), takes("x", "%t13"),
        pool("b_pool", "%t02", 5), dma("c", "%t02", "fills", "b_pool", fifo("fb")), sends("y", "%t03"),
        route("@a", "x"), route("@y", "c"), program("MM2S", "1"),
    )  # fmt: skip
    allocated(*lines)
    ran = refused(*(line.replace("depth = 5", "depth = 6") for line in lines))
    assert ran.only.text == (
        "'aie.objectfifo.dma_endpoint' op of ObjectFifo @fa on tile(0, 2) needs 10 buffer descriptors, but MM2S "
        "channel 0 shares 16 with channels that need 7 more"
    )
    assert ran.only.todo == "a depth of at most 9 for fifo @fa"
    assert notes(ran) == [
        "DMA endpoint @a for ObjectFifo @fa on MM2S channel 0 needs 10",
        "DMA endpoint @c for ObjectFifo @fb on S2MM channel 0 needs 6",
        "aie.dma_start on MM2S channel 1 needs 1",
    ]


def test_a_template_is_started_on_the_channel_of_the_endpoint() -> None:
    lines = """
aie.bd_chain @simple(%buf: memref<16xi32>) {
  aie.dma_bd(%buf : memref<16xi32>, 0, 16)
  aie.end
}
aie.runtime_sequence @seq() {
  %t = aiex.dma_start_bd_chain_for @simple(%x) : (memref<16xi32>) for @e {issue_token = true}
  aiex.dma_await_task(%t)
}"""
    ran = allocated(own(), MINE, takes("d", "%t04"), route("@e", "d"), lines)
    (line,) = ran.lines("aiex.dma_start_bd_chain ")
    assert "@simple(%x) : (memref<16xi32>) on(%tile_0_2, MM2S, 0) {issue_token = true}" in line
    assert len(ran.lines("aiex.dma_await_task(%")) == 1


def test_a_task_on_a_shim_end_without_a_fifo() -> None:
    task = TASK.replace("%x", "%h")
    ran = allocated(outside("e", "%t00"), takes("d", "%t02"), route("@e", "d"), task)
    (line,) = ran.lines("aiex.dma_configure_task(")
    assert "(%shim_noc_tile_0_0, MM2S, 0)" in line
