"""objectFifos after they were split: pools of objects, the endpoints that use them, the routes between endpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser

from aiecc.ir.dialects.aie.attrs import (
    BdDim,
    BdDimLayoutArrayArrayAttr,
    BdPad,
    BdPadLayoutArrayArrayAttr,
    ObjectFifoSegmentAttr,
    PacketInfo,
    PacketInfoAttr,
    packet_of,
    symbols,
)
from aiecc.ir.dialects.aie.bd import PACKET
from aiecc.ir.dialects.aie.enums import Role
from aiecc.ir.dialects.aie.tiles import TileLike, tile_like
from aiecc.ir.dialects.base import (
    DialectOp,
    bool_field,
    int_field,
    name_field,
    names_field,
    op_definition,
    optional_int_field,
    string_field,
    word_field,
)
from aiecc.ir.dialects.constraints import (
    BOOLEAN,
    I32,
    INDEX_TYPE,
    STRING,
    SYMBOL,
    SYMBOLS,
    TYPE,
    UNIT,
    Described,
    array_of,
    dense_ints,
    int_attr,
    is_elements,
    is_flat_symbol,
    number,
)
from aiecc.ir.dialects.reading import Draft, Out, read_type
from aiecc.ir.dialects.syntax import DICT, Body, Property, Ref, Sym, Use, Word, syntax
from aiecc.ir.dialects.traits import OneBlock, OpenEnded, Scope, Symbol

_INIT = array_of("array of elements", is_elements)
_SEGMENTS: Described[Attribute] = Described(
    "flat symbol ref array attribute",
    lambda a: (isinstance(a, ArrayAttr) and all(is_flat_symbol(x) for x in a.data)) or isinstance(a, DenseArrayBase),
)
_PACKETS = array_of("array of packet headers", lambda a: isinstance(a, PacketInfoAttr))
_DIMS: Described[BdDimLayoutArrayArrayAttr] = Described(
    "data layout per segment", lambda a: isinstance(a, BdDimLayoutArrayArrayAttr)
)
_PADS: Described[BdPadLayoutArrayArrayAttr] = Described(
    "padding per segment", lambda a: isinstance(a, BdPadLayoutArrayArrayAttr)
)


@op_definition
class ObjectFifoSegmentOp(DialectOp):
    """A part of a pool's object with locks of its own. Offset and size count elements."""

    name = "aie.objectfifo.segment"
    sym_name = prop_def(STRING)
    offset_attr = prop_def(int_attr(32), prop_name="offset")
    size_attr = prop_def(int_attr(32), prop_name="size")
    consume_lock_attr = opt_prop_def(SYMBOL, prop_name="consumeLock")
    produce_lock_attr = opt_prop_def(SYMBOL, prop_name="produceLock")
    traits = traits_def(Symbol())
    PARENTS = ("aie.objectfifo.pool",)
    SYNTAX = syntax(Sym(), DICT)

    symbol = name_field()
    offset = int_field("offset")
    size = int_field("size")
    consume_lock = string_field("consumeLock")
    produce_lock = string_field("produceLock")

    def __init__(
        self, name: str, offset: int, size: int, produce_lock: str | None = None, consume_lock: str | None = None
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "offset": IntegerAttr(offset, I32),
                "size": IntegerAttr(size, I32),
                "produceLock": None if produce_lock is None else SymbolRefAttr(produce_lock),
                "consumeLock": None if consume_lock is None else SymbolRefAttr(consume_lock),
            }
        )


class _TypeProperty(Property):
    def parse(self, p: Parser, d: Draft) -> None:
        d.props[self.name] = read_type(p)

    def print(self, out: Out, op: DialectOp) -> None:
        out.arg().print_attribute(op.properties[self.name])


class _SegmentBody(Body):
    """The segments; older texts have no region but a `segments` attribute, or nothing for one whole segment."""

    def parse(self, p: Parser, d: Draft) -> None:
        region = p.parse_optional_region()
        if region is None:
            region = Region(Block(_older_segments(d)))
        elif not region.blocks:
            region.add_block(Block())
        d.regions[self.name] = [region]


