"""The tools that readers and printers of ops share: what has been read so far, where blanks go, MLIR's words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from xdsl.dialects.builtin import IntegerAttr, IntegerType, StringAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from aiecc.ir.dialects.constraints import BOOL, I32

if TYPE_CHECKING:
    from aiecc.ir.dialects.base import DialectOp


T = TypeVar("T")
AttrT = TypeVar("AttrT", bound=Attribute)


class Draft:
    """What has been read of an op so far."""

    __slots__ = ("attributes", "cls", "operands", "props", "regions", "results", "successors")

    def __init__(self, cls: type[DialectOp]) -> None:
        self.cls = cls
        self.operands: dict[str, list[SSAValue]] = {}
        self.props: dict[str, Attribute] = {}
        self.attributes: dict[str, Attribute] = {}
        self.results: list[Attribute] | None = None
        self.regions: dict[str, list[Region]] = {}
        self.successors: list[Block] = []


class Out:
    """A printer that knows whether a blank is due, by the rule of MLIR's generated printers."""

    __slots__ = ("_punct", "_space", "printer")

    def __init__(self, printer: Printer) -> None:
        self.printer = printer
        self._space = True
        self._punct = False

    def lit(self, text: str) -> None:
        """A word or a piece of punctuation of the syntax."""
        if len(text) != 1 and text != "->":
            blank = self._space or not self._punct
        elif self._punct:
            blank = text not in ">)}],"
        else:
            blank = text not in "<>(){}[],"
        if blank and self._space:
            self.printer.print_string(" ")
        self.printer.print_string(text)
        self._space = text not in ("<", "(", "{", "[")
        self._punct = not (text[0].isalpha() or text[0] == "_")

    def arg(self) -> Printer:
        """The blank before a value, and the printer to print the value with."""
        if self._space or not self._punct:
            self.printer.print_string(" ")
        self._space, self._punct = True, False
        return self.printer

    def glue(self) -> None:
        """Say that an opening bracket was just printed by hand."""
        self._space, self._punct = False, True

    def closed(self) -> None:
        """Say that a closing bracket was just printed by hand."""
        self._space, self._punct = True, True

    def bare(self) -> Printer:
        """The printer, when what follows brings its own leading blank (an attribute dictionary)."""
        self._punct = False
        return self.printer


class Element:
    """One place of an op's syntax. `fixed` names the properties that stand there instead of in the dictionary."""

    fixed: tuple[str, ...] = ()

    def parse(self, p: Parser, d: Draft) -> None:
        raise NotImplementedError

    def print(self, out: Out, op: DialectOp) -> None:
        raise NotImplementedError


def wrong(p: Parser, text: str, at: Any = None) -> NoReturn:
    """A parse error at the current token, or at `at`: one that MLIR's token level reports."""
    p.raise_error(text) if at is None else p.raise_error(text, at)
    raise AssertionError("raise_error returned")


def fail(p: Parser, text: str, at: Any = None) -> NoReturn:
    """A parse error that an op's own reader reports; it names the op."""
    starts: list[int] = getattr(p, "op_start", [])
    name = re.compile(r"[\w.$]+").match(p.lexer.input.content, starts[-1]) if starts else None
    wrong(p, text if name is None else f"custom op '{name[0]}' {text}", at)


def eat(p: Parser, text: str) -> bool:
    """Read the word or punctuation `text` if it comes next."""
    return p.parse_optional_characters(text) is not None


def need(p: Parser, text: str) -> None:
    """Read the word or punctuation `text`."""
    if p.parse_optional_characters(text) is None:
        (fail if text.isidentifier() else wrong)(p, f"expected '{text}'")


def read_operand(p: Parser) -> UnresolvedOperand:
    found = p.parse_optional_unresolved_operand()
    return wrong(p, "expected SSA operand") if found is None else found


def read_int(p: Parser, type: IntegerType = I32) -> IntegerAttr[IntegerType]:
    """An integer literal without its type; `true` and `false` for i1."""
    at = p.pos
    value = p.parse_optional_integer(allow_boolean=type == BOOL)
    if value is None:
        fail(p, "expected integer value")
    return in_range(p, value, type, at)


def in_range(p: Parser, value: int, type: IntegerType, at: Any = None) -> IntegerAttr[IntegerType]:
    bits = type.width.data
    if not -(1 << (bits - 1)) <= value < (1 << bits):
        wrong(p, "integer constant out of range for attribute", at)
    return IntegerAttr(value, type)


def read_inherent(p: Parser, kinds: type[AttrT]) -> AttrT:
    """An attribute of one kind, as a place in the syntax wants it."""
    at = p.pos
    found = p.parse_optional_attribute()
    if found is None:
        wrong(p, "expected attribute value")
    if not isinstance(found, kinds):
        fail(p, "invalid kind of attribute specified", at)
    return found


def read_symbol(p: Parser) -> StringAttr:
    found = p.parse_optional_symbol_name()
    return fail(p, "expected valid '@'-identifier for symbol name") if found is None else found


def read_type(p: Parser) -> Attribute:
    found = p.parse_optional_type()
    return wrong(p, "expected non-function type") if found is None else found


def read_list(p: Parser, item: Callable[[], T], open: str = "[", close: str = "]") -> list[T]:
    """`open (item (, item)*)? close`."""
    need(p, open)
    items: list[T] = []
    if eat(p, close):
        return items
    items.append(item())
    while eat(p, ","):
        items.append(item())
    need(p, close)
    return items
