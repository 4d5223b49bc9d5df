// RUN: tilec %s --passes=insert-grid-dependencies --target sm_90a | FileCheck %s
// RUN: grep -v 'tilegpu.launch_pdl' %s > %t.mlir
// RUN: tilec %t.mlir --passes=insert-grid-dependencies --target sm_90a | FileCheck %s --check-prefix=OFF
// insert-grid-dependencies: the kernel waits in front of the first operation of its own block that accesses global
// memory, here a branch: both of its sides pass the wait. Work in registers and shared memory comes before. Without
// the attribute of the module nothing changes.
// OFF-NOT: grid_dependency
#d = #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], warps_per_cta = [4]}>
#s = #tilegpu.shared<{max_phase = 1 : i64, order = [0], per_phase = 1 : i64, vec = 1 : i64}>
!d = tensor<128xf32, #d>
!s = !tilegpu.memdesc<tensor<128xf32, #s>>
module attributes {
    tilegpu.launch_pdl,
    tilegpu.num_warps = 4 : i32, tilegpu.threads_per_warp = 32 : i32} {
// A function that the kernel calls is no kernel.
// CHECK-LABEL: func.func private @helper
// CHECK-NOT: grid_dependency
  func.func private @helper(%p: !tile.ptr<f32>, %x: f32) {
    "tile.store"(%p, %x) {cache = "", evict = "", operandSegmentSizes = array<i32: 1, 1, 0>} : (!tile.ptr<f32>, f32) -> ()
    return
  }
// CHECK-LABEL: func.func @kernel
// CHECK: "tile.get_program_id"
// CHECK: "tilegpu.local_alloc"
// CHECK: "tilegpu.barrier"
// CHECK-NEXT: "tilegpu.local_load"
// CHECK-NEXT: "tile.grid_dependency"() {kind = "wait"}
// CHECK-NEXT: "tile.grid_dependency"() {kind = "launch_dependents"}
// CHECK-NEXT: scf.if
// CHECK-NOT: grid_dependency
  func.func @kernel(%p: !tile.ptr<f32>, %x: f32) attributes {tile.kernel} {
    %id = "tile.get_program_id"() {axis = 0 : i32} : () -> i32
    %zero = arith.constant 0 : i32
    %first = arith.cmpi eq, %id, %zero : i32
    %t = arith.constant dense<1.0> : !d
    %m = "tilegpu.local_alloc"(%t) : (!d) -> !s
    "tilegpu.barrier"() : () -> ()
    %u = "tilegpu.local_load"(%m) : (!s) -> !d
    scf.if %first {
      func.call @helper(%p, %x) : (!tile.ptr<f32>, f32) -> ()
    } else {
      "tile.store"(%p, %x) {cache = "", evict = "", operandSegmentSizes = array<i32: 1, 1, 0>} : (!tile.ptr<f32>, f32) -> ()
    }
    return
  }
}
