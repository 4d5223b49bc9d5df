// RUN: tilec %s --passes=use-tensor-maps --target sm_90a --num-warps 16 | FileCheck %s
// RUN: tilec %s --passes=use-tensor-maps --target sm_90a --num-warps 16 --explain-perf 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: tilec %s --passes=use-tensor-maps --target sm_90a --num-warps 8 | FileCheck %s --check-prefix=ROWS
// Products that feed each other are computed by wgmma where each warpgroup has whole rows of the first result. Elsewhere
// their blocks are loaded by pointers.
// ROWS-COUNT-3: map_load
// CHECK-NOT: map_load
// CHECK-NOT: map_store
// WHY-COUNT-3: loaded without TMA: the product feeds another one, or is fed by it, and warps have parts of rows
module attributes {tilegpu.num_warps = 16 : i32} {
func.func @product(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %m: i32, %k: i32, %s: i64, %out: !tile.ptr<f32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %none = arith.constant dense<0.0> : tensor<128x64xf32>
  %pid = "tile.get_program_id"() {axis = 0 : i32} : () -> i32
  %m64 = arith.extsi %m : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %r = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %x = "tile.descriptor_load"(%a, %m64, %k64, %s, %pid, %i) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<128x64xf16>
    %y = "tile.descriptor_load"(%b, %m64, %k64, %s, %i, %c0) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<64x64xf16>
    %d = "tile.dot"(%x, %y, %none) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>) -> tensor<128x64xf32>
    %h = arith.truncf %d : tensor<128x64xf32> to tensor<128x64xf16>
    %z = "tile.descriptor_load"(%b, %m64, %k64, %s, %c0, %i) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<64x64xf16>
    %e = "tile.dot"(%h, %z, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>) -> tensor<128x64xf32>
    scf.yield %e : tensor<128x64xf32>
  }
  "tile.descriptor_store"(%out, %m64, %k64, %s, %c0, %c0, %r) {operandSegmentSizes = array<i32: 1, 2, 1, 2, 1>} : (!tile.ptr<f32>, i64, i64, i64, i32, i32, tensor<128x64xf32>) -> ()
  return
}
}
