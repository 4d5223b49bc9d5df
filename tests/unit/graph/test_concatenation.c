// SPDX-License-Identifier: Apache-2.0
// Concatenations of many parts: how many kernels they take, and their values on the CPU. Arguments:
// the first seed of the random graphs and how many.
#include "base/str.h"
#include "emit_check.h"

#include <check.h>
#include <stdlib.h>

#define HEAD "class G(torch.nn.Module):\n    def forward(self, "
#define LINE "        "
#define A "torch.ops.aten."

static uint64_t first_seed;
static int seeds = 12;

struct text {
  struct arena *arena;
  struct strbuf out;
};

static struct text begin(void) {
  struct text t = {.arena = arena_create()};
  return t;
}

static struct program *compile(struct text *t, const char *target, const char *name) {
  struct program *p = check_program(t->arena, strbuf_cstr(&t->out),
                                    &(struct program_options){.target = target}, name);
  ck_assert_ptr_nonnull(p);
  return p;
}

static void end(struct text *t) {
  strbuf_finish(&t->out);
  arena_destroy(t->arena);
}

static void put_list(struct text *t, const char *prefix, unsigned first, unsigned last) {
  strbuf_puts(&t->out, "[");
  for (unsigned i = first; i < last; i++)
    strbuf_printf(&t->out, "%s%s%u", i > first ? ", " : "", prefix, i);
  strbuf_puts(&t->out, "]");
}

// ---- families ----

static void put_recurrence(struct text *t, unsigned steps, bool is_product) {
  strbuf_printf(&t->out, HEAD "x: \"f32[%u, 4, 16]\", w: \"f32[16, 16]\", y0: \"f32[4, 16]\"):\n",
                steps);
  for (unsigned i = 0; i < steps; i++) {
    strbuf_printf(&t->out, LINE "s%u = " A "select.int(x, 0, %u)\n", i, i);
    strbuf_printf(&t->out, LINE "m%u = " A "%s(y%u, %s)\n", i,
                  is_product ? "mm.default" : "mul.Tensor", i, is_product ? "w" : "0.5");
    strbuf_printf(&t->out, LINE "a%u = " A "add.Tensor(m%u, s%u)\n", i, i, i);
    strbuf_printf(&t->out, LINE "y%u = " A "tanh.default(a%u)\n", i + 1, i);
  }
  strbuf_puts(&t->out, LINE "z = " A "stack.default(");
  put_list(t, "y", 1, steps + 1);
  strbuf_puts(&t->out, ")\n" LINE "return (z,)\n");
}

// Each layer reads the concatenation of all results so far.
static void put_dense_block(struct text *t, unsigned layers, unsigned side) {
  strbuf_printf(&t->out, HEAD "y0: \"f32[2, 4, %u, %u]\"", side, side);
  for (unsigned i = 1; i <= layers; i++)
    strbuf_printf(&t->out, ", w%u: \"f32[4, %u, 3, 3]\"", i, 4 * i);
  strbuf_puts(&t->out, "):\n");
  for (unsigned i = 1; i <= layers + 1; i++) {
    strbuf_printf(&t->out, LINE "c%u = " A "cat.default(", i);
    put_list(t, "y", 0, i);
    strbuf_puts(&t->out, ", 1)\n");
    if (i > layers)
      break;
    strbuf_printf(&t->out, LINE "r%u = " A "relu.default(c%u)\n", i, i);
    strbuf_printf(&t->out,
                  LINE "y%u = " A "convolution.default(r%u, w%u, None, [1, 1], [1, 1], [1, 1], "
                       "False, [0, 0], 1)\n",
                  i, i, i);
  }
  strbuf_printf(&t->out, LINE "return (c%u,)\n", layers + 1);
}

// Parts that are inputs, of different widths.
static void put_inputs(struct text *t, unsigned count, bool are_equal) {
  strbuf_puts(&t->out, HEAD);
  for (unsigned i = 0; i < count; i++)
    strbuf_printf(&t->out, "%sx%u: \"f16[3, %u]\"", i ? ", " : "", i, are_equal ? 8 : 1 + i % 7);
  strbuf_puts(&t->out, "):\n" LINE "c = " A "cat.default(");
  put_list(t, "x", 0, count);
  strbuf_puts(&t->out, ", 1)\n" LINE "return (c,)\n");
}

