// SPDX-License-Identifier: Apache-2.0
// Queries and rewrites of expressions: values, bounds, divisibility, substitution, text.
// Recursion is the algorithm: the operands of an expression are expressions, and each is simplified
// when it is built.
#include "graph/expr/size_expr_internal.h"

#include <inttypes.h>

bool expr_is_const(const struct expr *e, int64_t *ret) {
  if (e->kind != EXPR_CONST)
    return false;
  if (ret)
    *ret = e->value;
  return true;
}

// ---- values ----

typedef bool (*lookup_fn)(const struct expr *symbol, const void *user, int64_t *ret);

static bool combine(enum expr_kind kind, int64_t a, int64_t b, int64_t *ret) {
  switch (kind) {
  case EXPR_ADD: return !__builtin_add_overflow(a, b, ret);
  case EXPR_MUL: return !__builtin_mul_overflow(a, b, ret);
  case EXPR_MIN: *ret = a < b ? a : b; return true;
  case EXPR_MAX: *ret = a > b ? a : b; return true;
  default:
    if (b == 0 || (a == INT64_MIN && b == -1)) {
      *ret = 0;
      return b == 0 || kind == EXPR_MOD;
    }
    *ret = kind == EXPR_FLOORDIV ? floor_div(a, b) : a - floor_div(a, b) * b;
    return true;
  }
}

static bool evaluate(const struct expr *e, lookup_fn lookup, const void *user, int64_t *ret) {
  if (e->kind == EXPR_CONST) {
    *ret = e->value;
    return !e->overflows;
  }
  if (e->kind == EXPR_SYMBOL)
    return lookup(e, user, ret);
  int64_t value = 0, next;
  for (uint32_t i = 0; i < e->count; i++) {
    if (!evaluate(e->in[i], lookup, user, &next))
      return false;
    if (i == 0)
      value = next;
    else if (!combine(e->kind, value, next, &value))
      return false;
  }
  *ret = value;
  return true;
}

static bool lookup_hint(const struct expr *symbol, const void *user, int64_t *ret) {
  (void)user;
  *ret = symbol->symbol->hint;
  return true;
}

int64_t expr_hint(const struct expr *e) {
  int64_t value;
  return evaluate(e, lookup_hint, NULL, &value) ? value : INT64_MAX;
}

struct binding {
  size_t count;
  const struct expr *const *symbols;
  const int64_t *values;
};

static bool lookup_binding(const struct expr *symbol, const void *user, int64_t *ret) {
  const struct binding *b = user;
  for (size_t i = 0; i < b->count; i++)
    if (b->symbols[i] == symbol) {
      *ret = b->values[i];
      return true;
    }
  return false;
}

bool expr_eval(const struct expr *e, size_t count, const struct expr *const *symbols,
               const int64_t *values, int64_t *ret) {
  struct binding b = {count, symbols, values};
  if (e->kind != EXPR_CONST || e->overflows)
    return evaluate(e, lookup_binding, &b, ret);
  *ret = e->value;
  return true;
}

// ---- structure ----

bool expr_has_symbol(const struct expr *e, const struct expr *symbol) {
  if (e == symbol)
    return true;
  for (uint32_t i = 0; i < e->count; i++)
    if (expr_has_symbol(e->in[i], symbol))
      return true;
  return false;
}

// The greatest known divisor of k that divides every value of e.
static int64_t known_divisor(const struct expr *e, int64_t k) {
  int64_t d = 0;
  switch (e->kind) {
  case EXPR_CONST: return int_gcd(e->value, k);
  case EXPR_SYMBOL:
  case EXPR_FLOORDIV: return 1;
  case EXPR_MUL:
    d = 1;
    for (uint32_t i = 0; i < e->count && d != k; i++)
      d *= known_divisor(e->in[i], k / d);
    return d;
  default:
    for (uint32_t i = 0; i < e->count; i++)
      d = int_gcd(known_divisor(e->in[i], k), d);
    return d;
  }
}

bool expr_is_multiple(const struct expr *e, int64_t k) {
  if (expr_is_unfit(e))
    return false;
  if (k < 0 && k != INT64_MIN)
    k = -k;
  return k == 1 || (k > 0 && known_divisor(e, k) == k);
}

