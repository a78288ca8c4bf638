func.func @f(%a: i32) -> i32 {
    return %c1 : i32
}
// -----
foo.bar %c
// -----
"foo.bar"() : () -> ()
// -----
arith.addx %c
// -----
addx %c
// -----
module { %c = "a
// -----
module { 
// -----
}
// -----

// -----
func.func @f(%a: i32 -> i32 {
// -----
func.func @f() { return } 
func.func @f() { return } 
// -----
%c1 = arith.constant 1 : i32
func.func @f() -> i32 {
    return %c1 : i32
}
// -----
func.func @f() -> i32 {
    return %c1#2 : i32
}
// -----
func.func @f() -> i32 {
    %c = arith.constant 1 : i32
    return %c : i64
}
// -----
func.func @f() -> i32 {
    %c = arith.constant 1 : i32
    return %c#1 : i64
}
// -----
func.func @f() -> i32 {
    %c = arith.constant 1 : i32
    %c = arith.constant 1 : i32
    return %c : i32
}
// -----
func.func @f() -> i32 {
    %c, %d = arith.constant 1 : i32
    return %c : i32
}
// -----
func.func @f(){
    cf.br ^bb
}
// -----
func.func @f(){
    %c = arith.constant 1 : i32
}
// -----
func.func @f(){
    %c = arith.constant 1 : foo
}
// -----
func.func @f(){
    %c = arith.constant #foo
}
// -----
func.func @f(){
    %c = "arith.constant"() {value = #foo.bar<"x">} : () -> i32
    return
}
// -----
func.func @f(){
    %c = "arith.constant"() {value = 1 : i32 : () -> i32
    return
}
// -----
func.func @f(){
    %c = arith.addi %d, %e : i32
    return
}
// -----
@
// -----
func.func @f() { ^a: cf.br ^a ^a: return }
// -----
module { return }
// -----
func.func @f(%a: i32) { %b = arith.addi %d, %a : i32
  %d = arith.addi %a, %a : i32 
  return }
// -----
func.func @f(%a: i32) { %b = arith.addi %d, %a : i32
  %d = arith.index_cast %a : i32 to index 
  return }
// -----
"foo\q"
// -----
%
// -----
#
// -----
^
// -----
!
// -----
$
// -----
"aa
// -----
func.func @f(%a: i32) -> (i32 {
// -----
func.func @f(%a: memref<4xi32) { return }
// -----
module {
  func.func @f() {
    %x = arith.constant
    return
  }
}
// -----
func.func @f() {
  %x = arith.constant 300 : i8
  return
}
// -----
func.func @f() attributes {a = 1, a = 2} { return }
// -----
func.func @f() attributes {"x y" = } { return }
// -----
func.func @f() {
  cf.br ^a
^b:
  return
}
// -----
func.func @f(%i: index) {
  %0 = affine.apply affine_map<(d0) -> (d0 * d0)>(%i)
  return
}
// -----
func.func @f() {}
// -----
func.func @f(%a: i32, %a: i32) { return }
// -----
module {
}}
// -----
module @ {
}
// -----
func.func @its_own_variable(%c0: index) {
  scf.for %i = %c0 to %c0 step %i {
  }
  return
}
// -----
func.func @defined_inside(%c0: index) {
  scf.for %i = %c0 to %c0 step %k {
    %k = arith.constant 1 : index
  }
  return
}
