// RUN: tilec %s --passes=assign-layouts,coalesce,remove-layout-conversions | FileCheck %s
// RUN: tilec %s --passes=assign-layouts,coalesce,remove-layout-conversions --explain-perf 2>&1 | FileCheck %s --check-prefix=WHY
// remove-layout-conversions: tiles take the layout of the accesses they come from or go to.
!h = !tile.ptr<f16>
!f = !tile.ptr<f32>
!hp = tensor<16x256x!tile.ptr<f16>>
!hv = tensor<16x256xf16>
!fv = tensor<16x256xf32>
!iv = tensor<16x256xi32>
module {

// Vector add: everything has the layout of the loads, nothing is converted.
// CHECK-LABEL: func.func @add
// CHECK-NOT: convert_layout
// CHECK: tile.make_range{{.*}} -> tensor<1024xi32, [[L:#tilegpu.blocked<{order = \[0\], size_per_thread = \[4\], threads_per_warp = \[32\], warps_per_cta = \[4\]}>]]>
// CHECK-COUNT-2: tile.load{{.*}} -> tensor<1024xf32, [[L]]>
// CHECK-NOT: tile.load
// CHECK-NOT: convert_layout
// CHECK: arith.addf {{.*}} : tensor<1024xf32, [[L]]>
// CHECK-NOT: convert_layout
// CHECK: tile.store{{.*}} : (tensor<1024x!tile.ptr<f32>, [[L]]>, tensor<1024xf32, [[L]]>, tensor<1024xi1, [[L]]>)
  func.func @add(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.name = "x"}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.name = "y"}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.name = "out"}, %n: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
    %pid = "tile.get_program_id"() {axis = 0 : i32} : () -> i32
    %b = arith.constant 1024 : i32
    %s = arith.muli %pid, %b : i32
    %r = "tile.make_range"() {end = 1024 : i32, start = 0 : i32} : () -> tensor<1024xi32>
    %ss = "tile.splat"(%s) : (i32) -> tensor<1024xi32>
    %offs = arith.addi %ss, %r : tensor<1024xi32>
    %ns = "tile.splat"(%n) : (i32) -> tensor<1024xi32>
    %mask = arith.cmpi slt, %offs, %ns : tensor<1024xi32>
    %xp = "tile.splat"(%x) : (!tile.ptr<f32>) -> tensor<1024x!tile.ptr<f32>>
    %xpp = "tile.addptr"(%xp, %offs) : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>) -> tensor<1024x!tile.ptr<f32>>
    %xv = "tile.load"(%xpp, %mask) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi1>) -> tensor<1024xf32>
    %yp = "tile.splat"(%y) : (!tile.ptr<f32>) -> tensor<1024x!tile.ptr<f32>>
    %ypp = "tile.addptr"(%yp, %offs) : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>) -> tensor<1024x!tile.ptr<f32>>
    %yv = "tile.load"(%ypp, %mask) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi1>) -> tensor<1024xf32>
    %z = arith.addf %xv, %yv : tensor<1024xf32>
    %op = "tile.splat"(%o) : (!tile.ptr<f32>) -> tensor<1024x!tile.ptr<f32>>
    %opp = "tile.addptr"(%op, %offs) : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>) -> tensor<1024x!tile.ptr<f32>>
    "tile.store"(%opp, %z, %mask) {cache = "", evict = "", operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>, tensor<1024xi1>) -> ()
    return
  }

