"""Descriptor ids that runtime sequences name: whoever else gives ids out leaves those alone while there are others."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from aiecc.ir.dialects.aie.chain_rules import descriptors
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp, ShimDmaAllocationOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileLike
from aiecc.ir.dialects.aiex.tasks import DmaConfigureTaskForOp, DmaConfigureTaskOp
from aiecc.ir.dialects.aiex.transfers import NpuDmaMemcpyNdOp, NpuWriteBdOp
from aiecc.ir.runtime.allocations import allocations
from aiecc.model.targets import Tile


def pinned_ids(device: DeviceOp) -> dict[Tile, set[int]]:
    """The ids by tile that tasks, transfers and descriptors written by register ask for by number."""
    found: dict[Tile, set[int]] = {}
    names = allocations(device)
    for sequence in device.ops_of(RuntimeSequenceOp):
        for op in sequence.walk():
            for tile, number in _asked(op, names):
                found.setdefault(tile, set()).add(number)
    return found


def _asked(op: Operation, names: dict[str, ShimDmaAllocationOp]) -> Iterator[tuple[Tile, int]]:
    if isinstance(op, NpuWriteBdOp):
        yield (op.field("column"), op.field("row")), op.field("bd_id")
    elif isinstance(op, NpuDmaMemcpyNdOp):
        tile = _coord(names.get(op.metadata))
        if tile is not None:
            yield tile, op.id
    elif isinstance(op, DmaConfigureTaskOp | DmaConfigureTaskForOp):
        tile = _coord(names.get(op.alloc) if isinstance(op, DmaConfigureTaskForOp) else op)
        ids = [bd.bd_id for bd in descriptors(op.body) if bd.bd_id is not None]
        yield from ((tile, number) for number in ids if tile is not None)


def _coord(op: ShimDmaAllocationOp | DmaConfigureTaskOp | None) -> Tile | None:
    tile: TileLike | None = op.tile_op if op is not None else None
    return tile.coord if tile is not None else None
