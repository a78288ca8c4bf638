// run: {"feeds": {"f6": ["000000000300000006000000090000000c0000000f0000001200000015000000180000001b0000001e0000002100000024000000270000002a0000002d0000003000000033000000"], "f8": ["e8030000eb030000"]}, "drains": {"f1": 16}, "merged": {}, "cores_end": null, "dynamic": false, "packets": false, "peel": "auto", "kinds": ["for", "held objects", "npu2", "straight", "three inputs"]}
// Two ends share a channel, and one of them fills a window: the channel wants one more object of the other than the
// core takes. Apart they would finish; the hang check refuses the design.
aie.device(npu2) {
  %t0_0 = aie.tile(0, 0)
  %t0_1 = aie.tile(0, 1)
  %t0_2 = aie.tile(0, 2)
  %t1_5 = aie.tile(1, 5)
  aie.objectfifo @f1(%t1_5, {%t0_0}, 3 : i32) : !aie.objectfifo<memref<2xi32>>
  aie.objectfifo @f2(%t0_1, {%t1_5}, 3 : i32) : !aie.objectfifo<memref<6xi32>>
  aie.objectfifo @f6(%t0_0, {%t0_1}, 3 : i32) : !aie.objectfifo<memref<6xi32>>
  aie.objectfifo @f3(%t0_1, {%t1_5}, 2 : i32) : !aie.objectfifo<memref<2xi32>> = [dense<[50, 51]> : memref<2xi32>, dense<[60, 61]> : memref<2xi32>]
  aie.objectfifo @f4(%t0_1, {%t1_5}, 2 : i32) : !aie.objectfifo<memref<2xi32>>
  aie.objectfifo @f7(%t0_2, {%t0_1}, 1 : i32) : !aie.objectfifo<memref<2xi32>>
  aie.objectfifo @f8(%t0_0, {%t0_2}, 1 : i32) : !aie.objectfifo<memref<2xi32>>
  aie.objectfifo.link [@f6] -> [@f2] ([] [])
  aie.objectfifo.link [@f7] -> [@f4] ([] [])
  %n_k5 = aie.buffer(%t1_5) {sym_name = "n_k5"} : memref<2xi32> = dense<0>
  %core_k5 = aie.core(%t1_5) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %e19 = arith.constant 19 : i32
    %e1 = arith.constant 1 : i32
    %c6 = arith.constant 6 : index
    %e3 = arith.constant 3 : i32
    %e5 = arith.constant 5 : i32
    %e7 = arith.constant 7 : i32
    %e9 = arith.constant 9 : i32
    %e11 = arith.constant 11 : i32
    %e8 = arith.constant 8 : i32
    scf.for %i1 = %c0 to %c1 step %c1 {
    %o2, %o3, %o4 = aie.objectfifo.acquire @f2 (Consume, 3) : memref<6xi32>, memref<6xi32>, memref<6xi32>
    %o5, %o6 = aie.objectfifo.acquire @f3 (Consume, 2) : memref<2xi32>, memref<2xi32>
    %o7 = aie.objectfifo.acquire @f4 (Consume, 1) : memref<2xi32>
    %o8, %o9 = aie.objectfifo.acquire @f1 (Produce, 2) : memref<2xi32>, memref<2xi32>
    %n10 = memref.load %n_k5[%c0] : memref<2xi32>
    scf.for %j12 = %c0 to %c2 step %c1 {
    %p13 = arith.index_cast %j12 : index to i32
    %m15 = arith.muli %n10, %e19 : i32
    %s14 = arith.addi %p13, %m15 : i32
    %s16 = arith.addi %s14, %e1 : i32
    %a17 = arith.remui %j12, %c6 : index
    %v18 = memref.load %o2[%a17] : memref<6xi32>
    %m19 = arith.muli %v18, %e1 : i32
    %s20 = arith.addi %s16, %m19 : i32
    %a21 = arith.remui %j12, %c6 : index
    %v22 = memref.load %o3[%a21] : memref<6xi32>
    %m23 = arith.muli %v22, %e3 : i32
    %s24 = arith.addi %s20, %m23 : i32
    %a25 = arith.remui %j12, %c6 : index
    %v26 = memref.load %o4[%a25] : memref<6xi32>
    %m27 = arith.muli %v26, %e5 : i32
    %s28 = arith.addi %s24, %m27 : i32
    %a29 = arith.remui %j12, %c2 : index
    %v30 = memref.load %o5[%a29] : memref<2xi32>
    %m31 = arith.muli %v30, %e7 : i32
    %s32 = arith.addi %s28, %m31 : i32
    %a33 = arith.remui %j12, %c2 : index
    %v34 = memref.load %o6[%a33] : memref<2xi32>
    %m35 = arith.muli %v34, %e9 : i32
    %s36 = arith.addi %s32, %m35 : i32
    %a37 = arith.remui %j12, %c2 : index
    %v38 = memref.load %o7[%a37] : memref<2xi32>
    %m39 = arith.muli %v38, %e11 : i32
    %s40 = arith.addi %s36, %m39 : i32
    memref.store %s40, %o8[%j12] : memref<2xi32>
    }
    scf.for %j41 = %c0 to %c2 step %c1 {
    %p42 = arith.index_cast %j41 : index to i32
    %m44 = arith.muli %n10, %e19 : i32
    %s43 = arith.addi %p42, %m44 : i32
    %s45 = arith.addi %s43, %e8 : i32
    %a46 = arith.remui %j41, %c6 : index
    %v47 = memref.load %o2[%a46] : memref<6xi32>
    %m48 = arith.muli %v47, %e1 : i32
    %s49 = arith.addi %s45, %m48 : i32
    %a50 = arith.remui %j41, %c6 : index
    %v51 = memref.load %o3[%a50] : memref<6xi32>
    %m52 = arith.muli %v51, %e3 : i32
    %s53 = arith.addi %s49, %m52 : i32
    %a54 = arith.remui %j41, %c6 : index
    %v55 = memref.load %o4[%a54] : memref<6xi32>
    %m56 = arith.muli %v55, %e5 : i32
    %s57 = arith.addi %s53, %m56 : i32
    %a58 = arith.remui %j41, %c2 : index
    %v59 = memref.load %o5[%a58] : memref<2xi32>
    %m60 = arith.muli %v59, %e7 : i32
    %s61 = arith.addi %s57, %m60 : i32
    %a62 = arith.remui %j41, %c2 : index
    %v63 = memref.load %o6[%a62] : memref<2xi32>
    %m64 = arith.muli %v63, %e9 : i32
    %s65 = arith.addi %s61, %m64 : i32
    %a66 = arith.remui %j41, %c2 : index
    %v67 = memref.load %o7[%a66] : memref<2xi32>
    %m68 = arith.muli %v67, %e11 : i32
    %s69 = arith.addi %s65, %m68 : i32
    memref.store %s69, %o9[%j41] : memref<2xi32>
    }
    %n11 = arith.addi %n10, %e1 : i32
    memref.store %n11, %n_k5[%c0] : memref<2xi32>
    aie.objectfifo.release @f2 (Consume, 1)
    aie.objectfifo.release @f3 (Consume, 2)
    aie.objectfifo.release @f4 (Consume, 1)
    aie.objectfifo.release @f1 (Produce, 1)
    }
    aie.objectfifo.release @f1 (Produce, 1)
    aie.end
  }
  %n_k9 = aie.buffer(%t0_2) {sym_name = "n_k9"} : memref<2xi32> = dense<0>
  %core_k9 = aie.core(%t0_2) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %e19 = arith.constant 19 : i32
    %e1 = arith.constant 1 : i32
    %o1 = aie.objectfifo.acquire @f8 (Consume, 1) : memref<2xi32>
    %o2 = aie.objectfifo.acquire @f7 (Produce, 1) : memref<2xi32>
    %n3 = memref.load %n_k9[%c0] : memref<2xi32>
    scf.for %j5 = %c0 to %c2 step %c1 {
    %p6 = arith.index_cast %j5 : index to i32
    %m8 = arith.muli %n3, %e19 : i32
    %s7 = arith.addi %p6, %m8 : i32
    %s9 = arith.addi %s7, %e1 : i32
    %a10 = arith.remui %j5, %c2 : index
    %v11 = memref.load %o1[%a10] : memref<2xi32>
    %m12 = arith.muli %v11, %e1 : i32
    %s13 = arith.addi %s9, %m12 : i32
    memref.store %s13, %o2[%j5] : memref<2xi32>
    }
    %n4 = arith.addi %n3, %e1 : i32
    memref.store %n4, %n_k9[%c0] : memref<2xi32>
    aie.objectfifo.release @f8 (Consume, 1)
    aie.objectfifo.release @f7 (Produce, 1)
    aie.end
  }
}
