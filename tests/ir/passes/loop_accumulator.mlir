// RUN: tilec %s --passes=warp-group-dot | FileCheck %s
// Products stay in flight over the back edge where the loop's accumulator is theirs alone and the next
// iteration leaves their buffers alone.
#mma = #tilegpu.mma<{instr_shape = [16, 64, 16], version = 3 : i64, warps_per_cta = [4, 1]}>
#x = #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0 : i64, parent = #mma}>
#y = #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 1 : i64, parent = #mma}>
#s = #tilegpu.nvmma_shared<{element_bits = 16, swizzle = 128, transposed = false}>
!m = !tilegpu.memdesc<tensor<64x64xf16, #s>>
!x = tensor<64x64xf16, #x>
!y = tensor<64x64xf16, #y>
!c = tensor<64x64xf32, #mma>
!h = tensor<64x64xf16, #mma>
!p = tensor<64x64x!tile.ptr<f16>, #x>
module attributes {tilegpu.num_warps = 4 : i32, tilegpu.threads_per_warp = 32 : i32} {

// Buffers 0 (read), 1 (filled) and 2 (still read by the product before) are three.
// CHECK-LABEL: func.func @spare
// CHECK: [[L:%.+]]:2 = scf.for {{.*}}iter_args([[ACC:%[^ ]+]] =
// CHECK: [[D:%.+]] = "tilegpu.warp_group_dot"(%{{.+}}, %{{.+}}, [[ACC]]) {pending = 1 : i32}
// CHECK: scf.yield [[D]]
// CHECK: [[W:%.+]] = "tilegpu.warp_group_dot_wait"([[L]]#0) {pending = 0 : i32}
// CHECK: return [[W]]
func.func @spare(%p: !p, %zero: !c, %n: i32) -> !c {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = "tilegpu.local_alloc"() {copies = 3 : i32} : () -> !m
  %b = "tilegpu.local_alloc"() {copies = 3 : i32} : () -> !m
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %k = %c0) -> (!c, i32) : i32 {
    %ar = "tilegpu.local_index"(%a, %k) {phase = 0 : i32} : (!m, i32) -> !m
    %br = "tilegpu.local_index"(%b, %k) {phase = 0 : i32} : (!m, i32) -> !m
    %aw = "tilegpu.local_index"(%a, %k) {phase = 1 : i32} : (!m, i32) -> !m
    "tilegpu.async_copy"(%p, %aw) {cache = "", evict = ""} : (!p, !m) -> ()
    %x = "tilegpu.local_load"(%ar) : (!m) -> !x
    %y = "tilegpu.local_load"(%br) : (!m) -> !y
    %d = "tile.dot"(%x, %y, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (!x, !y, !c) -> !c
    scf.yield %d, %k : !c, i32
  }
  return %r#0 : !c
}

// The next iteration fills the buffer that this one reads.
// CHECK-LABEL: func.func @no_spare
// CHECK: "tilegpu.warp_group_dot"(%{{[^)]*}}) {pending = 0 : i32}
// CHECK-NOT: warp_group_dot_wait
// CHECK: return
func.func @no_spare(%p: !p, %zero: !c, %n: i32) -> !c {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = "tilegpu.local_alloc"() {copies = 3 : i32} : () -> !m
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %k = %c0) -> (!c, i32) : i32 {
    %ar = "tilegpu.local_index"(%a, %k) {phase = 0 : i32} : (!m, i32) -> !m
    %aw = "tilegpu.local_index"(%a, %k) {phase = 2 : i32} : (!m, i32) -> !m
    "tilegpu.async_copy"(%p, %aw) {cache = "", evict = ""} : (!p, !m) -> ()
    %x = "tilegpu.local_load"(%ar) : (!m) -> !x
    %y = "tilegpu.local_load"(%ar) : (!m) -> !y
    %d = "tile.dot"(%x, %y, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (!x, !y, !c) -> !c
    scf.yield %d, %k : !c, i32
  }
  return %r#0 : !c
}

// The loop scales the sum before it is carried.
// CHECK-LABEL: func.func @read_in_the_loop
// CHECK: "tilegpu.warp_group_dot"(%{{[^)]*}}) {pending = 0 : i32}
// CHECK-NOT: warp_group_dot_wait
// CHECK: return
func.func @read_in_the_loop(%zero: !c, %n: i32) -> !c {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = "tilegpu.local_alloc"() {copies = 3 : i32} : () -> !m
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %k = %c0) -> (!c, i32) : i32 {
    %ar = "tilegpu.local_index"(%a, %k) {phase = 0 : i32} : (!m, i32) -> !m
    %x = "tilegpu.local_load"(%ar) : (!m) -> !x
    %y = "tilegpu.local_load"(%ar) : (!m) -> !y
    %d = "tile.dot"(%x, %y, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (!x, !y, !c) -> !c
    %e = arith.addf %d, %d : !c
    scf.yield %e, %k : !c, i32
  }
  return %r#0 : !c
}

// Two accumulators that the loop exchanges: neither is only added to.
// CHECK-LABEL: func.func @exchanged
// CHECK-COUNT-2: "tilegpu.warp_group_dot"(%{{[^)]*}}) {pending = 0 : i32}
// CHECK-NOT: warp_group_dot_wait
// CHECK: return
func.func @exchanged(%zero: !c, %n: i32) -> !c {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = "tilegpu.local_alloc"() {copies = 3 : i32} : () -> !m
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %zero, %v = %zero) -> (!c, !c) : i32 {
    %ar = "tilegpu.local_index"(%a, %i) {phase = 0 : i32} : (!m, i32) -> !m
    %x = "tilegpu.local_load"(%ar) : (!m) -> !x
    %y = "tilegpu.local_load"(%ar) : (!m) -> !y
    %d = "tile.dot"(%x, %y, %u) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (!x, !y, !c) -> !c
    %e = "tile.dot"(%x, %y, %v) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (!x, !y, !c) -> !c
    scf.yield %e, %d : !c, !c
  }
  return %r#0 : !c
}

