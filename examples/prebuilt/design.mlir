// A core that comes linked. Its data lies where that link put it; the tile's own buffers keep clear of it.
module {
  aie.device(npu2) {
    %tile = aie.tile(0, 3)
    %in = aie.buffer(%tile) {address = 0x4000 : i32, sym_name = "in"} : memref<256xi32>
    %out = aie.buffer(%tile) {address = 0x8000 : i32, sym_name = "out"} : memref<256xi32>
    %staging = aie.buffer(%tile) {sym_name = "staging"} : memref<3072xi32>
    %core = aie.core(%tile) {
      aie.end
    } {elf_file = "elfs_main_core_0_3/elfs_main_core_0_3.elf"}
  }
}