bool expr_linear(struct exprs *x, const struct expr *e, const struct expr *symbol,
                 const struct expr **ret_coefficient, const struct expr **ret_rest) {
  struct poly p, coefficient, rest;
  poly_init(&p);
  poly_init(&coefficient);
  poly_init(&rest);
  poly_add(x, &p, e, 1);
  rest.constant = p.constant;
  for (size_t i = 0; i < p.count; i++) {
    struct term t = p.terms[i];
    const struct expr *others = t.of;
    if (!expr_has_symbol(t.of, symbol)) {
      poly_add_term(x, &rest, t.coef, t.of);
      continue;
    }
    if (!product_divide(x, t.of, symbol, &others) || expr_has_symbol(others, symbol))
      return false;
    poly_add_term(x, &coefficient, t.coef, others);
  }
  if (p.overflow)
    return false;
  *ret_coefficient = poly_expr(x, &coefficient);
  *ret_rest = poly_expr(x, &rest);
  return true;
}

// ---- bounds ----

const struct expr *expr_bound(struct exprs *x, const struct expr *e, bool upper) {
  switch (e->kind) {
  case EXPR_SYMBOL:
    if (upper && e->symbol->limit)
      return expr_addi(x, e->symbol->limit, -1);
    return !upper && (e->symbol->limit || e->symbol->indirect) ? expr_const(x, e->lo) : e;
  case EXPR_ADD: {
    const struct expr *sum = expr_const(x, 0);
    for (uint32_t i = 0; i < e->count; i++)
      sum = expr_add(x, sum, expr_bound(x, e->in[i], upper));
    return sum;
  }
  case EXPR_MUL: {
    bool negative = e->in[0]->kind == EXPR_CONST && e->in[0]->value < 0;
    const struct expr *product = expr_const(x, 1);
    for (uint32_t i = 0; i < e->count; i++) {
      const struct expr *f = e->in[i];
      if (f->kind != EXPR_CONST && f->lo < 0)
        return e;
      const struct expr *b = f->kind == EXPR_CONST ? f : expr_bound(x, f, upper != negative);
      if (b->lo < 0 && f->kind != EXPR_CONST)
        return e;
      product = expr_mul(x, product, b);
    }
    return product;
  }
  case EXPR_FLOORDIV:
    return e->in[1]->lo >= 1 ? expr_floordiv(x, expr_bound(x, e->in[0], upper), e->in[1]) : e;
  case EXPR_MOD:
    if (e->in[1]->lo < 1)
      return e;
    return upper ? expr_addi(x, e->in[1], -1) : expr_const(x, 0);
  default: return e;
  }
}

bool expr_is_within(struct exprs *x, const struct expr *e, const struct expr *limit) {
  if (expr_is_unfit(e) || expr_is_unfit(limit))
    return false;
  if (e->lo >= 0 && e->hi != INT64_MAX && e->hi < limit->lo)
    return true;
  if (x->busy >= EXPR_MAX_BUSY)
    return false;
  x->busy++;
  const struct expr *least = e->lo >= 0 ? e : expr_bound(x, e, false);
  bool within = least->lo >= 0 && !expr_is_unfit(least);
  if (within) {
    const struct expr *room = expr_sub(x, limit, expr_bound(x, e, true));
    within = room->lo >= 1 && !expr_is_unfit(room);
  }
  x->busy--;
  return within;
}

// ---- substitution ----

struct substitution {
  size_t count;
  const struct expr *const *from, *const *to;
};

static const struct expr *substitute(struct exprs *x, const struct expr *e,
                                     const struct substitution *s) {
  if (e->kind == EXPR_SYMBOL)
    for (size_t i = 0; i < s->count; i++)
      if (s->from[i] == e)
        return s->to[i];
  if (e->count == 0)
    return e;
  const struct expr *made = NULL;
  bool changed = false;
  for (uint32_t i = 0; i < e->count && !changed; i++)
    for (size_t k = 0; k < s->count && !changed; k++)
      changed = expr_has_symbol(e->in[i], s->from[k]);
  if (!changed)
    return e;
  for (uint32_t i = 0; i < e->count; i++) {
    const struct expr *in = substitute(x, e->in[i], s);
    if (!made)
      made = in;
    else if (e->kind == EXPR_ADD)
      made = expr_add(x, made, in);
    else if (e->kind == EXPR_MUL)
      made = expr_mul(x, made, in);
    else if (e->kind == EXPR_FLOORDIV)
      made = expr_floordiv(x, made, in);
    else if (e->kind == EXPR_MOD)
      made = expr_mod(x, made, in);
    else
      made = e->kind == EXPR_MIN ? expr_min(x, made, in) : expr_max(x, made, in);
  }
  return made;
}

