"""A runtime sequence op by op: which descriptor each task gets, what its waits wait for, and what cannot be right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.chain_rules import descriptors
from aiecc.ir.dialects.aie.dma import DmaStartOp
from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aie.memory import constant_int
from aiecc.ir.dialects.aie.runtime import ObjectFifoRearmBindingOp, RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, tile_like
from aiecc.ir.dialects.aiex.control import DmaChannelResetForOp, DmaChannelResetOp
from aiecc.ir.dialects.aiex.npu import NpuLoadPdiOp, NpuPushQueueOp, NpuSyncOp
from aiecc.ir.dialects.aiex.tasks import (
    DmaAwaitTaskOp,
    DmaConfigureTaskForOp,
    DmaConfigureTaskOp,
    DmaFreeTaskOp,
    DmaStartTaskOp,
    StartChain,
)
from aiecc.ir.dialects.aiex.transfers import NpuDmaMemcpyNdOp, NpuDmaWaitOp, NpuWriteBdOp
from aiecc.ir.dialects.constraints import I32
from aiecc.ir.passes.report import OpNote, op_error, warning
from aiecc.ir.runtime.allocations import allocations
from aiecc.ir.runtime.by_hand import ByHand
from aiecc.ir.runtime.cycles import endless_starts, is_endless
from aiecc.ir.runtime.holders import Descriptors
from aiecc.ir.runtime.pins import asked_for, reserved_ids
from aiecc.ir.runtime.queues import Channels, name_of, wait_for_token
from aiecc.ir.runtime.report import NO_QUEUE
from aiecc.ir.runtime.tasks import ChannelKey, Holder, Push, tells
from aiecc.model.targets import Tile

TOKENS = "tokens"
"""On an await: how many tokens of its channel have to come, where it is not one."""

NO_TOKEN = (
    "awaits a task-completion token on a channel where no outstanding token is guaranteed to have been produced; the "
    "runtime sequence would block here forever. Ensure a prior issue_token dma_start_task on the same tile, direction "
    "and channel reaches this await"
)
NO_TASK = "does not reference a valid configure_task operation."


class Assignment:
    """One sequence, from its first op to its last, with everything that is in flight.

    queue_check, in_flight: what is done about a push that may be one too many, and about an id that is used again too
    early (`QUEUE_CHECKS`, `IN_FLIGHT`).
    """

    def __init__(
        self, device: DeviceOp, sequence: RuntimeSequenceOp, queue_check: str, in_flight: str, sink: Sink
    ) -> None:
        self.device, self.sink = device, sink
        self.names = allocations(device)
        self.ops = [op for block in sequence.body.blocks for op in block.ops]
        self.channels = Channels(device.target, queue_check, ByHand(self.ops, device.target), sink)
        self.ids = Descriptors(asked_for(self.ops, self.names), in_flight, lambda: self.channels.waits, sink)
        self.programs: dict[ChannelKey, DmaStartOp] = {}
        self.loads = 0
        self.configured: dict[Operation, int] = {}
        self.freed: dict[Operation, Operation] = {}
        self.pushes: dict[Operation, list[Push]] = {}
        self.awaited: dict[Operation, int] = {}
        self.last_start: dict[Operation, Operation] = {}
        self.started: set[Operation] = set()
        self.done_with: list[Operation] = []
        """Ops that mean nothing any more."""

    def _named_channel(self, name: str) -> ChannelKey | None:
        found = self.names.get(name)
        tile = found.tile_op if found is not None else None
        if found is None or tile is None or tile.coord is None:
            return None
        return tile.coord, int(found.direction), found.channel

    # --- the walk -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        for op in self.ops:
            if isinstance(op, DmaStartTaskOp) and isinstance(op.task.owner, DmaConfigureTaskOp):
                self.last_start[op.task.owner] = op
        self._loaded(self.device)
        for op in self.ops:
            handler = _HANDLERS.get(type(op))
            if handler is not None:
                handler(self, op)
                if self.sink.failed:
                    # One wrong release makes all that follows look wrong.
                    return
        for op in self.done_with:
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
            self._refuse(op, NO_TASK, notes)
            return None
        return task

    def _refuse(self, op: Operation, text: str, notes: list[OpNote] | None = None, todo: str = "") -> None:
        op_error(self.sink, op, text, notes or [], code="E1002", todo=todo)

    def configure(self, task: DmaConfigureTaskOp) -> None:
        tile = _coord(task)
        dma = self.channels.dma(tile) if tile is not None else None
        if tile is None or dma is None:
            return
        self.configured[task] = self.loads
        reach, mine = dma.bd_ids(task.channel), Holder(task)
        open_ones: list[DmaBdOp] = []
        for bd in descriptors(task.body):
            following = bd.next_bd_id
            if following is not None and following not in self.ids.configured(tile):
                text = f"goes on with buffer descriptor ID {following}, which nothing asks for by its number"
                self._refuse(bd, text, [], "name the block that follows (aie.next_bd), or pin the ID that is meant")
                return
            if bd.bd_id is None:
                open_ones.append(bd)
            elif not self.ids.pin(task, bd, tile, bd.bd_id, reach, mine):
                return
        for bd in open_ones:
            number = self.ids.pick(task, tile, reach, mine)
            if number is None:
                if not self.sink.failed:
                    self.ids.exhausted(task, tile, reach, self._is_started_out)
                return
            bd.properties["bd_id"] = IntegerAttr(number, I32)

    def _is_started_out(self, task: Operation) -> bool:
        """Whether a task is not started any more."""
        last = self.last_start.get(task)
        return last is None or last in self.started

    # --- starting and waiting -----------------------------------------------------------------------------------------

    def start(self, op: DmaStartTaskOp) -> None:
        task = self._task(op, op.task)
        key = _key(task)
        if task is None or key is None:
            return
        self.started.add(op)
        if task in self.freed:
            text = "starts a task whose buffer descriptors an earlier aiex.dma_free_task released"
            self._refuse(op, text, [("freed here", self.freed[task])])
            return
        if self.configured.get(task, self.loads) != self.loads:
            text = "starts a task configured before an aiex.npu.load_pdi, which resets the descriptors"
            self._refuse(op, text, [("configured here", task)])
            return
        self._push(Push(task, op, key, task.issue_token, is_endless(task)))

    def _push(self, push: Push) -> None:
        dma = self.channels.dma(push.key[0])
        if dma is not None and not dma.queue_depth:
            self._refuse(push.op, NO_QUEUE)
            return
        self.channels.push(push)
        self.pushes.setdefault(push.owner, []).append(push)
        holder = self.ids.holder(push.owner)
        if holder is not None:
            holder.waits = self.channels.waits
            if push.endless:
                holder.endless = push.key

    def wait(self, op: DmaAwaitTaskOp) -> None:
        task = self._task(op, op.task)
        key = _key(task)
        if task is None or key is None:
            return
        if task in self.freed:
            text = "awaits a task that an earlier aiex.dma_free_task released"
            self._refuse(op, text, [("freed here", self.freed[task])])
            return
        starts, at = self.pushes.get(task, []), self.awaited.get(task, 0)
        if starts and starts[-1].endless:
            text = "awaits a task whose descriptors form a cycle: it is never over, so no token comes"
            self._refuse(op, text, [("the task is here", task)], "leave the wait away; a reset of its channel ends it")
            return
        if not task.issue_token:
            # Nothing tells when it is done, which lowering says; its ids go as if it were.
            self.ids.release(task)
            return
        if at >= len(starts):
            self._refuse(op, NO_TOKEN)
            return
        push = starts[at]
        if push.lost is not None and not push.consumed:
            text = "awaits a task whose channel was stopped after it was started: its token may never come"
            self._refuse(op, text, [("started here", push.op), ("stopped here", push.lost)])
            return
        self.awaited[task] = at + 1
        tokens = self.channels.finish(push)
        if tokens != 1:
            op.attributes[TOKENS] = IntegerAttr(tokens, I32)
        if all(push.done for push in starts) and self._is_started_out(task):
            self.ids.release(task)

    def free(self, op: DmaFreeTaskOp) -> None:
        task = self._task(op, op.task)
        if task is None:
            return
        self.done_with.append(op)
        earlier = self.freed.get(task)
        if earlier is not None:
            numbers = [bd.bd_id for bd in descriptors(task.body)]
            text = (
                f"frees buffer descriptor ID {numbers[0] if numbers else 0}, which is not currently in use; it was "
                "already completed by an earlier aiex.dma_free_task or aiex.dma_await_task"
            )
            self._refuse(op, text, [("freed here", earlier)])
            return
        self.freed[task] = op
        self._give_back(task)

    def _give_back(self, owner: Operation) -> None:
        """Descriptors are given up on the author's word, which is that what they ran is over."""
        pushes = self.pushes.get(owner, ())
        for push in pushes:
            self.channels.promise(push)
        self.ids.release(owner, promise=not all(push.done for push in pushes))

    # --- transfers and descriptors with ids of their own --------------------------------------------------------------

    def memcpy(self, op: NpuDmaMemcpyNdOp) -> None:
        key = self._named_channel(op.metadata)
        dma = self.channels.dma(key[0]) if key is not None else None
        if key is None or dma is None:
            return
        self._take_over(key[0], op.id)
        mine = Holder(op, self.channels.waits)
        if self.ids.pin(op, op, key[0], op.id, dma.bd_ids(key[2]), mine):
            self._push(Push(op, op, key, tells(op, Direction(key[1]))))

    def write_bd(self, op: Any) -> None:
        tile, number = (op.field("column"), op.field("row")), op.field("bd_id")
        dma = self.channels.dma(tile)
        if dma is None or number in self.ids.of(tile).reserved:
            # Whoever writes registers may change a program on purpose.
            return
        self._take_over(tile, number)
        self.ids.pin(op, op, tile, number, range(dma.bds), Holder(op))

    def _take_over(self, tile: Tile, number: int) -> None:
        """What had an id by its number is never freed: using it again says that it is over."""
        holder = self.ids.of(tile).held.get(number)
        if holder is not None and not isinstance(holder.op, DmaConfigureTaskOp):
            self._give_back(holder.op)

    def push_queue(self, op: NpuPushQueueOp) -> None:
        tile, number = (op.column, op.row), constant_int(op.bd_id)
        if self.channels.dma(tile) is None or number is None:
            return
        holder = self.ids.of(tile).held.get(number)
        owner = op if holder is None or isinstance(holder.op, DmaConfigureTaskOp) else holder.op
        self._push(Push(owner, op, (tile, int(op.direction), op.channel), bool(op.issue_token)))

    # --- waits for channels -------------------------------------------------------------------------------------------

    def wait_for(self, op: NpuDmaWaitOp) -> None:
        key = self._named_channel(op.symbol)
        if key is not None:
            self._take_tokens(op, [key])

    def sync(self, op: NpuSyncOp) -> None:
        values = [constant_int(v) for v in op.operands[:6]]
        if any(v is None for v in values):
            self.channels.waits += 1
            return
        col, row, direction, channel, columns, rows = (v or 0 for v in values)
        problem = self.channels.problem_of((col, row), direction, channel, columns, rows)
        if problem is not None:
            self._refuse(op, f"waits for {problem}")
            return
        self._take_tokens(op, [((col + c, row + r), direction, channel) for c in range(columns) for r in range(rows)])

    def _take_tokens(self, op: Operation, keys: list[ChannelKey]) -> None:
        """A wait for any token of each channel. One that was taken ahead is not waited for again."""
        found = [(key, self.channels.take(key)) for key in keys]
        missing = [key for key, taken in found if taken is None and key not in self.channels.by_hand]
        if any(self.channels.is_used(key) for key in missing):
            self._refuse(op, NO_TOKEN)
        elif missing:
            text = f"'{op.name}' op waits for a token of {name_of(missing[0])}, on which this sequence pushes nothing"
            todo = "where nothing else does, the sequence blocks here forever"
            warning(self.sink, op, text, code="W1002", todo=todo)
        elif any(taken is False for _, taken in found):
            for key, taken in found:
                if taken is not False:
                    wait_for_token(op, key)
            self.done_with.append(op)

    # --- what stops channels ------------------------------------------------------------------------------------------

    def reset(self, op: DmaChannelResetOp) -> None:
        tile = op.tile_op
        if tile is not None and tile.coord is not None:
            self._stop(op, (tile.coord, int(op.direction), op.channel))

    def reset_for(self, op: DmaChannelResetForOp) -> None:
        for binding in self.device.ops_of(ObjectFifoRearmBindingOp):
            if not isinstance(binding, ObjectFifoRearmBindingOp) or binding.symbol != op.fifo:
                continue
            channels = zip(binding.channel_tiles, binding.channel_dirs, binding.channel_indices, strict=True)
            for value, direction, index in channels:
                tile = tile_like(value)
                if tile is not None and tile.coord is not None:
                    key = tile.coord, direction, index
                    self._stop(op, key)
                    # Its program starts again.
                    self._run_program(key)

    def _stop(self, op: Operation, key: ChannelKey) -> None:
        self.channels.stop(op, key)
        self.ids.stop(key)

    def load(self, op: NpuLoadPdiOp) -> None:
        """A configuration is loaded: what was in flight or configured is gone."""
        self.loads += 1
        self.channels.stop(op)
        module = self.device.parent
        devices = [d for d in module.ops if isinstance(d, DeviceOp)] if module is not None else []
        self._loaded(next((d for d in devices if d.symbol == op.device_ref), self.device))

    def _loaded(self, device: DeviceOp) -> None:
        """The programs of a device run."""
        self.ids.load(reserved_ids(device))
        self.programs = endless_starts(device)
        for key in self.programs:
            self._run_program(key)

    def _run_program(self, key: ChannelKey) -> None:
        start = self.programs.get(key)
        if start is not None:
            self.channels.of(key).push(Push(start, start, key, False, endless=True))


_HANDLERS: dict[type, Callable[[Assignment, Any], None]] = {
    DmaConfigureTaskOp: Assignment.configure,
    DmaStartTaskOp: Assignment.start,
    DmaAwaitTaskOp: Assignment.wait,
    DmaFreeTaskOp: Assignment.free,
    NpuDmaMemcpyNdOp: Assignment.memcpy,
    NpuWriteBdOp: Assignment.write_bd,
    NpuPushQueueOp: Assignment.push_queue,
    NpuDmaWaitOp: Assignment.wait_for,
    NpuSyncOp: Assignment.sync,
    DmaChannelResetOp: Assignment.reset,
    DmaChannelResetForOp: Assignment.reset_for,
    NpuLoadPdiOp: Assignment.load,
}


def _coord(task: DmaConfigureTaskOp) -> Tile | None:
    tile = task.tile_op
    return tile.coord if tile is not None else None


def _key(task: DmaConfigureTaskOp | None) -> ChannelKey | None:
    tile = _coord(task) if task is not None else None
    return None if task is None or tile is None else (tile, int(task.direction), task.channel)
