"""`iter_count`: chains that stop after some passes, and whether both ends of a fifo then have moved as much."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.enums import Role
from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.ir.dialects.aie.pools import DmaEndpointOp, ObjectFifoPoolOp
from aiecc.ir.dialects.aie.segments import selected
from aiecc.ir.dialects.aie.tiles import target_of
from aiecc.ir.fifo.amounts import object_amount
from aiecc.ir.fifo.view import StreamEnd
from aiecc.ir.passes.report import op_error, warning

MOST_PASSES = 256
"""A start queue repeats a chain 255 times."""


def elements_moved(end: DmaEndpointOp, pool: ObjectFifoPoolOp) -> int | None:
    """Elements an end has moved when its chain stops; None where it does not stop."""
    if end.iter_count is None:
        return None
    if pool.stream is not None and end.role is Role.FILLS:
        return end.iter_count * pool.stream.objects * pool.stream.size
    objects = pool.depth * end.iter_count
    if end.role is Role.DRAINS:
        objects *= pool.repeat_count or 1
    return objects * object_amount(end, selected(pool, end.segments))


def _cannot_count(end: StreamEnd) -> bool:
    if not isinstance(end, DmaEndpointOp) or (end.iter_count or 1) == 1:
        return False
    tile = end.tile_op
    dma = target_of(end).dma(tile.kind) if tile is not None and tile.kind is not None else None
    return dma is not None and not dma.repeat_max


def check_passes(
    fifo: ObjectFifoOp,
    source: StreamEnd,
    ends: Iterable[StreamEnd],
    pools: Mapping[str, ObjectFifoPoolOp],
    sink: Sink,
) -> None:
    """Say where the ends of a bounded fifo cannot finish together. Ends without a pool, and shared ones, pass."""
    if fifo.iter_count is None:
        return
    if any(_cannot_count(end) for end in (source, *ends)):
        text = f"`iter_count` {fifo.iter_count} cannot be had: a DMA of this device runs once or for ever"
        op_error(sink, fifo, text)
        return
    own = [end for end in ends if isinstance(end, DmaEndpointOp) and end.fifo_name == fifo.symbol and end.pool in pools]
    for end in own:
        if end.iter_count is not None and end.iter_count > MOST_PASSES:
            text = (
                f"`iter_count` {fifo.iter_count} times `repeat_count` {fifo.repeat_count} makes {end.iter_count} "
                f"passes at the receiving end, whose DMA counts at most {MOST_PASSES}"
            )
            op_error(sink, fifo, text)
            return
    if not isinstance(source, DmaEndpointOp) or source.fifo_name != fifo.symbol or source.pool not in pools:
        return
    sent = elements_moved(source, pools[source.pool])
    for end in own:
        taken = elements_moved(end, pools[end.pool])
        if sent is not None and taken is not None and sent != taken:
            warning(
                sink,
                fifo,
                f"`iter_count` lets each end make its passes over a pool of its own: @{source.symbol} stops after "
                f"{sent} elements and @{end.symbol} after {taken}, so one of them waits forever",
                todo="state depths that hold equally many elements at both ends, or leave `iter_count` out",
            )
            return
