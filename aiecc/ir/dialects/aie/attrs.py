"""The attributes and types of the `aie` dialect.

Each holds a small frozen value in `.data`. Where an op's syntax expects exactly one of them it is written short,
`<size = 4, stride = 8>`; anywhere else in full, `#aie.bd_dim_layout<size = 4, stride = 8>`.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from xdsl.dialects.builtin import MemRefType, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Data, OpaqueSyntaxAttribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from aiecc.ir.dialects.aie import trace_attrs
from aiecc.ir.dialects.aie.enums import LinkMode, TransportMode, WireBundle
from aiecc.ir.dialects.aie.structs import (
    U16,
    U32,
    Field,
    StructAttr,
    expect,
    keyword,
    read_items,
    read_symbol,
    show_int,
    show_items,
    show_symbol,
    stop,
    u16,
    u32,
    unsigned,
)

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
    FIELDS = (u32("size"), u32("stride"))
    TUPLE = BdDim


@irdl_attr_definition
class BdPadLayoutAttr(StructAttr[BdPad]):
    name = "aie.bd_pad_layout"
    FIELDS = (u16("const_pad_before"), u16("const_pad_after"))
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
        Field("pkt_type", unsigned(U16), show_int, False, 0),
        Field("pkt_id", unsigned(U16), show_int, False),
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
    FIELDS = (u32("size"), u32("stride"), u32("current"))
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
        u32("offset"),
        u32("size"),
        Field("produceLock", read_symbol, show_symbol, False),
        Field("consumeLock", read_symbol, show_symbol, False),
    )
    TUPLE = FifoSegment


# --- objectFifo options -----------------------------------------------------------------------------------------------


@irdl_attr_definition
class LinkModeAttr(Data[LinkMode]):
    name = "aie.link_mode"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> LinkMode:
        expect(parser, "<")
        mode = keyword(LinkMode)(parser)
        expect(parser, ">")
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
        expect(parser, "<")
        mode = keyword(TransportMode)(parser)
        packet = None
        at = parser.pos
        if parser.parse_optional_characters(",") is not None:
            if parser.parse_optional_characters("packet") is None:
                stop(parser, "expected 'packet'")
            expect(parser, "=")
            at = parser.pos
            packet = parser.parse_attribute()
            if not isinstance(packet, PacketInfoAttr):
                parser.raise_error("expected an #aie.packet_info attribute", at)
            if mode is TransportMode.SHARED_MEM:
                parser.raise_error(SHARED_MEM_PACKET, at)
        expect(parser, ">")
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
        expect(parser, "<")
        at = parser.pos
        bundle = keyword(WireBundle)(parser)
        channel = None
        if parser.parse_optional_characters(":") is not None:
            channel = unsigned(U32)(parser)
        port = EndPort(bundle, channel)
        if (wrong := end_port_fault(port)) is not None:
            parser.raise_error(wrong, at)
        expect(parser, ">")
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


# --- types ------------------------------------------------------------------------------------------------------------


class _OfMemref(ParametrizedAttribute, TypeAttribute):
    """A type over one memref."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        expect(parser, "<")
        at = parser.pos
        element = parser.parse_optional_type()
        if element is None:
            stop(parser, "expected non-function type")
        if not isinstance(element, MemRefType):
            parser.raise_error(f"expected a ranked memref, but got {element}", at)
        expect(parser, ">")
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
    EndPortAttr, *trace_attrs.ATTRIBUTES, ObjectFifoType, ObjectFifoSubviewType,
]  # fmt: skip


def packet_of(attr: Attribute | None) -> PacketInfo | None:
    """The header in an attribute, None when there is none."""
    return attr.data if isinstance(attr, PacketInfoAttr) else None


def symbols(*names: str) -> list[SymbolRefAttr]:
    return [SymbolRefAttr(StringAttr(n)) for n in names]
