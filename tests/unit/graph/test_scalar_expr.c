// SPDX-License-Identifier: Apache-2.0
// Expression trees: equal ones are shared, only valid identities fold, axes are replaced
// everywhere, and folded trees compute what the operators do.
#include "graph/loops/loops.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static struct {
  struct arena *arena;
  struct exprs *x;
  struct scalars *s;
  const struct expr *i, *j; // axes of 32 and 8
  struct buffer a, ids;
} t;

static void begin(void) {
  t.arena = arena_create();
  t.x = exprs_create(t.arena);
  t.s = scalars_create(t.arena, t.x);
  t.i = expr_symbol(t.x, "i", 0, 31, expr_const(t.x, 32));
  t.j = expr_symbol(t.x, "j", 0, 7, expr_const(t.x, 8));
  t.a = (struct buffer){.id = 0, .name = "a", .dtype = DTYPE_F32, .numel = expr_const(t.x, 256)};
  t.ids = (struct buffer){.id = 1, .name = "ids", .dtype = DTYPE_I64, .numel = expr_const(t.x, 32)};
}

static void end(void) { arena_destroy(t.arena); }

static const struct scalar *load(const struct expr *at) { return scalar_load(t.s, &t.a, at); }
static const struct scalar *real(double v) { return scalar_real(t.s, DTYPE_F32, v); }
static const struct scalar *number(int64_t v) { return scalar_int(t.s, DTYPE_I64, v); }
static const struct scalar *apply2(enum scalar_op op, enum dtype d, const struct scalar *a,
                                   const struct scalar *b) {
  const struct scalar *in[2] = {a, b};
  return scalar_apply(t.s, op, d, in);
}
static const struct scalar *f2(enum scalar_op op, const struct scalar *a, const struct scalar *b) {
  return apply2(op, DTYPE_F32, a, b);
}
static const struct scalar *less(const struct expr *a, const struct expr *b) {
  return apply2(SCALAR_LT, DTYPE_I1, scalar_index(t.s, a), scalar_index(t.s, b));
}

static void prints(const struct scalar *v, const char *want) {
  struct strbuf out = {0};
  scalar_print(v, &out);
  ck_assert_str_eq(strbuf_cstr(&out), want);
  strbuf_finish(&out);
}

START_TEST(equal_is_one) {
  begin();
  const struct scalar *x = load(t.i), *y = load(t.j);
  ck_assert_ptr_eq(f2(SCALAR_ADD, x, y), f2(SCALAR_ADD, y, x));
  ck_assert_ptr_ne(f2(SCALAR_SUB, x, y), f2(SCALAR_SUB, y, x));
  ck_assert_ptr_eq(load(expr_addi(t.x, t.i, 1)), load(expr_addi(t.x, t.i, 1)));
  ck_assert_ptr_eq(real((double)NAN), real(-(double)NAN));
  ck_assert_ptr_ne(real(0.0), real(-0.0));
  ck_assert_ptr_eq(scalar_int(t.s, DTYPE_I8, 257), scalar_int(t.s, DTYPE_I8, 1));
  end();
}
END_TEST

START_TEST(identities) {
  begin();
  const struct scalar *x = load(t.i), *one = real(1);
  ck_assert_ptr_eq(f2(SCALAR_MUL, x, one), x);
  ck_assert_ptr_eq(f2(SCALAR_DIV, x, one), x);
  ck_assert_ptr_eq(f2(SCALAR_SUB, x, real(0)), x);
  ck_assert_ptr_eq(f2(SCALAR_ADD, x, real(-0.0)), x);
  ck_assert_ptr_eq(f2(SCALAR_POW, x, real(2)), f2(SCALAR_MUL, x, x));
  ck_assert_ptr_eq(f2(SCALAR_DIV, x, real(4)), f2(SCALAR_MUL, x, real(0.25)));
  // -0 + 0 is 0, x * 0 may be NaN, x - x may be NaN, 1 / 3 is not exact.
  ck_assert_int_eq(f2(SCALAR_ADD, x, real(0))->kind, SCALAR_APPLY);
  ck_assert_int_eq(f2(SCALAR_MUL, x, real(0))->kind, SCALAR_APPLY);
  ck_assert_int_eq(f2(SCALAR_SUB, x, x)->kind, SCALAR_APPLY);
  ck_assert_int_eq(f2(SCALAR_DIV, x, real(3))->op, SCALAR_DIV);
  const struct scalar *nan = apply2(SCALAR_NE, DTYPE_I1, x, x);
  ck_assert_int_eq(nan->kind, SCALAR_APPLY);
  const struct scalar *small = apply2(SCALAR_LT, DTYPE_I1, x, one);
  const struct scalar *large = scalar_apply(t.s, SCALAR_NOT, DTYPE_I1, &small);
  ck_assert_int_eq(large->op, SCALAR_NOT); // NaN is neither
  ck_assert_ptr_eq(scalar_apply(t.s, SCALAR_NOT, DTYPE_I1, &large), small);
  ck_assert_ptr_eq(f2(SCALAR_ADD, real(2), real(3)), real(5));
  end();
}
END_TEST

