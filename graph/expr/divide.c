// SPDX-License-Identifier: Apache-2.0
// Floor division, remainder, minimum and maximum of expressions, simplified where value ranges
// allow it. Every rule requires a divisor that is known to be positive; x // 0 and x % 0 are 0, so
// that sizes of 0 need no special case.
// Recursion is the algorithm: the operands of an expression are expressions, and each is simplified
// when it is built.
#include "graph/expr/size_expr_internal.h"

// Moves the exactly divisible part out of p: p = quotient * d + rest, and p becomes the rest.
// Coefficients are divided towards zero, the constant towards minus infinity.
static void take_multiples_of_term(struct exprs *x, struct poly *p, struct term d,
                                   struct poly *quotient) {
  for (size_t i = 0; i < p->count; i++) {
    struct term t = p->terms[i];
    const struct expr *of;
    if (t.coef == INT64_MIN || t.coef / d.coef == 0 || !product_divide(x, t.of, d.of, &of))
      continue;
    poly_add_term(x, quotient, t.coef / d.coef, of);
    p->terms[i].coef = t.coef % d.coef;
    if (p->terms[i].coef == 0) {
      p->count--;
      memmove(p->terms + i, p->terms + i + 1, (p->count - i) * sizeof *p->terms);
      i--;
    }
  }
  if (d.of->kind == EXPR_CONST) {
    int64_t q = floor_div(p->constant, d.coef);
    p->constant -= q * d.coef;
    quotient->overflow |= __builtin_add_overflow(quotient->constant, q, &quotient->constant);
  }
}

static bool is_part(int64_t part, int64_t of) {
  return part == 0 || (of != 0 && (part < 0) == (of < 0) && (part < 0 ? part >= of : part <= of));
}

// The same for a divisor of several terms: a multiple of its first term is moved only with the
// matching multiples of all others.
static void take_multiples_of_sum(struct exprs *x, struct poly *p, const struct expr *d,
                                  struct poly *quotient) {
  struct poly parts;
  poly_init(&parts);
  poly_add(x, &parts, d, 1);
  if (parts.count == 0)
    return;
  struct term lead = parts.terms[0];
  for (size_t i = 0; i < p->count && !p->overflow; i++) {
    const struct expr *of;
    struct term q = {p->terms[i].coef / lead.coef};
    if (q.coef == 0 || !product_divide(x, p->terms[i].of, lead.of, &of))
      continue;
    q.of = of;
    struct poly product;
    poly_init(&product);
    poly_add(x, &product, expr_mul(x, d, term_expr(x, q)), 1);
    bool fits = !product.overflow && is_part(product.constant, p->constant);
    for (size_t k = 0; k < product.count && fits; k++)
      fits = is_part(product.terms[k].coef, poly_coef(p, product.terms[k].of));
    if (!fits)
      continue;
    for (size_t k = 0; k < product.count; k++)
      poly_add_term(x, p, -product.terms[k].coef, product.terms[k].of);
    p->constant -= product.constant;
    poly_add_term(x, quotient, q.coef, q.of);
    i = (size_t)-1; // terms moved
  }
}

static void take_multiples(struct exprs *x, struct poly *p, const struct expr *d,
                           struct poly *quotient) {
  struct term t;
  if (!expr_as_term(x, d, &t))
    take_multiples_of_sum(x, p, d, quotient);
  else if (t.coef > 0 || (t.coef < 0 && t.of->kind != EXPR_CONST))
    take_multiples_of_term(x, p, t, quotient);
}

const struct expr *expr_divide_exactly(struct exprs *x, const struct expr *e,
                                       const struct expr *d) {
  struct poly p, quotient;
  poly_init(&p);
  poly_init(&quotient);
  poly_add(x, &p, e, 1);
  take_multiples(x, &p, d, &quotient);
  if (p.overflow || quotient.overflow || p.count != 0 || p.constant != 0)
    return NULL;
  return poly_expr(x, &quotient);
}

// The only value that e // k takes; false if there are several.
static bool single_quotient(const struct expr *e, const struct expr *k, int64_t *ret) {
  if (k->kind != EXPR_CONST || e->lo == INT64_MIN || e->hi == INT64_MAX || expr_is_unfit(e))
    return false;
  *ret = floor_div(e->lo, k->value);
  return *ret == floor_div(e->hi, k->value);
}

