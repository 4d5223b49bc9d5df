// SPDX-License-Identifier: Apache-2.0
// The functions by which the kernel of a custom operator computes scores from products of queries
// and keys, their derivatives, and the range of queries and keys where they are not -inf:
//
//   @triton.jit
//   def score(in0, s, b, h, m, n, q_rows, k_rows):
//       return tl.where(n <= m, s * 0.125 + tl.load(in0 + h), float("-inf"))
//
// What they load is passed on by the kernel: its text has `score_arguments` in its parameters and
// calls, which become the names of buffers and sizes.
#include "graph/emit/graph_emit.h"

static const char marker[] = "score_arguments, ";

// An expression of a query or key as the body of a function of the scalar `name`.
static const char *bound_text(struct emitter *e, const struct expr *bound, const struct expr *axis,
                              const char *name) {
  const struct expr *at = emit_axis_alias(e, axis, name);
  emit_axis(e, at, name, NULL, 0);
  return emit_index(e, expr_substitute(e->x, bound, 1, &axis, &at)).s;
}

// If the bound is the query plus what no axis determines: the query for a key. NULL: it is not.
static const char *inverse_text(struct emitter *e, const struct expr *bound, const struct call *c) {
  const struct expr *step, *base;
  if (!bound || !expr_linear(e->x, bound, c->score_axes[2], &step, &base) || !expr_is(step, 1))
    return NULL;
  return bound_text(e, expr_sub(e->x, c->score_axes[3], base), c->score_axes[3], "n");
}

// Without those that depend on a batch or head.
static const struct expr *of_all_heads(const struct emitter *e, const struct expr *bound) {
  const struct expr *const *axes = e->plan->call->score_axes;
  return bound && !expr_has_symbol(bound, axes[0]) && !expr_has_symbol(bound, axes[1]) ? bound
                                                                                       : NULL;
}

static void put_first(struct strbuf *out, const char *name, const char *of, const char *text) {
  strbuf_printf(out, "\n\n@triton.jit\ndef %s(%s%s):\n    return ", name, marker, of);
  if (text)
    strbuf_printf(out, "tl.maximum(%s, 0)\n", text);
  else
    strbuf_puts(out, "0\n");
}

static void put_last(struct strbuf *out, const char *name, const char *of, const char *text) {
  strbuf_printf(out, "\n\n@triton.jit\ndef %s(%s%s, rows):\n    return ", name, marker, of);
  if (text)
    strbuf_printf(out, "tl.minimum(%s, rows - 1)\n", text);
  else
    strbuf_puts(out, "rows - 1\n");
}

static void put_bounds(struct emitter *e, struct strbuf *out) {
  const struct call *c = e->plan->call;
  const struct expr *first = of_all_heads(e, e->plan->bounds.first),
                    *last = of_all_heads(e, e->plan->bounds.last), *m = c->score_axes[2];
  put_first(out, "first_key", "m", first ? bound_text(e, first, m, "m") : NULL);
  put_last(out, "last_key", "m", last ? bound_text(e, last, m, "m") : NULL);
  put_first(out, "first_query", "n", inverse_text(e, last, c));
  put_last(out, "last_query", "n", inverse_text(e, first, c));
}

// ---- functions of a product ----

enum { MOST_BLOCK = 128 }; // of queries or keys

static bool is_whole(const struct expr *axis) {
  return expr_is_multiple(axis_extent(axis), MOST_BLOCK);
}

// An emitter whose axes are the parameters of a function.
static void put_function(struct emitter *e, struct strbuf *out, const char *name,
                         const struct scalar *v, const char *beyond) {
  const struct call *c = e->plan->call;
  const struct expr *const *axes = c->score_axes;
  e->axis_count = 0;
  e->scopes[0].lines.len = 0;
  e->scopes[0].serial = ++e->serial;
  e->infos = e->known = (struct map){0};
  emit_axis(e, axes[0], "b", NULL, 0);
  emit_axis(e, axes[1], "h", NULL, 0);
  emit_axis(e, axes[2], "m", is_whole(axes[2]) ? NULL : "(m < q_rows)", 0);
  emit_axis(e, axes[3], "n", is_whole(axes[3]) ? NULL : "(n < k_rows)", 0);
  uint32_t pair = emit_index_axes(e, axes[2]) | emit_index_axes(e, axes[3]);
  emit_given(e, c->operands[c->operand_count - 3], "s", pair, 0);
  emit_count(e, v);
  const char *text = emit_value(e, v).s;
  strbuf_printf(out, "\n\n@triton.jit\ndef %s(%ss, b, h, m, n, q_rows, k_rows):\n", name, marker);
  kernel_lines_print(e->scopes[0].lines.at, e->scopes[0].lines.len, out);
  strbuf_puts(out, e->scopes[0].lines.len ? "\n" : "");
  if (beyond && !is_whole(axes[3]))
    strbuf_printf(out, "    return tl.where(n < k_rows, %s, %s)\n", text, beyond);
  else
    strbuf_printf(out, "    return %s\n", text);
}

// A constant derivative is a factor of sums.
static void put_derivative(struct emitter *e, struct strbuf *out) {
  const struct call *c = e->plan->call;
  const struct scalar *v = c->operands[c->operand_count - 1];
  bool is_constant = v->kind == SCALAR_CONST;
  union element one = {.real = 1};
  const char *factor = emit_number(e, DTYPE_F32, is_constant ? v->constant : one);
  put_function(e, out, "slope", is_constant ? scalar_real(e->s, DTYPE_F32, 1) : v, NULL);
  strbuf_printf(out, "\n\n@triton.jit\ndef factor():\n    return %s\n", factor);
}

// `text` with the names in place of the markers.
static const char *with_arguments(struct emitter *e, const char *text) {
  struct strbuf names = {.arena = e->arena}, out = {.arena = e->arena};
  for (size_t i = 0; i < e->launch.args.len; i++)
    strbuf_printf(&names, "%s, ", e->launch.args.at[i].name);
  for (const char *at; (at = strstr(text, marker)); text = at + strlen(marker))
    strbuf_printf(&out, "%.*s%s", (int)(at - text), text, strbuf_cstr(&names));
  strbuf_puts(&out, text);
  const char *kept = arena_strdup(e->arena, strbuf_cstr(&out));
  strbuf_finish(&names);
  strbuf_finish(&out);
  return kept;
}

void emit_call_functions(struct emitter *e, struct launch *l) {
  struct strbuf out = {.arena = e->arena};
  strbuf_puts(&out, l->kernel->source);
  put_bounds(e, &out);
  put_derivative(e, &out);
  const struct call *c = e->plan->call;
  put_function(e, &out, "score", c->operands[c->operand_count - 2], "float(\"-inf\")");
  for (size_t i = 0; i < e->functions.len; i++)
    strbuf_printf(&out, "\n\n%s", e->functions.at[i]);
  l->kernel->source = with_arguments(e, strbuf_cstr(&out));
  for (size_t i = 0; i < e->launch.args.len; i++)
    vec_push(e->arena, &l->args, e->launch.args.at[i]);
  strbuf_finish(&out);
}
