// SPDX-License-Identifier: Apache-2.0
// The builder: costs and code of configurations from several threads, for a GPU that this machine
// lacks.
#include "autotune/tune_build.h"
#include "suites.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "@jit\n"
    "def scale(x: ptr[f32] % 16, out: ptr[f32] % 16, n: i32, k: i32, BLOCK: constexpr = 256,\n"
    "          FILL: constexpr = 1):\n"
    "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
    "    s = load(x + i, mask=i < n, other=0)\n"
    "    for j in range(k):\n"
    "        s = s * 1.5 + 2.0\n"
    "    store(out + i, s, mask=i < n)\n"
    "\n"
    "@jit\n"
    "def wide(x: ptr[f32] % 16, BLOCK: constexpr = 128):\n"
    "    i = arange(0, BLOCK)[:, None] * BLOCK + arange(0, BLOCK)[None, :]\n"
    "    store(x + i, trans(load(x + i)))\n"
    "\n"
    "@jit\n"
    "def loud(x: ptr[f32] % 16, BLOCK: constexpr = 128):\n"
    "    device_print(\"x\", load(x + arange(0, BLOCK)))\n";

static struct arena *arena;
static struct tune_space space;
static struct tune_problem problem;
static tile_device_properties device;
static struct tune_builder *builder;

static void add_dim(enum tune_dim_kind kind, const char *name, size_t n,
                    const char *const *values) {
  struct tune_dim *d = &space.dims[space.dim_count++];
  *d = (struct tune_dim){.kind = kind, .name = name, .count = n};
  d->values = arena_dup(arena, values, n * sizeof *values, _Alignof(const char *));
}

static void add_config(unsigned a, unsigned b) {
  space.configs[space.count++] = (struct tune_config){{(uint16_t)a, (uint16_t)b}};
}

static void set_up(void) {
  static const char *const blocks[] = {"128", "256", "1000"}, *const warps[] = {"2", "4"};
  static tile_arg args[4];
  static const char *const names[] = {"x", "out", "n", "k"};
  arena = arena_create();
  args[0] = args[1] = tile_arg_pointer((void *)4096, TILE_F32);
  args[2] = tile_arg_i32(10000);
  args[3] = tile_arg_i32(32);
  space = (struct tune_space){0};
  space.configs = arena_array(arena, struct tune_config, 16);
  add_dim(TUNE_CONSTANT, "BLOCK", 3, blocks);
  add_dim(TUNE_WARPS, "num_warps", 2, warps);
  for (unsigned i = 0; i < 6; i++)
    add_config(i / 2, i % 2);
  problem = (struct tune_problem){.file = "scale.tile",
                                  .text = {text, sizeof text - 1},
                                  .kernel = "scale",
                                  .args = args,
                                  .arg_count = 4,
                                  .arg_names = names,
                                  .grid = "cdiv(n,BLOCK)*FILL"};
  ck_assert(tune_device_assumed("sm_90a", &device));
  builder = NULL;
}

static void tear_down(void) {
  tune_builder_close(builder);
  arena_destroy(arena);
}

static void open_builder(unsigned threads) {
  tile_status s = tune_builder_open(&problem, &space, &device, threads, &builder);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
}

static struct tune_built build(enum tune_stage stage, uint32_t config) {
  struct tune_built t;
  tune_builder_submit(builder, stage, config);
  ck_assert(tune_builder_next(builder, -1, &t));
  ck_assert_uint_eq(t.config, config);
  return t;
}

