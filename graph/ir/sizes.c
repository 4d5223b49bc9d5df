// SPDX-License-Identifier: Apache-2.0
// Finds the input extents that determine each symbol of a graph, and strides for those that no
// extent determines. An extent may be an expression of symbols (`8*s0`, `s0*s1 + 1`): it determines
// the one that is not yet known if it is linear in it.
#include "graph/ir/sizes.h"

#include <math.h>
#include <string.h>

static bool is_known(const struct graph *g, const bool *known, const struct expr *e,
                     const struct expr *but) {
  for (size_t i = 0; i < g->symbols.len; i++)
    if (!known[i] && g->symbols.at[i] != but && expr_has_symbol(e, g->symbols.at[i]))
      return false;
  return true;
}

bool size_grows(const struct expr *e, const struct expr *symbol) {
  switch (e->kind) {
  case EXPR_CONST: return true;
  case EXPR_SYMBOL: return e->lo >= 0;
  case EXPR_ADD:
    for (uint32_t i = 0; i < e->count; i++)
      if (!size_grows(e->in[i], symbol))
        return false;
    return true;
  case EXPR_MUL:
    for (uint32_t i = 0; i < e->count; i++)
      if (e->in[i]->lo < 0 || !size_grows(e->in[i], symbol))
        return false;
    return true;
  default: return !expr_has_symbol(e, symbol);
  }
}

int64_t size_solve(const struct expr *e, size_t count, const struct expr *const *symbols,
                   int64_t *values, size_t which, int64_t want) {
  int64_t lo = symbols[which]->lo, hi = symbols[which]->hi, kept = values[which], got = 0;
  while (lo < hi) { // the least value for which e is not below `want`
    values[which] = lo + (hi - lo) / 2;
    if (expr_eval(e, count, symbols, values, &got) && got < want)
      lo = values[which] + 1;
    else
      hi = values[which];
  }
  values[which] = lo;
  bool found = expr_eval(e, count, symbols, values, &got) && got == want;
  values[which] = kept;
  return found ? lo : -1;
}

// Does this extent determine the symbol, given those that are known?
static bool says(struct graph *g, const bool *known, size_t symbol, const struct expr *extent,
                 struct size_source *ret) {
  const struct expr *s = g->symbols.at[symbol];
  if (!expr_has_symbol(extent, s) || !is_known(g, known, extent, s))
    return false;
  ret->symbol = (uint32_t)symbol;
  if (expr_linear(g->exprs, extent, s, &ret->coefficient, &ret->rest))
    return !expr_is(ret->coefficient, 0); // the extent may be known to equal another size
  ret->coefficient = ret->rest = NULL;
  return size_grows(extent, s);
}

static bool find(struct graph *g, const bool *known, size_t symbol, bool in_strides) {
  struct size_source source = {.is_stride = in_strides};
  for (size_t i = 0; i < g->inputs.len; i++)
    for (uint32_t d = 0; d < g->inputs.at[i]->rank; d++)
      if (says(g, known, symbol,
               in_strides ? g->inputs.at[i]->strides[d] : g->inputs.at[i]->shape[d], &source)) {
        source.input = (uint32_t)i;
        source.dim = d;
        vec_push(g->arena, &g->size_sources, source);
        return true;
      }
  return false;
}

// ---- symbols that no input determines ----

static bool arg_has(const struct arg *a, const struct expr *symbol) {
  if (a->kind == ARG_INT)
    return expr_has_symbol(a->number, symbol);
  for (size_t i = 0; a->kind == ARG_LIST && i < a->list.count; i++)
    if (arg_has(&a->list.at[i], symbol))
      return true;
  return false;
}

static bool value_has(const struct value *v, const struct expr *symbol) {
  for (uint32_t d = 0; v && d < v->rank; d++)
    if (expr_has_symbol(v->shape[d], symbol) || expr_has_symbol(v->strides[d], symbol))
      return true;
  return false;
}

static bool is_used(const struct graph *g, const struct expr *symbol) {
  for (size_t i = 0; i < g->requirements.len; i++)
    if (expr_has_symbol(g->requirements.at[i].slack, symbol))
      return true;
  for (size_t i = 0; i < g->inputs.len; i++)
    if (value_has(g->inputs.at[i], symbol))
      return true;
  for (size_t i = 0; i < g->nodes.len; i++) {
    const struct node *n = g->nodes.at[i];
    for (uint32_t k = 0; k < n->arg_count; k++)
      if (arg_has(&n->args[k], symbol))
        return true;
    for (uint32_t k = 0; k < n->result_count; k++)
      if (value_has(n->results[k], symbol))
        return true;
  }
  return false;
}

// All symbols that extents determine, given those that are known; then by strides.
static void find_all(struct graph *g, bool *known) {
  bool found = true;
  for (bool in_strides = false; found;) {
    found = false;
    for (size_t i = 0; i < g->symbols.len; i++)
      if (!known[i])
        found |= known[i] = find(g, known, i, in_strides);
    if (!found && !in_strides)
      found = in_strides = true;
  }
}