// Bias, activation, residual on a 16x256 tile: the row of biases is loaded as a slice of the tile
// that it is added to; no conversion, no load twice.
// CHECK-LABEL: func.func @gelu
// CHECK-NOT: convert_layout
// CHECK: tile.load{{.*}} -> tensor<16x256xf16, [[L:#tilegpu.blocked<{order = \[1, 0\], size_per_thread = \[1, 8\], threads_per_warp = \[1, 32\], warps_per_cta = \[4, 1\]}>]]>
// CHECK-NOT: convert_layout
// CHECK: tile.load{{.*}} -> tensor<256xf16, #tilegpu.slice<{dim = 0 : i64, parent = [[L]]}>>
// CHECK-NOT: convert_layout
// CHECK: tile.load{{.*}} -> tensor<16x256xf16, [[L]]>
// CHECK-NOT: {{convert_layout|tile.load}}
// CHECK: tile.store{{.*}} : (tensor<16x256x!tile.ptr<f16>, [[L]]>
  func.func @gelu(%x: !h {tile.divisibility = 16 : i32, tile.name = "x"}, %bias: !h {tile.divisibility = 16 : i32, tile.name = "bias"}, %res: !h {tile.divisibility = 16 : i32, tile.name = "res"}, %o: !h {tile.divisibility = 16 : i32, tile.name = "out"}, %m: i32, %n: i32 {tile.divisibility = 16 : i32}) attributes {tile.kernel} {
    %pid = "tile.get_program_id"() {axis = 0 : i32} : () -> i32
    %pid1 = "tile.get_program_id"() {axis = 1 : i32} : () -> i32
    %c16 = arith.constant 16 : i32
    %c256 = arith.constant 256 : i32
    %s0 = arith.muli %pid, %c16 : i32
    %s1 = arith.muli %pid1, %c256 : i32
    %r0 = "tile.make_range"() {end = 16 : i32, start = 0 : i32} : () -> tensor<16xi32>
    %s0s = "tile.splat"(%s0) : (i32) -> tensor<16xi32>
    %rows = arith.addi %s0s, %r0 : tensor<16xi32>
    %r1 = "tile.make_range"() {end = 256 : i32, start = 0 : i32} : () -> tensor<256xi32>
    %s1s = "tile.splat"(%s1) : (i32) -> tensor<256xi32>
    %cols = arith.addi %s1s, %r1 : tensor<256xi32>
    %rows2 = "tile.expand_dims"(%rows) {axis = 1 : i32} : (tensor<16xi32>) -> tensor<16x1xi32>
    %cols2 = "tile.expand_dims"(%cols) {axis = 0 : i32} : (tensor<256xi32>) -> tensor<1x256xi32>
    %ns = "tile.splat"(%n) : (i32) -> tensor<16x1xi32>
    %ms = "tile.splat"(%m) : (i32) -> tensor<16x1xi32>
    %rowoff = arith.muli %rows2, %ns : tensor<16x1xi32>
    %rowoff2 = "tile.broadcast"(%rowoff) : (tensor<16x1xi32>) -> !iv
    %cols3 = "tile.broadcast"(%cols2) : (tensor<1x256xi32>) -> !iv
    %offs = arith.addi %rowoff2, %cols3 : !iv
    %rm = arith.cmpi slt, %rows2, %ms : tensor<16x1xi32>
    %nss = "tile.splat"(%n) : (i32) -> tensor<1x256xi32>
    %cm = arith.cmpi slt, %cols2, %nss : tensor<1x256xi32>
    %rmb = "tile.broadcast"(%rm) : (tensor<16x1xi1>) -> tensor<16x256xi1>
    %cmb = "tile.broadcast"(%cm) : (tensor<1x256xi1>) -> tensor<16x256xi1>
    %mask = arith.andi %rmb, %cmb : tensor<16x256xi1>
    %xs = "tile.splat"(%x) : (!h) -> !hp
    %xp = "tile.addptr"(%xs, %offs) : (!hp, !iv) -> !hp
    %xv = "tile.load"(%xp, %mask) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (!hp, tensor<16x256xi1>) -> !hv
    %xf = arith.extf %xv : !hv to !fv
    %n1 = "tile.splat"(%n) : (i32) -> tensor<256xi32>
    %bm = arith.cmpi slt, %cols, %n1 : tensor<256xi32>
    %bs = "tile.splat"(%bias) : (!h) -> tensor<256x!h>
    %bp = "tile.addptr"(%bs, %cols) : (tensor<256x!h>, tensor<256xi32>) -> tensor<256x!h>
    %bv = "tile.load"(%bp, %bm) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<256x!h>, tensor<256xi1>) -> tensor<256xf16>
    %bf = arith.extf %bv : tensor<256xf16> to tensor<256xf32>
    %b2 = "tile.expand_dims"(%bf) {axis = 0 : i32} : (tensor<256xf32>) -> tensor<1x256xf32>
    %b3 = "tile.broadcast"(%b2) : (tensor<1x256xf32>) -> !fv
    %z = arith.addf %xf, %b3 : !fv
    %e = math.exp2 %z : !fv
    %rs = "tile.splat"(%res) : (!h) -> !hp
    %rp = "tile.addptr"(%rs, %offs) : (!hp, !iv) -> !hp
    %rv = "tile.load"(%rp, %mask) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (!hp, tensor<16x256xi1>) -> !hv
    %rf = arith.extf %rv : !hv to !fv
    %w = arith.addf %e, %rf : !fv
    %wh = arith.truncf %w : !fv to !hv
    %os = "tile.splat"(%o) : (!h) -> !hp
    %op = "tile.addptr"(%os, %offs) : (!hp, !iv) -> !hp
    "tile.store"(%op, %wh, %mask) {cache = "", evict = "", operandSegmentSizes = array<i32: 1, 1, 1>} : (!hp, !hv, tensor<16x256xi1>) -> ()
    return
  }

