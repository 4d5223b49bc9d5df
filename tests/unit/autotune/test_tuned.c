// SPDX-License-Identifier: Apache-2.0
// Kernels that choose their configuration, from C: settings and errors, each policy, stored
// results, measuring on the CPU, threads, and the cost of a launch.
#include "../runtime/fake_cuda.h"
#include "autotune/database/database.h"
#include "suites.h"

#include <tile/tune.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { N = 1000 };

static const char source[] =
    "@jit\n"
    "def scale(x: const_ptr[f32], out: ptr[f32], n: i32, by: f32, BLOCK: constexpr = 64, EXTRA: "
    "constexpr = 0):\n"
    "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
    "    store(out + i, load(x + i, mask=i < n) * by + EXTRA, mask=i < n)\n";

static char folder[64], kernel_path[96], results_path[96];
static tile_device *device;
static tile_tuned *tuned;
static float *x, *out;

static void write_text(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  ck_assert_ptr_nonnull(f);
  fputs(text, f);
  fclose(f);
}

static void open_folder(void) {
  snprintf(folder, sizeof folder, "/tmp/tile-tuned-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(kernel_path, sizeof kernel_path, "%s/scale.tile", folder);
  snprintf(results_path, sizeof results_path, "%s/scale.tune.json", folder);
  write_text(kernel_path, source);
}

static void close_folder(void) {
  char command[96];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  ck_assert_int_eq(system(command), 0);
}

static void open_on(const char *name) {
  open_folder();
  ck_assert_int_eq(tile_device_open(name, &device), TILE_OK);
  ck_assert_int_eq(tile_tuned_open(device, kernel_path, NULL, &tuned), TILE_OK);
  ck_assert_int_eq(tile_tuned_set_grid(tuned, "cdiv(n, BLOCK)"), TILE_OK);
  ck_assert_int_eq(tile_tuned_set_space(tuned, "BLOCK=32..128:x2, num_warps=1,2"), TILE_OK);
  ck_assert_int_eq(tile_malloc(device, N * sizeof *x, (void **)&x), TILE_OK);
  ck_assert_int_eq(tile_malloc(device, N * sizeof *out, (void **)&out), TILE_OK);
  for (int i = 0; i < N; i++) {
    x[i] = (float)i;
    out[i] = -1;
  }
}

static void open_cpu(void) { open_on("cpu"); }
static void open_fake(void) { open_on("cuda"); }

static void close_all(void) {
  tile_tuned_close(tuned);
  tile_free(device, x);
  tile_free(device, out);
  tile_device_close(device);
  close_folder();
}

static void fill(tile_arg args[4], int n) {
  args[0] = tile_arg_pointer(x, TILE_F32);
  args[1] = tile_arg_pointer(out, TILE_F32);
  args[2] = tile_arg_i32(n);
  args[3] = tile_arg_f32(2.0f);
}

static tile_status launch(int n) {
  tile_arg args[4];
  fill(args, n);
  return tile_tuned_launch(tuned, NULL, args, 4);
}

// The configuration for n; "" after a failure.
static const char *config_of(int n) {
  tile_arg args[4];
  const char *config = "";
  fill(args, n);
  ck_assert_msg(tile_tuned_get_config(tuned, args, 4, &config) == TILE_OK, "%s",
                tile_error_message());
  return config;
}

static void expect_message(tile_status got, tile_status wanted, const char *part) {
  ck_assert_msg(got == wanted, "%s: %s", tile_status_name(got), tile_error_message());
  ck_assert_msg(strstr(tile_error_message(), part), "`%s` is not in: %s", part,
                tile_error_message());
}

static void expect_scaled(int n, float extra) {
  for (int i = 0; i < N; i++)
    ck_assert(out[i] == (i < n ? (float)i * 2 + extra : -1.0f));
}

// ---- opening and settings ----

START_TEST(opening_says_what_is_wrong) {
  tile_tuned *t = NULL;
  expect_message(tile_tuned_open(NULL, kernel_path, NULL, &t), TILE_INVALID_ARGUMENT, "`device`");
  expect_message(tile_tuned_open(device, NULL, NULL, &t), TILE_INVALID_ARGUMENT, "`path`");
  expect_message(tile_tuned_open(device, kernel_path, NULL, NULL), TILE_INVALID_ARGUMENT,
                 "`ret_tuned`");
  expect_message(tile_tuned_open(device, "/nonexistent.tile", NULL, &t), TILE_NOT_FOUND,
                 "/nonexistent.tile");
  expect_message(tile_tuned_open(device, folder, NULL, &t), TILE_IO_ERROR, folder);
  expect_message(tile_tuned_open(device, kernel_path, "scales", &t), TILE_NOT_FOUND, "E0401");
  write_text(kernel_path, "@jit\ndef scale(x\n");
  expect_message(tile_tuned_open(device, kernel_path, NULL, &t), TILE_COMPILE_ERROR,
                 "scale.tile:2");
  ck_assert_ptr_null(t);
  tile_tuned_close(NULL);
}
END_TEST

START_TEST(settings_say_what_is_wrong) {
  expect_message(tile_tuned_set_policy(tuned, (tile_tune_policy)7), TILE_INVALID_ARGUMENT, "7");
  expect_message(tile_tuned_set_grid(tuned, NULL), TILE_INVALID_ARGUMENT, "`grid` is NULL");
  expect_message(tile_tuned_set_grid(tuned, ""), TILE_INVALID_ARGUMENT, "`grid` is empty");
  expect_message(tile_tuned_set_space(tuned, "BLOK=1,2"), TILE_INVALID_ARGUMENT, "E0728");
  expect_message(tile_tuned_set_space(tuned, "BLOCK=1.."), TILE_INVALID_ARGUMENT, "E0727");
  expect_message(tile_tuned_set_space(tuned, "n=1,2"), TILE_INVALID_ARGUMENT, "E0728");
  expect_message(tile_tuned_set_constant(tuned, "BLOK", "1"), TILE_INVALID_ARGUMENT, "`BLOCK`?");
  expect_message(tile_tuned_set_constant(tuned, NULL, "1"), TILE_INVALID_ARGUMENT, "`name`");
  expect_message(tile_tuned_set_file(tuned, ""), TILE_INVALID_ARGUMENT, "empty");
  expect_message(tile_tuned_set_budget(tuned, -1, 0), TILE_INVALID_ARGUMENT, "-1");
  expect_message(tile_tuned_set_policy(NULL, TILE_TUNE_NEVER), TILE_INVALID_ARGUMENT, "NULL");
  expect_message(tile_tuned_set_grid(NULL, "1"), TILE_INVALID_ARGUMENT, "NULL");
  expect_message(tile_tuned_set_space(NULL, NULL), TILE_INVALID_ARGUMENT, "NULL");
  expect_message(tile_tuned_set_constant(NULL, "A", "1"), TILE_INVALID_ARGUMENT, "NULL");
  expect_message(tile_tuned_set_file(NULL, NULL), TILE_INVALID_ARGUMENT, "NULL");
  expect_message(tile_tuned_set_budget(NULL, 0, 0), TILE_INVALID_ARGUMENT, "NULL");
  expect_message(tile_tuned_set_callback(NULL, NULL, NULL), TILE_INVALID_ARGUMENT, "NULL");
  expect_message(tile_tuned_launch(NULL, NULL, NULL, 0), TILE_INVALID_ARGUMENT, "NULL");
  expect_message(tile_tuned_get_config(tuned, NULL, 0, NULL), TILE_INVALID_ARGUMENT, "ret_config");
}
END_TEST

START_TEST(arguments_are_checked_as_by_a_launch) {
  tile_arg args[4];
  fill(args, N);
  expect_message(tile_tuned_launch(tuned, NULL, args, 3), TILE_INVALID_ARGUMENT,
                 "takes 4 arguments, got 3");
  expect_message(tile_tuned_launch(tuned, NULL, NULL, 4), TILE_INVALID_ARGUMENT, "`args` is NULL");
  args[2] = tile_arg_f32(1);
  expect_message(tile_tuned_launch(tuned, NULL, args, 4), TILE_INVALID_ARGUMENT, "(`n`) must be");
  args[2].type = (tile_type)99;
  expect_message(tile_tuned_launch(tuned, NULL, args, 4), TILE_INVALID_ARGUMENT, "no known type");
}
END_TEST

START_TEST(grids_are_checked_when_they_are_used) {
  ck_assert_int_eq(tile_tuned_set_grid(tuned, "cdiv(m, BLOCK)"), TILE_OK);
  expect_message(launch(N), TILE_INVALID_ARGUMENT, "unknown name `m`");
  ck_assert_int_eq(tile_tuned_set_grid(tuned, "n - 1000"), TILE_OK);
  expect_message(launch(N), TILE_INVALID_ARGUMENT, "E07");
  ck_assert_int_eq(tile_tuned_set_grid(tuned, "cdiv(n, BLOCK)"), TILE_OK);
  ck_assert_int_eq(launch(N), TILE_OK); // an earlier failure is not remembered
  expect_scaled(N, 0);
  tile_tuned *bare = NULL;
  tile_arg args[4];
  fill(args, N);
  ck_assert_int_eq(tile_tuned_open(device, kernel_path, NULL, &bare), TILE_OK);
  expect_message(tile_tuned_launch(bare, NULL, args, 4), TILE_INVALID_ARGUMENT,
                 "tile_tuned_set_grid");
  tile_tuned_close(bare);
}
END_TEST

// ---- policies never and cached ----

START_TEST(never_takes_the_default) {
  ck_assert_int_eq(tile_tuned_set_policy(tuned, TILE_TUNE_NEVER), TILE_OK);
  write_text(results_path, "not even JSON"); // the file is not read
  ck_assert_int_eq(launch(777), TILE_OK);
  expect_scaled(777, 0);
  ck_assert_int_eq(strncmp(config_of(777), "BLOCK=64, num_warps=", 20), 0);
}
END_TEST

START_TEST(constants_are_fixed) {
  ck_assert_int_eq(tile_tuned_set_constant(tuned, "EXTRA", "5"), TILE_OK);
  ck_assert_int_eq(launch(N), TILE_OK);
  expect_scaled(N, 5);
  ck_assert_int_eq(tile_tuned_set_constant(tuned, "EXTRA", "6"), TILE_OK);
  ck_assert_int_eq(launch(N), TILE_OK); // the same key under other settings
  expect_scaled(N, 6);
  // A constant that was a dimension of the space is not tuned any more.
  ck_assert_int_eq(tile_tuned_set_constant(tuned, "BLOCK", "32"), TILE_OK);
  ck_assert_ptr_null(strstr(config_of(N), "BLOCK"));
  ck_assert_int_eq(launch(N), TILE_OK);
  expect_scaled(N, 6);
}
END_TEST

// Writes a configuration to the file, as a tuning for that n would.
static void put(int n, const char *block, const char *warps, const char *name) {
  struct arena *a = arena_create();
  tile_device_properties properties;
  static const char *const names[] = {"x", "out", "n", "by"};
  tile_arg args[4];
  struct tune_array arrays[4] = {{0}};
  fill(args, n);
  struct tune_problem p = {.file = kernel_path,
                           .text = str_from(source),
                           .kernel = "scale",
                           .args = args,
                           .arg_count = 4,
                           .arrays = arrays,
                           .arg_names = names};
  struct tune_setting settings[] = {{name, block}, {"num_warps", warps}};
  struct tune_entry e = {
      .settings = settings, .setting_count = 2, .ms = 1, .default_ms = 2, .version = "0.1.0"};
  ck_assert_int_eq(tile_device_get_properties(device, &properties), TILE_OK);
  ck_assert_int_eq(tune_key_of(a, &p, &properties, NULL, 0, &e.key), TILE_OK);
  ck_assert_int_eq(tune_file_put(results_path, &e), TILE_OK);
  arena_destroy(a);
}

START_TEST(cached_takes_what_is_on_file) {
  ck_assert_int_eq(strncmp(config_of(N), "BLOCK=64,", 9), 0); // no file: the default
  put(500, "128", "2", "BLOCK");
  ck_assert_str_eq(config_of(500), "BLOCK=128, num_warps=2");
  ck_assert_str_eq(config_of(450), "BLOCK=128, num_warps=2");   // the nearest
  ck_assert_int_eq(strncmp(config_of(100), "BLOCK=64,", 9), 0); // too far away
  ck_assert_int_eq(strncmp(config_of(N), "BLOCK=64,", 9), 0);   // chosen before
  ck_assert_int_eq(launch(500), TILE_OK);
  expect_scaled(500, 0);
}
END_TEST

START_TEST(another_file_and_no_file) {
  char other[96];
  snprintf(other, sizeof other, "%s/other.json", folder);
  put(500, "128", "2", "BLOCK");
  ck_assert_int_eq(tile_tuned_set_file(tuned, other), TILE_OK);
  ck_assert_int_eq(strncmp(config_of(500), "BLOCK=64,", 9), 0);
  ck_assert_int_eq(tile_tuned_set_file(tuned, NULL), TILE_OK);
  ck_assert_str_eq(config_of(500), "BLOCK=128, num_warps=2");
}
END_TEST

START_TEST(files_that_are_wrong) {
  write_text(results_path, "{\"tile_tune\": 1, \"entries\": [}");
  expect_message(launch(N), TILE_IO_ERROR, "scale.tune.json:1:");
  ck_assert_int_eq(unlink(results_path), 0);
  put(500, "100", "2", "BLOK");
  expect_message(launch(500), TILE_INVALID_ARGUMENT, "scale.tune.json");
  put(500, "32", "3", "BLOCK");
  expect_message(launch(500), TILE_INVALID_ARGUMENT, "num_warps must be a power of two");
  put(500, "32", "many", "BLOCK");
  expect_message(launch(500), TILE_INVALID_ARGUMENT, "num_warps cannot be `many`");
  put(500, "32", "1", "BLOCK"); // a failure is not remembered
  ck_assert_int_eq(launch(500), TILE_OK);
  expect_scaled(500, 0);
}
END_TEST

// ---- measuring ----

struct events {
  unsigned count, stop_after;
  pthread_t thread;
  bool several_threads;
  double best_ms;
  char best[128], why[512];
};

static int note(void *user, const tile_tune_event *e) {
  struct events *all = user;
  if (all->count && !pthread_equal(all->thread, pthread_self()))
    all->several_threads = true;
  all->thread = pthread_self();
  all->count++;
  if (e->ms >= 0 && e->best) {
    all->best_ms = e->best_ms;
    snprintf(all->best, sizeof all->best, "%s", e->best);
  }
  if (e->why)
    snprintf(all->why, sizeof all->why, "%s", e->why);
  return all->stop_after && all->count >= all->stop_after;
}

static void tune_with(struct events *events) {
  ck_assert_int_eq(tile_tuned_set_policy(tuned, TILE_TUNE_ALWAYS), TILE_OK);
  ck_assert_int_eq(tile_tuned_set_callback(tuned, note, events), TILE_OK);
  ck_assert_int_eq(tile_tuned_set_budget(tuned, 60, 4), TILE_OK);
}

static struct tune_file read_results(struct arena *a) {
  struct tune_file f = {0};
  ck_assert(tune_file_read(a, diag_engine_create(a), results_path, &f));
  return f;
}

START_TEST(always_measures_once_and_leaves_arrays_alone) {
  struct events events = {0};
  tune_with(&events);
  char config[128];
  snprintf(config, sizeof config, "%s", config_of(N));
  ck_assert_uint_ge(events.count, 2);
  for (int i = 0; i < N; i++) {
    ck_assert(x[i] == (float)i);
    ck_assert(out[i] == -1.0f); // nothing was launched on them yet
  }
  ck_assert_int_eq(launch(N), TILE_OK);
  expect_scaled(N, 0);
  struct arena *a = arena_create();
  struct tune_file f = read_results(a);
  ck_assert_uint_eq(f.count, 1);
  ck_assert(f.entries[0].ms > 0);
  arena_destroy(a);
  // Known now: by this handle, and by others that only read.
  unsigned before = events.count;
  ck_assert_int_eq(launch(N), TILE_OK);
  ck_assert_uint_eq(events.count, before);
  ck_assert_int_eq(tile_tuned_set_policy(tuned, TILE_TUNE_CACHED), TILE_OK);
  ck_assert_str_eq(config_of(N), config);
}
END_TEST

START_TEST(a_callback_stops_it) {
  struct events events = {.stop_after = 1};
  tune_with(&events);
  ck_assert_int_eq(launch(N), TILE_OK);
  expect_scaled(N, 0);
  ck_assert_uint_le(events.count, 2);
}
END_TEST

START_TEST(memory_of_others_cannot_be_copied) {
  float mine[4];
  tile_arg args[4];
  struct events events = {0};
  tune_with(&events);
  fill(args, 4);
  args[0] = tile_arg_pointer(mine, TILE_F32);
  expect_message(tile_tuned_launch(tuned, NULL, args, 4), TILE_INVALID_ARGUMENT,
                 "argument 1 (`x`)");
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "tile_malloc"));
  ck_assert_uint_eq(events.count, 0);
}
END_TEST