// Two products in flight: each waits for its own of the iteration before.
// CHECK-LABEL: func.func @two
// CHECK-COUNT-2: "tilegpu.warp_group_dot"(%{{[^)]*}}) {pending = 2 : i32}
// CHECK-COUNT-2: "tilegpu.warp_group_dot_wait"(%{{[^)]*}}) {pending = 0 : i32}
// CHECK: return
func.func @two(%zero: !c, %n: i32) -> (!c, !c) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = "tilegpu.local_alloc"() {copies = 3 : i32} : () -> !m
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %zero, %v = %zero) -> (!c, !c) : i32 {
    %ar = "tilegpu.local_index"(%a, %i) {phase = 0 : i32} : (!m, i32) -> !m
    %x = "tilegpu.local_load"(%ar) : (!m) -> !x
    %y = "tilegpu.local_load"(%ar) : (!m) -> !y
    %d = "tile.dot"(%x, %y, %u) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (!x, !y, !c) -> !c
    %e = "tile.dot"(%x, %y, %v) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (!x, !y, !c) -> !c
    scf.yield %d, %e : !c, !c
  }
  return %r#0, %r#1 : !c, !c
}

// Sums of f16 share registers: products of them are complete before the back edge.
// CHECK-LABEL: func.func @half_precision
// CHECK: "tilegpu.warp_group_dot"(%{{[^)]*}}) {pending = 0 : i32}
// CHECK: return
func.func @half_precision(%zero: !h, %n: i32) -> !h {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = "tilegpu.local_alloc"() {copies = 3 : i32} : () -> !m
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!h) : i32 {
    %ar = "tilegpu.local_index"(%a, %i) {phase = 0 : i32} : (!m, i32) -> !m
    %x = "tilegpu.local_load"(%ar) : (!m) -> !x
    %y = "tilegpu.local_load"(%ar) : (!m) -> !y
    %d = "tile.dot"(%x, %y, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (!x, !y, !h) -> !h
    scf.yield %d : !h
  }
  return %r : !h
}
}
