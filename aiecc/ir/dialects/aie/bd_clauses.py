"""The clauses of `aie.dma_bd`: what stands between its parentheses, and the older ways to write it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser

from aiecc.ir.dialects.aie.attrs import BdDimLayoutArrayAttr, BdPadLayoutArrayAttr
from aiecc.ir.dialects.base import DialectOp
from aiecc.ir.dialects.constraints import I32, I64, integers, number
from aiecc.ir.dialects.reading import (
    Draft,
    Element,
    Out,
    eat,
    in_range,
    need,
    read_int,
    read_list,
    read_operand,
    read_type,
    wrong,
)

RUNTIME = -(1 << 63)
"""Stands in a static list where the value is an operand."""

Entry = int | SSAValue


def mixed(static: Attribute | None, operands: Sequence[SSAValue]) -> list[Entry]:
    """A list whose constants are in a static array and whose other entries are operands."""
    ints = integers(static) if isinstance(static, DenseArrayBase) else ()
    if not operands:
        return list(ints)
    values: list[Entry] = []
    rest = iter(operands)
    for n in ints:
        operand = next(rest, None) if n == RUNTIME else None
        values.append(n if operand is None else operand)
    return values


def _read_entry(p: Parser, type: Any) -> IntegerAttr[Any] | SSAValue:
    operand = p.parse_optional_unresolved_operand()
    if operand is None:
        return read_int(p, type)
    return p.resolve_operand(operand, read_type(p) if eat(p, ":") else type)


def _show_operand(out: Out, value: SSAValue, usual: Attribute) -> None:
    out.arg().print_operand(value)
    if value.type != usual:
        out.lit(":")
        out.arg().print_attribute(value.type)


class Clauses(Element):
    """The buffer and everything in the parentheses."""

    fixed = ("pad_dimensions", "static_len", "static_offset", "static_sizes", "static_strides")

    def parse(self, p: Parser, d: Draft) -> None:
        operand = read_operand(p)
        need(p, ":")
        d.operands["buffer"] = [p.resolve_operand(operand, read_type(p))]
        if eat(p, ","):
            self._older(p, d)
            return
        for name in ("offset", "len"):
            if eat(p, name):
                need(p, "=")
                self._scalar(d, name, _read_entry(p, I32))
        for name in ("sizes", "strides"):
            if eat(p, name):
                need(p, "=")
                self._list(d, name, read_list(p, lambda: _read_entry(p, I64)))
        if eat(p, "pad"):
            d.props["pad_dimensions"] = BdPadLayoutArrayAttr(BdPadLayoutArrayAttr.parse_parameter(p))

    @staticmethod
    def _scalar(d: Draft, name: str, value: IntegerAttr[Any] | SSAValue) -> None:
        if isinstance(value, SSAValue):
            d.operands[name] = [value]
        else:
            d.props[f"static_{name}"] = value

    @staticmethod
    def _list(d: Draft, name: str, values: Sequence[IntegerAttr[Any] | SSAValue]) -> None:
        d.operands[name] = [v for v in values if isinstance(v, SSAValue)]
        static = [RUNTIME if isinstance(v, SSAValue) else int(v.value.data) for v in values]
        d.props[f"static_{name}"] = DenseArrayBase.from_list(I64, static)

    def _older(self, p: Parser, d: Draft) -> None:
        """`, offset, len, [<size = .., stride = ..>], [<const_pad_before = ..>], pad_value = n`, cut off anywhere."""
        scalars = iter(("offset", "len"))
        lists = iter(("dimensions", "pad"))
        while True:
            at = p.pos
            if eat(p, "pad_value"):
                need(p, "=")
                d.attributes["pad_value"] = read_int(p)
            elif eat(p, "offset"):
                need(p, "=")
                self._scalar(d, "offset", _read_entry(p, I32))
            elif eat(p, "len"):
                need(p, "=")
                self._scalar(d, "len", _read_entry(p, I32))
            elif (value := p.parse_optional_integer(allow_boolean=False)) is not None:
                name = next(scalars, None)
                if name is None:
                    wrong(p, "expected '['", at)
                self._scalar(d, name, in_range(p, value, I32, at))
            elif next(lists, None) == "dimensions":
                dims = BdDimLayoutArrayAttr.parse_parameter(p)
                self.dimensions(d, dims)
            else:
                d.props["pad_dimensions"] = BdPadLayoutArrayAttr(BdPadLayoutArrayAttr.parse_parameter(p))
            if not eat(p, ","):
                return

    @classmethod
    def dimensions(cls, d: Draft, dims: Sequence[Any]) -> None:
        """Sizes and strides out of the older list of pairs."""
        cls._list(d, "sizes", [IntegerAttr(dim.size, I64) for dim in dims])
        cls._list(d, "strides", [IntegerAttr(dim.stride, I64) for dim in dims])

    def print(self, out: Out, op: DialectOp) -> None:
        buffer = op.operands[0]
        out.arg().print_operand(buffer)
        out.lit(":")
        out.arg().print_attribute(buffer.type)
        for name in ("offset", "len"):
            static = op.properties.get(f"static_{name}")
            operand: SSAValue | None = getattr(op, f"{name}_operand")
            if operand is not None or static is not None:
                out.lit(name)
                out.lit("=")
                if operand is not None:
                    _show_operand(out, operand, I32)
                else:
                    out.arg().print_int(number(static) or 0)
        for name in ("sizes", "strides"):
            entries = mixed(op.properties.get(f"static_{name}"), getattr(op, f"{name[:-1]}_operands"))
            if entries:
                out.lit(name)
                out.lit("=")
                out.arg().print_string("[")
                out.glue()
                for i, entry in enumerate(entries):
                    if i:
                        out.lit(",")
                    if isinstance(entry, int):
                        out.arg().print_int(entry)
                    else:
                        _show_operand(out, entry, I64)
                out.lit("]")
        pads = op.properties.get("pad_dimensions")
        if isinstance(pads, BdPadLayoutArrayAttr):
            out.lit("pad")
            pads.print_parameter(out.arg())


class RuntimeId(Element):
    """`bd_id_val %id : i32` after the parentheses."""

    name = "bd_id_val"

    def parse(self, p: Parser, d: Draft) -> None:
        if eat(p, self.name):
            operand = read_operand(p)
            need(p, ":")
            d.operands[self.name] = [p.resolve_operand(operand, read_type(p))]

    def print(self, out: Out, op: DialectOp) -> None:
        value: SSAValue | None = getattr(op, self.name)
        if value is not None:
            out.lit(self.name)
            out.arg().print_operand(value)
            out.lit(":")
            out.arg().print_attribute(value.type)
