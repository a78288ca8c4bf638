// The whole npu2 array with objectFifos. Written by generate.py.
module {
  aie.device(npu2) {
    func.func private @fir(memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) attributes {link_with = "fir.c"}

    %shim_0 = aie.tile(0, 0)
    %mem_0 = aie.tile(0, 1)
    %tile_0_2 = aie.tile(0, 2)
    %tile_0_3 = aie.tile(0, 3)
    %tile_0_4 = aie.tile(0, 4)
    %tile_0_5 = aie.tile(0, 5)
    aie.objectfifo @data_0_2(%shim_0, {%tile_0_2}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_0_3(%tile_0_2, {%tile_0_3}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_0_4(%tile_0_3, {%tile_0_4}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_0_5(%tile_0_4, {%tile_0_5}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @result_0(%tile_0_5, {%shim_0}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @taps_0(%shim_0, {%mem_0}, 1 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @taps_0_2(%mem_0, {%tile_0_2}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_0_3(%mem_0, {%tile_0_3}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_0_4(%mem_0, {%tile_0_4}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_0_5(%mem_0, {%tile_0_5}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo.link [@taps_0] -> [@taps_0_2, @taps_0_3, @taps_0_4, @taps_0_5] ([] [0, 16, 32, 48])
    aie.objectfifo @sum_0_2(%tile_0_2, {%mem_0}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_0_3(%tile_0_3, {%mem_0}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_0_4(%tile_0_4, {%mem_0}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_0_5(%tile_0_5, {%mem_0}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sums_0(%mem_0, {%shim_0}, 2 : i32) : !aie.objectfifo<memref<4xi32>>
    aie.objectfifo.link [@sum_0_2, @sum_0_3, @sum_0_4, @sum_0_5] -> [@sums_0] ([0, 1, 2, 3] [])

    %core_0_2 = aie.core(%tile_0_2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_0_2(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_0_2(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_0_3(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_0_2(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_0_2(Consume, 1)
        aie.objectfifo.release @data_0_3(Produce, 1)
        aie.objectfifo.release @sum_0_2(Produce, 1)
      }
      aie.end
    }

    %core_0_3 = aie.core(%tile_0_3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_0_3(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_0_3(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_0_4(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_0_3(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_0_3(Consume, 1)
        aie.objectfifo.release @data_0_4(Produce, 1)
        aie.objectfifo.release @sum_0_3(Produce, 1)
      }
      aie.end
    }

    %core_0_4 = aie.core(%tile_0_4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_0_4(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_0_4(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_0_5(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_0_4(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_0_4(Consume, 1)
        aie.objectfifo.release @data_0_5(Produce, 1)
        aie.objectfifo.release @sum_0_4(Produce, 1)
      }
      aie.end
    }

    %core_0_5 = aie.core(%tile_0_5) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_0_5(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_0_5(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @result_0(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_0_5(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_0_5(Consume, 1)
        aie.objectfifo.release @result_0(Produce, 1)
        aie.objectfifo.release @sum_0_5(Produce, 1)
      }
      aie.end
    }

    %shim_1 = aie.tile(1, 0)
    %mem_1 = aie.tile(1, 1)
    %tile_1_2 = aie.tile(1, 2)
    %tile_1_3 = aie.tile(1, 3)
    %tile_1_4 = aie.tile(1, 4)
    %tile_1_5 = aie.tile(1, 5)
    aie.objectfifo @data_1_2(%shim_1, {%tile_1_2}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_1_3(%tile_1_2, {%tile_1_3}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_1_4(%tile_1_3, {%tile_1_4}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_1_5(%tile_1_4, {%tile_1_5}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @result_1(%tile_1_5, {%shim_1}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @taps_1(%shim_1, {%mem_1}, 1 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @taps_1_2(%mem_1, {%tile_1_2}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_1_3(%mem_1, {%tile_1_3}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_1_4(%mem_1, {%tile_1_4}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_1_5(%mem_1, {%tile_1_5}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo.link [@taps_1] -> [@taps_1_2, @taps_1_3, @taps_1_4, @taps_1_5] ([] [0, 16, 32, 48])
    aie.objectfifo @sum_1_2(%tile_1_2, {%mem_1}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_1_3(%tile_1_3, {%mem_1}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_1_4(%tile_1_4, {%mem_1}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_1_5(%tile_1_5, {%mem_1}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sums_1(%mem_1, {%shim_1}, 2 : i32) : !aie.objectfifo<memref<4xi32>>
    aie.objectfifo.link [@sum_1_2, @sum_1_3, @sum_1_4, @sum_1_5] -> [@sums_1] ([0, 1, 2, 3] [])

    %core_1_2 = aie.core(%tile_1_2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_1_2(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_1_2(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_1_3(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_1_2(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_1_2(Consume, 1)
        aie.objectfifo.release @data_1_3(Produce, 1)
        aie.objectfifo.release @sum_1_2(Produce, 1)
      }
      aie.end
    }

    %core_1_3 = aie.core(%tile_1_3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_1_3(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_1_3(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_1_4(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_1_3(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_1_3(Consume, 1)
        aie.objectfifo.release @data_1_4(Produce, 1)
        aie.objectfifo.release @sum_1_3(Produce, 1)
      }
      aie.end
    }

    %core_1_4 = aie.core(%tile_1_4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_1_4(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_1_4(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_1_5(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_1_4(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_1_4(Consume, 1)
        aie.objectfifo.release @data_1_5(Produce, 1)
        aie.objectfifo.release @sum_1_4(Produce, 1)
      }
      aie.end
    }

    %core_1_5 = aie.core(%tile_1_5) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_1_5(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_1_5(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @result_1(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_1_5(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_1_5(Consume, 1)
        aie.objectfifo.release @result_1(Produce, 1)
        aie.objectfifo.release @sum_1_5(Produce, 1)
      }
      aie.end
    }

    %shim_2 = aie.tile(2, 0)
    %mem_2 = aie.tile(2, 1)
    %tile_2_2 = aie.tile(2, 2)
    %tile_2_3 = aie.tile(2, 3)
    %tile_2_4 = aie.tile(2, 4)
    %tile_2_5 = aie.tile(2, 5)
    aie.objectfifo @data_2_2(%shim_2, {%tile_2_2}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_2_3(%tile_2_2, {%tile_2_3}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_2_4(%tile_2_3, {%tile_2_4}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_2_5(%tile_2_4, {%tile_2_5}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @result_2(%tile_2_5, {%shim_2}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @taps_2(%shim_2, {%mem_2}, 1 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @taps_2_2(%mem_2, {%tile_2_2}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_2_3(%mem_2, {%tile_2_3}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_2_4(%mem_2, {%tile_2_4}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_2_5(%mem_2, {%tile_2_5}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo.link [@taps_2] -> [@taps_2_2, @taps_2_3, @taps_2_4, @taps_2_5] ([] [0, 16, 32, 48])
    aie.objectfifo @sum_2_2(%tile_2_2, {%mem_2}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_2_3(%tile_2_3, {%mem_2}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_2_4(%tile_2_4, {%mem_2}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_2_5(%tile_2_5, {%mem_2}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sums_2(%mem_2, {%shim_2}, 2 : i32) : !aie.objectfifo<memref<4xi32>>
    aie.objectfifo.link [@sum_2_2, @sum_2_3, @sum_2_4, @sum_2_5] -> [@sums_2] ([0, 1, 2, 3] [])

    %core_2_2 = aie.core(%tile_2_2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_2_2(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_2_2(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_2_3(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_2_2(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_2_2(Consume, 1)
        aie.objectfifo.release @data_2_3(Produce, 1)
        aie.objectfifo.release @sum_2_2(Produce, 1)
      }
      aie.end
    }

    %core_2_3 = aie.core(%tile_2_3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_2_3(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_2_3(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_2_4(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_2_3(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_2_3(Consume, 1)
        aie.objectfifo.release @data_2_4(Produce, 1)
        aie.objectfifo.release @sum_2_3(Produce, 1)
      }
      aie.end
    }

    %core_2_4 = aie.core(%tile_2_4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_2_4(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_2_4(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_2_5(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_2_4(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_2_4(Consume, 1)
        aie.objectfifo.release @data_2_5(Produce, 1)
        aie.objectfifo.release @sum_2_4(Produce, 1)
      }
      aie.end
    }

    %core_2_5 = aie.core(%tile_2_5) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_2_5(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_2_5(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @result_2(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_2_5(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_2_5(Consume, 1)
        aie.objectfifo.release @result_2(Produce, 1)
        aie.objectfifo.release @sum_2_5(Produce, 1)
      }
      aie.end
    }

    %shim_3 = aie.tile(3, 0)
    %mem_3 = aie.tile(3, 1)
    %tile_3_2 = aie.tile(3, 2)
    %tile_3_3 = aie.tile(3, 3)
    %tile_3_4 = aie.tile(3, 4)
    %tile_3_5 = aie.tile(3, 5)
    aie.objectfifo @data_3_2(%shim_3, {%tile_3_2}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_3_3(%tile_3_2, {%tile_3_3}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_3_4(%tile_3_3, {%tile_3_4}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_3_5(%tile_3_4, {%tile_3_5}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @result_3(%tile_3_5, {%shim_3}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @taps_3(%shim_3, {%mem_3}, 1 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @taps_3_2(%mem_3, {%tile_3_2}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_3_3(%mem_3, {%tile_3_3}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_3_4(%mem_3, {%tile_3_4}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_3_5(%mem_3, {%tile_3_5}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo.link [@taps_3] -> [@taps_3_2, @taps_3_3, @taps_3_4, @taps_3_5] ([] [0, 16, 32, 48])
    aie.objectfifo @sum_3_2(%tile_3_2, {%mem_3}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_3_3(%tile_3_3, {%mem_3}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_3_4(%tile_3_4, {%mem_3}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_3_5(%tile_3_5, {%mem_3}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sums_3(%mem_3, {%shim_3}, 2 : i32) : !aie.objectfifo<memref<4xi32>>
    aie.objectfifo.link [@sum_3_2, @sum_3_3, @sum_3_4, @sum_3_5] -> [@sums_3] ([0, 1, 2, 3] [])

    %core_3_2 = aie.core(%tile_3_2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_3_2(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_3_2(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_3_3(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_3_2(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_3_2(Consume, 1)
        aie.objectfifo.release @data_3_3(Produce, 1)
        aie.objectfifo.release @sum_3_2(Produce, 1)
      }
      aie.end
    }

    %core_3_3 = aie.core(%tile_3_3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_3_3(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_3_3(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_3_4(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_3_3(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_3_3(Consume, 1)
        aie.objectfifo.release @data_3_4(Produce, 1)
        aie.objectfifo.release @sum_3_3(Produce, 1)
      }
      aie.end
    }

    %core_3_4 = aie.core(%tile_3_4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_3_4(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_3_4(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_3_5(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_3_4(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_3_4(Consume, 1)
        aie.objectfifo.release @data_3_5(Produce, 1)
        aie.objectfifo.release @sum_3_4(Produce, 1)
      }
      aie.end
    }

    %core_3_5 = aie.core(%tile_3_5) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_3_5(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_3_5(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @result_3(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_3_5(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_3_5(Consume, 1)
        aie.objectfifo.release @result_3(Produce, 1)
        aie.objectfifo.release @sum_3_5(Produce, 1)
      }
      aie.end
    }

    %shim_4 = aie.tile(4, 0)
    %mem_4 = aie.tile(4, 1)
    %tile_4_2 = aie.tile(4, 2)
    %tile_4_3 = aie.tile(4, 3)
    %tile_4_4 = aie.tile(4, 4)
    %tile_4_5 = aie.tile(4, 5)
    aie.objectfifo @data_4_2(%shim_4, {%tile_4_2}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_4_3(%tile_4_2, {%tile_4_3}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_4_4(%tile_4_3, {%tile_4_4}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_4_5(%tile_4_4, {%tile_4_5}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @result_4(%tile_4_5, {%shim_4}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @taps_4(%shim_4, {%mem_4}, 1 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @taps_4_2(%mem_4, {%tile_4_2}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_4_3(%mem_4, {%tile_4_3}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_4_4(%mem_4, {%tile_4_4}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_4_5(%mem_4, {%tile_4_5}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo.link [@taps_4] -> [@taps_4_2, @taps_4_3, @taps_4_4, @taps_4_5] ([] [0, 16, 32, 48])
    aie.objectfifo @sum_4_2(%tile_4_2, {%mem_4}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_4_3(%tile_4_3, {%mem_4}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_4_4(%tile_4_4, {%mem_4}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_4_5(%tile_4_5, {%mem_4}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sums_4(%mem_4, {%shim_4}, 2 : i32) : !aie.objectfifo<memref<4xi32>>
    aie.objectfifo.link [@sum_4_2, @sum_4_3, @sum_4_4, @sum_4_5] -> [@sums_4] ([0, 1, 2, 3] [])

    %core_4_2 = aie.core(%tile_4_2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_4_2(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_4_2(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_4_3(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_4_2(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_4_2(Consume, 1)
        aie.objectfifo.release @data_4_3(Produce, 1)
        aie.objectfifo.release @sum_4_2(Produce, 1)
      }
      aie.end
    }

    %core_4_3 = aie.core(%tile_4_3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_4_3(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_4_3(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_4_4(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_4_3(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_4_3(Consume, 1)
        aie.objectfifo.release @data_4_4(Produce, 1)
        aie.objectfifo.release @sum_4_3(Produce, 1)
      }
      aie.end
    }

    %core_4_4 = aie.core(%tile_4_4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_4_4(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_4_4(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_4_5(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_4_4(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_4_4(Consume, 1)
        aie.objectfifo.release @data_4_5(Produce, 1)
        aie.objectfifo.release @sum_4_4(Produce, 1)
      }
      aie.end
    }

    %core_4_5 = aie.core(%tile_4_5) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_4_5(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_4_5(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @result_4(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_4_5(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_4_5(Consume, 1)
        aie.objectfifo.release @result_4(Produce, 1)
        aie.objectfifo.release @sum_4_5(Produce, 1)
      }
      aie.end
    }

    %shim_5 = aie.tile(5, 0)
    %mem_5 = aie.tile(5, 1)
    %tile_5_2 = aie.tile(5, 2)
    %tile_5_3 = aie.tile(5, 3)
    %tile_5_4 = aie.tile(5, 4)
    %tile_5_5 = aie.tile(5, 5)
    aie.objectfifo @data_5_2(%shim_5, {%tile_5_2}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_5_3(%tile_5_2, {%tile_5_3}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_5_4(%tile_5_3, {%tile_5_4}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_5_5(%tile_5_4, {%tile_5_5}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @result_5(%tile_5_5, {%shim_5}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @taps_5(%shim_5, {%mem_5}, 1 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @taps_5_2(%mem_5, {%tile_5_2}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_5_3(%mem_5, {%tile_5_3}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_5_4(%mem_5, {%tile_5_4}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_5_5(%mem_5, {%tile_5_5}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo.link [@taps_5] -> [@taps_5_2, @taps_5_3, @taps_5_4, @taps_5_5] ([] [0, 16, 32, 48])
    aie.objectfifo @sum_5_2(%tile_5_2, {%mem_5}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_5_3(%tile_5_3, {%mem_5}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_5_4(%tile_5_4, {%mem_5}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_5_5(%tile_5_5, {%mem_5}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sums_5(%mem_5, {%shim_5}, 2 : i32) : !aie.objectfifo<memref<4xi32>>
    aie.objectfifo.link [@sum_5_2, @sum_5_3, @sum_5_4, @sum_5_5] -> [@sums_5] ([0, 1, 2, 3] [])

    %core_5_2 = aie.core(%tile_5_2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_5_2(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_5_2(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_5_3(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_5_2(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_5_2(Consume, 1)
        aie.objectfifo.release @data_5_3(Produce, 1)
        aie.objectfifo.release @sum_5_2(Produce, 1)
      }
      aie.end
    }

    %core_5_3 = aie.core(%tile_5_3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_5_3(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_5_3(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_5_4(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_5_3(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_5_3(Consume, 1)
        aie.objectfifo.release @data_5_4(Produce, 1)
        aie.objectfifo.release @sum_5_3(Produce, 1)
      }
      aie.end
    }

    %core_5_4 = aie.core(%tile_5_4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_5_4(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_5_4(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_5_5(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_5_4(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_5_4(Consume, 1)
        aie.objectfifo.release @data_5_5(Produce, 1)
        aie.objectfifo.release @sum_5_4(Produce, 1)
      }
      aie.end
    }

    %core_5_5 = aie.core(%tile_5_5) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_5_5(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_5_5(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @result_5(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_5_5(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_5_5(Consume, 1)
        aie.objectfifo.release @result_5(Produce, 1)
        aie.objectfifo.release @sum_5_5(Produce, 1)
      }
      aie.end
    }

    %shim_6 = aie.tile(6, 0)
    %mem_6 = aie.tile(6, 1)
    %tile_6_2 = aie.tile(6, 2)
    %tile_6_3 = aie.tile(6, 3)
    %tile_6_4 = aie.tile(6, 4)
    %tile_6_5 = aie.tile(6, 5)
    aie.objectfifo @data_6_2(%shim_6, {%tile_6_2}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_6_3(%tile_6_2, {%tile_6_3}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_6_4(%tile_6_3, {%tile_6_4}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_6_5(%tile_6_4, {%tile_6_5}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @result_6(%tile_6_5, {%shim_6}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @taps_6(%shim_6, {%mem_6}, 1 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @taps_6_2(%mem_6, {%tile_6_2}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_6_3(%mem_6, {%tile_6_3}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_6_4(%mem_6, {%tile_6_4}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_6_5(%mem_6, {%tile_6_5}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo.link [@taps_6] -> [@taps_6_2, @taps_6_3, @taps_6_4, @taps_6_5] ([] [0, 16, 32, 48])
    aie.objectfifo @sum_6_2(%tile_6_2, {%mem_6}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_6_3(%tile_6_3, {%mem_6}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_6_4(%tile_6_4, {%mem_6}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_6_5(%tile_6_5, {%mem_6}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sums_6(%mem_6, {%shim_6}, 2 : i32) : !aie.objectfifo<memref<4xi32>>
    aie.objectfifo.link [@sum_6_2, @sum_6_3, @sum_6_4, @sum_6_5] -> [@sums_6] ([0, 1, 2, 3] [])

    %core_6_2 = aie.core(%tile_6_2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_6_2(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_6_2(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_6_3(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_6_2(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_6_2(Consume, 1)
        aie.objectfifo.release @data_6_3(Produce, 1)
        aie.objectfifo.release @sum_6_2(Produce, 1)
      }
      aie.end
    }

    %core_6_3 = aie.core(%tile_6_3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_6_3(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_6_3(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_6_4(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_6_3(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_6_3(Consume, 1)
        aie.objectfifo.release @data_6_4(Produce, 1)
        aie.objectfifo.release @sum_6_3(Produce, 1)
      }
      aie.end
    }

    %core_6_4 = aie.core(%tile_6_4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_6_4(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_6_4(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_6_5(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_6_4(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_6_4(Consume, 1)
        aie.objectfifo.release @data_6_5(Produce, 1)
        aie.objectfifo.release @sum_6_4(Produce, 1)
      }
      aie.end
    }

    %core_6_5 = aie.core(%tile_6_5) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_6_5(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_6_5(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @result_6(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_6_5(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_6_5(Consume, 1)
        aie.objectfifo.release @result_6(Produce, 1)
        aie.objectfifo.release @sum_6_5(Produce, 1)
      }
      aie.end
    }

    %shim_7 = aie.tile(7, 0)
    %mem_7 = aie.tile(7, 1)
    %tile_7_2 = aie.tile(7, 2)
    %tile_7_3 = aie.tile(7, 3)
    %tile_7_4 = aie.tile(7, 4)
    %tile_7_5 = aie.tile(7, 5)
    aie.objectfifo @data_7_2(%shim_7, {%tile_7_2}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_7_3(%tile_7_2, {%tile_7_3}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_7_4(%tile_7_3, {%tile_7_4}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @data_7_5(%tile_7_4, {%tile_7_5}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @result_7(%tile_7_5, {%shim_7}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo @taps_7(%shim_7, {%mem_7}, 1 : i32) : !aie.objectfifo<memref<64xi32>>
    aie.objectfifo @taps_7_2(%mem_7, {%tile_7_2}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_7_3(%mem_7, {%tile_7_3}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_7_4(%mem_7, {%tile_7_4}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @taps_7_5(%mem_7, {%tile_7_5}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo.link [@taps_7] -> [@taps_7_2, @taps_7_3, @taps_7_4, @taps_7_5] ([] [0, 16, 32, 48])
    aie.objectfifo @sum_7_2(%tile_7_2, {%mem_7}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_7_3(%tile_7_3, {%mem_7}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_7_4(%tile_7_4, {%mem_7}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sum_7_5(%tile_7_5, {%mem_7}, 2 : i32) : !aie.objectfifo<memref<1xi32>>
    aie.objectfifo @sums_7(%mem_7, {%shim_7}, 2 : i32) : !aie.objectfifo<memref<4xi32>>
    aie.objectfifo.link [@sum_7_2, @sum_7_3, @sum_7_4, @sum_7_5] -> [@sums_7] ([0, 1, 2, 3] [])

    %core_7_2 = aie.core(%tile_7_2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_7_2(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_7_2(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_7_3(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_7_2(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_7_2(Consume, 1)
        aie.objectfifo.release @data_7_3(Produce, 1)
        aie.objectfifo.release @sum_7_2(Produce, 1)
      }
      aie.end
    }

    %core_7_3 = aie.core(%tile_7_3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_7_3(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_7_3(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_7_4(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_7_3(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_7_3(Consume, 1)
        aie.objectfifo.release @data_7_4(Produce, 1)
        aie.objectfifo.release @sum_7_3(Produce, 1)
      }
      aie.end
    }

    %core_7_4 = aie.core(%tile_7_4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_7_4(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_7_4(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @data_7_5(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_7_4(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_7_4(Consume, 1)
        aie.objectfifo.release @data_7_5(Produce, 1)
        aie.objectfifo.release @sum_7_4(Produce, 1)
      }
      aie.end
    }

    %core_7_5 = aie.core(%tile_7_5) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %taps = aie.objectfifo.acquire @taps_7_5(Consume, 1) : memref<16xi32>
      scf.for %block = %c0 to %forever step %c1 {
        %in = aie.objectfifo.acquire @data_7_5(Consume, 1) : memref<256xi32>
        %out = aie.objectfifo.acquire @result_7(Produce, 1) : memref<256xi32>
        %sum = aie.objectfifo.acquire @sum_7_5(Produce, 1) : memref<1xi32>
        func.call @fir(%in, %taps, %out, %sum) : (memref<256xi32>, memref<16xi32>, memref<256xi32>, memref<1xi32>) -> ()
        aie.objectfifo.release @data_7_5(Consume, 1)
        aie.objectfifo.release @result_7(Produce, 1)
        aie.objectfifo.release @sum_7_5(Produce, 1)
      }
      aie.end
    }
  }
}
