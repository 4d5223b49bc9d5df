// RUN: tilec %s --passes=assign-layouts,coalesce,accelerate-dot,remove-layout-conversions,canonicalize,cse,dce --target=sm_89 | FileCheck %s
// remove-layout-conversions: the accumulator of a product keeps its layout, through loops and what
// is computed from it; loads keep theirs, and only operands are converted.
module {

// Addresses stay in the layout of the loads, sums in that of the product, the result is narrowed
// before it changes its layout for a wide store.
// CHECK-LABEL: func.func @matmul
// CHECK-NOT: convert_layout
// CHECK: scf.for {{.*}} -> (tensor<128x128xf32, [[ACC:#tilegpu.mma<{instr_shape = \[16, 8\], version = 2 : i64, warps_per_cta = \[2, 2\]}>]]>, tensor<128x32x!tile.ptr<f16>, [[A:#tilegpu.blocked<{order = \[1, 0\], size_per_thread = \[1, 8\], .*}>]]>, tensor<32x128x!tile.ptr<f16>, [[B:#tilegpu.blocked<{order = \[1, 0\], size_per_thread = \[1, 8\], [^}]*}>]]>)
// CHECK: [[X:%.+]] = "tile.load"({{.*}} -> tensor<128x32xf16, [[A]]>
// CHECK: [[XO:%.+]] = "tilegpu.convert_layout"([[X]]) {{.*}} -> tensor<128x32xf16, #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0
// CHECK: [[Y:%.+]] = "tile.load"({{.*}} -> tensor<32x128xf16, [[B]]>
// CHECK: [[YO:%.+]] = "tilegpu.convert_layout"([[Y]]) {{.*}} -> tensor<32x128xf16, #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 1
// CHECK: "tile.dot"([[XO]], [[YO]],
// CHECK-NOT: convert_layout
// CHECK: }
// CHECK: [[H:%.+]] = arith.truncf {{.*}} : tensor<128x128xf32, [[ACC]]> to tensor<128x128xf16, [[ACC]]>
// CHECK: [[S:%.+]] = "tilegpu.convert_layout"([[H]])
// CHECK: "tile.store"({{.*}}, [[S]])
// CHECK-NOT: convert_layout
  func.func @matmul(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.name = "a"}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.name = "b"}, %o: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.name = "c"}, %k: i32 {tile.divisibility = 16 : i32}, %sa: i32 {tile.divisibility = 16 : i32}, %sb: i32 {tile.divisibility = 16 : i32}, %sc: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {

    %c0 = arith.constant 0 : i32
    %ck = arith.constant 32 : i32
    %rm = "tile.make_range"() {start = 0 : i32, end = 128 : i32} : () -> tensor<128xi32>
    %rn = "tile.make_range"() {start = 0 : i32, end = 128 : i32} : () -> tensor<128xi32>
    %rk = "tile.make_range"() {start = 0 : i32, end = 32 : i32} : () -> tensor<32xi32>
    %rm1 = "tile.expand_dims"(%rm) {axis = 1 : i32} : (tensor<128xi32>) -> tensor<128x1xi32>
    %rk0 = "tile.expand_dims"(%rk) {axis = 0 : i32} : (tensor<32xi32>) -> tensor<1x32xi32>
    %rk1 = "tile.expand_dims"(%rk) {axis = 1 : i32} : (tensor<32xi32>) -> tensor<32x1xi32>
    %rn0 = "tile.expand_dims"(%rn) {axis = 0 : i32} : (tensor<128xi32>) -> tensor<1x128xi32>
    %sas = "tile.splat"(%sa) : (i32) -> tensor<128x1xi32>
    %sbs = "tile.splat"(%sb) : (i32) -> tensor<32x1xi32>
    %scs = "tile.splat"(%sc) : (i32) -> tensor<128x1xi32>
    %am = arith.muli %rm1, %sas : tensor<128x1xi32>
    %bk = arith.muli %rk1, %sbs : tensor<32x1xi32>
    %cm = arith.muli %rm1, %scs : tensor<128x1xi32>
    %amb = "tile.broadcast"(%am) : (tensor<128x1xi32>) -> tensor<128x32xi32>
    %akb = "tile.broadcast"(%rk0) : (tensor<1x32xi32>) -> tensor<128x32xi32>
    %ao = arith.addi %amb, %akb : tensor<128x32xi32>
    %bkb = "tile.broadcast"(%bk) : (tensor<32x1xi32>) -> tensor<32x128xi32>
    %bnb = "tile.broadcast"(%rn0) : (tensor<1x128xi32>) -> tensor<32x128xi32>
    %bo = arith.addi %bkb, %bnb : tensor<32x128xi32>
    %cmb = "tile.broadcast"(%cm) : (tensor<128x1xi32>) -> tensor<128x128xi32>
    %cnb = "tile.broadcast"(%rn0) : (tensor<1x128xi32>) -> tensor<128x128xi32>
    %co = arith.addi %cmb, %cnb : tensor<128x128xi32>
    %as = "tile.splat"(%a) : (!tile.ptr<f16>) -> tensor<128x32x!tile.ptr<f16>>
    %bs = "tile.splat"(%b) : (!tile.ptr<f16>) -> tensor<32x128x!tile.ptr<f16>>
    %cs = "tile.splat"(%o) : (!tile.ptr<f16>) -> tensor<128x128x!tile.ptr<f16>>
    %ap = "tile.addptr"(%as, %ao) : (tensor<128x32x!tile.ptr<f16>>, tensor<128x32xi32>) -> tensor<128x32x!tile.ptr<f16>>
    %bp = "tile.addptr"(%bs, %bo) : (tensor<32x128x!tile.ptr<f16>>, tensor<32x128xi32>) -> tensor<32x128x!tile.ptr<f16>>
    %cp = "tile.addptr"(%cs, %co) : (tensor<128x128x!tile.ptr<f16>>, tensor<128x128xi32>) -> tensor<128x128x!tile.ptr<f16>>
    %stepa = arith.constant dense<32> : tensor<128x32xi32>
    %kb = arith.muli %sb, %ck : i32
    %stepb = "tile.splat"(%kb) : (i32) -> tensor<32x128xi32>
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %r:3 = scf.for %i = %c0 to %k step %ck iter_args(%acc = %zero, %pa = %ap, %pb = %bp) -> (tensor<128x128xf32>, tensor<128x32x!tile.ptr<f16>>, tensor<32x128x!tile.ptr<f16>>) : i32 {
      %x = "tile.load"(%pa) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<128x32x!tile.ptr<f16>>) -> tensor<128x32xf16>
      %y = "tile.load"(%pb) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<32x128x!tile.ptr<f16>>) -> tensor<32x128xf16>
      %d = "tile.dot"(%x, %y, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<128x32xf16>, tensor<32x128xf16>, tensor<128x128xf32>) -> tensor<128x128xf32>
      %na = "tile.addptr"(%pa, %stepa) : (tensor<128x32x!tile.ptr<f16>>, tensor<128x32xi32>) -> tensor<128x32x!tile.ptr<f16>>
      %nb = "tile.addptr"(%pb, %stepb) : (tensor<32x128x!tile.ptr<f16>>, tensor<32x128xi32>) -> tensor<32x128x!tile.ptr<f16>>
      scf.yield %d, %na, %nb : tensor<128x128xf32>, tensor<128x32x!tile.ptr<f16>>, tensor<32x128x!tile.ptr<f16>>
    }
    %h = arith.truncf %r#0 : tensor<128x128xf32> to tensor<128x128xf16>
    "tile.store"(%cp, %h) {cache = "", evict = "", operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<128x128x!tile.ptr<f16>>, tensor<128x128xf16>) -> ()
    return
  }

