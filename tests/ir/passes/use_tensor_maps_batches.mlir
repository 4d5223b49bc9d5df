// RUN: tilec %s --passes=use-tensor-maps --target sm_90a | FileCheck %s
// RUN: tilec %s --passes=use-tensor-maps --target sm_90a --explain-perf 2>&1 | FileCheck %s --check-prefix=WHY
// use-tensor-maps: dimensions of a block that have one element have an offset, but are no dimensions of the tile.

// CHECK: tile.maps = [{base = 0 : i32, box = array<i32: 1, 64, 32>, dtype = "f16", offset = "0", pads_nan = false, sizes = ["p3", "p4", "p6"], strides = ["p4 p6 mul", "p6"], swizzle = 0 : i32},
// CHECK-SAME: {base = 1 : i32, box = array<i32: 1, 16, 1, 32>, dtype = "f16", offset = "0", pads_nan = false, sizes = ["p3", "p5", "p3", "p6"]
// CHECK-SAME: {base = 2 : i32, box = array<i32: 1, 64, 16>
module attributes {tilegpu.num_warps = 4 : i32} {
func.func @batches(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %out: !tile.ptr<f16>, %z: i64, %m: i64, %n: i64, %k: i64, %end: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %pid = "tile.get_program_id"() {axis = 0 : i32} : () -> i32
  %mk = arith.muli %m, %k : i64
  %nk = arith.muli %n, %k : i64
  %mn = arith.muli %m, %n : i64
  %zk = arith.muli %z, %k : i64
  %nzk = arith.muli %n, %zk : i64
  // CHECK: scf.for %[[K:[a-z0-9]+]] =
  %r = scf.for %i = %c0 to %end step %c32 iter_args(%acc = %zero) -> (tensor<64x16xf32>) : i32 {
    // CHECK: %[[X:.+]] = "tile.map_load"(%[[PID:[0-9]+]], %{{.+}}, %[[K]]) {map = 0 : i32} : (i32, i32, i32) -> tensor<64x32xf16>
    %x3 = "tile.descriptor_load"(%a, %z, %m, %k, %mk, %k, %pid, %c0, %i) {operandSegmentSizes = array<i32: 1, 3, 2, 3>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i64, i64, i32, i32, i32) -> tensor<1x64x32xf16>
    %x = "tile.reshape"(%x3) {allow_reorder = false} : (tensor<1x64x32xf16>) -> tensor<64x32xf16>
    // CHECK: %[[Y:.+]] = "tile.map_load"(%[[PID]], %{{.+}}, %[[PID]], %[[K]]) {map = 1 : i32} : (i32, i32, i32, i32) -> tensor<16x32xf16>
    // CHECK: %[[T:.+]] = "tile.trans"(%[[Y]])
    // CHECK: "tile.dot"(%[[X]], %[[T]],
    %y4 = "tile.descriptor_load"(%b, %z, %n, %z, %k, %nzk, %zk, %k, %pid, %c0, %pid, %i) {operandSegmentSizes = array<i32: 1, 4, 3, 4>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i64, i64, i64, i64, i32, i32, i32, i32) -> tensor<1x16x1x32xf16>
    %y = "tile.reshape"(%y4) {allow_reorder = false} : (tensor<1x16x1x32xf16>) -> tensor<16x32xf16>
    %t = "tile.trans"(%y) {order = array<i32: 1, 0>} : (tensor<16x32xf16>) -> tensor<32x16xf16>
    %d = "tile.dot"(%x, %t, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16>, tensor<32x16xf16>, tensor<64x16xf32>) -> tensor<64x16xf32>
    // Two batches at once are not one matrix.
    // CHECK: "tile.descriptor_load"
    // WHY: loaded without TMA: the block does not have two dimensions
    %w3 = "tile.descriptor_load"(%a, %z, %m, %k, %mk, %k, %pid, %c0, %i) {operandSegmentSizes = array<i32: 1, 3, 2, 3>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i64, i64, i32, i32, i32) -> tensor<2x32x32xf16>
    %w = "tile.reshape"(%w3) {allow_reorder = false} : (tensor<2x32x32xf16>) -> tensor<64x32xf16>
    %d2 = "tile.dot"(%w, %t, %d) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16>, tensor<32x16xf16>, tensor<64x16xf32>) -> tensor<64x16xf32>
    scf.yield %d2 : tensor<64x16xf32>
  }
  // CHECK: %[[H:.+]] = arith.truncf
  // CHECK: "tile.map_store"(%[[H]], %[[PID]], %{{.+}}, %{{.+}}) {map = 2 : i32} : (tensor<64x16xf16>, i32, i32, i32) -> ()
  %h = arith.truncf %r : tensor<64x16xf32> to tensor<64x16xf16>
  %h3 = "tile.reshape"(%h) {allow_reorder = false} : (tensor<64x16xf16>) -> tensor<1x64x16xf16>
  "tile.descriptor_store"(%out, %z, %m, %n, %mn, %n, %pid, %c0, %c0, %h3) {operandSegmentSizes = array<i32: 1, 3, 2, 3, 1>} : (!tile.ptr<f16>, i64, i64, i64, i64, i64, i32, i32, i32, tensor<1x64x16xf16>) -> ()
  return
}
}
