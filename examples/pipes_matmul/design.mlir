// A matrix product on the Cube, what follows it on a Vector core: c = relu(a * b + bias), a tile of 16 rows at a time.
// On this platform (A5) the ring lies in the Vector core's own memory; the compiler places it, and the Cube writes there.
module attributes {pto.target_arch = "a5"} {
  func.func @product(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %bias: !pto.ptr<f32>, %c: !pto.ptr<f32>)
      attributes {pto.kernel_kind = #pto.kernel_kind<cube>, stack_size = 1024 : i32} {
    %none = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %tiles = arith.constant 32 : index
    %rows = arith.constant 512 : index

    %ring = pto.import_reserved_buffer {name = "ring", peer_func = @activation} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %ring : i32, v2c_consumer_buf = %none : i32)

    %a_near = pto.alloc_tile : !pto.tile_buf<mat, 16x16xf32>
    %b_near = pto.alloc_tile : !pto.tile_buf<mat, 16x16xf32>
    %left = pto.alloc_tile : !pto.tile_buf<left, 16x16xf32>
    %right = pto.alloc_tile : !pto.tile_buf<right, 16x16xf32>
    %sum = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32>

    %b_all = pto.make_tensor_view %b, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %b_view = pto.partition_view %b_all, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
    pto.tload ins(%b_view : !pto.partition_tensor_view<16x16xf32>) outs(%b_near : !pto.tile_buf<mat, 16x16xf32>)
    pto.tmov ins(%b_near : !pto.tile_buf<mat, 16x16xf32>) outs(%right : !pto.tile_buf<right, 16x16xf32>)

    %a_all = pto.make_tensor_view %a, shape = [%rows, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    scf.for %i = %c0 to %tiles step %c1 {
      %row = arith.muli %i, %c16 : index
      %a_view = pto.partition_view %a_all, offsets = [%row, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
      pto.tload ins(%a_view : !pto.partition_tensor_view<16x16xf32>) outs(%a_near : !pto.tile_buf<mat, 16x16xf32>)
      pto.tmov ins(%a_near : !pto.tile_buf<mat, 16x16xf32>) outs(%left : !pto.tile_buf<left, 16x16xf32>)
      pto.tmatmul ins(%left, %right : !pto.tile_buf<left, 16x16xf32>, !pto.tile_buf<right, 16x16xf32>) outs(%sum : !pto.tile_buf<acc, 16x16xf32>)
      pto.tpush_to_aiv(%sum : !pto.tile_buf<acc, 16x16xf32>) {split = 0}
    }
    return
  }

  func.func @activation(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %bias: !pto.ptr<f32>, %c: !pto.ptr<f32>)
      attributes {pto.kernel_kind = #pto.kernel_kind<vector>, stack_size = 1024 : i32} {
    %none = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %tiles = arith.constant 32 : index
    %rows = arith.constant 512 : index

    %ring = pto.reserve_buffer {name = "ring", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %ring : i32, v2c_consumer_buf = %none : i32)

    %bias_near = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
    %result = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
    %bias_all = pto.make_tensor_view %bias, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %bias_view = pto.partition_view %bias_all, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
    pto.tload ins(%bias_view : !pto.partition_tensor_view<16x16xf32>) outs(%bias_near : !pto.tile_buf<vec, 16x16xf32>)

    %c_all = pto.make_tensor_view %c, shape = [%rows, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    scf.for %i = %c0 to %tiles step %c1 {
      %product = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
      pto.tadd ins(%product, %bias_near : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) outs(%result : !pto.tile_buf<vec, 16x16xf32>)
      pto.tfree_from_aic {split = 0}
      pto.trelu ins(%result : !pto.tile_buf<vec, 16x16xf32>) outs(%result : !pto.tile_buf<vec, 16x16xf32>)
      %row = arith.muli %i, %c16 : index
      %c_view = pto.partition_view %c_all, offsets = [%row, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
      pto.tstore ins(%result : !pto.tile_buf<vec, 16x16xf32>) outs(%c_view : !pto.partition_tensor_view<16x16xf32>)
    }
    return
  }
}
