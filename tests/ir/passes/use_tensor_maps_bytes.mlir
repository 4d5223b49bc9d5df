// RUN: tilec %s --passes=use-tensor-maps --target sm_90a | FileCheck %s
// RUN: tilec %s --passes=use-tensor-maps --target sm_90a --explain-perf 2>&1 | FileCheck %s --check-prefix=WHY
// wgmma reads operands of 8 bits only with K as the contiguous dimension.
module attributes {tilegpu.num_warps = 8 : i32} {
func.func @product(%a: !tile.ptr<i8>, %b: !tile.ptr<i8>, %m: i32, %k: i32, %s: i64, %out: !tile.ptr<i32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0> : tensor<128x64xi32>
  %pid = "tile.get_program_id"() {axis = 0 : i32} : () -> i32
  %m64 = arith.extsi %m : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %r = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<128x64xi32>) : i32 {
    // CHECK: "tile.map_load"
    %x = "tile.descriptor_load"(%a, %m64, %k64, %s, %pid, %i) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<i8>, i64, i64, i64, i32, i32) -> tensor<128x64xi8>
    // WHY: :[[@LINE+2]]:{{.*}}loaded without TMA: wgmma does not compute the product
    // CHECK-NEXT: "tile.descriptor_load"
    %y = "tile.descriptor_load"(%b, %m64, %k64, %s, %i, %c0) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<i8>, i64, i64, i64, i32, i32) -> tensor<64x64xi8>
    // CHECK-NEXT: "tile.map_load"
    %w = "tile.descriptor_load"(%b, %m64, %k64, %s, %c0, %i) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<i8>, i64, i64, i64, i32, i32) -> tensor<64x64xi8>
    %t = "tile.trans"(%w) {order = array<i32: 1, 0>} : (tensor<64x64xi8>) -> tensor<64x64xi8>
    %d = "tile.dot"(%x, %t, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<128x64xi8>, tensor<64x64xi8>, tensor<128x64xi32>) -> tensor<128x64xi32>
    %x2 = "tile.descriptor_load"(%a, %m64, %k64, %s, %pid, %i) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<i8>, i64, i64, i64, i32, i32) -> tensor<128x64xi8>
    %e = "tile.dot"(%x2, %y, %d) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<128x64xi8>, tensor<64x64xi8>, tensor<128x64xi32>) -> tensor<128x64xi32>
    scf.yield %e : tensor<128x64xi32>
  }
  "tile.descriptor_store"(%out, %m64, %k64, %s, %c0, %c0, %r) {operandSegmentSizes = array<i32: 1, 2, 1, 2, 1>} : (!tile.ptr<i32>, i64, i64, i64, i32, i32, tensor<128x64xi32>) -> ()
  return
}
}
