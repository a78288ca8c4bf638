"""What a core does with an objectFifo: acquire objects, release them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr, SymbolRefAttr
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, prop_def, var_result_def
from xdsl.parser import Parser

from aiecc.ir.dialects.aie.attrs import (
    ObjectFifoSubviewType,
)
from aiecc.ir.dialects.aie.enums import Port
from aiecc.ir.dialects.base import (
    DialectOp,
    int_field,
    name_field,
    op_definition,
)
from aiecc.ir.dialects.constraints import (
    ANY_TYPE,
    I32,
    SYMBOL,
    int_attr,
    number,
)
from aiecc.ir.dialects.reading import Draft, Element, Out, eat, fail, need, read_int, read_operand, read_type
from aiecc.ir.dialects.syntax import DICT, Int, Ref, syntax


class _PortWord(Element):
    """`Consume, `, missing where an endpoint implies it."""

    fixed = ("port",)

    def parse(self, p: Parser, d: Draft) -> None:
        at = p.pos
        word = p.parse_optional_identifier()
        if word is None:
            word = p.parse_optional_str_literal()
        if word is None:
            return
        found = Port.named(word)
        if found is None:
            fail(p, f"invalid objectFifo port: {word}", at)
        d.props["port"] = IntegerAttr(found.value, I32)
        need(p, ",")

    def print(self, out: Out, op: DialectOp) -> None:
        port = number(op.properties.get("port"))
        found = None if port is None else Port.numbered(port)
        if found is not None:
            out.arg().print_string(found.word)
            out.lit(",")


class _Objects(Element):
    """`count) : memref, ..`: one result an object. The older form has one subview result."""

    fixed = ("size",)

    def parse(self, p: Parser, d: Draft) -> None:
        at = p.pos
        size = read_int(p)
        need(p, ")")
        need(p, ":")
        types = [read_type(p)]
        while eat(p, ","):
            types.append(read_type(p))
        d.results = types
        if len(types) == 1 and isinstance(types[0], ObjectFifoSubviewType):
            d.props["size"] = size
        elif size.value.data != len(types):
            fail(p, f"acquires {size.value.data} objects but names {len(types)} of them", at)

    def print(self, out: Out, op: DialectOp) -> None:
        size = number(op.properties.get("size"))
        out.arg().print_int(len(op.results) if size is None else size)
        out.lit(")")
        out.lit(":")
        printer = out.arg()
        printer.print_list(op.result_types, printer.print_attribute)


class FifoAccess(DialectOp):
    """What acquire and release have in common."""

    fifo_name = name_field("objFifo_name")

    @property
    def port(self) -> Port | None:
        """None where the endpoint's role says it."""
        value = number(self.properties.get("port"))
        return None if value is None else Port(value)


@op_definition
class ObjectFifoAcquireOp(FifoAccess):
    """Get the next objects of a fifo."""

    name = "aie.objectfifo.acquire"
    fifo_attr = prop_def(SYMBOL, prop_name="objFifo_name")
    port_attr = opt_prop_def(int_attr(32, 0, 1), prop_name="port")
    size_attr = opt_prop_def(int_attr(32, 0), prop_name="size")
    objects = var_result_def(ANY_TYPE)
    SYNTAX = syntax(DICT, Ref("objFifo_name"), "(", _PortWord(), _Objects())

    def __init__(self, fifo: str, port: Port | None, types: Sequence[Attribute]) -> None:
        super().__init__(
            result_types=[types],
            properties={
                "objFifo_name": SymbolRefAttr(fifo),
                "port": None if port is None else IntegerAttr(int(port), I32),
            },
        )

    @property
    def size(self) -> int:
        """How many objects it asks for."""
        older = number(self.properties.get("size"))
        return len(self.results) if older is None else older

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.access_rules import verify_acquire

        verify_acquire(self)


@op_definition
class ObjectFifoReleaseOp(FifoAccess):
    """Give the oldest objects of a fifo back."""

    name = "aie.objectfifo.release"
    fifo_attr = prop_def(SYMBOL, prop_name="objFifo_name")
    port_attr = opt_prop_def(int_attr(32, 0, 1), prop_name="port")
    size_attr = prop_def(int_attr(32, 1), prop_name="size")
    SYNTAX = syntax(DICT, Ref("objFifo_name"), "(", _PortWord(), Int("size"), ")")

    size = int_field("size")

    def __init__(self, fifo: str, port: Port | None, size: int) -> None:
        super().__init__(
            properties={
                "objFifo_name": SymbolRefAttr(fifo),
                "port": None if port is None else IntegerAttr(int(port), I32),
                "size": IntegerAttr(size, I32),
            }
        )

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.access_rules import verify_release

        verify_release(self)


class _SubviewTypes(Element):
    """`: subview type -> memref`; the operand waits for its type."""

    def parse(self, p: Parser, d: Draft) -> None:
        need(p, ":")
        pending = cast(Any, d.operands.pop("_pending"))
        d.operands["subview"] = [p.resolve_operand(pending[0], read_type(p))]
        need(p, "->")
        d.results = [read_type(p)]

    def print(self, out: Out, op: DialectOp) -> None:
        out.lit(":")
        out.arg().print_attribute(op.operands[0].type)
        out.lit("->")
        out.arg().print_attribute(op.results[0].type)


class _Subview(Element):
    def parse(self, p: Parser, d: Draft) -> None:
        d.operands["_pending"] = cast(Any, [read_operand(p)])

    def print(self, out: Out, op: DialectOp) -> None:
        out.arg().print_operand(op.operands[0])


@op_definition
class ObjectFifoSubviewAccessOp(DialectOp):
    """The older way to name one object of an acquire. Translated where possible, so that passes never see it."""

    name = "aie.objectfifo.subview.access"
    subview = operand_def(ANY_TYPE)
    index_attr = prop_def(int_attr(32, 0), prop_name="index")
    output = var_result_def(ANY_TYPE)
    SYNTAX = syntax(_Subview(), "[", Int("index"), "]", DICT, _SubviewTypes())

    index = int_field("index")

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.access_rules import verify_subview

        verify_subview(self)