// -d <= e < 0, so that e // d is -1: this is the rest after multiples are divided out of a size
// minus one.
static bool is_just_below(struct exprs *x, const struct expr *e, const struct expr *d) {
  return e->hi < 0 && expr_is_within(x, expr_add(x, e, d), d);
}

// Finds e = g*A + r and d = g*B with g > 1 and 0 <= r < g.
static bool find_common(struct exprs *x, const struct expr *e, const struct expr *d,
                        const struct expr **ret_g, const struct expr **ret_a,
                        const struct expr **ret_b, const struct expr **ret_r) {
  struct term td;
  struct poly p;
  if (!expr_as_term(x, d, &td) || td.coef <= 0)
    return false;
  poly_init(&p);
  poly_add(x, &p, e, 1);
  for (size_t i = 0; i < p.count; i++) {
    struct term tg = {int_gcd(p.terms[i].coef, td.coef), product_common(x, p.terms[i].of, td.of)};
    const struct expr *g = term_expr(x, tg);
    if (g->lo < 1 || expr_is(g, 1))
      continue;
    struct poly r = p, a;
    poly_init(&a);
    for (size_t k = 0; k < r.count; k++) { // only whole terms are split
      struct term t = r.terms[k];
      const struct expr *of;
      if (t.coef % tg.coef != 0 || !product_divide(x, t.of, tg.of, &of))
        continue;
      poly_add_term(x, &a, t.coef / tg.coef, of);
      r.count--;
      memmove(r.terms + k, r.terms + k + 1, (r.count - k) * sizeof *r.terms);
      k--;
    }
    if (tg.of->kind == EXPR_CONST) {
      int64_t q = floor_div(r.constant, tg.coef);
      r.constant -= q * tg.coef;
      poly_add_term(x, &a, q, tg.of);
    }
    const struct expr *rest = poly_expr(x, &r);
    if (!expr_is_within(x, rest, g))
      continue;
    *ret_g = g;
    *ret_r = rest;
    *ret_a = poly_expr(x, &a);
    *ret_b = expr_divide_exactly(x, d, g);
    return *ret_b != NULL;
  }
  return false;
}

static const struct expr *as_it_is(struct exprs *x, enum expr_kind kind, const struct expr *a,
                                   const struct expr *b) {
  return expr_intern(x, kind, 0, 2, (const struct expr *[]){a, b});
}

// x // k + c without further terms: the dividend of nested divisions.
static bool is_quotient_plus(const struct expr *e, const struct expr **ret_quotient,
                             int64_t *ret_c) {
  *ret_c = 0;
  *ret_quotient = e;
  if (e->kind == EXPR_ADD && e->count == 2 && e->in[1]->kind == EXPR_CONST) {
    *ret_quotient = e->in[0];
    *ret_c = e->in[1]->value;
  }
  return (*ret_quotient)->kind == EXPR_FLOORDIV && (*ret_quotient)->in[1]->lo >= 1;
}

static const struct expr *divide_rest(struct exprs *x, const struct expr *e, const struct expr *d) {
  const struct expr *quotient, *g, *a, *b, *r;
  int64_t c;
  if (is_quotient_plus(e, &quotient, &c)) { // (x // k + c) // d = (x + c*k) // (k*d)
    const struct expr *k = quotient->in[1];
    const struct expr *by = expr_mul(x, k, d),
                      *of = expr_add(x, quotient->in[0], expr_muli(x, k, c));
    if (!expr_is_unfit(by) && !expr_is_unfit(of))
      return expr_floordiv(x, of, by);
  }
  if (e->kind == EXPR_MOD && e->in[1]->lo >= 1) { // (x % (k*d)) // d = (x // d) % k
    const struct expr *k = expr_divide_exactly(x, e->in[1], d);
    if (k && k->lo >= 1)
      return expr_mod(x, expr_floordiv(x, e->in[0], d), k);
  }
  if (find_common(x, e, d, &g, &a, &b, &r))
    return expr_floordiv(x, a, b);
  return as_it_is(x, EXPR_FLOORDIV, e, d);
}

