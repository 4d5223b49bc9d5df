// SPDX-License-Identifier: Apache-2.0
// Collective kernels on the CPU device against references in C: reductions and scans by any
// function, maps, subscripts, pairs, histograms, calls, block pointers, records.
#include <tile/tile.h>

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 8, COLUMNS = 32, COUNT = ROWS * COLUMNS, OUT = 1024 };

static tile_device *device;

static void need(tile_status status) {
  if (status != TILE_OK)
    ck_abort_msg("%s: %s", tile_status_name(status), tile_error_message());
}

// Integers in no order, some of them equal.
static int input(int i) { return (i * 37 + i / 5) % 101 - 50; }

struct run {
  int x[COUNT], out[OUT], want[OUT];
  int used;
};

static void expect(struct run *r, int v) {
  ck_assert_int_lt(r->used, OUT);
  r->want[r->used++] = v;
}

// Runs k(x, out, ROWS, COLUMNS) in one program and compares.
static void check(const char *text, struct run *r) {
  tile_kernel *k;
  need(tile_kernel_from_source(device, "test.tile", text, strlen(text), "k", &k));
  for (int i = 0; i < OUT; i++)
    r->out[i] = 0;
  tile_arg args[] = {tile_arg_pointer(r->x, TILE_I32), tile_arg_pointer(r->out, TILE_I32),
                     tile_arg_i32(ROWS), tile_arg_i32(COLUMNS)};
  need(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 4));
  need(tile_stream_synchronize(device, NULL));
  for (int i = 0; i < r->used; i++)
    ck_assert_msg(r->out[i] == r->want[i], "%s\nout[%d] = %d, expected %d", text, i, r->out[i],
                  r->want[i]);
  tile_kernel_close(k);
}

static void begin(struct run *r) {
  memset(r, 0, sizeof *r);
  for (int i = 0; i < COUNT; i++)
    r->x[i] = input(i);
}

#define HEAD                                                                                       \
  "@jit\n"                                                                                         \
  "def k(x: ptr[i32], out: ptr[i32], rows: i32, columns: i32):\n"                                  \
  "  i, j = arange(0, 8), arange(0, 32)\n"                                                         \
  "  t = load(x + i[:, None] * 32 + j[None, :])\n"

START_TEST(reductions) {
  struct run r;
  begin(&r);
  for (int i = 0; i < ROWS; i++) { // the smallest and its first index
    int best = 0;
    for (int j = 1; j < COLUMNS; j++)
      best = r.x[i * COLUMNS + j] < r.x[i * COLUMNS + best] ? j : best;
    expect(&r, r.x[i * COLUMNS + best] * 100 + best);
  }
  for (int j = 0; j < COLUMNS; j++) {
    int sum = 0;
    for (int i = 0; i < ROWS; i++)
      sum += r.x[i * COLUMNS + j];
    expect(&r, sum);
  }
  int all = 0;
  for (int i = 0; i < COUNT; i++)
    all ^= r.x[i] * 3;
  expect(&r, all);
  check("@jit\n"
        "def smaller(a, p, b, q):\n"
        "  first = (a < b) or (a == b and p < q)\n"
        "  return (a if first else b), tl.where(first, p, q)\n"
        "@jit\n"
        "def add(a, b):\n"
        "  return a + b\n" HEAD "  def tangle(a, b):\n"
        "    return a ^ b\n"
        "  v, p = tl.reduce((t, tl.broadcast_to(j[None, :], t.shape)), 1, smaller)\n"
        "  store(out + i, v * 100 + p)\n"
        "  s = t.reduce(0, add, keep_dims=True)\n"
        "  store(out + 8 + j[None, :], s)\n"
        "  store(out + 40, tl.reduce(t * 3, None, tangle))\n",
        &r);
}
END_TEST

START_TEST(scans) {
  struct run r;
  begin(&r);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0, sum = 0; j < COLUMNS; j++)
      expect(&r, sum += r.x[i * COLUMNS + j]);
  int largest[COUNT];
  for (int i = ROWS - 1; i >= 0; i--)
    for (int j = 0; j < COLUMNS; j++) {
      int v = r.x[i * COLUMNS + j], below = i + 1 < ROWS ? largest[(i + 1) * COLUMNS + j] : v;
      largest[i * COLUMNS + j] = v > below ? v : below;
    }
  for (int i = 0; i < COUNT; i++)
    expect(&r, largest[i]);
  check("@jit\n"
        "def add(a, b):\n"
        "  return a + b\n" HEAD "  o = i[:, None] * 32 + j[None, :]\n"
        "  store(out + o, tl.associative_scan(t, 1, add))\n"
        "  store(out + 256 + o, tl.associative_scan(t, -2, tl.maximum, reverse=True))\n",
        &r);
}
END_TEST

