"""`lower-affine`: loops, branches and accesses by affine expressions become scf, memref and arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from xdsl.dialects import affine, arith, memref, scf, vector
from xdsl.dialects.builtin import AffineMapAttr, DenseIntElementsAttr, IndexType, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
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

from aiecc.base.diag import Sink
from aiecc.ir.fifo.view import put_before
from aiecc.ir.passes.base import ANY, Pass
from aiecc.ir.passes.report import op_error
from aiecc.ir.spans import copy_span

OpT = TypeVar("OpT", bound=Operation)

_KINDS: dict[AffineBinaryOpKind, Callable[[SSAValue, SSAValue], Operation]] = {
    AffineBinaryOpKind.Add: arith.AddiOp,
    AffineBinaryOpKind.Mul: arith.MuliOp,
    AffineBinaryOpKind.FloorDiv: arith.FloorDivSIOp,
    AffineBinaryOpKind.CeilDiv: arith.CeilDivSIOp,
}
_COMPARE = {AffineConstraintKind.ge: "sge", AffineConstraintKind.le: "sle", AffineConstraintKind.eq: "eq"}


@dataclass(frozen=True)
class LowerAffine(Pass):
    """Affine loops, branches, loads and stores become those of scf, memref and vector, maps become arithmetic.

    Ops that split and join indices stay: they ask nothing of the loops around them. A parallel loop without results
    becomes loops one after another.
    """

    name: ClassVar[str] = "lower-affine"
    anchor: ClassVar[str] = ANY
    summary: ClassVar[str] = "Lower the affine dialect"

    def apply(self, op: Operation, sink: Sink) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, affine.ParallelOp) and inner.results:
                op_error(sink, inner, "has no lowering here", todo="write scf.for instead")
            elif inner.parent is not None:
                handler = _HANDLERS.get(inner.name)
                if handler is not None:
                    handler(_Writer(inner))


class _Writer:
    """Puts ops in the place of an affine one, with its position."""

    def __init__(self, op: Operation) -> None:
        self.op = op

    def put(self, new: OpT) -> OpT:
        copy_span(self.op, new)
        self.move(new)
        return new

    def move(self, op: Operation) -> None:
        put_before(self.op, op)

    def constant(self, value: int) -> SSAValue:
        return self.put(arith.ConstantOp(IntegerAttr(value, IndexType()))).result

    def compare(self, how: str, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.put(arith.CmpiOp(left, right, how)).result

    def value(self, expr: AffineExpr, dims: Sequence[SSAValue], symbols: Sequence[SSAValue]) -> SSAValue:
        """What an expression is."""
        if isinstance(expr, AffineConstantExpr):
            return self.constant(expr.value)
        if isinstance(expr, AffineDimExpr):
            return dims[expr.position]
        if isinstance(expr, AffineSymExpr):
            return symbols[expr.position]
        assert isinstance(expr, AffineBinaryOpExpr)
        left, right = self.value(expr.lhs, dims, symbols), self.value(expr.rhs, dims, symbols)
        if expr.kind is not AffineBinaryOpKind.Mod:
            return self.put(_KINDS[expr.kind](left, right)).results[0]
        # Never negative, unlike the remainder of a division.
        rest = self.put(arith.RemSIOp(left, right)).result
        below = self.compare("slt", rest, self.constant(0))
        return self.put(arith.SelectOp(below, self.put(arith.AddiOp(rest, right)).result, rest)).result

    def values(self, map: AffineMap, operands: Sequence[SSAValue]) -> list[SSAValue]:
        """What a map gives for its dimensions and symbols."""
        dims, symbols = operands[: map.num_dims], operands[map.num_dims :]
        return [self.value(expr, dims, symbols) for expr in map.results]

    def indices(self, operands: Sequence[SSAValue]) -> list[SSAValue]:
        """Where a load or store goes."""
        return self.values(_map(self.op), operands)

    def least(self, values: Sequence[SSAValue]) -> SSAValue:
        return self._folded(arith.MinSIOp, values)

    def most(self, values: Sequence[SSAValue]) -> SSAValue:
        return self._folded(arith.MaxSIOp, values)

    def both(self, tests: Sequence[SSAValue]) -> SSAValue:
        return self._folded(arith.AndIOp, tests)

    def _folded(self, kind: Callable[[SSAValue, SSAValue], Operation], values: Sequence[SSAValue]) -> SSAValue:
        first, *rest = values
        for value in rest:
            first = self.put(kind(first, value)).results[0]
        return first

    def loop(self, low: SSAValue, high: SSAValue, step: int, inits: Sequence[SSAValue], body: Region) -> scf.ForOp:
        return self.put(scf.ForOp(low, high, self.constant(step), inits, body))

    def end(self, values: Sequence[SSAValue]) -> None:
        """Take the affine op away, with `values` for its results."""
        for old, new in zip(self.op.results, values, strict=True):
            old.replace_all_uses_with(new)
        self.op.detach()
        self.op.erase()


def _map(op: Operation, key: str = "map") -> AffineMap:
    found: Attribute | None = op.properties.get(key)
    assert isinstance(found, AffineMapAttr)
    return found.data


def _yields(region: Region) -> Region:
    """A region whose last op yields to scf."""
    for block in region.blocks:
        last = block.last_op
        if isinstance(last, affine.YieldOp):
            writer = _Writer(last)
            writer.put(scf.YieldOp(*last.arguments))
            writer.end([])
    return region


def _apply(w: _Writer) -> None:
    w.end(w.indices(list(w.op.operands)))


def _min(w: _Writer) -> None:
    w.end([w.least(w.indices(list(w.op.operands)))])


def _max(w: _Writer) -> None:
    w.end([w.most(w.indices(list(w.op.operands)))])


def _load(w: _Writer) -> None:
    source, *rest = w.op.operands
    w.end([w.put(memref.LoadOp.get(source, w.indices(rest))).res])


def _store(w: _Writer) -> None:
    value, target, *rest = w.op.operands
    w.put(memref.StoreOp.get(value, target, w.indices(rest)))
    w.end([])


def _vector_load(w: _Writer) -> None:
    source, *rest = w.op.operands
    new = vector.LoadOp(source, w.indices(rest), w.op.results[0].type)  # pyright: ignore[reportArgumentType]
    w.end([w.put(new).result])


def _vector_store(w: _Writer) -> None:
    value, target, *rest = w.op.operands
    w.put(vector.StoreOp(value, target, w.indices(rest)))
    w.end([])


def _prefetch(w: _Writer) -> None:
    """No tile has a cache."""
    w.end([])


def _for(w: _Writer) -> None:
    op = w.op
    assert isinstance(op, affine.ForOp)
    low = w.most(w.values(op.lowerBoundMap.data, list(op.lowerBoundOperands)))
    high = w.least(w.values(op.upperBoundMap.data, list(op.upperBoundOperands)))
    loop = w.loop(low, high, op.step.value.data, list(op.inits), _yields(op.detach_region(op.body)))
    loop.attributes.update(op.attributes)
    w.end(loop.results)


def _if(w: _Writer) -> None:
    op = w.op
    assert isinstance(op, affine.IfOp)
    found, operands = op.condition.data, list(op.args)
    dims, symbols = operands[: found.num_dims], operands[found.num_dims :]
    tests = [
        w.compare(_COMPARE[c.kind], w.value(c.lhs, dims, symbols), w.value(c.rhs, dims, symbols))
        for c in found.constraints
    ]
    then, otherwise = (_yields(op.detach_region(region)) for region in list(op.regions))
    branch = w.put(scf.IfOp(w.both(tests), list(op.result_types), then, otherwise))
    branch.attributes.update(op.attributes)
    w.end(branch.results)


def _parallel(w: _Writer) -> None:
    """One loop in the other, the last dimension innermost."""
    op = w.op
    assert isinstance(op, affine.ParallelOp)
    maps, groups = (op.lowerBoundsMap, op.upperBoundsMap), (op.lowerBoundsGroups, op.upperBoundsGroups)
    operands = list(op.operands)
    split = maps[0].data.num_dims + maps[0].data.num_symbols
    lows, highs = (
        _grouped(w.values(map.data, given), group)
        for map, given, group in zip(maps, (operands[:split], operands[split:]), groups, strict=True)
    )
    block = op.body.block
    outer = w
    for low, high, step in zip(lows, highs, op.steps.data, strict=True):
        inner = Block(arg_types=[IndexType()])
        last = scf.YieldOp()
        copy_span(op, last)
        inner.add_op(last)
        loop = outer.loop(outer.most(low), outer.least(high), step.value.data, [], Region(inner))
        loop.attributes.update(op.attributes)
        block.args[0].replace_all_uses_with(inner.args[0])
        block.erase_arg(block.args[0])
        outer = _Inside(op, last)
    for moved in list(block.ops):
        moved.detach()
        if isinstance(moved, affine.YieldOp):
            moved.erase()
        else:
            outer.move(moved)
    w.end([])


class _Inside(_Writer):
    """Puts ops before another op than the affine one it replaces."""

    def __init__(self, op: Operation, before: Operation) -> None:
        super().__init__(op)
        self._before = before

    def move(self, op: Operation) -> None:
        put_before(self._before, op)


def _grouped(values: Sequence[SSAValue], groups: DenseIntElementsAttr) -> list[list[SSAValue]]:
    """The bounds of each dimension."""
    rest = iter(values)
    return [[next(rest) for _ in range(int(n))] for n in groups.get_values()]


_HANDLERS: dict[str, Callable[[_Writer], None]] = {
    "affine.apply": _apply,
    "affine.min": _min,
    "affine.max": _max,
    "affine.load": _load,
    "affine.store": _store,
    "affine.vector_load": _vector_load,
    "affine.vector_store": _vector_store,
    "affine.prefetch": _prefetch,
    "affine.for": _for,
    "affine.if": _if,
    "affine.parallel": _parallel,
}
