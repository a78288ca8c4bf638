// W9. Split Cube to Vector: both lanes in every handshake.
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 0 : i64
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 4} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 6 : index
    scf.for %i = %c0 to %n step %c1 {
      pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 1}
    }
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 0 : i64
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 4} (gm_slot_buffer = %gm : i64)
    %o = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 6 : index
    scf.for %i = %c0 to %n step %c1 {
      %p = pto.tpop_from_aic {split = 1} -> !pto.tile_buf<vec, 8x16xf32>
      pto.tneg ins(%p : !pto.tile_buf<vec, 8x16xf32>) outs(%o : !pto.tile_buf<vec, 8x16xf32>)
      pto.tfree_from_aic {split = 1}
    }
    return
  }
}
// -----
// W9. Split Vector to Cube.
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 0 : i64
    pto.aic_initialize_pipe {dir_mask = 2, slot_size = 1024, slot_num = 4} (gm_slot_buffer = %gm : i64)
    %l = pto.alloc_tile : !pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 6 : index
    scf.for %i = %c0 to %n step %c1 {
      %p = pto.tpop_from_aiv {split = 1} -> !pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>
      pto.tmov ins(%p : !pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>) outs(%l : !pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>)
      pto.tfree_from_aiv {split = 1}
    }
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 0 : i64
    pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 1024, slot_num = 4} (gm_slot_buffer = %gm : i64)
    %v = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 6 : index
    scf.for %i = %c0 to %n step %c1 {
      pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 1}
    }
    return
  }
}
// -----
// W9. Lane 1 never pops.
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 0 : i64
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 4} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 6 : index
    scf.for %i = %c0 to %n step %c1 {
      pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 1}
    }
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 0 : i64
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 4} (gm_slot_buffer = %gm : i64)
    %o = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32>
    %lane = pto.get_subblock_idx
    %zero = arith.constant 0 : i64
    %first = arith.cmpi eq, %lane, %zero : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 6 : index
    scf.for %i = %c0 to %n step %c1 {
      scf.if %first {
        %p = pto.tpop_from_aic {split = 1} -> !pto.tile_buf<vec, 8x16xf32>
        pto.tfree_from_aic {split = 1}
      }
    }
    return
  }
}
