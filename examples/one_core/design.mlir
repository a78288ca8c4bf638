// One core with one C kernel, double-buffered on both sides.
// The shim's DMA fills `in`, the core smooths it into `out`, the shim's DMA drains `out`.
module {
  aie.device(npu2) {
    %shim = aie.tile(0, 0)
    %tile = aie.tile(0, 2)

    %in_ping = aie.buffer(%tile) {sym_name = "in_ping"} : memref<256xi32>
    %in_pong = aie.buffer(%tile) {sym_name = "in_pong"} : memref<256xi32>
    %out_ping = aie.buffer(%tile) {sym_name = "out_ping"} : memref<256xi32>
    %out_pong = aie.buffer(%tile) {sym_name = "out_pong"} : memref<256xi32>

    %in_free = aie.lock(%tile) {init = 2 : i32, sym_name = "in_free"}
    %in_full = aie.lock(%tile) {init = 0 : i32, sym_name = "in_full"}
    %out_free = aie.lock(%tile) {init = 2 : i32, sym_name = "out_free"}
    %out_full = aie.lock(%tile) {init = 0 : i32, sym_name = "out_full"}

    aie.flow(%shim, DMA : 0, %tile, DMA : 0)
    aie.flow(%tile, DMA : 0, %shim, DMA : 0)
    aie.shim_dma_allocation @in(%shim, MM2S, 0)
    aie.shim_dma_allocation @out(%shim, S2MM, 0)

    func.func private @smooth(memref<256xi32>, memref<256xi32>) attributes {link_with = "smooth.c"}

    %core = aie.core(%tile) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 1024 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%in_full, AcquireGreaterEqual, %one)
        aie.use_lock(%out_free, AcquireGreaterEqual, %one)
        func.call @smooth(%in_ping, %out_ping) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%in_free, Release, %one)
        aie.use_lock(%out_full, Release, %one)
        aie.use_lock(%in_full, AcquireGreaterEqual, %one)
        aie.use_lock(%out_free, AcquireGreaterEqual, %one)
        func.call @smooth(%in_pong, %out_pong) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%in_free, Release, %one)
        aie.use_lock(%out_full, Release, %one)
      }
      aie.end
    } {stack_size = 2048 : i32}

    %mem = aie.mem(%tile) {
      %one = arith.constant 1 : i32
      %receive = aie.dma_start(S2MM, 0, ^fill_ping, ^send)
    ^fill_ping:
      aie.use_lock(%in_free, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_ping : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%in_full, Release, %one)
      aie.next_bd ^fill_pong
    ^fill_pong:
      aie.use_lock(%in_free, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_pong : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%in_full, Release, %one)
      aie.next_bd ^fill_ping
    ^send:
      %transmit = aie.dma_start(MM2S, 0, ^drain_ping, ^end)
    ^drain_ping:
      aie.use_lock(%out_full, AcquireGreaterEqual, %one)
      aie.dma_bd(%out_ping : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%out_free, Release, %one)
      aie.next_bd ^drain_pong
    ^drain_pong:
      aie.use_lock(%out_full, AcquireGreaterEqual, %one)
      aie.dma_bd(%out_pong : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%out_free, Release, %one)
      aie.next_bd ^drain_ping
    ^end:
      aie.end
    }
  }
}
