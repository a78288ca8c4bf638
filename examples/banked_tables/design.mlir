// Four cores, each with a pair of lookup tables pinned to banks A and B by its kernel. The buffers give way:
// `samples` and `results` ask for no bank, and placement keeps them clear of what the tables measure.
module {
  aie.device(npu2) {
    %tile_1 = aie.tile(0, 2)
    %tile_2 = aie.tile(0, 3)
    %tile_3 = aie.tile(0, 4)
    %tile_4 = aie.tile(0, 5)

    %samples_1 = aie.buffer(%tile_1) {sym_name = "samples_1"} : memref<512xi32>
    %results_1 = aie.buffer(%tile_1) {sym_name = "results_1"} : memref<512xi32>
    %history_1 = aie.buffer(%tile_1) {sym_name = "history_1", mem_bank = 1 : i32} : memref<2048xi32>
    %ready_1 = aie.lock(%tile_1) {init = 0 : i32, sym_name = "ready_1"}
    %done_1 = aie.lock(%tile_1) {init = 1 : i32, sym_name = "done_1"}
    func.func private @lookup_1(memref<512xi32>, memref<512xi32>) attributes {link_with = "lookup_1.c"}
    %core_1 = aie.core(%tile_1) {
      %one = arith.constant 1 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c512 = arith.constant 512 : index
      aie.use_lock(%ready_1, AcquireGreaterEqual, %one)
      func.call @lookup_1(%samples_1, %results_1) : (memref<512xi32>, memref<512xi32>) -> ()
      scf.for %at = %c0 to %c512 step %c1 {
        %value = memref.load %results_1[%at] : memref<512xi32>
        memref.store %value, %history_1[%at] : memref<2048xi32>
      }
      aie.use_lock(%done_1, Release, %one)
      aie.end
    }

    %samples_2 = aie.buffer(%tile_2) {sym_name = "samples_2"} : memref<512xi32>
    %results_2 = aie.buffer(%tile_2) {sym_name = "results_2"} : memref<512xi32>
    %history_2 = aie.buffer(%tile_2) {sym_name = "history_2", mem_bank = 1 : i32} : memref<2048xi32>
    %ready_2 = aie.lock(%tile_2) {init = 0 : i32, sym_name = "ready_2"}
    %done_2 = aie.lock(%tile_2) {init = 1 : i32, sym_name = "done_2"}
    func.func private @lookup_2(memref<512xi32>, memref<512xi32>) attributes {link_with = "lookup_2.c"}
    %core_2 = aie.core(%tile_2) {
      %one = arith.constant 1 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c512 = arith.constant 512 : index
      aie.use_lock(%ready_2, AcquireGreaterEqual, %one)
      func.call @lookup_2(%samples_2, %results_2) : (memref<512xi32>, memref<512xi32>) -> ()
      scf.for %at = %c0 to %c512 step %c1 {
        %value = memref.load %results_2[%at] : memref<512xi32>
        memref.store %value, %history_2[%at] : memref<2048xi32>
      }
      aie.use_lock(%done_2, Release, %one)
      aie.end
    }

    %samples_3 = aie.buffer(%tile_3) {sym_name = "samples_3"} : memref<512xi32>
    %results_3 = aie.buffer(%tile_3) {sym_name = "results_3"} : memref<512xi32>
    %history_3 = aie.buffer(%tile_3) {sym_name = "history_3", mem_bank = 1 : i32} : memref<2048xi32>
    %ready_3 = aie.lock(%tile_3) {init = 0 : i32, sym_name = "ready_3"}
    %done_3 = aie.lock(%tile_3) {init = 1 : i32, sym_name = "done_3"}
    func.func private @lookup_3(memref<512xi32>, memref<512xi32>) attributes {link_with = "lookup_3.c"}
    %core_3 = aie.core(%tile_3) {
      %one = arith.constant 1 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c512 = arith.constant 512 : index
      aie.use_lock(%ready_3, AcquireGreaterEqual, %one)
      func.call @lookup_3(%samples_3, %results_3) : (memref<512xi32>, memref<512xi32>) -> ()
      scf.for %at = %c0 to %c512 step %c1 {
        %value = memref.load %results_3[%at] : memref<512xi32>
        memref.store %value, %history_3[%at] : memref<2048xi32>
      }
      aie.use_lock(%done_3, Release, %one)
      aie.end
    }

    %samples_4 = aie.buffer(%tile_4) {sym_name = "samples_4"} : memref<512xi32>
    %results_4 = aie.buffer(%tile_4) {sym_name = "results_4"} : memref<512xi32>
    %history_4 = aie.buffer(%tile_4) {sym_name = "history_4", mem_bank = 1 : i32} : memref<2048xi32>
    %ready_4 = aie.lock(%tile_4) {init = 0 : i32, sym_name = "ready_4"}
    %done_4 = aie.lock(%tile_4) {init = 1 : i32, sym_name = "done_4"}
    func.func private @lookup_4(memref<512xi32>, memref<512xi32>) attributes {link_with = "lookup_4.c"}
    %core_4 = aie.core(%tile_4) {
      %one = arith.constant 1 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c512 = arith.constant 512 : index
      aie.use_lock(%ready_4, AcquireGreaterEqual, %one)
      func.call @lookup_4(%samples_4, %results_4) : (memref<512xi32>, memref<512xi32>) -> ()
      scf.for %at = %c0 to %c512 step %c1 {
        %value = memref.load %results_4[%at] : memref<512xi32>
        memref.store %value, %history_4[%at] : memref<2048xi32>
      }
      aie.use_lock(%done_4, Release, %one)
      aie.end
    }
  }
}
