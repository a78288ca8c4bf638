// Four vectors added up: five host buffers, two shim tiles, and a memory tile that joins what belongs together.
module {
  aie.device(npu2) {
    %west = aie.tile(0, 0)
    %east = aie.tile(1, 0)
    %mem = aie.tile(0, 1)
    %tile = aie.tile(0, 2)
    aie.objectfifo @a(%west, {%mem}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @b(%west, {%mem}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @c(%east, {%mem}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @d(%east, {%mem}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @all(%mem, {%tile}, 2 : i32) : !aie.objectfifo<memref<4x64xi32>>
    aie.objectfifo.link [@a, @b, @c, @d] -> [@all] ([0, 64, 128, 192] [])
    aie.objectfifo @sum(%tile, {%west}, 2 : i32) : !aie.objectfifo<memref<64xi32>>

    %core = aie.core(%tile) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c64 = arith.constant 64 : index
      %forever = arith.constant 9223372036854775807 : index
      scf.for %block = %c0 to %forever step %c1 {
        %four = aie.objectfifo.acquire @all(Consume, 1) : memref<4x64xi32>
        %one = aie.objectfifo.acquire @sum(Produce, 1) : memref<64xi32>
        scf.for %i = %c0 to %c64 step %c1 {
          %x0 = memref.load %four[%c0, %i] : memref<4x64xi32>
          %x1 = memref.load %four[%c1, %i] : memref<4x64xi32>
          %x2 = memref.load %four[%c2, %i] : memref<4x64xi32>
          %x3 = memref.load %four[%c3, %i] : memref<4x64xi32>
          %s0 = arith.addi %x0, %x1 : i32
          %s1 = arith.addi %x2, %x3 : i32
          %s2 = arith.addi %s0, %s1 : i32
          memref.store %s2, %one[%i] : memref<64xi32>
        }
        aie.objectfifo.release @all(Consume, 1)
        aie.objectfifo.release @sum(Produce, 1)
      }
      aie.end
    }

    // One chain for all of them: what moves, where it is, and through which channel comes with each start.
    aie.bd_chain @whole(%buffer: memref<512xi32>) {
      aie.dma_bd(%buffer : memref<512xi32> offset = 0 len = 512)
      aie.end
    }
    aie.runtime_sequence @run(%a_: memref<512xi32>, %b_: memref<512xi32>, %c_: memref<512xi32>, %d_: memref<512xi32>,
        %sum_: memref<512xi32>) {
      %ta = aiex.dma_start_bd_chain_for @whole(%a_) : (memref<512xi32>) for @a
      %tb = aiex.dma_start_bd_chain_for @whole(%b_) : (memref<512xi32>) for @b
      %tc = aiex.dma_start_bd_chain_for @whole(%c_) : (memref<512xi32>) for @c
      %td = aiex.dma_start_bd_chain_for @whole(%d_) : (memref<512xi32>) for @d
      %ts = aiex.dma_start_bd_chain_for @whole(%sum_) : (memref<512xi32>) for @sum {issue_token = true}
      aiex.dma_await_task(%ts)
    }
  }
}
