"""Arithmetic at run time: as much of it as is known is done now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.arith import (
    AddiOp,
    CmpiOp,
    DivUIOp,
    ExtUIOp,
    IndexCastOp,
    MuliOp,
    OrIOp,
    SelectOp,
    ShLIOp,
    SubiOp,
    TruncIOp,
)
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, UnitAttr
from xdsl.ir import Attribute, SSAValue

from aiecc.ir.dialects.aie.memory import constant_int
from aiecc.ir.dialects.aiex.npu import (
    NpuAddressPatchOp,
    NpuAssertBdDivisibleOp,
    NpuAssertBdFieldOp,
    NpuBlockWriteValuesOp,
)
from aiecc.ir.dialects.constraints import I32
from aiecc.ir.runtime.emit import UI32, Before, i32

Value = int | SSAValue
"""A number, or an i32 computed at run time."""


class Arith(Before):
    """Arithmetic in front of an op: on numbers at once, on values by i32 operations."""

    def narrow(self, value: Value) -> Value:
        """A value as i32, whatever type it was computed in; a number where it is a constant."""
        if isinstance(value, int):
            return value
        known = constant_int(value)
        if known is not None:
            return known
        kind = value.type
        if isinstance(kind, IndexType):
            return self.put(IndexCastOp(value, I32)).results[0]
        if isinstance(kind, IntegerType) and kind.width.data != 32:
            return self.put((TruncIOp if kind.width.data > 32 else ExtUIOp)(value, I32)).results[0]
        return value

    def _two(self, op: Any, a: Value, b: Value) -> SSAValue:
        return self.put(op(self.number(a), self.number(b))).results[0]

    def mul(self, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if 0 in (a, b):
            return 0
        if a == 1:
            return b
        return a if b == 1 else self._two(MuliOp, a, b)

    def add(self, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if a == 0:
            return b
        return a if b == 0 else self._two(AddiOp, a, b)

    def minus_one(self, a: Value) -> Value:
        return a - 1 if isinstance(a, int) else self._two(SubiOp, a, 1)

    def divide(self, a: Value, b: int) -> Value:
        if b == 1:
            return a
        return a // b if isinstance(a, int) else self._two(DivUIOp, a, b)

    def choose(self, predicate: str, a: Value, b: int, yes: Value, no: Value) -> Value:
        """`yes` if `a` compares to `b`, else `no`. Predicates are MLIR's: `ne`, `sgt`, `uge`."""
        if isinstance(a, int):
            found = {"ne": a != b, "sgt": a > b, "uge": a & 0xFFFFFFFF >= b}[predicate]
            return yes if found else no
        if yes is no or (isinstance(yes, int) and yes == no):
            return yes
        test = self.put(CmpiOp(a, self.number(b), predicate)).results[0]
        return self.put(SelectOp(test, self.number(yes), self.number(no))).results[0]

    def combine(self, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            return a | b
        if a == 0:
            return b
        return a if b == 0 else self._two(OrIOp, a, b)

    def shift(self, a: Value, by: int) -> Value:
        if by == 0:
            return a
        return a << by if isinstance(a, int) else self._two(ShLIOp, a, by)

    # --- guards -------------------------------------------------------------------------------------------------------

    def within(self, value: Value, most: int) -> None:
        """Let the host refuse a value above `most` or below 0. Numbers were checked."""
        if isinstance(value, SSAValue):
            self.put(NpuAssertBdFieldOp.create(operands=[value], properties={"max": i32(most)}))

    def divisible(self, value: Value, divisor: int, *, unit: bool = False) -> None:
        """Let the host refuse a value that is no multiple; `unit`: 1 is fine as well."""
        if isinstance(value, SSAValue) and divisor > 1:
            properties: dict[str, Attribute] = {"divisor": i32(divisor)}
            if unit:
                properties["allow_unit"] = UnitAttr()
            self.put(NpuAssertBdDivisibleOp.create(operands=[value], properties=properties))

    # --- instructions -------------------------------------------------------------------------------------------------

    def write_words(self, address: Value, words: Sequence[Value]) -> None:
        """Write a run of registers."""
        operands = [self.number(address), *map(self.number, words)]
        self.put(NpuBlockWriteValuesOp.create(operands=operands))

    def patch_at(self, address: Value, known: int, argument: int, plus: Value) -> None:
        """Patch a host buffer's address in. `known`: the register, that of descriptor 0 where it is computed."""
        operands = [self.number(plus)]
        if isinstance(address, SSAValue):
            operands.append(address)
        properties = {"addr": IntegerAttr(known, UI32), "arg_idx": i32(argument)}
        self.put(NpuAddressPatchOp.create(operands=operands, properties=properties))
