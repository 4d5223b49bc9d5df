// RUN: tilec %s --passes=optimize-dot-operands | FileCheck %s
// optimize-dot-operands: conversions of operands move elements of the loaded type.
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
#columns = #tilegpu.slice<{dim = 0 : i64, parent = #b}>
#fx = #tilegpu.dot_op<{k_width = 1 : i64, op_idx = 0 : i64, parent = #f}>
#fy = #tilegpu.dot_op<{k_width = 1 : i64, op_idx = 1 : i64, parent = #f}>
module attributes {tilegpu.num_warps = 4 : i32, tilegpu.threads_per_warp = 32 : i32} {

// Bytes are widened behind the conversion; a factor moves along.
// CHECK-LABEL: func.func @widened
// CHECK: [[L:%.+]] = "tile.load"
// CHECK: [[C:%.+]] = "tilegpu.convert_layout"([[L]]) : (tensor<64x32xi8, {{.*}} -> tensor<64x32xi8, #tilegpu.dot_op<{k_width = 4
// CHECK: [[F:%.+]] = arith.sitofp [[C]] : tensor<64x32xi8, #tilegpu.dot_op{{.*}} to tensor<64x32xf16, #tilegpu.dot_op
// CHECK: [[K:%.+]] = arith.constant dense<2.000000e+00> : tensor<64x32xf16, #tilegpu.dot_op
// CHECK: [[S:%.+]] = arith.mulf [[F]], [[K]]
// CHECK-NOT: convert_layout
// CHECK: "tile.dot"([[S]]
func.func @widened(%p: tensor<64x32x!tile.ptr<i8>, #byte>, %y: tensor<32x64xf16, #y4>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
  %k = arith.constant dense<2.0> : tensor<64x32xf16, #byte>
  %a = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x32x!tile.ptr<i8>, #byte>) -> tensor<64x32xi8, #byte>
  %f = arith.sitofp %a : tensor<64x32xi8, #byte> to tensor<64x32xf16, #byte>
  %s = arith.mulf %f, %k : tensor<64x32xf16, #byte>
  %x = "tilegpu.convert_layout"(%s) : (tensor<64x32xf16, #byte>) -> tensor<64x32xf16, #x4>
  %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16, #x4>, tensor<32x64xf16, #y4>, tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma>
  return %d : tensor<64x64xf32, #mma>
}

// A factor of each column, loaded beside: it is loaded as the operand has its columns.
// CHECK-LABEL: func.func @scaled
// CHECK: [[V:%.+]] = "tile.load"({{.*}} -> tensor<64xf16, #tilegpu.slice<{dim = 0 : i64, parent = #tilegpu.dot_op
// CHECK: [[L:%.+]] = "tile.load"({{.*}} -> tensor<32x64xi8
// CHECK: [[C:%.+]] = "tilegpu.convert_layout"([[L]]) : {{.*}} -> tensor<32x64xi8, #tilegpu.dot_op
// CHECK: [[F:%.+]] = arith.sitofp [[C]]
// CHECK: [[E:%.+]] = "tile.expand_dims"([[V]])
// CHECK: [[W:%.+]] = "tile.broadcast"([[E]]) : {{.*}} -> tensor<32x64xf16, #tilegpu.dot_op
// CHECK: arith.mulf [[F]], [[W]] : tensor<32x64xf16, #tilegpu.dot_op
// CHECK-NOT: {{convert_layout|tile.load}}
// CHECK: return
func.func @scaled(%p: tensor<32x64x!tile.ptr<i8>, #b>, %q: !tile.ptr<f16>) -> tensor<32x64xf16, #y4> {
  %r = "tile.make_range"() {start = 0 : i32, end = 64 : i32} : () -> tensor<64xi32, #columns>
  %qs = "tile.splat"(%q) : (!tile.ptr<f16>) -> tensor<64x!tile.ptr<f16>, #columns>
  %qr = "tile.addptr"(%qs, %r) : (tensor<64x!tile.ptr<f16>, #columns>, tensor<64xi32, #columns>) -> tensor<64x!tile.ptr<f16>, #columns>
  %v = "tile.load"(%qr) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x!tile.ptr<f16>, #columns>) -> tensor<64xf16, #columns>
  %a = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<32x64x!tile.ptr<i8>, #b>) -> tensor<32x64xi8, #b>
  %f = arith.sitofp %a : tensor<32x64xi8, #b> to tensor<32x64xf16, #b>
  %e = "tile.expand_dims"(%v) {axis = 0 : i32} : (tensor<64xf16, #columns>) -> tensor<1x64xf16, #b>
  %w = "tile.broadcast"(%e) : (tensor<1x64xf16, #b>) -> tensor<32x64xf16, #b>
  %s = arith.mulf %f, %w : tensor<32x64xf16, #b>
  %y = "tilegpu.convert_layout"(%s) : (tensor<32x64xf16, #b>) -> tensor<32x64xf16, #y4>
  return %y : tensor<32x64xf16, #y4>
}

// A sum of two loads would move twice the bytes; a narrowed load, too. An expensive function would
// be computed by every warp that holds the element.
// CHECK-LABEL: func.func @stays
// CHECK: arith.addf {{.*}} : tensor<64x32xf16, #tilegpu.blocked
// CHECK: arith.truncf {{.*}} to tensor<64x32xf16, #tilegpu.blocked
// CHECK: math.exp2 {{.*}} : tensor<64x32xf32, #tilegpu.blocked
func.func @stays(%p: tensor<64x32x!tile.ptr<f16>, #a>, %q: tensor<64x32x!tile.ptr<f32>, #a>) -> (tensor<64x32xf16, #x>, tensor<64x32xf16, #x>, tensor<64x32xf32, #x>) {
  %a = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x32x!tile.ptr<f16>, #a>) -> tensor<64x32xf16, #a>
  %b = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x32x!tile.ptr<f16>, #a>) -> tensor<64x32xf16, #a>
  %s = arith.addf %a, %b : tensor<64x32xf16, #a>
  %x = "tilegpu.convert_layout"(%s) : (tensor<64x32xf16, #a>) -> tensor<64x32xf16, #x>
  %f = "tile.load"(%q) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x32x!tile.ptr<f32>, #a>) -> tensor<64x32xf32, #a>
  %h = arith.truncf %f : tensor<64x32xf32, #a> to tensor<64x32xf16, #a>
  %y = "tilegpu.convert_layout"(%h) : (tensor<64x32xf16, #a>) -> tensor<64x32xf16, #x>
  %e = math.exp2 %f : tensor<64x32xf32, #a>
  %z = "tilegpu.convert_layout"(%e) : (tensor<64x32xf32, #a>) -> tensor<64x32xf32, #x>
  return %x, %y, %z : tensor<64x32xf16, #x>, tensor<64x32xf16, #x>, tensor<64x32xf32, #x>
}

// A transposed tile is a view of its buffer, which the product that wants it as it is shares.
// CHECK-LABEL: func.func @transposed
// CHECK: [[L:%.+]] = "tile.load"
// CHECK: [[B:%.+]] = "tilegpu.local_alloc"([[L]]) : {{.*}} -> !tilegpu.memdesc<tensor<64x32xf16, #tilegpu.shared<{max_phase = 4 : i64, order = [1, 0], per_phase = 2 : i64, vec = 8 : i64}>>>
// CHECK-NOT: tile.trans
// CHECK: [[V:%.+]] = "tilegpu.local_trans"([[B]]) {order = array<i32: 1, 0>} : {{.*}} -> !tilegpu.memdesc<tensor<32x64xf16, #tilegpu.shared<{max_phase = 4 : i64, order = [0, 1], per_phase = 2 : i64, vec = 8 : i64}>>>
// CHECK: [[Y:%.+]] = "tilegpu.local_load"([[V]]) : {{.*}} -> tensor<32x64xf16, #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 1
// CHECK: [[X:%.+]] = "tilegpu.local_load"([[B]]) : {{.*}} -> tensor<64x32xf16, #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0
// CHECK: "tile.dot"([[X]], [[Y]]
func.func @transposed(%p: tensor<64x32x!tile.ptr<f16>, #a>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
  %a = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x32x!tile.ptr<f16>, #a>) -> tensor<64x32xf16, #a>
  %t = "tile.trans"(%a) {order = array<i32: 1, 0>} : (tensor<64x32xf16, #a>) -> tensor<32x64xf16, #t>
  %y = "tilegpu.convert_layout"(%t) : (tensor<32x64xf16, #t>) -> tensor<32x64xf16, #y>
  %x = "tilegpu.convert_layout"(%a) : (tensor<64x32xf16, #a>) -> tensor<64x32xf16, #x>
  %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16, #x>, tensor<32x64xf16, #y>, tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma>
  return %d : tensor<64x64xf32, #mma>
}

// Both at once: the bytes go into the buffer, and are widened behind its transposed view.
// CHECK-LABEL: func.func @widened_and_transposed
// CHECK: [[B:%.+]] = "tilegpu.local_alloc"({{.*}}) : (tensor<64x32xi8,
// CHECK: [[V:%.+]] = "tilegpu.local_trans"([[B]])
// CHECK: [[Y:%.+]] = "tilegpu.local_load"([[V]]) : {{.*}} -> tensor<32x64xi8, #tilegpu.dot_op
// CHECK: arith.sitofp [[Y]] : {{.*}} to tensor<32x64xf16, #tilegpu.dot_op
// CHECK-NOT: {{tile.trans|convert_layout}}
// CHECK: return
func.func @widened_and_transposed(%p: tensor<64x32x!tile.ptr<i8>, #a>) -> tensor<32x64xf16, #y4> {
  %a = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x32x!tile.ptr<i8>, #a>) -> tensor<64x32xi8, #a>
  %f = arith.sitofp %a : tensor<64x32xi8, #a> to tensor<64x32xf16, #a>
  %t = "tile.trans"(%f) {order = array<i32: 1, 0>} : (tensor<64x32xf16, #a>) -> tensor<32x64xf16, #t>
  %y = "tilegpu.convert_layout"(%t) : (tensor<32x64xf16, #t>) -> tensor<32x64xf16, #y4>
  return %y : tensor<32x64xf16, #y4>
}

// An operand that the loop does not change: a small one waits in registers, a large one (here 256
// halves a thread) in its buffer.
// CHECK-LABEL: func.func @invariant
// CHECK: [[L:%.+]] = "tile.load"
// CHECK: [[B:%.+]] = "tilegpu.local_alloc"([[L]])
// CHECK: [[Y:%.+]] = "tilegpu.convert_layout"
// CHECK: scf.for
// CHECK: [[X:%.+]] = "tilegpu.local_load"([[B]]) : {{.*}} -> tensor<64x512xf16, #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0
// CHECK: "tile.dot"([[X]],
// CHECK: "tile.dot"({{.*}}, [[Y]],
func.func @invariant(%p: tensor<64x512x!tile.ptr<f16>, #a>, %b: tensor<32x64xf16, #b>, %v: tensor<512x64xf16, #y>, %u: tensor<64x32xf16, #x>, %c: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x512x!tile.ptr<f16>, #a>) -> tensor<64x512xf16, #a>
  %x = "tilegpu.convert_layout"(%a) : (tensor<64x512xf16, #a>) -> tensor<64x512xf16, #x>
  %y = "tilegpu.convert_layout"(%b) : (tensor<32x64xf16, #b>) -> tensor<32x64xf16, #y>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<64x64xf32, #mma>) : i32 {
    %d = "tile.dot"(%x, %v, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x512xf16, #x>, tensor<512x64xf16, #y>, tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma>
    %e = "tile.dot"(%u, %y, %d) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16, #x>, tensor<32x64xf16, #y>, tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma>
    scf.yield %e : tensor<64x64xf32, #mma>
  }
  return %r : tensor<64x64xf32, #mma>
}
}
