// RUN: tilec %s --passes=licm | FileCheck %s
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
}
