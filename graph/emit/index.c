// SPDX-License-Identifier: Apache-2.0
// Prints offsets. Arithmetic is in 32 bits if every intermediate value fits; otherwise an operand
// is converted to 64 bits first. Elements beyond an extent, at most a block, are masked, so the
// ranges of axes suffice.
// Recursion is the algorithm: a value is loaded at an offset, and an offset may be computed from
// values.
#include "graph/emit/graph_emit.h"

#include <inttypes.h>

// Margin for the elements of the last block beyond the extent.
enum { SLACK = 1 << 22 };

static bool fits(const struct expr *e) {
  return !e->overflows && e->lo >= -((int64_t)1 << 30) && e->hi <= INT32_MAX - SLACK;
}

bool emit_axis_is_wide(const struct expr *axis) { return axis->hi > INT32_MAX - SLACK; }

void emit_axis(struct emitter *e, const struct expr *axis, const char *name, const char *mask,
               unsigned level) {
  assert(axis->kind == EXPR_SYMBOL && e->axis_count < EMIT_AXES && level < EMIT_SCOPES);
  e->axes[e->axis_count++] = (struct emit_axis){axis, name, mask, level, emit_axis_is_wide(axis)};
}

const struct expr *emit_axis_alias(struct emitter *e, const struct expr *axis, const char *name) {
  return expr_symbol(e->x, name, 0, axis->symbol->hi, axis_extent(axis));
}

static struct text index_text(struct emitter *e, const struct expr *x, bool *ret_wide);

static struct text symbol_text(struct emitter *e, const struct expr *x, bool *ret_wide) {
  for (unsigned i = 0; i < e->axis_count; i++)
    if (e->axes[i].axis == x) {
      *ret_wide = e->axes[i].is_wide;
      return text_atom(e->axes[i].name);
    }
  if (x->symbol->indirect) {
    struct text t = emit_value(e, x->symbol->indirect);
    *ret_wide = !t.is_narrow && dtype_bits(x->symbol->indirect->dtype) > 32;
    return t;
  }
  const char *name = emit_size(e, x);
  *ret_wide = !(x->lo >= INT32_MIN && x->hi <= INT32_MAX / 2);
  return text_atom(name);
}

static struct text widened(struct emitter *e, struct text t) {
  if (t.is_number)
    return t;
  return text_atom(arena_printf(e->arena, "%s.to(tl.int64)", text_within(e, t, PREC_ATOM)));
}

// ---- digits ----
//
// Canonical sums have as few divisions as possible: 64*m + -63*(m % 49). In mixed-radix digits of m
// the same offset is m // 49 * 3136 + m % 49: it shows the analyses of the kernel that neighbours
// along m are neighbours in memory.

enum { MOST_TERMS = 64, MOST_DIGITS = 8 };

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

// A term: expression times constant.
struct summand {
  const struct expr *of;
  int64_t times;
};

static uint32_t put_digits(struct emitter *e, const struct expr *of, const struct digits *d,
                           struct summand *ret, uint32_t n) {
  for (unsigned k = d->count; k-- > 0 && n < MOST_TERMS;) {
    if (!d->coefficient[k])
      continue;
    const struct expr *digit = expr_floordiv(e->x, of, expr_const(e->x, d->weight[k]));
    if (d->weight[k + 1])
      digit = expr_mod(e->x, digit, expr_const(e->x, d->weight[k + 1] / d->weight[k]));
    ret[n++] = (struct summand){digit, d->coefficient[k]};
  }
  return n;
}

// Constants last.
static uint32_t summands_of(struct emitter *e, const struct expr *x, struct summand *ret) {
  struct term terms[MOST_TERMS];
  uint32_t n = 0, count = x->count < MOST_TERMS ? x->count : MOST_TERMS;
  for (uint32_t i = 0; i < count; i++)
    if (!parse_term(x->in[i], &terms[i]))
      terms[i].of = NULL;
  for (int constants = 0; constants < 2; constants++)
    for (uint32_t i = 0; i < count; i++) {
      const struct expr *of = terms[i].of;
      struct digits d;
      bool is_first = of != NULL;
      for (uint32_t k = 0; k < i && of; k++)
        is_first = is_first && terms[k].of != of;
      if ((x->in[i]->kind == EXPR_CONST) != (constants == 1))
        continue;
      if (!of || !find_digits(terms, count, of, &d)) {
        if (n < MOST_TERMS)
          ret[n++] = (struct summand){x->in[i], 1};
      } else if (is_first) {
        n = put_digits(e, of, &d, ret, n);
      }
    }
  return n;
}

static int64_t magnitude(int64_t x) { return x == INT64_MIN ? INT64_MAX : x < 0 ? -x : x; }

static struct text times_text(struct emitter *e, const struct summand *s, bool *ret_wide) {
  struct text t = index_text(e, s->of, ret_wide);
  if (s->times == 1)
    return t;
  if (!*ret_wide && s->of->hi > (INT32_MAX - SLACK) / magnitude(s->times)) {
    t = widened(e, t);
    *ret_wide = true;
  }
  return (struct text){
      arena_printf(e->arena, "%s * %" PRId64, text_within(e, t, PREC_TERM), s->times), PREC_TERM,
      false, false, false};
}

