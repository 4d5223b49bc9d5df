// RUN: tilec %s --passes=specialize-warps,dce --target sm_90a --num-stages 3 | FileCheck %s
// RUN: tilec %s --passes=specialize-warps,dce --target sm_90a --num-stages 3 --num-warps 8 | FileCheck %s --check-prefix=REGISTERS
// specialize-warps: a warpgroup of its own issues the loads through maps, in loops like those of the kernel. It
// computes offsets and bounds, and nothing else; it stores nothing. Of three slots of 80 KB two fit.
#mma = #tilegpu.mma<{instr_shape = [16, 256, 16], version = 3 : i64, warps_per_cta = [4, 1]}>
#rows = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 1], threads_per_warp = [1, 32], warps_per_cta = [4, 1]}>
#a = #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0 : i64, parent = #mma}>
#b = #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 1 : i64, parent = #mma}>
#k = #tilegpu.nvmma_shared<{element_bits = 16 : i64, swizzle = 128 : i64, transposed = false}>
#kt = #tilegpu.nvmma_shared<{element_bits = 16 : i64, swizzle = 128 : i64, transposed = true}>

// The box is as wide as the swizzle.
// CHECK: box = array<i32: 64, 64>{{.*}}strides = ["p4"], swizzle = 128 : i32}, {base = 1{{.*}}box = array<i32: 256, 64>{{.*}}swizzle = 128 : i32}]
// CHECK-SAME: tilegpu.producer_warps = 4
module attributes {tile.maps = [
    {base = 0 : i32, box = array<i32: 64, 128>, dtype = "f16", offset = "0", pads_nan = false, sizes = ["p3", "p4"], strides = ["p4"], swizzle = 0 : i32},
    {base = 1 : i32, box = array<i32: 256, 128>, dtype = "f16", offset = "0", pads_nan = false, sizes = ["256", "p4"], strides = ["p4"], swizzle = 0 : i32}],
    tilegpu.num_warps = 4 : i32, tilegpu.threads_per_warp = 32 : i32} {
// CHECK: %[[A:.+]] = "tilegpu.local_alloc"() {copies = 2 : i32}{{.*}}tensor<64x128xf16
// CHECK: %[[B:.+]] = "tilegpu.local_alloc"() {copies = 2 : i32}{{.*}}tensor<256x128xf16
// CHECK: %[[BARS:.+]] = "tilegpu.local_alloc"(){{.*}}tensor<4xi64
// CHECK: "tilegpu.ring_init"(%[[BARS]]) {ring = 0 : i32, slots = 2 : i32}
// CHECK: %[[P:.+]] = "tilegpu.is_producer"() {leader = false}
// CHECK: scf.if %[[P]]
// CHECK-NOT: set_registers
// CHECK: %[[LEADER:.+]] = "tilegpu.is_producer"() {leader = true}
// CHECK: scf.if %[[LEADER]]
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK-NOT: iter_args
// CHECK: scf.for %[[S:[a-z0-9]+]] =
// CHECK-NOT: iter_args
// CHECK: %[[SLOT:.+]] = "tilegpu.ring_empty"(%[[BARS]]) {bytes = 81920 : i32, ring = 0 : i32, slots = 2 : i32}
// CHECK: %[[X:.+]] = "tilegpu.local_index"(%[[A]], %[[SLOT]])
// CHECK: "tilegpu.map_copy"(%[[X]], %[[BARS]], %[[SLOT]], %{{.+}}, %[[S]]) {map = 0
// CHECK: %[[Y:.+]] = "tilegpu.local_index"(%[[B]], %[[SLOT]])
// CHECK: "tilegpu.map_copy"(%[[Y]], %[[BARS]], %[[SLOT]], %{{.+}}, %[[S]]) {map = 1
// CHECK-NOT: tensor<64x256
// CHECK: else
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[FULL:.+]] = "tilegpu.ring_full"(%[[BARS]])
// CHECK: %[[XV:.+]] = "tilegpu.local_index"(%[[A]], %[[FULL]])
// CHECK: "tilegpu.local_load"(%[[XV]])
// CHECK: %[[YV:.+]] = "tilegpu.local_index"(%[[B]], %[[FULL]])
// CHECK: "tilegpu.local_trans"(%[[YV]])
// CHECK-NOT: local_alloc
// CHECK: tile.dot
// CHECK: "tilegpu.ring_release"(%[[BARS]]) {keep = 0
// CHECK: tile.store
// CHECK: "tilegpu.ring_end"(%[[A]])
// CHECK: "tilegpu.ring_end"(%[[B]])
// CHECK: "tilegpu.ring_end"(%[[BARS]])

// Threads with many accumulators get what the producer does not need.
// REGISTERS: "tilegpu.set_registers"() {count = 40 : i32, grows = false}
// REGISTERS: "tilegpu.set_registers"() {count = 232 : i32, grows = true}
func.func @pers(%x: !tile.ptr<f16>, %y: !tile.ptr<f16>, %out: !tile.ptr<f32>, %m: i32, %k: i32) attributes {tile.kernel} {
  %pid = "tile.get_program_id"() {axis = 0 : i32} : () -> i32
  %n = "tile.get_num_programs"() {axis = 0 : i32} : () -> i32
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<64x256xf32, #mma>
  %count = scf.for %i = %pid to %m step %n iter_args(%done = %c0) -> (i32) : i32 {
    %row = arith.muli %i, %c64 : i32
    %sum = scf.for %s = %c0 to %k step %c128 iter_args(%acc = %zero) -> (tensor<64x256xf32, #mma>) : i32 {
      %xl = "tile.map_load"(%row, %s) {map = 0 : i32} : (i32, i32) -> tensor<64x128xf16, #rows>
      %xd = "tilegpu.convert_layout"(%xl) : (tensor<64x128xf16, #rows>) -> tensor<64x128xf16, #a>
      %yl = "tile.map_load"(%c0, %s) {map = 1 : i32} : (i32, i32) -> tensor<256x128xf16, #rows>
      %yb = "tilegpu.local_alloc"(%yl) : (tensor<256x128xf16, #rows>) -> !tilegpu.memdesc<tensor<256x128xf16, #k>>
      %yt = "tilegpu.local_trans"(%yb) {order = array<i32: 1, 0>} : (!tilegpu.memdesc<tensor<256x128xf16, #k>>) -> !tilegpu.memdesc<tensor<128x256xf16, #kt>>
      %yd = "tilegpu.local_load"(%yt) : (!tilegpu.memdesc<tensor<128x256xf16, #kt>>) -> tensor<128x256xf16, #b>
      %d = "tile.dot"(%xd, %yd, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x128xf16, #a>, tensor<128x256xf16, #b>, tensor<64x256xf32, #mma>) -> tensor<64x256xf32, #mma>
      scf.yield %d : tensor<64x256xf32, #mma>
    }
    %p = "tile.splat"(%out) : (!tile.ptr<f32>) -> tensor<64x256x!tile.ptr<f32>, #mma>
    "tile.store"(%p, %sum) {cache = "", evict = "", operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<64x256x!tile.ptr<f32>, #mma>, tensor<64x256xf32, #mma>) -> ()
    %more = arith.addi %done, %row : i32
    scf.yield %more : i32
  }
  "tile.print"(%count) {prefix = "rows", hex = false, is_signed = array<i32: 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (i32) -> ()
  return
}
}
