// RUN: tilec %s --passes=allocate-shared --target sm_90a | FileCheck %s
// allocate-shared: offsets in shared memory for buffers and scratch.
#a = #tilegpu.linear<{block = [], lane = [[1], [2], [4], [8], [16]], register = [[128]], warp = [[32], [64]]}>
#b = #tilegpu.linear<{block = [], lane = [[64], [2], [128], [8], [16]], register = [[32]], warp = [[1], [4]]}>
#c = #tilegpu.linear<{block = [], lane = [[128], [64], [32], [16], [8]], register = [[1]], warp = [[4], [2]]}>
#s = #tilegpu.shared<{max_phase = 1, order = [0], per_phase = 1, vec = 1}>
#rows = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 4], threads_per_warp = [1, 32], warps_per_cta = [4, 1]}>
#w = #tilegpu.nvmma_shared<{element_bits = 16, swizzle = 128, transposed = false}>
!a = tensor<256xi32, #a>
!b = tensor<256xi32, #b>
!c = tensor<256xi32, #c>
!m = !tilegpu.memdesc<tensor<256xi32, #s>>
!x = tensor<16x128xf16, #rows>
!w = !tilegpu.memdesc<tensor<16x128xf16, #w>>
// The largest function counts.
// CHECK: module attributes {tilegpu.shared_bytes = 5120 : i32}
module {

// Conversions of a chain: each may be written while the one before it is still read. The third
// takes the memory of the first, whose readers have met since.
// CHECK-LABEL: func.func @chain
// CHECK: tilegpu.convert_layout{{.*}}tilegpu.shared_offset = 0 : i32
// CHECK: tilegpu.convert_layout{{.*}}tilegpu.shared_offset = 1024 : i32
// CHECK: tilegpu.convert_layout{{.*}}tilegpu.shared_offset = 0 : i32
  func.func @chain(%x: !a) -> !b {
    %0 = "tilegpu.convert_layout"(%x) : (!a) -> !b
    %1 = "tilegpu.convert_layout"(%0) : (!b) -> !a
    %2 = "tilegpu.convert_layout"(%1) : (!a) -> !b
    return %2 : !b
  }

// The last of a loop is followed by its first: three in a loop are three slots.
// CHECK-LABEL: func.func @around
// CHECK: tilegpu.convert_layout{{.*}}tilegpu.shared_offset = 0 : i32
// CHECK: tilegpu.convert_layout{{.*}}tilegpu.shared_offset = 1024 : i32
// CHECK: tilegpu.convert_layout{{.*}}tilegpu.shared_offset = 2048 : i32
  func.func @around(%x: !a, %n: i32) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (!a) : i32 {
      %0 = "tilegpu.convert_layout"(%v) : (!a) -> !b
      %1 = "tilegpu.convert_layout"(%0) : (!b) -> !a
      %2 = "tilegpu.convert_layout"(%1) : (!a) -> !c
      %3 = arith.addi %x, %1 : !a
      scf.yield %3 : !a
    }
    return %r : !a
  }

// A buffer lives to its last use; a buffer from outside a loop through all of it.
// CHECK-LABEL: func.func @lives
// CHECK: tilegpu.local_alloc{{.*}}tilegpu.shared_offset = 0 : i32
// CHECK: scf.for
// CHECK: tilegpu.local_load
// CHECK: tilegpu.convert_layout{{.*}}tilegpu.shared_offset = 1024 : i32
// CHECK: tilegpu.convert_layout{{.*}}tilegpu.shared_offset = 2048 : i32
// CHECK: tilegpu.local_alloc{{.*}}tilegpu.shared_offset = 0 : i32
  func.func @lives(%x: !a, %n: i32) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = "tilegpu.local_alloc"(%x) : (!a) -> !m
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (!a) : i32 {
      %0 = "tilegpu.local_load"(%m) : (!m) -> !a
      %1 = "tilegpu.convert_layout"(%0) : (!a) -> !b
      %2 = "tilegpu.convert_layout"(%1) : (!b) -> !a
      scf.yield %2 : !a
    }
    %k = "tilegpu.local_alloc"(%r) : (!a) -> !m
    %o = "tilegpu.local_load"(%k) : (!m) -> !a
    return %o : !a
  }

