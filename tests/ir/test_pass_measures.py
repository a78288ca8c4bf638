"""Measurements on cores, and cores that have become prebuilt."""

from __future__ import annotations

from passkit import FILE, Ran

from aiecc.ir.dialects.aie import CoreOp
from aiecc.ir.facts import survey
from aiecc.ir.measures import cores, strip, with_elf_files, write
from aiecc.ir.text import parse, print_module
from aiecc.model.ids import CoreId
from aiecc.model.measure import CoreMeasure, DataMeasure, StackMeasure, StackSource

TEXT = """
aie.device(npu2) {
  %t = aie.tile(0, 2)
  %n = aie.tile(0, 3)
  %b = aie.buffer(%t) {sym_name = "b"} : memref<4xi32>
  %l = aie.lock(%t, 0)
  func.func private @k(memref<4xi32>)
  %c = aie.core(%t) {
    %one = arith.constant 1 : i32
    aie.use_lock(%l, Release, %one)
    cf.br ^bb1
  ^bb1:
    func.call @k(%b) : (memref<4xi32>) -> ()
    aie.end
  } {link_files = ["k.o"], stack_size = 512 : i32}
  %d = aie.core(%n) {
    aie.end
  } {measured_data_size = 7 : i32}
}"""
A, B = CoreId("main", 0, 2), CoreId("main", 0, 3)


def written(measure: CoreMeasure) -> str:
    """The attributes of the first core, after writing."""
    ran = Ran(TEXT)
    write(ran.module, {A: measure})
    return next(line for line in ran.lines("stack_size") if line.startswith("}"))


def test_cores_are_found_by_their_keys():
    assert [key for key, _ in cores(parse(TEXT, FILE))] == [A, B]


def test_what_was_measured_is_written_in_upstreams_types():
    measure = CoreMeasure(
        data=DataMeasure(100, 16, (0, 64, 0, 0), (1, 32, 1, 1)),
        ranges=((4096, 16), (8192, 32)),
        stack=StackMeasure(StackSource.MEASURED, 96),
    )
    assert written(measure) == (
        '} {link_files = ["k.o"], measured_bank_alignments = array<i32: 1, 32, 1, 1>, '
        "measured_bank_sizes = array<i32: 0, 64, 0, 0>, measured_data_alignment = 16 : i32, "
        "measured_data_ranges = array<i32: 4096, 16, 8192, 32>, measured_data_size = 100 : i32, "
        "measured_stack_size = 96 : i32, stack_size = 512 : i32}"
    )


def test_empty_banks_and_no_ranges_write_nothing():
    assert written(CoreMeasure(data=DataMeasure(0, 1, (0, 0, 0, 0), (1, 1, 1, 1)))) == (
        '} {link_files = ["k.o"], measured_data_alignment = 1 : i32, measured_data_size = 0 : i32, '
        "stack_size = 512 : i32}"
    )


def test_banks_are_written_without_ordinary_data_when_that_was_not_measured():
    line = written(CoreMeasure(data=DataMeasure(0, 1, (8, 0, 0, 0), (4, 1, 1, 1), sized=False)))
    assert "measured_bank_sizes = array<i32: 8, 0, 0, 0>" in line and "measured_data" not in line


def test_a_stack_figure_that_is_no_more_than_a_bound_is_not_written():
    for source in (StackSource.LOWER_BOUND, StackSource.UNBOUNDED, StackSource.UNKNOWN):
        assert "measured_stack_size" not in written(CoreMeasure(stack=StackMeasure(source, 96)))


def test_cores_that_were_not_measured_keep_what_they_have():
    ran = Ran(TEXT)
    write(ran.module, {A: CoreMeasure(data=DataMeasure(5)), B: None})
    assert [c.measured_data_size for c in ran.ops(CoreOp)] == [5, 7]


def test_facts_read_back_what_was_written():
    ran = Ran(TEXT)
    write(ran.module, {A: CoreMeasure(DataMeasure(100, 16, (0, 64, 0, 0), (1, 32, 1, 1)), ((4096, 16),))})
    measured = survey(ran.module).core(A).measured
    assert (measured.data_size, measured.data_alignment, measured.data_ranges) == (100, 16, ((4096, 16),))
    assert (measured.bank_sizes, measured.bank_alignments) == ((0, 64, 0, 0), (1, 32, 1, 1))


def test_stripping_leaves_declarations_alone():
    ran = Ran(TEXT)
    write(ran.module, {A: CoreMeasure(DataMeasure(1, 1, (1,), (1,)), ((0, 1),), StackMeasure(StackSource.MEASURED, 1))})
    for core in ran.ops(CoreOp):
        strip(core)
    assert "measured" not in ran.text and "stack_size = 512" in ran.text


def test_built_cores_carry_their_elf_and_no_code():
    module = parse(TEXT, FILE)
    before = print_module(module)
    built = with_elf_files(module, {A: "elfs/a.elf"})
    first, second = (op for op in built.walk() if isinstance(op, CoreOp))
    assert first.elf_file == "elfs/a.elf" and second.elf_file is None
    assert [op.name for op in first.body.walk()] == ["aie.end"]
    assert first.link_files == ("k.o",) and first.stack_size == 512
    # What the code used is used no more; the original is as it was.
    assert all(not list(op.results[0].uses) for op in built.walk() if op.name in ("aie.buffer", "aie.lock"))
    assert print_module(module) == before
    assert print_module(parse(print_module(built), FILE)) == print_module(built)
