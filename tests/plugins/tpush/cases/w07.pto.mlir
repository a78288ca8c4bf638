// W7. A5 with the slot freed inside pop, as the specification's pseudocode has it: a race.
module attributes {"pto.target_arch" = "a5"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c2v = pto.import_reserved_buffer {name = "c2v", peer_func = @vector} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2} (c2v_consumer_buf = %c2v : i32)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {split = 0}
    return
  }
  func.func @vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c2v = pto.reserve_buffer {name = "c2v", size = 2048, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2} (c2v_consumer_buf = %c2v : i32)
    %o = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
    %p0 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tneg ins(%p0 : !pto.tile_buf<vec, 16x16xf32>) outs(%o : !pto.tile_buf<vec, 16x16xf32>)
    %p1 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tneg ins(%p1 : !pto.tile_buf<vec, 16x16xf32>) outs(%o : !pto.tile_buf<vec, 16x16xf32>)
    %p2 = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
    pto.tfree_from_aic {split = 0}
    pto.tneg ins(%p2 : !pto.tile_buf<vec, 16x16xf32>) outs(%o : !pto.tile_buf<vec, 16x16xf32>)
    return
  }
}
