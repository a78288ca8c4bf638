"""`aie-lower-dma-channel-reset` and `aie-lower-core-reset`: resets become pulses on control registers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aie.memory import LockOp
from aiecc.ir.dialects.aie.runtime import ObjectFifoRearmBindingOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileOp
from aiecc.ir.dialects.aiex.control import CoreResetOp, DmaChannelResetForOp, DmaChannelResetOp, SetLockOp
from aiecc.ir.dialects.aiex.lookup import symbol_in
from aiecc.ir.errors import VerifyError
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.runtime.emit import Before, i32
from aiecc.ir.runtime.report import said
from aiecc.ir.walk import all_in
from aiecc.model.targets import DmaDirection
from aiecc.npu.registers import CORE_CONTROL

RESET = 2
"""The reset bit of a channel's and of a core's control register."""


@dataclass(frozen=True)
class LowerDmaChannelReset(Pass):
    """A channel is reset by a pulse. For a fifo: all its channels, then its locks, then its channels start again."""

    name: ClassVar[str] = "aie-lower-dma-channel-reset"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Lower resets of DMA channels to register writes"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        for inner in all_in(op, DmaChannelResetForOp):
            said(sink, inner, lambda inner=inner: _rearm(inner, op))
        if not sink.failed:
            # Nothing else reads them.
            for binding in list(op.ops_of(ObjectFifoRearmBindingOp)):
                binding.detach()
                binding.erase()
        for inner in all_in(op, DmaChannelResetOp):
            said(sink, inner, lambda inner=inner: _reset(inner, op))


@dataclass(frozen=True)
class LowerCoreReset(Pass):
    """A core is reset by a pulse."""

    name: ClassVar[str] = "aie-lower-core-reset"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Lower resets of cores to register writes"

    def apply(self, op: Operation, sink: Sink) -> None:
        for inner in all_in(op, CoreResetOp):
            tile = inner.tile.owner
            if isinstance(tile, TileOp):
                _pulse(inner, tile, CORE_CONTROL)


def _pulse(op: Operation, tile: TileOp, register: int) -> None:
    """Set the reset bit, and take it back."""
    put = Before(op)
    place = {"column": i32(tile.col), "row": i32(tile.row)}
    for value in (RESET, 0):
        put.mask_write32(register, value, RESET, place)
    op.detach()
    op.erase()


def _reset(op: DmaChannelResetOp, device: DeviceOp) -> None:
    tile = op.tile.owner
    assert isinstance(tile, TileOp)
    direction = DmaDirection.S2MM if op.direction is Direction.S2MM else DmaDirection.MM2S
    control = device.target.channel_control(tile.col, tile.row, direction, op.channel)
    if control is None:
        raise VerifyError(f"tile ({tile.col}, {tile.row}) has no channel {op.channel} to reset", op)
    _pulse(op, tile, control - device.target.tile_base(tile.col, tile.row))


def _rearm(op: DmaChannelResetForOp, device: DeviceOp) -> None:
    found = symbol_in(device, op.fifo)
    if not isinstance(found, ObjectFifoRearmBindingOp):
        raise VerifyError(
            f"could not resolve '{op.fifo}' to an aie.objectfifo_rearm_binding; run "
            "--aie-objectFifo-stateful-transform first",
            op,
        )
    channels = list(zip(found.channel_tiles, found.channel_dirs, found.channel_indices, strict=True))
    if found.head_bd_ids_attr is None or found.repeat_counts_attr is None:
        raise VerifyError(
            f"objectFIFO re-arm binding '{op.fifo}' has no head_bd_ids/repeat_counts; run --aie-assign-bd-ids before "
            "this pass, or set them on the binding",
            op,
        )
    put = Before(op)
    for tile, direction, index in channels:
        put.put(
            DmaChannelResetOp.create(operands=[tile], properties={"direction": i32(direction), "channel": i32(index)})
        )
    for lock, value in zip(found.locks, found.lock_inits, strict=True):
        assert isinstance(lock.owner, LockOp)
        put.put(SetLockOp.create(operands=[lock], properties={"value": i32(value)}))
    starts = zip(channels, found.head_bd_ids, found.repeat_counts, strict=True)
    for (tile, direction, index), head, repeat in starts:
        owner = tile.owner
        assert isinstance(owner, TileOp)
        put.push(owner.coord, Direction(direction), index, head, repeat, False)
    op.detach()
    op.erase()
