"""The short passes: devices around old designs, address spaces, stack sizes, names of buffers."""

from __future__ import annotations

import pytest
from passkit import Ran, line_of

from aiecc.ir.dialects.aie import BufferOp, CoreOp
from aiecc.ir.passes.address_spaces import NormalizeAddressSpaces
from aiecc.ir.passes.aiex_standard_lowering import AiexStandardLowering
from aiecc.ir.passes.canonicalize_device import CanonicalizeDevice
from aiecc.ir.passes.controller_ids import AssignTileControllerIds
from aiecc.ir.passes.default_stack_size import DefaultStackSize
from aiecc.ir.passes.generic import Canonicalize
from aiecc.ir.passes.prepare_buffers import PrepareBuffers
from aiecc.ir.text import print_module

# --- aie-canonicalize-device ------------------------------------------------------------------------------------------


def test_a_design_without_a_device_gets_the_first_one_there_was():
    ran = Ran("%t = aie.tile(1, 2)\n%b = aie.buffer(%t) : memref<4xi32>", CanonicalizeDevice())
    assert ran.device.device.word == "xcvc1902" and ran.device.symbol == "main"
    assert [op.name for op in ran.device.block.ops] == ["aie.tile", "aie.buffer", "aie.end"]


def test_a_design_with_a_device_stays():
    text = "aie.device(npu2) @left {\n  %t = aie.tile(1, 2)\n}"
    assert Ran(text, CanonicalizeDevice()).text == Ran(text).text


# --- aie-assign-tile-controller-ids -----------------------------------------------------------------------------------


def controllers(device: str, tiles: str, column_wise: bool = True) -> list[str]:
    """The tiles of a device, as they are written after the pass, or what was said."""
    ran = Ran(f"aie.device({device}) {{\n{tiles}\n}}", AssignTileControllerIds(column_wise_unique_ids=column_wise))
    return ran.said or [line.partition("aie.tile")[2] for line in ran.lines("aie.tile")]


def test_controllers_by_row():
    column = "\n".join(f"%t{row} = aie.tile(1, {row})" for row in range(6))
    # The ids of the rows, the same in every column, and those of column 1 when no two of the device may be equal.
    for column_wise, ids in ((True, (15, 26, 27, 29, 30, 31)), (False, (14, 21, 22, 23, 24, 25))):
        assert controllers("npu1_2col", column, column_wise) == [
            f"(1, {row}) {{controller_id = #aie.packet_info<pkt_id = {ids[row]}>}}" for row in range(6)
        ]


def test_controllers_of_taller_devices_are_their_rows():
    assert controllers("xcve2802", "%t = aie.tile(7, 10)") == [
        "(7, 10) {controller_id = #aie.packet_info<pkt_id = 10>}"
    ]


def test_controller_ids_that_were_chosen_stay():
    mine = "(0, 2) {controller_id = #aie.packet_info<pkt_type = 2, pkt_id = 9>, other}"
    found = controllers("npu2", f"%t = aie.tile(0, 3)\n%s = aie.tile{mine}")
    assert found == ["(0, 3) {controller_id = #aie.packet_info<pkt_id = 29>}", mine]
    # 29 is what row 3 gets; in another column it is nobody else's.
    taken = "{controller_id = #aie.packet_info<pkt_id = 29>}"
    said = controllers("npu2", f"%t = aie.tile(0, 3)\n%s = aie.tile(0, 2) {taken}")
    assert said == ["'aie.tile' op would answer to controller id 29, as another tile of its column does"]
    assert controllers("npu2", f"%t = aie.tile(0, 3)\n%s = aie.tile(1, 2) {taken}")[1] == f"(1, 2) {taken}"
    # One tile may be written twice.
    assert controllers("npu2", "%t = aie.tile(0, 3)\n%s = aie.tile(0, 3)") == [f"(0, 3) {taken}"] * 2


