"""Descriptors that go round for ever: what is started with them is never over."""

from __future__ import annotations

from xdsl.ir import Block

from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.chain_rules import descriptors, successors
from aiecc.ir.dialects.aie.cores import DmaProgram
from aiecc.ir.dialects.aie.dma import DmaStartOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.aiex.tasks import DmaConfigureTaskOp
from aiecc.ir.runtime.tasks import ChannelKey


def is_endless(task: DmaConfigureTaskOp) -> bool:
    """Whether a task is never over."""
    entry = task.body.blocks.first
    return entry is not None and _goes_round(entry)


def endless_starts(device: DeviceOp) -> dict[ChannelKey, DmaStartOp]:
    """The channels on which a device's own programs are never over, and where they are started."""
    found: dict[ChannelKey, DmaStartOp] = {}
    for program in device.block.ops:
        if not isinstance(program, DmaProgram) or program.coord is None:
            continue
        for op in program.walk():
            if isinstance(op, DmaStartOp) and op.index is not None and _goes_round(op.dest):
                found[program.coord, int(op.direction), op.index] = op
    return found


def _goes_round(first: Block) -> bool:
    """Whether the descriptors from a block on lead back to one of them, by blocks or by their numbers."""
    at: Block | None = first
    seen: set[Block] = set()
    while at is not None and at not in seen:
        seen.add(at)
        at = _after(at)
    return at is not None


def _after(block: Block) -> Block | None:
    """The block that follows a descriptor's; None where the chain ends, or goes on where nobody knows."""
    following = successors(block)
    if following:
        return following[0]
    number = next((op.next_bd_id for op in block.ops if isinstance(op, DmaBdOp)), None)
    if number is None or block.parent is None:
        return None
    return next((bd.parent for bd in descriptors(block.parent) if bd.bd_id == number), None)
