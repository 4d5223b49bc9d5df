// RUN: tilec %s --passes=allocate-shared,insert-barriers --target sm_90a | FileCheck %s
// insert-barriers: barriers between accesses of different threads to shared memory.
#a = #tilegpu.linear<{block = [], lane = [[1], [2], [4], [8], [16]], register = [[128]], warp = [[32], [64]]}>
#b = #tilegpu.linear<{block = [], lane = [[64], [2], [128], [8], [16]], register = [[32]], warp = [[1], [4]]}>
#s = #tilegpu.shared<{max_phase = 1, order = [0], per_phase = 1, vec = 1}>
#d = #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], warps_per_cta = [4]}>
#e = #tilegpu.linear<{block = [], lane = [[64], [2], [128], [8], [16]], register = [[32], [256], [512], [1024], [2048], [4096], [8192]], warp = [[1], [4]]}>
!a = tensor<256xi32, #a>
!b = tensor<256xi32, #b>
!d = tensor<16384xi32, #d>
!e = tensor<16384xi32, #e>
!m = !tilegpu.memdesc<tensor<256xi32, #s>>
#rows = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 8], threads_per_warp = [4, 8], warps_per_cta = [4, 1]}>
#mma = #tilegpu.mma<{instr_shape = [16, 64, 16], version = 3 : i64, warps_per_cta = [4, 1]}>
#nv = #tilegpu.nvmma_shared<{element_bits = 16, swizzle = 128, transposed = false}>
!x = tensor<64x64xf16, #rows>
!c = tensor<64x64xf32, #mma>
!n = !tilegpu.memdesc<tensor<64x64xf16, #nv>>
module {

// What was stored is read by others; who reads may be overtaken by the next store.
// CHECK-LABEL: func.func @buffer
// CHECK: tilegpu.local_alloc
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK-NEXT: tilegpu.local_load
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
  func.func @buffer(%x: !a) -> (!a, !a, !b) {
    %m = "tilegpu.local_alloc"(%x) : (!a) -> !m
    %0 = "tilegpu.local_load"(%m) : (!m) -> !a
    %1 = "tilegpu.local_load"(%m) : (!m) -> !a
    "tilegpu.local_store"(%x, %m) : (!a, !m) -> ()
    %2 = "tilegpu.local_load"(%m) : (!m) -> !b
    return %0, %1, %2 : !a, !a, !b
  }

// Scratch of its own slot needs no barrier beyond that inside the op, however many follow.
// CHECK-LABEL: func.func @scratch
// CHECK-NOT: tilegpu.barrier
// CHECK: return
  func.func @scratch(%x: !a) -> !b {
    %0 = "tilegpu.convert_layout"(%x) : (!a) -> !b
    %1 = "tilegpu.convert_layout"(%0) : (!b) -> !a
    %2 = "tilegpu.convert_layout"(%1) : (!a) -> !b
    return %2 : !b
  }

// Large scratch is reused at once; then its readers are waited for.
// CHECK-LABEL: func.func @large
// CHECK-NOT: tilegpu.barrier
// CHECK: tilegpu.convert_layout
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.convert_layout
// CHECK-NEXT: return
  func.func @large(%x: !d) -> !d {
    %0 = "tilegpu.convert_layout"(%x) : (!d) -> !e
    %1 = "tilegpu.convert_layout"(%0) : (!e) -> !d
    return %1 : !d
  }

// A barrier of the program counts.
// CHECK-LABEL: func.func @given
// CHECK: tilegpu.local_alloc
// CHECK-NEXT: tile.debug_barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK-NEXT: return
  func.func @given(%x: !a) -> !a {
    %m = "tilegpu.local_alloc"(%x) : (!a) -> !m
    "tile.debug_barrier"() : () -> ()
    %0 = "tilegpu.local_load"(%m) : (!m) -> !a
    return %0 : !a
  }

// One conversion in a loop would meet its own readers of the last time around: it has two slots.
// Two conversions do not, each meets between the other's.
// CHECK-LABEL: func.func @loops
// CHECK: scf.for
// CHECK-NEXT: tilegpu.convert_layout{{.*}}tilegpu.shared_double_buffer = 1024 : i32
// CHECK-NEXT: tilegpu.local_load
// CHECK: scf.for
// CHECK-NOT: tilegpu.shared_double_buffer
// CHECK-NOT: tilegpu.barrier
// CHECK: return
  func.func @loops(%x: !a, %n: i32) -> (!a, !a) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = "tilegpu.local_alloc"(%x) : (!a) -> !m
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (!a) : i32 {
      %0 = "tilegpu.convert_layout"(%v) : (!a) -> !b
      %1 = "tilegpu.local_load"(%m) : (!m) -> !b
      %2 = arith.addi %0, %1 : !b
      %3 = "tilegpu.local_load"(%m) : (!m) -> !a
      scf.yield %3 : !a
    }
    %t = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (!a) : i32 {
      %0 = "tilegpu.convert_layout"(%v) : (!a) -> !b
      %1 = "tilegpu.convert_layout"(%0) : (!b) -> !a
      scf.yield %1 : !a
    }
    return %r, %t : !a, !a
  }

// A large one has one slot, and waits.
// CHECK-LABEL: func.func @large_in_a_loop
// CHECK: scf.for
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.convert_layout{{.*}}tilegpu.shared_offset = 0 : i32}
// CHECK: return
  func.func @large_in_a_loop(%x: !d, %n: i32) -> !d {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (!d) : i32 {
      %0 = "tilegpu.convert_layout"(%v) : (!d) -> !e
      scf.yield %v : !d
    }
    return %r : !d
  }

