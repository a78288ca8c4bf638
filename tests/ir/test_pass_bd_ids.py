"""Numbers of buffer descriptors, and their chains."""

from __future__ import annotations

import pytest
from passkit import Ran, line_of

from aiecc.ir.dialects.aie import DmaBdOp
from aiecc.ir.dialects.aie.runtime import ObjectFifoRearmBindingOp
from aiecc.ir.passes.assign_bd_ids import AssignBdIds


def pairs(ran: Ran) -> list[tuple[int | None, int | None]]:
    return [(bd.bd_id, bd.next_bd_id) for bd in ran.ops(DmaBdOp)]


def blocks(*bds: tuple[str, str], start: str = "S2MM, 0") -> str:
    """A channel and its descriptor blocks: (attributes, next block) each."""
    body = "\n".join(
        f"  ^b{i}:\n    aie.dma_bd(%b : memref<8xi32>) {a}\n    aie.next_bd ^{n}" for i, (a, n) in enumerate(bds)
    )
    return f"    %s = aie.dma_start({start}, ^b0, ^end)\n{body}\n  ^end:\n    aie.end"


def program(device: str, row: int, body: str) -> str:
    op = "memtile_dma" if row == 1 else "mem"
    return (
        f"aie.device({device}) {{\n  %t = aie.tile(0, {row})\n  %b = aie.buffer(%t) : memref<8xi32>\n"
        f"  %m = aie.{op}(%t) {{\n{body}\n  }}\n}}"
    )


def test_a_ring_of_blocks_points_back_to_its_start():
    ran = Ran(program("npu2", 2, blocks(("", "b1"), ("", "b2"), ("", "b0"))), AssignBdIds())
    assert pairs(ran) == [(0, 1), (1, 2), (2, 0)]


def test_a_chain_that_ends_has_no_next():
    ran = Ran(program("npu2", 2, blocks(("", "b1"), ("", "end"))), AssignBdIds())
    assert pairs(ran) == [(0, 1), (1, None)]


def test_chosen_numbers_stay_and_are_stepped_around():
    ran = Ran(program("npu2", 2, blocks(("{bd_id = 1 : i32}", "b1"), ("", "b2"), ("", "b0"))), AssignBdIds())
    assert pairs(ran) == [(1, 0), (0, 2), (2, 1)]


def test_a_stale_next_is_corrected():
    ran = Ran(program("npu2", 2, blocks(("{next_bd_id = 9 : i32}", "end"))), AssignBdIds())
    assert pairs(ran) == [(0, None)]


@pytest.mark.parametrize(("channel", "first"), [(0, 0), (1, 24), (2, 0), (5, 24)])
def test_odd_channels_of_a_memory_tile_reach_the_upper_half(channel: int, first: int):
    ran = Ran(program("npu1", 1, blocks(("", "b1"), ("", "b0"), start=f"MM2S, {channel}")), AssignBdIds())
    assert pairs(ran) == [(first, first + 1), (first + 1, first)]


def test_a_core_tile_does_not_split_its_descriptors():
    ran = Ran(program("npu1", 2, blocks(("", "b0"), start="S2MM, 1")), AssignBdIds())
    assert pairs(ran) == [(0, 0)]


@pytest.mark.parametrize(("device", "row", "most"), [("npu2", 2, 16), ("npu2", 1, 24)])
def test_running_out_is_said_at_the_first_descriptor_without_one(device: str, row: int, most: int):
    bd = "aie.dma_bd(%b : memref<8xi32>)"
    channel = ", ".join("{\n" + f"{bd} {{burst_length = {i} : i32}}" + "\n}" for i in range(most + 2))
    text = program(device, row, f"    %0 = aie.dma(S2MM, 0) [{channel}]\n    aie.end")
    said = Ran(text, AssignBdIds()).only
    assert said.text == (
        f"'aie.dma_bd' op Allocator exhausted available BD IDs (maximum {most} available for channel 0)."
    )
    assert said.where is not None and said.where.line == line_of(text, f"burst_length = {most} ")


@pytest.mark.parametrize(("channel", "number"), [(0, 24), (1, 23)])
def test_a_chosen_number_the_channel_cannot_reach_is_refused(channel: int, number: int):
    text = program("npu2", 1, blocks((f"{{bd_id = {number} : i32}}", "end"), start=f"S2MM, {channel}"))
    said = Ran(text, AssignBdIds()).only
    assert said.text == f"'aie.dma_bd' op assigned bd_id {number} is not accessible from channel {channel} on this tile"
    assert said.where is not None and said.where.line == line_of(text, "bd_id")


