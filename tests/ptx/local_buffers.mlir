// RUN: tilec %s --target sm_90a --emit=ptx -o - | FileCheck %s
// Buffers in shared memory: accesses as wide as the layouts of tile and buffer allow, and the
// barriers between them.
#a = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 8], threads_per_warp = [4, 8], warps_per_cta = [4, 1]}>
#b = #tilegpu.blocked<{order = [0, 1], size_per_thread = [2, 1], threads_per_warp = [8, 4], warps_per_cta = [1, 4]}>
#s = #tilegpu.shared<{max_phase = 8, order = [1, 0], per_phase = 1, vec = 8}>
!a = tensor<32x64xf16, #a>
!b = tensor<32x64xf16, #b>
!m = !tilegpu.memdesc<tensor<32x64xf16, #s>>
!pa = tensor<32x64x!tile.ptr<f16>, #a>
!pb = tensor<32x64x!tile.ptr<f16>, #b>
// CHECK: .entry k(
// The swizzle keeps 8 elements together: 16 bytes.
// CHECK: st.shared.v4.b32
// CHECK: bar.sync 0;
// CHECK: ld.shared.v4.b32
// CHECK-NOT: bar.sync
// The other layout has no neighbours along the rows.
// CHECK: ld.shared.b16
// CHECK-NOT: bar.sync
// CHECK: ret;
module { func.func @k(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f16> {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
  %pa = "tile.splat"(%p) : (!tile.ptr<f16>) -> !pa
  %pb = "tile.splat"(%q) : (!tile.ptr<f16>) -> !pb
  %x = "tile.load"(%pa) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!pa) -> !a
  %m = "tilegpu.local_alloc"(%x) : (!a) -> !m
  %y = "tilegpu.local_load"(%m) : (!m) -> !a
  "tile.store"(%pa, %y) {cache = "", evict = ""} : (!pa, !a) -> ()
  %z = "tilegpu.local_load"(%m) : (!m) -> !b
  "tile.store"(%pb, %z) {cache = "", evict = ""} : (!pb, !b) -> ()
  return
} }
