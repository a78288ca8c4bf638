func.func @f(%lb: index, %ub: index, %st: index, %c: i1, %i: i32, %m: memref<16xi32>) -> i32 {
  scf.for %k = %lb to %ub step %st {
    %v = memref.load %m[%k] : memref<16xi32>
    memref.store %v, %m[%k] : memref<16xi32>
  }
  %r = scf.for %k = %lb to %ub step %st iter_args(%a = %i) -> i32 {
    %0 = arith.addi %a, %i : i32
    scf.yield %0 : i32
  }
  %r2:2 = scf.for %k = %lb to %ub step %st iter_args(%a = %i, %b = %r) -> (i32, i32) {
    %0 = arith.addi %a, %b : i32
    scf.yield %0, %b : i32, i32
  } {unroll = 2 : i32}
  scf.for %k = %i to %i step %i : i32 {
  }
  scf.if %c {
    memref.store %i, %m[%lb] : memref<16xi32>
  }
  scf.if %c {
    memref.store %i, %m[%lb] : memref<16xi32>
  } else {
    memref.store %r, %m[%lb] : memref<16xi32>
  }
  %x = scf.if %c -> (i32) { scf.yield %i : i32 } else { scf.yield %r : i32 }
  %y = scf.while (%a = %i) : (i32) -> i32 {
    %cond = arith.cmpi slt, %a, %i : i32
    scf.condition(%cond) %a : i32
  } do {
  ^bb0(%b: i32):
    %n = arith.addi %b, %b : i32
    scf.yield %n : i32
  }
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    scf.yield
  } attributes {foo}
  scf.index_switch %lb
  case 2 {
    scf.yield
  }
  case -5 {
    scf.yield
  }
  default {
  }
  %z = scf.index_switch %lb {a} -> i32
  case 1 { scf.yield %i : i32 }
  default { scf.yield %r : i32 }
  %w = scf.execute_region -> i32 {
    cf.br ^a
  ^a:
    scf.yield %i : i32
  }
  scf.execute_region { scf.yield }
  scf.parallel (%p, %q) = (%lb, %lb) to (%ub, %ub) step (%st, %st) {
    memref.store %i, %m[%p] : memref<16xi32>
    scf.reduce
  }
  scf.forall (%p) in (%ub) {
    memref.store %i, %m[%p] : memref<16xi32>
  }
  scf.forall (%p, %q) = (0, 1) to (4, 8) step (1, 2) {
  } {mapping = []}
  return %z : i32
}
// -----
func.func @par(%lb: index, %ub: index, %st: index, %f : f32) {
  %r:2 = scf.parallel (%p) = (%lb) to (%ub) step (%st) init (%f, %f) -> (f32, f32) {
    scf.reduce(%f, %f : f32, f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }, {
    ^bb0(%a: f32, %b: f32):
      %s = arith.mulf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return
}
