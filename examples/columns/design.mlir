// Four columns at work on one vector: column k adds k + 1 to its quarter.
module {
  aie.device(npu2) {
    %shim_0 = aie.tile(0, 0)
    %tile_0 = aie.tile(0, 2)
    aie.objectfifo @in_0(%shim_0, {%tile_0}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @out_0(%tile_0, {%shim_0}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    %core_0 = aie.core(%tile_0) {
      %more = arith.constant 1 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %forever = arith.constant 9223372036854775807 : index
      scf.for %block = %c0 to %forever step %c1 {
        %from = aie.objectfifo.acquire @in_0(Consume, 1) : memref<64xi32>
        %to = aie.objectfifo.acquire @out_0(Produce, 1) : memref<64xi32>
        scf.for %i = %c0 to %c64 step %c1 {
          %old = memref.load %from[%i] : memref<64xi32>
          %new = arith.addi %old, %more : i32
          memref.store %new, %to[%i] : memref<64xi32>
        }
        aie.objectfifo.release @in_0(Consume, 1)
        aie.objectfifo.release @out_0(Produce, 1)
      }
      aie.end
    }

    %shim_1 = aie.tile(1, 0)
    %tile_1 = aie.tile(1, 2)
    aie.objectfifo @in_1(%shim_1, {%tile_1}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @out_1(%tile_1, {%shim_1}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    %core_1 = aie.core(%tile_1) {
      %more = arith.constant 2 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %forever = arith.constant 9223372036854775807 : index
      scf.for %block = %c0 to %forever step %c1 {
        %from = aie.objectfifo.acquire @in_1(Consume, 1) : memref<64xi32>
        %to = aie.objectfifo.acquire @out_1(Produce, 1) : memref<64xi32>
        scf.for %i = %c0 to %c64 step %c1 {
          %old = memref.load %from[%i] : memref<64xi32>
          %new = arith.addi %old, %more : i32
          memref.store %new, %to[%i] : memref<64xi32>
        }
        aie.objectfifo.release @in_1(Consume, 1)
        aie.objectfifo.release @out_1(Produce, 1)
      }
      aie.end
    }

    %shim_2 = aie.tile(2, 0)
    %tile_2 = aie.tile(2, 2)
    aie.objectfifo @in_2(%shim_2, {%tile_2}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @out_2(%tile_2, {%shim_2}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    %core_2 = aie.core(%tile_2) {
      %more = arith.constant 3 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %forever = arith.constant 9223372036854775807 : index
      scf.for %block = %c0 to %forever step %c1 {
        %from = aie.objectfifo.acquire @in_2(Consume, 1) : memref<64xi32>
        %to = aie.objectfifo.acquire @out_2(Produce, 1) : memref<64xi32>
        scf.for %i = %c0 to %c64 step %c1 {
          %old = memref.load %from[%i] : memref<64xi32>
          %new = arith.addi %old, %more : i32
          memref.store %new, %to[%i] : memref<64xi32>
        }
        aie.objectfifo.release @in_2(Consume, 1)
        aie.objectfifo.release @out_2(Produce, 1)
      }
      aie.end
    }

    %shim_3 = aie.tile(3, 0)
    %tile_3 = aie.tile(3, 2)
    aie.objectfifo @in_3(%shim_3, {%tile_3}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @out_3(%tile_3, {%shim_3}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    %core_3 = aie.core(%tile_3) {
      %more = arith.constant 4 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %forever = arith.constant 9223372036854775807 : index
      scf.for %block = %c0 to %forever step %c1 {
        %from = aie.objectfifo.acquire @in_3(Consume, 1) : memref<64xi32>
        %to = aie.objectfifo.acquire @out_3(Produce, 1) : memref<64xi32>
        scf.for %i = %c0 to %c64 step %c1 {
          %old = memref.load %from[%i] : memref<64xi32>
          %new = arith.addi %old, %more : i32
          memref.store %new, %to[%i] : memref<64xi32>
        }
        aie.objectfifo.release @in_3(Consume, 1)
        aie.objectfifo.release @out_3(Produce, 1)
      }
      aie.end
    }

    aie.runtime_sequence @run(%source: memref<1024xi32>, %target: memref<1024xi32>) {
      %read_0 = aiex.dma_configure_task_for @in_0 {
        aie.dma_bd(%source : memref<1024xi32> offset = 0 len = 256)
        aie.end
      }
      %write_0 = aiex.dma_configure_task_for @out_0 {
        aie.dma_bd(%target : memref<1024xi32> offset = 0 len = 256)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%read_0)
      aiex.dma_start_task(%write_0)
      %read_1 = aiex.dma_configure_task_for @in_1 {
        aie.dma_bd(%source : memref<1024xi32> offset = 256 len = 256)
        aie.end
      }
      %write_1 = aiex.dma_configure_task_for @out_1 {
        aie.dma_bd(%target : memref<1024xi32> offset = 256 len = 256)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%read_1)
      aiex.dma_start_task(%write_1)
      %read_2 = aiex.dma_configure_task_for @in_2 {
        aie.dma_bd(%source : memref<1024xi32> offset = 512 len = 256)
        aie.end
      }
      %write_2 = aiex.dma_configure_task_for @out_2 {
        aie.dma_bd(%target : memref<1024xi32> offset = 512 len = 256)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%read_2)
      aiex.dma_start_task(%write_2)
      %read_3 = aiex.dma_configure_task_for @in_3 {
        aie.dma_bd(%source : memref<1024xi32> offset = 768 len = 256)
        aie.end
      }
      %write_3 = aiex.dma_configure_task_for @out_3 {
        aie.dma_bd(%target : memref<1024xi32> offset = 768 len = 256)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%read_3)
      aiex.dma_start_task(%write_3)
      aiex.dma_await_task(%write_0)
      aiex.dma_await_task(%write_1)
      aiex.dma_await_task(%write_2)
      aiex.dma_await_task(%write_3)
      aiex.dma_free_task(%read_0)
      aiex.dma_free_task(%read_1)
      aiex.dma_free_task(%read_2)
      aiex.dma_free_task(%read_3)
    }
  }
}
