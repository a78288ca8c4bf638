"""Lists that mix numbers and values: `[0, %i, 4]`, stored as a dense array with a mark where an operand stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from aiecc.ir.dialects.upstream.pieces import I64


def read_mixed(p: Any, open: str = "[", close: str = "]") -> tuple[list[Any], Attribute]:
    """The unresolved operands, and the numbers with marks between them."""
    values: list[Any] = []
    numbers: list[int] = []

    def item() -> None:
        if p.token().kind is Kind.PERCENT_IDENT:
            values.append(p.parse_unresolved_operand())
            numbers.append(DYNAMIC_INDEX)
        else:
            numbers.append(p.parse_integer(allow_boolean=False))

    p.parse_punctuation(open)
    if p.parse_optional_punctuation(close) is None:
        item()
        while p.parse_optional_punctuation(",") is not None:
            item()
        p.parse_punctuation(close)
    return values, DenseArrayBase.from_list(I64, numbers)


def show_mixed(
    p: Any, values: Sequence[SSAValue], numbers: Attribute | None, open: str = "[", close: str = "]"
) -> None:
    p.print_string(open)
    given: Iterator[SSAValue] = iter(values)
    for i, number in enumerate(ints(numbers)):
        if i:
            p.print_string(", ")
        if number == DYNAMIC_INDEX:
            p.print_operand(next(given))
        else:
            p.print_string(str(number))
    p.print_string(close)


def ints(attr: Attribute | None) -> tuple[int, ...]:
    return tuple(cast(Any, attr).get_values()) if isinstance(attr, DenseArrayBase) else ()
