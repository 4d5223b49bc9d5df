// RUN: tilec %s --passes=insert-barriers --target sm_90a | FileCheck %s
// insert-barriers: offsets given by hand. Scratch with two slots that shares one of them with
// something else of its loop waits, as if it had both all the time.
#a = #tilegpu.linear<{block = [], lane = [[1], [2], [4], [8], [16]], register = [[128]], warp = [[32], [64]]}>
#b = #tilegpu.linear<{block = [], lane = [[64], [2], [128], [8], [16]], register = [[32]], warp = [[1], [4]]}>
#s = #tilegpu.shared<{max_phase = 1, order = [0], per_phase = 1, vec = 1}>
!a = tensor<256xi32, #a>
!b = tensor<256xi32, #b>
!m = !tilegpu.memdesc<tensor<256xi32, #s>>
module attributes {tilegpu.shared_bytes = 4096 : i32} {

// CHECK-LABEL: func.func @apart
// CHECK: scf.for
// CHECK-NEXT: tilegpu.convert_layout
// CHECK-NOT: tilegpu.barrier
// CHECK: return
  func.func @apart(%x: !a, %n: i32) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (!a) : i32 {
      %0 = "tilegpu.convert_layout"(%v) {tilegpu.shared_double_buffer = 1024 : i32, tilegpu.shared_offset = 0 : i32} : (!a) -> !b
      scf.yield %v : !a
    }
    return %r : !a
  }

// CHECK-LABEL: func.func @shared_slot
// CHECK: tilegpu.local_alloc
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: scf.for
// CHECK-NEXT: tilegpu.local_load
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.convert_layout
// CHECK-NOT: tilegpu.barrier
// CHECK: return
  func.func @shared_slot(%x: !a, %n: i32) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = "tilegpu.local_alloc"(%x) {tilegpu.shared_offset = 1024 : i32} : (!a) -> !m
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (!a) : i32 {
      %1 = "tilegpu.local_load"(%m) : (!m) -> !a
      %0 = "tilegpu.convert_layout"(%v) {tilegpu.shared_double_buffer = 1024 : i32, tilegpu.shared_offset = 0 : i32} : (!a) -> !b
      scf.yield %1 : !a
    }
    return %r : !a
  }

// Behind the loop nobody knows which of the two was the last.
// CHECK-LABEL: func.func @behind
// CHECK: scf.for
// CHECK-NEXT: tilegpu.convert_layout
// CHECK-NEXT: scf.yield
// CHECK-NEXT: {{^ +[}]}}
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_alloc
// CHECK: scf.for
// CHECK-NEXT: tilegpu.convert_layout
// CHECK-NEXT: scf.yield
// CHECK-NEXT: {{^ +[}]}}
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.local_alloc
// CHECK: return
  func.func @behind(%x: !a, %n: i32) -> !a {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (!a) : i32 {
      %0 = "tilegpu.convert_layout"(%v) {tilegpu.shared_double_buffer = 1024 : i32, tilegpu.shared_offset = 0 : i32} : (!a) -> !b
      scf.yield %v : !a
    }
    %m = "tilegpu.local_alloc"(%x) {tilegpu.shared_offset = 0 : i32} : (!a) -> !m
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%v = %r) -> (!a) : i32 {
      %0 = "tilegpu.convert_layout"(%v) {tilegpu.shared_double_buffer = 1024 : i32, tilegpu.shared_offset = 2048 : i32} : (!a) -> !b
      scf.yield %v : !a
    }
    %k = "tilegpu.local_alloc"(%x) {tilegpu.shared_offset = 3072 : i32} : (!a) -> !m
    return %s : !a
  }
}
