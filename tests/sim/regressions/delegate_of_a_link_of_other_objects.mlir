// run: {"feeds": {}, "drains": {"out": 48}, "merged": {}, "cores_end": true, "dynamic": true, "packets": false, "peel": "auto", "kinds": ["delegate", "link"]}
// The core's objects are not the link's, so an allocate cannot let it fill those; DMAs carry them.
aie.device(npu2) {
  %shim = aie.tile(0, 0)
  %a = aie.tile(0, 2)
  %b = aie.tile(0, 3)
  aie.objectfifo @in(%b, {%a}, 2 : i32) : !aie.objectfifo<memref<2xi32>>
  aie.objectfifo @out(%a, {%shim}, 2 : i32) : !aie.objectfifo<memref<6xi32>>
  aie.objectfifo.link [@in] -> [@out] ([] [])
  aie.objectfifo.allocate @in(%a)
  %core = aie.core(%b) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %size = arith.constant 2 : index
    %count = arith.constant 6 : index
    scf.for %i = %c0 to %count step %c1 {
      %o = aie.objectfifo.acquire @in (Produce, 1) : memref<2xi32>
      scf.for %j = %c0 to %size step %c1 {
        %m = arith.muli %i, %size : index
        %s = arith.addi %m, %j : index
        %v = arith.index_cast %s : index to i32
        memref.store %v, %o[%j] : memref<2xi32>
      }
      aie.objectfifo.release @in (Produce, 1)
    }
    aie.end
  }
}
