// RUN: tilec %s --passes=spill-to-shared,allocate-shared --target sm_90a --num-warps 32 | FileCheck %s
// spill-to-shared: 1024 threads have 64 registers each, 36 of them for values that are live across a barrier.
#d = #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], warps_per_cta = [32]}>
!d = tensor<65536xf32, #d>
!p = tensor<65536x!tile.ptr<f32>, #d>
!i = tensor<65536xi32, #d>
!s = tensor<32768xf32, #d>
!q = tensor<32768x!tile.ptr<f32>, #d>
// CHECK: tilegpu.shared_bytes = 114944 : i32
module {

// 28 of 64 registers wait, in 7 rows of 16 bytes: %x until it is divided, %d for the second
// reduction. Both never wait at the same time. Ranges and addresses are made again, or cheap.
// CHECK-LABEL: func.func @row
// CHECK-SAME: tilegpu.spill_bytes = 114688 : i32, tilegpu.spill_offset = 256 : i32
// CHECK: tile.load{{.*}}tilegpu.spill_row = 0 : i32, tilegpu.spill_rows = 7 : i32
// CHECK: tile.reduce
// CHECK-NOT: spill_
// CHECK: arith.subf{{.*}}tilegpu.spill_row = 0 : i32, tilegpu.spill_rows = 7 : i32
// CHECK: tile.reduce
// CHECK-NOT: spill_
// CHECK: return
  func.func @row(%p: !tile.ptr<f32>) attributes {tile.kernel} {
    %i = "tile.make_range"() {start = 0 : i32, end = 65536 : i32} : () -> !i
    %ps = "tile.splat"(%p) : (!tile.ptr<f32>) -> !p
    %at = "tile.addptr"(%ps, %i) : (!p, !i) -> !p
    %x = "tile.load"(%at) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!p) -> !d
    %m = "tile.reduce"(%x) {axis = 0 : i32, combine = @add, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (!d) -> f32
    %ms = "tile.splat"(%m) : (f32) -> !d
    %d = arith.subf %x, %ms : !d
    %s = "tile.reduce"(%d) {axis = 0 : i32, combine = @add, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (!d) -> f32
    %ss = "tile.splat"(%s) : (f32) -> !d
    %y = arith.mulf %d, %ss : !d
    "tile.store"(%at, %y) {cache = "", evict = ""} : (!p, !d) -> ()
    return
  }

// Only kernels spill.
// CHECK-LABEL: func.func private @add
// CHECK-NOT: spill_
  func.func private @add(%x: f32, %y: f32) -> f32 {
    %s = arith.addf %x, %y : f32
    return %s : f32
  }
}
