module {
  func.func @f(%a: index) -> index {
    %c = arith.addi %a, %a : index
    cf.br ^bb1(%c : index)
  ^bb1(%q: index):
    return %q : index loc("f.py":3:4)
  }
}
// -----
module {
  func.func @f(%a: index) -> index {
    %c = arith.addi %a, %a : index loc("x"(fused["a":1:2, "b":3:4]))
    %d = arith.addi %a, %a : index loc(callsite("x"("a":1:2) at "b":3:4))
    %h = arith.addi %a, %a : index loc("a":1:2)
    return %c : index loc("f.py":3:4)
  } loc("f.py":3:4)
}
// -----
#map = affine_map<(d0) -> (d0 * 2)>
module {
  func.func @loops(%a: memref<16xf32>, %i: index loc("q.c":9:9)) {
    affine.for %j = 0 to 16 {
      %x = affine.load %a[%j] : memref<16xf32>
      scf.for %k = %i to %i step %i {
        %y = affine.apply #map(%k)
      }
    }
    return
  } loc(#late)
}
#late = loc("late.c":1:1)