// The heart of attention: row statistics are slices of the product's layout, and what one product
// gives becomes an operand of the next by a conversion within registers.
func.func private @max(%a: f32, %b: f32) -> f32 {
  %c = arith.maximumf %a, %b : f32
  return %c : f32
}
// CHECK-LABEL: func.func @attention
// CHECK: scf.for {{.*}} -> (tensor<128x64xf32, [[ACC:#tilegpu.mma<{instr_shape = \[16, 8\], version = 2 : i64, warps_per_cta = \[4, 1\]}>]]>, tensor<128xf32, #tilegpu.slice<{dim = 1 : i64, parent = [[ACC]]}>>)
// CHECK-NOT: convert_layout
// CHECK: "tile.load"
// CHECK-NEXT: "tilegpu.convert_layout"
// CHECK: [[S:%.+]] = "tile.dot"
// CHECK-NOT: convert_layout
// CHECK: "tile.reduce"
// CHECK-NOT: convert_layout
// CHECK: [[P:%.+]] = arith.truncf {{.*}} to tensor<128x64xf16, [[ACC]]>
// CHECK: [[PO:%.+]] = "tilegpu.convert_layout"([[P]]) : {{.*}} -> tensor<128x64xf16, #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0 : i64, parent = [[ACC]]}>>
// CHECK-NOT: convert_layout
// CHECK: [[V:%.+]] = "tile.load"
// CHECK-NEXT: [[VO:%.+]] = "tilegpu.convert_layout"([[V]])
// CHECK-NEXT: "tile.dot"([[PO]], [[VO]]
// CHECK-NOT: convert_layout
// CHECK: scf.yield
func.func @attention(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %q0 = arith.constant dense<1.0> : tensor<128x64xf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %low = arith.constant dense<0xFF800000> : tensor<128xf32>
  %r = "tile.make_range"() {start = 0 : i32, end = 64 : i32} : () -> tensor<64xi32>
  %r0 = "tile.expand_dims"(%r) {axis = 0 : i32} : (tensor<64xi32>) -> tensor<1x64xi32>
  %r1 = "tile.expand_dims"(%r) {axis = 1 : i32} : (tensor<64xi32>) -> tensor<64x1xi32>
  %c64 = arith.constant dense<64> : tensor<64x1xi32>
  %rows = arith.muli %r1, %c64 : tensor<64x1xi32>
  %rowsb = "tile.broadcast"(%rows) : (tensor<64x1xi32>) -> tensor<64x64xi32>
  %colsb = "tile.broadcast"(%r0) : (tensor<1x64xi32>) -> tensor<64x64xi32>
  %offs = arith.addi %rowsb, %colsb : tensor<64x64xi32>
  %xs = "tile.splat"(%x) : (!tile.ptr<f16>) -> tensor<64x64x!tile.ptr<f16>>
  %p = "tile.addptr"(%xs, %offs) : (tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>) -> tensor<64x64x!tile.ptr<f16>>
  %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %m = %low) -> (tensor<128x64xf32>, tensor<128xf32>) : i32 {
    %k = "tile.load"(%p) {cache = "", evict = "", is_volatile = true, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %qk = "tile.dot"(%q0, %k, %zero) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>) -> tensor<128x64xf32>
    %mi = "tile.reduce"(%qk) {axis = 1 : i32, combine = @max, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<128x64xf32>) -> tensor<128xf32>
    %mn = arith.maximumf %m, %mi : tensor<128xf32>
    %d = arith.subf %m, %mn : tensor<128xf32>
    %alpha = math.exp2 %d : tensor<128xf32>
    %m1 = "tile.expand_dims"(%mn) {axis = 1 : i32} : (tensor<128xf32>) -> tensor<128x1xf32>
    %m2 = "tile.broadcast"(%m1) : (tensor<128x1xf32>) -> tensor<128x64xf32>
    %e = arith.subf %qk, %m2 : tensor<128x64xf32>
    %pf = math.exp2 %e : tensor<128x64xf32>
    %ph = arith.truncf %pf : tensor<128x64xf32> to tensor<128x64xf16>
    %a1 = "tile.expand_dims"(%alpha) {axis = 1 : i32} : (tensor<128xf32>) -> tensor<128x1xf32>
    %a2 = "tile.broadcast"(%a1) : (tensor<128x1xf32>) -> tensor<128x64xf32>
    %old = arith.mulf %acc, %a2 : tensor<128x64xf32>
    %v = "tile.load"(%p) {cache = "", evict = "", is_volatile = true, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x64x!tile.ptr<f16>>) -> tensor<64x64xf16>
    %new = "tile.dot"(%ph, %v, %old) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>) -> tensor<128x64xf32>
    scf.yield %new, %mn : tensor<128x64xf32>, tensor<128xf32>
  }
  %t = "tile.reduce"(%s#0) {axis = 1 : i32, combine = @max, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<128x64xf32>) -> tensor<128xf32>
  %t2 = arith.addf %t, %s#1 : tensor<128xf32>
  %u = "tile.reduce"(%t2) {axis = 0 : i32, combine = @max, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<128xf32>) -> f32
  return %u : f32
}
}
