// RUN: tilec %s --passes=reduce-data-duplication | FileCheck %s
// reduce-data-duplication: operands that need shared memory get buffers.
#a = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 8], threads_per_warp = [8, 4], warps_per_cta = [4, 1]}>
#b = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 8], threads_per_warp = [4, 8], warps_per_cta = [4, 1]}>
#t = #tilegpu.blocked<{order = [0, 1], size_per_thread = [8, 1], threads_per_warp = [8, 4], warps_per_cta = [1, 4]}>
#byte = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 16], threads_per_warp = [8, 4], warps_per_cta = [4, 1]}>
#f = #tilegpu.blocked<{order = [1, 0], size_per_thread = [4, 4], threads_per_warp = [2, 16], warps_per_cta = [4, 1]}>
#mma = #tilegpu.mma<{instr_shape = [16, 8], version = 2 : i64, warps_per_cta = [2, 2]}>
#rows = #tilegpu.mma<{instr_shape = [16, 8], version = 2 : i64, warps_per_cta = [4, 1]}>
#x = #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0 : i64, parent = #mma}>
#y = #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 1 : i64, parent = #mma}>
#x4 = #tilegpu.dot_op<{k_width = 4 : i64, op_idx = 0 : i64, parent = #mma}>
#y4 = #tilegpu.dot_op<{k_width = 4 : i64, op_idx = 1 : i64, parent = #mma}>
#fx = #tilegpu.dot_op<{k_width = 1 : i64, op_idx = 0 : i64, parent = #f}>
#fy = #tilegpu.dot_op<{k_width = 1 : i64, op_idx = 1 : i64, parent = #f}>
module attributes {tilegpu.num_warps = 4 : i32, tilegpu.threads_per_warp = 32 : i32} {

// Both buffers are filled, then both are read, right in front of the product. Rows are as the loads
// have them, swizzled for matrix instructions.
// CHECK-LABEL: func.func @product
// CHECK: [[A:%.+]] = "tile.load"
// CHECK-NEXT: [[B:%.+]] = "tile.load"
// CHECK-NEXT: math.exp2
// CHECK-NEXT: [[P:%.+]] = "tilegpu.local_alloc"([[A]]) : {{.*}} -> !tilegpu.memdesc<tensor<64x32xf16, #tilegpu.shared<{max_phase = 4 : i64, order = [1, 0], per_phase = 2 : i64, vec = 8 : i64}>>>
// CHECK-NEXT: [[Q:%.+]] = "tilegpu.local_alloc"([[B]]) : {{.*}} -> !tilegpu.memdesc<tensor<32x64xf16, #tilegpu.shared<{max_phase = 8 : i64, order = [1, 0], per_phase = 1 : i64, vec = 8 : i64}>>>
// CHECK-NEXT: [[X:%.+]] = "tilegpu.local_load"([[P]]) : {{.*}} -> tensor<64x32xf16, #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0
// CHECK-NEXT: [[Y:%.+]] = "tilegpu.local_load"([[Q]]) : {{.*}} -> tensor<32x64xf16, #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 1
// CHECK-NEXT: "tile.dot"([[X]], [[Y]]
func.func @product(%p: tensor<64x32x!tile.ptr<f16>, #a>, %q: tensor<32x64x!tile.ptr<f16>, #b>, %c: tensor<64x64xf32, #mma>) {
  %a = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x32x!tile.ptr<f16>, #a>) -> tensor<64x32xf16, #a>
  %x = "tilegpu.convert_layout"(%a) : (tensor<64x32xf16, #a>) -> tensor<64x32xf16, #x>
  %b = "tile.load"(%q) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<32x64x!tile.ptr<f16>, #b>) -> tensor<32x64xf16, #b>
  %y = "tilegpu.convert_layout"(%b) : (tensor<32x64xf16, #b>) -> tensor<32x64xf16, #y>
  %e = math.exp2 %c : tensor<64x64xf32, #mma>
  %d = "tile.dot"(%x, %y, %e) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16, #x>, tensor<32x64xf16, #y>, tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma>
  return
}

// A tile whose columns are contiguous keeps them so.
// CHECK-LABEL: func.func @columns
// CHECK: local_alloc{{.*}} -> !tilegpu.memdesc<tensor<32x64xf16, #tilegpu.shared<{max_phase = 4 : i64, order = [0, 1], per_phase = 2 : i64, vec = 8 : i64}>>>
// CHECK: local_load{{.*}} -> tensor<32x64xf16, #tilegpu.dot_op
func.func @columns(%b: tensor<32x64xf16, #t>) {
  %y = "tilegpu.convert_layout"(%b) : (tensor<32x64xf16, #t>) -> tensor<32x64xf16, #y>
  return
}

// One buffer for a tile that two products use; where they read it does not matter.
// CHECK-LABEL: func.func @shared_by_two
// CHECK: [[P:%.+]] = "tilegpu.local_alloc"(%arg0)
// CHECK-NOT: local_alloc
// CHECK-COUNT-2: "tilegpu.local_load"([[P]])
// CHECK-NOT: local_{{alloc|load}}
func.func @shared_by_two(%a: tensor<64x64xf16, #a>, %c: tensor<64x64xf32, #mma>) {
  %x = "tilegpu.convert_layout"(%a) : (tensor<64x64xf16, #a>) -> tensor<64x64xf16, #x>
  %y = "tilegpu.convert_layout"(%a) : (tensor<64x64xf16, #a>) -> tensor<64x64xf16, #y>
  %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x64xf16, #x>, tensor<64x64xf16, #y>, tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma>
  return
}

// Without tensor cores rows that threads side by side read are swapped in pieces of 16 bytes.
// CHECK-LABEL: func.func @plain
// CHECK: local_alloc{{.*}} -> !tilegpu.memdesc<tensor<64x32xf32, #tilegpu.shared<{max_phase = 2 : i64, order = [1, 0], per_phase = 4 : i64, vec = 4 : i64}>>>
// CHECK: local_load{{.*}} -> tensor<64x32xf32, #tilegpu.dot_op<{k_width = 1 : i64, op_idx = 0 : i64, parent = #tilegpu.blocked
func.func @plain(%a: tensor<64x32xf32, #a>) {
  %x = "tilegpu.convert_layout"(%a) : (tensor<64x32xf32, #a>) -> tensor<64x32xf32, #fx>
  return
}

// What stays in its registers needs no buffer, and conversions for others are none of ours.
// CHECK-LABEL: func.func @registers
// CHECK-NOT: local_alloc
// CHECK: return
func.func @registers(%p: tensor<64x32xf16, #rows>, %b: tensor<32x64xf16, #b>) {
  %x = "tilegpu.convert_layout"(%p) : (tensor<64x32xf16, #rows>) -> tensor<64x32xf16, #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0 : i64, parent = #rows}>>
  %y = "tilegpu.convert_layout"(%b) : (tensor<32x64xf16, #b>) -> tensor<32x64xf16, #mma>
  return
}
}
