// RUN: tilec %s --passes=reassociate-addresses,dce | FileCheck %s
module {
  // CHECK-LABEL: func.func @addresses(
  // CHECK-SAME: %[[P:.*]]: !tile.ptr<f32>, %[[S:.*]]: i32, %[[O:.*]]: tensor<32xi32>
  // CHECK: %[[Q:.*]] = "tile.addptr"(%[[P]], %[[S]]) : (!tile.ptr<f32>, i32)
  // CHECK-NEXT: %[[B:.*]] = "tile.splat"(%[[Q]])
  // CHECK-NEXT: %[[R:.*]] = "tile.addptr"(%[[B]], %[[O]])
  // CHECK-NEXT: return %[[R]]
  func.func @addresses(%p: !tile.ptr<f32>, %s: i32, %o: tensor<32xi32>) -> tensor<32x!tile.ptr<f32>> {
    %base = "tile.splat"(%p) : (!tile.ptr<f32>) -> tensor<32x!tile.ptr<f32>>
    %step = "tile.splat"(%s) : (i32) -> tensor<32xi32>
    %a = "tile.addptr"(%base, %o) : (tensor<32x!tile.ptr<f32>>, tensor<32xi32>) -> tensor<32x!tile.ptr<f32>>
    %b = "tile.addptr"(%a, %step) : (tensor<32x!tile.ptr<f32>>, tensor<32xi32>) -> tensor<32x!tile.ptr<f32>>
    return %b : tensor<32x!tile.ptr<f32>>
  }

  // A 64-bit row offset joins the base, and the column offset need not be extended.
  // CHECK-LABEL: func.func @rows(
  // CHECK-SAME: %[[P:.*]]: !tile.ptr<f32>, %[[ROW:.*]]: i64, %[[O:.*]]: tensor<32xi32>
  // CHECK: %[[Q:.*]] = "tile.addptr"(%[[P]], %[[ROW]]) : (!tile.ptr<f32>, i64)
  // CHECK-NEXT: %[[B:.*]] = "tile.splat"(%[[Q]])
  // CHECK-NEXT: %[[R:.*]] = "tile.addptr"(%[[B]], %[[O]]) : {{.*}}tensor<32xi32>)
  // CHECK-NEXT: return %[[R]]
  func.func @rows(%p: !tile.ptr<f32>, %row: i64, %o: tensor<32xi32>) -> tensor<32x!tile.ptr<f32>> {
    %base = "tile.splat"(%p) : (!tile.ptr<f32>) -> tensor<32x!tile.ptr<f32>>
    %rows = "tile.splat"(%row) : (i64) -> tensor<32xi64>
    %e = arith.extsi %o : tensor<32xi32> to tensor<32xi64>
    %sum = arith.addi %rows, %e : tensor<32xi64>
    %a = "tile.addptr"(%base, %sum) : (tensor<32x!tile.ptr<f32>>, tensor<32xi64>) -> tensor<32x!tile.ptr<f32>>
    return %a : tensor<32x!tile.ptr<f32>>
  }

  // A 32-bit sum may wrap where the address would not: it stays.
  // CHECK-LABEL: func.func @narrow
  // CHECK: arith.addi
  func.func @narrow(%p: !tile.ptr<f32>, %row: i32, %o: tensor<32xi32>) -> tensor<32x!tile.ptr<f32>> {
    %base = "tile.splat"(%p) : (!tile.ptr<f32>) -> tensor<32x!tile.ptr<f32>>
    %rows = "tile.splat"(%row) : (i32) -> tensor<32xi32>
    %sum = arith.addi %rows, %o : tensor<32xi32>
    %a = "tile.addptr"(%base, %sum) : (tensor<32x!tile.ptr<f32>>, tensor<32xi32>) -> tensor<32x!tile.ptr<f32>>
    return %a : tensor<32x!tile.ptr<f32>>
  }

  // CHECK-LABEL: func.func @select(
  // CHECK-SAME: %[[P:.*]]: tensor<32x!tile.ptr<f32>>, %[[M:.*]]: tensor<32xi1>
  // CHECK: %[[ONE:.*]] = arith.constant dense<1.0
  // CHECK-NEXT: %[[X:.*]] = "tile.load"(%[[P]], %[[M]], %[[ONE]])
  // CHECK-NEXT: return %[[X]]
  func.func @select(%p: tensor<32x!tile.ptr<f32>>, %m: tensor<32xi1>) -> tensor<32xf32> {
    %x = "tile.load"(%p, %m) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<32x!tile.ptr<f32>>, tensor<32xi1>) -> tensor<32xf32>
    %one = arith.constant dense<1.0> : tensor<32xf32>
    %y = arith.select %m, %x, %one : tensor<32xi1>, tensor<32xf32>
    return %y : tensor<32xf32>
  }

  // Zero is what masked-off lanes have; -0.0 is not zero.
  // CHECK-LABEL: func.func @zero(
  // CHECK-SAME: %[[P:.*]]: tensor<32x!tile.ptr<f32>>, %[[M:.*]]: tensor<32xi1>
  // CHECK: "tile.load"(%[[P]], %[[M]]) {cache = "cg"
  // CHECK: "tile.load"(%[[P]], %[[M]], %{{.*}})
  func.func @zero(%p: tensor<32x!tile.ptr<f32>>, %m: tensor<32xi1>) -> (tensor<32xf32>, tensor<32xf32>) {
    %z = arith.constant dense<0.0> : tensor<32xf32>
    %n = arith.constant dense<-0.0> : tensor<32xf32>
    %x = "tile.load"(%p, %m, %z) {cache = "cg", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<32x!tile.ptr<f32>>, tensor<32xi1>, tensor<32xf32>) -> tensor<32xf32>
    %y = "tile.load"(%p, %m, %n) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<32x!tile.ptr<f32>>, tensor<32xi1>, tensor<32xf32>) -> tensor<32xf32>
    return %x, %y : tensor<32xf32>, tensor<32xf32>
  }

  // Another mask, or a value that comes after the load: nothing to combine.
  // CHECK-LABEL: func.func @different
  // CHECK-COUNT-2: arith.select
  func.func @different(%p: tensor<32x!tile.ptr<f32>>, %m: tensor<32xi1>, %k: tensor<32xi1>, %o: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
    %x = "tile.load"(%p, %m) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<32x!tile.ptr<f32>>, tensor<32xi1>) -> tensor<32xf32>
    %a = arith.select %k, %x, %o : tensor<32xi1>, tensor<32xf32>
    %y = "tile.load"(%p, %m) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<32x!tile.ptr<f32>>, tensor<32xi1>) -> tensor<32xf32>
    %late = arith.addf %o, %o : tensor<32xf32>
    %b = arith.select %m, %y, %late : tensor<32xi1>, tensor<32xf32>
    return %a, %b : tensor<32xf32>, tensor<32xf32>
  }

  // A product that begins at zero begins at what it is added to, on either side; in a loop that is what the loop
  // carries. The product moves to the sum.
  // CHECK-LABEL: func.func @product(
  // CHECK-SAME: %[[A:.*]]: tensor<16x32xf16>, %[[B:.*]]: tensor<32x16xf16>, %[[C:.*]]: tensor<16x16xf32>, %[[N:.*]]: i32
  // CHECK: %[[NEG:.*]] = arith.negf %[[C]]
  // CHECK-NEXT: %[[D:.*]] = "tile.dot"(%[[A]], %[[B]], %[[NEG]]) {input_precision = "tf32", max_num_imprecise_acc = 4 : i32}
  // CHECK-NEXT: %[[L:.*]] = scf.for {{.*}} iter_args(%[[X:.*]] = %[[D]])
  // CHECK-NEXT: %[[Y:.*]] = "tile.dot"(%[[A]], %[[B]], %[[X]])
  // CHECK-NEXT: scf.yield %[[Y]]
  // CHECK: return %[[L]]
  func.func @product(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>, %n: i32) -> tensor<16x16xf32> {
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %p = "tile.dot"(%a, %b, %zero) {input_precision = "tf32", max_num_imprecise_acc = 4 : i32} : (tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %neg = arith.negf %c : tensor<16x16xf32>
    %s = arith.addf %p, %neg : tensor<16x16xf32>
    %r = scf.for %i = %i0 to %n step %i1 iter_args(%x = %s) -> (tensor<16x16xf32>) : i32 {
      %q = "tile.dot"(%a, %b, %zero) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>
      %y = arith.addf %x, %q : tensor<16x16xf32>
      scf.yield %y : tensor<16x16xf32>
    }
    return %r : tensor<16x16xf32>
  }

  // Sums of products of integers, and of two products: one begins the other.
  // CHECK-LABEL: func.func @products(
  // CHECK-SAME: %[[A:.*]]: tensor<16x16xi8>
  // CHECK: %[[Z:.*]] = arith.constant dense<0>
  // CHECK-NEXT: %[[P:.*]] = "tile.dot"(%[[A]], %[[A]], %[[Z]])
  // CHECK-NEXT: %[[Q:.*]] = "tile.dot"(%[[A]], %[[A]], %[[P]])
  // CHECK-NEXT: return %[[Q]]
  func.func @products(%a: tensor<16x16xi8>) -> tensor<16x16xi32> {
    %zero = arith.constant dense<0> : tensor<16x16xi32>
    %p = "tile.dot"(%a, %a, %zero) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<16x16xi8>, tensor<16x16xi8>, tensor<16x16xi32>) -> tensor<16x16xi32>
    %q = "tile.dot"(%a, %a, %zero) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<16x16xi8>, tensor<16x16xi8>, tensor<16x16xi32>) -> tensor<16x16xi32>
    %s = arith.addi %q, %p : tensor<16x16xi32>
    return %s : tensor<16x16xi32>
  }

  // What stays a sum: of a product that is used twice, that begins elsewhere, that another block has, and where
  // the sum is rounded by itself.
  // CHECK-LABEL: func.func @sums
  // CHECK-COUNT-4: arith.addf
  func.func @sums(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>, %n: i32) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %p = "tile.dot"(%a, %a, %zero) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %twice = arith.addf %p, %p : tensor<16x16xf32>
    %q = "tile.dot"(%a, %a, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %begun = arith.addf %c, %q : tensor<16x16xf32>
    %o = "tile.dot"(%a, %a, %zero) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %outer = scf.for %i = %i0 to %n step %i1 iter_args(%x = %c) -> (tensor<16x16xf32>) : i32 {
      %y = arith.addf %x, %o : tensor<16x16xf32>
      scf.yield %y : tensor<16x16xf32>
    }
    %r = "tile.dot"(%a, %a, %zero) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %alone = arith.addf %c, %r {tile.unfused} : tensor<16x16xf32>
    return %twice, %begun, %outer, %alone : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  }

  // Products of 8-bit floats: what was added in f32 still is, after K elements at most.
  // CHECK-LABEL: func.func @imprecise
  // CHECK: "tile.dot"(%{{.*}}, %{{.*}}, %{{.*}}) {input_precision = "tf32", max_num_imprecise_acc = 32 : i32}
  // CHECK: "tile.dot"(%{{.*}}, %{{.*}}, %{{.*}}) {input_precision = "tf32", max_num_imprecise_acc = 16 : i32}
  // CHECK-NOT: arith.addf
  func.func @imprecise(%a: tensor<16x32xf8E4M3FN>, %b: tensor<32x16xf8E5M2>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %p = "tile.dot"(%a, %b, %zero) {input_precision = "tf32", max_num_imprecise_acc = 1073741824 : i32} : (tensor<16x32xf8E4M3FN>, tensor<32x16xf8E5M2>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %s = arith.addf %c, %p : tensor<16x16xf32>
    %q = "tile.dot"(%a, %b, %zero) {input_precision = "tf32", max_num_imprecise_acc = 16 : i32} : (tensor<16x32xf8E4M3FN>, tensor<32x16xf8E5M2>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %t = arith.addf %s, %q : tensor<16x16xf32>
    return %t : tensor<16x16xf32>
  }

  // A mask of 64-bit offsets in a block is one of 32-bit offsets within it.
  // CHECK-LABEL: func.func @mask(
  // CHECK-SAME: %[[N:.*]]: i64, %[[P:.*]]: i32
  // CHECK: %[[S:.*]] = arith.muli
  // CHECK: %[[R:.*]] = "tile.make_range"
  // CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %[[S]] : i64
  // CHECK: %[[MIN:.*]] = arith.minui %[[LEFT]], %{{.*}} : i64
  // CHECK: %[[SHORT:.*]] = arith.trunci %[[MIN]] : i64 to i32
  // CHECK: %[[NONE:.*]] = arith.cmpi sle, %[[N]], %[[S]] : i64
  // CHECK: %[[BELOW:.*]] = arith.select %[[NONE]], %{{.*}}, %[[SHORT]] : i32
  // CHECK: %[[ALL:.*]] = "tile.splat"(%[[BELOW]])
  // CHECK: %[[M:.*]] = arith.cmpi slt, %[[R]], %[[ALL]] : tensor<1024xi32>
  // CHECK: return %[[M]]
  func.func @mask(%n: i64, %p: i32) -> tensor<1024xi1> {
    %block = arith.constant 1024 : i64
    %wide = arith.extsi %p : i32 to i64
    %first = arith.muli %wide, %block : i64
    %range = "tile.make_range"() {start = 0 : i32, end = 1024 : i32} : () -> tensor<1024xi32>
    %offsets = arith.extsi %range : tensor<1024xi32> to tensor<1024xi64>
    %from = "tile.splat"(%first) : (i64) -> tensor<1024xi64>
    %at = arith.addi %from, %offsets : tensor<1024xi64>
    %end = "tile.splat"(%n) : (i64) -> tensor<1024xi64>
    %m = arith.cmpi slt, %at, %end : tensor<1024xi64>
    return %m : tensor<1024xi1>
  }

  // What may wrap stays, and so do the masks of few offsets.
  // CHECK-LABEL: func.func @masks
  // CHECK-COUNT-2: arith.cmpi slt, {{.*}}xi64>
  func.func @masks(%n: i64, %s: i64) -> (tensor<1024xi1>, tensor<64xi1>) {
    %range = "tile.make_range"() {start = 0 : i32, end = 1024 : i32} : () -> tensor<1024xi32>
    %offsets = arith.extsi %range : tensor<1024xi32> to tensor<1024xi64>
    %from = "tile.splat"(%s) : (i64) -> tensor<1024xi64>
    %at = arith.addi %from, %offsets : tensor<1024xi64>
    %end = "tile.splat"(%n) : (i64) -> tensor<1024xi64>
    %m = arith.cmpi slt, %at, %end : tensor<1024xi64>
    %few = "tile.make_range"() {start = 0 : i32, end = 64 : i32} : () -> tensor<64xi32>
    %few_offsets = arith.extsi %few : tensor<64xi32> to tensor<64xi64>
    %few_from = arith.constant dense<128> : tensor<64xi64>
    %few_at = arith.addi %few_from, %few_offsets : tensor<64xi64>
    %few_end = "tile.splat"(%n) : (i64) -> tensor<64xi64>
    %few_m = arith.cmpi slt, %few_at, %few_end : tensor<64xi64>
    return %m, %few_m : tensor<1024xi1>, tensor<64xi1>
  }
}
