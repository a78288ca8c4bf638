"""The attributes and types of the `aie` dialect.

Each holds a small frozen value in `.data`. Where an op's syntax expects exactly one of them it is written short,
`<size = 4, stride = 8>`; anywhere else in full, `#aie.bd_dim_layout<size = 4, stride = 8>`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

from xdsl.dialects.builtin import MemRefType, NoneAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Data, OpaqueSyntaxAttribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from aiecc.ir.dialects.aie.enums import EVENT_ENUMS, LinkMode, TransportMode, WireBundle
from aiecc.ir.dialects.words import Words

FieldsT = TypeVar("FieldsT", bound=tuple[Any, ...])
T = TypeVar("T")

U16 = (1 << 16) - 1
U32 = (1 << 32) - 1


def _fail(p: AttrParser, text: str) -> Any:
    p.raise_error(text)


def _need(p: AttrParser, text: str) -> None:
    if p.parse_optional_characters(text) is None:
        _fail(p, f"expected '{text}'")


def _unsigned(limit: int) -> Callable[[AttrParser], int]:
    def read(p: AttrParser) -> int:
        at = p.pos
        value = p.parse_optional_integer(allow_boolean=False)
        if value is None:
            return _fail(p, "expected integer value")
        if not 0 <= value <= limit:
            p.raise_error("integer value too large" if value > limit else "negative integer literal not valid here", at)
        return value

    return read


def _keyword(words: type[Words]) -> Callable[[AttrParser], Any]:
    def read(p: AttrParser) -> Words:
        at = p.pos
        text = p.parse_optional_identifier()
        found = words.named(text) if text is not None else None
        if found is None:
            p.raise_error(f"expected one of: {words.listed()}", at)
        return found

    return read


def _boolean(p: AttrParser) -> bool:
    found = p.parse_optional_boolean()
    return _fail(p, "expected true or false") if found is None else found


def _string(p: AttrParser) -> str:
    found = p.parse_optional_str_literal()
    return _fail(p, "expected string") if found is None else found


def _symbol(p: AttrParser) -> str:
    found = p.parse_optional_symbol_name()
    return _fail(p, "expected symbol reference") if found is None else found.data


class Field(NamedTuple):
    """One `key = value` of a struct-like attribute. `default` is used when the key is missing and then not printed."""

    key: str
    read: Callable[[AttrParser], Any]
    show: Callable[[Printer, Any], None]
    required: bool = True
    default: Any = None


def _show_int(printer: Printer, value: int) -> None:
    printer.print_int(value)


def _show_bool(printer: Printer, value: bool) -> None:
    printer.print_string("true" if value else "false")


def _show_symbol(printer: Printer, value: str) -> None:
    printer.print_symbol_name(value)


def _u16(key: str) -> Field:
    return Field(key, _unsigned(U16), _show_int)


def _u32(key: str) -> Field:
    return Field(key, _unsigned(U32), _show_int)


def _text(key: str) -> Field:
    return Field(key, _string, Printer.print_string_literal)


def read_struct(p: AttrParser, fields: Sequence[Field]) -> list[Any]:
    """`<key = value, ..>` in any order."""
    _need(p, "<")
    found: dict[str, Any] = {}
    by_key = {f.key: f for f in fields}
    while p.parse_optional_characters(">") is None:
        if found:
            _need(p, ",")
        at = p.pos
        key = p.parse_optional_identifier()
        if key is None:
            _fail(p, "expected a parameter name in struct")
        if key not in by_key or key in found:
            p.raise_error(f"duplicate or unknown struct parameter name: {key}", at)
        _need(p, "=")
        found[key] = by_key[key].read(p)
    for f in fields:
        if f.required and f.key not in found:
            _fail(p, f"struct is missing required parameter: {f.key}")
    return [found.get(f.key, f.default) for f in fields]


class StructAttr(Data[FieldsT]):
    """A `<key = value, ..>` attribute over a named tuple with the same fields in the same order."""

    FIELDS: ClassVar[tuple[Field, ...]]
    TUPLE: ClassVar[Callable[..., Any]]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> FieldsT:
        return cls.TUPLE(*read_struct(parser, cls.FIELDS))

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string("<")
        first = True
        for f, value in zip(self.FIELDS, self.data, strict=True):
            if not f.required and value == f.default:
                continue
            printer.print_string(f"{f.key} = " if first else f", {f.key} = ")
            f.show(printer, value)
            first = False
        printer.print_string(">")


def read_items(p: AttrParser, item: Callable[[], T]) -> tuple[T, ...]:
    """`[item, ..]`."""
    _need(p, "[")
    items: list[T] = []
    while p.parse_optional_characters("]") is None:
        if items:
            _need(p, ",")
        items.append(item())
    return tuple(items)


def show_items(printer: Printer, items: Sequence[T], show: Callable[[T], None]) -> None:
    printer.print_string("[")
    printer.print_list(items, show)
    printer.print_string("]")


# --- data layouts -----------------------------------------------------------------------------------------------------


class BdDim(NamedTuple):
    """One dimension of an access pattern, in elements."""

    size: int
    stride: int


class BdPad(NamedTuple):
    """Constant padding of one dimension, in elements."""

    before: int
    after: int


@irdl_attr_definition
class BdDimLayoutAttr(StructAttr[BdDim]):
    name = "aie.bd_dim_layout"
    FIELDS = (_u32("size"), _u32("stride"))
    TUPLE = BdDim


@irdl_attr_definition
class BdPadLayoutAttr(StructAttr[BdPad]):
    name = "aie.bd_pad_layout"
    FIELDS = (_u16("const_pad_before"), _u16("const_pad_after"))
    TUPLE = BdPad


class LayoutArray(Data[tuple[Any, ...]], OpaqueSyntaxAttribute):
    """A bracketed list of structs, perhaps nested: `#aie<bd_dim_layout_array[<size = 4, stride = 8>]>`."""

    ITEM: ClassVar[type[StructAttr[Any]]]
    NESTED: ClassVar[bool] = False

    @classmethod
    def _row(cls, parser: AttrParser) -> tuple[Any, ...]:
        return read_items(parser, lambda: cls.ITEM.parse_parameter(parser))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Any, ...]:
        """The short form, `[..]`."""
        if cls.NESTED:
            return read_items(parser, lambda: cls._row(parser))
        return cls._row(parser)

    def _show_row(self, printer: Printer, row: tuple[Any, ...]) -> None:
        show_items(printer, row, lambda item: self.ITEM(item).print_parameter(printer))

    def print_parameter(self, printer: Printer) -> None:
        if self.NESTED:
            show_items(printer, self.data, lambda row: self._show_row(printer, row))
        else:
            self._show_row(printer, self.data)


@irdl_attr_definition
class BdDimLayoutArrayAttr(LayoutArray):
    name = "aie.bd_dim_layout_array"
    ITEM = BdDimLayoutAttr


@irdl_attr_definition
class BdDimLayoutArrayArrayAttr(LayoutArray):
    name = "aie.bd_dim_layout_array_array"
    ITEM = BdDimLayoutAttr
    NESTED = True


@irdl_attr_definition
class BdPadLayoutArrayAttr(LayoutArray):
    name = "aie.bd_pad_layout_array"
    ITEM = BdPadLayoutAttr


@irdl_attr_definition
class BdPadLayoutArrayArrayAttr(LayoutArray):
    name = "aie.bd_pad_layout_array_array"
    ITEM = BdPadLayoutAttr
    NESTED = True


# --- packets, iterations, segments ------------------------------------------------------------------------------------


class PacketInfo(NamedTuple):
    """A packet header. `pkt_id` of None is still to be assigned."""

    pkt_type: int = 0
    pkt_id: int | None = None


@irdl_attr_definition
class PacketInfoAttr(StructAttr[PacketInfo]):
    name = "aie.packet_info"
    FIELDS = (
        Field("pkt_type", _unsigned(U16), _show_int, False, 0),
        Field("pkt_id", _unsigned(U16), _show_int, False),
    )
    TUPLE = PacketInfo


class BdIteration(NamedTuple):
    """How a descriptor moves on each time it is used: `stride` elements, `size` times, starting at `current`."""

    size: int
    stride: int
    current: int


@irdl_attr_definition
class BdIterationAttr(StructAttr[BdIteration]):
    name = "aie.bd_iteration"
    FIELDS = (_u32("size"), _u32("stride"), _u32("current"))
    TUPLE = BdIteration


class FifoSegment(NamedTuple):
    """The older spelling of a pool's segment."""

    offset: int
    size: int
    produce_lock: str | None = None
    consume_lock: str | None = None


