// SPDX-License-Identifier: Apache-2.0
// Errors injected into the kernels of graphs, one at a time: the elementwise comparison with the
// interpreter detects each, also a single wrong small element of thousands.
#include "emit_check.h"

#include <check.h>
#include <stdlib.h>

#define GRAPH(inputs, body, result)                                                                \
  "def forward(self, " inputs "):\n" body "    return (" result ",)\n"

#define MAP                                                                                        \
  GRAPH("x: 'f32[64, 100]', b: 'f32[100]'",                                                        \
        "    m = torch.ops.aten.mul.Tensor(x, 1.5)\n"                                              \
        "    a = torch.ops.aten.add.Tensor(m, b)\n"                                                \
        "    s = torch.ops.aten.sigmoid.default(a)\n"                                              \
        "    t = torch.ops.aten.sum.dim_IntList(s, [1])\n",                                        \
        "s, t")
#define SOFTMAX                                                                                    \
  GRAPH("x: 'f32[32, 200]'",                                                                       \
        "    m = torch.ops.aten.mul.Tensor(x, 8)\n"                                                \
        "    s = torch.ops.aten._softmax.default(m, -1, False)\n",                                 \
        "s")

// `from` of the first kernel that has it becomes `to`; NULL: nothing does.
static const struct fault {
  const char *name, *text, *from, *to;
  int64_t least, most; // elements that are wrong
} faults[] = {
    {"a map as it is", MAP, NULL, NULL, 0, 0},
    {"softmax as it is", SOFTMAX, NULL, NULL, 0, 0},
    {"a factor", MAP, "1.5", "1.501", 3000, 6464},
    {"a function", MAP, "tl.sigmoid(", "tl.tanh(", 6000, 6464},
    {"the last column of a sum", MAP, "tl.where(r_mask", "tl.where(r < 99", 60, 64},
    {"one sum", MAP, "tl.where(r_mask", "tl.where(r_mask & (x != 13)", 1, 1},
    {"one element", MAP, "tl.sigmoid(", "tl.where((x == 9) & (r == 31), 1.0001, 1.0) * tl.sigmoid(",
     1, 2},
    {"the last column is not stored", MAP, "r, v2, mask=r_mask", "r, v2, mask=r < 99", 64, 64},
    {"one small element of softmax", SOFTMAX, "tl.exp(", "tl.where(r == 77, 1.01, 1.0) * tl.exp(",
     20, 6400},
};

static char *replaced(struct arena *a, const char *source, const char *from, const char *to) {
  const char *at = strstr(source, from);
  if (!at)
    return NULL;
  struct strbuf out = {.arena = a};
  strbuf_printf(&out, "%.*s%s%s", (int)(at - source), source, to, at + strlen(from));
  return arena_strdup(a, strbuf_cstr(&out));
}

START_TEST(seen) {
  const struct fault *f = &faults[_i];
  struct arena *a = arena_create();
  struct program_options o = {.target = "cpu"};
  struct program *p = check_program(a, f->text, &o, f->name);
  bool found = !f->from;
  for (size_t i = 0; !found && i < p->kernels.len; i++) {
    char *source = replaced(a, p->kernels.at[i]->source, f->from, f->to);
    found = source != NULL;
    if (found)
      p->kernels.at[i]->source = source;
  }
  ck_assert_msg(found, "%s: no kernel has `%s`: %s", f->name, f->from, p->kernels.at[0]->source);
  int64_t wrong = check_wrong_elements(p, f->name);
  ck_assert_msg(wrong >= f->least && wrong <= f->most, "%s: %lld elements", f->name,
                (long long)wrong);
  arena_destroy(a);
}
END_TEST

int main(void) {
  Suite *s = suite_create("faults");
  TCase *t = tcase_create("faults");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, seen, 0, sizeof faults / sizeof faults[0]);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
