"""What loops and branches of several dialects share: results, loop-carried values, terminators, yields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from aiecc.ir.dialects.upstream.common import TERMINATOR
from aiecc.ir.dialects.upstream.pieces import print_dict, types, uses
from aiecc.ir.registry import Form


def ensure_terminator(region: Region, cls: type[Operation]) -> Region:
    """Add the terminator the text may leave out of each block that has none."""
    if not region.blocks:
        region.add_block(Block())
    for block in region.blocks:
        last = block.last_op
        if last is None or not last.has_trait(type(TERMINATOR), value_if_unregistered=False):
            block.add_op(cls.create(location=None))
    return region


def read_results(p: Any) -> list[Attribute]:
    """`-> (t, u)` or `-> t`, if there."""
    if p.parse_optional_punctuation("->") is None:
        return []
    if p.token().kind is not Kind.L_PAREN:
        return [p.parse_type()]
    found = p.parse_comma_separated_list(p.Delimiter.PAREN, p.parse_type)
    if p.token().kind is Kind.ARROW:
        p.raise_error("expected '('")
    return found


def show_results(op: Operation, p: Any) -> None:
    if op.results:
        p.print_string(" -> (")
        p.print_list([r.type for r in op.results], p.print_attribute)
        p.print_string(")")


def read_assignments(p: Any) -> tuple[list[Any], list[Any]]:
    """`(%a = %x, ..)`: block arguments without types, and unresolved operands."""
    arguments: list[Any] = []
    values: list[Any] = []

    def one() -> None:
        arguments.append(p.parse_argument(expect_type=False))
        p.parse_punctuation("=")
        values.append(p.parse_unresolved_operand())

    p.parse_comma_separated_list(p.Delimiter.PAREN, one)
    return arguments, values


def show_assignments(p: Any, arguments: Sequence[SSAValue], values: Sequence[SSAValue]) -> None:
    p.print_string("(")
    for i, (argument, value) in enumerate(zip(arguments, values, strict=False)):
        if i:
            p.print_string(", ")
        p.print_ssa_value(argument)
        p.print_string(" = ")
        p.print_operand(value)
    p.print_string(")")


def uses_in_parens(p: Any) -> list[Any]:
    p.parse_punctuation("(")
    found = uses(p)
    p.parse_punctuation(")")
    return found


def show_uses(p: Any, lead: str, values: Sequence[SSAValue]) -> None:
    p.print_string(f"{lead}(")
    p.print_list(values, p.print_operand)
    p.print_string(")")


def show_arguments(p: Any, block: Block) -> None:
    p.print_string(" (")
    p.print_list(block.args, p.print_ssa_value)
    p.print_string(")")


def yield_form(cls: type[Operation]) -> Form:
    """`{dict} %a, %b : t, u`, the values left out when there are none."""

    def read(p: Any) -> Operation:
        attributes = p.parse_optional_attr_dict()
        return _finish(p, attributes)

    def _finish(p: Any, attributes: dict[str, Attribute]) -> Operation:
        values = uses(p)
        kinds: list[Attribute] = []
        at = p.token().start
        if values:
            p.parse_punctuation(":")
            kinds = types(p)
        if len(kinds) != len(values):
            p.raise_error(
                f"number of operands and types do not match: got {len(values)} operands and {len(kinds)} types", at
            )
        operands = [p.resolve_operand(value, type) for value, type in zip(values, kinds, strict=True)]
        return cls.create(operands=operands, attributes=attributes)

    def show(op: Operation, p: Any) -> None:
        print_dict(p, op)
        if op.operands:
            p.print_string(" ")
            p.print_list(op.operands, p.print_operand)
            p.print_string(" : ")
            p.print_list([v.type for v in op.operands], p.print_attribute)

    return Form(read, show)
