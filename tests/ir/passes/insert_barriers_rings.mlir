// RUN: tilec %s --passes=allocate-shared,insert-barriers --target sm_90a | FileCheck %s
// insert-barriers: rings of buffers that asynchronous copies fill, several tiles ahead.
#a = #tilegpu.linear<{block = [], lane = [[1], [2], [4], [8], [16]], register = [[128]], warp = [[32], [64]]}>
#b = #tilegpu.linear<{block = [], lane = [[64], [2], [128], [8], [16]], register = [[32]], warp = [[1], [4]]}>
#s = #tilegpu.shared<{max_phase = 1, order = [0], per_phase = 1, vec = 1}>
!a = tensor<256xi32, #a>
!b = tensor<256xi32, #b>
!p = tensor<256x!tile.ptr<i32>, #a>
!m = !tilegpu.memdesc<tensor<256xi32, #s>>
module {

// Two tiles ahead in three buffers: the one barrier of an iteration is behind the wait and in front of the
// copy, which writes what the iteration before has read.
// CHECK-LABEL: func.func @pipelined
// CHECK-NOT: tilegpu.barrier
// CHECK: scf.for
// CHECK: tilegpu.async_wait
// CHECK-NEXT: tilegpu.local_index
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.async_copy
// CHECK-NOT: tilegpu.barrier
// CHECK: return
  func.func @pipelined(%p: !p, %x: !a, %n: i32) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = "tilegpu.local_alloc"() {copies = 3 : i32} : () -> !m
    %b0 = "tilegpu.local_index"(%ring, %c0) : (!m, i32) -> !m
    "tilegpu.async_copy"(%p, %b0) {cache = "", evict = ""} : (!p, !m) -> ()
    "tilegpu.async_commit"() : () -> ()
    %b1 = "tilegpu.local_index"(%ring, %c1) : (!m, i32) -> !m
    "tilegpu.async_copy"(%p, %b1) {cache = "", evict = ""} : (!p, !m) -> ()
    "tilegpu.async_commit"() : () -> ()
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x, %k = %c0) -> (!a, i32) : i32 {
      %now = "tilegpu.local_index"(%ring, %k) {phase = 0 : i32} : (!m, i32) -> !m
      "tilegpu.async_wait"(%now) {pending = 1 : i32} : (!m) -> ()
      %last = "tilegpu.local_index"(%ring, %k) {phase = 2 : i32} : (!m, i32) -> !m
      "tilegpu.async_copy"(%p, %last) {cache = "", evict = ""} : (!p, !m) -> ()
      "tilegpu.async_commit"() : () -> ()
      %0 = "tilegpu.local_load"(%now) : (!m) -> !a
      %1 = arith.addi %0, %v : !a
      scf.yield %1, %k : !a, i32
    }
    "tilegpu.async_wait"() {pending = 0 : i32} : () -> ()
    return %r#0 : !a
  }

// The first part of the next iteration's tile is read at the end of the iteration: the barrier is there.
// CHECK-LABEL: func.func @prefetched
// CHECK: tilegpu.async_wait
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK-NEXT: scf.for
// CHECK-NOT: tilegpu.barrier
// CHECK: tilegpu.async_wait
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK-NOT: tilegpu.barrier
// CHECK: return
  func.func @prefetched(%p: !p, %x: !a, %n: i32) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !m
    %b0 = "tilegpu.local_index"(%ring, %c0) : (!m, i32) -> !m
    "tilegpu.async_copy"(%p, %b0) {cache = "", evict = ""} : (!p, !m) -> ()
    "tilegpu.async_commit"() : () -> ()
    "tilegpu.async_wait"(%b0) {pending = 0 : i32} : (!m) -> ()
    %first = "tilegpu.local_load"(%b0) : (!m) -> !a
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x, %k = %c0, %part = %first) -> (!a, i32, !a) : i32 {
      %last = "tilegpu.local_index"(%ring, %k) {phase = 1 : i32} : (!m, i32) -> !m
      "tilegpu.async_copy"(%p, %last) {cache = "", evict = ""} : (!p, !m) -> ()
      "tilegpu.async_commit"() : () -> ()
      %now = "tilegpu.local_index"(%ring, %k) {phase = 0 : i32} : (!m, i32) -> !m
      %0 = "tilegpu.local_load"(%now) : (!m) -> !a
      %1 = arith.addi %part, %v : !a
      %next = "tilegpu.local_index"(%ring, %k) {phase = 1 : i32} : (!m, i32) -> !m
      "tilegpu.async_wait"(%next) {pending = 0 : i32} : (!m) -> ()
      %2 = "tilegpu.local_load"(%next) : (!m) -> !a
      %3 = arith.addi %0, %1 : !a
      scf.yield %3, %k, %2 : !a, i32, !a
    }
    "tilegpu.async_wait"() {pending = 0 : i32} : () -> ()
    return %r#0 : !a
  }

