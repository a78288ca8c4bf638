"""Sequences that run sequences of other devices: what comes along, in which order, and what is refused."""

from __future__ import annotations

from itertools import pairwise

import pytest
from passkit import Ran, line_of

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie import BufferOp, DeviceOp, LockOp, RuntimeSequenceOp, TileOp
from aiecc.ir.dialects.aie.runtime import BdChainOp, ShimDmaAllocationOp
from aiecc.ir.dialects.aiex.control import ConfigureOp, RunOp
from aiecc.ir.dialects.aiex.npu import NpuLoadPdiOp, NpuRtpWriteOp, NpuWrite32Op
from aiecc.ir.lowering import follow
from aiecc.ir.passes.materialize_sequences import MaterializeRuntimeSequences
from aiecc.ir.runtime.transaction import find_sequence, instructions
from aiecc.ir.text import parse
from aiecc.ir.verify import verify
from aiecc.model.recipe import sequence_recipe
from aiecc.npu import txn


def module(*devices: str) -> str:
    return "module {\n" + "\n".join(devices) + "\n}\n"


def main(body: str, before: str = "", args: str = "%a: memref<64xi32>") -> str:
    return f"aie.device(npu2) {{\n{before}\n  aie.runtime_sequence @top({args}) {{\n{body}\n  }}\n}}"


def other(name: str, body: str, before: str = "", args: str = "%a: memref<64xi32>") -> str:
    return f"aie.device(npu2) @{name} {{\n{before}\n  aie.runtime_sequence @seq({args}) {{\n{body}\n  }}\n}}"


def call(name: str, more: str = "", run: str = "aiex.run @seq(%a) : (memref<64xi32>)") -> str:
    return f"    aiex.configure @{name} {{\n      {run}\n    }}{more}\n"


def write(address: int, value: int = 1) -> str:
    return f"""    %x{address} = arith.constant {address} : i32
    %y{address} = arith.constant {value} : i32
    aiex.npu.write32(%x{address}, %y{address}) : i32, i32
"""


def done(text: str) -> Ran:
    ran = Ran(text, MaterializeRuntimeSequences())
    assert not ran.said, ran.said
    assert not verify(ran.module)
    assert not [op for op in ran.module.walk() if isinstance(op, ConfigureOp | RunOp)]
    return ran


def story(ran: Ran) -> list[object]:
    """The first device's first sequence: devices loaded by name, addresses written."""
    found: list[object] = []
    for op in next(ran.ops(RuntimeSequenceOp)).walk():
        if isinstance(op, NpuLoadPdiOp):
            found.append(op.device_ref)
        elif isinstance(op, NpuWrite32Op):
            found.append(op.address.owner.value.value.data)  # pyright: ignore
    return found


# --- order ------------------------------------------------------------------------------------------------------------


def test_a_run_is_a_load_and_what_the_sequence_does() -> None:
    text = module(main(write(4) + call("x") + write(8)), other("x", write(12) + write(16)))
    assert story(done(text)) == [4, "x", 12, 16, 8]


def test_a_sequence_that_loads_its_device_itself_is_not_loaded_twice() -> None:
    load = "    aiex.npu.load_pdi {device_ref = @x}\n"
    assert story(done(module(main(call("x")), other("x", load + write(12) + load + write(16))))) == ["x", 12, "x", 16]


def test_configure_without_a_run_loads() -> None:
    assert story(done(module(main("    aiex.configure @x {\n    }\n"), other("x", "")))) == ["x"]


def test_two_runs_in_one_configuration() -> None:
    twice = call("x", run="aiex.run @seq(%a) : (memref<64xi32>)\n aiex.run @seq(%a) : (memref<64xi32>)")
    assert story(done(module(main(twice), other("x", write(12))))) == ["x", 12, 12]


def test_sequences_of_sequences() -> None:
    text = module(main(call("x") + call("y")), other("x", write(12) + call("y")), other("y", write(16)))
    assert story(done(text)) == ["x", 12, "y", 16, "y", 16]


def test_a_sequence_of_the_same_device() -> None:
    device = f"""aie.device(npu2) @d {{
      aie.runtime_sequence @top(%a: memref<64xi32>) {{ {call("d")} {write(4)} }}
      aie.runtime_sequence @seq(%a: memref<64xi32>) {{ {write(8)} }}
    }}"""
    assert story(done(module(device))) == ["d", 8, 4]


def test_the_mode_of_expansion_stays() -> None:
    ran = done(module(main(call("x", " {expand_mode = 1 : i32}")), other("x", write(12))))
    assert ran.lines("load_pdi") == ["aiex.npu.load_pdi {device_ref = @x, expand_mode = 1 : i32}"]


