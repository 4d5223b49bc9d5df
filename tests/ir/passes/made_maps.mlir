// RUN: tilec %s --passes=use-tensor-maps --target sm_90a | FileCheck %s
// RUN: tilec %s --passes=use-tensor-maps --target sm_90a --explain-perf 2>&1 | FileCheck %s --check-prefix=WHY
// use-tensor-maps: maps of descriptors from memory are made by the kernel, where the last of their parts is known.

// CHECK: tile.maps = [{box = array<i32: 64, 32>, dtype = "f16", made = 1 : i32, pads_nan = false, swizzle = 0 : i32},
// CHECK-SAME: {base = 1 : i32, box = array<i32: 32, 64>
module attributes {tilegpu.num_warps = 4 : i32} {
func.func @grouped(%table: !tile.ptr<i64>, %b: !tile.ptr<f16>, %out: !tile.ptr<i64>, %sizes: !tile.ptr<i32>, %n: i32 {tile.divisibility = 8 : i32}, %s: i64) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %pid = "tile.get_program_id"() {axis = 0 : i32} : () -> i32
  %n64 = arith.extsi %n : i32 to i64
  // CHECK: scf.for
  scf.for %g = %c0 to %n step %c1 : i32 {
    %at = "tile.addptr"(%table, %g) : (!tile.ptr<i64>, i32) -> !tile.ptr<i64>
    // CHECK: %[[A:.+]] = "tile.load"
    // CHECK: "tile.load"
    %address = "tile.load"(%at) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i64>) -> i64
    %size_at = "tile.addptr"(%sizes, %g) : (!tile.ptr<i32>, i32) -> !tile.ptr<i32>
    %k = "tile.load"(%size_at) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i32>) -> i32
    // CHECK: %[[P:.+]] = "tile.int_to_ptr"(%[[A]])
    // CHECK: "tile.map_make"(%[[P]], %{{.+}}, %{{.+}}, %{{.+}}) {map = 0 : i32} : (!tile.ptr<f16>, i64, i64, i64)
    // CHECK: scf.while
    %tiles = scf.while (%x = %pid) : (i32) -> i32 {
      %more = arith.cmpi slt, %x, %n : i32
      scf.condition(%more) %x : i32
    } do {
    ^bb0(%tile: i32):
      // CHECK: scf.for
      // CHECK-NOT: map_make
      %sum = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
        %a = "tile.int_to_ptr"(%address) : (i64) -> !tile.ptr<f16>
        %k64 = arith.extsi %k : i32 to i64
        // CHECK: "tile.map_load"(%{{.+}}, %{{.+}}) {map = 0 : i32}
        %xl = "tile.descriptor_load"(%a, %n64, %k64, %k64, %tile, %i) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<64x32xf16>
        // CHECK: "tile.map_load"(%{{.+}}, %{{.+}}) {map = 1 : i32}
        %yl = "tile.descriptor_load"(%b, %n64, %n64, %s, %i, %c0) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<32x64xf16>
        %d = "tile.dot"(%xl, %yl, %acc) {input_precision = "tf32", max_num_imprecise_acc = 0 : i32} : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }
      // The kernel may store where a pointer from the same table leads to.
      // CHECK: "tile.descriptor_load"
      // WHY: loaded without TMA: the kernel may write that memory
      %from_out = "tile.load"(%out) {cache = "", evict = "", is_volatile = false, operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i64>) -> i64
      %o = "tile.int_to_ptr"(%from_out) : (i64) -> !tile.ptr<f32>
      %old = "tile.descriptor_load"(%o, %n64, %n64, %s, %tile, %c0) {operandSegmentSizes = array<i32: 1, 2, 1, 2>, padding = "zero"} : (!tile.ptr<f32>, i64, i64, i64, i32, i32) -> tensor<64x64xf32>
      %new = arith.addf %old, %sum : tensor<64x64xf32>
      "tile.descriptor_store"(%o, %n64, %n64, %s, %tile, %c0, %new) {operandSegmentSizes = array<i32: 1, 2, 1, 2, 1>} : (!tile.ptr<f32>, i64, i64, i64, i32, i32, tensor<64x64xf32>) -> ()
      %next = arith.addi %tile, %c1 : i32
      scf.yield %next : i32
    }
  }
  return
}
}
