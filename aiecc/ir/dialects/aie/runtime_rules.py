"""What makes a shim allocation or a re-arm binding wrong."""

from __future__ import annotations

from aiecc.ir.dialects.aie.headers import verify_header
from aiecc.ir.dialects.aie.memory import LockOp
from aiecc.ir.dialects.aie.runtime import ObjectFifoRearmBindingOp, ShimDmaAllocationOp
from aiecc.ir.dialects.aie.tiles import TileOp


def verify_allocation(op: ShimDmaAllocationOp) -> None:
    tile = op.tile_op
    if tile is None:
        raise op.error("tile operand must implement TileLike interface")
    kind = tile.kind
    if kind is not None and not kind.is_shim:
        if tile.coord is not None:
            raise op.error(f"tile must be a shim tile, but got tile({tile.coord[0]}, {tile.coord[1]})")
        raise op.error("tile must be a shim tile")
    verify_header(op, "packet", op.packet_attr)


def verify_rearm(op: ObjectFifoRearmBindingOp) -> None:
    tiles, locks = len(op.channel_tiles), len(op.locks)
    if len(op.channel_dirs) != tiles:
        raise op.error(f"expected one channel_dirs entry per channel tile ({tiles} tiles, {len(op.channel_dirs)} dirs)")
    if len(op.channel_indices) != tiles:
        raise op.error(
            f"expected one channel_indices entry per channel tile ({tiles} tiles, {len(op.channel_indices)} indices)"
        )
    if len(op.lock_inits) != locks:
        raise op.error(f"expected one lock_inits entry per lock ({locks} locks, {len(op.lock_inits)} inits)")
    if (op.head_bd_ids_attr is None) != (op.repeat_counts_attr is None):
        raise op.error("head_bd_ids and repeat_counts must both be set or both be absent")
    if op.head_bd_ids_attr is not None:
        if len(op.head_bd_ids) != tiles:
            raise op.error(
                f"expected one head_bd_ids entry per channel tile ({tiles} tiles, {len(op.head_bd_ids)} ids)"
            )
        if len(op.repeat_counts) != tiles:
            raise op.error(
                f"expected one repeat_counts entry per channel tile ({tiles} tiles, {len(op.repeat_counts)} counts)"
            )
    for direction in op.channel_dirs:
        if direction not in (0, 1):
            raise op.error(f"channel_dirs entries must be 0 (S2MM) or 1 (MM2S), got {direction}")
    for value in op.channel_tiles:
        tile = value.owner
        if not isinstance(tile, TileOp):
            raise op.error("channel_tiles operands must be aie.tile values")
        if tile.kind is not None and tile.kind.is_shim:
            raise op.error(
                "channel_tiles must be non-shim tiles; a shim DMA endpoint is host-managed and is not re-armed here"
            )
    if any(not isinstance(value.owner, LockOp) for value in op.locks):
        raise op.error("locks operands must be aie.lock values")
