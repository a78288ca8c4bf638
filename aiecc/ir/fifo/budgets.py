"""Cores that release more objects than a bounded DMA will ever move."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation

from aiecc.ir.dialects.aie.access import ObjectFifoReleaseOp
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.pools import CoreEndpointOp, DmaEndpointOp
from aiecc.ir.fifo.view import FifoView
from aiecc.ir.fold.loops import trip_count

FOREVER = (1 << 24) - 2
"""A trip count from here on says that a loop is meant never to end."""


class Overspent(NamedTuple):
    """at: the first release that counts. released, budget: objects."""

    at: ObjectFifoReleaseOp
    end: CoreEndpointOp
    dma: DmaEndpointOp
    released: int
    budget: int


def overspent(view: FifoView, releases: Iterable[ObjectFifoReleaseOp]) -> list[Overspent]:
    """The core endpoints whose releases, those that are sure to happen, exceed what the pool's DMA moves."""
    bounded: dict[str, DmaEndpointOp] = {}
    for end in view.dma_ends():
        if end.iter_count is not None:
            bounded[end.pool] = end
    if not bounded:
        return []
    by_end: dict[str, list[ObjectFifoReleaseOp]] = {}
    for op in releases:
        by_end.setdefault(op.fifo_name, []).append(op)
    found: list[Overspent] = []
    for name, end in view.core_ends.items():
        dma, pool = bounded.get(end.pool), view.pools.get(end.pool)
        if dma is None or pool is None or "segments" in end.properties:
            continue
        counted = [(op, times * op.size) for op in by_end.get(name, ()) if (times := executions(op))]
        released, budget = sum(n for _, n in counted), (dma.iter_count or 0) * pool.depth
        if released > budget:
            found.append(Overspent(counted[0][0], end, dma, released, budget))
    return found


def executions(op: Operation) -> int | None:
    """How often an op of a core runs for sure: only loops of known, finite length are around it; None otherwise."""
    times = 1
    at: Operation = op
    while (parent := at.parent_op()) is not None:
        block = at.parent
        if block is None or block.parent is None or block is not block.parent.first_block:
            return None
        if isinstance(parent, CoreOp):
            return times
        trips = trip_count(parent) if isinstance(parent, ForOp) else None
        if trips is None or trips >= FOREVER:
            return None
        times *= trips
        at = parent
    return None