START_TEST(costs_follow_arguments_and_constants) {
  open_builder(1);
  struct tune_built t = build(TUNE_ANALYSED, 1);
  ck_assert_msg(t.ok, "%s", t.reason);
  ck_assert_uint_eq(t.grid.x, 79);
  ck_assert(t.cost.is_exact);
  ck_assert_uint_eq(t.cost.num_warps, 4);
  ck_assert_double_eq(t.cost.global_read, 128 * 4);
  ck_assert_double_eq(t.cost.global_written, 128 * 4);
  ck_assert_double_eq(t.cost.common_read, 0);
  ck_assert_double_ge(t.cost.fma_flops, 32 * 2 * 128);
  ck_assert_double_le(t.cost.fma_flops, 32 * 2 * 128 * 1.1);
  ck_assert_double_gt(t.prediction.ms, 0);
  ck_assert_double_le(t.prediction.bound_ms, t.prediction.ms);
  t = build(TUNE_ANALYSED, 3);
  ck_assert_double_eq(t.cost.global_read, 256 * 4);
}
END_TEST

START_TEST(what_does_not_compile_says_why) {
  open_builder(2);
  struct tune_built t = build(TUNE_ANALYSED, 4);
  ck_assert(!t.ok);
  ck_assert_msg(strstr(t.reason, "scale.tile:4:") && !strchr(t.reason, '\n'), "%s", t.reason);
  t = build(TUNE_COMPILED, 4);
  ck_assert(!t.ok && t.reason);
  problem.grid = "cdiv(n,BLOK)";
  t = build(TUNE_ANALYSED, 0);
  ck_assert(!t.ok);
  ck_assert_msg(strstr(t.reason, "BLOK"), "%s", t.reason);
}
END_TEST

START_TEST(reasons_are_errors_not_warnings) {
  static const char *const blocks[] = {"512"};
  problem.kernel = "wide"; // a warning for its elements, an error for its shared memory
  problem.arg_count = 1;
  problem.grid = "1";
  space.dim_count = 0;
  add_dim(TUNE_CONSTANT, "BLOCK", 1, blocks);
  open_builder(1);
  struct tune_built t = build(TUNE_ANALYSED, 0);
  ck_assert(!t.ok);
  ck_assert_msg(strstr(t.reason, ": error: ") && !strstr(t.reason, "warning"), "%s", t.reason);
}
END_TEST

START_TEST(code_comes_with_a_hash) {
  open_builder(2);
  struct tune_built a = build(TUNE_COMPILED, 0), b = build(TUNE_COMPILED, 1);
  struct tune_built again = build(TUNE_COMPILED, 0);
  ck_assert(a.ok && b.ok && again.ok);
  ck_assert_ptr_nonnull(strstr(a.code.ptr, ".target sm_90a"));
  ck_assert_uint_eq(a.info.num_warps, 2);
  ck_assert_mem_eq(a.hash, again.hash, sizeof a.hash);
  ck_assert_mem_ne(a.hash, b.hash, sizeof a.hash);
}
END_TEST

// Local memory that the kernel declares: the arguments of a print.
START_TEST(local_memory_of_the_source) {
  open_builder(1);
  ck_assert_uint_eq(build(TUNE_COMPILED, 0).local_bytes, 0);
  tune_builder_close(builder);
  problem.kernel = "loud";
  problem.arg_count = 1;
  problem.grid = "1";
  open_builder(1);
  struct tune_built t = build(TUNE_COMPILED, 0);
  ck_assert_msg(t.ok, "%s", t.reason);
  // Two elements a thread: three numbers of the program, one of the element, its value as f64.
  ck_assert_uint_eq(t.local_bytes, 2 * (4 * 4 + 8));
}
END_TEST

START_TEST(equal_code_on_another_grid_is_another) {
  static const char *const fills[] = {"1", "2"};
  space.dim_count = 1;
  space.count = 0;
  add_dim(TUNE_CONSTANT, "FILL", 2, fills);
  add_config(0, 0);
  add_config(0, 1);
  open_builder(1);
  struct tune_built a = build(TUNE_COMPILED, 0), b = build(TUNE_COMPILED, 1);
  ck_assert_uint_eq(2 * a.grid.x, b.grid.x);
  ck_assert_uint_eq(a.code.len, b.code.len);
  ck_assert_mem_ne(a.hash, b.hash, sizeof a.hash);
}
END_TEST