START_TEST(results_that_cannot_be_written_serve_all_the_same) {
  struct events events = {0};
  tune_with(&events);
  ck_assert_int_eq(tile_tuned_set_file(tuned, "/nonexistent/folder/scale.tune.json"), TILE_OK);
  ck_assert_int_eq(launch(N), TILE_OK);
  expect_scaled(N, 0);
  ck_assert_ptr_nonnull(strstr(events.why, "/nonexistent/folder"));
}
END_TEST

static void *launch_once(void *failed) {
  if (launch(N) != TILE_OK)
    atomic_fetch_add((atomic_int *)failed, 1);
  return NULL;
}

START_TEST(threads_with_one_new_key_measure_once) {
  enum { THREADS = 6 };
  struct events events = {0};
  pthread_t t[THREADS];
  atomic_int failed = 0;
  tune_with(&events);
  for (int i = 0; i < THREADS; i++)
    pthread_create(&t[i], NULL, launch_once, &failed);
  for (int i = 0; i < THREADS; i++)
    pthread_join(t[i], NULL);
  ck_assert_int_eq(atomic_load(&failed), 0);
  ck_assert(!events.several_threads);
  ck_assert_uint_gt(events.count, 0);
  expect_scaled(N, 0);
}
END_TEST

static void use_compile_worker(double seconds) {
  const tile_worker_options o = {.seconds = seconds};
  tile_status s = tile_device_set_worker(device, &o);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
}

