"""Ops about whole objectFifos: links, where objects lie, which external buffers they use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, prop_def, var_operand_def
from xdsl.parser import Parser

from aiecc.ir.dialects.aie.attrs import (
    LinkModeAttr,
    symbols,
)
from aiecc.ir.dialects.aie.enums import LinkMode
from aiecc.ir.dialects.base import (
    DialectOp,
    ints_field,
    name_field,
    names_field,
    op_definition,
)
from aiecc.ir.dialects.constraints import (
    ANY_TYPE,
    I64,
    INDEX_TYPE,
    SYMBOL,
    SYMBOLS,
    Described,
    array_of,
)
from aiecc.ir.dialects.reading import Draft, Element, Out, eat, fail, need, read_operand, read_type
from aiecc.ir.dialects.syntax import DICT, IntList, Ref, RefList, Use, syntax

_OFFSETS = array_of("64-bit integer array attribute", lambda a: isinstance(a, IntegerAttr) and bool(a.type == I64))


@op_definition
class ObjectFifoAllocateOp(DialectOp):
    """Ask for the objects of a fifo to lie in one particular tile's memory."""

    name = "aie.objectfifo.allocate"
    delegate = operand_def(INDEX_TYPE)
    fifo_attr = prop_def(SYMBOL, prop_name="objFifo_name")
    PARENTS = ("aie.device",)
    SYNTAX = syntax(Ref("objFifo_name"), "(", Use("delegate"), ")", DICT)

    fifo_name = name_field("objFifo_name")

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.fifo_rules import verify_allocate

        verify_allocate(self)


class _Offsets(Element):
    """`([0, 16] [])`; older texts write `()`."""

    fixed = ("src_offsets", "dst_offsets")

    def parse(self, p: Parser, d: Draft) -> None:
        need(p, "(")
        for element in (_SRC, _DST):
            d.props[element.name] = ArrayAttr([])
        if eat(p, ")"):
            return
        _SRC.parse(p, d)
        _DST.parse(p, d)
        need(p, ")")

    def print(self, out: Out, op: DialectOp) -> None:
        out.lit("(")
        _SRC.print(out, op)
        _DST.print(out, op)
        out.lit(")")


_SRC = IntList("src_offsets")
_DST = IntList("dst_offsets")


@op_definition
class ObjectFifoLinkOp(DialectOp):
    """Fifos that meet on one tile: what the inputs bring, the outputs take on, without a core in between."""

    name = "aie.objectfifo.link"
    fifo_ins_attr = prop_def(SYMBOLS, prop_name="fifoIns")
    fifo_outs_attr = prop_def(SYMBOLS, prop_name="fifoOuts")
    src_offsets_attr = prop_def(_OFFSETS, prop_name="src_offsets")
    dst_offsets_attr = prop_def(_OFFSETS, prop_name="dst_offsets")
    mode_attr = opt_prop_def(
        Described[LinkModeAttr]("link mode", lambda a: isinstance(a, LinkModeAttr)),
        LinkModeAttr(LinkMode.SPACE),
        prop_name="mode",
    )
    PARENTS = ("aie.device",)
    SYNTAX = syntax(RefList("fifoIns"), "->", RefList("fifoOuts"), _Offsets(), DICT)

    inputs = names_field("fifoIns")
    outputs = names_field("fifoOuts")
    src_offsets = ints_field("src_offsets")
    dst_offsets = ints_field("dst_offsets")

    def __init__(
        self,
        inputs: Sequence[str],
        outputs: Sequence[str],
        src_offsets: Sequence[int] = (),
        dst_offsets: Sequence[int] = (),
        mode: LinkMode = LinkMode.SPACE,
    ) -> None:
        super().__init__(
            properties={
                "fifoIns": ArrayAttr(symbols(*inputs)),
                "fifoOuts": ArrayAttr(symbols(*outputs)),
                "src_offsets": ArrayAttr([IntegerAttr(n, I64) for n in src_offsets]),
                "dst_offsets": ArrayAttr([IntegerAttr(n, I64) for n in dst_offsets]),
                "mode": None if mode is LinkMode.SPACE else LinkModeAttr(mode),
            }
        )

    @property
    def mode(self) -> LinkMode:
        attr = self.properties.get("mode")
        return attr.data if isinstance(attr, LinkModeAttr) else LinkMode.SPACE

    @property
    def is_join(self) -> bool:
        return len(self.inputs) > 1

    @property
    def is_distribute(self) -> bool:
        return len(self.outputs) > 1

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.link_rules import verify_link

        verify_link(self)


class _TypeList(Element):
    """`(t, u)`, the types of operands read before."""

    def parse(self, p: Parser, d: Draft) -> None:
        at = p.pos
        need(p, "(")
        types: list[Attribute] = []
        while not eat(p, ")"):
            if types:
                need(p, ",")
            types.append(read_type(p))
        pending = cast("list[Any]", d.operands.pop("_pending"))
        if len(types) != len(pending):
            fail(
                p, f"number of operands and types do not match: got {len(pending)} operands and {len(types)} types", at
            )
        d.operands["external_buffers"] = [p.resolve_operand(o, t) for o, t in zip(pending, types, strict=True)]

    def print(self, out: Out, op: DialectOp) -> None:
        assert isinstance(op, RegisterExternalBuffersOp)
        printer = out.arg()
        printer.print_string("(")
        printer.print_list([b.type for b in op.external_buffers], printer.print_attribute)
        printer.print_string(")")


class _Externals(Element):
    """The buffers; their types come later."""

    def parse(self, p: Parser, d: Draft) -> None:
        pending: list[Any] = [read_operand(p)]
        while eat(p, ","):
            pending.append(read_operand(p))
        d.operands["_pending"] = pending

    def print(self, out: Out, op: DialectOp) -> None:
        assert isinstance(op, RegisterExternalBuffersOp)
        printer = out.arg()
        printer.print_list(op.external_buffers, printer.print_operand)


@op_definition
class RegisterExternalBuffersOp(DialectOp):
    """The external buffers a fifo uses at its shim end."""

    name = "aie.objectfifo.register_external_buffers"
    tile = operand_def(INDEX_TYPE)
    external_buffers = var_operand_def(ANY_TYPE)
    fifo_attr = prop_def(SYMBOL, prop_name="objFifo_name")
    PARENTS = ("aie.device",)
    SYNTAX = syntax(DICT, Ref("objFifo_name"), "(", Use("tile"), ",", "{", _Externals(), "}", ")", ":", _TypeList())

    fifo_name = name_field("objFifo_name")

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.fifo_rules import verify_external

        verify_external(self)
