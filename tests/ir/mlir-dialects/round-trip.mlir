// RUN: tilec %s --passes=licm > %t.1.mlir && tilec %t.1.mlir --passes=licm > %t.2.mlir && cmp %t.1.mlir %t.2.mlir
// RUN: tilec %s --passes=licm | FileCheck %s
// Printed text parses to the same module (licm finds no loop here).
// CHECK: module
// CHECK-LABEL: func.func @kernel
// CHECK-SAME: {tile.divisibility = 16 : i32}
// CHECK-SAME: attributes {tile.kernel}
func.func @kernel(%p: !tile.ptr<!tile.ptr<f16>> {tile.divisibility = 16 : i32}, %n: i32) attributes {tile.kernel} {
  // CHECK: "tile.make_range"() {end = 64 : i32, start = 0 : i32} : () -> tensor<64xi32, #tilegpu.slice<{dim = 0 : i32, parent = #tilegpu.blocked<{order = [1, 0]
  %r = "tile.make_range"() {start = 0 : i32, end = 64 : i32} : () -> tensor<64xi32, #tilegpu.slice<{dim = 0 : i32, parent = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 4], threads_per_warp = [2, 16], warps_per_cta = [4, 1]}>}>>
  // CHECK: "tile.expand_dims"
  %e = "tile.expand_dims"(%r) {axis = 0 : i32} : (tensor<64xi32, #tilegpu.slice<{dim = 0 : i32, parent = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 4], threads_per_warp = [2, 16], warps_per_cta = [4, 1]}>}>>) -> tensor<1x64xi32, #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 4], threads_per_warp = [2, 16], warps_per_cta = [4, 1]}>>
  // CHECK: "tile.debug_value"(%{{.*}}) {argument = 2 : i32, dtype = "u32", name = "n"} : (i32) -> ()
  "tile.debug_value"(%n) {name = "n", dtype = "u32", argument = 2 : i32} : (i32) -> ()
  // CHECK: "tile.debug_value"(%{{.*}}) {dtype = "f16", name = "p"} : (!tile.ptr<!tile.ptr<f16>>) -> ()
  "tile.debug_value"(%p) {name = "p", dtype = "f16"} : (!tile.ptr<!tile.ptr<f16>>) -> ()
  // CHECK: "tile.print"(%{{.*}}, %{{.*}}) {hex = false, is_signed = array<i32: 1, 0>
  "tile.print"(%e, %n) {prefix = "e ", hex = false, is_signed = array<i32: 1, 0>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<1x64xi32, #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 4], threads_per_warp = [2, 16], warps_per_cta = [4, 1]}>>, i32) -> ()
  // CHECK: "tile.load"(%{{.*}}) {{.*}} : (!tile.ptr<!tile.ptr<f16>>) -> !tile.ptr<f16>
  %q = "tile.load"(%p) {cache = "ca", evict = "", is_volatile = true, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<!tile.ptr<f16>>) -> !tile.ptr<f16>
  %x = arith.constant 1.5 : f16
  // CHECK: "tile.atomic_rmw"(%{{.*}}, %{{.*}}) {kind = "fadd", scope = "gpu", sem = "relaxed"}
  %old = "tile.atomic_rmw"(%q, %x) {kind = "fadd", sem = "relaxed", scope = "gpu"} : (!tile.ptr<f16>, f16) -> f16
  %c = arith.extsi %n : i32 to i64
  // CHECK: "tile.descriptor_load"(%{{.*}}) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "nan"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<4x8xf16>
  %d = "tile.descriptor_load"(%q, %c, %c, %c, %n, %n) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "nan"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<4x8xf16>
  // CHECK: "tile.descriptor_reduce"(%{{.*}}) {kind = "fadd", operandSegmentSizes = array<i32: 1, 2, 1, 2, 1>}
  "tile.descriptor_reduce"(%q, %c, %c, %c, %n, %n, %d) {operandSegmentSizes = array<i32: 1, 2, 1, 2, 1>, kind = "fadd"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32, tensor<4x8xf16>) -> ()
  return
}
