// SPDX-License-Identifier: Apache-2.0
// Block pointers, and tiles subscripted by numbers and slices.
#include "emitted.h"
#include "suites_emit.h"

START_TEST(block_pointers) {
  CHECK_IR(
      "def k(x: ptr[f16], m: i32, n: i32, s: i32):\n"
      "  p = tl.make_block_ptr(x, shape=(m, n), strides=(s, 1), offsets=(8 * tl.program_id(0), 0), "
      "block_shape=(8, 16), order=(1, 0))\n"
      "  a = tl.load(p, boundary_check=(0, 1), padding_option='zero')\n"
      "  tl.store(p, a.to(p.dtype.element_ty), boundary_check=(0,))\n"
      "  tl.static_assert(p.type.element_ty == tl.float16)\n",
      "tile.make_range", "end = 8", "arith.extsi", "arith.muli", "tile.expand_dims", "axis = 1",
      "tile.addptr", "arith.cmpi sge", "arith.cmpi slt", "arith.andi", "tile.make_range",
      "end = 16", "axis = 0", "tile.addptr", "arith.cmpi slt", "arith.andi",
      "operandSegmentSizes = array<i32: 1, 1, 0>", "tensor<8x16xf16>", "\"tile.store\"",
      "tensor<8x16xi1>");
  // Its offsets are what a loop carries.
  CHECK_IR("def k(x: ptr[f32], n: i32):\n"
           "  p = tl.make_block_ptr(base=x, shape=[n], strides=[1], offsets=[0], block_shape=[16], "
           "order=[0])\n"
           "  acc = tl.zeros((16,), tl.float32)\n"
           "  for i in range(0, n, 16):\n"
           "    acc += tl.load(p, boundary_check=0, padding_option='nan', "
           "eviction_policy='evict_first')\n"
           "    p = p.advance((16,))\n"
           "  tl.store(x + tl.arange(0, 16), acc)\n",
           "scf.for", "iter_args(", "i32)", "0x7FC00000", "tile.load", "evict_first",
           "array<i32: 1, 1, 1>", "scf.yield", "i32");
  CHECK_IR("@jit\n"
           "def next(p, by):\n"
           "  return tl.advance(p, [by, 0])\n"
           "@jit\n"
           "def k(x: ptr[f32], n: i64, c: i32):\n"
           "  p = make_block_ptr(x, (n, 64), (64, 1), (n, 0), (4, 4))\n"
           "  if c > 3:\n"
           "    p = next(p, 3)\n"
           "  store(p, load(p))\n",
           "scf.if", "-> (i64)", "array<i32: 1, 0, 0>");
}
END_TEST

START_TEST(block_pointer_errors) {
#define BLOCK(more)                                                                                \
  "def k(x: ptr[f32], n: i32):\n"                                                                  \
  "  p = make_block_ptr(x, (n,), (1,), (0,), (16,), (0,))\n" more
  check_error(BLOCK("  a = load(p, mask=n > 3)\n"), "E0515");
  check_error(BLOCK("  a = load(p, other=0)\n"), "E0515");
  check_error(BLOCK("  a = load(p, boundary_check=(1,))\n"), "E0509");
  check_error(BLOCK("  a = load(p, padding_option='one')\n"), "E0504");
  check_error(BLOCK("  a = load(x + n, boundary_check=(0,))\n"), "E0515");
  check_error(BLOCK("  p = advance(p, (1, 2))\n"), "E0515");
  check_error(BLOCK("  p = advance(x, (1,))\n"), "E0515");
  check_error(BLOCK("  q = p + 3\n"), "E0203");
  check_error(BLOCK("  q = p[0]\n"), "E0212");
  check_error(BLOCK("  a, b = p\n"), "E0230");
  check_error("def k(x: ptr[f32], n: i32):\n  p = make_block_ptr(x, (n, n), (1,), (0,), (16,))\n",
              "E0515");
  check_error("def k(x: ptr[f32], n: i32):\n  p = make_block_ptr(x, (n,), (1,), (0,), (15,))\n",
              "E0205");
  check_error("def k(x: ptr[f32], n: f32):\n  p = make_block_ptr(x, (n,), (1,), (0,), (16,))\n",
              "E0515");
}
END_TEST

