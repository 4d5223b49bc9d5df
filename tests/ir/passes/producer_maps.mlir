// RUN: tilec %s --passes=specialize-warps,dce --target sm_90a --num-stages 3 --verify-each | FileCheck %s
// specialize-warps: the producer's first thread makes the maps that the launch cannot, when the copies by them have
// arrived. The other warps make none.
#mma = #tilegpu.mma<{instr_shape = [16, 64, 16], version = 3 : i64, warps_per_cta = [4, 1]}>
#rows = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 1], threads_per_warp = [1, 32], warps_per_cta = [4, 1]}>
#a = #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0 : i64, parent = #mma}>
#b = #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 1 : i64, parent = #mma}>

// The box is as wide as the swizzle.
// CHECK: tile.maps = [{box = array<i32: 64, 64>, dtype = "f16", made = 1 : i32, pads_nan = false, swizzle = 128 : i32}, {base = 1
module attributes {tile.maps = [
    {box = array<i32: 64, 64>, dtype = "f16", made = 1 : i32, pads_nan = false, swizzle = 0 : i32},
    {base = 1 : i32, box = array<i32: 64, 64>, dtype = "f16", offset = "0", pads_nan = false, sizes = ["64", "p4"], strides = ["p4"], swizzle = 0 : i32}],
    tilegpu.num_warps = 4 : i32, tilegpu.threads_per_warp = 32 : i32} {
// CHECK: %[[MAPS:.+]] = "tilegpu.local_alloc"(){{.*}}tensor<32xi64
// CHECK: is_producer"() {leader = true}
// CHECK: "tilegpu.maps_open"(%[[MAPS]])
// CHECK: scf.for
// CHECK: "tilegpu.ring_drain"(%[[BARS:.+]]) {ring = 0 : i32, slots = 3 : i32}
// CHECK-NEXT: "tilegpu.map_make"(%[[MAPS]], %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}) {map = 0 : i32}
// CHECK: "tilegpu.ring_empty"(%[[BARS]])
// CHECK: "tilegpu.map_copy"
// CHECK: "tilegpu.ring_drain"(%[[BARS]])
// CHECK-NEXT: "tilegpu.maps_close"
// CHECK: else
// CHECK-NOT: map_make
// CHECK: "tilegpu.ring_end"(%[[MAPS]])
func.func @groups(%table: !tile.ptr<i64>, %y: !tile.ptr<f16>, %out: !tile.ptr<f32>, %m: i64, %k: i32, %s: i64) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
  scf.for %g = %c0 to %c4 step %c1 : i32 {
    %at = "tile.addptr"(%table, %g) : (!tile.ptr<i64>, i32) -> !tile.ptr<i64>
    %n = "tile.load"(%at) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i64>) -> i64
    %x = "tile.int_to_ptr"(%n) : (i64) -> !tile.ptr<f16>
    "tile.map_make"(%x, %m, %s, %s) {map = 0 : i32} : (!tile.ptr<f16>, i64, i64, i64) -> ()
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %xl = "tile.map_load"(%c0, %i) {map = 0 : i32} : (i32, i32) -> tensor<64x64xf16, #rows>
      %xd = "tilegpu.convert_layout"(%xl) : (tensor<64x64xf16, #rows>) -> tensor<64x64xf16, #a>
      %yl = "tile.map_load"(%i, %c0) {map = 1 : i32} : (i32, i32) -> tensor<64x64xf16, #rows>
      %yd = "tilegpu.convert_layout"(%yl) : (tensor<64x64xf16, #rows>) -> tensor<64x64xf16, #b>
      %d = "tile.dot"(%xd, %yd, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x64xf16, #a>, tensor<64x64xf16, #b>, tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    %p = "tile.splat"(%out) : (!tile.ptr<f32>) -> tensor<64x64x!tile.ptr<f32>, #mma>
    "tile.store"(%p, %sum) {cache = "", evict = "", operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<64x64x!tile.ptr<f32>, #mma>, tensor<64x64xf32, #mma>) -> ()
  }
  return
}
}