// One range for rows and for columns: it is cheaper to count twice than to convert.
// CHECK-LABEL: func.func @rows_and_columns
// CHECK-NOT: convert_layout
// CHECK-DAG: tile.make_range{{.*}} -> tensor<64xi32, #tilegpu.slice<{dim = 0
// CHECK-DAG: tile.make_range{{.*}} -> tensor<64xi32, #tilegpu.slice<{dim = 1
// CHECK-NOT: {{convert_layout|tile.make_range}}
// CHECK: tile.load
// CHECK-NOT: convert_layout
// CHECK: return
  func.func @rows_and_columns(%p: !f {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32}) {
    %r = "tile.make_range"() {start = 0 : i32, end = 64 : i32} : () -> tensor<64xi32>
    %r1 = "tile.expand_dims"(%r) {axis = 1 : i32} : (tensor<64xi32>) -> tensor<64x1xi32>
    %c1 = "tile.expand_dims"(%r) {axis = 0 : i32} : (tensor<64xi32>) -> tensor<1x64xi32>
    %ns = "tile.splat"(%n) : (i32) -> tensor<64x1xi32>
    %r2 = arith.muli %r1, %ns : tensor<64x1xi32>
    %r3 = "tile.broadcast"(%r2) : (tensor<64x1xi32>) -> tensor<64x64xi32>
    %c3 = "tile.broadcast"(%c1) : (tensor<1x64xi32>) -> tensor<64x64xi32>
    %o = arith.addi %r3, %c3 : tensor<64x64xi32>
    %s = "tile.splat"(%p) : (!f) -> tensor<64x64x!f>
    %a = "tile.addptr"(%s, %o) : (tensor<64x64x!f>, tensor<64x64xi32>) -> tensor<64x64x!f>
    %v = "tile.load"(%a) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x64x!f>) -> tensor<64x64xf32>
    %w = arith.negf %v : tensor<64x64xf32>
    "tile.store"(%a, %w) {cache = "", evict = "", operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<64x64x!f>, tensor<64x64xf32>) -> ()
    return
  }

