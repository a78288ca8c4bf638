"""objectFifos as designs write them: the fifo, links between fifos, and a core's acquires and releases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, traits_def, var_operand_def
from xdsl.parser import Parser

from aiecc.ir.dialects.aie.attrs import (
    BdDim,
    BdDimLayoutArrayArrayAttr,
    BdDimLayoutArrayAttr,
    BdPad,
    BdPadLayoutArrayAttr,
    EndPort,
    EndPortAttr,
    ObjectFifoType,
    Transport,
    TransportAttr,
)
from aiecc.ir.dialects.aie.enums import TransportMode
from aiecc.ir.dialects.aie.tiles import TileLike, tile_like
from aiecc.ir.dialects.base import (
    DialectOp,
    bool_field,
    name_field,
    op_definition,
    optional_int_field,
    show,
)
from aiecc.ir.dialects.constraints import (
    BOOLEAN,
    I32,
    I64,
    INDEX,
    INDEX_TYPE,
    STRING,
    TYPE,
    UNIT,
    Described,
    array_of,
    int_attr,
    is_elements,
    number,
)
from aiecc.ir.dialects.elements import NOT_ELEMENTS
from aiecc.ir.dialects.reading import Draft, Element, Out, eat, fail, need, read_operand, read_type, wrong
from aiecc.ir.dialects.syntax import DICT, Sym, syntax
from aiecc.ir.dialects.traits import Symbol


def _is_depth(attr: Attribute) -> bool:
    if isinstance(attr, ArrayAttr):
        return all(isinstance(a, IntegerAttr) for a in attr.data)
    return isinstance(attr, IntegerAttr) and attr.type == I32 and attr.value.data >= 0


DEPTH: Described[Attribute] = Described(
    "32-bit signless integer attribute whose minimum value is 0 or integer array attribute", _is_depth
)
_DIMS: Described[BdDimLayoutArrayAttr] = Described("data layout", lambda a: isinstance(a, BdDimLayoutArrayAttr))
_DIM_LISTS: Described[BdDimLayoutArrayArrayAttr] = Described(
    "data layout per consumer", lambda a: isinstance(a, BdDimLayoutArrayArrayAttr)
)
_PADS: Described[BdPadLayoutArrayAttr] = Described("padding", lambda a: isinstance(a, BdPadLayoutArrayAttr))
_PORT: Described[EndPortAttr] = Described("objectFifo end port", lambda a: isinstance(a, EndPortAttr))
_PORTS = array_of("array of objectFifo end ports", lambda a: isinstance(a, EndPortAttr))
_TRANSPORT: Described[TransportAttr] = Described("objectFifo transport", lambda a: isinstance(a, TransportAttr))
_INIT = array_of("array of elements", is_elements)
_OFFSETS = array_of("64-bit integer array attribute", lambda a: isinstance(a, IntegerAttr) and bool(a.type == I64))

NO_DIMS = BdDimLayoutArrayAttr(())


def read_dims(p: Parser) -> BdDimLayoutArrayAttr:
    """A data layout, short (`[<size = 4, stride = 8>]`) or in full."""
    at = p.pos
    if (full := _full(p)) is None:
        return BdDimLayoutArrayAttr(BdDimLayoutArrayAttr.parse_parameter(p))
    if not isinstance(full, BdDimLayoutArrayAttr):
        fail(p, "invalid kind of attribute specified", at)
    return full


def _full(p: Parser) -> Attribute | None:
    """An attribute written with `#`, if one comes next."""
    start = p.lexer.input.content[p.pos : p.pos + 1]
    return p.parse_attribute() if start == "#" else None


def _show_dims(out: Out, word: str, dims: BdDimLayoutArrayAttr) -> None:
    if dims.data:
        out.lit(word)
        dims.print_parameter(out.arg())


class _Ends(Element):
    """`(%producer, {%consumer, ..}, depth)`, each tile perhaps with a data layout."""

    fixed = ("elemNumber", "dimensionsToStream", "dimensionsFromStreamPerConsumer")

    def parse(self, p: Parser, d: Draft) -> None:
        need(p, "(")
        d.operands["producer"] = [p.resolve_operand(read_operand(p), INDEX)]
        d.props["dimensionsToStream"] = read_dims(p) if eat(p, "dimensionsToStream") else NO_DIMS
        need(p, ",")
        need(p, "{")
        consumers: list[SSAValue] = []
        layouts: list[Any] = []
        while True:
            consumers.append(p.resolve_operand(read_operand(p), INDEX))
            layouts.append(read_dims(p).data if eat(p, "dimensionsFromStream") else ())
            if not eat(p, ","):
                break
        need(p, "}")
        d.operands["consumers"] = consumers
        d.props["dimensionsFromStreamPerConsumer"] = BdDimLayoutArrayArrayAttr(tuple(layouts))
        need(p, ",")
        depth = p.parse_optional_attribute()
        d.props["elemNumber"] = wrong(p, "expected attribute value") if depth is None else depth
        need(p, ")")

    def print(self, out: Out, op: DialectOp) -> None:
        assert isinstance(op, ObjectFifoOp)
        out.lit("(")
        out.arg().print_operand(op.producer)
        _show_dims(out, "dimensionsToStream", op.dims_to_stream)
        out.lit(",")
        out.lit("{")
        layouts = op.dims_from_stream
        for i, consumer in enumerate(op.consumers):
            if i:
                out.lit(",")
            out.arg().print_operand(consumer)
            if i < len(layouts):
                _show_dims(out, "dimensionsFromStream", BdDimLayoutArrayAttr(layouts[i]))
        out.lit("}")
        out.lit(",")
        out.arg().print_attribute(op.properties["elemNumber"])
        out.lit(")")


def _read_fifo_type(p: Parser) -> Attribute:
    at = p.pos
    type = read_type(p)
    if isinstance(type, ObjectFifoType) and any(n < 0 for n in type.element_type.get_shape()):
        fail(p, f"type should be static shaped memref, but got '{show(type.element_type)}'", at)
    return type


class _Types(Element):
    """`type`, `-> consumer type`, `= [initial values]`."""

    fixed = ("elemType", "consumerElemType", "initValues")

    def parse(self, p: Parser, d: Draft) -> None:
        d.props["elemType"] = _read_fifo_type(p)
        if eat(p, "->"):
            d.props["consumerElemType"] = _read_fifo_type(p)
        if eat(p, "="):
            at = p.pos
            need(p, "[")
            values: list[Attribute] = []
            while not eat(p, "]"):
                if values:
                    need(p, ",")
                here = p.pos
                value = p.parse_optional_attribute()
                if value is None:
                    wrong(p, "expected attribute value")
                if not is_elements(value):
                    fail(p, NOT_ELEMENTS, here)
                values.append(value)
            depth = producer_depth(d.props["elemNumber"])
            if len(values) != depth:
                fail(p, "initial values should initialize all objects", at)
            d.props["initValues"] = ArrayAttr(values)

    def print(self, out: Out, op: DialectOp) -> None:
        out.arg().print_attribute(op.properties["elemType"])
        printer = out.arg()
        consumer = op.properties.get("consumerElemType")
        if consumer is not None:
            printer.print_string(" -> ")
            printer.print_attribute(consumer)
        printer = out.arg()
        values = op.properties.get("initValues")
        if isinstance(values, ArrayAttr):
            printer.print_string("= [")
            printer.print_list(values.data, printer.print_attribute)
            printer.print_string("]")


def depths(attr: Attribute | None) -> tuple[int, ...]:
    """The depths of a fifo: one for every end, or the producer's and one per consumer."""
    if isinstance(attr, ArrayAttr):
        return tuple(number(a) or 0 for a in attr.data)
    value = number(attr)
    return () if value is None else (value,)


