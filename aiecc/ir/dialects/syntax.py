"""How an op is written: elements that read and print the same place of its text.

An op lists its elements once (`SYNTAX`); reading walks the list over a parser, printing walks it over `Out`, which
puts blanks where MLIR's generated printers put them. Words of errors are MLIR's too. An element that MLIR prints by
hand (`custom<..>`) is a subclass of `Element` beside its op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, IntegerType, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from aiecc.ir.dialects.constraints import BOOL, I32, INDEX
from aiecc.ir.dialects.reading import (
    Draft,
    Element,
    Out,
    eat,
    fail,
    in_range,
    need,
    read_inherent,
    read_operand,
    read_symbol,
    read_type,
    wrong,
)
from aiecc.ir.dialects.words import Words

if TYPE_CHECKING:
    from aiecc.ir.dialects.base import DialectOp


class Lit(Element):
    def __init__(self, text: str) -> None:
        self.text = text

    def parse(self, p: Parser, d: Draft) -> None:
        need(p, self.text)

    def print(self, out: Out, op: DialectOp) -> None:
        out.lit(self.text)


class Use(Element):
    """An operand of a type the syntax does not spell."""

    def __init__(self, name: str, type: Attribute = INDEX) -> None:
        self.name, self.type = name, type

    def parse(self, p: Parser, d: Draft) -> None:
        d.operands[self.name] = [p.resolve_operand(read_operand(p), self.type)]

    def print(self, out: Out, op: DialectOp) -> None:
        out.arg().print_operand(getattr(op, self.name))


class TypedUse(Element):
    """`%v : type`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def parse(self, p: Parser, d: Draft) -> None:
        operand = read_operand(p)
        need(p, ":")
        d.operands[self.name] = [p.resolve_operand(operand, read_type(p))]

    def print(self, out: Out, op: DialectOp) -> None:
        value = cast(SSAValue, getattr(op, self.name))
        out.arg().print_operand(value)
        out.lit(":")
        out.arg().print_attribute(value.type)


class Uses(Element):
    """`%a, %b`, at least one, all of one type the syntax does not spell."""

    def __init__(self, name: str, type: Attribute = INDEX) -> None:
        self.name, self.type = name, type

    def parse(self, p: Parser, d: Draft) -> None:
        operands = [p.resolve_operand(read_operand(p), self.type)]
        while eat(p, ","):
            operands.append(p.resolve_operand(read_operand(p), self.type))
        d.operands[self.name] = operands

    def print(self, out: Out, op: DialectOp) -> None:
        printer = out.arg()
        printer.print_list(cast(Sequence[SSAValue], getattr(op, self.name)), printer.print_operand)


class TypedUses(Element):
    """`%a, %b : t, u`, perhaps none."""

    def __init__(self, name: str) -> None:
        self.name = name

    def parse(self, p: Parser, d: Draft) -> None:
        d.operands[self.name] = []
        first = p.parse_optional_unresolved_operand()
        if first is None:
            return
        operands = [first]
        while eat(p, ","):
            operands.append(read_operand(p))
        at = p.pos
        need(p, ":")
        types = [read_type(p)]
        while eat(p, ","):
            types.append(read_type(p))
        if len(types) != len(operands):
            fail(
                p, f"number of operands and types do not match: got {len(operands)} operands and {len(types)} types", at
            )
        d.operands[self.name] = [p.resolve_operand(o, t) for o, t in zip(operands, types, strict=True)]

    def print(self, out: Out, op: DialectOp) -> None:
        values = cast(Sequence[SSAValue], getattr(op, self.name))
        if not values:
            return
        printer = out.arg()
        printer.print_list(values, printer.print_operand)
        out.lit(":")
        out.arg().print_list([v.type for v in values], printer.print_attribute)


