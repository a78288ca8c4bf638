"""Descriptor ids that are spoken for: those that runtime sequences name, and those of the tiles' own programs. Whoever
else gives ids out leaves the first alone while there are others, and the second in any case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation

from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.chain_rules import descriptors
from aiecc.ir.dialects.aie.cores import DmaProgram
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp, ShimDmaAllocationOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileLike, TileOp
from aiecc.ir.dialects.aiex.tasks import DmaConfigureTaskForOp, DmaConfigureTaskOp
from aiecc.ir.dialects.aiex.transfers import NpuDmaMemcpyNdOp, NpuWriteBdOp
from aiecc.ir.runtime.allocations import allocations
from aiecc.ir.walk import ops_in
from aiecc.model.targets import Tile

RESERVED = "aiex.reserved_bd_ids"
"""On a tile: ids that sequences leave alone."""


def reserved_ids(device: DeviceOp) -> dict[Tile, set[int]]:
    """The ids of the tiles' own DMA programs, and those kept back by hand."""
    found: dict[Tile, set[int]] = {}
    for op in device.block.ops:
        if isinstance(op, DmaProgram) and op.coord is not None:
            ids = {bd.bd_id for bd in op.walk() if isinstance(bd, DmaBdOp) and bd.bd_id is not None}
            found.setdefault(op.coord, set()).update(ids)
        elif isinstance(op, TileOp):
            kept = op.attributes.get(RESERVED)
            if isinstance(kept, DenseArrayBase):
                found.setdefault(op.coord, set()).update(int(n) for n in kept.get_values())
    return found


def pinned_ids(device: DeviceOp) -> dict[Tile, set[int]]:
    """The ids by tile that a device's sequences ask for by number."""
    ops = [op for sequence in device.ops_of(RuntimeSequenceOp) for op in ops_in(sequence)]
    return asked_for(ops, allocations(device))


def asked_for(ops: Iterable[Operation], names: dict[str, ShimDmaAllocationOp]) -> dict[Tile, set[int]]:
    """The ids by tile that tasks, transfers and descriptors written by register ask for by number."""
    found: dict[Tile, set[int]] = {}
    for op in ops:
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