const struct expr *expr_floordiv(struct exprs *x, const struct expr *a, const struct expr *b) {
  if (expr_is_unfit(a) || expr_is_unfit(b))
    return expr_unfit(x);
  if (expr_is(a, 0) || expr_is(b, 0))
    return expr_const(x, 0);
  if (expr_is(b, 1))
    return a;
  if (a->kind == EXPR_CONST && b->kind == EXPR_CONST) {
    if (a->value == INT64_MIN && b->value == -1)
      return expr_unfit(x);
    return expr_const(x, floor_div(a->value, b->value));
  }
  if (b->lo < 1 || x->busy >= EXPR_MAX_BUSY)
    return as_it_is(x, EXPR_FLOORDIV, a, b);
  x->busy++;
  struct poly p, quotient;
  poly_init(&p);
  poly_init(&quotient);
  poly_add(x, &p, a, 1);
  take_multiples(x, &p, b, &quotient);
  const struct expr *rest = poly_expr(x, &p);
  int64_t only;
  if (single_quotient(rest, b, &only))
    poly_add_term(x, &quotient, only, expr_const(x, 1));
  else if (is_just_below(x, rest, b))
    poly_add_term(x, &quotient, -1, expr_const(x, 1));
  else if (!expr_is_within(x, rest, b))
    poly_add(x, &quotient, divide_rest(x, rest, b), 1);
  x->busy--;
  return poly_expr(x, &quotient);
}

// Replaces terms c*f*(x % m), where c*f*m is a multiple of d, by c*f*x. False if there are none.
static bool drop_remainders(struct exprs *x, struct poly *p, const struct expr *d) {
  bool dropped = false;
  struct poly sum;
  poly_init(&sum);
  sum.constant = p->constant;
  for (size_t i = 0; i < p->count; i++) {
    struct term t = p->terms[i];
    const struct expr *const *factors, *instead = NULL, *others;
    size_t count = expr_factors(&t.of, &factors);
    for (size_t k = 0; k < count && !instead; k++) {
      const struct expr *f = factors[k];
      if (f->kind != EXPR_MOD || f->in[1]->lo < 1 || !product_divide(x, t.of, f, &others))
        continue;
      const struct expr *times = term_expr(x, (struct term){t.coef, others});
      const struct expr *modulus = expr_mul(x, times, f->in[1]);
      if (!expr_is_unfit(modulus) && expr_divide_exactly(x, modulus, d))
        instead = expr_mul(x, times, f->in[0]);
    }
    dropped |= instead != NULL;
    if (instead)
      poly_add(x, &sum, instead, 1);
    else
      poly_add_term(x, &sum, t.coef, t.of);
  }
  if (dropped && !sum.overflow)
    *p = sum;
  return dropped && !sum.overflow;
}

static const struct expr *modulo(struct exprs *x, const struct expr *a, const struct expr *b) {
  struct poly p, quotient;
  poly_init(&p);
  poly_init(&quotient);
  poly_add(x, &p, a, 1);
  take_multiples(x, &p, b, &quotient);
  const struct expr *rest = poly_expr(x, &p), *g, *of, *by, *r;
  int64_t only;
  if (single_quotient(rest, b, &only))
    return expr_addi(x, rest, -only * b->value);
  if (expr_is_within(x, rest, b))
    return rest;
  if (is_just_below(x, rest, b))
    return expr_add(x, rest, b);
  poly_init(&p);
  poly_add(x, &p, rest, 1);
  if (!p.overflow && drop_remainders(x, &p, b))
    return expr_mod(x, poly_expr(x, &p), b);
  if (find_common(x, rest, b, &g, &of, &by, &r))
    return expr_add(x, expr_mul(x, g, expr_mod(x, of, by)), r);
  return as_it_is(x, EXPR_MOD, rest, b);
}

const struct expr *expr_mod(struct exprs *x, const struct expr *a, const struct expr *b) {
  if (expr_is_unfit(a) || expr_is_unfit(b))
    return expr_unfit(x);
  if (expr_is(a, 0) || expr_is(b, 0) || expr_is(b, 1) || expr_is(b, -1))
    return expr_const(x, 0);
  if (a->kind == EXPR_CONST && b->kind == EXPR_CONST)
    return expr_const(x, a->value - floor_div(a->value, b->value) * b->value);
  if (b->lo < 1 || x->busy >= EXPR_MAX_BUSY)
    return as_it_is(x, EXPR_MOD, a, b);
  x->busy++;
  const struct expr *e = modulo(x, a, b);
  x->busy--;
  return e;
}

