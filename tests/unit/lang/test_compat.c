// SPDX-License-Identifier: Apache-2.0
// Files as in libraries of kernels: host code around the kernels is skipped or evaluated.
#include "emitted.h"
#include "suites_emit.h"

START_TEST(types_of_the_host) {
  CHECK_IR("import torch\n"
           "import numpy as np\n"
           "import triton.language as tl\n"
           "BIG = tl.constexpr(torch.iinfo(torch.int32).max)\n"
           "SMALL = torch.finfo(torch.float16).min\n"
           "EPS: tl.constexpr = np.finfo(np.float32).eps\n"
           "LOW = torch.iinfo(torch.uint8).min + torch.iinfo('int16').bits\n"
           "MAX8 = torch.finfo(torch.float8_e4m3fn).max\n"
           "@triton.jit\n"
           "def k(x: ptr[f32], n: ptr[i32]):\n"
           "  tl.store(n, BIG)\n"
           "  tl.store(x, SMALL)\n"
           "  tl.store(x, EPS)\n"
           "  tl.store(n, LOW)\n"
           "  tl.store(x, MAX8 if torch.half == tl.float16 else 0.0)\n"
           "  tl.store(x, -torch.inf)\n",
           "2147483647", "-6.550400e+04", "1.1920929E-7", "16 : i32", "4.480000e+02", "0xFF800000");
  check_error("import torch\n@triton.jit\ndef k(n: i32):\n  a = torch.zeros(3)\n", "E0201");
  check_error("import torch\n@triton.jit\ndef k(n: i32):\n  a = torch.finfo(torch.int8)\n",
              "E0503");
}
END_TEST

START_TEST(python_at_compile_time) {
  // Functions evaluated at compile time may call host code; kernels may not.
  CHECK_IR("import triton.language as tl\n"
           "def plain(o):\n"
           "  return o.value if isinstance(o, tl.constexpr) else o\n"
           "@tl.constexpr\n"
           "def int_type(bits: tl.constexpr, signed):\n"
           "  bits = plain(bits)\n"
           "  assert bits >= 8, 'too narrow'\n"
           "  return tl.core.get_int_dtype(bits, signed)\n"
           "SIZE = plain(64)\n"
           "@triton.jit\n"
           "def k(n: ptr[i32], x: ptr[f64]):\n"
           "  t: tl.constexpr = int_type(tl.load(x).dtype.primitive_bitwidth, False)\n"
           "  tl.static_assert(t == tl.uint64)\n"
           "  tl.store(n, tl.load(n).to(t) + SIZE)\n",
           "arith.extsi", "arith.constant 64 : i64");
  check_error("def f(n):\n  return n\n@triton.jit\ndef k(n: i32):\n  a = f(3)\n", "E0311");
  check_error("@tl.constexpr\ndef f(n):\n  assert n > 3, 'small'\n  return n\n"
              "@triton.jit\ndef k(n: i32):\n  a = f(3)\n",
              "E0303");
  check_error("@tl.constexpr\ndef f(n):\n  return tl.core.get_int_dtype(n, True)\n"
              "@triton.jit\ndef k(n: i32):\n  a = f(3)\n",
              "E0503");
}
END_TEST

START_TEST(what_is_refused) {
  check_error("def k(x: ptr[i32]):\n  a: constexpr = '{} {}'.format(1)\n", "E0310");
  check_error("def k(x: ptr[i32]):\n  a: constexpr = '{0.real}'.format(1)\n", "E0310");
  check_error("def k(x: ptr[i32]):\n  a: constexpr = '{'.format(1)\n", "E0310");
  check_error("def k(x: ptr[i32]):\n  a: constexpr = '}'.format(1)\n", "E0310");
  check_error("def k(x: ptr[i32]):\n  a: constexpr = '{!z}'.format(1)\n", "E0310");
  check_error("def k(x: ptr[i32]):\n  a: constexpr = '{:d}'.format('s')\n", "E0310");
  check_error("def k(x: ptr[i32]):\n  a: constexpr = '{}'.format(load(x))\n", "E0301");
  check_error("def k(x: ptr[i32]):\n  a: constexpr = '%d %d' % (1,)\n", "E0310");
  check_error("def k(x: ptr[i32]):\n  a: constexpr = '%d' % (1, 2)\n", "E0310");
  check_error("def k(x: ptr[i32]):\n  a: constexpr = '%d' % 'x'\n", "E0310");
  check_error("def k(x: ptr[i32]):\n  a: constexpr = '%q' % 1\n", "E0310");
  check_error("def k(x: ptr[i32]):\n  a: constexpr = '%' % 1\n", "E0310");
  check_error("def k(x: ptr[i32]):\n  a: constexpr = '%9999999d%9999999d' % (1, 2)\n", "E0310");
  check_error("def k(x: ptr[f32]):\n  store(x, rand(1.5, 3))\n", "E0303");
  check_error("def k(x: ptr[i32]):\n  a = x[:, None]\n", "E0212");
  check_error("def k(x: ptr[i32]):\n  a = x[None, 0]\n", "E0212");
  check_error("from triton.experimental import gluon\n"
              "from triton.experimental.gluon import language as gl\n"
              "@gluon.jit\ndef k(x, B: gl.constexpr):\n  gl.store(x, 1)\n",
              "E0502");
  check_error("def k(x: ptr[i32]):\n  return 1\nk = numba.jit(k)\n", "E0219");
}
END_TEST

