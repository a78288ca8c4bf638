module @m attributes {a.b = 1 : i32, dlti.dl_spec = #dlti.dl_spec<index = 32 : i64>} {
func.func private @ext(i32, memref<4xi32>) -> i32
func.func private @ext2(%a: i32 {b.noalias}) -> (i32 {x.y = 1 : i32}, f32) attributes {link_with = "k.o"}
func.func @none() { return }
func.func nested @f(%a: i32, %b: i32 {x.z}) -> (i32, i32) attributes {q.r} {

  %m = memref.alloc() : memref<4xi32>
  %0 = call @ext(%a, %m) : (i32, memref<4xi32>) -> i32
  %1:2 = func.call @ext2(%a) {tag} : (i32) -> (i32, f32)
  %f = func.constant @none : () -> ()
  func.call_indirect %f() : () -> ()
  func.call @none() : () -> ()
  func.return %1#0, %0 : i32, i32
}
func.func public @g() -> ((i32) -> i32) {
  %0 = constant @h : (i32) -> i32
  return %0 : (i32) -> i32
}
func.func @h(%a: i32) -> i32 { 
  %0 = func.constant @h : (i32) -> i32
  %1 = func.call_indirect %0(%a) : (i32) -> i32
  return %1 : i32 }
module { module @inner attributes {f.oo} {} }
func.func @cfg(%a: i32, %c: i1) -> i32 {
  cf.cond_br %c, ^a, ^b(%a, %a : i32, i32)
^a:
  cf.br ^b(%a, %a : i32, i32)
^b(%x: i32, %y: i32):
  cf.switch %x : i32, [
    default: ^a,
    42: ^b(%x, %y : i32, i32),
    -3: ^d
  ]
^d:
  cf.assert %c, "oops"
  cf.cond_br %c, ^e, ^e {w = 1 : i32}
^e:
  cf.cond_br %c weights([5, 7]), ^e, ^z
^z:
  return %x : i32
^un:
  cf.switch %x : i32, [ default: ^un ]
}
func.func @"odd name"() { %0 = builtin.unrealized_conversion_cast to i32
 %1:2 = builtin.unrealized_conversion_cast %0, %0 : i32, i32 to f32, i64 {a}
 builtin.unrealized_conversion_cast %0 : i32 to i64
 return }
}
// -----
"builtin.module"() ({
 "func.func"() <{sym_name="g", function_type = (i32) -> i32}> ({
 ^bb0(%a: i32):
    %0 = "arith.addi"(%a, %a) : (i32, i32) -> i32
    "func.return"(%0) : (i32) -> ()
 }) {x = 1 : i64} : () -> ()
}) : () -> ()
// -----
func.func @ub() { %0 = ub.poison : i32 
 %1 = ub.poison : vector<4xf32>
 ub.unreachable }
