"""Initial values without their type: `= dense<[1, 2]>` after something whose type is already known."""

from __future__ import annotations

import struct
from typing import Any, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    IndexType,
    IntegerType,
    ShapedType,
)
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from aiecc.ir.dialects.constraints import is_elements
from aiecc.ir.dialects.reading import fail, need, wrong

NOT_ELEMENTS = "initial value should be an elements attribute"


def read_elements(p: Parser, type: Any) -> Attribute:
    """`dense<..>` or `dense_resource<..>` of the given tensor or memref type; a type may follow all the same."""
    at = p.pos
    if p.parse_optional_keyword("dense_resource") is not None:
        need(p, "<")
        key = p.parse_optional_identifier_or_str_literal()
        if key is None:
            fail(p, "expected dense resource handle")
        need(p, ">")
        return DenseResourceAttr.from_params(key, cast(ShapedType, type))
    if p.parse_optional_keyword("dense") is not None:
        if not isinstance(type.element_type, AnyFloat | IntegerType | IndexType):
            fail(p, f"elements of type {type.element_type} cannot be initialized", at)
        try:
            return p.parse_dense_int_or_fp_elements_attr(type)
        except ParseError:
            raise
        except (VerifyException, struct.error, OverflowError, ValueError) as error:
            fail(p, f"invalid elements: {error}", at)
    attr = p.parse_optional_attribute()
    if attr is None:
        wrong(p, "expected attribute value")
    if not is_elements(attr):
        fail(p, NOT_ELEMENTS, at)
    return attr


def show_elements(printer: Printer, value: Attribute) -> None:
    """Elements without their type."""
    if isinstance(value, DenseIntOrFPElementsAttr):
        by_text_layer = getattr(printer, "print_elements", None)
        if by_text_layer is not None:
            by_text_layer(value)
        else:
            value.print_without_type(printer)
    elif isinstance(value, DenseResourceAttr):
        printer.print_string("dense_resource<")
        printer.print_string(value.resource_handle.data)
        printer.print_string(">")
    else:
        printer.print_attribute(value)