// What a loop carries (a pointer and a sum) has the layout of the load inside it.
// CHECK-LABEL: func.func @loop
// CHECK-NOT: convert_layout
// CHECK: scf.for {{.*}} -> (tensor<1024x!tile.ptr<f32>, [[L:#tilegpu.blocked<{order = \[0\], size_per_thread = \[4\], .*}>]]>, tensor<1024xf32, [[L]]>)
// CHECK-NOT: convert_layout
// CHECK: tile.load{{.*}} -> tensor<1024xf32, [[L]]>
// CHECK-NOT: convert_layout
// CHECK: tile.store
  func.func @loop(%p: !f {tile.divisibility = 16 : i32}, %q: !f {tile.divisibility = 16 : i32}, %n: i32) {
    %z = arith.constant 0 : i32
    %k = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<1024xf32>
    %step = arith.constant dense<1024> : tensor<1024xi32>
    %r = "tile.make_range"() {start = 0 : i32, end = 1024 : i32} : () -> tensor<1024xi32>
    %s = "tile.splat"(%p) : (!f) -> tensor<1024x!f>
    %a = "tile.addptr"(%s, %r) : (tensor<1024x!f>, tensor<1024xi32>) -> tensor<1024x!f>
    %ptrs, %sum = scf.for %i = %z to %n step %k iter_args(%pa = %a, %acc = %zero) -> (tensor<1024x!f>, tensor<1024xf32>) : i32 {
      %v = "tile.load"(%pa) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<1024x!f>) -> tensor<1024xf32>
      %w = arith.addf %acc, %v : tensor<1024xf32>
      %pn = "tile.addptr"(%pa, %step) : (tensor<1024x!f>, tensor<1024xi32>) -> tensor<1024x!f>
      scf.yield %pn, %w : tensor<1024x!f>, tensor<1024xf32>
    }
    %t = "tile.splat"(%q) : (!f) -> tensor<1024x!f>
    %b = "tile.addptr"(%t, %r) : (tensor<1024x!f>, tensor<1024xi32>) -> tensor<1024x!f>
    "tile.store"(%b, %sum) {cache = "", evict = "", operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1024x!f>, tensor<1024xf32>) -> ()
    return
  }

// The layout of a function's argument is part of its type: the load is converted instead.
// CHECK-LABEL: func.func @boundary
// CHECK-SAME: (%arg0: tensor<1024xf32, [[B:#tilegpu.blocked<{order = \[0\], size_per_thread = \[1\], threads_per_warp = \[32\], warps_per_cta = \[4\]}>]]>
// CHECK: [[V:%.+]] = "tile.load"
// CHECK: [[C:%.+]] = "tilegpu.convert_layout"([[V]]) : {{.*}} -> tensor<1024xf32, [[B]]>
// CHECK: arith.addf %arg0, [[C]] : tensor<1024xf32, [[B]]>
  func.func @boundary(%x: tensor<1024xf32>, %p: !f {tile.divisibility = 16 : i32}) -> tensor<1024xf32> {
    %r = "tile.make_range"() {start = 0 : i32, end = 1024 : i32} : () -> tensor<1024xi32>
    %s = "tile.splat"(%p) : (!f) -> tensor<1024x!f>
    %a = "tile.addptr"(%s, %r) : (tensor<1024x!f>, tensor<1024xi32>) -> tensor<1024x!f>
    %v = "tile.load"(%a) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<1024x!f>) -> tensor<1024xf32>
    %w = arith.addf %x, %v : tensor<1024xf32>
    return %w : tensor<1024xf32>
  }

