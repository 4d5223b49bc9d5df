// RUN: tilec %s --passes=sink-loop-reductions | FileCheck %s
// RUN: tilec %s --passes=sink-loop-reductions --explain-perf 2>&1 | FileCheck %s --check-prefix=WHY
// sink-loop-reductions: loops accumulate tiles; one reduction follows each loop.
!t = tensor<256xf32>
module {
  func.func private @add(%a: f32, %b: f32) -> f32 {
    %c = arith.addf %a, %b : f32
    return %c : f32
  }
  func.func private @max(%a: f32, %b: f32) -> f32 {
    %c = arith.maxnumf %a, %b : f32
    return %c : f32
  }
  func.func private @mean(%a: f32, %b: f32) -> f32 {
    %c = arith.addf %a, %b : f32
    %h = arith.constant 0.5 : f32
    %d = arith.mulf %c, %h : f32
    return %d : f32
  }

  // -0.0 is the number that adds nothing, not even a sign.
  // CHECK-LABEL: func.func @sum
  // CHECK: %[[Z:.*]] = arith.constant dense<-0.000000e+00> : tensor<256xf32>
  // CHECK: %[[T:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[Z]]) -> (tensor<256xf32>)
  // CHECK: %[[V:.*]] = "tile.load"
  // CHECK-NEXT: %[[N:.*]] = arith.addf %[[A]], %[[V]] : tensor<256xf32>
  // CHECK-NEXT: scf.yield %[[N]]
  // CHECK: %[[R:.*]] = "tile.reduce"(%[[T]]) {{.*}}combine = @add
  // CHECK-NEXT: %[[S:.*]] = arith.addf %{{.*}}, %[[R]] : f32
  // CHECK-NEXT: return %[[S]]
  func.func @sum(%p: tensor<256x!tile.ptr<f32>>, %n: i32, %init: f32) -> f32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (f32) : i32 {
      %v = "tile.load"(%p) {cache = "", evict = "", is_volatile = true, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<256x!tile.ptr<f32>>) -> !t
      %r = "tile.reduce"(%v) {axis = 0 : i32, combine = @add, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (!t) -> f32
      %x = arith.addf %acc, %r : f32
      scf.yield %x : f32
    }
    return %s : f32
  }

  // Rows of a block, beside a value that stays as it is; a number wins over NaN.
  // CHECK-LABEL: func.func @row_maxima
  // CHECK: arith.constant dense<0x7FC00000> : tensor<8x256xf32>
  // CHECK: scf.for {{.*}} -> (i32, tensor<8x256xf32>)
  // CHECK-NOT: tile.reduce
  // CHECK: scf.yield
  // CHECK: "tile.reduce"{{.*}} -> tensor<8xf32>
  // CHECK-NEXT: arith.maxnumf {{.*}} : tensor<8xf32>
  func.func @row_maxima(%p: tensor<8x256x!tile.ptr<f32>>, %n: i32, %init: tensor<8xf32>) -> (i32, tensor<8xf32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%k = %n, %acc = %init) -> (i32, tensor<8xf32>) : i32 {
      %v = "tile.load"(%p) {cache = "", evict = "", is_volatile = true, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<8x256x!tile.ptr<f32>>) -> tensor<8x256xf32>
      %r = "tile.reduce"(%v) {axis = 1 : i32, combine = @max, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<8x256xf32>) -> tensor<8xf32>
      %x = arith.maxnumf %r, %acc : tensor<8xf32>
      %kk = arith.addi %k, %i : i32
      scf.yield %kk, %x : i32, tensor<8xf32>
    }
    return %s#0, %s#1 : i32, tensor<8xf32>
  }

  // Sums of sums: both loops.
  // CHECK-LABEL: func.func @nested
  // CHECK: scf.for {{.*}} -> (tensor<256xf32>)
  // CHECK: scf.for {{.*}} -> (tensor<256xf32>)
  // CHECK-NOT: tile.reduce
  // CHECK: }
  // CHECK-NOT: tile.reduce
  // CHECK: }
  // CHECK: tile.reduce
  func.func @nested(%p: tensor<256x!tile.ptr<f32>>, %n: i32, %init: f32) -> f32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (f32) : i32 {
      %t = scf.for %j = %c0 to %n step %c1 iter_args(%bcc = %acc) -> (f32) : i32 {
        %v = "tile.load"(%p) {cache = "", evict = "", is_volatile = true, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<256x!tile.ptr<f32>>) -> !t
        %r = "tile.reduce"(%v) {axis = 0 : i32, combine = @add, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (!t) -> f32
        %x = arith.addf %bcc, %r : f32
        scf.yield %x : f32
      }
      scf.yield %t : f32
    }
    return %s : f32
  }

  // What is read in the loop, what combines otherwise and what must keep its order stays.
  // WHY: remark: reduces in every iteration: `tile.keep_order` asks for it [reduce]
  // CHECK-LABEL: func.func @stays
  // CHECK-COUNT-4: tile.reduce
  // CHECK: scf.yield
  // CHECK-NOT: tile.reduce
  func.func @stays(%p: tensor<256x!tile.ptr<f32>>, %q: !tile.ptr<f32>, %n: i32, %init: f32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %s:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %b = %init, %c = %init, %d = %init) -> (f32, f32, f32, f32) : i32 {
      %v = "tile.load"(%p) {cache = "", evict = "", is_volatile = true, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<256x!tile.ptr<f32>>) -> !t
      %r0 = "tile.reduce"(%v) {axis = 0 : i32, combine = @add, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (!t) -> f32
      %a1 = arith.addf %a, %r0 : f32
      "tile.store"(%q, %a1) {cache = "", evict = "", operandSegmentSizes = array<i32: 1, 1, 0>} : (!tile.ptr<f32>, f32) -> ()
      %r1 = "tile.reduce"(%v) {axis = 0 : i32, combine = @mean, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (!t) -> f32
      %b1 = arith.addf %b, %r1 : f32
      %r2 = "tile.reduce"(%v) {axis = 0 : i32, combine = @max, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (!t) -> f32
      %c2 = arith.addf %c, %r2 : f32
      %r3 = "tile.reduce"(%v) {axis = 0 : i32, combine = @add, tile.keep_order, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (!t) -> f32
      %d1 = arith.addf %d, %r3 : f32
      scf.yield %a1, %b1, %c2, %d1 : f32, f32, f32, f32
    }
    return
  }

  // Rows of what comes of a product are summed up eight columns wide while they are rescaled; what
  // was there before is shared out among these.
  // CHECK-LABEL: func.func @rescaled
  // CHECK: arith.constant dense<1.250000e-01> : tensor<64xf32>
  // CHECK: %[[I:.*]] = "tile.broadcast"({{.*}} -> tensor<64x8xf32>
  // CHECK: %[[T:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %[[I]], {{.*}} -> (tensor<64x8xf32>, tensor<64xf32>)
  // CHECK: %[[S:.*]] = "tile.dot"
  // CHECK: %[[P:.*]] = math.exp2 %[[S]]
  // CHECK: %[[Y:.*]] = "tile.reshape"(%[[P]]) {{.*}} -> tensor<64x4x8xf32>
  // CHECK: %[[R:.*]] = "tile.reduce"(%[[Y]]) {axis = 1 {{.*}} -> tensor<64x8xf32>
  // CHECK: %[[W:.*]] = "tile.broadcast"
  // CHECK: %[[K:.*]] = arith.mulf %[[A]], %[[W]]
  // CHECK: %[[N:.*]] = arith.addf %[[K]], %[[R]]
  // CHECK: scf.yield %[[N]],
  // CHECK: "tile.reduce"(%[[T]]#0) {axis = 1 {{.*}} -> tensor<64xf32>
  func.func @rescaled(%x: tensor<64x16xf16>, %y: tensor<16x32xf16>, %f: tensor<64xf32>, %n: i32, %init: tensor<64xf32>) -> tensor<64xf32> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init, %g = %f) -> (tensor<64xf32>, tensor<64xf32>) : i32 {
      %s = "tile.dot"(%x, %y, %zero) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x16xf16>, tensor<16x32xf16>, tensor<64x32xf32>) -> tensor<64x32xf32>
      %p = math.exp2 %s : tensor<64x32xf32>
      %t = "tile.reduce"(%p) {axis = 1 : i32, combine = @add, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<64x32xf32>) -> tensor<64xf32>
      %k = arith.mulf %acc, %g : tensor<64xf32>
      %next = arith.addf %k, %t : tensor<64xf32>
      %h = arith.mulf %g, %f : tensor<64xf32>
      scf.yield %next, %h : tensor<64xf32>, tensor<64xf32>
    }
    return %r#0 : tensor<64xf32>
  }

  // A second loop goes on with the columns of the first: they are added up once, behind both.
  // CHECK-LABEL: func.func @rescaled_twice
  // CHECK: %[[T:.*]]:2 = scf.for {{.*}} -> (tensor<64x8xf32>, tensor<64xf32>)
  // CHECK: %[[U:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[T]]#0, %{{.*}} = %[[T]]#1) -> (tensor<64x8xf32>, tensor<64xf32>)
  // CHECK: %[[S:.*]] = "tile.reduce"(%[[U]]#0) {axis = 1 {{.*}} -> tensor<64xf32>
  // CHECK-NEXT: return %[[S]]
  func.func @rescaled_twice(%x: tensor<64x16xf16>, %y: tensor<16x32xf16>, %f: tensor<64xf32>, %n: i32, %m: i32, %init: tensor<64xf32>) -> tensor<64xf32> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init, %g = %f) -> (tensor<64xf32>, tensor<64xf32>) : i32 {
      %s = "tile.dot"(%x, %y, %zero) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x16xf16>, tensor<16x32xf16>, tensor<64x32xf32>) -> tensor<64x32xf32>
      %p = math.exp2 %s : tensor<64x32xf32>
      %t = "tile.reduce"(%p) {axis = 1 : i32, combine = @add, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<64x32xf32>) -> tensor<64xf32>
      %k = arith.mulf %acc, %g : tensor<64xf32>
      %next = arith.addf %k, %t : tensor<64xf32>
      %h = arith.mulf %g, %f : tensor<64xf32>
      scf.yield %next, %h : tensor<64xf32>, tensor<64xf32>
    }
    %u:2 = scf.for %i = %n to %m step %c1 iter_args(%acc = %r#0, %g = %r#1) -> (tensor<64xf32>, tensor<64xf32>) : i32 {
      %s = "tile.dot"(%x, %y, %zero) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x16xf16>, tensor<16x32xf16>, tensor<64x32xf32>) -> tensor<64x32xf32>
      %p = math.exp2 %s : tensor<64x32xf32>
      %t = "tile.reduce"(%p) {axis = 1 : i32, combine = @add, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<64x32xf32>) -> tensor<64xf32>
      %k = arith.mulf %acc, %g : tensor<64xf32>
      %next = arith.addf %k, %t : tensor<64xf32>
      %h = arith.mulf %g, %f : tensor<64xf32>
      scf.yield %next, %h : tensor<64xf32>, tensor<64xf32>
    }
    return %u#0 : tensor<64xf32>
  }

  // Rows of anything else lie among threads otherwise.
  // CHECK-LABEL: func.func @rescaled_loads
  // CHECK-NOT: tile.reshape
  // CHECK: return
  func.func @rescaled_loads(%p: tensor<64x32x!tile.ptr<f32>>, %f: tensor<64xf32>, %n: i32, %init: tensor<64xf32>) -> tensor<64xf32> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<64xf32>) : i32 {
      %v = "tile.load"(%p) {cache = "", evict = "", is_volatile = true, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x32x!tile.ptr<f32>>) -> tensor<64x32xf32>
      %t = "tile.reduce"(%v) {axis = 1 : i32, combine = @add, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<64x32xf32>) -> tensor<64xf32>
      %k = arith.mulf %acc, %f : tensor<64xf32>
      %next = arith.addf %k, %t : tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    return %r : tensor<64xf32>
  }
}
