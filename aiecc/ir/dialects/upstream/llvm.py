"""llvm: xDSL's forms, with MLIR's blanks and global strings. Ops xDSL lacks are carried along as text."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.llvm import LLVM
from xdsl.ir import Operation

from aiecc.ir.registry import Form

DIALECT = LLVM


def _with_blank(cls: Any) -> Form:
    """MLIR puts a blank behind the types of these ops, for an attribute that is never printed."""

    def show(op: Operation, p: Any) -> None:
        cls.print(op, p)
        p.print_string(" ")

    return Form(print=show)


def _show_global(op: Operation, p: Any) -> None:
    """xDSL's form; the type of a string follows from the string."""
    start = p.mark()
    llvm.GlobalOp.print(op, p)  # pyright: ignore[reportArgumentType]  (the form is only used for this op)
    if isinstance(op.get_attr_or_prop("value"), StringAttr):
        kind = op.get_attr_or_prop("global_type")
        text = p.take(start)
        tail = f" : {p.attribute_text(kind)}" if kind is not None else ""
        p.print_string(text.removesuffix(tail))


FORMS: dict[str, Form] = {
    "llvm.insertvalue": _with_blank(llvm.InsertValueOp),
    "llvm.extractvalue": _with_blank(llvm.ExtractValueOp),
    "llvm.mlir.global": Form(print=_show_global),
}
