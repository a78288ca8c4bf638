// W3. A5, both directions, 4 slots of 512 bytes: UB from 0x1000, L1 from 0x2000.
module attributes {"pto.target_arch" = "a5"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c2v = pto.import_reserved_buffer {name = "c2v", peer_func = @vector} -> i32
    %v2c = pto.reserve_buffer {name = "v2c", size = 2048, location = #pto.address_space<mat>, auto = false, base = 8192} -> i32
    pto.aic_initialize_pipe {dir_mask = 3, slot_size = 512} (c2v_consumer_buf = %c2v : i32, v2c_consumer_buf = %v2c : i32)
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
    %c2v = pto.reserve_buffer {name = "c2v", size = 2048, location = #pto.address_space<vec>, auto = false, base = 4096} -> i32
    %v2c = pto.import_reserved_buffer {name = "v2c", peer_func = @cube} -> i32
    pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 512} (c2v_consumer_buf = %c2v : i32, v2c_consumer_buf = %v2c : i32)
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
// W3 without frees: the slot is freed behind its last use.
module attributes {"pto.target_arch" = "a5"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c2v = pto.import_reserved_buffer {name = "c2v", peer_func = @vector} -> i32
    %v2c = pto.reserve_buffer {name = "v2c", size = 2048, location = #pto.address_space<mat>, auto = false, base = 8192} -> i32
    pto.aic_initialize_pipe {dir_mask = 3, slot_size = 512} (c2v_consumer_buf = %c2v : i32, v2c_consumer_buf = %v2c : i32)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %l = pto.alloc_tile : !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 5 : index
    scf.for %i = %c0 to %n step %c1 {
      pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
      %p = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
      pto.tmov ins(%p : !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>) outs(%l : !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>)
    }
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c2v = pto.reserve_buffer {name = "c2v", size = 2048, location = #pto.address_space<vec>, auto = false, base = 4096} -> i32
    %v2c = pto.import_reserved_buffer {name = "v2c", peer_func = @cube} -> i32
    pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 512} (c2v_consumer_buf = %c2v : i32, v2c_consumer_buf = %v2c : i32)
    %v = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>
    %o = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 5 : index
    scf.for %i = %c0 to %n step %c1 {
      %p = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
      pto.tneg ins(%p : !pto.tile_buf<vec, 8x16xf32>) outs(%o : !pto.tile_buf<vec, 8x16xf32>)
      pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {split = 0}
    }
    return
  }
}
