// W2. A2A3, both directions, 4 slots of 512 bytes each way at 0x200000.
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 2097152 : i64
    pto.aic_initialize_pipe {dir_mask = 3, slot_size = 512} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %l = pto.alloc_tile : !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 5 : index
    scf.for %i = %c0 to %n step %c1 {
      pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
      %p = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
      pto.tmov ins(%p : !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>) outs(%l : !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>)
      pto.tfree_from_aiv {split = 0}
    }
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 2097152 : i64
    pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 512} (gm_slot_buffer = %gm : i64)
    %v = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>
    %o = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 5 : index
    scf.for %i = %c0 to %n step %c1 {
      %p = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
      pto.tneg ins(%p : !pto.tile_buf<vec, 8x16xf32>) outs(%o : !pto.tile_buf<vec, 8x16xf32>)
      pto.tfree_from_aic {split = 0}
      pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    }
    return
  }
}
// -----
// W2, one direction: the ring Vector to Cube starts at the workspace itself.
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 2097152 : i64
    pto.aic_initialize_pipe {dir_mask = 2, slot_size = 512} (gm_slot_buffer = %gm : i64)
    %l = pto.alloc_tile : !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 9 : index
    scf.for %i = %c0 to %n step %c1 {
      %p = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
      pto.tmov ins(%p : !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>) outs(%l : !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>)
      pto.tfree_from_aiv {split = 0}
    }
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 2097152 : i64
    pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 512} (gm_slot_buffer = %gm : i64)
    %v = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 9 : index
    scf.for %i = %c0 to %n step %c1 {
      pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    }
    return
  }
}