// One buffer too few: the copy writes what is read next.
// CHECK-LABEL: func.func @too_small
// CHECK: scf.for
// CHECK: tilegpu.barrier
// CHECK-NEXT: tilegpu.async_copy
// CHECK-NEXT: tilegpu.async_commit
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK-NOT: tilegpu.barrier
// CHECK: return
  func.func @too_small(%p: !p, %x: !a, %n: i32) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !m
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x, %k = %c0) -> (!a, i32) : i32 {
      %now = "tilegpu.local_index"(%ring, %k) {phase = 0 : i32} : (!m, i32) -> !m
      "tilegpu.async_wait"(%now) {pending = 1 : i32} : (!m) -> ()
      %last = "tilegpu.local_index"(%ring, %k) {phase = 2 : i32} : (!m, i32) -> !m
      "tilegpu.async_copy"(%p, %last) {cache = "", evict = ""} : (!p, !m) -> ()
      "tilegpu.async_commit"() : () -> ()
      %0 = "tilegpu.local_load"(%now) : (!m) -> !a
      %1 = arith.addi %0, %v : !a
      scf.yield %1, %k : !a, i32
    }
    "tilegpu.async_wait"() {pending = 0 : i32} : () -> ()
    return %r#0 : !a
  }

// The copy in front of the wait: one barrier for the readers of the iteration before, one for the copies
// of others.
// CHECK-LABEL: func.func @copy_first
// CHECK: scf.for
// CHECK: tilegpu.barrier
// CHECK-NEXT: tilegpu.async_copy
// CHECK: tilegpu.async_wait
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK-NOT: tilegpu.barrier
// CHECK: return
  func.func @copy_first(%p: !p, %x: !a, %n: i32) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = "tilegpu.local_alloc"() {copies = 3 : i32} : () -> !m
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x, %k = %c0) -> (!a, i32) : i32 {
      %now = "tilegpu.local_index"(%ring, %k) {phase = 0 : i32} : (!m, i32) -> !m
      %last = "tilegpu.local_index"(%ring, %k) {phase = 2 : i32} : (!m, i32) -> !m
      "tilegpu.async_copy"(%p, %last) {cache = "", evict = ""} : (!p, !m) -> ()
      "tilegpu.async_commit"() : () -> ()
      "tilegpu.async_wait"(%now) {pending = 2 : i32} : (!m) -> ()
      %0 = "tilegpu.local_load"(%now) : (!m) -> !a
      %1 = arith.addi %0, %v : !a
      scf.yield %1, %k : !a, i32
    }
    "tilegpu.async_wait"() {pending = 0 : i32} : () -> ()
    return %r#0 : !a
  }

// One buffer more than that needs: the copy writes what was read two iterations ago, and a barrier was
// between.
// CHECK-LABEL: func.func @copy_first_apart
// CHECK: scf.for
// CHECK-NOT: tilegpu.barrier
// CHECK: tilegpu.async_wait
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK-NOT: tilegpu.barrier
// CHECK: return
  func.func @copy_first_apart(%p: !p, %x: !a, %n: i32) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = "tilegpu.local_alloc"() {copies = 4 : i32} : () -> !m
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x, %k = %c0) -> (!a, i32) : i32 {
      %now = "tilegpu.local_index"(%ring, %k) {phase = 0 : i32} : (!m, i32) -> !m
      %last = "tilegpu.local_index"(%ring, %k) {phase = 2 : i32} : (!m, i32) -> !m
      "tilegpu.async_copy"(%p, %last) {cache = "", evict = ""} : (!p, !m) -> ()
      "tilegpu.async_commit"() : () -> ()
      "tilegpu.async_wait"(%now) {pending = 2 : i32} : (!m) -> ()
      %0 = "tilegpu.local_load"(%now) : (!m) -> !a
      %1 = arith.addi %0, %v : !a
      scf.yield %1, %k : !a, i32
    }
    "tilegpu.async_wait"() {pending = 0 : i32} : () -> ()
    return %r#0 : !a
  }

// Without phases any buffer may be meant; a constant number is one buffer outside the loop only.
// CHECK-LABEL: func.func @no_phase
// CHECK: scf.for
// CHECK: tilegpu.barrier
// CHECK-NEXT: tilegpu.async_copy
// CHECK: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_load
// CHECK: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store
// CHECK-NOT: tilegpu.barrier
// CHECK: return
  func.func @no_phase(%p: !p, %x: !a, %n: i32) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = "tilegpu.local_alloc"() {copies = 3 : i32} : () -> !m
    %b1 = "tilegpu.local_index"(%ring, %c1) : (!m, i32) -> !m
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x, %k = %c0) -> (!a, i32) : i32 {
      %now = "tilegpu.local_index"(%ring, %k) : (!m, i32) -> !m
      %last = "tilegpu.local_index"(%ring, %k) {phase = 2 : i32} : (!m, i32) -> !m
      "tilegpu.async_copy"(%p, %last) {cache = "", evict = ""} : (!p, !m) -> ()
      %0 = "tilegpu.local_load"(%now) : (!m) -> !a
      "tilegpu.local_store"(%0, %b1) : (!a, !m) -> ()
      %1 = arith.addi %0, %v : !a
      scf.yield %1, %k : !a, i32
    }
    "tilegpu.async_wait"() {pending = 0 : i32} : () -> ()
    return %r#0 : !a
  }

