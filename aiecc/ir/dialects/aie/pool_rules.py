"""What makes a pool or an endpoint of one wrong."""

from __future__ import annotations

import itertools
import math

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation

from aiecc.ir.dialects.aie.enums import Role
from aiecc.ir.dialects.aie.headers import verify_header
from aiecc.ir.dialects.aie.memory import element_count
from aiecc.ir.dialects.aie.named import find_named
from aiecc.ir.dialects.aie.pools import CoreEndpointOp, DmaEndpointOp, Endpoint, ObjectFifoPoolOp, ObjectFifoSegmentOp
from aiecc.ir.dialects.aie.tiles import target_of
from aiecc.model.targets import TileKind


def verify_pool(op: ObjectFifoPoolOp) -> None:
    counting = target_of(op).semaphore_locks
    if op.locks_attr is not None:
        if counting:
            raise op.error("'locks' names binary locks, which this device has no use for")
        if len(op.locks) != op.depth:
            raise op.error("expects one lock per buffer")
    if op.buffers_attr is not None and len(op.buffers) != op.depth:
        raise op.error("expects 'depth' buffers")
    if op.init_values is not None and len(op.init_values.data) > op.depth:
        raise op.error("has more 'init_values' than 'depth' objects")
    segments = op.segments
    if not segments:
        raise op.error("expects at least one segment")
    covered = _verify_segments(op, segments, counting)
    total = element_count(op.elem_type) or 0
    if covered != total:
        raise op.error(f"segments cover {covered} of {total} elements")
    if len(segments) > 1 and not counting:
        raise op.error("multi-segment pools are unsupported on binary lock architectures")
    if op.iterate_bds:
        _verify_iterating(op)
    if op.stream_attr is not None:
        _verify_stream(op, total)


def _verify_segments(op: ObjectFifoPoolOp, segments: list[ObjectFifoSegmentOp], counting: bool) -> int:
    end, before = 0, -1
    for segment in segments:
        if segment.offset <= before:
            raise op.error("segments must be ordered by increasing offset")
        if segment.offset != end:
            raise segment.error("leaves a gap or overlaps the segment before it; segments must tile the object")
        if not counting and (segment.produce_lock is not None or segment.consume_lock is not None):
            raise op.error("segment locks are counting locks, which this device has no use for")
        before, end = segment.offset, segment.offset + segment.size
    return end


def _verify_iterating(op: ObjectFifoPoolOp) -> None:
    if op.repeat_count is not None:
        raise op.error("iterate_bds cannot be combined with 'repeatCount'")
    tile = op.tile_op
    if tile is not None and tile.kind is not None and tile.kind is not TileKind.MEM:
        raise op.error("iterate_bds applies only to a link through a MemTile")


def _verify_stream(op: ObjectFifoPoolOp, total: int) -> None:
    """A pool that holds a whole stream: one object of whole parts, counted by one lock pair."""
    stream = op.stream
    if stream is None:
        raise op.error("stream expects an object size, a number of objects and a number of zero objects ahead")
    if op.depth != 1 or len(op.segments) != 1:
        raise op.error("a pool over a whole stream has a depth of 1 and one segment")
    if op.repeat_count is not None:
        raise op.error("a pool over a whole stream cannot repeat its objects")
    most = target_of(op).lock_max_value
    if not 1 <= stream.objects <= most:
        raise op.error(f"a stream of {stream.objects} objects is out of what one lock counts, 1 to {most}")
    if stream.size < 1 or total % stream.size:
        raise op.error(f"stream objects of {stream.size} elements do not divide the pool's {total}")
    rows = total // stream.size
    if stream.before < 0 or stream.before + stream.objects > rows:
        raise op.error(
            f"stream has {stream.before} zero objects and {stream.objects} objects, but the pool has room for {rows}"
        )


# --- endpoints --------------------------------------------------------------------------------------------------------


def _verify_selection(op: Endpoint) -> tuple[ObjectFifoPoolOp, list[ObjectFifoSegmentOp]]:
    """The pool of an endpoint and the segments it selects."""
    pool = _find_pool(op)
    if pool is None:
        raise op.error(f"references undefined pool '{op.pool}'")
    attr = op.properties.get("segments")
    if attr is None:
        if len(pool.segments) > 1:
            raise op.error("must list segments explicitly for a multi-segment pool")
        return pool, pool.segments
    if isinstance(attr, DenseArrayBase):
        # Indices that no segment answers to; those that name one were translated while reading.
        wrong = next((int(i) for i in attr.get_values() if not 0 <= int(i) < len(pool.segments)), None)
        if wrong is not None:
            raise op.error(f"segment index {wrong} out of range")
        raise op.error("expects at least one segment")
    names = op.segments
    if not names:
        raise op.error("expects at least one segment")
    by_name = {segment.symbol: segment for segment in pool.segments}
    chosen: list[ObjectFifoSegmentOp] = []
    for name in names:
        segment = by_name.get(name)
        if segment is None:
            raise op.error(f"references undefined segment '{name}' in pool '{op.pool}'")
        if chosen and segment.offset <= chosen[-1].offset:
            raise op.error("segments must be named in increasing offset order")
        chosen.append(segment)
    return pool, chosen


