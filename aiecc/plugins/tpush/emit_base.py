"""What emitted code is built with: a cursor in a block, numbers, calls of the run-time ABI, buffers it wants."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, MemRefType, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from aiecc.api import copy_span
from aiecc.plugins.tpush.model import Agent, Space

GLOBAL = 1 << 32
"""Where global memory starts."""
PRIVATE = {Space.LEFT: 8, Space.RIGHT: 9, Space.ACC: 10, Space.BIAS: 11, Space.SCALING: 12}
"""Windows of the Cube's other memories."""


@dataclass(frozen=True, slots=True)
class Room:
    """A buffer that a core's code wants in a core's data memory. `base` None: to be placed.

    `origin`: the op it comes from. `ring`: the reservation it is.
    """

    name: str
    owner: Agent
    size: int
    base: int | None = None
    ring: str = ""
    origin: Operation | None = field(default=None, compare=False)


@dataclass(eq=False, slots=True)
class Code:
    """The code of one core: a block whose arguments are the addresses (i64) of `rooms`, in that order.

    `calls`: the functions it calls, with their types.
    """

    agent: Agent
    block: Block
    rooms: list[Room] = field(default_factory=list[Room])
    calls: dict[str, tuple[tuple[Attribute, ...], tuple[Attribute, ...]]] = field(
        default_factory=dict[str, tuple[tuple[Attribute, ...], tuple[Attribute, ...]]]
    )
    private: dict[Space, int] = field(default_factory=dict[Space, int])
    """Bytes used of the Cube's other memories."""


class Writer:
    """Writes at the end of a block, at the position of `origin`."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.block = code.block
        self.origin: Operation | None = None

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Write into another block for a while."""
        outer, self.block = self.block, block
        try:
            yield
        finally:
            self.block = outer

    def add(self, op: Operation) -> Operation:
        self.block.add_op(op)
        if self.origin is not None:
            for each in op.walk():
                copy_span(self.origin, each)
        return op

    # --- numbers ------------------------------------------------------------------------------------------------------

    def number(self, value: int, type: IntegerType | IndexType = i64) -> SSAValue:
        return self.add(arith.ConstantOp(IntegerAttr(value, type))).results[0]

    def plus(self, a: SSAValue, b: SSAValue | int) -> SSAValue:
        if isinstance(b, int):
            if b == 0:
                return a
            assert isinstance(a.type, IntegerType | IndexType)
            b = self.number(b, a.type)
        return self.add(arith.AddiOp(a, b)).results[0]

    def times(self, a: SSAValue, b: SSAValue | int) -> SSAValue:
        if isinstance(b, int):
            if b == 1:
                return a
            assert isinstance(a.type, IntegerType | IndexType)
            b = self.number(b, a.type)
        return self.add(arith.MuliOp(a, b)).results[0]

    def cast(self, value: SSAValue, type: IntegerType) -> SSAValue:
        """An integer or index as an integer of another width."""
        if value.type == type:
            return value
        if isinstance(value.type, IndexType):
            return self.add(arith.IndexCastOp(value, type)).results[0]
        assert isinstance(value.type, IntegerType)
        narrower = value.type.bitwidth > type.bitwidth
        return self.add((arith.TruncIOp if narrower else arith.ExtSIOp)(value, type)).results[0]

    # --- calls, cells -------------------------------------------------------------------------------------------------

    def call(self, name: str, operands: Sequence[SSAValue], results: Sequence[Attribute] = ()) -> Sequence[SSAValue]:
        self.code.calls[name] = (tuple(o.type for o in operands), tuple(results))
        return self.add(func.CallOp(name, list(operands), list(results))).results

    def room(self, room: Room) -> SSAValue:
        """The address of a buffer. Asked for again, it is the same one."""
        for known, argument in zip(self.code.rooms, self.code.block.args, strict=True):
            if known.name == room.name:
                return argument
        self.code.rooms.append(room)
        return self.code.block.insert_arg(i64, len(self.code.block.args))

    def cell(self, value: int) -> SSAValue:
        """A word of the core's own, at first `value`; made where the core's code starts."""
        cell = memref.AllocaOp.get(i32, shape=[1])
        first = self.code.block.first_op
        if first is None:
            self.code.block.add_op(cell)
        else:
            self.code.block.insert_op_before(cell, first)
        start = arith.ConstantOp(IntegerAttr(value, i32))
        zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
        store = memref.StoreOp.get(start, cell, [zero])
        self.code.block.insert_op_after(start, cell)
        self.code.block.insert_op_after(zero, start)
        self.code.block.insert_op_after(store, zero)
        if self.origin is not None:
            for each in (cell, start, zero, store):
                copy_span(self.origin, each)
        return cell.results[0]

    def read(self, cell: SSAValue) -> SSAValue:
        zero = self.number(0, IndexType())
        return self.add(memref.LoadOp.get(cell, [zero])).results[0]

    def step(self, cell: SSAValue, tag: SSAValue, count: int) -> None:
        """The next tag: (tag + 1) mod count."""
        limit = self.number(count, i32)
        after = self.add(arith.RemUIOp(self.plus(tag, 1), limit)).results[0]
        zero = self.number(0, IndexType())
        self.add(memref.StoreOp.get(after, cell, [zero]))


CELL = MemRefType(i32, [1])
