"""`aie-dma-tasks-to-npu`: tasks become descriptors written, pushes on queues and waits for tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.scf import ForOp, IfOp, YieldOp
from xdsl.ir import Block, Operation, SSAValue

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.chain_rules import descriptors
from aiecc.ir.dialects.aie.dma import NextBdOp
from aiecc.ir.dialects.aie.memory import constant_int, element_bits
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.aiex.tasks import DmaAwaitTaskOp, DmaConfigureTaskOp, DmaStartTaskOp
from aiecc.ir.dialects.constraints import INDEX, number
from aiecc.ir.errors import VerifyError
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.passes.report import warning
from aiecc.ir.runtime.assignment import NO_TASK, TOKENS
from aiecc.ir.runtime.bounds import Bounds
from aiecc.ir.runtime.carried import channel_of_task, id_of, sources
from aiecc.ir.runtime.descriptor import (
    WHILE,
    Fixed,
    Place,
    address_of,
    descriptor_of,
    fields_of,
    first_of,
    is_skipped,
    place_of,
)
from aiecc.ir.runtime.emit import Before
from aiecc.ir.runtime.report import said
from aiecc.ir.runtime.tasks import TELL
from aiecc.ir.walk import ops_in
from aiecc.model.targets import TileKind

NO_ID = "First buffer descriptor in chain has not been assigned an ID"
NO_ID_NOTE = "Run the `aie-assign-runtime-sequence-bd-ids` pass first or manually assign an ID."


@dataclass(frozen=True)
class DmaTasksToNpu(Pass):
    """A task's descriptors are written where it is configured; starting and awaiting it become a push and a wait."""

    name: ClassVar[str] = "aie-dma-tasks-to-npu"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Lower the DMA tasks of runtime sequences to instructions"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        bounds = Bounds(sink)
        for sequence in op.ops_of(RuntimeSequenceOp):
            ops = ops_in(sequence)
            _tell_iterations(ops, sink)
            places: Places = {}
            for each in ops:
                if isinstance(each, DmaStartTaskOp):
                    said(sink, each, lambda each=each, places=places: _start(each, places))
                elif isinstance(each, DmaAwaitTaskOp):
                    said(sink, each, lambda each=each, places=places: _await(each, places))
            if sink.failed:
                return
            for each in ops:
                if isinstance(each, DmaConfigureTaskOp):
                    said(sink, each, lambda each=each, places=places: _configure(each, places, bounds))


def _tell_iterations(ops: list[Operation], sink: Sink) -> None:
    """Warn where a descriptor's iterations are more than its task's runs: the outermost dimension counts runs, it does
    not make any. Iterations go on from one start to the next."""
    starts: dict[DmaConfigureTaskOp, list[DmaStartTaskOp]] = {}
    told: set[object] = set()
    for op in ops:
        if isinstance(op, DmaStartTaskOp) and isinstance(op.task.owner, DmaConfigureTaskOp):
            starts.setdefault(op.task.owner, []).append(op)
    for task, each in starts.items():
        if task.repeat is not None or any(op.parent is not task.parent for op in each):
            continue
        runs = (task.repeat_count + 1) * len(each)
        most = max((bd.sizes[-4] for bd in descriptors(task.body) if bd.sizes and len(bd.sizes) == 4), default=1)
        if runs >= most or runs < 1:
            continue
        only = "its first iteration runs" if runs == 1 else f"its first {runs} iterations run"
        text = (
            f"iteration dimension of size {most} is pushed with repeat_count {task.repeat_count}, so only {only}; set "
            f"repeat_count = {most - 1}"
        )
        # Of a loop that was written out every round says the same.
        if (key := (text, each[0].location)) not in told:
            told.add(key)
            warning(sink, each[0], text, [("the task is configured here", task)], code="W1002")


def _task(op: Operation, value: SSAValue) -> DmaConfigureTaskOp:
    """The task behind a value. Where branches and loops hand on one of several, they are alike in all that an
    instruction says but the descriptor. Raises VerifyError where there is none, or they differ.
    """
    found = sources(value)
    tasks = [task for task in found if isinstance(task, DmaConfigureTaskOp)]
    if not tasks or len(tasks) != len(found):
        raise VerifyError(NO_TASK, op)
    first = tasks[0]
    for other in tasks[1:]:
        if _alike(first) != _alike(other):
            text = "may be about tasks that differ in their channel, their repeat count or their token"
            raise VerifyError(text, op, [("one is here", first), ("another is here", other)])
    return first


def _alike(task: DmaConfigureTaskOp) -> tuple[object, ...]:
    return *channel_of_task(task), task.issue_token, task.repeat if task.repeat is not None else task.repeat_count


Places = dict[SSAValue, Place]
"""By the value of the tile: tiles stay where they are while this pass runs."""


def _placed(task: DmaConfigureTaskOp, op: Operation, places: Places) -> Place:
    known = places.get(task.tile)
    if known is not None:
        return Place(task, known.target, known.tile, known.kind, known.dma)
    try:
        found = places[task.tile] = place_of(task)
        return found
    except VerifyError as problem:
        notes = [("Task configured here.", task)] if op is not task else []
        raise VerifyError(problem.text, op, notes) from None


