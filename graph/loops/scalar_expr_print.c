// SPDX-License-Identifier: Apache-2.0
// Prints expression trees. Shared subtrees are named first: `t0 = exp(x[4*i]); t0 + t0`.
#include "graph/loops/scalar_expr_internal.h"

#include <inttypes.h>
#include <math.h>

struct printer {
  struct scalars *s;
  struct strbuf *out;
  VEC(const struct scalar *) order; // operands first
  struct map uses;                  // counts, by expression tree
  struct map names;                 // of those used more than once
};

static const char *infix(enum scalar_op op) {
  switch (op) {
  case SCALAR_ADD: return " + ";
  case SCALAR_SUB: return " - ";
  case SCALAR_MUL: return " * ";
  case SCALAR_DIV: return " / ";
  case SCALAR_EQ: return " == ";
  case SCALAR_NE: return " != ";
  case SCALAR_LT: return " < ";
  case SCALAR_LE: return " <= ";
  case SCALAR_GT: return " > ";
  case SCALAR_GE: return " >= ";
  case SCALAR_AND: return " and ";
  case SCALAR_OR: return " or ";
  case SCALAR_XOR: return " xor ";
  case SCALAR_BIT_AND: return " & ";
  case SCALAR_BIT_OR: return " | ";
  case SCALAR_BIT_XOR: return " ^ ";
  default: return NULL;
  }
}

static void count_use(struct printer *p, const struct scalar *v) {
  uintptr_t n = (uintptr_t)ptrmap_get(&p->uses, v);
  ptrmap_put(p->s->arena, &p->uses, v, (void *)(n + 1));
  if (n > 0)
    return;
  for (unsigned i = 0, arity = scalar_arity(v); i < arity; i++)
    count_use(p, v->in[i]);
  vec_push(p->s->arena, &p->order, v);
}

static void put(struct printer *p, const struct scalar *v, bool brackets);

static void put_constant(struct printer *p, const struct scalar *v) {
  if (v->dtype == DTYPE_I1)
    strbuf_puts(p->out, v->constant.integer ? "true" : "false");
  else if (!dtype_is_float(v->dtype))
    strbuf_printf(p->out, "%" PRId64, v->constant.integer);
  else if (isfinite(v->constant.real) && v->constant.real == rint(v->constant.real) &&
           fabs(v->constant.real) < 1e15)
    strbuf_printf(p->out, "%.1f", v->constant.real);
  else
    strbuf_printf(p->out, "%.9g", v->constant.real);
}

static bool is_indirect(const struct expr *e) {
  bool found = e->kind == EXPR_SYMBOL && e->symbol->indirect;
  for (uint32_t i = 0; i < e->count; i++)
    found = found || is_indirect(e->in[i]);
  return found;
}

struct where_list {
  struct printer *p;
  VEC(const struct expr *) done;
};

static void put_where(void *user, const struct expr *symbol) {
  struct where_list *w = user;
  if (!symbol->symbol->indirect)
    return;
  for (size_t i = 0; i < w->done.len; i++)
    if (w->done.at[i] == symbol)
      return;
  strbuf_puts(w->p->out, w->done.len ? ", " : "; ");
  vec_push(w->p->s->arena, &w->done, symbol);
  strbuf_printf(w->p->out, "%s = ", symbol->symbol->name);
  put(w->p, symbol->symbol->indirect, false);
}

// Loaded indices follow the expression: `w[8*i0 + x; i0 = ids[y]]`.
static void put_index(struct printer *p, const struct expr *e) {
  expr_print(e, p->out);
  if (!is_indirect(e))
    return;
  struct where_list w = {.p = p};
  scalar_expr_symbols(e, put_where, &w);
}

static void put_apply(struct printer *p, const struct scalar *v, bool brackets) {
  const char *between = infix(v->op);
  if (between) {
    strbuf_puts(p->out, brackets ? "(" : "");
    put(p, v->in[0], true);
    strbuf_puts(p->out, between);
    put(p, v->in[1], true);
    strbuf_puts(p->out, brackets ? ")" : "");
    return;
  }
  for (const char *c = scalar_row(v->op)->name; *c; c++)
    strbuf_putc(p->out, *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c);
  for (unsigned i = 0, arity = scalar_arity(v); i < arity; i++) {
    strbuf_puts(p->out, i ? ", " : "(");
    put(p, v->in[i], false);
  }
  strbuf_putc(p->out, ')');
}

static void put_whole(struct printer *p, const struct scalar *v, bool brackets) {
  switch (v->kind) {
  case SCALAR_CONST: put_constant(p, v); break;
  case SCALAR_INDEX:
    strbuf_puts(p->out, brackets && v->index->count ? "(" : "");
    put_index(p, v->index);
    strbuf_puts(p->out, brackets && v->index->count ? ")" : "");
    break;
  case SCALAR_LOAD:
    strbuf_printf(p->out, "%s[", v->buffer ? v->buffer->name : "product");
    put_index(p, v->index);
    strbuf_putc(p->out, ']');
    break;
  case SCALAR_APPLY: put_apply(p, v, brackets); break;
  case SCALAR_CONVERT:
    strbuf_printf(p->out, "%s(", dtype_name(v->dtype));
    put(p, v->in[0], false);
    strbuf_putc(p->out, ')');
    break;
  case SCALAR_MASKED:
    strbuf_puts(p->out, "masked(");
    for (unsigned i = 0; i < 3; i++) {
      strbuf_puts(p->out, i ? ", " : "");
      put(p, v->in[i], false);
    }
    strbuf_putc(p->out, ')');
    break;
  case SCALAR_RANDOM:
    strbuf_printf(p->out, "random%" PRIu32 "(", v->which);
    put_index(p, v->index);
    strbuf_putc(p->out, ')');
    break;
  }
}

static void put(struct printer *p, const struct scalar *v, bool brackets) {
  const char *name = ptrmap_get(&p->names, v);
  if (name)
    strbuf_puts(p->out, name);
  else
    put_whole(p, v, brackets);
}

void scalar_print(const struct scalar *v, struct strbuf *out) {
  struct printer p = {.s = v->set, .out = out};
  count_use(&p, v);
  for (size_t i = 0; i < p.order.len; i++) {
    const struct scalar *part = p.order.at[i];
    if (part == v || part->kind == SCALAR_CONST || part->kind == SCALAR_INDEX ||
        (uintptr_t)ptrmap_get(&p.uses, part) < 2)
      continue;
    char *name = arena_printf(p.s->arena, "t%u", (unsigned)p.names.count);
    strbuf_printf(out, "%s = ", name);
    put_whole(&p, part, false);
    strbuf_puts(out, "; ");
    ptrmap_put(p.s->arena, &p.names, part, name);
  }
  put_whole(&p, v, false);
}
