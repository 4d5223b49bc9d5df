// SPDX-License-Identifier: Apache-2.0
// Random kernels compute the same, run on the CPU, with the layouts that every tile starts with
// and with those that the layout passes choose.
#include "cpu_run.h"
#include "random_kernel.h"
#include "suites.h"

enum { MEMORY = RANDOM_KERNEL_INPUT * (1 + RANDOM_KERNEL_STORES), KERNELS_A_TEST = 5 };

static const char plain[] = "assign-layouts,allocate-shared,insert-barriers";
static const char chosen[] = "assign-layouts,coalesce,remove-layout-conversions,canonicalize,cse,"
                             "licm,reorder,dce,allocate-shared,insert-barriers";

// Tilegpu IR of kernel `seed` after those passes, on h's arena.
static const char *kernel_text(struct cpu_run *h, uint64_t seed, uint32_t num_warps,
                               const char *passes) {
  struct pass_session s = pass_session_open("module {}");
  s.context.num_warps = num_warps;
  random_kernel_build(&s, seed, true);
  bool ok = pass_session_run(&s, (struct pass_options){.only = passes, .verify_each = true}, NULL);
  ck_assert_msg(ok, "kernel %llu: %s", (unsigned long long)seed, diag_first_error(s.diag));
  const char *text = arena_strdup(h->arena, pass_session_text(&s));
  pass_session_close(&s);
  return text;
}

static void run_kernel(struct cpu_run *h, const char *text, uint32_t num_warps, int32_t number,
                       int32_t *memory) {
  for (int i = 0; i < MEMORY; i++)
    memory[i] = i < RANDOM_KERNEL_INPUT ? (i * 7919) % 1000 - 300 : -1;
  void *pointer = memory;
  void *values[] = {&pointer, &number};
  ck_assert_int_eq(cpu_run_ir(h, text, num_warps, 1, true, values), TILE_OK);
}

START_TEST(layouts_do_not_matter) {
  struct cpu_run h;
  cpu_run_open(&h);
  int32_t *want = arena_array(h.arena, int32_t, MEMORY),
          *got = arena_array(h.arena, int32_t, MEMORY);
  for (uint64_t seed = (uint64_t)_i * KERNELS_A_TEST + 1;
       seed <= ((uint64_t)_i + 1) * KERNELS_A_TEST; seed++) {
    uint32_t num_warps = 1u << seed % 3;
    run_kernel(&h, kernel_text(&h, seed, num_warps, plain), num_warps, (int32_t)seed % 11, want);
    const char *text = kernel_text(&h, seed, num_warps, chosen);
    run_kernel(&h, text, num_warps, (int32_t)seed % 11, got);
    for (int i = 0; i < MEMORY; i++)
      ck_assert_msg(got[i] == want[i], "kernel %llu: element %d is %d, not %d\n%s",
                    (unsigned long long)seed, i, got[i], want[i], text);
  }
  cpu_run_close(&h);
}
END_TEST

TCase *layout_soundness_tests(void) {
  TCase *t = tcase_create("layout_soundness");
  tcase_set_timeout(t, 240);
  tcase_add_loop_test(t, layouts_do_not_matter, 0, 6);
  return t;
}
