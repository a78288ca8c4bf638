"""What a core remembers of one endpoint while it runs: its objects in rotation, how many it holds, the next lock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, MemRefType, UnitAttr
from xdsl.dialects.memref import AllocaOp, LoadOp, ReinterpretCastOp, StoreOp, SubviewOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from aiecc.ir.dialects.aie.enums import Role
from aiecc.ir.dialects.aie.memory import LockOp
from aiecc.ir.dialects.aie.pools import CoreEndpointOp, ObjectFifoPoolOp
from aiecc.ir.dialects.aie.segments import seen_type, selected
from aiecc.ir.dialects.constraints import I32, I64
from aiecc.ir.fifo.marks import BOOKKEEPING, OBJECT
from aiecc.ir.spans import copy_span


class Writer:
    """Puts ops right before one op, each at the position of the op it was made for."""

    def __init__(self, before: Operation, source: Operation) -> None:
        assert before.parent is not None
        self._block = before.parent
        self._before = before
        self._source = source

    def add(self, op: Operation) -> OpResult | None:
        """Insert an op; gives its result, if it has one."""
        copy_span(self._source, op)
        self._block.insert_op_before(op, self._before)
        return op.results[0] if op.results else None

    def value(self, op: Operation) -> SSAValue:
        """Insert an op that has a result."""
        found = self.add(op)
        assert found is not None
        return found

    def constant(self, value: int) -> SSAValue:
        """An i32."""
        return self.value(ConstantOp(IntegerAttr(value, I32)))

    def slot(self, type: Attribute, mark: str, first: SSAValue) -> AllocaOp:
        """A place for one value, and what it starts with."""
        made = AllocaOp.create(
            result_types=[MemRefType(type, [])],
            properties={"operandSegmentSizes": DenseArrayBase.from_list(I32, [0, 0])},
            attributes={mark: UnitAttr()},
        )
        self.add(made)
        self.store(first, made)
        return made

    def load(self, slot: AllocaOp) -> SSAValue:
        return self.value(LoadOp.get(slot.memref, []))

    def store(self, value: SSAValue, slot: AllocaOp) -> None:
        self.add(StoreOp.get(value, slot.memref, []))


@dataclass
class EndState:
    """An endpoint as its core works it.

    `acquired` and `released` are the locks that each acquire and each release uses, one per selected segment; on
    devices with binary locks `toggled` are the pool's, one per object, instead. All are empty without synchronization.
    `objects` are the buffers, or the views of their segments, in the order in which the core gets them.
    """

    end: CoreEndpointOp
    pool: ObjectFifoPoolOp
    type: Attribute
    buffers: Sequence[SSAValue]
    acquired: Sequence[LockOp] = ()
    released: Sequence[LockOp] = ()
    toggled: Sequence[LockOp] = ()
    objects: list[SSAValue] = field(default_factory=list[SSAValue])
    slots: list[AllocaOp] = field(default_factory=list[AllocaOp])
    held: AllocaOp | None = None
    index: AllocaOp | None = None

    @property
    def depth(self) -> int:
        return self.pool.depth

    @property
    def fills(self) -> bool:
        return self.end.role is Role.FILLS

    @property
    def start(self) -> int:
        """Which object comes first: a filler begins behind those that are there from the start."""
        values = self.pool.init_values
        if not self.fills or values is None:
            return 0
        return len(values.data) % self.depth

    @property
    def repeats(self) -> int:
        """How many units of a lock stand for one object."""
        return self.pool.repeat_count or 1

    def prepare(self, writer: Writer, uses_objects: bool, binary: bool) -> None:
        """Write what stands at the start of the core."""
        if uses_objects:
            seen = [self._view(writer, buffer) for buffer in self.buffers]
            self.objects = [seen[(self.start + k) % self.depth] for k in range(self.depth)]
            if self.depth > 1:
                self.slots = [writer.slot(self.type, OBJECT, value) for value in self.objects]
        if self.acquired or self.released or self.toggled:
            self.held = writer.slot(I32, BOOKKEEPING, writer.constant(0))
        if binary and self.toggled and self.depth > 1:
            self.index = writer.slot(I32, BOOKKEEPING, writer.constant(self.start))

    def _view(self, writer: Writer, buffer: SSAValue) -> SSAValue:
        """A buffer as this endpoint sees it."""
        if self.type == self.pool.elem_type:
            return buffer
        whole, part = cast("MemRefType[Attribute]", buffer.type), cast("MemRefType[Attribute]", self.type)
        offset, size = _run(self)
        fixed = {
            "operandSegmentSizes": DenseArrayBase.from_list(I32, [1, 0, 0, 0]),
            "static_offsets": DenseArrayBase.from_list(I64, [offset]),
            "static_sizes": DenseArrayBase.from_list(I64, [size]),
            "static_strides": DenseArrayBase.from_list(I64, [1]),
        }
        # A subview keeps the rank, and what an endpoint sees has one dimension.
        kind = SubviewOp if len(whole.get_shape()) == 1 else ReinterpretCastOp
        return writer.value(kind.create(operands=[buffer], result_types=[part], properties=dict(fixed)))


def _run(state: EndState) -> tuple[int, int]:
    """The first element of an endpoint's segments and how many there are."""
    chosen = selected(state.pool, state.end.segments)
    return chosen[0].offset, sum(segment.size for segment in chosen)


def object_type(pool: ObjectFifoPoolOp, end: CoreEndpointOp) -> Attribute:
    """The memref by which an endpoint's core knows its objects."""
    return seen_type(pool, end.segments) or pool.elem_type