// Two buffers that a loop swaps are both alive all the time, a third one in it too.
// CHECK-LABEL: func.func @swap
// CHECK: tilegpu.local_alloc{{.*}}tilegpu.shared_offset = 0 : i32
// CHECK: tilegpu.local_alloc{{.*}}tilegpu.shared_offset = 1024 : i32
// CHECK: tilegpu.local_alloc{{.*}}tilegpu.shared_offset = 2048 : i32
  func.func @swap(%x: !a, %n: i32) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = "tilegpu.local_alloc"(%x) : (!a) -> !m
    %k = "tilegpu.local_alloc"(%x) : (!a) -> !m
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %m, %q = %k) -> (!m, !m) : i32 {
      %0 = "tilegpu.local_load"(%p) : (!m) -> !a
      %1 = "tilegpu.local_alloc"(%0) : (!a) -> !m
      %2 = "tilegpu.local_load"(%1) : (!m) -> !a
      "tilegpu.local_store"(%2, %q) : (!a, !m) -> ()
      scf.yield %q, %p : !m, !m
    }
    %o = "tilegpu.local_load"(%r#0) : (!m) -> !a
    return %o : !a
  }

// The largest comes first.
// CHECK-LABEL: func.func @sizes
// CHECK: tilegpu.local_alloc{{.*}}tilegpu.shared_offset = 4096 : i32
// CHECK: tilegpu.local_alloc{{.*}}tilegpu.shared_offset = 0 : i32
  func.func @sizes(%x: !x, %y: !a) -> (!x, !a) {
    %k = "tilegpu.local_alloc"(%y) : (!a) -> !m
    %m = "tilegpu.local_alloc"(%x) : (!x) -> !w
    %o = "tilegpu.local_load"(%m) : (!w) -> !x
    %l = "tilegpu.local_load"(%k) : (!m) -> !a
    return %o, %l : !x, !a
  }

// Alone in a loop: two slots. What is used in the loop lies elsewhere, what is used before it may
// lie there.
// CHECK-LABEL: func.func @iterations
// CHECK: tilegpu.local_alloc{{.*}}tilegpu.shared_offset = 0 : i32
// CHECK: tilegpu.convert_layout{{.*}}tilegpu.shared_offset = 1024 : i32}
// CHECK: tilegpu.convert_layout{{.*}}tilegpu.shared_double_buffer = 1024 : i32, tilegpu.shared_offset = 2048 : i32
// CHECK: return
  func.func @iterations(%x: !a, %n: i32) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = "tilegpu.local_alloc"(%x) : (!a) -> !m
    %z = "tilegpu.convert_layout"(%x) : (!a) -> !b
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (!a) : i32 {
      %0 = "tilegpu.convert_layout"(%v) : (!a) -> !b
      %1 = "tilegpu.local_load"(%m) : (!m) -> !a
      scf.yield %1 : !a
    }
    return %r : !a
  }

// A called function lies above its callers.
// CHECK-LABEL: func.func @caller
// CHECK: tilegpu.convert_layout{{.*}}tilegpu.shared_offset = 1024 : i32
// CHECK-LABEL: func.func private @callee
// CHECK: tilegpu.convert_layout{{.*}}tilegpu.shared_offset = 2048 : i32
// CHECK: tilegpu.convert_layout{{.*}}tilegpu.shared_offset = 3072 : i32
  func.func @caller(%x: !a) -> !b {
    %m = "tilegpu.local_alloc"(%x) : (!a) -> !m
    %0 = "tilegpu.convert_layout"(%x) : (!a) -> !b
    %1 = func.call @callee(%0) : (!b) -> !b
    %2 = "tilegpu.local_load"(%m) : (!m) -> !a
    return %1 : !b
  }
  func.func private @callee(%x: !b) -> !b {
    %0 = "tilegpu.convert_layout"(%x) : (!b) -> !a
    %1 = "tilegpu.convert_layout"(%0) : (!a) -> !b
    return %1 : !b
  }
}
