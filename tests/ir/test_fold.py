"""Folding single programs: what must become of them, and that MLIR's own passes make the same of them."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest
from mlirtools import run
from xdsl.dialects.func import FuncOp

from aiecc.ir.fold import fold, tidy
from aiecc.ir.fold.loops import static_range, trip_count
from aiecc.ir.text import parse, print_module

HEAD = """
func.func private @use(i32) -> ()
func.func private @take(memref<4xi32>) -> ()
"""


def folded(body: str, arguments: str = "%x: i32, %z: i1, %m: memref<4xi32>, %n: memref<4xi32>, %k: index") -> list[str]:
    """The lines of a function's body after folding."""
    module = parse(f"{HEAD}func.func @f({arguments}) {{\n{body}\nreturn\n}}", "f.mlir")
    for op in module.body.block.ops:
        if isinstance(op, FuncOp):
            fold(op)
    return body_lines(print_module(module))


def body_lines(text: str) -> list[str]:
    """The lines inside @f, without constants: values are written as what they are."""
    lines = [line.strip() for line in text.split("@f(")[1].splitlines()[1:]]
    constants = [line.split(" = arith.constant ") for line in lines if " = arith.constant " in line]
    numbers = {name: f"<{number}>" for name, number in constants}
    kept = [line for line in lines if " = arith.constant " not in line]
    end = next(i for i, line in enumerate(kept) if line == "return")
    return [re.sub(r"%[\w-]+", lambda m: numbers.get(m[0], m[0]), line) for line in kept[:end]]


