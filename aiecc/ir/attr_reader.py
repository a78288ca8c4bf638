"""Reading attributes and types: xDSL's parser, faster on what designs are full of, and MLIR's looser shapes.

Types are values, so the reader keeps every type it has read by its text: the same `memref<1024xi32>` is parsed once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    StringAttr,
    UnitAttr,
    UnrankedMemRefType,
    UnregisteredAttr,
    i64,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.ir.affine import AffineMap, AffineSet
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from aiecc.ir.affine import read_map, read_set
from aiecc.ir.attr_printer import is_identity
from aiecc.ir.dense_reader import DenseReader
from aiecc.ir.lexer import Tok
from aiecc.ir.registry import WITHHELD, is_opaque_dialect, type_cache, withheld_by

if TYPE_CHECKING:
    from collections.abc import Callable

UNREGISTERED = (
    "created with unregistered dialect. If this is intended, please call allowUnregisteredDialects() on the "
    "MLIRContext, or use -allow-unregistered-dialect with the MLIR opt tool used"
)

# A type whose text says all: no aliases, no strings, at most one level of nesting.
_PLAIN_TYPE = re.compile(r'(?:![a-z_]+\.[A-Za-z_.]+|memref|vector|tensor)<[^<>"#!]*(?:<[^<>"#!]*>[^<>"#!]*)?>')
_TRUE = IntegerAttr(1, IntegerType(1))
_FALSE = IntegerAttr(0, IntegerType(1))
_UNIT = UnitAttr()
_WORD_TYPES = re.compile(r"(?:[su]?i[0-9]+|index|none|bf16|tf32|f[0-9]+(?:E[0-9]M[0-9][A-Z0-9]*)?)$")


class AttrReader(DenseReader):
    """The attribute half of the reader."""

    allow_unregistered: bool

    # --- types --------------------------------------------------------------------------------------------------------

    def parse_optional_type(self) -> TypeAttribute | None:
        token = cast(Tok, self._parser_state.current_token)
        kind = token.kind
        if kind is Kind.BARE_IDENT:
            text = token.text
            known = type_cache.get(text)
            if known is not None:
                self._parser_state.current_token = self._lex.lex()
                return known
            if text in ("memref", "vector", "tensor"):
                return self._plain_type(token)
            if _WORD_TYPES.match(text):
                found = super().parse_optional_type()
                if found is not None:
                    type_cache[text] = found
                return found
            return super().parse_optional_type()
        if kind is Kind.EXCLAMATION_IDENT:
            return self._plain_type(token)
        if kind is Kind.L_PAREN:
            return super().parse_optional_type()
        return None

    def _plain_type(self, token: Tok) -> TypeAttribute | None:
        match = _PLAIN_TYPE.match(self._lex.text, token.start)
        text = "" if match is None else match.group()
        known = type_cache.get(text)
        if known is not None and match is not None:
            self._lex.pos = match.end()
            self._parser_state.current_token = self._lex.lex()
            return known
        found = super().parse_optional_type()
        ended = self._lex.text[: self.pos].rstrip() if match is not None else ""
        known_kind = not isinstance(found, UnregisteredAttr)
        if found is not None and known_kind and match is not None and len(ended) == match.end():
            type_cache[text] = found
        return found

    def _parse_optional_shape_delimiter(self) -> str | None:
        token = cast(Tok, self._parser_state.current_token)
        if token.kind is not Kind.BARE_IDENT or token.text[0] != "x":
            return None
        self._resume_from(token.start + 1)
        return "x"

    def parse_shape_dimension(self, allow_dynamic: bool = True) -> int:
        """A dimension; one that does not fit 64 bits is refused, as MLIR does."""
        start = self.pos
        found = super().parse_shape_dimension(allow_dynamic)
        if found >= 1 << 63:
            self.raise_error("invalid dimension", start, self.pos)
        return found

    def parse_dimension_list(self) -> list[int]:
        """Dimensions with their `x`, which may stand apart: `4 x 8x i32`. The last `x` stays for the caller."""
        dims: list[int] = []
        dimension = (Kind.INTEGER_LIT, Kind.QUESTION)
        if self._current_token.kind not in dimension:
            return dims
        dims.append(self.parse_shape_dimension())
        while True:
            before = self.pos
            if self._parse_optional_shape_delimiter() is None:
                return dims
            if self._current_token.kind not in dimension:
                self._resume_from(before)
                return dims
            dims.append(self.parse_shape_dimension())

    def parse_affine_map(self) -> AffineMap:
        return read_map(self)

    def parse_affine_set(self) -> AffineSet:
        return read_set(self)

    def _parse_memref_attrs(self) -> MemRefType[Attribute] | UnrankedMemRefType[Attribute]:
        """A memref's parameters; what MLIR takes for the default (identity layout, space 0) is left out."""
        found = super()._parse_memref_attrs()
        if self._current_token.kind is not Kind.GREATER:
            self.raise_error("expected ',' or '>' in memref type")
        space = found.memory_space
        if isinstance(space, IntegerAttr) and space.value.data == 0:
            space = NoneAttr()
        if isinstance(found, UnrankedMemRefType):
            return UnrankedMemRefType.from_type(found.element_type, space)
        layout = found.layout
        if is_identity(layout):
            layout = NoneAttr()
        if layout is found.layout and space is found.memory_space:
            return found
        return MemRefType(found.element_type, found.get_shape(), layout, space)

    # --- attributes ---------------------------------------------------------------------------------------------------

    def _parse_optional_builtin_attr(self) -> Attribute | None:
        token = cast(Tok, self._parser_state.current_token)
        kind = token.kind
        if kind is Kind.INTEGER_LIT or kind is Kind.MINUS or kind is Kind.FLOAT_LIT:
            return self._number()
        if kind is Kind.STRING_LIT:
            return StringAttr(self.parse_str_literal())
        if kind is Kind.BARE_IDENT:
            read = _WORDS.get(token.text)
            if read is not None:
                return read(self)
            found = self.parse_optional_type()
            return found if found is not None else self._parse_optional_builtin_parametrized_attr()
        if kind is Kind.L_SQUARE:
            return self._parse_optional_array_attr()
        if kind is Kind.AT_IDENT:
            return self._parse_optional_symref_attr()
        if kind is Kind.L_BRACE:
            return self._parse_optional_builtin_dict_attr()
        if kind is Kind.L_PAREN or kind is Kind.EXCLAMATION_IDENT:
            return self.parse_optional_type()
        return super()._parse_optional_builtin_attr()

    def _number(self) -> Attribute:
        start = cast(Tok, self._parser_state.current_token)
        number = start
        if start.kind is Kind.MINUS:
            number = cast(Tok, self._lex.lex())
            self._lex.pos = start.end
        if number.kind is not Kind.INTEGER_LIT or number.text[:2] in ("0x", "0X"):
            return self._general_number(start)
        self._lex.pos = number.end
        following = self._parser_state.current_token = self._lex.lex()
        value = int(number.text)
        if start is not number:
            value = -value
        if following.kind is not Kind.COLON:
            return _integer(self, value, i64, start)
        self._parser_state.current_token = self._lex.lex()
        type = self.parse_optional_type()
        if isinstance(type, IntegerType | IndexType):
            return _integer(self, value, type, start)
        self._resume_from(start.start)
        return self._general_number(start)

    def _general_number(self, start: Tok) -> Attribute:
        try:
            found = self.parse_optional_builtin_int_or_float_attr()
        except (VerifyException, OverflowError) as error:
            raise ParseError(start.span, "integer constant out of range for attribute") from error
        if found is None:
            self.raise_error("expected attribute value")
        return found

    def _boolean(self) -> Attribute:
        token = self._consume_token()
        return _TRUE if token.text == "true" else _FALSE

    def _parse_optional_array_attr(self) -> ArrayAttr[Attribute] | None:
        if self.parse_optional_punctuation("[") is None:
            return None
        items: list[Attribute] = []
        if self.parse_optional_punctuation("]") is None:
            items.append(self.parse_attribute())
            while self.parse_optional_punctuation(",") is not None:
                items.append(self.parse_attribute())
            self.parse_punctuation("]")
        return ArrayAttr(items)

    def parse_optional_dictionary_attr_dict(self) -> dict[str, Attribute]:
        """`{key = value, ..}` as a dict; empty when there is none."""
        entries: dict[str, Attribute] = {}
        if self.parse_optional_punctuation("{") is None:
            return entries
        if self.parse_optional_punctuation("}") is not None:
            return entries
        while True:
            key_token = cast(Tok, self._parser_state.current_token)
            key = self.parse_optional_identifier_or_str_literal()
            if key is None:
                self.raise_error("expected attribute name")
            if key in entries:
                raise ParseError(key_token.span, f"duplicate key '{key}' in dictionary attribute")
            entries[key] = _UNIT if self.parse_optional_punctuation("=") is None else self.parse_attribute()
            if self.parse_optional_punctuation(",") is None:
                break
        self.parse_punctuation("}", " in attribute dictionary")
        return entries

    def _parse_builtin_dict_attr(self) -> DictionaryAttr:
        return DictionaryAttr(self.parse_optional_dictionary_attr_dict())

    def parse_optional_properties_dict(self) -> dict[str, Attribute]:
        if self.parse_optional_punctuation("<") is None:
            return {}
        entries = self.parse_optional_dictionary_attr_dict()
        self.parse_punctuation(">")
        return entries

    def _parse_extended_type_or_attribute(self, attr_or_dialect_name: str, is_type: bool) -> Any:
        if "." not in attr_or_dialect_name and self._current_token.kind is not Kind.LESS:
            return self.alias(("!" if is_type else "#") + attr_or_dialect_name)
        start = self._lex.text.rfind(attr_or_dialect_name, 0, self.pos)
        owner = attr_or_dialect_name.partition(".")[0]
        if plugin := withheld_by(owner):
            name = f"'{'!' if is_type else '#'}{attr_or_dialect_name}'"
            raise ParseError(Span(start, start, self._lex.input), WITHHELD.format(name, owner, plugin))
        try:
            found = super()._parse_extended_type_or_attribute(attr_or_dialect_name, cast(Any, is_type))
        except VerifyException as error:
            raise ParseError(Span(start, start, self._lex.input), str(error)) from error
        if isinstance(found, UnregisteredAttr) and not self.allow_unregistered:
            dialect, _, name = found.attr_name.data.partition(".")
            if not is_opaque_dialect(dialect):
                body = f'"{dialect}"<"{name}<{found.value.data}>">' if found.value.data else f'"{dialect}"<"{name}">'
                what = f"`!{body}` type" if is_type else f"#{body} : 'none' attribute"
                start += len(dialect) + 1
                raise ParseError(Span(start, start, self._lex.input), f"{what} {UNREGISTERED}")
        return found

    def alias(self, name: str) -> Attribute:
        raise NotImplementedError


def _integer(reader: AttrReader, value: int, type: IntegerType | IndexType, start: Tok) -> Attribute:
    try:
        return IntegerAttr(value, type)
    except VerifyException:
        raise ParseError(start.span, "integer constant out of range for attribute") from None


def _unit(reader: AttrReader) -> Attribute:
    reader._consume_token()  # pyright: ignore[reportPrivateUsage]  (a method of this module's class, kept out of it)
    return _UNIT


_WORDS: dict[str, Callable[[AttrReader], Any]] = {
    "true": AttrReader._boolean,  # pyright: ignore[reportPrivateUsage]
    "false": AttrReader._boolean,  # pyright: ignore[reportPrivateUsage]
    "unit": _unit,
    "loc": lambda reader: reader.parse_optional_location(),
}
