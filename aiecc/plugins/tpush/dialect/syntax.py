"""Reading and printing of what `pto` ops share: dictionaries of typed keys, and typed operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i1,
    i8,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from aiecc.plugins.tpush.dialect.attrs import AddressSpaceAttr, PtrType

I8, I32, BOOL, STR, SPACE, FUNC = "i8", "i32", "bool", "str", "space", "func"
"""Kinds of dictionary entries."""

_INTS = {I8: i8, I32: i32}


def read_dict(
    parser: Parser, op: str, keys: Mapping[str, str], needed: Sequence[str]
) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """`{key = value, ..}`: properties, and attributes that are only carried along (their names have a dot)."""
    properties: dict[str, Attribute] = {}
    others: dict[str, Attribute] = {}
    at = parser.pos
    if parser.parse_optional_punctuation("{") is not None and parser.parse_optional_punctuation("}") is None:
        while True:
            _read_entry(parser, op, keys, properties, others)
            if parser.parse_optional_punctuation(",") is None:
                break
        parser.parse_punctuation("}")
    for key in needed:
        if key not in properties:
            parser.raise_error(f"'{op}' op lacks '{key}': write {{{key} = ..}}", at, at)
    return properties, others


def _read_entry(
    parser: Parser,
    op: str,
    keys: Mapping[str, str],
    properties: dict[str, Attribute],
    others: dict[str, Attribute],
) -> None:
    at = parser.pos
    key = parser.parse_optional_identifier() or parser.parse_str_literal()
    if key in properties or key in others:
        parser.raise_error(f"'{key}' stands twice", at, parser.pos)
    kind = keys.get(key)
    if kind is not None:
        if kind == BOOL and parser.parse_optional_punctuation("=") is None:
            properties[key] = IntegerAttr(1, i1)
            return
        if kind != BOOL:
            parser.parse_punctuation("=")
        properties[key] = _value(parser, key, kind)
    elif "." in key:
        others[key] = UnitAttr() if parser.parse_optional_punctuation("=") is None else parser.parse_attribute()
    else:
        parser.raise_error(f"'{op}' op has no '{key}'; there are {', '.join(keys)}", at, parser.pos)


def _value(parser: Parser, key: str, kind: str) -> Attribute:
    if kind == STR:
        return StringAttr(parser.parse_str_literal(f" for '{key}'"))
    if kind == FUNC:
        return SymbolRefAttr(parser.parse_symbol_name())
    if kind == BOOL:
        return IntegerAttr(int(parser.parse_boolean(f" for '{key}'")), i1)
    if kind == SPACE:
        return _space(parser)
    at = parser.pos
    number = parser.parse_integer(allow_boolean=False, context_msg=f" for '{key}'")
    type = _INTS[kind]
    if parser.parse_optional_punctuation(":") is not None and parser.parse_type() != type:
        parser.raise_error(f"'{key}' is an {kind}", at, parser.pos)
    return integer(parser, key, number, type, at)


def integer(parser: Parser, key: str, number: int, type: IntegerType, at: int) -> Attribute:
    """A number that fits its type."""
    if not -(1 << type.bitwidth - 1) <= number < 1 << type.bitwidth - 1:
        parser.raise_error(f"'{key}' = {number} does not fit {type}", at, parser.pos)
    return IntegerAttr(number, type)


def _space(parser: Parser) -> AddressSpaceAttr:
    """`#pto.address_space<vec>`, or `<vec>` as it is sometimes printed."""
    if parser.parse_optional_punctuation("<") is not None:
        word = AddressSpaceAttr.read(parser)
        parser.parse_punctuation(">")
        return AddressSpaceAttr.of(word)
    at = parser.pos
    found = parser.parse_attribute()
    if not isinstance(found, AddressSpaceAttr):
        parser.raise_error("expected a memory such as #pto.address_space<vec>", at, parser.pos)
    return found


def print_dict(
    printer: Printer, keys: Sequence[str], properties: Mapping[str, Attribute], others: Mapping[str, Attribute]
) -> None:
    """` {key = value, ..}`, or nothing."""
    entries = [(key, properties[key]) for key in keys if key in properties] + sorted(others.items())
    if not entries:
        return
    printer.print_string(" {")
    for i, (key, value) in enumerate(entries):
        printer.print_string(", " if i else "")
        printer.print_identifier_or_string_literal(key)
        if isinstance(value, UnitAttr):
            continue
        printer.print_string(" = ")
        if key in properties and isinstance(value, IntegerAttr) and value.type in (i8, i32):
            printer.print_string(str(value.value.data))
        else:
            printer.print_attribute(value)
    printer.print_string("}")


def read_typed(parser: Parser) -> SSAValue:
    """`%a : type`."""
    operand = parser.parse_unresolved_operand()
    parser.parse_punctuation(":")
    return parser.resolve_operand(operand, parser.parse_type())


def print_typed(printer: Printer, value: SSAValue) -> None:
    printer.print_operand(value)
    printer.print_string(" : ")
    printer.print_attribute(value.type)


def read_pointer(parser: Parser) -> Attribute:
    """A pointer's type, which may leave its name out: `!pto.ptr<f32>` or `<f32>`."""
    if parser.parse_optional_punctuation("<") is None:
        return parser.parse_type()
    element = parser.parse_type()
    parser.parse_punctuation(">")
    return PtrType(element)


SEGMENTS = "operandSegmentSizes"


def segments(*sizes: int) -> Attribute:
    """How many operands each group of an op has."""
    return DenseArrayBase.from_list(i32, list(sizes))


def read_attributes(parser: Parser) -> dict[str, Attribute]:
    """`{key = value, ..}` of any keys."""
    return dict(parser.parse_optional_attr_dict())


def print_attributes(op: Operation, printer: Printer) -> None:
    print_dict(printer, (), {}, op.attributes)


def stop(parser: Parser, text: str, at: int) -> NoReturn:
    parser.raise_error(text, at, parser.pos)