START_TEST(candidates_are_compiled_where_the_device_says) {
  struct events events = {0};
  use_compile_worker(0);
  tune_with(&events);
  ck_assert_int_eq(launch(N), TILE_OK);
  expect_scaled(N, 0);
  ck_assert_uint_ge(events.count, 2);
  ck_assert_int_eq(access(results_path, R_OK), 0);
}
END_TEST

// The limit is too low for any compilation; the failure is reported at its location.
START_TEST(limits_of_a_compile_worker_are_those_of_candidates) {
  struct events events = {0};
  use_compile_worker(1e-6);
  tune_with(&events);
  expect_message(launch(N), TILE_LIMIT, "E0950");
  use_compile_worker(0);
  ck_assert_int_eq(launch(N), TILE_OK);
}
END_TEST

START_TEST(without_a_worker_program_it_measures_all_the_same) {
  struct events events = {0};
  unsetenv("TILE_WORKER");
  tune_with(&events);
  ck_assert_int_eq(launch(N), TILE_OK);
  expect_scaled(N, 0);
  ck_assert_uint_ge(events.count, 2);
  ck_assert_int_eq(access(results_path, R_OK), 0);
}
END_TEST

// ---- kernels with decorators ----

static void reopen(const char *text) {
  tile_tuned_close(tuned);
  tuned = NULL;
  write_text(kernel_path, text);
  ck_assert_msg(tile_tuned_open(device, kernel_path, NULL, &tuned) == TILE_OK, "%s",
                tile_error_message());
}

