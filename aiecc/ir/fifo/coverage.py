"""Whether fifos move whole objects: layouts that name other amounts, slices of links that fit no object."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.enums import Role
from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.ir.dialects.aie.pools import DmaEndpointOp, ObjectFifoPoolOp
from aiecc.ir.dialects.aie.segments import selected
from aiecc.ir.dialects.aie.windows import object_size
from aiecc.ir.fifo.declared import Link
from aiecc.ir.fifo.view import StreamEnd
from aiecc.ir.passes.report import warning


def check_layouts(
    fifo: ObjectFifoOp, ends: Iterable[StreamEnd], pools: Mapping[str, ObjectFifoPoolOp], sink: Sink
) -> None:
    """Warn, once for each end, of a layout that names more or fewer elements than its descriptors move.

    A descriptor moves a whole segment, whatever the product of its layout's sizes; with padding, what both name.
    """
    for end in ends:
        if not isinstance(end, DmaEndpointOp) or end.fifo_name != fifo.symbol or end.pool not in pools:
            continue
        pool = pools[end.pool]
        sends = end.role is Role.DRAINS
        if pool.stream is not None:
            continue
        pads = end.pad_dimensions or ()
        for i, (segment, dims) in enumerate(zip(selected(pool, end.segments), end.dimensions or (), strict=False)):
            named = math.prod(dim.size for dim in dims)
            if not dims or named == segment.size or (i < len(pads) and pads[i]):
                continue
            what = "dimensionsToStream" if sends else "dimensionsFromStream"
            text = f"`{what}` names {named} elements, but its DMA moves {segment.size} at a time"
            warning(sink, fifo, text, todo=f"let the product of its sizes be {segment.size}")
            break


def check_slices(link: Link, sink: Sink) -> None:
    """Warn of participants of a join or distribute whose slices of each object are no whole number of their own."""
    if link.pool is None or not (link.is_join or link.is_distribute):
        return
    many: Sequence[ObjectFifoOp] = link.ins if link.is_join else link.outs
    for fifo, segment in zip(many, link.pool.segments, strict=False):
        own = object_size(fifo, taken=link.is_join)
        if not own or segment.size % own == 0 or (link.is_distribute and fifo.pads is not None):
            continue
        text = (
            f"the offsets of its link give this fifo {segment.size} elements of each object, which are no whole number "
            f"of its own objects of {own}"
        )
        warning(sink, fifo, text, [("the link is here", link.op)])
