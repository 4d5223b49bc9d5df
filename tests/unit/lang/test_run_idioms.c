// SPDX-License-Identifier: Apache-2.0
// Idioms of published Triton files, run on the CPU device: what a kernel stores is compared with
// what Python and Triton would compute.
#include <tile/tile.h>

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 8 };

static tile_device *device;

static void need(tile_status status) {
  if (status != TILE_OK)
    ck_abort_msg("%s: %s", tile_status_name(status), tile_error_message());
}

static tile_kernel *kernel_of(const char *text, const char *name) {
  tile_kernel *k;
  need(tile_kernel_from_source(device, "test.py", text, strlen(text), name, &k));
  return k;
}

static void expect(tile_kernel *k, const tile_arg *args, size_t count, const int *got,
                   const int *want) {
  need(tile_launch(k, NULL, (tile_grid){COUNT, 1, 1}, args, count));
  need(tile_stream_synchronize(device, NULL));
  for (int i = 0; i < COUNT; i++)
    ck_assert_msg(got[i] == want[i], "out[%d] = %d, expected %d", i, got[i], want[i]);
}

// ---- arguments that are None ----

START_TEST(none_is_a_compile_time_value) {
  static const char text[] = "import triton.language as tl\n"
                             "@triton.heuristics({'HAS': lambda a: a['b'] is not None})\n"
                             "@triton.jit\n"
                             "def k(x, b, out, scale, HAS: tl.constexpr):\n"
                             "  i = tl.program_id(0)\n"
                             "  v = tl.load(x + i)\n"
                             "  if b is not None:\n"
                             "    v += tl.load(b + i)\n"
                             "  if scale is not None:\n"
                             "    v *= scale\n"
                             "  tl.static_assert(HAS == (b is not None))\n"
                             "  tl.store(out + i, v)\n";
  int x[COUNT], b[COUNT], out[COUNT], want[4][COUNT];
  for (int i = 0; i < COUNT; i++) {
    x[i] = i, b[i] = 100 * i;
    want[0][i] = x[i], want[1][i] = x[i] + b[i], want[2][i] = 0, want[3][i] = 3 * (x[i] + b[i]);
  }
  tile_kernel *k = kernel_of(text, NULL);
  tile_arg args[] = {tile_arg_pointer(x, TILE_I32), tile_arg_none(),
                     tile_arg_pointer(out, TILE_I32), tile_arg_none()};
  expect(k, args, 4, out, want[0]);
  args[1] = tile_arg_pointer(b, TILE_I32);
  expect(k, args, 4, out, want[1]);
  args[1] = tile_arg_none(), args[3] = tile_arg_i32(0); // zero is not None
  expect(k, args, 4, out, want[2]);
  args[1] = tile_arg_pointer(b, TILE_I32), args[3] = tile_arg_i32(3);
  expect(k, args, 4, out, want[3]);
  args[1] = args[3] = tile_arg_none(); // compiled already
  expect(k, args, 4, out, want[0]);
  tile_kernel_close(k);
}
END_TEST

START_TEST(none_where_it_cannot_be) {
  tile_kernel *k = kernel_of("def k(x: ptr[i32], n: i32):\n  tl.store(x, tl.load(x) + n)\n", NULL);
  int x = 0;
  tile_arg args[] = {tile_arg_pointer(&x, TILE_I32), tile_arg_none()};
  tile_grid one = {1, 1, 1};
  ck_assert_int_eq(tile_launch(k, NULL, one, args, 2), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "(`n`) must be i32, got None"));
  args[0] = tile_arg_none(), args[1] = tile_arg_i32(1);
  ck_assert_int_eq(tile_launch(k, NULL, one, args, 2), TILE_COMPILE_ERROR);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "use it only under `if x is not None:`"));
  tile_kernel_close(k);
}
END_TEST

// ---- tuples of arguments ----

