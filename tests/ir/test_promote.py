"""Slots become values, and the program goes on to do what it did."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slot_programs import NUMBERS, Statement, Steps, bodies, program, trace
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.memref import AllocaOp, LoadOp, StoreOp
from xdsl.ir import Operation

from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.fold.promote import promote
from aiecc.ir.text import parse, print_module
from aiecc.ir.verify import verify


def promoted(text: str, only: tuple[int, ...] | None = None) -> tuple[ModuleOp, list[Operation]]:
    """A module with its cores' slots promoted, or some by number, and the slots that were not."""
    module = parse(text, "program.mlir")
    left: list[Operation] = []
    for core in [op for op in module.walk() if isinstance(op, CoreOp)]:
        slots = [op for op in core.walk() if isinstance(op, AllocaOp)]
        left += promote(core, slots if only is None else [slots[i] for i in only])
    assert verify(module) == []
    return module, left


def body(text: str, before: str = "") -> str:
    return f"""module {{
  aie.device(npu2) {{
    func.func private @log(i32)
    func.func private @keep(memref<i32>)
    %tile = aie.tile(0, 2)
    {before}
    %core = aie.core(%tile) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c9 = arith.constant 9 : index
      %k = arith.constant 7 : i32
      %true = arith.constant true
      %s = memref.alloca() : memref<i32>
      {text}
      aie.end
    }}
  }}
}}"""


def lines(module: ModuleOp, word: str) -> list[str]:
    return [line.strip() for line in print_module(module).splitlines() if word in line]


def count(module: ModuleOp, *kinds: type[Operation]) -> int:
    return sum(isinstance(op, kinds) for op in module.walk())


# --- what a program does stays the same -------------------------------------------------------------------------------

PROGRAMS = bodies(3)


@given(PROGRAMS, st.booleans(), st.booleans())
@settings(max_examples=50, deadline=None)
def test_programs_do_the_same(statements: list[Statement], blocks: bool, read: bool) -> None:
    text = program(statements, blocks=blocks, read=read)
    module, left = promoted(text)
    assert left == []
    assert count(module, AllocaOp) == 0
    after = print_module(module)
    assert trace(after) == trace(text)


@given(PROGRAMS, st.booleans(), st.sets(st.integers(0, 4)))
@settings(max_examples=30, deadline=None)
def test_some_of_the_slots(statements: list[Statement], blocks: bool, some: set[int]) -> None:
    text = program(statements, blocks=blocks)
    module, left = promoted(text, tuple(sorted(some)))
    assert left == []
    assert count(module, AllocaOp) == 5 - len(some)
    assert trace(print_module(module)) == trace(text)


@given(PROGRAMS, st.booleans(), st.sets(st.sampled_from([*NUMBERS, "q"]), min_size=1))
@settings(max_examples=30, deadline=None)
def test_slots_without_a_first_value(statements: list[Statement], blocks: bool, unset: set[str]) -> None:
    """They stay when a load may find nothing; the others go."""
    text = program(statements, blocks=blocks, unset=tuple(sorted(unset)))
    module, left = promoted(text)
    assert len(left) == count(module, AllocaOp) <= len(unset)
    assert trace(print_module(module)) == trace(text)


@given(bodies(4), st.booleans(), st.booleans())
@settings(max_examples=50, deadline=None)
def test_blocks_inside_regions_do_the_same(statements: list[Statement], blocks: bool, read: bool) -> None:
    text = program(statements, blocks=blocks, regions=True, read=read)
    module, left = promoted(text)
    assert left == []
    assert Steps(module).log == Steps(parse(text, "program.mlir")).log


@given(PROGRAMS)
@settings(max_examples=20, deadline=None)
def test_the_two_ways_to_run_a_program_agree(statements: list[Statement]) -> None:
    text = program(statements, blocks=True)
    assert Steps(parse(text, "program.mlir")).log == trace(text)


def test_the_order_of_what_is_added_is_the_callers() -> None:
    text = body("""
      %t = memref.alloca() : memref<i32>
      memref.store %k, %s[] : memref<i32>
      memref.store %k, %t[] : memref<i32>
      scf.for %i = %c0 to %c9 step %c1 {
        %a = memref.load %s[] : memref<i32>
        %b = memref.load %t[] : memref<i32>
        %x = arith.addi %a, %b : i32
        memref.store %x, %t[] : memref<i32>
        memref.store %b, %s[] : memref<i32>
      }
      %z = memref.load %s[] : memref<i32>
      func.call @log(%z) : (i32) -> ()""")
    forward, _ = promoted(text, (0, 1))
    backward, _ = promoted(text, (1, 0))
    assert lines(forward, "scf.yield") == ["scf.yield %arg2, %1 : i32, i32"]
    assert lines(backward, "scf.yield") == ["scf.yield %1, %arg1 : i32, i32"]


