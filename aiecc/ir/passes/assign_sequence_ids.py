"""`aie-assign-runtime-sequence-bd-ids`: the descriptors of a sequence's tasks get numbers while tasks need them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import Operation, SSAValue

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.chain_rules import descriptors
from aiecc.ir.dialects.aie.cores import DmaProgram
from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aie.memory import constant_int
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileOp
from aiecc.ir.dialects.aiex.npu import NpuLoadPdiOp, NpuSyncOp
from aiecc.ir.dialects.aiex.tasks import (
    DmaAwaitTaskOp,
    DmaBdPoolPopOp,
    DmaConfigureTaskForOp,
    DmaConfigureTaskOp,
    DmaFreeTaskOp,
    DmaStartTaskOp,
    StartChain,
)
from aiecc.ir.dialects.aiex.transfers import NpuDmaMemcpyNdOp, NpuDmaWaitOp
from aiecc.ir.dialects.constraints import I32
from aiecc.ir.passes.base import DEVICE, Pass, option
from aiecc.ir.passes.report import OpNote, op_error, warning
from aiecc.ir.runtime.allocations import allocations
from aiecc.ir.runtime.queues import QUEUE_CHECKS, make_room
from aiecc.ir.runtime.tasks import ChannelKey, ChannelState, Holder, Push, TileIds, tells
from aiecc.model.targets import Tile
from aiecc.model.targets.tables import Dma

RESERVED = "aiex.reserved_bd_ids"
TOKENS = "tokens"
"""On an await: how many tokens of its channel have to come, where it is not one."""

CONTROL_FLOW = (
    "Runtime-valued control flow in a runtime sequence is not supported by this static BD-ID allocation pass. Either "
    "pass only constant-valued predicates to scf.for and scf.if so `aie-unroll-runtime-sequence-loops` can unroll/fold "
    "them, or use the dynamic EmitC path instead."
)
NO_TOKEN = (
    "awaits a task-completion token on a channel where no outstanding token is guaranteed to have been produced; the "
    "runtime sequence would block here forever. Ensure a prior issue_token dma_start_task on the same tile, direction "
    "and channel reaches this await"
)
NO_TASK = "does not reference a valid configure_task operation."


@dataclass(frozen=True)
class AssignRuntimeSequenceBdIds(Pass):
    """Every task gets the lowest ids its channel reaches that nobody holds: no other live task, none that is pinned,
    no descriptor of the tile's own DMA program. An await gives a task's ids back once all its starts are known to be
    done and it is not started again; a free gives them back on the author's word.
    """

    name: ClassVar[str] = "aie-assign-runtime-sequence-bd-ids"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Give the buffer descriptors of runtime sequences their ids"

    queue_check: str = option("off", help=f"a push that may be one too many: {', '.join(QUEUE_CHECKS)}")
    in_flight: str = option("warn", help="an id that is reused while its last task may run: error, warn, off")

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        reserved = reserved_ids(op)
        for sequence in list(op.ops_of(RuntimeSequenceOp)):
            assert isinstance(sequence, RuntimeSequenceOp)
            inside = list(sequence.walk())
            if any(isinstance(inner, DmaBdPoolPopOp) for inner in inside):
                continue
            loops = [i for i in inside if i.name in ("scf.for", "scf.if", "scf.while")]
            for loop in loops:
                op_error(sink, loop, CONTROL_FLOW, code="E1002")
            if not loops:
                _Assignment(op, sequence, reserved, self, sink).run()


def reserved_ids(device: DeviceOp) -> dict[Tile, set[int]]:
    """The ids of the tiles' own DMA programs, and those kept back by hand."""
    found: dict[Tile, set[int]] = {}
    for op in device.block.ops:
        if isinstance(op, DmaProgram) and op.coord is not None:
            ids = {bd.bd_id for bd in op.walk() if isinstance(bd, DmaBdOp) and bd.bd_id is not None}
            found.setdefault(op.coord, set()).update(ids)
        elif isinstance(op, TileOp):
            kept = op.attributes.get(RESERVED)
            if isinstance(kept, DenseArrayBase):
                found.setdefault(op.coord, set()).update(int(n) for n in kept.get_values())
    return found