#define SCALE_BODY                                                                                 \
  "def scale(x, out, n, by, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):\n"                       \
  "    for at in range(tl.program_id(0) * BLOCK, n, PROGRAMS * BLOCK):\n"                          \
  "        i = at + tl.arange(0, BLOCK)\n"                                                         \
  "        tl.store(out + i, tl.load(x + i, mask=i < n) * by, mask=i < n)\n"

static const char decorated[] =
    "import triton\n"
    "import triton.language as tl\n"
    "@triton.autotune(configs=[triton.Config({'BLOCK': b}, num_warps=w) for b, w in [(128, 2), "
    "(32, "
    "1), (256, 4)]], key=['n'])\n"
    "@triton.heuristics({'PROGRAMS': lambda args: 3 if args['n'] > 100 else 1})\n"
    "@triton.jit\n" SCALE_BODY;

START_TEST(lists_and_heuristics_of_the_source) {
  reopen(decorated);
  ck_assert_int_eq(tile_tuned_set_grid(tuned, "PROGRAMS"), TILE_OK);
  ck_assert_str_eq(config_of(N), "BLOCK=128, num_warps=2"); // the first of the list
  ck_assert_int_eq(launch(N), TILE_OK);
  expect_scaled(N, 0);
  struct events events = {0};
  tune_with(&events);
  ck_assert_msg(launch(77) == TILE_OK, "%s", tile_error_message());
  ck_assert_uint_ge(events.count, 3); // all of the list
  struct arena *a = arena_create();
  struct tune_file f = read_results(a);
  ck_assert_uint_eq(f.count, 1);
  ck_assert_uint_eq(f.entries[0].key.value_count, 1);
  ck_assert_str_eq(f.entries[0].key.values[0].name, "n");
  arena_destroy(a);
}
END_TEST

