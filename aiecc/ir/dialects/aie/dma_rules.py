"""What makes a DMA program or one of its channels wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Block, Operation

from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.cores import DmaProgram
from aiecc.ir.dialects.aie.dma import DmaBdPacketOp, DmaChannel, DmaOp, DmaStartOp, NextBdOp
from aiecc.ir.dialects.aie.enums import Direction, WireBundle
from aiecc.ir.dialects.aie.memory import UseLockOp
from aiecc.ir.dialects.aie.tile_rules import CORE, MEM, SHIM_NOC, verify_tile_kind
from aiecc.ir.dialects.aie.tiles import EndOp, placed, target_of, tile_like
from aiecc.ir.dialects.base import DialectOp
from aiecc.ir.errors import VerifyError
from aiecc.model.targets import TileKind
from aiecc.model.targets.tables import Dma

_KINDS = {"aie.mem": CORE, "aie.memtile_dma": MEM, "aie.shim_dma": SHIM_NOC}
_CLASSES = {"aie.mem": "MemOp", "aie.memtile_dma": "MemTileDMAOp"}


def dma_around(op: Operation) -> Dma | None:
    """The DMA that the program around an op is for; None outside programs and where there is none."""
    at: Operation | None = op
    while at is not None and not isinstance(at, DmaProgram):
        at = at.parent_op()
    tile = at.tile_op if at is not None else None
    kind = tile.kind if tile is not None else None
    return target_of(op).dma(kind) if kind is not None else None


def verify_program(op: DmaProgram) -> None:
    verify_tile_kind(op, op.operands[0], _KINDS[op.name])
    blocks = list(op.regions[0].blocks)
    _verify_blocks(op, blocks)
    _verify_channels(op)
    for block in blocks:
        last = block.last_op
        if last is not None and not isinstance(last, DmaStartOp | NextBdOp | EndOp):
            raise VerifyError("is not an allowed terminator", last, [("in this context: ", op)])
    if not blocks:
        raise op.error("should have non-empty body")
    if tile_like(op.operands[0]) is None:
        raise op.error("tile must implement TileLike interface")
    if op.name in _CLASSES:
        for inner in _direct_ops(op):
            if inner.name == "memref.alloc" and "id" not in inner.attributes:
                raise VerifyError(f"allocOp in {_CLASSES[op.name]} region should have an id attribute", inner)
    if op.name == "aie.memtile_dma":
        _verify_local_channels(op)


def _direct_ops(op: DmaProgram) -> Iterator[Operation]:
    return (inner for block in op.regions[0].blocks for inner in block.ops)


def _verify_blocks(op: DmaProgram, blocks: Sequence[Block]) -> None:
    dma = dma_around(op)
    used = 0
    for block in blocks:
        bds = [inner for inner in block.ops if isinstance(inner, DmaBdOp)]
        if not bds:
            continue
        if dma is not None and used >= dma.bds:
            raise op.error(f"has more than {dma.bds} blocks", [("no space for this BD", bds[0])])
        used += 1
        note = [("in this BD block", block.first_op)]
        if len(bds) != 1:
            raise op.error(f"BD block must have exactly one DMABDOp, found {len(bds)}", note)
        locks = [inner for inner in block.ops if isinstance(inner, UseLockOp)]
        for word, count in (
            ("acquire", sum(lock.is_acquire for lock in locks)),
            ("release", sum(not lock.is_acquire for lock in locks)),
        ):
            if count > 1:
                raise op.error(f"BD block must have at most one {word} UseLockOp, found {count}", note)


def _verify_channels(op: DmaProgram) -> None:
    tile = op.tile_op
    kind = tile.kind if tile is not None else None
    if kind is None:
        return
    channels: dict[Direction, set[int | str | None]] = {d: set() for d in Direction}
    for inner in _direct_ops(op):
        if isinstance(inner, DmaStartOp | DmaOp):
            name = inner.endpoint if isinstance(inner, DmaStartOp) else None
            channels[inner.direction].add(inner.index if name is None else name)
    available = target_of(op).dma_channels(kind)
    for direction, word in ((Direction.S2MM, "input"), (Direction.MM2S, "output")):
        if len(channels[direction]) > available:
            raise op.error(f"uses more {word} channels than available on this tile")


def _verify_local_channels(op: DmaProgram) -> None:
    """The upper channels of a memory tile's DMA see only their own tile."""
    home, dma = placed(op.operands[0]), dma_around(op)
    if home is None or dma is None or dma.local_from is None:
        return
    for start in _direct_ops(op):
        if not isinstance(start, DmaStartOp | DmaOp) or start.index is None or start.index < dma.local_from:
            continue
        for inner in _ops_of_channel(start):
            _verify_local_use(inner, start, home.coord)


def _verify_local_use(inner: Operation, start: DmaChannel, home: tuple[int, int]) -> None:
    if isinstance(inner, DmaBdOp):
        owner, word = inner.buffer_op, "buffer"
    elif isinstance(inner, UseLockOp):
        owner, word = inner.lock_op, "lock"
    else:
        return
    tile = placed(owner.operands[0]) if owner is not None and owner.operands else None
    if tile is not None and tile.coord != home:
        raise VerifyError(
            f"is reachable from DMA channel {start.index} and attempts to access a non-local {word}",
            inner,
            [("channel", start), (word, owner)],
        )


def _ops_of_channel(channel: DmaChannel) -> Iterator[Operation]:
    """Every op in the descriptor blocks of a channel."""
    for block in descriptor_blocks(channel):
        yield from block.ops


