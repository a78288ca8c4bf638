// W12. Both unconditional. good
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 0 : i64
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 0 : i64
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %gm : i64)
    %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
    pto.tfree_from_aic {split = 0}
    return
  }
}
// -----
// W12. One condition for both, a kernel argument. good
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube(%p: i1) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 0 : i64
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    scf.if %p {
      pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    }
    return
  }
  func.func @vector(%p: i1) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 0 : i64
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %gm : i64)
    scf.if %p {
      %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
      pto.tfree_from_aic {split = 0}
    }
    return
  }
}
// -----
// W12. Two conditions. bad
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube(%p: i1, %q: i1) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 0 : i64
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    scf.if %p {
      pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    }
    return
  }
  func.func @vector(%p: i1, %q: i1) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 0 : i64
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %gm : i64)
    scf.if %q {
      %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
      pto.tfree_from_aic {split = 0}
    }
    return
  }
}
// -----
// W12. One trip count for both. good
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube(%n: index) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 0 : i64
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    }
    return
  }
  func.func @vector(%n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 0 : i64
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %gm : i64)
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
      pto.tfree_from_aic {split = 0}
    }
    return
  }
}
// -----
// W12. One trip count, two tiles against one. bad
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube(%n: index) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 0 : i64
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
      pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    }
    return
  }
  func.func @vector(%n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 0 : i64
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %gm : i64)
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
      pto.tfree_from_aic {split = 0}
    }
    return
  }
}
// -----
// W12. The counter decides: every second tile. good
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 0 : i64
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %two = arith.constant 2 : index
    %zero = arith.constant 0 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 6 : index
    scf.for %i = %c0 to %n step %c1 {
      %r = arith.remui %i, %two : index
      %e = arith.cmpi eq, %r, %zero : index
      scf.if %e {
        pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
      }
    }
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 0 : i64
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %gm : i64)
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 3 : index
    scf.for %i = %c0 to %n step %c1 {
      %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
      pto.tfree_from_aic {split = 0}
    }
    return
  }
}