START_TEST(decorators_that_are_wrong) {
  tile_tuned *t = NULL;
  write_text(kernel_path, "import triton\n"
                          "import triton.language as tl\n"
                          "@triton.autotune(configs=[1, 2], key=[])\n"
                          "@triton.jit\n" SCALE_BODY);
  expect_message(tile_tuned_open(device, kernel_path, NULL, &t), TILE_COMPILE_ERROR, "E0461");
  reopen("import triton\n"
         "import triton.language as tl\n"
         "def none(configs, args, **kwargs):\n"
         "    return [c for c in configs if args['n'] < 500]\n"
         "@triton.autotune(configs=[triton.Config({'BLOCK': 32, 'PROGRAMS': 2})], key=['n'],\n"
         "                 prune_configs_by={'early_config_prune': none})\n"
         "@triton.jit\n" SCALE_BODY);
  ck_assert_int_eq(tile_tuned_set_grid(tuned, "PROGRAMS"), TILE_OK);
  expect_message(launch(N), TILE_COMPILE_ERROR, "E0464");
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "scale.tile:5"));
  ck_assert_int_eq(launch(400), TILE_OK);
  expect_scaled(400, 0);
}
END_TEST

// ---- candidates that go wrong ----

// As where nothing is tuned. 64 * 64 * 64 statements are beyond what is unrolled.
START_TEST(limits_are_limits) {
  static const char unrolled[] =
      "@jit\n"
      "def scale(x, out, n, by, BLOCK: constexpr = 64):\n"
      "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
      "    for a in static_range(64):\n"
      "        for b in static_range(64):\n"
      "            for c in static_range(64):\n"
      "                store(out + i, load(x + i, mask=i < n) * by, mask=i < n)\n";
  static const tile_tune_policy policies[] = {TILE_TUNE_NEVER, TILE_TUNE_CACHED, TILE_TUNE_ALWAYS};
  reopen(unrolled);
  ck_assert_int_eq(tile_tuned_set_grid(tuned, "cdiv(n, BLOCK)"), TILE_OK);
  ck_assert_int_eq(tile_tuned_set_space(tuned, "num_warps=1,2"), TILE_OK);
  for (size_t i = 0; i < COUNT_OF(policies); i++) {
    ck_assert_int_eq(tile_tuned_set_policy(tuned, policies[i]), TILE_OK);
    expect_message(launch(N), TILE_LIMIT, "E0950");
  }
}
END_TEST

