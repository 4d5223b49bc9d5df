// RUN: tilec %s --passes=unroll,canonicalize,dce | FileCheck %s
// unroll: merges several iterations; a remainder loop follows.
module {
  // CHECK-LABEL: func.func @unknown
  // CHECK-DAG: %[[F:.*]] = arith.constant 4 : i32
  // CHECK: %[[LEFT:.*]] = arith.remui %{{.*}}, %[[F]]
  // CHECK: %[[M:.*]] = scf.for {{.*}} to %{{.*}} step %c4_i32{{[_0-9]*}} iter_args
  // CHECK-COUNT-4: tile.load
  // CHECK: scf.yield
  // CHECK: } {tile.num_stages = 2 : i32}
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[M]])
  // CHECK-COUNT-1: tile.load
  // CHECK: scf.yield
  // CHECK: } {tile.num_stages = 2 : i32}
  // CHECK-NOT: loop_unroll_factor
  func.func @unknown(%p: !tile.ptr<i32>, %l: i32, %n: i32, %s: i32) -> i32 {
    %c0 = arith.constant 0 : i32
    %r = scf.for %i = %l to %n step %s iter_args(%acc = %c0) -> (i32) : i32 {
      %a = "tile.addptr"(%p, %i) : (!tile.ptr<i32>, i32) -> !tile.ptr<i32>
      %v = "tile.load"(%a) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i32>) -> i32
      %x = arith.addi %acc, %v : i32
      scf.yield %x : i32
    } {tile.loop_unroll_factor = 4 : i32, tile.num_stages = 2 : i32}
    return %r : i32
  }

  // Eight iterations by four leave no rest; three by four stay as they were.
  // CHECK-LABEL: func.func @known
  // CHECK: scf.for
  // CHECK-COUNT-4: tile.load
  // CHECK: scf.yield
  // CHECK-NOT: scf.for
  // CHECK: return
  // CHECK-LABEL: func.func @short
  // CHECK: scf.for
  // CHECK-COUNT-1: tile.load
  // CHECK-NOT: scf.for
  // CHECK: return
  func.func @known(%p: !tile.ptr<i32>) -> i32 {
    %c0 = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %c0) -> (i32) : i32 {
      %a = "tile.addptr"(%p, %i) : (!tile.ptr<i32>, i32) -> !tile.ptr<i32>
      %v = "tile.load"(%a) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i32>) -> i32
      %x = arith.addi %acc, %v : i32
      scf.yield %x : i32
    } {tile.loop_unroll_factor = 4 : i32}
    return %r : i32
  }
  func.func @short(%p: !tile.ptr<i32>) -> i32 {
    %c0 = arith.constant 0 : i32
    %c3 = arith.constant 3 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %c0) -> (i32) : i32 {
      %a = "tile.addptr"(%p, %i) : (!tile.ptr<i32>, i32) -> !tile.ptr<i32>
      %v = "tile.load"(%a) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i32>) -> i32
      %x = arith.addi %acc, %v : i32
      scf.yield %x : i32
    } {tile.loop_unroll_factor = 4 : i32}
    return %r : i32
  }
}
