// SPDX-License-Identifier: Apache-2.0
// Tier-1 code of kernels: which kernels have it, and that it computes the same bits, on the CPU
// with the blocks of a GPU.
#include "emit_check.h"
#include "graph/plan/attention_plan.h"
#include "graph/plan/kernel_config.h"
#include "graph/plan/tier1.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static const struct program_options on_gpu = {.target = "sm_90a"};

struct setting {
  const char *block_m, *block_n, *warps;
};

// The kernel of the first launch, with other blocks than so small a graph has.
static void configure(struct program *p, const struct setting *s, const char *name) {
  struct tune_setting settings[] = {
      {"BLOCK_M", s->block_m}, {"BLOCK_N", s->block_n}, {"num_warps", s->warps}};
  ck_assert_msg(kernel_configure(p, p->launches.at[0].kernel, settings, 3), "%s", name);
}

static const char *constant_of(const struct graph_kernel *k, const char *name) {
  for (size_t i = 0; i < k->constants.len; i++)
    if (strcmp(k->constants.at[i].name, name) == 0)
      return k->constants.at[i].value;
  return "";
}

struct expected {
  unsigned warps;
  const char *loops; // "": no such constant
};

static void check(const char *text, const struct setting *s, const struct expected *want,
                  double tolerance, const char *name) {
  struct arena *a = arena_create();
  struct program *p = check_program(a, text, &on_gpu, name);
  configure(p, s, name);
  bool changes = check_tier1_forms(p, tolerance, name) > 0;
  const struct graph_kernel *k = p->launches.at[0].kernel;
  ck_assert_msg(k->num_warps == want->warps, "%s: %u warps", name, k->num_warps);
  ck_assert_str_eq(constant_of(k, KERNEL_LOOPS), want->loops);
  ck_assert_int_eq(changes, (int)strtol(s->warps, NULL, 10) != (int)want->warps || *want->loops);
  arena_destroy(a);
}

// ---- products ----

// Rows are no multiples of 16 bytes: products by pointers, which have tier-1 code.
static const char linear[] = "def forward(self, x: \"f16[256, 100]\", w: \"f16[100, 256]\"):\n"
                             "    mm = torch.ops.aten.mm.default(x, w)\n"
                             "    return (mm,)\n";
static const char gelu[] =
    "def forward(self, x: \"bf16[128, 60]\", w: \"bf16[256, 60]\", b: \"bf16[256]\"):\n"
    "    t = torch.ops.aten.t.default(w)\n"
    "    addmm = torch.ops.aten.addmm.default(b, x, t)\n"
    "    gelu = torch.ops.aten.gelu.default(addmm)\n"
    "    return (gelu,)\n";
static const char gated[] =
    "def forward(self, x: \"bf16[128, 100]\", w: \"bf16[100, 128]\", u: \"bf16[100, 128]\"):\n"
    "    gate = torch.ops.aten.mm.default(x, w)\n"
    "    up = torch.ops.aten.mm.default(x, u)\n"
    "    silu = torch.ops.aten.silu.default(gate)\n"
    "    mul = torch.ops.aten.mul.Tensor(silu, up)\n"
    "    return (mul,)\n";
static const char singles[] = "def forward(self, x: \"f32[64, 64]\", w: \"f32[64, 64]\"):\n"
                              "    mm = torch.ops.aten.mm.default(x, w)\n"
                              "    return (mm,)\n";

START_TEST(products_have_more_warps) {
  check(linear, &(struct setting){"128", "128", "4"}, &(struct expected){8, ""}, 2e-3, "linear");
  check(linear, &(struct setting){"64", "64", "4"}, &(struct expected){4, ""}, 2e-3, "small");
  check(gelu, &(struct setting){"128", "256", "8"}, &(struct expected){16, ""}, 2e-2, "gelu");
  check(gated, &(struct setting){"128", "64", "4"}, &(struct expected){8, ""}, 2e-2, "gated");
  // Sums that are no matrix instructions are taken as they are.
  check(singles, &(struct setting){"64", "64", "4"}, &(struct expected){4, ""}, 1e-5, "singles");
}
END_TEST

// ---- attention ----

static void attention(char *text, size_t size, int queries, int keys, int depth, bool is_causal,
                      bool has_mask) {
  char mask[60] = "";
  if (has_mask)
    snprintf(mask, sizeof mask, ", m: \"bf16[1, 1, %d, %d]\"", queries, keys);
  snprintf(text, size,
           "def forward(self, q: \"bf16[1, 2, %d, %d]\", k: \"bf16[1, 2, %d, %d]\", "
           "v: \"bf16[1, 2, %d, %d]\"%s):\n"
           "    o = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, %s, 0.0, %s)\n"
           "    return (o,)\n",
           queries, depth, keys, depth, keys, depth, mask, has_mask ? "m" : "None",
           is_causal ? "True" : "False");
}

static void check_attention(int queries, int keys, int depth, bool is_causal, bool has_mask,
                            const struct setting *s, const struct expected *want) {
  char text[1000], name[100];
  attention(text, sizeof text, queries, keys, depth, is_causal, has_mask);
  snprintf(name, sizeof name, "%d x %d, %d%s%s", queries, keys, depth, is_causal ? ", causal" : "",
           has_mask ? ", masked" : "");
  check(text, s, want, 2e-2, name);
}

START_TEST(attention_has_one_loop) {
  static const struct setting own = {"128", "64", "4"}, small = {"64", "32", "4"};
  check_attention(256, 256, 64, true, false, &own, &(struct expected){8, "1"});
  check_attention(200, 200, 64, true, false, &own, &(struct expected){8, "1"});
  check_attention(128, 150, 64, false, false, &own, &(struct expected){8, ""}); // a last block
  check_attention(128, 128, 64, false, false, &own, &(struct expected){8, ""});
  check_attention(128, 128, 64, false, true, &own, &(struct expected){8, ""});
  check_attention(256, 256, 64, true, true, &own, &(struct expected){8, "1"});
  // A warp has whole rows, and sums of rows are added up alike.
  check_attention(128, 128, 64, true, false, &small, &(struct expected){4, "1"});
  check_attention(128, 256, 128, true, false, &own, &(struct expected){4, "1"});
}
END_TEST

int main(void) {
  Suite *suite = suite_create("tier1");
  TCase *c = tcase_create("forms");
  tcase_set_timeout(c, 600);
  tcase_add_test(c, products_have_more_warps);
  tcase_add_test(c, attention_has_one_loop);
  suite_add_tcase(suite, c);
  SRunner *r = srunner_create(suite);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
