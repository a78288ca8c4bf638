"""A `pto` function as calls of the run-time ABI (`runtime/pipes.h`), its loops kept.

The steps of every op are those of `protocol.py` at tag 0; the tag, a word of the core, is added when the code runs.
Tiles become addresses. One core at a time: both lanes run the same function, each with its own flags and part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import Float32Type, IndexType, IntegerType, i32, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from aiecc.plugins.tpush.dialect.attrs import PtrType, TileBufType
from aiecc.plugins.tpush.dialect.pipe_ops import (
    FreeOp,
    ImportReservedBufferOp,
    InitializePipe,
    PipeOp,
    PopOp,
    PushOp,
    ReserveBufferOp,
)
from aiecc.plugins.tpush.dialect.tile_ops import ALIASES, AllocTileOp, ComputeOp
from aiecc.plugins.tpush.dialect.view_ops import (
    AddPtrOp,
    GetBlockIdxOp,
    GetBlockNumOp,
    GetSubBlockIdxOp,
    GetSubBlockNumOp,
    MakeTensorViewOp,
    PartitionViewOp,
)
from aiecc.plugins.tpush.emit_base import GLOBAL, Code, Room, Writer
from aiecc.plugins.tpush.emit_frees import last_uses
from aiecc.plugins.tpush.emit_landing import places
from aiecc.plugins.tpush.emit_tiles import Held, Tiles, cannot
from aiecc.plugins.tpush.extract import reservation
from aiecc.plugins.tpush.kernels import Pair, arguments_of
from aiecc.plugins.tpush.model import Agent, Cluster, Direction, Free, Init, Platform, Pop, Push, Tile
from aiecc.plugins.tpush.protocol import FreeRule, Protocol
from aiecc.plugins.tpush.reading import site_of
from aiecc.plugins.tpush.steps import Access, Act, Step
from aiecc.plugins.tpush.values import Values

PREFIX = {Agent.CUBE: "cube", Agent.AIV0: "vector0", Agent.AIV1: "vector1"}

Ring = tuple[int, Direction]


def argument_names(pair: Pair) -> list[str]:
    """The arguments of a launch, in order: the Cube function's, then those that only the Vector function has."""
    texts = arguments_of(pair)
    entries = [kernel.entry for kernel in pair.kernels]
    return list(dict.fromkeys(texts[a] for entry in entries if entry is not None for a in entry.args))


def emit(pair: Pair, cluster: Cluster, agent: Agent, rule: FreeRule = FreeRule.AFTER_USE) -> Code:
    """The code of one core. Raises `Refused` at the user's line for what cannot be run."""
    kernel = pair.cube if agent is Agent.CUBE else pair.vector
    code = Code(agent, Block())
    entry = kernel.entry
    if entry is not None:
        _Emitter(pair, cluster, agent, rule, code).kernel(kernel.function, entry)
    return code


