// SPDX-License-Identifier: Apache-2.0
// Sums and products in canonical form.
// Recursion is the algorithm: the operands of an expression are expressions, and each is simplified
// when it is built.
#include "graph/expr/size_expr_internal.h"

// ---- terms ----

bool expr_as_term(struct exprs *x, const struct expr *e, struct term *ret) {
  int64_t coef = 1;
  if (e->kind == EXPR_ADD)
    return false;
  e = expr_known_as(e);
  if (e->kind == EXPR_MUL && e->in[0]->kind == EXPR_CONST) {
    coef = e->in[0]->value;
    e = e->count == 2 ? e->in[1] : expr_intern(x, EXPR_MUL, 0, e->count - 1, e->in + 1);
  }
  if (e->kind != EXPR_CONST)
    *ret = (struct term){coef, e};
  else if (__builtin_mul_overflow(coef, e->value, &coef))
    *ret = (struct term){1, expr_unfit(x)};
  else
    *ret = (struct term){coef, expr_const(x, 1)};
  return true;
}

const struct expr *term_expr(struct exprs *x, struct term t) {
  if (t.coef == 0 || t.of->kind == EXPR_CONST)
    return expr_const(x, t.coef);
  if (t.coef == 1)
    return t.of;
  const struct expr *const *factors, *in[EXPR_MAX_FACTORS + 1];
  size_t count = expr_factors(&t.of, &factors);
  in[0] = expr_const(x, t.coef);
  memcpy(in + 1, factors, count * sizeof *in);
  return expr_intern(x, EXPR_MUL, 0, (uint32_t)count + 1, in);
}

// A product of products; the factors are merged by their ids.
static const struct expr *product_mul(struct exprs *x, const struct expr *a, const struct expr *b) {
  if (a->kind == EXPR_CONST)
    return b;
  if (b->kind == EXPR_CONST)
    return a;
  const struct expr *const *fa, *const *fb, *in[2 * EXPR_MAX_FACTORS];
  size_t na = expr_factors(&a, &fa), nb = expr_factors(&b, &fb), n = 0, i = 0, k = 0;
  if (na + nb > EXPR_MAX_FACTORS)
    return expr_unfit(x);
  while (i < na || k < nb)
    in[n++] = k == nb || (i < na && fa[i]->id <= fb[k]->id) ? fa[i++] : fb[k++];
  return expr_intern(x, EXPR_MUL, 0, (uint32_t)n, in);
}

struct term term_mul(struct exprs *x, struct term a, struct term b, bool *ret_overflow) {
  struct term t = {0, product_mul(x, a.of, b.of)};
  if (__builtin_mul_overflow(a.coef, b.coef, &t.coef) || expr_is_unfit(t.of))
    *ret_overflow = true;
  else if (t.of->kind == EXPR_CONST) { // a product that is known to equal a number (expr_equate)
    *ret_overflow |= __builtin_mul_overflow(t.coef, t.of->value, &t.coef);
    t.of = expr_const(x, 1);
  }
  return t;
}

static const struct expr *product_of(struct exprs *x, size_t n, const struct expr *const *in) {
  return n == 0 ? expr_const(x, 1) : n == 1 ? in[0] : expr_intern(x, EXPR_MUL, 0, (uint32_t)n, in);
}

bool product_divide(struct exprs *x, const struct expr *a, const struct expr *b,
                    const struct expr **ret) {
  if (b->kind == EXPR_CONST) {
    *ret = a;
    return true;
  }
  if (a->kind == EXPR_CONST)
    return false;
  const struct expr *const *fa, *const *fb, *in[EXPR_MAX_FACTORS];
  size_t na = expr_factors(&a, &fa), nb = expr_factors(&b, &fb), n = 0, k = 0;
  in[0] = NULL; // for gcc 12, which at -O1 takes it as read where n is 0
  for (size_t i = 0; i < na; i++)
    if (k < nb && fa[i] == fb[k])
      k++;
    else
      in[n++] = fa[i];
  if (k < nb)
    return false;
  *ret = product_of(x, n, in);
  return n < 2 || (*ret)->kind != EXPR_CONST; // a product that is known to equal a number is no term
}

const struct expr *product_common(struct exprs *x, const struct expr *a, const struct expr *b) {
  if (a->kind == EXPR_CONST || b->kind == EXPR_CONST)
    return expr_const(x, 1);
  const struct expr *const *fa, *const *fb, *in[EXPR_MAX_FACTORS];
  size_t na = expr_factors(&a, &fa), nb = expr_factors(&b, &fb), n = 0;
  for (size_t i = 0, k = 0; i < na && k < nb;) {
    if (fa[i] == fb[k]) {
      in[n++] = fa[i++];
      k++;
    } else if (fa[i]->id < fb[k]->id)
      i++;
    else
      k++;
  }
  return product_of(x, n, in);
}

// ---- sums ----

void poly_init(struct poly *p) {
  p->count = 0;
  p->constant = 0;
  p->overflow = false;
}

static const struct expr *sum_as_it_is(struct exprs *x, const struct poly *p) {
  const struct expr *in[EXPR_MAX_TERMS + 1];
  uint32_t n = 0;
  for (size_t i = 0; i < p->count; i++)
    in[n++] = term_expr(x, p->terms[i]);
  if (p->constant != 0)
    in[n++] = expr_const(x, p->constant);
  return n == 0 ? expr_const(x, 0) : n == 1 ? in[0] : expr_intern(x, EXPR_ADD, 0, n, in);
}

