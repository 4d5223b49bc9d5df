// SPDX-License-Identifier: Apache-2.0
// Loops as text, a line a stage: `max[x0] = max over r0<4096 of in[4096*x0 + r0]`.
#include "graph/loops/loops.h"

static const char *reduce_name(enum reduce_op op) {
  switch (op) {
  case REDUCE_SUM: return "sum";
  case REDUCE_PROD: return "prod";
  case REDUCE_MAX: return "max";
  case REDUCE_MIN: return "min";
  case REDUCE_ANY: return "any";
  case REDUCE_ALL: return "all";
  case REDUCE_ARGMAX: return "argmax";
  case REDUCE_ARGMIN: return "argmin";
  }
  return "";
}

static void print_axes(const struct expr *const *axes, uint32_t count, struct strbuf *out) {
  for (uint32_t i = 0; i < count; i++) {
    strbuf_printf(out, "%s%s<", i ? ", " : "", axes[i]->symbol->name);
    expr_print(axis_extent(axes[i]), out);
  }
}

static void print_pair(const char *before, const struct scalar *v, struct strbuf *out) {
  strbuf_puts(out, before);
  scalar_print(v, out);
}

static void print_attention(const struct attention *a, struct strbuf *out) {
  const struct expr *further[2] = {a->key, a->depth};
  strbuf_puts(out, "attention over ");
  print_axes(further, 2, out);
  print_pair(" of q = ", a->q, out);
  print_pair("; k = ", a->k, out);
  print_pair("; v = ", a->v, out);
  print_pair("; score = ", a->score, out);
  if (a->kept)
    print_pair("; kept = ", a->kept, out);
  if (!a->lse)
    return;
  strbuf_printf(out, "; lse = %s[", a->lse->name);
  expr_print(a->lse_offset, out);
  strbuf_putc(out, ']');
}

static void print_call(const struct call *c, struct strbuf *out) {
  strbuf_printf(out, "%s(", c->node->name);
  for (size_t i = 0; i < c->operand_count; i++)
    if (c->score_axes && i >= c->scores)
      print_pair(", ", c->operands[i], out);
    else
      strbuf_printf(out, "%s%s", i ? ", " : "", c->operands[i]->buffer->name);
  strbuf_putc(out, ')');
}

static void print_value(const struct stage *s, struct strbuf *out) {
  switch (s->kind) {
  case STAGE_REDUCE:
  case STAGE_SCAN:
    strbuf_printf(out, "%s%s over ", s->kind == STAGE_SCAN ? "scan " : "", reduce_name(s->op));
    print_axes(s->axes + s->rank, s->reduced, out);
    print_pair(" of ", s->body, out);
    return;
  case STAGE_PRODUCT:
    strbuf_puts(out, "product over ");
    print_axes(s->axes + s->rank, s->reduced, out);
    print_pair(" of ", s->a, out);
    print_pair("; with ", s->b, out);
    if (s->groups)
      print_pair(s->groups->of_rows ? "; rows to " : "; inner to ", s->groups->end, out);
    return;
  case STAGE_ATTENTION: print_attention(s->attention, out); return;
  case STAGE_CALL: print_call(s->call, out); return;
  case STAGE_MAP:
  case STAGE_SCATTER: scalar_print(s->body, out); return;
  }
}

void stage_print(const struct stage *s, struct strbuf *out) {
  strbuf_printf(out, "%s[", s->out->name);
  expr_print(s->offset, out);
  strbuf_printf(out, "] %s ", s->accumulates ? "+=" : "=");
  print_value(s, out);
  if (s->predicate)
    print_pair(" where ", s->predicate, out);
  strbuf_puts(out, "  for ");
  print_axes(s->axes, s->rank, out);
  strbuf_puts(out, s->rank ? "\n" : "one\n");
}

void loops_print(const struct loops *l, struct strbuf *out) {
  for (size_t i = 0; i < l->stages.len; i++)
    stage_print(l->stages.at[i], out);
}
