func.func @consts() {
  %0 = arith.constant 1 : i32
  %1 = arith.constant -1 : i32
  %2 = arith.constant true
  %3 = arith.constant false
  %4 = arith.constant 5 : index
  %5 = arith.constant 1.5 : f32
  %6 = arith.constant dense<[1, 2]> : vector<2xi32>
  %7 = arith.constant dense<0.0> : vector<16xbf16>
  %8 = arith.constant 255 : i8
  %9 = arith.constant 0x7FC00000 : f32
  %10 = arith.constant 0xFF80 : bf16
  %11 = arith.constant 3.14159274 : f32
  %12 = arith.constant 3.1415926535 : f64
  %13 = arith.constant 1.0e-10 : bf16
  %14 = arith.constant 0.1 : f16
  %15 = arith.constant 123456789.0 : f64
  %16 = arith.constant -0.0 : f32
  %17 = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %18 = arith.constant dense<[true, false]> : vector<2xi1>
  %19 = arith.constant -1 : i64
  %20 = arith.constant 0x1F : i32
  %21 = arith.constant 1.7976931348623157e308 : f64
  %22 = arith.constant 123456.7 : f32
  %23 = arith.constant 0.00123 : f32
  %24 = arith.constant 16777217.0 : f64
  %25 = arith.constant {foo = 1 : i32, bar} 7 : i16
  return
}
// -----
func.func @bin(%a: i32, %b: i32, %f: f32, %g: f32, %v: vector<16xi32>, %w: vector<16xf32>, %i: index) {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %a, %b overflow<nsw, nuw> : i32
  %2 = arith.subi %v, %v : vector<16xi32>
  %3 = arith.muli %i, %i : index
  %4 = arith.addf %f, %g : f32
  %5 = arith.mulf %w, %w fastmath<fast> : vector<16xf32>
  %6 = arith.divsi %a, %b : i32
  %7 = arith.divui %a, %b : i32
  %8 = arith.remsi %a, %b : i32
  %9 = arith.remui %a, %b : i32
  %10 = arith.ceildivsi %a, %b : i32
  %11 = arith.ceildivui %a, %b : i32
  %12 = arith.floordivsi %a, %b : i32
  %13 = arith.andi %a, %b : i32
  %14 = arith.ori %a, %b : i32
  %15 = arith.xori %a, %b : i32
  %16 = arith.shli %a, %b : i32
  %17 = arith.shrsi %a, %b : i32
  %18 = arith.shrui %a, %b : i32
  %19 = arith.maxsi %a, %b : i32
  %20 = arith.maxui %a, %b : i32
  %21 = arith.minsi %a, %b : i32
  %22 = arith.minui %a, %b : i32
  %23 = arith.subf %f, %g : f32
  %24 = arith.divf %f, %g : f32
  %25 = arith.remf %f, %g : f32
  %26 = arith.maximumf %f, %g : f32
  %27 = arith.minimumf %f, %g : f32
  %28 = arith.maxnumf %f, %g : f32
  %29 = arith.minnumf %f, %g : f32
  %30 = arith.negf %f : f32
  %31 = arith.negf %w fastmath<nnan,contract> : vector<16xf32>
  %32, %33 = arith.addui_extended %a, %b : i32, i1
  %34, %35 = arith.mului_extended %a, %b : i32
  %36, %37 = arith.mulsi_extended %a, %b : i32
  %38, %39 = arith.addui_extended %v, %v : vector<16xi32>, vector<16xi1>
  %40 = arith.addi %a, %b {tag = "x"} : i32
  %41 = arith.shrsi %a, %b exact : i32
  return
}
// -----
func.func @cmp(%a: i32, %f: f32, %v: vector<16xi32>, %w: vector<16xf32>, %c : i1, %m: vector<16xi1>) {
  %0 = arith.cmpi eq, %a, %a : i32
  %1 = arith.cmpi "slt", %a, %a : i32
  %2 = arith.cmpi ult, %v, %v : vector<16xi32>
  %3 = arith.cmpf olt, %f, %f : f32
  %4 = arith.cmpf "ugt", %w, %w : vector<16xf32>
  %5 = arith.cmpf oeq, %f, %f fastmath<nnan> : f32
  %6 = arith.select %c, %a, %a : i32
  %7 = arith.select %m, %v, %v : vector<16xi1>, vector<16xi32>
  %8 = arith.select %c, %v, %v : vector<16xi32>
  return
}
// -----
func.func @cast(%a: i32, %f: f32, %v: vector<16xi32>, %w: vector<16xf32>, %i: index, %b: bf16, %s: i8) {
  %0 = arith.extsi %a : i32 to i64
  %1 = arith.extui %v : vector<16xi32> to vector<16xi64>
  %2 = arith.trunci %v : vector<16xi32> to vector<16xi8>
  %3 = arith.sitofp %v : vector<16xi32> to vector<16xf32>
  %4 = arith.uitofp %a : i32 to f32
  %5 = arith.fptosi %w : vector<16xf32> to vector<16xi32>
  %6 = arith.fptoui %f : f32 to i32
  %7 = arith.extf %b : bf16 to f32
  %8 = arith.truncf %w : vector<16xf32> to vector<16xbf16>
  %9 = arith.index_cast %i : index to i32
  %10 = arith.index_castui %a : i32 to index
  %11 = arith.bitcast %a : i32 to f32
  %12 = arith.bitcast %v : vector<16xi32> to vector<16xf32>
  %13 = arith.trunci %a overflow<nsw> : i32 to i8
  %15 = arith.truncf %f to_nearest_even : f32 to bf16
  %16 = arith.extf %b fastmath<fast> : bf16 to f32
  return
}