// Beyond the limit of terms: those so far become one opaque term.
static void poly_wrap(struct exprs *x, struct poly *p) {
  const struct expr *e = sum_as_it_is(x, p);
  bool overflow = p->overflow || expr_is_unfit(e);
  poly_init(p);
  p->overflow = overflow;
  p->terms[p->count++] = (struct term){1, e};
}

void poly_add_term(struct exprs *x, struct poly *p, int64_t coef, const struct expr *of) {
  if (of->kind == EXPR_CONST) { // an empty product
    p->overflow |= of->overflows || __builtin_add_overflow(p->constant, coef, &p->constant);
    return;
  }
  size_t at = 0;
  while (at < p->count && p->terms[at].of->id < of->id)
    at++;
  if (at < p->count && p->terms[at].of == of) {
    struct term *t = &p->terms[at];
    p->overflow |= __builtin_add_overflow(t->coef, coef, &t->coef);
    if (t->coef == 0) {
      p->count--;
      memmove(t, t + 1, (p->count - at) * sizeof *t);
    }
    return;
  }
  if (coef == 0)
    return;
  if (p->count == EXPR_MAX_TERMS) {
    poly_wrap(x, p);
    at = p->terms[0].of->id < of->id;
  }
  memmove(p->terms + at + 1, p->terms + at, (p->count - at) * sizeof *p->terms);
  p->terms[at] = (struct term){coef, of};
  p->count++;
}

void poly_add(struct exprs *x, struct poly *p, const struct expr *e, int64_t times) {
  const struct expr *const *terms = e->kind == EXPR_ADD ? e->in : &e;
  size_t count = e->kind == EXPR_ADD ? e->count : 1;
  p->overflow |= expr_is_unfit(e);
  for (size_t i = 0; i < count; i++) {
    struct term t = {1, terms[i]}; // a sum within a sum is opaque
    expr_as_term(x, terms[i], &t);
    p->overflow |= __builtin_mul_overflow(t.coef, times, &t.coef);
    poly_add_term(x, p, t.coef, t.of);
  }
}

int64_t poly_coef(const struct poly *p, const struct expr *of) {
  for (size_t i = 0; i < p->count; i++)
    if (p->terms[i].of == of)
      return p->terms[i].coef;
  return 0;
}

const struct expr *poly_expr(struct exprs *x, struct poly *p) {
  if (!p->overflow && p->count > 1)
    poly_fold(x, p);
  return p->overflow ? expr_unfit(x) : sum_as_it_is(x, p);
}

const struct expr *expr_add(struct exprs *x, const struct expr *a, const struct expr *b) {
  if (expr_is(a, 0) && !a->overflows)
    return b;
  if (expr_is(b, 0) && !b->overflows)
    return a;
  struct poly p;
  poly_init(&p);
  poly_add(x, &p, a, 1);
  poly_add(x, &p, b, 1);
  return poly_expr(x, &p);
}

const struct expr *expr_sub(struct exprs *x, const struct expr *a, const struct expr *b) {
  if (expr_is(b, 0) && !b->overflows)
    return a;
  struct poly p;
  poly_init(&p);
  poly_add(x, &p, a, 1);
  poly_add(x, &p, b, -1);
  return poly_expr(x, &p);
}

const struct expr *expr_addi(struct exprs *x, const struct expr *a, int64_t b) {
  return expr_add(x, a, expr_const(x, b));
}

const struct expr *expr_muli(struct exprs *x, const struct expr *a, int64_t b) {
  return expr_mul(x, a, expr_const(x, b));
}

// The terms of a factor; a factor that is not a sum is one term.
static size_t terms_of(const struct expr *const *e, bool whole, const struct expr *const **ret) {
  bool is_sum = (*e)->kind == EXPR_ADD && !whole;
  *ret = is_sum ? (*e)->in : e;
  return is_sum ? (*e)->count : 1;
}

const struct expr *expr_mul(struct exprs *x, const struct expr *a, const struct expr *b) {
  if (expr_is_unfit(a) || expr_is_unfit(b))
    return expr_unfit(x);
  if (expr_is(a, 1) || expr_is(b, 0))
    return b;
  if (expr_is(b, 1) || expr_is(a, 0))
    return a;
  // Products of long sums are not expanded.
  bool whole =
      a->kind == EXPR_ADD && b->kind == EXPR_ADD && a->count * b->count > EXPR_MAX_TERMS / 2;
  const struct expr *const *ta, *const *tb;
  size_t na = terms_of(&a, whole, &ta), nb = terms_of(&b, whole, &tb);
  struct poly p;
  poly_init(&p);
  for (size_t i = 0; i < na; i++)
    for (size_t k = 0; k < nb; k++) {
      struct term s = {1, ta[i]}, t = {1, tb[k]};
      expr_as_term(x, ta[i], &s);
      expr_as_term(x, tb[k], &t);
      t = term_mul(x, s, t, &p.overflow);
      poly_add_term(x, &p, t.coef, t.of);
    }
  return poly_expr(x, &p);
}

const struct expr *expr_product(struct exprs *x, const struct expr *const *of, size_t count) {
  const struct expr *e = expr_const(x, 1);
  for (size_t i = 0; i < count; i++)
    e = expr_mul(x, e, of[i]);
  return e;
}
