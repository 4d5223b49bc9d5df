// RUN: tilec %s --passes=defer-waits --target sm_90a --num-warps 4 | FileCheck %s
// defer-waits: products of a loop are in flight until something needs them: their result (@results), the slot of a ring or
// the buffer that they read (@operands). A fourth one in flight waits for the first (@four). What fills the registers of a
// thread (@full), and loops with one product (@one), stay as they are.
#s = #tilegpu.mma<{instr_shape = [16, 64, 16], version = 3 : i64, warps_per_cta = [4, 1]}>
#w = #tilegpu.mma<{instr_shape = [16, 256, 16], version = 3 : i64, warps_per_cta = [4, 1]}>
#n = #tilegpu.nvmma_shared<{element_bits = 16, swizzle = 128, transposed = false}>
#t = #tilegpu.nvmma_shared<{element_bits = 16, swizzle = 128, transposed = true}>
!a = !tilegpu.memdesc<tensor<64x64xf16, #n>>
!b = !tilegpu.memdesc<tensor<64x64xf16, #t>>
!wide = !tilegpu.memdesc<tensor<64x256xf16, #n>>
!acc = tensor<64x64xf32, #s>
!half = tensor<64x64xf16, #s>
!big = tensor<64x256xf32, #w>
!bars = !tilegpu.memdesc<tensor<4xi64, #tilegpu.shared<{max_phase = 1 : i64, order = [0], per_phase = 1 : i64, vec = 1 : i64}>>>

module attributes {tile.maps = [{base = 0 : i32, box = array<i32: 64, 64>, dtype = "f16", offset = "0", pads_nan = false, sizes = ["64", "64"], strides = ["64"], swizzle = 128 : i32}], tilegpu.producer_warps = 4 : i32, tilegpu.entry_registers = 168 : i32, tilegpu.num_warps = 8 : i32, tilegpu.threads_per_warp = 32 : i32} {
// CHECK-LABEL: func.func @results
// CHECK: scf.for
// CHECK: %[[S:.+]] = "tilegpu.warp_group_dot"({{.*}}pending = 1
// CHECK: %[[T:.+]] = "tilegpu.warp_group_dot"({{.*}}pending = 2
// CHECK: %[[SD:.+]] = "tilegpu.warp_group_dot_wait"(%[[S]]) {pending = 1
// CHECK-NEXT: %[[P:.+]] = math.exp2 %[[SD]]
// CHECK-NEXT: %[[TD:.+]] = "tilegpu.warp_group_dot_wait"(%[[T]]) {pending = 0
// CHECK-NEXT: %[[D:.+]] = arith.mulf %[[P]], %[[TD]]
// CHECK-NEXT: scf.yield %[[D]]
func.func @results(%x: !a, %y: !b, %n: i32) -> !acc {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%d = %zero) -> (!acc) : i32 {
    %s = "tilegpu.warp_group_dot"(%x, %y, %zero) {pending = 0 : i32} : (!a, !b, !acc) -> !acc
    %u = "tilegpu.warp_group_dot"(%x, %y, %zero) {pending = 0 : i32} : (!a, !b, !acc) -> !acc
    %p = math.exp2 %s : !acc
    %e = arith.mulf %p, %u : !acc
    scf.yield %e : !acc
  }
  return %r : !acc
}

