// The shortest way through the array: host memory, a memory tile, host memory.
module {
  aie.device(npu2) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    aie.objectfifo @in(%shim, {%mem}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @out(%mem, {%shim}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo.link [@in] -> [@out] ([] [])

    aie.runtime_sequence @run(%source: memref<4096xi32>, %target: memref<4096xi32>) {
      %read = aiex.dma_configure_task_for @in {
        aie.dma_bd(%source : memref<4096xi32> offset = 0 len = 4096)
        aie.end
      }
      %write = aiex.dma_configure_task_for @out {
        aie.dma_bd(%target : memref<4096xi32> offset = 0 len = 4096)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%read)
      aiex.dma_start_task(%write)
      aiex.dma_await_task(%write)
      aiex.dma_free_task(%read)
    }
  }
}
