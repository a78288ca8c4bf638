"""Segments of a pool's object, as endpoints select them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntAttr, MemRefType, NoneAttr, StridedLayoutAttr
from xdsl.ir import Attribute

from aiecc.ir.dialects.aie.memory import element_count
from aiecc.ir.dialects.aie.pools import ObjectFifoPoolOp, ObjectFifoSegmentOp


def selected(pool: ObjectFifoPoolOp, names: Sequence[str]) -> list[ObjectFifoSegmentOp]:
    """The segments an endpoint names; the only one when it names none."""
    segments = pool.segments
    if not names:
        return segments if len(segments) == 1 else []
    by_name = {s.symbol: s for s in segments}
    return [by_name[n] for n in names if n in by_name]


def seen_type(pool: ObjectFifoPoolOp, names: Sequence[str]) -> Attribute | None:
    """The memref through which an endpoint sees its segments: the object, or a strided run of its elements."""
    chosen = selected(pool, names)
    if not chosen:
        return None
    whole = pool.elem_type
    offset, size = chosen[0].offset, sum(s.size for s in chosen)
    if offset == 0 and size == element_count(whole):
        return whole
    layout = StridedLayoutAttr([IntAttr(1)], IntAttr(offset) if offset else NoneAttr())
    if offset == 0:
        return MemRefType(whole.element_type, [size], memory_space=whole.memory_space)
    return MemRefType(whole.element_type, [size], layout, whole.memory_space)