// ---- the number of kernels ----

START_TEST(a_stack_of_computed_steps_takes_no_kernel) {
  struct text t = begin();
  put_recurrence(&t, 1024, true);
  struct program *p = compile(&t, "sm_90a", "recurrence");
  ck_assert_uint_eq(p->launches.len, 1024);
  ck_assert_uint_le(p->kernels.len, 3); // the first step has no slice to read
  end(&t);
}
END_TEST

START_TEST(a_stack_of_pointwise_steps_takes_few_kernels) {
  struct text t = begin();
  put_recurrence(&t, 1024, false);
  struct program *p = compile(&t, "sm_90a", "pointwise recurrence");
  ck_assert_uint_le(p->launches.len, 32);
  ck_assert_uint_le(p->kernels.len, 6);
  end(&t);
}
END_TEST

START_TEST(a_dense_block_copies_only_its_input) {
  struct text t = begin();
  put_dense_block(&t, 128, 8);
  struct program *p = compile(&t, "sm_90a", "dense block");
  ck_assert_uint_eq(p->launches.len, 128 + 1);
  end(&t);
}
END_TEST

START_TEST(parts_without_kernels_are_copied_together) {
  for (int are_equal = 0; are_equal < 2; are_equal++) {
    struct text t = begin();
    put_inputs(&t, 128, are_equal);
    struct program *p = compile(&t, "sm_90a", "inputs");
    ck_assert_uint_le(p->launches.len, 8);
    end(&t);
  }
}
END_TEST

// ---- values ----

static void check_values(struct text *t, const char *name) {
  check_agrees(compile(t, "cpu", name), NULL, 1e-5, name);
  end(t);
}

START_TEST(values) {
  struct text t = begin();
  put_recurrence(&t, 20, true);
  check_values(&t, "recurrence");
  t = begin();
  put_recurrence(&t, 70, false);
  check_values(&t, "pointwise recurrence");
  t = begin();
  put_dense_block(&t, 11, 5);
  check_values(&t, "dense block");
  t = begin();
  put_inputs(&t, 37, false);
  check_values(&t, "inputs");
}
END_TEST

START_TEST(symbolic_steps) {
  static const int64_t symbols[] = {5};
  struct text t = begin();
  strbuf_puts(&t.out, HEAD "s0: \"Sym(s0)\", x: \"f32[12, s0, 16]\", w: \"f32[16, 16]\", "
                           "y0: \"f32[s0, 16]\"):\n");
  for (unsigned i = 0; i < 12; i++)
    strbuf_printf(&t.out,
                  LINE "x%u = " A "select.int(x, 0, %u)\n" LINE "m%u = " A
                       "mm.default(y%u, w)\n" LINE "y%u = " A "add.Tensor(m%u, x%u)\n",
                  i, i, i, i, i + 1, i, i);
  strbuf_puts(&t.out, LINE "z = " A "stack.default(");
  put_list(&t, "y", 1, 13);
  strbuf_puts(&t.out, ", 1)\n" LINE "return (z,)\n");
  struct program *p = compile(&t, "cpu", "symbolic");
  ck_assert_uint_eq(p->launches.len, 12);
  ck_assert_uint_le(p->kernels.len, 3);
  check_agrees(p, symbols, 1e-5, "symbolic");
  end(&t);
}
END_TEST

// A concatenation within one, a part that occurs twice, parts that are outputs, transposed or
// written to an input, and a view of the whole as the output.
START_TEST(entangled_parts) {
  struct text t = begin();
  strbuf_puts(&t.out, HEAD "x: \"f32[4, 16]\", w: \"f32[16, 16]\", u: \"f32[4, 16]\"):\n");
  strbuf_puts(&t.out, LINE "m0 = " A "mm.default(x, w)\n");
  for (unsigned i = 1; i < 9; i++)
    strbuf_printf(&t.out, LINE "m%u = " A "mm.default(m%u, w)\n", i, i - 1);
  strbuf_puts(&t.out,
              LINE "r = " A "relu.default(m1)\n" LINE "q = " A "view.default(m2, [16, 4])\n" LINE
                   "o = " A "t.default(q)\n" LINE "c = " A
                   "cat.default([m0, r, x, m3, m3, o, m4, m5, m6, m7], 1)\n" LINE "p = " A
                   "cat.default([m4, m5, m6], 1)\n" LINE "s = " A
                   "sum.dim_IntList(p, [1], True)\n" LINE "e = " A "exp.default(s)\n" LINE "d = " A
                   "cat.default([c, m8, c, e, m1, m0, x, x, x, s, s], 1)\n" LINE "v = " A
                   "view.default(d, [-1])\n" LINE "g = " A "sigmoid.default(c)\n" LINE "k = " A
                   "copy_.default(u, m6)\n" LINE "return (v, g, m5, p)\n");
  check_values(&t, "entangled parts");
}
END_TEST

