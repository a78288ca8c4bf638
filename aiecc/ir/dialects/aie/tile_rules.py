"""Rules that several subjects share: what kind of tile an op stands on, and what may reach what."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from aiecc.ir.dialects.aie.tiles import placed, target_of, tile_like
from aiecc.ir.dialects.base import DialectOp
from aiecc.model.targets import TileKind

CORE = ("a core tile", (TileKind.CORE,))
MEM = ("a MemTile", (TileKind.MEM,))
LOCAL_MEMORY = ("a tile with local memory", (TileKind.CORE, TileKind.MEM))
SHIM = ("a shim tile", (TileKind.SHIM_NOC, TileKind.SHIM_PL))
SHIM_NOC = ("a shim tile with NOC connection", (TileKind.SHIM_NOC,))

Kind = tuple[str, tuple[TileKind, ...]]

# A tile by itself, a template that is checked where it is used, and a task whose tile is known once its end is.
_UNCHECKED = ("aie.logical_tile", "aie.bd_chain", "aiex.dma_configure_task_for")


def verify_tile_kind(op: DialectOp, tile: SSAValue, kind: Kind) -> None:
    """Refuse an op on the wrong kind of tile. A tile off the array has an error of its own."""
    owner = tile_like(tile)
    found = owner.kind if owner is not None else None
    if found is not None and found not in kind[1]:
        raise op.error(f"failed to verify that op exists in {kind[0]}")


def _stands_on(op: Operation) -> SSAValue | None:
    """The tile of an op that is about one: a core, a DMA program, a switch, a task."""
    tile = getattr(op, "tile", None)
    return tile if isinstance(tile, SSAValue) and op.regions else None


def _accessor(user: Operation) -> SSAValue | None:
    """The tile of the closest op around a user (or of the user itself) that stands on one."""
    at: Operation | None = user
    while at is not None:
        tile = _stands_on(at) if at is not user else getattr(at, "tile", None)
        if isinstance(tile, SSAValue):
            return tile
        at = at.parent_op()
    return None


def _is_unchecked(user: Operation) -> bool:
    at: Operation | None = user
    while at is not None:
        if at.name in _UNCHECKED:
            return True
        at = at.parent_op()
    return False


# These know the tile of a lock or buffer by the lock or buffer itself.
_SELF_PLACED = ("aiex.set_lock", "aie.objectfifo_rearm_binding")


def verify_accessible(op: DialectOp, tile: SSAValue) -> None:
    """Every use of a buffer or lock stands on a tile that reaches it."""
    home = placed(tile)
    if home is None:
        return
    target = target_of(op)
    for use in op.results[0].uses:
        user = use.operation
        parent = user.parent_op()
        if parent is None or parent.name in ("aie.device", "builtin.module") or _is_unchecked(user):
            continue
        if user.name in _SELF_PLACED:
            continue
        accessor = _accessor(user)
        if accessor is None:
            if user.name.startswith("aiex."):
                continue
            raise op.error("is accessed outside of a tile", [("user", user)])
        at = placed(accessor)
        # A tile reaches itself, even one off the array: that is told at the tile.
        if at is None or at.coord == home.coord or target.reaches_lock(at.coord, home.coord):
            continue
        raise op.error(
            f"in Column {home.col} and Row {home.row} is accessed from an unreachable tile in Column {at.col} and "
            f"Row {at.row}",
            [("user", user)],
        )


def is_tile(value: SSAValue) -> bool:
    """Whether a value is a tile, placed or logical."""
    return tile_like(value) is not None
