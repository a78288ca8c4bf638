"""DMA programs as short texts: what a channel does, descriptor by descriptor.

`AGE full 1 | b0 0+16 | REL free 1`: acquire, buffer with offset and length, release; between them, where present,
`pkt(type,id)`, `[size*stride ..]`, `pad[before:after ..]`, `iter(times*stride)`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Block, Operation

from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.cores import DmaProgram
from aiecc.ir.dialects.aie.dma import DmaBdPacketOp, DmaStartOp, NextBdOp
from aiecc.ir.dialects.aie.enums import LockAction
from aiecc.ir.dialects.aie.memory import UseLockOp
from aiecc.ir.dialects.aie.tiles import EndOp

_ACTIONS = {
    LockAction.ACQUIRE: "ACQ",
    LockAction.ACQUIRE_GREATER_EQUAL: "AGE",
    LockAction.RELEASE: "REL",
}


@dataclass
class Told:
    """A channel. `back`: the descriptor that the last one goes on with; None when it ends."""

    bds: list[str] = field(default_factory=list)
    back: int | None = None
    repeat: int = 0
    pad_value: int = 0


def programs(root: Operation) -> dict[str, Told]:
    """Every channel, `0,2 MM2S 0`, in the order the programs start them.

    Fails when a channel is not reached from its program's first block, or a block does not belong to any.
    """
    found: dict[str, Told] = {}
    for op in root.walk():
        if isinstance(op, DmaProgram):
            place = ",".join(map(str, op.coord or ("?", "?")))
            blocks = list(op.regions[0].blocks)
            for start in _starts(blocks[0]):
                found[f"{place} {start.direction.word} {start.index}"] = _told(start)
            written = [s for block in blocks for s in block.ops if isinstance(s, DmaStartOp)]
            assert len(written) == len(list(_starts(blocks[0]))), "a channel is never started"
    return found


def _starts(block: Block) -> list[DmaStartOp]:
    found: list[DmaStartOp] = []
    while isinstance(block.last_op, DmaStartOp):
        found.append(block.last_op)
        block = block.last_op.chain
    assert isinstance(block.last_op, EndOp)
    return found


def _told(start: DmaStartOp) -> Told:
    told = Told(repeat=start.repeat_count, pad_value=start.pad_value)
    seen: list[Block] = []
    block = start.dest
    while block not in seen:
        last = block.last_op
        if isinstance(last, EndOp):
            assert len(list(block.ops)) == 1
            return told
        assert isinstance(last, NextBdOp)
        seen.append(block)
        told.bds.append(" | ".join(part for op in block.ops if (part := _part(op))))
        block = last.dest
    told.back = seen.index(block)
    return told


def _part(op: Operation) -> str:
    if isinstance(op, UseLockOp):
        assert op.lock_op is not None
        return f"{_ACTIONS[op.action]} {op.lock_op.symbol} {op.constant}"
    if isinstance(op, DmaBdPacketOp):
        return f"pkt({op.packet_type},{op.packet_id})"
    if not isinstance(op, DmaBdOp):
        return ""
    assert op.buffer_op is not None
    text = f"{op.buffer_op.symbol} {op.offset}+{op.given_len}"
    if op.sizes:
        text += f" [{' '.join(f'{n}*{s}' for n, s in zip(op.sizes, op.strides or (), strict=True))}]"
    if op.pad_dimensions is not None:
        text += f" pad[{' '.join(f'{pad.before}:{pad.after}' for pad in op.pad_dimensions.data)}]"
    if op.iteration is not None:
        size, stride, current = op.iteration.data
        assert current == 0
        text += f" iter({size}*{stride})"
    return text
