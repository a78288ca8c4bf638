#map = affine_map<(d0) -> (d0 * 4)>
#map1 = affine_map<(d0)[s0] -> (d0 + s0, -d0 - 3)>
#mapid = affine_map<(d0) -> (d0)>
#set = affine_set<(d0)[s0] : (d0 - 10 >= 0, s0 - d0 >= 0)>
#set2 = affine_set<(d0)[s0] : (d0 >= 10, d0 <= s0, d0 == 7)>
func.func @f(%m: memref<64x64xf32>, %n: index, %v: f32) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 64 step 2 {
      %0 = affine.load %m[%i, %j] : memref<64x64xf32>
      %1 = affine.load %m[%i + 3, %j * 2 - 1] : memref<64x64xf32>
      %2 = affine.load %m[%i + symbol(%n), %j floordiv 2 + %i mod 3] : memref<64x64xf32>
      affine.store %v, %m[%i, 7] : memref<64x64xf32>
      affine.store %v, %m[%i ceildiv 3, -%j + 8] {foo} : memref<64x64xf32>
    }
  }
  affine.for %i = %n to %n { }
  affine.for %i = #map(%n) to min #map1(%n)[%n] { }
  affine.for %i = max #map1(%n)[%n] to min #map1(%n)[%n] { } {tag}
  affine.for %i = affine_map<(d0) -> (d0 + 1)>(%n) to 10 { }
  %r = affine.for %i = 0 to 4 iter_args(%a = %v) -> f32 {
    %x = arith.addf %a, %v : f32
    affine.yield %x : f32
  }
  %r2:2 = affine.for %i = 0 to 4 step 4 iter_args(%a = %v, %b = %v) -> (f32, f32) {
    affine.yield %a, %b : f32, f32
  }
  %a = affine.apply #map(%n)
  %b = affine.apply affine_map<(d0)[s0] -> (d0 * s0 + 4)>(%n)[%n]
  %b2 = affine.apply affine_map<()[s0] -> (s0 * 3)>()[%n]
  %c = affine.min #map1(%n)[%n]
  %d = affine.max #map1(%n)[%n]
  affine.if #set(%n)[%n] {
    affine.store %v, %m[%n, %n] : memref<64x64xf32>
  }
  affine.if #set2(%n)[%n] {
  } else {
    affine.store %v, %m[%n, %n] : memref<64x64xf32>
  }
  %e = affine.if #set(%n)[%n] -> f32 { affine.yield %v : f32 } else { affine.yield %v : f32 }
  affine.parallel (%i, %j) = (0, 0) to (10, symbol(%n)) step (1, 2) {
  }
  affine.parallel (%i) = (max(0, %n)) to (min(10, %n)) { }
  %w = affine.vector_load %m[%n, %n + 1] : memref<64x64xf32>, vector<8xf32>
  affine.vector_store %w, %m[%n, %n] : memref<64x64xf32>, vector<8xf32>
  %x:2 = affine.delinearize_index %n into (4, 8) : index, index
  %y = affine.linearize_index [%n, %n] by (4, 8) : index
  %y2 = affine.linearize_index disjoint [%n, %n] by (4, 8) : index
  affine.prefetch %m[%n, %n + 5], read, locality<3>, data : memref<64x64xf32>
  return
}
