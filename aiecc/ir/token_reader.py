"""The lowest floor of the reader: tokens, places in the text, and xDSL's hot paths made short."""

from __future__ import annotations

from typing import Any, NoReturn, cast

from xdsl.context import Context
from xdsl.parser import Parser, ParserState
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Position, Span
from xdsl.utils.mlir_lexer import KIND_BY_PUNCTUATION_SPELLING, MLIRTokenKind

from aiecc.base.spans import Span as FileSpan
from aiecc.ir.lexer import FastLexer, Tok
from aiecc.ir.parse_words import mlir_words

Kind = MLIRTokenKind


class TokenReader(Parser):
    """xDSL's parser over our lexer, with MLIR's places and words for what is wrong."""

    def __init__(self, ctx: Context, text: str, file: str, *, first_line: int) -> None:
        lexer = FastLexer(text, file, first_line)
        super().__init__(ctx, "", file)
        self._lex = lexer
        self._state = self._parser_state = ParserState(lexer)
        self.source = text
        self.file = file

    # --- tokens -------------------------------------------------------------------------------------------------------

    def token(self) -> Tok:
        return cast(Tok, self._parser_state.current_token)

    def advance(self) -> None:
        self._parser_state.current_token = self._lex.lex()

    def resume(self, pos: int) -> None:
        self._lex.pos = pos
        self._parser_state.current_token = self._lex.lex()

    def peek(self) -> Tok:
        """The token after the current one."""
        pos = self._lex.pos
        token = self._lex.lex()
        self._lex.pos = pos
        return token

    def here(self, start: int, end: int | None = None) -> Span[str]:
        return Span(start, start if end is None else end, self._lex.input)

    def file_span(self, pos: int) -> FileSpan:
        line, col = self._lex.place(pos)
        return FileSpan(self.file, line, col)

    def wrong_token_at(self) -> int:
        """Where MLIR puts the complaint about the current token: behind the one before it."""
        start = self.token().start
        before = self.source[:start].rstrip(" \t\r\n")
        while before:
            line = before.rfind("\n") + 1
            comment = before.find("//", line)
            if comment < 0:
                return len(before)
            before = before[:comment].rstrip(" \t\r\n")
        return start

    def raise_error(
        self, msg: str, at_position: Position | Span[str] | None = None, end_position: Position | None = None
    ) -> NoReturn:
        if at_position is None:
            at_position = self.here(self.wrong_token_at())
        elif not isinstance(at_position, Span):
            at_position = self.here(at_position, end_position)
        raise ParseError(at_position, mlir_words(msg))

    # --- hot paths of xDSL's parser, without its closures and table look-ups ------------------------------------------

    def _consume_token(self, expected_kind: MLIRTokenKind | None = None) -> Any:
        state = self._parser_state
        token = state.current_token
        state.current_token = self._lex.lex()
        return token

    def _parse_optional_token(self, expected_kind: MLIRTokenKind) -> Any:
        state = self._parser_state
        token = state.current_token
        if token.kind is expected_kind:
            state.current_token = self._lex.lex()
            return token
        return None

    def _parse_token(self, expected_kind: MLIRTokenKind, error_msg: str) -> Any:
        state = self._parser_state
        token = state.current_token
        if token.kind is not expected_kind:
            self.raise_error(error_msg)
        state.current_token = self._lex.lex()
        return token

    def parse_optional_punctuation(self, punctuation: Any) -> Any:
        state = self._parser_state
        if state.current_token.kind is KIND_BY_PUNCTUATION_SPELLING[punctuation]:
            state.current_token = self._lex.lex()
            return punctuation
        return None

    def parse_punctuation(self, punctuation: Any, context_msg: str = "") -> Any:
        state = self._parser_state
        if state.current_token.kind is not KIND_BY_PUNCTUATION_SPELLING[punctuation]:
            self.raise_error(f"expected '{punctuation}'{context_msg}")
        state.current_token = self._lex.lex()
        return punctuation

    def parse_optional_characters(self, text: str) -> str | None:
        state = self._parser_state
        token = state.current_token
        if token.text == text and token.kind is not Kind.EOF:
            state.current_token = self._lex.lex()
            return text
        return None
