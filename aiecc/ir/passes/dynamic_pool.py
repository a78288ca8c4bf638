"""`aie-lower-dynamic-bd-pool`: tasks under run-time control flow take their descriptors' numbers from a pool."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.dialects.scf import ForOp, IfOp, WhileOp, YieldOp
from xdsl.ir import Block, Operation, SSAValue

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.aiex.tasks import DmaBdPoolPopOp, DmaBdPoolPushOp, DmaConfigureTaskOp, DmaFreeTaskOp
from aiecc.ir.dialects.constraints import I32
from aiecc.ir.errors import VerifyError
from aiecc.ir.fold.loops import body_of, make_loop, yielded
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.passes.report import op_error
from aiecc.ir.runtime.carried import channel_of_task, sources
from aiecc.ir.runtime.descriptor import place_of
from aiecc.ir.runtime.emit import i32
from aiecc.ir.runtime.pins import reserved_ids
from aiecc.ir.spans import copy_span
from aiecc.ir.walk import ops_in
from aiecc.model.targets import Tile

CODE = "E1002"
WHILE = (
    "scf.while in a runtime sequence is not supported by the dynamic BD pool path; only scf.for and scf.if are "
    "supported"
)
CHAIN = (
    "dynamic BD pool lowering supports single-BD tasks only; a multi-BD chain under a runtime-bound loop needs runtime "
    "next_bd chaining (not yet implemented)"
)
PINNED = (
    "pins a buffer descriptor ID inside a runtime-bound sequence that draws IDs from the dynamic pool; a pinned ID "
    "would collide with a runtime-allocated one. Allocate every BD in this sequence from the pool (drop the bd_id), or "
    "make the sequence straight-line so the static allocator assigns all IDs."
)
ONE_BRANCH = (
    "yields a pool-allocated task on only one branch of an scf.if; both branches must yield the task (and its buffer "
    "descriptor id) so it can be freed after the if"
)
CHANNELS = (
    "yields tasks on different physical channels (tile/direction/channel) from its two branches at the same result; a "
    "pooled buffer descriptor id and its completion sync belong to one channel"
)
LOOP_CHANNELS = (
    "carries tasks on different physical channels (tile/direction/channel) at the same place; a pooled buffer "
    "descriptor id and its completion sync belong to one channel"
)
NOT_POOLED = "does not resolve to a task allocated from the runtime pool; cannot return its buffer descriptor ID"


@dataclass(frozen=True)
class LowerDynamicBdPool(Pass):
    """Every task of such a sequence pops a number where it is configured, and pushes it back where it is freed.

    Wherever a task travels through a loop or a branch, its number travels along, as one more i32. Awaiting a task
    gives nothing back: one that is never freed keeps its number until the sequence ends.
    """

    name: ClassVar[str] = "aie-lower-dynamic-bd-pool"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Take descriptor ids from a pool at run time where a sequence has run-time loops"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        reserved = reserved_ids(op)
        for sequence in op.ops_of(RuntimeSequenceOp):
            assert isinstance(sequence, RuntimeSequenceOp)
            ops = ops_in(sequence)
            flow = [i for i in ops if isinstance(i, ForOp | IfOp | WhileOp)]
            if not flow or any(isinstance(i, DmaBdPoolPopOp | DmaBdPoolPushOp) for i in ops):
                continue
            problems = list(_problems(ops, reserved))
            for problem in problems:
                assert problem.op is not None
                op_error(sink, problem.op, problem.text, problem.notes, code=CODE)
            if not problems:
                work = _Pooling(sink)
                for block in sequence.body.blocks:
                    work.block(block)


def _problems(inside: list[Operation], reserved: dict[Tile, set[int]]) -> Iterator[VerifyError]:
    """What keeps a sequence from drawing from a pool."""
    for op in inside:
        if isinstance(op, WhileOp):
            yield VerifyError(WHILE, op)
        if not isinstance(op, DmaConfigureTaskOp):
            continue
        bds = [bd for bd in op.body.walk() if isinstance(bd, DmaBdOp)]
        if len(bds) > 1:
            yield VerifyError(CHAIN, op)
        for bd in bds:
            if bd.bd_id is not None:
                yield VerifyError(PINNED, bd)
        try:
            tile = place_of(op).tile
        except VerifyError as problem:
            yield problem
            continue
        kept = sorted(reserved.get(tile, ()))
        if kept:
            text = (
                f"draws a buffer descriptor ID at run time from all those of tile ({tile[0]}, {tile[1]}), whose own "
                f"DMA program uses ID {kept[0]}"
            )
            yield VerifyError(text, op)


@dataclass
class _Pooling:
    """One sequence, from its first op to its last."""

    sink: Sink
    ids: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """A task's value -> its number."""

    def block(self, block: Block) -> None:
        for op in list(block.ops):
            if isinstance(op, DmaConfigureTaskOp):
                self._pop(op)
            elif isinstance(op, DmaFreeTaskOp):
                self._push(op)
            elif isinstance(op, ForOp):
                self._loop(op)
            elif isinstance(op, IfOp):
                self._branch(op)
            if self.sink.failed:
                return

    def _pop(self, task: DmaConfigureTaskOp) -> None:
        col, row = place_of(task).tile
        pop = DmaBdPoolPopOp.create(result_types=[I32], properties={"column": i32(col), "row": i32(row)})
        copy_span(task, pop)
        _before(task, pop)
        task.set_bd_id(pop.bd_id)
        self.ids[task.result] = pop.bd_id

    def _push(self, op: DmaFreeTaskOp) -> None:
        id, task = self.ids.get(op.task), next(iter(sources(op.task)), None)
        if id is None or not isinstance(task, DmaConfigureTaskOp):
            op_error(self.sink, op, NOT_POOLED, code=CODE)
            return
        col, row = place_of(task).tile
        push = DmaBdPoolPushOp.create(operands=[id], properties={"column": i32(col), "row": i32(row)})
        copy_span(op, push)
        _before(op, push)
        op.detach()
        op.erase()

    def _pooled(self, op: Operation, value: SSAValue, text: str) -> bool:
        """Whether a value is always a task of the pool; an error where such tasks have not one channel."""
        found = sources(value)
        tasks = [task for task in found if isinstance(task, DmaConfigureTaskOp)]
        if len(tasks) != len(found):
            return False
        if len({channel_of_task(task) for task in tasks}) > 1:
            op_error(self.sink, op, text, [("one of the tasks is here", task) for task in tasks[:2]], code=CODE)
            return False
        return True

    def _loop(self, loop: ForOp) -> None:
        carried = [i for i, arg in enumerate(body_of(loop).args[1:]) if self._pooled(loop, arg, LOOP_CHANNELS)]
        if self.sink.failed:
            return
        if not carried:
            self.block(body_of(loop))
            return
        more = [self.ids[loop.operands[3 + i]] for i in carried]
        body = loop.detach_region(0)
        types = [result.type for result in loop.results]
        new = make_loop(loop, [*loop.operands, *more], [*types, *[I32] * len(more)], body)
        _before(loop, new)
        block = body.block
        count = len(block.args)
        for _ in more:
            block.insert_arg(I32, len(block.args))
        for k, i in enumerate(carried):
            self.ids[block.args[1 + i]] = block.args[count + k]
            self.ids[new.results[i]] = new.results[len(types) + k]
        self.block(block)
        if not self.sink.failed:
            self._yield(block, carried)
        _replace(loop, new)

    def _branch(self, op: IfOp) -> None:
        for region in op.regions:
            for block in region.blocks:
                self.block(block)
                if self.sink.failed:
                    return
        carried: list[int] = []
        for i in range(len(op.results)):
            sides = [yielded(region.block).operands[i] for region in op.regions]
            known = [side in self.ids for side in sides]
            if all(known) and self._pooled(op, op.results[i], CHANNELS):
                carried.append(i)
            elif any(known) and not all(known):
                op_error(self.sink, op, ONE_BRANCH, code=CODE)
            if self.sink.failed:
                return
        if not carried:
            return
        for region in op.regions:
            self._yield(region.block, carried)
        types = [result.type for result in op.results]
        new = IfOp.create(
            operands=list(op.operands),
            result_types=[*types, *[I32] * len(carried)],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            regions=[op.detach_region(region) for region in list(op.regions)],
            location=op.location,
        )
        _before(op, new)
        for k, i in enumerate(carried):
            self.ids[new.results[i]] = new.results[len(types) + k]
        _replace(op, new)

    def _yield(self, block: Block, carried: list[int]) -> None:
        last = yielded(block)
        assert isinstance(last, YieldOp)
        values = list(last.operands)
        last.operands = [*values, *(self.ids[values[i]] for i in carried)]


def _before(op: Operation, new: Operation) -> None:
    assert op.parent is not None
    op.parent.insert_op_before(new, op)


def _replace(old: Operation, new: Operation) -> None:
    for i, result in enumerate(old.results):
        result.replace_all_uses_with(new.results[i])
    old.detach()
    old.erase()
