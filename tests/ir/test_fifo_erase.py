"""Pools go once nothing names them; what they named stays."""

from __future__ import annotations

import pytest
from passkit import Ran

from aiecc.ir.dialects.aie.memory import BufferOp, LockOp
from aiecc.ir.dialects.aie.pools import ObjectFifoPoolOp
from aiecc.ir.passes.fifo_erase_pools import ErasePools

DESIGN = """
aie.device(npu2) {
  %t = aie.tile(0, 2)
  %b = aie.buffer(%t) {sym_name = "b"} : memref<4xi32>
  %p = aie.lock(%t) {sym_name = "p", init = 1 : i32}
  %c = aie.lock(%t) {sym_name = "c", init = 0 : i32}
  aie.objectfifo.pool @one_pool(%t) {depth = 1 : i32, buffers = [@b]} : memref<4xi32> {
    aie.objectfifo.segment @s0 {offset = 0 : i32, size = 4 : i32, produceLock = @p, consumeLock = @c}
  }
  aie.objectfifo.pool @two_pool(%t) {depth = 1 : i32} : memref<4xi32> {
    aie.objectfifo.segment @s0 {offset = 0 : i32, size = 4 : i32}
  }
  USER
}
"""


@pytest.mark.parametrize(
    ("user", "kept"),
    [
        ("", []),
        ("aie.objectfifo.core_endpoint @e(%t) fills @two_pool", ["two_pool"]),
        ("aie.objectfifo.dma_endpoint @e(%t) drains @one_pool", ["one_pool"]),
    ],
)
def test_only_named_pools_stay(user: str, kept: list[str]) -> None:
    ran = Ran(DESIGN.replace("USER", user), ErasePools(), ErasePools())
    ops = list(ran.device.walk())
    assert [op.symbol for op in ops if isinstance(op, ObjectFifoPoolOp)] == kept
    assert [op.symbol for op in ops if isinstance(op, BufferOp)] == ["b"]
    assert [op.symbol for op in ops if isinstance(op, LockOp)] == ["p", "c"]
