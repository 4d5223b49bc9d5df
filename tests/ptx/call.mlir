// RUN: tilec %s --target sm_90a --num-warps 1 --emit=ptx -o - | FileCheck %s
// Calls of functions: registers in, registers out; the callee's shared memory is the kernel's.
#A = #tilegpu.blocked<{order = [0], size_per_thread = [2], threads_per_warp = [32], warps_per_cta = [1]}>
#B = #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], warps_per_cta = [1]}>
module {
  // CHECK: .entry k(
  // CHECK: call.uni (retval0), k__swap, (param0, param1);
  // CHECK: call.uni (retval0), k__swap, (param0, param1);
  // CHECK: ret;
  // CHECK: .func (.param .align 16 .b8 func_retval0[8]) k__swap(
  // CHECK-NEXT: .param .b32 k__swap_param_0,
  // CHECK-NEXT: .param .b32 k__swap_param_1
  // CHECK: .loc 1 [[# @LINE + 4]]
  // CHECK: st.param.v2.b32 [func_retval0]
  // CHECK: ret;
  func.func private @swap(%x: tensor<64xf32, #A>) -> tensor<64xf32, #B> {
    %y = "tilegpu.convert_layout"(%x) : (tensor<64xf32, #A>) -> tensor<64xf32, #B>
    %z = arith.negf %y : tensor<64xf32, #B>
    return %z : tensor<64xf32, #B>
  }
  func.func @k(%p: !tile.ptr<f32>) attributes {tile.kernel} {
    %one = arith.constant dense<1.0> : tensor<64xf32, #A>
    %r = "tile.make_range"() {start = 0 : i32, end = 64 : i32} : () -> tensor<64xi32, #A>
    %x = arith.sitofp %r : tensor<64xi32, #A> to tensor<64xf32, #A>
    %y = func.call @swap(%x) : (tensor<64xf32, #A>) -> tensor<64xf32, #B>
    %z = func.call @swap(%one) : (tensor<64xf32, #A>) -> tensor<64xf32, #B>
    %s = arith.addf %y, %z : tensor<64xf32, #B>
    %i = "tile.make_range"() {start = 0 : i32, end = 64 : i32} : () -> tensor<64xi32, #B>
    %ps = "tile.splat"(%p) : (!tile.ptr<f32>) -> tensor<64x!tile.ptr<f32>, #B>
    %at = "tile.addptr"(%ps, %i) : (tensor<64x!tile.ptr<f32>, #B>, tensor<64xi32, #B>) -> tensor<64x!tile.ptr<f32>, #B>
    "tile.store"(%at, %s) {cache = "", evict = ""} : (tensor<64x!tile.ptr<f32>, #B>, tensor<64xf32, #B>) -> ()
    return
  }
}
