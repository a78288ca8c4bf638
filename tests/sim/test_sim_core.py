"""Core code: arithmetic, control flow, memory and calls, run on one tile and read from its memory afterwards."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiecc.base.diag import Refused
from aiecc.ir.dialects.aie.memory import BufferOp
from aiecc.ir.text import parse
from aiecc.sim.array import simulate
from aiecc.sim.core import initial_bytes
from aiecc.sim.outcome import Kind, Outcome


def core(body: str, before: str = "", result: str = "memref<16xi32>", **options: object) -> Outcome:
    text = f"""
module {{
  aie.device(npu2) {{
    %tile = aie.tile(0, 2)
    %out = aie.buffer(%tile) {{sym_name = "out"}} : {result}
    {before}
    %core = aie.core(%tile) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c5 = arith.constant 5 : index
      %k0 = arith.constant 0 : i32
      %k1 = arith.constant 1 : i32
      %k7 = arith.constant 7 : i32
      {body}
    }}
  }}
}}"""
    return simulate(parse(text, "core.mlir"), **options)  # type: ignore[arg-type]


def out(outcome: Outcome, count: int) -> list[int]:
    assert outcome.finished, outcome.report()
    assert outcome.ended == ("core (0, 2)",)
    return list(struct.unpack_from(f"<{count}i", outcome.memory["out"]))


def test_loops_carry_values() -> None:
    outcome = core("""
      %sum, %last = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %k0, %l = %k7) -> (i32, i32) {
        %v = arith.index_cast %i : index to i32
        %t = arith.addi %s, %v : i32
        memref.store %t, %out[%i] : memref<16xi32>
        scf.yield %t, %s : i32, i32
      }
      memref.store %sum, %out[%c5] : memref<16xi32>
      %c6 = arith.constant 6 : index
      memref.store %last, %out[%c6] : memref<16xi32>
      aie.end""")
    assert out(outcome, 7) == [0, 1, 3, 6, 10, 10, 6]


def test_loop_values_swap_at_once() -> None:
    outcome = core("""
      %a, %b = scf.for %i = %c0 to %c5 step %c1 iter_args(%x = %k0, %y = %k7) -> (i32, i32) {
        scf.yield %y, %x : i32, i32
      }
      memref.store %a, %out[%c0] : memref<16xi32>
      memref.store %b, %out[%c1] : memref<16xi32>
      aie.end""")
    assert out(outcome, 2) == [7, 0]


def test_while_if_and_switch() -> None:
    outcome = core("""
      %n:2 = scf.while (%x = %k7, %steps = %k0) : (i32, i32) -> (i32, i32) {
        %go = arith.cmpi sgt, %x, %k1 : i32
        scf.condition(%go) %x, %steps : i32, i32
      } do {
      ^bb0(%x: i32, %steps: i32):
        %bit = arith.andi %x, %k1 : i32
        %odd = arith.cmpi eq, %bit, %k1 : i32
        %next = scf.if %odd -> (i32) {
          %k3 = arith.constant 3 : i32
          %t = arith.muli %x, %k3 : i32
          %u = arith.addi %t, %k1 : i32
          scf.yield %u : i32
        } else {
          %u = arith.shrsi %x, %k1 : i32
          scf.yield %u : i32
        }
        %more = arith.addi %steps, %k1 : i32
        scf.yield %next, %more : i32, i32
      }
      memref.store %n#1, %out[%c0] : memref<16xi32>
      %which = scf.index_switch %c2 -> i32
      case 1 { scf.yield %k0 : i32 }
      case 2 { scf.yield %k7 : i32 }
      default { scf.yield %k1 : i32 }
      memref.store %which, %out[%c1] : memref<16xi32>
      aie.end""")
    # 7 22 11 34 17 52 26 13 40 20 10 5 16 8 4 2 1: sixteen steps.
    assert out(outcome, 2) == [16, 7]


def test_branches_between_blocks() -> None:
    outcome = core("""
      cf.br ^head(%c0, %k1 : index, i32)
    ^head(%i: index, %p: i32):
      %go = arith.cmpi slt, %i, %c5 : index
      cf.cond_br %go, ^body, ^done(%p : i32)
    ^body:
      %two = arith.constant 2 : i32
      %q = arith.muli %p, %two : i32
      %j = arith.addi %i, %c1 : index
      cf.br ^head(%j, %q : index, i32)
    ^done(%r: i32):
      memref.store %r, %out[%c0] : memref<16xi32>
      aie.end""")
    assert out(outcome, 1) == [32]


def test_functions_call_themselves() -> None:
    outcome = core(
        """
      %r = func.call @fib(%k7) : (i32) -> i32
      memref.store %r, %out[%c0] : memref<16xi32>
      aie.end""",
        before="""
    func.func private @fib(%n: i32) -> i32 {
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %small = arith.cmpi sle, %n, %one : i32
      %r = scf.if %small -> (i32) {
        scf.yield %n : i32
      } else {
        %a = arith.subi %n, %one : i32
        %b = arith.subi %n, %two : i32
        %x = func.call @fib(%a) : (i32) -> i32
        %y = func.call @fib(%b) : (i32) -> i32
        %s = arith.addi %x, %y : i32
        scf.yield %s : i32
      }
      return %r : i32
    }""",
    )
    assert out(outcome, 1) == [13]


def test_views_globals_and_models() -> None:
    def fill(view: object, value: int) -> int:
        assert view.shape == (2, 2)  # type: ignore[attr-defined]
        view.assign([value, value + 1, value + 2, value + 3])  # type: ignore[attr-defined]
        return view[1, 1]  # type: ignore[index, no-any-return]

    outcome = core(
        """
      %zero = memref.get_global @zeros : memref<4x4xi32>
      memref.copy %zero, %out : memref<4x4xi32> to memref<4x4xi32>
      %s = memref.subview %out[%c1, 2] [2, 2] [2, 1] : memref<4x4xi32> to memref<2x2xi32, strided<[8, 1], offset: ?>>
      %r = func.call @fill(%s, %k7) : (memref<2x2xi32, strided<[8, 1], offset: ?>>, i32) -> i32
      %flat = memref.collapse_shape %out [[0, 1]] : memref<4x4xi32> into memref<16xi32>
      memref.store %r, %flat[%c0] : memref<16xi32>
      %row = memref.subview %out[2, 0] [1, 4] [1, 1] : memref<4x4xi32> to memref<4xi32, strided<[1], offset: 8>>
      memref.store %k1, %row[%c2] : memref<4xi32, strided<[1], offset: 8>>
      aie.end""",
        before="""
    memref.global "private" constant @zeros : memref<4x4xi32> = dense<0>
    func.func private @fill(memref<2x2xi32, strided<[8, 1], offset: ?>>, i32) -> i32""",
        result="memref<4x4xi32>",
        kernels={"fill": fill},
    )
    assert out(outcome, 16) == [10, 0, 0, 0, 0, 0, 7, 8, 0, 0, 1, 0, 0, 0, 9, 10]


def test_reading_what_nobody_wrote_traps_at_the_load() -> None:
    outcome = core("%v = memref.load %out[%c5] : memref<16xi32>\n      aie.end")
    assert outcome.trap is not None
    assert outcome.trap.kind is Kind.UNWRITTEN
    assert "byte 20 of out" in outcome.trap.text
    assert outcome.trap.where is not None
    assert outcome.trap.where.line == 15


def test_an_index_beyond_a_dimension_traps() -> None:
    outcome = core("%c99 = arith.constant 99 : index\n memref.store %k1, %out[%c99] : memref<16xi32>\n aie.end")
    assert outcome.trap is not None
    assert outcome.trap.kind is Kind.BOUNDS


def test_a_model_that_fails_traps_at_the_call() -> None:
    outcome = core(
        "func.call @bad() : () -> ()\n aie.end",
        before="func.func private @bad()",
        kernels={"bad": lambda: 1 // 0},
    )
    assert outcome.trap is not None
    assert outcome.trap.kind is Kind.KERNEL
    assert "ZeroDivisionError" in outcome.trap.text


def test_memory_a_core_cannot_reach_is_refused() -> None:
    with pytest.raises(Refused, match=r"core \(0, 2\) cannot reach buffer far of tile \(3, 2\)"):
        core(
            "memref.store %k1, %far[%c0] : memref<4xi32>\n aie.end",
            before="""%other = aie.tile(3, 2)
    %far = aie.buffer(%other) {sym_name = "far"} : memref<4xi32>""",
        )


def test_an_op_without_a_meaning_is_refused_where_it_stands() -> None:
    with pytest.raises(Refused, match=r"cannot execute 'math\.ctpop'"):
        core("%g = math.ctpop %k7 : i32\n aie.end")


def test_code_that_never_rests_ends_at_the_limit() -> None:
    outcome = core(
        """
      cf.br ^again
    ^again:
      cf.br ^again""",
        max_events=10,
    )
    assert outcome.status.value == "limit"
    assert outcome.running == ("core (0, 2)",)


i32 = st.integers(-(1 << 31), (1 << 31) - 1)
_OPS = ["addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "andi", "ori", "xori", "maxsi", "minui"]


def _expected(op: str, a: int, b: int) -> int:
    """From the language's definition, by way of exact rationals and bit strings."""
    from fractions import Fraction
    from math import trunc

    ua, ub = a % (1 << 32), b % (1 << 32)
    value = {
        "addi": lambda: a + b,
        "subi": lambda: a - b,
        "muli": lambda: a * b,
        "divsi": lambda: trunc(Fraction(a, b)),
        "divui": lambda: ua // ub,
        "remsi": lambda: a - b * trunc(Fraction(a, b)),
        "remui": lambda: ua % ub,
        "andi": lambda: ua & ub,
        "ori": lambda: ua | ub,
        "xori": lambda: ua ^ ub,
        "maxsi": lambda: max(a, b),
        "minui": lambda: min(ua, ub),
    }[op]()
    return struct.unpack("<i", struct.pack("<I", value % (1 << 32)))[0]