def _find_pool(op: Endpoint) -> ObjectFifoPoolOp | None:
    return find_named(op, op.pool, ObjectFifoPoolOp)


def verify_core_endpoint(op: CoreEndpointOp) -> None:
    pool, chosen = _verify_selection(op)
    if pool.iterate_bds:
        raise op.error(f"cannot access pool '{op.pool}': its iterate_bds objects are addressed only by a DMA")
    for before, after in itertools.pairwise(chosen):
        if before.offset + before.size != after.offset:
            raise op.error("a core endpoint's segments must be contiguous")


def verify_dma_endpoint(op: DmaEndpointOp) -> None:
    pool, chosen = _verify_selection(op)
    verify_header(op, "packet", op.packet_attr)
    if op.packet_attr is not None and pool.iterate_bds:
        raise op.error("packet header cannot be combined with a pool using iterate_bds")
    if op.dispatch_attr is not None:
        _verify_dispatch(op, pool)
    _verify_layouts(op, chosen)
    if op.turns_attr is not None:
        _verify_turns(op, pool)


def _verify_dispatch(op: DmaEndpointOp, pool: ObjectFifoPoolOp) -> None:
    if op.role is not Role.DRAINS:
        raise op.error("only a draining endpoint can dispatch")
    turns = len(op.dispatch)
    if not turns:
        raise op.error("dispatch names no destination")
    if op.packet_attr is not None:
        raise op.error("a dispatching endpoint carries a header per turn in `dispatchPackets`, not one `packet`")
    if pool.repeat_count is not None:
        raise op.error("cannot dispatch a pool that repeats its objects")
    # After that many passes over the pool the first object goes to the first destination again.
    passes = turns // math.gcd(pool.depth, turns)
    if op.iter_count is not None and op.iter_count % passes:
        raise op.error(
            f"iterCount {op.iter_count} is not a whole number of dispatch rounds ({passes} passes over the pool)"
        )
    packets = op.dispatch_packets_attr
    if packets is None:
        return
    if len(packets.data) != turns:
        raise op.error("dispatchPackets needs one header per dispatch turn")
    for packet in packets.data:
        verify_header(op, "dispatchPackets", packet)


def _verify_layouts(op: DmaEndpointOp, chosen: list[ObjectFifoSegmentOp]) -> None:
    dimensions, pads = op.dimensions, op.pad_dimensions
    if dimensions is not None and len(dimensions) != len(chosen):
        raise op.error(f"dimensions has {len(dimensions)} entries for {len(chosen)} selected segments")
    if pads is not None:
        if len(pads) != len(chosen):
            raise op.error(f"padDimensions has {len(pads)} entries for {len(chosen)} selected segments")
        if op.role is not Role.DRAINS:
            raise op.error("padDimensions is only valid on a draining endpoint")
    if op.pad_value and not any(pads or ()):
        raise op.error("nonzero padValue requires a non-empty padDimensions entry")
    for i, pad in enumerate(pads or ()):
        if not pad:
            continue
        if dimensions is None or not dimensions[i]:
            raise op.error(f"padDimensions entry {i} requires dimensions for the same segment")
        if len(dimensions[i]) != len(pad):
            raise op.error(f"dimensions and padDimensions entry {i} have different ranks")
    for i, (dims, segment) in enumerate(zip(dimensions or (), chosen, strict=False)):
        if dims and sum((dim.size - 1) * dim.stride for dim in dims) >= segment.size:
            raise op.error(f"dimensions entry {i} exceeds selected segment '{segment.symbol}' of size {segment.size}")


def _verify_turns(op: DmaEndpointOp, pool: ObjectFifoPoolOp) -> None:
    """Endpoints that take turns on one channel name each other, all in the same words."""
    if op.symbol not in op.turns:
        raise op.error("turns must name the endpoint itself")
    if op.dispatch_attr is not None:
        raise op.error("an endpoint that takes turns cannot also dispatch")
    if op.packet_attr is not None:
        raise op.error("an endpoint that takes turns carries no packet header of its own")
    if op.iter_count is not None:
        raise op.error("an endpoint that takes turns cannot have an iterCount")
    if op.role is Role.DRAINS and pool.repeat_count is not None:
        raise op.error("an endpoint that takes turns cannot drain a pool that repeats its objects")
    for name in op.turns:
        other = _named(op, name)
        if not isinstance(other, DmaEndpointOp):
            raise op.error(f"turns names '{name}', which is not a DMA endpoint")
        here, there = op.tile_op, other.tile_op
        same_tile = op.tile is other.tile or (
            here is not None and there is not None and here.coord is not None and here.coord == there.coord
        )
        if not same_tile or op.channel_index != other.channel_index or op.role is not other.role:
            raise op.error(f"turns names '{name}', which is on another channel")
        if other.turns != op.turns:
            raise op.error(f"turns names '{name}', which does not list the same turns")


def _named(op: Operation, name: str) -> Operation | None:
    return find_named(op, name, DmaEndpointOp) or find_named(op, name, CoreEndpointOp)
