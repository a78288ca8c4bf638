"""Loops with bodies copied: unrolled in full, unrolled by a factor, and with the first round taken out in front."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import Attribute, Block, Operation, SSAValue

from aiecc.ir.fold.loops import body_of, is_unsigned, static_range, trip_count, yielded
from aiecc.ir.fold.scalars import number_attr
from aiecc.ir.spans import copy_span


def unroll_full(loop: Operation) -> bool:
    """Put the rounds of a loop one after the other in its place. False, and nothing changed, if it is not known how
    many there are.
    """
    found = static_range(loop)
    if found is None:
        return trip_count(loop) == 0 and _finish(loop, list(loop.operands[3:]))
    counter, _, step, *values = loop.operands
    block = body_of(loop)
    for i in range(found.trips):
        if i > 0 and block.args[0].first_use is not None:
            counter = _put(loop, arith.AddiOp(counter, step))
        values = _copy_before(block, loop, [counter, *values])
    return _finish(loop, values)


def _finish(loop: Operation, values: Sequence[SSAValue]) -> bool:
    for result, value in zip(loop.results, values, strict=True):
        result.replace_all_uses_with(value)
    loop.detach()
    loop.erase()
    return True


def unroll_by(loop: Operation, factor: int) -> Operation | None:
    """Let one round of a loop do the work of several, and a second loop, which is returned, what is left over.

    Returns None where nothing is: the loop's count is known and a multiple of the factor. A body of operations is
    copied `factor - 1` times; each copy counts from the last one's counter plus the old step.
    factor: at least 2, and no more than the loop's count where that is known.
    """
    assert factor >= 2
    found = static_range(loop)
    epilogue: Operation | None = None
    if found is None:
        middle, wide = _split_at_run_time(loop, factor)
        epilogue = _epilogue(loop, middle)
    else:
        kind = loop.operands[0].type
        chunks, rest = divmod(found.trips, factor)
        if rest:
            middle = constant_before(loop, found.low + chunks * factor * found.step, kind)
            epilogue = _epilogue(loop, middle)
        wide = constant_before(loop, found.step * factor, kind)
    _widen(loop, factor)
    loop.operands[2] = wide
    return epilogue


def _epilogue(loop: Operation, middle: SSAValue) -> Operation:
    """A copy of a loop behind it that takes over at `middle`."""
    rest = loop.clone()
    assert loop.parent is not None
    loop.parent.insert_op_after(rest, loop)
    for result, new in zip(loop.results, rest.results, strict=True):
        result.replace_all_uses_with(new)
    rest.operands = [middle, *loop.operands[1:3], *loop.results]
    loop.operands[1] = middle
    return rest


def _split_at_run_time(loop: Operation, factor: int) -> tuple[SSAValue, SSAValue]:
    """Where whole chunks end, and how wide a chunk is, for bounds nobody knows yet."""
    low, high, step = loop.operands[:3]
    most = arith.MaxUIOp if is_unsigned(loop) else arith.MaxSIOp
    wide = _put(loop, arith.MuliOp(step, constant_before(loop, factor, step.type)))
    # A loop whose upper bound lies below its lower one counts nothing.
    length = _put(loop, arith.SubiOp(_put(loop, most(high, low)), low))
    chunks = _put(loop, arith.DivUIOp(length, wide))
    return _put(loop, arith.AddiOp(low, _put(loop, arith.MuliOp(chunks, wide)))), wide


def _widen(loop: Operation, factor: int) -> None:
    """Append copies of a loop's body to it."""
    block = body_of(loop)
    last = yielded(block)
    ops = [op for op in block.ops if op is not last]
    ends = list(last.operands)
    counter: SSAValue = block.args[0]
    values = ends
    for _ in range(1, factor):
        if block.args[0].first_use is not None:
            counter = _put(last, arith.AddiOp(counter, loop.operands[2]))
        mapper: dict[SSAValue, SSAValue] = dict(zip(block.args, [counter, *values], strict=True))
        # The body's own constants serve its copies as well.
        _clone_before([op for op in ops if op.name != "arith.constant"], last, mapper)
        values = [mapper.get(value, value) for value in ends]
    last.operands = values


def peel_first(loop: Operation) -> bool:
    """Put a loop's first round in front of it. False, and nothing changed, unless it is known to have one."""
    found = static_range(loop)
    if found is None or found.trips == 0:
        return False
    values = _copy_before(body_of(loop), loop, [loop.operands[0], *loop.operands[3:]])
    second = constant_before(loop, found.low + found.step, loop.operands[0].type)
    loop.operands = [second, *loop.operands[1:3], *values]
    return True


def _copy_before(block: Block, at: Operation, arguments: Sequence[SSAValue]) -> list[SSAValue]:
    """Copy what a block holds before an operation; what its terminator hands over, in terms of the copy."""
    last = yielded(block)
    mapper: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
    _clone_before([op for op in block.ops if op is not last], at, mapper)
    return [mapper.get(value, value) for value in last.operands]


def _clone_before(ops: Sequence[Operation], at: Operation, mapper: dict[SSAValue, SSAValue]) -> None:
    assert at.parent is not None
    for op in ops:
        # `clone` sets operands once more, for the sake of what is inside.
        at.parent.insert_op_before(op.clone(mapper) if op.regions else op.clone_without_regions(mapper), at)


def _put(at: Operation, op: Operation) -> SSAValue:
    assert at.parent is not None
    copy_span(at, op)
    at.parent.insert_op_before(op, at)
    return op.results[0]


def constant_before(at: Operation, value: int, kind: Attribute) -> SSAValue:
    """A number of an integer type, made right before an operation."""
    return _put(at, arith.ConstantOp(number_attr(value, kind)))
