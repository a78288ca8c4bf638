#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1)>
func.func @f(%m: memref<64x64xf32>, %i: index, %f: f32, %v: vector<16xf32>, %w: vector<4x4xf32>, %x: vector<16xi32>, %mask: vector<16xi1>, %m1 : memref<64xf32>, %w3: vector<2x4x4xf32>) {
  %0 = vector.transfer_read %m[%i, %i], %f : memref<64x64xf32>, vector<16xf32>
  %1 = vector.transfer_read %m[%i, %i], %f {in_bounds = [true]} : memref<64x64xf32>, vector<16xf32>
  %2 = vector.transfer_read %m[%i, %i], %f {permutation_map = #t, in_bounds = [false]} : memref<64x64xf32>, vector<16xf32>
  %3 = vector.transfer_read %m[%i, %i], %f {permutation_map = affine_map<(d0, d1) -> (d0)>} : memref<64x64xf32>, vector<16xf32>
  %33 = vector.transfer_read %m[%i, %i], %f, %mask {in_bounds = [true]} : memref<64x64xf32>, vector<16xf32>
  vector.transfer_write %v, %m[%i, %i] : vector<16xf32>, memref<64x64xf32>
  vector.transfer_write %v, %m[%i, %i] {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0)>} : vector<16xf32>, memref<64x64xf32>
  vector.transfer_write %v, %m[%i, %i], %mask {in_bounds = [true]} : vector<16xf32>, memref<64x64xf32>
  %4 = vector.load %m[%i, %i] : memref<64x64xf32>, vector<16xf32>
  vector.store %v, %m[%i, %i] : memref<64x64xf32>, vector<16xf32>
  %5 = vector.broadcast %f : f32 to vector<16xf32>
  %6 = vector.broadcast %v : vector<16xf32> to vector<4x16xf32>
  %7 = vector.fma %v, %v, %v : vector<16xf32>
  %8 = vector.reduction <add>, %v : vector<16xf32> into f32
  %9 = vector.reduction <mul>, %v, %f : vector<16xf32> into f32
  %10 = vector.reduction <maximumf>, %v fastmath<fast> : vector<16xf32> into f32
  %11 = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %w, %w, %w : vector<4x4xf32>, vector<4x4xf32> into vector<4x4xf32>
  %12 = vector.transpose %w, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
  %vq = vector.extract %w[0] : vector<4xf32> from vector<4x4xf32>
  %13 = vector.multi_reduction <add>, %w, %vq [1] : vector<4x4xf32> to vector<4xf32>
  %vv = vector.shape_cast %w : vector<4x4xf32> to vector<16xf32>
  return
}
// -----
func.func @g(%i: index, %f: f32, %v: vector<16xf32>, %w: vector<4x4xf32>, %x: vector<16xi32>, %mask: vector<16xi1>, %m1 : memref<64xf32>, %w3: vector<2x4x4xf32>, %s : vector<4xf32>) {
  %0 = vector.shape_cast %w : vector<4x4xf32> to vector<16xf32>
  %1 = vector.extract %w[0] : vector<4xf32> from vector<4x4xf32>
  %2 = vector.extract %w[0, 1] : f32 from vector<4x4xf32>
  %3 = vector.extract %v[%i] : f32 from vector<16xf32>
  %4 = vector.insert %f, %v[3] : f32 into vector<16xf32>
  %5 = vector.insert %s, %w[%i] : vector<4xf32> into vector<4x4xf32>
  %6 = vector.bitcast %v : vector<16xf32> to vector<16xi32>
  %7 = vector.shuffle %v, %v [0, 1, 16, 17] : vector<16xf32>, vector<16xf32>
  %8 = vector.extract_strided_slice %v {offsets = [2], sizes = [4], strides = [1]} : vector<16xf32> to vector<4xf32>
  %9 = vector.insert_strided_slice %s, %v {offsets = [2], strides = [1]} : vector<4xf32> into vector<16xf32>
  %11 = vector.create_mask %i : vector<16xi1>
  %12 = vector.constant_mask [8] : vector<16xi1>
  %13 = vector.maskedload %m1[%i], %mask, %v : memref<64xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  vector.maskedstore %m1[%i], %mask, %v : memref<64xf32>, vector<16xi1>, vector<16xf32>
  %14 = vector.outerproduct %s, %s : vector<4xf32>, vector<4xf32>
  %15 = vector.outerproduct %s, %s, %w {kind = #vector.kind<add>} : vector<4xf32>, vector<4xf32>
  %17 = vector.gather %m1[%i] [%x], %mask, %v : memref<64xf32>, vector<16xi32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  vector.scatter %m1[%i] [%x], %mask, %v : memref<64xf32>, vector<16xi32>, vector<16xi1>, vector<16xf32>
  %18 = vector.interleave %v, %v : vector<16xf32> -> vector<32xf32>
  %19, %20 = vector.deinterleave %v : vector<16xf32> -> vector<8xf32>
  %21 = vector.step : vector<4xindex>
  %22 = vector.from_elements %f, %f : vector<2xf32>
  %23:4 = vector.to_elements %s : vector<4xf32>
  vector.print %v : vector<16xf32>
  vector.print str "hello"
  vector.print punctuation <comma>
  %c = arith.constant 0 : i32
  %24 = vector.multi_reduction <maxsi>, %x, %c [0] : vector<16xi32> to i32
  %25 = vector.type_cast %m1 : memref<64xf32> to memref<vector<64xf32>>
  %26 = vector.vscale
  %27, %277 = vector.scan <add>, %w, %s {inclusive = false, reduction_dim = 1 : i64} : vector<4x4xf32>, vector<4xf32>
  %28 = vector.expandload %m1[%i], %mask, %v : memref<64xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  vector.compressstore %m1[%i], %mask, %v : memref<64xf32>, vector<16xi1>, vector<16xf32>
  return
}
// -----
#acc = affine_map<(d0, d1) -> (d0, d1)>
#red = affine_map<(d0, d1) -> (d1)>
#res = affine_map<(d0, d1) -> (d0)>
func.func @h(%i: index, %f: f32, %v: vector<16xf32>, %w: vector<4x4xf32>, %s : vector<4xf32>, %mask : vector<4x4xi1>) {
  %0 = vector.contract {indexing_maps = [#acc, #red, #res], iterator_types = ["parallel", "reduction"], kind = #vector.kind<maxnumf>, x} %w, %s, %s : vector<4x4xf32>, vector<4xf32> into vector<4xf32>
  %1 = vector.mask %mask { vector.multi_reduction <add>, %w, %s [1] : vector<4x4xf32> to vector<4xf32> } : vector<4x4xi1> -> vector<4xf32>
  return
}