START_TEST(maps) {
  struct run r;
  begin(&r);
  for (int i = 0; i < COUNT; i++) {
    int a = abs(r.x[i]) + 1, steps = 0;
    for (; a != 1 && steps < 50; steps++)
      a = a % 2 ? 3 * a + 1 : a / 2;
    expect(&r, steps);
  }
  for (int i = 0; i < COUNT; i++)
    expect(&r, r.x[i ^ 1]);
  check("@jit\n"
        "def collatz(a):\n"
        "  steps = 0\n"
        "  while a != 1 and steps < 50:\n"
        "    a = 3 * a + 1 if a % 2 == 1 else a // 2\n"
        "    steps += 1\n"
        "  return steps\n"
        "@jit\n"
        "def swap(a, b):\n"
        "  return b, a\n" HEAD "  o = arange(0, 256)\n"
        "  v = load(x + o)\n"
        "  store(out + o, tl.map_elementwise(collatz, tl.abs(v) + 1))\n"
        "  w, = tl.map_elementwise(swap, v, pack=2)\n"
        "  store(out + 256 + o, w)\n",
        &r);
}
END_TEST

static int stirred(int a, int b) {
  uint32_t u = (uint32_t)a;
  for (uint32_t i = 0; i < 12 && a > 30; i++)
    u = (u * 5 + i) ^ (uint32_t)b;
  return (int)u;
}

// A long branch for a few elements is executed once per thread.
START_TEST(rare_branches) {
  static const char text[] = "@jit\n"
                             "def stir(a, b):\n"
                             "  s = a - b\n"
                             "  if a > 30:\n"
                             "    for i in static_range(12):\n"
                             "      a = (a * 5 + i) ^ b\n"
                             "  return a, s + b\n"
                             "@jit\n"
                             "def stir_pair(a, c, b, d):\n"
                             "  if (a > 30) | (c > 30):\n"
                             "    a = where(a > 30, stir(a, b)[0], a)\n"
                             "    c = where(c > 30, stir(c, d)[0], c)\n"
                             "  return a, c, b, d\n"
                             "@jit\n"
                             "def k(x: ptr[i32], out: ptr[i32], rows: i32, columns: i32):\n"
                             "  o = arange(0, 256)\n"
                             "  v = load(x + o)\n"
                             "  a, b = tl.map_elementwise(stir, v, o)\n"
                             "  c, d = tl.map_elementwise(stir_pair, v, o, pack=2)\n"
                             "  store(out + o, a)\n"
                             "  store(out + 256 + o, b)\n"
                             "  store(out + 512 + o, c)\n"
                             "  store(out + 768 + o, d)\n";
  for (unsigned warps = 1; warps <= 8; warps *= 2) {
    struct run r;
    begin(&r);
    tile_kernel *k;
    need(tile_kernel_from_source(device, "test.tile", text, strlen(text), "k", &k));
    need(tile_kernel_set_warps(k, warps));
    tile_arg args[] = {tile_arg_pointer(r.x, TILE_I32), tile_arg_pointer(r.out, TILE_I32),
                       tile_arg_i32(ROWS), tile_arg_i32(COLUMNS)};
    need(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 4));
    need(tile_stream_synchronize(device, NULL));
    for (int i = 0; i < COUNT; i++) {
      ck_assert_int_eq(r.out[i], stirred(r.x[i], i));
      ck_assert_int_eq(r.out[COUNT + i], r.x[i]);
      ck_assert_int_eq(r.out[2 * COUNT + i], stirred(r.x[i], i));
      ck_assert_int_eq(r.out[3 * COUNT + i], i);
    }
    tile_kernel_close(k);
  }
}
END_TEST

START_TEST(subscripts_and_pairs) {
  struct run r;
  begin(&r);
  for (int j = 0; j < COLUMNS; j++)
    expect(&r, r.x[3 * COLUMNS + j]);
  for (int j = 0; j < 4; j++)
    expect(&r, r.x[2 * COLUMNS + 5 + 3 * j]);
  expect(&r, r.x[COUNT - 1]);
  for (int i = 0; i < ROWS; i++)
    expect(&r, r.x[i * COLUMNS + ROWS]);
  for (int j = 0; j < COLUMNS; j++)
    expect(&r, r.x[COLUMNS - 1 - j]);
  for (int j = 0; j < 16; j++)
    expect(&r, r.x[2 * j] * 10 - r.x[2 * j + 1]);
  int bins[16] = {0};
  for (int i = 0; i < COUNT; i++)
    if (r.x[i] >= 0 && r.x[i] < 16)
      bins[r.x[i]]++;
  for (int b = 0; b < 16; b++)
    expect(&r, bins[b]);
  check(HEAD "  store(out + j, t[3])\n"
             "  store(out + 32 + arange(0, 4), t[2, 5:17:3])\n"
             "  store(out + 36, t[-1, -1])\n"
             "  store(out + 37 + i, t[:, rows])\n"
             "  store(out + 45 + j, tl.gather(t[0], 31 - j, 0))\n"
             "  a, b = t[0].reshape(16, 2).split()\n"
             "  c, d = tl.join(b, a).split()\n"
             "  store(out + 77 + arange(0, 16), a * 10 - c + d - a)\n"
             "  store(out + 93 + arange(0, 16), t.ravel().histogram(16))\n",
        &r);
}
END_TEST

