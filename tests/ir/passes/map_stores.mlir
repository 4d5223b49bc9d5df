// RUN: tilec %s --passes=specialize-warps --target sm_90a | FileCheck %s
// specialize-warps: tiles that are stored through maps go through buffers: accumulators of wgmma by columns of one swizzle,
// in two buffers by turns; other tiles whole, behind a wait for the store before.
#mma = #tilegpu.mma<{instr_shape = [16, 256, 16], version = 3 : i64, warps_per_cta = [4, 1]}>
#rows = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 8], threads_per_warp = [8, 4], warps_per_cta = [4, 1]}>

// The boxes are those of the buffers.
// CHECK: box = array<i32: 64, 64>{{.*}}swizzle = 128 : i32}, {base = 1{{.*}}box = array<i32: 32, 32>{{.*}}swizzle = 64 : i32}]
// CHECK-NOT: producer_warps
module attributes {tile.maps = [
    {base = 0 : i32, box = array<i32: 64, 256>, dtype = "bf16", offset = "0", pads_nan = false, sizes = ["p2", "256"], strides = ["256"], swizzle = 0 : i32},
    {base = 1 : i32, box = array<i32: 32, 32>, dtype = "bf16", offset = "0", pads_nan = false, sizes = ["p2", "32"], strides = ["32"], swizzle = 0 : i32}],
    tilegpu.num_warps = 4 : i32, tilegpu.threads_per_warp = 32 : i32} {
// CHECK: %[[A:.+]] = "tilegpu.local_alloc"(){{.*}}tensor<64x64xbf16, #tilegpu.nvmma_shared<{element_bits = 16 : i64, swizzle = 128
// CHECK: %[[B:.+]] = "tilegpu.local_alloc"(){{.*}}tensor<64x64xbf16
// CHECK: %[[W:.+]] = "tilegpu.local_alloc"(){{.*}}tensor<32x32xbf16, #tilegpu.nvmma_shared<{element_bits = 16 : i64, swizzle = 64
// CHECK-NOT: local_alloc
// CHECK: scf.for
// CHECK: %[[P0:.+]] = "tilegpu.part"(%{{.+}}) {offsets = array<i32: 0, 0>}
// CHECK: "tilegpu.local_store"(%[[P0]], %[[A]])
// CHECK: "tilegpu.map_wait"
// CHECK: "tilegpu.map_store"(%[[A]], %{{.+}}, %[[N:.+]]) {map = 0
// CHECK: %[[P1:.+]] = "tilegpu.part"(%{{.+}}) {offsets = array<i32: 0, 64>}
// CHECK: "tilegpu.local_store"(%[[P1]], %[[B]])
// CHECK: "tilegpu.map_wait"
// CHECK: %[[N1:.+]] = arith.addi %[[N]], %c64
// CHECK: "tilegpu.map_store"(%[[B]], %{{.+}}, %[[N1]])
// CHECK: array<i32: 0, 128>
// CHECK: "tilegpu.map_store"(%[[A]]
// CHECK: array<i32: 0, 192>
// CHECK: "tilegpu.map_store"(%[[B]]
// CHECK: "tilegpu.map_wait"
// CHECK: "tilegpu.local_store"(%{{.+}}, %[[W]])
// CHECK-NOT: map_wait
// CHECK: "tilegpu.map_store"(%[[W]]
// CHECK: "tilegpu.map_wait"
// CHECK: "tilegpu.ring_end"(%[[A]])
// CHECK: "tilegpu.ring_end"(%[[B]])
// CHECK: "tilegpu.ring_end"(%[[W]])
func.func @stores(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %m: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %tile = arith.constant dense<1.0> : tensor<64x256xbf16, #mma>
  %small = arith.constant dense<2.0> : tensor<32x32xbf16, #rows>
  scf.for %i = %c0 to %m step %c64 : i32 {
    "tile.map_store"(%tile, %i, %c0) {map = 0 : i32} : (tensor<64x256xbf16, #mma>, i32, i32) -> ()
    "tile.map_store"(%small, %i, %c0) {map = 1 : i32} : (tensor<32x32xbf16, #rows>, i32, i32) -> ()
  }
  return
}
}
