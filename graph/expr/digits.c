// SPDX-License-Identifier: Apache-2.0
// Mixed-radix digits. Canonical sums have as few divisions as possible: 64*m + -63*(m % 49). In
// digits of m the same sum is m // 49 * 3136 + m % 49, of which every term grows with m.
#include "graph/expr/size_expr.h"

enum { MOST_DIGITS = 8 };

// coefficient * (of // low % (high / low)); high 0: without the remainder.
struct term {
  const struct expr *of;
  int64_t coefficient, low, high;
};

static bool is_size(const struct expr *e, int64_t *ret) {
  return expr_is_const(e, ret) && *ret > 1 && *ret < INT32_MAX;
}

static bool parse_term(const struct expr *e, struct term *t) {
  *t = (struct term){.coefficient = 1, .low = 1};
  if (e->kind == EXPR_MUL && e->count == 2 && expr_is_const(e->in[0], &t->coefficient))
    e = e->in[1];
  int64_t n = 0;
  if (e->kind == EXPR_MOD) {
    if (!is_size(e->in[1], &n))
      return false;
    t->high = n;
    e = e->in[0];
  }
  if (e->kind == EXPR_FLOORDIV) {
    if (!is_size(e->in[1], &t->low))
      return false;
    t->high *= t->low;
    e = e->in[0];
  }
  t->of = e;
  const int64_t most = (int64_t)1 << 40;
  return e->kind == EXPR_SYMBOL && e->lo >= 0 && !e->symbol->indirect && t->coefficient < most &&
         t->coefficient > -most && t->high < most;
}

struct digits {
  unsigned count;
  int64_t weight[MOST_DIGITS + 1]; // of each digit, ascending from 1; 0 after the last
  int64_t coefficient[MOST_DIGITS];
};

// Inserts in order; false if one weight does not divide the next.
static bool add_weight(struct digits *d, int64_t weight) {
  unsigned i = d->count;
  while (i > 0 && d->weight[i - 1] > weight)
    i--;
  if (weight <= 1 || (i > 0 && d->weight[i - 1] == weight))
    return true;
  if (d->count == MOST_DIGITS)
    return false;
  for (unsigned k = d->count++; k > i; k--)
    d->weight[k] = d->weight[k - 1];
  d->weight[i] = weight;
  return weight % d->weight[i - 1] == 0 && (i + 1 == d->count || d->weight[i + 1] % weight == 0);
}

// Merges adjacent digits with proportional coefficients.
static void merge_digits(struct digits *d) {
  unsigned kept = 0;
  for (unsigned i = 1; i < d->count; i++) {
    if (d->coefficient[i] == d->coefficient[kept] * (d->weight[i] / d->weight[kept]))
      continue;
    d->weight[++kept] = d->weight[i];
    d->coefficient[kept] = d->coefficient[i];
  }
  d->count = kept + 1;
  d->weight[d->count] = 0;
}

// The terms of one symbol by its digits; false if that is not simpler.
static bool find_digits(const struct term *terms, uint32_t count, const struct expr *of,
                        struct digits *d) {
  unsigned uses = 0;
  *d = (struct digits){.count = 1, .weight = {1}};
  for (uint32_t i = 0; i < count; i++)
    if (terms[i].of == of) {
      uses++;
      if (!add_weight(d, terms[i].low) || !add_weight(d, terms[i].high))
        return false;
    }
  if (uses < 2 || d->count < 2)
    return false;
  for (uint32_t i = 0; i < count; i++)
    for (unsigned k = 0; k < d->count && terms[i].of == of; k++)
      if (d->weight[k] >= terms[i].low && (!terms[i].high || d->weight[k] < terms[i].high))
        d->coefficient[k] += terms[i].coefficient * (d->weight[k] / terms[i].low);
  for (unsigned k = 0; k < d->count; k++)
    if (d->coefficient[k] < 0 || d->coefficient[k] > INT32_MAX)
      return false;
  merge_digits(d);
  return true;
}

static uint32_t put_digits(struct exprs *x, const struct expr *of, const struct digits *d,
                           struct expr_summand *ret, uint32_t n) {
  for (unsigned k = d->count; k-- > 0 && n < EXPR_SUMMANDS;) {
    if (!d->coefficient[k])
      continue;
    const struct expr *digit = expr_floordiv(x, of, expr_const(x, d->weight[k]));
    if (d->weight[k + 1])
      digit = expr_mod(x, digit, expr_const(x, d->weight[k + 1] / d->weight[k]));
    ret[n++] = (struct expr_summand){digit, d->coefficient[k]};
  }
  return n;
}

uint32_t expr_summands(struct exprs *x, const struct expr *sum, struct expr_summand *ret) {
  struct term terms[EXPR_SUMMANDS];
  uint32_t n = 0, count = sum->count < EXPR_SUMMANDS ? sum->count : EXPR_SUMMANDS;
  assert(sum->kind == EXPR_ADD);
  for (uint32_t i = 0; i < count; i++)
    if (!parse_term(sum->in[i], &terms[i]))
      terms[i].of = NULL;
  for (int constants = 0; constants < 2; constants++)
    for (uint32_t i = 0; i < count; i++) {
      const struct expr *of = terms[i].of;
      struct digits d;
      bool is_first = of != NULL;
      for (uint32_t k = 0; k < i && of; k++)
        is_first = is_first && terms[k].of != of;
      if ((sum->in[i]->kind == EXPR_CONST) != (constants == 1))
        continue;
      if (!of || !find_digits(terms, count, of, &d)) {
        if (n < EXPR_SUMMANDS)
          ret[n++] = (struct expr_summand){sum->in[i], 1};
      } else if (is_first) {
        n = put_digits(x, of, &d, ret, n);
      }
    }
  return n;
}
