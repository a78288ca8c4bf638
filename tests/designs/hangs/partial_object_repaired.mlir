// Four objects of 96 words are three of 128.
module {
  aie.device(npu2_1col) {
    %shim = aie.tile(0, 0)
    %a = aie.tile(0, 2)
    %b = aie.tile(0, 4)
    %mem = aie.tile(0, 1)
    aie.objectfifo @parts(%a, {%mem}, 2 : i32) : !aie.objectfifo<memref<96xi32>>
    aie.objectfifo @whole(%mem, {%b}, 2 : i32) : !aie.objectfifo<memref<128xi32>>
    aie.objectfifo.link [@parts] -> [@whole] ([] [])
    aie.objectfifo @out(%b, {%shim}, 2 : i32) : !aie.objectfifo<memref<128xi32>>

    %core_0_2 = aie.core(%a) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 4 : index
      %c96 = arith.constant 96 : index
      scf.for %i = %c0 to %n step %c1 {
        %value = arith.index_cast %i : index to i32
        %p = aie.objectfifo.acquire @parts(Produce, 1) : memref<96xi32>
        scf.for %j = %c0 to %c96 step %c1 {
          memref.store %value, %p[%j] : memref<96xi32>
        }
        aie.objectfifo.release @parts(Produce, 1)
      }
      aie.end
    }

    %core_0_4 = aie.core(%b) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c128 = arith.constant 128 : index
      scf.for %i = %c0 to %c3 step %c1 {
        %p = aie.objectfifo.acquire @whole(Consume, 1) : memref<128xi32>
        %o = aie.objectfifo.acquire @out(Produce, 1) : memref<128xi32>
        scf.for %j = %c0 to %c128 step %c1 {
          %x = memref.load %p[%j] : memref<128xi32>
          memref.store %x, %o[%j] : memref<128xi32>
        }
        aie.objectfifo.release @whole(Consume, 1)
        aie.objectfifo.release @out(Produce, 1)
      }
      aie.end
    }
  }
}