// ---- random graphs ----

struct maker {
  struct text t;
  uint64_t state;
  unsigned values, wholes;
};

static unsigned below(struct maker *m, unsigned n) {
  m->state = m->state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(m->state >> 33) % n;
}

static void put_step(struct maker *m) {
  static const char *const one[] = {"relu", "tanh", "neg", "sigmoid"};
  unsigned v = m->values++, x = below(m, v), y = v - 1 - below(m, v > 3 ? 3 : v);
  struct strbuf *out = &m->t.out;
  switch (below(m, 4)) {
  case 0: strbuf_printf(out, LINE "y%u = " A "%s.default(y%u)\n", v, one[below(m, 4)], y); break;
  case 1: strbuf_printf(out, LINE "y%u = " A "add.Tensor(y%u, y%u)\n", v, x, y); break;
  default: strbuf_printf(out, LINE "y%u = " A "mm.default(y%u, w)\n", v, y); break;
  }
}

// Mostly neighbours, so that shorter concatenations lie in longer ones.
static void put_whole(struct maker *m, unsigned dim) {
  unsigned first = below(m, m->values), count = 2 + below(m, 18);
  strbuf_printf(&m->t.out, LINE "c%u = " A "cat.default([", m->wholes);
  for (unsigned i = 0; i < count; i++) {
    unsigned v = below(m, 12) == 0 ? below(m, m->values) : (first + i) % m->values;
    strbuf_printf(&m->t.out, "%sy%u", i ? ", " : "", v);
  }
  strbuf_printf(&m->t.out, "], %u)\n", dim);
  strbuf_printf(&m->t.out, LINE "d%u = " A "%s.default(c%u)\n", m->wholes,
                below(m, 2) ? "exp" : "t", m->wholes);
  m->wholes++;
}

START_TEST(random_concatenations) {
  struct maker m = {.t = begin(), .state = (first_seed + (uint64_t)_i) * 0x9e3779b97f4a7c15u + 1};
  strbuf_puts(&m.t.out, HEAD "y0: \"f32[8, 8]\", y1: \"f32[8, 8]\", w: \"f32[8, 8]\"):\n");
  m.values = 2;
  for (unsigned i = 0, steps = 6 + below(&m, 24); i < steps; i++) {
    put_step(&m);
    if (below(&m, 4) == 0)
      put_whole(&m, below(&m, 2));
  }
  put_whole(&m, 0);
  put_whole(&m, 1);
  strbuf_puts(&m.t.out, LINE "return (");
  for (unsigned i = 0; i < m.wholes; i++)
    strbuf_printf(&m.t.out, "%sd%u%s", i ? ", " : "", i,
                  below(&m, 3) == 0 ? arena_printf(m.t.arena, ", c%u", i) : "");
  strbuf_printf(&m.t.out, ", y%u)\n", below(&m, m.values));
  struct program *p = compile(&m.t, "cpu", strbuf_cstr(&m.t.out));
  check_agrees(p, NULL, 1e-4, strbuf_cstr(&m.t.out));
  end(&m.t);
}
END_TEST

int main(int argc, char **argv) {
  first_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
  seeds = argc > 2 ? atoi(argv[2]) : seeds;
  Suite *s = suite_create("concatenation");
  TCase *t = tcase_create("concatenation");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, a_stack_of_computed_steps_takes_no_kernel);
  tcase_add_test(t, a_stack_of_pointwise_steps_takes_few_kernels);
  tcase_add_test(t, a_dense_block_copies_only_its_input);
  tcase_add_test(t, parts_without_kernels_are_copied_together);
  tcase_add_test(t, values);
  tcase_add_test(t, symbolic_steps);
  tcase_add_test(t, entangled_parts);
  tcase_add_loop_test(t, random_concatenations, 0, seeds);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
