// RUN: tilec %s --passes=rewrite-descriptors,canonicalize,cse | FileCheck %s
// RUN: tilec %s --passes=rewrite-descriptors,canonicalize,cse,rewrite-descriptors | FileCheck %s
module {
  // The base and the strides have their facts. Scalars of 64 bits compute where the block begins and
  // how much of it lies in the tensor. Padding with NaN is the value of masked-off elements.
  // CHECK-LABEL: func.func @load(
  // CHECK-SAME: %[[P:.*]]: !tile.ptr<f16>, %[[M:.*]]: i64, %[[N:.*]]: i64, %[[S:.*]]: i64, %[[I:.*]]: i32, %[[J:.*]]: i32)
  // CHECK-DAG: %[[P16:.*]] = "tile.addptr"(%[[P]], %c0_i64) {tile.divisibility = array<i32: 16>}
  // CHECK-DAG: %[[S8:.*]] = arith.addi %[[S]], %c0_i64 {tile.divisibility = array<i32: 8>} : i64
  // CHECK-DAG: %[[IW:.*]] = arith.extsi %[[I]] : i32 to i64
  // CHECK-DAG: %[[JW:.*]] = arith.extsi %[[J]] : i32 to i64
  // CHECK-DAG: %[[ROW:.*]] = arith.muli %[[IW]], %[[S8]] : i64
  // CHECK: %[[AT:.*]] = arith.addi
  // CHECK-NEXT: %[[Q:.*]] = "tile.addptr"(%[[P16]], %[[AT]])
  // CHECK: %[[QT:.*]] = "tile.splat"(%[[Q]]) : (!tile.ptr<f16>) -> tensor<16x1x!tile.ptr<f16>>
  // CHECK: "tile.addptr"(%[[QT]]
  // CHECK: "tile.addptr"
  // CHECK: %[[BEFORE:.*]] = arith.subi %c0_i64, %[[IW]]
  // CHECK: arith.maxsi %[[BEFORE]], %c0_i64
  // CHECK: %[[LEFT:.*]] = arith.subi %[[M]], %[[IW]]
  // CHECK-NEXT: %[[SOME:.*]] = arith.maxsi %[[LEFT]], %c0_i64
  // CHECK-NEXT: arith.minsi %[[SOME]], %c16_i64
  // CHECK: arith.cmpi slt, %{{.*}} : tensor<16xi32>
  // CHECK: arith.cmpi sge, %{{.*}} : tensor<16xi32>
  // CHECK: arith.cmpi slt, %{{.*}} : tensor<32xi32>
  // CHECK: %[[NAN:.*]] = arith.constant dense<0x7E00> : tensor<16x32xf16>
  // CHECK: "tile.load"(%{{.*}}, %{{.*}}, %[[NAN]])
  func.func @load(%p: !tile.ptr<f16>, %m: i64, %n: i64, %s: i64, %i: i32, %j: i32) -> tensor<16x32xf16> {
    %x = "tile.descriptor_load"(%p, %m, %n, %s, %i, %j) {padding = "nan", operandSegmentSizes = array<i32: 1, 2, 1, 2>} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<16x32xf16>
    return %x : tensor<16x32xf16>
  }

  // A program id is not negative. A size that is a stride has the stride's fact.
  // CHECK-LABEL: func.func @dense(
  // CHECK-DAG: %[[S4:.*]] = arith.addi %{{.*}}, %c0_i64 {tile.divisibility = array<i32: 4>} : i64
  // CHECK-NOT: arith.cmpi sge
  // CHECK: arith.subi %[[S4]], %
  // CHECK: "tile.load"(%{{[^,]*}}, %{{[^,]*}}) {{.*}}array<i32: 1, 1, 0>
  func.func @dense(%p: !tile.ptr<f32>, %m: i64, %n: i32) -> tensor<16x32xf32> {
    %size = arith.extsi %n : i32 to i64
    %stride = arith.extsi %n : i32 to i64
    %i = "tile.get_program_id"() {axis = 0 : i32} : () -> i32
    %x = "tile.descriptor_load"(%p, %m, %size, %stride, %i, %i) {padding = "zero", operandSegmentSizes = array<i32: 1, 2, 1, 2>} : (!tile.ptr<f32>, i64, i64, i64, i32, i32) -> tensor<16x32xf32>
    return %x : tensor<16x32xf32>
  }

  // What is stored may have been loaded by an op that was rewritten before. Blocks that lie inside
  // need no mask, constant strides no fact.
  // CHECK-LABEL: func.func @inside(
  // CHECK-SAME: %[[P:.*]]: !tile.ptr<i32>)
  // CHECK: %[[P16:.*]] = "tile.addptr"(%[[P]], %c0_i64) {tile.divisibility = array<i32: 16>}
  // CHECK-NOT: tile.divisibility
  // CHECK: %[[X:.*]] = "tile.load"(%{{[^,]*}}) {{.*}}array<i32: 1, 0, 0>
  // CHECK: "tile.addptr"(%[[P16]], %c512_i64)
  // CHECK: "tile.store"(%{{[^,]*}}, %[[X]]) {cache = "", evict = ""}
  // CHECK-NEXT: return
  func.func @inside(%p: !tile.ptr<i32>) {
    %zero = arith.constant 0 : i32
    %eight = arith.constant 8 : i32
    %m = arith.constant 64 : i64
    %x = "tile.descriptor_load"(%p, %m, %m, %m, %zero, %zero) {padding = "zero", operandSegmentSizes = array<i32: 1, 2, 1, 2>} : (!tile.ptr<i32>, i64, i64, i64, i32, i32) -> tensor<8x8xi32>
    "tile.descriptor_store"(%p, %m, %m, %m, %eight, %zero, %x) {operandSegmentSizes = array<i32: 1, 2, 1, 2, 1>} : (!tile.ptr<i32>, i64, i64, i64, i32, i32, tensor<8x8xi32>) -> ()
    return
  }

  // Reductions are relaxed atomics without a result; rank 1 has no strides.
  // CHECK-LABEL: func.func @reduce(
  // CHECK: "tile.atomic_rmw"({{.*}}) {kind = "umax", scope = "gpu", sem = "relaxed"} : (tensor<64x!tile.ptr<i32>>, tensor<64xi32>, tensor<64xi1>)
  func.func @reduce(%p: !tile.ptr<i32>, %n: i64, %i: i32, %v: tensor<64xi32>) {
    "tile.descriptor_reduce"(%p, %n, %i, %v) {kind = "umax", operandSegmentSizes = array<i32: 1, 1, 0, 1, 1>} : (!tile.ptr<i32>, i64, i32, tensor<64xi32>) -> ()
    return
  }

  // Each row has its address and its condition.
  // CHECK-LABEL: func.func @rows(
  // CHECK-SAME: %[[R:[^ ]*]]: tensor<8xi32>
  // CHECK: %[[W:.*]] = arith.extsi %[[R]] : tensor<8xi32> to tensor<8xi64>
  // CHECK: arith.muli %[[W]], %{{.*}} : tensor<8xi64>
  // CHECK: arith.cmpi slt, %[[W]]
  // CHECK: arith.cmpi sge, %[[W]]
  // CHECK: %[[X:.*]] = "tile.load"{{.*}} -> tensor<8x16xf32>
  // CHECK: "tile.store"(%{{.*}}, %[[X]], %{{.*}}) {cache
  func.func @rows(%p: !tile.ptr<f32>, %m: i64, %s: i64, %r: tensor<8xi32>, %j: i32) {
    %x = "tile.descriptor_gather"(%p, %m, %s, %s, %r, %j) {padding = "zero", operandSegmentSizes = array<i32: 1, 2, 1, 1, 1>} : (!tile.ptr<f32>, i64, i64, i64, tensor<8xi32>, i32) -> tensor<8x16xf32>
    "tile.descriptor_scatter"(%p, %m, %s, %s, %r, %j, %x) {operandSegmentSizes = array<i32: 1, 2, 1, 1, 1, 1>} : (!tile.ptr<f32>, i64, i64, i64, tensor<8xi32>, i32, tensor<8x16xf32>) -> ()
    return
  }
}