@irdl_attr_definition
class ObjectFifoSegmentAttr(StructAttr[FifoSegment]):
    """Read for the older `segments` of a pool; today a segment is an op."""

    name = "aie.objectfifo_segment"
    FIELDS = (
        _u32("offset"),
        _u32("size"),
        Field("produceLock", _symbol, _show_symbol, False),
        Field("consumeLock", _symbol, _show_symbol, False),
    )
    TUPLE = FifoSegment


# --- objectFifo options -----------------------------------------------------------------------------------------------


@irdl_attr_definition
class LinkModeAttr(Data[LinkMode]):
    name = "aie.link_mode"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> LinkMode:
        _need(parser, "<")
        mode = _keyword(LinkMode)(parser)
        _need(parser, ">")
        return mode

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data.word}>")


class Transport(NamedTuple):
    """How objects travel, and the header they carry when by packets."""

    mode: TransportMode
    packet: PacketInfo | None = None


@irdl_attr_definition
class TransportAttr(Data[Transport]):
    name = "aie.transport"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Transport:
        _need(parser, "<")
        mode = _keyword(TransportMode)(parser)
        packet = None
        at = parser.pos
        if parser.parse_optional_characters(",") is not None:
            if parser.parse_optional_characters("packet") is None:
                _fail(parser, "expected 'packet'")
            _need(parser, "=")
            at = parser.pos
            packet = parser.parse_attribute()
            if not isinstance(packet, PacketInfoAttr):
                parser.raise_error("expected an #aie.packet_info attribute", at)
            if mode is TransportMode.SHARED_MEM:
                parser.raise_error(SHARED_MEM_PACKET, at)
        _need(parser, ">")
        return Transport(mode, packet.data if packet is not None else None)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data.mode.word}")
        if self.data.packet is not None:
            printer.print_string(", packet = ")
            printer.print_attribute(PacketInfoAttr(self.data.packet))
        printer.print_string(">")

    def verify(self) -> None:
        if self.data.packet is not None and self.data.mode is TransportMode.SHARED_MEM:
            raise VerifyException(SHARED_MEM_PACKET)


