// A column filter over an image: each output row is made from three input rows.
// The core holds three rows at a time and gives one back per step; at both edges it uses the edge row twice.
module {
  aie.device(npu2) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %tile = aie.tile(0, 2)

    aie.objectfifo @image(%shim, {%mem}, 2 : i32) : !aie.objectfifo<memref<1024xui8>>
    aie.objectfifo @rows(%mem, {%tile}, [2, 4]) : !aie.objectfifo<memref<256xui8>>
    aie.objectfifo.link [@image] -> [@rows] ([] [])
    aie.objectfifo @blurred(%tile, {%shim}, 2 : i32) : !aie.objectfifo<memref<256xui8>>

    func.func private @blur(memref<256xui8>, memref<256xui8>, memref<256xui8>, memref<256xui8>)
        attributes {link_with = "blur.c"}

    %core = aie.core(%tile) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %inner = arith.constant 62 : index
      scf.for %frame = %c0 to %forever step %c1 {
        %first, %second = aie.objectfifo.acquire @rows(Consume, 2) : memref<256xui8>, memref<256xui8>
        %top = aie.objectfifo.acquire @blurred(Produce, 1) : memref<256xui8>
        func.call @blur(%first, %first, %second, %top)
            : (memref<256xui8>, memref<256xui8>, memref<256xui8>, memref<256xui8>) -> ()
        aie.objectfifo.release @blurred(Produce, 1)
        scf.for %row = %c0 to %inner step %c1 {
          %above, %here, %below = aie.objectfifo.acquire @rows(Consume, 3)
              : memref<256xui8>, memref<256xui8>, memref<256xui8>
          %out = aie.objectfifo.acquire @blurred(Produce, 1) : memref<256xui8>
          func.call @blur(%above, %here, %below, %out)
              : (memref<256xui8>, memref<256xui8>, memref<256xui8>, memref<256xui8>) -> ()
          aie.objectfifo.release @blurred(Produce, 1)
          aie.objectfifo.release @rows(Consume, 1)
        }
        %above, %here = aie.objectfifo.acquire @rows(Consume, 2) : memref<256xui8>, memref<256xui8>
        %bottom = aie.objectfifo.acquire @blurred(Produce, 1) : memref<256xui8>
        func.call @blur(%above, %here, %here, %bottom)
            : (memref<256xui8>, memref<256xui8>, memref<256xui8>, memref<256xui8>) -> ()
        aie.objectfifo.release @blurred(Produce, 1)
        aie.objectfifo.release @rows(Consume, 2)
      }
      aie.end
    }
  }
}
