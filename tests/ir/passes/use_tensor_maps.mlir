// RUN: tilec %s --passes=use-tensor-maps --target sm_90a | FileCheck %s
// RUN: tilec %s --passes=use-tensor-maps --target sm_80 | FileCheck %s --check-prefix=AMPERE
// RUN: tilec %s --passes=use-tensor-maps --target sm_90a --num-stages 1 | FileCheck %s --check-prefix=AMPERE
// RUN: tilec %s --passes=use-tensor-maps --target sm_90a --explain-perf 2>&1 | FileCheck %s --check-prefix=WHY
// use-tensor-maps: loads of blocks that feed a product in a loop go through maps that the launch makes.
// AMPERE-NOT: tile.maps
// AMPERE-NOT: tile.map_load

// The base may be moved, sizes and strides computed. Equal maps are one.
// CHECK: tile.maps = [{base = 0 : i32, box = array<i32: 64, 32>, dtype = "f16", offset = "p2 8 mul", pads_nan = true, sizes = ["p2", "p4 2 mul"], strides = ["p5"], swizzle = 0 : i32},
// CHECK-SAME: {base = 1 : i32, box = array<i32: 16, 32>, dtype = "f16", offset = "0", pads_nan = false, sizes = ["p3", "p4"], strides = ["p5"], swizzle = 0 : i32},
// CHECK-SAME: {base = 1 : i32, box = array<i32: 64, 16>
// CHECK-SAME: {base = 7 : i32, box = array<i32: 64, 16>
module attributes {tilegpu.num_warps = 4 : i32} {
func.func @product(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %m: i32, %n: i32 {tile.divisibility = 8 : i32}, %k: i32, %s: i64, %where: !tile.ptr<i32>, %out: !tile.ptr<f16>, %c: !tile.ptr<f16>, %ragged: !tile.ptr<f16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %few = arith.constant dense<0.0> : tensor<32x16xf32>
  %pid = "tile.get_program_id"() {axis = 0 : i32} : () -> i32
  %shift = arith.muli %m, %c8 : i32
  %moved = "tile.addptr"(%a, %shift) : (!tile.ptr<f16>, i32) -> !tile.ptr<f16>
  %m64 = arith.extsi %m : i32 to i64
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %k2 = arith.muli %k, %c2 : i32
  %k2w = arith.extsi %k2 : i32 to i64
  %at = "tile.load"(%where) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i32>) -> i32
  %old = "tile.atomic_rmw"(%where, %c2) {kind = "add", sem = "relaxed", scope = "gpu", operandSegmentSizes = array<i32: 1, 1, 0>} : (!tile.ptr<i32>, i32) -> i32
  // CHECK: scf.for %[[K:[a-z0-9]+]] =
  %r:2 = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero, %less = %few) -> (tensor<64x16xf32>, tensor<32x16xf32>) : i32 {
    // CHECK: "tile.map_load"(%{{.+}}, %[[K]]) {map = 0 : i32} : (i32, i32) -> tensor<64x32xf16>
    %x = "tile.descriptor_load"(%moved, %m64, %k2w, %s, %pid, %i) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "nan"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<64x32xf16>
    // CHECK: "tile.map_load"(%{{.+}}, %[[K]]) {map = 1 : i32}
    %y = "tile.descriptor_load"(%b, %n64, %k64, %s, %c0, %i) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<16x32xf16>
    %t = "tile.trans"(%y) {order = array<i32: 1, 0>} : (tensor<16x32xf16>) -> tensor<32x16xf16>
    %d = "tile.dot"(%x, %t, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16>, tensor<32x16xf16>, tensor<64x16xf32>) -> tensor<64x16xf32>
    // CHECK: "tile.map_load"(%{{.+}}, %[[K]]) {map = 1 : i32}
    %y2 = "tile.descriptor_load"(%b, %n64, %k64, %s, %c8, %i) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<16x32xf16>
    %t2 = "tile.trans"(%y2) {order = array<i32: 1, 0>} : (tensor<16x32xf16>) -> tensor<32x16xf16>
    %d2 = "tile.dot"(%x, %t2, %d) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16>, tensor<32x16xf16>, tensor<64x16xf32>) -> tensor<64x16xf32>
    // The kernel writes what the offset was loaded from.
    // CHECK: "tile.descriptor_load"
    // WHY-DAG: loaded without TMA: its offsets are loaded from memory that the kernel may write
    %z = "tile.descriptor_load"(%b, %n64, %k64, %s, %at, %i) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<16x32xf16>
    %tz = "tile.trans"(%z) {order = array<i32: 1, 0>} : (tensor<16x32xf16>) -> tensor<32x16xf16>
    %d3 = "tile.dot"(%x, %tz, %d2) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16>, tensor<32x16xf16>, tensor<64x16xf32>) -> tensor<64x16xf32>
    // CHECK: "tile.descriptor_load"
    // WHY-DAG: loaded without TMA: its offsets depend on an operation with effects, or on a tile
    %v = "tile.descriptor_load"(%b, %n64, %k64, %s, %old, %i) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<16x32xf16>
    %tv = "tile.trans"(%v) {order = array<i32: 1, 0>} : (tensor<16x32xf16>) -> tensor<32x16xf16>
    %d4 = "tile.dot"(%x, %tv, %d3) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16>, tensor<32x16xf16>, tensor<64x16xf32>) -> tensor<64x16xf32>
    // The base differs between iterations.
    // CHECK: "tile.descriptor_load"
    // WHY-DAG: loaded without TMA: its base, sizes or strides change in each iteration
    %p = "tile.addptr"(%b, %i) : (!tile.ptr<f16>, i32) -> !tile.ptr<f16>
    %w = "tile.descriptor_load"(%p, %n64, %k64, %s, %c0, %i) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<16x32xf16>
    %tw = "tile.trans"(%w) {order = array<i32: 1, 0>} : (tensor<16x32xf16>) -> tensor<32x16xf16>
    %d5 = "tile.dot"(%x, %tw, %d4) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16>, tensor<32x16xf16>, tensor<64x16xf32>) -> tensor<64x16xf32>
    // CHECK: "tile.descriptor_load"
    // WHY-DAG: loaded without TMA: wgmma does not compute the product
    %u = "tile.descriptor_load"(%moved, %m64, %k2w, %s, %pid, %i) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<32x32xf16>
    %l = "tile.dot"(%u, %t, %less) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<32x32xf16>, tensor<32x16xf16>, tensor<32x16xf32>) -> tensor<32x16xf32>
    scf.yield %d5, %l : tensor<64x16xf32>, tensor<32x16xf32>
  }
  // A block of the epilogue, which no product reads.
  // CHECK: "tile.map_load"(%{{.+}}, %{{.+}}) {map = 2 : i32}
  %q = "tile.descriptor_load"(%b, %n64, %k64, %s, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<64x16xf16>
  %e = arith.extf %q : tensor<64x16xf16> to tensor<64x16xf32>
  %sum = arith.addf %e, %r#0 : tensor<64x16xf32>
  // What a load of the kernel reads is not stored by TMA.
  // CHECK: "tile.descriptor_store"
  // WHY-DAG: stored without TMA: the kernel may access that memory otherwise
  %other = "tile.load"(%c) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<f16>) -> f16
  "tile.descriptor_store"(%c, %n64, %k64, %s, %c0, %c0, %q) {operandSegmentSizes = array<i32: 1, 2, 1, 2, 1>} : (!tile.ptr<f16>, i64, i64, i64, i32, i32, tensor<64x16xf16>) -> ()
  // A row may end within 16 bytes, which TMA writes as a whole.
  // CHECK: "tile.descriptor_store"
  // WHY-DAG: stored without TMA: rows may end within 16 bytes, all of which it would write
  "tile.descriptor_store"(%ragged, %m64, %m64, %s, %c0, %c0, %q) {operandSegmentSizes = array<i32: 1, 2, 1, 2, 1>} : (!tile.ptr<f16>, i64, i64, i64, i32, i32, tensor<64x16xf16>) -> ()
  %h = arith.truncf %sum : tensor<64x16xf32> to tensor<64x16xf16>
  // The producer would read what the kernel has not written yet.
  // CHECK: "tile.descriptor_load"(%arg8
  // WHY-DAG: loaded without TMA: the kernel may write that memory
  %own = "tile.descriptor_load"(%c, %n64, %k64, %s, %c0, %c0) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<64x16xf16>
  // CHECK: "tile.map_store"(%{{.+}}, %{{.+}}, %{{.+}}) {map = 3 : i32} : (tensor<64x16xf16>, i32, i32)
  "tile.descriptor_store"(%out, %m64, %n64, %s, %c0, %c0, %h) {operandSegmentSizes = array<i32: 1, 2, 1, 2, 1>} : (!tile.ptr<f16>, i64, i64, i64, i32, i32, tensor<64x16xf16>) -> ()
  return
}
}
