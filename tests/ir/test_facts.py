"""What a module declares, as facts."""

from __future__ import annotations

from passkit import FILE

from aiecc.base.spans import Span
from aiecc.ir.facts import survey
from aiecc.ir.text import parse
from aiecc.model.design import Measured
from aiecc.model.ids import CoreId, DeviceId, KernelId, SequenceId

TEXT = """\
module {
  aie.device(npu2) {
    %t02 = aie.tile(0, 2)
    %t01 = aie.tile(0, 1)
    %a = aie.buffer(%t02) {address = 1024 : i32, mem_bank = 0 : i32, sym_name = "a"} : memref<4x4xi16>
    %b = aie.buffer(%t01) {aligned = false, sym_name = "b"} : memref<3xi8> = dense<1>
    %c = aie.buffer(%t02) {sym_name = "c"} : memref<2xf32, 10 : i32>
    %d = aie.buffer(%t02) {core_data, sym_name = "d"} : memref<64xi8>
    func.func private @k(memref<4x4xi16>) attributes {link_with = "k.o", stack_size_override = 0 : i32}
    func.func private @m() attributes {link_with = "m.ll", link_with_mode = "merge"}
    %core = aie.core(%t02) {
      aie.end
    } {data_size = 64 : i32, link_files = ["k.o"], link_merge_files = ["m.ll"], measured_data_alignment = 16 : i32,
       measured_bank_sizes = array<i32: 0, 128, 0, 0>, measured_bank_alignments = array<i32: 1, 64, 1, 1>,
       measured_data_ranges = array<i32: 8192, 16, 4096, 32>, measured_data_size = 48 : i32,
       measured_stack_size = 96 : i32, stack_address = 16384 : i32, stack_bank = 1 : i32, stack_size = 2048 : i32}
    %dma = aie.memtile_dma(%t01) {
      %e = aie.buffer(%t01) {sym_name = "e"} : memref<8xi32>
      aie.end
    }
    aie.runtime_sequence(%x: memref<4xi32>) {
    }
    aie.runtime_sequence @again(%x: memref<4xi32>) {
    }
  }
  aie.device(npu1) @right {
    %t = aie.tile(1, 3)
    %core = aie.core(%t) {
      aie.end
    } {elf_file = "x.elf"}
    %t2 = aie.tile(1, 4)
    %core2 = aie.core(%t2) {
      aie.end
    } {link_with = "old.o"}
  }
}
"""

DESIGN = survey(parse(TEXT, FILE))
MAIN, RIGHT = DESIGN.devices


def at(line: int, col: int) -> Span:
    return Span(FILE, line, col)


def test_devices_come_in_program_order_with_their_targets():
    assert [(d.id, d.target, d.where) for d in DESIGN.devices] == [
        (DeviceId("main"), "npu2", at(2, 3)),
        (DeviceId("right"), "npu1", at(26, 3)),
    ]


def test_tiles_hold_their_buffers_those_in_dma_programs_included():
    assert [(t.col, t.row, [b.name for b in t.buffers]) for t in MAIN.tiles] == [
        (0, 2, ["a", "c", "d"]),
        (0, 1, ["b", "e"]),
    ]
    assert MAIN.tiles[0].where == at(3, 12)


def test_buffers_have_sizes_pins_and_flags():
    tile = MAIN.tile(0, 2)
    memory = MAIN.tile(0, 1)
    assert tile is not None and memory is not None
    a, c, d = tile.buffers
    b, e = memory.buffers
    assert (a.size, a.address, a.mem_bank, a.aligned, a.initialized, a.banks) == (32, 1024, 0, True, False, None)
    assert (b.size, b.address, b.aligned, b.initialized) == (3, None, False, True)
    # Memory space 10 is banks A and C.
    assert (c.size, c.banks) == (8, (0, 2))
    assert d.core_data and not d.bank_reserved and d.size == 64
    assert e.size == 32 and e.where == at(18, 12)


def test_a_core_says_what_its_author_declared_and_what_was_measured():
    core = MAIN.core(CoreId("main", 0, 2))
    assert (core.stack_size, core.stack_bank, core.stack_address, core.data_size) == (2048, 1, 16384, 64)
    assert core.where == at(11, 13)
    assert core.measured == Measured(
        stack_size=96,
        data_size=48,
        data_alignment=16,
        bank_sizes=(0, 128, 0, 0),
        bank_alignments=(1, 64, 1, 1),
        data_ranges=((8192, 16), (4096, 32)),
    )
    assert core.kernels == (KernelId("main", "k.o"), KernelId("main", "m.ll", merge=True))


def test_what_is_absent_is_none():
    core = RIGHT.core(CoreId("right", 1, 3))
    assert (core.stack_size, core.stack_bank, core.stack_address, core.data_size) == (None, None, None, None)
    assert core.measured == Measured()
    assert core.elf_file == "x.elf" and core.link_files == ()


def test_a_file_named_on_the_core_counts_where_no_list_has_replaced_it():
    assert RIGHT.core(CoreId("right", 1, 4)).link_files == ("old.o",)


def test_kernels_carry_what_is_said_of_them():
    k, m = MAIN.functions
    assert (k.name, k.link_with, k.merge, k.stack_size_override, k.where) == ("k", "k.o", False, 0, at(9, 5))
    assert (m.name, m.link_with, m.merge, m.stack_size_override) == ("m", "m.ll", True, None)
    assert MAIN.overrides == {"k": 0}


def test_sequences_have_names():
    assert MAIN.sequences == (SequenceId("main", "sequence"), SequenceId("main", "again"))


def test_code_in_cores_costs_nothing():
    many = "\n".join(f"      %c{i} = arith.constant {i} : i32" for i in range(50))
    module = parse(TEXT.replace("      aie.end\n    } {data_size", f"{many}\n      aie.end\n    }} {{data_size"), FILE)
    core = next(op for op in module.walk() if op.name == "aie.core")
    core.regions[0].walk = None  # type: ignore[method-assign]  (a survey must not ask for it)
    assert survey(module).devices[0].cores[0].stack_size == 2048