START_TEST(calls_and_records) {
  struct run r;
  begin(&r);
  for (int i = 0; i < ROWS; i++)
    expect(&r, r.x[i] > 0 ? r.x[i] * 2 : -1);
  int total = 0, largest = -1000;
  for (int i = 0; i < ROWS; i++)
    total += r.x[i], largest = r.x[i] > largest ? r.x[i] : largest;
  expect(&r, total);
  expect(&r, largest);
  expect(&r, 8);
  expect(&r, 5);
  expect(&r, 1);
  check("class Stats(NamedTuple):\n"
        "  total: tl.tensor\n"
        "  largest: tl.tensor = -1000\n"
        "  @triton.jit\n"
        "  def seen(self, v):\n"
        "    return Stats(self.total + v, max(self.largest, v))\n"
        "@jit(noinline=True)\n"
        "def twice(x, i, N: tl.constexpr):\n"
        "  v = load(x + i)\n"
        "  if v > 0:\n"
        "    return v * N, i + 1\n"
        "  return -1, i + 1\n" HEAD "  s = Stats(0)\n"
        "  n = 0\n"
        "  for m in range(rows):\n"
        "    s = s.seen(load(x + m))\n"
        "    v, n = twice(x, n, N=2)\n"
        "    store(out + m, v)\n"
        "  store(out + 8, s.total)\n"
        "  store(out + 9, s.largest)\n"
        "  store(out + 10, n)\n"
        "  old = tl.atomic_cas(out + 11, 0, 5)\n"
        "  same = tl.atomic_cas(out + 11, 0, 7)\n"
        "  store(out + 12, tl.atomic_poll(out + 11, same).to(i32) + old)\n",
        &r);
}
END_TEST

START_TEST(block_pointers) {
  struct run r;
  begin(&r);
  int rows = 5, columns = 27; // of ROWS and COLUMNS
  for (int j = 0; j < columns; j++)
    for (int i = 0; i < rows; i++)
      expect(&r, r.x[i * COLUMNS + j]);
  int sum = 0;
  for (int i = 0; i < COUNT; i++)
    sum += i % COLUMNS < columns && i / COLUMNS < rows ? r.x[i] : 0;
  expect(&r, sum);
  check(HEAD "  p = tl.make_block_ptr(x, (5, 27), (columns, 1), (0, 0), (8, 8), (1, 0))\n"
             "  q = tl.make_block_ptr(out, (27, 5), (5, 1), (0, 0), (8, 8), (1, 0))\n"
             "  total = 0\n"
             "  for c in range(0, 27, 8):\n"
             "    v = tl.load(p, boundary_check=(0, 1), padding_option='zero')\n"
             "    tl.store(q, v.T, boundary_check=(0, 1))\n"
             "    total += tl.reduce(v, None, tl.add)\n"
             "    p = tl.advance(p, (0, 8))\n"
             "    q = tl.advance(q, (8, 0))\n"
             "  store(out + 135, total)\n",
        &r);
}
END_TEST

// Threads read the clock at different times; all leave a loop, and take a branch, together.
START_TEST(clocks) {
  static const char text[] =
      "@jit(noinline=True)\n"
      "def late(end):\n"
      "  return tl.extra.cuda.globaltimer() >= end\n"
      "@jit\n"
      "def k(x: ptr[i32], out: ptr[i32], rows: i32, columns: i32):\n"
      "  n = 0\n"
      "  for i in range(32):\n"
      "    n += 1 - tl.atomic_poll(out + 1000, 1, timeout_ns=200 + i * 3700).to(i32)\n"
      "    end = tl.extra.cuda.globaltimer() + 20000\n"
      "    while tl.extra.cuda.globaltimer() < end:\n"
      "      n += 1\n"
      "    if tl.extra.cuda.globaltimer() % 16 < 8:\n"
      "      n += 1000\n"
      "    while not late(end + 20000):\n"
      "      n += 1\n"
      "  store(out + tl.arange(0, 256), n)\n";
  struct run r;
  begin(&r);
  tile_kernel *k;
  need(tile_kernel_from_source(device, "test.tile", text, strlen(text), "k", &k));
  tile_arg args[] = {tile_arg_pointer(r.x, TILE_I32), tile_arg_pointer(r.out, TILE_I32),
                     tile_arg_i32(ROWS), tile_arg_i32(COLUMNS)};
  need(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 4));
  need(tile_stream_synchronize(device, NULL));
  ck_assert_int_ge(r.out[0], 32);
  for (int i = 1; i < 256; i++)
    ck_assert_int_eq(r.out[i], r.out[0]);
  tile_kernel_close(k);
}
END_TEST