class Property(Element):
    """An element that holds one property."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fixed = (name,)


class Int(Property):
    """An integer without its type."""

    def __init__(self, name: str, type: IntegerType = I32) -> None:
        super().__init__(name)
        self.type = type

    def parse(self, p: Parser, d: Draft) -> None:
        at = p.pos
        value = p.parse_optional_integer(allow_boolean=self.type == BOOL)
        if value is None:
            read_inherent(p, IntegerAttr)
            fail(p, "invalid kind of attribute specified", at)
        d.props[self.name] = in_range(p, value, self.type, at)

    def print(self, out: Out, op: DialectOp) -> None:
        printer = out.arg()
        attr = op.properties[self.name]
        if isinstance(attr, IntegerAttr):
            printer.print_int(attr.value.data, attr.type)
        else:
            printer.print_attribute(attr)


def read_word(p: Parser, name: str, words: type[Words], older: dict[str, Any] | None = None) -> Words:
    """An enumeration's keyword, bare or quoted."""
    at = p.pos
    text = p.parse_optional_identifier()
    quoted = None if text is not None else p.parse_optional_str_literal()
    word = text if quoted is None else quoted
    found = None if word is None else words.named(word)
    if found is None and word is not None and older is not None:
        found = older.get(word)
    if found is not None:
        return cast(Words, found)
    if quoted is not None:
        return fail(p, f'invalid {name} attribute specification: "{quoted}"', at)
    return fail(
        p,
        f"expected string or keyword containing one of the following enum values for attribute '{name}' "
        f"[{words.listed()}]",
        None if text is None else at,
    )


def show_word(printer: Printer, attr: Attribute, words: type[Words]) -> None:
    """The keyword of a stored number, quoted when it is no identifier."""
    value = attr.value.data if isinstance(attr, IntegerAttr) else -1
    found = words.numbered(value)
    if found is None:
        printer.print_attribute(attr)
    else:
        printer.print_identifier_or_string_literal(found.word)


class Word(Property):
    """An enumeration, stored as i32 and written as a keyword."""

    def __init__(self, name: str, words: type[Words], older: dict[str, Any] | None = None) -> None:
        super().__init__(name)
        self.words, self.older = words, older

    def parse(self, p: Parser, d: Draft) -> None:
        d.props[self.name] = IntegerAttr(read_word(p, self.name, self.words, self.older).value, I32)

    def print(self, out: Out, op: DialectOp) -> None:
        show_word(out.arg(), op.properties[self.name], self.words)


class Sym(Property):
    """The op's own `@name`, stored as a string. One with a default is optional and not printed when equal to it."""

    def __init__(self, name: str = "sym_name", default: str | None = None) -> None:
        super().__init__(name)
        self.default = default

    def parse(self, p: Parser, d: Draft) -> None:
        if self.default is None:
            d.props[self.name] = read_symbol(p)
        elif (found := p.parse_optional_symbol_name()) is not None:
            d.props[self.name] = found

    def print(self, out: Out, op: DialectOp) -> None:
        attr = op.properties[self.name]
        if not isinstance(attr, StringAttr):
            out.arg().print_attribute(attr)
        elif attr.data != self.default:
            out.arg().print_symbol_name(attr)


class Ref(Property):
    """A reference to another op's `@name`."""

    def parse(self, p: Parser, d: Draft) -> None:
        d.props[self.name] = read_inherent(p, SymbolRefAttr)

    def print(self, out: Out, op: DialectOp) -> None:
        out.arg().print_attribute(op.properties[self.name])


class Str(Property):
    """A string literal."""

    def parse(self, p: Parser, d: Draft) -> None:
        d.props[self.name] = read_inherent(p, StringAttr)

    def print(self, out: Out, op: DialectOp) -> None:
        out.arg().print_attribute(op.properties[self.name])


class RefList(Property):
    """`[@a, @b]`."""

    def parse(self, p: Parser, d: Draft) -> None:
        d.props[self.name] = read_inherent(p, ArrayAttr)

    def print(self, out: Out, op: DialectOp) -> None:
        out.arg().print_attribute(op.properties[self.name])


class IntList(Property):
    """`[0, 16]`, an array of i64."""

    def parse(self, p: Parser, d: Draft) -> None:
        d.props[self.name] = read_inherent(p, ArrayAttr)

    def print(self, out: Out, op: DialectOp) -> None:
        attr = op.properties[self.name]
        items = [str(a.value.data) for a in getattr(attr, "data", ()) if isinstance(a, IntegerAttr)]
        out.arg().print_string(f"[{', '.join(items)}]")


