"""A host that executes lowered sequences with run-time values: loops, branches, arithmetic, guards, the pool of ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.dialects.memref import GetGlobalOp, GlobalOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from aiecc.ir.dialects.aie import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import device_of
from aiecc.ir.dialects.aiex import npu, tasks


class Stopped(Exception):
    """A guard said no."""


def bits_of(kind: Attribute) -> int:
    return 64 if isinstance(kind, IndexType) else kind.width.data  # pyright: ignore[reportAttributeAccessIssue]


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


@dataclass
class Host:
    """What a sequence did: blocks of words at addresses, patches (register, argument, plus), plain writes, waits."""

    blocks: list[tuple[int, tuple[int, ...]]] = field(default_factory=list[tuple[int, tuple[int, ...]]])
    patches: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    writes: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    syncs: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    log: list[str] = field(default_factory=list[str])
    pool: list[int] = field(default_factory=lambda: list(range(15, -1, -1)))
    values: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def run(self, sequence: RuntimeSequenceOp, args: Mapping[int, int]) -> Host:
        """Arguments by number; those that are buffers are left out."""
        for index, value in args.items():
            arg = sequence.body.block.args[index]
            self.values[arg] = value & ((1 << bits_of(arg.type)) - 1)
        self._block(sequence.body.block)
        return self

    def _get(self, value: SSAValue) -> int:
        return self.values[value]

    def _block(self, block: Block) -> list[int]:
        for op in block.ops:
            if isinstance(op, scf.YieldOp):
                return [self._get(v) for v in op.operands]
            self._op(op)
        return []

    def _op(self, op: Any) -> None:
        if isinstance(op, scf.ForOp):
            low, high, step = (self._get(v) for v in op.operands[:3])
            carried = [self._get(v) for v in op.operands[3:]]
            for i in range(low, high, step):
                for arg, value in zip(op.body.block.args, [i, *carried], strict=True):
                    self.values[arg] = value
                carried = self._block(op.body.block)
            self._set(op, carried)
        elif isinstance(op, scf.IfOp):
            region = op.true_region if self._get(op.cond) else op.false_region
            self._set(op, self._block(region.block) if region.blocks else [])
        elif op.name.startswith("arith."):
            width = bits_of(op.results[0].type)
            self.values[op.results[0]] = self._arith(op) & ((1 << width) - 1)
        else:
            self._instruction(op)

    def _set(self, op: Operation, values: list[int]) -> None:
        for result, value in zip(op.results, values, strict=True):
            self.values[result] = value

    def _arith(self, op: Any) -> int:
        if isinstance(op, arith.ConstantOp):
            return op.value.value.data  # pyright: ignore
        v = [self._get(operand) for operand in op.operands]
        if isinstance(op, arith.TruncIOp | arith.ExtUIOp | arith.IndexCastOp):
            return v[0]
        if isinstance(op, arith.SelectOp):
            return v[1] if v[0] else v[2]
        if isinstance(op, arith.CmpiOp):
            a, b = (signed(x, bits_of(op.operands[0].type)) for x in v)
            return int([a == b, a != b, a < b, a <= b, a > b, a >= b, v[0] < v[1], v[0] <= v[1], v[0] > v[1],
                        v[0] >= v[1]][op.predicate.value.data])  # fmt: skip
        two = {"addi": v[0] + v[1], "subi": v[0] - v[1], "muli": v[0] * v[1], "ori": v[0] | v[1],
               "andi": v[0] & v[1], "shli": v[0] << v[1] % 64, "divui": v[0] // v[1] if v[1] else 0}  # fmt: skip
        return two[op.name.removeprefix("arith.")]

    def _instruction(self, op: Any) -> None:
        v = [self.values.get(operand) for operand in op.operands]
        if isinstance(op, npu.NpuAssertBdFieldOp):
            if not 0 <= signed(self._get(op.value), 32) <= op.max_attr.value.data:  # pyright: ignore
                raise Stopped(str(op))
        elif isinstance(op, npu.NpuAssertBdDivisibleOp):
            value = self._get(op.value)
            if value % op.divisor_attr.value.data and not (value == 1 and op.allow_unit):  # pyright: ignore
                raise Stopped(str(op))
        elif isinstance(op, npu.NpuBlockWriteValuesOp):
            self.blocks.append((self._get(op.address), tuple(self._get(w) for w in op.values)))
        elif isinstance(op, npu.NpuBlockWriteOp):
            self.blocks.append((op.address, _words(op)))
        elif isinstance(op, npu.NpuAddressPatchOp):
            register = op.addr if op.addr_val is None else self._get(op.addr_val)
            self.patches.append((register, op.arg_idx, self._get(op.arg_plus)))
        elif isinstance(op, npu.NpuWrite32Op):
            self.writes.append((self._get(op.address), self._get(op.value)))
        elif isinstance(op, npu.NpuSyncOp):
            self.syncs.append(tuple(self._get(operand) for operand in op.operands))
        elif isinstance(op, tasks.DmaBdPoolPopOp):
            self.values[op.bd_id] = self.pool.pop()
            self.log.append(f"pop {self.values[op.bd_id]}")
        elif isinstance(op, tasks.DmaBdPoolPushOp):
            id = self._get(op.bd_id)
            assert id not in self.pool, f"{id} is given back twice"
            self.pool.append(id)
            self.log.append(f"push {id}")
        elif not isinstance(op, GetGlobalOp):
            raise AssertionError(f"{op.name} is not for a host: {v}")


def _words(op: npu.NpuBlockWriteOp) -> tuple[int, ...]:
    """What a block write of constant data writes."""
    get = op.data.owner
    device = device_of(op)
    assert isinstance(get, GetGlobalOp) and device is not None
    name = get.name_.root_reference.data
    found = next(g for g in device.ops_of(GlobalOp) if g.sym_name.data == name)  # pyright: ignore
    return tuple(int(w) & 0xFFFFFFFF for w in found.properties["initial_value"].get_values())  # pyright: ignore
