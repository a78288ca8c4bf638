"""Pipelines: their text, their options, and how they run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from aiecc.base.diag import Refused, Sink
from aiecc.ir import registry
from aiecc.ir.passes.base import ANY, DEVICE, MODULE, Pass, option
from aiecc.ir.pipeline import Nest, make_pass, parse_pipeline, run, split_options
from aiecc.ir.spans import span_of
from aiecc.ir.text import parse, print_module


@dataclass(frozen=True)
class Mark(Pass):
    name: ClassVar[str] = "test-mark"
    anchor: ClassVar[str] = DEVICE
    text: str = "x"
    number: int = option(3, name="theNumber", help="a number")
    on: bool = False
    many: tuple[str, ...] = ()

    def apply(self, op: Operation, sink: Sink) -> None:
        op.attributes["test.mark"] = StringAttr(f"{self.text} {self.number} {self.on} {'+'.join(self.many)}")


@dataclass(frozen=True)
class Anywhere(Mark):
    name: ClassVar[str] = "test-anywhere"
    anchor: ClassVar[str] = ANY


@dataclass(frozen=True)
class Fail(Pass):
    name: ClassVar[str] = "test-fail"
    anchor: ClassVar[str] = MODULE

    def apply(self, op: Operation, sink: Sink) -> None:
        sink.error("no", span_of(op))


@dataclass(frozen=True)
class Break(Pass):
    """Leaves a symbol twice."""

    name: ClassVar[str] = "test-break"

    def apply(self, op: Operation, sink: Sink) -> None:
        block = op.regions[0].block
        first = block.first_op
        assert first is not None
        block.add_op(first.clone())


@pytest.fixture(autouse=True)
def _passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_plugin_passes", {})
    for cls in (Mark, Anywhere, Fail, Break):
        registry.register_pass(cls.name, lambda cls=cls: cls)


def refusal(call: Any, *args: Any) -> str:
    with pytest.raises(Refused) as caught:
        call(*args)
    (found,) = caught.value.diagnostics
    assert found.code == "E0901"
    return found.text


# --- text -------------------------------------------------------------------------------------------------------------


def test_names_options_and_nesting():
    found = parse_pipeline(
        " builtin.module( aie.device(test-mark{text=a theNumber=7 on}), test-fail ,any(test-anywhere))"
    )
    assert found == Nest(
        MODULE,
        (Nest(DEVICE, (Mark("a", 7, True),)), Fail(), Nest("any", (Anywhere(),))),
    )


def test_without_an_op_around_it_is_for_the_module():
    assert parse_pipeline("test-fail,test-mark") == Nest(MODULE, (Fail(), Mark()))
    assert parse_pipeline("any(test-fail)") == Nest(MODULE, (Fail(),))
    assert parse_pipeline("") == Nest(MODULE, ())
    assert parse_pipeline("builtin.module()") == Nest(MODULE, ())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("test-marc", "1:1: error: 'test-marc' does not refer to a registered pass or pass pipeline; did you mean"),
        ("test-fail,,test-fail", "1:11: error: '' does not refer to a registered pass"),
        ("builtin.module(test-fail", "expected ')' when parsing pipeline"),
        ("test-fail)", "1:10: error: expected ',' after parsing pipeline"),
        ("test-mark{text=a", "1:10: error: missing closing '}' while processing pass options"),
        ("test-mark{txt=a}", "no such option txt of pass 'test-mark'"),
        ("test-mark{theNumber=many}", "'many' value invalid for integer argument theNumber"),
        ("test-mark{on=perhaps}", "'perhaps' is not a value for on"),
    ],
)
def test_wrong_pipelines(text: str, words: str):
    assert words in refusal(parse_pipeline, text)


def test_options():
    assert list(split_options("a=1 b={2 3} c d='x y' e=\"{\" f=g=h")) == [
        ("a", "1"),
        ("b", "2 3"),
        ("c", ""),
        ("d", "x y"),
        ("e", "{"),
        ("f", "g=h"),
    ]
    assert make_pass("test-mark", "many=a,b, theNumber=0x10 on=false") == Mark(many=("a", "b"), number=16)
    assert "not a pass" in refusal(make_pass, "nope")


# --- running ----------------------------------------------------------------------------------------------------------

DEVICES = "module {\n  aie.device(npu2) {\n  }\n  aie.device(npu1) @other {\n  }\n}"


def ran(pipeline: str, text: str = DEVICES, **flags: bool) -> tuple[bool, str, list[str]]:
    module = parse(text, "p.mlir")
    sink = Sink()
    good = run(parse_pipeline(pipeline), module, sink, **flags)
    return good, print_module(module), [d.text for d in sink.items]


@pytest.mark.parametrize(
    "pipeline", ["test-mark", "builtin.module(aie.device(test-mark))", "any(aie.device(test-anywhere))"]
)
def test_a_pass_finds_its_ops(pipeline: str):
    good, text, _ = ran(pipeline)
    assert good
    assert text.count('{test.mark = "x 3 False "}') == 2


def test_a_pass_for_anything_runs_where_it_is():
    _, text, _ = ran("test-anywhere{many=a,b}")
    assert text.startswith('module attributes {test.mark = "x 3 False a+b"} {')
    assert text.count("test.mark") == 1


def test_an_error_ends_the_pipeline():
    good, text, errors = ran("test-fail,test-mark")
    assert not good
    assert errors == ["no"]
    assert "test.mark" not in text


def test_what_a_pass_leaves_is_verified():
    text = "func.func private @f()"
    assert ran("test-break", text) == (
        False,
        "module {\n  func.func private @f()\n  func.func private @f()\n}",
        ["redefinition of symbol named 'f'"],
    )
    assert ran("test-break", text, verify_each=False)[0]


# --- canonicalize and cse ---------------------------------------------------------------------------------------------

GENERIC = """\
aie.device(npu2) {
  %t = aie.tile(0, 2)
  %unused = aie.tile(0, 3)
  %b = aie.buffer(%t) {sym_name = "b"} : memref<4xi32>
  %core = aie.core(%t) {
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %again = arith.constant 2 : i32
    %i = arith.constant 0 : index
    %three = arith.addi %one, %two : i32
    %four = arith.addi %one, %again : i32
    memref.store %three, %b[%i] : memref<4xi32>
    memref.store %four, %b[%i] : memref<4xi32>
    aie.end
  }
}
"""


def test_canonicalize_folds_and_leaves_aie_ops():
    good, text, errors = ran("canonicalize,cse", GENERIC)
    assert good, errors
    assert "%c3_i32 = arith.constant 3 : i32" in text
    assert "arith.addi" not in text
    assert text.count("memref.store %c3_i32, %b[%c0] : memref<4xi32>") == 2
    assert "aie.buffer" in text
    assert "aie.core" in text


def test_cse_merges_what_is_equal_and_no_more():
    _, text, _ = ran("cse", GENERIC)
    assert text.count("arith.constant 2 : i32") == 1
    assert text.count("arith.addi") == 1
    floats = "func.func @f() -> (f32, f32) {\n%a = arith.constant 0.0 : f32\n%b = arith.constant -0.0 : f32\n"
    _, text, _ = ran("cse,canonicalize", floats + "return %a, %b : f32, f32\n}")
    assert "return %cst, %cst_0" in text


def test_ops_made_by_a_rewrite_have_a_position():
    module = parse(GENERIC, "g.mlir")
    assert run(parse_pipeline("canonicalize"), module, Sink())
    assert all(span_of(op) is not None for op in module.walk())


def test_unknown_ops_are_left_alone():
    text = 'func.func @f() {\n%a = "foo.a"() : () -> i32\n%b = "foo.a"() : () -> i32\nreturn\n}'
    assert ran("canonicalize,cse", text)[1].count('"foo.a"()') == 2
    raw = "func.func @f(%v: i32) {\n%a = aievec.a %v : i32\n%b = aievec.a %v : i32\nreturn\n}"
    assert ran("canonicalize,cse", raw)[1].count("aievec.a") == 2
