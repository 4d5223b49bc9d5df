// RUN: tilec %s --passes=specialize-warps,allocate-shared,insert-barriers --target sm_90a --num-warps 8 | FileCheck %s
// specialize-warps: warpgroups that have rows of their own in every tile store them on their own, and
// insert-barriers lets each of them meet alone.
#mma = #tilegpu.mma<{instr_shape = [16, 128, 16], version = 3 : i64, warps_per_cta = [8, 1]}>

// A box has the 64 rows of a warpgroup.
// CHECK: box = array<i32: 64, 64>{{.*}}swizzle = 128 : i32}]
module attributes {tile.maps = [
    {base = 0 : i32, box = array<i32: 256, 128>, dtype = "f16", offset = "0", pads_nan = false, sizes = ["p1", "128"], strides = ["128"], swizzle = 0 : i32}],
    tilegpu.num_warps = 8 : i32, tilegpu.threads_per_warp = 32 : i32} {
// CHECK: %[[A:.+]] = "tilegpu.local_alloc"()
// CHECK: %[[B:.+]] = "tilegpu.local_alloc"()
// CHECK: scf.for
// CHECK: "tilegpu.local_store"(%{{.+}}, %[[A]])
// CHECK: "tilegpu.map_wait"() {warps = 4 : i32}
// CHECK: "tilegpu.barrier"() {warps = 4 : i32}
// CHECK-NEXT: "tilegpu.map_store"(%[[A]], %{{.+}}, %{{.+}}) {map = 0 : i32, warps = 4 : i32}
// CHECK: "tilegpu.local_store"(%{{.+}}, %[[B]])
// CHECK: "tilegpu.map_wait"() {warps = 4 : i32}
// CHECK: "tilegpu.barrier"() {warps = 4 : i32}
// CHECK-NEXT: "tilegpu.map_store"(%[[B]]
// CHECK-NOT: "tilegpu.barrier"
// CHECK: "tilegpu.map_wait"() {warps = 4 : i32}
// CHECK: "tilegpu.ring_end"
func.func @groups(%x: !tile.ptr<f16>, %m: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c256 = arith.constant 256 : i32
  %tile = arith.constant dense<1.0> : tensor<256x128xf16, #mma>
  scf.for %i = %c0 to %m step %c256 : i32 {
    "tile.map_store"(%tile, %i, %c0) {map = 0 : i32} : (tensor<256x128xf16, #mma>, i32, i32) -> ()
  }
  return
}
}
