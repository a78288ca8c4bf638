// Both directions of one pipe: y = relu(x * w1) * w2, a tile of 16 rows at a time. The Cube multiplies, a Vector core does
// what lies in between. Both rings have four slots; the compiler places one in UB, the other in L1.
module attributes {pto.target_arch = "a5"} {
  func.func @layers(%x: !pto.ptr<f32>, %w1: !pto.ptr<f32>, %w2: !pto.ptr<f32>, %y: !pto.ptr<f32>)
      attributes {pto.kernel_kind = #pto.kernel_kind<cube>, stack_size = 1024 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %tiles = arith.constant 24 : index
    %rows = arith.constant 384 : index

    %there = pto.import_reserved_buffer {name = "there", peer_func = @between} -> i32
    %back = pto.reserve_buffer {name = "back", size = 4096, location = #pto.address_space<mat>, auto = true} -> i32
    pto.aic_initialize_pipe {dir_mask = 3, slot_size = 1024} (c2v_consumer_buf = %there : i32, v2c_consumer_buf = %back : i32)

    %near = pto.alloc_tile : !pto.tile_buf<mat, 16x16xf32>
    %left = pto.alloc_tile : !pto.tile_buf<left, 16x16xf32>
    %first = pto.alloc_tile : !pto.tile_buf<right, 16x16xf32>
    %second = pto.alloc_tile : !pto.tile_buf<right, 16x16xf32>
    %hidden = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32>
    %result = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32>

    %w1_all = pto.make_tensor_view %w1, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %w1_view = pto.partition_view %w1_all, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
    pto.tload ins(%w1_view : !pto.partition_tensor_view<16x16xf32>) outs(%near : !pto.tile_buf<mat, 16x16xf32>)
    pto.tmov ins(%near : !pto.tile_buf<mat, 16x16xf32>) outs(%first : !pto.tile_buf<right, 16x16xf32>)
    %w2_all = pto.make_tensor_view %w2, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %w2_view = pto.partition_view %w2_all, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
    pto.tload ins(%w2_view : !pto.partition_tensor_view<16x16xf32>) outs(%near : !pto.tile_buf<mat, 16x16xf32>)
    pto.tmov ins(%near : !pto.tile_buf<mat, 16x16xf32>) outs(%second : !pto.tile_buf<right, 16x16xf32>)

    %x_all = pto.make_tensor_view %x, shape = [%rows, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %y_all = pto.make_tensor_view %y, shape = [%rows, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    scf.for %i = %c0 to %tiles step %c1 {
      %row = arith.muli %i, %c16 : index
      %x_view = pto.partition_view %x_all, offsets = [%row, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
      pto.tload ins(%x_view : !pto.partition_tensor_view<16x16xf32>) outs(%near : !pto.tile_buf<mat, 16x16xf32>)
      pto.tmov ins(%near : !pto.tile_buf<mat, 16x16xf32>) outs(%left : !pto.tile_buf<left, 16x16xf32>)
      pto.tmatmul ins(%left, %first : !pto.tile_buf<left, 16x16xf32>, !pto.tile_buf<right, 16x16xf32>) outs(%hidden : !pto.tile_buf<acc, 16x16xf32>)
      pto.tpush_to_aiv(%hidden : !pto.tile_buf<acc, 16x16xf32>) {split = 0}

      %active = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 16x16xf32>
      pto.tmov ins(%active : !pto.tile_buf<mat, 16x16xf32>) outs(%left : !pto.tile_buf<left, 16x16xf32>)
      pto.tfree_from_aiv {split = 0}
      pto.tmatmul ins(%left, %second : !pto.tile_buf<left, 16x16xf32>, !pto.tile_buf<right, 16x16xf32>) outs(%result : !pto.tile_buf<acc, 16x16xf32>)
      %y_view = pto.partition_view %y_all, offsets = [%row, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
      pto.tstore ins(%result : !pto.tile_buf<acc, 16x16xf32>) outs(%y_view : !pto.partition_tensor_view<16x16xf32>)
    }
    return
  }

  func.func @between(%x: !pto.ptr<f32>, %w1: !pto.ptr<f32>, %w2: !pto.ptr<f32>, %y: !pto.ptr<f32>)
      attributes {pto.kernel_kind = #pto.kernel_kind<vector>, stack_size = 1024 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %tiles = arith.constant 24 : index

    %there = pto.reserve_buffer {name = "there", size = 4096, location = #pto.address_space<vec>, auto = true} -> i32
    %back = pto.import_reserved_buffer {name = "back", peer_func = @layers} -> i32
    pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 1024} (c2v_consumer_buf = %there : i32, v2c_consumer_buf = %back : i32)

    %active = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
    scf.for %i = %c0 to %tiles step %c1 {
      %hidden = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
      pto.trelu ins(%hidden : !pto.tile_buf<vec, 16x16xf32>) outs(%active : !pto.tile_buf<vec, 16x16xf32>)
      pto.tfree_from_aic {split = 0}
      pto.tpush_to_aic(%active : !pto.tile_buf<vec, 16x16xf32>) {split = 0}
    }
    return
  }
}
