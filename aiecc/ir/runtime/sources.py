"""Where a transfer's memory comes from: an argument of the sequence, by way of static views, or a buffer of a tile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DenseArrayBase, MemRefType, StridedLayoutAttr
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from aiecc.ir.dialects.aie.memory import BufferOp, ExternalBufferOp, constant_int, element_bits
from aiecc.ir.dialects.aie.patterns import is_contiguous
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp

_RUNTIME = -(1 << 63)


@dataclass(frozen=True)
class HostBuffer:
    """Argument `index` of a sequence, from byte `offset` on."""

    index: int
    offset: int


def source_of(value: SSAValue) -> HostBuffer | BufferOp | ExternalBufferOp | None:
    """What a memref names; None for what cannot be followed."""
    offset = 0
    while True:
        owner = value.owner
        if isinstance(value, BlockArgument):
            block = value.block
            if isinstance(block.parent_op(), RuntimeSequenceOp):
                return HostBuffer(value.index, offset)
            return None
        if isinstance(owner, BufferOp | ExternalBufferOp):
            return owner if offset == 0 else None
        if not isinstance(owner, Operation):
            return None
        step = _step(owner)
        if step is None:
            return None
        offset += step
        value = owner.operands[0]


def _step(op: Operation) -> int | None:
    """Bytes that a view starts further on than what it is a view of; None for a view nobody can follow."""
    if op.name == "memref.cast":
        return 0
    if op.name == "memref.reinterpret_cast":
        return _reinterpreted(op)
    if op.name == "memref.subview":
        return _subview(op)
    if op.name == "memref.view":
        return constant_int(op.operands[1]) if len(op.operands) == 2 else None
    return None


def _reinterpreted(op: Operation) -> int | None:
    """Offsets of these casts count from where the memory starts. Views of views carry 0 or the offset there is, both
    for what they are a view of."""
    type = op.operands[0].type
    offsets = _static(op, "static_offsets")
    if not isinstance(type, MemRefType) or not _dense_steps(type) or offsets is None or len(offsets) != 1:
        return None
    layout = type.layout
    there = getattr(layout.offset, "data", None) if isinstance(layout, StridedLayoutAttr) else 0
    (offset,) = offsets
    if offset in (0, there):
        return 0
    bits = element_bits(type)
    return None if there or there is None or offset * bits % 8 else offset * bits // 8


def _dense_steps(type: Attribute) -> bool:
    """Whether a memref's layout, if it has one, steps by single elements."""
    if not isinstance(type, MemRefType):
        return False
    layout = type.layout
    if not isinstance(layout, StridedLayoutAttr):
        return True
    return all(getattr(stride, "data", None) == 1 for stride in layout.strides)


def _static(op: Operation, name: str) -> list[int] | None:
    attr = op.properties.get(name)
    if not isinstance(attr, DenseArrayBase):
        return None
    values = [int(v) for v in attr.get_values()]
    return None if _RUNTIME in values else values


def _subview(op: Operation) -> int | None:
    offsets, sizes, strides = (_static(op, f"static_{name}") for name in ("offsets", "sizes", "strides"))
    type, result = op.operands[0].type, op.results[0].type
    if offsets is None or sizes is None or strides is None or not isinstance(type, MemRefType):
        return None
    bits = element_bits(type)
    if any(s != 1 for s in strides) or bits % 8 or not isinstance(result, MemRefType):
        return None
    steps = _steps(type)
    if steps is None or not is_contiguous(sizes, steps):
        return None
    return sum(o * t for o, t in zip(offsets, steps, strict=True)) * bits // 8


def _steps(type: MemRefType[Attribute]) -> Sequence[int] | None:
    """The strides of a memref in elements; None where they are not known."""
    layout = type.layout
    if isinstance(layout, StridedLayoutAttr):
        found = [getattr(stride, "data", None) for stride in layout.strides]
        return None if any(s is None for s in found) else [int(s) for s in found if s is not None]
    steps: list[int] = []
    step = 1
    for size in reversed(type.get_shape()):
        if step < 0:
            return None
        steps.append(step)
        # How far the outermost dimension goes does not matter, how far others go does.
        step = -1 if size < 0 else step * max(size, 1)
    return steps[::-1]