CASES = {
    "numbers": """
        %a = arith.constant 6 : i32
        %b = arith.constant 7 : i32
        %c = arith.muli %a, %b : i32
        %d = arith.subi %c, %a : i32
        func.call @use(%d) : (i32) -> ()""",
    "sums": """
        %a = arith.constant 6 : i32
        %b = arith.constant 7 : i32
        %c = arith.addi %a, %x : i32
        %d = arith.subi %c, %b : i32
        %e = arith.addi %d, %a : i32
        func.call @use(%d) : (i32) -> ()
        func.call @use(%e) : (i32) -> ()""",
    "carried count": """
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c9 = arith.constant 9 : index
        %h0 = arith.constant 0 : i32
        %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%h = %h0) -> (i32) {
          %one = arith.constant 1 : i32
          %zero = arith.constant 0 : i32
          %d = arith.subi %one, %h : i32
          %e = arith.maxsi %d, %zero : i32
          func.call @use(%e) : (i32) -> ()
          %h1 = arith.addi %h, %e : i32
          %h2 = arith.subi %h1, %one : i32
          scf.yield %h2 : i32
        }
        func.call @use(%r) : (i32) -> ()""",
    "carried memory": """
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %r:2 = scf.for %i = %c0 to %k step %c1 iter_args(%a = %m, %b = %n) -> (memref<4xi32>, memref<4xi32>) {
          func.call @take(%a) : (memref<4xi32>) -> ()
          func.call @take(%b) : (memref<4xi32>) -> ()
          scf.yield %a, %n : memref<4xi32>, memref<4xi32>
        }
        func.call @take(%r#1) : (memref<4xi32>) -> ()""",
    "once and never": """
        %c0 = arith.constant 0 : index
        %c2 = arith.constant 2 : index
        %c3 = arith.constant 3 : index
        scf.for %i = %c0 to %c2 step %c3 {
          %v = arith.index_cast %i : index to i32
          func.call @use(%v) : (i32) -> ()
        }
        scf.for %i = %c3 to %c2 step %c3 {
          func.call @use(%x) : (i32) -> ()
        }""",
    "branches": """
        %t = arith.constant true
        %one = arith.constant 1 : i32
        %r = scf.if %t -> (i32) {
          func.call @use(%one) : (i32) -> ()
          scf.yield %x : i32
        } else {
          func.call @use(%x) : (i32) -> ()
          scf.yield %one : i32
        }
        func.call @use(%r) : (i32) -> ()
        %s = scf.if %z -> (i32) {
          scf.yield %x : i32
        } else {
          scf.yield %one : i32
        }
        func.call @use(%s) : (i32) -> ()
        scf.if %z {
          func.call @use(%one) : (i32) -> ()
        } else {
        }""",
    "switch": """
        %c2 = arith.constant 2 : index
        %r = scf.index_switch %c2 -> memref<4xi32>
        case 0 {
          scf.yield %m : memref<4xi32>
        }
        case 2 {
          scf.yield %n : memref<4xi32>
        }
        default {
          scf.yield %m : memref<4xi32>
        }
        func.call @take(%r) : (memref<4xi32>) -> ()""",
    "nothing wanted": """
        %c0 = arith.constant 0 : index
        %v = memref.load %m[%c0] : memref<4xi32>
        %w = arith.addi %v, %x : i32
        %a = memref.alloca() : memref<i32>
        memref.store %w, %a[] : memref<i32>
        scf.if %z {
          %u = arith.muli %w, %w : i32
        }""",
    "while": """
        %zero = arith.constant 0 : i32
        %one = arith.constant 1 : i32
        %r:2 = scf.while (%a = %x, %b = %zero) : (i32, i32) -> (i32, i32) {
          %t = arith.cmpi slt, %a, %one : i32
          scf.condition(%t) %a, %b : i32, i32
        } do {
        ^bb0(%a: i32, %b: i32):
          %u = arith.addi %b, %one : i32
          %v = arith.subi %u, %one : i32
          func.call @use(%v) : (i32) -> ()
          %w = arith.addi %a, %one : i32
          scf.yield %w, %v : i32, i32
        }
        func.call @use(%r#0) : (i32) -> ()""",
    "nested rotation": """
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c6 = arith.constant 6 : index
        %h0 = arith.constant 0 : i32
        %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %h0) -> (i32) {
          %q = scf.for %j = %c0 to %c6 step %c1 iter_args(%g = %h) -> (i32) {
            %k1 = arith.constant 1 : i32
            %k2 = arith.constant 2 : i32
            func.call @use(%g) : (i32) -> ()
            %e = arith.addi %g, %k1 : i32
            %c = arith.cmpi sge, %e, %k2 : i32
            %s = arith.select %c, %h0, %e : i32
            func.call @use(%s) : (i32) -> ()
            %e1 = arith.addi %s, %k1 : i32
            %c2 = arith.cmpi sge, %e1, %k2 : i32
            %s1 = arith.select %c2, %h0, %e1 : i32
            scf.yield %s1 : i32
          }
          scf.yield %q : i32
        }""",
    "choice around a loop": """
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %h0 = arith.constant 0 : i32
        %h3 = arith.constant 3 : i32
        %r = scf.for %i = %c0 to %k step %c1 iter_args(%h = %h0) -> (i32) {
          %t = arith.cmpi eq, %h, %h0 : i32
          %s = scf.if %t -> (i32) {
            func.call @use(%h) : (i32) -> ()
            scf.yield %h0 : i32
          } else {
            func.call @use(%h3) : (i32) -> ()
            scf.yield %h3 : i32
          }
          scf.yield %s : i32
        }
        func.call @use(%r) : (i32) -> ()""",
    "order of constants": """
        %a = arith.constant 5 : i32
        func.call @use(%a) : (i32) -> ()
        %b = arith.constant 6 : i32
        func.call @use(%b) : (i32) -> ()
        %c = arith.constant 5 : i32
        %d = arith.addi %c, %b : i32
        func.call @use(%d) : (i32) -> ()""",
}

