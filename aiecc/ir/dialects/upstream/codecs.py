"""How single properties are read and printed where they have a place of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from aiecc.ir.dialects.upstream.pieces import I64, Printer, Reader, expect


@dataclass(frozen=True)
class Codec:
    """How one property is read and printed where it has a place of its own.

    read gives None when it is not there; show prints its leading blank itself and nothing for a default.
    """

    key: str
    read: Callable[[Reader], Attribute | None]
    show: Callable[[Printer, Attribute | None], None]


def keyword_flags(
    key: str, word: str, make: Callable[[str], Attribute], text: Callable[[Attribute], str], default: str
) -> Codec:
    """` word<a,b>`, left out when it says `default`."""

    def read(p: Reader) -> Attribute | None:
        if p.parse_optional_keyword(word) is None:
            return None
        expect(p, "<")
        words = [p.parse_identifier()]
        while p.parse_optional_punctuation(",") is not None:
            words.append(p.parse_identifier())
        expect(p, ">")
        return make(",".join(words))

    def show(p: Printer, attr: Attribute | None) -> None:
        shown = default if attr is None else text(attr)
        if shown != default:
            p.print_string(f" {word}<{shown}>")

    return Codec(key, read, show)


def word_enum(
    key: str, choices: Sequence[str], make: Callable[[int], Attribute], number: Callable[[Attribute], int]
) -> Codec:
    """An enumeration as a keyword, bare or quoted, with no blank in front."""

    def read(p: Reader) -> Attribute:
        at = p.token().start
        word = p.parse_optional_identifier_or_str_literal()
        if word not in choices:
            listed = ", ".join(choices)
            p.raise_error(
                "expected string or keyword containing one of the following enum values for attribute "
                f"'{key}' [{listed}]",
                at,
            )
        return make(choices.index(word))

    def show(p: Printer, attr: Attribute | None) -> None:
        if attr is not None:
            p.print_string(choices[number(attr)])

    return Codec(key, read, show)


def symbol(key: str) -> Codec:
    """`@name`, flat or nested."""

    def read(p: Reader) -> Attribute:
        found = p.parse_optional_attribute() if p.token().kind is Kind.AT_IDENT else None
        if not isinstance(found, SymbolRefAttr):
            p.raise_error("expected valid '@'-identifier for symbol name")
        return cast(Attribute, found)

    return Codec(key, read, lambda p, attr: None if attr is None else p.print_attribute(attr))


def i64_list(key: str) -> Codec:
    """`[1, 0]`, stored as a dense array."""

    def read(p: Reader) -> Attribute:
        items = p.parse_comma_separated_list(p.Delimiter.SQUARE, lambda: p.parse_integer(allow_boolean=False))
        return DenseArrayBase.from_list(I64, items)

    def show(p: Printer, attr: Attribute | None) -> None:
        values = [] if attr is None else cast(Any, attr).get_values()
        p.print_string(f"[{', '.join(map(str, values))}]")

    return Codec(key, read, show)


def attribute(key: str) -> Codec:
    """Any attribute, in full."""
    return Codec(key, lambda p: p.parse_attribute(), lambda p, attr: None if attr is None else p.print_attribute(attr))


def string(key: str) -> Codec:
    return Codec(
        key,
        lambda p: StringAttr(p.parse_str_literal()),
        lambda p, attr: None if attr is None else p.print_attribute(attr),
    )


def unit_word(key: str, word: str) -> Codec:
    """` word` when the flag is set."""
    return Codec(
        key,
        lambda p: UnitAttr() if p.parse_optional_keyword(word) is not None else None,
        lambda p, attr: None if attr is None else p.print_string(f" {word}"),
    )
