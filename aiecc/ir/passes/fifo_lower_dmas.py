"""`aie-objectfifo-lower-dmas`: every DMA endpoint becomes the program of its channel."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, Region

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.attrs import BdIteration, BdIterationAttr, BdPadLayoutArrayAttr
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.chains import DmaStartTaskOp
from aiecc.ir.dialects.aie.cores import DmaProgram, MemOp, MemTileDmaOp, ShimDmaOp
from aiecc.ir.dialects.aie.dma import DmaBdPacketOp, DmaOp, DmaStartOp, NextBdOp
from aiecc.ir.dialects.aie.enums import Direction, LockAction, Role
from aiecc.ir.dialects.aie.memory import UseLockOp
from aiecc.ir.dialects.aie.pools import DmaEndpointOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, EndOp
from aiecc.ir.dialects.constraints import I32
from aiecc.ir.fifo.chains import Chain, LockUse, Transfer, Unready, chain_of, turns_chain
from aiecc.ir.fifo.templates import Templates
from aiecc.ir.fifo.view import FifoView, place_of, put_before
from aiecc.ir.passes.base import DEVICE, Pass, option
from aiecc.ir.passes.report import op_error
from aiecc.ir.spans import copy_span
from aiecc.model.targets import TileKind

_PROGRAMS: dict[TileKind, type[MemOp | MemTileDmaOp | ShimDmaOp]] = {
    TileKind.CORE: MemOp,
    TileKind.MEM: MemTileDmaOp,
    TileKind.SHIM_NOC: ShimDmaOp,
}


@dataclass(frozen=True)
class ObjectFifoLowerDmas(Pass):
    """Write the descriptor chain of every DMA endpoint into its tile's DMA program; drop the endpoints of streams.

    Nothing is changed when something is wrong with any of them.
    """

    name: ClassVar[str] = "aie-objectfifo-lower-dmas"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Lower objectFifo DMA endpoints to buffer descriptor chains"

    bd_chains: bool = option(False, help="write the chains as templates, one for each shape, and start those")

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        view = FifoView(op)
        if not view.stream_ends:
            return
        programs = Programs(op, as_templates=self.bd_chains)
        plans = list(_plan(view, programs, sink))
        _check_programs(view, programs, sink)
        _check_routes(view, sink)
        if sink.failed:
            return
        for end, chain in plans:
            if chain.transfers:
                programs.add(end, chain)
        for end in view.stream_ends.values():
            end.detach()
            end.erase()


# --- what is to be written --------------------------------------------------------------------------------------------


def _plan(view: FifoView, programs: Programs, sink: Sink) -> Iterator[tuple[DmaEndpointOp, Chain]]:
    """The chains in device order, each with the endpoint that owns it; errors go to the sink."""
    taken: dict[tuple[Hashable, Direction, int], Operation] = {
        (place, op.direction, op.index): op for place, op in programs.starts() if op.index is not None
    }
    done: set[str] = set()
    for end in view.dma_ends():
        if end.symbol in done:
            continue
        done.update(end.turns)
        channel = end.channel_index
        if channel is None:
            op_error(sink, end, "has no channel; run --aie-objectfifo-allocate")
            continue
        pool = view.pool_of(end)
        if pool.buffers_attr is None and pool.depth:
            op_error(sink, end, f"works on pool '{end.pool}', which has no buffers; run --aie-objectfifo-allocate")
            continue
        try:
            chain = turns_chain(view, end) if end.turns else chain_of(view, end)
        except Unready as why:
            op_error(sink, why.end, why.text)
            continue
        if not chain.transfers:
            continue
        direction = direction_of(end)
        key = (place_of(end.tile), direction, channel)
        owner = taken.get(key)
        if owner is not None:
            what = f"an existing {owner.name}" if not isinstance(owner, DmaEndpointOp) else f"@{owner.symbol}"
            op_error(
                sink,
                end,
                f"uses channel {direction.word} {channel}, which {what} already programs",
                [("the channel is programmed here", owner)],
            )
            continue
        taken[key] = end
        yield end, chain


def direction_of(end: DmaEndpointOp) -> Direction:
    """An endpoint that drains its pool sends."""
    return Direction.MM2S if end.role is Role.DRAINS else Direction.S2MM


def _check_programs(view: FifoView, programs: Programs, sink: Sink) -> None:
    """Channels that stand for a route endpoint have their number before the endpoint goes."""
    for _, start in programs.starts():
        if isinstance(start, DmaStartOp) and start.endpoint in view.stream_ends:
            op_error(sink, start, f"starts @{start.endpoint}, which has no channel yet; run --aie-objectfifo-allocate")
    for end in view.dma_ends():
        wrong = programs.fault(end)
        if wrong is not None:
            op_error(sink, end, wrong[0], [("the program is here", wrong[1])])


def _check_routes(view: FifoView, sink: Sink) -> None:
    for route in view.routes:
        if any(name in view.stream_ends for name in (*route.sources, *route.destinations)):
            op_error(sink, route, "connects endpoints that this pass replaces; run --aie-objectfifo-allocate before it")


# --- programs ---------------------------------------------------------------------------------------------------------


class Programs:
    """The DMA programs of a device, and how a channel is added to one."""

    def __init__(self, device: DeviceOp, *, as_templates: bool = False) -> None:
        self.device = device
        acquire = LockAction.ACQUIRE_GREATER_EQUAL if device.target.semaphore_locks else LockAction.ACQUIRE
        self._write = functools.partial(_descriptor, acquire=acquire)
        self._templates = Templates(device, self._write) if as_templates else None
        self._at: dict[Hashable, DmaProgram] = {}
        self._order: dict[Operation, int] = {}
        self._end = 0
        for at, op in enumerate(device.block.ops):
            self._order[op] = self._end = at
            if isinstance(op, DmaProgram):
                self._at.setdefault(place_of(op.operands[0]), op)

    def starts(self) -> Iterator[tuple[Hashable, DmaStartOp | DmaOp]]:
        """The channels that are programmed, each with its tile, program by program."""
        for place, program in self._at.items():
            for op in _channels(program):
                yield place, op

    def fault(self, end: DmaEndpointOp) -> tuple[str, Operation] | None:
        """Why no channel can be added to the program of an endpoint's tile; None when one can."""
        program = self._at.get(place_of(end.tile))
        if program is None:
            kind = end.tile_op.kind if end.tile_op is not None else None
            return None if kind in _PROGRAMS else ("is on a tile without a DMA", end)
        if any(isinstance(op, DmaOp) for op in _channels(program)):
            return "cannot add its channel to a program of aie.dma ops; write that with aie.dma_start", program
        if _tail(program.regions[0]) is None:
            return "cannot add its channel to a program whose aie.dma_start chain does not end in aie.end", program
        return None

    def add(self, end: DmaEndpointOp, chain: Chain) -> None:
        """Write a chain behind the channels that an endpoint's tile already starts."""
        program = self._program(end)
        self._see(program, chain)
        region = program.regions[0]
        found = _tail(region)
        assert found is not None
        tail, before = found
        if self._templates is not None and _only_starts_lead_to(tail, before):
            self._start(self._templates, end, chain, tail)
            return
        blocks = [Block() for _ in chain.transfers]
        last = Block() if chain.bounded else blocks[0]
        assert end.channel_index is not None
        start = DmaStartOp(direction_of(end), end.channel_index, blocks[0], tail, chain.repeat)
        if chain.pad_value:
            start.properties["pad_value"] = IntegerAttr(chain.pad_value, I32)
        made: list[Operation] = [start]
        for block, following, transfer in zip(blocks, [*blocks[1:], last], chain.transfers, strict=True):
            ops = [*self._write(transfer), NextBdOp.create(successors=[following])]
            block.add_ops(ops)
            made += ops
        head = Block([start])
        if chain.bounded:
            stop = EndOp()
            last.add_op(stop)
            made.append(stop)
            blocks.append(last)
        copy_span(end, *made)
        region.insert_block_before([head, *blocks], tail)
        if before is not None:
            before.successors = [before.dest, head]

    def _start(self, templates: Templates, end: DmaEndpointOp, chain: Chain, tail: Block) -> None:
        """Start a chain's template as the last channel of a program."""
        name, arguments = templates.use(chain, end)
        assert end.channel_index is not None
        start = DmaStartTaskOp(name, arguments, direction_of(end), end.channel_index, chain.repeat)
        if chain.pad_value:
            start.properties["pad_value"] = IntegerAttr(chain.pad_value, I32)
        copy_span(end, start)
        stop = tail.last_op
        assert stop is not None
        tail.insert_op_before(start, stop)

    def _see(self, program: DmaProgram, chain: Chain) -> None:
        """Put a program behind everything that a chain uses, should some of it stand behind the program."""
        uses = (v for t in chain.transfers for v in (t.buffer, t.acquire, t.release) if v is not None)
        values = (use.lock if isinstance(use, LockUse) else use for use in uses)
        owners = (value.owner for value in values)
        last = max((self._order[owner] for owner in owners if isinstance(owner, Operation)), default=-1)
        if last > self._order[program]:
            program.detach()
            self._append(program)

    def _append(self, program: DmaProgram) -> None:
        """Put a program last in the device."""
        stop = self.device.block.last_op
        assert stop is not None
        put_before(stop, program)
        self._end += 1
        self._order[program] = self._end

    def _program(self, end: DmaEndpointOp) -> DmaProgram:
        place = place_of(end.tile)
        program = self._at.get(place)
        if program is None:
            kind = end.tile_op.kind if end.tile_op is not None else None
            assert kind is not None
            stop = EndOp()
            program = _PROGRAMS[kind](end.tile, Region(Block([stop])))
            copy_span(end, program, stop)
            self._append(program)
            self._at[place] = program
        return program


