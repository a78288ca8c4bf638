"""`aie-default-stack-size`: forget what earlier builds measured, and give stacks a declared size where asked to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.constraints import I32, number
from aiecc.ir.measures import strip
from aiecc.ir.passes.base import ANY, Pass, option
from aiecc.ir.passes.report import op_error


@dataclass(frozen=True)
class DefaultStackSize(Pass):
    """Drop the `measured_*` attributes of every core; with a size, write it on cores that declare none.

    From then on such a core counts as declared. A negative `stack_size_override` is an error: the stack of a call
    subtree can be 0 bytes, never less.
    """

    name: ClassVar[str] = "aie-default-stack-size"
    anchor: ClassVar[str] = ANY
    summary: ClassVar[str] = "Drop stale measurements; declare a stack size where there is none"

    size: int = option(0, help="bytes for cores without stack_size (0: leave them alone)")

    def apply(self, op: Operation, sink: Sink) -> None:
        for inner in op.walk():
            if inner.name == "aie.core":
                strip(inner)
                if self.size > 0 and "stack_size" not in inner.properties:
                    inner.properties["stack_size"] = IntegerAttr(self.size, I32)
            elif inner.name == "func.func":
                given = inner.attributes.get("stack_size_override")
                if (value := number(given)) is not None and value < 0:
                    text = f"stack_size_override must be >= 0, got {value}"
                    op_error(sink, inner, text, todo="declare the bytes of the kernel's whole call subtree")