def producer_depth(attr: Attribute | None) -> int:
    return next(iter(depths(attr)), 0)


@op_definition
class ObjectFifoOp(DialectOp):
    """A queue of equal objects from one tile to one or several others."""

    name = "aie.objectfifo"
    producer = operand_def(INDEX_TYPE)
    consumers = var_operand_def(INDEX_TYPE)
    sym_name = prop_def(STRING)
    depth_attr = prop_def(DEPTH, prop_name="elemNumber")
    elem_type_attr = prop_def(TYPE, prop_name="elemType")
    consumer_elem_type_attr = opt_prop_def(TYPE, prop_name="consumerElemType")
    dims_to_stream = prop_def(_DIMS, NO_DIMS, prop_name="dimensionsToStream")
    dims_from_stream_attr = prop_def(
        _DIM_LISTS, BdDimLayoutArrayArrayAttr(()), prop_name="dimensionsFromStreamPerConsumer"
    )
    init_values = opt_prop_def(_INIT, prop_name="initValues")
    cons_ports_attr = opt_prop_def(_PORTS, prop_name="cons_ports")
    disable_synchronization_attr = opt_prop_def(BOOLEAN, IntegerAttr(0, 1), prop_name="disable_synchronization")
    iter_count_attr = opt_prop_def(int_attr(32), prop_name="iter_count")
    iterate_bds_attr = opt_prop_def(UNIT, prop_name="iterate_bds")
    pad_dimensions = opt_prop_def(_PADS, prop_name="padDimensions")
    pad_value_attr = opt_prop_def(int_attr(32), IntegerAttr(0, I32), prop_name="padValue")
    plio_attr = opt_prop_def(BOOLEAN, IntegerAttr(0, 1), prop_name="plio")
    prod_port_attr = opt_prop_def(_PORT, prop_name="prod_port")
    repeat_count_attr = opt_prop_def(int_attr(32, 1), prop_name="repeat_count")
    transport_attr = opt_prop_def(_TRANSPORT, prop_name="transport")
    traits = traits_def(Symbol())
    PARENTS = ("aie.device",)
    SYNTAX = syntax(Sym(), _Ends(), DICT, ":", _Types())

    symbol = name_field()
    disable_synchronization = bool_field("disable_synchronization")
    iter_count = optional_int_field("iter_count")
    iterate_bds = bool_field("iterate_bds")
    plio = bool_field("plio")
    repeat_count = optional_int_field("repeat_count")

    def __init__(
        self,
        name: str,
        producer: SSAValue,
        consumers: Sequence[SSAValue],
        depth: int | Sequence[int],
        type: MemRefType[Attribute],
        properties: dict[str, Attribute | None] | None = None,
    ) -> None:
        if isinstance(depth, int):
            number_of: Attribute = IntegerAttr(depth, I32)
        else:
            number_of = ArrayAttr([IntegerAttr(n, I64) for n in depth])
        super().__init__(
            operands=[producer, consumers],
            properties={
                "sym_name": StringAttr(name),
                "elemNumber": number_of,
                "elemType": ObjectFifoType(type),
                "dimensionsToStream": NO_DIMS,
                "dimensionsFromStreamPerConsumer": BdDimLayoutArrayArrayAttr(tuple(() for _ in consumers)),
                **(properties or {}),
            },
        )

    @property
    def depths(self) -> tuple[int, ...]:
        """The producer's depth and each consumer's, written out."""
        found = depths(self.depth_attr)
        return found * (1 + len(self.consumers)) if not isinstance(self.depth_attr, ArrayAttr) else found

    @property
    def elem_type(self) -> MemRefType[Attribute]:
        """What the producer puts in."""
        return cast(ObjectFifoType, self.elem_type_attr).element_type

    @property
    def consumer_elem_type(self) -> MemRefType[Attribute]:
        """What a consumer takes out."""
        other = self.consumer_elem_type_attr
        return other.element_type if isinstance(other, ObjectFifoType) else self.elem_type

    @property
    def dims_from_stream(self) -> tuple[tuple[BdDim, ...], ...]:
        """One data layout per consumer."""
        return cast("tuple[tuple[BdDim, ...], ...]", self.dims_from_stream_attr.data)

    @property
    def pads(self) -> tuple[BdPad, ...] | None:
        attr = self.pad_dimensions
        return cast("tuple[BdPad, ...]", attr.data) if attr is not None else None

    @property
    def pad_value(self) -> int:
        return number(self.properties.get("padValue")) or 0

    @property
    def transport(self) -> Transport:
        attr = self.transport_attr
        return attr.data if attr is not None else Transport(TransportMode.AUTO)

    @property
    def prod_port(self) -> EndPort | None:
        attr = self.prod_port_attr
        return attr.data if attr is not None else None

    @property
    def cons_ports(self) -> tuple[EndPort | None, ...]:
        """One port per consumer, or Nones."""
        attr = self.cons_ports_attr
        if attr is None:
            return (None,) * len(self.consumers)
        return tuple(a.data for a in attr.data if isinstance(a, EndPortAttr))

    @property
    def producer_tile(self) -> TileLike | None:
        return tile_like(self.producer)

    @property
    def consumer_tiles(self) -> list[TileLike | None]:
        return [tile_like(c) for c in self.consumers]

    @classmethod
    def finish(cls, parser: Parser, draft: Draft) -> DialectOp:
        from aiecc.ir.dialects.aie.older import translate_fifo_keys

        translate_fifo_keys(draft.props, draft.attributes, len(draft.operands["consumers"]))
        return cls.from_draft(draft)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.fifo_rules import verify_fifo

        verify_fifo(self)
