// RUN: tilec %s --passes=allocate-shared,check-resources --target sm_86 --diagnostics=text 2>&1 | FileCheck %s
// check-resources: warns, and changes nothing. tests/diagnostics has its errors (E0605, E0608).
#d = #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], warps_per_cta = [4]}>
!d = tensor<65536xf32, #d>
module {
// CHECK-LABEL: func.func @many
// CHECK-NEXT: arith.negf
// CHECK-NEXT: return
// CHECK: warning: each thread holds 512 elements of a `tile<65536xf32>` [E0607]
// CHECK: help: use 8 warps (`--num-warps 8`), or blocks of at most 32768 elements
  func.func @many(%x: !d) -> !d {
    %0 = arith.negf %x : !d
    return %0 : !d
  }
}
