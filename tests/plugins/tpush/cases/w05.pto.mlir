// W5. Tiles of two sizes, 2 slots of 1024 bytes: they lie at +0, +1024, +0.
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 0 : i64
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %b = pto.alloc_tile : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    pto.tpush_to_aiv(%b : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 0 : i64
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2} (gm_slot_buffer = %gm : i64)
    %p0 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
    pto.tfree_from_aic {split = 0}
    %p1 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    %p2 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
    pto.tfree_from_aic {split = 0}
    return
  }
}