const struct expr *expr_substitute(struct exprs *x, const struct expr *e, size_t count,
                                   const struct expr *const *from, const struct expr *const *to) {
  struct substitution s = {count, from, to};
  return substitute(x, e, &s);
}

// ---- text ----

enum { LEVEL_SUM, LEVEL_PRODUCT, LEVEL_FACTOR };

static void print_at(const struct expr *e, int level, struct strbuf *out);

static void print_sum(const struct expr *e, struct strbuf *out) {
  for (uint32_t i = 0; i < e->count; i++) {
    const struct expr *t = e->in[i];
    int64_t c = t->kind == EXPR_CONST                                 ? t->value
                : t->kind == EXPR_MUL && t->in[0]->kind == EXPR_CONST ? t->in[0]->value
                                                                      : 1;
    if (i > 0)
      strbuf_puts(out, c < 0 ? " - " : " + ");
    if (i == 0 || c >= 0)
      print_at(t, LEVEL_PRODUCT, out);
    else if (t->kind == EXPR_CONST)
      strbuf_printf(out, "%" PRIu64, 0 - (uint64_t)c);
    else {
      if (c != -1)
        strbuf_printf(out, "%" PRIu64 "*", 0 - (uint64_t)c);
      for (uint32_t k = 1; k < t->count; k++) {
        strbuf_puts(out, k > 1 ? "*" : "");
        print_at(t->in[k], k > 1 || c != -1 ? LEVEL_FACTOR : LEVEL_PRODUCT, out);
      }
    }
  }
}

// A product; only its first factor may be printed as a division without brackets, since both
// operators are left-associative.
static void print_product(const struct expr *e, struct strbuf *out) {
  uint32_t first = 0;
  if (expr_is(e->in[0], -1)) {
    strbuf_putc(out, '-');
    first = 1;
  }
  for (uint32_t i = first; i < e->count; i++) {
    strbuf_puts(out, i > first ? "*" : "");
    print_at(e->in[i], LEVEL_FACTOR, out);
  }
}

static void print_at(const struct expr *e, int level, struct strbuf *out) {
  int own = e->kind == EXPR_ADD                                                      ? LEVEL_SUM
            : e->kind == EXPR_MUL || e->kind == EXPR_FLOORDIV || e->kind == EXPR_MOD ? LEVEL_PRODUCT
                                                                                     : LEVEL_FACTOR;
  if (own < level)
    strbuf_putc(out, '(');
  switch (e->kind) {
  case EXPR_CONST: strbuf_printf(out, "%" PRId64, e->value); break;
  case EXPR_SYMBOL: strbuf_puts(out, e->symbol->name); break;
  case EXPR_ADD: print_sum(e, out); break;
  case EXPR_MUL: print_product(e, out); break;
  case EXPR_FLOORDIV:
  case EXPR_MOD:
    print_at(e->in[0], e->in[0]->kind == EXPR_MUL ? LEVEL_FACTOR : LEVEL_PRODUCT, out);
    strbuf_puts(out, e->kind == EXPR_MOD ? " % " : " // ");
    print_at(e->in[1], LEVEL_FACTOR, out);
    break;
  case EXPR_MIN:
  case EXPR_MAX:
    strbuf_puts(out, e->kind == EXPR_MIN ? "min(" : "max(");
    for (uint32_t i = 0; i < e->count; i++) {
      strbuf_puts(out, i > 0 ? ", " : "");
      print_at(e->in[i], LEVEL_SUM, out);
    }
    strbuf_putc(out, ')');
    break;
  }
  if (own < level)
    strbuf_putc(out, ')');
}

void expr_print(const struct expr *e, struct strbuf *out) { print_at(e, LEVEL_SUM, out); }
