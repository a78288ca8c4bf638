"""Affine ops in generated code: maps and sets become Python expressions over the names of their operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import AffineMapAttr, AffineSetAttr, DenseArrayBase, IntegerAttr
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from aiecc.sim.scalars import NotModelled

if TYPE_CHECKING:
    from aiecc.sim.emit import Emitter

# What Python's own floor division and remainder give is what the affine ones mean: divisors are positive.
_FORMS = {
    AffineBinaryOpKind.Add: "({0} + {1})",
    AffineBinaryOpKind.Mul: "({0} * {1})",
    AffineBinaryOpKind.FloorDiv: "floordivs({0}, {1})",
    AffineBinaryOpKind.CeilDiv: "ceildivs({0}, {1})",
    AffineBinaryOpKind.Mod: "({0} - {1} * floordivs({0}, {1}))",
}
_COMPARE = {AffineConstraintKind.ge: ">=", AffineConstraintKind.le: "<=", AffineConstraintKind.eq: "=="}


def expression(expr: AffineExpr, dims: Sequence[str], symbols: Sequence[str]) -> str:
    """An affine expression in Python, over the names of its dimensions and symbols."""
    if isinstance(expr, AffineBinaryOpExpr):
        return _FORMS[expr.kind].format(expression(expr.lhs, dims, symbols), expression(expr.rhs, dims, symbols))
    if isinstance(expr, AffineConstantExpr):
        return str(expr.value)
    if isinstance(expr, AffineDimExpr):
        return dims[expr.position]
    if isinstance(expr, AffineSymExpr):
        return symbols[expr.position]
    raise NotModelled("its affine expression is not known")


def _map(op: Operation, key: str = "map") -> AffineMap:
    found: Attribute | None = op.properties.get(key)
    if not isinstance(found, AffineMapAttr):
        raise NotModelled(f"it has no {key}")
    return found.data


def _results(map: AffineMap, names: Sequence[str]) -> list[str]:
    dims, symbols = names[: map.num_dims], names[map.num_dims :]
    return [expression(e, dims, symbols) for e in map.results]


def _apply(e: Emitter, op: Operation) -> None:
    e.assign(op.results, _results(_map(op), e.uses(op.operands)))


def _least(e: Emitter, op: Operation) -> None:
    values = ", ".join(_results(_map(op), e.uses(op.operands)))
    e.assign(op.results, [f"{op.name.rpartition('.')[2]}(({values},))"])


def _load(e: Emitter, op: Operation) -> None:
    base, *names = e.uses(op.operands)
    e.assign(op.results, [f"{base}.load({', '.join(_results(_map(op), names))})"])


def _store(e: Emitter, op: Operation) -> None:
    value, base, *names = e.uses(op.operands)
    e.line(f"{base}.store({', '.join([value, *_results(_map(op), names)])})")


def _for(e: Emitter, op: Operation) -> None:
    segments, step = op.properties["operandSegmentSizes"], op.properties["step"]
    assert isinstance(segments, DenseArrayBase) and isinstance(step, IntegerAttr)
    low, high, _ = (int(n) for n in segments.get_values())
    names = e.uses(op.operands)
    lower = ", ".join(_results(_map(op, "lowerBoundMap"), names[:low]))
    upper = ", ".join(_results(_map(op, "upperBoundMap"), names[low : low + high]))
    e.counted(op, f"max(({lower},))", f"min(({upper},))", str(step.value.data), names[low + high :])


def _if(e: Emitter, op: Operation) -> None:
    found = op.properties["condition"]
    assert isinstance(found, AffineSetAttr)
    names = e.uses(op.operands)
    dims, symbols = names[: found.data.num_dims], names[found.data.num_dims :]
    tests = [
        f"{expression(c.lhs, dims, symbols)} {_COMPARE[c.kind]} {expression(c.rhs, dims, symbols)}"
        for c in found.data.constraints
    ]
    e.choice(op, " and ".join(tests) or "True")


def _nothing(e: Emitter, op: Operation) -> None:
    """The op around it handles a yield."""


_OPS: dict[str, Callable[[Emitter, Operation], None]] = {
    "affine.apply": _apply,
    "affine.min": _least,
    "affine.max": _least,
    "affine.load": _load,
    "affine.store": _store,
    "affine.for": _for,
    "affine.if": _if,
    "affine.yield": _nothing,
}


def emit(e: Emitter, op: Operation) -> None:
    handler = _OPS.get(op.name)
    if handler is None:
        raise NotModelled("it has no meaning here yet")
    handler(e, op)
