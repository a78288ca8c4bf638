"""Task queues: a channel holds a few pushes, and one too many is dropped without a word."""

from __future__ import annotations

from itertools import islice

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aiex.npu import NpuSyncOp
from aiecc.ir.dialects.constraints import I32
from aiecc.ir.passes.report import OpNote, op_error, warning
from aiecc.ir.runtime.tasks import ChannelKey, ChannelState, Push
from aiecc.ir.spans import copy_span

QUEUE_CHECKS = ("wait", "error", "warn", "off")
"""wait: for the oldest token where there is one, else an error. error, warn: say so. off: do not look."""


def make_room(state: ChannelState, push: Push, key: ChannelKey, depth: int, check: str, sink: Sink) -> bool:
    """See to it that a push finds room. Whether something is waited for first: the wait then stands before the push."""
    count = len(state.outstanding)
    if check == "off" or count < depth:
        return False
    oldest = state.oldest_running()
    if check == "wait" and oldest is not None:
        for _ in range(state.finish(oldest)):
            wait_for_token(push.op, key)
        return True
    (col, row), direction, channel = key
    text = (
        f"pushes a DMA task onto tile ({col},{row}) {Direction(direction).word} channel {channel}, whose task queue "
        f"is only {depth} deep, with {count} push(es) not yet known to have completed. A push onto a full queue is "
        "dropped by hardware and its transfer never runs, so whatever waits on it blocks forever."
    )
    notes: list[OpNote] = [("not known to have completed", other.op) for other in islice(state.outstanding, 4)]
    todo = "give the tasks issue_token = true and await some of them in between"
    if check == "warn":
        warning(sink, push.op, f"'{push.op.name}' op {text}", notes, code="W1004", todo=todo)
    else:
        op_error(sink, push.op, text, notes, code="E1004", todo=todo)
    return False


def wait_for_token(before: Operation, key: ChannelKey) -> None:
    """Put a wait for one token of a channel in front of an op."""
    (col, row), direction, channel = key
    numbers = [ConstantOp(IntegerAttr(n, I32), I32) for n in (col, row, direction, channel, 1, 1)]
    sync = NpuSyncOp(operands=[n.result for n in numbers])
    copy_span(before, sync, *numbers)
    assert before.parent is not None
    before.parent.insert_ops_before([*numbers, sync], before)
