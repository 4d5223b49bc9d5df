// RUN: tilec %s --passes=cse | FileCheck %s
module {
  // Equal up to the order of commutative operands; attributes and types must match.
  // CHECK-LABEL: func.func @equal
  // CHECK: %[[A:.*]] = arith.addi
  // CHECK-NEXT: %[[S:.*]] = arith.subi
  // CHECK-NEXT: %[[T:.*]] = arith.subi
  // CHECK-NEXT: %[[L:.*]] = arith.cmpi slt
  // CHECK-NEXT: %[[G:.*]] = arith.cmpi sgt
  // CHECK-NEXT: return %[[A]], %[[A]], %[[S]], %[[T]], %[[L]], %[[G]]
  func.func @equal(%x: i32, %y: i32) -> (i32, i32, i32, i32, i1, i1) {
    %a = arith.addi %x, %y : i32
    %b = arith.addi %y, %x : i32
    %c = arith.subi %x, %y : i32
    %d = arith.subi %y, %x : i32
    %e = arith.cmpi slt, %x, %y : i32
    %f = arith.cmpi sgt, %x, %y : i32
    return %a, %b, %c, %d, %e, %f : i32, i32, i32, i32, i1, i1
  }

  // An op in a branch takes the value of one before the branch, but not the other way round, and
  // not that of the other branch.
  // CHECK-LABEL: func.func @scopes
  // CHECK: %[[A:.*]] = arith.muli
  // CHECK: scf.if
  // CHECK-NEXT: arith.addi
  // CHECK-NEXT: scf.yield
  // CHECK: } else {
  // CHECK-NEXT: arith.addi
  // CHECK-NEXT: arith.addi
  // CHECK: arith.addi
  // CHECK-NEXT: return
  func.func @scopes(%c: i1, %x: i32) -> (i32, i32) {
    %a = arith.muli %x, %x : i32
    %r = scf.if %c -> (i32) {
      %b = arith.muli %x, %x : i32
      %d = arith.addi %b, %x : i32
      scf.yield %d : i32
    } else {
      %d = arith.addi %a, %x : i32
      %e = arith.addi %d, %d : i32
      scf.yield %e : i32
    }
    %f = arith.addi %a, %x : i32
    return %r, %f : i32, i32
  }

  // Loads may see a store in between.
  // CHECK-LABEL: func.func @loads
  // CHECK-COUNT-2: "tile.load"
  func.func @loads(%p: !tile.ptr<i32>, %x: i32) -> (i32, i32) {
    %a = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i32>) -> i32
    "tile.store"(%p, %x) {cache = "", evict = ""} : (!tile.ptr<i32>, i32) -> ()
    %b = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i32>) -> i32
    return %a, %b : i32, i32
  }
}
