// The second core keeps the object it has; so it sees the same one again, and the first core runs out of room.
module {
  aie.device(npu2_1col) {
    %shim = aie.tile(0, 0)
    %a = aie.tile(0, 2)
    %b = aie.tile(0, 3)
    aie.objectfifo @line(%a, {%b}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @out(%b, {%shim}, 2 : i32) : !aie.objectfifo<memref<64xi32>>

    %core_0_2 = aie.core(%a) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 8 : index
      %c64 = arith.constant 64 : index
      scf.for %i = %c0 to %n step %c1 {
        %value = arith.index_cast %i : index to i32
        %p = aie.objectfifo.acquire @line(Produce, 1) : memref<64xi32>
        scf.for %j = %c0 to %c64 step %c1 {
          memref.store %value, %p[%j] : memref<64xi32>
        }
        aie.objectfifo.release @line(Produce, 1)
      }
      aie.end
    }

    %core_0_3 = aie.core(%b) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 8 : index
      %c64 = arith.constant 64 : index
      scf.for %i = %c0 to %n step %c1 {
        %p = aie.objectfifo.acquire @line(Consume, 1) : memref<64xi32>
        %o = aie.objectfifo.acquire @out(Produce, 1) : memref<64xi32>
        scf.for %j = %c0 to %c64 step %c1 {
          %x = memref.load %p[%j] : memref<64xi32>
          memref.store %x, %o[%j] : memref<64xi32>
        }
        // The object is never given back.
        aie.objectfifo.release @out(Produce, 1)
      }
      aie.end
    }
  }
}
