"""`aie-localize-locks`: in a core, a lock becomes the number under which that core knows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, Use

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.memory import LockOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileOp
from aiecc.ir.dialects.constraints import INDEX
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.passes.report import op_error
from aiecc.ir.spans import copy_span
from aiecc.model.targets import Target


@dataclass(frozen=True)
class LocalizeLocks(Pass):
    """A core sees the locks of four memories in four windows of one number space.

    Uses of a lock inside a core are replaced by an `index` constant at the top of that core.
    """

    name: ClassVar[str] = "aie-localize-locks"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Replace locks in cores by the core's own numbers for them"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        locks = [lock for lock in op.walk() if isinstance(lock, LockOp)]
        tiles = {tile: i for i, tile in enumerate(t for t in op.ops_of(TileOp))}
        # Each constant goes to the very top, so the last one made comes first in print: tiles from the last to the
        # first, and within a tile the locks in program order.
        locks.sort(key=lambda lock: tiles.get(lock.tile_op, -1) if lock.tile_op else -1)
        for _, group in _by_tile(locks):
            for lock in reversed(group):
                _localize(lock, op.target, sink)


def _by_tile(locks: Iterable[LockOp]) -> Iterable[tuple[Operation | None, list[LockOp]]]:
    groups: dict[Operation | None, list[LockOp]] = {}
    for lock in locks:
        groups.setdefault(lock.tile_op, []).append(lock)
    return groups.items()


def _localize(lock: LockOp, target: Target, sink: Sink) -> None:
    per_core: dict[CoreOp, list[Use]] = {}
    for use in lock.result.uses:
        core = core_around(use.operation)
        if core is not None:
            per_core.setdefault(core, []).append(use)
    for core, uses in per_core.items():
        number = local_number(lock, core, target, sink)
        if number is None:
            return
        constant = ConstantOp(IntegerAttr(number, INDEX))
        copy_span(lock, constant)
        block = core.body.blocks[0]
        if block.first_op is None:
            block.add_op(constant)
        else:
            block.insert_op_before(constant, block.first_op)
        for use in uses:
            use.operation.operands[use.index] = constant.result


def core_around(op: Operation) -> CoreOp | None:
    """The core an op runs on; None outside cores."""
    at = op.parent_op()
    while at is not None and not isinstance(at, CoreOp):
        at = at.parent_op()
    return at


def local_number(lock: LockOp, core: CoreOp, target: Target, sink: Sink) -> int | None:
    """The number under which a core knows a lock. None, and an error, if it has none."""
    if lock.id is None:
        op_error(sink, lock, "has no id yet; run --aie-assign-lock-ids first")
        return None
    tile = lock.tile_op
    if core.coord is None or tile is None or tile.coord is None:
        op_error(sink, lock, "is used by a core although its tile has no place yet", [("user", core)])
        return None
    number = target.core_lock(core.coord, tile.coord, lock.id)
    if number is None:
        at, there = core.coord, tile.coord
        text = f"in Column {there[0]} and Row {there[1]} is accessed from an unreachable tile in "
        op_error(sink, lock, f"{text}Column {at[0]} and Row {at[1]}", [("user", core)])
    return number
