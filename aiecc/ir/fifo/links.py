"""The pool of a link, the segments its fifos have of it, and the ends and routes of links that take turns."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    MemRefType,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute

from aiecc.ir.dialects.aie.attrs import EndPort, PacketInfo, symbols
from aiecc.ir.dialects.aie.enums import Role
from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.ir.dialects.aie.memory import element_bits
from aiecc.ir.dialects.aie.pools import DmaEndpointOp, ObjectFifoPoolOp, ObjectFifoSegmentOp
from aiecc.ir.dialects.aie.routes import RouteOp
from aiecc.ir.dialects.aie.windows import Window, object_size, window_of
from aiecc.ir.dialects.constraints import I64
from aiecc.ir.fifo import depths
from aiecc.ir.fifo.declared import Link
from aiecc.ir.fifo.ends import Maker, repeating, suffix, whole


def make_pool(make: Maker, link: Link) -> None:
    """The one pool of a link, right before the fifo that owns its objects."""
    owner, accesses = link.owner, make.declared.accesses
    if link.position is None:
        name, type, depth = f"{owner.symbol}_pool", owner.elem_type, depths.stated(owner)
    else:
        name, type = f"{owner.symbol}{suffix(owner, link.position)}_pool", owner.consumer_elem_type
        depth = depths.consumer_depth(owner, link.position, accesses)
    properties: dict[str, Attribute | None] = {
        "initValues": owner.init_values if link.position is None else None,
        "iterateBds": UnitAttr() if any(fifo.iterate_bds for fifo in (*link.ins, *link.outs)) else None,
        **repeating(next((out.repeat_count for out in link.outs if out.repeat_count is not None), None)),
    }
    if link.is_window:
        window = window_of(link.ins[0], link.outs[0])
        type, depth = _stream_type(type, window), 1
        properties |= _stream(type, window)
    link.pool = make.pool(owner, name, link.point, type, depth, _segments(link, type), properties, link.op)


# --- segments ---------------------------------------------------------------------------------------------------------


def _segments(link: Link, type: MemRefType[Attribute]) -> list[ObjectFifoSegmentOp]:
    if link.is_join:
        return _sliced(type, link.op.src_offsets, [object_size(fifo, taken=True) for fifo in link.ins])
    if link.is_distribute:
        return _sliced(type, link.op.dst_offsets, [object_size(fifo) for fifo in link.outs])
    return whole(type)


def _sliced(type: Attribute, offsets: Sequence[int], sizes: Sequence[int]) -> list[ObjectFifoSegmentOp]:
    """A segment for each participant, up to where the next one begins."""
    total = whole(type)[0].size
    found: list[ObjectFifoSegmentOp] = []
    for i, (offset, own) in enumerate(zip(offsets, sizes, strict=False)):
        end = offsets[i + 1] if i + 1 < len(offsets) else total
        found.append(ObjectFifoSegmentOp(f"s{i}", offset, end - offset if end > offset else own))
    return found


def selected(link: Link, fifo: ObjectFifoOp) -> list[str] | None:
    """The segments that a fifo's end at the link point handles; None where the pool has only one."""
    assert link.pool is not None
    names = [segment.symbol for segment in link.pool.segments]
    if len(names) == 1:
        return None
    many = link.ins if link.is_join else link.outs
    at = next((i for i, one in enumerate(many) if one is fifo), None)
    return names if at is None else [names[at]]


# --- windows ----------------------------------------------------------------------------------------------------------


def _stream_type(type: MemRefType[Attribute], window: Window) -> MemRefType[Attribute]:
    return MemRefType(type.element_type, [window.rows * window.size], memory_space=type.memory_space)


def _stream(type: MemRefType[Attribute], window: Window) -> dict[str, Attribute | None]:
    """What makes a pool hold a whole stream: its rows, and zeros where rows are not from the stream."""
    found: dict[str, Attribute | None] = {
        "stream": DenseArrayBase.from_list(I64, [window.size, window.objects, window.before])
    }
    if window.before or window.after:
        found["initValues"] = ArrayAttr([_zeros(type)])
    return found


def _zeros(type: MemRefType[Attribute]) -> Attribute:
    tensor = TensorType(type.element_type, type.get_shape())
    width = -(-element_bits(type) // 8)
    return DenseIntOrFPElementsAttr(tensor, BytesAttr(bytes(width)))  # pyright: ignore[reportArgumentType]


# --- taking turns -----------------------------------------------------------------------------------------------------


def merge_end(make: Maker, link: Link, source: ObjectFifoOp, k: int) -> DmaEndpointOp:
    """The end that fills the pool of a merge; the first input that is split makes it."""
    assert link.pool is not None
    if link.shared_end is None:
        out = link.outs[0]
        link.shared_end = make.dma_end(
            source,
            f"{out.symbol}_merge_dma",
            source.consumers[k],
            Role.FILLS,
            link.pool,
            port=_pinned(link, link.ins),
            iter_count=out.iter_count,
            named_after=out,
        )
    return link.shared_end


def dispatch_end(make: Maker, link: Link, out: ObjectFifoOp) -> DmaEndpointOp:
    """The end that drains the pool of a dispatch; the first output that is split makes it."""
    assert link.pool is not None
    if link.shared_end is None:
        source = link.ins[0]
        link.shared_end = make.dma_end(
            out,
            f"{source.symbol}_dispatch_dma",
            out.producer,
            Role.DRAINS,
            link.pool,
            port=_pinned(link, link.outs),
            iter_count=out.iter_count,
            named_after=source,
        )
    return link.shared_end


def _pinned(link: Link, fifos: Sequence[ObjectFifoOp]) -> EndPort | None:
    """The port that one of the fifos which share a channel pins; those that do agree."""
    return next((port for fifo, port in link.ends_there() if port is not None and fifo in fifos), None)


def finish_time_link(make: Maker, link: Link) -> None:
    """Once all fifos are split: the fan-in route of a merge, the order of turns of a dispatch."""
    end = link.shared_end
    if end is None:
        return
    if link.is_dispatch:
        order = [link.turns[out.symbol] for out in link.outs if out.symbol in link.turns]
        end.properties["dispatch"] = ArrayAttr(symbols(*order))
        return
    packets = [fifo.transport.packet for fifo in link.ins]
    known = [packet for packet in packets if packet is not None]
    pinned = [packet for packet in known if packet.pkt_id is not None]
    header = next(iter([*pinned, *known]), PacketInfo())
    make.put(link.op, RouteOp(link.merged, [end.symbol], header))


def object_pool(link: Link) -> ObjectFifoPoolOp | None:
    """The link's pool, where cores can work it as if it were the fifo's own: whole objects of one segment."""
    pool = link.pool
    return pool if pool is not None and len(pool.segments) == 1 else None
