// RUN: tilec %s --passes=assign-layouts --target=sm_90a | FileCheck %s
// assign-layouts: every tile has a layout afterwards, and both sides of every op agree.

// The machine that the layouts are made for is noted on the module.
// CHECK: module attributes {tilegpu.num_warps = 4 : i32, tilegpu.target = "sm_90a", tilegpu.threads_per_warp = 32 : i32}

// A tile starts with one element a thread, lanes first, then warps.
// CHECK-LABEL: func.func @elementwise
// CHECK: tile.make_range{{.*}} -> tensor<1024xi32, [[L:#tilegpu.blocked<{order = \[0\], size_per_thread = \[1\], threads_per_warp = \[32\], warps_per_cta = \[4\]}>]]>
// CHECK: tile.splat{{.*}} -> tensor<1024xi32, [[L]]>
// CHECK: arith.constant dense<7> : tensor<1024xi32, [[L]]>
// CHECK: arith.addi {{.*}} : tensor<1024xi32, [[L]]>
// CHECK: arith.cmpi slt, {{.*}} : tensor<1024xi32, [[L]]>
// CHECK-NOT: convert_layout
func.func @elementwise(%n: i32) {
  %r = "tile.make_range"() {start = 0 : i32, end = 1024 : i32} : () -> tensor<1024xi32>
  %ns = "tile.splat"(%n) : (i32) -> tensor<1024xi32>
  %k = arith.constant dense<7> : tensor<1024xi32>
  %x = arith.addi %r, %k : tensor<1024xi32>
  %m = arith.cmpi slt, %x, %ns : tensor<1024xi32>
  return
}

// The operand of expand_dims is fetched as a slice of the result's layout.
// CHECK-LABEL: func.func @expand
// CHECK: [[R:%.+]] = "tile.make_range"
// CHECK: [[S:%.+]] = "tilegpu.convert_layout"([[R]]) : (tensor<64xi32, #tilegpu.blocked<{{.*}}>>) -> tensor<64xi32, #tilegpu.slice<{dim = 1 : i64, parent = [[P:#tilegpu.blocked<{order = \[1, 0\], size_per_thread = \[1, 1\], threads_per_warp = \[32, 1\], warps_per_cta = \[4, 1\]}>]]}>>
// CHECK: "tile.expand_dims"([[S]]) {axis = 1 : i32} : {{.*}} -> tensor<64x1xi32, [[P]]>
func.func @expand() {
  %r = "tile.make_range"() {start = 0 : i32, end = 64 : i32} : () -> tensor<64xi32>
  %x = "tile.expand_dims"(%r) {axis = 1 : i32} : (tensor<64xi32>) -> tensor<64x1xi32>
  return
}

// Operand and result of a broadcast have one layout.
// CHECK-LABEL: func.func @broadcast
// CHECK: [[S:%.+]] = "tile.splat"
// CHECK: [[C:%.+]] = "tilegpu.convert_layout"([[S]]) : {{.*}} -> tensor<64x1xi32, [[L:#tilegpu.blocked<{order = \[1, 0\], size_per_thread = \[1, 1\], threads_per_warp = \[1, 32\], warps_per_cta = \[4, 1\]}>]]>
// CHECK: "tile.broadcast"([[C]]) : (tensor<64x1xi32, [[L]]>) -> tensor<64x32xi32, [[L]]>
func.func @broadcast(%n: i32) {
  %s = "tile.splat"(%n) : (i32) -> tensor<64x1xi32>
  %x = "tile.broadcast"(%s) : (tensor<64x1xi32>) -> tensor<64x32xi32>
  return
}

// A transposed blocked layout is blocked; users get the default.
// CHECK-LABEL: func.func @transpose
// CHECK: [[T:%.+]] = "tile.trans"{{.*}} -> tensor<64x32xf32, #tilegpu.blocked<{order = [0, 1], size_per_thread = [1, 1], threads_per_warp = [32, 1], warps_per_cta = [2, 2]}>>
// CHECK: "tilegpu.convert_layout"([[T]]) : {{.*}} -> tensor<64x32xf32, #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 1], threads_per_warp = [1, 32], warps_per_cta = [4, 1]}>>
func.func @transpose(%v: f32) {
  %x = "tile.splat"(%v) : (f32) -> tensor<32x64xf32>
  %t = "tile.trans"(%x) {order = array<i32: 1, 0>} : (tensor<32x64xf32>) -> tensor<64x32xf32>
  %y = arith.negf %t : tensor<64x32xf32>
  return
}