def _start(op: DmaStartTaskOp, places: Places) -> None:
    task = _task(op, op.task)
    at = _placed(task, op, places)
    id: int | SSAValue | None = id_of(op.task)
    if id is None and op.task.owner is task:
        first = first_of(task)
        id = first.bd_id if first is not None else None
    if id is None:
        raise VerifyError(NO_ID, op, [(NO_ID_NOTE, op)])
    repeat = task.repeat if task.repeat is not None else task.repeat_count
    most, known = at.dma.repeat_max, repeat if isinstance(repeat, int) else constant_int(repeat)
    if known is not None and not 0 <= known <= most:
        raise VerifyError(f"Repeat count exceeds the [0:{most}] range.", op, [("Task configured here.", task)])
    Before(op).push(at.tile, task.direction, task.channel, id, repeat, task.issue_token or TELL in op.attributes)
    _erase(op)


def _await(op: DmaAwaitTaskOp, places: Places) -> None:
    task = _task(op, op.task)
    if not task.issue_token:
        notes = [
            ("Consider adding attribute `issue_token=true` here.", task),
            ("or use aiex.dma_free_task here, where no wait is meant", op),
        ]
        raise VerifyError("Cannot wait on a BD that is not configured to issue a token.", op, notes)
    at = _placed(task, op, places)
    tokens = number(op.attributes.get(TOKENS))
    for _ in range(1 if tokens is None else tokens):
        Before(op).sync(*at.tile, int(task.direction), task.channel)
    _erase(op)


def _configure(task: DmaConfigureTaskOp, places: Places, bounds: Bounds) -> None:
    if _is_only_carried(task):
        task.result.replace_all_uses_with(Before(task).put(ConstantOp(IntegerAttr(0, INDEX))).results[0])
    uses = [use.operation for use in task.result.uses]
    if uses:
        raise VerifyError("Cannot lower while op still has uses.", task, [("Used here.", use) for use in uses])
    at = _placed(task, task, places)
    blocks = [block for block in task.body.blocks if not is_skipped(block)]
    found = [(block, descriptor_of(block, task)) for block in blocks]
    if task.bd_id is not None or any(_at_run_time(bd) for _, bd in found):
        from aiecc.ir.runtime.dynamic import write_at_run_time

        for block, bd in found:
            write_at_run_time(bd, at, _next(block, bd))
    else:
        for block, bd in found:
            _write(block, bd, at)
    for _, bd in found:
        bounds.of_task(bd, task)
    _erase(task)


def _is_only_carried(task: DmaConfigureTaskOp) -> bool:
    """Whether a task's value is handed on by loops and branches, and nothing asks for it any more."""
    seen: set[SSAValue] = set()
    todo: list[SSAValue] = [task.result]
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            op, index = use.operation, use.index
            if isinstance(op, YieldOp):
                op = op.parent_op()
            elif isinstance(op, ForOp):
                index -= 3
            if not isinstance(op, ForOp | IfOp) or index < 0:
                return False
            todo.append(op.results[index])
            if isinstance(op, ForOp):
                todo.append(op.body.block.args[1 + index])
    return len(seen) > 1


def _at_run_time(bd: DmaBdOp) -> bool:
    return bd.has_values and (
        bd.sizes is None
        or bd.strides is None
        or bd.offset is None
        or (bd.len_operand is not None and bd.given_len is None)
        or bd.bd_id_val is not None
    )


def _write(block: Block, bd: DmaBdOp, at: Place) -> None:
    """The registers of one descriptor, then its address."""
    if bd.bd_id is None:
        advice = "Run the `--aie-assign-runtime-sequence-bd-ids` pass first or manually assign an ID to this buffer"
        notes = [(f"{advice} descriptor.", bd), (WHILE, at.task)]
        raise VerifyError("Cannot lower buffer descriptor without assigned ID.", bd, notes)
    if bd.bd_id not in range(at.dma.bds):
        raise VerifyError("BD ID exceeds the maximum ID.", bd, [(WHILE, at.task)])
    fields = fields_of(bd, at, _next(block, bd))
    address = address_of(bd, at)
    put = Before(at.task)
    put.write_bd(fields)
    register = at.target.bd_address(*at.tile, bd.bd_id)
    assert register is not None
    register += at.dma.bd_address_offset
    if not isinstance(address, Fixed):
        put.patch(register, address.argument, address.plus)
    elif at.kind is TileKind.CORE:
        put.mask_write32(register, address.address // 4 << 14, 0x0FFFC000)
    elif at.kind is TileKind.MEM:
        put.mask_write32(register, address.address // 4, 0x7FFFF)
    else:
        put.write32(register, address.address)
    put.shift_address(register, bd.offset_state_table_idx, element_bits(bd.buffer.type) // 8)


def _next(block: Block, bd: DmaBdOp) -> int | None:
    """The id of the descriptor that follows."""
    last = block.last_op
    if not isinstance(last, NextBdOp):
        return bd.next_bd_id
    if bd.next_bd_id is not None:
        note = ("Potentially conflicting next buffer descriptor ID specified here.", last)
        raise VerifyError("Cannot specify both next_bd_id attribute and aie.next_bd operation.", bd, [note])
    after = next((op for op in last.successors[0].ops if isinstance(op, DmaBdOp)), None)
    return after.bd_id if after is not None else None


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()
