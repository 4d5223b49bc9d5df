// RUN: not tilec %s --passes=canonicalize 2>&1 | FileCheck %s
module {
  func.func @wrong(%x: f32) {
    // CHECK: parse-error.mlir:[[@LINE+1]]:{{.*}}error:{{.*}}[E0601]
    %a = arith.addf %x, %y : f32
    return
  }
}
