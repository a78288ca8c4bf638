"""Reading dense elements: literals, strings of bytes, resources at the end of the file."""

from __future__ import annotations

import math
import re
from typing import Any, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    IntegerAttr,
    IntegerType,
    ShapedType,
    TensorType,
    VectorType,
)
from xdsl.utils.exceptions import ParseError
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from aiecc.ir.lexer import Tok
from aiecc.ir.token_reader import TokenReader

MOST_ELEMENTS = 1 << 24
"""Elements a literal with one value may stand for: they are kept one by one, and no memory of an array holds more."""

_TRUE = IntegerAttr(1, IntegerType(1))


class DenseReader(TokenReader):
    """`dense<..>` and `dense_resource<..>`."""

    def parse_dense_int_or_fp_elements_attr(self, type: Any) -> DenseIntOrFPElementsAttr:
        """`<..>` behind `dense`, then `: type` unless the type is known from elsewhere."""
        start = self.pos
        self.parse_punctuation("<")
        text: str | None = None
        numbers: list[Tok | tuple[Tok, Tok]] = []
        shape: list[int] = [0]
        if self._current_token.kind is Kind.STRING_LIT:
            text = self.parse_str_literal()
        elif self._current_token.kind is not Kind.GREATER:
            shape = self._literal(numbers)
        self.parse_punctuation(">")
        if type is None:
            self.parse_punctuation(":")
            type = self._parse_dense_literal_type()
        wanted = list(type.get_shape())
        count = math.prod(wanted)
        element = type.element_type
        if text is not None:
            values = self._packed(text, element, count, start)
            if len(values) == 1:
                shape = []
        else:
            values = [number_value(self, token, element) for token in numbers]
            if shape and shape != wanted and count:
                self.raise_error(f"inferred shape of elements literal ({shape}) does not match type ({wanted})", start)
            if not numbers and count:
                self.raise_error("expected at least one element in the dense literal", start)
        if not shape:
            return self._repeated(type, values[0], count, start)
        return DenseIntOrFPElementsAttr.from_list(type, values)

    def _repeated(self, type: Any, value: Any, count: int, start: int) -> DenseIntOrFPElementsAttr:
        """One element that stands for all."""
        if count > MOST_ELEMENTS:
            self.raise_error(f"dense literal of {count} elements; more than {MOST_ELEMENTS} are not supported", start)
        one = DenseIntOrFPElementsAttr.from_list(TensorType(type.element_type, [1]), [value])
        return DenseIntOrFPElementsAttr(type, BytesAttr(one.data.data * count))

    def _literal(self, numbers: list[Tok | tuple[Tok, Tok]]) -> list[int]:
        """Collect the numbers of a nested list; gives its shape, `[]` for a single number."""
        if self.parse_optional_punctuation("[") is None:
            if self.parse_optional_punctuation("(") is not None:
                real = self._literal_number()
                self.parse_punctuation(",")
                numbers.append((real, self._literal_number()))
                self.parse_punctuation(")")
            else:
                numbers.append(self._literal_number())
            return []
        if self.parse_optional_punctuation("]") is not None:
            return [0]
        first = self._literal(numbers)
        length = 1
        while self.parse_optional_punctuation(",") is not None:
            if self._literal(numbers) != first:
                self.raise_error("tensor literal is invalid; ranks are not consistent between elements")
            length += 1
        self.parse_punctuation("]")
        return [length, *first]

    def _literal_number(self) -> Tok:
        """A number with its sign, or a boolean, as one token."""
        token = cast(Tok, self._consume_token())
        if token.kind is Kind.MINUS:
            number = cast(Tok, self._consume_token())
            token = Tok(number.kind, token.start, number.end, "-" + number.text, token.input)
        if token.kind not in (Kind.INTEGER_LIT, Kind.FLOAT_LIT) and token.text not in ("true", "false"):
            raise ParseError(token.span, "expected element literal of primitive type")
        return token

    def _packed(self, text: str, element: Any, count: int, start: int) -> list[Any]:
        """The elements behind a string of hexadecimal bytes: all of them, or one that stands for all."""
        try:
            data = bytes.fromhex(text.removeprefix("0x"))
        except ValueError:
            self.raise_error("expected string containing hex digits starting with `0x`", start)
        if element == _TRUE.type:
            bits = [bool(data[i // 8] >> (i % 8) & 1) for i in range(min(count, len(data) * 8))]
            values: list[Any] = bits[:1] if len(data) == 1 and data[0] in (0, 255) else bits
        else:
            values = list(element.iter_unpack(data))
        if len(values) not in (1, count):
            self.raise_error("elements hex data size is invalid for provided type", start)
        return values

    def _parse_builtin_dense_resource_attr(self) -> Any:
        """`dense_resource<key> : type`: the elements themselves when the file holds them, else only the key.

        xDSL keeps the blobs of every file it ever read in one place and renames keys that were seen before.
        """
        self.parse_punctuation("<")
        key = self.parse_optional_identifier_or_str_literal()
        if key is None:
            self.raise_error("expected identifier key for 'resource' entry")
        self.parse_punctuation(">")
        self.parse_punctuation(":")
        type: Any = self.parse_type()
        if not isinstance(type, ShapedType):
            self.raise_error("`dense_resource` expected a shaped type")
        data = self._blobs().get(key, b"")[4:]  # behind the alignment
        element = type.get_element_type() if isinstance(type, VectorType | TensorType) else None
        whole = isinstance(element, AnyFloat) or (isinstance(element, IntegerType) and element.width.data % 8 == 0)
        if element is not None and whole and data and len(data) == math.prod(type.get_shape()) * element.size:
            return DenseIntOrFPElementsAttr(cast(Any, type), BytesAttr(data))
        return DenseResourceAttr.from_params(key, type)

    def _blobs(self) -> dict[str, bytes]:
        """The resources at the end of the file, by key."""
        section = re.search(r"\{-#(.*?)#-\}", self.source, re.DOTALL)
        entries = re.findall(r'([\w$.]+)"?\s*:\s*"0x((?:[0-9A-Fa-f]{2})*)"', section[1]) if section else []
        return {key: bytes.fromhex(text) for key, text in entries}

    def _parse_file_metadata_dictionary(self) -> None:
        """What `_blobs` reads; here it is passed over."""
        while self._current_token.kind is not Kind.FILE_METADATA_END:
            if self._current_token.kind is Kind.EOF:
                self.raise_error("expected '#-}' in file metadata dictionary")
            self._consume_token()
        self._consume_token()


def number_value(reader: DenseReader, token: Tok | tuple[Tok, Tok], type: Any) -> Any:
    """The value of a literal as an element of this type; hexadecimal floats are bit patterns."""
    if isinstance(token, tuple):
        inner = type.element_type if isinstance(type, ComplexType) else type
        return number_value(reader, token[0], inner), number_value(reader, token[1], inner)
    text = token.text
    if text in ("true", "false"):
        return text == "true"
    if token.kind is Kind.FLOAT_LIT:
        if not isinstance(type, AnyFloat):
            raise ParseError(token.span, "expected integer elements, but parsed floating-point")
        return float(text)
    value = int(text, 0) if "x" in text else int(text)
    if isinstance(type, AnyFloat):
        if "x" not in text:
            return float(value)
        if value.bit_length() > type.bitwidth:
            raise ParseError(token.span, "hexadecimal float constant out of range for type")
        return next(iter(type.iter_unpack(value.to_bytes(type.compile_time_size, "little"))))
    if isinstance(type, IntegerType):
        low, high = type.value_range()
        if not low <= value < high:
            raise ParseError(token.span, "integer constant out of range for type")
    return value
