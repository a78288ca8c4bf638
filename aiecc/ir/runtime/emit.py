"""Making instructions: constants in front of an op, and the ops that take them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, IntegerType, Signedness
from xdsl.ir import Attribute, Operation, SSAValue

from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aiex.npu import (
    NpuAddressPatchOp,
    NpuMaskWrite32Op,
    NpuPushQueueOp,
    NpuSyncOp,
    NpuUpdateFromScratchpadOp,
    NpuWrite32Op,
    ScratchpadOp,
)
from aiecc.ir.dialects.aiex.transfers import NpuWriteBdOp
from aiecc.ir.dialects.constraints import I32
from aiecc.ir.errors import VerifyError
from aiecc.ir.spans import copy_span

UI32 = IntegerType(32, Signedness.UNSIGNED)
_FIELDS = dict.fromkeys(NpuWriteBdOp.get_irdl_definition().properties)
_OPTIONAL = {"axcache": 2, "burst_length": 0}
"""Fields that are not written where they have these values."""


@lru_cache(maxsize=1 << 16)
def i32(value: int) -> IntegerAttr[IntegerType]:
    """A 32-bit attribute; numbers from 2^31 on as the negative ones of the same bits. Raises VerifyError for others."""
    if not -(1 << 31) <= value < 1 << 32:
        raise VerifyError(f"needs the number {value}, which does not fit 32 bits")
    return IntegerAttr(value - (1 << 32) if value >= 1 << 31 else value, I32)


@lru_cache(maxsize=1 << 16)
def ui32(value: int) -> IntegerAttr[IntegerType]:
    """An unsigned 32-bit attribute."""
    return IntegerAttr(value, UI32)


_FALSE, _TRUE = (IntegerAttr(value, 1) for value in (0, 1))


_NOTHING = {name: i32(0) for name in _FIELDS if name not in _OPTIONAL}


class Before:
    """Puts ops in front of one, each with its position."""

    def __init__(self, op: Operation) -> None:
        self.op = op

    def put(self, new: Operation) -> Operation:
        copy_span(self.op, new)
        assert self.op.parent is not None
        self.op.parent.insert_op_before(new, self.op)
        return new

    def number(self, value: int | SSAValue) -> SSAValue:
        """A value as it is, a number as a constant."""
        if isinstance(value, SSAValue):
            return value
        return self.put(ConstantOp.create(properties={"value": i32(value)}, result_types=[I32])).results[0]

    def write32(self, address: int, value: int, place: Mapping[str, Attribute] | None = None) -> None:
        operands = [self.number(address), self.number(value)]
        self.put(NpuWrite32Op.create(operands=operands, properties=dict(place or {})))

    def mask_write32(self, address: int, value: int, mask: int, place: Mapping[str, Attribute] | None = None) -> None:
        operands = [self.number(address), self.number(value), self.number(mask)]
        self.put(NpuMaskWrite32Op.create(operands=operands, properties=dict(place or {})))

    def patch(self, address: int, argument: int, plus: int) -> None:
        properties = {"addr": ui32(address), "arg_idx": i32(argument)}
        self.put(NpuAddressPatchOp.create(operands=[self.number(plus)], properties=properties))

    def shift_address(self, address: int, index: Attribute | None, scale: int) -> None:
        """Add a word of the scratch pad, times `scale`, to the address in a descriptor. `index`: which word, if any."""
        if index is not None:
            properties = {
                "func": i32(int(ScratchpadOp.MUL)),
                "func_arg": IntegerAttr(scale, UI32),
                "state_table_idx": index,
                "address": IntegerAttr(address, UI32),
            }
            self.put(NpuUpdateFromScratchpadOp.create(properties=properties))

    def sync(self, col: int, row: int, direction: int, channel: int) -> None:
        numbers = (col, row, direction, channel, 1, 1)
        made = {n: self.number(n) for n in dict.fromkeys(numbers)}
        self.put(NpuSyncOp.create(operands=[made[n] for n in numbers]))

    def push(
        self,
        tile: tuple[int, int],
        direction: Direction,
        channel: int,
        bd_id: int | SSAValue,
        repeat: int | SSAValue,
        token: bool,
    ) -> None:
        """Start a descriptor on a channel."""
        properties: dict[str, Attribute] = {
            "column": i32(tile[0]),
            "row": i32(tile[1]),
            "direction": i32(int(direction)),
            "channel": i32(channel),
            "issue_token": _TRUE if token else _FALSE,
        }
        operands = [self.number(bd_id), self.number(repeat)]
        self.put(NpuPushQueueOp.create(operands=operands, properties=properties))

    def write_bd(self, fields: Mapping[str, int]) -> None:
        """Write a descriptor; fields that are not named are 0."""
        wrong = fields.keys() - _FIELDS
        assert not wrong, wrong
        values = dict(_NOTHING)
        values |= {name: i32(value) for name, value in fields.items() if name not in _OPTIONAL}
        values |= {name: i32(fields[name]) for name, usual in _OPTIONAL.items() if fields.get(name, usual) != usual}
        self.put(NpuWriteBdOp.create(properties=values))
