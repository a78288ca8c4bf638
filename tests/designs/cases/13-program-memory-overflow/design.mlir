module {
  aie.device(npu2) {
    %ct = aie.tile(0, 2)
    // What the two fifos of depth 2 hold: a pair of objects and a pair of locks on each side.
    %in_0 = aie.buffer(%ct) {sym_name = "rows_in_0"} : memref<256xi32>
    %in_1 = aie.buffer(%ct) {sym_name = "rows_in_1"} : memref<256xi32>
    %out_0 = aie.buffer(%ct) {sym_name = "rows_out_0"} : memref<256xi32>
    %out_1 = aie.buffer(%ct) {sym_name = "rows_out_1"} : memref<256xi32>
    %in_full = aie.lock(%ct) {init = 0 : i32, sym_name = "rows_in_full"}
    %in_free = aie.lock(%ct) {init = 2 : i32, sym_name = "rows_in_free"}
    %out_full = aie.lock(%ct) {init = 0 : i32, sym_name = "rows_out_full"}
    %out_free = aie.lock(%ct) {init = 2 : i32, sym_name = "rows_out_free"}

    func.func private @unrolled(memref<256xi32>, memref<256xi32>) attributes {link_with = "kernel.o"}

    %core = aie.core(%ct) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %one = arith.constant 1 : i32
      scf.for %i = %c0 to %c2 step %c1 {
        aie.use_lock(%in_full, AcquireGreaterEqual, %one)
        aie.use_lock(%out_free, AcquireGreaterEqual, %one)
        func.call @unrolled(%in_0, %out_0) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%in_free, Release, %one)
        aie.use_lock(%out_full, Release, %one)
        aie.use_lock(%in_full, AcquireGreaterEqual, %one)
        aie.use_lock(%out_free, AcquireGreaterEqual, %one)
        func.call @unrolled(%in_1, %out_1) : (memref<256xi32>, memref<256xi32>) -> ()
        aie.use_lock(%in_free, Release, %one)
        aie.use_lock(%out_full, Release, %one)
      }
      aie.end
    }
  }
}
