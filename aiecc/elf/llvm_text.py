"""The words of textual LLVM IR: tokens, types with their sizes, operands, constant expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""\s+|;.*
    | (?P<name>[%@](?:"(?:[^"\\]|\\.)*"|[-a-zA-Z$._0-9]+))
    | (?P<string>c?"(?:[^"\\]|\\.)*")
    | (?P<word>[-+]?[a-zA-Z0-9_.$]+(?:\[\])?)
    | (?P<other>\.\.\.|[][(){}<>,=*!\#:|^~&])
    """,
    re.VERBOSE,
)
_HEX_ESCAPE = re.compile(r"\\([0-9a-fA-F]{2})")
_INT = re.compile(r"[-+]?\d+$")
_INT_TYPE = re.compile(r"i(\d+)$")
_FLOATS = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "fp128": 16, "x86_fp80": 16, "ppc_fp128": 16}
CASTS = ("bitcast", "ptrtoint", "inttoptr", "addrspacecast", "zext", "sext", "trunc")


class NotIr(Exception):
    """A line that is not the IR this reader knows."""


@dataclass(frozen=True, slots=True)
class Type:
    """Size and alignment in bytes; `element` and `count` for arrays and vectors, `fields` for structures."""

    kind: str
    size: int = 0
    align: int = 1
    element: Type | None = None
    count: int = 0
    fields: tuple[Type, ...] = ()
    packed: bool = False

    def step(self, index: int) -> tuple[int, Type]:
        """Byte offset and type of a member."""
        if self.kind == "struct":
            offset = 0
            for i, f in enumerate(self.fields):
                offset = offset if self.packed else -(-offset // f.align) * f.align
                if i == index:
                    return offset, f
                offset += f.size
            raise NotIr("no such field")
        if self.element is None:
            raise NotIr("not an aggregate")
        return index * self.element.size, self.element


OPAQUE_TYPE = Type("opaque")


@dataclass(frozen=True, slots=True)
class Value:
    """An operand: a local, a global, an integer, a constant expression, a vector of constants, or something else.

    `kind`: `local`, `global`, `int`, `expression`, `vector`, `zero`, `undef` (poison too) or `other`.
    """

    kind: str
    name: str = ""
    number: int = 0
    instruction: Instruction | None = None
    elements: tuple[Value, ...] = ()


OTHER = Value("other")


@dataclass(frozen=True, slots=True)
class Instruction:
    """`op` is the opcode, `opaque` for what is not read.

    `type`: what a GEP steps over, what an `alloca` makes, the vector a shuffle or insertion starts from.
    """

    op: str
    operands: tuple[Value, ...] = ()
    callee: str = ""
    type: Type = OPAQUE_TYPE
    inbounds: bool = False


def unquoted(name: str) -> str:
    """`%"a b"` and `%a` without sigil, quotes and escapes."""
    bare = name[1:]
    if bare.startswith('"'):
        return _HEX_ESCAPE.sub(lambda m: chr(int(m.group(1), 16)), bare[1:-1])
    return bare


def tokens(line: str) -> list[str]:
    out: list[str] = []
    at = 0
    while at < len(line):
        match = _TOKEN.match(line, at)
        if match is None:
            raise NotIr(line)
        if match.lastgroup is not None:
            out.append(match.group())
        at = match.end()
    return out


def try_tokens(line: str) -> list[str]:
    try:
        return tokens(line)
    except NotIr:
        return []


def split(words: Sequence[str], at: int) -> list[list[str]]:
    """The comma-separated parts of the bracket that opens at `at`."""
    depth = 0
    parts: list[list[str]] = [[]]
    for token in words[at + 1 :]:
        if token in ("(", "[", "{", "<"):
            depth += 1
        elif token in (")", "]", "}", ">"):
            if depth == 0:
                break
            depth -= 1
        if depth == 0 and token == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return [p for p in parts if p]


class Cursor:
    """Recursive descent over the tokens of one instruction."""

    def __init__(self, named: Callable[[str], Type], tokens: Sequence[str]) -> None:
        self._named = named
        self._tokens = tokens
        self._at = 0

    def peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def take(self) -> str:
        token = self.peek()
        if not token:
            raise NotIr("the line ends early")
        self._at += 1
        return token

    def expect(self, token: str) -> None:
        if self.take() != token:
            raise NotIr(f"'{token}' expected")

    def skip(self, *words: str) -> None:
        while self.peek() in words:
            self.take()

    def type(self) -> Type:
        found = self._plain_type()
        while self.peek() == "*":
            self.take()
            found = Type("ptr", 4, 4)
        return found

    def _plain_type(self) -> Type:
        token = self.take()
        integer = _INT_TYPE.match(token)
        if integer:
            size = 1
            while size * 8 < int(integer.group(1)):
                size *= 2
            return Type("int", size, min(size, 8))
        if token in _FLOATS:
            return Type("float", _FLOATS[token], min(_FLOATS[token], 8))
        if token == "ptr":
            if self.peek() == "addrspace":
                self._skip_bracket()
            return Type("ptr", 4, 4)
        if token.startswith("%"):
            return self._named(token)
        if token == "[":
            return self._sequence("]", "array")
        if token == "<" and self.peek() == "{":
            self.take()
            found = self._structure(packed=True)
            self.expect(">")
            return found
        if token == "<":
            return self._sequence(">", "vector")
        if token == "{":
            return self._structure(packed=False)
        if token in ("void", "opaque", "label", "token", "metadata"):
            return OPAQUE_TYPE
        raise NotIr(f"'{token}' is no type")

    def _skip_bracket(self) -> None:
        self.take()
        self.expect("(")
        while self.take() != ")":
            pass

    def _sequence(self, end: str, kind: str) -> Type:
        word = self.take()
        if not word.isdecimal():
            raise NotIr("a number of elements expected")
        count = int(word)
        self.expect("x")
        element = self.type()
        self.expect(end)
        return Type(kind, count * element.size, element.align, element, count)

    def _structure(self, *, packed: bool) -> Type:
        fields: list[Type] = []
        while self.peek() != "}":
            fields.append(self.type())
            if self.peek() == ",":
                self.take()
        self.expect("}")
        size, align = 0, 1
        for f in fields:
            size = size if packed else -(-size // f.align) * f.align
            size += f.size
            align = 1 if packed else max(align, f.align)
        return Type("struct", -(-size // align) * align, align, fields=tuple(fields), packed=packed)

    def typed(self) -> Value:
        """A type, then a value of it."""
        self.type()
        return self.value()

    def argument(self) -> Value:
        """A type, attributes, then a value."""
        self.type()
        while True:
            token = self.peek()
            if token.startswith(("%", "@")) or _INT.match(token) or token in _CONSTANT_WORDS or token in "<[{":
                return self.value()
            if not token or self._at + 1 >= len(self._tokens):
                raise NotIr("no value")
            if self._at + 1 < len(self._tokens) and self._tokens[self._at + 1] == "(":
                self._skip_bracket()
            else:
                self.take()

    def value(self) -> Value:
        token = self.take()
        if token.startswith("%"):
            return Value("local", unquoted(token))
        if token.startswith("@"):
            return Value("global", unquoted(token))
        if _INT.match(token):
            return Value("int", number=int(token))
        if token in ("true", "false"):
            return Value("int", number=int(token == "true"))
        if token == "zeroinitializer":
            return Value("zero")
        if token in ("null", "none"):
            return Value("int")
        if token in ("poison", "undef"):
            return Value("undef")
        if token in CASTS or token in ("getelementptr", "add"):
            return Value("expression", instruction=self._expression(token))
        if token == "splat":
            self.expect("(")
            element = self.typed()
            self.expect(")")
            return Value("vector", elements=(element,))
        if token == "<":
            elements = [self.typed()]
            while self.peek() == ",":
                self.take()
                elements.append(self.typed())
            self.expect(">")
            return Value("vector", elements=tuple(elements))
        return OTHER

    def _expression(self, op: str) -> Instruction:
        if op == "getelementptr":
            found = self.element_pointer(bracketed=True)
            self.expect(")")
            return found
        self.skip("nuw", "nsw", "nneg")
        self.expect("(")
        first = self.typed()
        if op == "add":
            self.expect(",")
            found = Instruction(op, (first, self.typed()))
        else:
            self.expect("to")
            self.type()
            found = Instruction(op, (first,))
        self.expect(")")
        return found

    def element_pointer(self, *, bracketed: bool = False) -> Instruction:
        """`inbounds T, ptr base, indices...`, in brackets as a constant expression."""
        inbounds = False
        while self.peek() in ("inbounds", "nuw", "nusw", "inrange"):
            word = self.take()
            inbounds = inbounds or word == "inbounds"
            if self.peek() == "(" and word == "inrange":
                self._at -= 1
                self._skip_bracket()
        if bracketed:
            self.expect("(")
        source = self.type()
        operands: list[Value] = []
        while self.peek() == ",":
            self.take()
            if self.peek() == "!":
                break
            operands.append(self.typed())
        return Instruction("getelementptr", tuple(operands), type=source, inbounds=inbounds)


_CONSTANT_WORDS = (
    "true",
    "false",
    "zeroinitializer",
    "null",
    "none",
    "poison",
    "undef",
    "splat",
    "getelementptr",
    "add",
    *CASTS,
)