SHARED_MEM_PACKET = "`packet` belongs to a dma or auto transport, not shared_mem"


class EndPort(NamedTuple):
    """The port one end of a fifo is bound to; a channel of None is still to be assigned."""

    bundle: WireBundle
    channel: int | None = None


@irdl_attr_definition
class EndPortAttr(Data[EndPort]):
    name = "aie.end_port"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> EndPort:
        _need(parser, "<")
        at = parser.pos
        bundle = _keyword(WireBundle)(parser)
        channel = None
        if parser.parse_optional_characters(":") is not None:
            channel = _unsigned(U32)(parser)
        port = EndPort(bundle, channel)
        if (wrong := end_port_fault(port)) is not None:
            parser.raise_error(wrong, at)
        _need(parser, ">")
        return port

    def print_parameter(self, printer: Printer) -> None:
        channel = "" if self.data.channel is None else f" : {self.data.channel}"
        printer.print_string(f"<{self.data.bundle.word}{channel}>")

    def verify(self) -> None:
        if (wrong := end_port_fault(self.data)) is not None:
            raise VerifyException(wrong)


def end_port_fault(port: EndPort) -> str | None:
    """What is wrong with a port as the end of a fifo."""
    if port.bundle not in (WireBundle.DMA, WireBundle.CORE):
        return f"an objectFifo end is driven by a DMA channel or a Core stream port, not {port.bundle.word}"
    if port.bundle is WireBundle.CORE and port.channel is None:
        return "a Core end needs its stream port"
    return None


# --- trace ------------------------------------------------------------------------------------------------------------


