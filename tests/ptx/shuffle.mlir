// RUN: tilec %s --target sm_90a --emit=ptx -o - | FileCheck %s
// A conversion within warps uses shuffles, two words for wide values, and no shared memory.

// CHECK-NOT: .shared
// CHECK: .entry swap(
// CHECK: shfl.sync.idx.b32
// CHECK: shfl.sync.idx.b32
// CHECK-NOT: bar.sync
#A = #tilegpu.linear<{block = [], lane = [[1], [2], [4], [8], [16]], register = [[32]], warp = []}>
#B = #tilegpu.linear<{block = [], lane = [[2], [4], [8], [16], [32]], register = [[1]], warp = []}>
module {
  func.func @swap(%p: !tile.ptr<i64>) attributes {tile.kernel} {
    %r = "tile.make_range"() {start = 0 : i32, end = 64 : i32} : () -> tensor<64xi32, #A>
    %s = "tile.make_range"() {start = 0 : i32, end = 64 : i32} : () -> tensor<64xi32, #B>
    %x = arith.extsi %r : tensor<64xi32, #A> to tensor<64xi64, #A>
    %y = arith.muli %x, %x : tensor<64xi64, #A>
    %z = "tilegpu.convert_layout"(%y) : (tensor<64xi64, #A>) -> tensor<64xi64, #B>
    %ps = "tile.splat"(%p) : (!tile.ptr<i64>) -> tensor<64x!tile.ptr<i64>, #B>
    %at = "tile.addptr"(%ps, %s) : (tensor<64x!tile.ptr<i64>, #B>, tensor<64xi32, #B>) -> tensor<64x!tile.ptr<i64>, #B>
    "tile.store"(%at, %z) {cache = "", evict = ""} : (tensor<64x!tile.ptr<i64>, #B>, tensor<64xi64, #B>) -> ()
    return
  }
}
