// RUN: not tilec %s --passes=canonicalize 2>&1 | FileCheck %s
// Every problem is reported, at its place.
module {
  func.func @wrong(%x: f32, %t: tensor<32xf32>) {
    // CHECK: verify.mlir:[[@LINE+1]]:{{.*}}`tile.bitcast` changes the width: `f32` to `i64` [E0602]
    %a = "tile.bitcast"(%x) : (f32) -> i64
    // CHECK: verify.mlir:[[@LINE+1]]:{{.*}}`tile.broadcast` cannot grow `tensor<32xf32>` to `tensor<64xf32>`: only dimensions of size 1 grow [E0602]
    %b = "tile.broadcast"(%t) : (tensor<32xf32>) -> tensor<64xf32>
    // CHECK: verify.mlir:[[@LINE+1]]:{{.*}}has a dimension that is no power of two: `tensor<48xf32>` [E0602]
    %c = "tile.splat"(%x) : (f32) -> tensor<48xf32>
    return
  }
}
