// RUN: tilec %s --target sm_80 --passes=assign-layouts,accelerate-dot,f32-dot-split | FileCheck %s
// RUN: tilec %s --target sm_80 --passes=assign-layouts,accelerate-dot,f32-dot-split --explain-perf --verify-each 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: 3 products of tf32 for one in tf32x3 [dot]
// REMARK-DAG: 6 products of bfloat16 for one in bf16x6 [dot]
module {
  // Both operands are cut by masks, halves rounded away from zero; what would become infinite is not rounded. All
  // of it in the registers that the instruction reads.
  // CHECK-LABEL: func.func @tf32x3(
  // CHECK: %[[A:.*]] = "tilegpu.convert_layout"({{.*}} -> tensor<16x32xf32, #[[LA:tilegpu.dot_op<{k_width = 1 : i64, op_idx = 0 .*}>]]>
  // CHECK: %[[B:.*]] = "tilegpu.convert_layout"({{.*}} -> tensor<32x16xf32, #[[LB:tilegpu.dot_op<{k_width = 1 : i64, op_idx = 1 .*}>]]>
  // CHECK: %[[C:.*]] = "tilegpu.convert_layout"({{.*}} -> tensor<16x16xf32, #[[L:tilegpu.mma<.*}>]]>
  // CHECK-DAG: %[[MAX:.*]] = arith.constant dense<3.40116213E+38> : tensor<16x32xf32, #[[LA]]>
  // CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0> : tensor<16x32xi32, #[[LA]]>
  // CHECK-DAG: %[[HALF:.*]] = arith.constant dense<4096> : tensor<16x32xi32, #[[LA]]>
  // CHECK-DAG: %[[MASK:.*]] = arith.constant dense<-8192> : tensor<16x32xi32, #[[LA]]>
  // CHECK: %[[ABS:.*]] = math.absf %[[A]]
  // CHECK: %[[SMALL:.*]] = arith.cmpf olt, %[[ABS]], %[[MAX]]
  // CHECK: %[[ROUND:.*]] = arith.select %[[SMALL]], %[[HALF]], %[[NONE]]
  // CHECK: %[[BITS:.*]] = arith.bitcast %[[A]]
  // CHECK: %[[UP:.*]] = arith.addi %[[BITS]], %[[ROUND]]
  // CHECK: %[[CUT:.*]] = arith.andi %[[UP]], %[[MASK]]
  // CHECK: %[[A1:.*]] = arith.bitcast %[[CUT]] : {{.*}} to tensor<16x32xf32, #[[LA]]>
  // CHECK: %[[A2:.*]] = arith.subf %[[A]], %[[A1]]
  // CHECK: math.absf %[[B]]
  // CHECK: %[[B1:.*]] = arith.bitcast %{{.*}} to tensor<32x16xf32, #[[LB]]>
  // CHECK: %[[B2:.*]] = arith.subf %[[B]], %[[B1]]
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.0{{.*}} tensor<16x16xf32, #[[L]]>
  // CHECK: %[[S:.*]] = "tile.dot"(%[[A2]], %[[B1]], %[[ZERO]]) {input_precision = "tf32"
  // CHECK: %[[T:.*]] = "tile.dot"(%[[A1]], %[[B2]], %[[S]]) {input_precision = "tf32"
  // CHECK: %[[INF:.*]] = arith.constant dense<0x7F800000>
  // CHECK: %[[ABS:.*]] = math.absf %[[T]]
  // CHECK: %[[FINITE:.*]] = arith.cmpf olt, %[[ABS]], %[[INF]]
  // CHECK: %[[U:.*]] = arith.select %[[FINITE]], %[[T]], %[[ZERO]]
  // CHECK: %[[D:.*]] = "tile.dot"(%[[A1]], %[[B1]], %[[U]]) {input_precision = "tf32"
  // CHECK: %[[R:.*]] = arith.addf %[[C]], %[[D]]
  // CHECK: "tilegpu.convert_layout"(%[[R]])
  func.func @tf32x3(%a: tensor<16x32xf32>, %b: tensor<32x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %d = "tile.dot"(%a, %b, %c) {input_precision = "tf32x3", max_num_imprecise_acc = 0 : i32} : (tensor<16x32xf32>, tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    return %d : tensor<16x16xf32>
  }

  // Pieces in bf16 need two neighbours along K in a register.
  // CHECK-LABEL: func.func @bf16x3(
  // CHECK: %[[A:.*]] = "tilegpu.convert_layout"({{.*}} -> tensor<2x16x16xf32, #[[LA:tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0 .*}>]]>
  // CHECK: arith.constant dense<-65536>
  // CHECK: %[[P:.*]] = arith.bitcast %{{.*}} to tensor<2x16x16xf32, #[[LA]]>
  // CHECK: %[[A1:.*]] = arith.truncf %[[P]] {{.*}} to tensor<2x16x16xbf16, #[[LA]]>
  // CHECK: %[[REST:.*]] = arith.subf %[[A]], %[[P]]
  // CHECK: %[[A2:.*]] = arith.truncf %[[REST]]
  // CHECK: %[[B1:.*]] = arith.truncf
  // CHECK: %[[B2:.*]] = arith.truncf
  // CHECK-NOT: arith.truncf
  // CHECK: %[[S:.*]] = "tile.dot"(%[[A2]], %[[B1]], %{{.*}}tensor<2x16x16xbf16, {{.*}}tensor<2x16x16xbf16, {{.*}}tensor<2x16x16xf32,
  // CHECK: %[[T:.*]] = "tile.dot"(%[[A1]], %[[B2]], %[[S]])
  // CHECK: %[[U:.*]] = arith.select
  // CHECK: %[[D:.*]] = "tile.dot"(%[[A1]], %[[B1]], %[[U]])
  // CHECK: arith.addf
  func.func @bf16x3(%a: tensor<2x16x16xf32>) -> tensor<2x16x16xf32> {
    %d = "tile.dot"(%a, %a, %a) {input_precision = "bf16x3", max_num_imprecise_acc = 0 : i32} : (tensor<2x16x16xf32>, tensor<2x16x16xf32>, tensor<2x16x16xf32>) -> tensor<2x16x16xf32>
    return %d : tensor<2x16x16xf32>
  }

  // CHECK-LABEL: func.func @bf16x6(
  // CHECK: %[[A:.*]] = "tilegpu.convert_layout"({{.*}}op_idx = 0
  // CHECK: %[[A1:.*]] = arith.truncf
  // CHECK: %[[X:.*]] = arith.subf %[[A]],
  // CHECK: %[[A2:.*]] = arith.truncf %[[X]]
  // CHECK: %[[W:.*]] = arith.extf %[[A2]]
  // CHECK: %[[Y:.*]] = arith.subf %[[X]], %[[W]]
  // CHECK: %[[A3:.*]] = arith.truncf %[[Y]]
  // CHECK: %[[B1:.*]] = arith.truncf
  // CHECK: %[[B2:.*]] = arith.truncf
  // CHECK: %[[B3:.*]] = arith.truncf
  // CHECK: "tile.dot"(%[[A3]], %[[B1]],
  // CHECK: "tile.dot"(%[[A1]], %[[B3]],
  // CHECK: "tile.dot"(%[[A2]], %[[B2]],
  // CHECK: "tile.dot"(%[[A2]], %[[B1]],
  // CHECK: "tile.dot"(%[[A1]], %[[B2]],
  // CHECK: arith.select
  // CHECK: "tile.dot"(%[[A1]], %[[B1]],
  // CHECK: arith.addf
  func.func @bf16x6(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %d = "tile.dot"(%a, %b, %a) {input_precision = "bf16x6", max_num_imprecise_acc = 0 : i32} : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    return %d : tensor<16x16xf32>
  }

  // Other precisions and other types stay; what is too thin for the instruction is computed in f32.
  // CHECK-LABEL: func.func @others(
  // CHECK: "tile.dot"(%{{.*}}) {input_precision = "tf32", {{.*}}mma
  // CHECK: "tile.dot"(%{{.*}}) {input_precision = "ieee",
  // CHECK: "tile.dot"(%{{.*}}) {input_precision = "tf32x3",{{.*}}f16, {{.*}}mma
  // CHECK: "tile.dot"(%{{.*}}) {input_precision = "ieee",{{.*}}16x4xf32
  // CHECK-NOT: tile.dot
  func.func @others(%a: tensor<16x16xf32>, %h: tensor<16x16xf16>, %x: tensor<16x4xf32>, %y: tensor<4x16xf32>) -> tensor<16x16xf32> {
    %1 = "tile.dot"(%a, %a, %a) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %2 = "tile.dot"(%a, %a, %1) {input_precision = "ieee", max_num_imprecise_acc = 0 : i32} : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %3 = "tile.dot"(%h, %h, %2) {input_precision = "tf32x3", max_num_imprecise_acc = 0 : i32} : (tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %4 = "tile.dot"(%x, %y, %3) {input_precision = "tf32x3", max_num_imprecise_acc = 0 : i32} : (tensor<16x4xf32>, tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    return %4 : tensor<16x16xf32>
  }
}