START_TEST(indices) {
  begin();
  const struct scalar *i = scalar_index(t.s, t.i);
  ck_assert_ptr_eq(apply2(SCALAR_ADD, DTYPE_I64, i, number(3)),
                   scalar_index(t.s, expr_addi(t.x, t.i, 3)));
  ck_assert_ptr_eq(less(t.i, expr_const(t.x, 32)), scalar_int(t.s, DTYPE_I1, 1));
  ck_assert_ptr_eq(less(expr_addi(t.x, t.i, 32), t.j), scalar_int(t.s, DTYPE_I1, 0));
  ck_assert_int_eq(less(t.i, t.j)->kind, SCALAR_APPLY);
  // x > y is y < x, and what is computed as i32 is compared as an index where it fits.
  const struct scalar *narrow = scalar_convert(t.s, i, DTYPE_I32);
  ck_assert_ptr_eq(apply2(SCALAR_GT, DTYPE_I1, narrow, scalar_int(t.s, DTYPE_I32, 5)),
                   less(expr_const(t.x, 5), t.i));
  ck_assert_ptr_eq(scalar_convert(t.s, narrow, DTYPE_I64), i);
  ck_assert_ptr_eq(apply2(SCALAR_REMAINDER, DTYPE_I64, i, number(8)),
                   scalar_index(t.s, expr_mod(t.x, t.i, expr_const(t.x, 8))));
  end();
}
END_TEST

START_TEST(conversions) {
  begin();
  struct buffer half = {.id = 2, .name = "h", .dtype = DTYPE_BF16};
  const struct scalar *h = scalar_load(t.s, &half, t.i), *wide = scalar_convert(t.s, h, DTYPE_F32);
  ck_assert_ptr_eq(scalar_convert(t.s, wide, DTYPE_BF16), h);
  ck_assert_ptr_eq(scalar_convert(t.s, scalar_convert(t.s, wide, DTYPE_F64), DTYPE_F32), wide);
  // Rounding is not undone.
  const struct scalar *x = load(t.i);
  ck_assert_ptr_ne(scalar_convert(t.s, scalar_convert(t.s, x, DTYPE_BF16), DTYPE_F32), x);
  ck_assert_ptr_ne(scalar_convert(t.s, scalar_convert(t.s, x, DTYPE_I32), DTYPE_F32), x);
  ck_assert_ptr_eq(scalar_convert(t.s, real(2.75), DTYPE_I32), scalar_int(t.s, DTYPE_I32, 2));
  end();
}
END_TEST

START_TEST(masks) {
  begin();
  const struct scalar *x = load(t.i), *zero = real(0), *c = less(t.i, t.j), *d = less(t.j, t.i);
  ck_assert_ptr_eq(scalar_masked(t.s, scalar_int(t.s, DTYPE_I1, 1), x, zero), x);
  ck_assert_ptr_eq(scalar_masked(t.s, c, x, x), x);
  ck_assert_int_eq(scalar_masked(t.s, c, real(2), zero)->op,
                   SCALAR_WHERE); // nothing that may not be there
  const struct scalar *inner = scalar_masked(t.s, d, x, zero),
                      *both = scalar_masked(t.s, c, inner, zero);
  ck_assert_int_eq(both->kind, SCALAR_MASKED);
  ck_assert_ptr_eq(both->in[1], x);
  ck_assert_ptr_eq(scalar_masked(t.s, c, load(t.j), scalar_masked(t.s, c, x, zero)),
                   scalar_masked(t.s, c, load(t.j), zero));
  const struct expr *from[1] = {t.i}, *to[1] = {expr_addi(t.x, t.i, 8)};
  ck_assert_ptr_eq(scalar_substitute(t.s, scalar_masked(t.s, c, x, zero), 1, from, to), zero);
  end();
}
END_TEST

static void count(void *user, const struct scalar *v) {
  (void)v;
  ++*(int *)user;
}

START_TEST(loaded_indices) {
  begin();
  const struct expr *limit = expr_const(t.x, 32);
  const struct scalar *id = scalar_load(t.s, &t.ids, t.i);
  const struct expr *e = scalar_indirect(t.s, id, limit);
  ck_assert_ptr_eq(e, scalar_indirect(t.s, id, limit));
  ck_assert_ptr_eq(scalar_indirect(t.s, scalar_index(t.s, t.i), limit), t.i);
  const struct scalar *x = load(expr_add(t.x, expr_muli(t.x, e, 8), t.j));
  prints(x, "a[j + 8*i0; i0 = ids[i]]");
  ck_assert(scalar_has_axis(x, t.i) && scalar_has_axis(x, t.j));
  int loads = 0;
  scalar_loads(f2(SCALAR_ADD, x, x), count, &loads);
  ck_assert_int_eq(loads, 2);
  const struct expr *from[1] = {t.i}, *to[1] = {expr_const(t.x, 3)};
  const struct scalar *y = scalar_substitute(t.s, x, 1, from, to);
  prints(y, "a[j + 8*i1; i1 = ids[3]]");
  ck_assert(!scalar_has_axis(y, t.i));
  const struct scalar *part[1] = {id}, *with[1] = {number(2)};
  prints(scalar_replace(t.s, x, 1, part, with), "a[j + 16]");
  end();
}
END_TEST

