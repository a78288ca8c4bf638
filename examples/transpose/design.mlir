// A 64 x 32 matrix transposed: the host reads and writes 16 x 16 tiles, the memory tile turns each of them.
module {
  aie.device(npu2) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    aie.objectfifo @tiles(%shim, {%mem}, 2 : i32) : !aie.objectfifo<memref<16x16xi32>>
    aie.objectfifo @turned(%mem dimensionsToStream [<size = 16, stride = 1>, <size = 16, stride = 16>], {%shim}, 2 : i32)
        : !aie.objectfifo<memref<16x16xi32>>
    aie.objectfifo.link [@tiles] -> [@turned] ([] [])

    // Four rows of two tiles. The outermost dimension is how often the rest runs: repeat_count more times.
    aie.runtime_sequence @run(%source: memref<64x32xi32>, %target: memref<32x64xi32>) {
      %read = aiex.dma_configure_task_for @tiles {
        aie.dma_bd(%source : memref<64x32xi32> offset = 0 len = 512 sizes = [4, 2, 16, 16] strides = [512, 16, 32, 1])
        aie.end
      } {repeat_count = 3 : i32}
      %write = aiex.dma_configure_task_for @turned {
        aie.dma_bd(%target : memref<32x64xi32> offset = 0 len = 512 sizes = [4, 2, 16, 16] strides = [16, 1024, 64, 1])
        aie.end
      } {issue_token = true, repeat_count = 3 : i32}
      aiex.dma_start_task(%read)
      aiex.dma_start_task(%write)
      aiex.dma_await_task(%write)
      aiex.dma_free_task(%read)
    }
  }
}
