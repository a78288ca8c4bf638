"""Ops of dialects this house does not know: read as text, kept as text, printed as text.

Only what the surrounding IR needs is recognised: the operands (`%x`, so that they can be renumbered), aliases (so that
they can be resolved) and the result types (after the last `->` or `:`). Such ops may not have regions or successors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from xdsl.ir import Attribute, Data, Operation, OpTrait, SSAValue
from xdsl.irdl import irdl_attr_definition, traits_def
from xdsl.parser import AttrParser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from aiecc.ir.lexer import Tok

if TYPE_CHECKING:
    from aiecc.ir.reader import Reader

Piece = str | int | Attribute

_OPEN = {Kind.L_PAREN, Kind.L_BRACE, Kind.L_SQUARE, Kind.LESS}
_CLOSE = {Kind.R_PAREN, Kind.R_BRACE, Kind.R_SQUARE, Kind.GREATER}
_GOES_ON = {Kind.COMMA, Kind.COLON, Kind.ARROW, Kind.EQUAL, Kind.MINUS}
_TYPE_WORDS = {"to", "into", "from", "as"}


@irdl_attr_definition
class RawText(Data[tuple[Piece, ...]]):
    """The text of an op after its name: words, operand numbers and resolved aliases, in order."""

    name = "aiecc.raw_text"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Piece, ...]:
        parser.raise_error("raw text cannot be written in a file")

    def print_parameter(self, printer: Printer) -> None:
        words = " ".join(piece if isinstance(piece, str) else "%" for piece in self.data)
        with printer.in_angle_brackets():
            printer.print_string_literal(words)


class RawOp(Operation):
    """An op that is carried along as text. Every op name has its own subclass, made by `raw_op`."""

    name = "aiecc.raw"
    traits = traits_def()
    is_raw: ClassVar[bool] = True

    @classmethod
    def has_trait(cls, trait: type[OpTrait] | OpTrait, *, value_if_unregistered: bool = True) -> bool:
        return value_if_unregistered

    def pieces(self) -> tuple[Piece, ...]:
        text = self.properties.get("text")
        return text.data if isinstance(text, RawText) else ()

    def print(self, printer: Printer) -> None:
        for piece in self.pieces():
            if isinstance(piece, str):
                printer.print_string(piece)
            elif isinstance(piece, int):
                printer.print_ssa_value(self.operands[piece])
            else:
                printer.print_attribute(piece)


_CLASSES: dict[str, type[RawOp]] = {}


def raw_op(name: str) -> type[RawOp]:
    """The class of raw ops of this name."""
    if name not in _CLASSES:
        _CLASSES[name] = type(f"Raw_{name.replace('.', '_')}", (RawOp,), {"name": name})
    return _CLASSES[name]


class _Scan:
    """Collects the tokens of one op, which ends where the next op can only begin."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.depth = 0
        self.tokens: list[Tok] = []
        self.type_start = -1
        self.type_end = -1
        self.arrow = False

    def run(self) -> None:
        for token in self._upcoming():
            if token.kind in _OPEN:
                self.depth += 1
            elif token.kind in _CLOSE:
                self.depth -= 1
            elif self.depth == 0 and (
                token.kind in (Kind.COLON, Kind.ARROW) or (token.kind is Kind.BARE_IDENT and token.text in _TYPE_WORDS)
            ):
                self.type_start, self.arrow = token.end, token.kind is Kind.ARROW
            if token.kind is Kind.L_BRACE:
                self._refuse_region(token)
            self.tokens.append(token)

    def _upcoming(self) -> Iterator[Tok]:
        reader = self.reader
        while True:
            token = reader.token()
            if token.kind is Kind.EOF or (self.depth == 0 and self._ends(token)):
                return
            yield token
            reader.advance()

    def _ends(self, token: Tok) -> bool:
        if token.kind is Kind.R_BRACE:
            return True
        if token.kind is Kind.BARE_IDENT and token.text == "loc":
            return self.reader.peek().kind is Kind.L_PAREN
        if not self.tokens:
            return self._new_line(self.reader.name_end, token) and self._starts_op(token)
        last = self.tokens[-1]
        return last.kind not in _GOES_ON and self._new_line(last.end, token) and self._starts_op(token)

    def _new_line(self, start: int, token: Tok) -> bool:
        return "\n" in self.reader.source[start : token.start]

    def _starts_op(self, token: Tok) -> bool:
        if token.kind is Kind.BARE_IDENT:
            return "." in token.text or self.reader.knows_op(token.text)
        if token.kind in (Kind.HASH_IDENT, Kind.EXCLAMATION_IDENT):
            return self.reader.peek().kind is Kind.EQUAL
        return token.kind in (Kind.PERCENT_IDENT, Kind.STRING_LIT, Kind.CARET_IDENT, Kind.FILE_METADATA_BEGIN)

    def _refuse_region(self, token: Tok) -> None:
        following = self.reader.peek().kind
        if following not in (Kind.BARE_IDENT, Kind.STRING_LIT, Kind.R_BRACE):
            self.reader.raise_error("an op of a dialect that is not known here may not have regions", token.span)