START_TEST(casts) {
  CHECK_IR(
      "def k(x: ptr[f32], q: ptr[f8e5]):\n"
      "  o = tl.arange(0, 16)\n"
      "  a = tl.load(x + o, volatile=True, cache_modifier='.cv', eviction_policy='')\n"
      "  b = a.to(tl.float32, fp_downcast_rounding='rtne')\n"
      "  c = a.to(tl.float8e4nv, fp_downcast_rounding='rtz')\n"
      "  d = tl.cast(a.to(tl.float8e5), tl.uint8, bitcast=True)\n"
      "  e = (3).to(tl.int64) + tl.cast(3, tl.int32) + tl.where(True, 1, 2)\n"
      "  f = a.to('fp16') + a.to(tl.dtype('bf16'))\n"
      "  p = tl.max_contiguous(tl.multiple_of(x + o, 16), 16)\n"
      "  tl.store(q + o, a.to(tl.float8e5), cache_modifier='.wt', eviction_policy='evict_first')\n"
      "  tl.store(p, b + c.to(f32) + d + e + f)\n",
      "cache = \"cv\"", "is_volatile = true", "rounding = \"rtz\"", "f8E4M3FN", "arith.bitcast",
      "tile.contiguity = array<i32: 16>, tile.divisibility = array<i32: 16>", "cache = \"wt\"");
  check_error("def k(x: ptr[f32]):\n  a = tl.load(x).to(tl.float8e4b8)\n", "E0502");
  struct emitted r = emit_good("def k(x: ptr[f32]):\n"
                               "  tl.static_assert(x.dtype.element_ty != tl.float8e4b8)\n");
  emitted_free(&r);
}
END_TEST

START_TEST(files_of_libraries) {
  static const char text[] =
      "from __future__ import annotations\n"
      "import functools, os\n"
      "import torch\n"
      "import triton\n"
      "import triton.language as tl\n"
      "try:\n"
      "    import extra\n"
      "    HAS_EXTRA = True\n"
      "except ImportError:\n"
      "    HAS_EXTRA = False\n"
      "from .utils import libentry, TOTAL\n"
      "SIZES = [64, 128] if TOTAL else [32]\n"
      "configs = [triton.Config({'BLOCK': b}, num_warps=w) for b in SIZES for w in (1, 2)]\n"
      "_types = {torch.float32: tl.float32, **{}}\n"
      "class Act(enum.Enum):\n"
      "    RELU = 1\n"
      "    def f(self): return self.value\n"
      "if HAS_EXTRA:\n"
      "    @triton.jit\n"
      "    def grow(x):\n"
      "        return tl.exp(x)\n"
      "else:\n"
      "    @triton.jit\n"
      "    def grow(x):\n"
      "        return tl.exp2(x * 1.44269504)\n"
      "def keep(conf):\n"
      "    match conf:\n"
      "        case 1: return True\n"
      "    return lambda *a, **k: {**k}\n"
      "@functools.lru_cache\n"
      "def cached(): ...\n"
      "@libentry()\n"
      "@triton.autotune(configs=[c for c in configs if keep(c)], key=['N'],\n"
      "                 prune_configs_by={'early_config_prune': keep, 'top_k': 3})\n"
      "@triton.heuristics({\n"
      "    'EVEN': lambda args: args['N'] % args['BLOCK'] == 0,\n"
      "})\n"
      "@triton.jit(do_not_specialize=['N', 'eps'], debug=True)\n"
      "def kernel(\n"
      "    x: ptr[f16],  # *Pointer* to input\n"
      "    N: 'tl.int32' = 3,\n"
      "    BLOCK: tl.constexpr = 128,\n"
      "    EVEN: tl.constexpr = False,\n"
      "    ACT: tl.constexpr = 'relu',\n"
      ") -> None:\n"
      "    \"\"\"Doc\n"
      "    string.\"\"\"\n"
      "    offs = tl.program_id(axis=0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)\n"
      "    if EVEN:\n"
      "        v = tl.load(x + offs)\n"
      "    else:\n"
      "        v = tl.load(x + offs, mask=offs < N, other=0.)\n"
      "    v = grow(v.to(tl.float32))\n"
      "    if ACT == 'relu':\n"
      "        v = tl.where(v > 0, v, 0.0)\n"
      "    elif ACT == 'gelu':\n"
      "        v = gelu(v)\n"
      "    else:\n"
      "        tl.static_assert(False, f'unknown {ACT}')\n"
      "    tl.store(x + offs, v.to(x.dtype.element_ty), mask=offs < N)\n"
      "class Function(torch.autograd.Function):\n"
      "    @staticmethod\n"
      "    @guard\n"
      "    def forward(ctx, x, *, a: int = 3, **kwargs):\n"
      "        grid = lambda META: (triton.cdiv(x.numel(), META['BLOCK']),)\n"
      "        with device.device(x.device):\n"
      "            kernel[grid](x, x, N=1, **kwargs)\n"
      "        return x @ x\n"
      "async def main():\n"
      "    async with a as b: await c\n"
      "if __name__ == '__main__':\n"
      "    main()\n";
  CHECK_IR(text, "@kernel", "math.exp2", "tile.store");
}
END_TEST

TCase *compat_tests(void) {
  TCase *t = tcase_create("compat");
  tcase_add_test(t, types_of_the_host);
  tcase_add_test(t, python_at_compile_time);
  tcase_add_test(t, what_is_refused);
  tcase_add_test(t, casts);
  tcase_add_test(t, files_of_libraries);
  return t;
}
