"""Attributes about tracing: where the data goes, and the names of events."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from aiecc.ir.dialects.aie.structs import Field, StructAttr, expect, read_bool, show_bool, stop, string_key, u32


class TraceBuffer(NamedTuple):
    """Where in a sequence's arguments trace data goes; offset and size in bytes."""

    arg_index: int
    offset: int
    size: int
    dedicated: bool


@irdl_attr_definition
class TraceBufferAttr(StructAttr[TraceBuffer]):
    name = "aie.trace_buffer"
    FIELDS = (u32("arg_index"), u32("offset"), u32("size"), Field("dedicated", read_bool, show_bool))
    TUPLE = TraceBuffer


class TraceSlice(NamedTuple):
    """The part of a trace buffer that one sequence of one device fills, in bytes."""

    device: str
    sequence: str
    offset: int
    size: int


@irdl_attr_definition
class TraceSliceAttr(StructAttr[TraceSlice]):
    name = "aie.trace_slice"
    FIELDS = (string_key("device"), string_key("sequence"), u32("offset"), u32("size"))
    TUPLE = TraceSlice


@irdl_attr_definition
class TraceEventAttr(Data[str]):
    """An event's name: free text, or `Enum::CASE`, which is printed without quotes."""

    name = "aie.trace_event"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        expect(parser, "<")
        text = read_event_name(parser)
        expect(parser, ">")
        return text

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string("<")
        show_event_name(printer, self.data)
        printer.print_string(">")


def read_event_name(p: AttrParser) -> str:
    """`"NAME"` or `Enum::CASE`."""
    if (text := p.parse_optional_str_literal()) is not None:
        return text
    at = p.pos
    kind = p.parse_optional_identifier()
    if kind is None:
        return stop(p, "expected string or enum event")
    for _ in range(2):
        if p.parse_optional_characters(":") is None:
            return stop(p, "expected '::' after enum type name")
    case_at = p.pos
    case = p.parse_optional_identifier()
    if case is None:
        return stop(p, "expected enum case name")
    from aiecc.model.events import EVENTS

    if kind not in EVENTS:
        p.raise_error(f"unknown event enum type: {kind}", at)
    if case not in EVENTS[kind]:
        p.raise_error(f"unknown {kind} value: {case}", case_at)
    return f"{kind}::{case}"


def show_event_name(printer: Printer, text: str) -> None:
    if "::" in text:
        printer.print_string(text)
    else:
        printer.print_string_literal(text)


ATTRIBUTES: list[type[Attribute]] = [TraceBufferAttr, TraceSliceAttr, TraceEventAttr]
