"""What becomes of a core's objects in compiled code: pointers in registers, nothing to follow."""

from __future__ import annotations

import re

import mlirtools
import pytest
from passkit import FILE

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie import DeviceOp
from aiecc.ir.outline import outline
from aiecc.ir.passes.fifo_erase_pools import ErasePools
from aiecc.ir.passes.fifo_lower_cores import ObjectFifoLowerCores
from aiecc.ir.text import parse
from aiecc.model.ids import CoreId

pytestmark = pytest.mark.tools

RENAME = (("llvm.aie2p.", "__aiecc_"), ("llvm.aie2.", "__aiecc_"), ("llvm.aie.", "__aiecc_aie1_"))


def design(depth: int, device: str = "npu2", space: str = "") -> str:
    """A core that works on objects in a loop of unknown length, itself and through a kernel."""
    type = f"memref<16xi32{space}>"
    buffers = "\n".join(f'%b{i} = aie.buffer(%t) {{sym_name = "b{i}"}} : {type}' for i in range(depth))
    names = ", ".join(f"@b{i}" for i in range(depth))
    if device == "npu2":
        locks = '%f = aie.lock(%t, 0) {init = 2 : i32, sym_name = "f"}\n%g = aie.lock(%t, 1) {sym_name = "g"}'
        pool, segment = "", ", produceLock = @f, consumeLock = @g"
    else:
        locks = "\n".join(f'%l{i} = aie.lock(%t, {i}) {{init = 0 : i32, sym_name = "l{i}"}}' for i in range(depth))
        pool, segment = f", locks = [{', '.join(f'@l{i}' for i in range(depth))}]", ""
    return f"""
aie.device({device}) {{
  func.func private @kernel({type}) attributes {{link_with = "k.o"}}
  func.func private @length() -> index attributes {{link_with = "k.o"}}
  %t = aie.tile(1, 2)
  {buffers}
  {locks}
  aie.objectfifo.pool @p(%t) {{depth = {depth} : i32, buffers = [{names}]{pool}}} : {type} {{
    aie.objectfifo.segment @s0 {{offset = 0 : i32, size = 16 : i32{segment}}}
  }}
  aie.objectfifo.core_endpoint @w(%t) fills @p
  %core = aie.core(%t) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = arith.constant 7 : i32
    %n = func.call @length() : () -> index
    scf.for %i = %c0 to %n step %c1 {{
      %o = aie.objectfifo.acquire @w (1) : {type}
      memref.store %k, %o[%c0] : {type}
      func.call @kernel(%o) : ({type}) -> ()
      aie.objectfifo.release @w (1)
    }}
    aie.end
  }}
}}"""


def optimized(text: str) -> str:
    """LLVM IR of the core after lower-cores alone, as a compiler sees it after its usual passes."""
    module = parse(text, FILE)
    sink = Sink()
    for device in [op for op in module.walk() if isinstance(op, DeviceOp)]:
        ObjectFifoLowerCores().apply(device, sink)
        ErasePools().apply(device, sink)
    program = outline(module, CoreId("main", 1, 2), sink=sink, triple="riscv32-unknown-elf", rename=RENAME)
    assert program is not None and not sink.items, [d.text for d in sink.items]
    return mlirtools.run("llvm", "opt", "-passes=default<O2>", "-S", "-o", "-", text=mlirtools.to_llvm(program.text))


@pytest.mark.parametrize("space", ["", ", 1 : i32"], ids=["plain", "in a memory space"])
@pytest.mark.parametrize("depth", [2, 3])
def test_objects_picked_at_run_time_are_pointers_in_registers(depth: int, space: str) -> None:
    ir = optimized(design(depth, space=space))
    assert "alloca" not in ir and "load" not in ir
    assert len(re.findall(r"phi ptr", ir)) == depth
    # The count of held objects is the same in every round: no value of the loop, and the lock gets a constant.
    assert len(re.findall(r"phi i32", ir)) == 1
    assert re.search(r"call void @__aiecc_acquire\(i32 \d+, i32 -1\)", ir)


def test_a_single_object_is_named_directly() -> None:
    ir = optimized(design(1))
    assert "phi ptr" not in ir
    assert re.search(r"call void @kernel\(ptr nonnull @|call void @kernel\(ptr @", ir)


def test_binary_locks_picked_at_run_time() -> None:
    ir = optimized(design(2, "xcvc1902"))
    assert "alloca" not in ir and "load" not in ir
    assert re.search(r"call void @__aiecc_aie1_\S*acquire\S*\(i32 %", ir)
