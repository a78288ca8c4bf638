"""The dialect `lab`: remarks of people that travel with a design and mean nothing to the hardware."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Dialect, Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def

from aiecc.api import Pass, Sink


@irdl_op_definition
class MarkOp(IRDLOperation):
    """`lab.mark "text"`."""

    name = "lab.mark"
    text = prop_def(StringAttr)
    assembly_format = "$text attr-dict"


@dataclass(frozen=True)
class CountMarks(Pass):
    """Numbers the marks of a module."""

    name: ClassVar[str] = "lab-count-marks"
    summary: ClassVar[str] = "Number the marks"
    first: int = 1

    def apply(self, op: Operation, sink: Sink) -> None:
        for number, mark in enumerate((o for o in op.walk() if isinstance(o, MarkOp)), self.first):
            mark.attributes["number"] = IntegerAttr(number, 32)


MARKS = Dialect("lab", [MarkOp])
