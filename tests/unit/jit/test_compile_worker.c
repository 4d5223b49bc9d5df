// SPDX-License-Identifier: Apache-2.0
// Compilation in workers: the result equals that of this process, and a crash of the compiler is an
// error. The test program is its own worker, with a compiler that fails on demand
// (worker_faults.h).
#include "jit/jit.h"
#include "jit/worker/pool.h"
#include "worker_faults.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BODY                                                                                       \
  "(x, out, n, BLOCK: constexpr):\n"                                                               \
  "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"                                             \
  "    store(out + i, load(x + i, mask=i < n) * 2, mask=i < n)\n"
static const char kernels[] =
    "@jit\ndef twice" BODY "@jit\ndef aborts" BODY "@jit\ndef crashes" BODY
    "@jit\ndef is_killed" BODY "@jit\ndef hangs" BODY "@jit\ndef eats" BODY
    "@jit\ndef eats_arena" BODY "@jit\ndef is_llvms_end" BODY "@jit\ndef ends_later" BODY
    "@jit\ndef wrong(x, out, n, BLOCK: constexpr):\n"
    "    static_assert(BLOCK > 0)\n"
    "    i = arange(0, BLOCK) + arange(0, 2 * BLOCK)\n"
    "    store(out + i, 1)\n";

static tile_device *device;
static float x[64], out[64];

static void open_cpu(void) {
  setenv("TILE_WORKER", "/proc/self/exe", 1);
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
}

static void close_device(void) { tile_device_close(device); }

static void use_worker(double seconds, size_t bytes) {
  const tile_worker_options o = {.seconds = seconds, .bytes = bytes};
  tile_status s = tile_device_set_worker(device, &o);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
}

static tile_status prepare_on(tile_device *d, const char *name, const char *block, char **ret,
                              size_t *ret_size) {
  tile_kernel *k = NULL;
  ck_assert_int_eq(
      tile_kernel_from_source(d, "kernels.tile", kernels, sizeof kernels - 1, name, &k), TILE_OK);
  ck_assert_int_eq(tile_kernel_set_constant(k, "BLOCK", block), TILE_OK);
  tile_arg args[] = {tile_arg_pointer(x, TILE_F32), tile_arg_pointer(out, TILE_F32),
                     tile_arg_i32(50)};
  const char *code;
  size_t size;
  tile_status s = tile_kernel_get_code(k, args, 3, &code, &size);
  if (s == TILE_OK && ret) {
    *ret = malloc(size);
    ck_assert_ptr_nonnull(*ret);
    memcpy(*ret, code, size);
    *ret_size = size;
  }
  tile_kernel_close(k);
  return s;
}

static tile_status prepare(const char *name) { return prepare_on(device, name, "64", NULL, NULL); }

// The failure is reported at the kernel's location, and the next kernel is compiled as usual.
static void expect_failure(const char *name, tile_status status, const char *line,
                           const char *message) {
  tile_status s = prepare(name);
  ck_assert_msg(s == status, "%s: %s: %s", name, tile_status_name(s), tile_error_message());
  ck_assert_msg(strstr(tile_error_message(), line) != NULL, "%s", tile_error_message());
  ck_assert_msg(strstr(tile_error_message(), message) != NULL, "%s", tile_error_message());
  s = prepare("twice");
  ck_assert_msg(s == TILE_OK, "after `%s`: %s", name, tile_error_message());
}

static void expect_same_code(tile_device *d, const char *block) {
  char *here, *there;
  size_t size, size_there;
  ck_assert_int_eq(tile_device_set_worker(d, NULL), TILE_OK);
  ck_assert_int_eq(prepare_on(d, "twice", block, &here, &size), TILE_OK);
  const tile_worker_options o = {0};
  ck_assert_int_eq(tile_device_set_worker(d, &o), TILE_OK);
  tile_status s = prepare_on(d, "twice", block, &there, &size_there);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
  ck_assert(size == size_there && memcmp(here, there, size) == 0);
  free(here);
  free(there);
}

START_TEST(code_is_the_same) {
  static const char *const targets[] = {"sm_80", "sm_90a"};
  expect_same_code(device, "64");
  expect_same_code(device, "256");
  for (size_t i = 0; i < COUNT_OF(targets); i++) {
    tile_device *gpu;
    ck_assert_int_eq(device_open_offline(targets[i], &gpu), TILE_OK);
    expect_same_code(gpu, "128");
    tile_device_close(gpu);
  }
}
END_TEST