WANTED = {
    "numbers": "call @use(<36 : i32>) : (i32) -> ()",
    "sums": """
        %0 = arith.addi %arg0, <-1 : i32> : i32
        %1 = arith.addi %arg0, <5 : i32> : i32
        call @use(%0) : (i32) -> ()
        call @use(%1) : (i32) -> ()""",
    "carried count": """
        scf.for %arg5 = <0 : index> to <9 : index> step <1 : index> {
        func.call @use(<1 : i32>) : (i32) -> ()
        }
        call @use(<0 : i32>) : (i32) -> ()""",
    "carried memory": """
        scf.for %arg5 = <0 : index> to %arg4 step <1 : index> {
        func.call @take(%arg2) : (memref<4xi32>) -> ()
        func.call @take(%arg3) : (memref<4xi32>) -> ()
        }
        call @take(%arg3) : (memref<4xi32>) -> ()""",
    "once and never": "call @use(<0 : i32>) : (i32) -> ()",
    "branches": """
        call @use(<1 : i32>) : (i32) -> ()
        call @use(%arg0) : (i32) -> ()
        %0 = arith.select %arg1, %arg0, <1 : i32> : i32
        call @use(%0) : (i32) -> ()
        scf.if %arg1 {
        func.call @use(<1 : i32>) : (i32) -> ()
        }""",
    "switch": "call @take(%arg3) : (memref<4xi32>) -> ()",
    "nothing wanted": "",
    "while": """
        %0 = scf.while (%arg5 = %arg0) : (i32) -> i32 {
        %1 = arith.cmpi slt, %arg5, <1 : i32> : i32
        scf.condition(%1) %arg5 : i32
        } do {
        ^bb0(%arg5: i32):
        func.call @use(<0 : i32>) : (i32) -> ()
        %1 = arith.addi %arg5, <1 : i32> : i32
        scf.yield %1 : i32
        }
        call @use(%0) : (i32) -> ()""",
    "nested rotation": """
        scf.for %arg5 = <0 : index> to <6 : index> step <1 : index> {
        scf.for %arg6 = <0 : index> to <6 : index> step <1 : index> {
        func.call @use(<0 : i32>) : (i32) -> ()
        func.call @use(<1 : i32>) : (i32) -> ()
        }
        }""",
    "choice around a loop": """
        scf.for %arg5 = <0 : index> to %arg4 step <1 : index> {
        func.call @use(<0 : i32>) : (i32) -> ()
        }
        call @use(<0 : i32>) : (i32) -> ()""",
    "order of constants": """
        call @use(<5 : i32>) : (i32) -> ()
        call @use(<6 : i32>) : (i32) -> ()
        call @use(<11 : i32>) : (i32) -> ()""",
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_folded(case: str) -> None:
    assert folded(CASES[case]) == [line for line in dedent(WANTED[case]).splitlines() if line.strip()]


@pytest.mark.tools
@pytest.mark.parametrize("case", CASES)
def test_mlir_folds_the_same(case: str) -> None:
    """Down to the order of the constants, which those who compare texts with MLIR's rely on."""
    arguments = "%x: i32, %z: i1, %m: memref<4xi32>, %n: memref<4xi32>, %k: index"
    text = f"{HEAD}func.func @f({arguments}) {{\n{CASES[case]}\nreturn\n}}"
    module = parse(text, "f.mlir")
    for op in module.body.block.ops:
        if isinstance(op, FuncOp):
            fold(op)
    theirs = run("mlir", "mlir-opt", "--canonicalize", "--sccp", "--canonicalize", text=text)
    assert print_module(module).split() == theirs.split()


def test_blocks_that_branch() -> None:
    module = parse(
        HEAD
        + """
        func.func @f(%x: i32) {
          %t = arith.constant true
          %one = arith.constant 1 : i32
          cf.cond_br %t, ^a(%one : i32), ^b
        ^a(%v: i32):
          func.call @use(%v) : (i32) -> ()
          cf.br ^c(%v : i32)
        ^b:
          func.call @use(%x) : (i32) -> ()
          cf.br ^c(%x : i32)
        ^c(%w: i32):
          func.call @use(%w) : (i32) -> ()
          return
        }""",
        "f.mlir",
    )
    fold(next(op for op in module.walk() if isinstance(op, FuncOp) and op.body.blocks))
    assert body_lines(print_module(module)) == ["call @use(<1 : i32>) : (i32) -> ()"] * 2


def test_a_loop_of_blocks_that_keeps_its_count() -> None:
    module = parse(
        HEAD
        + """
        func.func @f(%z: i1) {
          %zero = arith.constant 0 : i32
          %one = arith.constant 1 : i32
          cf.br ^a(%zero : i32)
        ^a(%v: i32):
          %w = arith.addi %v, %one : i32
          func.call @use(%w) : (i32) -> ()
          %u = arith.subi %w, %one : i32
          cf.cond_br %z, ^a(%u : i32), ^c
        ^c:
          return
        }""",
        "f.mlir",
    )
    function = next(op for op in module.walk() if isinstance(op, FuncOp) and op.body.blocks)
    fold(function)
    assert "call @use(<1 : i32>) : (i32) -> ()" in body_lines(print_module(module))


def test_a_while_that_may_never_end_stays() -> None:
    lines = folded("""
        %t = arith.constant true
        scf.while : () -> () {
          scf.condition(%t)
        } do {
          scf.yield
        }""")
    assert lines[0].startswith("scf.while")


@pytest.mark.parametrize(
    ("operation", "left", "right", "kind"),
    [("divsi", 1, 0, "i32"), ("remui", 1, 0, "i32"), ("divsi", -(2**31), -1, "i32"), ("shli", 1, 32, "i32")],
)
def test_what_has_no_result_is_left_to_the_machine(operation: str, left: int, right: int, kind: str) -> None:
    lines = folded(f"""
        %a = arith.constant {left} : {kind}
        %b = arith.constant {right} : {kind}
        %c = arith.{operation} %a, %b : {kind}
        func.call @use(%c) : (i32) -> ()""")
    assert f"arith.{operation}" in lines[0]


def test_an_index_may_be_narrower_than_a_number() -> None:
    """Casting 64 bits to `index` and back may lose some, 32 do not."""
    lines = folded(
        """
        %a = arith.index_cast %w : i64 to index
        %b = arith.index_cast %a : index to i64
        func.call @wide(%b) : (i64) -> ()
        %c = arith.index_cast %x : i32 to index
        %d = arith.index_cast %c : index to i32
        func.call @use(%d) : (i32) -> ()""",
        "%x: i32, %w: i64",
    )
    assert lines[0].startswith("%0 = arith.index_cast %arg1")
    assert lines[-1] == "call @use(%arg0) : (i32) -> ()"


LOOPS = [
    ("0", "10", "3", "index", "", 4),
    ("10", "0", "1", "index", "", 0),
    ("-4", "4", "2", "i32", "", 4),
    # As numbers without a sign, -4 is beyond 4.
    ("-4", "4", "2", "i32", "unsigned", 0),
    ("4", "-4", "1", "i8", "unsigned", 248),
    # The counter would wrap around before it reaches the end.
    ("0", "127", "100", "i8", "", None),
    ("0", "5", "0", "index", "", None),
]


@pytest.mark.parametrize(("low", "high", "step", "kind", "word", "trips"), LOOPS)
def test_how_often_a_loop_runs(low: str, high: str, step: str, kind: str, word: str, trips: int | None) -> None:
    module = parse(
        f"""
        func.func @f() {{
          %l = arith.constant {low} : {kind}
          %h = arith.constant {high} : {kind}
          %s = arith.constant {step} : {kind}
          scf.for {word} %i = %l to %h step %s {"" if kind == "index" else f": {kind}"} {{
          }}
          return
        }}""",
        "f.mlir",
    )
    loop = next(op for op in module.walk() if op.name == "scf.for")
    assert trip_count(loop) == trips
    found = static_range(loop)
    assert (found.trips if found else None) == trips


def test_nothing_is_moved_out_of_a_function_without_a_body() -> None:
    module = parse(HEAD, "f.mlir")
    for op in module.body.block.ops:
        assert not fold(op)
        assert not tidy(op)