START_TEST(candidates_that_go_wrong_cannot_win) {
  struct events events = {0};
  reopen("@jit\n"
         "def scale(x, out, n, by, BLOCK: constexpr = 64, WAY: constexpr = 0):\n"
         "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
         "    v = load(x + i, mask=i < n) * by\n"
         "    if WAY == 1:\n" // another result
         "        v = v + 1\n"
         "    if WAY == 2:\n" // a crash
         "        store(out - 1000000000000 + i, v)\n"
         "    if WAY == 3:\n" // no kernel
         "        v = v + load(nothing)\n"
         "    store(out + i, v, mask=i < n)\n");
  ck_assert_int_eq(tile_tuned_set_grid(tuned, "cdiv(n, BLOCK)"), TILE_OK);
  ck_assert_int_eq(tile_tuned_set_space(tuned, "WAY=0,1,2,3"), TILE_OK);
  tune_with(&events);
  ck_assert_int_eq(launch(N), TILE_OK);
  expect_scaled(N, 0);
  ck_assert_str_eq(config_of(N), "WAY=0");
  // If no configuration works, nothing is launched.
  ck_assert_int_eq(tile_tuned_set_space(tuned, "WAY=2,3"), TILE_OK);
  expect_message(launch(N - 1), TILE_LAUNCH_FAILED, "none of 2 configurations runs; WAY=");
}
END_TEST

