// RUN: not tilec %s --passes=canonicalize 2>&1 | FileCheck %s
// Every problem is reported, at its location.
!n = !tilegpu.memdesc<tensor<64x64xf8E4M3FN, #tilegpu.nvmma_shared<{element_bits = 8, swizzle = 64, transposed = false}>>>
module {
  func.func @wrong(%x: f32, %t: tensor<32xf32>, %m: !n, %u: tensor<64x64xf32>, %v: tensor<64x64xf16>) {
    // CHECK: verify.mlir:[[@LINE+1]]:{{.*}}`tile.bitcast` changes the width: `f32` to `i64` [E0602]
    %a = "tile.bitcast"(%x) : (f32) -> i64
    // CHECK: verify.mlir:[[@LINE+1]]:{{.*}}`tile.broadcast` cannot grow `tensor<32xf32>` to `tensor<64xf32>`: only dimensions of size 1 grow [E0602]
    %b = "tile.broadcast"(%t) : (tensor<32xf32>) -> tensor<64xf32>
    // CHECK: verify.mlir:[[@LINE+1]]:{{.*}}has a dimension that is no power of two: `tensor<48xf32>` [E0602]
    %c = "tile.splat"(%x) : (f32) -> tensor<48xf32>
    // CHECK: verify.mlir:[[@LINE+1]]:{{.*}}`tile.reduce` cannot use its `combine` of type `(f32) -> f32` [E0602]
    %d = "tile.reduce"(%t) {axis = 0 : i32, combine = @one, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<32xf32>) -> f32
    // CHECK: verify.mlir:[[@LINE+1]]:{{.*}}`tilegpu.local_alloc` needs a tile laid out in shared memory, not `!tilegpu.memdesc<tensor<32xf32>>` [E0602]
    %e = "tilegpu.local_alloc"() : () -> !tilegpu.memdesc<tensor<32xf32>>
    // CHECK: verify.mlir:[[@LINE+1]]:{{.*}}`tilegpu.warp_group_dot_wait` has a `pending` above 7 [E0602]
    %f = "tilegpu.warp_group_dot_wait"(%t) {pending = 8 : i32} : (tensor<32xf32>) -> tensor<32xf32>
    // CHECK: verify.mlir:[[@LINE+1]]:{{.*}}`tilegpu.warp_group_dot` adds its sums to the accumulator while they are in flight [E0602]
    %g = "tilegpu.warp_group_dot"(%m, %m, %u) {pending = 1 : i32, promoted_every = 32 : i32} : (!n, !n, tensor<64x64xf32>) -> tensor<64x64xf32>
    // CHECK: verify.mlir:[[@LINE+1]]:{{.*}}`tilegpu.warp_group_dot` needs a positive `promoted_every` and an accumulator of f32 [E0602]
    %h = "tilegpu.warp_group_dot"(%m, %m, %v) {pending = 0 : i32, promoted_every = 32 : i32} : (!n, !n, tensor<64x64xf16>) -> tensor<64x64xf16>
    // CHECK: verify.mlir:[[@LINE+1]]:{{.*}}`tile.debug_value` of `f32` has another `dtype` [E0602]
    "tile.debug_value"(%x) {name = "x", dtype = "f64"} : (f32) -> ()
    // CHECK: verify.mlir:[[@LINE+1]]:{{.*}}`tile.debug_value` has no parameter 0 [E0602]
    "tile.debug_value"(%x) {name = "x", dtype = "f32", argument = 0 : i32} : (f32) -> ()
    // CHECK: verify.mlir:[[@LINE+1]]:{{.*}}`tilegpu.async_wait` has a negative `pending` [E0602]
    "tilegpu.async_wait"() {pending = -1 : i32} : () -> ()
    return
  }
  func.func private @one(%x: f32) -> f32 {
    return %x : f32
  }
}
