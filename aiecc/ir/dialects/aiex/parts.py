"""Pieces of syntax that `aiex` ops share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import SSAValue
from xdsl.parser import Parser

from aiecc.ir.dialects.aie.bd import RUNTIME
from aiecc.ir.dialects.base import DialectOp
from aiecc.ir.dialects.constraints import I64
from aiecc.ir.dialects.many import Many, ManyTypes
from aiecc.ir.dialects.reading import Draft, Element, Out, eat, need, read_int, read_list, read_operand, read_type

__all__ = ["Group", "GroupTypes", "IndexList", "Many", "ManyTypes", "MaybeTyped"]


class IndexList(Element):
    """`[1, %n, 4]`: numbers and run-time values, kept as a static array and operands."""

    def __init__(self, operands: str, static: str, type: IntegerType = I64) -> None:
        self.operands, self.static, self.type = operands, static, type
        self.fixed = (static,)

    def parse(self, p: Parser, d: Draft) -> None:
        values: list[SSAValue] = []

        def entry() -> int:
            operand = p.parse_optional_unresolved_operand()
            if operand is None:
                return read_int(p, self.type).value.data
            values.append(p.resolve_operand(operand, read_type(p) if eat(p, ":") else self.type))
            return RUNTIME

        static = read_list(p, entry)
        d.operands[self.operands] = values
        d.props[self.static] = DenseArrayBase.from_list(I64, static)

    def print(self, out: Out, op: DialectOp) -> None:
        values = iter(cast(Sequence[SSAValue], getattr(op, self.operands)))
        static = op.properties.get(self.static)
        printer = out.printer
        printer.print_string("[")
        for i, n in enumerate(static.get_values() if isinstance(static, DenseArrayBase) else ()):
            if i:
                printer.print_string(", ")
            value = next(values, None) if n == RUNTIME else None
            if value is None:
                printer.print_int(int(n))
            else:
                printer.print_operand(value)
                if value.type != self.type:
                    printer.print_string(" : ")
                    printer.print_attribute(value.type)
        printer.print_string("]")
        out.closed()


class Group(Element):
    """`%a, %b` whose types are written later, by `GroupTypes`."""

    def __init__(self, *names: str, separator: str = ",") -> None:
        self.names, self.separator = names, separator

    def parse(self, p: Parser, d: Draft) -> None:
        for i, name in enumerate(self.names):
            if i:
                need(p, self.separator)
            d.operands[name] = cast(Any, [read_operand(p)])

    def print(self, out: Out, op: DialectOp) -> None:
        for i, name in enumerate(self.names):
            if i:
                out.lit(self.separator)
            out.arg().print_operand(getattr(op, name))


class GroupTypes(Element):
    """`t, u`: the types of operands read before, in order."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def parse(self, p: Parser, d: Draft) -> None:
        for i, name in enumerate(self.names):
            if i:
                need(p, ",")
            operand = cast("list[Any]", d.operands[name])[0]
            d.operands[name] = [p.resolve_operand(operand, read_type(p))]

    def print(self, out: Out, op: DialectOp) -> None:
        for i, name in enumerate(self.names):
            if i:
                out.lit(",")
            out.arg().print_attribute(cast(SSAValue, getattr(op, name)).type)


class MaybeTyped(Element):
    """`word %v : type`, perhaps missing."""

    def __init__(self, word: str, name: str) -> None:
        self.word, self.name = word, name

    def parse(self, p: Parser, d: Draft) -> None:
        if eat(p, self.word):
            operand = read_operand(p)
            need(p, ":")
            d.operands[self.name] = [p.resolve_operand(operand, read_type(p))]

    def print(self, out: Out, op: DialectOp) -> None:
        value = cast("SSAValue | None", getattr(op, self.name))
        if value is not None:
            out.lit(self.word)
            out.arg().print_operand(value)
            out.lit(":")
            out.arg().print_attribute(value.type)
