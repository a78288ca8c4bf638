"""Ops of dialects that are not known are carried along as text."""

from __future__ import annotations

import pytest
from textkit import refusal

from aiecc.ir.text import parse, print_module


def body(text: str) -> list[str]:
    """The printed lines of a function with this body."""
    header = "func.func @f(%a: vector<16xi32>, %b: vector<16xi32>, %m: memref<8xi32>, %i: index) {\n"
    module = parse(f"#map = affine_map<(d0) -> (d0)>\n!v = vector<16xi32>\n{header}{text}\nreturn }}", "x")
    first = print_module(module)
    assert print_module(parse(first, "again")) == first
    assert print_module(module.clone()) == first
    lines = first.splitlines()
    start = next(i for i, line in enumerate(lines) if "func.func" in line)
    return [line.strip() for line in lines[start + 1 : -3]]


def test_operands_are_renumbered_and_results_typed():
    assert body("%x = aievec.add_elem %a, %b : vector<16xi32>\n%y = arith.addi %x, %a : vector<16xi32>") == [
        "%0 = aievec.add_elem %arg0, %arg1 : vector<16xi32>",
        "%1 = arith.addi %0, %arg0 : vector<16xi32>",
    ]


def test_the_result_type_is_the_last_one():
    text = (
        "%x = aievec.upd %m[%i], %a {index = 0 : i8, offset = 0 : i32} : memref<8xi32>, vector<8xi32>\n"
        "%y = aievec.ups %x {shift = 10 : i8} : vector<8xi32>, vector<8xi64>\n"
        '%z = "arith.trunci"(%y) : (vector<8xi64>) -> vector<8xi32>'
    )
    assert body(text) == [
        "%0 = aievec.upd %arg2[%arg3], %arg0 {index = 0 : i8, offset = 0 : i32} : memref<8xi32>, vector<8xi32>",
        "%1 = aievec.ups %0 {shift = 10 : i8} : vector<8xi32>, vector<8xi64>",
        "%2 = arith.trunci %1 : vector<8xi64> to vector<8xi32>",
    ]


def test_function_types_and_several_results():
    text = "%p:2 = xllvm.intr.aie2.two(%a, %b) : (vector<16xi32>, vector<16xi32>) -> (vector<16xi32>, i32)\n" + (
        "%q = arith.addi %p#1, %p#1 : i32\n%r = xllvm.next %p#0, %q : vector<16xi32> to i32"
    )
    assert body(text) == [
        "%0:2 = xllvm.intr.aie2.two(%arg0, %arg1) : (vector<16xi32>, vector<16xi32>) -> (vector<16xi32>, i32)",
        "%1 = arith.addi %0#1, %0#1 : i32",
        "%2 = xllvm.next %0#0, %1 : vector<16xi32> to i32",
    ]


def test_an_op_may_go_over_several_lines_and_comments():
    text = "%x = aievec.mac %a,  // first\n    %b,\n  %a {w = #map}\n  : vector<16xi32>,\n  !v\naievec.end_of_it\n"
    assert body(text) == [
        "%0 = aievec.mac %arg0, %arg1, %arg0 {w = affine_map<(d0) -> (d0)>} : vector<16xi32>, vector<16xi32>".replace(
            "affine_map<(d0) -> (d0)>", "#map"
        ),
        "aievec.end_of_it",
    ]


def test_it_ends_at_a_brace_and_at_words_that_are_ops():
    text = "scf.for %k = %i to %i step %i { aievec.x %a : vector<16xi32> }\naievec.y\nfunc.call @f(%a, %b, %m, %i)" + (
        " : (vector<16xi32>, vector<16xi32>, memref<8xi32>, index) -> ()"
    )
    assert body(text)[1].startswith("aievec.x %arg0")
    assert body(text)[3] == "aievec.y"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("aievec.x %nope : i32", "use of undeclared SSA value name"),
        ("%x = aievec.x", "cannot tell the result type of an op whose dialect is not known here"),
        ("aievec.x { ^bb0: }", "an op of a dialect that is not known here may not have regions"),
        ("aievec.x ^bb1", "an op of a dialect that is not known here may not have successors"),
        ("%x:2 = aievec.x : i32", "operation defines 1 results but was provided 2 to bind"),
        ("aievec.x #nope", "undefined symbol alias id 'nope'"),
    ],
)
def test_what_cannot_be_carried_is_refused(text: str, words: str):
    assert refusal(f"module {{\n{text}\n}}").text == words


def test_generic_forms_of_unknown_dialects_are_kept():
    text = 'module {\n  %0:2 = "foo.bar"() ({\n  ^bb0(%arg0: i32):\n    "foo.y"(%arg0) {a = 1 : i32} : (i32) -> ()\n'
    text += '  }, {\n  }) {x = "y"} : () -> (i32, i32)\n}'
    assert print_module(parse(text, "x")) == text
