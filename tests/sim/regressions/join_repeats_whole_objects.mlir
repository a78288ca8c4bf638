// run: {"feeds": {"f9": ["000000000300000006000000090000000c0000000f000000"], "f17": ["e8030000eb030000ee030000f1030000f4030000f7030000fa030000fd030000000400000304000006040000090400000c0400000f0400001204000015040000180400001b040000"]}, "drains": {"f3": 16}, "merged": {}, "cores_end": null, "dynamic": false, "kinds": ["array depth", "branch", "delegate", "distribute", "dma", "for", "held objects", "hold", "iter count", "join", "link", "npu2", "own fifo", "packet", "pad value", "padding", "repeat join", "step", "tail", "while", "windows"]}
// The output of a join repeats whole objects, not each of their parts.
aie.device(npu2) {
  %t0_0 = aie.tile(0, 0)
  %t0_1 = aie.tile(0, 1)
  %t0_3 = aie.tile(0, 3)
  %t0_4 = aie.tile(0, 4)
  %t0_5 = aie.tile(0, 5)
  %t1_2 = aie.tile(1, 2)
  %t1_3 = aie.tile(1, 3)
  aie.objectfifo @f2(%t1_3, {%t1_3}, 3 : i32) : !aie.objectfifo<memref<2xi32>>
  aie.objectfifo @f1(%t0_1 dimensionsToStream [<size = 1, stride = 1>, <size = 1, stride = 1>], {%t1_3}, 1 : i32) {transport = #aie.transport<dma>, padDimensions = #aie<bd_pad_layout_array[<const_pad_before = 0, const_pad_after = 0>, <const_pad_before = 1, const_pad_after = 0>]>, padValue = 4 : i32} : !aie.objectfifo<memref<2xi32>>
  aie.objectfifo @f5(%t0_5, {%t0_1}, 3 : i32) {transport = #aie.transport<dma, packet = #aie.packet_info<>>} : !aie.objectfifo<memref<1xi32>>
  aie.objectfifo @f6(%t0_1 dimensionsToStream [<size = 2, stride = 4>, <size = 2, stride = 1>], {%t0_5}, [1, 1]) : !aie.objectfifo<memref<2xi32>>
  aie.objectfifo @f9(%t0_0, {%t0_1}, [1, 2]) : !aie.objectfifo<memref<2xi32>>
  aie.objectfifo @f7(%t0_1, {%t0_5}, [1, 3]) {repeat_count = 4 : i32} : !aie.objectfifo<memref<4xi32>>
  aie.objectfifo @f10(%t0_3, {%t0_1}, [1, 2]) : !aie.objectfifo<memref<2xi32>>
  aie.objectfifo @f11(%t1_2, {%t0_1}, 3 : i32) : !aie.objectfifo<memref<2xi32>>
  aie.objectfifo @f12(%t0_1, {%t0_3}, 3 : i32) : !aie.objectfifo<memref<2xi32>>
  aie.objectfifo @f14(%t0_1, {%t1_2}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
  aie.objectfifo @f16(%t0_4, {%t0_1}, [3, 1]) : !aie.objectfifo<memref<3xi32>>
  aie.objectfifo @f17(%t0_0, {%t0_4}, [2, 2]) {transport = #aie.transport<dma>} : !aie.objectfifo<memref<6xi32>>
  aie.objectfifo @f3(%t1_3, {%t0_0}, 2 : i32) : !aie.objectfifo<memref<2xi32>>
  aie.objectfifo.link [@f9] -> [@f6] ([] [])
  aie.objectfifo.link [@f16] -> [@f12, @f14] ([] [0, 2])
  aie.objectfifo.link [@f10, @f11] -> [@f7] ([0, 2] [])
  aie.objectfifo.link [@f5] -> [@f1] ([] [])
  aie.objectfifo.allocate @f2(%t1_3)
  %n_k4 = aie.buffer(%t1_3) {sym_name = "n_k4"} : memref<1xi32> = dense<0>
  %core_k4 = aie.core(%t1_3) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %e19 = arith.constant 19 : i32
    %e1 = arith.constant 1 : i32
    scf.for %i1 = %c0 to %c1 step %c1 {
    scf.for %i2 = %c0 to %c2 step %c1 {
    %o3 = aie.objectfifo.acquire @f1 (Consume, 1) : memref<2xi32>
    %o4 = aie.objectfifo.acquire @f2 (Produce, 1) : memref<2xi32>
    %n5 = memref.load %n_k4[%c0] : memref<1xi32>
    scf.for %j7 = %c0 to %c2 step %c1 {
    %p8 = arith.index_cast %j7 : index to i32
    %m10 = arith.muli %n5, %e19 : i32
    %s9 = arith.addi %p8, %m10 : i32
    %s11 = arith.addi %s9, %e1 : i32
    %a12 = arith.remui %j7, %c2 : index
    %v13 = memref.load %o3[%a12] : memref<2xi32>
    %m14 = arith.muli %v13, %e1 : i32
    %s15 = arith.addi %s11, %m14 : i32
    memref.store %s15, %o4[%j7] : memref<2xi32>
    }
    %n6 = arith.addi %n5, %e1 : i32
    memref.store %n6, %n_k4[%c0] : memref<1xi32>
    aie.objectfifo.release @f1 (Consume, 1)
    aie.objectfifo.release @f2 (Produce, 1)
    }
    scf.for %i16 = %c0 to %c2 step %c1 {
    %o17 = aie.objectfifo.acquire @f2 (Consume, 1) : memref<2xi32>
    %o18 = aie.objectfifo.acquire @f3 (Produce, 1) : memref<2xi32>
    %n19 = memref.load %n_k4[%c0] : memref<1xi32>
    scf.for %j21 = %c0 to %c2 step %c1 {
    %p22 = arith.index_cast %j21 : index to i32
    %m24 = arith.muli %n19, %e19 : i32
    %s23 = arith.addi %p22, %m24 : i32
    %s25 = arith.addi %s23, %e1 : i32
    %a26 = arith.remui %j21, %c2 : index
    %v27 = memref.load %o17[%a26] : memref<2xi32>
    %m28 = arith.muli %v27, %e1 : i32
    %s29 = arith.addi %s25, %m28 : i32
    memref.store %s29, %o18[%j21] : memref<2xi32>
    }
    %n20 = arith.addi %n19, %e1 : i32
    memref.store %n20, %n_k4[%c0] : memref<1xi32>
    aie.objectfifo.release @f2 (Consume, 1)
    aie.objectfifo.release @f3 (Produce, 1)
    }
    }
    aie.end
  }
  %n_k8 = aie.buffer(%t0_5) {sym_name = "n_k8"} : memref<1xi32> = dense<0>
  %core_k8 = aie.core(%t0_5) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %e19 = arith.constant 19 : i32
    %e1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : index
    %e3 = arith.constant 3 : i32
    %e5 = arith.constant 5 : i32
    %e7 = arith.constant 7 : i32
    scf.for %i1 = %c0 to %c2 step %c1 {
    %o2 = aie.objectfifo.acquire @f6 (Consume, 1) : memref<2xi32>
    %o3, %o4, %o5 = aie.objectfifo.acquire @f7 (Consume, 3) : memref<4xi32>, memref<4xi32>, memref<4xi32>
    %o6 = aie.objectfifo.acquire @f5 (Produce, 1) : memref<1xi32>
    %n7 = memref.load %n_k8[%c0] : memref<1xi32>
    scf.for %j9 = %c0 to %c1 step %c1 {
    %p10 = arith.index_cast %j9 : index to i32
    %m12 = arith.muli %n7, %e19 : i32
    %s11 = arith.addi %p10, %m12 : i32
    %s13 = arith.addi %s11, %e1 : i32
    %a14 = arith.remui %j9, %c2 : index
    %v15 = memref.load %o2[%a14] : memref<2xi32>
    %m16 = arith.muli %v15, %e1 : i32
    %s17 = arith.addi %s13, %m16 : i32
    %a18 = arith.remui %j9, %c4 : index
    %v19 = memref.load %o3[%a18] : memref<4xi32>
    %m20 = arith.muli %v19, %e3 : i32
    %s21 = arith.addi %s17, %m20 : i32
    %a22 = arith.remui %j9, %c4 : index
    %v23 = memref.load %o4[%a22] : memref<4xi32>
    %m24 = arith.muli %v23, %e5 : i32
    %s25 = arith.addi %s21, %m24 : i32
    %a26 = arith.remui %j9, %c4 : index
    %v27 = memref.load %o5[%a26] : memref<4xi32>
    %m28 = arith.muli %v27, %e7 : i32
    %s29 = arith.addi %s25, %m28 : i32
    memref.store %s29, %o6[%j9] : memref<1xi32>
    }
    %n8 = arith.addi %n7, %e1 : i32
    memref.store %n8, %n_k8[%c0] : memref<1xi32>
    aie.objectfifo.release @f6 (Consume, 1)
    aie.objectfifo.release @f7 (Consume, 1)
    aie.objectfifo.release @f5 (Produce, 1)
    }
    aie.objectfifo.release @f7 (Consume, 2)
    aie.end
  }
  %n_k13 = aie.buffer(%t0_3) {sym_name = "n_k13"} : memref<1xi32> = dense<0>
  %core_k13 = aie.core(%t0_3) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %e19 = arith.constant 19 : i32
    %e1 = arith.constant 1 : i32
    %e3 = arith.constant 3 : i32
    %o1 = aie.objectfifo.acquire @f12 (Consume, 1) : memref<2xi32>
    %w6 = scf.while (%i2 = %c0) : (index) -> index {
    %f3 = arith.cmpi slt, %i2, %c1 : index
    scf.condition(%f3) %i2 : index
    } do {
    ^bb0(%i4: index):
    %o7, %o8 = aie.objectfifo.acquire @f12 (Consume, 2) : memref<2xi32>, memref<2xi32>
    %o9 = aie.objectfifo.acquire @f10 (Produce, 1) : memref<2xi32>
    %n10 = memref.load %n_k13[%c0] : memref<1xi32>
    scf.for %j12 = %c0 to %c2 step %c1 {
    %p13 = arith.index_cast %j12 : index to i32
    %m15 = arith.muli %n10, %e19 : i32
    %s14 = arith.addi %p13, %m15 : i32
    %s16 = arith.addi %s14, %e1 : i32
    %a17 = arith.remui %j12, %c2 : index
    %v18 = memref.load %o7[%a17] : memref<2xi32>
    %m19 = arith.muli %v18, %e1 : i32
    %s20 = arith.addi %s16, %m19 : i32
    %a21 = arith.remui %j12, %c2 : index
    %v22 = memref.load %o8[%a21] : memref<2xi32>
    %m23 = arith.muli %v22, %e3 : i32
    %s24 = arith.addi %s20, %m23 : i32
    memref.store %s24, %o9[%j12] : memref<2xi32>
    }
    %n11 = arith.addi %n10, %e1 : i32
    memref.store %n11, %n_k13[%c0] : memref<1xi32>
    aie.objectfifo.release @f12 (Consume, 2)
    aie.objectfifo.release @f10 (Produce, 1)
    %i5 = arith.addi %i4, %c1 : index
    scf.yield %i5 : index
    }
    aie.end
  }
  %n_k15 = aie.buffer(%t1_2) {sym_name = "n_k15"} : memref<1xi32> = dense<0>
  %core_k15 = aie.core(%t1_2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %e19 = arith.constant 19 : i32
    %e1 = arith.constant 1 : i32
    %e3 = arith.constant 3 : i32
    %w5 = scf.while (%i1 = %c0) : (index) -> index {
    %f2 = arith.cmpi slt, %i1, %c1 : index
    scf.condition(%f2) %i1 : index
    } do {
    ^bb0(%i3: index):
    %r7 = arith.remui %i3, %c2 : index
    %f6 = arith.cmpi eq, %r7, %c0 : index
    scf.if %f6 {
    %o8, %o9 = aie.objectfifo.acquire @f14 (Consume, 2) : memref<1xi32>, memref<1xi32>
    %o10 = aie.objectfifo.acquire @f11 (Produce, 1) : memref<2xi32>
    %n11 = memref.load %n_k15[%c0] : memref<1xi32>
    scf.for %j13 = %c0 to %c2 step %c1 {
    %p14 = arith.index_cast %j13 : index to i32
    %m16 = arith.muli %n11, %e19 : i32
    %s15 = arith.addi %p14, %m16 : i32
    %s17 = arith.addi %s15, %e1 : i32
    %a18 = arith.remui %j13, %c1 : index
    %v19 = memref.load %o8[%a18] : memref<1xi32>
    %m20 = arith.muli %v19, %e1 : i32
    %s21 = arith.addi %s17, %m20 : i32
    %a22 = arith.remui %j13, %c1 : index
    %v23 = memref.load %o9[%a22] : memref<1xi32>
    %m24 = arith.muli %v23, %e3 : i32
    %s25 = arith.addi %s21, %m24 : i32
    memref.store %s25, %o10[%j13] : memref<2xi32>
    }
    %n12 = arith.addi %n11, %e1 : i32
    memref.store %n12, %n_k15[%c0] : memref<1xi32>
    aie.objectfifo.release @f14 (Consume, 2)
    aie.objectfifo.release @f11 (Produce, 1)
    } else {
    %o26 = aie.objectfifo.acquire @f14 (Consume, 1) : memref<1xi32>
    %o27 = aie.objectfifo.acquire @f11 (Produce, 1) : memref<2xi32>
    %n28 = memref.load %n_k15[%c0] : memref<1xi32>
    scf.for %j30 = %c0 to %c2 step %c1 {
    %p31 = arith.index_cast %j30 : index to i32
    %m33 = arith.muli %n28, %e19 : i32
    %s32 = arith.addi %p31, %m33 : i32
    %s34 = arith.addi %s32, %e1 : i32
    %a35 = arith.remui %j30, %c1 : index
    %v36 = memref.load %o26[%a35] : memref<1xi32>
    %m37 = arith.muli %v36, %e1 : i32
    %s38 = arith.addi %s34, %m37 : i32
    memref.store %s38, %o27[%j30] : memref<2xi32>
    }
    %n29 = arith.addi %n28, %e1 : i32
    memref.store %n29, %n_k15[%c0] : memref<1xi32>
    aie.objectfifo.release @f14 (Consume, 1)
    aie.objectfifo.release @f11 (Produce, 1)
    }
    %i4 = arith.addi %i3, %c1 : index
    scf.yield %i4 : index
    }
    aie.end
  }
  %n_k18 = aie.buffer(%t0_4) {sym_name = "n_k18"} : memref<1xi32> = dense<0>
  %core_k18 = aie.core(%t0_4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c-1 = arith.constant -1 : index
    %e19 = arith.constant 19 : i32
    %e1 = arith.constant 1 : i32
    %c6 = arith.constant 6 : index
    %e3 = arith.constant 3 : i32
    %o1 = aie.objectfifo.acquire @f17 (Consume, 1) : memref<6xi32>
    scf.for %i2 = %c0 to %c-1 step %c3 {
    %i3 = arith.divui %i2, %c3 : index
    %o4 = aie.objectfifo.acquire @f16 (Produce, 1) : memref<3xi32>
    %o5 = aie.objectfifo.acquire @f17 (Consume, 1) : memref<6xi32>
    %n6 = memref.load %n_k18[%c0] : memref<1xi32>
    scf.for %j8 = %c0 to %c3 step %c1 {
    %p9 = arith.index_cast %j8 : index to i32
    %m11 = arith.muli %n6, %e19 : i32
    %s10 = arith.addi %p9, %m11 : i32
    %s12 = arith.addi %s10, %e1 : i32
    %a13 = arith.remui %j8, %c6 : index
    %v14 = memref.load %o5[%a13] : memref<6xi32>
    %m15 = arith.muli %v14, %e1 : i32
    %s16 = arith.addi %s12, %m15 : i32
    memref.store %s16, %o4[%j8] : memref<3xi32>
    }
    %n7 = arith.addi %n6, %e1 : i32
    memref.store %n7, %n_k18[%c0] : memref<1xi32>
    aie.objectfifo.release @f17 (Consume, 1)
    aie.objectfifo.release @f16 (Produce, 1)
    %o17 = aie.objectfifo.acquire @f16 (Produce, 1) : memref<3xi32>
    %o18, %o19 = aie.objectfifo.acquire @f17 (Consume, 2) : memref<6xi32>, memref<6xi32>
    %n20 = memref.load %n_k18[%c0] : memref<1xi32>
    scf.for %j22 = %c0 to %c3 step %c1 {
    %p23 = arith.index_cast %j22 : index to i32
    %m25 = arith.muli %n20, %e19 : i32
    %s24 = arith.addi %p23, %m25 : i32
    %s26 = arith.addi %s24, %e1 : i32
    %a27 = arith.remui %j22, %c6 : index
    %v28 = memref.load %o18[%a27] : memref<6xi32>
    %m29 = arith.muli %v28, %e1 : i32
    %s30 = arith.addi %s26, %m29 : i32
    %a31 = arith.remui %j22, %c6 : index
    %v32 = memref.load %o19[%a31] : memref<6xi32>
    %m33 = arith.muli %v32, %e3 : i32
    %s34 = arith.addi %s30, %m33 : i32
    memref.store %s34, %o17[%j22] : memref<3xi32>
    }
    %n21 = arith.addi %n20, %e1 : i32
    memref.store %n21, %n_k18[%c0] : memref<1xi32>
    aie.objectfifo.release @f17 (Consume, 1)
    aie.objectfifo.release @f16 (Produce, 1)
    %o35 = aie.objectfifo.acquire @f16 (Produce, 1) : memref<3xi32>
    %o36 = aie.objectfifo.acquire @f17 (Consume, 1) : memref<6xi32>
    %n37 = memref.load %n_k18[%c0] : memref<1xi32>
    scf.for %j39 = %c0 to %c3 step %c1 {
    %p40 = arith.index_cast %j39 : index to i32
    %m42 = arith.muli %n37, %e19 : i32
    %s41 = arith.addi %p40, %m42 : i32
    %s43 = arith.addi %s41, %e1 : i32
    %a44 = arith.remui %j39, %c6 : index
    %v45 = memref.load %o36[%a44] : memref<6xi32>
    %m46 = arith.muli %v45, %e1 : i32
    %s47 = arith.addi %s43, %m46 : i32
    memref.store %s47, %o35[%j39] : memref<3xi32>
    }
    %n38 = arith.addi %n37, %e1 : i32
    memref.store %n38, %n_k18[%c0] : memref<1xi32>
    aie.objectfifo.release @f17 (Consume, 1)
    aie.objectfifo.release @f16 (Produce, 1)
    }
    %o48 = aie.objectfifo.acquire @f16 (Produce, 1) : memref<3xi32>
    %o49 = aie.objectfifo.acquire @f17 (Consume, 1) : memref<6xi32>
    %n50 = memref.load %n_k18[%c0] : memref<1xi32>
    scf.for %j52 = %c0 to %c3 step %c1 {
    %p53 = arith.index_cast %j52 : index to i32
    %m55 = arith.muli %n50, %e19 : i32
    %s54 = arith.addi %p53, %m55 : i32
    %s56 = arith.addi %s54, %e1 : i32
    %a57 = arith.remui %j52, %c6 : index
    %v58 = memref.load %o49[%a57] : memref<6xi32>
    %m59 = arith.muli %v58, %e1 : i32
    %s60 = arith.addi %s56, %m59 : i32
    memref.store %s60, %o48[%j52] : memref<3xi32>
    }
    %n51 = arith.addi %n50, %e1 : i32
    memref.store %n51, %n_k18[%c0] : memref<1xi32>
    aie.objectfifo.release @f17 (Consume, 1)
    aie.objectfifo.release @f16 (Produce, 1)
    %o61 = aie.objectfifo.acquire @f16 (Produce, 1) : memref<3xi32>
    %o62, %o63 = aie.objectfifo.acquire @f17 (Consume, 2) : memref<6xi32>, memref<6xi32>
    %n64 = memref.load %n_k18[%c0] : memref<1xi32>
    scf.for %j66 = %c0 to %c3 step %c1 {
    %p67 = arith.index_cast %j66 : index to i32
    %m69 = arith.muli %n64, %e19 : i32
    %s68 = arith.addi %p67, %m69 : i32
    %s70 = arith.addi %s68, %e1 : i32
    %a71 = arith.remui %j66, %c6 : index
    %v72 = memref.load %o62[%a71] : memref<6xi32>
    %m73 = arith.muli %v72, %e1 : i32
    %s74 = arith.addi %s70, %m73 : i32
    %a75 = arith.remui %j66, %c6 : index
    %v76 = memref.load %o63[%a75] : memref<6xi32>
    %m77 = arith.muli %v76, %e3 : i32
    %s78 = arith.addi %s74, %m77 : i32
    memref.store %s78, %o61[%j66] : memref<3xi32>
    }
    %n65 = arith.addi %n64, %e1 : i32
    memref.store %n65, %n_k18[%c0] : memref<1xi32>
    aie.objectfifo.release @f17 (Consume, 1)
    aie.objectfifo.release @f16 (Produce, 1)
    aie.objectfifo.release @f17 (Consume, 1)
    aie.end
  }
}
