"""Attributes written `<key = value, ..>`, and the pieces they are read and printed with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

from xdsl.ir import Data
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from aiecc.ir.dialects.words import Words

FieldsT = TypeVar("FieldsT", bound=tuple[Any, ...])
T = TypeVar("T")

U16 = (1 << 16) - 1
U32 = (1 << 32) - 1


def stop(p: AttrParser, text: str) -> Any:
    p.raise_error(text)


def expect(p: AttrParser, text: str) -> None:
    if p.parse_optional_characters(text) is None:
        stop(p, f"expected '{text}'")


def unsigned(limit: int) -> Callable[[AttrParser], int]:
    def read(p: AttrParser) -> int:
        at = p.pos
        value = p.parse_optional_integer(allow_boolean=False)
        if value is None:
            return stop(p, "expected integer value")
        if not 0 <= value <= limit:
            p.raise_error("integer value too large" if value > limit else "negative integer literal not valid here", at)
        return value

    return read


def keyword(words: type[Words]) -> Callable[[AttrParser], Any]:
    def read(p: AttrParser) -> Words:
        at = p.pos
        text = p.parse_optional_identifier()
        found = words.named(text) if text is not None else None
        if found is None:
            p.raise_error(f"expected one of: {words.listed()}", at)
        return found

    return read


def read_bool(p: AttrParser) -> bool:
    found = p.parse_optional_boolean()
    return stop(p, "expected true or false") if found is None else found


def read_string(p: AttrParser) -> str:
    found = p.parse_optional_str_literal()
    return stop(p, "expected string") if found is None else found


def read_symbol(p: AttrParser) -> str:
    found = p.parse_optional_symbol_name()
    return stop(p, "expected symbol reference") if found is None else found.data


class Field(NamedTuple):
    """One `key = value` of a struct-like attribute. `default` is used when the key is missing and then not printed."""

    key: str
    read: Callable[[AttrParser], Any]
    show: Callable[[Printer, Any], None]
    required: bool = True
    default: Any = None


def show_int(printer: Printer, value: int) -> None:
    printer.print_int(value)


def show_bool(printer: Printer, value: bool) -> None:
    printer.print_string("true" if value else "false")


def show_symbol(printer: Printer, value: str) -> None:
    printer.print_symbol_name(value)


def u16(key: str) -> Field:
    return Field(key, unsigned(U16), show_int)


def u32(key: str) -> Field:
    return Field(key, unsigned(U32), show_int)


def string_key(key: str) -> Field:
    return Field(key, read_string, Printer.print_string_literal)


def read_struct(p: AttrParser, fields: Sequence[Field]) -> list[Any]:
    """`<key = value, ..>` in any order."""
    expect(p, "<")
    found: dict[str, Any] = {}
    by_key = {f.key: f for f in fields}
    while p.parse_optional_characters(">") is None:
        if found:
            expect(p, ",")
        at = p.pos
        key = p.parse_optional_identifier()
        if key is None:
            stop(p, "expected a parameter name in struct")
        if key not in by_key or key in found:
            p.raise_error(f"duplicate or unknown struct parameter name: {key}", at)
        expect(p, "=")
        found[key] = by_key[key].read(p)
    for f in fields:
        if f.required and f.key not in found:
            stop(p, f"struct is missing required parameter: {f.key}")
    return [found.get(f.key, f.default) for f in fields]


class StructAttr(Data[FieldsT]):
    """A `<key = value, ..>` attribute over a named tuple with the same fields in the same order."""

    FIELDS: ClassVar[tuple[Field, ...]]
    TUPLE: ClassVar[Callable[..., Any]]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> FieldsT:
        return cls.TUPLE(*read_struct(parser, cls.FIELDS))

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string("<")
        first = True
        for f, value in zip(self.FIELDS, self.data, strict=True):
            if not f.required and value == f.default:
                continue
            printer.print_string(f"{f.key} = " if first else f", {f.key} = ")
            f.show(printer, value)
            first = False
        printer.print_string(">")


def read_items(p: AttrParser, item: Callable[[], T]) -> tuple[T, ...]:
    """`[item, ..]`."""
    expect(p, "[")
    items: list[T] = []
    while p.parse_optional_characters("]") is None:
        if items:
            expect(p, ",")
        items.append(item())
    return tuple(items)


def show_items(printer: Printer, items: Sequence[T], show: Callable[[T], None]) -> None:
    printer.print_string("[")
    printer.print_list(items, show)
    printer.print_string("]")
