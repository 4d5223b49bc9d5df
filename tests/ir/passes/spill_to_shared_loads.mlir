// RUN: tilec %s --passes=spill-to-shared,allocate-shared --target sm_90a --num-warps 32 | FileCheck %s
// spill-to-shared: 1024 threads have 64 registers each, 36 of them for values that are live across a barrier. Of a row with a weight that is loaded
// behind the barrier more waits: 56 of 64 registers, all that shared memory holds, so that the weight finds room before its uses.
#d = #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], warps_per_cta = [32]}>
!d = tensor<65536xf32, #d>
!p = tensor<65536x!tile.ptr<f32>, #d>
!i = tensor<65536xi32, #d>
// CHECK-LABEL: func.func @weighted
// CHECK-SAME: tilegpu.spill_bytes = 229376 : i32
// CHECK: tile.load{{.*}}tilegpu.spill_row = 0 : i32, tilegpu.spill_rows = 14 : i32
// CHECK: tile.reduce
// CHECK-NOT: spill_
// CHECK: return
module {
  func.func @weighted(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {tile.kernel} {
    %i = "tile.make_range"() {start = 0 : i32, end = 65536 : i32} : () -> !i
    %ps = "tile.splat"(%p) : (!tile.ptr<f32>) -> !p
    %at = "tile.addptr"(%ps, %i) : (!p, !i) -> !p
    %x = "tile.load"(%at) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!p) -> !d
    %m = "tile.reduce"(%x) {axis = 0 : i32, combine = @add, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (!d) -> f32
    %qs = "tile.splat"(%q) : (!tile.ptr<f32>) -> !p
    %wat = "tile.addptr"(%qs, %i) : (!p, !i) -> !p
    %w = "tile.load"(%wat) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!p) -> !d
    %ms = "tile.splat"(%m) : (f32) -> !d
    %d = arith.subf %x, %ms : !d
    %y = arith.mulf %d, %w : !d
    "tile.store"(%at, %y) {cache = "", evict = ""} : (!p, !d) -> ()
    return
  }
  func.func private @add(%x: f32, %y: f32) -> f32 {
    %s = arith.addf %x, %y : f32
    return %s : f32
  }
}
