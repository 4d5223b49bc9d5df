// RUN: tilec %s --passes=reorder | FileCheck %s
// reorder: loads move up to the previous side effect in the block, conversions down to their use.
#a = #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], warps_per_cta = [4]}>
#b = #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], warps_per_cta = [4]}>
!i = tensor<1024xi32, #a>
!p = tensor<1024x!tile.ptr<f32>, #a>
!v = tensor<1024xf32, #a>
!w = tensor<1024xf32, #b>
module {

// Both loads are issued before the first result is used; the address of the second goes along.
// CHECK-LABEL: func.func @loads_first
// CHECK: tile.load
// CHECK-NEXT: tile.addptr
// CHECK-NEXT: tile.load
// CHECK-NEXT: arith.negf
// CHECK-NEXT: arith.addf
  func.func @loads_first(%p: !p, %o: !i) -> !v {
    %x = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!p) -> !v
    %n = arith.negf %x : !v
    %q = "tile.addptr"(%p, %o) : (!p, !i) -> !p
    %y = "tile.load"(%q) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!p) -> !v
    %z = arith.addf %n, %y : !v
    return %z : !v
  }

// A load that needs a loaded value waits for it, with nothing else in between.
// CHECK-LABEL: func.func @dependent
// CHECK: tile.load
// CHECK-NEXT: arith.fptosi
// CHECK-NEXT: tile.addptr
// CHECK-NEXT: tile.load
// CHECK-NEXT: arith.negf
  func.func @dependent(%p: !p) -> !v {
    %x = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!p) -> !v
    %n = arith.negf %x : !v
    %o = arith.fptosi %x : !v to !i
    %q = "tile.addptr"(%p, %o) : (!p, !i) -> !p
    %y = "tile.load"(%q) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!p) -> !v
    %z = arith.addf %n, %y : !v
    return %z : !v
  }

// No load crosses a store, an assertion, a barrier or a loop.
// CHECK-LABEL: func.func @fences
// CHECK: arith.negf
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.load
// CHECK-NEXT: arith.negf
// CHECK-NEXT: tile.assert
// CHECK-NEXT: tile.load
// CHECK-NEXT: arith.negf
// CHECK-NEXT: tile.debug_barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: arith.negf
// CHECK-NEXT: scf.for
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.store
// CHECK-SAME: -> ()
// CHECK-NEXT: }
// CHECK-NEXT: tile.load
  func.func @fences(%p: !p, %x: !v, %c: i1, %k: i32) -> (!v, !v, !v) {
    %a = arith.negf %x : !v
    "tile.store"(%p, %a) {cache = "", evict = "", operandSegmentSizes = array<i32: 1, 1, 0>} : (!p, !v) -> ()
    %b = arith.negf %a : !v
    %y = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!p) -> !v
    "tile.assert"(%c) {message = "no"} : (i1) -> ()
    %d = arith.negf %b : !v
    %z = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!p) -> !v
    "tile.debug_barrier"() : () -> ()
    %e = arith.negf %d : !v
    %t = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!p) -> !v
    scf.for %i = %k to %k step %k : i32 {
      %u = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!p) -> !v
      "tile.store"(%p, %u) {cache = "", evict = "", operandSegmentSizes = array<i32: 1, 1, 0>} : (!p, !v) -> ()
    }
    %f = arith.negf %e : !v
    %w = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!p) -> !v
    %g = arith.addf %f, %w : !v
    return %g, %y, %z : !v, !v, !v
  }

// Volatile loads stay where they are.
// CHECK-LABEL: func.func @volatile
// CHECK: arith.negf
// CHECK-NEXT: tile.load
// CHECK-NEXT: arith.addf
  func.func @volatile(%p: !p, %x: !v) -> !v {
    %n = arith.negf %x : !v
    %y = "tile.load"(%p) {cache = "", evict = "", is_volatile = true, operandSegmentSizes = array<i32: 1, 0, 0>} : (!p) -> !v
    %z = arith.addf %n, %y : !v
    return %z : !v
  }

// A conversion waits until its result is used, but not inside a loop.
// CHECK-LABEL: func.func @sink
// CHECK: arith.negf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: [[C:%.+]] = "tilegpu.convert_layout"
// CHECK-NEXT: arith.addf [[C]]
// CHECK-NEXT: [[D:%.+]] = "tilegpu.convert_layout"
// CHECK-NEXT: scf.for
// CHECK-NEXT: arith.addf {{.*}}[[D]]
  func.func @sink(%x: !v, %y: !w, %k: i32) -> !w {
    %c = "tilegpu.convert_layout"(%x) : (!v) -> !w
    %n = arith.negf %x : !v
    %d = "tilegpu.convert_layout"(%n) : (!v) -> !w
    %m = arith.mulf %y, %y : !w
    %z = arith.addf %c, %m : !w
    %r = scf.for %i = %k to %k step %k iter_args(%a = %z) -> (!w) : i32 {
      %b = arith.addf %a, %d : !w
      scf.yield %b : !w
    }
    return %r : !w
  }

// A load stays behind a reduction before it: its registers would wait there for all threads.
// CHECK-LABEL: func.func @behind_reduction
// CHECK: tile.load
// CHECK: tile.reduce
// CHECK: tile.load
  func.func @behind_reduction(%p: !p, %x: !v) -> (f32, !v) {
    %a = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!p) -> !v
    %s = "tile.reduce"(%a) {axis = 0 : i32, combine = @plus, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (!v) -> f32
    %b = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!p) -> !v
    return %s, %b : f32, !v
  }
  func.func private @plus(%a: f32, %b: f32) -> f32 {
    %c = arith.addf %a, %b : f32
    return %c : f32
  }
}