def test_one_number_twice_on_a_tile_is_refused_at_the_second():
    text = program("npu2", 2, blocks(("{bd_id = 3 : i32}", "b1"), ("{bd_id = 3 : i32}", "end")))
    said = Ran(text, AssignBdIds()).only
    assert said.text == "'aie.dma_bd' op assigned bd_id 3 is already used by another BD on this tile"
    assert said.where is not None and said.where.line == line_of(text, "^b1:") + 1


def test_regions_are_chained_in_order_and_only_a_loop_comes_back():
    def text(loop: str) -> str:
        bds = ", ".join("{\n aie.dma_bd(%b : memref<8xi32>)\n}" for _ in range(2))
        return program("npu2", 2, f"    %0 = aie.dma(S2MM, 0) {loop} [{bds}]\n    aie.end")

    assert pairs(Ran(text(""), AssignBdIds())) == [(0, 1), (1, 0)]
    assert pairs(Ran(text("{loop = false}"), AssignBdIds())) == [(0, 1), (1, None)]


def test_numbers_that_run_time_code_keeps_are_not_given_out():
    text = program("npu2", 2, blocks(("", "b1"), ("", "b0")))
    text = text.replace("aie.tile(0, 2)", "aie.tile(0, 2) {aiex.reserved_bd_ids = array<i32: 0, 2>}")
    assert pairs(Ran(text, AssignBdIds())) == [(1, 3), (3, 1)]


def test_blocks_no_channel_leads_to_are_left_alone():
    body = blocks(("", "b0")).replace(
        "  ^end:", "  ^dead:\n    aie.dma_bd(%b : memref<8xi32>)\n    aie.next_bd ^dead\n  ^end:"
    )
    assert pairs(Ran(program("npu2", 2, body), AssignBdIds())) == [(0, 0), (None, None)]


BINDING = """
  aie.objectfifo_rearm_binding @again channels(%t : index) locks( : )
    {{channel_dirs = array<i32: {direction}>, channel_indices = array<i32: 0>, lock_inits = array<i32>{more}}}
"""


def binding(direction: int, more: str = "") -> ObjectFifoRearmBindingOp:
    body = blocks(("{bd_id = 5 : i32}", "b0")).replace("^end)", "^end, repeat_count = 3)")
    text = program("npu2", 2, body).removesuffix("}") + BINDING.format(direction=direction, more=more) + "}"
    text = text.replace("locks( : )\n    ", "locks() ")
    return next(Ran(text, AssignBdIds()).ops(ObjectFifoRearmBindingOp))


def test_a_rearm_binding_learns_its_first_descriptor_and_its_repeats():
    found = binding(0)
    assert (found.head_bd_ids, found.repeat_counts) == ((5,), (3,))


def test_a_binding_without_such_a_channel_stays_open():
    found = binding(1)
    assert (found.head_bd_ids, found.repeat_counts) == ((), ())


def test_a_binding_written_by_hand_stays():
    found = binding(0, ", head_bd_ids = array<i32: 9>, repeat_counts = array<i32: 1>")
    assert (found.head_bd_ids, found.repeat_counts) == ((9,), (1,))


def test_a_channel_that_has_no_number_yet_is_refused():
    text = program("npu2", 2, blocks(("", "end"), start="S2MM, @somewhere"))
    said = Ran(text, AssignBdIds()).only
    assert said.text == (
        "'aie.dma_start' op names route endpoint @somewhere in place of a channel index; "
        "run --aie-objectfifo-allocate to assign one"
    )
    assert said.where is not None and said.where.line == line_of(text, "dma_start")


def test_a_program_on_a_tile_without_a_dma_is_refused():
    # Column 0 of this device has no connection to the NOC, so its shim has no DMA.
    text = (
        program("xcvc1902", 2, blocks(("", "end")))
        .replace("aie.tile(0, 2)", "aie.tile(0, 0)")
        .replace("aie.mem(", "aie.shim_dma(")
    )
    assert Ran(text, AssignBdIds()).only.text == "'aie.shim_dma' op stands on a tile without a DMA"


def test_two_programs_of_one_tile_share_its_numbers():
    one = program("npu2", 2, blocks(("", "b0")))
    again = "  %n = aie.mem(%t) {\n" + blocks(("", "b0"), start="MM2S, 0") + "\n  }\n}"
    assert pairs(Ran(one.removesuffix("}") + again, AssignBdIds())) == [(0, 0), (1, 1)]
