// RUN: tilec %s --target sm_80 --emit=ptx -o - | FileCheck %s
// Copies to shared memory: as wide as pointers, mask and buffer allow, zeros where the mask is false;
// groups and waits are emitted in order.
#a = #tilegpu.blocked<{order = [0], size_per_thread = [8], threads_per_warp = [32], warps_per_cta = [4]}>
#s = #tilegpu.shared<{max_phase = 1, order = [0], per_phase = 1, vec = 1}>
#few = #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], warps_per_cta = [4]}>
!i = tensor<1024xi32, #a>
!m = tensor<1024xi1, #a>
!f = tensor<1024x!tile.ptr<f16>, #a>
!b = !tilegpu.memdesc<tensor<1024xf16, #s>>
!fi = tensor<64xi32, #few>
!ff = tensor<64x!tile.ptr<f32>, #few>
!fb = !tilegpu.memdesc<tensor<64xf32, #s>>

// CHECK: .entry k(
module { func.func @k(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f16> {tile.divisibility = 8 : i32}, %u: !tile.ptr<f16>, %f: !tile.ptr<f32> {tile.divisibility = 16 : i32},
    %even: i32 {tile.divisibility = 16 : i32}, %pair: i32 {tile.divisibility = 2 : i32}, %any: i32) attributes {tile.kernel} {
  %i = "tile.make_range"() {end = 1024 : i32, start = 0 : i32} : () -> !i
  %ring = "tilegpu.local_alloc"() {copies = 3 : i32} : () -> !b
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %first = "tilegpu.local_index"(%ring, %c1) : (!b, i32) -> !b
  %second = "tilegpu.local_index"(%ring, %c2) : (!b, i32) -> !b

  %p0 = "tile.splat"(%p) : (!tile.ptr<f16>) -> !f
  %p1 = "tile.addptr"(%p0, %i) : (!f, !i) -> !f
  // CHECK: cp.async.cg.shared.global [%rd{{[0-9]+}}], [%rd{{[0-9]+}}], 16;
  // CHECK: cp.async.commit_group;
  "tilegpu.async_copy"(%p1, %ring) {cache = "", evict = ""} : (!f, !b) -> ()
  "tilegpu.async_commit"() : () -> ()

  // The mask is the same for 16 elements: a predicate tells to write zeros.
  %e0 = "tile.splat"(%even) : (i32) -> !i
  %e1 = arith.cmpi slt, %i, %e0 : !i
  // CHECK: setp.ge.s32 [[OFF:%p[0-9]+]], %r
  // CHECK: cp.async.cg.shared.global [%rd{{[0-9]+}}], [%rd{{[0-9]+}}], 16, [[OFF]];
  "tilegpu.async_copy"(%p1, %first, %e1) {cache = "cg", evict = ""} : (!f, !b, !m) -> ()
  // CHECK: cp.async.ca.shared.global [%rd{{[0-9]+}}], [%rd{{[0-9]+}}], 16, [[OFF]];
  "tilegpu.async_copy"(%p1, %second, %e1) {cache = "ca", evict = ""} : (!f, !b, !m) -> ()

  // Pairs only: four copies of 4 bytes.
  %t0 = "tile.splat"(%pair) : (i32) -> !i
  %t1 = arith.cmpi slt, %i, %t0 : !i
  // CHECK-COUNT-4: cp.async.ca.shared.global [{{.*}}], [{{.*}}], 4, %p
  // CHECK-NOT: cp.async.c
  // CHECK: cp.async.commit_group;
  "tilegpu.async_copy"(%p1, %first, %t1) {cache = "", evict = ""} : (!f, !b, !m) -> ()
  "tilegpu.async_commit"() : () -> ()

  // Aligned to 8 bytes.
  %q0 = "tile.splat"(%q) : (!tile.ptr<f16>) -> !f
  %q1 = "tile.addptr"(%q0, %i) : (!f, !i) -> !f
  // CHECK-COUNT-2: cp.async.ca.shared.global [{{.*}}], [{{.*}}], 8;
  // CHECK-NOT: cp.async.c
  // CHECK: createpolicy.fractional.L2::evict_first.b64 [[POLICY:%rd[0-9]+]], 0f3F800000;
  // CHECK: cp.async.cg.shared.global.L2::cache_hint [%rd{{[0-9]+}}], [%rd{{[0-9]+}}], 16, [[POLICY]];
  // CHECK: cp.async.cg.shared.global.L2::cache_hint [%rd{{[0-9]+}}], [%rd{{[0-9]+}}], 16, [[OFF]], [[POLICY]];
  "tilegpu.async_copy"(%q1, %ring) {cache = "", evict = ""} : (!f, !b) -> ()
  "tilegpu.async_copy"(%p1, %ring) {cache = "", evict = "evict_first"} : (!f, !b) -> ()
  "tilegpu.async_copy"(%p1, %ring, %e1) {cache = "", evict = "evict_first"} : (!f, !b, !m) -> ()

  // No 4 bytes are known to be aligned, or the mask cuts them: loads and stores.
  %u0 = "tile.splat"(%u) : (!tile.ptr<f16>) -> !f
  %u1 = "tile.addptr"(%u0, %i) : (!f, !i) -> !f
  // CHECK-COUNT-8: st.shared.b16
  // CHECK-NOT: cp.async
  "tilegpu.async_copy"(%u1, %first) {cache = "", evict = ""} : (!f, !b) -> ()
  %a0 = "tile.splat"(%any) : (i32) -> !i
  %a1 = arith.cmpi slt, %i, %a0 : !i
  // CHECK-COUNT-8: st.shared.b16
  // CHECK-NOT: cp.async
  "tilegpu.async_copy"(%p1, %first, %a1) {cache = "", evict = ""} : (!f, !b, !m) -> ()

  // 16 threads have all of it; the others hold copies and stand aside.
  %fb = "tilegpu.local_alloc"() : () -> !fb
  %j = "tile.make_range"() {end = 64 : i32, start = 0 : i32} : () -> !fi
  %f0 = "tile.splat"(%f) : (!tile.ptr<f32>) -> !ff
  %f1 = "tile.addptr"(%f0, %j) : (!ff, !fi) -> !ff
  // CHECK: @%p{{[0-9]+}} bra
  // CHECK: cp.async.cg.shared.global [{{.*}}], [{{.*}}], 16;
  "tilegpu.async_copy"(%f1, %fb) {cache = "", evict = ""} : (!ff, !fb) -> ()
  // CHECK: cp.async.wait_group 2;
  // CHECK: cp.async.wait_group 0;
  "tilegpu.async_wait"(%ring) {pending = 2 : i32} : (!b) -> ()
  "tilegpu.async_wait"(%ring) {pending = 0 : i32} : (!b) -> ()
  "tilegpu.async_wait"(%fb) {pending = 0 : i32} : (!fb) -> ()
  return
} }
