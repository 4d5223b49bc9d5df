// SPDX-License-Identifier: Apache-2.0
// Size expressions: random ones evaluate as their operations do; equal ones have equal pointers;
// text.
#include "graph/expr/size_expr.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static struct arena *arena;
static struct exprs *x;

static void setup(void) {
  arena = arena_create();
  x = exprs_create(arena);
}

static void teardown(void) { arena_destroy(arena); }

static const struct expr *num(int64_t v) { return expr_const(x, v); }

// ---- random expressions ----

enum { SYMBOLS = 4, MAX_TREE = 24 };

// An operation on earlier entries; operands of leaves are a symbol or a number.
struct step {
  char op; // s n + - * / % < >
  int64_t a, b;
};

static uint64_t seed_state;
static uint64_t random_below(uint64_t n) {
  seed_state = seed_state * 6364136223846793005u + 1442695040888963407u;
  return (seed_state >> 33) % n;
}

static int64_t floor_of(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static int64_t apply(char op, int64_t a, int64_t b) {
  switch (op) {
  case '+': return a + b;
  case '-': return a - b;
  case '*': return a * b;
  case '/': return b == 0 ? 0 : floor_of(a, b);
  case '%': return b == 0 ? 0 : a - floor_of(a, b) * b;
  case '<': return a < b ? a : b;
  default: return a > b ? a : b;
  }
}

static const struct expr *make(char op, const struct expr *a, const struct expr *b) {
  switch (op) {
  case '+': return expr_add(x, a, b);
  case '-': return expr_sub(x, a, b);
  case '*': return expr_mul(x, a, b);
  case '/': return expr_floordiv(x, a, b);
  case '%': return expr_mod(x, a, b);
  case '<': return expr_min(x, a, b);
  default: return expr_max(x, a, b);
  }
}

static int64_t value_of(const struct step *steps, int n, const int64_t *symbols) {
  int64_t values[MAX_TREE];
  for (int i = 0; i < n; i++) {
    const struct step *s = &steps[i];
    values[i] = s->op == 's'   ? symbols[s->a]
                : s->op == 'n' ? s->a
                               : apply(s->op, values[s->a], values[s->b]);
  }
  return values[n - 1];
}

// Operands are mostly leaves or recent; divisors mostly small numbers and sizes, as in index
// arithmetic.
static int random_steps(struct step *steps, int operations) {
  static const int numbers[] = {0, 1, 2, 3, 4, 6, 8, 12, 24, -1, -2, 5};
  static const char ops[] = "+++-**////%%%%<>";
  int n = 0;
  for (int i = 0; i < SYMBOLS; i++)
    steps[n++] = (struct step){'s', i, 0};
  for (int i = 0; i < 4; i++)
    steps[n++] = (struct step){'n', numbers[random_below(sizeof numbers / sizeof *numbers)], 0};
  for (int i = 0; i < operations; i++) {
    struct step s = {ops[random_below(sizeof ops - 1)], 0, 0};
    s.a =
        (int64_t)(random_below(3) ? (uint64_t)n - 1 - random_below(i + 1 < 3 ? (uint64_t)i + 1 : 3)
                                  : random_below((uint64_t)n));
    s.b = (int64_t)random_below((uint64_t)n);
    if ((s.op == '/' || s.op == '%') && random_below(4))
      s.b = (int64_t)(SYMBOLS - 1 + random_below(5)); // the size or a number
    steps[n++] = s;
  }
  return n;
}

static const struct expr *symbols[SYMBOLS];

// Axes below 4, below the size and below 3 times the size, and the size itself, from 1 to 4.
static void make_symbols(void) {
  symbols[3] = expr_size(x, "s0", 1, 4, 2);
  symbols[0] = expr_symbol(x, "i", 0, INT64_MAX, num(4));
  symbols[1] = expr_symbol(x, "j", 0, INT64_MAX, symbols[3]);
  symbols[2] = expr_symbol(x, "k", 0, INT64_MAX, expr_muli(x, symbols[3], 3));
}

static void explain(const struct expr *e, const struct step *steps, int n, const int64_t *at,
                    int64_t want) {
  struct strbuf b = {0};
  expr_print(e, &b);
  fprintf(stderr, "# %s is wrong at i=%d j=%d k=%d s0=%d, should be %d:", strbuf_cstr(&b),
          (int)at[0], (int)at[1], (int)at[2], (int)at[3], (int)want);
  for (int i = 0; i < n; i++)
    fprintf(stderr, " %d:%c(%d,%d)", i, steps[i].op, (int)steps[i].a, (int)steps[i].b);
  fprintf(stderr, "\n");
  strbuf_finish(&b);
}

// The next point that the ranges of the symbols allow.
static bool next_point(int64_t *at) {
  const int64_t ends[SYMBOLS] = {4, at[3], 3 * at[3], 5};
  for (int i = 0; i < SYMBOLS; i++) {
    if (++at[i] < ends[i])
      return true;
    at[i] = 0;
  }
  return false;
}

// TILE_TEST_ROUNDS: more of them.
static int random_rounds(void) {
  const char *rounds = getenv("TILE_TEST_ROUNDS");
  return rounds ? atoi(rounds) : 30;
}

START_TEST(random_values) {
  seed_state = (uint64_t)_i + 1;
  make_symbols();
  for (int round = 0; round < 400; round++) {
    struct step steps[MAX_TREE];
    const struct expr *made[MAX_TREE];
    int n = random_steps(steps, 2 + (int)random_below(10));
    for (int i = 0; i < n; i++)
      made[i] = steps[i].op == 's'   ? symbols[steps[i].a]
                : steps[i].op == 'n' ? num(steps[i].a)
                                     : make(steps[i].op, made[steps[i].a], made[steps[i].b]);
    const struct expr *e = made[n - 1], *limit = made[random_below((uint64_t)n)];
    bool within = expr_is_within(x, e, limit);
    const struct expr *coefficient, *rest;
    bool linear = expr_linear(x, e, symbols[1], &coefficient, &rest);
    const struct expr *moved =
        expr_substitute(x, e, 1, &symbols[1], (const struct expr *[]){expr_addi(x, symbols[0], 1)});
    int64_t divisor = 1 + (int64_t)random_below(8);
    bool multiple = expr_is_multiple(e, divisor);
    int64_t at[SYMBOLS] = {0, 0, 0, 1};
    do {
      int64_t want = value_of(steps, n, at), have, bound, c, r;
      if (!expr_eval(e, SYMBOLS, symbols, at, &have) || have != want) {
        explain(e, steps, n, at, want);
        ck_abort_msg("value");
      }
      ck_assert(e->lo <= want && want <= e->hi);
      ck_assert(!multiple || want % divisor == 0);
      if (within) {
        ck_assert(expr_eval(limit, SYMBOLS, symbols, at, &bound));
        ck_assert(0 <= want && want < bound);
      }
      if (linear) {
        ck_assert(!expr_has_symbol(coefficient, symbols[1]) && !expr_has_symbol(rest, symbols[1]));
        ck_assert(expr_eval(coefficient, SYMBOLS, symbols, at, &c) &&
                  expr_eval(rest, SYMBOLS, symbols, at, &r));
        ck_assert_int_eq(c * at[1] + r, want);
      }
      if (at[0] + 1 < at[3]) { // where i + 1 is a value that j may have
        int64_t there[SYMBOLS] = {at[0], at[0] + 1, at[2], at[3]};
        ck_assert(expr_eval(moved, SYMBOLS, symbols, at, &have));
        ck_assert_int_eq(have, value_of(steps, n, there));
      }
    } while (next_point(at));
  }
}
END_TEST

// ---- what must be the same ----

START_TEST(sums) {
  const struct expr *a = expr_symbol(x, "a", 0, 100, NULL), *b = expr_symbol(x, "b", 0, 100, NULL);
  ck_assert_ptr_eq(expr_add(x, a, b), expr_add(x, b, a));
  ck_assert_ptr_eq(expr_add(x, a, a), expr_muli(x, a, 2));
  ck_assert_ptr_eq(expr_sub(x, expr_add(x, a, b), a), b);
  ck_assert_ptr_eq(expr_sub(x, a, a), num(0));
  ck_assert_ptr_eq(
      expr_mul(x, expr_addi(x, a, 1), expr_addi(x, b, 2)),
      expr_add(x, expr_add(x, expr_mul(x, b, a), expr_muli(x, a, 2)), expr_addi(x, b, 2)));
  ck_assert_ptr_eq(expr_muli(x, expr_addi(x, a, 3), 0), num(0));
  ck_assert_ptr_eq(expr_product(x, (const struct expr *[]){a, num(3), b}, 3),
                   expr_mul(x, expr_muli(x, b, 3), a));
  ck_assert_ptr_eq(expr_product(x, NULL, 0), num(1));
}
END_TEST

START_TEST(divisions) {
  const struct expr *a = expr_symbol(x, "a", 0, 1000, NULL),
                    *b = expr_symbol(x, "b", 0, INT64_MAX, num(32));
  const struct expr *sum = expr_add(x, expr_muli(x, a, 32), b);
  ck_assert_ptr_eq(expr_floordiv(x, sum, num(32)), a);
  ck_assert_ptr_eq(expr_divide_exactly(x, expr_muli(x, a, 24), expr_muli(x, a, 8)),
                   num(3)); // a may be 0
  ck_assert_ptr_eq(expr_divide_exactly(x, expr_mul(x, a, b), b), a);
  ck_assert_ptr_null(expr_divide_exactly(x, sum, num(32)));
  ck_assert_ptr_null(expr_divide_exactly(x, expr_muli(x, a, 8), expr_muli(x, a, 24)));
  const struct expr *below = expr_symbol(x, "below", -1000, -1, NULL);
  ck_assert_ptr_eq(expr_floordiv(x, expr_muli(x, below, -2), expr_muli(x, below, -1)), num(2));
  ck_assert_ptr_eq(expr_mod(x, sum, num(32)), b);
  ck_assert_ptr_eq(expr_floordiv(x, b, num(32)), num(0));
  ck_assert_ptr_eq(expr_mod(x, b, num(40)), b);
  ck_assert_ptr_eq(expr_floordiv(x, expr_floordiv(x, a, num(4)), num(8)),
                   expr_floordiv(x, a, num(32)));
  ck_assert_ptr_eq(expr_mod(x, expr_mod(x, a, num(24)), num(8)), expr_mod(x, a, num(8)));
  ck_assert_ptr_eq(expr_floordiv(x, expr_mod(x, a, num(24)), num(8)),
                   expr_mod(x, expr_floordiv(x, a, num(8)), num(3)));
  ck_assert_ptr_eq(
      expr_floordiv(x, expr_add(x, expr_muli(x, a, 16), expr_mod(x, b, num(16))), num(64)),
      expr_floordiv(x, a, num(4)));
  ck_assert_ptr_eq(expr_cdiv(x, expr_cdiv(x, a, num(4)), num(8)), expr_cdiv(x, a, num(32)));
  ck_assert_ptr_eq(expr_mod(x, expr_muli(x, a, 33), num(32)), expr_mod(x, a, num(32)));
  // Parts of a division come together again.
  const struct expr *q = expr_floordiv(x, a, num(7)), *r = expr_mod(x, a, num(7));
  ck_assert_ptr_eq(expr_add(x, expr_muli(x, q, 7), r), a);
  ck_assert_ptr_eq(expr_sub(x, a, expr_muli(x, q, 7)), r);
  ck_assert_ptr_eq(expr_sub(x, a, r), expr_muli(x, q, 7));
  const struct expr *middle = expr_mod(x, expr_floordiv(x, a, num(5)), num(3)),
                    *low = expr_mod(x, a, num(5));
  ck_assert_ptr_eq(expr_add(x, expr_muli(x, middle, 5), low), expr_mod(x, a, num(15)));
  const struct expr *high = expr_floordiv(x, a, num(15));
  ck_assert_ptr_eq(expr_add(x, expr_muli(x, high, 15), expr_add(x, low, expr_muli(x, middle, 5))),
                   a);
  ck_assert_ptr_eq(expr_add(x, expr_muli(x, high, 3), middle), expr_floordiv(x, a, num(5)));
}
END_TEST

START_TEST(symbolic_divisions) {
  const struct expr *n = expr_size(x, "n", 1, 1 << 20, 64), *m = expr_size(x, "m", 1, 1 << 20, 64);
  const struct expr *i = expr_symbol(x, "i", 0, INT64_MAX, n),
                    *j = expr_symbol(x, "j", 0, INT64_MAX, m);
  const struct expr *flat = expr_add(x, expr_mul(x, i, m), j), *nm = expr_mul(x, n, m);
  ck_assert_ptr_eq(expr_floordiv(x, flat, m), i);
  ck_assert_ptr_eq(expr_mod(x, flat, m), j);
  ck_assert_ptr_eq(expr_floordiv(x, i, n), num(0));
  ck_assert_ptr_eq(expr_mod(x, i, n), i);
  ck_assert(expr_is_within(x, flat, nm) && !expr_is_within(x, expr_addi(x, flat, 1), nm));
  ck_assert_ptr_eq(expr_floordiv(x, flat, nm), num(0));
  ck_assert_ptr_eq(expr_mod(x, flat, nm), flat);
  ck_assert_ptr_eq(expr_floordiv(x, nm, m), n);
  ck_assert_ptr_eq(expr_floordiv(x, expr_mul(x, nm, expr_addi(x, n, 1)), expr_addi(x, n, 1)), nm);
  ck_assert_ptr_eq(expr_mod(x, expr_mul(x, nm, expr_addi(x, n, 1)), expr_addi(x, n, 1)), num(0));
  const struct expr *back = expr_sub(x, expr_addi(x, n, -1), i); // from the end
  ck_assert(expr_is_within(x, back, n) && !expr_is_within(x, expr_addi(x, back, -1), n));
  const struct expr *p = expr_symbol(x, "p", 0, INT64_MAX, nm);
  const struct expr *q = expr_floordiv(x, p, m), *r = expr_mod(x, p, m);
  ck_assert_ptr_eq(expr_add(x, expr_mul(x, q, m), r), p);
  ck_assert(expr_is_within(x, r, m) && expr_is_within(x, q, n));
  ck_assert_ptr_eq(expr_floordiv(x, expr_floordiv(x, p, n), m), expr_floordiv(x, p, nm));
  ck_assert_ptr_eq(expr_mod(x, expr_mod(x, p, nm), m), expr_mod(x, p, m));
  ck_assert_ptr_eq(expr_floordiv(x, expr_muli(x, p, 4), expr_muli(x, n, 4)),
                   expr_floordiv(x, p, n));
  // Indices of tensors whose sizes might be too large together, and are not.
  const struct expr *big = expr_size(x, "big", 1, INT32_MAX, 64),
                    *batch = expr_symbol(x, "batch", 0, INT64_MAX, num(8));
  const struct expr *plane = expr_mul(x, big, big);
  ck_assert_ptr_eq(expr_add(x, expr_mul(x, expr_muli(x, plane, 4), expr_floordiv(x, batch, num(4))),
                            expr_mul(x, plane, expr_mod(x, batch, num(4)))),
                   expr_mul(x, plane, batch));
  // Parts of a size: a half of 12*(c + d) fits twice.
  const struct expr *c = expr_size(x, "c", 1, 1000, 8), *d = expr_size(x, "d", 1, 1000, 8);
  const struct expr *whole = expr_muli(x, expr_add(x, c, d), 12),
                    *half = expr_floordiv(x, whole, num(2));
  ck_assert_ptr_eq(expr_cdiv(x, whole, half), num(2));
  ck_assert_ptr_eq(expr_floordiv(x, expr_addi(x, whole, -1), half), num(1));
  ck_assert_ptr_eq(expr_mod(x, expr_addi(x, whole, -1), half), expr_addi(x, half, -1));
}
END_TEST

START_TEST(choices) {
  const struct expr *n = expr_size(x, "n", 1, 100, 8), *i = expr_symbol(x, "i", 0, INT64_MAX, n);
  ck_assert_ptr_eq(expr_min(x, n, num(100)), n);
  ck_assert_ptr_eq(expr_max(x, n, num(1)), n);
  ck_assert_ptr_eq(expr_min(x, n, expr_addi(x, n, 2)), n);
  ck_assert_ptr_eq(expr_max(x, expr_min(x, n, num(5)), num(5)), num(5));
  ck_assert_ptr_eq(expr_min(x, n, num(5)), expr_min(x, num(5), expr_min(x, n, num(7))));
  ck_assert_ptr_eq(expr_min(x, i, expr_min(x, n, num(5))), expr_min(x, num(5), i)); // i is below n
  ck_assert_ptr_eq(expr_min(x, n, expr_max(x, expr_addi(x, n, -2), num(1))),
                   expr_max(x, expr_addi(x, n, -2), num(1)));
  ck_assert_ptr_eq(expr_max(x, expr_min(x, n, num(5)), expr_addi(x, n, 1)), expr_addi(x, n, 1));
  ck_assert_int_eq(expr_hint(expr_mul(x, n, num(3))), 24);
}
END_TEST

// ---- limits ----

START_TEST(overflow) {
  const struct expr *big = num(INT64_MAX), *n = expr_size(x, "n", 1, INT64_C(1) << 40, 0);
  ck_assert(expr_add(x, big, num(1))->overflows && expr_mul(x, big, num(2))->overflows);
  ck_assert(expr_sub(x, num(INT64_MIN), num(1))->overflows &&
            expr_floordiv(x, num(INT64_MIN), num(-1))->overflows);
  ck_assert(!n->overflows && expr_mul(x, n, n)->overflows);
  ck_assert(expr_addi(x, expr_mul(x, n, n), 1)->overflows);
  int64_t value;
  ck_assert(!expr_eval(expr_mul(x, n, n), 1, &n, (const int64_t[]){INT64_C(1) << 40}, &value));
  ck_assert(expr_eval(expr_mul(x, n, n), 1, &n, (const int64_t[]){3}, &value) && value == 9);
  ck_assert(!expr_eval(n, 0, NULL, NULL, &value));
}
END_TEST

// Expressions that grow without end stay within bounds, whatever is done with them.
START_TEST(growth) {
  const struct expr *n = expr_size(x, "n", 1, 1 << 20, 0), *e = n, *sum = n, *product = n,
                    *twice = n;
  for (int i = 0; i < 3000; i++) {
    e = expr_mod(x, expr_addi(x, expr_mul(x, e, e), i), num(1000003 + i));
    char name[16];
    snprintf(name, sizeof name, "v%d", i);
    const struct expr *next = expr_size(x, name, 1, 1 << 20, 0);
    sum = expr_add(x, sum, next);
    product = expr_mul(x, product, expr_addi(x, next, 1));
    twice = expr_max(x, expr_mod(x, twice, next), expr_floordiv(x, twice, num(3)));
  }
  ck_assert(e->overflows && product->overflows && twice->overflows);
  struct strbuf b = {0};
  expr_print(sum, &b);
  expr_print(twice, &b);
  ck_assert_uint_lt(b.len, 1 << 20);
  strbuf_finish(&b);
}
END_TEST

// A sum with more terms than are compared is right all the same.
START_TEST(long_sums) {
  enum { TERMS = 150 };
  const struct expr *of[TERMS], *sum = num(0);
  int64_t values[TERMS], want = 0, have;
  for (int i = 0; i < TERMS; i++) {
    of[i] = expr_symbol(x, "t", 0, 1000, NULL);
    values[i] = i;
    want += 3 * i;
    sum = expr_add(x, sum, expr_muli(x, of[i], 3));
  }
  ck_assert(expr_eval(sum, TERMS, of, values, &have));
  ck_assert_int_eq(have, want);
}
END_TEST

// ---- text ----

static void check_text(const struct expr *e, const char *want) {
  struct strbuf b = {0};
  expr_print(e, &b);
  ck_assert_str_eq(strbuf_cstr(&b), want);
  strbuf_finish(&b);
}

START_TEST(text) {
  const struct expr *a = expr_symbol(x, "a", 0, 1000, NULL),
                    *b = expr_symbol(x, "b", 0, 1000, NULL);
  check_text(num(-3), "-3");
  check_text(expr_addi(x, expr_muli(x, a, 4), 1), "4*a + 1");
  check_text(expr_sub(x, expr_sub(x, a, b), num(7)), "a - b - 7");
  check_text(expr_sub(x, b, expr_muli(x, a, 2)), "-2*a + b");
  check_text(expr_muli(x, a, -1), "-a");
  check_text(expr_mul(x, a, b), "a*b");
  check_text(expr_mod(x, expr_floordiv(x, a, num(4)), num(3)), "a // 4 % 3");
  check_text(expr_muli(x, expr_floordiv(x, a, num(4)), 3), "3*(a // 4)");
  check_text(expr_muli(x, expr_floordiv(x, a, num(4)), -1), "-(a // 4)");
  check_text(expr_sub(x, b, expr_floordiv(x, a, num(4))), "b - a // 4");
  check_text(expr_floordiv(x, expr_add(x, a, b), num(3)), "(a + b) // 3");
  check_text(expr_floordiv(x, a, expr_addi(x, b, 1)), "a // (b + 1)");
  check_text(expr_min(x, expr_add(x, a, b), num(5)), "min(a + b, 5)");
}
END_TEST

START_TEST(sizes) {
  const struct expr *n = expr_size(x, "n", 1, 100, 8);
  ck_assert_ptr_eq(n, expr_size(x, "n", 1, 100, 8));
  ck_assert_ptr_ne(expr_symbol(x, "i", 0, 1, NULL), expr_symbol(x, "i", 0, 1, NULL));
  ck_assert(expr_is_multiple(expr_muli(x, n, 12), 4) && !expr_is_multiple(n, 2));
  ck_assert(expr_is_multiple(expr_addi(x, expr_muli(x, n, 12), 8), 4) &&
            expr_is_multiple(num(0), 7));
}
END_TEST

// What a guard says of a product holds for products and sums that are built of it, and of nodes that
// are older than the guard.
START_TEST(products_known_to_be_numbers) {
  const struct expr *n = expr_size(x, "n", 1, 1 << 20, 64), *m = expr_size(x, "m", 1, 1 << 20, 64);
  const struct expr *square = expr_mul(x, n, n), *old = expr_muli(x, square, 3);
  const struct expr *three = expr_mul(x, square, m);
  expr_equate(square, num(16));
  ck_assert_ptr_eq(expr_mul(x, n, n), num(16));
  ck_assert_ptr_eq(expr_addi(x, square, 2), num(18));
  ck_assert_ptr_eq(expr_muli(x, square, 3), num(48));
  ck_assert_ptr_eq(expr_sub(x, old, num(48)), num(0));
  ck_assert_ptr_ne(expr_floordiv(x, three, m), num(1));
}
END_TEST

int main(void) {
  Suite *s = suite_create("expr");
  TCase *t = tcase_create("expr");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, random_values, 0, random_rounds());
  tcase_add_test(t, sums);
  tcase_add_test(t, divisions);
  tcase_add_test(t, symbolic_divisions);
  tcase_add_test(t, choices);
  tcase_add_test(t, overflow);
  tcase_add_test(t, growth);
  tcase_add_test(t, long_sums);
  tcase_add_test(t, text);
  tcase_add_test(t, sizes);
  tcase_add_test(t, products_known_to_be_numbers);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
