"""What makes a DMA task or a use of one wrong, in the order the checks are made."""

from __future__ import annotations

from xdsl.ir import Block, Operation

from aiecc.ir.dialects.aie.bd_rules import BURST_ON_SHIM, verify_out_of_order_id
from aiecc.ir.dialects.aie.chain_rules import descriptors, verify_arguments, verify_chain
from aiecc.ir.dialects.aie.headers import verify_header
from aiecc.ir.dialects.aie.runtime import ShimDmaAllocationOp
from aiecc.ir.dialects.aie.tiles import TileLike, target_of
from aiecc.ir.dialects.aiex.lookup import allocation, dma_of, verify_in_sequence
from aiecc.ir.dialects.aiex.tasks import (
    DmaConfigureTaskForOp,
    DmaConfigureTaskOp,
    DmaStartBdChainForOp,
    DmaStartBdChainOp,
    StartChain,
)
from aiecc.ir.dialects.base import DialectOp
from aiecc.model.targets import TileKind

ITERATION = (
    "the iteration attribute is not supported on the runtime-sequence path; express iteration via the outermost "
    "sizes/strides dimension instead"
)


def verify_configure(op: DmaConfigureTaskOp) -> None:
    verify_in_sequence(op)
    verify_header(op, "packet", op.packet_attr)
    tile = op.tile_op
    if tile is not None and tile.coord is not None:
        _verify_lists(op, tile)
    verify_chain(op.body)
    _verify_bus(op, tile)
    _verify_channel(op, tile, op.channel)


def verify_configure_for(op: DmaConfigureTaskForOp) -> None:
    verify_in_sequence(op)
    found = allocation(op, op.alloc)
    tile = found.tile_op if found is not None else None
    if tile is not None and tile.coord is not None:
        _verify_lists(op, tile)
    verify_chain(op.body)
    _verify_channel_of(op, found)


def _verify_channel_of(op: DialectOp, found: ShimDmaAllocationOp | None) -> None:
    """The channel that a name stands for exists; names that are not declared are left for passes to refuse."""
    if found is not None and not found.plio:
        _verify_channel(op, found.tile_op, found.channel)


def _verify_lists(op: DmaConfigureTaskOp | DmaConfigureTaskForOp, tile: TileLike) -> None:
    dma = dma_of(op, tile.kind)
    for bd in descriptors(op.body):
        sizes, strides = bd.mixed_sizes, bd.mixed_strides
        if len(sizes) != len(strides):
            raise bd.error(f"expected the same number of sizes ({len(sizes)}) and strides ({len(strides)})")
        if bd.iteration is not None:
            raise bd.error(ITERATION)
        if dma is None:
            continue
        # The iteration of a descriptor is one dimension more, but for memory tiles, which count it.
        most = dma.dims + (tile.kind is not TileKind.MEM)
        if len(sizes) > most:
            raise bd.error(
                f"Cannot give more than {most} dimensions for step sizes and wraps on this tile "
                f"(got {len(sizes)} dimensions)."
            )


def _verify_bus(op: DmaConfigureTaskOp, tile: TileLike | None) -> None:
    kind = tile.kind if tile is not None else None
    dma = dma_of(op, kind)
    for bd in descriptors(op.body):
        if bd.burst_length and kind is not None and kind is not TileKind.SHIM_NOC:
            raise bd.error(BURST_ON_SHIM)
        if bd.out_of_order_id is not None and dma is not None:
            packet = bd.packet_attr is not None or op.packet_attr is not None
            verify_out_of_order_id(bd, target_of(op), dma.ooo_bd_max, packet)


def _verify_channel(op: DialectOp, tile: TileLike | None, channel: int) -> None:
    if tile is None or tile.coord is None or tile.kind is None:
        return
    dma = dma_of(op, tile.kind)
    col, row = tile.coord
    if dma is None:
        raise op.error(f"tile ({col}, {row}) has no DMA")
    if not 0 <= channel < dma.channels:
        raise op.error(
            f"channel {channel} out of range for this tile and direction (tile has {dma.channels} DMA channel(s) in "
            "this direction)"
        )


def verify_start_chain(op: StartChain) -> None:
    """The chain exists and takes these arguments."""
    verify_arguments(op, op.symbol, len(op.operands) - isinstance(op, DmaStartBdChainOp))
    if isinstance(op, DmaStartBdChainOp):
        _verify_channel(op, op.tile_op, op.channel)
    elif isinstance(op, DmaStartBdChainForOp):
        _verify_channel_of(op, allocation(op, op.alloc))


def verify_on_task(op: DialectOp) -> None:
    verify_in_sequence(op)


def is_task(op: Operation | Block) -> bool:
    """Whether a task's value comes from here."""
    return isinstance(op, DmaConfigureTaskOp | DmaConfigureTaskForOp | StartChain)
