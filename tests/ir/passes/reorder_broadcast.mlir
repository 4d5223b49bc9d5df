// RUN: tilec %s --passes=reorder-broadcast,dce | FileCheck %s
module {
  // CHECK-LABEL: func.func @both(
  // CHECK-SAME: %[[A:.*]]: tensor<1x32xf32>, %[[B:.*]]: tensor<1x32xf32>
  // CHECK: %[[S:.*]] = arith.addf %[[A]], %[[B]] : tensor<1x32xf32>
  // CHECK: %[[K:.*]] = arith.constant dense<2.0{{.*}}> : tensor<1x32xf32>
  // CHECK: %[[M:.*]] = arith.mulf %[[S]], %[[K]] : tensor<1x32xf32>
  // CHECK: %[[C:.*]] = arith.cmpf olt, %[[M]], %{{.*}} : tensor<1x32xf32>
  // CHECK: %[[R:.*]] = "tile.broadcast"(%[[C]]) : (tensor<1x32xi1>) -> tensor<16x32xi1>
  // CHECK: return %[[R]]
  func.func @both(%a: tensor<1x32xf32>, %b: tensor<1x32xf32>, %s: f32) -> tensor<16x32xi1> {
    %x = "tile.broadcast"(%a) : (tensor<1x32xf32>) -> tensor<16x32xf32>
    %y = "tile.broadcast"(%b) : (tensor<1x32xf32>) -> tensor<16x32xf32>
    %two = arith.constant dense<2.0> : tensor<16x32xf32>
    %limit = "tile.splat"(%s) : (f32) -> tensor<16x32xf32>
    %sum = arith.addf %x, %y : tensor<16x32xf32>
    %twice = arith.mulf %sum, %two : tensor<16x32xf32>
    %less = arith.cmpf olt, %twice, %limit : tensor<16x32xf32>
    return %less : tensor<16x32xi1>
  }

  // A row and a column meet only in the large tile.
  // CHECK-LABEL: func.func @row_and_column
  // CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<16x32xf32>
  func.func @row_and_column(%a: tensor<1x32xf32>, %b: tensor<16x1xf32>) -> tensor<16x32xf32> {
    %x = "tile.broadcast"(%a) : (tensor<1x32xf32>) -> tensor<16x32xf32>
    %y = "tile.broadcast"(%b) : (tensor<16x1xf32>) -> tensor<16x32xf32>
    %sum = arith.addf %x, %y : tensor<16x32xf32>
    return %sum : tensor<16x32xf32>
  }
}
