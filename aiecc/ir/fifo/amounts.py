"""How much an endpoint moves."""

from __future__ import annotations

import math
from collections.abc import Sequence

from aiecc.ir.dialects.aie.attrs import BdDim, BdPad
from aiecc.ir.dialects.aie.pools import DmaEndpointOp, ObjectFifoSegmentOp


def segment_amount(size: int, dims: Sequence[BdDim] = (), pads: Sequence[BdPad] = ()) -> int:
    """Elements on the stream for one segment: as many as its layout names, padding included."""
    if not dims:
        return size
    if len(pads) != len(dims):
        return math.prod(dim.size for dim in dims)
    return math.prod(dim.size + pad.before + pad.after for dim, pad in zip(dims, pads, strict=True))


def object_amount(end: DmaEndpointOp, segments: Sequence[ObjectFifoSegmentOp]) -> int:
    """Elements on the stream for one object.

    segments: those the endpoint selects.
    """
    dims, pads = end.dimensions or (), end.pad_dimensions or ()
    return sum(
        segment_amount(segment.size, dims[i] if i < len(dims) else (), pads[i] if i < len(pads) else ())
        for i, segment in enumerate(segments)
    )