START_TEST(threads_fail_all_and_the_descriptor_tells) {
  open_builder(4);
  struct pollfd fd = {.fd = tune_builder_fd(builder), .events = POLLIN};
  struct tune_built t;
  ck_assert_int_eq(poll(&fd, 1, 0), 0);
  ck_assert(!tune_builder_next(builder, -1, &t)); // nothing is open
  for (uint32_t i = 0; i < 60; i++)
    tune_builder_submit(builder, i % 5 ? TUNE_ANALYSED : TUNE_COMPILED, i % 4);
  ck_assert_int_eq(poll(&fd, 1, 60000), 1);
  unsigned seen[4] = {0}, all = 0;
  for (; tune_builder_next(builder, -1, &t); all++) {
    ck_assert_msg(t.ok, "%s", t.reason);
    seen[t.config]++;
  }
  ck_assert_uint_eq(all, 60);
  for (unsigned i = 0; i < 4; i++)
    ck_assert_uint_eq(seen[i], 15);
  ck_assert_int_eq(poll(&fd, 1, 0), 0);
  for (uint32_t i = 0; i < 40; i++) // dropped
    tune_builder_submit(builder, TUNE_COMPILED, i % 4);
}
END_TEST

static bool grid_by_hand(void *user, const struct tune_space *s, size_t config, tile_grid *ret) {
  unsigned *calls = user;
  ck_assert_ptr_eq(s, &space);
  *ret = (tile_grid){7, 3, 1};
  return ++*calls > 1 || config != 0;
}

START_TEST(the_grid_may_be_a_function) {
  unsigned calls = 0;
  problem.grid_of = grid_by_hand;
  problem.grid_user = &calls;
  open_builder(1);
  ck_assert(!build(TUNE_ANALYSED, 0).ok);
  struct tune_built t = build(TUNE_ANALYSED, 0);
  ck_assert_msg(t.ok, "%s", t.reason);
  ck_assert_uint_eq(t.grid.y, 3);
}
END_TEST

START_TEST(what_does_not_fit_is_pruned) {
  problem.kernel = "wide";
  problem.arg_count = 1;
  problem.grid = "1";
  space.configs[0] = (struct tune_config){{0, 1}};
  open_builder(1);
  device.shared_limit = 16 << 10; // of the real device
  tune_builder_device(builder, &device);
  struct tune_built t = build(TUNE_ANALYSED, 0);
  ck_assert(!t.ok);
  ck_assert_msg(strstr(t.reason, "bytes of shared memory; a program may use 16384"), "%s",
                t.reason);
}
END_TEST

START_TEST(the_cpu_is_a_target_too) {
  ck_assert(tune_device_assumed("cpu", &device));
  open_builder(2);
  struct tune_built t = build(TUNE_ANALYSED, 0), c = build(TUNE_COMPILED, 0);
  ck_assert_msg(t.ok && c.ok, "%s %s", t.reason, c.reason);
  ck_assert_double_gt(t.prediction.ms, 0);
  ck_assert_uint_gt(c.code.len, 100);
  ck_assert_str_eq(c.info.target, "cpu");
}
END_TEST

Suite *build_suite(void) {
  Suite *s = suite_create("builds");
  TCase *t = tcase_create("configurations");
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_set_timeout(t, 120);
  tcase_add_test(t, costs_follow_arguments_and_constants);
  tcase_add_test(t, what_does_not_compile_says_why);
  tcase_add_test(t, reasons_are_errors_not_warnings);
  tcase_add_test(t, code_comes_with_a_hash);
  tcase_add_test(t, local_memory_of_the_source);
  tcase_add_test(t, equal_code_on_another_grid_is_another);
  tcase_add_test(t, threads_fail_all_and_the_descriptor_tells);
  tcase_add_test(t, the_grid_may_be_a_function);
  tcase_add_test(t, what_does_not_fit_is_pruned);
  tcase_add_test(t, the_cpu_is_a_target_too);
  suite_add_tcase(s, t);
  return s;
}