const struct expr *expr_cdiv(struct exprs *x, const struct expr *a, const struct expr *b) {
  return expr_floordiv(x, expr_add(x, a, expr_addi(x, b, -1)), b);
}

// ---- minima and maxima ----

static int compare(struct exprs *x, const struct expr *a, const struct expr *b);

// Is a known to be <= the minimum (or >= the maximum) b? Then a is so for all members of b, or for
// one of them.
static bool is_below_choice(struct exprs *x, const struct expr *a, const struct expr *b) {
  bool all = b->kind == EXPR_MIN;
  for (uint32_t i = 0; i < b->count; i++)
    if ((compare(x, a, b->in[i]) == 1) != all)
      return !all;
  return all;
}

static bool is_above_choice(struct exprs *x, const struct expr *a, const struct expr *b) {
  bool all = b->kind == EXPR_MAX;
  for (uint32_t i = 0; i < b->count; i++)
    if ((compare(x, a, b->in[i]) == -1) != all)
      return !all;
  return all;
}

static bool is_choice(const struct expr *e) { return e->kind == EXPR_MIN || e->kind == EXPR_MAX; }

// 1: a is known to be <= b; -1: a is known to be >= b; 0: unknown.
static int compare(struct exprs *x, const struct expr *a, const struct expr *b) {
  if (expr_is_unfit(a) || expr_is_unfit(b))
    return 0;
  if (a->hi <= b->lo && a->hi != INT64_MAX)
    return 1;
  if (b->hi <= a->lo && b->hi != INT64_MAX)
    return -1;
  if (x->busy >= EXPR_MAX_BUSY)
    return 0;
  x->busy++;
  const struct expr *d = expr_sub(x, b, a);
  int c = expr_is_unfit(d) ? 0 : d->lo >= 0 ? 1 : d->hi <= 0 ? -1 : 0;
  if (c == 0 && !expr_is_unfit(d)) {
    const struct expr *least = expr_bound(x, d, false), *most = expr_bound(x, d, true);
    c = least->lo >= 0 && !expr_is_unfit(least) ? 1
        : most->hi <= 0 && !expr_is_unfit(most) ? -1
                                                : 0;
  }
  if (c == 0 && is_choice(b))
    c = is_below_choice(x, a, b) ? 1 : is_above_choice(x, a, b) ? -1 : 0;
  else if (c == 0 && is_choice(a))
    c = is_above_choice(x, b, a) ? 1 : is_below_choice(x, b, a) ? -1 : 0;
  x->busy--;
  return c;
}

static const struct expr *choose(struct exprs *x, enum expr_kind kind, const struct expr *a,
                                 const struct expr *b) {
  if (a == b)
    return a;
  if (expr_is_unfit(a) || expr_is_unfit(b))
    return expr_unfit(x);
  const struct expr *in[EXPR_MAX_FACTORS + 1], *both[2] = {a, b};
  uint32_t n = 0;
  for (int side = 0; side < 2; side++) {
    bool same = both[side]->kind == kind;
    const struct expr *const *members = same ? both[side]->in : &both[side];
    uint32_t count = same ? both[side]->count : 1;
    if (n + count > EXPR_MAX_FACTORS) { // long chains stay nested
      members = &both[side];
      count = 1;
    }
    for (uint32_t i = 0; i < count; i++) {
      bool covered = false;
      for (uint32_t k = 0; k < n && !covered; k++) {
        int c = compare(x, in[k], members[i]);
        covered = in[k] == members[i] || c == (kind == EXPR_MIN ? 1 : -1);
        if (!covered && c != 0) { // the new one covers that one
          memmove(in + k, in + k + 1, (n - k - 1) * sizeof *in);
          n--;
          k--;
        }
      }
      if (covered)
        continue;
      uint32_t at = n++;
      for (; at > 0 && in[at - 1]->id > members[i]->id; at--)
        in[at] = in[at - 1];
      in[at] = members[i];
    }
  }
  return n == 1 ? in[0] : expr_intern(x, kind, 0, n, in);
}

const struct expr *expr_min(struct exprs *x, const struct expr *a, const struct expr *b) {
  return choose(x, EXPR_MIN, a, b);
}

const struct expr *expr_max(struct exprs *x, const struct expr *a, const struct expr *b) {
  return choose(x, EXPR_MAX, a, b);
}
