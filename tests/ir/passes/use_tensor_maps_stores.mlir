// RUN: tilec %s --passes=use-tensor-maps --target sm_90a | FileCheck %s
// RUN: tilec %s --passes=use-tensor-maps --target sm_90a --explain-perf 2>&1 | FileCheck %s --check-prefix=WHY
// use-tensor-maps: a kernel with several stores. TMA writes them all, but no memory both by stores and by atomic operations.

module attributes {tilegpu.num_warps = 4 : i32} {
func.func @stores(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %one: !tile.ptr<f16>, %two: !tile.ptr<f16>, %sum: !tile.ptr<f16>, %mixed: !tile.ptr<f16>, %m: i64, %n: i64, %k: i64, %end: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %pid = "tile.get_program_id"() {axis = 0 : i32} : () -> i32
  %r = scf.for %i = %c0 to %end step %c32 iter_args(%acc = %zero) -> (tensor<64x16xf32>) : i32 {
    // CHECK: "tile.map_load"
    %x = "tile.descriptor_load"(%a, %m, %k, %k, %pid, %i) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<64x32xf16>
    %y = "tile.descriptor_load"(%b, %n, %k, %k, %c0, %i) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<16x32xf16>
    %t = "tile.trans"(%y) {order = array<i32: 1, 0>} : (tensor<16x32xf16>) -> tensor<32x16xf16>
    %d = "tile.dot"(%x, %t, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16>, tensor<32x16xf16>, tensor<64x16xf32>) -> tensor<64x16xf32>
    scf.yield %d : tensor<64x16xf32>
  }
  %h = arith.truncf %r : tensor<64x16xf32> to tensor<64x16xf16>
  // CHECK: "tile.map_store"({{.+}}) {map = 2 : i32}
  // CHECK: "tile.map_store"({{.+}}) {map = 3 : i32}
  // CHECK: "tile.map_store"({{.+}}) {map = 3 : i32}
  // CHECK: "tile.map_store"({{.+}}) {map = 4 : i32, reduction = "add"}
  "tile.descriptor_store"(%one, %m, %n, %n, %pid, %c0, %h) {operandSegmentSizes = array<i32: 1, 2, 1, 2, 1>} : (!tile.ptr<f16>, i64, i64, i64, i32, i32, tensor<64x16xf16>) -> ()
  "tile.descriptor_store"(%two, %m, %n, %n, %pid, %c0, %h) {operandSegmentSizes = array<i32: 1, 2, 1, 2, 1>} : (!tile.ptr<f16>, i64, i64, i64, i32, i32, tensor<64x16xf16>) -> ()
  "tile.descriptor_store"(%two, %m, %n, %n, %pid, %c64, %h) {operandSegmentSizes = array<i32: 1, 2, 1, 2, 1>} : (!tile.ptr<f16>, i64, i64, i64, i32, i32, tensor<64x16xf16>) -> ()
  "tile.descriptor_reduce"(%sum, %m, %n, %n, %pid, %c0, %h) {operandSegmentSizes = array<i32: 1, 2, 1, 2, 1>, kind = "fadd"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32, tensor<64x16xf16>) -> ()
  // CHECK: "tile.descriptor_store"
  // WHY: stored without TMA: the kernel may access that memory otherwise
  "tile.descriptor_store"(%mixed, %m, %n, %n, %pid, %c0, %h) {operandSegmentSizes = array<i32: 1, 2, 1, 2, 1>} : (!tile.ptr<f16>, i64, i64, i64, i32, i32, tensor<64x16xf16>) -> ()
  // CHECK: "tile.descriptor_reduce"
  // WHY: combined without TMA: the kernel may access that memory otherwise
  "tile.descriptor_reduce"(%mixed, %m, %n, %n, %pid, %c0, %h) {operandSegmentSizes = array<i32: 1, 2, 1, 2, 1>, kind = "fadd"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32, tensor<64x16xf16>) -> ()
  return
}
}
