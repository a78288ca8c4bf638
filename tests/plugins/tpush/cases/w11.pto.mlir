// W11. The second pipe behind both rings of the first.
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube(%ws: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %behind = arith.constant 512 : index
    %ws1 = pto.addptr %ws, %behind : !pto.ptr<f32> -> !pto.ptr<f32>
    pto.aic_initialize_pipe {id = 0, dir_mask = 3, slot_size = 512, slot_num = 2} (gm_slot_buffer = %ws : !pto.ptr<f32>)
    pto.aic_initialize_pipe {id = 1, dir_mask = 1, slot_size = 1024, slot_num = 4} (gm_slot_buffer = %ws1 : !pto.ptr<f32>)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %b = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {id = 0, split = 0}
    pto.tpush_to_aiv(%b : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {id = 1, split = 0}
    %p = pto.tpop_from_aiv {id = 0, split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {id = 0, split = 0}
    return
  }
  func.func @vector(%ws: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %behind = arith.constant 512 : index
    %ws1 = pto.addptr %ws, %behind : !pto.ptr<f32> -> !pto.ptr<f32>
    pto.aiv_initialize_pipe {id = 0, dir_mask = 3, slot_size = 512, slot_num = 2} (gm_slot_buffer = %ws : !pto.ptr<f32>)
    pto.aiv_initialize_pipe {id = 1, dir_mask = 1, slot_size = 1024, slot_num = 4} (gm_slot_buffer = %ws1 : !pto.ptr<f32>)
    %v = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>
    %p = pto.tpop_from_aic {id = 0, split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {id = 0, split = 0}
    %q = pto.tpop_from_aic {id = 1, split = 0} -> !pto.tile_buf<vec, 16x16xf32>
    pto.tfree_from_aic {id = 1, split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {id = 0, split = 0}
    return
  }
}
// -----
// W11. The second pipe behind one ring of the first, on the other.
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube(%ws: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %behind = arith.constant 256 : index
    %ws1 = pto.addptr %ws, %behind : !pto.ptr<f32> -> !pto.ptr<f32>
    pto.aic_initialize_pipe {id = 0, dir_mask = 3, slot_size = 512, slot_num = 2} (gm_slot_buffer = %ws : !pto.ptr<f32>)
    pto.aic_initialize_pipe {id = 1, dir_mask = 1, slot_size = 1024, slot_num = 4} (gm_slot_buffer = %ws1 : !pto.ptr<f32>)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %b = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {id = 0, split = 0}
    pto.tpush_to_aiv(%b : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {id = 1, split = 0}
    %p = pto.tpop_from_aiv {id = 0, split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {id = 0, split = 0}
    return
  }
  func.func @vector(%ws: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %behind = arith.constant 256 : index
    %ws1 = pto.addptr %ws, %behind : !pto.ptr<f32> -> !pto.ptr<f32>
    pto.aiv_initialize_pipe {id = 0, dir_mask = 3, slot_size = 512, slot_num = 2} (gm_slot_buffer = %ws : !pto.ptr<f32>)
    pto.aiv_initialize_pipe {id = 1, dir_mask = 1, slot_size = 1024, slot_num = 4} (gm_slot_buffer = %ws1 : !pto.ptr<f32>)
    %v = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>
    %p = pto.tpop_from_aic {id = 0, split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {id = 0, split = 0}
    %q = pto.tpop_from_aic {id = 1, split = 0} -> !pto.tile_buf<vec, 16x16xf32>
    pto.tfree_from_aic {id = 1, split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {id = 0, split = 0}
    return
  }
}
// -----
// W11. The sizes of the example: with a flag per tag the second pipe has none left.
module attributes {"pto.target_arch" = "a3"} {
  func.func @cube(%ws: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %behind = arith.constant 1024 : index
    %ws1 = pto.addptr %ws, %behind : !pto.ptr<f32> -> !pto.ptr<f32>
    pto.aic_initialize_pipe {id = 0, dir_mask = 3, slot_size = 512} (gm_slot_buffer = %ws : !pto.ptr<f32>)
    pto.aic_initialize_pipe {id = 1, dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %ws1 : !pto.ptr<f32>)
    %a = pto.alloc_tile : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %b = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    pto.tpush_to_aiv(%a : !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {id = 0, split = 0}
    pto.tpush_to_aiv(%b : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {id = 1, split = 0}
    %p = pto.tpop_from_aiv {id = 0, split = 0} -> !pto.tile_buf<mat, 8x16xf32, blayout=col_major, slayout=row_major>
    pto.tfree_from_aiv {id = 0, split = 0}
    return
  }
  func.func @vector(%ws: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %behind = arith.constant 1024 : index
    %ws1 = pto.addptr %ws, %behind : !pto.ptr<f32> -> !pto.ptr<f32>
    pto.aiv_initialize_pipe {id = 0, dir_mask = 3, slot_size = 512} (gm_slot_buffer = %ws : !pto.ptr<f32>)
    pto.aiv_initialize_pipe {id = 1, dir_mask = 1, slot_size = 1024} (gm_slot_buffer = %ws1 : !pto.ptr<f32>)
    %v = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>
    %p = pto.tpop_from_aic {id = 0, split = 0} -> !pto.tile_buf<vec, 8x16xf32>
    pto.tfree_from_aic {id = 0, split = 0}
    %q = pto.tpop_from_aic {id = 1, split = 0} -> !pto.tile_buf<vec, 16x16xf32>
    pto.tfree_from_aic {id = 1, split = 0}
    pto.tpush_to_aic(%v : !pto.tile_buf<vec, 8x16xf32, blayout=col_major, slayout=row_major>) {id = 0, split = 0}
    return
  }
}