@settings(max_examples=40, deadline=None)
@given(i32, i32.filter(bool))
def test_arithmetic_of_32_bits(a: int, b: int) -> None:
    lines = [f"%a = arith.constant {a} : i32", f"%b = arith.constant {b} : i32"]
    for at, op in enumerate(_OPS):
        lines += [
            f"%r{at} = arith.{op} %a, %b : i32",
            f"%i{at} = arith.constant {at} : index",
            f"memref.store %r{at}, %out[%i{at}] : memref<16xi32>",
        ]
    lines.append("aie.end")
    assert out(core("\n".join(lines)), len(_OPS)) == [_expected(op, a, b) for op in _OPS]


def test_dividing_by_zero_traps() -> None:
    outcome = core("%r = arith.divsi %k1, %k0 : i32\n aie.end")
    assert outcome.trap is not None
    assert outcome.trap.kind is Kind.VALUE


def test_floats_round_to_their_type() -> None:
    outcome = core(
        """
      %a = arith.constant 1.0 : f32
      %b = arith.constant 3.0 : f32
      %q = arith.divf %a, %b : f32
      memref.store %q, %out[%c0] : memref<4xf32>
      %h = arith.truncf %q : f32 to bf16
      %w = arith.extf %h : bf16 to f32
      memref.store %w, %out[%c1] : memref<4xf32>
      aie.end""",
        result="memref<4xf32>",
    )
    assert outcome.finished
    # A third in f32 is 0x3EAAAAAB; cut to 16 bits, to nearest: 0x3EAB.
    assert struct.unpack_from("<2I", outcome.memory["out"]) == (0x3EAAAAAB, 0x3EAB0000)


