// RUN: tilec %s --passes=warp-group-dot | FileCheck %s
// Sums of 8-bit floats whose imprecise elements have a bound (max_num_imprecise_acc) are promoted.
#mf = #tilegpu.mma<{instr_shape = [16, 64, 32], version = 3 : i64, warps_per_cta = [4, 1]}>
#xf = #tilegpu.dot_op<{k_width = 4 : i64, op_idx = 0 : i64, parent = #mf}>
#yf = #tilegpu.dot_op<{k_width = 4 : i64, op_idx = 1 : i64, parent = #mf}>
#sf = #tilegpu.nvmma_shared<{element_bits = 8, swizzle = 64, transposed = false}>
#st = #tilegpu.nvmma_shared<{element_bits = 8, swizzle = 64, transposed = true}>
!mf = !tilegpu.memdesc<tensor<64x64xf8E4M3FN, #sf>>
!mt = !tilegpu.memdesc<tensor<64x64xf8E5M2, #st>>
!xf = tensor<64x64xf8E4M3FN, #xf>
!yf = tensor<64x64xf8E5M2, #yf>
!cf = tensor<64x64xf32, #mf>
!hf = tensor<64x64xf16, #mf>
module attributes {tilegpu.num_warps = 4 : i32, tilegpu.threads_per_warp = 32 : i32} {

// Sums that are added to the accumulator in between are complete when the product ends.
// CHECK-LABEL: func.func @promoted
// CHECK: "tilegpu.warp_group_dot"(%{{[^)]*}}) {pending = 0 : i32, promoted_every = 32 : i32}
// CHECK-NOT: warp_group_dot_wait
// CHECK: return
func.func @promoted(%zero: !cf, %n: i32) -> !cf {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = "tilegpu.local_alloc"() {copies = 3 : i32} : () -> !mf
  %b = "tilegpu.local_alloc"() {copies = 3 : i32} : () -> !mt
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %k = %c0) -> (!cf, i32) : i32 {
    %ar = "tilegpu.local_index"(%a, %k) {phase = 0 : i32} : (!mf, i32) -> !mf
    %br = "tilegpu.local_index"(%b, %k) {phase = 0 : i32} : (!mt, i32) -> !mt
    %x = "tilegpu.local_load"(%ar) : (!mf) -> !xf
    %y = "tilegpu.local_load"(%br) : (!mt) -> !yf
    %d = "tile.dot"(%x, %y, %acc) {input_precision = "tf32", max_num_imprecise_acc = 40 : i32} : (!xf, !yf, !cf) -> !cf
    scf.yield %d, %k : !cf, i32
  }
  return %r#0 : !cf
}

// Without a bound they stay in the tensor core, and in flight.
// CHECK-LABEL: func.func @imprecise
// CHECK: "tilegpu.warp_group_dot"(%{{[^)]*}}) {pending = 1 : i32}
// CHECK: warp_group_dot_wait
func.func @imprecise(%zero: !cf, %n: i32) -> !cf {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = "tilegpu.local_alloc"() {copies = 3 : i32} : () -> !mf
  %b = "tilegpu.local_alloc"() {copies = 3 : i32} : () -> !mt
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %k = %c0) -> (!cf, i32) : i32 {
    %ar = "tilegpu.local_index"(%a, %k) {phase = 0 : i32} : (!mf, i32) -> !mf
    %br = "tilegpu.local_index"(%b, %k) {phase = 0 : i32} : (!mt, i32) -> !mt
    %x = "tilegpu.local_load"(%ar) : (!mf) -> !xf
    %y = "tilegpu.local_load"(%br) : (!mt) -> !yf
    %d = "tile.dot"(%x, %y, %acc) {input_precision = "tf32", max_num_imprecise_acc = 1073741824 : i32} : (!xf, !yf, !cf) -> !cf
    scf.yield %d, %k : !cf, i32
  }
  return %r#0 : !cf
}

// A bound of all of K promotes; one above does not.
// CHECK-LABEL: func.func @all_of_k
// CHECK: "tilegpu.warp_group_dot"(%{{[^)]*}}) {pending = 0 : i32, promoted_every = 64 : i32}
func.func @all_of_k(%a: !mf, %b: !mt, %c: !cf) -> !cf {
  %x = "tilegpu.local_load"(%a) : (!mf) -> !xf
  %y = "tilegpu.local_load"(%b) : (!mt) -> !yf
  %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 64 : i32} : (!xf, !yf, !cf) -> !cf
  return %d : !cf
}
// CHECK-LABEL: func.func @above_k
// CHECK: "tilegpu.warp_group_dot"(%{{[^)]*}}) {pending = 0 : i32}
func.func @above_k(%a: !mf, %b: !mt, %c: !cf) -> !cf {
  %x = "tilegpu.local_load"(%a) : (!mf) -> !xf
  %y = "tilegpu.local_load"(%b) : (!mt) -> !yf
  %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 65 : i32} : (!xf, !yf, !cf) -> !cf
  return %d : !cf
}

// Sums of f16 are not promoted.
// CHECK-LABEL: func.func @half
// CHECK: "tilegpu.warp_group_dot"(%{{[^)]*}}) {pending = 0 : i32}
func.func @half(%a: !mf, %b: !mt, %c: !hf) -> !hf {
  %x = "tilegpu.local_load"(%a) : (!mf) -> !xf
  %y = "tilegpu.local_load"(%b) : (!mt) -> !yf
  %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 32 : i32} : (!xf, !yf, !hf) -> !hf
  return %d : !hf
}
}
