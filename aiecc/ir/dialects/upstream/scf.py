"""scf: loops over integers, single result types without parentheses, loops without operands, forall, parallel."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import DenseArrayBase, UnitAttr
from xdsl.dialects.scf import Scf
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from aiecc.ir.dialects.upstream import scf_parallel
from aiecc.ir.dialects.upstream.common import extend
from aiecc.ir.dialects.upstream.lists import ints
from aiecc.ir.dialects.upstream.loops import (
    ensure_terminator,
    read_assignments,
    read_results,
    show_assignments,
    show_results,
    yield_form,
)
from aiecc.ir.dialects.upstream.pieces import I1, I64, INDEX, print_dict, read_dict, types, uses
from aiecc.ir.registry import Form

DIALECT = extend(Scf, scf_parallel.OPS)


# --- for --------------------------------------------------------------------------------------------------------------


def _read_for(p: Any) -> Operation:
    unsigned = p.parse_optional_keyword("unsigned") is not None
    variable = p.parse_argument(expect_type=False)
    p.parse_punctuation("=")
    bounds = [p.parse_unresolved_operand()]
    for word in ("to", "step"):
        p.parse_keyword(word)
        bounds.append(p.parse_unresolved_operand())
    arguments: list[Any] = []
    values: list[Any] = []
    results: list[Attribute] = []
    if p.parse_optional_keyword("iter_args") is not None:
        arguments, values = read_assignments(p)
        results = read_results(p)
        if len(results) != len(arguments):
            p.raise_error("mismatch in number of loop-carried values and defined values", p.token().start)
    kind: Attribute = INDEX
    if p.parse_optional_punctuation(":") is not None:
        kind = p.parse_type()
    operands = [p.resolve_operand(bound, kind) for bound in bounds]
    operands += [p.resolve_operand(value, type) for value, type in zip(values, results, strict=True)]
    resolved = [a.resolve(t) for a, t in zip([variable, *arguments], [kind, *results], strict=True)]
    region = ensure_terminator(p.parse_region(resolved), scf.YieldOp)
    properties, attributes = read_dict(p, scf.ForOp)
    if unsigned:
        attributes["unsignedCmp"] = UnitAttr()
    return scf.ForOp.create(
        operands=operands, result_types=results, regions=[region], properties=properties, attributes=attributes
    )


def _show_for(op: Operation, p: Any) -> None:
    low, high, step, *values = op.operands
    region = op.regions[0]
    variable, *arguments = region.block.args
    if "unsignedCmp" in op.attributes:
        p.print_string(" unsigned")
    for lead, value in ((" ", variable), (" = ", low), (" to ", high), (" step ", step)):
        p.print_string(lead)
        p.print_ssa_value(value)
    if values:
        p.print_string(" iter_args")
        show_assignments(p, arguments, values)
        show_results(op, p)
    p.print_string(" ")
    if variable.type != INDEX:
        p.print_string(" : ")
        p.print_attribute(variable.type)
        p.print_string(" ")
    p.print_region(region, print_entry_block_args=False, print_block_terminators=bool(values))
    print_dict(p, op, frozenset({"unsignedCmp"}))


# --- if, execute_region, while ----------------------------------------------------------------------------------------


def _read_if(p: Any) -> Operation:
    condition = p.resolve_operand(p.parse_unresolved_operand(), I1)
    results = read_results(p)
    first = ensure_terminator(p.parse_region(), scf.YieldOp)
    second = Region()
    if p.parse_optional_keyword("else") is not None:
        second = ensure_terminator(p.parse_region(), scf.YieldOp)
    properties, attributes = read_dict(p, scf.IfOp)
    return scf.IfOp.create(
        operands=[condition],
        result_types=results,
        regions=[first, second],
        properties=properties,
        attributes=attributes,
    )


def _show_if(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_operand(op.operands[0])
    show_results(op, p)
    for word, region in zip((" ", " else "), op.regions, strict=False):
        if region.blocks:
            p.print_string(word)
            p.print_region(region, print_entry_block_args=False, print_block_terminators=bool(op.results))
    print_dict(p, op)


def _read_execute(p: Any) -> Operation:
    results = read_results(p)
    attributes: dict[str, Attribute] = {}
    if p.parse_optional_keyword("no_inline") is not None:
        attributes["no_inline"] = UnitAttr()
    region = p.parse_region()
    attributes |= p.parse_optional_attr_dict()
    return scf.ExecuteRegionOp.create(result_types=results, regions=[region], attributes=attributes)


def _show_execute(op: Operation, p: Any) -> None:
    if op.results:
        p.print_string(" -> ")
        single = len(op.results) == 1
        p.print_string("" if single else "(")
        p.print_list([r.type for r in op.results], p.print_attribute)
        p.print_string("" if single else ")")
    p.print_string(" no_inline " if "no_inline" in op.attributes else " ")
    p.print_region(op.regions[0], print_entry_block_args=False)
    print_dict(p, op, frozenset({"no_inline"}))


def _read_while(p: Any) -> Operation:
    arguments: list[Any] = []
    values: list[Any] = []
    if p.token().kind is Kind.L_PAREN:
        arguments, values = read_assignments(p)
    p.parse_punctuation(":")
    at = p.token().start
    kind = p.parse_function_type()
    inputs = kind.inputs.data
    if len(inputs) != len(values):
        p.raise_error(f"expected as many input types as operands (expected {len(values)} got {len(inputs)})", at)
    operands = [p.resolve_operand(value, type) for value, type in zip(values, inputs, strict=True)]
    before = p.parse_region([a.resolve(t) for a, t in zip(arguments, inputs, strict=True)])
    p.parse_keyword("do")
    after = p.parse_region()
    attributes: dict[str, Attribute] = {}
    if p.parse_optional_keyword("attributes") is not None:
        attributes = p.parse_optional_attr_dict()
    for region in (before, after):
        if not region.blocks:
            region.add_block(Block())
    return scf.WhileOp.create(
        operands=operands, result_types=kind.outputs.data, regions=[before, after], attributes=attributes
    )


def _show_while(op: Operation, p: Any) -> None:
    before, after = op.regions
    if op.operands:
        p.print_string(" ")
        show_assignments(p, before.block.args, op.operands)
    p.print_string(" : ")
    p.print_function_type([v.type for v in op.operands], [r.type for r in op.results])
    p.print_string(" ")
    p.print_region(before, print_entry_block_args=False)
    p.print_string(" do ")
    p.print_region(after)
    print_dict(p, op, keyword=True)


# --- yield and its like -----------------------------------------------------------------------------------------------


def _read_condition(p: Any) -> Operation:
    p.parse_punctuation("(")
    condition = p.resolve_operand(p.parse_unresolved_operand(), I1)
    p.parse_punctuation(")")
    attributes = p.parse_optional_attr_dict()
    values = uses(p)
    kinds: list[Attribute] = []
    if values:
        p.parse_punctuation(":")
        kinds = types(p)
    if len(kinds) != len(values):
        p.raise_error(f"number of operands and types do not match: got {len(values)} operands and {len(kinds)} types")
    operands = [condition, *(p.resolve_operand(v, t) for v, t in zip(values, kinds, strict=True))]
    return scf.ConditionOp.create(operands=operands, attributes=attributes)


def _show_condition(op: Operation, p: Any) -> None:
    p.print_string("(")
    p.print_operand(op.operands[0])
    p.print_string(")")
    print_dict(p, op)
    if len(op.operands) > 1:
        p.print_string(" ")
        p.print_list(op.operands[1:], p.print_operand)
        p.print_string(" : ")
        p.print_list([v.type for v in op.operands[1:]], p.print_attribute)


# --- index_switch -----------------------------------------------------------------------------------------------------


def _read_switch(p: Any) -> Operation:
    value = p.resolve_operand(p.parse_unresolved_operand(), INDEX)
    attributes = p.parse_optional_attr_dict()
    results: list[Attribute] = []
    if p.parse_optional_punctuation("->") is not None:
        results = types(p)
    cases: list[int] = []
    regions: list[Region] = []
    while p.parse_optional_keyword("case") is not None:
        cases.append(p.parse_integer(allow_boolean=False))
        regions.append(p.parse_region())
    p.parse_keyword("default")
    default = ensure_terminator(p.parse_region(), scf.YieldOp)
    return scf.IndexSwitchOp.create(
        operands=[value],
        result_types=results,
        properties={"cases": DenseArrayBase.from_list(I64, cases)},
        attributes=attributes,
        regions=[default, *regions],
    )


def _show_switch(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_operand(op.operands[0])
    print_dict(p, op, frozenset({"cases"}))
    if op.results:
        p.print_string(" -> ")
        p.print_list([r.type for r in op.results], p.print_attribute)
    p.print_string(" ")
    default, *regions = op.regions
    for number, region in zip(ints(op.get_attr_or_prop("cases")), regions, strict=True):
        p.print_string(f"\ncase {number} ")
        p.print_region(region)
    p.print_string("\ndefault ")
    last = default.blocks.last.last_op if default.blocks.last is not None else None
    p.print_region(default, print_block_terminators=last is None or bool(last.operands or last.attributes))


FORMS: dict[str, Form] = {
    **scf_parallel.FORMS,
    "scf.for": Form(_read_for, _show_for),
    "scf.if": Form(_read_if, _show_if),
    "scf.execute_region": Form(_read_execute, _show_execute),
    "scf.while": Form(_read_while, _show_while),
    "scf.yield": yield_form(scf.YieldOp),
    "scf.condition": Form(_read_condition, _show_condition),
    "scf.index_switch": Form(_read_switch, _show_switch),
}