static const char tuple_text[] = "@triton.jit\n"
                                 "def total(pointers, i):\n"
                                 "  v = tl.load(pointers[0] + i)\n"
                                 "  for p in pointers[1:]:\n"
                                 "    v += tl.load(p + i).to(v.dtype)\n"
                                 "  return v\n"
                                 "@triton.jit\n"
                                 "def k(pointers, strides, out, SHAPE: tl.constexpr):\n"
                                 "  i = tl.program_id(0)\n"
                                 "  step, (one, bias) = strides\n"
                                 "  v = total(pointers, i * one)\n"
                                 "  if bias is not None:\n"
                                 "    v += bias\n"
                                 "  tl.static_assert(len(strides) == 2)\n"
                                 "  tl.store(out + i, v * step + SHAPE[1][0] + len(SHAPE))\n";

START_TEST(tuples_of_arguments) {
  int x[COUNT], out[COUNT], want[COUNT];
  float y[COUNT];
  tile_kernel *k = kernel_of(tuple_text, "k");
  need(tile_kernel_set_constant(k, "SHAPE", "(4, (1000,))"));
  need(tile_kernel_set_tuple(k, "strides", 2));
  need(tile_kernel_set_tuple(k, "pointers", 2));
  need(tile_kernel_set_tuple(k, "strides[1]", 2));
  tile_arg args[] = {tile_arg_pointer(x, TILE_I32),
                     tile_arg_pointer(y, TILE_F32),
                     tile_arg_i32(10),
                     tile_arg_i32(1),
                     tile_arg_none(),
                     tile_arg_pointer(out, TILE_I32)};
  for (int i = 0; i < COUNT; i++)
    x[i] = i, y[i] = 2.0f, want[i] = (i + 2) * 10 + 1002;
  expect(k, args, 6, out, want);
  args[4] = tile_arg_i32(7);
  for (int i = 0; i < COUNT; i++)
    want[i] = (i + 2 + 7) * 10 + 1002;
  expect(k, args, 6, out, want);
  ck_assert_int_eq(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 5), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "takes 6 arguments, got 5"));
  ck_assert_int_eq(tile_kernel_set_tuple(k, "out", 1), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "before its first launch"));
  tile_kernel_close(k);
}
END_TEST

START_TEST(what_is_no_tuple) {
  tile_kernel *k = kernel_of("def k(x: ptr[i32], s, N: constexpr):\n  tl.store(x, s[0])\n", NULL);
  ck_assert_int_eq(tile_kernel_set_tuple(k, "x", 2), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "has a type"));
  ck_assert_int_eq(tile_kernel_set_tuple(k, "N", 2), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_tuple(k, "z", 2), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "no run-time parameter `z`"));
  ck_assert_int_eq(tile_kernel_set_tuple(k, "s", 0), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_tuple(k, "s", 257), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_tuple(NULL, "s", 1), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_tuple(k, NULL, 1), TILE_INVALID_ARGUMENT);
  need(tile_kernel_set_tuple(k, "s", 1)); // a tuple of one is no number
  need(tile_kernel_set_constant(k, "N", "(3,)"));
  int x = 0;
  tile_arg args[] = {tile_arg_pointer(&x, TILE_I32), tile_arg_i32(5)};
  need(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 2));
  ck_assert_int_eq(x, 5);
  tile_kernel_close(k);
}
END_TEST

