// RUN: tilec %s --passes=use-tensor-maps --target sm_90a --explain-perf 2>&1 | FileCheck %s --check-prefix=MAPS
// RUN: tilec %s --passes=rewrite-descriptors --target sm_90a | FileCheck %s
// The launch knows that %a is no multiple of 16 bytes: no map, and no fact about its address. %b has the contract of descriptors.
// MAPS-NOT: tile.map_load"(%{{.+}}){{.*}}tensor<64x32
// MAPS: loaded without TMA: its base is not aligned to 16 bytes
// MAPS-NOT: loaded without TMA
// CHECK-LABEL: func.func @product
// CHECK-NOT: "tile.addptr"(%arg0, %{{.+}}) {tile.divisibility
// CHECK: "tile.addptr"(%arg1, %{{.+}}) {tile.divisibility = array<i32: 16>}
// CHECK-NOT: "tile.addptr"(%arg0, %{{.+}}) {tile.divisibility
module attributes {tilegpu.num_warps = 4 : i32} {
func.func @product(%a: !tile.ptr<f16> {tile.unaligned}, %b: !tile.ptr<f16>, %m: i32, %k: i32, %s: i64, %out: !tile.ptr<f32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %m64 = arith.extsi %m : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %r = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<64x16xf32>) : i32 {
    %x = "tile.descriptor_load"(%a, %m64, %k64, %s, %c0, %i) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<64x32xf16>
    %y = "tile.descriptor_load"(%b, %k64, %m64, %s, %i, %c0) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<32x16xf16>
    %d = "tile.dot"(%x, %y, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16>, tensor<32x16xf16>, tensor<64x16xf32>) -> tensor<64x16xf32>
    scf.yield %d : tensor<64x16xf32>
  }
  "tile.descriptor_store"(%out, %m64, %m64, %s, %c0, %c0, %r) {operandSegmentSizes = array<i32: 1, 2, 1, 2, 1>} : (!tile.ptr<f32>, i64, i64, i64, i32, i32, tensor<64x16xf32>) -> ()
  return
}
}
