// RUN: tilec %s --passes=assign-layouts,coalesce | FileCheck %s
// RUN: tilec %s --passes=assign-layouts,coalesce --explain-perf 2>&1 | FileCheck %s --check-prefix=WHY
// coalesce: neighbouring threads access neighbouring addresses, in vectors of up to 128 bits.
!p32 = !tile.ptr<f32>
!p16 = !tile.ptr<f16>
!t32 = tensor<1024x!tile.ptr<f32>>
!t16 = tensor<1024x!tile.ptr<f16>>
!i = tensor<1024xi32>
module {

// Aligned f32: four elements a thread; the load stands between conversions.
// CHECK-LABEL: func.func @vector4
// CHECK: [[P:%.+]] = "tilegpu.convert_layout"({{.*}}) : {{.*}} -> tensor<1024x!tile.ptr<f32>, [[L:#tilegpu.blocked<{order = \[0\], size_per_thread = \[4\], threads_per_warp = \[32\], warps_per_cta = \[4\]}>]]>
// CHECK: [[V:%.+]] = "tile.load"([[P]]) {{.*}} -> tensor<1024xf32, [[L]]>
// CHECK: "tilegpu.convert_layout"([[V]]) : {{.*}} -> tensor<1024xf32, #tilegpu.blocked<{order = [0], size_per_thread = [1]
func.func @vector4(%p: !p32 {tile.divisibility = 16 : i32}) {
  %r = "tile.make_range"() {start = 0 : i32, end = 1024 : i32} : () -> !i
  %s = "tile.splat"(%p) : (!p32) -> !t32
  %a = "tile.addptr"(%s, %r) : (!t32, !i) -> !t32
  %v = "tile.load"(%a) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!t32) -> tensor<1024xf32>
  %w = arith.negf %v : tensor<1024xf32>
  return
}

// Nothing known about the pointer: one element a thread.
// WHY: remark: load is 1 element wide, not 4: the pointer's offset is not known to be divisible by 4
// CHECK-LABEL: func.func @unaligned
// CHECK: tile.load{{.*}} -> tensor<1024xf32, #tilegpu.blocked<{order = [0], size_per_thread = [1]
func.func @unaligned(%p: !p32) {
  %r = "tile.make_range"() {start = 0 : i32, end = 1024 : i32} : () -> !i
  %s = "tile.splat"(%p) : (!p32) -> !t32
  %a = "tile.addptr"(%s, %r) : (!t32, !i) -> !t32
  %v = "tile.load"(%a) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!t32) -> tensor<1024xf32>
  return
}

// A mask does not stand in the way: emission takes the vectors that it cuts element by element.
// CHECK-LABEL: func.func @masks
// CHECK: tile.load{{.*}} -> tensor<1024xf32, #tilegpu.blocked<{order = [0], size_per_thread = [4]
// CHECK-LABEL: func.func @round_masks
// CHECK: tile.load{{.*}} -> tensor<1024xf32, #tilegpu.blocked<{order = [0], size_per_thread = [4]
func.func @masks(%p: !p32 {tile.divisibility = 16 : i32}, %n: i32) {
  %r = "tile.make_range"() {start = 0 : i32, end = 1024 : i32} : () -> !i
  %ns = "tile.splat"(%n) : (i32) -> !i
  %m = arith.cmpi slt, %r, %ns : !i
  %s = "tile.splat"(%p) : (!p32) -> !t32
  %a = "tile.addptr"(%s, %r) : (!t32, !i) -> !t32
  %v = "tile.load"(%a, %m) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (!t32, tensor<1024xi1>) -> tensor<1024xf32>
  return
}
func.func @round_masks(%p: !p32 {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32}) {
  %r = "tile.make_range"() {start = 0 : i32, end = 1024 : i32} : () -> !i
  %ns = "tile.splat"(%n) : (i32) -> !i
  %m = arith.cmpi slt, %r, %ns : !i
  %s = "tile.splat"(%p) : (!p32) -> !t32
  %a = "tile.addptr"(%s, %r) : (!t32, !i) -> !t32
  %v = "tile.load"(%a, %m) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (!t32, tensor<1024xi1>) -> tensor<1024xf32>
  return
}

// The order follows the addresses: columns that run are the fastest dimension.
// CHECK-LABEL: func.func @columns_first
// CHECK: tile.load{{.*}} -> tensor<64x32xf32, #tilegpu.blocked<{order = [0, 1], size_per_thread = [4, 1], threads_per_warp = [16, 2], warps_per_cta = [1, 4]}>>
func.func @columns_first(%p: !p32 {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32}) {
  %r = "tile.make_range"() {start = 0 : i32, end = 64 : i32} : () -> tensor<64xi32>
  %c = "tile.make_range"() {start = 0 : i32, end = 32 : i32} : () -> tensor<32xi32>
  %r1 = "tile.expand_dims"(%r) {axis = 1 : i32} : (tensor<64xi32>) -> tensor<64x1xi32>
  %c1 = "tile.expand_dims"(%c) {axis = 0 : i32} : (tensor<32xi32>) -> tensor<1x32xi32>
  %ns = "tile.splat"(%n) : (i32) -> tensor<1x32xi32>
  %c2 = arith.muli %c1, %ns : tensor<1x32xi32>
  %r3 = "tile.broadcast"(%r1) : (tensor<64x1xi32>) -> tensor<64x32xi32>
  %c3 = "tile.broadcast"(%c2) : (tensor<1x32xi32>) -> tensor<64x32xi32>
  %o = arith.addi %r3, %c3 : tensor<64x32xi32>
  %s = "tile.splat"(%p) : (!p32) -> tensor<64x32x!p32>
  %a = "tile.addptr"(%s, %o) : (tensor<64x32x!p32>, tensor<64x32xi32>) -> tensor<64x32x!p32>
  %v = "tile.load"(%a) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<64x32x!p32>) -> tensor<64x32xf32>
  return
}

