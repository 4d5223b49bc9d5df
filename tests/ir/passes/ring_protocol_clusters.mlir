// RUN: not tilec %s --passes=dce --target sm_90a --num-warps 8 --verify-each --diagnostics=text 2>&1 | FileCheck %s
// Rules of rings that CTAs of a cluster share (lowering/analysis/ring_protocol.h). The first kernel is right; each of the
// others breaks one rule.
#mma = #tilegpu.mma<{instr_shape = [16, 64, 16], version = 3 : i64, warps_per_cta = [8, 1]}>
#n = #tilegpu.nvmma_shared<{element_bits = 16 : i64, swizzle = 128 : i64, transposed = false}>
!acc = tensor<128x64xf32, #mma>
!out = tensor<128x64xf16, #mma>
!a = !tilegpu.memdesc<tensor<128x64xf16, #n>>
!b = !tilegpu.memdesc<tensor<64x64xf16, #n>>
!bars = !tilegpu.memdesc<tensor<4xi64, #tilegpu.shared<{max_phase = 1 : i64, order = [0], per_phase = 1 : i64, vec = 1 : i64}>>>
module attributes {tile.maps = [
    {base = 0 : i32, box = array<i32: 128, 64>, dtype = "f16", offset = "0", pads_nan = false, sizes = ["p0", "p1"], strides = ["p1"], swizzle = 128 : i32},
    {base = 0 : i32, box = array<i32: 64, 64>, dtype = "f16", offset = "0", pads_nan = false, sizes = ["p0", "p1"], strides = ["p1"], swizzle = 128 : i32},
    {base = 0 : i32, box = array<i32: 32, 64>, dtype = "f16", offset = "0", pads_nan = false, sizes = ["p0", "p1"], strides = ["p1"], swizzle = 128 : i32}],
    tilegpu.entry_registers = 168 : i32, tilegpu.num_warps = 8 : i32, tilegpu.producer_warps = 4 : i32, tilegpu.threads_per_warp = 32 : i32} {
// CHECK-NOT: E0602
func.func @right(%n: i32, %m: i32, %in: i1) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !acc
  %a = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !a
  %b = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !b
  %o = "tilegpu.local_alloc"() : () -> !a
  %bars = "tilegpu.local_alloc"() : () -> !bars
  "tilegpu.ring_init"(%bars, %in) {ctas = 2 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars, i1) -> ()
  "tilegpu.cluster_barrier"() : () -> ()
  %p = "tilegpu.is_producer"() {leader = false} : () -> i1
  scf.if %p {
    "tilegpu.set_registers"() {count = 40 : i32, grows = false} : () -> ()
    %leader = "tilegpu.is_producer"() {leader = true} : () -> i1
    scf.if %leader {
      scf.for %i = %c0 to %n step %c1 : i32 {
        %s = "tilegpu.ring_empty"(%bars) {bytes = 24576 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
        %x = "tilegpu.local_index"(%a, %s) : (!a, i32) -> !a
        "tilegpu.map_copy"(%x, %bars, %s, %c0, %i) {map = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!a, !bars, i32, i32, i32) -> ()
        %y = "tilegpu.local_index"(%b, %s) : (!b, i32) -> !b
        "tilegpu.map_copy"(%y, %bars, %s, %i, %c0) {ctas = 2 : i32, map = 2 : i32, ring = 0 : i32, slots = 2 : i32} : (!b, !bars, i32, i32, i32) -> ()
      }
    }
  } else {
    "tilegpu.set_registers"() {count = 232 : i32, grows = true} : () -> ()
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%v = %zero) -> (!acc) : i32 {
      %s = "tilegpu.ring_full"(%bars) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
      %x = "tilegpu.local_index"(%a, %s) : (!a, i32) -> !a
      %y = "tilegpu.local_index"(%b, %s) : (!b, i32) -> !b
      %d = "tilegpu.warp_group_dot"(%x, %y, %v) {pending = 1 : i32} : (!a, !b, !acc) -> !acc
      "tilegpu.ring_release"(%bars) {keep = 1 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
      scf.yield %d : !acc
    }
    %r = "tilegpu.warp_group_dot_wait"(%sum) {pending = 0 : i32} : (!acc) -> !acc
    "tilegpu.ring_release"(%bars) {keep = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
    %h = arith.truncf %r : !acc to !out
    scf.for %j = %c0 to %m step %c1 : i32 {
      "tilegpu.map_wait"() : () -> ()
      "tilegpu.barrier"() : () -> ()
      "tilegpu.local_store"(%h, %o) : (!out, !a) -> ()
      "tilegpu.barrier"() : () -> ()
      "tilegpu.map_store"(%o, %j, %c0) {map = 0 : i32} : (!a, i32, i32) -> ()
    }
    "tilegpu.map_wait"() : () -> ()
    "tilegpu.ring_end"(%o) : (!a) -> ()
    "tilegpu.ring_end"(%a) : (!a) -> ()
    "tilegpu.ring_end"(%b) : (!b) -> ()
    "tilegpu.ring_end"(%bars) : (!bars) -> ()
  }
  "tilegpu.cluster_barrier"() : () -> ()
  return
}

func.func @not_ready(%n: i32, %m: i32, %in: i1) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !acc
  %a = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !a
  %b = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !b
  %o = "tilegpu.local_alloc"() : () -> !a
  %bars = "tilegpu.local_alloc"() : () -> !bars
// CHECK: ring_protocol_clusters.mlir:[[@LINE+1]]:{{.*}}others may use its mbarriers before they are ready{{.*}}E0602
  "tilegpu.ring_init"(%bars, %in) {ctas = 2 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars, i1) -> ()
  %p = "tilegpu.is_producer"() {leader = false} : () -> i1
  scf.if %p {
    "tilegpu.set_registers"() {count = 40 : i32, grows = false} : () -> ()
    %leader = "tilegpu.is_producer"() {leader = true} : () -> i1
    scf.if %leader {
      scf.for %i = %c0 to %n step %c1 : i32 {
        %s = "tilegpu.ring_empty"(%bars) {bytes = 24576 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
        %x = "tilegpu.local_index"(%a, %s) : (!a, i32) -> !a
        "tilegpu.map_copy"(%x, %bars, %s, %c0, %i) {map = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!a, !bars, i32, i32, i32) -> ()
        %y = "tilegpu.local_index"(%b, %s) : (!b, i32) -> !b
        "tilegpu.map_copy"(%y, %bars, %s, %i, %c0) {ctas = 2 : i32, map = 2 : i32, ring = 0 : i32, slots = 2 : i32} : (!b, !bars, i32, i32, i32) -> ()
      }
    }
  } else {
    "tilegpu.set_registers"() {count = 232 : i32, grows = true} : () -> ()
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%v = %zero) -> (!acc) : i32 {
      %s = "tilegpu.ring_full"(%bars) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
      %x = "tilegpu.local_index"(%a, %s) : (!a, i32) -> !a
      %y = "tilegpu.local_index"(%b, %s) : (!b, i32) -> !b
      %d = "tilegpu.warp_group_dot"(%x, %y, %v) {pending = 1 : i32} : (!a, !b, !acc) -> !acc
      "tilegpu.ring_release"(%bars) {keep = 1 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
      scf.yield %d : !acc
    }
    %r = "tilegpu.warp_group_dot_wait"(%sum) {pending = 0 : i32} : (!acc) -> !acc
    "tilegpu.ring_release"(%bars) {keep = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
    %h = arith.truncf %r : !acc to !out
    scf.for %j = %c0 to %m step %c1 : i32 {
      "tilegpu.map_wait"() : () -> ()
      "tilegpu.barrier"() : () -> ()
      "tilegpu.local_store"(%h, %o) : (!out, !a) -> ()
      "tilegpu.barrier"() : () -> ()
      "tilegpu.map_store"(%o, %j, %c0) {map = 0 : i32} : (!a, i32, i32) -> ()
    }
    "tilegpu.map_wait"() : () -> ()
    "tilegpu.ring_end"(%o) : (!a) -> ()
    "tilegpu.ring_end"(%a) : (!a) -> ()
    "tilegpu.ring_end"(%b) : (!b) -> ()
    "tilegpu.ring_end"(%bars) : (!bars) -> ()
  }
  "tilegpu.cluster_barrier"() : () -> ()
  return
}

func.func @ends_early(%n: i32, %m: i32, %in: i1) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !acc
  %a = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !a
  %b = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !b
  %o = "tilegpu.local_alloc"() : () -> !a
  %bars = "tilegpu.local_alloc"() : () -> !bars
  "tilegpu.ring_init"(%bars, %in) {ctas = 2 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars, i1) -> ()
  "tilegpu.cluster_barrier"() : () -> ()
  %p = "tilegpu.is_producer"() {leader = false} : () -> i1
// CHECK: ring_protocol_clusters.mlir:[[@LINE+1]]:{{.*}}others may still write to the CTA's memory{{.*}}E0602
  scf.if %p {
    "tilegpu.set_registers"() {count = 40 : i32, grows = false} : () -> ()
    %leader = "tilegpu.is_producer"() {leader = true} : () -> i1
    scf.if %leader {
      scf.for %i = %c0 to %n step %c1 : i32 {
        %s = "tilegpu.ring_empty"(%bars) {bytes = 24576 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
        %x = "tilegpu.local_index"(%a, %s) : (!a, i32) -> !a
        "tilegpu.map_copy"(%x, %bars, %s, %c0, %i) {map = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!a, !bars, i32, i32, i32) -> ()
        %y = "tilegpu.local_index"(%b, %s) : (!b, i32) -> !b
        "tilegpu.map_copy"(%y, %bars, %s, %i, %c0) {ctas = 2 : i32, map = 2 : i32, ring = 0 : i32, slots = 2 : i32} : (!b, !bars, i32, i32, i32) -> ()
      }
    }
  } else {
    "tilegpu.set_registers"() {count = 232 : i32, grows = true} : () -> ()
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%v = %zero) -> (!acc) : i32 {
      %s = "tilegpu.ring_full"(%bars) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
      %x = "tilegpu.local_index"(%a, %s) : (!a, i32) -> !a
      %y = "tilegpu.local_index"(%b, %s) : (!b, i32) -> !b
      %d = "tilegpu.warp_group_dot"(%x, %y, %v) {pending = 1 : i32} : (!a, !b, !acc) -> !acc
      "tilegpu.ring_release"(%bars) {keep = 1 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
      scf.yield %d : !acc
    }
    %r = "tilegpu.warp_group_dot_wait"(%sum) {pending = 0 : i32} : (!acc) -> !acc
    "tilegpu.ring_release"(%bars) {keep = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
    %h = arith.truncf %r : !acc to !out
    scf.for %j = %c0 to %m step %c1 : i32 {
      "tilegpu.map_wait"() : () -> ()
      "tilegpu.barrier"() : () -> ()
      "tilegpu.local_store"(%h, %o) : (!out, !a) -> ()
      "tilegpu.barrier"() : () -> ()
      "tilegpu.map_store"(%o, %j, %c0) {map = 0 : i32} : (!a, i32, i32) -> ()
    }
    "tilegpu.map_wait"() : () -> ()
    "tilegpu.ring_end"(%o) : (!a) -> ()
    "tilegpu.ring_end"(%a) : (!a) -> ()
    "tilegpu.ring_end"(%b) : (!b) -> ()
    "tilegpu.ring_end"(%bars) : (!bars) -> ()
  }
  return
}

func.func @whole_blocks(%n: i32, %m: i32, %in: i1) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !acc
  %a = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !a
  %b = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !b
  %o = "tilegpu.local_alloc"() : () -> !a
  %bars = "tilegpu.local_alloc"() : () -> !bars
  "tilegpu.ring_init"(%bars, %in) {ctas = 2 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars, i1) -> ()
  "tilegpu.cluster_barrier"() : () -> ()
  %p = "tilegpu.is_producer"() {leader = false} : () -> i1
  scf.if %p {
    "tilegpu.set_registers"() {count = 40 : i32, grows = false} : () -> ()
    %leader = "tilegpu.is_producer"() {leader = true} : () -> i1
    scf.if %leader {
      scf.for %i = %c0 to %n step %c1 : i32 {
        %s = "tilegpu.ring_empty"(%bars) {bytes = 24576 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
        %x = "tilegpu.local_index"(%a, %s) : (!a, i32) -> !a
        "tilegpu.map_copy"(%x, %bars, %s, %c0, %i) {map = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!a, !bars, i32, i32, i32) -> ()
        %y = "tilegpu.local_index"(%b, %s) : (!b, i32) -> !b
// CHECK: ring_protocol_clusters.mlir:[[@LINE+1]]:{{.*}}boxes or swizzle are not those of the buffer{{.*}}E0602
        "tilegpu.map_copy"(%y, %bars, %s, %i, %c0) {ctas = 2 : i32, map = 1 : i32, ring = 0 : i32, slots = 2 : i32} : (!b, !bars, i32, i32, i32) -> ()
      }
    }
  } else {
    "tilegpu.set_registers"() {count = 232 : i32, grows = true} : () -> ()
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%v = %zero) -> (!acc) : i32 {
      %s = "tilegpu.ring_full"(%bars) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
      %x = "tilegpu.local_index"(%a, %s) : (!a, i32) -> !a
      %y = "tilegpu.local_index"(%b, %s) : (!b, i32) -> !b
      %d = "tilegpu.warp_group_dot"(%x, %y, %v) {pending = 1 : i32} : (!a, !b, !acc) -> !acc
      "tilegpu.ring_release"(%bars) {keep = 1 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
      scf.yield %d : !acc
    }
    %r = "tilegpu.warp_group_dot_wait"(%sum) {pending = 0 : i32} : (!acc) -> !acc
    "tilegpu.ring_release"(%bars) {keep = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
    %h = arith.truncf %r : !acc to !out
    scf.for %j = %c0 to %m step %c1 : i32 {
      "tilegpu.map_wait"() : () -> ()
      "tilegpu.barrier"() : () -> ()
      "tilegpu.local_store"(%h, %o) : (!out, !a) -> ()
      "tilegpu.barrier"() : () -> ()
      "tilegpu.map_store"(%o, %j, %c0) {map = 0 : i32} : (!a, i32, i32) -> ()
    }
    "tilegpu.map_wait"() : () -> ()
    "tilegpu.ring_end"(%o) : (!a) -> ()
    "tilegpu.ring_end"(%a) : (!a) -> ()
    "tilegpu.ring_end"(%b) : (!b) -> ()
    "tilegpu.ring_end"(%bars) : (!bars) -> ()
  }
  "tilegpu.cluster_barrier"() : () -> ()
  return
}

func.func @by_the_producer(%n: i32, %m: i32, %in: i1) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !acc
  %a = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !a
  %b = "tilegpu.local_alloc"() {copies = 2 : i32} : () -> !b
  %o = "tilegpu.local_alloc"() : () -> !a
  %bars = "tilegpu.local_alloc"() : () -> !bars
  "tilegpu.ring_init"(%bars, %in) {ctas = 2 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars, i1) -> ()
  "tilegpu.cluster_barrier"() : () -> ()
  %p = "tilegpu.is_producer"() {leader = false} : () -> i1
  scf.if %p {
    "tilegpu.set_registers"() {count = 40 : i32, grows = false} : () -> ()
    %leader = "tilegpu.is_producer"() {leader = true} : () -> i1
// CHECK: ring_protocol_clusters.mlir:[[@LINE+1]]:{{.*}}is not executed once by all threads{{.*}}E0602
    "tilegpu.cluster_barrier"() : () -> ()
    scf.if %leader {
      scf.for %i = %c0 to %n step %c1 : i32 {
        %s = "tilegpu.ring_empty"(%bars) {bytes = 24576 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
        %x = "tilegpu.local_index"(%a, %s) : (!a, i32) -> !a
        "tilegpu.map_copy"(%x, %bars, %s, %c0, %i) {map = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!a, !bars, i32, i32, i32) -> ()
        %y = "tilegpu.local_index"(%b, %s) : (!b, i32) -> !b
        "tilegpu.map_copy"(%y, %bars, %s, %i, %c0) {ctas = 2 : i32, map = 2 : i32, ring = 0 : i32, slots = 2 : i32} : (!b, !bars, i32, i32, i32) -> ()
      }
    }
  } else {
    "tilegpu.set_registers"() {count = 232 : i32, grows = true} : () -> ()
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%v = %zero) -> (!acc) : i32 {
      %s = "tilegpu.ring_full"(%bars) {ring = 0 : i32, slots = 2 : i32} : (!bars) -> i32
      %x = "tilegpu.local_index"(%a, %s) : (!a, i32) -> !a
      %y = "tilegpu.local_index"(%b, %s) : (!b, i32) -> !b
      %d = "tilegpu.warp_group_dot"(%x, %y, %v) {pending = 1 : i32} : (!a, !b, !acc) -> !acc
      "tilegpu.ring_release"(%bars) {keep = 1 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
      scf.yield %d : !acc
    }
    %r = "tilegpu.warp_group_dot_wait"(%sum) {pending = 0 : i32} : (!acc) -> !acc
    "tilegpu.ring_release"(%bars) {keep = 0 : i32, ring = 0 : i32, slots = 2 : i32} : (!bars) -> ()
    %h = arith.truncf %r : !acc to !out
    scf.for %j = %c0 to %m step %c1 : i32 {
      "tilegpu.map_wait"() : () -> ()
      "tilegpu.barrier"() : () -> ()
      "tilegpu.local_store"(%h, %o) : (!out, !a) -> ()
      "tilegpu.barrier"() : () -> ()
      "tilegpu.map_store"(%o, %j, %c0) {map = 0 : i32} : (!a, i32, i32) -> ()
    }
    "tilegpu.map_wait"() : () -> ()
    "tilegpu.ring_end"(%o) : (!a) -> ()
    "tilegpu.ring_end"(%a) : (!a) -> ()
    "tilegpu.ring_end"(%b) : (!b) -> ()
    "tilegpu.ring_end"(%bars) : (!bars) -> ()
  }
  "tilegpu.cluster_barrier"() : () -> ()
  return
}

// CHECK-NOT: E0602
}
