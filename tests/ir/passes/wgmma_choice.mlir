// RUN: tilec %s --passes=accelerate-dot --target=sm_90a | FileCheck %s
// RUN: tilec %s --passes=accelerate-dot --target=sm_90a --explain-perf 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: tilec %s --passes=accelerate-dot --target=sm_89 | FileCheck %s --check-prefix=OLD
// accelerate-dot: products of 8-bit floats by wgmma, whose operands both have K as the contiguous dimension.
#rows = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 16], threads_per_warp = [8, 4], warps_per_cta = [4, 1]}>
#columns = #tilegpu.blocked<{order = [0, 1], size_per_thread = [16, 1], threads_per_warp = [4, 8], warps_per_cta = [1, 4]}>
#sums = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 4], threads_per_warp = [2, 16], warps_per_cta = [4, 1]}>
module attributes {tilegpu.num_warps = 4 : i32, tilegpu.threads_per_warp = 32 : i32} {

// OLD-NOT: version = 3
// WHY: uses wgmma m64n64k32, 1 x 1 warpgroups [dot]
// WHY-NOT: adds its sums
// CHECK-LABEL: func.func @mixed
// CHECK-NOT: tile.fp_to_fp
// CHECK: tile.dot{{.*}} max_num_imprecise_acc = 1073741824 {{.*}} : (tensor<64x64xf8E4M3FN, #tilegpu.dot_op<{k_width = 4 {{.*}} tensor<64x64xf8E5M2, #tilegpu.dot_op<{k_width = 4 {{.*}} -> tensor<64x64xf32, #tilegpu.mma<{instr_shape = [16, 64, 32], version = 3 : i64, warps_per_cta = [4, 1]}>>
  func.func @mixed(%a: tensor<64x64xf8E4M3FN, #rows>, %b: tensor<64x64xf8E5M2, #columns>, %c: tensor<64x64xf32, #sums>) -> tensor<64x64xf32, #sums> {
    %x = "tilegpu.convert_layout"(%a) : (tensor<64x64xf8E4M3FN, #rows>) -> tensor<64x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 0, k_width = 1, parent = #sums}>>
    %y = "tilegpu.convert_layout"(%b) : (tensor<64x64xf8E5M2, #columns>) -> tensor<64x64xf8E5M2, #tilegpu.dot_op<{op_idx = 1, k_width = 1, parent = #sums}>>
    %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 1073741824 : i32} : (tensor<64x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 0, k_width = 1, parent = #sums}>>, tensor<64x64xf8E5M2, #tilegpu.dot_op<{op_idx = 1, k_width = 1, parent = #sums}>>, tensor<64x64xf32, #sums>) -> tensor<64x64xf32, #sums>
    return %d : tensor<64x64xf32, #sums>
  }

// The bound is kept for warp-group-dot.
// WHY: uses wgmma m64n64k32, 1 x 1 warpgroups [dot]
// WHY: adds its sums to the accumulator every 32 elements of K [dot]
// CHECK-LABEL: func.func @bounded
// CHECK: tile.dot{{.*}} max_num_imprecise_acc = 40 {{.*}} version = 3
  func.func @bounded(%a: tensor<64x64xf8E5M2, #rows>, %b: tensor<64x64xf8E5M2, #columns>, %c: tensor<64x64xf32, #sums>) -> tensor<64x64xf32, #sums> {
    %x = "tilegpu.convert_layout"(%a) : (tensor<64x64xf8E5M2, #rows>) -> tensor<64x64xf8E5M2, #tilegpu.dot_op<{op_idx = 0, k_width = 1, parent = #sums}>>
    %y = "tilegpu.convert_layout"(%b) : (tensor<64x64xf8E5M2, #columns>) -> tensor<64x64xf8E5M2, #tilegpu.dot_op<{op_idx = 1, k_width = 1, parent = #sums}>>
    %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 40 : i32} : (tensor<64x64xf8E5M2, #tilegpu.dot_op<{op_idx = 0, k_width = 1, parent = #sums}>>, tensor<64x64xf8E5M2, #tilegpu.dot_op<{op_idx = 1, k_width = 1, parent = #sums}>>, tensor<64x64xf32, #sums>) -> tensor<64x64xf32, #sums>
    return %d : tensor<64x64xf32, #sums>
  }

// Sums of f16 have no bound.
// WHY: uses wgmma m64n64k32, 1 x 1 warpgroups [dot]
// CHECK-LABEL: func.func @half
// CHECK: tile.dot{{.*}} -> tensor<64x64xf16, #tilegpu.mma<{instr_shape = [16, 64, 32], version = 3
  func.func @half(%a: tensor<64x64xf8E4M3FN, #rows>, %b: tensor<64x64xf8E4M3FN, #columns>, %c: tensor<64x64xf16, #sums>) -> tensor<64x64xf16, #sums> {
    %x = "tilegpu.convert_layout"(%a) : (tensor<64x64xf8E4M3FN, #rows>) -> tensor<64x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 0, k_width = 1, parent = #sums}>>
    %y = "tilegpu.convert_layout"(%b) : (tensor<64x64xf8E4M3FN, #columns>) -> tensor<64x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 1, k_width = 1, parent = #sums}>>
    %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 0, k_width = 1, parent = #sums}>>, tensor<64x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 1, k_width = 1, parent = #sums}>>, tensor<64x64xf16, #sums>) -> tensor<64x64xf16, #sums>
    return %d : tensor<64x64xf16, #sums>
  }

// Fewer elements than an instruction has.
// WHY: uses mma.sync m16n8k16.f32.f16.f16.f32
// CHECK-LABEL: func.func @exact
// CHECK: tile.dot{{.*}} version = 2
  func.func @exact(%a: tensor<64x64xf8E4M3FN, #rows>, %b: tensor<64x64xf8E4M3FN, #columns>, %c: tensor<64x64xf32, #sums>) -> tensor<64x64xf32, #sums> {
    %x = "tilegpu.convert_layout"(%a) : (tensor<64x64xf8E4M3FN, #rows>) -> tensor<64x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 0, k_width = 1, parent = #sums}>>
    %y = "tilegpu.convert_layout"(%b) : (tensor<64x64xf8E4M3FN, #columns>) -> tensor<64x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 1, k_width = 1, parent = #sums}>>
    %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 31 : i32} : (tensor<64x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 0, k_width = 1, parent = #sums}>>, tensor<64x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 1, k_width = 1, parent = #sums}>>, tensor<64x64xf32, #sums>) -> tensor<64x64xf32, #sums>
    return %d : tensor<64x64xf32, #sums>
  }

// N is the contiguous dimension of B.
// WHY: uses mma.sync m16n8k16.f32.f16.f16.f32
// CHECK-LABEL: func.func @b_rows
// CHECK: tile.dot{{.*}} version = 2
  func.func @b_rows(%a: tensor<64x64xf8E4M3FN, #rows>, %b: tensor<64x64xf8E4M3FN, #rows>, %c: tensor<64x64xf32, #sums>) -> tensor<64x64xf32, #sums> {
    %x = "tilegpu.convert_layout"(%a) : (tensor<64x64xf8E4M3FN, #rows>) -> tensor<64x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 0, k_width = 1, parent = #sums}>>
    %y = "tilegpu.convert_layout"(%b) : (tensor<64x64xf8E4M3FN, #rows>) -> tensor<64x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 1, k_width = 1, parent = #sums}>>
    %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 1073741824 : i32} : (tensor<64x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 0, k_width = 1, parent = #sums}>>, tensor<64x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 1, k_width = 1, parent = #sums}>>, tensor<64x64xf32, #sums>) -> tensor<64x64xf32, #sums>
    return %d : tensor<64x64xf32, #sums>
  }

// WHY: uses mma.sync m16n8k16.f32.f16.f16.f32
// CHECK-LABEL: func.func @few_rows
// CHECK: tile.dot{{.*}} version = 2
  func.func @few_rows(%a: tensor<32x64xf8E4M3FN, #rows>, %b: tensor<64x64xf8E4M3FN, #columns>, %c: tensor<32x64xf32, #sums>) -> tensor<32x64xf32, #sums> {
    %x = "tilegpu.convert_layout"(%a) : (tensor<32x64xf8E4M3FN, #rows>) -> tensor<32x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 0, k_width = 1, parent = #sums}>>
    %y = "tilegpu.convert_layout"(%b) : (tensor<64x64xf8E4M3FN, #columns>) -> tensor<64x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 1, k_width = 1, parent = #sums}>>
    %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 1073741824 : i32} : (tensor<32x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 0, k_width = 1, parent = #sums}>>, tensor<64x64xf8E4M3FN, #tilegpu.dot_op<{op_idx = 1, k_width = 1, parent = #sums}>>, tensor<32x64xf32, #sums>) -> tensor<32x64xf32, #sums>
    return %d : tensor<32x64xf32, #sums>
  }
}