// A reshape leaves the elements with their threads: row-major layouts stay that way.
// CHECK-LABEL: func.func @reshape
// CHECK: "tile.reshape"{{.*}} -> tensor<64x16xf32, [[L:#tilegpu.blocked<.*>]]>
// CHECK-NOT: convert_layout
// CHECK: arith.negf {{.*}} : tensor<64x16xf32, [[L]]>
func.func @reshape(%v: f32) {
  %x = "tile.splat"(%v) : (f32) -> tensor<16x64xf32>
  %y = "tile.reshape"(%x) {allow_reorder = false} : (tensor<16x64xf32>) -> tensor<64x16xf32>
  %z = arith.negf %y : tensor<64x16xf32>
  return
}

// What loops and branches carry has a layout too.
// CHECK-LABEL: func.func @control
// CHECK: scf.for {{.*}} -> (tensor<128xf32, [[L:#tilegpu.blocked<.*>]]>)
// CHECK: scf.if {{.*}} -> (tensor<128xf32, [[L]]>)
// CHECK: scf.yield {{.*}} : tensor<128xf32, [[L]]>
func.func @control(%v: f32, %n: i32, %c: i1) {
  %k = arith.constant 1 : i32
  %x = "tile.splat"(%v) : (f32) -> tensor<128xf32>
  %y = scf.for %i = %k to %n step %k iter_args(%a = %x) -> (tensor<128xf32>) : i32 {
    %z = scf.if %c -> (tensor<128xf32>) {
      scf.yield %a : tensor<128xf32>
    } else {
      %w = arith.addf %a, %x : tensor<128xf32>
      scf.yield %w : tensor<128xf32>
    }
    scf.yield %z : tensor<128xf32>
  }
  return
}

// The type of a function follows.
// CHECK-LABEL: func.func @signature(%arg0: tensor<128xf32, #tilegpu.blocked<{{.*}}>>) -> tensor<2x64xf32, #tilegpu.blocked<
func.func @signature(%x: tensor<128xf32>) -> tensor<2x64xf32> {
  %y = "tile.reshape"(%x) {allow_reorder = false} : (tensor<128xf32>) -> tensor<2x64xf32>
  return %y : tensor<2x64xf32>
}

// A reduction leaves a slice of its operands' layout; users get the default. Functions of scalars
// stay as they are.
// CHECK-LABEL: func.func private @add(%arg0: f32, %arg1: f32) -> f32
// CHECK-LABEL: func.func @reduce
// CHECK: [[X:%.+]] = "tile.splat"({{.*}}) : (f32) -> tensor<64x32xf32, [[L:#tilegpu.blocked<.*>]]>
// CHECK: [[R:%.+]] = "tile.reduce"([[X]]) {{.*}} : (tensor<64x32xf32, [[L]]>) -> tensor<64xf32, #tilegpu.slice<{dim = 1 : i64, parent = [[L]]}>>
// CHECK: [[C:%.+]] = "tilegpu.convert_layout"([[R]]) : {{.*}} -> tensor<64xf32, #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], warps_per_cta = [4]}>>
// CHECK: arith.negf [[C]]
// CHECK-NOT: convert_layout
// CHECK: "tile.reduce"({{.*}} -> f32
// CHECK-NOT: convert_layout
// CHECK: return
func.func private @add(%a: f32, %b: f32) -> f32 {
  %c = arith.addf %a, %b : f32
  return %c : f32
}
func.func @reduce(%v: f32) -> f32 {
  %x = "tile.splat"(%v) : (f32) -> tensor<64x32xf32>
  %r = "tile.reduce"(%x) {axis = 1 : i32, combine = @add, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<64x32xf32>) -> tensor<64xf32>
  %n = arith.negf %r : tensor<64xf32>
  %s = "tile.reduce"(%n) {axis = 0 : i32, combine = @add, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<64xf32>) -> f32
  return %s : f32
}

