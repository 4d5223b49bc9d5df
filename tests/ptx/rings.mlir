// RUN: tilec %s --target sm_80 --emit=ptx -o - | FileCheck %s
// A loop over a ring of swizzled buffers. The swizzled offset of the thread is computed before
// the loop; inside, each ldmatrix only adds the buffer's offset, and ldmatrix that differ by
// immediate offsets share the sum.
#op = #tilegpu.dot_op<{op_idx = 0, k_width = 2, parent = #tilegpu.mma<{version = 2, instr_shape = [16, 8], warps_per_cta = [2, 2]}>}>
#s = #tilegpu.shared<{max_phase = 8, order = [1, 0], per_phase = 1, vec = 8}>
!op = tensor<64x64xf16, #op>
!p = tensor<64x64x!tile.ptr<f16>, #op>
!m = !tilegpu.memdesc<tensor<64x64xf16, #s>>
// CHECK: .entry k(
// CHECK-COUNT-4: xor.b32
// CHECK-NOT: xor.
// CHECK: $L__BB0_[[LOOP:[0-9]+]]:
// CHECK-NOT: xor.
// CHECK: cp.async.wait_group 1;
// CHECK-NOT: xor.
// CHECK: bar.sync
// CHECK: mul.wide.u32 [[BUFFER:%rd[0-9]+]], %r{{[0-9]+}}, 8192;
// CHECK-NEXT: add.s64 [[A:%rd[0-9]+]], %rd{{[0-9]+}}, [[BUFFER]];
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{.*}}, {{\[}}[[A]]];
// CHECK-NOT: xor.
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{.*}}, {{\[}}[[A]]+4096];
// CHECK-NOT: xor.
// CHECK: bra.uni $L__BB0_[[LOOP]];
module { func.func @k(%p: !tile.ptr<f16>, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : !op
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %ring = "tilegpu.local_alloc"() {copies = 3 : i32} : () -> !m
  %sum, %last = scf.for %t = %c0 to %n step %c1 iter_args(%acc = %zero, %number = %c0) -> (!op, i32) : i32 {
    %b = "tilegpu.local_index"(%ring, %number) {phase = 0 : i32} : (!m, i32) -> !m
    "tilegpu.async_wait"(%b) {pending = 1 : i32} : (!m) -> ()
    %x = "tilegpu.local_load"(%b) : (!m) -> !op
    %more = arith.addf %acc, %x : !op
    %next = arith.addi %number, %c1 : i32
    %wraps = arith.cmpi eq, %next, %c3 : i32
    %then = arith.select %wraps, %c0, %next : i32
    scf.yield %more, %then : !op, i32
  }
  %pp = "tile.splat"(%p) : (!tile.ptr<f16>) -> !p
  "tile.store"(%pp, %sum) {cache = "", evict = ""} : (!p, !op) -> ()
  return
} }
