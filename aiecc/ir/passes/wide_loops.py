"""Numbers that an index of 32 bits cannot hold.

An index is a word on a core, but designs count to 9223372036854775807 where they mean for ever: cut to a word that is
-1, and the loop would never run. Such loops count in 64 bits; any other index constant that does not fit is refused.
"""

from __future__ import annotations

from xdsl.dialects.arith import ConstantOp, IndexCastOp
from xdsl.dialects.builtin import AffineMapAttr, IndexType, IntegerAttr
from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation, SSAValue

from aiecc.base.diag import Sink
from aiecc.ir.dialects.constraints import I64, INDEX
from aiecc.ir.passes.report import op_error
from aiecc.ir.spans import copy_span

LOWEST, HIGHEST = -(1 << 31), (1 << 31) - 1


def widen_loops(op: Operation, sink: Sink) -> None:
    """Let the loops inside `op` that count past a word count in 64 bits, then refuse what else does not fit."""
    inside = list(op.walk())
    for loop in inside:
        if isinstance(loop, ForOp) and isinstance(loop.lb.type, IndexType) and _leaves_a_word(loop):
            _widen(loop)
    for inner in inside:
        if inner.parent is None:
            continue
        if isinstance(inner, ConstantOp) and isinstance(inner.result.type, IndexType):
            value = _constant(inner.result)
            used = any(True for _ in inner.result.uses)
            if used and value is not None and not LOWEST <= value <= HIGHEST:
                _refuse(inner, value, sink)
        elif inner.name == "affine.for":
            for bound in ("lowerBoundMap", "upperBoundMap"):
                attr = inner.properties.get(bound, inner.attributes.get(bound))
                for value in _affine_constants(attr):
                    if not LOWEST <= value <= HIGHEST:
                        _refuse(inner, value, sink)


def _refuse(op: Operation, value: int, sink: Sink) -> None:
    text = f"needs the number {value}, but an index has 32 bits on a core"
    op_error(sink, op, text, todo="loops of scf.for may count that far; compute with i64 for anything else")


def _constant(value: SSAValue) -> int | None:
    owner = value.owner
    if isinstance(owner, ConstantOp) and isinstance(owner.value, IntegerAttr):
        return int(owner.value.value.data)
    return None


def _affine_constants(attr: object) -> list[int]:
    from xdsl.ir.affine import AffineConstantExpr

    if not isinstance(attr, AffineMapAttr):
        return []
    return [expr.value for expr in attr.data.results if isinstance(expr, AffineConstantExpr)]


def _leaves_a_word(loop: ForOp) -> bool:
    """Whether a bound does not fit, or the counter steps over the last number that does before it is compared."""
    lower, upper, step = (_constant(v) for v in (loop.lb, loop.ub, loop.step))
    if any(v is not None and not LOWEST <= v <= HIGHEST for v in (lower, upper, step)):
        return True
    return upper is not None and upper + (1 if step is None else step) - 1 > HIGHEST


def _widen(loop: ForOp) -> None:
    block = loop.parent
    assert block is not None
    bounds: list[SSAValue] = []
    for value in (loop.lb, loop.ub, loop.step):
        number = _constant(value)
        made = IndexCastOp(value, I64) if number is None else ConstantOp(IntegerAttr(number, I64), I64)
        copy_span(loop, made)
        block.insert_op_before(made, loop)
        bounds.append(made.results[0])
    for at, value in enumerate(bounds):
        loop.operands[at] = value
    body = loop.body.block
    old = body.args[0]
    new = body.insert_arg(I64, 0)
    if any(True for _ in old.uses):
        cast = IndexCastOp(new, INDEX)
        copy_span(loop, cast)
        first = body.first_op
        assert first is not None
        body.insert_op_before(cast, first)
        old.replace_all_uses_with(cast.result)
    body.erase_arg(old)
