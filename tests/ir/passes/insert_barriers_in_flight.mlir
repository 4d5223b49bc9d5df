// RUN: not tilec %s --passes=allocate-shared,insert-barriers --target sm_90a 2>&1 | FileCheck %s
// What a product in flight reads must not be written, whatever barriers there are.
#rows = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 8], threads_per_warp = [4, 8], warps_per_cta = [4, 1]}>
#mma = #tilegpu.mma<{instr_shape = [16, 64, 16], version = 3 : i64, warps_per_cta = [4, 1]}>
#nv = #tilegpu.nvmma_shared<{element_bits = 16, swizzle = 128, transposed = false}>
!x = tensor<64x64xf16, #rows>
!c = tensor<64x64xf32, #mma>
!n = !tilegpu.memdesc<tensor<64x64xf16, #nv>>
module {
  func.func @ring(%x: !x, %zero: !c, %n: i32) -> !c {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = "tilegpu.local_alloc"(%x) : (!x) -> !n
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!c) : i32 {
      "tile.debug_barrier"() : () -> ()
// CHECK: [[# @LINE + 2]]:{{[0-9]+}}: error: `tilegpu.local_store` writes shared memory that a product in flight reads {{\[}}E0602]
// CHECK: warp_group_dot_wait
      "tilegpu.local_store"(%x, %m) : (!x, !n) -> ()
      "tile.debug_barrier"() : () -> ()
      %d = "tilegpu.warp_group_dot"(%m, %m, %acc) {pending = 1 : i32} : (!n, !n, !c) -> !c
      scf.yield %d : !c
    }
    %e = "tilegpu.warp_group_dot_wait"(%r) {pending = 0 : i32} : (!c) -> !c
    return %e : !c
  }
}