START_TEST(kernels_run) {
  tile_kernel *k = NULL;
  use_worker(60, (size_t)1 << 30);
  ck_assert_int_eq(
      tile_kernel_from_source(device, "k.tile", kernels, sizeof kernels - 1, "twice", &k), TILE_OK);
  ck_assert_int_eq(tile_kernel_set_constant(k, "BLOCK", "64"), TILE_OK);
  void *from, *to;
  ck_assert_int_eq(tile_malloc(device, sizeof x, &from), TILE_OK);
  ck_assert_int_eq(tile_malloc(device, sizeof x, &to), TILE_OK);
  for (int i = 0; i < 64; i++)
    ((float *)from)[i] = (float)i;
  tile_arg args[] = {tile_arg_pointer(from, TILE_F32), tile_arg_pointer(to, TILE_F32),
                     tile_arg_i32(50)};
  tile_status s = tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 3);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
  for (int i = 0; i < 50; i++)
    ck_assert(((float *)to)[i] == (float)(2 * i));
  tile_free(device, from);
  tile_free(device, to);
  tile_kernel_close(k);
}
END_TEST

START_TEST(messages_are_the_same) {
  char here[4096];
  ck_assert_int_eq(prepare("wrong"), TILE_COMPILE_ERROR);
  snprintf(here, sizeof here, "%s", tile_error_message());
  ck_assert_ptr_nonnull(strstr(here, "kernels.tile:40:26: error"));
  ck_assert_ptr_nonnull(strstr(here, "arange(0, 2 * BLOCK)"));
  use_worker(0, 0);
  ck_assert_int_eq(prepare("wrong"), TILE_COMPILE_ERROR);
  ck_assert_str_eq(tile_error_message(), here);
}
END_TEST

static void write_file(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  ck_assert_ptr_nonnull(f);
  fputs(text, f);
  fclose(f);
}

// Relative to this process's current folder, also after it changed.
START_TEST(imported_files_are_found_and_named) {
  char folder[] = "/tmp/tile-test-XXXXXX", before[4096], here[4096];
  static const char text[] = "from helpers import f\n"
                             "@jit\n"
                             "def k(out):\n"
                             "    store(out, f(1.0))\n";
  ck_assert_ptr_nonnull(mkdtemp(folder));
  ck_assert_ptr_nonnull(getcwd(before, sizeof before));
  use_worker(0, 0);
  ck_assert_int_eq(chdir(folder), 0);
  write_file("helpers.tile", "@jit\ndef f(x):\n    return x + undefined_name\n");
  tile_arg args[] = {tile_arg_pointer(out, TILE_F32)};
  for (int in_worker = 1; in_worker >= 0; in_worker--) {
    tile_kernel *k = NULL;
    if (!in_worker)
      ck_assert_int_eq(tile_device_set_worker(device, NULL), TILE_OK);
    ck_assert_int_eq(tile_kernel_from_source(device, "k.tile", text, sizeof text - 1, "k", &k),
                     TILE_OK);
    ck_assert_int_eq(tile_kernel_prepare(k, args, 1), TILE_COMPILE_ERROR);
    ck_assert_msg(strstr(tile_error_message(), "helpers.tile:3:16") != NULL, "%s",
                  tile_error_message());
    ck_assert_ptr_nonnull(strstr(tile_error_message(), "return x + undefined_name"));
    if (in_worker)
      snprintf(here, sizeof here, "%s", tile_error_message());
    else
      ck_assert_str_eq(tile_error_message(), here);
    tile_kernel_close(k);
  }
  unlink("helpers.tile");
  ck_assert_int_eq(chdir(before), 0);
  rmdir(folder);
}
END_TEST

START_TEST(deaths_are_internal_errors) {
  use_worker(0, 0);
  expect_failure("aborts", TILE_INTERNAL,
                 "kernels.tile:6:5: error: ", "was killed by SIGABRT [E0990]");
  expect_failure("crashes", TILE_INTERNAL, "kernels.tile:10:5: error: ", "was killed by SIGSEGV");
  expect_failure("is_killed", TILE_INTERNAL, "kernels.tile:14:5: error: ", "was killed by SIGKILL");
}
END_TEST

START_TEST(what_llvm_says_at_its_end_is_told) {
  use_worker(0, 0);
  expect_failure("is_llvms_end", TILE_INTERNAL, "E0990", "annot select");
}
END_TEST

START_TEST(time_is_limited) {
  use_worker(0.5, 0);
  expect_failure("hangs", TILE_LIMIT, "kernels.tile:18:5: error: ",
                 "takes more than 0.5 seconds to compile, the limit of its worker [E0950]");
}
END_TEST

// Allocations of C++ and of the project's own arenas.
#ifndef __SANITIZE_ADDRESS__
START_TEST(memory_is_limited) {
  use_worker(0, (size_t)256 << 20);
  expect_failure("eats", TILE_LIMIT, "kernels.tile:22:5: error: ",
                 "takes more than 268435456 bytes to compile, the limit of its worker [E0950]");
  expect_failure("eats_arena", TILE_LIMIT, "kernels.tile:26:5: error: ",
                 "takes more than 268435456 bytes to compile, the limit of its worker [E0950]");
}
END_TEST
#endif

