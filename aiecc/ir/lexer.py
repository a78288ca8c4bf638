"""Tokens, fast: one regular expression match per token, and a span object only when somebody asks for one.

It replaces xDSL's lexer behind the same interface (`lex`, `pos`, `input`; tokens with `kind`, `span`, `text`), so that
every parsing method of xDSL and of its dialects works on it unchanged.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import KIND_BY_PUNCTUATION_SPELLING, MLIRLexer, MLIRTokenKind, StringLiteral

_TOKEN = re.compile(
    r"""(?:[ \t\r\n\f\v\0]+|//[^\n]*)*
    (?:(?P<bare>[A-Za-z_][A-Za-z0-9_$.]*)
      |%(?P<percent>(?:[0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*))
      |(?P<punct>->|\{-\#|\#-\}|\.\.\.|[:,(){}\[\]<>=+\-?/*|])
      |@(?P<at>[A-Za-z_][A-Za-z0-9_$.]*|"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*")
      |(?P<hex>0x[0-9a-fA-F]+)
      |(?P<float>[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?)
      |(?P<int>[0-9]+)
      |(?P<string>"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*")
      |\#(?P<hash>(?:[0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*))
      |!(?P<bang>(?:[0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*))
      |\^(?P<caret>(?:[0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*))
    )?""",
    re.VERBOSE,
)

_KINDS: dict[str, MLIRTokenKind] = {
    "bare": MLIRTokenKind.BARE_IDENT,
    "percent": MLIRTokenKind.PERCENT_IDENT,
    "at": MLIRTokenKind.AT_IDENT,
    "hex": MLIRTokenKind.INTEGER_LIT,
    "int": MLIRTokenKind.INTEGER_LIT,
    "float": MLIRTokenKind.FLOAT_LIT,
    "string": MLIRTokenKind.STRING_LIT,
    "hash": MLIRTokenKind.HASH_IDENT,
    "bang": MLIRTokenKind.EXCLAMATION_IDENT,
    "caret": MLIRTokenKind.CARET_IDENT,
}
_SIGIL = frozenset({"percent", "at", "hash", "bang", "caret"})
_GROUPS: dict[str, tuple[MLIRTokenKind | None, int]] = {
    name: (_KINDS.get(name), 1 if name in _SIGIL else 0) for name in _TOKEN.groupindex
}


class Tok:
    """A token: `kind`, the half-open range `start`..`end` of the text, and the text itself."""

    __slots__ = ("end", "input", "kind", "start", "text")

    def __init__(self, kind: MLIRTokenKind, start: int, end: int, text: str, input: Input[str]) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.text = text
        self.input = input

    @property
    def content(self) -> str:
        return self.text

    @property
    def bytes(self) -> bytes:
        return self.text.encode()

    @property
    def span(self) -> Span[str]:
        if self.kind is MLIRTokenKind.STRING_LIT or self.kind is MLIRTokenKind.BYTES_LIT:
            return StringLiteral(self.start, self.end, self.input)
        return Span(self.start, self.end, self.input)


class FastLexer(MLIRLexer):
    """xDSL's lexer interface over one compiled expression. Columns count bytes, as MLIR's do."""

    def __init__(self, text: str, name: str, first_line: int = 1) -> None:
        super().__init__(Input(text, name))
        self.text = text
        self.size = len(text)
        self._lines: list[int] | None = None
        self._ascii = text.isascii()
        self._line_offset = first_line - 1

    def lex(self) -> Any:
        """The next token, a `Tok` (Any, because xDSL's signatures name its own class)."""
        match = _TOKEN.match(self.text, self.pos)
        assert match is not None  # every part of the expression is optional
        end = self.pos = match.end()
        group = match.lastgroup
        if group is None:
            return self._end_or_error(end)
        kind, sigil = _GROUPS[group]
        start = match.start(group) - sigil
        text = self.text[start:end]
        if kind is None:
            kind = KIND_BY_PUNCTUATION_SPELLING[text]
        elif kind is MLIRTokenKind.STRING_LIT and "\\" in text:
            return self._escaped(start, end, text)
        return Tok(kind, start, end, text, self.input)

    def _escaped(self, start: int, end: int, text: str) -> Tok:
        """A string whose escapes spell no UTF-8 is kept as bytes. (xDSL takes all that is not ASCII for bytes.)"""
        kind = MLIRTokenKind.STRING_LIT
        try:
            StringLiteral(start, end, self.input).bytes_contents.decode()
        except UnicodeError:
            kind = MLIRTokenKind.BYTES_LIT
        return Tok(kind, start, end, text, self.input)

    def _end_or_error(self, at: int) -> Tok:
        if at >= self.size:
            return Tok(MLIRTokenKind.EOF, self.size, self.size, "", self.input)
        char = self.text[at]
        if char == '"':
            line_end = self.text.find("\n", at)
            stop = self.size if line_end < 0 else line_end
            bad = re.compile(r'\\(?!["nt\\]|[0-9A-Fa-f]{2}).?').search(self.text, at, stop)
            if bad is not None:
                raise ParseError(Span(bad.start(), bad.end(), self.input), "unknown escape in string literal")
            raise ParseError(Span(stop, stop, self.input), "expected '\"' in string literal")
        words = {
            "@": "@ identifier expected to start with letter or '_'",
            "%": "invalid SSA name",
            "#": "invalid attribute name",
            "!": "invalid type identifier",
            "^": "invalid block name",
        }
        start = at + 1 if char == "@" else at
        raise ParseError(Span(start, at + 1, self.input), words.get(char, "unexpected character"))

    def place(self, pos: int) -> tuple[int, int]:
        """Line and column, both from 1, of a position in the text."""
        lines = self._lines
        if lines is None:
            lines = self._lines = [0]
            lines.extend(m.end() for m in re.finditer("\n", self.text))
        line = bisect_right(lines, pos)
        start = lines[line - 1]
        if self._ascii:
            return line + self._line_offset, pos - start + 1
        return line + self._line_offset, len(self.text[start:pos].encode("utf-8", "surrogatepass")) + 1
