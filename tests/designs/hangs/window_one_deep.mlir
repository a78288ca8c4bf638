// A window over one fifo beside a fifo one deep: the second row's weights have no place until the window is full, and
// it never gets full, as rows and weights come in turns.
module {
  aie.device(npu2_1col) {
    %shim = aie.tile(0, 0)
    %a = aie.tile(0, 2)
    %b = aie.tile(0, 3)
    aie.objectfifo @rows(%a, {%b}, 4 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @weights(%a, {%b}, 1 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @out(%b, {%shim}, 2 : i32) : !aie.objectfifo<memref<64xi32>>

    // A row, its weights, the next row, its weights.
    %core_0_2 = aie.core(%a) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c64 = arith.constant 64 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %value = arith.index_cast %i : index to i32
        %r = aie.objectfifo.acquire @rows(Produce, 1) : memref<64xi32>
        scf.for %j = %c0 to %c64 step %c1 {
          memref.store %value, %r[%j] : memref<64xi32>
        }
        aie.objectfifo.release @rows(Produce, 1)
        %w = aie.objectfifo.acquire @weights(Produce, 1) : memref<64xi32>
        scf.for %j = %c0 to %c64 step %c1 {
          memref.store %value, %w[%j] : memref<64xi32>
        }
        aie.objectfifo.release @weights(Produce, 1)
      }
      aie.end
    }

    // A window of three rows before the first weights.
    %core_0_3 = aie.core(%b) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %c64 = arith.constant 64 : index
      scf.for %i = %c0 to %c6 step %c1 {
        %r:3 = aie.objectfifo.acquire @rows(Consume, 3) : memref<64xi32>, memref<64xi32>, memref<64xi32>
        %w = aie.objectfifo.acquire @weights(Consume, 1) : memref<64xi32>
        %o = aie.objectfifo.acquire @out(Produce, 1) : memref<64xi32>
        scf.for %j = %c0 to %c64 step %c1 {
          %x = memref.load %r#0[%j] : memref<64xi32>
          %y = memref.load %r#2[%j] : memref<64xi32>
          %z = memref.load %w[%j] : memref<64xi32>
          %xy = arith.addi %x, %y : i32
          %xyz = arith.muli %xy, %z : i32
          memref.store %xyz, %o[%j] : memref<64xi32>
        }
        aie.objectfifo.release @rows(Consume, 1)
        aie.objectfifo.release @weights(Consume, 1)
        aie.objectfifo.release @out(Produce, 1)
      }
      aie.objectfifo.release @rows(Consume, 2)
      %w = aie.objectfifo.acquire @weights(Consume, 1) : memref<64xi32>
      aie.objectfifo.release @weights(Consume, 1)
      aie.end
    }
  }
}
