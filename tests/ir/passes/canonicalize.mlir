// RUN: tilec %s --passes=canonicalize | FileCheck %s
module {
  // Splats of one pid*BLOCK stay scalar; a constant block folds.
  // CHECK-LABEL: func.func @offsets
  // CHECK: %[[PID:.*]] = "tile.get_program_id"
  // CHECK: %[[START:.*]] = arith.muli %[[PID]], %{{.*}} : i32
  // CHECK: %[[SPLAT:.*]] = "tile.splat"(%[[START]]) : (i32) -> tensor<32xi32>
  // CHECK: %[[OFFS:.*]] = arith.addi %[[SPLAT]], %{{.*}} : tensor<32xi32>
  // CHECK: "tile.store"(%{{.*}}, %[[OFFS]])
  func.func @offsets(%p: !tile.ptr<i32>) {
    %pid = "tile.get_program_id"() {axis = 0 : i32} : () -> i32
    %block = arith.constant 32 : i32
    %a = "tile.splat"(%pid) : (i32) -> tensor<32xi32>
    %b = "tile.splat"(%block) : (i32) -> tensor<32xi32>
    %start = arith.muli %a, %b : tensor<32xi32>
    %range = "tile.make_range"() {start = 0 : i32, end = 32 : i32} : () -> tensor<32xi32>
    %offs = arith.addi %start, %range : tensor<32xi32>
    %ps = "tile.splat"(%p) : (!tile.ptr<i32>) -> tensor<32x!tile.ptr<i32>>
    "tile.store"(%ps, %offs) {cache = "", evict = ""} : (tensor<32x!tile.ptr<i32>>, tensor<32xi32>) -> ()
    return
  }

  // CHECK-LABEL: func.func @int_constants
  // CHECK-DAG: %[[A:.*]] = arith.constant -3 : i32
  // CHECK-DAG: %[[B:.*]] = arith.constant 2147483645 : i32
  // CHECK-DAG: %[[C:.*]] = arith.constant -128 : i8
  // CHECK: return %[[A]], %[[B]], %[[C]]
  func.func @int_constants() -> (i32, i32, i8) {
    %c7 = arith.constant 7 : i32
    %cm2 = arith.constant -2 : i32
    %q = arith.divsi %c7, %cm2 : i32
    %c1 = arith.constant 1 : i32
    %cm6 = arith.constant -6 : i32
    %s = arith.shrui %cm6, %c1 : i32
    %x = arith.constant 127 : i8
    %y = arith.constant 1 : i8
    %w = arith.addi %x, %y : i8
    return %q, %s, %w : i32, i32, i8
  }

  // A division by zero has no value and stays.
  // CHECK-LABEL: func.func @division_by_zero
  // CHECK: arith.divsi
  func.func @division_by_zero() -> i32 {
    %c7 = arith.constant 7 : i32
    %c0 = arith.constant 0 : i32
    %q = arith.divsi %c7, %c0 : i32
    return %q : i32
  }

  // Rounded once, to the type of the operation.
  // CHECK-LABEL: func.func @float_constants
  // CHECK-DAG: %[[A:.*]] = arith.constant 0.333333343 : f32
  // CHECK-DAG: %[[B:.*]] = arith.constant 2.048000e+03 : f16
  // CHECK-DAG: %[[C:.*]] = arith.constant true
  // CHECK: return %[[A]], %[[B]], %[[C]]
  func.func @float_constants() -> (f32, f16, i1) {
    %one = arith.constant 1.0 : f32
    %three = arith.constant 3.0 : f32
    %third = arith.divf %one, %three : f32
    %big = arith.constant 2048.0 : f16
    %small = arith.constant 1.0 : f16
    %sum = arith.addf %big, %small : f16
    %nan = arith.constant 0x7FC00000 : f32
    %une = arith.cmpf une, %nan, %nan : f32
    return %third, %sum, %une : f32, f16, i1
  }

  // CHECK-LABEL: func.func @int_identities(
  // CHECK-SAME: %[[X:.*]]: i32
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant true
  // CHECK: return %[[X]], %[[ZERO]], %[[X]], %[[TRUE]]
  func.func @int_identities(%x: i32) -> (i32, i32, i32, i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %cm1 = arith.constant -1 : i32
    %a = arith.addi %c0, %x : i32
    %b = arith.muli %a, %c1 : i32
    %c = arith.andi %b, %cm1 : i32
    %d = arith.xori %c, %cm1 : i32
    %e = arith.xori %d, %cm1 : i32
    %z = arith.subi %x, %x : i32
    %s = arith.shli %x, %c0 : i32
    %le = arith.cmpi sle, %x, %x : i32
    return %e, %z, %s, %le : i32, i32, i32, i1
  }

  // x + 0.0 is not x where x is -0.0; x + -0.0 is.
  // CHECK-LABEL: func.func @float_identities(
  // CHECK-SAME: %[[X:.*]]: f32
  // CHECK: %[[SUM:.*]] = arith.addf %[[X]]
  // CHECK-NEXT: return %[[SUM]], %[[X]], %[[X]], %[[X]]
  func.func @float_identities(%x: f32) -> (f32, f32, f32, f32) {
    %p0 = arith.constant 0.0 : f32
    %m0 = arith.constant -0.0 : f32
    %one = arith.constant 1.0 : f32
    %a = arith.addf %x, %p0 : f32
    %b = arith.addf %x, %m0 : f32
    %c = arith.mulf %one, %x : f32
    %n = arith.negf %x : f32
    %d = arith.negf %n : f32
    return %a, %b, %c, %d : f32, f32, f32, f32
  }

  // CHECK-LABEL: func.func @casts(
  // CHECK-SAME: %[[X:.*]]: i16, %[[H:.*]]: f16
  // CHECK: %[[A:.*]] = arith.extui %[[X]] : i16 to i64
  // CHECK: %[[B:.*]] = arith.trunci %[[X]] : i16 to i8
  // CHECK: return %[[A]], %[[B]], %[[X]], %[[H]]
  func.func @casts(%x: i16, %h: f16) -> (i64, i8, i16, f16) {
    %u = arith.extui %x : i16 to i32
    %a = arith.extsi %u : i32 to i64
    %b = arith.trunci %u : i32 to i8
    %c = arith.trunci %u : i32 to i16
    %f = arith.extf %h : f16 to f32
    %d = arith.truncf %f : f32 to f16
    return %a, %b, %c, %d : i64, i8, i16, f16
  }

  // CHECK-LABEL: func.func @shapes(
  // CHECK-SAME: %[[S:.*]]: f32, %[[T:.*]]: tensor<4x8xf32>
  // CHECK: %[[SPLAT:.*]] = "tile.splat"(%[[S]]) : (f32) -> tensor<4x8xf32>
  // CHECK: return %[[SPLAT]], %[[T]]
  func.func @shapes(%s: f32, %t: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    %a = "tile.splat"(%s) : (f32) -> tensor<8xf32>
    %b = "tile.expand_dims"(%a) {axis = 0 : i32} : (tensor<8xf32>) -> tensor<1x8xf32>
    %c = "tile.broadcast"(%b) : (tensor<1x8xf32>) -> tensor<4x8xf32>
    %d = "tile.trans"(%t) {order = array<i32: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %e = "tile.trans"(%d) {order = array<i32: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %f = "tile.reshape"(%e) {allow_reorder = false} : (tensor<4x8xf32>) -> tensor<32xf32>
    %g = "tile.reshape"(%f) {allow_reorder = false} : (tensor<32xf32>) -> tensor<4x8xf32>
    return %c, %g : tensor<4x8xf32>, tensor<4x8xf32>
  }

  // CHECK-LABEL: func.func @pointers(
  // CHECK-SAME: %[[P:.*]]: !tile.ptr<f32>
  // CHECK: %[[C:.*]] = arith.constant 12 : i32
  // CHECK: %[[Q:.*]] = "tile.addptr"(%[[P]], %[[C]])
  // CHECK-NEXT: return %[[Q]], %[[P]]
  func.func @pointers(%p: !tile.ptr<f32>) -> (!tile.ptr<f32>, !tile.ptr<f32>) {
    %c0 = arith.constant 0 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %a = "tile.addptr"(%p, %c4) : (!tile.ptr<f32>, i32) -> !tile.ptr<f32>
    %b = "tile.addptr"(%a, %c8) : (!tile.ptr<f32>, i32) -> !tile.ptr<f32>
    %c = "tile.addptr"(%p, %c0) : (!tile.ptr<f32>, i32) -> !tile.ptr<f32>
    return %b, %c : !tile.ptr<f32>, !tile.ptr<f32>
  }

  // A mask that holds for every lane goes; one that holds for none takes the load with it.
  // CHECK-LABEL: func.func @masks
  // CHECK: "tile.load"(%{{.*}}) {{.*}}operandSegmentSizes = array<i32: 1, 0, 0>
  // CHECK-NOT: "tile.load"
  // CHECK: "tile.store"(%{{.*}}, %{{.*}}) {{.*}} : (tensor<32x!tile.ptr<f32>>, tensor<32xf32>) -> ()
  // CHECK-NOT: "tile.store"
  // CHECK: return
  func.func @masks(%ps: tensor<32x!tile.ptr<f32>>) -> tensor<32xf32> {
    %range = "tile.make_range"() {start = 0 : i32, end = 32 : i32} : () -> tensor<32xi32>
    %n = arith.constant dense<32> : tensor<32xi32>
    %all = arith.cmpi slt, %range, %n : tensor<32xi32>
    %none = arith.cmpi sge, %range, %n : tensor<32xi32>
    %x = "tile.load"(%ps, %all) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<32x!tile.ptr<f32>>, tensor<32xi1>) -> tensor<32xf32>
    %y = "tile.load"(%ps, %none) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<32x!tile.ptr<f32>>, tensor<32xi1>) -> tensor<32xf32>
    "tile.store"(%ps, %x, %all) {cache = "", evict = ""} : (tensor<32x!tile.ptr<f32>>, tensor<32xf32>, tensor<32xi1>) -> ()
    "tile.store"(%ps, %x, %none) {cache = "", evict = ""} : (tensor<32x!tile.ptr<f32>>, tensor<32xf32>, tensor<32xi1>) -> ()
    return %y : tensor<32xf32>
  }

  // CHECK-LABEL: func.func @control(
  // CHECK-SAME: %[[C:.*]]: i1, %[[X:.*]]: i32
  // CHECK: %[[SEL:.*]] = arith.select %[[C]], %[[X]], %{{.*}} : i32
  // CHECK-NOT: scf
  // CHECK: return %[[X]], %[[SEL]], %[[X]]
  func.func @control(%c: i1, %x: i32) -> (i32, i32, i32) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = scf.if %true -> (i32) {
      scf.yield %x : i32
    } else {
      scf.yield %c0 : i32
    }
    %b = scf.if %c -> (i32) {
      scf.yield %x : i32
    } else {
      scf.yield %c0 : i32
    }
    %d = scf.for %i = %c1 to %c0 step %c1 iter_args(%acc = %x) -> (i32) : i32 {
      %n = arith.addi %acc, %i : i32
      scf.yield %n : i32
    }
    scf.if %c {
    }
    return %a, %b, %d : i32, i32, i32
  }

  // Both branches give %x.
  // CHECK-LABEL: func.func @common(
  // CHECK-SAME: %{{.*}}: i1, %[[X:.*]]: i32
  // CHECK: %[[R:.*]]:2 = scf.if
  // CHECK: return %[[R]]#0, %[[X]]
  func.func @common(%c: i1, %x: i32, %p: !tile.ptr<i32>) -> (i32, i32) {
    %r:2 = scf.if %c -> (i32, i32) {
      "tile.store"(%p, %x) {cache = "", evict = ""} : (!tile.ptr<i32>, i32) -> ()
      %a = arith.addi %x, %x : i32
      scf.yield %a, %x : i32, i32
    } else {
      scf.yield %x, %x : i32, i32
    }
    return %r#0, %r#1 : i32, i32
  }

  // What a loop carries without changing it is its initial value; one iteration is no loop.
  // CHECK-LABEL: func.func @loops(
  // CHECK-SAME: %[[N:.*]]: i32, %[[X:.*]]: i32
  // CHECK: scf.for
  // CHECK: arith.addi %{{.*}}, %[[X]] : i32
  // CHECK-NOT: scf.for
  // CHECK: return
  func.func @loops(%n: i32, %x: i32) -> (i32, i32, i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c0, %same = %x) -> (i32, i32) : i32 {
      %s = arith.addi %acc, %same : i32
      scf.yield %s, %same : i32, i32
    }
    %b = scf.for %i = %c0 to %c1 step %c1 iter_args(%acc = %x) -> (i32) : i32 {
      %s = arith.addi %acc, %n : i32
      scf.yield %s : i32
    }
    return %a#0, %a#1, %b : i32, i32, i32
  }

  // CHECK-LABEL: func.func @conversions(
  // CHECK-SAME: %[[X:.*]]: tensor<32xf32, #tilegpu.blocked
  // CHECK: %[[R:.*]] = "tile.make_range"() {{.*}} -> tensor<32xi32, #tilegpu.blocked<{{.*}}size_per_thread = [4]
  // CHECK-NOT: convert_layout
  // CHECK: return %[[X]], %[[R]]
  func.func @conversions(%x: tensor<32xf32, #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], warps_per_cta = [4]}>>) -> (tensor<32xf32, #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], warps_per_cta = [4]}>>, tensor<32xi32, #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], warps_per_cta = [4]}>>) {
    %a = "tilegpu.convert_layout"(%x) : (tensor<32xf32, #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], warps_per_cta = [4]}>>) -> tensor<32xf32, #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], warps_per_cta = [4]}>>
    %b = "tilegpu.convert_layout"(%a) : (tensor<32xf32, #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], warps_per_cta = [4]}>>) -> tensor<32xf32, #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], warps_per_cta = [4]}>>
    %r = "tile.make_range"() {start = 0 : i32, end = 32 : i32} : () -> tensor<32xi32, #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], warps_per_cta = [4]}>>
    %c = "tilegpu.convert_layout"(%r) : (tensor<32xi32, #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], warps_per_cta = [4]}>>) -> tensor<32xi32, #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], warps_per_cta = [4]}>>
    return %b, %c : tensor<32xf32, #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], warps_per_cta = [4]}>>, tensor<32xi32, #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], warps_per_cta = [4]}>>
  }

  // CHECK-LABEL: func.func @pairs(
  // CHECK-SAME: %[[A:[^:]*]]: tensor<8xi32>, %[[B:[^:]*]]: tensor<8xi32>, %[[N:[^:]*]]: i32
  // CHECK-NOT: tile.
  // CHECK: return %[[B]], %[[A]], %[[N]]
  func.func @pairs(%a: tensor<8xi32>, %b: tensor<8xi32>, %n: i32) -> (tensor<8xi32>, tensor<8xi32>, i32) {
    %j = "tile.join"(%a, %b) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8x2xi32>
    %x, %y = "tile.split"(%j) : (tensor<8x2xi32>) -> (tensor<8xi32>, tensor<8xi32>)
    %s = "tile.splat"(%n) : (i32) -> tensor<1xi32>
    %t = "tile.expand_dims"(%s) {axis = 0 : i32} : (tensor<1xi32>) -> tensor<1x1xi32>
    %u = "tile.unsplat"(%t) : (tensor<1x1xi32>) -> i32
    return %y, %x, %u : tensor<8xi32>, tensor<8xi32>, i32
  }

  // A uniform source has one element to pick; assembly with an effect stays, used or not.
  // CHECK-LABEL: func.func @uniform_source(
  // CHECK: "tile.inline_asm"
  // CHECK: %[[S:.*]] = "tile.splat"(%{{.*}}) : (i32) -> tensor<8xi32>
  // CHECK-NOT: tile.gather
  // CHECK: return %[[S]]
  func.func @uniform_source(%i: tensor<8xi32>, %n: i32) -> tensor<8xi32> {
    %a = "tile.inline_asm"(%n) {asm = "mov.u32 $0, %clock;", constraints = "=r,r", pack = 1 : i32, is_pure = false, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (i32) -> i32
    %s = "tile.splat"(%n) : (i32) -> tensor<32xi32>
    %g = "tile.gather"(%s, %i) {axis = 0 : i32} : (tensor<32xi32>, tensor<8xi32>) -> tensor<8xi32>
    return %g : tensor<8xi32>
  }

  // What a while carries unchanged, or passes on from outside or twice, is not carried; dce takes
  // the offsets away.
  // CHECK-LABEL: func.func @while(
  // CHECK-SAME: %[[N:.*]]: i32, %[[X:.*]]: i32
  // CHECK: scf.while (%[[A:[^ ]*]] = %c0_i32{{[^,]*}}, %{{.*}} = %[[X]]) : (i32, i32) -> (i32, i32, i32, i32)
  // CHECK: arith.cmpi slt, %[[A]], %[[N]]
  // CHECK: ^bb0(%[[B:[^:]*]]: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32):
  // CHECK: arith.addi %[[B]], %[[X]]
  // CHECK: arith.addi %{{.*}}, %[[N]]
  // CHECK: arith.addi %{{.*}}, %[[B]]
  // CHECK: return %[[W:.*]]#0, %[[X]], %[[N]], %[[W]]#0
  func.func @while(%n: i32, %x: i32) -> (i32, i32, i32, i32) {
    %c0 = arith.constant 0 : i32
    %w:4 = scf.while (%a = %c0, %same = %x) : (i32, i32) -> (i32, i32, i32, i32) {
      %go = arith.cmpi slt, %a, %n : i32
      scf.condition(%go) %a, %same, %n, %a : i32, i32, i32, i32
    } do {
    ^bb0(%b: i32, %s: i32, %m: i32, %again: i32):
      %1 = arith.addi %b, %s : i32
      %2 = arith.addi %1, %m : i32
      %3 = arith.addi %2, %again : i32
      scf.yield %3, %s : i32, i32
    }
    return %w#0, %w#1, %w#2, %w#3 : i32, i32, i32, i32
  }

  // CHECK-LABEL: func.func @never(
  // CHECK-NOT: scf.while
  // CHECK: %[[S:.*]] = arith.addi
  // CHECK: return %[[S]]
  func.func @never(%n: i32) -> i32 {
    %no = arith.constant false
    %w = scf.while (%a = %n) : (i32) -> i32 {
      %s = arith.addi %a, %a : i32
      scf.condition(%no) %s : i32
    } do {
    ^bb0(%b: i32):
      scf.yield %b : i32
    }
    return %w : i32
  }

  // Branches that only choose constants are a select.
  // CHECK-LABEL: func.func @constants(
  // CHECK-NOT: scf.if
  // CHECK: arith.select
  func.func @constants(%c: i1) -> i32 {
    %r = scf.if %c -> (i32) {
      %a = arith.constant 3 : i32
      scf.yield %a : i32
    } else {
      %b = arith.constant 5 : i32
      scf.yield %b : i32
    }
    return %r : i32
  }
}
