// One Cube, two Vector cores: c = max(a * b, 0) * 2, tiles of 16 rows split up-down. Each lane takes its half of every
// tile from a ring of its own, and writes its rows of the result. The frees are the compiler's: behind the last use.
module attributes {pto.target_arch = "a5"} {
  func.func @product(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %c: !pto.ptr<f32>)
      attributes {pto.kernel_kind = #pto.kernel_kind<cube>, stack_size = 1024 : i32} {
    %none = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %tiles = arith.constant 20 : index
    %rows = arith.constant 320 : index

    %ring = pto.import_reserved_buffer {name = "halves", peer_func = @scale} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %ring : i32, v2c_consumer_buf = %none : i32)

    %a_near = pto.alloc_tile : !pto.tile_buf<mat, 16x16xf32>
    %b_near = pto.alloc_tile : !pto.tile_buf<mat, 16x32xf32>
    %left = pto.alloc_tile : !pto.tile_buf<left, 16x16xf32>
    %right = pto.alloc_tile : !pto.tile_buf<right, 16x32xf32>
    %sum = pto.alloc_tile : !pto.tile_buf<acc, 16x32xf32>

    %b_all = pto.make_tensor_view %b, shape = [%c16, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %b_view = pto.partition_view %b_all, offsets = [%c0, %c0], sizes = [%c16, %c32] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x32xf32>
    pto.tload ins(%b_view : !pto.partition_tensor_view<16x32xf32>) outs(%b_near : !pto.tile_buf<mat, 16x32xf32>)
    pto.tmov ins(%b_near : !pto.tile_buf<mat, 16x32xf32>) outs(%right : !pto.tile_buf<right, 16x32xf32>)

    %a_all = pto.make_tensor_view %a, shape = [%rows, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    scf.for %i = %c0 to %tiles step %c1 {
      %row = arith.muli %i, %c16 : index
      %a_view = pto.partition_view %a_all, offsets = [%row, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
      pto.tload ins(%a_view : !pto.partition_tensor_view<16x16xf32>) outs(%a_near : !pto.tile_buf<mat, 16x16xf32>)
      pto.tmov ins(%a_near : !pto.tile_buf<mat, 16x16xf32>) outs(%left : !pto.tile_buf<left, 16x16xf32>)
      pto.tmatmul ins(%left, %right : !pto.tile_buf<left, 16x16xf32>, !pto.tile_buf<right, 16x32xf32>) outs(%sum : !pto.tile_buf<acc, 16x32xf32>)
      pto.tpush_to_aiv(%sum : !pto.tile_buf<acc, 16x32xf32>) {split = 1}
    }
    return
  }

  func.func @scale(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %c: !pto.ptr<f32>)
      attributes {pto.kernel_kind = #pto.kernel_kind<vector>, stack_size = 1024 : i32} {
    %none = arith.constant 0 : i32
    %two = arith.constant 2.0 : f32
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %tiles = arith.constant 20 : index
    %rows = arith.constant 320 : index

    %ring = pto.reserve_buffer {name = "halves", size = 16384, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 2048} (c2v_consumer_buf = %ring : i32, v2c_consumer_buf = %none : i32)

    %result = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf32>
    %c_all = pto.make_tensor_view %c, shape = [%rows, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %lane = pto.get_subblock_idx
    %lane_index = arith.index_cast %lane : i64 to index
    %half = arith.muli %lane_index, %c8 : index
    scf.for %i = %c0 to %tiles step %c1 {
      %mine = pto.tpop_from_aic {split = 1} -> !pto.tile_buf<vec, 8x32xf32>
      pto.tmaxs ins(%mine, %zero : !pto.tile_buf<vec, 8x32xf32>, f32) outs(%result : !pto.tile_buf<vec, 8x32xf32>)
      pto.tmuls ins(%result, %two : !pto.tile_buf<vec, 8x32xf32>, f32) outs(%result : !pto.tile_buf<vec, 8x32xf32>)
      %tile_row = arith.muli %i, %c16 : index
      %row = arith.addi %tile_row, %half : index
      %c_view = pto.partition_view %c_all, offsets = [%row, %c0], sizes = [%c8, %c32] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x32xf32>
      pto.tstore ins(%result : !pto.tile_buf<vec, 8x32xf32>) outs(%c_view : !pto.partition_tensor_view<8x32xf32>)
    }
    return
  }
}
