"""Every op knows where the user wrote it."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, UnknownLoc
from xdsl.ir import Operation

from aiecc.base.spans import Span
from aiecc.ir.spans import copy_span, set_span, set_spans, span_of, spans_of
from aiecc.ir.text import parse, print_module

TEXT = """\
module {
  aie.device(npu2) {
    %a, %b = "some.op"() : () -> (i32, i32)
    %t =
        aie.tile(0, 2)
    %core = aie.core(%t) { aie.end }
  }
}
"""


def found(module: Operation) -> dict[str, tuple[int, int]]:
    places: dict[str, tuple[int, int]] = {}
    for op in module.walk():
        span = span_of(op)
        assert span is not None and span.file == "d.mlir"
        name = op.attributes.get("op_name__")
        places[name.data if isinstance(name, StringAttr) else op.name] = (span.line, span.col)
    return places


def test_an_op_stands_where_its_name_stands():
    assert found(parse(TEXT, "d.mlir")) == {
        "builtin.module": (1, 1),
        "aie.device": (2, 3),
        "some.op": (3, 14),
        "aie.tile": (5, 9),
        "aie.core": (6, 13),
        "aie.end": (2, 3),  # the device's, which the text leaves out, comes last
    }


def test_positions_survive_a_clone():
    module = parse(TEXT, "d.mlir")
    assert spans_of(module.clone()) == spans_of(module)


def test_a_module_is_put_around_loose_ops():
    module = parse("\n  func.func private @f()", "d.mlir")
    assert print_module(module) == "module {\n  func.func private @f()\n}"
    assert spans_of(module) == (Span("d.mlir", 1, 1), Span("d.mlir", 2, 3))


def test_a_location_that_is_written_wins():
    text = """
    #a = loc("a.py":10:20)
    module {
      func.func private @plain()
      func.func private @file() loc("f.py":3:4)
      func.func private @alias() loc(#a)
      func.func private @later() loc(#z)
      func.func private @named() loc("name"("n.py":5:6))
      func.func private @fused() loc(fused<"why">[unknown, "g.py":7:8])
      func.func private @call() loc(callsite("c.py":1:2 at #a))
      func.func private @nothing() loc(unknown)
      func.func private @name_only() loc("just a name")
    }
    #z = loc("z.py":30:40)
    """
    places = [str(span_of(op)) for op in parse(text, "d.mlir").body.block.ops]
    assert places == [
        "d.mlir:4:7",
        "f.py:3:4",
        "a.py:10:20",
        "z.py:30:40",
        "n.py:5:6",
        "g.py:7:8",
        "c.py:1:2",
        "d.mlir:11:7",
        "d.mlir:12:7",
    ]


def test_an_alias_used_before_its_definition_may_use_others():
    text = """
    func.func private @f() loc(#one)
    #one = loc(callsite(#two at "b.py":1:1))
    #two = loc("a.py":4:5)
    """
    assert str(span_of(next(iter(parse(text, "d").body.block.ops)))) == "a.py:4:5"


def test_debuginfo_brings_positions_back():
    module = parse(TEXT, "d.mlir")
    again = parse(print_module(module, debuginfo=True), "other.mlir")
    assert spans_of(again) == spans_of(module)


def test_setting_and_copying():
    module = parse(TEXT, "d.mlir")
    ops = list(module.walk())
    set_span(ops[1], Span("new.mlir", 7, 8))
    copy_span(ops[1], ops[2], ops[3])
    assert [span_of(op) for op in ops[1:4]] == [Span("new.mlir", 7, 8)] * 3
    set_span(ops[1], None)
    assert span_of(ops[1]) is None
    assert isinstance(ops[1].location, UnknownLoc)


def test_spans_of_and_set_spans_are_inverse():
    module = parse(TEXT, "d.mlir")
    spans = (None, *(Span("s", i, i + 1) for i in range(len(spans_of(module)) - 1)))
    set_spans(module, spans)
    assert spans_of(module) == spans
    set_spans(module, [Span("only", 1, 1)])
    assert spans_of(module) == (Span("only", 1, 1), *spans[1:])