def _older_segments(d: Draft) -> list[ObjectFifoSegmentOp]:
    listed = d.attributes.pop("segments", None)
    if isinstance(listed, ArrayAttr):
        parts = [a.data for a in listed.data if isinstance(a, ObjectFifoSegmentAttr)]
        return [
            ObjectFifoSegmentOp(f"s{i}", s.offset, s.size, s.produce_lock, s.consume_lock) for i, s in enumerate(parts)
        ]
    from aiecc.ir.dialects.aie.memory import element_count

    return [ObjectFifoSegmentOp("s0", 0, element_count(d.props["elemType"]) or 0)]


class Stream(NamedTuple):
    """What the only object of a window's pool holds: the objects of one whole stream, one after the other.

    size: elements of one of the stream's objects.
    objects: how many arrive.
    before: zero objects ahead of them; what is left of the pool's object behind them is zero objects as well.
    """

    size: int
    objects: int
    before: int


@op_definition
class ObjectFifoPoolOp(DialectOp):
    """The objects of one end of a fifo, in one tile's memory."""

    name = "aie.objectfifo.pool"
    tile = operand_def(INDEX_TYPE)
    sym_name = prop_def(STRING)
    buffers_attr = opt_prop_def(SYMBOLS, prop_name="buffers")
    depth_attr = prop_def(int_attr(32), prop_name="depth")
    disable_synchronization_attr = opt_prop_def(BOOLEAN, IntegerAttr(0, 1), prop_name="disableSynchronization")
    elem_type_attr = prop_def(TYPE, prop_name="elemType")
    fifo_name_attr = opt_prop_def(STRING, prop_name="fifoName")
    init_values = opt_prop_def(_INIT, prop_name="initValues")
    iterate_bds_attr = opt_prop_def(UNIT, prop_name="iterateBds")
    locks_attr = opt_prop_def(SYMBOLS, prop_name="locks")
    repeat_count_attr = opt_prop_def(int_attr(32), prop_name="repeatCount")
    stream_attr = opt_prop_def(dense_ints(64), prop_name="stream")
    body = region_def()
    traits = traits_def(Symbol(), OneBlock(), Scope(), OpenEnded())
    PARENTS = ("aie.device",)
    OLDER = {"repeat_count": "repeatCount"}
    SYNTAX = syntax(Sym(), "(", Use("tile"), ")", DICT, ":", _TypeProperty("elemType"), _SegmentBody())

    symbol = name_field()
    buffers = names_field("buffers")
    depth = int_field("depth")
    disable_synchronization = bool_field("disableSynchronization")
    fifo_name = string_field("fifoName")
    iterate_bds = bool_field("iterateBds")
    locks = names_field("locks")
    repeat_count = optional_int_field("repeatCount")

    def __init__(
        self,
        name: str,
        tile: SSAValue,
        type: MemRefType[Attribute],
        depth: int,
        segments: Sequence[ObjectFifoSegmentOp],
        properties: dict[str, Attribute | None] | None = None,
    ) -> None:
        super().__init__(
            operands=[tile],
            properties={
                "sym_name": StringAttr(name),
                "depth": IntegerAttr(depth, I32),
                "elemType": type,
                **(properties or {}),
            },
            regions=[Region(Block(segments))],
        )

    @property
    def stream(self) -> Stream | None:
        """The stream that a window's pool holds; None for any other pool."""
        attr = self.stream_attr
        values = () if attr is None else tuple(int(n) for n in attr.get_values())
        return Stream(*values) if len(values) == 3 else None

    @property
    def tile_op(self) -> TileLike | None:
        return tile_like(self.tile)

    @property
    def elem_type(self) -> MemRefType[Attribute]:
        return cast("MemRefType[Attribute]", self.elem_type_attr)

    @property
    def segments(self) -> list[ObjectFifoSegmentOp]:
        """In increasing offset order."""
        return [op for op in self.body.ops if isinstance(op, ObjectFifoSegmentOp)]

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.pool_rules import verify_pool

        verify_pool(self)


class Endpoint(DialectOp):
    """Something that fills or drains a pool."""

    symbol = name_field()
    role = word_field("role", Role)
    pool = name_field("pool")
    segments = names_field("segments")

    @property
    def tile_op(self) -> TileLike | None:
        return tile_like(self.operands[0])


_ENDPOINT = syntax(Sym(), "(", Use("tile"), ")", Word("role", Role), Ref("pool"), DICT)