// ---- launches on the fake GPU ----

static struct fake_cuda *fake(void) {
  return dlsym(dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL), FAKE_CUDA_STATE);
}

START_TEST(grids_and_streams_reach_the_driver) {
  struct fake_cuda *cuda = fake();
  tile_stream *stream;
  tile_arg args[4];
  cuda->param_count = 3;
  fill(args, N);
  ck_assert_int_eq(tile_stream_create(device, &stream), TILE_OK);
  ck_assert_int_eq(tile_tuned_set_grid(tuned, "cdiv(n, BLOCK), 3"), TILE_OK);
  for (int round = 0; round < 2; round++) { // chosen, then known
    memset(cuda->grid, 0, sizeof cuda->grid);
    cuda->stream = NULL;
    ck_assert_int_eq(tile_tuned_launch(tuned, stream, args, 4), TILE_OK);
    ck_assert_uint_eq(cuda->grid[0], (N + 63) / 64);
    ck_assert_uint_eq(cuda->grid[1], 3);
    ck_assert_ptr_nonnull(cuda->stream);
  }
  tile_stream_destroy(stream);
}
END_TEST

START_TEST(ever_new_integers_are_launched_all_the_same) {
  ck_assert_int_eq(tile_tuned_set_policy(tuned, TILE_TUNE_NEVER), TILE_OK);
  struct fake_cuda *cuda = fake();
  cuda->param_count = 3;
  for (int n = 1; n < 600; n++) {
    ck_assert_int_eq(launch(n), TILE_OK);
    ck_assert_uint_eq(cuda->grid[0], (unsigned)(n + 63) / 64);
  }
  for (int n = 1; n < 600; n++) {
    ck_assert_int_eq(launch(n), TILE_OK);
    ck_assert_uint_eq(cuda->grid[0], (unsigned)(n + 63) / 64);
  }
}
END_TEST

START_TEST(streams_are_waited_for_before_arrays_are_copied) {
  struct fake_cuda *cuda = fake();
  struct events events = {0};
  tile_stream *stream;
  tile_arg args[4];
  fill(args, N);
  tune_with(&events);
  ck_assert_int_eq(tile_stream_create(device, &stream), TILE_OK);
  cuda->fail[CUDA_CALL_stream_wait] = 700;
  expect_message(tile_tuned_launch(tuned, stream, args, 4), TILE_LAUNCH_FAILED,
                 "cuStreamSynchronize");
  ck_assert_int_eq(cuda->calls[CUDA_CALL_copy_to_host], 0);
  cuda->fail[CUDA_CALL_stream_wait] = 0;
  cuda->fail[CUDA_CALL_copy_to_host] = 1;
  expect_message(tile_tuned_launch(tuned, stream, args, 4), TILE_INVALID_ARGUMENT,
                 "cuMemcpyDtoHAsync");
  cuda->fail[CUDA_CALL_copy_to_host] = 0;
  ck_assert_uint_eq(events.count, 0);
  int launches = cuda->calls[CUDA_CALL_launch];
  ck_assert_int_eq(tile_tuned_launch(tuned, stream, args, 4), TILE_OK);
  ck_assert_uint_gt(events.count, 0);
  // This process launched only the program's own kernels, and wrote nothing.
  ck_assert_int_eq(cuda->calls[CUDA_CALL_launch], launches + 1);
  ck_assert_int_eq(cuda->calls[CUDA_CALL_copy_to_device], 0);
  ck_assert_int_eq(cuda->calls[CUDA_CALL_fill_bytes], 0);
  tile_stream_destroy(stream);
}
END_TEST

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

