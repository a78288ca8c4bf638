"""objectFifos as designs write them: the fifo, links between fifos, and a core's acquires and releases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, traits_def, var_operand_def, var_result_def
from xdsl.parser import Parser

from aiecc.ir.dialects.aie.attrs import (
    BdDim,
    BdDimLayoutArrayArrayAttr,
    BdDimLayoutArrayAttr,
    BdPad,
    BdPadLayoutArrayAttr,
    EndPort,
    EndPortAttr,
    LinkModeAttr,
    ObjectFifoSubviewType,
    ObjectFifoType,
    Transport,
    TransportAttr,
    symbols,
)
from aiecc.ir.dialects.aie.enums import LinkMode, Port, TransportMode
from aiecc.ir.dialects.aie.tiles import TileLike, tile_like
from aiecc.ir.dialects.base import (
    DialectOp,
    bool_field,
    int_field,
    ints_field,
    name_field,
    names_field,
    op_definition,
    optional_int_field,
    show,
)
from aiecc.ir.dialects.constraints import (
    ANY_TYPE,
    BOOLEAN,
    I32,
    I64,
    INDEX,
    INDEX_TYPE,
    STRING,
    SYMBOL,
    SYMBOLS,
    TYPE,
    UNIT,
    Described,
    array_of,
    int_attr,
    is_elements,
    number,
)
from aiecc.ir.dialects.elements import NOT_ELEMENTS
from aiecc.ir.dialects.symbols import Symbol
from aiecc.ir.dialects.syntax import (
    DICT,
    Draft,
    Element,
    Int,
    IntList,
    Out,
    Ref,
    RefList,
    Sym,
    Use,
    eat,
    fail,
    need,
    read_int,
    read_operand,
    read_type,
    syntax,
)


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
        d.props["elemNumber"] = fail(p, "expected attribute value") if depth is None else depth
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
                    fail(p, "expected attribute value")
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
            printer.print_string("-> ")
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
    iter_count_attr = opt_prop_def(int_attr(32, 1, 256), prop_name="iter_count")
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
            fail(p, f"{len(pending)} operands present, but expected {len(types)}", at)
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
