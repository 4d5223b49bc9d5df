// RUN: tilec %s --passes=overlap-products --target sm_90a --num-warps 8 | FileCheck %s
// RUN: tilec %s --passes=overlap-products --target sm_90a --num-warps 4 | FileCheck %s --check-prefix=ONE
// overlap-products: the second of two products that feed each other runs beside the computation between them, one iteration later.
// With one warpgroup nothing changes.
#s = #tilegpu.mma<{instr_shape = [16, 64, 16], version = 3 : i64, warps_per_cta = [8, 1]}>
#p = #tilegpu.dot_op<{k_width = 2 : i64, op_idx = 0 : i64, parent = #s}>
#n = #tilegpu.nvmma_shared<{element_bits = 16, swizzle = 128, transposed = false}>
#t = #tilegpu.nvmma_shared<{element_bits = 16, swizzle = 128, transposed = true}>
#rows = #tilegpu.slice<{dim = 1 : i64, parent = #s}>
!q = !tilegpu.memdesc<tensor<128x64xf16, #n>>
!k = !tilegpu.memdesc<tensor<64x64xf16, #n>>
!kt = !tilegpu.memdesc<tensor<64x64xf16, #t>>
!bars = !tilegpu.memdesc<tensor<4xi64, #tilegpu.shared<{max_phase = 1 : i64, order = [0], per_phase = 1 : i64, vec = 1 : i64}>>>
!acc = tensor<128x64xf32, #s>
module attributes {tile.maps = [{base = 0 : i32, box = array<i32: 64, 64>, dtype = "f16", offset = "0", pads_nan = false, sizes = ["64", "64"], strides = ["64"], swizzle = 128 : i32}], tilegpu.producer_warps = 4 : i32, tilegpu.entry_registers = 168 : i32, tilegpu.num_warps = 8 : i32, tilegpu.threads_per_warp = 32 : i32} {

// ONE-NOT: pending = 1
// CHECK-LABEL: func.func @attention
// CHECK: "tilegpu.set_registers"() {count = 232
// CHECK-NEXT: "tilegpu.ping_pong"() {step = 0
// CHECK: %[[ANY:.+]] = arith.cmpi slt, %arg1, %arg2
// CHECK: scf.if %[[ANY]]
// The first iteration up to the second product.
// CHECK: ring_full"(%arg3)
// CHECK: "tilegpu.warp_group_dot"(%arg0, %{{.+}}, %{{.+}}) {pending = 0
// CHECK: "tilegpu.ring_release"(%arg3)
// CHECK: math.exp2
// CHECK: arith.truncf
// CHECK-NOT: warp_group_dot
// CHECK: %[[FROM:.+]] = arith.addi %arg1, %c1
// CHECK: scf.for %{{.+}} = %[[FROM]] to %arg2
// CHECK-NEXT: "tilegpu.ping_pong"() {step = 1
// CHECK-NEXT: ring_full"(%arg3)
// CHECK: %[[S:.+]] = "tilegpu.warp_group_dot"(%arg0, %{{.+}}, %{{.+}}) {pending = 1
// CHECK: ring_full"(%arg4)
// CHECK: %[[R:.+]] = "tilegpu.warp_group_dot"(%{{.+}}, %{{.+}}, %{{.+}}) {pending = 2
// CHECK-NEXT: "tilegpu.ping_pong"() {step = 2
// CHECK: %[[READY:.+]] = "tilegpu.warp_group_dot_wait"(%[[S]]) {pending = 1
// CHECK-NEXT: "tilegpu.ring_release"(%arg3)
// CHECK-NEXT: math.exp2 %[[READY]]
// CHECK: %[[SUM:.+]] = arith.addf
// CHECK-NEXT: %[[OLD:.+]] = "tilegpu.warp_group_dot_wait"(%[[R]], %[[SUM]]) {pending = 0
// CHECK-NEXT: "tilegpu.ring_release"(%arg4)
// CHECK-NEXT: arith.mulf %[[OLD]]
// CHECK-NEXT: arith.truncf
// CHECK: scf.yield
// CHECK: ring_full"(%arg4)
// CHECK: "tilegpu.warp_group_dot"({{.*}}pending = 0
// CHECK: "tilegpu.ring_release"(%arg4)
// CHECK: else
func.func @attention(%q: !q, %a: i32, %n: i32, %c: !bars, %d: !bars) -> !acc {
  %kb = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !k
  %vb = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !k
  "tilegpu.ring_init"(%c) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
  "tilegpu.ring_init"(%d) {ring = 1 : i32, slots = 2 : i32} : (!bars) -> ()
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !acc
  %total = arith.constant dense<0.0> : tensor<128xf32, #rows>
  %producer = "tilegpu.is_producer"() {leader = false} : () -> i1
  %out = scf.if %producer -> (!acc) {
    "tilegpu.set_registers"() {count = 40 : i32, grows = false} : () -> ()
    %first = "tilegpu.is_producer"() {leader = true} : () -> i1
    scf.if %first {
      scf.for %i = %a to %n step %c1 : i32 {
        %e = "tilegpu.ring_empty"(%c) {bytes = 8192 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
        %ke = "tilegpu.local_index"(%kb, %e) : (!k, i32) -> !k
        "tilegpu.map_copy"(%ke, %c, %e, %i, %i) {map = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!k, !bars, i32, i32, i32) -> ()
        %w = "tilegpu.ring_empty"(%d) {bytes = 8192 : i32, ring = 1 : i32, slots = 2 : i32} : (!bars) -> i32
        %ve = "tilegpu.local_index"(%vb, %w) : (!k, i32) -> !k
        "tilegpu.map_copy"(%ve, %d, %w, %i, %i) {map = 0 : i32, ring = 1 : i32, slots = 2 : i32} : (!k, !bars, i32, i32, i32) -> ()
      }
    }
    scf.yield %zero : !acc
  } else {
    "tilegpu.set_registers"() {count = 232 : i32, grows = true} : () -> ()
    %r:2 = scf.for %i = %a to %n step %c1 iter_args(%acc = %zero, %l = %total) -> (!acc, tensor<128xf32, #rows>) : i32 {
      %f = "tilegpu.ring_full"(%c) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
      %k = "tilegpu.local_index"(%kb, %f) : (!k, i32) -> !k
      %kt = "tilegpu.local_trans"(%k) {order = array<i32: 1, 0>} : (!k) -> !kt
      %s = "tilegpu.warp_group_dot"(%q, %kt, %zero) {pending = 0 : i32} : (!q, !kt, !acc) -> !acc
      %x = math.exp2 %s : !acc
      %sum = "tile.reduce"(%x) {axis = 1 : i32, combine = @add, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (!acc) -> tensor<128xf32, #rows>
      %next = arith.addf %l, %sum : tensor<128xf32, #rows>
      %scaled = arith.mulf %acc, %x : !acc
      %h = arith.truncf %x : !acc to tensor<128x64xf16, #s>
      %p = "tilegpu.convert_layout"(%h) : (tensor<128x64xf16, #s>) -> tensor<128x64xf16, #p>
      %g = "tilegpu.ring_full"(%d) {ring = 1 : i32, slots = 2 : i32} : (!bars) -> i32
      %v = "tilegpu.local_index"(%vb, %g) : (!k, i32) -> !k
      %o = "tilegpu.warp_group_dot"(%p, %v, %scaled) {pending = 0 : i32} : (tensor<128x64xf16, #p>, !k, !acc) -> !acc
      "tilegpu.ring_release"(%c) {keep = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
      "tilegpu.ring_release"(%d) {keep = 0 : i32, ring = 1 : i32, slots = 2 : i32} : (!bars) -> ()
      scf.yield %o, %next : !acc, tensor<128xf32, #rows>
    }
    scf.yield %r#0 : !acc
  }
  "tilegpu.ring_end"(%c) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
  "tilegpu.ring_end"(%d) {ring = 1 : i32, slots = 2 : i32} : (!bars) -> ()
  "tilegpu.ring_end"(%kb) {ring = 0 : i32, slots = 2 : i32} : (!k) -> ()
  "tilegpu.ring_end"(%vb) {ring = 1 : i32, slots = 2 : i32} : (!k) -> ()
  return %out : !acc
}

// The scores of an iteration need the sum of the one before: nothing can run beside them.
// CHECK-LABEL: func.func @dependent
// CHECK-NOT: pending = 1
// CHECK: return
func.func @dependent(%q: !q, %a: i32, %n: i32, %c: !bars, %d: !bars) -> !acc {
  %kb = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !k
  %vb = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !k
  "tilegpu.ring_init"(%c) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
  "tilegpu.ring_init"(%d) {ring = 1 : i32, slots = 2 : i32} : (!bars) -> ()
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !acc
  %producer = "tilegpu.is_producer"() {leader = false} : () -> i1
  %out = scf.if %producer -> (!acc) {
    %first = "tilegpu.is_producer"() {leader = true} : () -> i1
    scf.if %first {
      scf.for %i = %a to %n step %c1 : i32 {
        %e = "tilegpu.ring_empty"(%c) {bytes = 8192 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
        %ke = "tilegpu.local_index"(%kb, %e) : (!k, i32) -> !k
        "tilegpu.map_copy"(%ke, %c, %e, %i, %i) {map = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!k, !bars, i32, i32, i32) -> ()
        %w = "tilegpu.ring_empty"(%d) {bytes = 8192 : i32, ring = 1 : i32, slots = 2 : i32} : (!bars) -> i32
        %ve = "tilegpu.local_index"(%vb, %w) : (!k, i32) -> !k
        "tilegpu.map_copy"(%ve, %d, %w, %i, %i) {map = 0 : i32, ring = 1 : i32, slots = 2 : i32} : (!k, !bars, i32, i32, i32) -> ()
      }
    }
    scf.yield %zero : !acc
  } else {
    %r = scf.for %i = %a to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
      %f = "tilegpu.ring_full"(%c) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
      %k = "tilegpu.local_index"(%kb, %f) : (!k, i32) -> !k
      %kt = "tilegpu.local_trans"(%k) {order = array<i32: 1, 0>} : (!k) -> !kt
      %s = "tilegpu.warp_group_dot"(%q, %kt, %zero) {pending = 0 : i32} : (!q, !kt, !acc) -> !acc
      %x = arith.mulf %s, %acc : !acc
      %h = arith.truncf %x : !acc to tensor<128x64xf16, #s>
      %p = "tilegpu.convert_layout"(%h) : (tensor<128x64xf16, #s>) -> tensor<128x64xf16, #p>
      %g = "tilegpu.ring_full"(%d) {ring = 1 : i32, slots = 2 : i32} : (!bars) -> i32
      %v = "tilegpu.local_index"(%vb, %g) : (!k, i32) -> !k
      %o = "tilegpu.warp_group_dot"(%p, %v, %acc) {pending = 0 : i32} : (tensor<128x64xf16, #p>, !k, !acc) -> !acc
      "tilegpu.ring_release"(%c) {keep = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
      "tilegpu.ring_release"(%d) {keep = 0 : i32, ring = 1 : i32, slots = 2 : i32} : (!bars) -> ()
      scf.yield %o : !acc
    }
    scf.yield %r : !acc
  }
  "tilegpu.ring_end"(%c) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
  "tilegpu.ring_end"(%d) {ring = 1 : i32, slots = 2 : i32} : (!bars) -> ()
  "tilegpu.ring_end"(%kb) {ring = 0 : i32, slots = 2 : i32} : (!k) -> ()
  "tilegpu.ring_end"(%vb) {ring = 1 : i32, slots = 2 : i32} : (!k) -> ()
  return %out : !acc
}

// The loop writes memory while the product would be in flight.
// CHECK-LABEL: func.func @stores
// CHECK-NOT: pending = 1
// CHECK: return
func.func @stores(%q: !q, %a: i32, %n: i32, %c: !bars, %d: !bars, %to: tensor<128x64x!tile.ptr<f32>, #s>) -> !acc {
  %kb = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !k
  %vb = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !k
  "tilegpu.ring_init"(%c) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
  "tilegpu.ring_init"(%d) {ring = 1 : i32, slots = 2 : i32} : (!bars) -> ()
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !acc
  %producer = "tilegpu.is_producer"() {leader = false} : () -> i1
  %out = scf.if %producer -> (!acc) {
    %first = "tilegpu.is_producer"() {leader = true} : () -> i1
    scf.if %first {
      scf.for %i = %a to %n step %c1 : i32 {
        %e = "tilegpu.ring_empty"(%c) {bytes = 8192 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
        %ke = "tilegpu.local_index"(%kb, %e) : (!k, i32) -> !k
        "tilegpu.map_copy"(%ke, %c, %e, %i, %i) {map = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!k, !bars, i32, i32, i32) -> ()
        %w = "tilegpu.ring_empty"(%d) {bytes = 8192 : i32, ring = 1 : i32, slots = 2 : i32} : (!bars) -> i32
        %ve = "tilegpu.local_index"(%vb, %w) : (!k, i32) -> !k
        "tilegpu.map_copy"(%ve, %d, %w, %i, %i) {map = 0 : i32, ring = 1 : i32, slots = 2 : i32} : (!k, !bars, i32, i32, i32) -> ()
      }
    }
    scf.yield %zero : !acc
  } else {
    %r = scf.for %i = %a to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
      %f = "tilegpu.ring_full"(%c) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
      %k = "tilegpu.local_index"(%kb, %f) : (!k, i32) -> !k
      %kt = "tilegpu.local_trans"(%k) {order = array<i32: 1, 0>} : (!k) -> !kt
      %s = "tilegpu.warp_group_dot"(%q, %kt, %zero) {pending = 0 : i32} : (!q, !kt, !acc) -> !acc
      "tile.store"(%to, %s) {cache = "", evict = ""} : (tensor<128x64x!tile.ptr<f32>, #s>, !acc) -> ()
      %h = arith.truncf %s : !acc to tensor<128x64xf16, #s>
      %p = "tilegpu.convert_layout"(%h) : (tensor<128x64xf16, #s>) -> tensor<128x64xf16, #p>
      %g = "tilegpu.ring_full"(%d) {ring = 1 : i32, slots = 2 : i32} : (!bars) -> i32
      %v = "tilegpu.local_index"(%vb, %g) : (!k, i32) -> !k
      %o = "tilegpu.warp_group_dot"(%p, %v, %acc) {pending = 0 : i32} : (tensor<128x64xf16, #p>, !k, !acc) -> !acc
      "tilegpu.ring_release"(%c) {keep = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
      "tilegpu.ring_release"(%d) {keep = 0 : i32, ring = 1 : i32, slots = 2 : i32} : (!bars) -> ()
      scf.yield %o : !acc
    }
    scf.yield %r : !acc
  }
  "tilegpu.ring_end"(%c) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
  "tilegpu.ring_end"(%d) {ring = 1 : i32, slots = 2 : i32} : (!bars) -> ()
  "tilegpu.ring_end"(%kb) {ring = 0 : i32, slots = 2 : i32} : (!k) -> ()
  "tilegpu.ring_end"(%vb) {ring = 1 : i32, slots = 2 : i32} : (!k) -> ()
  return %out : !acc
}

func.func private @add(%x: f32, %y: f32) -> f32 {
  %s = arith.addf %x, %y : f32
  return %s : f32
}
}
