// SPDX-License-Identifier: Apache-2.0
// Places as text. Arithmetic is 32 bits wide as long as every value fits; where one may not, an
// operand is made wide before. What lies beyond an extent by less than a block is masked, so the
// bounds of axes are enough.
#include "graph/emit.h"

#include <inttypes.h>

// Room above the largest index for what a block sticks out.
enum { SLACK = 1 << 22 };

static bool fits(const struct expr *e) {
  return !e->overflows && e->lo >= -((int64_t)1 << 30) && e->hi <= INT32_MAX - SLACK;
}

bool emit_axis_is_wide(const struct expr *axis) { return axis->hi > INT32_MAX - SLACK; }

void emit_axis(struct emitter *e, const struct expr *axis, const char *name, const char *mask,
               unsigned level) {
  e->axes[e->axis_count++] = (struct emit_axis){axis, name, mask, level, emit_axis_is_wide(axis)};
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

// Sums and products, constants last.
static struct text chain_text(struct emitter *e, const struct expr *x, bool *ret_wide) {
  bool is_sum = x->kind == EXPR_ADD;
  enum precedence prec = is_sum ? PREC_SUM : PREC_TERM;
  struct text parts[64];
  const struct expr *of[64];
  bool wide[64], any_wide = false;
  uint32_t n = 0;
  for (int constants = 0; constants < 2; constants++)
    for (uint32_t i = 0; i < x->count && n < 64; i++)
      if ((x->in[i]->kind == EXPR_CONST) == (constants == 1)) {
        of[n] = x->in[i];
        parts[n] = index_text(e, x->in[i], &wide[n]);
        any_wide = any_wide || wide[n];
        n++;
      }
  if (!fits(x) && !any_wide) {
    parts[0] = widened(e, parts[0]);
    any_wide = true;
  }
  struct strbuf out = {0};
  for (uint32_t i = 0; i < n; i++) {
    bool minus = false;
    const char *text = text_within(e, parts[i], i ? (enum precedence)(prec - 1) : prec);
    if (is_sum && i && parts[i].prec == PREC_TERM && text[0] != '(')
      text = parts[i].s;
    if (is_sum && i && of[i]->kind == EXPR_CONST && of[i]->value < 0 && of[i]->value != INT64_MIN) {
      minus = true;
      text = arena_printf(e->arena, "%" PRId64, -of[i]->value);
    }
    strbuf_printf(&out, "%s%s", i == 0 ? "" : is_sum ? (minus ? " - " : " + ") : " * ", text);
  }
  *ret_wide = any_wide;
  struct text t = {arena_strdup(e->arena, strbuf_cstr(&out)), prec, false, false, false};
  strbuf_finish(&out);
  return t;
}

// The language's division truncates; that of indices goes down.
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

struct text emit_index(struct emitter *e, const struct expr *place) {
  bool wide;
  struct text t = index_text(e, place, &wide);
  t.is_narrow = !wide;
  return t;
}

const char *emit_extent(struct emitter *e, const struct expr *extent) {
  return emit_index(e, extent).s;
}
