// SPDX-License-Identifier: Apache-2.0
// Folds sums that contain the parts of a division: c*(x // c) + x % c = x in all its variations,
// and a*((x // a) % b) + x % a = x % (a*b).
// Recursion is the algorithm: the operands of an expression are expressions, and each is simplified
// when it is built.
#include "graph/expr/size_expr_internal.h"

// The r for which p contains r times all terms of e; 0 if there is none. For a sum without symbols:
// 0.
static int64_t ratio(struct exprs *x, const struct poly *p, const struct expr *e) {
  struct poly part;
  poly_init(&part);
  poly_add(x, &part, e, 1);
  int64_t r = 0;
  for (size_t i = 0; i < part.count; i++) {
    int64_t have = poly_coef(p, part.terms[i].of), one = part.terms[i].coef;
    if (have == 0 || have == INT64_MIN || one == INT64_MIN || have % one != 0 ||
        (i > 0 && have / one != r))
      return 0;
    r = have / one;
  }
  return part.overflow ? 0 : r;
}

static bool is_single(struct exprs *x, const struct expr *e, struct term *ret) {
  return expr_as_term(x, e, ret) && ret->of->kind != EXPR_CONST;
}

static bool has_term(struct exprs *x, const struct expr *e, const struct expr *of) {
  struct poly p;
  poly_init(&p);
  poly_add(x, &p, e, 1);
  return poly_coef(&p, of) != 0;
}

// whole = quotient + remainder. In p = a*whole + b*quotient + c*remainder + ..., one of the three
// can be eliminated; it is where fewer of them remain. The form without the quotient is preferred.
static bool relate(struct exprs *x, struct poly *p, const struct expr *whole,
                   const struct expr *quotient, const struct expr *remainder) {
  struct term q, r;
  if (expr_is_unfit(whole) || !is_single(x, quotient, &q) || !is_single(x, remainder, &r) ||
      has_term(x, whole, q.of) || has_term(x, whole, r.of) || q.of == r.of)
    return false;
  int64_t a = ratio(x, p, whole), b = ratio(x, p, quotient), c = ratio(x, p, remainder);
  int64_t limit = INT64_MAX / 4;
  if (a > limit || a < -limit || b > limit || b < -limit || c > limit || c < -limit)
    return false;
  int have = (a != 0) + (b != 0) + (c != 0);
  if (have < 2)
    return false;
  int64_t take = b; // of the quotient, which leaves (a + b, 0, c - b)
  int left = (a + b != 0) + (c - b != 0);
  if ((b - -a != 0) + (a + c != 0) < left) { // without the whole: (0, b + a, c + a)
    take = -a;
    left = (b + a != 0) + (c + a != 0);
  }
  if (take == 0 || left > have || (left == have && take != b))
    return false;
  poly_add(x, p, whole, take);
  poly_add(x, p, quotient, -take);
  poly_add(x, p, remainder, -take);
  return true;
}

// t = U * (S // c) is paired with U * (S % c), where c divides U's coefficient and factors.
static bool fold_quotient(struct exprs *x, struct poly *p, struct term t, const struct expr *f) {
  const struct expr *s = f->in[0], *c = f->in[1], *others, *unit;
  struct term tc;
  if (c->lo < 1 || !expr_as_term(x, c, &tc) || tc.coef <= 0 ||
      !product_divide(x, t.of, f, &others) || t.coef % tc.coef != 0 ||
      !product_divide(x, others, tc.of, &unit))
    return false;
  const struct expr *m = expr_mod(x, s, c);
  return relate(x, p, expr_mul(x, unit, s), expr_mul(x, expr_mul(x, unit, c), f),
                expr_mul(x, unit, m));
}

static bool fold_remainder(struct exprs *x, struct poly *p, struct term t, const struct expr *f) {
  const struct expr *s = f->in[0], *c = f->in[1], *unit;
  if (c->lo < 1 || !product_divide(x, t.of, f, &unit))
    return false;
  const struct expr *q = expr_floordiv(x, s, c);
  return relate(x, p, expr_mul(x, unit, s), expr_mul(x, expr_mul(x, unit, c), q),
                expr_mul(x, unit, f));
}

// t = U * (Y % b) with Y = S // a + ...: together with (U / a) * (S % a) it is (U / a) * (X %
// (a*b)), X = a * (Y - S // a) + S.
static bool join_remainders(struct exprs *x, struct poly *p, struct term t, const struct expr *f) {
  const struct expr *others;
  struct poly y;
  if (f->in[1]->lo < 1 || !product_divide(x, t.of, f, &others))
    return false;
  poly_init(&y);
  poly_add(x, &y, f->in[0], 1);
  for (size_t i = 0; i < y.count; i++) {
    const struct expr *q = y.terms[i].of, *unit;
    struct term ta;
    if (y.terms[i].coef != 1 || q->kind != EXPR_FLOORDIV || q->in[1]->lo < 1 ||
        !expr_as_term(x, q->in[1], &ta) || ta.coef <= 0 || t.coef % ta.coef != 0 ||
        !product_divide(x, others, ta.of, &unit))
      continue;
    const struct expr *times = term_expr(x, (struct term){t.coef / ta.coef, unit});
    const struct expr *low = expr_mul(x, times, expr_mod(x, q->in[0], q->in[1]));
    if (expr_is_unfit(low) || ratio(x, p, low) != 1)
      continue;
    const struct expr *above = expr_mul(x, q->in[1], expr_sub(x, f->in[0], q));
    const struct expr *by = expr_mul(x, q->in[1], f->in[1]);
    const struct expr *joined = expr_mod(x, expr_add(x, above, q->in[0]), by);
    if (expr_is_unfit(joined) || expr_is_unfit(by) || joined->kind != EXPR_MOD)
      continue;
    poly_add_term(x, p, -t.coef, t.of);
    poly_add(x, p, low, -1);
    poly_add(x, p, expr_mul(x, times, joined), 1);
    return true;
  }
  return false;
}

static bool fold_once(struct exprs *x, struct poly *p) {
  for (size_t i = 0; i < p->count; i++) {
    struct term t = p->terms[i];
    const struct expr *const *factors;
    size_t count = expr_factors(&t.of, &factors);
    for (size_t k = 0; k < count; k++) {
      const struct expr *f = factors[k];
      if (f->kind == EXPR_FLOORDIV && fold_quotient(x, p, t, f))
        return true;
      if (f->kind == EXPR_MOD && (fold_remainder(x, p, t, f) || join_remainders(x, p, t, f)))
        return true;
    }
  }
  return false;
}

void poly_fold(struct exprs *x, struct poly *p) {
  if (x->busy >= EXPR_MAX_BUSY)
    return;
  x->busy++;
  for (int rounds = 0; rounds < 2 * EXPR_MAX_TERMS && !p->overflow && fold_once(x, p); rounds++)
    continue;
  x->busy--;
}
