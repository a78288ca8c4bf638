"""What the descriptors of a DMA endpoint are: plain values, before any of them is written as IR.

Offsets, lengths and strides count elements of the buffer; lock amounts count objects.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from xdsl.ir import SSAValue

from aiecc.ir.dialects.aie.attrs import BdDim, BdPad, PacketInfo
from aiecc.ir.dialects.aie.enums import Role
from aiecc.ir.dialects.aie.pools import DmaEndpointOp, ObjectFifoPoolOp, Stream
from aiecc.ir.fifo.view import FifoView

EntryT = TypeVar("EntryT")


@dataclass(frozen=True, slots=True)
class LockUse:
    """Take or give `amount` of a counting lock; take or set a binary lock at value `amount`."""

    lock: SSAValue
    amount: int


@dataclass(frozen=True, slots=True)
class Transfer:
    """One descriptor. `iteration`: (times, stride), how the offset moves on with every use."""

    buffer: SSAValue
    offset: int
    length: int
    dims: tuple[BdDim, ...] = ()
    pads: tuple[BdPad, ...] = ()
    acquire: LockUse | None = None
    release: LockUse | None = None
    iteration: tuple[int, int] | None = None
    packet: PacketInfo | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """A channel's descriptors in order.

    repeat: runs of the whole chain beyond the first. bounded: the chain ends after those runs, else it goes round.
    """

    transfers: tuple[Transfer, ...]
    repeat: int = 0
    bounded: bool = False
    pad_value: int = 0


class Unready(Exception):
    """An endpoint that cannot be lowered; says why, in words that follow the op's name."""

    def __init__(self, text: str, end: DmaEndpointOp) -> None:
        super().__init__(text)
        self.text = text
        self.end = end


# --- objects: what an endpoint moves, one after the other -------------------------------------------------------------


def objects_of(view: FifoView, end: DmaEndpointOp) -> list[list[Transfer]]:
    """The transfers of each object in turn, until the endpoint is back at its first object.

    Raises Unready when a name does not resolve.
    """
    pool = view.pool_of(end)
    stream = pool.stream
    if stream is None:
        return _plain_objects(view, end, pool)
    if not pool.buffers:
        return []
    if end.role is Role.FILLS:
        dims = _entry(end.dimensions, 0)
        return [
            [
                Transfer(
                    _buffer(view, end, pool.buffers[0]),
                    (stream.before + i) * stream.size,
                    stream.size,
                    dims,
                    (),
                    *_locks(view, end, pool, 0, 0, 1, 1),
                )
            ]
            for i in range(stream.objects)
        ]
    return [[window] for window in _windows(view, end, pool, stream)]


def _plain_objects(view: FifoView, end: DmaEndpointOp, pool: ObjectFifoPoolOp) -> list[list[Transfer]]:
    segments = view.segments_of(end)
    held = [view.buffers[name] for name in pool.buffers if name in view.buffers]
    if len(held) != len(pool.buffers):
        raise Unready(
            f"lowers to {len(held) * len(segments)} descriptors per pass, but its channel was allocated for "
            f"{pool.depth * len(segments)}",
            end,
        )
    counting = view.target.semaphore_locks
    amount = (pool.repeat_count or 1) if counting and end.role is Role.FILLS else 1
    found: list[list[Transfer]] = []
    for at, buffer in enumerate(held):
        parts: list[Transfer] = []
        for i, segment in enumerate(segments):
            dims, pads = _entry(end.dimensions, i), _entry(end.pad_dimensions, i)
            length = segment.size
            if dims and pads and end.role is Role.DRAINS:
                length = math.prod(d.size + p.before + p.after for d, p in zip(dims, pads, strict=True))
            index = pool.segments.index(segment)
            parts.append(
                Transfer(
                    buffer.result,
                    segment.offset,
                    length,
                    dims,
                    pads if end.role is Role.DRAINS else (),
                    *_locks(view, end, pool, index, at, amount, amount),
                )
            )
        found.append(parts)
    return found


