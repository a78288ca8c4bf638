// run: {"feeds": {"f9": ["000000000300000006000000090000000c0000000f0000001200000015000000180000001b0000001e0000002100000024000000270000002a0000002d000000300000003300000036000000390000003c0000003f000000"], "f3": ["e8030000eb030000ee030000f1030000f4030000f7030000fa030000fd030000000400000304000006040000"], "f4": ["d0070000d3070000d6070000d9070000dc070000df070000e2070000e5070000e8070000eb070000ee070000"]}, "drains": {"f1": 132}, "merged": {}, "cores_end": null, "dynamic": false, "packets": false, "peel": "auto", "kinds": ["branch", "for", "held objects", "join", "npu2", "three inputs"]}
// Two ends share a channel, and one of them fills a window of objects that never run out: the channel wants one more
// object of the other than the core takes. Apart they would finish; lowering warns, in numbers.
aie.device(npu2) {
  %t0_0 = aie.tile(0, 0)
  %t0_1 = aie.tile(0, 1)
  %t0_2 = aie.tile(0, 2)
  %t1_0 = aie.tile(1, 0)
  aie.objectfifo @f1(%t0_1, {%t0_0}, 1 : i32) : !aie.objectfifo<memref<3xi32>>
  aie.objectfifo @f2(%t0_2, {%t0_1}, 3 : i32) : !aie.objectfifo<memref<1xi32>>
  aie.objectfifo @f5(%t0_1, {%t0_2}, 1 : i32) : !aie.objectfifo<memref<2xi32>> = [dense<[50, 51]> : memref<2xi32>]
  aie.objectfifo @f6(%t0_1, {%t0_2}, 3 : i32) : !aie.objectfifo<memref<2xi32>> = [dense<[50, 51]> : memref<2xi32>, dense<[60, 61]> : memref<2xi32>, dense<[70, 71]> : memref<2xi32>]
  aie.objectfifo @f7(%t0_1, {%t0_2}, 3 : i32) : !aie.objectfifo<memref<2xi32>>
  aie.objectfifo @f9(%t0_0, {%t0_1}, 1 : i32) : !aie.objectfifo<memref<2xi32>>
  aie.objectfifo @f3(%t0_0, {%t0_1}, 1 : i32) : !aie.objectfifo<memref<1xi32>>
  aie.objectfifo @f4(%t1_0, {%t0_1}, 1 : i32) : !aie.objectfifo<memref<1xi32>>
  aie.objectfifo.link [@f9] -> [@f7] ([] [])
  aie.objectfifo.link [@f2, @f3, @f4] -> [@f1] ([0, 1, 2] [])
  %n_k8 = aie.buffer(%t0_2) {sym_name = "n_k8"} : memref<2xi32> = dense<0>
  %core_k8 = aie.core(%t0_2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c11 = arith.constant 11 : index
    %e19 = arith.constant 19 : i32
    %e1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : index
    %e3 = arith.constant 3 : i32
    %e5 = arith.constant 5 : i32
    %e7 = arith.constant 7 : i32
    %e9 = arith.constant 9 : i32
    scf.for %i1 = %c0 to %c11 step %c1 {
    %o2 = aie.objectfifo.acquire @f5 (Consume, 1) : memref<2xi32>
    %o3, %o4, %o5 = aie.objectfifo.acquire @f6 (Consume, 3) : memref<2xi32>, memref<2xi32>, memref<2xi32>
    %o6 = aie.objectfifo.acquire @f7 (Consume, 1) : memref<2xi32>
    %o7 = aie.objectfifo.acquire @f2 (Produce, 1) : memref<1xi32>
    %n8 = memref.load %n_k8[%c0] : memref<2xi32>
    scf.for %j10 = %c0 to %c1 step %c1 {
    %p11 = arith.index_cast %j10 : index to i32
    %m13 = arith.muli %n8, %e19 : i32
    %s12 = arith.addi %p11, %m13 : i32
    %s14 = arith.addi %s12, %e1 : i32
    %a15 = arith.remui %j10, %c2 : index
    %v16 = memref.load %o2[%a15] : memref<2xi32>
    %m17 = arith.muli %v16, %e1 : i32
    %s18 = arith.addi %s14, %m17 : i32
    %a19 = arith.remui %j10, %c2 : index
    %v20 = memref.load %o3[%a19] : memref<2xi32>
    %m21 = arith.muli %v20, %e3 : i32
    %s22 = arith.addi %s18, %m21 : i32
    %a23 = arith.remui %j10, %c2 : index
    %v24 = memref.load %o4[%a23] : memref<2xi32>
    %m25 = arith.muli %v24, %e5 : i32
    %s26 = arith.addi %s22, %m25 : i32
    %a27 = arith.remui %j10, %c2 : index
    %v28 = memref.load %o5[%a27] : memref<2xi32>
    %m29 = arith.muli %v28, %e7 : i32
    %s30 = arith.addi %s26, %m29 : i32
    %a31 = arith.remui %j10, %c2 : index
    %v32 = memref.load %o6[%a31] : memref<2xi32>
    %m33 = arith.muli %v32, %e9 : i32
    %s34 = arith.addi %s30, %m33 : i32
    memref.store %s34, %o7[%j10] : memref<1xi32>
    }
    %n9 = arith.addi %n8, %e1 : i32
    memref.store %n9, %n_k8[%c0] : memref<2xi32>
    aie.objectfifo.release @f6 (Consume, 1)
    aie.objectfifo.release @f7 (Consume, 1)
    aie.objectfifo.release @f2 (Produce, 1)
    %f35 = arith.constant false
    scf.if %f35 {
    aie.objectfifo.release @f5 (Consume, 1)
    }
    }
    aie.end
  }
}