// A result that is written over an operand, which a sum that the loop carries reads too.
START_TEST(sums_beside_stores_in_place) {
  enum { LANES = 64, BLOCKS = 4 };
  tile_kernel *k = kernel_of("def k(x: ptr[f32], y: ptr[f32], out: ptr[f32], sums: ptr[f32]):\n"
                             "  i = tl.arange(0, 64)\n"
                             "  acc = tl.zeros([64], tl.float32)\n"
                             "  for b in range(0, 4):\n"
                             "    v = tl.load(x + b * 64 + i) * 3.0\n"
                             "    acc = acc + v * tl.load(y + b * 64 + i)\n"
                             "    tl.store(out + b * 64 + i, v * 5.0)\n"
                             "  tl.store(sums + i, acc)\n",
                             NULL);
  float x[LANES * BLOCKS], y[LANES * BLOCKS], sums[LANES];
  for (int over = 0; over < 2; over++) {
    for (int i = 0; i < LANES * BLOCKS; i++)
      x[i] = (float)(i % 7), y[i] = (float)(i % 5);
    tile_arg args[] = {tile_arg_pointer(x, TILE_F32), tile_arg_pointer(y, TILE_F32),
                       tile_arg_pointer(over ? y : x, TILE_F32), tile_arg_pointer(sums, TILE_F32)};
    need(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 4));
    for (int i = 0; i < LANES; i++) {
      float want = 0;
      for (int b = 0; b < BLOCKS; b++)
        want += 3 * (float)((b * LANES + i) % 7) * (float)((b * LANES + i) % 5);
      ck_assert_msg(sums[i] == want, "sum %d is %g, not %g", i, (double)sums[i], (double)want);
    }
    for (int i = 0; i < LANES * BLOCKS; i++)
      ck_assert(over ? y[i] == 15 * (float)(i % 7) : x[i] == 15 * (float)(i % 7));
  }
  tile_kernel_close(k);
}
END_TEST

// Elements that are constants, and an empty tuple, are no arguments of a launch.
START_TEST(constants_in_tuples) {
  tile_kernel *k =
      kernel_of("def k(out: ptr[i32], s, empty, n):\n"
                "  tl.static_assert(len(empty) == 0 and s[1][0].type == tl.constexpr_type(5))\n"
                "  plain = s[1][0]\n"
                "  tl.static_assert(plain.type == tl.int32)\n"
                "  if s[1][1] == \"add\":\n"
                "    tl.store(out, s[0] + s[1][0] + n)\n",
                NULL);
  ck_assert_int_eq(tile_kernel_set_constant(k, "n", "3"), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "run-time parameter"));
  ck_assert_int_eq(tile_kernel_set_constant(k, "out", "()"), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_constant(k, "s[1][0]", "5"), TILE_INVALID_ARGUMENT);
  need(tile_kernel_set_tuple(k, "s", 2));
  need(tile_kernel_set_tuple(k, "s[1]", 2));
  need(tile_kernel_set_constant(k, "s[1][0]", "5"));
  need(tile_kernel_set_constant(k, "s[1][1]", "\"add\""));
  need(tile_kernel_set_constant(k, "empty", "()"));
  int out = 0;
  tile_arg args[] = {tile_arg_pointer(&out, TILE_I32), tile_arg_i32(20), tile_arg_i32(300)};
  need(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 3));
  ck_assert_int_eq(out, 325);
  ck_assert_int_eq(tile_kernel_set_constant(k, "s[0]", "1"), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "before its first launch"));
  need(tile_kernel_set_constant(k, "s[1][0]", "6")); // a constant already
  tile_kernel_close(k);
}
END_TEST

// ---- control flow ----

struct flow_case {
  const char *name, *body;
  int want[COUNT];
};