START_TEST(shared_parts) {
  begin();
  const struct scalar *x = load(t.i), *e = scalar_apply(t.s, SCALAR_EXP, DTYPE_F32, &x);
  const struct scalar *v = e;
  for (int k = 0; k < 60; k++) // as a tree it would have 2^60 parts
    v = f2(SCALAR_ADD, v, f2(SCALAR_MUL, v, real(0.5)));
  ck_assert_uint_eq(scalar_cost(v), 121);
  const struct expr *from[1] = {t.i}, *to[1] = {t.j};
  const struct scalar *w = scalar_substitute(t.s, v, 1, from, to);
  ck_assert_uint_eq(scalar_cost(w), 121);
  ck_assert(scalar_has_axis(w, t.j) && !scalar_has_axis(w, t.i));
  prints(f2(SCALAR_SUB, e, f2(SCALAR_MUL, e, e)), "t0 = exp(a[i]); t0 - (t0 * t0)");
  end();
}
END_TEST

// ---- random expression trees of indices: made of axes and folded, then the axes replaced by
// numbers; against the operators ----

static uint64_t state = 1;
static uint64_t draw(uint64_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % below;
}

struct pair {
  const struct scalar *expr;
  union element value;
};

static struct pair random_expression(int depth, int64_t i, int64_t j) {
  static const enum scalar_op ops[] = {SCALAR_ADD,       SCALAR_SUB,       SCALAR_MUL,
                                       SCALAR_MAXIMUM,   SCALAR_MINIMUM,   SCALAR_FLOOR_DIV,
                                       SCALAR_REMAINDER, SCALAR_TRUNC_DIV, SCALAR_FMOD};
  static const enum scalar_op tests[] = {SCALAR_EQ, SCALAR_NE, SCALAR_LT,
                                         SCALAR_LE, SCALAR_GT, SCALAR_GE};
  if (depth == 0 || draw(6) == 0) {
    uint64_t k = draw(3);
    int64_t n = (int64_t)draw(9) - 4;
    if (k == 2)
      return (struct pair){number(n), {.integer = n}};
    return (struct pair){scalar_index(t.s, k ? t.i : t.j), {.integer = k ? i : j}};
  }
  struct pair a = random_expression(depth - 1, i, j), b = random_expression(depth - 1, i, j);
  union element in[3] = {a.value, b.value};
  if (draw(4) > 0) {
    enum scalar_op op = ops[draw(COUNT_OF(ops))];
    return (struct pair){apply2(op, DTYPE_I64, a.expr, b.expr), scalar_eval(op, DTYPE_I64, in)};
  }
  enum scalar_op op = tests[draw(COUNT_OF(tests))];
  struct pair c = random_expression(depth - 1, i, j);
  const struct scalar *test = apply2(op, DTYPE_I1, a.expr, b.expr);
  union element yes = scalar_eval(op, DTYPE_I64, in);
  if (draw(2)) {
    test = scalar_apply(t.s, SCALAR_NOT, DTYPE_I1, &test);
    yes.integer = !yes.integer;
  }
  const struct scalar *choice[3] = {test, c.expr, a.expr};
  return (struct pair){scalar_apply(t.s, SCALAR_WHERE, DTYPE_I64, choice),
                       yes.integer ? c.value : a.value};
}

START_TEST(folding_changes_nothing) {
  begin();
  for (int k = 0; k < 20000; k++) {
    int64_t i = (int64_t)draw(32), j = (int64_t)draw(8);
    struct pair p = random_expression(4, i, j);
    const struct expr *from[2] = {t.i, t.j}, *to[2] = {expr_const(t.x, i), expr_const(t.x, j)};
    const struct scalar *v = scalar_substitute(t.s, p.expr, 2, from, to);
    ck_assert_msg(v->kind == SCALAR_CONST && v->constant.integer == p.value.integer,
                  "expression %d at %d, %d", k, (int)i, (int)j);
  }
  end();
}
END_TEST

int main(void) {
  Suite *s = suite_create("scalar expr");
  TCase *c = tcase_create("expression");
  tcase_set_timeout(c, 60);
  tcase_add_test(c, equal_is_one);
  tcase_add_test(c, identities);
  tcase_add_test(c, indices);
  tcase_add_test(c, conversions);
  tcase_add_test(c, masks);
  tcase_add_test(c, loaded_indices);
  tcase_add_test(c, shared_parts);
  tcase_add_test(c, folding_changes_nothing);
  suite_add_tcase(s, c);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
