"""DMA programs of a design as descriptor chains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.ir import Block, SSAValue

from aiecc.base.diag import refuse
from aiecc.base.spans import Span
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.cores import DmaProgram
from aiecc.ir.dialects.aie.dma import DmaBdPacketOp, DmaOp, DmaStartOp, NextBdOp
from aiecc.ir.dialects.aie.enums import Direction, LockAction
from aiecc.ir.dialects.aie.memory import UseLockOp, element_bits
from aiecc.ir.spans import span_of
from aiecc.model.targets import Target
from aiecc.sim.dma import Descriptor, LockStep, Program
from aiecc.sim.locks import Lock
from aiecc.sim.memory import Buffer
from aiecc.sim.pattern import Pattern

Tile = tuple[int, int]


@dataclass(frozen=True)
class Channel:
    """One channel of a tile and what it does."""

    tile: Tile
    direction: Direction
    index: int
    program: Program
    span: Span | None


@dataclass(frozen=True)
class _Place:
    """Where descriptors stand: for what they may reach."""

    tile: Tile
    index: int
    target: Target
    buffers: Mapping[SSAValue, Buffer]
    locks: Mapping[SSAValue, Lock]


def channels(
    op: DmaProgram, tile: Tile, target: Target, buffers: Mapping[SSAValue, Buffer], locks: Mapping[SSAValue, Lock]
) -> Iterator[Channel]:
    """The channels a tile's DMA program starts, in the order it starts them. Starts that lead back to one before them
    end the program: every start counts once.
    """
    region = op.regions[0]
    for inner in region.blocks[0].ops:
        if isinstance(inner, DmaOp):
            yield _listed(inner, tile, _Place(tile, inner.channel_index, target, buffers, locks))
    block = region.blocks[0]
    seen: set[Block] = set()
    while block not in seen and isinstance(start := block.last_op, DmaStartOp):
        seen.add(block)
        index = start.index
        if index is None:
            refuse("the channel of this DMA program is not chosen yet", span_of(start))
        if start.out_of_order:
            refuse("the array model cannot execute out-of-order descriptors", span_of(start))
        place = _Place(tile, index, target, buffers, locks)
        chain = _chain(start.successors[0], place)
        program = Program(chain, start.repeat_count + 1, tile, start.pad_value)
        yield Channel(tile, start.direction, index, program, span_of(start))
        block = start.successors[1]


def _listed(op: DmaOp, tile: Tile, place: _Place) -> Channel:
    """`aie.dma`: descriptors in a list, which starts over when it loops."""
    if op.out_of_order:
        refuse("the array model cannot execute out-of-order descriptors", span_of(op))
    found = [_descriptor(region.block, place) for region in op.regions]
    for at in range(len(found) - 1):
        found[at].next = at + 1
    rounds = op.repeat_count + 1
    if op.loop and found:
        found[-1].next = 0
    return Channel(tile, op.direction, op.channel_index, Program(found, rounds, tile, op.pad_value), span_of(op))


def _chain(first: Block, place: _Place) -> list[Descriptor]:
    """The descriptors from a block on, in the order they come; the last may lead back to an earlier one."""
    found: list[Descriptor] = []
    numbers: dict[Block, int] = {}
    block: Block | None = first
    while block is not None and block not in numbers:
        last = block.last_op
        follows = isinstance(last, NextBdOp)
        if not follows and not any(isinstance(op, DmaBdOp | UseLockOp) for op in block.ops):
            break
        if found:
            found[-1].next = len(found)
        numbers[block] = len(found)
        found.append(_descriptor(block, place))
        block = last.successors[0] if follows else None
    if block is not None and block in numbers:
        found[-1].next = numbers[block]
    return found


def _descriptor(block: Block, place: _Place) -> Descriptor:
    bd = Descriptor(None, [], [])
    for op in block.ops:
        if isinstance(op, UseLockOp):
            step = _lock(op, place)
            if op.is_acquire:
                if op.acq_en:
                    bd.acquires.append(step)
            else:
                bd.releases.append(step)
        elif isinstance(op, DmaBdPacketOp):
            bd.packet = (op.packet_type, op.packet_id)
        elif isinstance(op, DmaBdOp):
            _transfer(bd, op, place)
    bd.span = bd.span or next((span_of(op) for op in block.ops), None)
    return bd


def _lock(op: UseLockOp, place: _Place) -> LockStep:
    lock, value = place.locks.get(op.lock), op.constant
    if lock is None or value is None:
        refuse("the array model needs a lock and a constant here", span_of(op))
    _reach(place, lock.tile, f"lock {lock.name}", span_of(op), lock=True)
    return LockStep(lock, value, op.action is LockAction.ACQUIRE, span_of(op))


def _reach(place: _Place, owner: Tile | None, what: str, where: Span | None, *, lock: bool = False) -> None:
    outside = owner is None and place.tile[1] == 0
    own = lock and owner == place.tile
    if not outside and not own and (owner is None or not place.target.dma_reaches(place.tile, owner, place.index)):
        refuse(f"channel {place.index} of the DMA of tile {place.tile} cannot reach {what} of tile {owner}", where)


def _transfer(bd: Descriptor, op: DmaBdOp, place: _Place) -> None:
    buffer = place.buffers.get(op.buffer)
    offset, length, sizes, strides = op.offset, op.len, op.sizes, op.strides
    width = element_bits(op.buffer.type)
    if buffer is None or offset is None or length is None or sizes is None or strides is None:
        refuse("the array model needs a descriptor that is known before it runs", span_of(op))
    if not width or width % 8:
        refuse(f"the array model cannot move elements of {width} bits", span_of(op))
    _reach(place, buffer.tile, f"buffer {buffer.name}", span_of(op))
    pads = op.pad_dimensions
    bd.span = span_of(op)
    bd.id = op.bd_id
    bd.buffer = buffer
    bd.pattern = Pattern(
        offset,
        length,
        width // 8,
        tuple(sizes),
        tuple(strides),
        tuple((p[0], p[1]) for p in pads.data) if pads is not None else (),
    )
    packet = op.packet
    if packet is not None:
        if packet.pkt_id is None:
            refuse("the packet id of this descriptor is not chosen yet", span_of(op))
        bd.packet = (packet.pkt_type, packet.pkt_id)
    if op.iteration is not None:
        size, stride, current = op.iteration.data
        bd.iteration = (size, stride)
        bd.turn = current