def test_graphs_of_many_blocks_are_walked_in_order() -> None:
    count = 3000
    lines = ["cf.br ^b0(%k0 : i32)"]
    for at in range(count):
        follows = f"cf.br ^b{at + 1}(%s{at} : i32)" if at + 1 < count else f"cf.br ^done(%s{at} : i32)"
        lines += [f"^b{at}(%x{at}: i32):", f"%s{at} = arith.addi %x{at}, %k1 : i32", follows]
    lines += ["^done(%r: i32):", "memref.store %r, %out[%c0] : memref<16xi32>", "aie.end"]
    assert out(core("\n".join(lines)), 1) == [count]


def test_loops_nested_beyond_what_python_takes_are_refused() -> None:
    depth = 40
    body = "".join(f"scf.for %i{at} = %c0 to %c1 step %c1 {{\n" for at in range(depth))
    with pytest.raises(Refused, match="nested too deeply"):
        core(body + "memref.store %k1, %out[%c0] : memref<16xi32>\n" + "}\n" * depth + "aie.end")


def test_a_prebuilt_core_is_refused() -> None:
    text = 'aie.device(npu2) {\n%t = aie.tile(0, 2)\n%c = aie.core(%t) {\naie.end\n} {elf_file = "a.elf"}\n}'
    with pytest.raises(Refused, match="is prebuilt"):
        simulate(parse(text, "core.mlir"))


