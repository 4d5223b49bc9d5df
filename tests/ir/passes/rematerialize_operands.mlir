// RUN: tilec %s --passes=rematerialize-operands --target sm_80 | FileCheck %s
// RUN: tilec %s --passes=rematerialize-operands --target sm_80 --explain-perf 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: tilec %s --passes=rematerialize-operands --target sm_86 | FileCheck %s --check-prefix=SMALL
// rematerialize-operands: what is the same in every iteration of a loop is read again there if registers are short.
#a = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 8], threads_per_warp = [4, 8], warps_per_cta = [4, 1]}>
#mma = #tilegpu.mma<{instr_shape = [16, 8], version = 2 : i64, warps_per_cta = [4, 1]}>
#x = #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0 : i64, parent = #mma}>
#y = #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 1 : i64, parent = #mma}>
#s = #tilegpu.shared<{max_phase = 8 : i64, order = [1, 0], per_phase = 1 : i64, vec = 8 : i64}>
module attributes {tilegpu.num_warps = 4 : i32, tilegpu.threads_per_warp = 32 : i32} {

// A thread holds 128 sums, 64 scores and, if it keeps them, 64 registers of queries.
// WHY: reads operand A from its buffer in every iteration: held through the loop it would take 64 of 256 registers
// CHECK-LABEL: func.func @wide
// CHECK: [[Q:%.+]] = "tilegpu.local_alloc"(%arg0)
// CHECK-NOT: local_load
// CHECK: scf.for
// CHECK: "tilegpu.local_load"
// CHECK: [[X:%.+]] = "tilegpu.local_load"([[Q]])
// CHECK-NEXT: "tile.dot"([[X]],
  func.func @wide(%q: tensor<128x128xf16, #a>, %k: tensor<128x64xf16, #a>, %v: tensor<64x128xf16, #a>, %iterations: i32) -> tensor<128x128xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : tensor<128x128xf32, #mma>
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %qb = "tilegpu.local_alloc"(%q) : (tensor<128x128xf16, #a>) -> !tilegpu.memdesc<tensor<128x128xf16, #s>>
    %x = "tilegpu.local_load"(%qb) : (!tilegpu.memdesc<tensor<128x128xf16, #s>>) -> tensor<128x128xf16, #x>
    %kb = "tilegpu.local_alloc"(%k) : (tensor<128x64xf16, #a>) -> !tilegpu.memdesc<tensor<128x64xf16, #s>>
    %vb = "tilegpu.local_alloc"(%v) : (tensor<64x128xf16, #a>) -> !tilegpu.memdesc<tensor<64x128xf16, #s>>
    %out = scf.for %i = %c0 to %iterations step %c1 iter_args(%acc = %none) -> (tensor<128x128xf32, #mma>) : i32 {
      %y = "tilegpu.local_load"(%kb) : (!tilegpu.memdesc<tensor<128x64xf16, #s>>) -> tensor<128x64xf16, #y>
      %scores = "tile.dot"(%x, %y, %zero) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<128x128xf16, #x>, tensor<128x64xf16, #y>, tensor<128x64xf32, #mma>) -> tensor<128x64xf32, #mma>
      %e = math.exp2 %scores : tensor<128x64xf32, #mma>
      %h = arith.truncf %e : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %p = "tilegpu.convert_layout"(%h) : (tensor<128x64xf16, #mma>) -> tensor<128x64xf16, #x>
      %z = "tilegpu.local_load"(%vb) : (!tilegpu.memdesc<tensor<64x128xf16, #s>>) -> tensor<64x128xf16, #y>
      %sum = "tile.dot"(%p, %z, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<128x64xf16, #x>, tensor<64x128xf16, #y>, tensor<128x128xf32, #mma>) -> tensor<128x128xf32, #mma>
      scf.yield %sum : tensor<128x128xf32, #mma>
    }
    return %out : tensor<128x128xf32, #mma>
  }

// Half as wide, everything fits: read once.
// CHECK-LABEL: func.func @narrow
// CHECK: "tilegpu.local_load"
// CHECK: scf.for
// CHECK-COUNT-2: "tilegpu.local_load"
// CHECK-NOT: "tilegpu.local_load"
// CHECK: return
  func.func @narrow(%q: tensor<128x64xf16, #a>, %k: tensor<64x64xf16, #a>, %v: tensor<64x64xf16, #a>, %iterations: i32) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %qb = "tilegpu.local_alloc"(%q) : (tensor<128x64xf16, #a>) -> !tilegpu.memdesc<tensor<128x64xf16, #s>>
    %x = "tilegpu.local_load"(%qb) : (!tilegpu.memdesc<tensor<128x64xf16, #s>>) -> tensor<128x64xf16, #x>
    %kb = "tilegpu.local_alloc"(%k) : (tensor<64x64xf16, #a>) -> !tilegpu.memdesc<tensor<64x64xf16, #s>>
    %vb = "tilegpu.local_alloc"(%v) : (tensor<64x64xf16, #a>) -> !tilegpu.memdesc<tensor<64x64xf16, #s>>
    %out = scf.for %i = %c0 to %iterations step %c1 iter_args(%acc = %none) -> (tensor<128x64xf32, #mma>) : i32 {
      %y = "tilegpu.local_load"(%kb) : (!tilegpu.memdesc<tensor<64x64xf16, #s>>) -> tensor<64x64xf16, #y>
      %scores = "tile.dot"(%x, %y, %zero) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<128x64xf16, #x>, tensor<64x64xf16, #y>, tensor<128x64xf32, #mma>) -> tensor<128x64xf32, #mma>
      %e = math.exp2 %scores : tensor<128x64xf32, #mma>
      %h = arith.truncf %e : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %p = "tilegpu.convert_layout"(%h) : (tensor<128x64xf16, #mma>) -> tensor<128x64xf16, #x>
      %z = "tilegpu.local_load"(%vb) : (!tilegpu.memdesc<tensor<64x64xf16, #s>>) -> tensor<64x64xf16, #y>
      %sum = "tile.dot"(%p, %z, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<128x64xf16, #x>, tensor<64x64xf16, #y>, tensor<128x64xf32, #mma>) -> tensor<128x64xf32, #mma>
      scf.yield %sum : tensor<128x64xf32, #mma>
    }
    return %out : tensor<128x64xf32, #mma>
  }

// As wide as the first, but there are only 64 sums: 128 registers are no reason to read again.
// CHECK-LABEL: func.func @roomy
// CHECK: [[X:%.+]] = "tilegpu.local_load"
// CHECK: scf.for
// CHECK: "tilegpu.local_load"
// CHECK-NEXT: "tile.dot"([[X]],
  func.func @roomy(%q: tensor<128x128xf16, #a>, %k: tensor<128x64xf16, #a>, %iterations: i32) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %qb = "tilegpu.local_alloc"(%q) : (tensor<128x128xf16, #a>) -> !tilegpu.memdesc<tensor<128x128xf16, #s>>
    %x = "tilegpu.local_load"(%qb) : (!tilegpu.memdesc<tensor<128x128xf16, #s>>) -> tensor<128x128xf16, #x>
    %kb = "tilegpu.local_alloc"(%k) : (tensor<128x64xf16, #a>) -> !tilegpu.memdesc<tensor<128x64xf16, #s>>
    %out = scf.for %i = %c0 to %iterations step %c1 iter_args(%acc = %none) -> (tensor<128x64xf32, #mma>) : i32 {
      %y = "tilegpu.local_load"(%kb) : (!tilegpu.memdesc<tensor<128x64xf16, #s>>) -> tensor<128x64xf16, #y>
      %sum = "tile.dot"(%x, %y, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<128x128xf16, #x>, tensor<128x64xf16, #y>, tensor<128x64xf32, #mma>) -> tensor<128x64xf32, #mma>
      scf.yield %sum : tensor<128x64xf32, #mma>
    }
    return %out : tensor<128x64xf32, #mma>
  }

// Both products read it again, one alone would not help. What is computed of the other operand's
// elements comes in slices as well.
// CHECK-LABEL: func.func @shared
// CHECK: [[Q:%.+]] = "tilegpu.local_alloc"(%arg0)
// CHECK-NOT: local_load
// CHECK: scf.for
// CHECK: [[X:%.+]] = "tilegpu.local_load"([[Q]])
// CHECK-NEXT: "tile.dot"([[X]],
// CHECK: [[Y:%.+]] = "tilegpu.local_load"([[Q]])
// CHECK-NEXT: "tile.dot"([[Y]],
// WHY: would take 64 of 320 registers
  func.func @shared(%q: tensor<128x128xf16, #a>, %k: tensor<128x128xf16, #a>, %iterations: i32) -> (tensor<128x128xf32, #mma>, tensor<128x128xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : tensor<128x128xf32, #mma>
    %qb = "tilegpu.local_alloc"(%q) : (tensor<128x128xf16, #a>) -> !tilegpu.memdesc<tensor<128x128xf16, #s>>
    %x = "tilegpu.local_load"(%qb) : (!tilegpu.memdesc<tensor<128x128xf16, #s>>) -> tensor<128x128xf16, #x>
    %kb = "tilegpu.local_alloc"(%k) : (tensor<128x128xf16, #a>) -> !tilegpu.memdesc<tensor<128x128xf16, #s>>
    %out:2 = scf.for %i = %c0 to %iterations step %c1 iter_args(%acc = %none, %other = %none) -> (tensor<128x128xf32, #mma>, tensor<128x128xf32, #mma>) : i32 {
      %y = "tilegpu.local_load"(%kb) : (!tilegpu.memdesc<tensor<128x128xf16, #s>>) -> tensor<128x128xf16, #y>
      %e = arith.negf %y : tensor<128x128xf16, #y>
      %sum = "tile.dot"(%x, %e, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<128x128xf16, #x>, tensor<128x128xf16, #y>, tensor<128x128xf32, #mma>) -> tensor<128x128xf32, #mma>
      %z = "tilegpu.local_load"(%kb) : (!tilegpu.memdesc<tensor<128x128xf16, #s>>) -> tensor<128x128xf16, #y>
      %next = "tile.dot"(%x, %z, %other) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<128x128xf16, #x>, tensor<128x128xf16, #y>, tensor<128x128xf32, #mma>) -> tensor<128x128xf32, #mma>
      scf.yield %sum, %next : tensor<128x128xf32, #mma>, tensor<128x128xf32, #mma>
    }
    return %out#0, %out#1 : tensor<128x128xf32, #mma>, tensor<128x128xf32, #mma>
  }

// The buffers of queries, keys and values do not fit a program's shared memory at the same time.
// SMALL-LABEL: func.func @long
// SMALL: "tilegpu.local_load"
// SMALL: scf.for
// SMALL-COUNT-2: "tilegpu.local_load"
// SMALL-NOT: "tilegpu.local_load"
// SMALL: return
  func.func @long(%q: tensor<128x256xf16, #a>, %k: tensor<256x64xf16, #a>, %v: tensor<64x256xf16, #a>, %iterations: i32) -> tensor<128x256xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : tensor<128x256xf32, #mma>
    %zero = arith.constant dense<0.0> : tensor<128x64xf32, #mma>
    %qb = "tilegpu.local_alloc"(%q) : (tensor<128x256xf16, #a>) -> !tilegpu.memdesc<tensor<128x256xf16, #s>>
    %x = "tilegpu.local_load"(%qb) : (!tilegpu.memdesc<tensor<128x256xf16, #s>>) -> tensor<128x256xf16, #x>
    %kb = "tilegpu.local_alloc"(%k) : (tensor<256x64xf16, #a>) -> !tilegpu.memdesc<tensor<256x64xf16, #s>>
    %vb = "tilegpu.local_alloc"(%v) : (tensor<64x256xf16, #a>) -> !tilegpu.memdesc<tensor<64x256xf16, #s>>
    %out = scf.for %i = %c0 to %iterations step %c1 iter_args(%acc = %none) -> (tensor<128x256xf32, #mma>) : i32 {
      %y = "tilegpu.local_load"(%kb) : (!tilegpu.memdesc<tensor<256x64xf16, #s>>) -> tensor<256x64xf16, #y>
      %scores = "tile.dot"(%x, %y, %zero) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<128x256xf16, #x>, tensor<256x64xf16, #y>, tensor<128x64xf32, #mma>) -> tensor<128x64xf32, #mma>
      %e = math.exp2 %scores : tensor<128x64xf32, #mma>
      %h = arith.truncf %e : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %p = "tilegpu.convert_layout"(%h) : (tensor<128x64xf16, #mma>) -> tensor<128x64xf16, #x>
      %z = "tilegpu.local_load"(%vb) : (!tilegpu.memdesc<tensor<64x256xf16, #s>>) -> tensor<64x256xf16, #y>
      %sum = "tile.dot"(%p, %z, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<128x64xf16, #x>, tensor<64x256xf16, #y>, tensor<128x256xf32, #mma>) -> tensor<128x256xf32, #mma>
      scf.yield %sum : tensor<128x256xf32, #mma>
    }
    return %out : tensor<128x256xf32, #mma>
  }
}
