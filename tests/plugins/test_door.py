"""The public door itself: all it announces is there, and IR costs only those who ask for it."""

import subprocess
import sys
from pathlib import Path

from aiecc import api
from aiecc.model.artifact import Module

TEXT = "module {\n  func.func @f() {\n    %0 = arith.constant 1 : i32\n    return\n  }\n}\n"


def test_all_it_announces_is_there() -> None:
    assert [name for name in api.__all__ if not hasattr(api, name)] == []
    assert len(set(api.__all__)) == len(api.__all__)


def test_ir_is_imported_by_those_who_ask_for_it() -> None:
    code = "import sys, aiecc.api; a = 'xdsl' in sys.modules; aiecc.api.load; print(a, 'xdsl' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_a_design_can_be_read_changed_and_handed_on(tmp_path: Path) -> None:
    module = Module(TEXT, (), "a.mlir")
    first = api.thaw(module)
    constant = next(op for op in first.walk() if op.name == "arith.constant")
    assert str(api.span_of(constant)) == "a.mlir:3:10"
    other = constant.clone()
    api.copy_span(constant, other)
    assert api.span_of(other) == api.span_of(constant)
    assert api.print_module(api.load(api.dump(first))).strip() == TEXT.strip().replace("%0", "%c1_i32")
    assert api.verify(first) == []


def test_options_of_passes_have_help() -> None:
    from dataclasses import dataclass, fields
    from typing import ClassVar

    from xdsl.ir import Operation

    @dataclass(frozen=True)
    class Mine(api.Pass):
        name: ClassVar[str] = "mine"
        often: int = api.pass_option(2, name="how-often", help="times")

        def apply(self, op: Operation, sink: api.Sink) -> None: ...

    (field,) = fields(Mine)
    assert (Mine().often, field.metadata["option"], field.metadata["help"]) == (2, "how-often", "times")