// A loop and a store that want different layouts: the conversion stands behind the loop.
// WHY: remark: a tile of 4096 elements changes its layout here through shared memory [layout]
// CHECK-LABEL: func.func @convert_behind_loop
// CHECK-NOT: convert_layout
// CHECK: scf.for
// CHECK-NOT: convert_layout
// CHECK: scf.yield
// CHECK: }
// CHECK: tilegpu.convert_layout
// CHECK-NOT: convert_layout
// CHECK: tile.store
  func.func @convert_behind_loop(%p: !f {tile.divisibility = 16 : i32}, %q: !f {tile.divisibility = 16 : i32}, %n: i32, %m: i32 {tile.divisibility = 16 : i32}) {
    %z = arith.constant 0 : i32
    %k = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %r = "tile.make_range"() {start = 0 : i32, end = 64 : i32} : () -> tensor<64xi32>
    %r1 = "tile.expand_dims"(%r) {axis = 1 : i32} : (tensor<64xi32>) -> tensor<64x1xi32>
    %c1 = "tile.expand_dims"(%r) {axis = 0 : i32} : (tensor<64xi32>) -> tensor<1x64xi32>
    %ms = "tile.splat"(%m) : (i32) -> tensor<64x1xi32>
    %r2 = arith.muli %r1, %ms : tensor<64x1xi32>
    %r3 = "tile.broadcast"(%r2) : (tensor<64x1xi32>) -> tensor<64x64xi32>
    %c3 = "tile.broadcast"(%c1) : (tensor<1x64xi32>) -> tensor<64x64xi32>
    %o = arith.addi %r3, %c3 : tensor<64x64xi32>
    %ot = "tile.trans"(%o) {order = array<i32: 1, 0>} : (tensor<64x64xi32>) -> tensor<64x64xi32>
    %s = "tile.splat"(%p) : (!f) -> tensor<64x64x!f>
    %a = "tile.addptr"(%s, %ot) : (tensor<64x64x!f>, tensor<64x64xi32>) -> tensor<64x64x!f>
    %sum = scf.for %i = %z to %n step %k iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %v = "tile.load"(%a) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x64x!f>) -> tensor<64x64xf32>
      %w = arith.addf %acc, %v : tensor<64x64xf32>
      scf.yield %w : tensor<64x64xf32>
    }
    %t = "tile.splat"(%q) : (!f) -> tensor<64x64x!f>
    %b = "tile.addptr"(%t, %o) : (tensor<64x64x!f>, tensor<64x64xi32>) -> tensor<64x64x!f>
    "tile.store"(%b, %sum) {cache = "", evict = "", operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<64x64x!f>, tensor<64x64xf32>) -> ()
    return
  }

// Transposed f16 plus f16 in f32: one tile must be converted, and it is the smaller f16 one.
// CHECK-LABEL: func.func @convert_narrow
// CHECK-NOT: convert_layout
// CHECK: tilegpu.convert_layout{{.*}} -> tensor<64x64xf16, #tilegpu.
// CHECK-NOT: convert_layout
// CHECK: tile.store
  func.func @convert_narrow(%p: !h {tile.divisibility = 16 : i32}, %q: !h {tile.divisibility = 16 : i32}, %m: i32 {tile.divisibility = 16 : i32}) {
    %r = "tile.make_range"() {start = 0 : i32, end = 64 : i32} : () -> tensor<64xi32>
    %r1 = "tile.expand_dims"(%r) {axis = 1 : i32} : (tensor<64xi32>) -> tensor<64x1xi32>
    %c1 = "tile.expand_dims"(%r) {axis = 0 : i32} : (tensor<64xi32>) -> tensor<1x64xi32>
    %ms = "tile.splat"(%m) : (i32) -> tensor<64x1xi32>
    %r2 = arith.muli %r1, %ms : tensor<64x1xi32>
    %r3 = "tile.broadcast"(%r2) : (tensor<64x1xi32>) -> tensor<64x64xi32>
    %c3 = "tile.broadcast"(%c1) : (tensor<1x64xi32>) -> tensor<64x64xi32>
    %o = arith.addi %r3, %c3 : tensor<64x64xi32>
    %s = "tile.splat"(%p) : (!h) -> tensor<64x64x!h>
    %a = "tile.addptr"(%s, %o) : (tensor<64x64x!h>, tensor<64x64xi32>) -> tensor<64x64x!h>
    %t = "tile.splat"(%q) : (!h) -> tensor<64x64x!h>
    %b = "tile.addptr"(%t, %o) : (tensor<64x64x!h>, tensor<64x64xi32>) -> tensor<64x64x!h>
    %x = "tile.load"(%a) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x64x!h>) -> tensor<64x64xf16>
    %y = "tile.load"(%b) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x64x!h>) -> tensor<64x64xf16>
    %xf = arith.extf %x : tensor<64x64xf16> to tensor<64x64xf32>
    %yf = arith.extf %y : tensor<64x64xf16> to tensor<64x64xf32>
    %yt = "tile.trans"(%yf) {order = array<i32: 1, 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %z = arith.addf %xf, %yt : tensor<64x64xf32>
    %w = arith.truncf %z : tensor<64x64xf32> to tensor<64x64xf16>
    "tile.store"(%a, %w) {cache = "", evict = "", operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<64x64x!h>, tensor<64x64xf16>) -> ()
    return
  }
}
