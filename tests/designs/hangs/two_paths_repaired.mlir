// As two_paths.mlir, and the direct way holds what the middle one gathers.
module {
  aie.device(npu2_1col) {
    %shim = aie.tile(0, 0)
    %first = aie.tile(0, 2)
    %middle = aie.tile(0, 3)
    %last = aie.tile(0, 5)
    aie.objectfifo @skip(%first, {%last}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @in(%first, {%middle}, 4 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @sum(%middle, {%last}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @out(%last, {%shim}, 2 : i32) : !aie.objectfifo<memref<256xi32>>

    %core_0_2 = aie.core(%first) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c256 = arith.constant 256 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %value = arith.index_cast %i : index to i32
        %a = aie.objectfifo.acquire @skip(Produce, 1) : memref<256xi32>
        scf.for %j = %c0 to %c256 step %c1 {
          memref.store %value, %a[%j] : memref<256xi32>
        }
        aie.objectfifo.release @skip(Produce, 1)
        %b = aie.objectfifo.acquire @in(Produce, 1) : memref<256xi32>
        scf.for %j = %c0 to %c256 step %c1 {
          memref.store %value, %b[%j] : memref<256xi32>
        }
        aie.objectfifo.release @in(Produce, 1)
      }
      aie.end
    }

    // Adds up four objects at a time.
    %core_0_3 = aie.core(%middle) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c256 = arith.constant 256 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %a:4 = aie.objectfifo.acquire @in(Consume, 4) : memref<256xi32>, memref<256xi32>, memref<256xi32>, memref<256xi32>
        %b = aie.objectfifo.acquire @sum(Produce, 1) : memref<256xi32>
        scf.for %j = %c0 to %c256 step %c1 {
          %x = memref.load %a#0[%j] : memref<256xi32>
          %y = memref.load %a#1[%j] : memref<256xi32>
          %z = memref.load %a#2[%j] : memref<256xi32>
          %u = memref.load %a#3[%j] : memref<256xi32>
          %xy = arith.addi %x, %y : i32
          %zu = arith.addi %z, %u : i32
          %xyzu = arith.addi %xy, %zu : i32
          memref.store %xyzu, %b[%j] : memref<256xi32>
        }
        aie.objectfifo.release @in(Consume, 4)
        aie.objectfifo.release @sum(Produce, 1)
      }
      aie.end
    }

    // Wants the sum before the objects it is made of.
    %core_0_5 = aie.core(%last) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c256 = arith.constant 256 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %s = aie.objectfifo.acquire @sum(Consume, 1) : memref<256xi32>
        scf.for %k = %c0 to %c4 step %c1 {
          %a = aie.objectfifo.acquire @skip(Consume, 1) : memref<256xi32>
          %b = aie.objectfifo.acquire @out(Produce, 1) : memref<256xi32>
          scf.for %j = %c0 to %c256 step %c1 {
            %x = memref.load %s[%j] : memref<256xi32>
            %y = memref.load %a[%j] : memref<256xi32>
            %d = arith.subi %x, %y : i32
            memref.store %d, %b[%j] : memref<256xi32>
          }
          aie.objectfifo.release @skip(Consume, 1)
          aie.objectfifo.release @out(Produce, 1)
        }
        aie.objectfifo.release @sum(Consume, 1)
      }
      aie.end
    }
  }
}