START_TEST(the_records_come_back_to_who_wants_them) {
  struct arena *a = arena_create();
  struct diag_engine *diag = diag_engine_create(a);
  const struct jit_report report = {.arena = a, .diag = diag};
  tile_kernel *k = NULL;
  struct jit_spec *spec;
  tile_arg args[] = {tile_arg_pointer(x, TILE_F32), tile_arg_pointer(out, TILE_F32),
                     tile_arg_i32(50)};
  use_worker(0, 0);
  ck_assert_int_eq(jit_kernel_open(device, "kernels.tile",
                                   (struct str){kernels, sizeof kernels - 1}, "wrong", &report, &k),
                   TILE_OK);
  ck_assert_int_eq(tile_kernel_set_constant(k, "BLOCK", "64"), TILE_OK);
  ck_assert_int_eq(jit_specialise(k, args, 3, &report, &spec), TILE_COMPILE_ERROR);
  ck_assert_uint_eq(diag_error_count(diag), 1);
  struct strbuf text = {.arena = a};
  diag_render_json(diag, &text);
  ck_assert_msg(strstr(strbuf_cstr(&text), "\"line\": 40") != NULL, "%s", strbuf_cstr(&text));
  tile_kernel_close(k);
  arena_destroy(a);
}
END_TEST

START_TEST(costs_are_the_same) {
  struct kernel_cost here, there;
  const struct cost_argument n = {"n", 50};
  const struct jit_cost_job q = {.args = &n, .arg_count = 1, .grid = {1, 1, 1}};
  tile_kernel *k = NULL;
  tile_arg args[] = {tile_arg_pointer(x, TILE_F32), tile_arg_pointer(out, TILE_F32),
                     tile_arg_i32(50)};
  ck_assert_int_eq(
      tile_kernel_from_source(device, "k.tile", kernels, sizeof kernels - 1, "twice", &k), TILE_OK);
  ck_assert_int_eq(tile_kernel_set_constant(k, "BLOCK", "64"), TILE_OK);
  ck_assert_int_eq(jit_cost(k, args, 3, &q, NULL, &here), TILE_OK);
  use_worker(0, 0);
  ck_assert_int_eq(jit_cost(k, args, 3, &q, NULL, &there), TILE_OK);
  ck_assert(here.global_read > 0 && here.global_read == there.global_read);
  ck_assert(here.instructions == there.instructions && here.registers == there.registers);
  tile_kernel_close(k);
}
END_TEST

// ---- workers that are none ----

START_TEST(a_missing_program_is_refused) {
  const tile_worker_options o = {.program = "/nonexistent/tile-worker"};
  ck_assert_int_eq(tile_device_set_worker(device, &o), TILE_NOT_FOUND);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "/nonexistent/tile-worker"));
  ck_assert_int_eq(prepare("twice"), TILE_OK); // nothing has changed
  unsetenv("TILE_WORKER");
  const tile_worker_options found = {0};
  ck_assert_int_eq(tile_device_set_worker(device, &found), TILE_NOT_FOUND);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "tile-worker"));
}
END_TEST

START_TEST(another_build_is_refused) {
  const tile_worker_options o = {0};
  setenv("TEST_WORKER_SAYS", "{\"frame\":\"compiler\",\"version\":\"tile 9.9\"}\n", 1);
  ck_assert_int_eq(tile_device_set_worker(device, &o), TILE_INVALID_ARGUMENT);
  ck_assert_msg(strstr(tile_error_message(), "of another build than this library: `tile 9.9`") !=
                    NULL,
                "%s", tile_error_message());
  setenv("TEST_WORKER_SAYS", "what?\n", 1);
  ck_assert_int_eq(tile_device_set_worker(device, &o), TILE_INTERNAL);
  unsetenv("TEST_WORKER_SAYS");
  const tile_worker_options other = {.program = "/bin/true"};
  ck_assert_int_eq(tile_device_set_worker(device, &other), TILE_INVALID_ARGUMENT);
  ck_assert_msg(strstr(tile_error_message(), "did not say which compiler it is") != NULL, "%s",
                tile_error_message());
}
END_TEST

START_TEST(wrong_arguments_are_refused) {
  const tile_worker_options late = {.seconds = -1};
  ck_assert_int_eq(tile_device_set_worker(NULL, NULL), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_device_set_worker(device, &late), TILE_INVALID_ARGUMENT);
}
END_TEST

