"""Affine expressions with values in them, and maps applied to values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import (
    AffineMapAttr,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap, AffineSymExpr
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from aiecc.ir.affine import read_expr
from aiecc.ir.attr_printer import expr_text
from aiecc.ir.dialects.upstream.pieces import (
    INDEX,
    uses,
)


class Values:
    """Dimensions and symbols of a map that is written with values in it."""

    def __init__(self, p: Any) -> None:
        self.p = p
        self.dims: dict[str, Any] = {}
        self.symbols: dict[str, Any] = {}

    def primary(self) -> AffineExpr | None:
        p = self.p
        if p.parse_optional_keyword("symbol") is not None:
            p.parse_punctuation("(")
            found = self._one(self.symbols)
            p.parse_punctuation(")")
            return AffineExpr.symbol(found)
        if p.token().kind is not Kind.PERCENT_IDENT:
            return None
        return AffineExpr.dimension(self._one(self.dims))

    def _one(self, names: dict[str, Any]) -> int:
        operand = self.p.parse_unresolved_operand()
        key = f"{operand.operand_name}#{operand.index}"
        names.setdefault(key, operand)
        return list(names).index(key)

    def operands(self) -> list[SSAValue]:
        return [self.p.resolve_operand(value, INDEX) for value in (*self.dims.values(), *self.symbols.values())]

    def map(self, results: Sequence[AffineExpr]) -> AffineMapAttr:
        return AffineMapAttr(AffineMap(len(self.dims), len(self.symbols), tuple(results)))


def read_index(p: Any) -> tuple[list[SSAValue], AffineMapAttr]:
    """`[%i + 3, %j * 2]`"""
    values = Values(p)
    results = p.parse_comma_separated_list(p.Delimiter.SQUARE, lambda: read_expr(p, values.primary))
    return values.operands(), values.map(results)


def namer(p: Any, map: AffineMap, operands: Sequence[SSAValue]) -> Any:
    def name(expr: AffineExpr) -> str:
        if isinstance(expr, AffineSymExpr):
            return f"symbol({p.value_text(operands[map.num_dims + expr.position])})"
        assert isinstance(expr, AffineDimExpr)
        return p.value_text(operands[expr.position])

    return name


def index_text(p: Any, attr: Attribute | None, operands: Sequence[SSAValue]) -> str:
    if not isinstance(attr, AffineMapAttr):
        return ""
    name = namer(p, attr.data, operands)
    return ", ".join(expr_text(result, False, name) for result in attr.data.results)


def read_map_operands(p: Any) -> tuple[list[SSAValue], int]:
    """`(%d)[%s]`: the operands and how many of them are dimensions."""
    p.parse_punctuation("(")
    values = uses(p)
    dims = len(values)
    p.parse_punctuation(")")
    if p.parse_optional_punctuation("[") is not None:
        values += uses(p)
        p.parse_punctuation("]")
    return [p.resolve_operand(value, INDEX) for value in values], dims


def show_map_operands(p: Any, operands: Sequence[SSAValue], dims: int) -> None:
    p.print_string("(")
    p.print_list(operands[:dims], p.print_operand)
    p.print_string(")")
    if len(operands) > dims:
        p.print_string("[")
        p.print_list(operands[dims:], p.print_operand)
        p.print_string("]")


def read_map_attr(p: Any) -> AffineMapAttr:
    at = p.token().start
    found = p.parse_attribute()
    if not isinstance(found, AffineMapAttr):
        p.raise_error("expected affine map", at)
    return found
