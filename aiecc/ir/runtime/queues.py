"""The channels of a sequence: what was pushed on them, what is waited for, and that no queue is full when it is pushed
on. One push too many is dropped without a word.
"""

from __future__ import annotations

from itertools import islice, product

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, UnitAttr
from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aiex.npu import NpuPushQueueOp, NpuSyncOp
from aiecc.ir.dialects.constraints import I32
from aiecc.ir.passes.report import OpNote, op_error, warning
from aiecc.ir.runtime.by_hand import ByHand
from aiecc.ir.runtime.tasks import TELL, ChannelKey, ChannelState, Push
from aiecc.ir.spans import copy_span
from aiecc.model.targets import Target, Tile, TileKind
from aiecc.model.targets.tables import Dma

CODE = "E1002"
QUEUE_CHECKS = ("wait", "error", "warn", "off")
"""wait: for an earlier push, where one can be waited for, else an error. error, warn: say so. off: do not look."""


class Channels:
    """All channels while a sequence goes on. `waits`: how many waits there were so far: what was started before one of
    them may be known to be done."""

    def __init__(self, target: Target, check: str, by_hand: ByHand, sink: Sink) -> None:
        self.target, self.check, self.by_hand, self.sink = target, check, by_hand, sink
        self.waits = 0
        self.states: dict[ChannelKey, ChannelState] = {}
        self.used: set[ChannelKey] = set()

    def dma(self, tile: Tile) -> Dma | None:
        kind = self.target.tile_kind(*tile)
        return self.target.dma(kind) if kind is not None else None

    def of(self, key: ChannelKey) -> ChannelState:
        state = self.states.get(key)
        if state is None:
            state = self.states[key] = ChannelState()
        return state

    def stop(self, op: Operation, key: ChannelKey | None = None) -> None:
        """A channel is reset, or all of them are loaded anew: what was in flight is gone."""
        for each in list(self.states) if key is None else [key]:
            state = self.states.pop(each, None)
            if state is not None:
                state.stop(op)

    # --- pushes -------------------------------------------------------------------------------------------------------

    def push(self, push: Push) -> None:
        """Something is started. What cannot be started here is reported."""
        key = push.key
        state, dma = self.of(key), self.dma(key[0])
        before = state.endless
        if before is not None and key not in self.by_hand:
            text = f"pushes onto {name_of(key)} behind a task whose descriptors form a cycle: it never gets its turn"
            todo = "reset the channel before (aiex.dma_channel_reset)"
            op_error(self.sink, push.op, text, [("that task is here", before.op)], code=CODE, todo=todo)
        elif dma is not None and self.check != "off" and len(state.outstanding) >= dma.queue_depth:
            self._make_room(state, push, dma.queue_depth)
        push.waits = self.waits
        self.used.add(key)
        state.push(push)

    def is_used(self, key: ChannelKey) -> bool:
        """Whether anything was pushed on a channel so far."""
        return key in self.used

    def _make_room(self, state: ChannelState, push: Push, depth: int) -> None:
        """See to it that a push finds room: what has to be waited for first is waited for before it."""
        oldest = self._one_that_tells(state, push.key) if self.check == "wait" else None
        if oldest is not None:
            for _ in range(state.finish(oldest, asked=False)):
                wait_for_token(push.op, push.key)
            self.waits += 1
            return
        text = (
            f"pushes a DMA task onto {name_of(push.key)}, whose task queue is only {depth} deep, with "
            f"{len(state.outstanding)} push(es) not yet known to have completed. A push onto a full queue is dropped "
            "by hardware and its transfer never runs, so whatever waits on it blocks forever."
        )
        notes: list[OpNote] = [("not known to have completed", other.op) for other in islice(state.outstanding, 4)]
        todo = "give the tasks issue_token = true and await some of them in between"
        if self.check == "warn":
            warning(self.sink, push.op, f"'{push.op.name}' op {text}", notes, code="W1004", todo=todo)
        else:
            op_error(self.sink, push.op, text, notes, code="E1004", todo=todo)

    def _one_that_tells(self, state: ChannelState, key: ChannelKey) -> Push | None:
        """The oldest push that tells when it is done. On shims, whose tokens always find their way, the oldest of all
        is made to where none does."""
        found = state.oldest_running()
        if found is not None or self.target.tile_kind(*key[0]) is not TileKind.SHIM_NOC:
            return found
        found = state.outstanding[0]
        found.token = True
        state.tokens.append(found)
        if isinstance(found.op, NpuPushQueueOp):
            found.op.properties["issue_token"] = IntegerAttr(1, 1)
        else:
            found.op.attributes[TELL] = UnitAttr()
        return found

    # --- waits --------------------------------------------------------------------------------------------------------

    def finish(self, push: Push) -> int:
        """A push is waited for. Gives how many tokens of its channel that takes."""
        taken = self.of(push.key).finish(push)
        self.waits += 1
        return taken

    def take(self, key: ChannelKey) -> bool | None:
        """A wait for a token, whichever it is; see `ChannelState.take`."""
        self.waits += 1
        return self.of(key).take()

    def problem_of(self, tile: Tile, direction: int, channel: int, columns: int, rows: int) -> str | None:
        """What is wrong with some channels, by the numbers an instruction has for them."""
        if direction not in (0, 1):
            return f"direction {direction}, which is neither 0 (S2MM) nor 1 (MM2S)"
        if columns < 1 or rows < 1:
            return f"{columns} columns and {rows} rows, which is nothing"
        for col, row in product(range(tile[0], tile[0] + columns), range(tile[1], tile[1] + rows)):
            dma = self.dma((col, row))
            if dma is None:
                return f"tile ({col}, {row}), which has no DMA"
            if not 0 <= channel < dma.channels:
                return f"channel {channel} of tile ({col}, {row}), which has {dma.channels} of each direction"
        return None

    def promise(self, push: Push) -> None:
        """Believe that a push is done, where something was waited for since."""
        if not push.done and not push.endless and push.waits != self.waits:
            self.of(push.key).promise(push)


def name_of(key: ChannelKey) -> str:
    """A channel in words."""
    (col, row), direction, channel = key
    return f"tile ({col},{row}) {Direction(direction).word} channel {channel}"


def wait_for_token(before: Operation, key: ChannelKey) -> None:
    """Put a wait for one token of a channel in front of an op."""
    (col, row), direction, channel = key
    numbers = [ConstantOp(IntegerAttr(n, I32), I32) for n in (col, row, direction, channel, 1, 1)]
    sync = NpuSyncOp.create(operands=[n.result for n in numbers])
    copy_span(before, sync, *numbers)
    assert before.parent is not None
    before.parent.insert_ops_before([*numbers, sync], before)
