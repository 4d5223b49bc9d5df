// RUN: tilec %s --passes=allocate-shared,insert-barriers --target sm_90a | FileCheck %s
// A barrier behind reads alone says so: it needs no fence for products by wgmma. One behind writes does not.
#rows = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 8], threads_per_warp = [4, 8], warps_per_cta = [4, 1]}>
#mma = #tilegpu.mma<{instr_shape = [16, 64, 16], version = 3 : i64, warps_per_cta = [4, 1]}>
#nv = #tilegpu.nvmma_shared<{element_bits = 16, swizzle = 128, transposed = false}>
!x = tensor<64x64xf16, #rows>
!c = tensor<64x64xf32, #mma>
!n = !tilegpu.memdesc<tensor<64x64xf16, #nv>>
module {
  // CHECK-LABEL: func.func @ring
  func.func @ring(%x: !x, %zero: !c, %n: i32) -> !c {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !n
    %first = "tilegpu.local_index"(%m, %c0) : (!n, i32) -> !n
    "tilegpu.local_store"(%x, %first) : (!x, !n) -> ()
    // CHECK: scf.for
    // CHECK: "tilegpu.barrier"() : () -> ()
    // CHECK: "tilegpu.warp_group_dot"
    // CHECK: "tilegpu.barrier"() {reads_only = true} : () -> ()
    // CHECK: "tilegpu.local_store"
    // CHECK-NOT: "tilegpu.barrier"
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %fill = %c1, %use = %c0) -> (!c, i32, i32) : i32 {
      %v = "tilegpu.local_index"(%m, %use) {phase = 0 : i32} : (!n, i32) -> !n
      %w = "tilegpu.local_index"(%m, %fill) {phase = 1 : i32} : (!n, i32) -> !n
      %d = "tilegpu.warp_group_dot"(%v, %v, %acc) {pending = 1 : i32} : (!n, !n, !c) -> !c
      "tilegpu.local_store"(%x, %w) : (!x, !n) -> ()
      scf.yield %d, %use, %fill : !c, i32, i32
    }
    %e = "tilegpu.warp_group_dot_wait"(%r#0) {pending = 0 : i32} : (!c) -> !c
    return %e : !c
  }
}