def _endpoint_props(name: str, role: Role, pool: str, segments: Sequence[str] | None) -> dict[str, Attribute | None]:
    return {
        "sym_name": StringAttr(name),
        "role": IntegerAttr(int(role), I32),
        "pool": SymbolRefAttr(pool),
        "segments": None if segments is None else ArrayAttr(symbols(*segments)),
    }


@op_definition
class CoreEndpointOp(Endpoint):
    """A core that fills or drains a pool."""

    name = "aie.objectfifo.core_endpoint"
    tile = operand_def(INDEX_TYPE)
    sym_name = prop_def(STRING)
    role_attr = prop_def(int_attr(32, 0, 1), prop_name="role")
    pool_attr = prop_def(SYMBOL, prop_name="pool")
    segments_attr = opt_prop_def(_SEGMENTS, prop_name="segments")
    traits = traits_def(Symbol())
    PARENTS = ("aie.device",)
    SYNTAX = _ENDPOINT

    def __init__(self, name: str, tile: SSAValue, role: Role, pool: str, segments: Sequence[str] | None = None) -> None:
        super().__init__(operands=[tile], properties=_endpoint_props(name, role, pool, segments))

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.pool_rules import verify_core_endpoint

        verify_core_endpoint(self)


@op_definition
class DmaEndpointOp(Endpoint):
    """A DMA channel that fills or drains a pool."""

    name = "aie.objectfifo.dma_endpoint"
    tile = operand_def(INDEX_TYPE)
    sym_name = prop_def(STRING)
    role_attr = prop_def(int_attr(32, 0, 1), prop_name="role")
    pool_attr = prop_def(SYMBOL, prop_name="pool")
    segments_attr = opt_prop_def(_SEGMENTS, prop_name="segments")
    channel_index_attr = opt_prop_def(int_attr(32), prop_name="channelIndex")
    dimensions_attr = opt_prop_def(_DIMS, prop_name="dimensions")
    dispatch_attr = opt_prop_def(SYMBOLS, prop_name="dispatch")
    dispatch_packets_attr = opt_prop_def(_PACKETS, prop_name="dispatchPackets")
    fifo_name_attr = opt_prop_def(STRING, prop_name="fifoName")
    iter_count_attr = opt_prop_def(int_attr(32), prop_name="iterCount")
    packet_attr = opt_prop_def(PACKET, prop_name="packet")
    pad_dimensions_attr = opt_prop_def(_PADS, prop_name="padDimensions")
    pad_value_attr = opt_prop_def(int_attr(32), IntegerAttr(0, I32), prop_name="padValue")
    turns_attr = opt_prop_def(SYMBOLS, prop_name="turns")
    traits = traits_def(Symbol())
    PARENTS = ("aie.device",)
    SYNTAX = _ENDPOINT

    channel_index = optional_int_field("channelIndex")
    dispatch = names_field("dispatch")
    fifo_name = string_field("fifoName")
    iter_count = optional_int_field("iterCount")
    turns = names_field("turns")

    def __init__(
        self,
        name: str,
        tile: SSAValue,
        role: Role,
        pool: str,
        segments: Sequence[str] | None = None,
        properties: dict[str, Attribute | None] | None = None,
    ) -> None:
        super().__init__(
            operands=[tile], properties={**_endpoint_props(name, role, pool, segments), **(properties or {})}
        )

    @property
    def packet(self) -> PacketInfo | None:
        return packet_of(self.packet_attr)

    @property
    def dispatch_packets(self) -> tuple[PacketInfo, ...]:
        attr = self.dispatch_packets_attr
        return () if attr is None else tuple(a.data for a in attr.data if isinstance(a, PacketInfoAttr))

    @property
    def dimensions(self) -> tuple[tuple[BdDim, ...], ...] | None:
        """One data layout per selected segment."""
        attr = self.dimensions_attr
        return None if attr is None else cast("tuple[tuple[BdDim, ...], ...]", attr.data)

    @property
    def pad_dimensions(self) -> tuple[tuple[BdPad, ...], ...] | None:
        """One padding per selected segment."""
        attr = self.pad_dimensions_attr
        return None if attr is None else cast("tuple[tuple[BdPad, ...], ...]", attr.data)

    @property
    def pad_value(self) -> int:
        return number(self.properties.get("padValue")) or 0

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.pool_rules import verify_dma_endpoint

        verify_dma_endpoint(self)
