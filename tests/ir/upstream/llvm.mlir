llvm.func @ext(i32, !llvm.ptr) -> i32
llvm.func internal @f(%a: i32, %p: !llvm.ptr {llvm.noalias}) -> i32 attributes {passthrough = ["noinline"]} {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.add %a, %0 : i32
  %2 = llvm.load %p : !llvm.ptr -> i32
  %3 = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> i32
  llvm.store %2, %p : i32, !llvm.ptr
  %4 = llvm.getelementptr %p[%a, 1] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<4 x i32>
  %5 = llvm.mlir.undef : !llvm.struct<(i32, i64)>
  %6 = llvm.insertvalue %a, %5[0] : !llvm.struct<(i32, i64)>
  %7 = llvm.extractvalue %6[0] : !llvm.struct<(i32, i64)>
  %8 = llvm.call @ext(%a, %p) : (i32, !llvm.ptr) -> i32
  %9 = llvm.icmp "eq" %a, %8 : i32
  %10 = llvm.bitcast %a : i32 to f32
  %11 = llvm.sext %a : i32 to i64
  %12 = llvm.mlir.addressof @g : !llvm.ptr
  %13 = llvm.mlir.zero : !llvm.ptr
  %14 = llvm.alloca %0 x i32 : (i32) -> !llvm.ptr
  llvm.cond_br %9, ^a, ^b
^a:
  llvm.br ^b
^b:
  llvm.return %1 : i32
}
llvm.mlir.global internal constant @g("abc\00") {addr_space = 0 : i32}
llvm.mlir.global external @h() : !llvm.array<4 x i32>