def test_controllers_that_cannot_all_differ():
    said = controllers("npu2", "%t = aie.tile(4, 0)", column_wise=False)
    assert said == ["'aie.tile' op has no controller id that differs from all others of device npu2"]
    assert controllers("npu2", "%t = aie.tile(3, 0)", column_wise=False)[0].startswith("(3, 0) {controller_id")
    assert len(controllers("xcvc1902", "%t = aie.tile(0, 3)", column_wise=False)[0]) > 60


# --- aie-normalize-address-spaces -------------------------------------------------------------------------------------

SPACES = """
module {
  func.func private @f(memref<4xi32, 2>) -> memref<4xi32, 6 : i32>
  func.func @g(%a: memref<2x4xi32, strided<[8, 1]>, 2>) -> memref<4xi32, 2> {
    %0 = memref.alloc() : memref<4xi32, 2>
    cf.br ^bb1(%0 : memref<4xi32, 2>)
  ^bb1(%1: memref<4xi32, 2>):
    %2 = func.call @f(%1) : (memref<4xi32, 2>) -> memref<4xi32, 6 : i32>
    return %1 : memref<4xi32, 2>
  }
}"""


def test_spaces_go_from_values_arguments_and_signatures():
    ran = Ran(SPACES, NormalizeAddressSpaces())
    text = ran.text
    assert ", 2>" not in text and ", 6" not in text
    assert text.count("memref<4xi32>") == 9
    # What the memory looks like stays.
    assert "memref<2x4xi32, strided<[8, 1]>>" in text


def test_spaces_go_from_slots_that_hold_buffers():
    text = "func.func @g() {\n  %0 = memref.alloca() : memref<memref<4xi32, 2>>\n  return\n}"
    assert Ran(text, NormalizeAddressSpaces()).lines("alloca") == ["%alloca = memref.alloca() : memref<memref<4xi32>>"]


def test_a_module_without_spaces_stays():
    text = SPACES.replace(", 2>", ">").replace(", 6 : i32>", ">")
    assert Ran(text, NormalizeAddressSpaces()).text == Ran(text).text


# --- aie-default-stack-size -------------------------------------------------------------------------------------------

STACKS = """
aie.device(npu2) {{
  %a = aie.tile(0, 2)
  %b = aie.tile(0, 3)
  func.func private @k() attributes {{stack_size_override = {override} : i32}}
  %ca = aie.core(%a) {{
    aie.end
  }} {{stack_size = 512 : i32, measured_stack_size = 96 : i32, measured_data_size = 8 : i32,
      measured_data_alignment = 4 : i32, data_size = 16 : i32}}
  %cb = aie.core(%b) {{
    aie.end
  }} {{measured_bank_sizes = array<i32: 0, 64, 0, 0>, measured_bank_alignments = array<i32: 1, 64, 1, 1>,
      measured_data_ranges = array<i32: 0, 4>}}
}}"""


@pytest.mark.parametrize(("size", "sizes"), [(0, [512, None]), (3000, [512, 3000])])
def test_old_measurements_go_and_only_missing_sizes_are_filled_in(size: int, sizes: list[int | None]):
    ran = Ran(STACKS.format(override=0), DefaultStackSize(size))
    assert "measured" not in ran.text
    assert [core.stack_size for core in ran.ops(CoreOp)] == sizes
    assert [core.data_size for core in ran.ops(CoreOp)] == [16, None]
    assert not ran.said


def test_a_negative_override_is_refused_and_zero_is_not():
    text = STACKS.format(override=-8)
    said = Ran(text, DefaultStackSize()).only
    assert said.text == "'func.func' op stack_size_override must be >= 0, got -8"
    assert said.where is not None and said.where.line == line_of(text, "func.func")


# --- aie-prepare-buffers ----------------------------------------------------------------------------------------------


