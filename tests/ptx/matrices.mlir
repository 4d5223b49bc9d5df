// RUN: tilec %s --target sm_90a --emit=ptx -o - | FileCheck %s
// RUN: tilec %s --target sm_80 --emit=ptx -o - | FileCheck %s --check-prefix=OLD
// Tensor-core accumulators are stored with stmatrix, if the target has it; operands are loaded with ldmatrix.
#acc = #tilegpu.mma<{version = 2, instr_shape = [16, 8], warps_per_cta = [2, 2]}>
#rows = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 8], threads_per_warp = [8, 4], warps_per_cta = [4, 1]}>
#op = #tilegpu.dot_op<{op_idx = 1, k_width = 2, parent = #tilegpu.mma<{version = 2, instr_shape = [16, 8], warps_per_cta = [2, 2]}>}>
#swizzled = #tilegpu.shared<{max_phase = 4, order = [1, 0], per_phase = 2, vec = 8}>
!acc = tensor<32x32xf16, #acc>
!rows = tensor<32x32xf16, #rows>
!op = tensor<32x32xf16, #op>
!m = !tilegpu.memdesc<tensor<32x32xf16, #swizzled>>
!pacc = tensor<32x32x!tile.ptr<f16>, #acc>
!prows = tensor<32x32x!tile.ptr<f16>, #rows>
!pop = tensor<32x32x!tile.ptr<f16>, #op>
// CHECK: stmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-NOT: st.shared.b
// CHECK: bar.sync 0;
// CHECK: ld.shared.v4.b32
// CHECK: st.shared.v4.b32 [
// CHECK: bar.sync 0;
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-NOT: ld.shared
// CHECK: ret;
// OLD-NOT: stmatrix
// OLD: st.shared.b32
// OLD: bar.sync 0;
// OLD: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// OLD-NOT: stmatrix
module { func.func @k(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %pacc = "tile.splat"(%p) : (!tile.ptr<f16>) -> !pacc
  %prows = "tile.splat"(%p) : (!tile.ptr<f16>) -> !prows
  %pop = "tile.splat"(%p) : (!tile.ptr<f16>) -> !pop
  %x = "tile.load"(%pacc) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!pacc) -> !acc
  %y = "tilegpu.convert_layout"(%x) : (!acc) -> !rows
  "tile.store"(%prows, %y) {cache = "", evict = ""} : (!prows, !rows) -> ()
  %m = "tilegpu.local_alloc"(%y) : (!rows) -> !m
  %z = "tilegpu.local_load"(%m) : (!m) -> !op
  "tile.store"(%pop, %z) {cache = "", evict = ""} : (!pop, !op) -> ()
  return
} }
