"""`aie-objectfifo-lower-cores`: what cores do with pools becomes locks and a rotation of buffers."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation, SSAValue

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.access import ObjectFifoAcquireOp, ObjectFifoReleaseOp
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.memory import LockOp
from aiecc.ir.dialects.aie.pools import CoreEndpointOp, ObjectFifoPoolOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.constraints import I64, number
from aiecc.ir.fifo.core_code import write_acquire, write_release
from aiecc.ir.fifo.core_held import Access, HeldBounds
from aiecc.ir.fifo.core_state import EndState, Writer, object_type
from aiecc.ir.fifo.marks import UNROLL
from aiecc.ir.fifo.view import FifoView
from aiecc.ir.fold.promote import promote
from aiecc.ir.fold.slots import STRUCTURED
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.passes.report import OpNote, op_error

FifoAccessOp: TypeAlias = ObjectFifoAcquireOp | ObjectFifoReleaseOp

_LEFT = (
    "objectFifo bookkeeping slot could not be promoted to SSA (mem2reg left it in place); the objectFifo lowering "
    "requires all bookkeeping counters to become loop-carried SSA values"
)


@dataclass(frozen=True)
class ObjectFifoLowerCores(Pass):
    """Lower every acquire and release that names a core endpoint, always in the form that works at run time.

    How many objects a core holds of an endpoint is counted in SSA values; the objects themselves rotate through
    rank-0 slots, which unrolling resolves later. Loops get a hint: after how many rounds their objects repeat.
    """

    name: ClassVar[str] = "aie-objectfifo-lower-cores"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Lower objectFifo acquires and releases in cores to locks and buffers"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        view = FifoView(op)
        if not view.core_ends:
            return
        states = _States(view, sink)
        cores = [inner for inner in op.block.ops if isinstance(inner, CoreOp)]
        # All cores are looked at before one is changed: every fault is told.
        plans = [plan for core in cores if (plan := states.plan(core)) is not None]
        if sink.failed:
            return
        for plan in plans:
            plan.lower(sink)
        for end in view.core_ends.values():
            end.detach()
            end.erase()


@dataclass
class _Plan:
    """The accesses of one core in program order, and what it has to remember of each endpoint."""

    core: CoreOp
    accesses: list[FifoAccessOp]
    states: dict[str, EndState]
    binary: bool

    def lower(self, sink: Sink) -> None:
        entry = self.core.body.blocks[0]
        first = entry.first_op
        assert first is not None
        known = HeldBounds(
            self.core.body,
            {op: Access(op.fifo_name, op.size, isinstance(op, ObjectFifoAcquireOp)) for op in self.accesses},
            {name: state.depth for name, state in self.states.items()},
        )
        used = {op.fifo_name for op in self.accesses if any(any(True for _ in result.uses) for result in op.results)}
        sources: dict[str, Operation] = {}
        for op in self.accesses:
            sources.setdefault(op.fifo_name, op)
        for name, state in self.states.items():
            state.prepare(Writer(first, sources[name]), name in used, self.binary)
        self._hint()
        for op in self.accesses:
            state = self.states[op.fifo_name]
            if isinstance(op, ObjectFifoAcquireOp):
                write_acquire(op, state, known.before[op])
            else:
                write_release(op, state, known.before[op])
        counters = [slot for s in self.states.values() for slot in (s.held, s.index) if slot is not None]
        for slot in promote(self.core, counters):
            notes: list[OpNote] = []
            barrier = self._barrier(slot)
            if barrier is not None:
                notes.append((f"no count can be carried into and out of this '{barrier.name}'", barrier))
            op_error(sink, slot, _LEFT, notes, todo="" if barrier is None else "write scf.for or scf.if instead")

    def _barrier(self, slot: Operation) -> Operation | None:
        """The op around an access that the value of a slot cannot get past."""
        for use in slot.results[0].uses:
            around = use.operation.parent_op()
            while around is not None and around is not self.core:
                if not isinstance(around, STRUCTURED):
                    return around
                around = around.parent_op()
        return None

    def _hint(self) -> None:
        """Tell each loop that stands nearest around an access after how many rounds its objects come again."""
        for op in self.accesses:
            around = op.parent_op()
            while around is not None and around is not self.core and not isinstance(around, ForOp):
                around = around.parent_op()
            if isinstance(around, ForOp):
                before = number(around.attributes.get(UNROLL)) or 1
                around.attributes[UNROLL] = IntegerAttr(lcm(before, self.states[op.fifo_name].depth), I64)


class _States:
    """What a device's pools offer their cores. Each fault of a pool is told once."""

    def __init__(self, view: FifoView, sink: Sink) -> None:
        self._view = view
        self._sink = sink
        self._blamed: set[str] = set()
        self._binary = not view.target.semaphore_locks

    def plan(self, core: CoreOp) -> _Plan | None:
        """How to lower a core; None when there is nothing to lower, or something wrong."""
        ends = self._view.core_ends
        accesses: list[FifoAccessOp] = [
            op
            for op in core.body.walk()
            if isinstance(op, ObjectFifoAcquireOp | ObjectFifoReleaseOp) and op.fifo_name in ends
        ]
        states: dict[str, EndState] = {}
        acquired = {op.fifo_name for op in accesses if isinstance(op, ObjectFifoAcquireOp)}
        fine = True
        for op in accesses:
            name = op.fifo_name
            if name not in states:
                state = self._state(ends[name])
                if state is None:
                    fine = False
                    continue
                states[name] = state
            fine = self._possible(op, states[name], name in acquired) and fine
        return _Plan(core, accesses, states, self._binary) if fine and accesses else None

    def _possible(self, op: FifoAccessOp, state: EndState, acquired: bool) -> bool:
        if isinstance(op, ObjectFifoAcquireOp):
            if op.size > state.depth:
                op_error(self._sink, op, f"acquires {op.size} objects from a pool of {state.depth}")
                return False
        elif op.size > state.depth:
            op_error(self._sink, op, f"releases {op.size} objects of a pool of {state.depth}")
            return False
        elif self._binary and not acquired:
            op_error(self._sink, op, "objectFifo release has no corresponding acquire on this tile")
            return False
        return True

    def _blame(self, pool: ObjectFifoPoolOp, text: str) -> None:
        if pool.symbol not in self._blamed:
            self._blamed.add(pool.symbol)
            op_error(self._sink, pool, text)

    def _state(self, end: CoreEndpointOp) -> EndState | None:
        """An endpoint with its buffers and locks; None when they are not all there."""
        pool = self._view.pool_of(end)
        buffers = self._buffers(pool)
        if buffers is None:
            return None
        state = EndState(end, pool, object_type(pool, end), buffers)
        if self._binary:
            locks = self._locks(pool, pool.locks)
            if locks is None:
                return None
            state.toggled = locks
            return state
        segments = self._view.segments_of(end)
        produce = self._locks(pool, [s.produce_lock for s in segments])
        consume = self._locks(pool, [s.consume_lock for s in segments])
        if produce is None or consume is None:
            return None
        state.acquired, state.released = (produce, consume) if state.fills else (consume, produce)
        return state

    def _buffers(self, pool: ObjectFifoPoolOp) -> list[SSAValue] | None:
        found = [self._view.buffers.get(name) for name in pool.buffers]
        values = [buffer.result for buffer in found if buffer is not None]
        if len(values) != pool.depth:
            self._blame(pool, "expects every one of its 'depth' buffers to resolve")
            return None
        return [*values]

    def _locks(self, pool: ObjectFifoPoolOp, names: list[str | None] | tuple[str, ...]) -> list[LockOp] | None:
        """The locks of these names; those that are left out are none."""
        found: list[LockOp] = []
        for name in names:
            if name is None:
                continue
            lock = self._view.locks.get(name)
            if lock is None:
                self._blame(pool, f"names lock @{name}, which its device does not have")
                return None
            found.append(lock)
        return found
