memref.global "private" constant @d : memref<4xi32> = dense<[1, 2, 3, 4]>
memref.global @e : memref<4xi32>
memref.global "public" @u : memref<4xi32> = uninitialized
memref.global "private" constant @dd : memref<2x2xf32> = dense<[[1.0, 2.0], [3.0, 4.5]]> {alignment = 64 : i64}
memref.global "nested" @n : memref<4x i32, 2> = dense<0>
memref.global @s : memref<i32> = dense<7>
func.func @f(%i: index, %m: memref<4 x 8x i32>, %dyn: memref<?x?xf32>, %v: i32) {
  %g = memref.get_global @d : memref<4xi32>
  %0 = memref.load %m[%i, %i] : memref<4x8xi32>
  memref.store %v, %m[%i, %i] : memref<4x8xi32>
  memref.store %v, %m[%i, %i] {nontemporal = true} : memref<4x8xi32>
  %1 = memref.alloc() : memref<4xi32>
  %2 = memref.alloc(%i, %i) : memref<?x?xf32>
  %3 = memref.alloc() {alignment = 64 : i64} : memref<4xi32>
  %4 = memref.alloca() : memref<4xi32, 1 : i32>
  %5 = memref.alloca(%i) : memref<?xi32>
  %6 = memref.alloc(%i)[%i] : memref<?xf32, affine_map<(d0)[s0] -> (d0 + s0)>>
  memref.dealloc %1 : memref<4xi32>
  memref.copy %1, %3 : memref<4xi32> to memref<4xi32>
  %7 = memref.cast %1 : memref<4xi32> to memref<?xi32>
  %8 = memref.dim %dyn, %i : memref<?x?xf32>
  %9 = memref.subview %m[0, 0] [2, 4] [1, 1] : memref<4x8xi32> to memref<2x4xi32, strided<[8, 1]>>
  %10 = memref.subview %m[%i, 0] [2, 4] [1, %i] : memref<4x8xi32> to memref<2x4xi32, strided<[8, ?], offset: ?>>
  %11 = memref.reinterpret_cast %m to offset: [0], sizes: [32], strides: [1] : memref<4x8xi32> to memref<32xi32>
  %12 = memref.reinterpret_cast %m to offset: [%i], sizes: [%i], strides: [1] : memref<4x8xi32> to memref<?xi32, strided<[1], offset: ?>>
  %13 = memref.collapse_shape %m [[0, 1]] : memref<4x8xi32> into memref<32xi32>
  %14 = memref.expand_shape %13 [[0, 1]] output_shape [4, 8] : memref<32xi32> into memref<4x8xi32>
  %15 = memref.assume_alignment %m, 32 : memref<4x8xi32>
  %17 = memref.alloc() : memref<1024xi8>
  %18 = memref.view %17[%i][] : memref<1024xi8> to memref<64xi32>
  %19 = memref.memory_space_cast %1 : memref<4xi32> to memref<4xi32, 2>
  %20 = memref.transpose %m (i, j) -> (j, i) : memref<4x8xi32> to memref<8x4xi32, strided<[1, 8]>>
  %21 = memref.rank %dyn : memref<?x?xf32>
  %22 = memref.extract_aligned_pointer_as_index %m : memref<4x8xi32> -> index
  %base, %off, %sizes:2, %strides:2 = memref.extract_strided_metadata %m : memref<4x8xi32> -> memref<i32>, index, index, index, index, index
  %23 = arith.addi %off, %sizes#1 : index
  %24 = memref.atomic_rmw addi %v, %m[%i, %i] : (i32, memref<4x8xi32>) -> i32
  %125 = memref.alloc() : memref<1xindex>
  %26 = memref.reshape %m(%125) : (memref<4x8xi32>, memref<1xindex>) -> memref<?xi32>
  return
}
// -----
func.func @f(%i: index, %m: memref<4xi32>) {
  memref.alloca_scope {
    %0 = memref.alloca() : memref<4xi32>
    memref.alloca_scope.return
  }
  %r = memref.alloca_scope -> (i32) {
    %c = arith.constant 1 : i32
    memref.alloca_scope.return %c : i32
  }
  memref.prefetch %m[%i], read, locality<3>, data : memref<4xi32>
  %x = memref.generic_atomic_rmw %m[%i] : memref<4xi32> {
  ^bb0(%old : i32):
    memref.atomic_yield %old : i32
  }
  return
}
// -----
#map = affine_map<(d0) -> (d0 mod 4)>
func.func @types(%a: memref<4xi32, 2>, %b: memref<4xi32, #map>, %c: memref<4xi32, affine_map<(d0) -> (d0)>, 1>, %d: memref<*xi32, 2>,
   %e: memref<4xi32, "hbm">, %f: memref<4xi32, strided<[2], offset: ?>, 3 : i32>, %g: tuple<i32, f32>, %h: complex<f32>, %k: vector<[4]x2xf32>,
   %l: tensor<4x?xf32>, %m: tensor<*xf32>, %n: none, %o: ui8, %p: si16, %q: () -> (), %r: (i32) -> (i32, f32), %s: vector<f32>, %t: memref<f32>, %u: f8E4M3FN, %v: memref<4xi32, 0>,
   %w: memref<16xi32, affine_map<(d0) -> (d0 * 2)>>, %x: ((i32) -> i32) -> ((i32) -> i32)) attributes {z, a = 1 : i64, b = [1, 2.0, "x", @foo::@bar, 3 : i32, i32, unit, dense<1> : tensor<2xi32>], "c d" = {y = 1.0 : f32, x = array<i32: 1, 2>}} { return }
// -----
func.func private @dense() attributes {
  a = dense<[1.0, 2.5]> : tensor<2xf32>, b = dense<[]> : tensor<0xi32>, c = dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>,
  d = dense<"0x0100000002000000"> : tensor<2xi32>, e = dense<1> : tensor<200xi8>, f = array<f32: 1.0, 2.0>, g = array<i64>, h = array<i1: true, false>,
  i = dense<true> : tensor<2xi1>, j = dense<[-1, 255]> : tensor<2xi8>, k = "a\22b\\c\n\t\01é", l = @"with space", m = @a::@"b c"::@d, n = 0xFF : ui8, o = -5 : si8,
  p = dense<[0x7FC00000, 0xFF800000]> : tensor<2xf32>, q = affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 == 3)>, r = strided<[?, 1], offset: 2>, s = dense<2> : vector<4xindex>,
  w = [], x = {}, y = dense<[[[1],[2]],[[3],[4]]]> : tensor<2x2x1xi32>, z = 2.0 : bf16}