# --- no more values than needed ---------------------------------------------------------------------------------------


def test_straight_line_leaves_no_trace() -> None:
    module, _ = promoted(
        body("""
      memref.store %k, %s[] : memref<i32>
      %a = memref.load %s[] : memref<i32>
      func.call @log(%a) : (i32) -> ()""")
    )
    assert count(module, AllocaOp, LoadOp, StoreOp) == 0
    assert lines(module, "@log(%") == ["func.call @log(%c7_i32) : (i32) -> ()"]


def test_a_loop_that_only_reads_carries_nothing() -> None:
    module, _ = promoted(
        body("""
      memref.store %k, %s[] : memref<i32>
      scf.for %i = %c0 to %c9 step %c1 {
        %a = memref.load %s[] : memref<i32>
        func.call @log(%a) : (i32) -> ()
      }""")
    )
    assert "iter_args" not in print_module(module)


def test_a_loop_that_writes_first_and_is_not_read_later_carries_nothing() -> None:
    module, left = promoted(
        body("""
      scf.for %i = %c0 to %c9 step %c1 {
        memref.store %k, %s[] : memref<i32>
        %a = memref.load %s[] : memref<i32>
        func.call @log(%a) : (i32) -> ()
      }""")
    )
    assert left == []
    assert "iter_args" not in print_module(module)


def test_a_branch_has_a_result_only_where_it_is_read() -> None:
    unread = """
      memref.store %k, %s[] : memref<i32>
      scf.if %true {
        %x = arith.constant 3 : i32
        memref.store %x, %s[] : memref<i32>
      }"""
    module, _ = promoted(body(unread))
    assert not lines(module, "scf.if")[0].startswith("%")
    module, _ = promoted(
        body(
            unread
            + """
      %a = memref.load %s[] : memref<i32>
      func.call @log(%a) : (i32) -> ()"""
        )
    )
    assert "-> (i32)" in lines(module, "scf.if")[0]
    assert len(lines(module, "scf.yield")) == 2


def test_a_while_loop_whose_test_writes_first_takes_nothing_in() -> None:
    module, left = promoted(
        body("""
      scf.while : () -> () {
        memref.store %k, %s[] : memref<i32>
        scf.condition(%true)
      } do {
        %a = memref.load %s[] : memref<i32>
        func.call @log(%a) : (i32) -> ()
        scf.yield
      }""")
    )
    assert left == []
    assert lines(module, "scf.while")[0].endswith("scf.while : () -> i32 {")


def test_blocks_get_arguments_only_where_values_meet() -> None:
    """A header, a branch inside the loop that does not write, and a block behind: one argument in all."""
    module, _ = promoted(
        body("""
      memref.store %k, %s[] : memref<i32>
      cf.br ^head
    ^head:
      %a = memref.load %s[] : memref<i32>
      %x = arith.addi %a, %k : i32
      cf.cond_br %true, ^left, ^right
    ^left:
      func.call @log(%a) : (i32) -> ()
      cf.br ^join
    ^right:
      cf.br ^join
    ^join:
      memref.store %x, %s[] : memref<i32>
      cf.cond_br %true, ^head, ^out
    ^out:
      %z = memref.load %s[] : memref<i32>
      func.call @log(%z) : (i32) -> ()""")
    )
    core = next(op for op in module.walk() if isinstance(op, CoreOp))
    assert [len(block.args) for block in core.body.blocks] == [0, 1, 0, 0, 0, 0]


def test_a_block_argument_nobody_reads_is_not_made() -> None:
    module, _ = promoted(
        body("""
      memref.store %k, %s[] : memref<i32>
      cf.cond_br %true, ^left, ^join
    ^left:
      memref.store %k, %s[] : memref<i32>
      cf.br ^join
    ^join:
      memref.store %k, %s[] : memref<i32>
      %z = memref.load %s[] : memref<i32>
      func.call @log(%z) : (i32) -> ()""")
    )
    core = next(op for op in module.walk() if isinstance(op, CoreOp))
    assert all(not block.args for block in core.body.blocks)


def test_both_ways_of_a_branch_to_one_block_give_the_value() -> None:
    module, _ = promoted(
        body("""
      memref.store %k, %s[] : memref<i32>
      cf.br ^head
    ^head:
      %a = memref.load %s[] : memref<i32>
      %x = arith.addi %a, %k : i32
      memref.store %x, %s[] : memref<i32>
      cf.cond_br %true, ^both, ^out
    ^both:
      cf.cond_br %true, ^head, ^head
    ^out:""")
    )
    assert lines(module, "^bb1, ^") == []
    assert lines(module, "cf.cond_br")[1].count(" : i32)") == 2