// `i` is the program id, `x` holds 0 to 7, `n` is 3; `out` is -1 where a program stores nothing.
static const struct flow_case flow_cases[] = {
    {"a return in one branch, under a compile-time condition",
     "  if V:\n"
     "    if i >= n:\n"
     "      return\n"
     "    last = tl.load(x + i) + 1\n"
     "  else:\n"
     "    last = i\n"
     "  tl.store(out + i, last)\n",
     {1, 2, 3, -1, -1, -1, -1, -1}},
    {"returns in several branches",
     "  if i < 2:\n"
     "    last = i\n"
     "  elif i < 6:\n"
     "    if i == n:\n"
     "      return\n"
     "    p = x + 1\n"
     "    last = i + tl.load(p)\n"
     "  else:\n"
     "    return\n"
     "  tl.store(out + i, last)\n",
     {0, 1, 3, -1, 5, 6, -1, -1}},
    {"another type on the path that returns",
     "  v = tl.load(x + i)\n"
     "  if i < 4:\n"
     "    if v > 1:\n"
     "      v = 2.5\n"
     "      return\n"
     "    w = x\n"
     "  else:\n"
     "    w = x + i\n"
     "    if v == 5:\n"
     "      w = 7.0\n"
     "      return\n"
     "  tl.store(out + i, v * 10 + tl.load(w))\n",
     {0, 10, -1, -1, 44, -1, 66, 77}},
    {"tuples, and compile-time values that stay such",
     "  if i < 5:\n"
     "    if i == n:\n"
     "      return\n"
     "    SIZE = 4\n"
     "    t = (i, x + i)\n"
     "  else:\n"
     "    return\n"
     "  tl.store(out + i, tl.sum(tl.arange(0, SIZE)) + t[0] * 10 + tl.load(t[1]))\n",
     {6, 17, 28, -1, 50, -1, -1, -1}},
    {"a return in an unrolled loop",
     "  for j in tl.static_range(2):\n"
     "    if i == j + n:\n"
     "      return\n"
     "    last = i + j\n"
     "  tl.store(out + i, last)\n",
     {1, 2, 3, -1, -1, 6, 7, 8}},
    {"a helper that returns early",
     "  tl.store(out + i, helper(x, i, n))\n",
     {100, 1, 2, -7, 4, 5, 6, 7}},
};

START_TEST(values_after_an_early_return) {
  const struct flow_case *c = &flow_cases[_i];
  char text[2048];
  snprintf(text, sizeof text,
           "@triton.jit\n"
           "def helper(x, i, n):\n"
           "  if i <= n:\n"
           "    if i == n:\n"
           "      return -7\n"
           "    p = x + i\n"
           "    if i == 0:\n"
           "      return 100\n"
           "    more = 0\n"
           "  else:\n"
           "    p = x + 1\n"
           "    more = i - 1\n"
           "  return tl.load(p) + more\n"
           "@triton.jit\n"
           "def k(x, out, n, V: tl.constexpr):\n"
           "  i = tl.program_id(0)\n%s",
           c->body);
  int x[COUNT], out[COUNT];
  for (int i = 0; i < COUNT; i++)
    x[i] = i, out[i] = -1;
  tile_kernel *k = kernel_of(text, "k");
  need(tile_kernel_set_constant(k, "V", "1"));
  tile_arg args[] = {tile_arg_pointer(x, TILE_I32), tile_arg_pointer(out, TILE_I32),
                     tile_arg_i32(3)};
  expect(k, args, 3, out, c->want);
  tile_kernel_close(k);
}
END_TEST

// ---- Python around kernels ----

struct file_case {
  const char *name, *text;
  int want; // what `k` stores; it has the parameters x (holds 5), out
};