class Maybe(Element):
    """A part that may be missing: present when its first word or punctuation is.

    when: whether an op prints it; by default when its first property is there (and is not `unless`).
    """

    def __init__(self, lead: str, *rest: Any, when: Callable[[Any], bool] | None = None, unless: int | None = None):
        self.lead = lead
        self.elements = elements(rest)
        self.fixed = tuple(name for e in self.elements for name in e.fixed)
        first = self.fixed[0] if self.fixed else ""

        def present(op: DialectOp) -> bool:
            attr = op.properties.get(first)
            return attr is not None and not (
                unless is not None and isinstance(attr, IntegerAttr) and attr.value.data == unless
            )

        self.when = when or present

    def parse(self, p: Parser, d: Draft) -> None:
        if eat(p, self.lead):
            for element in self.elements:
                element.parse(p, d)

    def print(self, out: Out, op: DialectOp) -> None:
        if self.when(op):
            out.lit(self.lead)
            for element in self.elements:
                element.print(out, op)


class Succ(Element):
    """A block the terminator jumps to."""

    def __init__(self, index: int = 0) -> None:
        self.index = index

    def parse(self, p: Parser, d: Draft) -> None:
        found = p.parse_optional_successor()
        d.successors.append(wrong(p, "expected block name") if found is None else found)

    def print(self, out: Out, op: DialectOp) -> None:
        out.arg().print_block_name(op.successors[self.index])


class Body(Element):
    """A region. `terminator` is added when missing and left out in print; blocks of other regions print theirs.

    args: the entry block's arguments stand in the op's header, read earlier into the draft by `Args`.
    """

    def __init__(
        self, name: str = "body", terminator: Callable[[], Any] | None = None, one_block: bool = False
    ) -> None:
        self.name, self.terminator, self.one_block = name, terminator, one_block

    def parse(self, p: Parser, d: Draft) -> None:
        region = p.parse_optional_region()
        if region is None:
            wrong(p, "expected '{' to begin a region")
        if not region.blocks and (self.terminator is not None or self.one_block):
            region.add_block(Block())
        if self.terminator is not None:
            for block in region.blocks:
                close_block(block, self.terminator)
        d.regions[self.name] = [region]

    def print(self, out: Out, op: DialectOp) -> None:
        region = cast(Region, getattr(op, self.name))
        out.arg().print_region(
            region, print_empty_block=False, print_block_terminators=self.terminator is None or _tells(region)
        )


def close_block(block: Block, terminator: Callable[[], Any]) -> None:
    """Add the terminator that the text may leave out."""
    from xdsl.traits import IsTerminator

    last = block.last_op
    if last is None or not last.has_trait(IsTerminator, value_if_unregistered=False):
        block.add_op(terminator()())


def _tells(region: Region) -> bool:
    """Whether the terminator of a region carries anything that leaving it out would lose."""
    block = region.blocks.first
    last = block.last_op if block is not None else None
    return last is not None and bool(last.attributes or last.properties or last.operands or last.results)


class Dict(Element):
    """The attribute dictionary: everything that has no place of its own, sorted, defaults left out."""

    def __init__(self, keyword: bool = False) -> None:
        self.keyword = keyword

    def parse(self, p: Parser, d: Draft) -> None:
        if self.keyword and not eat(p, "attributes"):
            return
        at = p.pos
        for key, value in p.parse_optional_attr_dict().items():
            if key in d.props:
                wrong(p, f"attribute '{key}' occurs more than once in the attribute list", at)
            d.cls.take(d, key, value)

    def print(self, out: Out, op: DialectOp) -> None:
        shown = op.dictionary()
        printer = out.bare()
        if shown:
            printer.print_string(" attributes {" if self.keyword else " {")
            for i, (key, value) in enumerate(sorted(shown.items())):
                if i:
                    printer.print_string(", ")
                printer.print_identifier_or_string_literal(key)
                if not isinstance(value, UnitAttr):
                    printer.print_string(" = ")
                    printer.print_attribute(value)
            printer.print_string("}")


class Result(Element):
    """The type of the op's only result."""

    def parse(self, p: Parser, d: Draft) -> None:
        d.results = [read_type(p)]

    def print(self, out: Out, op: DialectOp) -> None:
        out.arg().print_attribute(op.results[0].type)


DICT = Dict()


def elements(parts: Iterable[Any]) -> tuple[Element, ...]:
    """The parts of a syntax, strings standing for words and punctuation."""
    return tuple(Lit(part) if isinstance(part, str) else cast(Element, part) for part in parts)


def syntax(*parts: Any) -> tuple[Element, ...]:
    return elements(parts)
