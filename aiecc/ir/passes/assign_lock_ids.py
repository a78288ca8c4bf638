"""`aie-assign-lock-ids`: every lock of a tile gets a number of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.memory import LockOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileOp
from aiecc.ir.dialects.constraints import I32
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.passes.report import op_error


@dataclass(frozen=True)
class AssignLockIds(Pass):
    """Numbers the author chose are kept; the others get the lowest free ones of their tile, in program order."""

    name: ClassVar[str] = "aie-assign-lock-ids"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Give every lock an id"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        by_place: dict[tuple[int, int], list[tuple[TileOp, LockOp]]] = {}
        for inner in op.walk():
            if isinstance(inner, LockOp) and isinstance(tile := inner.tile_op, TileOp):
                by_place.setdefault(tile.coord, []).append((tile, inner))
        for place, locks in by_place.items():
            kind = op.target.tile_kind(*place)
            _number(locks, op.target.lock_count(kind) if kind else 0, sink)


def _number(locks: list[tuple[TileOp, LockOp]], count: int, sink: Sink) -> None:
    """Number the locks of one tile. One error a tile: what follows from it would only repeat it."""
    taken: set[int] = set()
    for tile, lock in locks:
        if lock.id is None:
            continue
        if lock.id in taken:
            text = f"is assigned to the same lock ({lock.id}) as another op"
            op_error(sink, lock, text, [("tile has lock ops assigned to same lock", tile)])
            return
        taken.add(lock.id)
    free = _free(taken, count)
    for tile, lock in locks:
        if lock.id is not None:
            continue
        number = next(free, None)
        if number is None:
            op_error(sink, lock, "not allocated a lock", [(f"because only {count} locks available in this tile", tile)])
            return
        lock.properties["lockID"] = IntegerAttr(number, I32)


def _free(taken: set[int], count: int) -> Iterator[int]:
    return (number for number in range(count) if number not in taken)
