// Each of two cores wants something of the other before it gives anything.
module {
  aie.device(npu2_1col) {
    %shim = aie.tile(0, 0)
    %a = aie.tile(0, 2)
    %b = aie.tile(0, 3)
    aie.objectfifo @there(%a, {%b}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @back(%b, {%a}, 2 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @out(%a, {%shim}, 2 : i32) : !aie.objectfifo<memref<64xi32>>

    // Takes an answer before it asks.
    %core_0_2 = aie.core(%a) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c64 = arith.constant 64 : index
      %one = arith.constant 1 : i32
      scf.for %i = %c0 to %c8 step %c1 {
        %p = aie.objectfifo.acquire @back(Consume, 1) : memref<64xi32>
        %q = aie.objectfifo.acquire @there(Produce, 1) : memref<64xi32>
        %o = aie.objectfifo.acquire @out(Produce, 1) : memref<64xi32>
        scf.for %j = %c0 to %c64 step %c1 {
          %x = memref.load %p[%j] : memref<64xi32>
          %y = arith.addi %x, %one : i32
          memref.store %y, %q[%j] : memref<64xi32>
          memref.store %y, %o[%j] : memref<64xi32>
        }
        aie.objectfifo.release @back(Consume, 1)
        aie.objectfifo.release @there(Produce, 1)
        aie.objectfifo.release @out(Produce, 1)
      }
      aie.end
    }

    // Takes a question before it answers.
    %core_0_3 = aie.core(%b) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 8 : index
      %c64 = arith.constant 64 : index
      %zero = arith.constant 0 : i32
      scf.for %i = %c0 to %n step %c1 {
        %p = aie.objectfifo.acquire @there(Consume, 1) : memref<64xi32>
        %q = aie.objectfifo.acquire @back(Produce, 1) : memref<64xi32>
        scf.for %j = %c0 to %c64 step %c1 {
          %x = memref.load %p[%j] : memref<64xi32>
          memref.store %x, %q[%j] : memref<64xi32>
        }
        aie.objectfifo.release @there(Consume, 1)
        aie.objectfifo.release @back(Produce, 1)
      }
      aie.end
    }
  }
}