// Sums and products, constants last.
static struct text chain_text(struct emitter *e, const struct expr *x, bool *ret_wide) {
  bool is_sum = x->kind == EXPR_ADD;
  enum precedence prec = is_sum ? PREC_SUM : PREC_TERM;
  struct text parts[MOST_TERMS];
  struct summand of[MOST_TERMS];
  bool wide[MOST_TERMS], any_wide = false, asks_wide = false;
  uint32_t n = 0;
  if (is_sum)
    n = summands_of(e, x, of);
  for (int constants = 0; constants < 2 && !is_sum; constants++)
    for (uint32_t i = 0; i < x->count && n < MOST_TERMS; i++)
      if ((x->in[i]->kind == EXPR_CONST) == (constants == 1))
        of[n++] = (struct summand){x->in[i], 1};
  for (uint32_t i = 0; i < n; i++) {
    parts[i] = times_text(e, &of[i], &wide[i]);
    // A literal takes the type of the other operands: it widens nothing itself, but a large one
    // needs wide operands.
    bool is_literal = of[i].of->kind == EXPR_CONST;
    any_wide = any_wide || (wide[i] && !is_literal);
    asks_wide = asks_wide || (wide[i] && is_literal);
  }
  if ((asks_wide || !fits(x)) && !any_wide) {
    parts[0] = widened(e, parts[0]);
    any_wide = true;
  }
  struct strbuf out = {.arena = e->arena};
  for (uint32_t i = 0; i < n; i++) {
    bool minus = false;
    const struct expr *one = of[i].of;
    const char *text = text_within(e, parts[i], i ? (enum precedence)(prec - 1) : prec);
    if (is_sum && i && parts[i].prec == PREC_TERM && text[0] != '(')
      text = parts[i].s;
    if (is_sum && i && one->kind == EXPR_CONST && one->value < 0 && one->value != INT64_MIN) {
      minus = true;
      text = arena_printf(e->arena, "%" PRId64, -one->value);
    }
    strbuf_printf(&out, "%s%s", i == 0 ? "" : is_sum ? (minus ? " - " : " + ") : " * ", text);
  }
  *ret_wide = any_wide;
  struct text t = {arena_strdup(e->arena, strbuf_cstr(&out)), prec, false, false, false};
  strbuf_finish(&out);
  return t;
}

// The language's division truncates; that of indices is floor division.
static struct text divide_text(struct emitter *e, const struct expr *x, bool *ret_wide) {
  bool wide[2];
  struct text a = index_text(e, x->in[0], &wide[0]), b = index_text(e, x->in[1], &wide[1]);
  *ret_wide = wide[0] || wide[1];
  const char *by = text_within(e, b, PREC_UNARY);
  bool is_div = x->kind == EXPR_FLOORDIV;
  if (x->in[0]->lo >= 0)
    return (struct text){
        arena_printf(e->arena, "%s %s %s", text_within(e, a, PREC_TERM), is_div ? "//" : "%", by),
        PREC_TERM, false, false, false};
  const char *of = text_within(e, a, PREC_TERM);
  const char *rest = arena_printf(e->arena, "(%s %% %s + %s) %% %s", of, by, by, by);
  if (!is_div)
    return (struct text){rest, PREC_TERM, false, false, false};
  return (struct text){arena_printf(e->arena, "(%s - %s) // %s", of, rest, by), PREC_TERM, false,
                       false, false};
}

static struct text least_text(struct emitter *e, const struct expr *x, bool *ret_wide) {
  const char *name = x->kind == EXPR_MIN ? "tl.minimum" : "tl.maximum";
  struct text t = index_text(e, x->in[0], ret_wide);
  for (uint32_t i = 1; i < x->count; i++) {
    bool wide;
    struct text next = index_text(e, x->in[i], &wide);
    *ret_wide = *ret_wide || wide;
    t = text_atom(arena_printf(e->arena, "%s(%s, %s)", name, t.s, next.s));
  }
  return t;
}

static struct text index_text(struct emitter *e, const struct expr *x, bool *ret_wide) {
  switch (x->kind) {
  case EXPR_CONST:
    *ret_wide = !fits(x);
    return (struct text){arena_printf(e->arena, "%" PRId64, x->value),
                         x->value < 0 ? PREC_UNARY : PREC_ATOM, true, true, false};
  case EXPR_SYMBOL: return symbol_text(e, x, ret_wide);
  case EXPR_ADD:
  case EXPR_MUL: return chain_text(e, x, ret_wide);
  case EXPR_FLOORDIV:
  case EXPR_MOD: return divide_text(e, x, ret_wide);
  case EXPR_MIN:
  case EXPR_MAX: return least_text(e, x, ret_wide);
  }
  UNREACHABLE();
}

struct text emit_index(struct emitter *e, const struct expr *offset) {
  bool wide;
  struct text t = index_text(e, offset, &wide);
  t.is_narrow = !wide;
  return t;
}

const char *emit_extent(struct emitter *e, const struct expr *extent) {
  return text_within(e, emit_index(e, extent), PREC_ATOM);
}