class TraceBuffer(NamedTuple):
    """Where in a sequence's arguments trace data goes; offset and size in bytes."""

    arg_index: int
    offset: int
    size: int
    dedicated: bool


@irdl_attr_definition
class TraceBufferAttr(StructAttr[TraceBuffer]):
    name = "aie.trace_buffer"
    FIELDS = (_u32("arg_index"), _u32("offset"), _u32("size"), Field("dedicated", _boolean, _show_bool))
    TUPLE = TraceBuffer


class TraceSlice(NamedTuple):
    """The part of a trace buffer that one sequence of one device fills, in bytes."""

    device: str
    sequence: str
    offset: int
    size: int


@irdl_attr_definition
class TraceSliceAttr(StructAttr[TraceSlice]):
    name = "aie.trace_slice"
    FIELDS = (_text("device"), _text("sequence"), _u32("offset"), _u32("size"))
    TUPLE = TraceSlice


@irdl_attr_definition
class TraceEventAttr(Data[str]):
    """An event's name: free text, or `Enum::CASE`, which is printed without quotes."""

    name = "aie.trace_event"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        _need(parser, "<")
        text = read_event_name(parser)
        _need(parser, ">")
        return text

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string("<")
        show_event_name(printer, self.data)
        printer.print_string(">")


def read_event_name(p: AttrParser) -> str:
    """`"NAME"` or `Enum::CASE`."""
    if (text := p.parse_optional_str_literal()) is not None:
        return text
    at = p.pos
    kind = p.parse_optional_identifier()
    if kind is None:
        return _fail(p, "expected string or enum event")
    for _ in range(2):
        if p.parse_optional_characters(":") is None:
            return _fail(p, "expected '::' after enum type name")
    case = p.parse_optional_identifier()
    if case is None:
        return _fail(p, "expected enum case name")
    if kind not in EVENT_ENUMS:
        p.raise_error(f"unknown event enum type: {kind}", at)
    return f"{kind}::{case}"


def show_event_name(printer: Printer, text: str) -> None:
    if "::" in text:
        printer.print_string(text)
    else:
        printer.print_string_literal(text)


# --- types ------------------------------------------------------------------------------------------------------------


class _OfMemref(ParametrizedAttribute, TypeAttribute):
    """A type over one memref."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        _need(parser, "<")
        at = parser.pos
        element = parser.parse_optional_type()
        if element is None:
            _fail(parser, "expected non-function type")
        if not isinstance(element, MemRefType):
            parser.raise_error(f"expected a ranked memref, but got {element}", at)
        _need(parser, ">")
        return [element]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<")
        printer.print_attribute(self.parameters[0])
        printer.print_string(">")


@irdl_attr_definition
class ObjectFifoType(_OfMemref):
    """A fifo of objects of one memref type."""

    name = "aie.objectfifo"
    element_type: MemRefType[Attribute]


@irdl_attr_definition
class ObjectFifoSubviewType(_OfMemref):
    """What an acquire used to return; read, and translated to one memref per object where possible."""

    name = "aie.objectfifosubview"
    element_type: MemRefType[Attribute]


ATTRIBUTES: list[type[Attribute]] = [
    BdDimLayoutAttr, BdDimLayoutArrayAttr, BdDimLayoutArrayArrayAttr, BdPadLayoutAttr, BdPadLayoutArrayAttr,
    BdPadLayoutArrayArrayAttr, PacketInfoAttr, BdIterationAttr, ObjectFifoSegmentAttr, LinkModeAttr, TransportAttr,
    EndPortAttr, TraceBufferAttr, TraceSliceAttr, TraceEventAttr, ObjectFifoType, ObjectFifoSubviewType,
]  # fmt: skip


def packet_of(attr: Attribute | None) -> PacketInfo | None:
    """The header in an attribute, None when there is none."""
    return attr.data if isinstance(attr, PacketInfoAttr) else None


def symbols(*names: str) -> list[SymbolRefAttr]:
    return [SymbolRefAttr(StringAttr(n)) for n in names]


def as_text(attr: Attribute) -> str:
    return "" if isinstance(attr, NoneAttr) else str(attr)