// The second product reads the slot, the third one the buffer that is written.
// CHECK-LABEL: func.func @operands
// CHECK: scf.for
// CHECK: %[[S:.+]] = "tilegpu.warp_group_dot"({{.*}}pending = 1
// CHECK: %[[T:.+]] = "tilegpu.warp_group_dot"({{.*}}pending = 2
// CHECK: %[[U:.+]] = "tilegpu.warp_group_dot"({{.*}}pending = 3
// CHECK-NEXT: %[[SD:.+]] = "tilegpu.warp_group_dot_wait"(%[[S]]) {pending = 1
// CHECK-NEXT: %[[TD:.+]] = "tilegpu.warp_group_dot_wait"(%[[T]]) {pending = 1
// CHECK-NEXT: "tilegpu.ring_release"
// CHECK-NEXT: arith.truncf
// CHECK-NEXT: %[[UD:.+]] = "tilegpu.warp_group_dot_wait"(%[[U]]) {pending = 0
// CHECK-NEXT: "tilegpu.local_store"
// CHECK-NEXT: scf.yield %[[SD]], %[[TD]], %[[UD]]
func.func @operands(%x: !a, %y: !b, %n: i32, %c: !bars, %h: !acc) -> !acc {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !acc
  %ring = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !a
  %own = "tilegpu.local_alloc"() : () -> !a
  "tilegpu.ring_init"(%c) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
  %producer = "tilegpu.is_producer"() {leader = false} : () -> i1
  %all = scf.if %producer -> (!acc) {
    %first = "tilegpu.is_producer"() {leader = true} : () -> i1
    scf.if %first {
      scf.for %i = %c0 to %n step %c1 : i32 {
        %e = "tilegpu.ring_empty"(%c) {bytes = 8192 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
        %to = "tilegpu.local_index"(%ring, %e) : (!a, i32) -> !a
        "tilegpu.map_copy"(%to, %c, %e, %i, %i) {map = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!a, !bars, i32, i32, i32) -> ()
      }
    }
    scf.yield %zero : !acc
  } else {
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%d = %zero, %e = %zero, %f = %zero) -> (!acc, !acc, !acc) : i32 {
    %slot = "tilegpu.ring_full"(%c) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
    %k = "tilegpu.local_index"(%ring, %slot) : (!a, i32) -> !a
    %s = "tilegpu.warp_group_dot"(%x, %y, %d) {pending = 0 : i32} : (!a, !b, !acc) -> !acc
    %u = "tilegpu.warp_group_dot"(%k, %y, %e) {pending = 0 : i32} : (!a, !b, !acc) -> !acc
    %v = "tilegpu.warp_group_dot"(%own, %y, %f) {pending = 0 : i32} : (!a, !b, !acc) -> !acc
    "tilegpu.ring_release"(%c) {keep = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
    %t = arith.truncf %h : !acc to !half
    "tilegpu.local_store"(%t, %own) : (!half, !a) -> ()
    scf.yield %s, %u, %v : !acc, !acc, !acc
  }
  scf.yield %r#0 : !acc
  }
  "tilegpu.ring_end"(%c) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
  "tilegpu.ring_end"(%ring) {ring = 0 : i32, slots = 2 : i32} : (!a) -> ()
  return %all : !acc
}

// CHECK-LABEL: func.func @four
// CHECK: %[[S:.+]] = "tilegpu.warp_group_dot"({{.*}}pending = 1
// CHECK: "tilegpu.warp_group_dot"({{.*}}pending = 2
// CHECK: "tilegpu.warp_group_dot"({{.*}}pending = 3
// CHECK-NEXT: "tilegpu.warp_group_dot_wait"(%[[S]]) {pending = 2
// CHECK-NEXT: "tilegpu.warp_group_dot"({{.*}}pending = 3
// CHECK-COUNT-3: "tilegpu.warp_group_dot_wait"({{.*}}pending = 0
// CHECK-NEXT: scf.yield
func.func @four(%x: !a, %y: !b, %n: i32) -> !acc {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !acc
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%d = %zero, %e = %zero, %f = %zero, %g = %zero) -> (!acc, !acc, !acc, !acc) : i32 {
    %s = "tilegpu.warp_group_dot"(%x, %y, %d) {pending = 0 : i32} : (!a, !b, !acc) -> !acc
    %t = "tilegpu.warp_group_dot"(%x, %y, %e) {pending = 0 : i32} : (!a, !b, !acc) -> !acc
    %u = "tilegpu.warp_group_dot"(%x, %y, %f) {pending = 0 : i32} : (!a, !b, !acc) -> !acc
    %v = "tilegpu.warp_group_dot"(%x, %y, %g) {pending = 0 : i32} : (!a, !b, !acc) -> !acc
    scf.yield %s, %t, %u, %v : !acc, !acc, !acc, !acc
  }
  return %r#0 : !acc
}

// CHECK-LABEL: func.func @full
// CHECK-COUNT-2: pending = 0
func.func @full(%x: !a, %y: !wide, %n: i32) -> !big {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !big
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%d = %zero, %e = %zero) -> (!big, !big) : i32 {
    %s = "tilegpu.warp_group_dot"(%x, %y, %d) {pending = 0 : i32} : (!a, !wide, !big) -> !big
    %t = "tilegpu.warp_group_dot"(%x, %y, %e) {pending = 0 : i32} : (!a, !wide, !big) -> !big
    scf.yield %s, %t : !big, !big
  }
  return %r#0 : !big
}

// CHECK-LABEL: func.func @one
// CHECK: pending = 0
// CHECK-NOT: warp_group_dot_wait
func.func @one(%x: !a, %y: !b, %n: i32) -> !acc {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%d = %zero) -> (!acc) : i32 {
    %s = "tilegpu.warp_group_dot"(%x, %y, %d) {pending = 0 : i32} : (!a, !b, !acc) -> !acc
    scf.yield %s : !acc
  }
  return %r : !acc
}
}
