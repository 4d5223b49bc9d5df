// RUN: tilec %s --passes=warp-group-dot | FileCheck %s
// warp-group-dot: products with accumulators of wgmma read their operands from shared memory.
#mma = #tilegpu.mma<{instr_shape = [16, 64, 16], version = 3 : i64, warps_per_cta = [4, 1]}>
#old = #tilegpu.mma<{instr_shape = [16, 8], version = 2 : i64, warps_per_cta = [4, 1]}>
#x = #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0 : i64, parent = #mma}>
#y = #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 1 : i64, parent = #mma}>
#xo = #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0 : i64, parent = #old}>
#yo = #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 1 : i64, parent = #old}>
#s = #tilegpu.nvmma_shared<{element_bits = 16, swizzle = 64, transposed = false}>
#t = #tilegpu.nvmma_shared<{element_bits = 16, swizzle = 128, transposed = false}>
#rows = #tilegpu.shared<{max_phase = 8 : i64, order = [1, 0], per_phase = 1 : i64, vec = 8 : i64}>
module attributes {tilegpu.num_warps = 4 : i32, tilegpu.threads_per_warp = 32 : i32} {

// CHECK-LABEL: func.func @both
// CHECK-SAME: %[[A:.+]]: !tilegpu.memdesc{{.*}}, %[[B:.+]]: !tilegpu.memdesc{{.*}}, %[[C:.+]]: tensor
// CHECK-NOT: local_load
// CHECK: "tilegpu.warp_group_dot"(%[[A]], %[[B]], %[[C]])
func.func @both(%a: !tilegpu.memdesc<tensor<64x32xf16, #s>>, %b: !tilegpu.memdesc<tensor<32x64xf16, #t>>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
  %x = "tilegpu.local_load"(%a) : (!tilegpu.memdesc<tensor<64x32xf16, #s>>) -> tensor<64x32xf16, #x>
  %y = "tilegpu.local_load"(%b) : (!tilegpu.memdesc<tensor<32x64xf16, #t>>) -> tensor<32x64xf16, #y>
  %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16, #x>, tensor<32x64xf16, #y>, tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma>
  return %d : tensor<64x64xf32, #mma>
}

// A is computed in registers and stays there. B was in no buffer that a descriptor can name.
// CHECK-LABEL: func.func @registers
// CHECK: [[X:%.+]] = math.absf
// CHECK: [[Y:%.+]] = "tilegpu.local_load"
// CHECK: [[B:%.+]] = "tilegpu.local_alloc"([[Y]]) {{.*}}#tilegpu.nvmma_shared<{element_bits = 16 : i64, swizzle = 64 : i64, transposed = true}>
// CHECK: "tilegpu.warp_group_dot"([[X]], [[B]], %{{.+}})
func.func @registers(%a: tensor<64x32xf16, #x>, %b: !tilegpu.memdesc<tensor<32x64xf16, #rows>>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
  %x = math.absf %a : tensor<64x32xf16, #x>
  %y = "tilegpu.local_load"(%b) : (!tilegpu.memdesc<tensor<32x64xf16, #rows>>) -> tensor<32x64xf16, #y>
  %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16, #x>, tensor<32x64xf16, #y>, tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma>
  return %d : tensor<64x64xf32, #mma>
}

// A loop multiplies the same block again and again: A is read from its buffer, too.
// CHECK-LABEL: func.func @again
// CHECK: %[[A:.+]] = "tilegpu.local_alloc"(%{{.+}})
// CHECK-NOT: local_load
// CHECK: scf.for
// CHECK: "tilegpu.warp_group_dot"(%[[A]], %{{.+}}, %{{.+}})
func.func @again(%v: tensor<64x32xf16, #x>, %b: !tilegpu.memdesc<tensor<32x64xf16, #t>>, %c: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = "tilegpu.local_alloc"(%v) : (tensor<64x32xf16, #x>) -> !tilegpu.memdesc<tensor<64x32xf16, #s>>
  %x = "tilegpu.local_load"(%a) : (!tilegpu.memdesc<tensor<64x32xf16, #s>>) -> tensor<64x32xf16, #x>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c) -> (tensor<64x64xf32, #mma>) : i32 {
    %y = "tilegpu.local_load"(%b) : (!tilegpu.memdesc<tensor<32x64xf16, #t>>) -> tensor<32x64xf16, #y>
    %d = "tile.dot"(%x, %y, %s) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16, #x>, tensor<32x64xf16, #y>, tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma>
    %e = arith.negf %d : tensor<64x64xf32, #mma>
    scf.yield %e : tensor<64x64xf32, #mma>
  }
  return %r : tensor<64x64xf32, #mma>
}

// A buffer that the loop writes is not the block that was read before.
// CHECK-LABEL: func.func @written
// CHECK: %[[X:.+]] = "tilegpu.local_load"
// CHECK: scf.for
// CHECK: "tilegpu.warp_group_dot"(%[[X]], %{{.+}}, %{{.+}})
func.func @written(%v: tensor<64x32xf16, #x>, %b: !tilegpu.memdesc<tensor<32x64xf16, #t>>, %c: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = "tilegpu.local_alloc"(%v) : (tensor<64x32xf16, #x>) -> !tilegpu.memdesc<tensor<64x32xf16, #s>>
  %x = "tilegpu.local_load"(%a) : (!tilegpu.memdesc<tensor<64x32xf16, #s>>) -> tensor<64x32xf16, #x>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c) -> (tensor<64x64xf32, #mma>) : i32 {
    %y = "tilegpu.local_load"(%b) : (!tilegpu.memdesc<tensor<32x64xf16, #t>>) -> tensor<32x64xf16, #y>
    %d = "tile.dot"(%x, %y, %s) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16, #x>, tensor<32x64xf16, #y>, tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma>
    "tilegpu.local_store"(%v, %a) : (tensor<64x32xf16, #x>, !tilegpu.memdesc<tensor<64x32xf16, #s>>) -> ()
    %e = arith.negf %d : tensor<64x64xf32, #mma>
    scf.yield %e : tensor<64x64xf32, #mma>
  }
  return %r : tensor<64x64xf32, #mma>
}

// The buffer is written again before the product: what was read is kept.
// CHECK-LABEL: func.func @overwritten
// CHECK-SAME: %[[A:.+]]: !tilegpu.memdesc{{.*}}, %[[B:.+]]: !tilegpu.memdesc
// CHECK: [[Y:%.+]] = "tilegpu.local_load"(%[[B]])
// CHECK: "tilegpu.local_store"
// CHECK: [[K:%.+]] = "tilegpu.local_alloc"([[Y]])
// CHECK: "tilegpu.warp_group_dot"(%[[A]], [[K]]
func.func @overwritten(%a: !tilegpu.memdesc<tensor<64x32xf16, #s>>, %b: !tilegpu.memdesc<tensor<32x64xf16, #t>>, %n: tensor<32x64xf16, #y>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
  %y = "tilegpu.local_load"(%b) : (!tilegpu.memdesc<tensor<32x64xf16, #t>>) -> tensor<32x64xf16, #y>
  "tilegpu.local_store"(%n, %b) : (tensor<32x64xf16, #y>, !tilegpu.memdesc<tensor<32x64xf16, #t>>) -> ()
  %x = "tilegpu.local_load"(%a) : (!tilegpu.memdesc<tensor<64x32xf16, #s>>) -> tensor<64x32xf16, #x>
  %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16, #x>, tensor<32x64xf16, #y>, tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma>
  return %d : tensor<64x64xf32, #mma>
}

// Products by mma.sync are left alone.
// CHECK-LABEL: func.func @mma_sync
// CHECK: tile.dot
func.func @mma_sync(%x: tensor<64x32xf16, #xo>, %y: tensor<32x64xf16, #yo>, %c: tensor<64x64xf32, #old>) -> tensor<64x64xf32, #old> {
  %d = "tile.dot"(%x, %y, %c) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16, #xo>, tensor<32x64xf16, #yo>, tensor<64x64xf32, #old>) -> tensor<64x64xf32, #old>
  return %d : tensor<64x64xf32, #old>
}
}