// A healthy build takes less than 0.1 us beyond a launch; the bound only detects a lock, an
// allocation or a file access on the path.
START_TEST(a_known_launch_costs_little_more) {
  enum { LAUNCHES = 20000 };
  tile_kernel *kernel;
  tile_arg args[4];
  fill(args, N);
  ck_assert_int_eq(tile_kernel_open(device, kernel_path, NULL, &kernel), TILE_OK);
  ck_assert_int_eq(tile_kernel_prepare(kernel, args, 4), TILE_OK);
  ck_assert_int_eq(tile_tuned_launch(tuned, NULL, args, 4), TILE_OK);
  double plain = 1e9, chosen = 1e9;
  for (int round = 0; round < 5; round++) {
    double start = now_us();
    for (int i = 0; i < LAUNCHES; i++)
      tile_launch(kernel, NULL, (tile_grid){1, 1, 1}, args, 4);
    double middle = now_us();
    for (int i = 0; i < LAUNCHES; i++)
      tile_tuned_launch(tuned, NULL, args, 4);
    double end = now_us();
    plain = (middle - start) / LAUNCHES < plain ? (middle - start) / LAUNCHES : plain;
    chosen = (end - middle) / LAUNCHES < chosen ? (end - middle) / LAUNCHES : chosen;
  }
  if (getenv("TILE_TEST_PRINT"))
    fprintf(stderr, "# launch: %.3f us, tuned %.3f us\n", plain, chosen);
  ck_assert_msg(chosen < plain + 1.0, "launch: %.3f us, tuned %.3f us", plain, chosen);
  tile_kernel_close(kernel);
}
END_TEST

Suite *tuned_suite(void) {
  Suite *s = suite_create("tuned");
  TCase *host = tcase_create("cpu");
  tcase_add_checked_fixture(host, open_cpu, close_all);
  tcase_set_timeout(host, 120);
  tcase_add_test(host, opening_says_what_is_wrong);
  tcase_add_test(host, settings_say_what_is_wrong);
  tcase_add_test(host, arguments_are_checked_as_by_a_launch);
  tcase_add_test(host, grids_are_checked_when_they_are_used);
  tcase_add_test(host, never_takes_the_default);
  tcase_add_test(host, constants_are_fixed);
  tcase_add_test(host, cached_takes_what_is_on_file);
  tcase_add_test(host, another_file_and_no_file);
  tcase_add_test(host, files_that_are_wrong);
  tcase_add_test(host, always_measures_once_and_leaves_arrays_alone);
  tcase_add_test(host, a_callback_stops_it);
  tcase_add_test(host, memory_of_others_cannot_be_copied);
  tcase_add_test(host, results_that_cannot_be_written_serve_all_the_same);
  tcase_add_test(host, threads_with_one_new_key_measure_once);
  tcase_add_test(host, candidates_are_compiled_where_the_device_says);
  tcase_add_test(host, limits_of_a_compile_worker_are_those_of_candidates);
  tcase_add_test(host, without_a_worker_program_it_measures_all_the_same);
  tcase_add_test(host, lists_and_heuristics_of_the_source);
  tcase_add_test(host, decorators_that_are_wrong);
  tcase_add_test(host, limits_are_limits);
  tcase_add_test(host, candidates_that_go_wrong_cannot_win);
  suite_add_tcase(s, host);
  TCase *gpu = tcase_create("fake GPU");
  tcase_add_checked_fixture(gpu, open_fake, close_all);
  tcase_set_timeout(gpu, 120);
  tcase_add_test(gpu, grids_and_streams_reach_the_driver);
  tcase_add_test(gpu, ever_new_integers_are_launched_all_the_same);
  tcase_add_test(gpu, streams_are_waited_for_before_arrays_are_copied);
  tcase_add_test(gpu, a_known_launch_costs_little_more);
  suite_add_tcase(s, gpu);
  return s;
}