// Numbers in front of a loop are those of its first iteration: what was stored to buffer 1 is read in iteration
// 0, so that the barrier is in front of the loop; buffers 0 and 2 are no matter.
// CHECK-LABEL: func.func @entry
// CHECK-NOT: tilegpu.barrier
// CHECK: scf.for
// CHECK-NEXT: tilegpu.local_index
// CHECK-NEXT: tilegpu.local_load
// CHECK: tilegpu.local_store
// CHECK-NOT: tilegpu.barrier
// CHECK: tilegpu.local_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: scf.for
// CHECK-NOT: tilegpu.barrier
// CHECK: return
  func.func @entry(%x: !a, %n: i32) -> (!a, !a) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %one = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !m
    %one1 = "tilegpu.local_index"(%one, %c1) : (!m, i32) -> !m
    %once = scf.for %i = %c0 to %c1 step %c1 iter_args(%v = %x) -> (!a) : i32 {
      %now = "tilegpu.local_index"(%one, %i) {phase = 0 : i32} : (!m, i32) -> !m
      %0 = "tilegpu.local_load"(%now) : (!m) -> !a
      scf.yield %0 : !a
    }
    %ring = "tilegpu.local_alloc"() {copies = 4 : i32} : () -> !m
    %b0 = "tilegpu.local_index"(%ring, %c0) : (!m, i32) -> !m
    %b1 = "tilegpu.local_index"(%ring, %c1) : (!m, i32) -> !m
    "tilegpu.local_store"(%x, %b0) : (!a, !m) -> ()
    "tilegpu.local_store"(%x, %b1) : (!a, !m) -> ()
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (!a) : i32 {
      %now = "tilegpu.local_index"(%ring, %i) {phase = 1 : i32} : (!m, i32) -> !m
      %0 = "tilegpu.local_load"(%now) : (!m) -> !a
      scf.yield %0 : !a
    }
    return %once, %r : !a, !a
  }

// Around an outer loop nothing is known of the inner one's last iteration: the prologue waits for it.
// CHECK-LABEL: func.func @nested
// CHECK: scf.for
// CHECK: tilegpu.barrier
// CHECK-NEXT: tilegpu.async_copy
// CHECK-NOT: tilegpu.barrier
// CHECK: scf.for
// CHECK: tilegpu.async_wait
// CHECK-NEXT: tilegpu.local_index
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.async_copy
// CHECK: scf.if
// CHECK-NOT: tilegpu.barrier
// CHECK: return
  func.func @nested(%p: !p, %x: !a, %n: i32, %odd: i1) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !m
    %b0 = "tilegpu.local_index"(%ring, %c0) : (!m, i32) -> !m
    %all = scf.for %j = %c0 to %n step %c1 iter_args(%w = %x) -> (!a) : i32 {
      "tilegpu.async_copy"(%p, %b0) {cache = "", evict = ""} : (!p, !m) -> ()
      "tilegpu.async_commit"() : () -> ()
      %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %w, %k = %c0) -> (!a, i32) : i32 {
        %now = "tilegpu.local_index"(%ring, %k) {phase = 0 : i32} : (!m, i32) -> !m
        "tilegpu.async_wait"(%now) {pending = 0 : i32} : (!m) -> ()
        %last = "tilegpu.local_index"(%ring, %k) {phase = 1 : i32} : (!m, i32) -> !m
        "tilegpu.async_copy"(%p, %last) {cache = "", evict = ""} : (!p, !m) -> ()
        "tilegpu.async_commit"() : () -> ()
        %1 = scf.if %odd -> (!a) {
          %0 = "tilegpu.local_load"(%now) : (!m) -> !a
          scf.yield %0 : !a
        } else {
          scf.yield %v : !a
        }
        scf.yield %1, %k : !a, i32
      }
      "tilegpu.async_wait"() {pending = 0 : i32} : () -> ()
      scf.yield %r#0 : !a
    }
    return %all : !a
  }

// A barrier does not end a copy: who waited for his own may not write where those of others are
// still to land.
// CHECK-LABEL: func.func @under_way
// CHECK: tilegpu.async_copy
// CHECK-NEXT: tilegpu.async_commit
// CHECK-NEXT: tile.debug_barrier
// CHECK-NEXT: tilegpu.async_wait
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_store
// CHECK-NEXT: return
  func.func @under_way(%p: !p, %x: !a) {
    %m = "tilegpu.local_alloc"() : () -> !m
    "tilegpu.async_copy"(%p, %m) {cache = "", evict = ""} : (!p, !m) -> ()
    "tilegpu.async_commit"() : () -> ()
    "tile.debug_barrier"() : () -> ()
    "tilegpu.async_wait"() {pending = 0 : i32} : () -> ()
    "tilegpu.local_store"(%x, %m) : (!a, !m) -> ()
    return
  }
}