static const struct file_case file_cases[] = {
    {"str.format, f-strings and % at compile time",
     "@triton.jit\n"
     "def k(x, out, N: tl.constexpr = 7):\n"
     "  a: tl.constexpr = '{}|{:>4}|{1:<3}|{name!r}|{{}}'.format(N, 'b', name='q')\n"
     "  b: tl.constexpr = '%d|%5.2f|%s|%-3x|%03d|%%|%r' % (N, 1.5, N == 7, 255, 9, 's')\n"
     "  c: tl.constexpr = 'v%d' % N\n"
     "  tl.static_assert(a == \"7|   b|b  |'q'|{}\", a)\n"
     "  tl.static_assert(b == \"7| 1.50|True|ff |009|%|'s'\", b)\n"
     "  tl.static_assert(c == 'v7' and '{0}{0}'.format(N) == f'{N}{N}')\n"
     "  tl.store(out, len(a) * 100 + len(b))\n",
     1726},
    {"signs, bases, percentages and padding of numbers",
     "@triton.jit\n"
     "def k(x, out, N: tl.constexpr = -3):\n"
     "  a: tl.constexpr = '{:05d}|{:+d}|{:#b}|{:.1%}|{: "
     "d}|{:<+6}|{:=6d}|{:#010x}|{:^+5}|'.format(\n"
     "      N, 4, 5, 0.25, 7, 1.5, -2, 255, 1)\n"
     "  tl.static_assert(a == '-0003|+4|0b101|25.0%| 7|+1.5  |-    2|0x000000ff| +1  |', a)\n"
     "  b: tl.constexpr = f'{-1.5:08.2f}|{1e10:G}|{float(\"-inf\"):F}|{-0.0}|{N:+}|{2:e}'\n"
     "  tl.static_assert(b == '-0001.50|1E+10|-inf|-0.0|-3|2.000000e+00', b)\n"
     "  tl.store(out, len(a) * 100 + len(b))\n",
     5540},
    {"types of numbers known at compile time, as Triton names them",
     "@triton.jit\n"
     "def classify(v):\n"
     "  if isinstance(v.type, tl.constexpr_type):\n    return 10 * v.type.value\n"
     "  return 1\n"
     "@triton.jit\n"
     "def k(x, out, N: tl.constexpr = 4):\n"
     "  tl.static_assert(N.type == tl.constexpr_type(4) and N.type != tl.constexpr_type(5))\n"
     "  tl.static_assert(isinstance(N, tl.constexpr) and not isinstance(N.type, tl.constexpr))\n"
     "  tl.store(out, classify(N) + classify(tl.load(x)))\n",
     41},
    {"functions of the language as compile-time arguments",
     "from triton.language.extra.cuda import globaltimer\n"
     "@triton.jit\n"
     "def since(start, CLOCK: tl.constexpr):\n  return CLOCK() - start\n"
     "@triton.jit\n"
     "def k(x, out, CLOCK: tl.constexpr = globaltimer, FOLD: tl.constexpr = tl.maximum):\n"
     "  late = since(CLOCK(), CLOCK) >= 0\n"
     "  tl.store(out, tl.reduce(tl.arange(0, 8), 0, FOLD) + late.to(tl.int32))\n",
     8},
    {"powers with integers as exponents",
     "from triton.language.extra import libdevice\n"
     "@triton.jit\n"
     "def k(x, out):\n"
     "  n = tl.load(x)\n"
     "  a = libdevice.pow(2.0, n) + libdevice.pow(n.to(tl.float32), tl.arange(0, 4).to(tl.int64))\n"
     "  tl.store(out, tl.sum(a).to(tl.int32))\n",
     284},
    {"conditions that one compile-time part decides, wherever it stands",
     "@triton.jit\n"
     "def k(x, out, KEEP: tl.constexpr = False):\n"
     "  v = tl.load(x)\n"
     "  if KEEP:\n    p = out + 1\n"
     "  if v == 5 and KEEP:\n    tl.store(p, v)\n"
     "  if v > 9 or not KEEP:\n    r = 7\n"
     "  if v > 4 and not KEEP and v < 6:\n    r += 30\n"
     "  tl.static_assert((v > 0 and KEEP) == False)\n"
     "  tl.store(out, r)\n",
     37},
    {"assembly from a template",
     "@triton.jit\n"
     "def k(x, out, S: tl.constexpr = 'N'):\n"
     "  asm: tl.constexpr = '{name}.{w}'.format(name='op', w=32)\n"
     "  tl.store(out, len(asm))\n",
     5},
    {"functions that become kernels by a call",
     "def helper(v):\n  return v * 2\n"
     "twice = triton.jit(helper)\n"
     "@triton.jit\n"
     "def other(v):\n  return v + 1\n"
     "def host(v):\n  try:\n    return 1\n  except Exception:\n    raise\n"
     "def k(x, out):\n  tl.store(out, twice(tl.load(x)) + other(0))\n"
     "k = triton.jit(k)\n",
     11},
    {"functions of libdevice by importlib and getattr",
     "import importlib\n"
     "def find(name):\n"
     "  m = importlib.import_module('triton.language.extra.libdevice')\n"
     "  return getattr(m, name)\n"
     "root = find('sqrt')\n"
     "power = getattr(tl.extra.libdevice, 'pow')\n"
     "@triton.jit\n"
     "def k(x, out):\n"
     "  v = tl.load(x).to(tl.float32)\n"
     "  tl.store(out, (root(v * 5) + power(v, 2.0)).to(tl.int32))\n",
     30},
    {"functions of libdevice by a module's spec",
     "import importlib.util\n"
     "def find(name):\n"
     "  places = ('triton.language.missing', 'triton.language.extra.libdevice')\n"
     "  for place in places:\n"
     "    if spec := importlib.util.find_spec(place):\n"
     "      module = importlib.util.module_from_spec(spec)\n"
     "      assert spec.loader is not None\n"
     "      spec.loader.exec_module(module)\n"
     "      return getattr(module, name)\n"
     "  raise ImportError(f'no {name}')\n"
     "root = find('sqrt')\n"
     "@triton.jit\n"
     "def k(x, out):\n"
     "  tl.store(out, root(tl.load(x).to(tl.float32) * 5).to(tl.int32))\n",
     5},
    {"annotations in quotes",
     "@triton.jit\n"
     "def k(x: 'torch.Tensor', out, B: 'tl.constexpr' = 4, *, N: \"constexpr\" = 2):\n"
     "  tl.store(out, tl.sum(tl.load(x + tl.arange(0, B) * 0)) + N)\n",
     22},
    {"the truth of None, texts and tuples",
     "@triton.jit\n"
     "def k(x, out):\n"
     "  tl.static_assert(not bool(None) and bool('0') and not bool('') and not bool(()))\n"
     "  tl.static_assert(bool((0,)) and bool(2.5) and not bool(0))\n"
     "  tl.store(out, 4)\n",
     4},
    {"a device's name found by asking torch",
     "import functools, os, torch\n"
     "@functools.cache\n"
     "def is_hip():\n"
     "  return bool(getattr(getattr(torch, 'version', None), 'hip', None))\n"
     "@functools.cache\n"
     "def device():\n"
     "  if os.environ.get('ALLOW_CPU', '0') == '1':\n"
     "    return 'cpu'\n"
     "  if hasattr(torch, 'npu') or torch.xpu.is_available():\n"
     "    return 'other'\n"
     "  if hasattr(torch, 'cuda') and torch.cuda.is_available():\n"
     "    return 'hip' if is_hip() else 'cuda'\n"
     "  raise NotImplementedError('no device')\n"
     "DEVICE: str = device()\n"
     "if DEVICE == 'cuda':\n"
     "  root = tl.math.sqrt\n"
     "else:\n"
     "  root = tl.extra.intel.libdevice.sqrt\n"
     "@triton.jit\n"
     "def k(x, out):\n"
     "  tl.store(out, root(tl.load(x).to(tl.float32) * 20).to(tl.int32))\n",
     10},
    {"a variable of the environment that is not set",
     "import os\n"
     "def option(name, otherwise):\n"
     "  try:\n"
     "    return int(os.environ[name])\n"
     "  except (ValueError, KeyError) as e:\n"
     "    print(e)\n"
     "  return otherwise\n"
     "WIDTH = option('NOBODY_SETS_IT', 3)\n"
     "@triton.jit\n"
     "def k(x, out):\n"
     "  tl.store(out, tl.load(x) * WIDTH)\n",
     15},
    {"an import that fails in a function",
     "def has_extension():\n"
     "  try:\n"
     "    import torch\n"
     "    from nowhere.to_be_found import extension\n"
     "  except RuntimeError:\n"
     "    return True\n"
     "  except ImportError:\n"
     "    return False\n"
     "  return True\n"
     "def is_there():\n"
     "  try:\n"
     "    import triton.language as language\n"
     "    from triton.language.extra import libdevice\n"
     "  except ImportError:\n"
     "    found = False\n"
     "  else:\n"
     "    found = True\n"
     "  finally:\n"
     "    print('asked')\n"
     "  return found\n"
     "if has_extension():\n"
     "  @triton.jit\n"
     "  def add(v): return v + 100\n"
     "elif is_there():\n"
     "  @triton.jit\n"
     "  def add(v): return v + 2\n"
     "@triton.jit\n"
     "def k(x, out):\n"
     "  tl.store(out, add(tl.load(x)))\n",
     7},
    {"exceptions that handlers take, pass on, or that nested functions raise",
     "import importlib\n"
     "class Missing(Exception):\n"
     "  pass\n"
     "def look(name):\n"
     "  if name not in ('a', 'b'):\n"
     "    raise Missing(name)\n"
     "  return {'a': 1, 'b': 2}[name]\n"
     "def find(names):\n"
     "  for name in names:\n"
     "    try:\n"
     "      try:\n"
     "        return look(name) * 10\n"
     "      except KeyError:\n"
     "        return 1000\n"
     "    except errors.Missing:\n"
     "      continue\n"
     "  return 0\n"
     "def module(names):\n"
     "  for name in names:\n"
     "    try:\n"
     "      m = importlib.import_module(name)\n"
     "    except ModuleNotFoundError:\n"
     "      continue\n"
     "    return m\n"
     "root = module(['triton.language.extra.nothing', 'nowhere', 'triton.language.math']).sqrt\n"
     "FOUND = find(['c', 'b', 'a'])\n"
     "@triton.jit\n"
     "def k(x, out):\n"
     "  tl.store(out, root(tl.load(x).to(tl.float32) * 5).to(tl.int32) + FOUND)\n",
     25},
    {"the versions of Python that Triton runs on, and one active driver",
     "import sys\n"
     "from importlib.util import find_spec\n"
     "from triton.backends import backends\n"
     "OLD = 0 if sys.version_info >= (3, 8) and not sys.version_info < (3, 10) else 100\n"
     "OLDER = 0 if sys.version_info[:2] > (3, 9) and sys.version_info.major == 3 else 100\n"
     "NEW = 200 if sys.version_info <= (2, 7) or sys.version_info >= (4,) else 0\n"
     "HERE = find_spec('triton') is not None and sys.platform == 'linux' and sys.version_info[0] > "
     "2\n"
     "drivers = [b.driver for b in backends.values() if b.driver and b.driver.is_active()]\n"
     "@triton.jit\n"
     "def k(x, out):\n"
     "  tl.store(out, tl.load(x) + HERE + OLD + OLDER + NEW + len(drivers))\n",
     7},
    {"flags count in powers of two",
     "import enum\n"
     "class Option(enum.Flag):\n"
     "  FAST = enum.auto()\n"
     "  WIDE = enum.auto()\n"
     "  LONG = enum.auto()\n"
     "class Bits(enum.IntFlag):\n"
     "  LOW = 5\n"
     "  HIGH = enum.auto()\n"
     "  HIGHER = enum.auto()\n"
     "LONG = Option.LONG.value\n"
     "MASK = Bits.HIGHER | Bits.HIGH\n"
     "@triton.jit\n"
     "def k(x, out):\n"
     "  tl.store(out, tl.load(x) * LONG + MASK)\n",
     44},
    {"other names of jit",
     "from triton import cdiv, jit as device\n"
     "compiled = triton.jit\n"
     "@compiled\n"
     "def twice(v): return v * 2\n"
     "def host(v):\n"
     "  with open(v) as f:\n"
     "    return f\n"
     "def k(x, out):\n"
     "  tl.store(out, twice(tl.load(x)) + helper(1))\n"
     "@device\n"
     "def helper(v): return v + cdiv(5, 2)\n"
     "k = device(k)\n",
     14},
    {"host code beside functions that become kernels by a call",
     "def k(x, out):\n"
     "  tl.store(out, tl.load(x) + 7)\n"
     "k = triton.jit(k)\n"
     "def patch(module):\n"
     "  try:\n"
     "    module.k = k\n"
     "  finally:\n"
     "    del module\n",
     12},
    {"scalars and pointers with new axes",
     "@triton.jit\n"
     "def k(x, out):\n"
     "  p = x[None, None, :] + tl.zeros([1, 1, 4], tl.int32)\n"
     "  s = tl.program_id(0)[None, :] + 3\n"
     "  tl.static_assert(s.shape[0] == 1 and len(s.shape) == 1)\n"
     "  tl.store(out, tl.sum(tl.load(p)) + tl.sum(s) * 0)\n",
     20},
    {"types of numbers known at compile time",
     "@triton.jit\n"
     "def k(x, out, N: tl.constexpr = 3):\n"
     "  f = 1.5\n"
     "  tl.static_assert(N.dtype == tl.int32 and f.dtype == tl.float32)\n"
     "  tl.static_assert((1 << 40).dtype == tl.int64 and (N == 3).dtype == tl.int1)\n"
     "  tl.store(out, tl.full([], 9, N.dtype))\n",
     9},
    {"products of integers are added up in int32",
     "@triton.jit\n"
     "def k(x, out):\n"
     "  a = tl.full([16, 32], 100, tl.int8)\n"
     "  c = tl.dot(a, tl.trans(a), out_dtype=tl.int8)\n"
     "  tl.static_assert(c.dtype == tl.int32)\n"
     "  tl.store(out, tl.max(tl.max(c, 1), 0))\n",
     320000},
    {"members of enumerations in kernels",
     "from enum import Enum\n"
     "class Mode(Enum):\n  ADD = 1\n  MUL = 2\n"
     "@triton.jit\n"
     "def k(x, out, MODE: tl.constexpr = 2):\n"
     "  v = tl.load(x)\n"
     "  if MODE == Mode.MUL.value:\n    v *= 3\n"
     "  tl.store(out, v)\n",
     15},
};

