"""vector.contract, vector.mask and vector.print."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    StringAttr,
)
from xdsl.ir import Attribute, Block, Data, Operation, Region
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from aiecc.ir.dialects.upstream.common import PURE, TERMINATOR, define
from aiecc.ir.dialects.upstream.loops import yield_form
from aiecc.ir.dialects.upstream.pieces import print_dict, read_dict, types, uses
from aiecc.ir.registry import Form


@irdl_attr_definition
class IteratorTypeAttr(Data[str]):
    """`#vector.iterator_type<parallel>`"""

    name = "vector.iterator_type"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        with parser.in_angle_brackets():
            return parser.parse_identifier()

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


@irdl_attr_definition
class PunctuationAttr(Data[str]):
    """`#vector.punctuation<comma>`"""

    name = "vector.punctuation"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        with parser.in_angle_brackets():
            return parser.parse_identifier()

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


def pure_op(name: str, props: str = "") -> type[Operation]:
    return define(f"vector.{name}", PURE, props=props)


ContractOp = pure_op("contract", "indexing_maps iterator_types kind fastmath")


MaskOp = define("vector.mask")


YieldOp = define("vector.yield", TERMINATOR)


PrintOp = define("vector.print", props="punctuation stringLiteral")


_TRAIT = ("indexing_maps", "iterator_types", "kind")


def _read_contract(p: Any) -> Operation:
    properties, attributes = read_dict(p, ContractOp)
    iterators = properties.get("iterator_types")
    if isinstance(iterators, ArrayAttr):
        properties["iterator_types"] = ArrayAttr(
            IteratorTypeAttr(item.data) if isinstance(item, StringAttr) else item for item in iterators.data
        )
    values = uses(p)
    own, rest = read_dict(p, ContractOp)
    p.parse_punctuation(":")
    left = p.parse_type()
    p.parse_punctuation(",")
    right = p.parse_type()
    p.parse_keyword("into")
    result = p.parse_type()
    if len(values) != 3:
        p.raise_error("expected 3 operands")
    operands = [p.resolve_operand(v, t) for v, t in zip(values, (left, right, result), strict=True)]
    return ContractOp.create(
        operands=operands, result_types=[result], properties=properties | own, attributes=attributes | rest
    )


def _show_contract(op: Operation, p: Any) -> None:
    shown = {key: value for key in _TRAIT if (value := op.get_attr_or_prop(key)) is not None}
    iterators = shown.get("iterator_types")
    if isinstance(iterators, ArrayAttr):
        shown["iterator_types"] = ArrayAttr(
            StringAttr(item.data) if isinstance(item, IteratorTypeAttr) else item for item in iterators.data
        )
    p.print_string(" ")
    p.print_attr_dict(shown)
    p.print_string(" ")
    p.print_list(op.operands, p.print_operand)
    print_dict(p, op, frozenset(_TRAIT))
    p.print_string(" : ")
    p.print_list([v.type for v in op.operands[:2]], p.print_attribute)
    p.print_string(" into ")
    p.print_attribute(op.results[0].type)


def _read_mask(p: Any) -> Operation:
    values = uses(p)
    p.parse_punctuation("{")
    inner = None if p.parse_optional_punctuation("}") is not None else p.parse_operation()
    if inner is not None:
        p.parse_punctuation("}")
    attributes = p.parse_optional_attr_dict()
    p.parse_punctuation(":")
    kind = p.parse_type()
    results = types(p) if p.parse_optional_punctuation("->") is not None else []
    kinds = [kind, *results][: len(values)]
    ops = [] if inner is None else [inner]
    region = Region(Block([*ops, YieldOp.create(operands=[] if inner is None else inner.results)]))
    operands = [p.resolve_operand(v, t) for v, t in zip(values, kinds, strict=True)]
    return MaskOp.create(operands=operands, result_types=results, regions=[region], attributes=attributes)


def _show_mask(op: Operation, p: Any) -> None:
    inner = op.regions[0].block.first_op
    p.print_string(" ")
    p.print_list(op.operands, p.print_operand)
    p.print_string(" { ")
    if inner is not None and inner.name != "vector.yield":
        p.print_op_without_results(inner)
        p.print_string(" ")
    p.print_string("}")
    print_dict(p, op)
    p.print_string(" : ")
    p.print_attribute(op.operands[0].type)
    if op.results:
        p.print_string(" -> ")
        p.print_list([r.type for r in op.results], p.print_attribute)


_MARKS = ("no_punctuation", "newline", "comma", "open", "close")


def _read_print(p: Any) -> Operation:
    values = uses(p)
    properties: dict[str, Attribute] = {}
    kinds: list[Attribute] = []
    if values:
        p.parse_punctuation(":")
        kinds = types(p)
    elif p.parse_optional_keyword("str") is not None:
        properties["stringLiteral"] = StringAttr(p.parse_str_literal())
    if p.parse_optional_keyword("punctuation") is not None:
        with p.in_angle_brackets():
            properties["punctuation"] = PunctuationAttr(p.parse_keyword_in(_MARKS))
    attributes = p.parse_optional_attr_dict()
    if len(kinds) != len(values):
        p.raise_error(f"expected {len(values)} operand types but had {len(kinds)}")
    operands = [p.resolve_operand(v, t) for v, t in zip(values, kinds, strict=True)]
    return PrintOp.create(operands=operands, properties=properties, attributes=attributes)


def _show_print(op: Operation, p: Any) -> None:
    if op.operands:
        p.print_string(" ")
        p.print_list(op.operands, p.print_operand)
        p.print_string(" : ")
        p.print_list([v.type for v in op.operands], p.print_attribute)
    text = op.get_attr_or_prop("stringLiteral")
    if text is not None:
        p.print_string(" str ")
        p.print_attribute(text)
    mark = op.get_attr_or_prop("punctuation")
    if isinstance(mark, PunctuationAttr) and mark.data != "newline":
        p.print_string(f" punctuation <{mark.data}>")
    print_dict(p, op, frozenset({"stringLiteral", "punctuation"}))


FORMS: dict[str, Form] = {
    "vector.contract": Form(_read_contract, _show_contract),
    "vector.mask": Form(_read_mask, _show_mask),
    "vector.print": Form(_read_print, _show_print),
    "vector.yield": yield_form(YieldOp),
}

OPS = (
    ContractOp,
    MaskOp,
    YieldOp,
    PrintOp,
)
