// RUN: tilec %s --passes=prefetch --target sm_80 | FileCheck %s
// RUN: tilec %s --passes=prefetch,allocate-shared,insert-barriers --target sm_80 | FileCheck %s --check-prefix=BARRIER
// prefetch: slices products along K, and loads slices in the previous iteration.
#mma = #tilegpu.mma<{instr_shape = [16, 8], version = 2 : i64, warps_per_cta = [2, 2]}>
#f = #tilegpu.blocked<{order = [1, 0], size_per_thread = [4, 4], threads_per_warp = [4, 8], warps_per_cta = [2, 2]}>
#x = #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0 : i64, parent = #mma}>
#y = #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 1 : i64, parent = #mma}>
#x4 = #tilegpu.dot_op<{k_width = 4 : i64, op_idx = 0 : i64, parent = #mma}>
#y4 = #tilegpu.dot_op<{k_width = 4 : i64, op_idx = 1 : i64, parent = #mma}>
#fx = #tilegpu.dot_op<{k_width = 1 : i64, op_idx = 0 : i64, parent = #f}>
#fy = #tilegpu.dot_op<{k_width = 1 : i64, op_idx = 1 : i64, parent = #f}>
#s = #tilegpu.shared<{max_phase = 4 : i64, order = [1, 0], per_phase = 2 : i64, vec = 8 : i64}>
#t = #tilegpu.shared<{max_phase = 4 : i64, order = [0, 1], per_phase = 2 : i64, vec = 8 : i64}>
#p = #tilegpu.shared<{max_phase = 1 : i64, order = [1, 0], per_phase = 1 : i64, vec = 1 : i64}>
#r = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 8], threads_per_warp = [8, 4], warps_per_cta = [4, 1]}>
!m = !tilegpu.memdesc<tensor<32x32xf16, #s>>
!n = !tilegpu.memdesc<tensor<32x32xf16, #t>>
!x = tensor<32x32xf16, #x>
!y = tensor<32x32xf16, #y>
!c = tensor<32x32xf32, #mma>
!ptr = tensor<32x32x!tile.ptr<f16>, #r>
module attributes {tilegpu.num_warps = 4 : i32, tilegpu.threads_per_warp = 32 : i32} {

// The loads of slice 1 stand in front of the product of slice 0. A cast is cut with what it casts.
// CHECK-LABEL: func.func @cut
// CHECK: [[A:%.+]] = "tilegpu.local_alloc"
// CHECK: [[B:%.+]] = "tilegpu.local_alloc"
// CHECK-NEXT: [[A0:%.+]] = "tilegpu.local_load"([[A]]) {offsets = array<i32: 0, 0>} : {{.*}} -> tensor<32x32xf16
// CHECK-NEXT: [[I0:%.+]] = "tilegpu.local_load"([[B]]) {offsets = array<i32: 0, 0>} : {{.*}} -> tensor<32x32xi8
// CHECK-NEXT: [[B0:%.+]] = arith.sitofp [[I0]]
// CHECK-NEXT: [[A1:%.+]] = "tilegpu.local_load"([[A]]) {offsets = array<i32: 0, 32>}
// CHECK-NEXT: [[I1:%.+]] = "tilegpu.local_load"([[B]]) {offsets = array<i32: 32, 0>}
// CHECK-NEXT: [[B1:%.+]] = arith.sitofp [[I1]]
// CHECK-NEXT: [[D:%.+]] = "tile.dot"([[A0]], [[B0]], %arg0) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32}
// CHECK-NEXT: [[R:%.+]] = "tile.dot"([[A1]], [[B1]], [[D]])
// CHECK-NEXT: return [[R]]
  func.func @cut(%c: !c) -> !c {
    %a = "tilegpu.local_alloc"() : () -> !tilegpu.memdesc<tensor<32x64xf16, #s>>
    %b = "tilegpu.local_alloc"() : () -> !tilegpu.memdesc<tensor<64x32xi8, #s>>
    %x = "tilegpu.local_load"(%a) : (!tilegpu.memdesc<tensor<32x64xf16, #s>>) -> tensor<32x64xf16, #x4>
    %i = "tilegpu.local_load"(%b) : (!tilegpu.memdesc<tensor<64x32xi8, #s>>) -> tensor<64x32xi8, #y4>
    %y = arith.sitofp %i : tensor<64x32xi8, #y4> to tensor<64x32xf16, #y4>
    %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<32x64xf16, #x4>, tensor<64x32xf16, #y4>, !c) -> !c
    return %d : !c
  }

// Without instructions a slice has as much of K as fits 32 registers.
// CHECK-LABEL: func.func @fma
// CHECK-COUNT-2: "tilegpu.local_load"{{.*}} {offsets = array<i32: 0, 0>}
// CHECK: tensor<4x32xf32
// CHECK-COUNT-8: "tile.dot"
// CHECK-NOT: "tile.dot"
// CHECK: return
  func.func @fma(%c: tensor<32x32xf32, #f>) -> tensor<32x32xf32, #f> {
    %a = "tilegpu.local_alloc"() : () -> !tilegpu.memdesc<tensor<32x32xf32, #p>>
    %x = "tilegpu.local_load"(%a) : (!tilegpu.memdesc<tensor<32x32xf32, #p>>) -> tensor<32x32xf32, #fx>
    %y = "tilegpu.local_load"(%a) : (!tilegpu.memdesc<tensor<32x32xf32, #p>>) -> tensor<32x32xf32, #fy>
    %d = "tile.dot"(%x, %y, %c) {input_precision = "ieee", max_num_imprecise_acc = 0 : i32} : (tensor<32x32xf32, #fx>, tensor<32x32xf32, #fy>, tensor<32x32xf32, #f>) -> tensor<32x32xf32, #f>
    return %d : tensor<32x32xf32, #f>
  }

// A large operand of two products is read from its buffer by each: it does not wait in registers, 128 of them, for the second.
// Where the buffer is written in between, the second takes parts of what was read.
// CHECK-LABEL: func.func @shared_operand
// CHECK-NOT: tensor<32x32xf32, #tilegpu.dot_op<{k_width = 1 : i64, op_idx = 1
// CHECK-NOT: "tilegpu.part"
// CHECK-COUNT-16: "tile.dot"
// CHECK: return
// CHECK-LABEL: func.func @shared_and_written
// CHECK: [[Y:%.+]] = "tilegpu.local_load"({{.*}}) : {{.*}}op_idx = 1
// CHECK: tile.dot
// CHECK: local_store
// CHECK: "tilegpu.part"([[Y]])
// CHECK: return
  func.func @shared_operand(%c: tensor<32x32xf32, #f>) -> (tensor<32x32xf32, #f>, tensor<32x32xf32, #f>) {
    %a = "tilegpu.local_alloc"() : () -> !tilegpu.memdesc<tensor<32x32xf32, #p>>
    %b = "tilegpu.local_alloc"() : () -> !tilegpu.memdesc<tensor<32x32xf32, #p>>
    %x = "tilegpu.local_load"(%a) : (!tilegpu.memdesc<tensor<32x32xf32, #p>>) -> tensor<32x32xf32, #fx>
    %y = "tilegpu.local_load"(%b) : (!tilegpu.memdesc<tensor<32x32xf32, #p>>) -> tensor<32x32xf32, #fy>
    %z = "tilegpu.local_load"(%b) : (!tilegpu.memdesc<tensor<32x32xf32, #p>>) -> tensor<32x32xf32, #fx>
    %d = "tile.dot"(%x, %y, %c) {input_precision = "ieee", max_num_imprecise_acc = 0 : i32} : (tensor<32x32xf32, #fx>, tensor<32x32xf32, #fy>, tensor<32x32xf32, #f>) -> tensor<32x32xf32, #f>
    %e = "tile.dot"(%z, %y, %d) {input_precision = "ieee", max_num_imprecise_acc = 0 : i32} : (tensor<32x32xf32, #fx>, tensor<32x32xf32, #fy>, tensor<32x32xf32, #f>) -> tensor<32x32xf32, #f>
    return %d, %e : tensor<32x32xf32, #f>, tensor<32x32xf32, #f>
  }
  func.func @shared_and_written(%c: tensor<32x32xf32, #f>) -> (tensor<32x32xf32, #f>, tensor<32x32xf32, #f>) {
    %a = "tilegpu.local_alloc"() : () -> !tilegpu.memdesc<tensor<32x32xf32, #p>>
    %b = "tilegpu.local_alloc"() : () -> !tilegpu.memdesc<tensor<32x32xf32, #p>>
    %x = "tilegpu.local_load"(%a) : (!tilegpu.memdesc<tensor<32x32xf32, #p>>) -> tensor<32x32xf32, #fx>
    %y = "tilegpu.local_load"(%b) : (!tilegpu.memdesc<tensor<32x32xf32, #p>>) -> tensor<32x32xf32, #fy>
    %d = "tile.dot"(%x, %y, %c) {input_precision = "ieee", max_num_imprecise_acc = 0 : i32} : (tensor<32x32xf32, #fx>, tensor<32x32xf32, #fy>, tensor<32x32xf32, #f>) -> tensor<32x32xf32, #f>
    "tilegpu.local_store"(%d, %b) : (tensor<32x32xf32, #f>, !tilegpu.memdesc<tensor<32x32xf32, #p>>) -> ()
    %z = "tilegpu.local_load"(%b) : (!tilegpu.memdesc<tensor<32x32xf32, #p>>) -> tensor<32x32xf32, #fx>
    %e = "tile.dot"(%z, %y, %d) {input_precision = "ieee", max_num_imprecise_acc = 0 : i32} : (tensor<32x32xf32, #fx>, tensor<32x32xf32, #fy>, tensor<32x32xf32, #f>) -> tensor<32x32xf32, #f>
    return %d, %e : tensor<32x32xf32, #f>, tensor<32x32xf32, #f>
  }

// An operand in registers gives parts of itself.
// CHECK-LABEL: func.func @registers
// CHECK: [[P0:%.+]] = "tilegpu.part"(%arg0) {offsets = array<i32: 0, 0>} : {{.*}} -> tensor<32x16xf16
// CHECK-NEXT: [[Y0:%.+]] = "tilegpu.local_load"{{.*}} {offsets = array<i32: 0, 0>}
// CHECK-NEXT: [[P1:%.+]] = "tilegpu.part"(%arg0) {offsets = array<i32: 0, 16>}
// CHECK-NEXT: [[Y1:%.+]] = "tilegpu.local_load"{{.*}} {offsets = array<i32: 16, 0>}
// CHECK-NEXT: "tile.dot"([[P0]], [[Y0]], %arg1)
// CHECK-NEXT: "tile.dot"([[P1]], [[Y1]]
  func.func @registers(%x: !x, %c: !c) -> !c {
    %a = "tilegpu.local_alloc"() : () -> !m
    %y = "tilegpu.local_load"(%a) : (!m) -> !y
    %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (!x, !y, !c) -> !c
    return %d : !c
  }

// What is written between the load and the product must not be read.
// CHECK-LABEL: func.func @written
// CHECK-NOT: offsets
// CHECK: return
  func.func @written(%c: !c, %z: tensor<32x32xf16, #r>) -> !c {
    %a = "tilegpu.local_alloc"() : () -> !m
    %x = "tilegpu.local_load"(%a) : (!m) -> !x
    %y = "tilegpu.local_load"(%a) : (!m) -> !y
    "tilegpu.local_store"(%z, %a) : (tensor<32x32xf16, #r>, !m) -> ()
    %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (!x, !y, !c) -> !c
    return %d : !c
  }

// The wait for the next iteration's tiles stands in front of the last product, with as many groups under
// way as at the beginning of that iteration. B is a transposed view.
// CHECK-LABEL: func.func @iterations
// CHECK: async_commit
// CHECK-NEXT: [[F:%.+]] = "tilegpu.local_index"([[A:%.+]], %c0_i32)
// CHECK-NEXT: [[G:%.+]] = "tilegpu.local_index"([[B:%.+]], %c0_i32)
// CHECK-NEXT: "tilegpu.async_wait"([[F]], [[G]]) {pending = 0 : i32}
// CHECK-NEXT: [[FA:%.+]] = "tilegpu.local_load"([[F]]) {offsets = array<i32: 0, 0>}
// CHECK-NEXT: [[GT:%.+]] = "tilegpu.local_trans"([[G]])
// CHECK-NEXT: [[FB:%.+]] = "tilegpu.local_load"([[GT]]) {offsets = array<i32: 0, 0>}
// CHECK-NEXT: scf.for {{.*}} iter_args([[ACC:%.+]] = %{{.+}}, [[K:%.+]] = %c0_i32, [[X0:%.+]] = [[FA]], [[Y0:%.+]] = [[FB]])
// CHECK-NOT: async_wait
// CHECK: async_commit
// CHECK: [[X1:%.+]] = "tilegpu.local_load"{{.*}} {offsets = array<i32: 0, 16>}
// CHECK-NEXT: [[Y1:%.+]] = "tilegpu.local_load"{{.*}} {offsets = array<i32: 16, 0>}
// CHECK-NEXT: [[D0:%.+]] = "tile.dot"([[X0]], [[Y0]], [[ACC]])
// CHECK-NEXT: [[NA:%.+]] = "tilegpu.local_index"([[A]], [[NEXT:%.+]]) {phase = 1 : i32}
// CHECK-NEXT: [[NB:%.+]] = "tilegpu.local_index"([[B]], [[NEXT]]) {phase = 1 : i32}
// CHECK-NEXT: "tilegpu.async_wait"([[NA]], [[NB]]) {pending = 0 : i32}
// CHECK-NEXT: [[XN:%.+]] = "tilegpu.local_load"([[NA]]) {offsets = array<i32: 0, 0>}
// CHECK-NEXT: [[NT:%.+]] = "tilegpu.local_trans"([[NB]])
// CHECK-NEXT: [[YN:%.+]] = "tilegpu.local_load"([[NT]]) {offsets = array<i32: 0, 0>}
// CHECK-NEXT: [[D1:%.+]] = "tile.dot"([[X1]], [[Y1]], [[D0]])
// CHECK-NEXT: scf.yield [[D1]], [[NEXT]], [[XN]], [[YN]]
// BARRIER-LABEL: func.func @iterations
// BARRIER: tilegpu.barrier
// BARRIER: scf.for
// BARRIER-NOT: tilegpu.barrier
// BARRIER: tile.dot
// BARRIER: async_wait
// BARRIER: tilegpu.barrier
// BARRIER-NOT: tilegpu.barrier
// BARRIER: return
  func.func @iterations(%ps: !ptr, %c: !c, %n: i32) -> !c {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !m
    %b = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !m
    %a0 = "tilegpu.local_index"(%a, %c0) : (!m, i32) -> !m
    %b0 = "tilegpu.local_index"(%b, %c0) : (!m, i32) -> !m
    "tilegpu.async_copy"(%ps, %a0) {cache = "", evict = ""} : (!ptr, !m) -> ()
    "tilegpu.async_copy"(%ps, %b0) {cache = "", evict = ""} : (!ptr, !m) -> ()
    "tilegpu.async_commit"() : () -> ()
    %d:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c, %k = %c0) -> (!c, i32) : i32 {
      %next = arith.xori %k, %c1 : i32
      %u = "tilegpu.local_index"(%a, %k) {phase = 0 : i32} : (!m, i32) -> !m
      %v = "tilegpu.local_index"(%b, %k) {phase = 0 : i32} : (!m, i32) -> !m
      "tilegpu.async_wait"(%u) {pending = 0 : i32} : (!m) -> ()
      "tilegpu.async_wait"(%v) {pending = 0 : i32} : (!m) -> ()
      %au = "tilegpu.local_index"(%a, %next) {phase = 1 : i32} : (!m, i32) -> !m
      %bu = "tilegpu.local_index"(%b, %next) {phase = 1 : i32} : (!m, i32) -> !m
      "tilegpu.async_copy"(%ps, %au) {cache = "", evict = ""} : (!ptr, !m) -> ()
      "tilegpu.async_copy"(%ps, %bu) {cache = "", evict = ""} : (!ptr, !m) -> ()
      "tilegpu.async_commit"() : () -> ()
      %w = "tilegpu.local_trans"(%v) {order = array<i32: 1, 0>} : (!m) -> !n
      %x = "tilegpu.local_load"(%u) : (!m) -> !x
      %y = "tilegpu.local_load"(%w) : (!n) -> !y
      %r = "tile.dot"(%x, %y, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (!x, !y, !c) -> !c
      scf.yield %r, %next : !c, i32
    }
    "tilegpu.async_wait"(%a) {pending = 0 : i32} : (!m) -> ()
    return %d#0 : !c
  }

// Two products in an iteration: slices within the iteration only. The first wait stays.
// CHECK-LABEL: func.func @two_products
// CHECK: scf.for
// CHECK: async_wait
// CHECK: tile.dot
// CHECK: async_wait
// CHECK: tile.dot
// CHECK-NOT: async_wait
// CHECK: scf.yield
  func.func @two_products(%c: !c, %n: i32) -> !c {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !m
    %b = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !m
    %d:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c, %k = %c0) -> (!c, i32) : i32 {
      %next = arith.xori %k, %c1 : i32
      %u = "tilegpu.local_index"(%a, %k) {phase = 0 : i32} : (!m, i32) -> !m
      "tilegpu.async_wait"(%u) {pending = 1 : i32} : (!m) -> ()
      %x = "tilegpu.local_load"(%u) : (!m) -> !x
      %y = "tilegpu.local_load"(%u) : (!m) -> !y
      %q = "tile.dot"(%x, %y, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (!x, !y, !c) -> !c
      %v = "tilegpu.local_index"(%b, %k) {phase = 0 : i32} : (!m, i32) -> !m
      "tilegpu.async_wait"(%v) {pending = 0 : i32} : (!m) -> ()
      %z = "tilegpu.local_load"(%v) : (!m) -> !x
      %w = "tilegpu.local_load"(%v) : (!m) -> !y
      %r = "tile.dot"(%z, %w, %q) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (!x, !y, !c) -> !c
      scf.yield %r, %next : !c, i32
    }
    return %d#0 : !c
  }
}
