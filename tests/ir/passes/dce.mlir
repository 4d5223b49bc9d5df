// RUN: tilec %s --passes=dce | FileCheck %s
module {
  // Removes unused chains and unused loads; keeps volatile loads, stores and asserts.
  // CHECK-LABEL: func.func @chains
  // CHECK-NEXT: "tile.load"{{.*}}is_volatile = true
  // CHECK-NEXT: "tile.assert"
  // CHECK-NEXT: return
  func.func @chains(%p: !tile.ptr<i32>, %x: i32, %c: i1) {
    %n = arith.extsi %x : i32 to i64
    %d = "tile.descriptor_load"(%p, %n, %x) {padding = "zero", operandSegmentSizes = array<i32: 1, 1, 0, 1>} : (!tile.ptr<i32>, i64, i32) -> tensor<4xi32>
    %a = arith.addi %x, %x : i32
    %b = arith.muli %a, %a : i32
    %l = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i32>) -> i32
    %v = "tile.load"(%p) {cache = "", evict = "", is_volatile = true, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i32>) -> i32
    "tile.assert"(%c) {message = "m"} : (i1) -> ()
    return
  }

  // A carried value that only feeds itself, and the result of an if that nobody reads.
  // CHECK-LABEL: func.func @carried
  // CHECK: %[[R:.*]] = scf.for %{{.*}} iter_args(%[[ACC:[^ ]*]] = %{{[^,)]*}}) -> (i32)
  // CHECK-NEXT: %[[IF:.*]] = scf.if %{{.*}} -> (i32) {
  // CHECK-NEXT: scf.yield
  // CHECK-NEXT: } else {
  // CHECK: %[[N:.*]] = arith.addi %[[ACC]], %[[IF]]
  // CHECK-NEXT: scf.yield %[[N]] : i32
  // CHECK: return %[[R]]
  func.func @carried(%n: i32, %c: i1) -> i32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c0, %count = %c1) -> (i32, i32) : i32 {
      %b:2 = scf.if %c -> (i32, i32) {
        %t = arith.muli %i, %i : i32
        scf.yield %i, %t : i32, i32
      } else {
        scf.yield %c1, %c0 : i32, i32
      }
      %s = arith.addi %acc, %b#0 : i32
      scf.yield %s, %count : i32, i32
    }
    return %r#0 : i32
  }

  // Nothing in the loop has an effect.
  // CHECK-LABEL: func.func @pure_loop
  // CHECK-NEXT: return
  func.func @pure_loop(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c0) -> (i32) : i32 {
      %s = arith.addi %acc, %i : i32
      scf.yield %s : i32
    }
    return
  }

  // A counter nobody reads but its own next value, through a branch; attributes of loops stay.
  // CHECK-LABEL: func.func @cycles
  // CHECK: %[[W:.*]] = scf.while (%[[A:[^ ]*]] = %{{[^,)]*}}) : (i32) -> i32 {
  // CHECK: scf.condition(%{{.*}}) %[[A]] : i32
  // CHECK: ^bb0(%[[B:[^:,]*]]: i32):
  // CHECK-NEXT: %[[N:.*]] = arith.addi %[[B]]
  // CHECK-NEXT: scf.yield %[[N]] : i32
  // CHECK: scf.for {{.*}} iter_args(%{{[^,]*}}) -> (i32)
  // CHECK-NOT: arith.muli
  // CHECK: } {tile.num_stages = 2 : i32}
  // CHECK: return
  func.func @cycles(%n: i32, %c: i1) -> (i32, i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %w:2 = scf.while (%a = %c0, %count = %c1) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi slt, %a, %n : i32
      scf.condition(%go) %a, %count : i32, i32
    } do {
    ^bb0(%b: i32, %k: i32):
      %next = arith.addi %b, %c1 : i32
      %more = arith.addi %k, %b : i32
      scf.yield %next, %more : i32, i32
    }
    %f:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %w#0, %dead = %c1) -> (i32, i32) : i32 {
      %t = arith.addi %s, %i : i32
      %u = scf.if %c -> (i32) {
        %v = arith.muli %dead, %i : i32
        scf.yield %v : i32
      } else {
        scf.yield %dead : i32
      }
      scf.yield %t, %u : i32, i32
    } {tile.num_stages = 2 : i32}
    return %w#0, %f#0 : i32, i32
  }

  // A while that carries in another order than it passes on.
  // CHECK-LABEL: func.func @swapped
  // CHECK: scf.while (%[[A:[^ ]*]] = %{{[^,]*}}, %[[B:[^ ]*]] = %{{[^,)]*}}) : (i32, i32) -> (i32, i32)
  // CHECK: scf.condition(%{{.*}}) %[[B]], %[[A]] : i32, i32
  func.func @swapped(%n: i32) -> i32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %w:3 = scf.while (%a = %c0, %b = %c1, %z = %n) : (i32, i32, i32) -> (i32, i32, i32) {
      %go = arith.cmpi slt, %a, %n : i32
      scf.condition(%go) %b, %z, %a : i32, i32, i32
    } do {
    ^bb0(%x: i32, %zz: i32, %y: i32):
      %next = arith.addi %x, %y : i32
      scf.yield %next, %x, %zz : i32, i32, i32
    }
    return %w#0 : i32
  }

  // A while that may never end stays, though nobody reads its results; its body shrinks.
  // CHECK-LABEL: func.func @endless
  // CHECK: scf.if
  // CHECK-NEXT: scf.while : () -> ()
  // CHECK-NOT: arith.addi
  // CHECK: tile.store
  func.func @endless(%p: !tile.ptr<f32>, %v: f32, %go: i1, %n: i32) {
    scf.if %go {
      %w = scf.while (%a = %n) : (i32) -> i32 {
        scf.condition(%go) %a : i32
      } do {
      ^bb0(%b: i32):
        %next = arith.addi %b, %n : i32
        scf.yield %next : i32
      }
    }
    "tile.store"(%p, %v) {cache = "", evict = ""} : (!tile.ptr<f32>, f32) -> ()
    return
  }

  // Private functions that nothing alive names go, with what only they name; an effect inside one
  // keeps nothing alive.
  // CHECK-NOT: func.func private
  // CHECK: func.func private @kept
  // CHECK-NOT: func.func private
  // CHECK-LABEL: func.func @named
  // CHECK: combine = @kept
  // CHECK-NOT: tile.reduce
  // CHECK: return
  func.func private @gone(%a: i32, %b: i32) -> i32 {
    %c = func.call @only_from_gone(%a, %b) : (i32, i32) -> i32
    return %c : i32
  }
  func.func private @only_from_gone(%a: i32, %b: i32) -> i32 {
    return %a : i32
  }
  func.func private @kept(%a: i32, %b: i32) -> i32 {
    %dead = arith.muli %a, %b : i32
    %c = arith.addi %a, %b : i32
    return %c : i32
  }
  func.func @named(%x: tensor<8xi32>) -> i32 {
    %r = "tile.reduce"(%x) {axis = 0 : i32, combine = @kept, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<8xi32>) -> i32
    %s = "tile.reduce"(%x) {axis = 0 : i32, combine = @gone, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<8xi32>) -> i32
    return %r : i32
  }
}