def test_nameless_buffers_are_numbered_around_the_names_there_are():
    ran = Ran(
        """
aie.device(npu2) {
  %t = aie.tile(0, 1)
  %c = aie.buffer(%t) : memref<4xi32>
  %d = aie.buffer(%t) {sym_name = "_anonymous1"} : memref<4xi32>
  %m = aie.memtile_dma(%t) {
    %e = aie.buffer(%t) : memref<4xi32>
    aie.end
  }
}""",
        PrepareBuffers(),
    )
    assert [b.symbol for b in ran.ops(BufferOp)] == ["_anonymous0", "_anonymous1", "_anonymous2"]
    assert not ran.said


def test_a_buffer_inside_a_core_is_refused_at_its_tile():
    text = """
aie.device(npu2) {
  %t = aie.tile(0, 2)
  %core = aie.core(%t) {
    %c = aie.buffer(%t) {sym_name = "c"} : memref<4xi32> = dense<1>
    aie.end
  }
}"""
    said = Ran(text, PrepareBuffers()).only
    assert said.text == (
        "'aie.tile' op Buffer '\"c\"' must be defined directly under the device scope. "
        "Currently it is nested inside a core tile."
    )
    assert said.where is not None and said.where.line == line_of(text, "aie.tile")
    assert said.notes[0].where is not None and said.notes[0].where.line == line_of(text, "aie.buffer")


# --- aiex-standard-lowering -------------------------------------------------------------------------------------------


def test_run_time_instructions_are_erased_and_the_rest_stays():
    ran = Ran(
        """
aie.device(npu1) {
  %t = aie.tile(0, 0)
  aie.runtime_sequence(%a: memref<16xi32>) {
    %c = arith.constant 5 : i32
    aiex.npu.write32(%c, %c) : i32, i32
    aiex.npu.dma_wait {symbol = @x}
  }
}""",
        AiexStandardLowering(),
    )
    assert [op.name for op in ran.device.walk()] == [
        "aie.device",
        "aie.tile",
        "aie.runtime_sequence",
        "arith.constant",
        "aie.end",
    ]


# --- canonicalize: what xDSL's patterns would do wrong ----------------------------------------------------------------

LOOP = """\
func.func @f(%a: i32, %n: index) -> i32 {
  %lo = arith.constant -1 : i32
  %hi = arith.constant 1 : i32
  %by = arith.constant 5 : i32
  %r = scf.for SIGNS %i = %lo to %hi step %by iter_args(%x = %a) -> (i32) : i32 {
    "t.use"(%i) : (i32) -> ()
    scf.yield %i : i32
  }
  return %r : i32
}
"""


def test_a_loop_that_runs_once_becomes_its_body():
    # From -1 to below 1 in steps of 5: once, with -1.
    lines = Ran(LOOP.replace("SIGNS", ""), Canonicalize()).text.splitlines()
    assert [line.strip() for line in lines[2:5]] == [
        "%c-1_i32 = arith.constant -1 : i32",
        '"t.use"(%c-1_i32) : (i32) -> ()',
        "return %c-1_i32 : i32",
    ]


@pytest.mark.parametrize("generic", [False, True])
def test_a_loop_that_counts_without_signs_is_not_one_that_counts_with_them(generic: bool):
    # Without signs -1 is the largest number there is: the loop never runs.
    text = LOOP.replace("SIGNS", "unsigned")
    if generic:
        text = print_module(Ran(text).module, generic=True)
    assert len(Ran(text, Canonicalize()).lines("scf.for unsigned")) == 1


@pytest.mark.parametrize("op", ['"t.use"() : () -> i32', "aievec.next : i32"])
def test_ops_nobody_knows_stay_in_their_loops(op: str):
    text = f"""\
func.func @f(%n: index, %m: index) {{
  scf.for %i = %n to %m step %n {{
    %v = {op}
    "t.take"(%v) : (i32) -> ()
  }}
  return
}}
"""
    assert Ran(text, Canonicalize()).text == Ran(text).text
