// The whole npu2 array: 32 cores, 32 different kernels. Written by generate.py.
module {
  aie.device(npu2) {
    %shim_0 = aie.tile(0, 0)
    %tile_0_2 = aie.tile(0, 2)
    %in_ping_0_2 = aie.buffer(%tile_0_2) {sym_name = "in_ping_0_2"} : memref<256xi32>
    %in_pong_0_2 = aie.buffer(%tile_0_2) {sym_name = "in_pong_0_2"} : memref<256xi32>
    %free_0_2 = aie.lock(%tile_0_2) {init = 2 : i32, sym_name = "free_0_2"}
    %full_0_2 = aie.lock(%tile_0_2) {init = 0 : i32, sym_name = "full_0_2"}
    %tile_0_3 = aie.tile(0, 3)
    %in_ping_0_3 = aie.buffer(%tile_0_3) {sym_name = "in_ping_0_3"} : memref<256xi32>
    %in_pong_0_3 = aie.buffer(%tile_0_3) {sym_name = "in_pong_0_3"} : memref<256xi32>
    %free_0_3 = aie.lock(%tile_0_3) {init = 2 : i32, sym_name = "free_0_3"}
    %full_0_3 = aie.lock(%tile_0_3) {init = 0 : i32, sym_name = "full_0_3"}
    %tile_0_4 = aie.tile(0, 4)
    %in_ping_0_4 = aie.buffer(%tile_0_4) {sym_name = "in_ping_0_4"} : memref<256xi32>
    %in_pong_0_4 = aie.buffer(%tile_0_4) {sym_name = "in_pong_0_4"} : memref<256xi32>
    %free_0_4 = aie.lock(%tile_0_4) {init = 2 : i32, sym_name = "free_0_4"}
    %full_0_4 = aie.lock(%tile_0_4) {init = 0 : i32, sym_name = "full_0_4"}
    %tile_0_5 = aie.tile(0, 5)
    %in_ping_0_5 = aie.buffer(%tile_0_5) {sym_name = "in_ping_0_5"} : memref<256xi32>
    %in_pong_0_5 = aie.buffer(%tile_0_5) {sym_name = "in_pong_0_5"} : memref<256xi32>
    %result_0_5 = aie.buffer(%tile_0_5) {sym_name = "result_0_5"} : memref<256xi32>
    %result_free_0_5 = aie.lock(%tile_0_5) {init = 1 : i32, sym_name = "result_free_0_5"}
    %result_full_0_5 = aie.lock(%tile_0_5) {init = 0 : i32, sym_name = "result_full_0_5"}
    %free_0_5 = aie.lock(%tile_0_5) {init = 2 : i32, sym_name = "free_0_5"}
    %full_0_5 = aie.lock(%tile_0_5) {init = 0 : i32, sym_name = "full_0_5"}
    %shim_1 = aie.tile(1, 0)
    %tile_1_2 = aie.tile(1, 2)
    %in_ping_1_2 = aie.buffer(%tile_1_2) {sym_name = "in_ping_1_2"} : memref<256xi32>
    %in_pong_1_2 = aie.buffer(%tile_1_2) {sym_name = "in_pong_1_2"} : memref<256xi32>
    %free_1_2 = aie.lock(%tile_1_2) {init = 2 : i32, sym_name = "free_1_2"}
    %full_1_2 = aie.lock(%tile_1_2) {init = 0 : i32, sym_name = "full_1_2"}
    %tile_1_3 = aie.tile(1, 3)
    %in_ping_1_3 = aie.buffer(%tile_1_3) {sym_name = "in_ping_1_3"} : memref<256xi32>
    %in_pong_1_3 = aie.buffer(%tile_1_3) {sym_name = "in_pong_1_3"} : memref<256xi32>
    %free_1_3 = aie.lock(%tile_1_3) {init = 2 : i32, sym_name = "free_1_3"}
    %full_1_3 = aie.lock(%tile_1_3) {init = 0 : i32, sym_name = "full_1_3"}
    %tile_1_4 = aie.tile(1, 4)
    %in_ping_1_4 = aie.buffer(%tile_1_4) {sym_name = "in_ping_1_4"} : memref<256xi32>
    %in_pong_1_4 = aie.buffer(%tile_1_4) {sym_name = "in_pong_1_4"} : memref<256xi32>
    %free_1_4 = aie.lock(%tile_1_4) {init = 2 : i32, sym_name = "free_1_4"}
    %full_1_4 = aie.lock(%tile_1_4) {init = 0 : i32, sym_name = "full_1_4"}
    %tile_1_5 = aie.tile(1, 5)
    %in_ping_1_5 = aie.buffer(%tile_1_5) {sym_name = "in_ping_1_5"} : memref<256xi32>
    %in_pong_1_5 = aie.buffer(%tile_1_5) {sym_name = "in_pong_1_5"} : memref<256xi32>
    %result_1_5 = aie.buffer(%tile_1_5) {sym_name = "result_1_5"} : memref<256xi32>
    %result_free_1_5 = aie.lock(%tile_1_5) {init = 1 : i32, sym_name = "result_free_1_5"}
    %result_full_1_5 = aie.lock(%tile_1_5) {init = 0 : i32, sym_name = "result_full_1_5"}
    %free_1_5 = aie.lock(%tile_1_5) {init = 2 : i32, sym_name = "free_1_5"}
    %full_1_5 = aie.lock(%tile_1_5) {init = 0 : i32, sym_name = "full_1_5"}
    %shim_2 = aie.tile(2, 0)
    %tile_2_2 = aie.tile(2, 2)
    %in_ping_2_2 = aie.buffer(%tile_2_2) {sym_name = "in_ping_2_2"} : memref<256xi32>
    %in_pong_2_2 = aie.buffer(%tile_2_2) {sym_name = "in_pong_2_2"} : memref<256xi32>
    %free_2_2 = aie.lock(%tile_2_2) {init = 2 : i32, sym_name = "free_2_2"}
    %full_2_2 = aie.lock(%tile_2_2) {init = 0 : i32, sym_name = "full_2_2"}
    %tile_2_3 = aie.tile(2, 3)
    %in_ping_2_3 = aie.buffer(%tile_2_3) {sym_name = "in_ping_2_3"} : memref<256xi32>
    %in_pong_2_3 = aie.buffer(%tile_2_3) {sym_name = "in_pong_2_3"} : memref<256xi32>
    %free_2_3 = aie.lock(%tile_2_3) {init = 2 : i32, sym_name = "free_2_3"}
    %full_2_3 = aie.lock(%tile_2_3) {init = 0 : i32, sym_name = "full_2_3"}
    %tile_2_4 = aie.tile(2, 4)
    %in_ping_2_4 = aie.buffer(%tile_2_4) {sym_name = "in_ping_2_4"} : memref<256xi32>
    %in_pong_2_4 = aie.buffer(%tile_2_4) {sym_name = "in_pong_2_4"} : memref<256xi32>
    %free_2_4 = aie.lock(%tile_2_4) {init = 2 : i32, sym_name = "free_2_4"}
    %full_2_4 = aie.lock(%tile_2_4) {init = 0 : i32, sym_name = "full_2_4"}
    %tile_2_5 = aie.tile(2, 5)
    %in_ping_2_5 = aie.buffer(%tile_2_5) {sym_name = "in_ping_2_5"} : memref<256xi32>
    %in_pong_2_5 = aie.buffer(%tile_2_5) {sym_name = "in_pong_2_5"} : memref<256xi32>
    %result_2_5 = aie.buffer(%tile_2_5) {sym_name = "result_2_5"} : memref<256xi32>
    %result_free_2_5 = aie.lock(%tile_2_5) {init = 1 : i32, sym_name = "result_free_2_5"}
    %result_full_2_5 = aie.lock(%tile_2_5) {init = 0 : i32, sym_name = "result_full_2_5"}
    %free_2_5 = aie.lock(%tile_2_5) {init = 2 : i32, sym_name = "free_2_5"}
    %full_2_5 = aie.lock(%tile_2_5) {init = 0 : i32, sym_name = "full_2_5"}
    %shim_3 = aie.tile(3, 0)
    %tile_3_2 = aie.tile(3, 2)
    %in_ping_3_2 = aie.buffer(%tile_3_2) {sym_name = "in_ping_3_2"} : memref<256xi32>
    %in_pong_3_2 = aie.buffer(%tile_3_2) {sym_name = "in_pong_3_2"} : memref<256xi32>
    %free_3_2 = aie.lock(%tile_3_2) {init = 2 : i32, sym_name = "free_3_2"}
    %full_3_2 = aie.lock(%tile_3_2) {init = 0 : i32, sym_name = "full_3_2"}
    %tile_3_3 = aie.tile(3, 3)
    %in_ping_3_3 = aie.buffer(%tile_3_3) {sym_name = "in_ping_3_3"} : memref<256xi32>
    %in_pong_3_3 = aie.buffer(%tile_3_3) {sym_name = "in_pong_3_3"} : memref<256xi32>
    %free_3_3 = aie.lock(%tile_3_3) {init = 2 : i32, sym_name = "free_3_3"}
    %full_3_3 = aie.lock(%tile_3_3) {init = 0 : i32, sym_name = "full_3_3"}
    %tile_3_4 = aie.tile(3, 4)
    %in_ping_3_4 = aie.buffer(%tile_3_4) {sym_name = "in_ping_3_4"} : memref<256xi32>
    %in_pong_3_4 = aie.buffer(%tile_3_4) {sym_name = "in_pong_3_4"} : memref<256xi32>
    %free_3_4 = aie.lock(%tile_3_4) {init = 2 : i32, sym_name = "free_3_4"}
    %full_3_4 = aie.lock(%tile_3_4) {init = 0 : i32, sym_name = "full_3_4"}
    %tile_3_5 = aie.tile(3, 5)
    %in_ping_3_5 = aie.buffer(%tile_3_5) {sym_name = "in_ping_3_5"} : memref<256xi32>
    %in_pong_3_5 = aie.buffer(%tile_3_5) {sym_name = "in_pong_3_5"} : memref<256xi32>
    %result_3_5 = aie.buffer(%tile_3_5) {sym_name = "result_3_5"} : memref<256xi32>
    %result_free_3_5 = aie.lock(%tile_3_5) {init = 1 : i32, sym_name = "result_free_3_5"}
    %result_full_3_5 = aie.lock(%tile_3_5) {init = 0 : i32, sym_name = "result_full_3_5"}
    %free_3_5 = aie.lock(%tile_3_5) {init = 2 : i32, sym_name = "free_3_5"}
    %full_3_5 = aie.lock(%tile_3_5) {init = 0 : i32, sym_name = "full_3_5"}
    %shim_4 = aie.tile(4, 0)
    %tile_4_2 = aie.tile(4, 2)
    %in_ping_4_2 = aie.buffer(%tile_4_2) {sym_name = "in_ping_4_2"} : memref<256xi32>
    %in_pong_4_2 = aie.buffer(%tile_4_2) {sym_name = "in_pong_4_2"} : memref<256xi32>
    %free_4_2 = aie.lock(%tile_4_2) {init = 2 : i32, sym_name = "free_4_2"}
    %full_4_2 = aie.lock(%tile_4_2) {init = 0 : i32, sym_name = "full_4_2"}
    %tile_4_3 = aie.tile(4, 3)
    %in_ping_4_3 = aie.buffer(%tile_4_3) {sym_name = "in_ping_4_3"} : memref<256xi32>
    %in_pong_4_3 = aie.buffer(%tile_4_3) {sym_name = "in_pong_4_3"} : memref<256xi32>
    %free_4_3 = aie.lock(%tile_4_3) {init = 2 : i32, sym_name = "free_4_3"}
    %full_4_3 = aie.lock(%tile_4_3) {init = 0 : i32, sym_name = "full_4_3"}
    %tile_4_4 = aie.tile(4, 4)
    %in_ping_4_4 = aie.buffer(%tile_4_4) {sym_name = "in_ping_4_4"} : memref<256xi32>
    %in_pong_4_4 = aie.buffer(%tile_4_4) {sym_name = "in_pong_4_4"} : memref<256xi32>
    %free_4_4 = aie.lock(%tile_4_4) {init = 2 : i32, sym_name = "free_4_4"}
    %full_4_4 = aie.lock(%tile_4_4) {init = 0 : i32, sym_name = "full_4_4"}
    %tile_4_5 = aie.tile(4, 5)
    %in_ping_4_5 = aie.buffer(%tile_4_5) {sym_name = "in_ping_4_5"} : memref<256xi32>
    %in_pong_4_5 = aie.buffer(%tile_4_5) {sym_name = "in_pong_4_5"} : memref<256xi32>
    %result_4_5 = aie.buffer(%tile_4_5) {sym_name = "result_4_5"} : memref<256xi32>
    %result_free_4_5 = aie.lock(%tile_4_5) {init = 1 : i32, sym_name = "result_free_4_5"}
    %result_full_4_5 = aie.lock(%tile_4_5) {init = 0 : i32, sym_name = "result_full_4_5"}
    %free_4_5 = aie.lock(%tile_4_5) {init = 2 : i32, sym_name = "free_4_5"}
    %full_4_5 = aie.lock(%tile_4_5) {init = 0 : i32, sym_name = "full_4_5"}
    %shim_5 = aie.tile(5, 0)
    %tile_5_2 = aie.tile(5, 2)
    %in_ping_5_2 = aie.buffer(%tile_5_2) {sym_name = "in_ping_5_2"} : memref<256xi32>
    %in_pong_5_2 = aie.buffer(%tile_5_2) {sym_name = "in_pong_5_2"} : memref<256xi32>
    %free_5_2 = aie.lock(%tile_5_2) {init = 2 : i32, sym_name = "free_5_2"}
    %full_5_2 = aie.lock(%tile_5_2) {init = 0 : i32, sym_name = "full_5_2"}
    %tile_5_3 = aie.tile(5, 3)
    %in_ping_5_3 = aie.buffer(%tile_5_3) {sym_name = "in_ping_5_3"} : memref<256xi32>
    %in_pong_5_3 = aie.buffer(%tile_5_3) {sym_name = "in_pong_5_3"} : memref<256xi32>
    %free_5_3 = aie.lock(%tile_5_3) {init = 2 : i32, sym_name = "free_5_3"}
    %full_5_3 = aie.lock(%tile_5_3) {init = 0 : i32, sym_name = "full_5_3"}
    %tile_5_4 = aie.tile(5, 4)
    %in_ping_5_4 = aie.buffer(%tile_5_4) {sym_name = "in_ping_5_4"} : memref<256xi32>
    %in_pong_5_4 = aie.buffer(%tile_5_4) {sym_name = "in_pong_5_4"} : memref<256xi32>
    %free_5_4 = aie.lock(%tile_5_4) {init = 2 : i32, sym_name = "free_5_4"}
    %full_5_4 = aie.lock(%tile_5_4) {init = 0 : i32, sym_name = "full_5_4"}
    %tile_5_5 = aie.tile(5, 5)
    %in_ping_5_5 = aie.buffer(%tile_5_5) {sym_name = "in_ping_5_5"} : memref<256xi32>
    %in_pong_5_5 = aie.buffer(%tile_5_5) {sym_name = "in_pong_5_5"} : memref<256xi32>
    %result_5_5 = aie.buffer(%tile_5_5) {sym_name = "result_5_5"} : memref<256xi32>
    %result_free_5_5 = aie.lock(%tile_5_5) {init = 1 : i32, sym_name = "result_free_5_5"}
    %result_full_5_5 = aie.lock(%tile_5_5) {init = 0 : i32, sym_name = "result_full_5_5"}
    %free_5_5 = aie.lock(%tile_5_5) {init = 2 : i32, sym_name = "free_5_5"}
    %full_5_5 = aie.lock(%tile_5_5) {init = 0 : i32, sym_name = "full_5_5"}
    %shim_6 = aie.tile(6, 0)
    %tile_6_2 = aie.tile(6, 2)
    %in_ping_6_2 = aie.buffer(%tile_6_2) {sym_name = "in_ping_6_2"} : memref<256xi32>
    %in_pong_6_2 = aie.buffer(%tile_6_2) {sym_name = "in_pong_6_2"} : memref<256xi32>
    %free_6_2 = aie.lock(%tile_6_2) {init = 2 : i32, sym_name = "free_6_2"}
    %full_6_2 = aie.lock(%tile_6_2) {init = 0 : i32, sym_name = "full_6_2"}
    %tile_6_3 = aie.tile(6, 3)
    %in_ping_6_3 = aie.buffer(%tile_6_3) {sym_name = "in_ping_6_3"} : memref<256xi32>
    %in_pong_6_3 = aie.buffer(%tile_6_3) {sym_name = "in_pong_6_3"} : memref<256xi32>
    %free_6_3 = aie.lock(%tile_6_3) {init = 2 : i32, sym_name = "free_6_3"}
    %full_6_3 = aie.lock(%tile_6_3) {init = 0 : i32, sym_name = "full_6_3"}
    %tile_6_4 = aie.tile(6, 4)
    %in_ping_6_4 = aie.buffer(%tile_6_4) {sym_name = "in_ping_6_4"} : memref<256xi32>
    %in_pong_6_4 = aie.buffer(%tile_6_4) {sym_name = "in_pong_6_4"} : memref<256xi32>
    %free_6_4 = aie.lock(%tile_6_4) {init = 2 : i32, sym_name = "free_6_4"}
    %full_6_4 = aie.lock(%tile_6_4) {init = 0 : i32, sym_name = "full_6_4"}
    %tile_6_5 = aie.tile(6, 5)
    %in_ping_6_5 = aie.buffer(%tile_6_5) {sym_name = "in_ping_6_5"} : memref<256xi32>
    %in_pong_6_5 = aie.buffer(%tile_6_5) {sym_name = "in_pong_6_5"} : memref<256xi32>
    %result_6_5 = aie.buffer(%tile_6_5) {sym_name = "result_6_5"} : memref<256xi32>
    %result_free_6_5 = aie.lock(%tile_6_5) {init = 1 : i32, sym_name = "result_free_6_5"}
    %result_full_6_5 = aie.lock(%tile_6_5) {init = 0 : i32, sym_name = "result_full_6_5"}
    %free_6_5 = aie.lock(%tile_6_5) {init = 2 : i32, sym_name = "free_6_5"}
    %full_6_5 = aie.lock(%tile_6_5) {init = 0 : i32, sym_name = "full_6_5"}
    %shim_7 = aie.tile(7, 0)
    %tile_7_2 = aie.tile(7, 2)
    %in_ping_7_2 = aie.buffer(%tile_7_2) {sym_name = "in_ping_7_2"} : memref<256xi32>
    %in_pong_7_2 = aie.buffer(%tile_7_2) {sym_name = "in_pong_7_2"} : memref<256xi32>
    %free_7_2 = aie.lock(%tile_7_2) {init = 2 : i32, sym_name = "free_7_2"}
    %full_7_2 = aie.lock(%tile_7_2) {init = 0 : i32, sym_name = "full_7_2"}
    %tile_7_3 = aie.tile(7, 3)
    %in_ping_7_3 = aie.buffer(%tile_7_3) {sym_name = "in_ping_7_3"} : memref<256xi32>
    %in_pong_7_3 = aie.buffer(%tile_7_3) {sym_name = "in_pong_7_3"} : memref<256xi32>
    %free_7_3 = aie.lock(%tile_7_3) {init = 2 : i32, sym_name = "free_7_3"}
    %full_7_3 = aie.lock(%tile_7_3) {init = 0 : i32, sym_name = "full_7_3"}
    %tile_7_4 = aie.tile(7, 4)
    %in_ping_7_4 = aie.buffer(%tile_7_4) {sym_name = "in_ping_7_4"} : memref<256xi32>
    %in_pong_7_4 = aie.buffer(%tile_7_4) {sym_name = "in_pong_7_4"} : memref<256xi32>
    %free_7_4 = aie.lock(%tile_7_4) {init = 2 : i32, sym_name = "free_7_4"}
    %full_7_4 = aie.lock(%tile_7_4) {init = 0 : i32, sym_name = "full_7_4"}
    %tile_7_5 = aie.tile(7, 5)
    %in_ping_7_5 = aie.buffer(%tile_7_5) {sym_name = "in_ping_7_5"} : memref<256xi32>
    %in_pong_7_5 = aie.buffer(%tile_7_5) {sym_name = "in_pong_7_5"} : memref<256xi32>
    %result_7_5 = aie.buffer(%tile_7_5) {sym_name = "result_7_5"} : memref<256xi32>
    %result_free_7_5 = aie.lock(%tile_7_5) {init = 1 : i32, sym_name = "result_free_7_5"}
    %result_full_7_5 = aie.lock(%tile_7_5) {init = 0 : i32, sym_name = "result_full_7_5"}
    %free_7_5 = aie.lock(%tile_7_5) {init = 2 : i32, sym_name = "free_7_5"}
    %full_7_5 = aie.lock(%tile_7_5) {init = 0 : i32, sym_name = "full_7_5"}

    func.func private @stage_0_2(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_0_2.cc"}
    %core_0_2 = aie.core(%tile_0_2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_0_2, AcquireGreaterEqual, %one)
        aie.use_lock(%free_0_3, AcquireGreaterEqual, %one)
        func.call @stage_0_2(%in_ping_0_2, %in_ping_0_3) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_0_2, Release, %one)
        aie.use_lock(%full_0_3, Release, %one)
        aie.use_lock(%full_0_2, AcquireGreaterEqual, %one)
        aie.use_lock(%free_0_3, AcquireGreaterEqual, %one)
        func.call @stage_0_2(%in_pong_0_2, %in_pong_0_3) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_0_2, Release, %one)
        aie.use_lock(%full_0_3, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_0_3(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_0_3.cc"}
    %core_0_3 = aie.core(%tile_0_3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_0_3, AcquireGreaterEqual, %one)
        aie.use_lock(%free_0_4, AcquireGreaterEqual, %one)
        func.call @stage_0_3(%in_ping_0_3, %in_ping_0_4) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_0_3, Release, %one)
        aie.use_lock(%full_0_4, Release, %one)
        aie.use_lock(%full_0_3, AcquireGreaterEqual, %one)
        aie.use_lock(%free_0_4, AcquireGreaterEqual, %one)
        func.call @stage_0_3(%in_pong_0_3, %in_pong_0_4) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_0_3, Release, %one)
        aie.use_lock(%full_0_4, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_0_4(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_0_4.cc"}
    %core_0_4 = aie.core(%tile_0_4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_0_4, AcquireGreaterEqual, %one)
        aie.use_lock(%free_0_5, AcquireGreaterEqual, %one)
        func.call @stage_0_4(%in_ping_0_4, %in_ping_0_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_0_4, Release, %one)
        aie.use_lock(%full_0_5, Release, %one)
        aie.use_lock(%full_0_4, AcquireGreaterEqual, %one)
        aie.use_lock(%free_0_5, AcquireGreaterEqual, %one)
        func.call @stage_0_4(%in_pong_0_4, %in_pong_0_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_0_4, Release, %one)
        aie.use_lock(%full_0_5, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_0_5(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_0_5.cc"}
    %core_0_5 = aie.core(%tile_0_5) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_0_5, AcquireGreaterEqual, %one)
        aie.use_lock(%result_free_0_5, AcquireGreaterEqual, %one)
        func.call @stage_0_5(%in_ping_0_5, %result_0_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_0_5, Release, %one)
        aie.use_lock(%result_full_0_5, Release, %one)
        aie.use_lock(%full_0_5, AcquireGreaterEqual, %one)
        aie.use_lock(%result_free_0_5, AcquireGreaterEqual, %one)
        func.call @stage_0_5(%in_pong_0_5, %result_0_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_0_5, Release, %one)
        aie.use_lock(%result_full_0_5, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    aie.flow(%shim_0, DMA : 0, %tile_0_2, DMA : 0)
    aie.flow(%tile_0_5, DMA : 0, %shim_0, DMA : 0)
    aie.shim_dma_allocation @in_0(%shim_0, MM2S, 0)
    aie.shim_dma_allocation @out_0(%shim_0, S2MM, 0)
    %mem_0_2 = aie.mem(%tile_0_2) {
      %one = arith.constant 1 : i32
      %fill = aie.dma_start(S2MM, 0, ^ping, ^end)
    ^ping:
      aie.use_lock(%free_0_2, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_ping_0_2 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%full_0_2, Release, %one)
      aie.next_bd ^pong
    ^pong:
      aie.use_lock(%free_0_2, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_pong_0_2 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%full_0_2, Release, %one)
      aie.next_bd ^ping
    ^end:
      aie.end
    }
    %mem_0_5 = aie.mem(%tile_0_5) {
      %one = arith.constant 1 : i32
      %drain = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%result_full_0_5, AcquireGreaterEqual, %one)
      aie.dma_bd(%result_0_5 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%result_free_0_5, Release, %one)
      aie.next_bd ^out
    ^end:
      aie.end
    }

    func.func private @stage_1_2(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_1_2.cc"}
    %core_1_2 = aie.core(%tile_1_2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_1_2, AcquireGreaterEqual, %one)
        aie.use_lock(%free_1_3, AcquireGreaterEqual, %one)
        func.call @stage_1_2(%in_ping_1_2, %in_ping_1_3) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_1_2, Release, %one)
        aie.use_lock(%full_1_3, Release, %one)
        aie.use_lock(%full_1_2, AcquireGreaterEqual, %one)
        aie.use_lock(%free_1_3, AcquireGreaterEqual, %one)
        func.call @stage_1_2(%in_pong_1_2, %in_pong_1_3) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_1_2, Release, %one)
        aie.use_lock(%full_1_3, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_1_3(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_1_3.cc"}
    %core_1_3 = aie.core(%tile_1_3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_1_3, AcquireGreaterEqual, %one)
        aie.use_lock(%free_1_4, AcquireGreaterEqual, %one)
        func.call @stage_1_3(%in_ping_1_3, %in_ping_1_4) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_1_3, Release, %one)
        aie.use_lock(%full_1_4, Release, %one)
        aie.use_lock(%full_1_3, AcquireGreaterEqual, %one)
        aie.use_lock(%free_1_4, AcquireGreaterEqual, %one)
        func.call @stage_1_3(%in_pong_1_3, %in_pong_1_4) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_1_3, Release, %one)
        aie.use_lock(%full_1_4, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_1_4(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_1_4.cc"}
    %core_1_4 = aie.core(%tile_1_4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_1_4, AcquireGreaterEqual, %one)
        aie.use_lock(%free_1_5, AcquireGreaterEqual, %one)
        func.call @stage_1_4(%in_ping_1_4, %in_ping_1_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_1_4, Release, %one)
        aie.use_lock(%full_1_5, Release, %one)
        aie.use_lock(%full_1_4, AcquireGreaterEqual, %one)
        aie.use_lock(%free_1_5, AcquireGreaterEqual, %one)
        func.call @stage_1_4(%in_pong_1_4, %in_pong_1_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_1_4, Release, %one)
        aie.use_lock(%full_1_5, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_1_5(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_1_5.cc"}
    %core_1_5 = aie.core(%tile_1_5) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_1_5, AcquireGreaterEqual, %one)
        aie.use_lock(%result_free_1_5, AcquireGreaterEqual, %one)
        func.call @stage_1_5(%in_ping_1_5, %result_1_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_1_5, Release, %one)
        aie.use_lock(%result_full_1_5, Release, %one)
        aie.use_lock(%full_1_5, AcquireGreaterEqual, %one)
        aie.use_lock(%result_free_1_5, AcquireGreaterEqual, %one)
        func.call @stage_1_5(%in_pong_1_5, %result_1_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_1_5, Release, %one)
        aie.use_lock(%result_full_1_5, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    aie.flow(%shim_1, DMA : 0, %tile_1_2, DMA : 0)
    aie.flow(%tile_1_5, DMA : 0, %shim_1, DMA : 0)
    aie.shim_dma_allocation @in_1(%shim_1, MM2S, 0)
    aie.shim_dma_allocation @out_1(%shim_1, S2MM, 0)
    %mem_1_2 = aie.mem(%tile_1_2) {
      %one = arith.constant 1 : i32
      %fill = aie.dma_start(S2MM, 0, ^ping, ^end)
    ^ping:
      aie.use_lock(%free_1_2, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_ping_1_2 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%full_1_2, Release, %one)
      aie.next_bd ^pong
    ^pong:
      aie.use_lock(%free_1_2, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_pong_1_2 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%full_1_2, Release, %one)
      aie.next_bd ^ping
    ^end:
      aie.end
    }
    %mem_1_5 = aie.mem(%tile_1_5) {
      %one = arith.constant 1 : i32
      %drain = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%result_full_1_5, AcquireGreaterEqual, %one)
      aie.dma_bd(%result_1_5 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%result_free_1_5, Release, %one)
      aie.next_bd ^out
    ^end:
      aie.end
    }

    func.func private @stage_2_2(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_2_2.cc"}
    %core_2_2 = aie.core(%tile_2_2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_2_2, AcquireGreaterEqual, %one)
        aie.use_lock(%free_2_3, AcquireGreaterEqual, %one)
        func.call @stage_2_2(%in_ping_2_2, %in_ping_2_3) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_2_2, Release, %one)
        aie.use_lock(%full_2_3, Release, %one)
        aie.use_lock(%full_2_2, AcquireGreaterEqual, %one)
        aie.use_lock(%free_2_3, AcquireGreaterEqual, %one)
        func.call @stage_2_2(%in_pong_2_2, %in_pong_2_3) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_2_2, Release, %one)
        aie.use_lock(%full_2_3, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_2_3(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_2_3.cc"}
    %core_2_3 = aie.core(%tile_2_3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_2_3, AcquireGreaterEqual, %one)
        aie.use_lock(%free_2_4, AcquireGreaterEqual, %one)
        func.call @stage_2_3(%in_ping_2_3, %in_ping_2_4) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_2_3, Release, %one)
        aie.use_lock(%full_2_4, Release, %one)
        aie.use_lock(%full_2_3, AcquireGreaterEqual, %one)
        aie.use_lock(%free_2_4, AcquireGreaterEqual, %one)
        func.call @stage_2_3(%in_pong_2_3, %in_pong_2_4) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_2_3, Release, %one)
        aie.use_lock(%full_2_4, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_2_4(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_2_4.cc"}
    %core_2_4 = aie.core(%tile_2_4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_2_4, AcquireGreaterEqual, %one)
        aie.use_lock(%free_2_5, AcquireGreaterEqual, %one)
        func.call @stage_2_4(%in_ping_2_4, %in_ping_2_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_2_4, Release, %one)
        aie.use_lock(%full_2_5, Release, %one)
        aie.use_lock(%full_2_4, AcquireGreaterEqual, %one)
        aie.use_lock(%free_2_5, AcquireGreaterEqual, %one)
        func.call @stage_2_4(%in_pong_2_4, %in_pong_2_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_2_4, Release, %one)
        aie.use_lock(%full_2_5, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_2_5(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_2_5.cc"}
    %core_2_5 = aie.core(%tile_2_5) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_2_5, AcquireGreaterEqual, %one)
        aie.use_lock(%result_free_2_5, AcquireGreaterEqual, %one)
        func.call @stage_2_5(%in_ping_2_5, %result_2_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_2_5, Release, %one)
        aie.use_lock(%result_full_2_5, Release, %one)
        aie.use_lock(%full_2_5, AcquireGreaterEqual, %one)
        aie.use_lock(%result_free_2_5, AcquireGreaterEqual, %one)
        func.call @stage_2_5(%in_pong_2_5, %result_2_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_2_5, Release, %one)
        aie.use_lock(%result_full_2_5, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    aie.flow(%shim_2, DMA : 0, %tile_2_2, DMA : 0)
    aie.flow(%tile_2_5, DMA : 0, %shim_2, DMA : 0)
    aie.shim_dma_allocation @in_2(%shim_2, MM2S, 0)
    aie.shim_dma_allocation @out_2(%shim_2, S2MM, 0)
    %mem_2_2 = aie.mem(%tile_2_2) {
      %one = arith.constant 1 : i32
      %fill = aie.dma_start(S2MM, 0, ^ping, ^end)
    ^ping:
      aie.use_lock(%free_2_2, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_ping_2_2 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%full_2_2, Release, %one)
      aie.next_bd ^pong
    ^pong:
      aie.use_lock(%free_2_2, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_pong_2_2 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%full_2_2, Release, %one)
      aie.next_bd ^ping
    ^end:
      aie.end
    }
    %mem_2_5 = aie.mem(%tile_2_5) {
      %one = arith.constant 1 : i32
      %drain = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%result_full_2_5, AcquireGreaterEqual, %one)
      aie.dma_bd(%result_2_5 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%result_free_2_5, Release, %one)
      aie.next_bd ^out
    ^end:
      aie.end
    }

    func.func private @stage_3_2(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_3_2.cc"}
    %core_3_2 = aie.core(%tile_3_2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_3_2, AcquireGreaterEqual, %one)
        aie.use_lock(%free_3_3, AcquireGreaterEqual, %one)
        func.call @stage_3_2(%in_ping_3_2, %in_ping_3_3) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_3_2, Release, %one)
        aie.use_lock(%full_3_3, Release, %one)
        aie.use_lock(%full_3_2, AcquireGreaterEqual, %one)
        aie.use_lock(%free_3_3, AcquireGreaterEqual, %one)
        func.call @stage_3_2(%in_pong_3_2, %in_pong_3_3) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_3_2, Release, %one)
        aie.use_lock(%full_3_3, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_3_3(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_3_3.cc"}
    %core_3_3 = aie.core(%tile_3_3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_3_3, AcquireGreaterEqual, %one)
        aie.use_lock(%free_3_4, AcquireGreaterEqual, %one)
        func.call @stage_3_3(%in_ping_3_3, %in_ping_3_4) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_3_3, Release, %one)
        aie.use_lock(%full_3_4, Release, %one)
        aie.use_lock(%full_3_3, AcquireGreaterEqual, %one)
        aie.use_lock(%free_3_4, AcquireGreaterEqual, %one)
        func.call @stage_3_3(%in_pong_3_3, %in_pong_3_4) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_3_3, Release, %one)
        aie.use_lock(%full_3_4, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_3_4(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_3_4.cc"}
    %core_3_4 = aie.core(%tile_3_4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_3_4, AcquireGreaterEqual, %one)
        aie.use_lock(%free_3_5, AcquireGreaterEqual, %one)
        func.call @stage_3_4(%in_ping_3_4, %in_ping_3_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_3_4, Release, %one)
        aie.use_lock(%full_3_5, Release, %one)
        aie.use_lock(%full_3_4, AcquireGreaterEqual, %one)
        aie.use_lock(%free_3_5, AcquireGreaterEqual, %one)
        func.call @stage_3_4(%in_pong_3_4, %in_pong_3_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_3_4, Release, %one)
        aie.use_lock(%full_3_5, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_3_5(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_3_5.cc"}
    %core_3_5 = aie.core(%tile_3_5) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_3_5, AcquireGreaterEqual, %one)
        aie.use_lock(%result_free_3_5, AcquireGreaterEqual, %one)
        func.call @stage_3_5(%in_ping_3_5, %result_3_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_3_5, Release, %one)
        aie.use_lock(%result_full_3_5, Release, %one)
        aie.use_lock(%full_3_5, AcquireGreaterEqual, %one)
        aie.use_lock(%result_free_3_5, AcquireGreaterEqual, %one)
        func.call @stage_3_5(%in_pong_3_5, %result_3_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_3_5, Release, %one)
        aie.use_lock(%result_full_3_5, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    aie.flow(%shim_3, DMA : 0, %tile_3_2, DMA : 0)
    aie.flow(%tile_3_5, DMA : 0, %shim_3, DMA : 0)
    aie.shim_dma_allocation @in_3(%shim_3, MM2S, 0)
    aie.shim_dma_allocation @out_3(%shim_3, S2MM, 0)
    %mem_3_2 = aie.mem(%tile_3_2) {
      %one = arith.constant 1 : i32
      %fill = aie.dma_start(S2MM, 0, ^ping, ^end)
    ^ping:
      aie.use_lock(%free_3_2, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_ping_3_2 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%full_3_2, Release, %one)
      aie.next_bd ^pong
    ^pong:
      aie.use_lock(%free_3_2, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_pong_3_2 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%full_3_2, Release, %one)
      aie.next_bd ^ping
    ^end:
      aie.end
    }
    %mem_3_5 = aie.mem(%tile_3_5) {
      %one = arith.constant 1 : i32
      %drain = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%result_full_3_5, AcquireGreaterEqual, %one)
      aie.dma_bd(%result_3_5 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%result_free_3_5, Release, %one)
      aie.next_bd ^out
    ^end:
      aie.end
    }

    func.func private @stage_4_2(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_4_2.cc"}
    %core_4_2 = aie.core(%tile_4_2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_4_2, AcquireGreaterEqual, %one)
        aie.use_lock(%free_4_3, AcquireGreaterEqual, %one)
        func.call @stage_4_2(%in_ping_4_2, %in_ping_4_3) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_4_2, Release, %one)
        aie.use_lock(%full_4_3, Release, %one)
        aie.use_lock(%full_4_2, AcquireGreaterEqual, %one)
        aie.use_lock(%free_4_3, AcquireGreaterEqual, %one)
        func.call @stage_4_2(%in_pong_4_2, %in_pong_4_3) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_4_2, Release, %one)
        aie.use_lock(%full_4_3, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_4_3(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_4_3.cc"}
    %core_4_3 = aie.core(%tile_4_3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_4_3, AcquireGreaterEqual, %one)
        aie.use_lock(%free_4_4, AcquireGreaterEqual, %one)
        func.call @stage_4_3(%in_ping_4_3, %in_ping_4_4) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_4_3, Release, %one)
        aie.use_lock(%full_4_4, Release, %one)
        aie.use_lock(%full_4_3, AcquireGreaterEqual, %one)
        aie.use_lock(%free_4_4, AcquireGreaterEqual, %one)
        func.call @stage_4_3(%in_pong_4_3, %in_pong_4_4) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_4_3, Release, %one)
        aie.use_lock(%full_4_4, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_4_4(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_4_4.cc"}
    %core_4_4 = aie.core(%tile_4_4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_4_4, AcquireGreaterEqual, %one)
        aie.use_lock(%free_4_5, AcquireGreaterEqual, %one)
        func.call @stage_4_4(%in_ping_4_4, %in_ping_4_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_4_4, Release, %one)
        aie.use_lock(%full_4_5, Release, %one)
        aie.use_lock(%full_4_4, AcquireGreaterEqual, %one)
        aie.use_lock(%free_4_5, AcquireGreaterEqual, %one)
        func.call @stage_4_4(%in_pong_4_4, %in_pong_4_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_4_4, Release, %one)
        aie.use_lock(%full_4_5, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_4_5(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_4_5.cc"}
    %core_4_5 = aie.core(%tile_4_5) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_4_5, AcquireGreaterEqual, %one)
        aie.use_lock(%result_free_4_5, AcquireGreaterEqual, %one)
        func.call @stage_4_5(%in_ping_4_5, %result_4_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_4_5, Release, %one)
        aie.use_lock(%result_full_4_5, Release, %one)
        aie.use_lock(%full_4_5, AcquireGreaterEqual, %one)
        aie.use_lock(%result_free_4_5, AcquireGreaterEqual, %one)
        func.call @stage_4_5(%in_pong_4_5, %result_4_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_4_5, Release, %one)
        aie.use_lock(%result_full_4_5, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    aie.flow(%shim_4, DMA : 0, %tile_4_2, DMA : 0)
    aie.flow(%tile_4_5, DMA : 0, %shim_4, DMA : 0)
    aie.shim_dma_allocation @in_4(%shim_4, MM2S, 0)
    aie.shim_dma_allocation @out_4(%shim_4, S2MM, 0)
    %mem_4_2 = aie.mem(%tile_4_2) {
      %one = arith.constant 1 : i32
      %fill = aie.dma_start(S2MM, 0, ^ping, ^end)
    ^ping:
      aie.use_lock(%free_4_2, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_ping_4_2 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%full_4_2, Release, %one)
      aie.next_bd ^pong
    ^pong:
      aie.use_lock(%free_4_2, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_pong_4_2 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%full_4_2, Release, %one)
      aie.next_bd ^ping
    ^end:
      aie.end
    }
    %mem_4_5 = aie.mem(%tile_4_5) {
      %one = arith.constant 1 : i32
      %drain = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%result_full_4_5, AcquireGreaterEqual, %one)
      aie.dma_bd(%result_4_5 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%result_free_4_5, Release, %one)
      aie.next_bd ^out
    ^end:
      aie.end
    }

    func.func private @stage_5_2(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_5_2.cc"}
    %core_5_2 = aie.core(%tile_5_2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_5_2, AcquireGreaterEqual, %one)
        aie.use_lock(%free_5_3, AcquireGreaterEqual, %one)
        func.call @stage_5_2(%in_ping_5_2, %in_ping_5_3) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_5_2, Release, %one)
        aie.use_lock(%full_5_3, Release, %one)
        aie.use_lock(%full_5_2, AcquireGreaterEqual, %one)
        aie.use_lock(%free_5_3, AcquireGreaterEqual, %one)
        func.call @stage_5_2(%in_pong_5_2, %in_pong_5_3) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_5_2, Release, %one)
        aie.use_lock(%full_5_3, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_5_3(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_5_3.cc"}
    %core_5_3 = aie.core(%tile_5_3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_5_3, AcquireGreaterEqual, %one)
        aie.use_lock(%free_5_4, AcquireGreaterEqual, %one)
        func.call @stage_5_3(%in_ping_5_3, %in_ping_5_4) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_5_3, Release, %one)
        aie.use_lock(%full_5_4, Release, %one)
        aie.use_lock(%full_5_3, AcquireGreaterEqual, %one)
        aie.use_lock(%free_5_4, AcquireGreaterEqual, %one)
        func.call @stage_5_3(%in_pong_5_3, %in_pong_5_4) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_5_3, Release, %one)
        aie.use_lock(%full_5_4, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_5_4(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_5_4.cc"}
    %core_5_4 = aie.core(%tile_5_4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_5_4, AcquireGreaterEqual, %one)
        aie.use_lock(%free_5_5, AcquireGreaterEqual, %one)
        func.call @stage_5_4(%in_ping_5_4, %in_ping_5_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_5_4, Release, %one)
        aie.use_lock(%full_5_5, Release, %one)
        aie.use_lock(%full_5_4, AcquireGreaterEqual, %one)
        aie.use_lock(%free_5_5, AcquireGreaterEqual, %one)
        func.call @stage_5_4(%in_pong_5_4, %in_pong_5_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_5_4, Release, %one)
        aie.use_lock(%full_5_5, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_5_5(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_5_5.cc"}
    %core_5_5 = aie.core(%tile_5_5) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_5_5, AcquireGreaterEqual, %one)
        aie.use_lock(%result_free_5_5, AcquireGreaterEqual, %one)
        func.call @stage_5_5(%in_ping_5_5, %result_5_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_5_5, Release, %one)
        aie.use_lock(%result_full_5_5, Release, %one)
        aie.use_lock(%full_5_5, AcquireGreaterEqual, %one)
        aie.use_lock(%result_free_5_5, AcquireGreaterEqual, %one)
        func.call @stage_5_5(%in_pong_5_5, %result_5_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_5_5, Release, %one)
        aie.use_lock(%result_full_5_5, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    aie.flow(%shim_5, DMA : 0, %tile_5_2, DMA : 0)
    aie.flow(%tile_5_5, DMA : 0, %shim_5, DMA : 0)
    aie.shim_dma_allocation @in_5(%shim_5, MM2S, 0)
    aie.shim_dma_allocation @out_5(%shim_5, S2MM, 0)
    %mem_5_2 = aie.mem(%tile_5_2) {
      %one = arith.constant 1 : i32
      %fill = aie.dma_start(S2MM, 0, ^ping, ^end)
    ^ping:
      aie.use_lock(%free_5_2, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_ping_5_2 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%full_5_2, Release, %one)
      aie.next_bd ^pong
    ^pong:
      aie.use_lock(%free_5_2, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_pong_5_2 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%full_5_2, Release, %one)
      aie.next_bd ^ping
    ^end:
      aie.end
    }
    %mem_5_5 = aie.mem(%tile_5_5) {
      %one = arith.constant 1 : i32
      %drain = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%result_full_5_5, AcquireGreaterEqual, %one)
      aie.dma_bd(%result_5_5 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%result_free_5_5, Release, %one)
      aie.next_bd ^out
    ^end:
      aie.end
    }

    func.func private @stage_6_2(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_6_2.cc"}
    %core_6_2 = aie.core(%tile_6_2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_6_2, AcquireGreaterEqual, %one)
        aie.use_lock(%free_6_3, AcquireGreaterEqual, %one)
        func.call @stage_6_2(%in_ping_6_2, %in_ping_6_3) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_6_2, Release, %one)
        aie.use_lock(%full_6_3, Release, %one)
        aie.use_lock(%full_6_2, AcquireGreaterEqual, %one)
        aie.use_lock(%free_6_3, AcquireGreaterEqual, %one)
        func.call @stage_6_2(%in_pong_6_2, %in_pong_6_3) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_6_2, Release, %one)
        aie.use_lock(%full_6_3, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_6_3(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_6_3.cc"}
    %core_6_3 = aie.core(%tile_6_3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_6_3, AcquireGreaterEqual, %one)
        aie.use_lock(%free_6_4, AcquireGreaterEqual, %one)
        func.call @stage_6_3(%in_ping_6_3, %in_ping_6_4) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_6_3, Release, %one)
        aie.use_lock(%full_6_4, Release, %one)
        aie.use_lock(%full_6_3, AcquireGreaterEqual, %one)
        aie.use_lock(%free_6_4, AcquireGreaterEqual, %one)
        func.call @stage_6_3(%in_pong_6_3, %in_pong_6_4) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_6_3, Release, %one)
        aie.use_lock(%full_6_4, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_6_4(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_6_4.cc"}
    %core_6_4 = aie.core(%tile_6_4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_6_4, AcquireGreaterEqual, %one)
        aie.use_lock(%free_6_5, AcquireGreaterEqual, %one)
        func.call @stage_6_4(%in_ping_6_4, %in_ping_6_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_6_4, Release, %one)
        aie.use_lock(%full_6_5, Release, %one)
        aie.use_lock(%full_6_4, AcquireGreaterEqual, %one)
        aie.use_lock(%free_6_5, AcquireGreaterEqual, %one)
        func.call @stage_6_4(%in_pong_6_4, %in_pong_6_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_6_4, Release, %one)
        aie.use_lock(%full_6_5, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_6_5(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_6_5.cc"}
    %core_6_5 = aie.core(%tile_6_5) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_6_5, AcquireGreaterEqual, %one)
        aie.use_lock(%result_free_6_5, AcquireGreaterEqual, %one)
        func.call @stage_6_5(%in_ping_6_5, %result_6_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_6_5, Release, %one)
        aie.use_lock(%result_full_6_5, Release, %one)
        aie.use_lock(%full_6_5, AcquireGreaterEqual, %one)
        aie.use_lock(%result_free_6_5, AcquireGreaterEqual, %one)
        func.call @stage_6_5(%in_pong_6_5, %result_6_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_6_5, Release, %one)
        aie.use_lock(%result_full_6_5, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    aie.flow(%shim_6, DMA : 0, %tile_6_2, DMA : 0)
    aie.flow(%tile_6_5, DMA : 0, %shim_6, DMA : 0)
    aie.shim_dma_allocation @in_6(%shim_6, MM2S, 0)
    aie.shim_dma_allocation @out_6(%shim_6, S2MM, 0)
    %mem_6_2 = aie.mem(%tile_6_2) {
      %one = arith.constant 1 : i32
      %fill = aie.dma_start(S2MM, 0, ^ping, ^end)
    ^ping:
      aie.use_lock(%free_6_2, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_ping_6_2 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%full_6_2, Release, %one)
      aie.next_bd ^pong
    ^pong:
      aie.use_lock(%free_6_2, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_pong_6_2 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%full_6_2, Release, %one)
      aie.next_bd ^ping
    ^end:
      aie.end
    }
    %mem_6_5 = aie.mem(%tile_6_5) {
      %one = arith.constant 1 : i32
      %drain = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%result_full_6_5, AcquireGreaterEqual, %one)
      aie.dma_bd(%result_6_5 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%result_free_6_5, Release, %one)
      aie.next_bd ^out
    ^end:
      aie.end
    }

    func.func private @stage_7_2(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_7_2.cc"}
    %core_7_2 = aie.core(%tile_7_2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_7_2, AcquireGreaterEqual, %one)
        aie.use_lock(%free_7_3, AcquireGreaterEqual, %one)
        func.call @stage_7_2(%in_ping_7_2, %in_ping_7_3) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_7_2, Release, %one)
        aie.use_lock(%full_7_3, Release, %one)
        aie.use_lock(%full_7_2, AcquireGreaterEqual, %one)
        aie.use_lock(%free_7_3, AcquireGreaterEqual, %one)
        func.call @stage_7_2(%in_pong_7_2, %in_pong_7_3) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_7_2, Release, %one)
        aie.use_lock(%full_7_3, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_7_3(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_7_3.cc"}
    %core_7_3 = aie.core(%tile_7_3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_7_3, AcquireGreaterEqual, %one)
        aie.use_lock(%free_7_4, AcquireGreaterEqual, %one)
        func.call @stage_7_3(%in_ping_7_3, %in_ping_7_4) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_7_3, Release, %one)
        aie.use_lock(%full_7_4, Release, %one)
        aie.use_lock(%full_7_3, AcquireGreaterEqual, %one)
        aie.use_lock(%free_7_4, AcquireGreaterEqual, %one)
        func.call @stage_7_3(%in_pong_7_3, %in_pong_7_4) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_7_3, Release, %one)
        aie.use_lock(%full_7_4, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_7_4(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_7_4.cc"}
    %core_7_4 = aie.core(%tile_7_4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_7_4, AcquireGreaterEqual, %one)
        aie.use_lock(%free_7_5, AcquireGreaterEqual, %one)
        func.call @stage_7_4(%in_ping_7_4, %in_ping_7_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_7_4, Release, %one)
        aie.use_lock(%full_7_5, Release, %one)
        aie.use_lock(%full_7_4, AcquireGreaterEqual, %one)
        aie.use_lock(%free_7_5, AcquireGreaterEqual, %one)
        func.call @stage_7_4(%in_pong_7_4, %in_pong_7_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_7_4, Release, %one)
        aie.use_lock(%full_7_5, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    func.func private @stage_7_5(memref<256xi32>, memref<256xi32>) attributes {link_with = "stage_7_5.cc"}
    %core_7_5 = aie.core(%tile_7_5) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %blocks = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      scf.for %block = %c0 to %blocks step %c1 {
        aie.use_lock(%full_7_5, AcquireGreaterEqual, %one)
        aie.use_lock(%result_free_7_5, AcquireGreaterEqual, %one)
        func.call @stage_7_5(%in_ping_7_5, %result_7_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_7_5, Release, %one)
        aie.use_lock(%result_full_7_5, Release, %one)
        aie.use_lock(%full_7_5, AcquireGreaterEqual, %one)
        aie.use_lock(%result_free_7_5, AcquireGreaterEqual, %one)
        func.call @stage_7_5(%in_pong_7_5, %result_7_5) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%free_7_5, Release, %one)
        aie.use_lock(%result_full_7_5, Release, %one)
      }
      aie.end
    } {stack_size = 8192 : i32}

    aie.flow(%shim_7, DMA : 0, %tile_7_2, DMA : 0)
    aie.flow(%tile_7_5, DMA : 0, %shim_7, DMA : 0)
    aie.shim_dma_allocation @in_7(%shim_7, MM2S, 0)
    aie.shim_dma_allocation @out_7(%shim_7, S2MM, 0)
    %mem_7_2 = aie.mem(%tile_7_2) {
      %one = arith.constant 1 : i32
      %fill = aie.dma_start(S2MM, 0, ^ping, ^end)
    ^ping:
      aie.use_lock(%free_7_2, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_ping_7_2 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%full_7_2, Release, %one)
      aie.next_bd ^pong
    ^pong:
      aie.use_lock(%free_7_2, AcquireGreaterEqual, %one)
      aie.dma_bd(%in_pong_7_2 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%full_7_2, Release, %one)
      aie.next_bd ^ping
    ^end:
      aie.end
    }
    %mem_7_5 = aie.mem(%tile_7_5) {
      %one = arith.constant 1 : i32
      %drain = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%result_full_7_5, AcquireGreaterEqual, %one)
      aie.dma_bd(%result_7_5 : memref<256xi32> offset = 0 len = 256)
      aie.use_lock(%result_free_7_5, Release, %one)
      aie.next_bd ^out
    ^end:
      aie.end
    }
  }
}
