"""One template of descriptors in the programs of tiles and in a sequence: what the array does with it."""

from __future__ import annotations

import pytest
from hostsim import device, ran, sequence, words

TILES = """
  %shim = aie.tile(0, 0)
  %mem = aie.tile(0, 1)
  %core = aie.tile(0, 2)
  aie.flow(%shim, DMA : 0, %core, DMA : 0)
  aie.flow(%core, DMA : 0, %mem, DMA : 0)
  aie.flow(%mem, DMA : 0, %shim, DMA : 0)
  aie.shim_dma_allocation @in(%shim, MM2S, 0)
  aie.shim_dma_allocation @out(%shim, S2MM, 0)
  %c0 = aie.buffer(%core) {address = 1024 : i32, sym_name = "c0"} : memref<16xi32>
  %c1 = aie.buffer(%core) {address = 1088 : i32, sym_name = "c1"} : memref<16xi32>
  %c_free = aie.lock(%core, 0) {init = 2 : i32, sym_name = "c_free"}
  %c_full = aie.lock(%core, 1) {init = 0 : i32, sym_name = "c_full"}
  %m0 = aie.buffer(%mem) {address = 4096 : i32, sym_name = "m0"} : memref<16xi32>
  %m1 = aie.buffer(%mem) {address = 4160 : i32, sym_name = "m1"} : memref<16xi32>
  %m_free = aie.lock(%mem, 0) {init = 2 : i32, sym_name = "m_free"}
  %m_full = aie.lock(%mem, 1) {init = 0 : i32, sym_name = "m_full"}
"""
CHAINS = """
  aie.bd_chain @ping_pong(%ping: memref<16xi32>, %pong: memref<16xi32>, %take: index, %give: index, %len: i32) {
    %one = arith.constant 1 : i32
    aie.next_bd ^ping
  ^ping:
    aie.use_lock(%take, AcquireGreaterEqual, %one)
    aie.dma_bd(%ping : memref<16xi32> offset = 0 len = %len)
    aie.use_lock(%give, Release, %one)
    aie.next_bd ^pong
  ^pong:
    aie.use_lock(%take, AcquireGreaterEqual, %one)
    aie.dma_bd(%pong : memref<16xi32> offset = 0 len = %len)
    aie.use_lock(%give, Release, %one)
    aie.next_bd ^ping
  }
  // Every other row, then the rows between.
  aie.bd_chain @rows(%x: memref<64xi32>, %first: i32, %second: i32) {
    aie.dma_bd(%x : memref<64xi32> offset = %first len = 32 sizes = [2, 16] strides = [32, 1])
    aie.next_bd ^odd
  ^odd:
    aie.dma_bd(%x : memref<64xi32> offset = %second len = 32 sizes = [2, 16] strides = [32, 1])
    aie.end
  }
"""
TYPES = "(memref<16xi32>, memref<16xi32>, index, index, i32)"
CORE = f"""
  aie.mem(%core) {{
    %len = arith.constant 16 : i32
    aie.dma_start_task @ping_pong(%c0, %c1, %c_free, %c_full, %len) : {TYPES} on (S2MM, 0)
    aie.dma_start_task @ping_pong(%c0, %c1, %c_full, %c_free, %len) : {TYPES} on (MM2S, 0)
    aie.end
  }}
"""
MEM = f"""
  aie.memtile_dma(%mem) {{
    %len = arith.constant 16 : i32
    aie.dma_start_task @ping_pong(%m0, %m1, %m_free, %m_full, %len) : {TYPES} on (S2MM, 0)
    aie.dma_start_task @ping_pong(%m0, %m1, %m_full, %m_free, %len) : {TYPES} on (MM2S, 0)
    aie.end
  }}
"""
MEM_FROM_THE_SEQUENCE = f"""
    %len = arith.constant 16 : i32
    %fill = aiex.dma_start_bd_chain @ping_pong(%m0, %m1, %m_free, %m_full, %len) : {TYPES} on (%mem, S2MM, 0)
    %drain = aiex.dma_start_bd_chain @ping_pong(%m0, %m1, %m_full, %m_free, %len) : {TYPES} on (%mem, MM2S, 0)
"""
HOST = """
    %c0_ = arith.constant 0 : i32
    %c16 = arith.constant 16 : i32
    %read = aiex.dma_start_bd_chain_for @rows(%a, %c0_, %c16) : (memref<64xi32>, i32, i32) for @in
    %write = aiex.dma_start_bd_chain_for @rows(%b, %c16, %c0_) : (memref<64xi32>, i32, i32)
      for @out {issue_token = true}
    aiex.dma_await_task(%write)
"""


@pytest.mark.parametrize("name", ["npu1", "npu2"])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("static", [True, False])
def test_a_ping_pong_template_in_programs_and_in_a_sequence(static: bool, seed: int, name: str) -> None:
    """Rows 0, 2, 1, 3 go in; what comes out is written as rows 1, 3, 0, 2."""
    program, setup = (MEM, "") if static else ("", MEM_FROM_THE_SEQUENCE)
    run = sequence("%a: memref<64xi32>, %b: memref<64xi32>", setup + HOST)
    data = list(range(1, 65))
    found = ran(device(TILES + CHAINS + CORE + program + run, name=name), [words(*data), None], seed=seed)
    assert found.outcome.finished, found.outcome.report()
    rows = [data[16 * i : 16 * i + 16] for i in range(4)]
    sent = [rows[0], rows[2], rows[1], rows[3]]
    written = [sent[2], sent[0], sent[3], sent[1]]
    assert found.args[1] == words(*(word for row in written for word in row))
