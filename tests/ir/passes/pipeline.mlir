// RUN: tilec %s --passes=pipeline,canonicalize,cse,dce | FileCheck %s
// RUN: tilec %s --passes=pipeline,canonicalize,cse,dce --num-stages=2 | FileCheck %s --check-prefix=TWO
// RUN: tilec %s --passes=pipeline,canonicalize,cse,dce --num-stages=1 | FileCheck %s --check-prefix=ONE
#blocked = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 8], threads_per_warp = [8, 4], warps_per_cta = [4, 1]}>
#acc = #tilegpu.mma<{instr_shape = [16, 8], version = 2, warps_per_cta = [2, 2]}>
#a = #tilegpu.dot_op<{k_width = 2, op_idx = 0, parent = #tilegpu.mma<{instr_shape = [16, 8], version = 2, warps_per_cta = [2, 2]}>}>
#b = #tilegpu.dot_op<{k_width = 2, op_idx = 1, parent = #tilegpu.mma<{instr_shape = [16, 8], version = 2, warps_per_cta = [2, 2]}>}>
module {
  // Three stages: two tiles of each operand are under way, in rings of three buffers.
  // CHECK-LABEL: func.func @product
  // CHECK-DAG: %[[A:.*]] = "tilegpu.local_alloc"() {copies = 3 : i32}
  // CHECK-DAG: %[[B:.*]] = "tilegpu.local_alloc"() {copies = 3 : i32}
  // The first iteration may not exist, nor the second.
  // CHECK: %[[RUNS:.*]] = arith.cmpi sgt, %arg0, %[[ZERO:.*]] : i32
  // CHECK: %[[LIMIT1:.*]] = arith.select
  // CHECK: %[[TWICE:.*]] = arith.cmpi sgt, %[[LIMIT1]], %[[ZERO]] : i32
  // CHECK: %[[LIMIT2:.*]] = arith.select
  // CHECK: %[[MASK0:.*]] = "tile.splat"(%[[RUNS]])
  // CHECK: %[[A0:.*]] = "tilegpu.local_index"(%[[A]], %[[ZERO]]) :
  // CHECK: "tilegpu.async_copy"(%{{.*}}, %[[A0]], %[[MASK0]])
  // CHECK: %[[B0:.*]] = "tilegpu.local_index"(%[[B]], %[[ZERO]]) :
  // CHECK: "tilegpu.async_copy"(%{{.*}}, %[[B0]], %{{.*}})
  // CHECK: "tilegpu.async_commit"
  // CHECK: "tile.splat"(%[[TWICE]])
  // CHECK-COUNT-2: "tilegpu.async_copy"
  // CHECK: "tilegpu.async_commit"
  // The buffer to fill is the one that was used last.
  // CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[SUM:[^ ]*]] = {{.*}}, %[[PA:[^ ]*]] = {{.*}}, %[[PB:[^ ]*]] = {{.*}}, %[[FILL:[^ ]*]] = %c2_i32{{.*}}, %[[USE:[^ ]*]] = %[[ZERO]])
  // CHECK: %[[MORE:.*]] = arith.addi %[[USE]], %c1_i32
  // CHECK: %[[WRAP:.*]] = arith.cmpi eq, %[[MORE]], %c3_i32
  // CHECK: %[[NEXT:.*]] = arith.select %[[WRAP]], %[[ZERO]], %[[MORE]]
  // CHECK: %[[VA:.*]] = "tilegpu.local_index"(%[[A]], %[[USE]]) {phase = 0 : i32}
  // CHECK: %[[VB:.*]] = "tilegpu.local_index"(%[[B]], %[[USE]]) {phase = 0 : i32}
  // CHECK: "tilegpu.async_wait"(%[[VA]]) {pending = 1 : i32}
  // CHECK-NEXT: "tilegpu.async_wait"(%[[VB]]) {pending = 1 : i32}
  // CHECK: %[[EXISTS:.*]] = arith.cmpi slt, %[[I]], %[[LIMIT2]]
  // CHECK: %[[MASK:.*]] = "tile.splat"(%[[EXISTS]])
  // CHECK: %[[FA:.*]] = "tilegpu.local_index"(%[[A]], %[[FILL]]) {phase = 2 : i32}
  // CHECK: "tilegpu.async_copy"(%[[PA]], %[[FA]], %[[MASK]])
  // CHECK: %[[FB:.*]] = "tilegpu.local_index"(%[[B]], %[[FILL]]) {phase = 2 : i32}
  // CHECK: "tilegpu.async_copy"(%[[PB]], %[[FB]], %{{.*}})
  // CHECK: "tilegpu.async_commit"
  // CHECK: %[[X:.*]] = "tilegpu.local_load"(%[[VA]])
  // CHECK-NEXT: %[[Y:.*]] = "tilegpu.local_load"(%[[VB]])
  // CHECK-NEXT: "tile.dot"(%[[X]], %[[Y]], %[[SUM]])
  // CHECK-NEXT: scf.yield %{{.*}}, %{{.*}}, %{{.*}}, %[[USE]], %[[NEXT]] :
  // CHECK: "tilegpu.async_wait"(%[[A]]) {pending = 0 : i32}
  // CHECK-NEXT: "tilegpu.async_wait"(%[[B]]) {pending = 0 : i32}
  // CHECK: return

  // TWO-LABEL: func.func @product
  // TWO-COUNT-2: "tilegpu.local_alloc"() {copies = 2 : i32}
  // TWO-COUNT-2: "tilegpu.async_copy"
  // TWO: scf.for
  // TWO: arith.xori
  // TWO: "tilegpu.async_wait"({{.*}}) {pending = 0 : i32}
  // TWO: {phase = 1 : i32}
  // TWO: return

  // ONE-LABEL: func.func @product
  // ONE-NOT: async
  // ONE: return
  func.func @product(%n: i32, %a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32}) -> tensor<64x64xf32, #acc> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
    %ra = "tile.make_range"() {start = 0 : i32, end = 32 : i32} : () -> tensor<32xi32, #tilegpu.slice<{dim = 0, parent = #blocked}>>
    %ca = "tile.expand_dims"(%ra) {axis = 0 : i32} : (tensor<32xi32, #tilegpu.slice<{dim = 0, parent = #blocked}>>) -> tensor<1x32xi32, #blocked>
    %oa = "tile.broadcast"(%ca) : (tensor<1x32xi32, #blocked>) -> tensor<64x32xi32, #blocked>
    %sa = "tile.splat"(%a) : (!tile.ptr<f16>) -> tensor<64x32x!tile.ptr<f16>, #blocked>
    %a0 = "tile.addptr"(%sa, %oa) : (tensor<64x32x!tile.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>) -> tensor<64x32x!tile.ptr<f16>, #blocked>
    %rb = "tile.make_range"() {start = 0 : i32, end = 64 : i32} : () -> tensor<64xi32, #tilegpu.slice<{dim = 0, parent = #blocked}>>
    %cb = "tile.expand_dims"(%rb) {axis = 0 : i32} : (tensor<64xi32, #tilegpu.slice<{dim = 0, parent = #blocked}>>) -> tensor<1x64xi32, #blocked>
    %ob = "tile.broadcast"(%cb) : (tensor<1x64xi32, #blocked>) -> tensor<32x64xi32, #blocked>
    %sb = "tile.splat"(%b) : (!tile.ptr<f16>) -> tensor<32x64x!tile.ptr<f16>, #blocked>
    %b0 = "tile.addptr"(%sb, %ob) : (tensor<32x64x!tile.ptr<f16>, #blocked>, tensor<32x64xi32, #blocked>) -> tensor<32x64x!tile.ptr<f16>, #blocked>
    %da = arith.constant dense<32> : tensor<64x32xi32, #blocked>
    %db = arith.constant dense<64> : tensor<32x64xi32, #blocked>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero, %p = %a0, %q = %b0) -> (tensor<64x64xf32, #acc>, tensor<64x32x!tile.ptr<f16>, #blocked>, tensor<32x64x!tile.ptr<f16>, #blocked>) : i32 {
      %x = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x32x!tile.ptr<f16>, #blocked>) -> tensor<64x32xf16, #blocked>
      %y = "tile.load"(%q) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<32x64x!tile.ptr<f16>, #blocked>) -> tensor<32x64xf16, #blocked>
      %u = "tilegpu.convert_layout"(%x) : (tensor<64x32xf16, #blocked>) -> tensor<64x32xf16, #a>
      %v = "tilegpu.convert_layout"(%y) : (tensor<32x64xf16, #blocked>) -> tensor<32x64xf16, #b>
      %s = "tile.dot"(%u, %v, %sum) {input_precision = "ieee", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16, #a>, tensor<32x64xf16, #b>, tensor<64x64xf32, #acc>) -> tensor<64x64xf32, #acc>
      %p1 = "tile.addptr"(%p, %da) : (tensor<64x32x!tile.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>) -> tensor<64x32x!tile.ptr<f16>, #blocked>
      %q1 = "tile.addptr"(%q, %db) : (tensor<32x64x!tile.ptr<f16>, #blocked>, tensor<32x64xi32, #blocked>) -> tensor<32x64x!tile.ptr<f16>, #blocked>
      scf.yield %s, %p1, %q1 : tensor<64x64xf32, #acc>, tensor<64x32x!tile.ptr<f16>, #blocked>, tensor<32x64x!tile.ptr<f16>, #blocked>
    }
    return %r#0 : tensor<64x64xf32, #acc>
  }
}