// Accesses of one shape share the widest layout, so that values flow from f32 to f16.
// CHECK-LABEL: func.func @narrowing
// CHECK: tile.load{{.*}} -> tensor<1024xf32, #tilegpu.blocked<{order = [0], size_per_thread = [8]
// CHECK: tile.store{{.*}} : (tensor<1024x!tile.ptr<f16>, #tilegpu.blocked<{order = [0], size_per_thread = [8]
func.func @narrowing(%p: !p32 {tile.divisibility = 16 : i32}, %q: !p16 {tile.divisibility = 16 : i32}) {
  %r = "tile.make_range"() {start = 0 : i32, end = 1024 : i32} : () -> !i
  %s = "tile.splat"(%p) : (!p32) -> !t32
  %a = "tile.addptr"(%s, %r) : (!t32, !i) -> !t32
  %v = "tile.load"(%a) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!t32) -> tensor<1024xf32>
  %w = arith.truncf %v : tensor<1024xf32> to tensor<1024xf16>
  %t = "tile.splat"(%q) : (!p16) -> !t16
  %b = "tile.addptr"(%t, %r) : (!t16, !i) -> !t16
  "tile.store"(%b, %w) {cache = "", evict = "", operandSegmentSizes = array<i32: 1, 1, 0>} : (!t16, tensor<1024xf16>) -> ()
  return
}

// No more elements a thread than one store writes: 128 bits of f32.
// CHECK-LABEL: func.func @widening
// CHECK: tile.load{{.*}} -> tensor<1024xf16, #tilegpu.blocked<{order = [0], size_per_thread = [4]
// CHECK: tile.store{{.*}} : (tensor<1024x!tile.ptr<f32>, #tilegpu.blocked<{order = [0], size_per_thread = [4]
func.func @widening(%p: !p16 {tile.divisibility = 16 : i32}, %q: !p32 {tile.divisibility = 16 : i32}) {
  %r = "tile.make_range"() {start = 0 : i32, end = 1024 : i32} : () -> !i
  %s = "tile.splat"(%p) : (!p16) -> !t16
  %a = "tile.addptr"(%s, %r) : (!t16, !i) -> !t16
  %v = "tile.load"(%a) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!t16) -> tensor<1024xf16>
  %w = arith.extf %v : tensor<1024xf16> to tensor<1024xf32>
  %t = "tile.splat"(%q) : (!p32) -> !t32
  %b = "tile.addptr"(%t, %r) : (!t32, !i) -> !t32
  "tile.store"(%b, %w) {cache = "", evict = "", operandSegmentSizes = array<i32: 1, 1, 0>} : (!t32, tensor<1024xf32>) -> ()
  return
}

// No more elements a thread than there are for all threads.
// CHECK-LABEL: func.func @small
// CHECK: tile.load{{.*}} -> tensor<256xf16, #tilegpu.blocked<{order = [0], size_per_thread = [2]
func.func @small(%p: !p16 {tile.divisibility = 16 : i32}) {
  %r = "tile.make_range"() {start = 0 : i32, end = 256 : i32} : () -> tensor<256xi32>
  %s = "tile.splat"(%p) : (!p16) -> tensor<256x!p16>
  %a = "tile.addptr"(%s, %r) : (tensor<256x!p16>, tensor<256xi32>) -> tensor<256x!p16>
  %v = "tile.load"(%a) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<256x!p16>) -> tensor<256xf16>
  return
}

// Atomics work on single elements: lanes side by side.
// CHECK-LABEL: func.func @atomics
// CHECK: tile.atomic_rmw{{.*}} -> tensor<1024xf32, #tilegpu.blocked<{order = [0], size_per_thread = [1]
func.func @atomics(%p: !p32 {tile.divisibility = 16 : i32}, %v: f32) {
  %r = "tile.make_range"() {start = 0 : i32, end = 1024 : i32} : () -> !i
  %s = "tile.splat"(%p) : (!p32) -> !t32
  %a = "tile.addptr"(%s, %r) : (!t32, !i) -> !t32
  %x = "tile.splat"(%v) : (f32) -> tensor<1024xf32>
  %old = "tile.atomic_rmw"(%a, %x) {kind = "fadd", sem = "relaxed", scope = "gpu", operandSegmentSizes = array<i32: 1, 1, 0>} : (!t32, tensor<1024xf32>) -> tensor<1024xf32>
  return
}

// Scalar accesses have no layout.
// CHECK-LABEL: func.func @scalar
// CHECK: "tile.load"(%arg0) {{.*}} : (!tile.ptr<f32>) -> f32
func.func @scalar(%p: !p32) {
  %v = "tile.load"(%p) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!p32) -> f32
  return
}
}
