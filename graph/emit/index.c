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

static int64_t magnitude(int64_t x) { return x == INT64_MIN ? INT64_MAX : x < 0 ? -x : x; }

static struct text times_text(struct emitter *e, const struct expr_summand *s, bool *ret_wide) {
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
  struct text parts[EXPR_SUMMANDS];
  struct expr_summand of[EXPR_SUMMANDS];
  bool wide[EXPR_SUMMANDS], any_wide = false, asks_wide = false;
  uint32_t n = 0;
  if (is_sum)
    n = expr_summands(e->x, x, of);
  for (int constants = 0; constants < 2 && !is_sum; constants++)
    for (uint32_t i = 0; i < x->count && n < EXPR_SUMMANDS; i++)
      if ((x->in[i]->kind == EXPR_CONST) == (constants == 1))
        of[n++] = (struct expr_summand){x->in[i], 1};
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

static bool is_of_sizes(const struct emitter *e, const struct expr *x) {
  bool is_size = x->kind != EXPR_SYMBOL;
  for (size_t i = 0; !is_size && i < e->p->graph->symbols.len; i++)
    is_size = e->p->graph->symbols.at[i] == x;
  for (uint32_t i = 0; is_size && i < x->count; i++)
    is_size = is_of_sizes(e, x->in[i]);
  return is_size;
}

static bool is_division(const struct expr *x) {
  return x->kind == EXPR_FLOORDIV || x->kind == EXPR_MOD || x->kind == EXPR_MIN ||
         x->kind == EXPR_MAX;
}

static unsigned count_divisions(const struct expr *x) {
  unsigned count = is_division(x);
  for (uint32_t i = 0; i < x->count; i++)
    count += count_divisions(x->in[i]);
  return count;
}

// A size of many divisions is a parameter of its own: the host computes it once for a launch.
static bool is_parameter(const struct emitter *e, const struct expr *x) {
  enum { MANY = 4 };
  return is_division(x) && count_divisions(x) >= MANY && is_of_sizes(e, x);
}

static struct text index_text(struct emitter *e, const struct expr *x, bool *ret_wide) {
  if (is_parameter(e, x)) {
    emit_sizes(e, x); // grids are printed with them
    *ret_wide = !(x->lo >= INT32_MIN && x->hi <= INT32_MAX / 2);
    return text_atom(emit_size(e, x));
  }
  switch (x->kind) {
  case EXPR_CONST:
    e->is_beyond |= expr_is_unfit(x);
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
