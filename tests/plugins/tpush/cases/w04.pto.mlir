// W4. 16x128 f32, up-down, A2A3.
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 1048576 : i64
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 8192} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x128xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 4 : index
    scf.for %i = %c0 to %n step %c1 {
      pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x128xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 1}
    }
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 1048576 : i64
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 8192} (gm_slot_buffer = %gm : i64)
    %o = pto.alloc_tile : !pto.tile_buf<vec, 8x128xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 4 : index
    scf.for %i = %c0 to %n step %c1 {
      %p = pto.tpop_from_aic {split = 1} -> !pto.tile_buf<vec, 8x128xf32>
      pto.tneg ins(%p : !pto.tile_buf<vec, 8x128xf32>) outs(%o : !pto.tile_buf<vec, 8x128xf32>)
      pto.tfree_from_aic {split = 1}
    }
    return
  }
}
// -----
// W4. 16x128 f32, left-right, A2A3.
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 1048576 : i64
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 8192} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x128xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 4 : index
    scf.for %i = %c0 to %n step %c1 {
      pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x128xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 2}
    }
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 1048576 : i64
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 8192} (gm_slot_buffer = %gm : i64)
    %o = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 4 : index
    scf.for %i = %c0 to %n step %c1 {
      %p = pto.tpop_from_aic {split = 2} -> !pto.tile_buf<vec, 16x64xf32>
      pto.tneg ins(%p : !pto.tile_buf<vec, 16x64xf32>) outs(%o : !pto.tile_buf<vec, 16x64xf32>)
      pto.tfree_from_aic {split = 2}
    }
    return
  }
}
// -----
// W4. 17x128 f32, up-down, odd, A2A3.
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 1048576 : i64
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 8704} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 17x128xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 4 : index
    scf.for %i = %c0 to %n step %c1 {
      pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 17x128xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 3}
    }
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 1048576 : i64
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 8704} (gm_slot_buffer = %gm : i64)
    %o = pto.alloc_tile : !pto.tile_buf<vec, 9x128xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 4 : index
    scf.for %i = %c0 to %n step %c1 {
      %p = pto.tpop_from_aic {split = 3} -> !pto.tile_buf<vec, 9x128xf32>
      pto.tneg ins(%p : !pto.tile_buf<vec, 9x128xf32>) outs(%o : !pto.tile_buf<vec, 9x128xf32>)
      pto.tfree_from_aic {split = 3}
    }
    return
  }
}
// -----
// W4. 16x17 f32, left-right, odd, A2A3.
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %gm = arith.constant 1048576 : i64
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1088} (gm_slot_buffer = %gm : i64)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x17xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 4 : index
    scf.for %i = %c0 to %n step %c1 {
      pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x17xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 4}
    }
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %gm = arith.constant 1048576 : i64
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1088} (gm_slot_buffer = %gm : i64)
    %o = pto.alloc_tile : !pto.tile_buf<vec, 16x9xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 4 : index
    scf.for %i = %c0 to %n step %c1 {
      %p = pto.tpop_from_aic {split = 4} -> !pto.tile_buf<vec, 16x9xf32>
      pto.tneg ins(%p : !pto.tile_buf<vec, 16x9xf32>) outs(%o : !pto.tile_buf<vec, 16x9xf32>)
      pto.tfree_from_aic {split = 4}
    }
    return
  }
}
// -----
// W4. 16x128 f32, up-down, A5: each lane has a ring of its own.
module attributes {"pto.target_arch" = "a5"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c2v = pto.import_reserved_buffer {name = "c2v", peer_func = @vector} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 8192} (c2v_consumer_buf = %c2v : i32)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x128xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 4 : index
    scf.for %i = %c0 to %n step %c1 {
      pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x128xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 1}
    }
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c2v = pto.reserve_buffer {name = "c2v", size = 65536, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 8192} (c2v_consumer_buf = %c2v : i32)
    %o = pto.alloc_tile : !pto.tile_buf<vec, 8x128xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 4 : index
    scf.for %i = %c0 to %n step %c1 {
      %p = pto.tpop_from_aic {split = 1} -> !pto.tile_buf<vec, 8x128xf32>
      pto.tneg ins(%p : !pto.tile_buf<vec, 8x128xf32>) outs(%o : !pto.tile_buf<vec, 8x128xf32>)
      pto.tfree_from_aic {split = 1}
    }
    return
  }
}
