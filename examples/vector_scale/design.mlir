// A vector times a factor, with a C kernel. The factor comes once, the vector in blocks.
module {
  aie.device(npu2) {
    %shim = aie.tile(0, 0)
    %tile = aie.tile(0, 2)
    aie.objectfifo @in(%shim, {%tile}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @factor(%shim, {%tile}, 1 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @out(%tile, {%shim}, 2 : i32) : !aie.objectfifo<memref<256xi32>>

    func.func private @scale(memref<256xi32>, memref<1xi32>, memref<256xi32>) attributes {link_with = "scale.c"}

    %core = aie.core(%tile) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 16 : index
      %forever = arith.constant 9223372036854775807 : index
      scf.for %run = %c0 to %forever step %c1 {
        %by = aie.objectfifo.acquire @factor(Consume, 1) : memref<1xi32>
        scf.for %block = %c0 to %blocks step %c1 {
          %from = aie.objectfifo.acquire @in(Consume, 1) : memref<256xi32>
          %to = aie.objectfifo.acquire @out(Produce, 1) : memref<256xi32>
          func.call @scale(%from, %by, %to) : (memref<256xi32>, memref<1xi32>, memref<256xi32>) -> ()
          aie.objectfifo.release @in(Consume, 1)
          aie.objectfifo.release @out(Produce, 1)
        }
        aie.objectfifo.release @factor(Consume, 1)
      }
      aie.end
    }

    aie.runtime_sequence @run(%vector: memref<4096xi32>, %factor_value: memref<1xi32>, %result: memref<4096xi32>) {
      %by = aiex.dma_configure_task_for @factor {
        aie.dma_bd(%factor_value : memref<1xi32> offset = 0 len = 1)
        aie.end
      }
      %read = aiex.dma_configure_task_for @in {
        aie.dma_bd(%vector : memref<4096xi32> offset = 0 len = 4096)
        aie.end
      }
      %write = aiex.dma_configure_task_for @out {
        aie.dma_bd(%result : memref<4096xi32> offset = 0 len = 4096)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%by)
      aiex.dma_start_task(%read)
      aiex.dma_start_task(%write)
      aiex.dma_await_task(%write)
      aiex.dma_free_task(%read)
      aiex.dma_free_task(%by)
    }
  }
}