def parse_raw(reader: Reader, name: str) -> Operation:
    """Read an op of an unknown dialect; the parser stands behind its name."""
    scan = _Scan(reader)
    scan.run()
    pieces: list[Piece] = []
    operands: list[SSAValue] = []
    last_end = reader.name_end
    tokens = scan.tokens
    for i, token in enumerate(tokens):
        if token.start > last_end:
            pieces.append(" ")
        last_end = token.end
        if token.kind is Kind.PERCENT_IDENT:
            index = tokens[i + 1] if i + 1 < len(tokens) else None
            number = int(index.text[1:]) if index is not None and _is_index(token, index) else 0
            operands.append(reader.known_value(UnresolvedOperand(token.span, number)))
            pieces.append(len(operands) - 1)
        elif token.kind in (Kind.HASH_IDENT, Kind.EXCLAMATION_IDENT):
            if i and _is_index(tokens[i - 1], token):
                continue
            follows = tokens[i + 1].kind if i + 1 < len(tokens) else Kind.EOF
            alias = None if "." in token.text or follows is Kind.LESS else reader.alias(token.text)
            pieces.append(token.text if alias is None else alias)
        elif token.kind is Kind.CARET_IDENT:
            reader.raise_error("an op of a dialect that is not known here may not have successors", token.span)
        else:
            pieces.append(token.text)
    results = _result_types(reader, scan)
    text = RawText(tuple(_joined(pieces)))
    return raw_op(name).create(operands=operands, result_types=results, properties={"text": text})


def _is_index(value: Tok, token: Tok) -> bool:
    """Whether `token` is the `#1` of `%0#1`."""
    return (
        value.kind is Kind.PERCENT_IDENT
        and token.kind is Kind.HASH_IDENT
        and token.start == value.end
        and token.text[1:].isdigit()
    )


def _joined(pieces: list[Piece]) -> Iterator[Piece]:
    words: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            words.append(piece)
            continue
        if words:
            yield "".join(words)
            words.clear()
        yield piece
    if words:
        yield "".join(words)


def _result_types(reader: Reader, scan: _Scan) -> list[Attribute]:
    wanted = reader.bound_results
    if wanted == 0:
        return []
    here = reader.token()
    if scan.type_start < 0:
        reader.raise_error("cannot tell the result type of an op whose dialect is not known here", here.span)
    reader.resume(scan.type_start)
    types: list[Attribute] = []
    if scan.arrow and reader.token().kind is Kind.L_PAREN:
        types.extend(reader.parse_comma_separated_list(reader.Delimiter.PAREN, reader.parse_type))
    else:
        types.append(reader.parse_type())
        while reader.parse_optional_punctuation(",") is not None:
            types.append(reader.parse_type())
    if len(types) < wanted:
        reader.raise_error(f"operation defines {len(types)} results but was provided {wanted} to bind", here.span)
    reader.resume(here.start)
    return types[-wanted:]


def is_raw(op: Operation) -> bool:
    return isinstance(op, RawOp)