// A scan keeps its layout. The halves that join puts together lie side by side in a thread, and
// split asks for them there; pairs of scalars are held by every thread.
// CHECK-LABEL: func.func @pairs
// CHECK: "tile.scan"({{.*}}) {{.*}} : (tensor<64xf32, [[L:#tilegpu.blocked<{order = \[0\], size_per_thread = \[1\], threads_per_warp = \[32\], warps_per_cta = \[4\]}>]]>) -> tensor<64xf32, [[L]]>
// CHECK: "tile.join"({{.*}}) : {{.*}} -> tensor<64x2xf32, [[P:#tilegpu.blocked<{order = \[1, 0\], size_per_thread = \[1, 2\], threads_per_warp = \[32, 1\], warps_per_cta = \[4, 1\]}>]]>
// CHECK: [[B:%.+]] = "tilegpu.convert_layout"({{.*}}) : {{.*}} -> tensor<64x2xf32, [[P]]>
// CHECK: "tile.split"([[B]]) : (tensor<64x2xf32, [[P]]>) -> (tensor<64xf32, [[L]]>, tensor<64xf32, [[L]]>)
// CHECK: "tile.join"({{.*}}) : (f32, f32) -> tensor<2xf32, #tilegpu.blocked<{order = [0], size_per_thread = [2], threads_per_warp = [32], warps_per_cta = [4]}>>
func.func @pairs(%v: f32, %w: f32) {
  %x = "tile.splat"(%v) : (f32) -> tensor<64xf32>
  %y = "tile.scan"(%x) {axis = 0 : i32, combine = @add, reverse = false, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<64xf32>) -> tensor<64xf32>
  %j = "tile.join"(%x, %y) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64x2xf32>
  %k = arith.negf %j : tensor<64x2xf32>
  %a, %b = "tile.split"(%k) : (tensor<64x2xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  %p = "tile.join"(%v, %w) : (f32, f32) -> tensor<2xf32>
  return
}

// A product has a square of elements a thread; the operands are what such a thread multiplies.
// CHECK-LABEL: func.func @product
// CHECK: [[A:%.+]] = "tilegpu.convert_layout"({{.*}} -> tensor<64x32xf16, [[LA:#tilegpu.dot_op<{k_width = 1 : i64, op_idx = 0 : i64, parent = #tilegpu.blocked<{order = \[1, 0\], size_per_thread = \[4, 4\], threads_per_warp = \[4, 8\], warps_per_cta = \[4, 1\]}>}>]]>
// CHECK: [[B:%.+]] = "tilegpu.convert_layout"({{.*}} -> tensor<32x64xf16, [[LB:#tilegpu.dot_op<{k_width = 1 : i64, op_idx = 1 : i64, parent = .*}>}>]]>
// CHECK: [[C:%.+]] = "tilegpu.convert_layout"({{.*}} -> tensor<64x64xf32, [[L:#tilegpu.blocked<{order = \[1, 0\], size_per_thread = \[4, 4\], threads_per_warp = \[4, 8\], warps_per_cta = \[4, 1\]}>]]>
// CHECK: [[D:%.+]] = "tile.dot"([[A]], [[B]], [[C]]) {{.*}} : (tensor<64x32xf16, [[LA]]>, tensor<32x64xf16, [[LB]]>, tensor<64x64xf32, [[L]]>) -> tensor<64x64xf32, [[L]]>
// CHECK: [[E:%.+]] = "tilegpu.convert_layout"([[D]]) : {{.*}} -> tensor<64x64xf32, #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 1],
// CHECK: arith.negf [[E]]
func.func @product(%x: tensor<64x32xf16>, %y: tensor<32x64xf16>, %z: tensor<64x64xf32>) {
  %d = "tile.dot"(%x, %y, %z) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %e = arith.negf %d : tensor<64x64xf32>
  return
}