def test_a_slot_inside_a_loop_is_new_each_time() -> None:
    module, left = promoted(
        body("""
      scf.for %i = %c0 to %c9 step %c1 {
        %t = memref.alloca() : memref<index>
        memref.store %i, %t[] : memref<index>
        scf.if %true {
          %j = memref.load %t[] : memref<index>
          memref.store %j, %t[] : memref<index>
        }
      }""")
    )
    assert left == []
    assert "iter_args" not in print_module(module)


def test_blocks_inside_a_region() -> None:
    module, left = promoted(
        body("""
      memref.store %k, %s[] : memref<i32>
      scf.execute_region {
        cf.cond_br %true, ^one, ^two
      ^one:
        %x = arith.constant 3 : i32
        memref.store %x, %s[] : memref<i32>
        scf.yield
      ^two:
        scf.yield
      }
      %a = memref.load %s[] : memref<i32>
      func.call @log(%a) : (i32) -> ()""")
    )
    assert left == []
    assert len(lines(module, "execute_region -> i32")) == 1
    assert [y.split()[1] for y in lines(module, "scf.yield")] == ["%c3_i32", "%c7_i32"]


def test_blocks_nobody_reaches_go() -> None:
    module, left = promoted(
        body("""
      memref.store %k, %s[] : memref<i32>
      cf.br ^out
    ^nowhere:
      %x = memref.load %s[] : memref<i32>
      func.call @log(%x) : (i32) -> ()
      cf.br ^out
    ^out:
      %z = memref.load %s[] : memref<i32>
      func.call @log(%z) : (i32) -> ()""")
    )
    assert left == []
    assert len(lines(module, "func.call")) == 1


# --- what stays -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "func.call @keep(%s) : (memref<i32>) -> ()",
        "%a = memref.load %s[] : memref<i32>\n func.call @log(%a) : (i32) -> ()",
        """scf.for %i = %c0 to %c9 step %c1 {
             memref.store %k, %s[] : memref<i32>
           }
           %a = memref.load %s[] : memref<i32>
           func.call @log(%a) : (i32) -> ()""",
        """memref.store %k, %s[] : memref<i32>
           scf.parallel (%i) = (%c0) to (%c9) step (%c1) {
             %a = memref.load %s[] : memref<i32>
             scf.reduce
           }""",
        """%t = memref.alloca() : memref<memref<i32>>
           memref.store %s, %t[] : memref<memref<i32>>""",
    ],
    ids=["escapes", "unset", "loop may not run", "below another op", "stored itself"],
)
def test_what_cannot_be_a_value_stays(text: str) -> None:
    whole = body(text)
    before = print_module(parse(whole, "program.mlir"))
    module, left = promoted(whole, (0,))
    assert len(left) == 1 and isinstance(left[0], AllocaOp)
    assert print_module(module) == before


def test_slots_with_dimensions_stay() -> None:
    _, left = promoted(body("%t = memref.alloca() : memref<1xi32>\n memref.store %k, %t[%c0] : memref<1xi32>"), (1,))
    assert len(left) == 1


def test_one_that_stays_does_not_keep_the_others() -> None:
    module, left = promoted(
        body("""
      %t = memref.alloca() : memref<i32>
      memref.store %k, %t[] : memref<i32>
      scf.for %i = %c0 to %c9 step %c1 {
        %a = memref.load %t[] : memref<i32>
        %b = memref.load %s[] : memref<i32>
        %x = arith.addi %a, %b : i32
        memref.store %x, %t[] : memref<i32>
        memref.store %x, %s[] : memref<i32>
      }""")
    )
    assert len(left) == 1
    assert "iter_args" in print_module(module)


# --- time -------------------------------------------------------------------------------------------------------------


def test_time_grows_with_the_code() -> None:
    """Twice the loops, at most about twice the time (three times, for a busy machine)."""

    def seconds(loops: int) -> float:
        one = """
      scf.for %i = %c0 to %c9 step %c1 {
        %a = memref.load %s[] : memref<i32>
        %x = arith.addi %a, %k : i32
        memref.store %x, %s[] : memref<i32>
      }"""
        module = parse(body("memref.store %k, %s[] : memref<i32>" + one * loops), "p.mlir")
        core = next(op for op in module.walk() if isinstance(op, CoreOp))
        slots = [op for op in core.walk() if isinstance(op, AllocaOp)]
        start = time.process_time()
        promote(core, slots)
        return time.process_time() - start

    small = min(seconds(200) for _ in range(3))
    assert min(seconds(800) for _ in range(3)) < 12 * small
