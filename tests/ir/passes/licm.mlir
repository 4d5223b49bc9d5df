// RUN: tilec %s --passes=licm | FileCheck %s
// RUN: tilec %s --passes=licm --explain-perf 2>&1 | FileCheck %s --check-prefix=WHY
module {
  // Out of both loops, in one run.
  // CHECK-LABEL: func.func @nested
  // CHECK: arith.muli
  // CHECK-NEXT: "tile.make_range"
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: arith.addi
  func.func @nested(%n: i32, %s: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.for %j = %c0 to %n step %c1 : i32 {
        %a = arith.muli %n, %s : i32
        %r = "tile.make_range"() {start = 0 : i32, end = 32 : i32} : () -> tensor<32xi32>
        %b = arith.addi %a, %j : i32
        %p = "tile.splat"(%b) : (i32) -> tensor<32xi32>
        %q = arith.addi %p, %r : tensor<32xi32>
        "tile.print"(%q) {prefix = "q", hex = false, is_signed = array<i32: 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<32xi32>) -> ()
      }
    }
    return
  }

  // The loop may not run: a division by an unknown number stays, by a known one moves.
  // CHECK-LABEL: func.func @division
  // CHECK: arith.remsi
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: arith.divsi
  func.func @division(%n: i32, %d: i32, %p: !tile.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c7 = arith.constant 7 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %q = arith.divsi %n, %d : i32
      %r = arith.remsi %n, %c7 : i32
      %s = arith.addi %q, %r : i32
      "tile.store"(%p, %s) {cache = "", evict = ""} : (!tile.ptr<i32>, i32) -> ()
    }
    return
  }

  // Loads stay, and what depends on the loop.
  // CHECK-LABEL: func.func @while
  // CHECK: arith.addi %{{.*}}, %{{.*}} : i32
  // CHECK: scf.while
  // CHECK: "tile.load"
  // CHECK: arith.cmpi
  func.func @while(%n: i32, %p: !tile.ptr<i32>) -> i32 {
    %c0 = arith.constant 0 : i32
    %r = scf.while (%x = %c0) : (i32) -> i32 {
      %limit = arith.addi %n, %n : i32
      %v = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i32>) -> i32
      %m = arith.addi %limit, %v : i32
      %c = arith.cmpi slt, %x, %m : i32
      scf.condition(%c) %x : i32
    } do {
    ^bb0(%y: i32):
      %z = arith.addi %y, %n : i32
      scf.yield %z : i32
    }
    return %r : i32
  }

  // A reduction leaves the loop unless its function divides by what may be zero.
  // CHECK-LABEL: func.func @reductions
  // CHECK: combine = @safe
  // CHECK: scf.for
  // CHECK: combine = @divides
  func.func private @safe(%a: i32, %b: i32) -> i32 {
    %c = arith.addi %a, %b : i32
    return %c : i32
  }
  func.func private @divides(%a: i32, %b: i32) -> i32 {
    %c = arith.divsi %a, %b : i32
    return %c : i32
  }
  func.func @reductions(%x: tensor<8xi32>, %n: i32) -> i32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %f = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c0) -> (i32) : i32 {
      %r = "tile.reduce"(%x) {axis = 0 : i32, combine = @safe, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<8xi32>) -> i32
      %s = "tile.reduce"(%x) {axis = 0 : i32, combine = @divides, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<8xi32>) -> i32
      %t = arith.addi %r, %s : i32
      %u = arith.addi %t, %acc : i32
      scf.yield %u : i32
    }
    return %f : i32
  }

  // Loads leave loops that write nothing. Where the loop may not run, neither does the load; what
  // is computed of it follows.
  // CHECK-LABEL: func.func @loads
  // CHECK: %[[V:.*]] = "tile.load"(%{{.*}}) {{.*}} -> f32
  // CHECK: arith.negf %[[V]]
  // CHECK: scf.for
  // CHECK-NOT: tile.load
  // CHECK: %[[RUNS:.*]] = arith.cmpi slt, %c0_i32{{.*}}, %[[N:.*]] : i32
  // CHECK: %[[ALL:.*]] = "tile.splat"(%[[RUNS]]) : (i1) -> tensor<8xi1>
  // CHECK: %[[M:.*]] = arith.andi %{{.*}}, %[[ALL]]
  // CHECK: "tile.load"(%{{.*}}, %[[M]], %{{.*}}) {cache = "cg"
  // CHECK: scf.for
  // CHECK-NOT: tile.load
  // CHECK: return
  func.func @loads(%p: !tile.ptr<f32>, %t: tensor<8x!tile.ptr<f32>>, %m: tensor<8xi1>, %z: tensor<8xf32>, %n: i32) -> (f32, tensor<8xf32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    %f0 = arith.constant 0.0 : f32
    %a = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %f0) -> (f32) : i32 {
      %v = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<f32>) -> f32
      %w = arith.negf %v : f32
      %s = arith.addf %acc, %w : f32
      scf.yield %s : f32
    }
    %b = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (tensor<8xf32>) : i32 {
      %v = "tile.load"(%t, %m, %z) {cache = "cg", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<8x!tile.ptr<f32>>, tensor<8xi1>, tensor<8xf32>) -> tensor<8xf32>
      %s = arith.addf %acc, %v : tensor<8xf32>
      scf.yield %s : tensor<8xf32>
    }
    return %a, %b : f32, tensor<8xf32>
  }

  // Behind a store the value may be another; volatile loads are repeated; some loops want nothing
  // moved.
  // WHY: remark: loads the same in every iteration: the loop has effects, after which it may differ [licm]
  // CHECK-LABEL: func.func @staying_loads
  // CHECK-NOT: tile.load
  // CHECK-NOT: arith.muli
  // CHECK: scf.for
  // CHECK: tile.load
  // CHECK: scf.for
  // CHECK: tile.load
  // CHECK: scf.for
  // CHECK: arith.muli
  func.func @staying_loads(%p: !tile.ptr<f32>, %n: i32) -> (f32, i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %f0 = arith.constant 0.0 : f32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %v = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<f32>) -> f32
      %w = arith.addf %v, %v : f32
      "tile.store"(%p, %w) {cache = "", evict = "", operandSegmentSizes = array<i32: 1, 1, 0>} : (!tile.ptr<f32>, f32) -> ()
    }
    %a = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %f0) -> (f32) : i32 {
      %v = "tile.load"(%p) {cache = "", evict = "", is_volatile = true, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<f32>) -> f32
      %s = arith.addf %acc, %v : f32
      scf.yield %s : f32
    }
    %b = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c0) -> (i32) : i32 {
      %v = arith.muli %n, %n : i32
      %s = arith.addi %acc, %v : i32
      scf.yield %s : i32
    } {tile.disable_licm = true}
    return %a, %b : f32, i32
  }

// Widening a tile stays in the loop: outside, the wide one would hold twice the registers all along.
// CHECK-LABEL: func.func @widening
// CHECK: scf.for
// CHECK: arith.extf
  func.func @widening(%n: i32, %x: tensor<1024xf16>, %y: tensor<1024xf32>) -> tensor<1024xf32> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %y) -> (tensor<1024xf32>) : i32 {
      %w = arith.extf %x : tensor<1024xf16> to tensor<1024xf32>
      %s = arith.addf %acc, %w : tensor<1024xf32>
      scf.yield %s : tensor<1024xf32>
    }
    return %r : tensor<1024xf32>
  }
}
