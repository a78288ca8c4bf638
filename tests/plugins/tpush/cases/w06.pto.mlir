// W6. Both push first. ends
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 0 : i64
    pto.aic_initialize_pipe {dir_mask = 3, slot_size = 512} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p0 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p1 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p2 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p3 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p4 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p5 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 0 : i64
    pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 512} (gm_slot_buffer = %gm : i64)
    %v = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p0 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p1 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p2 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p3 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p4 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p5 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    return
  }
}
// -----
// W6. The Cube pushes first, the Vector core pops first. ends
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 0 : i64
    pto.aic_initialize_pipe {dir_mask = 3, slot_size = 512} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p0 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p1 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p2 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p3 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p4 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p5 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 0 : i64
    pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 512} (gm_slot_buffer = %gm : i64)
    %v = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>
    %p0 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p1 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p2 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p3 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p4 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p5 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    return
  }
}
// -----
// W6. The other way round. ends
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 0 : i64
    pto.aic_initialize_pipe {dir_mask = 3, slot_size = 512} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %p0 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p1 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p2 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p3 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p4 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p5 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 0 : i64
    pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 512} (gm_slot_buffer = %gm : i64)
    %v = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p0 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p1 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p2 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p3 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p4 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p5 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    return
  }
}
// -----
// W6. Both pop first. never ends
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 0 : i64
    pto.aic_initialize_pipe {dir_mask = 3, slot_size = 512} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %p0 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 0 : i64
    pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 512} (gm_slot_buffer = %gm : i64)
    %v = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>
    %p0 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    return
  }
}
// -----
// W6. Five pushes before five pops on both sides, 4 slots. never ends
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 0 : i64
    pto.aic_initialize_pipe {dir_mask = 3, slot_size = 512} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p0 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    %p1 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    %p2 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    %p3 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    %p4 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 0 : i64
    pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 512} (gm_slot_buffer = %gm : i64)
    %v = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p0 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    %p1 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    %p2 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    %p3 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    %p4 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    return
  }
}
// -----
// W6. Five pushes on one side, four on the other. ends
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 0 : i64
    pto.aic_initialize_pipe {dir_mask = 3, slot_size = 512} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    %p0 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    %p1 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    %p2 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    %p3 = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {split = 0}
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 0 : i64
    pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 512} (gm_slot_buffer = %gm : i64)
    %v = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    %p0 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    %p1 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    %p2 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    %p3 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    %p4 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {split = 0}
    return
  }
}