def _windows(view: FifoView, end: DmaEndpointOp, pool: ObjectFifoPoolOp, stream: Stream) -> Iterator[Transfer]:
    """The outputs of a link that walks its whole input stream."""
    dims = _entry(end.dimensions, 0)
    if not dims:
        raise Unready("drains a pool that holds a whole stream, but has no dimensions that walk it", end)
    outputs, advance = dims[0]
    inner = dims[1:]
    span = next((dim.size for dim in inner if dim.stride == stream.size), 1)
    uses = window_uses(outputs, advance // stream.size, span, stream.objects, stream.before)
    for j, (taken, given) in enumerate(uses):
        yield Transfer(
            _buffer(view, end, pool.buffers[0]),
            advance * j,
            math.prod(dim.size for dim in inner),
            inner,
            (),
            *_locks(view, end, pool, 0, 0, taken, given),
        )


def window_uses(outputs: int, advance: int, span: int, count: int, before: int) -> list[tuple[int, int]]:
    """For each window in turn: how many objects it is the first to read, and how many no later one reads.

    outputs: windows over the stream. advance: objects from one window to the next. span: objects a window reads.
    count: objects that really arrive, after `before` zero objects that never do; only the former are counted.
    Objects between two windows, which none reads, are taken and given back with the next window.
    """

    def arriving(low: int, high: int) -> int:
        return max(0, min(high, before + count) - max(low, before))

    uses: list[tuple[int, int]] = []
    read = freed = 0
    for j in range(outputs):
        end = advance * j + span
        free = end if j + 1 == outputs else min(advance * (j + 1), end)
        uses.append((arriving(read, end), arriving(freed, free)))
        read, freed = end, free
    return uses


def _entry(table: Sequence[tuple[EntryT, ...]] | None, i: int) -> tuple[EntryT, ...]:
    return tuple(table[i]) if table else ()


def _buffer(view: FifoView, end: DmaEndpointOp, name: str) -> SSAValue:
    found = view.buffers.get(name)
    if found is None:
        raise Unready(f"uses pool '{end.pool}', whose buffer '{name}' does not exist", end)
    return found.result


def _locks(
    view: FifoView, end: DmaEndpointOp, pool: ObjectFifoPoolOp, segment: int, at: int, taken: int, given: int
) -> tuple[LockUse | None, LockUse | None]:
    """What a transfer of one segment of one buffer acquires and releases; amounts of 0 are nothing."""
    drains = end.role is Role.DRAINS
    if not view.target.semaphore_locks:
        names = pool.locks
        if at >= len(names):
            return None, None
        lock = _lock(view, end, names[at])
        return LockUse(lock, int(drains)), LockUse(lock, int(not drains))
    found = pool.segments[segment]
    take, give = found.produce_lock, found.consume_lock
    if drains:
        take, give = give, take
    return (
        LockUse(_lock(view, end, take), taken) if take is not None and taken else None,
        LockUse(_lock(view, end, give), given) if give is not None and given else None,
    )


def _lock(view: FifoView, end: DmaEndpointOp, name: str) -> SSAValue:
    found = view.locks.get(name)
    if found is None:
        raise Unready(f"uses pool '{end.pool}', whose lock '{name}' does not exist", end)
    return found.result


# --- chains -----------------------------------------------------------------------------------------------------------


def chain_of(view: FifoView, end: DmaEndpointOp) -> Chain:
    """The chain of an endpoint that has its channel for itself; no transfers where its pool has no buffers.

    Raises Unready when a name does not resolve or a packet header is not settled.
    """
    pool = view.pool_of(end)
    stream = pool.stream
    objects = objects_of(view, end)
    if stream is not None and end.role is Role.FILLS:
        return _stream_fill(end, stream, objects)
    repeats = (pool.repeat_count or 1) if end.role is Role.DRAINS else 1
    passes = 1
    if end.dispatch:
        if len(end.dispatch_packets) != len(end.dispatch):
            raise Unready("has no dispatchPackets; run --aie-objectfifo-allocate", end)
        passes = math.lcm(len(objects), len(end.dispatch)) // max(1, len(objects))
    counting = view.target.semaphore_locks
    iterations = end.iter_count
    single = sum(map(len, objects)) == 1
    if repeats > 1 and single and iterations is None and counting:
        # The hardware runs a queued chain of one descriptor again by itself.
        return Chain(_with_headers(end, objects * passes), repeats - 1, False, end.pad_value)
    if repeats > 1:
        objects = [_repeated(parts, repeats, counting) for parts in objects]
    transfers = _with_headers(end, objects * passes)
    runs = 0 if iterations is None else iterations // passes - 1
    return Chain(transfers, runs, iterations is not None, end.pad_value if end.role is Role.DRAINS else 0)


def _stream_fill(end: DmaEndpointOp, stream: Stream, objects: list[list[Transfer]]) -> Chain:
    """One descriptor that steps from object to object; a pass is the whole stream."""
    if not objects:
        return Chain(())
    one = replace(objects[0][0], iteration=(stream.objects, stream.size) if stream.objects > 1 else None)
    passes = end.iter_count
    return Chain(_with_headers(end, [[one]]), 0 if passes is None else passes * stream.objects - 1, passes is not None)


def _repeated(parts: list[Transfer], times: int, counting: bool) -> list[Transfer]:
    """The object that many times in a row, each time all of its parts: what arrives are whole objects.

    A counting lock holds a batch of `times`, of which each copy takes one. A binary lock cannot: the first copy
    takes it, the last gives it back.
    """
    copies: list[Transfer] = []
    for i in range(times):
        for part in parts:
            if counting:
                copies.append(part)
            else:
                acquire = part.acquire if i == 0 else None
                release = part.release if i == times - 1 else None
                copies.append(replace(part, acquire=acquire, release=release))
    return copies


def _with_headers(end: DmaEndpointOp, objects: Sequence[list[Transfer]]) -> tuple[Transfer, ...]:
    """The k-th object of a dispatching endpoint goes out under the header of its turn."""
    if end.dispatch:
        headers = end.dispatch_packets
        found = tuple(
            replace(part, packet=headers[k % len(headers)]) for k, parts in enumerate(objects) for part in parts
        )
    else:
        found = tuple(replace(part, packet=end.packet) for parts in objects for part in parts)
    if any(part.packet is not None and part.packet.pkt_id is None for part in found):
        raise Unready("has a packet header with no pkt_id; run --aie-assign-packet-ids", end)
    return found


def turns_chain(view: FifoView, first: DmaEndpointOp) -> Chain:
    """The one chain of endpoints that take turns on a channel, until all are back at their first object.

    Raises Unready when a name does not resolve, or when two of them pad with different values.
    """
    ends: dict[str, DmaEndpointOp] = {}
    for name in first.turns:
        end = view.stream_ends.get(name)
        assert isinstance(end, DmaEndpointOp), name
        ends[name] = end
    objects = {name: objects_of(view, end) for name, end in ends.items()}
    if not all(objects.values()):
        empty = next(name for name, parts in objects.items() if not parts)
        raise Unready(f"takes turns with '{empty}', whose pool has no buffers", first)
    often = Counter(first.turns)
    rounds = math.lcm(*(len(parts) // math.gcd(len(parts), often[name]) for name, parts in objects.items()))
    padding = {end.pad_value for end in ends.values() if end.role is Role.DRAINS and any(end.pad_dimensions or ())}
    if len(padding) > 1:
        values = ", ".join(map(str, sorted(padding)))
        raise Unready(f"takes turns with endpoints that pad with other values ({values}) on one channel", first)
    at = dict.fromkeys(ends, 0)
    transfers: list[Transfer] = []
    for name in list(first.turns) * rounds:
        parts = objects[name]
        transfers += parts[at[name]]
        at[name] = (at[name] + 1) % len(parts)
    return Chain(tuple(transfers), pad_value=max(padding, default=0))
