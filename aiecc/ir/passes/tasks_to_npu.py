"""`aie-dma-tasks-to-npu`: tasks become descriptors written, pushes on queues and waits for tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.scf import ForOp, IfOp, YieldOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.dma import NextBdOp
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.aiex.tasks import DmaAwaitTaskOp, DmaConfigureTaskOp, DmaStartTaskOp
from aiecc.ir.dialects.constraints import number
from aiecc.ir.errors import VerifyError
from aiecc.ir.passes.assign_sequence_ids import TOKENS
from aiecc.ir.passes.base import DEVICE, Pass
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
        for sequence in op.ops_of(RuntimeSequenceOp):
            inside = list(sequence.walk())
            for each in inside:
                if isinstance(each, DmaStartTaskOp):
                    said(sink, each, lambda each=each: _start(each))
                elif isinstance(each, DmaAwaitTaskOp):
                    said(sink, each, lambda each=each: _await(each))
            if sink.failed:
                return
            for each in inside:
                if isinstance(each, DmaConfigureTaskOp):
                    said(sink, each, lambda each=each: _configure(each))


def _task(op: Operation, value: SSAValue) -> DmaConfigureTaskOp:
    """The task behind a value, through what branches and loops hand on. Raises VerifyError where there is none."""
    seen: set[SSAValue] = set()
    while value not in seen:
        seen.add(value)
        owner = value.owner
        if isinstance(owner, DmaConfigureTaskOp):
            return owner
        if isinstance(owner, IfOp) and isinstance(value, OpResult):
            last = owner.true_region.block.last_op
            if isinstance(last, YieldOp):
                value = last.operands[value.index]
        elif isinstance(owner, ForOp) and isinstance(value, OpResult):
            last = owner.body.block.last_op
            if isinstance(last, YieldOp):
                value = last.operands[value.index]
        elif isinstance(owner, Block) and isinstance(owner.parent_op(), ForOp):
            loop = owner.parent_op()
            index = owner.args.index(value)  # pyright: ignore[reportArgumentType]
            if isinstance(loop, ForOp) and index > 0:
                value = loop.iter_args[index - 1]
    raise VerifyError("does not reference a valid configure_task operation.", op)


def _placed(task: DmaConfigureTaskOp, op: Operation) -> Place:
    try:
        return place_of(task)
    except VerifyError as problem:
        notes = [("Task configured here.", task)] if op is not task else []
        raise VerifyError(problem.text, op, notes) from None


def _start(op: DmaStartTaskOp) -> None:
    task = _task(op, op.task)
    at = _placed(task, op)
    id: int | SSAValue | None = task.bd_id
    if id is None:
        first = first_of(task)
        id = first.bd_id if first is not None else None
    if id is None:
        raise VerifyError(NO_ID, op, [(NO_ID_NOTE, op)])
    repeat = task.repeat if task.repeat is not None else task.repeat_count
    Before(op).push(at.tile, task.direction, task.channel, id, repeat, task.issue_token)
    _erase(op)


def _await(op: DmaAwaitTaskOp) -> None:
    task = _task(op, op.task)
    if not task.issue_token:
        note = ("Consider adding attribute `issue_token=true` here.", task)
        raise VerifyError("Cannot wait on a BD that is not configured to issue a token.", op, [note])
    at = _placed(task, op)
    tokens = number(op.attributes.get(TOKENS))
    for _ in range(1 if tokens is None else tokens):
        Before(op).sync(*at.tile, int(task.direction), task.channel)
    _erase(op)


def _configure(task: DmaConfigureTaskOp) -> None:
    uses = [use.operation for use in task.result.uses]
    if uses:
        raise VerifyError("Cannot lower while op still has uses.", task, [("Used here.", use) for use in uses])
    at = _placed(task, task)
    blocks = [block for block in task.body.blocks if not is_skipped(block)]
    found = [(block, descriptor_of(block, task)) for block in blocks]
    if task.bd_id is not None or any(_at_run_time(bd) for _, bd in found):
        from aiecc.ir.runtime.dynamic import write_at_run_time

        for block, bd in found:
            write_at_run_time(bd, at, _next(block, bd))
    else:
        for block, bd in found:
            _write(block, bd, at)
    _erase(task)


def _at_run_time(bd: DmaBdOp) -> bool:
    return (
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