// The iterations begin anew with each run of the inner loop: either slot may still be read then.
// CHECK-LABEL: func.func @inner_loop
// CHECK: scf.for
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: scf.for
// CHECK-NEXT: tilegpu.convert_layout{{.*}}tilegpu.shared_double_buffer
// CHECK-NOT: tilegpu.barrier
// CHECK: return
  func.func @inner_loop(%x: !a, %n: i32) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (!a) : i32 {
      %s = scf.for %j = %c0 to %n step %c1 iter_args(%w = %v) -> (!a) : i32 {
        %0 = "tilegpu.convert_layout"(%w) : (!a) -> !b
        scf.yield %w : !a
      }
      scf.yield %s : !a
    }
    return %r : !a
  }

// Iterations without a barrier: what was read two iterations ago may still be read, and two slots do
// not help.
// CHECK-LABEL: func.func @some_turns
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.convert_layout{{.*}}tilegpu.shared_offset = 0 : i32}
// CHECK: return
  func.func @some_turns(%x: !a, %n: i32, %b: i1) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (!a) : i32 {
      scf.if %b {
        %0 = "tilegpu.convert_layout"(%v) : (!a) -> !b
        scf.yield
      }
      scf.yield %v : !a
    }
    return %r : !a
  }

// One arm or the other has a barrier in each iteration.
// CHECK-LABEL: func.func @either_arm
// CHECK: scf.for
// CHECK: tilegpu.convert_layout{{.*}}tilegpu.shared_double_buffer
// CHECK: tilegpu.convert_layout{{.*}}tilegpu.shared_double_buffer
// CHECK-NOT: tilegpu.barrier
// CHECK: return
  func.func @either_arm(%x: !a, %n: i32, %b: i1) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (!a) : i32 {
      scf.if %b {
        %0 = "tilegpu.convert_layout"(%v) : (!a) -> !b
        scf.yield
      } else {
        %0 = "tilegpu.convert_layout"(%v) : (!a) -> !b
        scf.yield
      }
      scf.yield %v : !a
    }
    return %r : !a
  }

// What waits before a loop need not wait in it.
// CHECK-LABEL: func.func @before_a_loop
// CHECK: tilegpu.local_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: scf.for
// CHECK-NOT: tilegpu.barrier
// CHECK: return
  func.func @before_a_loop(%x: !a, %n: i32) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = "tilegpu.local_alloc"() : () -> !m
    "tilegpu.local_store"(%x, %m) : (!a, !m) -> ()
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (!a) : i32 {
      %0 = "tilegpu.local_load"(%m) : (!m) -> !a
      %1 = arith.addi %v, %0 : !a
      scf.yield %1 : !a
    }
    return %r : !a
  }

// A branch may leave reads behind, whichever it was.
// CHECK-LABEL: func.func @branches
// CHECK: scf.if
// CHECK: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK: }
// CHECK: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store
// CHECK-NEXT: return
  func.func @branches(%x: !a, %b: i1) -> !a {
    %m = "tilegpu.local_alloc"(%x) : (!a) -> !m
    %r = scf.if %b -> (!a) {
      %0 = "tilegpu.local_load"(%m) : (!m) -> !a
      scf.yield %0 : !a
    } else {
      scf.yield %x : !a
    }
    "tilegpu.local_store"(%r, %m) : (!a, !m) -> ()
    return %r : !a
  }

// A while loop that swaps two buffers: the store of one iteration is read in the next.
// CHECK-LABEL: func.func @while_swap
// CHECK: scf.while
// CHECK: } do {
// CHECK: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store
// CHECK-NEXT: scf.yield
  func.func @while_swap(%x: !a, %b: i1) {
    %m = "tilegpu.local_alloc"(%x) : (!a) -> !m
    %k = "tilegpu.local_alloc"(%x) : (!a) -> !m
    %r:2 = scf.while (%p = %m, %q = %k) : (!m, !m) -> (!m, !m) {
      scf.condition(%b) %p, %q : !m, !m
    } do {
    ^bb0(%p: !m, %q: !m):
      %0 = "tilegpu.local_load"(%p) : (!m) -> !a
      "tilegpu.local_store"(%0, %q) : (!a, !m) -> ()
      scf.yield %q, %p : !m, !m
    }
    return
  }

// A call touches the memory of the function, and may leave reads of it.
// CHECK-LABEL: func.func @calls
// CHECK: call @callee
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: call @callee
// CHECK-NEXT: return
// CHECK-LABEL: func.func private @callee
// CHECK-NOT: tilegpu.barrier
// CHECK: return
  func.func @calls(%x: !a) -> !b {
    %0 = func.call @callee(%x) : (!a) -> !b
    %1 = func.call @callee(%x) : (!a) -> !b
    return %1 : !b
  }
  func.func private @callee(%x: !a) -> !b {
    %0 = "tilegpu.convert_layout"(%x) : (!a) -> !b
    return %0 : !b
  }

// A product in flight reads its buffers until the wait; barriers between do not end that. Behind the
// wait, others may still have theirs in flight.
// CHECK-LABEL: func.func @product_in_flight
// CHECK: tilegpu.local_alloc
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.warp_group_dot
// CHECK-NEXT: tile.debug_barrier
// CHECK-NEXT: tilegpu.warp_group_dot_wait
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store
  func.func @product_in_flight(%x: !x, %acc: !c) -> !c {
    %m = "tilegpu.local_alloc"(%x) : (!x) -> !n
    %d = "tilegpu.warp_group_dot"(%m, %m, %acc) {pending = 1 : i32} : (!n, !n, !c) -> !c
    "tile.debug_barrier"() : () -> ()
    %e = "tilegpu.warp_group_dot_wait"(%d) {pending = 0 : i32} : (!c) -> !c
    "tilegpu.local_store"(%x, %m) : (!x, !n) -> ()
    return %e : !c
  }
}