class _Assignment:
    """One sequence, from its first op to its last."""

    def __init__(
        self,
        device: DeviceOp,
        sequence: RuntimeSequenceOp,
        reserved: dict[Tile, set[int]],
        options: AssignRuntimeSequenceBdIds,
        sink: Sink,
    ) -> None:
        self.device, self.sequence, self.sink, self.options = device, sequence, sink, options
        self.names = allocations(device)
        self.ops = [op for block in sequence.body.blocks for op in block.ops]
        self.channels: dict[ChannelKey, ChannelState] = {}
        self.tiles: dict[Tile, TileIds] = {}
        self.reserved = reserved
        self.pinned = self._pins()
        self.waits = 0
        """How many waits there were so far: what was started before one of them may be known to be done."""
        self.loads = 0
        self.configured: dict[Operation, int] = {}
        self.freed: dict[Operation, Operation] = {}
        self.released: set[Operation] = set()
        self.pushes: dict[Operation, list[Push]] = {}
        self.awaited: dict[Operation, int] = {}
        self.last_start: dict[Operation, Operation] = {}
        for op in self.ops:
            if isinstance(op, DmaStartTaskOp) and isinstance(op.task.owner, DmaConfigureTaskOp):
                self.last_start[op.task.owner] = op
        self.started: set[Operation] = set()

    # --- what is known ahead ------------------------------------------------------------------------------------------

    def _pins(self) -> dict[Tile, set[int]]:
        found: dict[Tile, set[int]] = {}
        for op in self.ops:
            if isinstance(op, DmaConfigureTaskOp):
                tile = _coord(op)
                ids = {bd.bd_id for bd in descriptors(op.body) if bd.bd_id is not None}
                if tile is not None and ids:
                    found.setdefault(tile, set()).update(ids)
            elif isinstance(op, NpuDmaMemcpyNdOp) and (named := self.names.get(op.metadata)) is not None:
                tile = named.tile_op
                if tile is not None and tile.coord is not None:
                    found.setdefault(tile.coord, set()).add(op.id)
        return found

    def _ids(self, tile: Tile) -> TileIds:
        found = self.tiles.get(tile)
        if found is None:
            kept, pinned = self.reserved.get(tile, set()), self.pinned.get(tile, set())
            found = self.tiles[tile] = TileIds(frozenset(kept), frozenset(pinned))
        return found

    def _dma(self, tile: Tile) -> Dma | None:
        kind = self.device.target.tile_kind(*tile)
        return self.device.target.dma(kind) if kind is not None else None

    # --- the walk -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        for op in self.ops:
            if isinstance(op, DmaConfigureTaskOp):
                self._configure(op)
            elif isinstance(op, DmaStartTaskOp):
                self._start(op)
            elif isinstance(op, DmaAwaitTaskOp):
                self._await(op)
            elif isinstance(op, DmaFreeTaskOp):
                self._free(op)
            elif isinstance(op, NpuDmaMemcpyNdOp):
                self._memcpy(op)
            elif isinstance(op, NpuDmaWaitOp):
                self._wait(op)
            elif isinstance(op, NpuSyncOp):
                self._sync(op)
            elif isinstance(op, NpuLoadPdiOp):
                self._load()
            if self.sink.failed:
                # One wrong release makes all that follows look wrong.
                return
        for op in self.ops:
            if isinstance(op, DmaFreeTaskOp):
                op.detach()
                op.erase()

    def _task(self, op: Operation, value: SSAValue) -> DmaConfigureTaskOp | None:
        """The task an op is about; an error where it is none, or is none any more."""
        task = value.owner
        if not isinstance(task, DmaConfigureTaskOp):
            notes: list[OpNote] = []
            if isinstance(task, StartChain):
                notes = [("Lower this operation first using the --aie-materialize-bd-chains pass.", task)]
            elif isinstance(task, DmaConfigureTaskForOp):
                notes = [("Lower this operation first using the --aie-substitute-shim-dma-allocations pass.", task)]
            op_error(self.sink, op, NO_TASK, notes, code="E1002")
            return None
        return task

    def _configure(self, task: DmaConfigureTaskOp) -> None:
        tile = _coord(task)
        dma = self._dma(tile) if tile is not None else None
        if tile is None or dma is None:
            return
        self.configured[task] = self.loads
        ids, mine = self._ids(tile), Holder(task)
        reach = dma.bd_ids(task.channel)
        open_ones: list[DmaBdOp] = []
        for bd in descriptors(task.body):
            if bd.bd_id is None:
                open_ones.append(bd)
            elif not self._pin(task, bd, bd.bd_id, ids, reach, mine):
                return
        for bd in open_ones:
            number = self._pick(task, ids, reach, mine)
            if number is None:
                if not self.sink.failed:
                    self._exhausted(task, tile, ids, reach)
                return
            bd.properties["bd_id"] = IntegerAttr(number, I32)

    def _pin(self, op: Operation, bd: Operation, number: int, ids: TileIds, reach: range, mine: Holder) -> bool:
        holder = ids.held.get(number)
        if holder is not None:
            text = (
                f"Specified buffer descriptor ID {number} is already in use. Emit an aiex.dma_free_task operation to "
                "reuse BDs."
            )
            op_error(self.sink, op, text, [("held by this task", holder.op)], code="E1002")
            return False
        if number not in reach:
            text = f"pins buffer descriptor ID {number}, which cannot be submitted on this channel"
            op_error(self.sink, bd, f"{text} (it reaches {reach.start} to {reach.stop - 1})", code="E1002")
            return False
        if number in ids.reserved:
            text = f"pins buffer descriptor ID {number}, which the tile's own DMA program uses"
            op_error(self.sink, bd, text, code="E1002")
            return False
        return self._take(op, ids, number, mine)

    def _pick(self, task: Operation, ids: TileIds, reach: range, mine: Holder) -> int | None:
        """The next id to give out, the lowest that is free; where reuse in flight is an error, one that is safe."""
        found = list(ids.free(reach))
        if self.options.in_flight == "error":
            found.sort(key=lambda number: self._unsafe(ids, number))
        return found[0] if found and self._take(task, ids, found[0], mine) else None

    def _take(self, op: Operation, ids: TileIds, number: int, mine: Holder) -> bool:
        """Give an id to a task. False, and an error said, where what had it last may still run."""
        if self._unsafe(ids, number) and not self._in_flight(op, number, ids.left[number]):
            return False
        ids.left.pop(number, None)
        ids.held[number] = mine
        return True

    def _unsafe(self, ids: TileIds, number: int) -> bool:
        """Whether what used an id last may still run: it was given up without any wait since it started."""
        before = ids.left.get(number)
        return before is not None and before.waits == self.waits

    def _in_flight(self, op: Operation, number: int, before: Holder) -> bool:
        """Whether reuse in flight is let pass."""
        if self.options.in_flight == "off":
            return True
        text = (
            f"reuses buffer descriptor ID {number} while the task that had it may still be running: nothing was "
            "awaited since it started"
        )
        todo = "await a task that cannot finish before that one has, or free it later"
        notes: list[OpNote] = [("that task is here", before.op)]
        if self.options.in_flight == "warn":
            warning(self.sink, op, f"'{op.name}' op {text}", notes, code="W1002", todo=todo)
            return True
        op_error(self.sink, op, text, notes, code="E1002", todo=todo)
        return False

    def _exhausted(self, task: DmaConfigureTaskOp, tile: Tile, ids: TileIds, reach: range) -> None:
        holders: dict[Operation, list[int]] = {}
        for number in reach:
            holder = ids.held.get(number) or ids.left.get(number)
            if holder is not None:
                holders.setdefault(holder.op, []).append(number)
        kept = [n for n in reach if n in ids.reserved]
        text = (
            f"Too many simultaneously active buffer descriptors on tile ({tile[0]},{tile[1]}), which supports up to "
            f"{len(reach)}. Emit an aiex.dma_free_task / aiex.dma_await_task to reuse BDs."
        )
        notes: list[OpNote] = []
        for holder, numbers in holders.items():
            last = self.last_start.get(holder)
            over = last is None or last in self.started
            where = "; it is not started again: free or await it" if over else ""
            notes.append((f"this task holds {_counted(numbers)}{where}", holder))
        if kept:
            notes.append((f"the tile's own DMA program holds {_counted(kept)}", None))
        op_error(self.sink, task, text, notes[:24], code="E1003")

    # --- starting and waiting -----------------------------------------------------------------------------------------

    def _channel(self, key: ChannelKey) -> ChannelState:
        return self.channels.setdefault(key, ChannelState())

    def _push(self, key: ChannelKey, push: Push) -> None:
        dma = self._dma(key[0])
        state = self._channel(key)
        if dma is not None and make_room(state, push, key, dma.queue_depth, self.options.queue_check, self.sink):
            self.waits += 1
        push.waits = self.waits
        state.push(push)

    def _start(self, op: DmaStartTaskOp) -> None:
        task = self._task(op, op.task)
        key = _key(task)
        if task is None or key is None:
            return
        self.started.add(op)
        if task in self.freed:
            text = "starts a task whose buffer descriptors an earlier aiex.dma_free_task released"
            op_error(self.sink, op, text, [("freed here", self.freed[task])], code="E1002")
            return
        if self.configured.get(task, self.loads) != self.loads:
            text = "starts a task configured before an aiex.npu.load_pdi, which resets the descriptors"
            op_error(self.sink, op, text, [("configured here", task)], code="E1002")
            return
        push = Push(task, op, task.issue_token)
        self._push(key, push)
        self.pushes.setdefault(task, []).append(push)
        for holder in self._holders(task):
            holder.waits = self.waits

    def _holders(self, task: Operation) -> Iterator[Holder]:
        seen: set[int] = set()
        for ids in self.tiles.values():
            for holder in ids.held.values():
                if holder.op is task and id(holder) not in seen:
                    seen.add(id(holder))
                    yield holder

    def _await(self, op: DmaAwaitTaskOp) -> None:
        task = self._task(op, op.task)
        key = _key(task)
        if task is None or key is None:
            return
        if task in self.freed:
            text = "awaits a task that an earlier aiex.dma_free_task released"
            op_error(self.sink, op, text, [("freed here", self.freed[task])], code="E1002")
            return
        if not task.issue_token:
            # Nothing tells when it is done, which lowering says; its ids go as if it were.
            self._release(task)
            return
        starts, at = self.pushes.get(task, []), self.awaited.get(task, 0)
        if at >= len(starts):
            op_error(self.sink, op, NO_TOKEN, code="E1002")
            return
        self.awaited[task] = at + 1
        tokens = self._channel(key).finish(starts[at])
        if tokens != 1:
            op.attributes[TOKENS] = IntegerAttr(tokens, I32)
        self.waits += 1
        if all(push.done for push in starts) and self.last_start.get(task) in self.started:
            self._release(task)

    def _free(self, op: DmaFreeTaskOp) -> None:
        task = self._task(op, op.task)
        if task is None:
            return
        earlier = self.freed.get(task)
        if earlier is not None:
            numbers = [bd.bd_id for bd in descriptors(task.body)]
            text = (
                f"frees buffer descriptor ID {numbers[0] if numbers else 0}, which is not currently in use; it was "
                "already completed by an earlier aiex.dma_free_task or aiex.dma_await_task"
            )
            op_error(self.sink, op, text, [("freed here", earlier)], code="E1002")
            return
        self.freed[task] = op
        key = _key(task)
        for push in self.pushes.get(task, ()):
            if key is not None and not push.done and push.waits != self.waits:
                # Something was waited for since: the author can know.
                self._channel(key).promise(push)
        self._release(task, promise=not all(push.done for push in self.pushes.get(task, [])))

    def _release(self, task: Operation, *, promise: bool = False) -> None:
        """Give back what a task holds, by owner: ids that others have by now stay with them."""
        for ids in self.tiles.values():
            for number in [n for n, holder in ids.held.items() if holder.op is task]:
                holder = ids.held.pop(number)
                if promise:
                    ids.left[number] = holder
        self.released.add(task)

    # --- transfers with ids of their own ------------------------------------------------------------------------------

    def _named_channel(self, name: str) -> ChannelKey | None:
        found = self.names.get(name)
        tile = found.tile_op if found is not None else None
        if found is None or tile is None or tile.coord is None:
            return None
        return tile.coord, int(found.direction), found.channel

    def _memcpy(self, op: NpuDmaMemcpyNdOp) -> None:
        key = self._named_channel(op.metadata)
        dma = self._dma(key[0]) if key is not None else None
        if key is None or dma is None:
            return
        ids = self._ids(key[0])
        holder = ids.held.get(op.id)
        if holder is not None and isinstance(holder.op, NpuDmaMemcpyNdOp):
            # Such transfers are never freed: the id is reused on the author's word, if there was any wait at all.
            ids.left[op.id] = ids.held.pop(op.id)
        if self._pin(op, op, op.id, ids, dma.bd_ids(key[2]), Holder(op, self.waits)):
            self._push(key, Push(op, op, tells(op, Direction(key[1]))))

    def _wait(self, op: NpuDmaWaitOp) -> None:
        key = self._named_channel(op.symbol)
        if key is not None:
            self._take_token(key)

    def _sync(self, op: NpuSyncOp) -> None:
        values = [constant_int(v) for v in op.operands]
        if any(v is None for v in values):
            self.waits += 1
            return
        col, row, direction, channel = (v or 0 for v in values[:4])
        self._take_token(((col, row), direction, channel))

    def _take_token(self, key: ChannelKey) -> None:
        state = self._channel(key)
        if state.tokens:
            state.finish(state.tokens[0])
        self.waits += 1

    def _load(self) -> None:
        """A configuration is loaded: what was in flight or configured is gone."""
        self.loads += 1
        self.channels.clear()
        self.tiles.clear()


def _counted(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"ID {numbers[0]}"
    return f"{len(numbers)} IDs ({', '.join(map(str, numbers))})"


def _coord(task: DmaConfigureTaskOp) -> Tile | None:
    tile = task.tile_op
    return tile.coord if tile is not None else None


def _key(task: DmaConfigureTaskOp | None) -> ChannelKey | None:
    tile = _coord(task) if task is not None else None
    return None if task is None or tile is None else (tile, int(task.direction), task.channel)