void graph_find_sizes(struct graph *g) {
  bool *known = arena_array(g->arena, bool, g->symbols.len + 1);
  g->size_sources.len = g->given_sizes.len = 0;
  find_all(g, known);
  for (size_t i = 0; i < g->symbols.len; i++) {
    if (known[i] || !is_used(g, g->symbols.at[i]))
      continue;
    known[i] = true; // one that is given may determine others
    vec_push(g->arena, &g->given_sizes, (struct given_size){.symbol = (uint32_t)i});
    find_all(g, known);
  }
}

bool graph_give_size(struct graph *g, const char *name, int64_t value) {
  for (size_t i = 0; i < g->given_sizes.len; i++) {
    struct given_size *given = &g->given_sizes.at[i];
    const struct symbol *s = g->symbols.at[given->symbol]->symbol;
    if (strcmp(s->name, name) != 0)
      continue;
    given->is_given = value >= s->lo && value <= s->hi;
    given->value = value;
    return given->is_given;
  }
  return false;
}

// ---- facts ----

bool graph_require(struct graph *g, const struct expr *slack, const char *text, struct span at) {
  if (slack->hi < 0 && !slack->overflows)
    return false;
  if (slack->lo >= 0 && !slack->overflows)
    return true;
  for (size_t i = 0; i < g->requirements.len; i++)
    if (g->requirements.at[i].slack == slack)
      return true;
  vec_push(g->arena, &g->requirements, ((struct requirement){slack, text, at}));
  return true;
}

static const char *text_of(struct graph *g, const struct expr *e) {
  struct strbuf out = {.arena = g->arena};
  expr_print(e, &out);
  const char *text = arena_strdup(g->arena, strbuf_cstr(&out));
  strbuf_finish(&out);
  return text;
}

bool graph_require_equal(struct graph *g, const struct expr *a, const struct expr *b,
                         struct span at) {
  const struct expr *more = expr_sub(g->exprs, a, b), *less = expr_sub(g->exprs, b, a);
  if (a == b)
    return true;
  if (expr_is_unfit(more) || expr_is_unfit(less) ||
      (!more->overflows && (more->lo > 0 || more->hi < 0)))
    return false;
  const char *text = arena_printf(g->arena, "`%s` and `%s` differ, which the graph takes as equal",
                                  text_of(g, a), text_of(g, b));
  return graph_require(g, more, text, at) && graph_require(g, less, text, at);
}

// ---- creating sizes ----

const struct expr *graph_size(struct graph *g, const char *name, int64_t lo, int64_t hi) {
  enum { LIKELY = 1024 };
  int64_t likely = LIKELY < lo ? lo : LIKELY > hi ? hi : LIKELY;
  const struct expr *e = expr_size(g->exprs, arena_strdup(g->arena, name), lo, hi, likely);
  // Symbols are in the order of creation: those after the last known one are new.
  if (g->symbols.len == 0 || e->id > g->symbols.at[g->symbols.len - 1]->id)
    vec_push(g->arena, &g->symbols, e);
  return e;
}

// ---- sizes times floats ----

// p / q = factor, with the least q.
static bool as_fraction(double factor, int64_t *ret_p, int64_t *ret_q) {
  enum { MOST = 1024 };
  for (int64_t q = 1; q <= MOST; q++) {
    double p = round(factor * (double)q);
    if (!(p / (double)q < factor) && !(p / (double)q > factor))
      return *ret_p = (int64_t)p, *ret_q = q, true;
  }
  return false;
}

enum { CHECKED = 1 << 18 };

static bool rounds_alike(double factor, int64_t p, int64_t q, bool up) {
  for (int64_t n = 0; n <= CHECKED; n++) {
    double x = (double)n * factor;
    if ((int64_t)(up ? ceil(x) : floor(x)) != (n * p + (up ? q - 1 : 0)) / q)
      return false;
  }
  return true;
}

const struct expr *graph_scaled_size(struct graph *g, const struct expr *size, double factor,
                                     bool up, struct span at) {
  struct exprs *x = g->exprs;
  int64_t n, p, q;
  if (!(factor > 0) || factor > 0x1p20)
    return NULL;
  if (expr_is_const(size, &n))
    return n >= 0 && n < INT32_MAX
               ? expr_const(x, (int64_t)(up ? ceil((double)n * factor) : floor((double)n * factor)))
               : NULL;
  if (!as_fraction(factor, &p, &q))
    return NULL;
  if ((q & (q - 1)) != 0 &&
      (!rounds_alike(factor, p, q, up) ||
       !graph_require(g, expr_sub(x, expr_const(x, CHECKED), size),
                      "a size that is multiplied by a float is larger than 2^18", at)))
    return NULL;
  const struct expr *times = expr_muli(x, size, p), *by = expr_const(x, q);
  return up ? expr_cdiv(x, times, by) : expr_floordiv(x, times, by);
}

bool graph_set_likely_size(struct graph *g, const char *name, int64_t size) {
  for (size_t i = 0; i < g->symbols.len; i++) {
    const struct symbol *s = g->symbols.at[i]->symbol;
    if (strcmp(s->name, name) == 0)
      return size >= s->lo && size <= s->hi && expr_set_hint(g->exprs, name, size);
  }
  return false;
}