// A launch with NULL for `y`, that is, None; `out` gets BLOCK, EVEN and HAS_Y as one number.
static void launch_tuned(tile_kernel *k, struct run *r, int rows, bool has_y, int want) {
  tile_arg args[] = {tile_arg_pointer(r->x, TILE_I32), tile_arg_pointer(r->out, TILE_I32),
                     tile_arg_i32(rows), tile_arg_pointer(has_y ? r->x : NULL, TILE_I32)};
  r->out[0] = -1;
  need(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 4));
  need(tile_stream_synchronize(device, NULL));
  ck_assert_int_eq(r->out[0], want);
}

START_TEST(decorators) {
  static const char text[] =
      "import triton\n"
      "import triton.language as tl\n"
      "@triton.autotune([triton.Config({'BLOCK': b}, num_warps=b // 16) for b in (32, 64)], "
      "['n'])\n"
      "@triton.heuristics({'EVEN': lambda args: args['n'] % args['BLOCK'] == 0})\n"
      "@triton.heuristics(values={'HAS_Y': lambda args: args['y'] is not None})\n"
      "@triton.jit\n"
      "def k(x, out, n, y, BLOCK: tl.constexpr, EVEN: tl.constexpr, HAS_Y: tl.constexpr):\n"
      "  tl.store(out, BLOCK * 100 + EVEN * 10 + HAS_Y + tl.sum(tl.load(x + tl.arange(0, BLOCK))) "
      "* 0)\n";
  struct run r;
  begin(&r);
  tile_kernel *k;
  need(tile_kernel_from_source(device, "test.tile", text, strlen(text), "k", &k));
  for (int again = 0; again < 2; again++) {
    launch_tuned(k, &r, 96, true, 3211);
    launch_tuned(k, &r, 80, true, 3201);
    launch_tuned(k, &r, 96, false, 3210);
    for (int n = 1000; n < 1600; n += 100)
      launch_tuned(k, &r, n, true, n % 32 ? 3201 : 3211);
  }
  need(tile_kernel_set_constant(k, "BLOCK", "64"));
  launch_tuned(k, &r, 96, true, 6401);
  need(tile_kernel_set_constant(k, "EVEN", "True"));
  launch_tuned(k, &r, 96, true, 6411);
  need(tile_kernel_set_constant(k, "BLOCK", "128"));
  launch_tuned(k, &r, 100, true, 12811);
  tile_kernel_close(k);
}
END_TEST

START_TEST(decorators_that_fail) {
  static const char text[] = "import triton\n"
                             "@triton.heuristics({'WIDE': lambda args: args['x'].shape[0]})\n"
                             "@triton.jit\n"
                             "def k(x, WIDE: tl.constexpr):\n"
                             "  tl.store(x, WIDE)\n";
  int x = 0;
  tile_kernel *k;
  need(tile_kernel_from_source(device, "test.tile", text, strlen(text), "k", &k));
  tile_arg args[] = {tile_arg_pointer(&x, TILE_I32)};
  ck_assert_int_eq(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 1), TILE_COMPILE_ERROR);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "[E0463]"));
  need(tile_kernel_set_constant(k, "WIDE", "7"));
  need(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 1));
  need(tile_stream_synchronize(device, NULL));
  ck_assert_int_eq(x, 7);
  tile_kernel_close(k);
}
END_TEST

static void open_device(void) { need(tile_device_open("cpu", &device)); }
static void close_device(void) { tile_device_close(device); }

int main(void) {
  Suite *s = suite_create("lang-run-kernels");
  TCase *t = tcase_create("run");
  tcase_add_checked_fixture(t, open_device, close_device);
  tcase_set_timeout(t, 120);
  tcase_add_test(t, reductions);
  tcase_add_test(t, scans);
  tcase_add_test(t, maps);
  tcase_add_test(t, rare_branches);
  tcase_add_test(t, subscripts_and_pairs);
  tcase_add_test(t, calls_and_records);
  tcase_add_test(t, block_pointers);
  tcase_add_test(t, clocks);
  tcase_add_test(t, decorators);
  tcase_add_test(t, decorators_that_fail);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_set_fork_status(runner, CK_NOFORK);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
