"""Lists of operands in parentheses whose types are written later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser

from aiecc.ir.dialects.base import DialectOp
from aiecc.ir.dialects.reading import Draft, Element, Out, eat, fail, read_operand, read_type


class Many(Element):
    """`%a, %b`, perhaps none, whose types are written later by `ManyTypes`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def parse(self, p: Parser, d: Draft) -> None:
        found: list[Any] = []
        first = p.parse_optional_unresolved_operand()
        if first is not None:
            found.append(first)
            while eat(p, ","):
                found.append(read_operand(p))
        d.operands[self.name] = cast("list[SSAValue]", found)

    def print(self, out: Out, op: DialectOp) -> None:
        values = cast(Sequence[SSAValue], getattr(op, self.name))
        if values:
            printer = out.arg()
            printer.print_list(values, printer.print_operand)


class ManyTypes(Element):
    """The types of the operands that `Many` read."""

    def __init__(self, name: str) -> None:
        self.name = name

    def parse(self, p: Parser, d: Draft) -> None:
        pending = cast("list[Any]", d.operands[self.name])
        types: list[Attribute] = []
        at = p.pos
        first = p.parse_optional_type()
        if first is not None:
            types.append(first)
            while eat(p, ","):
                types.append(read_type(p))
        if len(types) != len(pending):
            fail(
                p, f"number of operands and types do not match: got {len(pending)} operands and {len(types)} types", at
            )
        d.operands[self.name] = [p.resolve_operand(o, t) for o, t in zip(pending, types, strict=True)]

    def print(self, out: Out, op: DialectOp) -> None:
        values = cast(Sequence[SSAValue], getattr(op, self.name))
        if values:
            printer = out.arg()
            printer.print_list([v.type for v in values], printer.print_attribute)