class _Emitter:
    def __init__(self, pair: Pair, cluster: Cluster, agent: Agent, rule: FreeRule, code: Code) -> None:
        self.pair = pair
        self.agent = agent
        self.cluster = cluster
        self.rule = rule
        # Rings are given at run time: what steps say is counted from their starts.
        pipes = tuple(
            replace(p, c2v_base=0, v2c_base=p.ring_size if cluster.platform is Platform.A2A3 and p.dir_mask == 3 else 0)
            for p in cluster.pipes
        )
        self.protocol = Protocol(replace(cluster, pipes=pipes), rule)
        self.names = arguments_of(pair)
        self.values = Values(lambda argument: self.names.get(argument, "?"), agent.lane)
        self.writer = Writer(code)
        self.tiles = Tiles(self.writer, agent, cluster.platform, self.values, PREFIX[agent])
        self.rings: dict[tuple[int, Direction, Agent | None], SSAValue] = {}
        self.tags: dict[tuple[int, Direction, str], SSAValue] = {}
        self.frees: dict[Operation, list[PopOp]] = {}

    # --- structure ----------------------------------------------------------------------------------------------------

    def kernel(self, function: func.FuncOp, entry: Block) -> None:
        order = argument_names(self.pair)
        for argument in entry.args:
            self.writer.origin = function
            index = order.index(self.names[argument])
            raw = self.writer.call("pto_argument", [self.writer.number(index, i32)], [i64])[0]
            self.tiles.plain[argument] = self._argument(function, argument, raw)
        if self.cluster.platform is Platform.A5 and self.rule is FreeRule.AFTER_USE:
            self.frees = last_uses(function)
        self.block(entry)

    def _argument(self, function: func.FuncOp, argument: BlockArgument, raw: SSAValue) -> SSAValue:
        type = argument.type
        if isinstance(type, PtrType):
            return raw
        if isinstance(type, IndexType):
            return self.writer.add(arith.IndexCastOp(raw, type)).results[0]
        if isinstance(type, IntegerType):
            return self.writer.cast(raw, type)
        if not isinstance(type, Float32Type):
            cannot(function, f"has an argument of type {type}, which no launch can give", "use a pointer or a number")
        return self.writer.add(arith.BitcastOp(self.writer.cast(raw, i32), type)).results[0]

    def block(self, block: Block) -> None:
        for op in block.ops:
            self.writer.origin = op
            if not op.has_trait(IsTerminator, value_if_unregistered=False):
                self.op(op)
                self.writer.origin = op
                for pop in self.frees.get(op, ()):
                    self.release(pop, Free(pop.number, pop.DIRECTION, pop.parting, None, site_of(pop)))

    def op(self, op: Operation) -> None:
        tiles = self.tiles
        match op:
            case InitializePipe():
                self.init(op)
            case PushOp():
                self.push(op)
            case PopOp():
                self.pop(op)
            case FreeOp():
                self.release(op, Free(op.number, op.DIRECTION, op.parting, None, site_of(op)))
            case ReserveBufferOp() | ImportReservedBufferOp():
                self.buffer(op)
            case AllocTileOp():
                tiles.alloc(op)
            case AddPtrOp():
                tiles.addptr(op)
            case MakeTensorViewOp():
                tiles.whole_view(op)
            case PartitionViewOp():
                tiles.part_view(op)
            case ComputeOp():
                tiles.compute(op)
            case GetBlockIdxOp() | GetBlockNumOp() | GetSubBlockIdxOp() | GetSubBlockNumOp():
                known = {"pto.get_block_num": 1, "pto.get_subblock_num": 2, "pto.get_subblock_idx": self.agent.lane}
                tiles.plain[op.results[0]] = self.writer.number(known.get(op.name, 0))
            case scf.ForOp():
                self.loop(op)
            case scf.IfOp():
                self.branch(op)
            case _ if isinstance(op, ALIASES):
                self.alias(op)
            case _:
                self.scalar(op)

    def alias(self, op: Operation) -> None:
        source, result = op.operands[0], op.results[0]
        held = self.tiles.tile(op, source)
        assert isinstance(result.type, TileBufType)
        tile = self.tiles.of_type(op, result.type)
        if tile.rows * tile.cols * tile.element != held.tile.rows * held.tile.cols * held.tile.element:
            cannot(op, "gives a tile another size")
        # Rows that lie apart cannot be counted anew.
        packed = held.stride == held.tile.cols * held.tile.element
        if not packed and tile.cols * tile.element != held.tile.cols * held.tile.element:
            cannot(op, "gives rows that lie apart another length")
        stride = tile.cols * tile.element if packed else held.stride
        self.tiles.hold(result, Held(held.address, stride, tile, result.type, held.empty))

    def scalar(self, op: Operation) -> None:
        """Arithmetic stays what it is."""
        if isinstance(op, func.CallOp):
            text = f"calls @{op.callee.string_value()}: functions of your own are not built for these cores"
            cannot(op, text, "write what it does as ops on tiles, in this function")
        if op.regions or not op.name.startswith(("arith.", "math.")):
            cannot(op, "has no code here", "kernels with pipes are made of ops of arith, math, pto, scf.for and scf.if")
        made = op.clone({operand: self.tiles.plain[operand] for operand in op.operands})
        self.writer.add(made)
        self.tiles.plain.update(zip(op.results, made.results, strict=True))

    # --- loops and branches -------------------------------------------------------------------------------------------

    def value(self, op: Operation, value: SSAValue) -> SSAValue:
        """A number, or the address of a tile."""
        return self.tiles.tile(op, value).address if isinstance(value.type, TileBufType) else self.tiles.plain[value]

    def bind(self, op: Operation, old: Sequence[SSAValue], new: Sequence[SSAValue], like: Sequence[SSAValue]) -> None:
        """`old` are `new` in the emitted code; of a tile, all but the address is that of `like`."""
        for value, made, source in zip(old, new, like, strict=True):
            if isinstance(value.type, TileBufType):
                self.tiles.hold(value, replace(self.tiles.tile(op, source), address=made))
            else:
                self.tiles.plain[value] = made

    def loop(self, op: scf.ForOp) -> None:
        bounds = [self.tiles.plain[v] for v in (op.lb, op.ub, op.step)]
        carried = [self.value(op, v) for v in op.iter_args]
        body = Block(arg_types=[op.body.block.args[0].type, *(v.type for v in carried)])
        self.tiles.plain[op.body.block.args[0]] = body.args[0]
        self.bind(op, op.body.block.args[1:], body.args[1:], list(op.iter_args))
        last = op.body.block.last_op
        assert last is not None
        with self.writer.inside(body):
            self.block(op.body.block)
            self.writer.origin = op
            self._same_shape(op, last.operands, op.iter_args)
            self.writer.add(scf.YieldOp(*(self.value(last, v) for v in last.operands)))
        made = self.writer.add(scf.ForOp(bounds[0], bounds[1], bounds[2], carried, Region(body)))
        self.bind(op, op.results, made.results, list(op.iter_args))

    def _same_shape(self, op: Operation, values: Sequence[SSAValue], others: Sequence[SSAValue]) -> None:
        for value, other in zip(values, others, strict=True):
            if isinstance(value.type, TileBufType):
                a, b = self.tiles.tile(op, value), self.tiles.tile(op, other)
                if (a.stride, a.empty) != (b.stride, b.empty):
                    cannot(op, "hands on tiles whose rows lie differently")

    def branch(self, op: scf.IfOp) -> None:
        regions: list[Region] = []
        yields: list[list[SSAValue]] = []
        for region in (op.true_region, op.false_region):
            block = Block()
            if region.blocks:
                with self.writer.inside(block):
                    self.block(region.block)
                    self.writer.origin = op
                    last = region.block.last_op
                    given = [] if last is None else list(last.operands)
                    yields.append(given)
                    self.writer.add(scf.YieldOp(*(self.value(op, v) for v in given)))
            regions.append(Region(block) if region.blocks else Region())
        types: list[Attribute] = [i64 if isinstance(r.type, TileBufType | PtrType) else r.type for r in op.results]
        if len(yields) == 2:
            self._same_shape(op, *yields)
        made = self.writer.add(scf.IfOp(self.tiles.plain[op.cond], types, regions[0], regions[1]))
        self.bind(op, op.results, made.results, yields[0] if yields else [])

    # --- pipes --------------------------------------------------------------------------------------------------------

    def buffer(self, op: ReserveBufferOp | ImportReservedBufferOp) -> None:
        """Its address as a number; rings are looked up by name where pipes are set up."""
        consumer = self.pair.cube if self.agent is Agent.CUBE else self.pair.vector
        if isinstance(op, ImportReservedBufferOp):
            consumer = self.pair.vector if self.agent is Agent.CUBE else self.pair.cube
        reserve = reservation(self.pair, consumer, op.address)
        if reserve is None:
            cannot(op, f"names '{op.buffer.data}', which nobody reserves")
        owner = Agent.CUBE if consumer is self.pair.cube else self.agent
        owner = Agent.AIV0 if consumer is self.pair.vector and owner is Agent.CUBE else owner
        self.tiles.plain[op.address] = self.writer.cast(self.writer.room(self.ring_room(reserve, owner)), i32)

    def ring_room(self, reserve: ReserveBufferOp, owner: Agent) -> Room:
        name = reserve.buffer.data
        return Room(f"{PREFIX[owner]}_{name}", owner, reserve.size.value.data, reserve.fixed, name, reserve)

    def init(self, op: InitializePipe) -> None:
        for direction in op.directions:
            if self.cluster.platform is Platform.A2A3:
                if op.gm_slot_buffer is None:
                    cannot(op, "has no gm_slot_buffer")
                self.rings[op.number, direction, None] = self.workspace(op.gm_slot_buffer)
            else:
                for lane in self.protocol.lanes(op.number) if direction is Direction.C2V else (0,):
                    owner = Agent.CUBE if direction is Direction.V2C else Agent(1 + lane)
                    if self.agent in (Agent.CUBE, owner) or owner is Agent.CUBE:
                        self.rings[op.number, direction, owner] = self.writer.room(self._ring(op, direction, owner))
            for role in ("push",) if direction.producer is self.agent.kind else ("pop", "free"):
                self.tags[op.number, direction, role] = self.writer.cell(0)
        self.steps(self.protocol.init(self.agent, Init(op.number, site_of(op))), None, None)

    def workspace(self, buffer: SSAValue) -> SSAValue:
        """A pointer as it is; a number counts from the start of global memory."""
        if isinstance(buffer.type, PtrType):
            return self.tiles.plain[buffer]
        return self.writer.plus(self.writer.cast(self.tiles.plain[buffer], i64), GLOBAL)

    def _ring(self, op: InitializePipe, direction: Direction, owner: Agent) -> Room:
        consumer = self.pair.cube if direction is Direction.V2C else self.pair.vector
        value = op.consumer_buffer(direction)
        reserve = reservation(self.pair, consumer, value)
        if reserve is not None:
            return self.ring_room(reserve, owner)
        base = None if value is None else self.values.number(value)
        if base is None:
            cannot(op, "has a ring whose address only the run knows", "take it from pto.reserve_buffer")
        name = f"{PREFIX[owner]}_pipe{op.number}_{direction.name.lower()}"
        return Room(name, owner, op.slots * op.bytes_per_slot, base, name, op)

    def push(self, op: PushOp) -> None:
        held = self.tiles.tile(op, op.source)
        model = Push(op.number, op.DIRECTION, held.tile, op.parting, (), site_of(op))
        cell = self.tags[op.number, op.DIRECTION, "push"]
        tag = self.writer.read(cell)
        steps = self.protocol.push(self.agent, model, 0)
        if held.empty:
            steps = tuple(step for step in steps if step.flag is not None)
        self.steps(steps, tag, held)
        self.writer.step(cell, tag, self.protocol.pipes[op.number].slot_num)

    def pop(self, op: PopOp) -> None:
        assert isinstance(op.taken.type, TileBufType)
        tile = self.tiles.of_type(op, op.taken.type, list(op.operands))
        model = Pop(op.number, op.DIRECTION, tile, 0, op.parting, site_of(op))
        cell = self.tags[op.number, op.DIRECTION, "pop"]
        tag = self.writer.read(cell)
        accesses = self.protocol.reads(self.agent, model, 0)
        pipe = self.protocol.pipes[op.number]
        if not accesses:
            held = Held(self.writer.number(0), tile.cols * tile.element, tile, op.taken.type, True)
        elif self.cluster.platform is Platform.A2A3:
            held = self.landing(op, tile)
        else:
            held = Held(self.writer.number(0), accesses[0].stride, tile, op.taken.type)
        alias = self.steps(self.protocol.pop(self.agent, model, 0), tag, held)
        held = held if alias is None else replace(held, address=alias)
        self.tiles.hold(op.taken, held)
        self.writer.step(cell, tag, pipe.slot_num)

    def landing(self, op: PopOp, tile: Tile) -> Held:
        """Where A2A3 copies a popped tile to. One that an iteration hands to the next must not be overwritten there."""
        assert isinstance(op.taken.type, TileBufType)
        copies = places(op)
        name = self.tiles.name(op.taken.name_hint or "popped")
        held = self.tiles.make(op, op.taken.type, tile, name, copies=copies)
        if copies == 1:
            return held
        cell = self.writer.cell(0)
        turn = self.writer.read(cell)
        self.writer.step(cell, turn, copies)
        size = tile.rows * tile.cols * tile.element
        offset = self.writer.times(self.writer.cast(turn, i64), size)
        return replace(held, address=self.writer.plus(held.address, offset))

    def release(self, op: PipeOp, model: Free) -> None:
        steps = self.protocol.free(self.agent, model, 0)
        if not steps:
            return
        cell = self.tags[op.number, op.DIRECTION, "free"]
        tag = self.writer.read(cell)
        self.steps(steps, tag, None)
        self.writer.step(cell, tag, self.protocol.pipes[op.number].slot_num)

    def ring_address(self, pipe: int, direction: Direction, access: Access, tag: SSAValue) -> SSAValue:
        base = self.rings[pipe, direction, access.owner]
        slot = self.writer.times(self.writer.cast(tag, i64), self.protocol.pipes[pipe].slot_size)
        return self.writer.plus(self.writer.plus(base, slot), access.address)

    def steps(self, steps: Sequence[Step], tag: SSAValue | None, held: Held | None) -> SSAValue | None:
        """Steps at tag 0 as calls at tag `tag`; None: at the tag they say. The address of the alias, if one is made."""
        alias: SSAValue | None = None
        for step in steps:
            if step.flag is not None:
                first = step.flag.number
                number = self.writer.number(first, i32) if tag is None else self.writer.plus(tag, first)
                name = "pto_set_flag" if step.act is Act.SET else "pto_wait_flag"
                self.writer.call(name, [self.writer.number(step.flag.lane, i32), number])
            elif step.act is Act.COPY_START:
                assert tag is not None and held is not None
                for access in step.accesses:
                    self.copy(step, access, tag, held)
            elif step.act is Act.COPY_DONE:
                self.writer.call("pto_copy_done", [])
            elif step.act is Act.ALIAS:
                assert tag is not None
                slot = self.ring_address(step.pipe, step.direction, step.accesses[0], tag)
                size = self.writer.number(step.accesses[0].size, i32)
                alias = self.writer.call("pto_alias", [slot, size], [i64])[0]
        return alias

    def copy(self, step: Step, access: Access, tag: SSAValue, held: Held) -> None:
        ring = self.ring_address(step.pipe, step.direction, access, tag)
        row, rest = divmod(access.local_offset, access.local_stride)
        local = self.writer.plus(held.address, row * held.stride + rest)
        here, there = (local, held.stride), (ring, access.stride)
        to, source = (there, here) if access.write else (here, there)
        ends: list[SSAValue] = []
        for address, stride in (to, source):
            ends += [address, self.writer.number(stride, i32)]
        extents = (access.rows, access.row_bytes)
        self.writer.call("pto_copy", [*ends, *(self.writer.number(n, i32) for n in extents)])
