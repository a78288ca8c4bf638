func.func private @g(i32) -> i32
func.func @f(%a: i64) -> i32 { 
  %0 = call @nope(%a) : (i64) -> i32
  return %0 : i32 }
// -----
func.func private @g(i32) -> i32
func.func @f(%a: i64) -> i32 { 
  %0 = call @g(%a) : (i64) -> i32
  return %0 : i32 }
// -----
func.func private @g(i32) -> i32
func.func @f(%a: i32) -> i32 { 
  %0 = call @g(%a, %a) : (i32, i32) -> i32
  return %0 : i32 }
// -----
func.func private @g(i32) -> i32
func.func @f(%a: i32) -> i64 { 
  %0 = call @g(%a) : (i32) -> i64
  return %0 : i64 }
// -----
func.func private @g(i32) -> i32
func.func @f(%a: i32) { 
  call @g(%a) : (i32) -> ()
  return }
// -----
func.func @f(%a: i32) { return %a : i32 }
// -----
func.func @f(%a: i32) -> i64 { return %a : i32 }
// -----
func.func @f(%a: memref<4xi32>, %i : index) { %0 = memref.load %a[%i, %i] : memref<4xi32> 
  return }
// -----
func.func @f(%a: memref<4xi32>, %i : index, %v : i32) { memref.store %v, %a[] : memref<4xi32> 
  return }
// -----
func.func @f(%i : index, %v : f32) { %0 = arith.addi %v, %v : f32
  return }
// -----
func.func @f(%i : index, %v : i32) { %0 = arith.addf %v, %v : i32
  return }
// -----
func.func @f(%i : index, %v : i32) { %0 = memref.get_global @x : memref<4xi32>
  return }
// -----
memref.global @x : memref<8xi32>
func.func @f(%i : index, %v : i32) { %0 = memref.get_global @x : memref<4xi32>
  return }
// -----
func.func @f(%i : index, %v : i32) { %0 = scf.for %k = %i to %i step %i iter_args(%a = %v) -> i32 { scf.yield }
  return }
// -----
func.func @f(%i : index, %v : i1) { %0 = scf.if %v -> i32 { scf.yield }
  return }
// -----
func.func @f(%i : index, %v : i64) { %0 = arith.extsi %v : i64 to i32
  return }
// -----
func.func @f(%i : index, %v : i64) { %0 = arith.constant dense<1> : tensor<4xi32>
  return %0 : tensor<5xi32> }
// -----
func.func @f(%i : index, %v : i64) { 
  func.func @g() { return %v : i64 }
  return  }
// -----
func.func @f(%i : index, %v : i64) { 
  return 
  return  }
// -----
func.func @f(%i : index, %v : i64) { 
  cf.br ^a
  ^a:
  cf.br ^b
  ^b:
  %x = arith.constant 1 : i32
  }
// -----
func.func @f(%i : index, %v : i1) { 
  cf.cond_br %v, ^a, ^b
  ^a:
  %x = arith.constant 1 : i32
  cf.br ^b
  ^b:
  %y = arith.addi %x, %x : i32
  return
  }
// -----
func.func @f(%v : i32) { 
  cf.br ^a(%v : i32)
  ^a(%k : i64):
  return
  }
// -----
func.func @f(%v : i32) { 
  %0 = memref.alloc(%v) : memref<4xi32>
  return
  }
// -----
func.func @f(%v : index) { 
  %0 = memref.alloc(%v) : memref<4xi32>
  return
  }
// -----
func.func @f(%v : index) 
// -----
func.func @f(%v : index) {
}
// -----
memref.global @a : memref<4xi32>
memref.global @a : memref<4xi32>
