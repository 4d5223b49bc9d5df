// RUN: tilec %s --passes=assign-layouts,accelerate-dot --target=sm_89 | FileCheck %s
// RUN: tilec %s --passes=assign-layouts,accelerate-dot --target=sm_80 | FileCheck %s --check-prefix=OLD
// RUN: tilec %s --passes=assign-layouts,accelerate-dot --target=sm_90a | FileCheck %s --check-prefix=OLD
// RUN: tilec %s --passes=assign-layouts,accelerate-dot --target=sm_90a --explain-perf 2>&1 | FileCheck %s --check-prefix=WHY
// accelerate-dot: products take the layouts of the instruction that computes them.
module {

// Operands and accumulator are converted to what mma.sync wants, the result is converted back. A warp
// has a part that is as square as can be.
// WHY: uses wgmma m64n128k16, 1 x 1 warpgroups [dot]
// CHECK-LABEL: func.func @square
// CHECK: [[A:%.+]] = "tilegpu.convert_layout"({{.*}}) : {{.*}} -> tensor<128x32xf16, [[LA:#tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0 : i64, parent = #tilegpu.mma<{instr_shape = \[16, 8\], version = 2 : i64, warps_per_cta = \[2, 2\]}>}>]]>
// CHECK: [[B:%.+]] = "tilegpu.convert_layout"({{.*}}) : {{.*}} -> tensor<32x128xf16, [[LB:#tilegpu.dot_op<{k_width = 2 : i64, op_idx = 1 : i64, .*}>}>]]>
// CHECK: [[C:%.+]] = "tilegpu.convert_layout"({{.*}}) : {{.*}} -> tensor<128x128xf32, [[LC:#tilegpu.mma<.*}>]]>
// CHECK: [[D:%.+]] = "tile.dot"([[A]], [[B]], [[C]]) {{.*}} : (tensor<128x32xf16, [[LA]]>, tensor<32x128xf16, [[LB]]>, tensor<128x128xf32, [[LC]]>) -> tensor<128x128xf32, [[LC]]>
// CHECK: "tilegpu.convert_layout"([[D]]) : {{.*}} -> tensor<128x128xf32, #tilegpu.blocked
  func.func @square(%x: f16, %y: f16, %z: f32) {
    %a = "tile.splat"(%x) : (f16) -> tensor<128x32xf16>
    %b = "tile.splat"(%y) : (f16) -> tensor<32x128xf16>
    %c = "tile.splat"(%z) : (f32) -> tensor<128x128xf32>
    %d = "tile.dot"(%a, %b, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<128x32xf16>, tensor<32x128xf16>, tensor<128x128xf32>) -> tensor<128x128xf32>
    return
  }

// More columns than rows: warps side by side.
// WHY: uses mma.sync m16n8k16.f32.bf16.bf16.f32, 1 x 4 warps [dot]
// CHECK-LABEL: func.func @wide
// CHECK: tile.dot{{.*}} -> tensor<32x256xf32, #tilegpu.mma<{instr_shape = [16, 8], version = 2 : i64, warps_per_cta = [1, 4]}>>
  func.func @wide(%x: bf16, %y: bf16, %z: f32) {
    %a = "tile.splat"(%x) : (bf16) -> tensor<32x16xbf16>
    %b = "tile.splat"(%y) : (bf16) -> tensor<16x256xbf16>
    %c = "tile.splat"(%z) : (f32) -> tensor<32x256xf32>
    %d = "tile.dot"(%a, %b, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<32x16xbf16>, tensor<16x256xbf16>, tensor<32x256xf32>) -> tensor<32x256xf32>
    return
  }

// No more warps than the tile has work for; the others hold copies.
// WHY: uses mma.sync m16n8k16.f16.f16.f16.f16, 4 x 1 warps [dot]
// CHECK-LABEL: func.func @small
// CHECK: tile.dot{{.*}} -> tensor<16x8xf16, #tilegpu.mma<{{.*}} warps_per_cta = [4, 1]}>>
  func.func @small(%x: f16, %y: f16, %z: f16) {
    %a = "tile.splat"(%x) : (f16) -> tensor<16x16xf16>
    %b = "tile.splat"(%y) : (f16) -> tensor<16x8xf16>
    %c = "tile.splat"(%z) : (f16) -> tensor<16x8xf16>
    %d = "tile.dot"(%a, %b, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf16>) -> tensor<16x8xf16>
    return
  }

// Warps along the batch first.
// CHECK-LABEL: func.func @batch
// CHECK: tile.dot{{.*}} -> tensor<2x64x64xf32, #tilegpu.mma<{instr_shape = [16, 8], version = 2 : i64, warps_per_cta = [2, 1, 2]}>>
  func.func @batch(%x: f16, %y: f16, %z: f32) {
    %a = "tile.splat"(%x) : (f16) -> tensor<2x64x32xf16>
    %b = "tile.splat"(%y) : (f16) -> tensor<2x32x64xf16>
    %c = "tile.splat"(%z) : (f32) -> tensor<2x64x64xf32>
    %d = "tile.dot"(%a, %b, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<2x64x32xf16>, tensor<2x32x64xf16>, tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
    return
  }

// Words of 32 bits: one element each.
// WHY: uses mma.sync m16n8k8.f32.tf32.tf32.f32
// CHECK-LABEL: func.func @tf32
// CHECK: tile.dot{{.*}} : (tensor<64x8xf32, #tilegpu.dot_op<{k_width = 1
  func.func @tf32(%x: f32, %y: f32, %z: f32) {
    %a = "tile.splat"(%x) : (f32) -> tensor<64x8xf32>
    %b = "tile.splat"(%y) : (f32) -> tensor<8x64xf32>
    %c = "tile.splat"(%z) : (f32) -> tensor<64x64xf32>
    %d = "tile.dot"(%a, %b, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x8xf32>, tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    return
  }

// WHY: is computed without tensor cores: f32 operands keep all their bits here
// CHECK-LABEL: func.func @ieee
// CHECK-NOT: tilegpu.mma
// CHECK: tile.dot{{.*}} -> tensor<64x64xf32, #tilegpu.blocked<{order = [1, 0], size_per_thread = [4, 4]
  func.func @ieee(%x: f32, %y: f32, %z: f32) {
    %a = "tile.splat"(%x) : (f32) -> tensor<64x8xf32>
    %b = "tile.splat"(%y) : (f32) -> tensor<8x64xf32>
    %c = "tile.splat"(%z) : (f32) -> tensor<64x64xf32>
    %d = "tile.dot"(%a, %b, %c) {input_precision = "ieee", max_num_imprecise_acc = 0 : i32} : (tensor<64x8xf32>, tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    return
  }

// WHY: uses mma.sync m16n8k8.f64.f64.f64.f64
// CHECK-LABEL: func.func @double
// CHECK: tile.dot{{.*}} : (tensor<64x16xf64, #tilegpu.dot_op<{k_width = 1
// OLD-LABEL: func.func @double
// OLD: tile.dot{{.*}} : (tensor<64x16xf64, #tilegpu.dot_op<{k_width = 1
  func.func @double(%x: f64, %y: f64, %z: f64) {
    %a = "tile.splat"(%x) : (f64) -> tensor<64x16xf64>
    %b = "tile.splat"(%y) : (f64) -> tensor<16x64xf64>
    %c = "tile.splat"(%z) : (f64) -> tensor<64x64xf64>
    %d = "tile.dot"(%a, %b, %c) {input_precision = "ieee", max_num_imprecise_acc = 0 : i32} : (tensor<64x16xf64>, tensor<16x64xf64>, tensor<64x64xf64>) -> tensor<64x64xf64>
    return
  }

// WHY: uses mma.sync m16n8k32.s32.s8.s8.s32
// CHECK-LABEL: func.func @bytes
// CHECK: tile.dot{{.*}} : (tensor<64x32xi8, #tilegpu.dot_op<{k_width = 4
  func.func @bytes(%x: i8, %y: i8, %z: i32) {
    %a = "tile.splat"(%x) : (i8) -> tensor<64x32xi8>
    %b = "tile.splat"(%y) : (i8) -> tensor<32x64xi8>
    %c = "tile.splat"(%z) : (i32) -> tensor<64x64xi32>
    %d = "tile.dot"(%a, %b, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xi8>, tensor<32x64xi8>, tensor<64x64xi32>) -> tensor<64x64xi32>
    return
  }

// WHY: is computed without tensor cores: K is smaller than that of the instruction
// CHECK-LABEL: func.func @few_bytes
// CHECK-NOT: tilegpu.mma
  func.func @few_bytes(%x: i8, %y: i8, %z: i32) {
    %a = "tile.splat"(%x) : (i8) -> tensor<64x16xi8>
    %b = "tile.splat"(%y) : (i8) -> tensor<16x64xi8>
    %c = "tile.splat"(%z) : (i32) -> tensor<64x64xi32>
    %d = "tile.dot"(%a, %b, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x16xi8>, tensor<16x64xi8>, tensor<64x64xi32>) -> tensor<64x64xi32>
    return
  }

// WHY: is computed without tensor cores: no instruction has these types
// CHECK-LABEL: func.func @words
// CHECK-NOT: tilegpu.mma
  func.func @words(%x: i32, %y: i32, %z: i32) {
    %a = "tile.splat"(%x) : (i32) -> tensor<64x16xi32>
    %b = "tile.splat"(%y) : (i32) -> tensor<16x64xi32>
    %c = "tile.splat"(%z) : (i32) -> tensor<64x64xi32>
    %d = "tile.dot"(%a, %b, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x16xi32>, tensor<16x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi32>
    return
  }

// fp8 where there is no instruction for it, or in name only: as f16.
// WHY: uses mma.sync m16n8k16.f32.f16.f16.f32, 2 x 2 warps; its operands of 8 bits are converted to f16
// CHECK-LABEL: func.func @fp8
// CHECK: tile.dot{{.*}} : (tensor<64x32xf8E4M3FN, #tilegpu.dot_op<{k_width = 4
// OLD-LABEL: func.func @fp8
// OLD-DAG: "tile.fp_to_fp"({{.*}}) {rounding = "rtne"} : {{.*}} -> tensor<64x32xf16
// OLD-DAG: "tile.fp_to_fp"({{.*}}) {rounding = "rtne"} : {{.*}} -> tensor<32x64xf16
// OLD: tile.dot{{.*}} : (tensor<64x32xf16, #tilegpu.dot_op<{k_width = 2
  func.func @fp8(%x: f8E4M3FN, %y: f8E5M2, %z: f32) {
    %a = "tile.splat"(%x) : (f8E4M3FN) -> tensor<64x32xf8E4M3FN>
    %b = "tile.splat"(%y) : (f8E5M2) -> tensor<32x64xf8E5M2>
    %c = "tile.splat"(%z) : (f32) -> tensor<64x64xf32>
    %d = "tile.dot"(%a, %b, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf8E4M3FN>, tensor<32x64xf8E5M2>, tensor<64x64xf32>) -> tensor<64x64xf32>
    return
  }

// WHY: uses mma.sync m16n8k16.f32.f16.f16.f32, 2 x 2 warps; its operands of 8 bits are converted to f16
// CHECK-LABEL: func.func @few_fp8
// CHECK: tile.dot{{.*}} : (tensor<64x16xf16, #tilegpu.dot_op<{k_width = 2
  func.func @few_fp8(%x: f8E5M2, %y: f8E5M2, %z: f32) {
    %a = "tile.splat"(%x) : (f8E5M2) -> tensor<64x16xf8E5M2>
    %b = "tile.splat"(%y) : (f8E5M2) -> tensor<16x64xf8E5M2>
    %c = "tile.splat"(%z) : (f32) -> tensor<64x64xf32>
    %d = "tile.dot"(%a, %b, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x16xf8E5M2>, tensor<16x64xf8E5M2>, tensor<64x64xf32>) -> tensor<64x64xf32>
    return
  }

// What was loaded as bytes is held four to a lane along K in both operands, so that it is widened in
// registers; not more of them than K has.
// CHECK-LABEL: func.func @weights
// CHECK: tile.dot{{.*}} : (tensor<64x32xf16, #tilegpu.dot_op<{k_width = 4 : i64, op_idx = 0 {{.*}} tensor<32x64xf16, #tilegpu.dot_op<{k_width = 4 : i64, op_idx = 1
// CHECK: tile.dot{{.*}} : (tensor<64x16xf16, #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0 {{.*}} tensor<16x64xf16, #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 1
  func.func @weights(%x: !tile.ptr<f16>, %y: !tile.ptr<i8>, %z: f32) {
    %px = "tile.splat"(%x) : (!tile.ptr<f16>) -> tensor<64x32x!tile.ptr<f16>>
    %py = "tile.splat"(%y) : (!tile.ptr<i8>) -> tensor<32x64x!tile.ptr<i8>>
    %a = "tile.load"(%px) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x32x!tile.ptr<f16>>) -> tensor<64x32xf16>
    %b = "tile.load"(%py) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<32x64x!tile.ptr<i8>>) -> tensor<32x64xi8>
    %bf = arith.sitofp %b : tensor<32x64xi8> to tensor<32x64xf16>
    %c = "tile.splat"(%z) : (f32) -> tensor<64x64xf32>
    %d = "tile.dot"(%a, %bf, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %qx = "tile.splat"(%x) : (!tile.ptr<f16>) -> tensor<64x16x!tile.ptr<f16>>
    %qy = "tile.splat"(%y) : (!tile.ptr<i8>) -> tensor<16x64x!tile.ptr<i8>>
    %e = "tile.load"(%qx) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x16x!tile.ptr<f16>>) -> tensor<64x16xf16>
    %f = "tile.load"(%qy) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<16x64x!tile.ptr<i8>>) -> tensor<16x64xi8>
    %ff = arith.sitofp %f : tensor<16x64xi8> to tensor<16x64xf16>
    %g = "tile.dot"(%e, %ff, %d) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x16xf16>, tensor<16x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    return
  }

// A product that feeds another one as operand A: both have whole rows in a warp, and the words are
// those that the first one leaves in registers, whatever was loaded for the other operand.
// CHECK-LABEL: func.func @chain
// CHECK: tile.dot{{.*}} -> tensor<64x64xf32, #tilegpu.mma<{{.*}} warps_per_cta = [4, 1]}>>
// CHECK: tile.dot{{.*}} : (tensor<64x64xf16, #tilegpu.dot_op<{k_width = 2 {{.*}} -> tensor<64x128xf32, #tilegpu.mma<{{.*}} warps_per_cta = [4, 1]}>>
  func.func @chain(%x: f16, %y: !tile.ptr<f8E5M2>, %z: f32) {
    %a = "tile.splat"(%x) : (f16) -> tensor<64x16xf16>
    %b = "tile.splat"(%x) : (f16) -> tensor<16x64xf16>
    %c = "tile.splat"(%z) : (f32) -> tensor<64x64xf32>
    %d = "tile.dot"(%a, %b, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x16xf16>, tensor<16x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %e = math.exp2 %d : tensor<64x64xf32>
    %f = arith.truncf %e : tensor<64x64xf32> to tensor<64x64xf16>
    %py = "tile.splat"(%y) : (!tile.ptr<f8E5M2>) -> tensor<64x128x!tile.ptr<f8E5M2>>
    %g = "tile.load"(%py) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x128x!tile.ptr<f8E5M2>>) -> tensor<64x128xf8E5M2>
    %h = "tile.fp_to_fp"(%g) {rounding = "rtne"} : (tensor<64x128xf8E5M2>) -> tensor<64x128xf16>
    %i = "tile.splat"(%z) : (f32) -> tensor<64x128xf32>
    %j = "tile.dot"(%f, %h, %i) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>) -> tensor<64x128xf32>
    return
  }
}
