"""The code that stands in for one acquire or release of a core."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Block, Region, SSAValue

from aiecc.ir.dialects.aie.access import ObjectFifoAcquireOp, ObjectFifoReleaseOp
from aiecc.ir.dialects.aie.enums import LockAction
from aiecc.ir.dialects.aie.memory import LockOp, UseLockOp
from aiecc.ir.dialects.constraints import I64, INDEX
from aiecc.ir.fifo.core_held import Bounds
from aiecc.ir.fifo.core_state import EndState, Writer
from aiecc.ir.spans import copy_span

_SGE, _SLE = "sge", "sle"


def write_acquire(op: ObjectFifoAcquireOp, state: EndState, held: Bounds) -> None:
    """Take what is missing up to the count of an acquire, and replace it by the objects. `held` counts before it.

    With counting locks, n objects in all need max(n - held, 0) more, a unit of the lock for each time an object is
    repeated. Held objects are counted, not units.
    """
    writer = Writer(op, op)
    if state.held is not None:
        if state.toggled:
            _toggle_new(op, state, held)
        else:
            wanted, zero = writer.constant(op.size), writer.constant(0)
            before = writer.load(state.held)
            missing = writer.value(arith.SubiOp(wanted, before))
            more = writer.value(arith.MaxSIOp(missing, zero))
            units = more
            if state.repeats > 1:
                units = writer.value(arith.MuliOp(more, writer.constant(state.repeats)))
            for lock in state.acquired:
                writer.add(UseLockOp(lock.result, LockAction.ACQUIRE_GREATER_EQUAL, units))
            writer.store(writer.value(arith.AddiOp(before, more)), state.held)
    for k, result in enumerate(op.results):
        if any(True for _ in result.uses):
            value = writer.load(state.slots[k]) if state.slots else state.objects[0]
            result.replace_all_uses_with(value)
    op.detach()
    op.erase()


def write_release(op: ObjectFifoReleaseOp, state: EndState, held: Bounds) -> None:
    """Give the oldest objects back and move the others up.

    A core that gives back more than it holds is broken; the count then stays at zero, so that a later acquire never
    takes more than the objects it returns.
    """
    writer = Writer(op, op)
    count = op.size
    if state.held is not None:
        if state.toggled:
            value = writer.constant(1 if state.fills else 0)
            for i in range(count):
                writer.add(UseLockOp(_lock(writer, state, i), LockAction.RELEASE, value))
        else:
            units = writer.constant(count * state.repeats)
            for lock in state.released:
                writer.add(UseLockOp(lock.result, LockAction.RELEASE, units))
        given = writer.constant(count)
        left = writer.value(arith.SubiOp(writer.load(state.held), given))
        if held.low < count:
            left = writer.value(arith.MaxSIOp(left, writer.constant(0)))
        writer.store(left, state.held)
        if state.index is not None and count % state.depth:
            writer.store(_position(writer, state, count % state.depth), state.index)
    if state.slots and count % state.depth:
        values = [writer.load(slot) for slot in state.slots]
        for k, slot in enumerate(state.slots):
            writer.store(values[(k + count) % state.depth], slot)
    op.detach()
    op.erase()


# --- binary locks -----------------------------------------------------------------------------------------------------


def _toggle_new(op: ObjectFifoAcquireOp, state: EndState, held: Bounds) -> None:
    """Take the locks of the objects that are not held yet.

    A binary lock that is held cannot be taken once more: the core would wait for itself. So where it is not known how
    many objects are held, each lock that may be among them is taken under a condition.
    """
    writer = Writer(op, op)
    assert state.held is not None
    before = writer.load(state.held)
    for i in range(held.low, op.size):
        if held.high <= i:
            _take(writer, state, i)
            continue
        free = writer.value(arith.CmpiOp(before, writer.constant(i), _SLE))
        block = Block([last := scf.YieldOp()])
        copy_span(op, last)
        writer.add(scf.IfOp(free, [], Region(block), Region()))
        _take(Writer(last, op), state, i)
    if held.low < op.size:
        wanted = writer.constant(op.size)
        after = wanted if held.high <= op.size else writer.value(arith.MaxSIOp(before, wanted))
        writer.store(after, state.held)


def _take(writer: Writer, state: EndState, i: int) -> None:
    value = writer.constant(0 if state.fills else 1)
    writer.add(UseLockOp(_lock(writer, state, i), LockAction.ACQUIRE, value))


def _lock(writer: Writer, state: EndState, i: int) -> SSAValue:
    """The lock of the i-th object from the front."""
    if state.index is None:
        return state.toggled[0].result
    position = _position(writer, state, i % state.depth)
    return _picked(writer, position, state.toggled)


def _position(writer: Writer, state: EndState, ahead: int) -> SSAValue:
    """Where among the pool's objects the one stands that is so many ahead of the front; below the depth."""
    assert state.index is not None
    front = writer.load(state.index)
    if not ahead:
        return front
    total = writer.value(arith.AddiOp(front, writer.constant(ahead)))
    depth = writer.constant(state.depth)
    beyond = writer.value(arith.CmpiOp(total, depth, _SGE))
    wrapped = writer.constant(0) if ahead == 1 else writer.value(arith.SubiOp(total, depth))
    return writer.value(arith.SelectOp(beyond, wrapped, total))


def _picked(writer: Writer, position: SSAValue, locks: Sequence[LockOp]) -> SSAValue:
    """The lock at a position known only when the core runs."""
    at = writer.value(arith.IndexCastOp(position, INDEX))
    arms = [Region(Block([scf.YieldOp(lock.result)])) for lock in (locks[0], *locks)]
    choice = scf.IndexSwitchOp.create(
        operands=[at],
        result_types=[INDEX],
        properties={"cases": DenseArrayBase.from_list(I64, list(range(len(locks))))},
        regions=arms,
    )
    found = writer.value(choice)
    for inner in choice.walk():
        copy_span(choice, inner)
    return found
