// Builds the image that design.mlir uses as it is: `aiecc image.mlir` writes elfs_main_core_0_3.
module {
  aie.device(npu2) {
    %tile = aie.tile(0, 3)
    %in = aie.buffer(%tile) {address = 0x4000 : i32, sym_name = "in"} : memref<256xi32>
    %out = aie.buffer(%tile) {address = 0x8000 : i32, sym_name = "out"} : memref<256xi32>
    func.func private @scale(memref<256xi32>, memref<256xi32>) attributes {link_with = "scale.c"}
    %core = aie.core(%tile) {
      func.call @scale(%in, %out) : (memref<256xi32>, memref<256xi32>) -> ()
      aie.end
    }
  }
}