def descriptor_blocks(channel: DmaChannel) -> list[Block]:
    """The blocks a channel runs through, in the order they are first reached."""
    if not isinstance(channel, DmaStartOp):
        return [block for region in channel.regions for block in region.blocks]
    found: list[Block] = []
    todo = [channel.dest]
    while todo:
        block = todo.pop(0)
        if block in found:
            continue
        found.append(block)
        last = block.last_op
        todo += last.successors if last is not None else ()
    return found


# --- one channel ------------------------------------------------------------------------------------------------------


def verify_start(op: DmaStartOp) -> None:
    if op.endpoint is not None:
        _verify_endpoint(op, op.endpoint)
    _verify_pad_value(op, op.pad_value)
    _verify_repeat(op, op.repeat_count)
    if op.out_of_order:
        _verify_out_of_order(op)


def _verify_endpoint(op: DmaStartOp, name: str) -> None:
    from aiecc.ir.dialects.aie.routes import RouteEndpointOp

    program = op.parent_op()
    if not isinstance(program, DmaProgram):
        raise op.error("only a tile's DMA program may name its channel by a route endpoint")
    scope = program.parent
    named = [o for o in scope.ops if isinstance(o, RouteEndpointOp) and o.symbol == name] if scope is not None else []
    if not named:
        raise op.error(f"@{name} is not an aie.route_endpoint")
    endpoint = named[0]
    if endpoint.bundle is not WireBundle.DMA:
        raise op.error(f"@{name} names a {endpoint.bundle.word} port, not a DMA channel")
    if endpoint.tile is not program.operands[0]:
        here, there = tile_like(program.operands[0]), endpoint.tile_op
        same = here is not None and there is not None and here.coord is not None and here.coord == there.coord
        if not same:
            raise op.error(f"@{name} is on a different tile than this DMA program")


def verify_dma(op: DmaOp) -> None:
    program = op.parent_op()
    if program is not None and len(program.regions[0].blocks) != 1:
        raise op.error("DMAOp can only appear in single block region")
    block = op.parent
    if block is not None and any(isinstance(other, DmaStartOp) for other in block.ops):
        raise op.error("DMAOp is not compatible with DMAStart ops")
    for region in op.bds:
        if len(region.blocks) != 1:
            raise op.error("DMAOp regions must have only one block")
        ops = list(region.block.ops)
        if sum(isinstance(o, DmaBdOp) for o in ops) != 1:
            raise op.error("DMAOp regions/blocks must have exactly one DMABDOp")
        if sum(isinstance(o, UseLockOp) for o in ops) != 2:
            raise op.error("DMAOp regions/blocks must have exactly two UseLock ops")
    _verify_pad_value(op, op.pad_value)
    _verify_repeat(op, op.repeat_count)
    if op.out_of_order:
        _verify_out_of_order(op)


def _verify_pad_value(op: DmaChannel, value: int) -> None:
    if not value:
        return
    program = op.parent_op()
    if program is None or program.name != "aie.memtile_dma":
        raise op.error("pad_value is only supported on memtile DMA channels")
    if op.direction is not Direction.MM2S:
        raise op.error("pad_value is only supported on MM2S DMA channels")
    dma = target_of(op).dma(TileKind.MEM)
    if dma is None or not dma.pad_value:
        raise op.error("pad_value requires the CONSTANT_PAD_VALUE register, unavailable on this target")


def _verify_repeat(op: DmaChannel, count: int) -> None:
    if not count:
        return
    dma = dma_around(op)
    if dma is None:
        return
    if not dma.repeat_max:
        raise op.error("repeat_count is not supported on this target")
    if count > dma.repeat_max:
        raise op.error(f"repeat_count {count} is out of range [0, {dma.repeat_max}] for this target")


def has_packet(bd: DmaBdOp) -> bool:
    """Whether a descriptor puts a packet header in front of, or expects one before, its data."""
    if bd.packet_attr is not None:
        return True
    block = bd.parent
    return block is not None and any(isinstance(op, DmaBdPacketOp) for op in block.ops)


def _verify_out_of_order(op: DmaChannel) -> None:
    if op.direction is not Direction.S2MM:
        raise op.error("out_of_order is only valid on an S2MM channel")
    if not target_of(op).out_of_order_dma:
        raise op.error("out-of-order S2MM DMA is not supported on this device")
    blocks = [b for b in descriptor_blocks(op) if any(isinstance(o, DmaBdOp) for o in b.ops)]
    if not blocks:
        raise op.error("out-of-order S2MM channel must have at least one receive buffer descriptor")
    for block in blocks:
        for bd in (o for o in block.ops if isinstance(o, DmaBdOp)):
            if not has_packet(bd):
                raise bd.error("out-of-order S2MM receive buffer descriptor must be packet-enabled")
            if bd.out_of_order_id is not None:
                raise bd.error(
                    "out_of_order_id belongs on the sender buffer descriptor, not an out-of-order S2MM receive buffer "
                    "descriptor"
                )
    _verify_no_lock_chain(blocks)


def _verify_no_lock_chain(blocks: Sequence[Block]) -> None:
    """No descriptor waits for a lock that another one of the channel releases: it may come first, and stall."""
    for block in blocks:
        acquired = {op.lock for op in block.ops if isinstance(op, UseLockOp) and op.is_acquire}
        released = {
            op.lock
            for other in blocks
            if other is not block
            for op in other.ops
            if isinstance(op, UseLockOp) and not op.is_acquire
        }
        if acquired & released:
            bd: DialectOp = next(op for op in block.ops if isinstance(op, DmaBdOp))
            raise bd.error("out-of-order S2MM prohibits inter-BD lock dependencies; can deadlock")
