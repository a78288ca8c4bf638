"""`aie-lower-set-lock`: a lock set by a sequence becomes a register write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.memory import LockOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.aiex.control import SetLockOp
from aiecc.ir.errors import VerifyError
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.runtime.emit import Before, i32
from aiecc.ir.runtime.report import said
from aiecc.ir.walk import all_in


@dataclass(frozen=True)
class LowerSetLock(Pass):
    """The lock has to have its number."""

    name: ClassVar[str] = "aie-lower-set-lock"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Lower aiex.set_lock to register writes"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        for inner in all_in(op, SetLockOp):
            said(sink, inner, lambda inner=inner: _lower(inner, op))


def _lower(op: SetLockOp, device: DeviceOp) -> None:
    lock = op.lock.owner
    tile = lock.tile_op if isinstance(lock, LockOp) else None
    if not isinstance(lock, LockOp) or lock.id is None or tile is None or tile.coord is None:
        raise VerifyError("Tried to lower a SetLockOp on an unassigned lock", op, bare=True)
    col, row = tile.coord
    address = device.target.lock_address(col, row, lock.id)
    if address is None:
        text = "Invalid lock ID and tile combination when trying to retrieve the local lock address."
        raise VerifyError(text, op)
    place = {"column": i32(col), "row": i32(row)}
    Before(op).write32(address - device.target.tile_base(col, row), op.value, place)
    op.detach()
    op.erase()
