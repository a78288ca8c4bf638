"""What the reader says of wrong texts, in MLIR's words."""

from __future__ import annotations

from xdsl.ir import Attribute
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

UNREGISTERED = (
    "operation being parsed with an unregistered dialect. If this is intended, please use "
    "-allow-unregistered-dialect with the MLIR tool used"
)


class NotedParseError(ParseError):
    """A parse error with one note."""

    def __init__(self, span: Span[str] | Span[bytes], msg: str, note: str, at: Span[str]) -> None:
        super().__init__(span, msg)
        self.note = note
        self.note_at = at


def show(attribute: Attribute) -> str:
    """An attribute as MLIR prints it, for messages."""
    from aiecc.ir.printer import attribute_text

    return attribute_text(attribute)


_WORDS = {
    "attribute expected": "expected attribute value",
    "type expected": "expected non-function type",
    "operand expected": "expected SSA operand",
    "Expected an operand.": "expected SSA operand",
    "expect symbol name": "expected valid '@'-identifier for symbol name",
    "successor expected": "expected block name",
    "block-id expected": "expected block name",
    "Expected region!": "expected '{' to begin a region",
    "identifier expected": "expected valid keyword",
    "string literal expected": "expected string",
    "function type signature expected": "expected ':' followed by operation type",
    "function type expected": "expected function type",
    " in block definition": "expected operation name in quotes",
    "block argument expected": "expected SSA identifier",
    "Expected block argument!": "expected SSA identifier",
    "Expected result SSA value!": "expected valid ssa identifier",
    "Expected shape type.": "expected non-function type",
    "Expected vector element type": "expected non-function type",
    "Expected integer literal": "expected integer value",
    "Expected float literal": "expected floating point literal",
    "Floating point value is not valid for integer type.": "floating point value not valid for specified type",
    "Expected bare-id or string-literal here as part of attribute entry!": "expected attribute name",
}


def mlir_words(msg: str) -> str:
    """xDSL's words for a syntax error in MLIR's."""
    known = _WORDS.get(msg)
    if known is not None:
        return known
    if msg.endswith(" expected") and msg.startswith("'"):
        return f"expected {msg.removesuffix(' expected')}"
    if msg.startswith("Expected "):
        return "e" + msg[1:]
    return msg
