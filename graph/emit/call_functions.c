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

// Begins a function: what is printed from here on is its body.
static void begin_function(struct emitter *e) {
  e->axis_count = 0;
  e->scopes[0].lines.len = 0;
  e->scopes[0].serial = ++e->serial;
  e->infos = e->known = (struct map){0};
}

static void end_function(struct emitter *e, struct strbuf *out, const char *name,
                         const char *parameters, const char *result) {
  strbuf_printf(out, "\n\n@triton.jit\ndef %s(%s%s):\n", name, marker, parameters);
  kernel_lines_print(e->scopes[0].lines.at, e->scopes[0].lines.len, out);
  strbuf_puts(out, e->scopes[0].lines.len ? "\n" : "");
  strbuf_printf(out, "    return %s\n", result);
}

// ---- bounds ----

static bool has_axis(const struct emitter *e, const struct expr *bound, unsigned axis) {
  return expr_has_symbol(bound, e->plan->call->score_axes[axis]);
}

// The bound at the query (axis 2) or key (axis 3) `name`; NULL if it depends on a batch or head.
static const char *bound_text(struct emitter *e, const struct expr *bound, unsigned axis,
                              const char *name) {
  const struct expr *from = e->plan->call->score_axes[axis];
  begin_function(e);
  if (!bound || has_axis(e, bound, 0) || has_axis(e, bound, 1))
    return NULL;
  emit_axis(e, from, name, NULL, 0);
  struct text text = emit_index(e, bound);
  const struct expr *const *tables = e->plan->call->bounds + (axis == 2 ? 0 : 2);
  bool is_loaded = tables[0] || tables[1]; // maybe in 64 bits
  return is_loaded && !text.is_number ? arena_printf(e->arena, "(%s).to(tl.int32)", text.s)
                                      : text.s;
}

static void put_first(struct emitter *e, struct strbuf *out, const char *name,
                      const struct expr *bound, unsigned axis, const char *of) {
  const char *text = bound_text(e, bound, axis, of);
  end_function(e, out, name, of, text ? arena_printf(e->arena, "tl.maximum(%s, 0)", text) : "0");
}

static void put_last(struct emitter *e, struct strbuf *out, const char *name,
                     const struct expr *bound, unsigned axis, const char *of) {
  const char *text = bound_text(e, bound, axis, of);
  end_function(e, out, name, arena_printf(e->arena, "%s, rows", of),
               text ? arena_printf(e->arena, "tl.minimum(%s, rows - 1)", text) : "rows - 1");
}

static void put_bounds(struct emitter *e, struct strbuf *out) {
  const struct key_bounds *b = &e->plan->bounds;
  put_first(e, out, "first_key", b->first, 2, "m");
  put_last(e, out, "last_key", b->last, 2, "m");
  put_first(e, out, "first_query", b->first_query, 3, "n");
  put_last(e, out, "last_query", b->last_query, 3, "n");
}

// ---- functions of a product ----

enum { MOST_BLOCK = 128 }; // of queries or keys

static bool is_whole(const struct expr *axis) {
  return expr_is_multiple(axis_extent(axis), MOST_BLOCK);
}

static void put_function(struct emitter *e, struct strbuf *out, const char *name,
                         const struct scalar *v, const char *beyond) {
  const struct call *c = e->plan->call;
  const struct expr *const *axes = c->score_axes;
  begin_function(e);
  emit_axis(e, axes[0], "b", NULL, 0);
  emit_axis(e, axes[1], "h", NULL, 0);
  emit_axis(e, axes[2], "m", is_whole(axes[2]) ? NULL : "(m < q_rows)", 0);
  emit_axis(e, axes[3], "n", is_whole(axes[3]) ? NULL : "(n < k_rows)", 0);
  uint32_t pair = emit_index_axes(e, axes[2]) | emit_index_axes(e, axes[3]);
  emit_given(e, c->operands[c->scores], "s", pair, 0);
  emit_count(e, v);
  const char *text = emit_value(e, v).s;
  if (beyond && !is_whole(axes[3]))
    text = arena_printf(e->arena, "tl.where(n < k_rows, %s, %s)", text, beyond);
  end_function(e, out, name, "s, b, h, m, n, q_rows, k_rows", text);
}

// A constant derivative is a factor of sums.
static void put_derivative(struct emitter *e, struct strbuf *out) {
  const struct call *c = e->plan->call;
  const struct scalar *v = c->operands[c->scores + 2];
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
  put_function(e, &out, "score", c->operands[c->scores + 1], "float(\"-inf\")");
  const struct scalar *kept = c->kept ? c->kept : scalar_real(e->s, DTYPE_F32, 1);
  put_function(e, &out, "kept", kept, NULL);
  for (size_t i = 0; i < e->functions.len; i++)
    strbuf_printf(&out, "\n\n%s", e->functions.at[i]);
  l->kernel->source = with_arguments(e, strbuf_cstr(&out));
  for (size_t i = 0; i < e->launch.args.len; i++)
    vec_push(e->arena, &l->args, e->launch.args.at[i]);
  strbuf_finish(&out);
}