START_TEST(files) {
  const struct file_case *c = &file_cases[_i];
  char text[2048];
  snprintf(text, sizeof text, "import triton\nimport triton.language as tl\n%s", c->text);
  int x[4] = {5, 5, 5, 5}, out = -1;
  tile_kernel *k = kernel_of(text, "k");
  tile_arg args[] = {tile_arg_pointer(x, TILE_I32), tile_arg_pointer(&out, TILE_I32)};
  need(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 2));
  need(tile_stream_synchronize(device, NULL));
  ck_assert_msg(out == c->want, "%s: %d, expected %d", c->name, out, c->want);
  tile_kernel_close(k);
}
END_TEST

static void open_device(void) { need(tile_device_open("cpu", &device)); }
static void close_device(void) { tile_device_close(device); }

int main(void) {
  Suite *s = suite_create("lang-idioms");
  TCase *t = tcase_create("run");
  tcase_add_checked_fixture(t, open_device, close_device);
  tcase_set_timeout(t, 120);
  tcase_add_test(t, none_is_a_compile_time_value);
  tcase_add_test(t, none_where_it_cannot_be);
  tcase_add_test(t, tuples_of_arguments);
  tcase_add_test(t, what_is_no_tuple);
  tcase_add_test(t, constants_in_tuples);
  tcase_add_test(t, sums_beside_stores_in_place);
  tcase_add_loop_test(t, values_after_an_early_return, 0,
                      (int)(sizeof flow_cases / sizeof *flow_cases));
  tcase_add_loop_test(t, files, 0, (int)(sizeof file_cases / sizeof *file_cases));
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_set_fork_status(runner, CK_NOFORK);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
