"""builtin: modules and casts as MLIR prints them."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import Builtin, ModuleOp, StringAttr, UnrealizedConversionCastOp
from xdsl.ir import Attribute, Block, Operation

from aiecc.ir.dialects.upstream.pieces import print_dict, types, uses
from aiecc.ir.registry import Form

DIALECT = Builtin


def _read_module(p: Any) -> Operation:
    name = p.parse_optional_symbol_name()
    properties: dict[str, Attribute] = {} if name is None else {"sym_name": name}
    attributes: dict[str, Attribute] = {}
    if p.parse_optional_keyword("attributes") is not None:
        attributes = p.parse_optional_attr_dict()
        if "sym_visibility" in attributes:
            properties["sym_visibility"] = attributes.pop("sym_visibility")
    region = p.parse_region()
    if not region.blocks:
        region.add_block(Block())
    return ModuleOp.create(properties=properties, attributes=attributes, regions=[region])


def _show_module(op: Operation, p: Any) -> None:
    name = op.get_attr_or_prop("sym_name")
    if isinstance(name, StringAttr):
        p.print_string(" ")
        p.print_symbol_name(name)
    print_dict(p, op, frozenset({"sym_name"}), keyword=True)
    p.print_string(" ")
    p.print_region(op.regions[0], print_empty_block=False)


def _read_cast(p: Any) -> Operation:
    values = uses(p)
    kinds: list[Attribute] = []
    if values:
        p.parse_punctuation(":")
        kinds = types(p)
    p.parse_keyword("to")
    results = [p.parse_type()]
    while p.parse_optional_punctuation(",") is not None:
        results.append(p.parse_type())
    if len(kinds) != len(values):
        p.raise_error(f"expected {len(values)} operand types but had {len(kinds)}")
    attributes = p.parse_optional_attr_dict()
    operands = [p.resolve_operand(v, t) for v, t in zip(values, kinds, strict=True)]
    return UnrealizedConversionCastOp.create(operands=operands, result_types=results, attributes=attributes)


def _show_cast(op: Operation, p: Any) -> None:
    if op.operands:
        p.print_string(" ")
        p.print_list(op.operands, p.print_operand)
        p.print_string(" : ")
        p.print_list([v.type for v in op.operands], p.print_attribute)
    p.print_string(" to ")
    p.print_list([r.type for r in op.results], p.print_attribute)
    print_dict(p, op)


FORMS: dict[str, Form] = {
    "builtin.module": Form(_read_module, _show_module),
    "builtin.unrealized_conversion_cast": Form(_read_cast, _show_cast),
}