def test_arguments_take_the_place_of_parameters() -> None:
    args = "%p: memref<8xi32>, %q: memref<8xi32>"
    run = call("x", run="aiex.run @seq(%q, %p) : (memref<8xi32>, memref<8xi32>)")
    move = (
        "    aiex.npu.dma_memcpy_nd(%{}[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]) {{id = {} : i64, metadata = @al}} "
        ": memref<8xi32>\n"
    )
    body = move.format("p", 0) + move.format("q", 1)
    before = "%t = aie.tile(1, 0)\n aie.shim_dma_allocation @al(%t, MM2S, 0)"
    ran = done(module(main(run, args=args), other("x", body, before, args)))
    words = _instructions(ran.text)
    assert [op.argument for op in words if isinstance(op, txn.Patch)] == [1, 0]


def _instructions(text: str) -> list[txn.Op]:
    op = parse(text, "m.mlir")
    sink = Sink()
    assert follow(op, sequence_recipe(), sink), [d.text for d in sink.items]
    device = next(d for d in op.walk() if isinstance(d, DeviceOp))
    found = instructions(device, find_sequence(device, "top"), sink)
    assert not sink.failed
    return [each.op for each in found]


# --- what comes along -------------------------------------------------------------------------------------------------

LOCKED = """  %t = aie.tile(0, 2)
  %l = aie.lock(%t, 3) {sym_name = "l"}
  %b = aie.buffer(%t) {sym_name = "b", address = 1024 : i32} : memref<4xi32>
"""
USES = """    %v = arith.constant 7 : i32
    aiex.npu.rtp_write(@b, 1, %v) : i32
    aiex.set_lock(%l, 1)
"""


def test_tiles_locks_and_buffers() -> None:
    """The words are those that the other device's own sequence gives."""
    text = module(main(call("x")), other("x", USES, LOCKED))
    ran = done(text)
    assert len(list(ran.device.ops_of(TileOp, LockOp, BufferOp))) == 3
    alone = other("x", USES, LOCKED).replace("@seq", "@top")
    assert _instructions(text) == [txn.LoadPdi(0, 0, 0), *_instructions(alone)]


def test_a_tile_is_there_once_and_names_are_free() -> None:
    text = module(main(call("x") + call("y"), LOCKED), other("x", USES, LOCKED), other("y", USES, LOCKED))
    ran = done(text)
    assert len(list(ran.device.ops_of(TileOp))) == 1
    names = [b.symbol for b in ran.device.ops_of(BufferOp) if isinstance(b, BufferOp)]
    assert sorted(filter(None, names)) == ["b", "b_0", "b_1"]
    written = [w.buffer for w in next(ran.ops(RuntimeSequenceOp)).walk() if isinstance(w, NpuRtpWriteOp)]
    assert sorted(filter(None, written)) == ["b_0", "b_1"]


def test_what_is_run_twice_comes_along_once() -> None:
    ran = done(module(main(call("x") + call("x")), other("x", USES, LOCKED)))
    assert len(list(ran.device.ops_of(TileOp, LockOp, BufferOp))) == 3


def test_allocations_and_chains() -> None:
    before = """  %t = aie.tile(1, 0)
  aie.shim_dma_allocation @al(%t, MM2S, 1)
  aie.bd_chain @c(%p: memref<64xi32>) {
    aie.dma_bd(%p : memref<64xi32> offset = 0 len = 64)
    aie.end
  }"""
    body = "    %k = aiex.dma_start_bd_chain_for @c(%a) : (memref<64xi32>) for @al"
    clash = "%z = aie.tile(2, 0)\n aie.shim_dma_allocation @al(%z, S2MM, 0)"
    ran = done(module(main(call("x"), clash), other("x", body, before)))
    assert [a.symbol for a in ran.device.ops_of(ShimDmaAllocationOp)] == ["al", "al_0"]  # pyright: ignore
    assert [c.symbol for c in ran.device.ops_of(BdChainOp)] == ["c"]  # pyright: ignore
    assert ran.lines("dma_start_bd_chain_for")[0].endswith("for @al_0")


def test_the_other_devices_stay_as_they_are() -> None:
    own = other("x", USES, LOCKED)
    ran = done(module(main(call("x")), own))
    assert Ran(own).text.splitlines()[1:-1] == ran.text.splitlines()[-len(Ran(own).text.splitlines()) + 1 : -1]


def test_scratch_pads_become_one() -> None:
    pad = "    aiex.npu.create_scratchpad {size = 64 : ui32}\n"
    ran = done(module(main(pad + call("x")), other("x", pad)))
    assert len([op for op in next(ran.ops(RuntimeSequenceOp)).walk() if op.name.endswith("scratchpad")]) == 1


