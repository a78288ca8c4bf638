"""`aie-vector-transfer-lowering`: vector transfers become loads and stores of memory that is contiguous.

`mlir-opt` lowers what is left with a 64-bit index, whatever the index of the module is, so nothing may be left.
A transfer that stays in bounds and follows the last dimension is a `vector.load` or `vector.store` per row. Any
other one (past the end, strided, transposed, broadcast, masked) goes element by element.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.dialects import memref, scf, vector
from xdsl.dialects.arith import AddiOp, AndIOp, CmpiOp, ConstantOp
from xdsl.dialects.builtin import IntegerAttr, MemRefType, NoneAttr, StridedLayoutAttr, VectorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr

from aiecc.base.diag import Sink
from aiecc.ir.dialects.constraints import BOOL, INDEX, number
from aiecc.ir.passes.base import ANY, Pass
from aiecc.ir.passes.report import op_error

MOST_ELEMENTS = 4096
"""Elements of a transfer that goes element by element: each is a few ops."""

_Transfer = vector.TransferReadOp | vector.TransferWriteOp


@dataclass(frozen=True)
class LowerVectorTransfers(Pass):
    """Lower every `vector.transfer_read` and `vector.transfer_write` on a memref."""

    name: ClassVar[str] = "aie-vector-transfer-lowering"
    anchor: ClassVar[str] = ANY
    summary: ClassVar[str] = "Lower vector transfers to loads and stores"

    def apply(self, op: Operation, sink: Sink) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, _Transfer):
                lower_transfer(inner, sink)


def lower_transfer(op: _Transfer, sink: Sink) -> None:
    """Put loads or stores in the place of one transfer; ops on tensors or on memrefs of vectors are left alone."""
    shape = _Shape.of(op)
    if shape is None:
        return
    if shape.contiguous:
        _rows(op, shape)
    elif math.prod(shape.sizes) > MOST_ELEMENTS:
        op_error(sink, op, f"moves more than {MOST_ELEMENTS} elements one by one; make it contiguous and in bounds")
    else:
        _elements(op, shape)


@dataclass(frozen=True)
class _Shape:
    """What a transfer covers.

    dims: the memref dimension each vector dimension runs along; None where one element is repeated.
    open_dims: vector dimensions that may run past the end.
    """

    memref: MemRefType[Attribute]
    vector: VectorType[Attribute]
    dims: tuple[int | None, ...]
    open_dims: tuple[int, ...]
    masked: bool

    @staticmethod
    def of(op: _Transfer) -> _Shape | None:
        source = op.source.type
        moved = op.result.type if isinstance(op, vector.TransferReadOp) else op.vector.type
        if not isinstance(source, MemRefType) or not isinstance(moved, VectorType):
            return None
        if source.element_type != moved.element_type:
            return None
        dims: list[int | None] = []
        for expression in op.permutation_map.data.results:
            dims.append(expression.position if isinstance(expression, AffineDimExpr) else None)
        bounded = [bool(number(b)) for b in op.in_bounds.data]
        sizes = moved.get_shape()
        open_dims = [
            j
            for j, dim in enumerate(dims)
            if dim is not None and not bounded[j] and not _fits(op, source.get_shape()[dim], dim, sizes[j])
        ]
        return _Shape(source, moved, tuple(dims), tuple(open_dims), op.mask is not None)

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.vector.get_shape()

    @property
    def contiguous(self) -> bool:
        rank = self.memref.get_num_dims()
        minor = tuple(range(rank - len(self.dims), rank))
        return self.dims == minor and not self.open_dims and not self.masked and _unit_stride(self.memref)


def _fits(op: _Transfer, bound: int, dim: int, size: int) -> bool:
    """Whether a transfer from a constant index stays inside a dimension of known size."""
    owner = op.indices[dim].owner
    start = number(owner.value) if isinstance(owner, ConstantOp) else None
    return start is not None and bound >= 0 and start + size <= bound


def _unit_stride(type: MemRefType[Attribute]) -> bool:
    if isinstance(type.layout, NoneAttr):
        return True
    if isinstance(type.layout, StridedLayoutAttr):
        strides = type.layout.get_strides()
        return not strides or strides[-1] == 1
    return False


@dataclass
class _Builder:
    """Collects the ops that go in front of the one being replaced."""

    at: Operation
    ops: list[Operation] = field(default_factory=list[Operation])

    def add(self, op: Operation) -> SSAValue:
        op.location = self.at.location
        self.ops.append(op)
        return op.results[0] if op.results else self.at.operands[0]

    def index(self, value: int) -> SSAValue:
        return self.add(ConstantOp(IntegerAttr(value, INDEX)))

    def shifted(self, start: SSAValue, by: int) -> SSAValue:
        return self.add(AddiOp(start, self.index(by))) if by else start

    def finish(self, result: SSAValue | None = None) -> None:
        block = self.at.parent_block()
        assert block is not None
        block.insert_ops_before(self.ops, self.at)
        if result is not None:
            self.at.results[0].replace_all_uses_with(result)
        block.erase_op(self.at)


def _positions(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(size) for size in sizes))


def _indices(build: _Builder, op: _Transfer, shape: _Shape, position: Sequence[int]) -> list[SSAValue]:
    """Where in the memref the element at a position of the vector is; missing positions count as 0."""
    indices = list(op.indices)
    for dim, by in zip(shape.dims, position, strict=False):
        if dim is not None:
            indices[dim] = build.shifted(indices[dim], by)
    return indices


# --- row by row -------------------------------------------------------------------------------------------------------


def _rows(op: _Transfer, shape: _Shape) -> None:
    build = _Builder(op)
    if not shape.sizes:
        _elements(op, shape)
        return
    outer, row = shape.sizes[:-1], VectorType(shape.vector.element_type, shape.sizes[-1:])
    if isinstance(op, vector.TransferWriteOp):
        for position in _positions(outer):
            part = build.add(vector.ExtractOp(op.vector, position, row)) if outer else op.vector
            build.add(vector.StoreOp(part, op.source, _indices(build, op, shape, position)))
        build.finish()
        return
    if not outer:
        build.finish(build.add(vector.LoadOp(op.source, op.indices, row)))
        return
    whole = build.add(vector.BroadcastOp(op.padding, shape.vector))
    for position in _positions(outer):
        part = build.add(vector.LoadOp(op.source, _indices(build, op, shape, position), row))
        whole = build.add(vector.InsertOp(part, whole, position))
    build.finish(whole)


# --- element by element -----------------------------------------------------------------------------------------------


def _elements(op: _Transfer, shape: _Shape) -> None:
    build = _Builder(op)
    ends = {j: _end(build, op, shape, j) for j in shape.open_dims}
    if isinstance(op, vector.TransferWriteOp):
        for position in _positions(shape.sizes):
            indices = _indices(build, op, shape, position)
            allowed = _allowed(build, op, shape, position, indices, ends)
            value = build.add(vector.ExtractOp(op.vector, position, shape.vector.element_type))
            _guarded_store(build, allowed, value, op.source, indices)
        build.finish()
        return
    whole = build.add(vector.BroadcastOp(op.padding, shape.vector))
    for position in _positions(shape.sizes):
        indices = _indices(build, op, shape, position)
        allowed = _allowed(build, op, shape, position, indices, ends)
        value = _guarded_load(build, allowed, op, indices)
        whole = build.add(vector.InsertOp(value, whole, position))
    build.finish(whole)


def _end(build: _Builder, op: _Transfer, shape: _Shape, j: int) -> SSAValue:
    dim = shape.dims[j]
    assert dim is not None
    bound = shape.memref.get_shape()[dim]
    at = build.index(dim if bound < 0 else bound)
    return build.add(memref.DimOp(op.source, at)) if bound < 0 else at


def _allowed(
    build: _Builder,
    op: _Transfer,
    shape: _Shape,
    position: Sequence[int],
    indices: Sequence[SSAValue],
    ends: dict[int, SSAValue],
) -> SSAValue | None:
    """Whether the element at a position exists and its mask bit is set; None when that is certain."""
    tests: list[SSAValue] = []
    for j, end in ends.items():
        dim = shape.dims[j]
        assert dim is not None
        tests.append(build.add(CmpiOp(indices[dim], end, "ult")))
    if op.mask is not None:
        # The mask has the memref's order of dimensions, without the repeated ones.
        at = [position[j] for _, j in sorted((d, j) for j, d in enumerate(shape.dims) if d is not None)]
        tests.append(build.add(vector.ExtractOp(op.mask, at, BOOL)))
    if not tests:
        return None
    both = tests[0]
    for test in tests[1:]:
        both = build.add(AndIOp(both, test))
    return both


def _guarded_load(build: _Builder, allowed: SSAValue | None, op: _Transfer, indices: Sequence[SSAValue]) -> SSAValue:
    assert isinstance(op, vector.TransferReadOp)
    load = memref.LoadOp.get(op.source, indices)
    if allowed is None:
        return build.add(load)
    load.location = op.location
    yes = Block([load, scf.YieldOp(load.res)])
    no = Block([scf.YieldOp(op.padding)])
    return build.add(scf.IfOp(allowed, [load.res.type], Region(yes), Region(no)))


def _guarded_store(
    build: _Builder, allowed: SSAValue | None, value: SSAValue, into: SSAValue, indices: Sequence[SSAValue]
) -> None:
    store = memref.StoreOp.get(value, into, indices)
    if allowed is None:
        build.add(store)
    else:
        store.location = build.at.location
        build.add(scf.IfOp(allowed, [], Region(Block([store, scf.YieldOp()])), Region()))
