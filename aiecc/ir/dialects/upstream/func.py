"""func: as MLIR prints functions and calls; constants and calls through values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, StringAttr
from xdsl.dialects.func import Func
from xdsl.ir import Attribute, Operation, Region
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from aiecc.ir.dialects.upstream.codecs import symbol
from aiecc.ir.dialects.upstream.common import CONSTANT, PURE, define, extend
from aiecc.ir.dialects.upstream.pieces import print_dict, read_dict, uses
from aiecc.ir.dialects.upstream.scf import yield_form
from aiecc.ir.dialects.upstream.template import called, template
from aiecc.ir.registry import Form

ConstantOp = define("func.constant", PURE, CONSTANT, props="value")
CallIndirectOp = define("func.call_indirect", props="arg_attrs res_attrs")
DIALECT = extend(Func, (ConstantOp, CallIndirectOp))

_FIXED = frozenset({"sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"})
_EMPTY = DictionaryAttr({})


# --- func -------------------------------------------------------------------------------------------------------------


def _read_argument(p: Any, arguments: list[Any], kinds: list[Attribute], dicts: list[Attribute]) -> None:
    """`%a: t {dict} loc(..)`, or in a declaration `t {dict}`."""
    argument = p.parse_optional_argument(expect_type=False)
    if argument is not None:
        if len(arguments) != len(kinds):
            p.raise_error("expected type instead of SSA identifier", argument.name)
        p.parse_punctuation(":")
    elif arguments:
        p.raise_error("expected SSA identifier")
    kinds.append(p.parse_type())
    dicts.append(DictionaryAttr(p.parse_optional_attr_dict()))
    location = p.parse_optional_location()
    if argument is not None:
        resolved = argument.resolve(kinds[-1])
        resolved.location = location
        arguments.append(resolved)


def _read_results(p: Any) -> tuple[list[Attribute], list[Attribute]]:
    if p.parse_optional_punctuation("->") is None:
        return [], []
    if p.token().kind is not Kind.L_PAREN:
        return [p.parse_type()], [_EMPTY]
    kinds: list[Attribute] = []
    dicts: list[Attribute] = []

    def one() -> None:
        kinds.append(p.parse_type())
        dicts.append(DictionaryAttr(p.parse_optional_attr_dict()))

    p.parse_comma_separated_list(p.Delimiter.PAREN, one)
    return kinds, dicts


def _read_func(p: Any) -> Operation:
    properties: dict[str, Attribute] = {}
    visibility = p.parse_optional_visibility_keyword()
    if visibility is not None:
        properties["sym_visibility"] = visibility
    properties["sym_name"] = p.parse_symbol_name()
    arguments: list[Any] = []
    inputs: list[Attribute] = []
    in_dicts: list[Attribute] = []
    p.parse_comma_separated_list(p.Delimiter.PAREN, lambda: _read_argument(p, arguments, inputs, in_dicts))
    outputs, out_dicts = _read_results(p)
    properties["function_type"] = FunctionType.from_lists(cast(Any, inputs), cast(Any, outputs))
    for key, dicts in (("arg_attrs", in_dicts), ("res_attrs", out_dicts)):
        if any(dict != _EMPTY for dict in dicts):
            properties[key] = ArrayAttr(dicts)
    attributes: dict[str, Attribute] = {}
    if p.parse_optional_keyword("attributes") is not None:
        at = p.token().start
        attributes = p.parse_optional_attr_dict()
        for key in ("sym_visibility", "sym_name", "function_type"):
            if key in attributes:
                p.raise_error(
                    f"'{key}' is an inferred attribute and should not be specified in the explicit attribute "
                    "dictionary",
                    at,
                )
    body = Region()
    if p.token().kind is Kind.L_BRACE:
        at = p.token().start
        body = p.parse_region(arguments or None)
        first = body.blocks.first
        if first is None or (first.first_op is None and not first.args and len(body.blocks) == 1):
            p.raise_error("custom op 'func.func' expected non-empty function body", at)
    return func.FuncOp.create(properties=properties, attributes=attributes, regions=[body])


def _dicts(op: Operation, key: str, count: int) -> Sequence[Attribute | None]:
    found = op.get_attr_or_prop(key)
    return found.data if isinstance(found, ArrayAttr) else [None] * count


def _show_dict(p: Any, attr: Attribute | None) -> None:
    if isinstance(attr, DictionaryAttr) and attr.data:
        p.print_string(" ")
        p.print_attr_dict(attr.data)


def _show_func(op: Operation, p: Any) -> None:
    visibility = op.get_attr_or_prop("sym_visibility")
    p.print_string(f" {visibility.data} " if isinstance(visibility, StringAttr) else " ")
    p.print_symbol_name(op.properties["sym_name"])
    kind = op.properties["function_type"]
    assert isinstance(kind, FunctionType)
    inputs, outputs = kind.inputs.data, kind.outputs.data
    body = op.regions[0]
    entry = body.blocks.first
    p.print_string("(")
    for i, (type, attr) in enumerate(zip(inputs, _dicts(op, "arg_attrs", len(inputs)), strict=True)):
        if i:
            p.print_string(", ")
        if entry is not None:
            p.print_ssa_value(entry.args[i])
            p.print_string(": ")
        p.print_attribute(type)
        _show_dict(p, attr)
        if entry is not None:
            p.print_location(entry.args[i].location, inline=True)
    p.print_string(")")
    _show_outputs(p, outputs, _dicts(op, "res_attrs", len(outputs)))
    print_dict(p, op, _FIXED, keyword=True)
    if entry is not None:
        p.print_string(" ")
        p.print_region(body, print_entry_block_args=False)


def _show_outputs(p: Any, outputs: Sequence[Attribute], dicts: Sequence[Attribute | None]) -> None:
    if not outputs:
        return
    plain = len(outputs) == 1 and not isinstance(outputs[0], FunctionType) and dicts[0] in (None, _EMPTY)
    p.print_string(" -> " if plain else " -> (")
    for i, (type, attr) in enumerate(zip(outputs, dicts, strict=True)):
        if i:
            p.print_string(", ")
        p.print_attribute(type)
        _show_dict(p, attr)
    if not plain:
        p.print_string(")")


# --- calls ------------------------------------------------------------------------------------------------------------


def _read_call(p: Any) -> Operation:
    callee = symbol("callee").read(p)
    assert callee is not None
    p.parse_punctuation("(")
    values = uses(p)
    p.parse_punctuation(")")
    properties, attributes = read_dict(p, func.CallOp)
    p.parse_punctuation(":")
    at = p.token().start
    kind = p.parse_function_type()
    inputs = kind.inputs.data
    if len(inputs) != len(values):
        p.raise_error(f"{len(values)} operands present, but expected {len(inputs)}", at)
    return func.CallOp.create(
        operands=[p.resolve_operand(v, t) for v, t in zip(values, inputs, strict=True)],
        result_types=kind.outputs.data,
        properties={**properties, "callee": callee},
        attributes=attributes,
    )


def _show_call(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_attribute(op.properties["callee"])
    p.print_string("(")
    p.print_list(op.operands, p.print_operand)
    p.print_string(")")
    print_dict(p, op, frozenset({"callee"}))
    p.print_string(" : ")
    p.print_function_type([v.type for v in op.operands], [r.type for r in op.results])


def _read_indirect(p: Any) -> Operation:
    callee = p.parse_unresolved_operand()
    p.parse_punctuation("(")
    values = uses(p)
    p.parse_punctuation(")")
    properties, attributes = read_dict(p, CallIndirectOp)
    p.parse_punctuation(":")
    at = p.token().start
    kind = p.parse_type()
    if not isinstance(kind, FunctionType):
        p.raise_error("expected function type", at)
    inputs = kind.inputs.data
    if len(inputs) != len(values):
        p.raise_error(f"{len(values)} operands present, but expected {len(inputs)}", at)
    operands = [p.resolve_operand(callee, kind)]
    operands += [p.resolve_operand(v, t) for v, t in zip(values, inputs, strict=True)]
    return CallIndirectOp.create(
        operands=operands, result_types=kind.outputs.data, properties=properties, attributes=attributes
    )


def _show_indirect(op: Operation, p: Any) -> None:
    callee, *values = op.operands
    p.print_string(" ")
    p.print_operand(callee)
    p.print_string("(")
    p.print_list(values, p.print_operand)
    p.print_string(")")
    print_dict(p, op)
    p.print_string(" : ")
    p.print_attribute(callee.type)


FORMS: dict[str, Form] = {
    "func.func": Form(_read_func, _show_func),
    "func.return": yield_form(func.ReturnOp),
    "func.call": Form(_read_call, _show_call),
    "func.call_indirect": Form(_read_indirect, _show_indirect),
    "func.constant": template(ConstantOp, "{dict} {value} : {T}", "-> T", {"value": symbol("value")}, called("f")),
}