def _channels(program: DmaProgram) -> Iterator[DmaStartOp | DmaOp]:
    """What starts a channel: the last op of a block, or several in the only one."""
    blocks = program.regions[0].blocks
    for block in blocks:
        last = block.last_op
        if isinstance(last, DmaStartOp):
            yield last
    if len(blocks) == 1:
        yield from (op for op in blocks[0].ops if isinstance(op, DmaOp))


def _tail(region: Region) -> tuple[Block, DmaStartOp | None] | None:
    """The block that follows the last channel's start, and that start; None when following them never ends.

    Followed along the starts and not found by its predecessors, as chains that end may share the last block.
    """
    block, before = region.first_block, None
    seen: set[int] = set()
    while block is not None and id(block) not in seen:
        seen.add(id(block))
        last = block.last_op
        if isinstance(last, EndOp):
            return block, before
        if not isinstance(last, DmaStartOp):
            return None
        block, before = last.chain, last
    return None


def _only_starts_lead_to(tail: Block, before: DmaStartOp | None) -> bool:
    """Whether no chain that ends does so in the block that ends the program: then channels may be started there."""
    return all(use.operation is before for use in tail.uses)


def _descriptor(transfer: Transfer, acquire: LockAction) -> list[Operation]:
    """The ops of one descriptor block, without its terminator."""
    ops: list[Operation] = []
    if transfer.acquire is not None:
        ops += _use(transfer.acquire, acquire)
    if transfer.packet is not None and transfer.packet.pkt_id is not None:
        ops.append(DmaBdPacketOp(transfer.packet.pkt_type, transfer.packet.pkt_id))
    properties: dict[str, Attribute | None] = {
        "pad_dimensions": BdPadLayoutArrayAttr(transfer.pads) if transfer.pads else None,
    }
    if transfer.iteration is not None:
        properties["iteration"] = BdIterationAttr(BdIteration(*transfer.iteration, 0))
    sizes, strides = [dim.size for dim in transfer.dims], [dim.stride for dim in transfer.dims]
    ops.append(DmaBdOp(transfer.buffer, transfer.offset, transfer.length, sizes, strides, properties))
    if transfer.release is not None:
        ops += _use(transfer.release, LockAction.RELEASE)
    return ops


def _use(use: LockUse, action: LockAction) -> list[Operation]:
    """A constant and what takes or gives that much. Made without the checks of the constructors: there are many."""
    amount = ConstantOp.create(result_types=[I32], properties={"value": _number(use.amount)})
    taken = UseLockOp.create(operands=[use.lock, amount.result], properties={"action": _number(action.value)})
    return [amount, taken]


@functools.cache
def _number(value: int) -> IntegerAttr[IntegerType]:
    return IntegerAttr(value, I32)
