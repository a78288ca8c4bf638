"""Whether a fifo's objects stay in memory that both ends reach, or DMAs carry them; and in whose memory they lie."""

from __future__ import annotations

from xdsl.ir import SSAValue

from aiecc.ir.dialects.aie.enums import TransportMode
from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.ir.dialects.aie.fifo_rules import stream_ends
from aiecc.ir.dialects.aie.links import ObjectFifoAllocateOp
from aiecc.ir.dialects.aie.tiles import target_of, tile_like
from aiecc.model.targets import Sharing, TileKind

LINKED = "it is linked through a tile's DMAs"


def sharing(a: SSAValue, b: SSAValue) -> Sharing:
    """Which of two tiles' memories cores on both of them reach. Nobody's where a tile has no core.

    Memory tiles next to each other reach one another's memory, but only with DMAs: no core could fill or drain a pool
    there.
    """
    first, second = tile_like(a), tile_like(b)
    if first is None or second is None or first.coord is None or second.coord is None:
        return Sharing.NONE
    if first.kind is not TileKind.CORE:
        return Sharing.NONE
    return target_of(first).shared(first.coord, second.coord)


def reaches(tile: SSAValue, owner: SSAValue) -> bool:
    """Whether a tile addresses the memory of another one."""
    near, far = tile_like(tile), tile_like(owner)
    if near is None or far is None or near.coord is None or far.coord is None:
        return False
    return target_of(near).shared(far.coord, near.coord) in (Sharing.FIRST, Sharing.EITHER)


def delegate_reached(fifo: ObjectFifoOp, allocate: ObjectFifoAllocateOp) -> bool:
    """Whether both ends of a fifo address the memory of the tile that an allocate names."""
    ends = (fifo.producer, *fifo.consumers[:1])
    return all(reaches(end, allocate.delegate) for end in ends)


def why_dmas(fifo: ObjectFifoOp, *, linked: bool) -> str | None:
    """Why a fifo needs DMAs, in words that go on `but ..`; None where it can do with shared memory.

    linked: it is part of a link and shares no memory with the link's pool.
    """
    if fifo.transport.mode is TransportMode.DMA:
        return "it asks for a dma transport"
    if fifo.repeat_count is not None:
        return "it repeats objects (`repeat_count`)"
    if stream_ends(fifo):
        return "an end is a Core stream port"
    if fifo.consumer_elem_type_attr is not None:
        return "its consumer takes a different element type"
    if len(fifo.consumers) > 1:
        return "it has more than one consumer"
    if fifo.dims_to_stream.data:
        return "its producer reshapes the data (`dimensionsToStream`)"
    if not fifo.consumers or sharing(fifo.producer, fifo.consumers[0]) is Sharing.NONE:
        return "its ends share no memory module"
    if any(fifo.dims_from_stream):
        return "a consumer reshapes the data (`dimensionsFromStream`)"
    return LINKED if linked else None


def home(fifo: ObjectFifoOp, allocate: ObjectFifoAllocateOp | None) -> SSAValue:
    """The tile whose memory holds the objects of a fifo that needs no DMAs."""
    if allocate is not None:
        return allocate.delegate
    consumer = fifo.consumers[0]
    return consumer if sharing(fifo.producer, consumer) is Sharing.SECOND else fifo.producer