START_TEST(descriptors) {
  CHECK_IR("def k(x: ptr[f16], m: i32, n: i64, s: i32):\n"
           "  d = tl.make_tensor_descriptor(x, shape=[m, n], strides=[s, 1], block_shape=[8, 16])\n"
           "  tl.static_assert(d.dtype == tl.float16 and d.block_shape[1] == 16)\n"
           "  tl.static_assert(d.block_type.shape == [8, 16] and len(d.shape) == 2)\n"
           "  tl.static_assert(d.shape[0].dtype == tl.int32 and d.shape[1].dtype == tl.int64)\n"
           "  tl.static_assert(d.strides[0].dtype == tl.int64 and d.strides[1] == 1)\n"
           "  tl.static_assert(isinstance(d, tl.tensor_descriptor) and not isinstance(d, tuple))\n"
           "  tl.static_assert(not isinstance(x, tl.tensor_descriptor))\n"
           "  d.store([m, 3], d.load([0, -1]).to(tl.float32))\n",
           "arith.extsi %arg3", "tile.descriptor_load", "array<i32: 1, 2, 1, 2>", "\"zero\"",
           "(!tile.ptr<f16>, i64, i64, i64, i32, i32) -> tensor<8x16xf16>", "arith.extf",
           "arith.truncf", "\"tile.descriptor_store\"", "array<i32: 1, 2, 1, 2, 1>");
  // What a loop or a branch changes are its components.
  CHECK_IR("@jit\n"
           "def make(p, n):\n"
           "  return tl.make_tensor_descriptor(p, [n], [1], [16], padding_option='nan')\n"
           "@jit\n"
           "def k(x: ptr[f32], y: ptr[f32], n: i32):\n"
           "  d, e = make(x, n), make(y, 77)\n"
           "  for i in range(n):\n"
           "    d, e = e, d\n"
           "  if n > 3:\n"
           "    d = make(x + n, n - 3)\n"
           "  tl.store_tensor_descriptor(d, [0], tl.load_tensor_descriptor(e, [n]))\n",
           "scf.for", "!tile.ptr<f32>, i32, !tile.ptr<f32>, i32)", "scf.if",
           "-> (!tile.ptr<f32>, i32)", "tile.descriptor_load", "\"nan\"", "tile.descriptor_store");
  CHECK_IR("def k(x: ptr[u32], f: ptr[bf16], r: ptr[i32], n: i32):\n"
           "  d = tl.make_tensor_descriptor(x, (n,), (1,), (16,))\n"
           "  d.atomic_max([n], tl.full((16,), 5, tl.int8))\n"
           "  e = tl.make_tensor_descriptor(f, (n, n), (64, 1), (1, 32))\n"
           "  e.atomic_add(offsets=[0, 0], value=zeros((1, 32), tl.float32))\n"
           "  rows = tl.load(r + arange(0, 16))\n"
           "  e.scatter(e.gather(rows, n), rows, 3)\n",
           "\"umax\"", "\"fadd\"", "tile.descriptor_gather", "array<i32: 1, 2, 1, 1, 1>",
           "tensor<16x32xbf16>", "tile.descriptor_scatter");
  // The goldens E0518-*.tile have the other errors.
  check_error("def k(x: ptr[f32]):\n  d = tl.make_tensor_descriptor(x, [8], [1], [8])\n"
              "  a = tl.load(d)\n",
              "E0507");
}
END_TEST

START_TEST(subscripts) {
  CHECK_IR("def k(x: ptr[f32], n: i32, I: constexpr = 2):\n"
           "  t = load(x + arange(0, 8)[:, None] * 16 + arange(0, 16)[None, :])\n"
           "  store(x, t[3, -1])\n"
           "  store(x + arange(0, 16), t[I])\n"
           "  store(x + arange(0, 8), t[:, n])\n"
           "  store(x + arange(0, 4)[:, None] + arange(0, 4)[None, :], t[4:, 1:9:2])\n"
           "  store(x + arange(0, 8)[:, None, None], t[..., None, 5:6])\n",
           "dense<3>", "(tensor<8x16xf32>, tensor<1x16xi32>) -> tensor<1x16xf32>",
           "(tensor<1x16xf32>) -> tensor<16xf32>", "dense<15>",
           "(tensor<16xf32>, tensor<1xi32>) -> tensor<1xf32>", "tile.unsplat", "dense<2>",
           "tensor<16xf32>", "tile.splat", "(tensor<8x16xf32>, tensor<8x1xi32>) -> tensor<8x1xf32>",
           "(tensor<8x1xf32>) -> tensor<8xf32>",
           "(tensor<8x16xf32>, tensor<4x16xi32>) -> tensor<4x16xf32>",
           "(tensor<4x16xf32>, tensor<4x4xi32>) -> tensor<4x4xf32>",
           "(tensor<8x1x16xf32>, tensor<8x1x1xi32>) -> tensor<8x1x1xf32>");
  struct emitted r = emit_good("def k(x: ptr[f32]):\n"
                               "  t = load(x + arange(0, 8))\n"
                               "  store(x + arange(0, 8), t[0:8][:][0:])\n"
                               "  store(x, load(x + zeros((1,), i32))[0])\n");
  ck_assert_ptr_null(strstr(strbuf_cstr(&r.ir), "tile.gather"));
  emitted_free(&r);
}
END_TEST

TCase *blocks_tests(void) {
  TCase *t = tcase_create("blocks");
  tcase_add_test(t, block_pointers);
  tcase_add_test(t, block_pointer_errors);
  tcase_add_test(t, descriptors);
  tcase_add_test(t, subscripts);
  return t;
}
