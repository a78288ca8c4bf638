"""cf: branches with weights, and blocks' operands as MLIR prints them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import cf
from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, IntegerType, StringAttr, VectorType
from xdsl.dialects.cf import Cf
from xdsl.ir import Attribute, Block, Operation, SSAValue

from aiecc.ir.dialects.upstream.lists import ints
from aiecc.ir.dialects.upstream.pieces import I1, I32, SEGMENTS, print_dict, read_dict, types, uses
from aiecc.ir.registry import Form

DIALECT = Cf


def _read_target(p: Any) -> tuple[Block, list[SSAValue]]:
    """`^bb(%a, %b : t, u)`"""
    block = p.parse_successor()
    if p.parse_optional_punctuation("(") is None:
        return block, []
    values = uses(p)
    p.parse_punctuation(":")
    kinds = types(p)
    p.parse_punctuation(")")
    if len(kinds) != len(values):
        p.raise_error(f"expected {len(values)} operand types but had {len(kinds)}")
    return block, [p.resolve_operand(v, t) for v, t in zip(values, kinds, strict=True)]


def _show_target(p: Any, block: Block, values: Sequence[SSAValue]) -> None:
    p.print_block_name(block)
    if values:
        p.print_string("(")
        p.print_list(values, p.print_operand)
        p.print_string(" : ")
        p.print_list([v.type for v in values], p.print_attribute)
        p.print_string(")")


def _read_br(p: Any) -> Operation:
    block, values = _read_target(p)
    properties, attributes = read_dict(p, cf.BranchOp)
    return cf.BranchOp.create(operands=values, successors=[block], properties=properties, attributes=attributes)


def _show_br(op: Operation, p: Any) -> None:
    p.print_string(" ")
    _show_target(p, op.successors[0], op.operands)
    print_dict(p, op)


def _read_cond_br(p: Any) -> Operation:
    condition = p.resolve_operand(p.parse_unresolved_operand(), I1)
    weights: Attribute | None = None
    if p.parse_optional_keyword("weights") is not None:
        p.parse_punctuation("(")
        numbers = p.parse_comma_separated_list(p.Delimiter.SQUARE, lambda: p.parse_integer(allow_boolean=False))
        p.parse_punctuation(")")
        weights = DenseArrayBase.from_list(I32, numbers)
    p.parse_punctuation(",")
    first, first_values = _read_target(p)
    p.parse_punctuation(",")
    second, second_values = _read_target(p)
    properties, attributes = read_dict(p, cf.ConditionalBranchOp)
    properties[SEGMENTS] = DenseArrayBase.from_list(I32, [1, len(first_values), len(second_values)])
    if weights is not None:
        properties["branch_weights"] = weights
    return cf.ConditionalBranchOp.create(
        operands=[condition, *first_values, *second_values],
        successors=[first, second],
        properties=properties,
        attributes=attributes,
    )


def _show_cond_br(op: Operation, p: Any) -> None:
    _, size, _ = ints(op.get_attr_or_prop(SEGMENTS))
    p.print_string(" ")
    p.print_operand(op.operands[0])
    weights = ints(op.get_attr_or_prop("branch_weights"))
    if weights:
        p.print_string(f" weights([{', '.join(map(str, weights))}])")
    p.print_string(", ")
    _show_target(p, op.successors[0], op.operands[1 : 1 + size])
    p.print_string(", ")
    _show_target(p, op.successors[1], op.operands[1 + size :])
    print_dict(p, op, frozenset({"branch_weights"}))


def _read_switch(p: Any) -> Operation:
    flag = p.parse_unresolved_operand()
    p.parse_punctuation(":")
    kind = p.parse_type()
    p.parse_punctuation(",")
    p.parse_punctuation("[")
    p.parse_keyword("default")
    p.parse_punctuation(":")
    default, default_values = _read_target(p)
    numbers: list[int] = []
    blocks: list[Block] = []
    groups: list[list[SSAValue]] = []
    while p.parse_optional_punctuation(",") is not None:
        numbers.append(p.parse_integer(allow_boolean=False))
        p.parse_punctuation(":")
        block, values = _read_target(p)
        blocks.append(block)
        groups.append(values)
    p.parse_punctuation("]")
    properties, attributes = read_dict(p, cf.SwitchOp)
    case_values = [value for group in groups for value in group]
    properties[SEGMENTS] = DenseArrayBase.from_list(I32, [1, len(default_values), len(case_values)])
    properties["case_operand_segments"] = DenseArrayBase.from_list(I32, [len(group) for group in groups])
    if numbers:
        properties["case_values"] = DenseIntOrFPElementsAttr.from_list(
            cast(Any, VectorType(kind, [len(numbers)])), numbers
        )
    return cf.SwitchOp.create(
        operands=[p.resolve_operand(flag, kind), *default_values, *case_values],
        successors=[default, *blocks],
        properties=properties,
        attributes=attributes,
    )


def _show_switch(op: Operation, p: Any) -> None:
    flag = op.operands[0]
    width = flag.type.width.data if isinstance(flag.type, IntegerType) else 64
    _, size, _ = ints(op.get_attr_or_prop(SEGMENTS))
    p.print_string(" ")
    p.print_operand(flag)
    p.print_string(" : ")
    p.print_attribute(flag.type)
    p.print_string(", [\n  default: ")
    _show_target(p, op.successors[0], op.operands[1 : 1 + size])
    values = op.get_attr_or_prop("case_values")
    numbers = list(values.get_values()) if isinstance(values, DenseIntOrFPElementsAttr) else []
    start = 1 + size
    sizes = ints(op.get_attr_or_prop("case_operand_segments"))
    for number, block, count in zip(numbers, op.successors[1:], sizes, strict=True):
        p.print_string(f",\n  {number & ((1 << width) - 1)}: ")
        _show_target(p, block, op.operands[start : start + count])
        start += count
    p.print_string("\n]" if numbers else "]")
    print_dict(p, op, frozenset({"case_values", "case_operand_segments"}))


def _read_assert(p: Any) -> Operation:
    condition = p.resolve_operand(p.parse_unresolved_operand(), I1)
    p.parse_punctuation(",")
    properties, attributes = {"msg": StringAttr(p.parse_str_literal())}, p.parse_optional_attr_dict()
    return cf.AssertOp.create(operands=[condition], properties=properties, attributes=attributes)


def _show_assert(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_operand(op.operands[0])
    p.print_string(", ")
    p.print_attribute(op.properties["msg"])
    print_dict(p, op, frozenset({"msg"}))


FORMS: dict[str, Form] = {
    "cf.br": Form(_read_br, _show_br),
    "cf.cond_br": Form(_read_cond_br, _show_cond_br),
    "cf.switch": Form(_read_switch, _show_switch),
    "cf.assert": Form(_read_assert, _show_assert),
}