@pytest.mark.parametrize(("value", "stored"), [(1 << 31, -(1 << 31)), (True, 1), (None, None), ("seven", None)])
def test_results_of_models_fit_their_type(value: object, stored: int | None) -> None:
    outcome = core(
        "%r = func.call @f() : () -> i32\n memref.store %r, %out[%c0] : memref<16xi32>\n aie.end",
        before="func.func private @f() -> i32",
        kernels={"f": lambda: value},
    )
    if stored is None:
        assert outcome.trap is not None
        assert outcome.trap.text == f"the model of @f gave {value!r} for 1 results"
    else:
        assert out(outcome, 1) == [stored]


def test_a_function_that_calls_itself_for_ever_traps() -> None:
    outcome = core(
        "func.call @f() : () -> ()\n aie.end",
        before="func.func private @f() {\n func.call @f() : () -> ()\n return\n }",
    )
    assert outcome.trap is not None
    assert "too deeply" in outcome.trap.text


@pytest.mark.parametrize(("type", "stored", "read"), [("ui8", 0x1F0, 0xF0), ("ui16", -1, 0xFFFF), ("i8", -16, -16)])
def test_kernels_see_the_sign_their_elements_have(type: str, stored: int, read: int) -> None:
    seen: list[int] = []

    def kernel(view: object) -> None:
        view[0] = stored  # type: ignore[index]
        seen.append(view[0])  # type: ignore[index]

    outcome = core(
        f"func.call @k(%out) : (memref<4x{type}>) -> ()\naie.end",
        f"func.func private @k(memref<4x{type}>)",
        f"memref<4x{type}>",
        kernels={"k": kernel},
    )
    assert outcome.finished, outcome.report()
    assert seen == [read]


@pytest.mark.parametrize(
    ("kind", "values", "wanted"),
    [
        ("2xindex", "[1, -2]", "01000000feffffff"),
        ("2xindex", "7", "0700000007000000"),
        ("3xi4", "[1, -1, 2]", "f102"),
        ("3xi4", "5", "5505"),
        ("4xi1", "[true, false, true, true]", "0d"),
        ("2xi16", "[1, -2]", "0100feff"),
        ("2xf32", "1.0", "0000803f0000803f"),
    ],
)
def test_bytes_of_initial_values(kind: str, values: str, wanted: str) -> None:
    buffer = f"%b = aie.buffer(%t) : memref<{kind}> = dense<{values}>"
    module = parse(f"aie.device(npu2) {{\n%t = aie.tile(0, 2)\n{buffer}\n}}", "d.mlir")
    [op] = [op for op in module.walk() if isinstance(op, BufferOp)]
    found = initial_bytes(op.initial_value, op.result.type)
    assert found is not None and found.hex() == wanted