// A worker that ends while idle is no error.
START_TEST(workers_that_end_between_kernels_are_replaced) {
  use_worker(0, 0);
  for (int i = 0; i < 3; i++) {
    ck_assert_int_eq(prepare("ends_later"), TILE_OK);
    usleep(400000);
  }
  ck_assert_int_eq(prepare("twice"), TILE_OK);
}
END_TEST

// ---- many ----

START_TEST(many_kernels_in_a_row) {
  static const char *const blocks[] = {"32", "64", "128", "256"};
  use_worker(60, (size_t)1 << 30);
  for (size_t i = 0; i < 200; i++) {
    tile_status s = prepare_on(device, "twice", blocks[i % COUNT_OF(blocks)], NULL, NULL);
    ck_assert_msg(s == TILE_OK, "kernel %zu: %s", i, tile_error_message());
  }
}
END_TEST

static void *compile_some(void *user) {
  static const struct {
    const char *kernel;
    tile_status status;
  } faulty[] = {{"twice", TILE_OK},    {"aborts", TILE_INTERNAL},
                {"twice", TILE_OK},    {"wrong", TILE_COMPILE_ERROR},
                {"hangs", TILE_LIMIT}, {"twice", TILE_OK}};
  size_t *wrong = user, first = *wrong;
  *wrong = 0;
  for (size_t i = 0; i < COUNT_OF(faulty); i++) {
    size_t at = (first + i) % COUNT_OF(faulty);
    *wrong += prepare(faulty[at].kernel) != faulty[at].status;
  }
  return NULL;
}

// A crash affects one kernel only.
START_TEST(threads_compile_at_once) {
  pthread_t threads[4];
  size_t wrong[COUNT_OF(threads)];
  use_worker(3, 0);
  for (size_t i = 0; i < COUNT_OF(threads); i++) {
    wrong[i] = i;
    ck_assert_int_eq(pthread_create(&threads[i], NULL, compile_some, &wrong[i]), 0);
  }
  for (size_t i = 0; i < COUNT_OF(threads); i++) {
    pthread_join(threads[i], NULL);
    ck_assert_uint_eq(wrong[i], 0);
  }
}
END_TEST

static void *compile_until(void *user) {
  atomic_bool *stop = user;
  size_t failures = 0;
  while (!atomic_load(stop))
    failures += prepare("twice") != TILE_OK;
  return (void *)failures;
}

START_TEST(settings_change_while_others_compile) {
  pthread_t threads[3];
  atomic_bool stop = false;
  for (size_t i = 0; i < COUNT_OF(threads); i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, compile_until, &stop), 0);
  for (int i = 0; i < 10; i++) {
    use_worker(60, (size_t)(i % 2) << 30);
    usleep(20000);
    ck_assert_int_eq(tile_device_set_worker(device, NULL), TILE_OK);
  }
  atomic_store(&stop, true);
  for (size_t i = 0; i < COUNT_OF(threads); i++) {
    void *failures;
    pthread_join(threads[i], &failures);
    ck_assert_ptr_null(failures);
  }
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("compile worker");
  TCase *t = tcase_create("cpu");
  tcase_add_checked_fixture(t, open_cpu, close_device);
  tcase_set_timeout(t, 240);
  tcase_add_test(t, code_is_the_same);
  tcase_add_test(t, kernels_run);
  tcase_add_test(t, messages_are_the_same);
  tcase_add_test(t, imported_files_are_found_and_named);
  tcase_add_test(t, deaths_are_internal_errors);
  tcase_add_test(t, what_llvm_says_at_its_end_is_told);
  tcase_add_test(t, time_is_limited);
#ifndef __SANITIZE_ADDRESS__ // its allocator aborts at RLIMIT_DATA
  tcase_add_test(t, memory_is_limited);
#endif
  tcase_add_test(t, the_records_come_back_to_who_wants_them);
  tcase_add_test(t, costs_are_the_same);
  tcase_add_test(t, a_missing_program_is_refused);
  tcase_add_test(t, another_build_is_refused);
  tcase_add_test(t, wrong_arguments_are_refused);
  tcase_add_test(t, workers_that_end_between_kernels_are_replaced);
  tcase_add_test(t, many_kernels_in_a_row);
  tcase_add_test(t, threads_compile_at_once);
  tcase_add_test(t, settings_change_while_others_compile);
  suite_add_tcase(s, t);
  return s;
}

int main(int argc, char **argv) {
  const char *words = getenv("TEST_WORKER_SAYS");
  compiles_in_worker = argc > 1;
  if (argc > 1 && words) // and waits for the end
    return write(3, words, strlen(words)) < 0 || read(3, &(char){0}, 1) < 0;
  if (argc > 1)
    return compile_worker_main(argc, argv);
  setenv("TILE_CACHE_DIR", "", 1);
  SRunner *r = srunner_create(suite());
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