# --- refused ----------------------------------------------------------------------------------------------------------


def refused(text: str) -> str:
    return Ran(text, MaterializeRuntimeSequences()).only.text


def test_scratch_pads_of_two_sizes() -> None:
    pad = "    aiex.npu.create_scratchpad {{size = {} : ui32}}\n"
    text = module(main(pad.format(64) + call("x")), other("x", pad.format(32)))
    assert refused(text) == "'aiex.npu.create_scratchpad' op create_scratchpad size mismatch after inlining: 64 != 32"


@pytest.mark.parametrize("way", [["x", "x"], ["x", "y", "x"], ["x", "y", "z", "y"]])
def test_cycles(way: list[str]) -> None:
    """`way`: what runs what, beginning with what the top sequence runs."""
    runs = dict(pairwise(way))
    text = module(main(call(way[0])), *(other(name, call(after)) for name, after in runs.items()))
    ran = Ran(text, MaterializeRuntimeSequences())
    assert ran.only.text == "Runtime sequence call graph contains a cycle"
    assert ran.only.where is not None
    assert ran.only.where.line == line_of(text, "@top")


@pytest.mark.parametrize(
    ("run", "args", "said"),
    [
        ("aiex.run @nil(%a) : (memref<64xi32>)", "", "No such runtime sequence for device 'x': 'nil'"),
        ("aiex.run @b(%a) : (memref<64xi32>)", "", "'b' is not a runtime sequence"),
        ("aiex.run @seq(%a) : (memref<64xi32>)", "", "argument count mismatch: expected 0 but got 1"),
        ("aiex.run @seq(%a) : (memref<64xi32>)", "%p: memref<64xi16>",
         "argument 0 type mismatch: expected memref<64xi16> but got memref<64xi32>"),
    ],
)  # fmt: skip
def test_runs_of_what_is_not_there(run: str, args: str, said: str) -> None:
    assert refused(module(main(call("x", run=run)), other("x", "", LOCKED, args))) == said


def test_the_note_points_at_the_device() -> None:
    text = module(main(call("x", run="aiex.run @nil(%a) : (memref<64xi32>)")), other("x", ""))
    note = Ran(text, MaterializeRuntimeSequences()).only.notes[0]
    assert note.text == "This device does not have a 'nil' runtime sequence"
    assert note.where is not None
    assert note.where.line == line_of(text, "(npu2) @x {")


def test_buffers_as_values_cannot_come_along() -> None:
    body = """    %k = aiex.dma_configure_task(%t, MM2S, 0) {
      aie.dma_bd(%b : memref<4xi32> offset = 0 len = 4) {bd_id = 0 : i32}
      aie.end
    }"""
    assert refused(module(main(call("x")), other("x", body, LOCKED))) == (
        "'aie.dma_bd' op Referenced SSA value defined by unsupported operation type: aie.buffer. Currently only "
        "aie.tile and aie.lock operations are supported."
    )


def test_tiles_that_differ() -> None:
    mine = "%t = aie.tile(0, 2) {controller_id = #aie.packet_info<pkt_id = 9>}"
    assert refused(module(main(call("x"), mine), other("x", USES, LOCKED))) == (
        "'aie.lock' op aie.tile(0, 2) already exists in the device with different attributes"
    )


def test_symbols_of_another_kind() -> None:
    before = "func.func private @f()"
    assert refused(module(main("    aiex.npu.dma_wait {symbol = @f}\n", before))) == (
        "'aiex.npu.dma_wait' op references symbol 'f' which must be either a ShimDMAAllocationOp, DeviceOp, "
        "RuntimeSequenceOp, BufferOp, ObjectFifoRearmBindingOp, or GlobalOp, but got: func.func"
    )


def test_buffers_without_a_place() -> None:
    before = LOCKED.replace(", address = 1024 : i32", "")
    assert refused(module(main(USES, before))) == (
        "'aiex.npu.rtp_write' op Unallocated buffer; fixed addresses are required before runtime sequence "
        "materialization."
    )


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("", "No such device: '@x'"),
        ("func.func private @x()", "Not a device: '@x'"),
        ("aie.device(npu1) @x { aie.runtime_sequence @seq(%a: memref<64xi32>) {} }",
         "Device types do not match: 'npu2' vs. 'npu1'"),
    ],
)  # fmt: skip
def test_what_is_configured_is_a_device_of_the_same_kind(target: str, said: str) -> None:
    found = verify(parse(module(main(call("x")), target), "m.mlir"))
    assert [d.text for d in found] == [said]
