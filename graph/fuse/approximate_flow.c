// SPDX-License-Identifier: Apache-2.0
// Finds the expression trees of a region that only contribute to half-precision results.
#include "graph/fuse/approximate.h"
#include "graph/loops/scalar_expr_internal.h"

static bool is_half(enum dtype t) { return t == DTYPE_F16 || t == DTYPE_BF16; }

static void see_exactly(struct approximation *a, const struct scalar *v);
static void see_coarsely(struct approximation *a, const struct scalar *v);

static void mark(struct approximation *a, struct map *m, const void *what) {
  ptrmap_put(a->arena, m, what, (void *)(uintptr_t)what);
}

static void see_index(void *user, const struct expr *symbol) {
  if (symbol->symbol->indirect)
    see_exactly(user, symbol->symbol->indirect);
}

static void see_exactly(struct approximation *a, const struct scalar *v) {
  if (ptrmap_get(&a->exact, v))
    return;
  mark(a, &a->exact, v);
  if (v->index)
    scalar_expr_symbols(v->index, see_index, a);
  if (v->kind == SCALAR_LOAD && v->buffer)
    mark(a, &a->stored_exact, v->buffer);
  // Rounded to half precision: its operand needs no more.
  if (v->kind == SCALAR_CONVERT && is_half(v->dtype)) {
    see_coarsely(a, v->in[0]);
    return;
  }
  for (unsigned i = 0; i < scalar_arity(v); i++)
    see_exactly(a, v->in[i]);
}

// Does the operation keep the relative error of an operand, or bound it by that of its largest
// operand?
static bool hands_on(enum scalar_op op) {
  switch (op) {
  case SCALAR_ADD:
  case SCALAR_SUB:
  case SCALAR_MUL:
  case SCALAR_DIV:
  case SCALAR_MAXIMUM:
  case SCALAR_MINIMUM:
  case SCALAR_FMA:
  case SCALAR_NEG:
  case SCALAR_ABS:
  case SCALAR_SQRT:
  case SCALAR_RSQRT:
  case SCALAR_RECIPROCAL:
  case SCALAR_TANH:
  case SCALAR_ERF:
  case SCALAR_WHERE: return true;
  default: return false;
  }
}

static void see_coarsely(struct approximation *a, const struct scalar *v) {
  if (ptrmap_get(&a->coarse, v))
    return;
  mark(a, &a->coarse, v);
  if (v->index)
    scalar_expr_symbols(v->index, see_index, a);
  bool is_float = v->dtype == DTYPE_F32 || is_half(v->dtype);
  bool passes = is_float && (v->kind != SCALAR_APPLY || hands_on(v->op));
  for (unsigned i = 0; i < scalar_arity(v); i++) {
    bool is_condition =
        i == 0 && (v->kind == SCALAR_MASKED || (v->kind == SCALAR_APPLY && v->op == SCALAR_WHERE));
    if (passes && !is_condition && dtype_is_float(v->in[i]->dtype))
      see_coarsely(a, v->in[i]);
    else
      see_exactly(a, v->in[i]);
  }
}

static bool goes_to_memory(const struct region *r, const struct buffer *b) {
  for (size_t i = 0; i < r->writes.len; i++)
    if (r->writes.at[i] == b)
      return true;
  return b->role != BUFFER_TEMP;
}

static bool keeps_errors_small(const struct stage *s) {
  return s->kind != STAGE_REDUCE || s->op == REDUCE_SUM || s->op == REDUCE_MAX ||
         s->op == REDUCE_MIN;
}

// Does v load the row maximum of `of`?
static bool is_maximum(const struct approximation *a, const struct scalar *v,
                       const struct scalar *of) {
  while (v->kind == SCALAR_CONVERT)
    v = v->in[0];
  const struct stage *s =
      v->kind == SCALAR_LOAD && v->buffer ? region_maker(a->region, v->buffer) : NULL;
  return s && s->kind == STAGE_REDUCE && s->op == REDUCE_MAX && s->body == of;
}

// A sum of exp(u - max u): its largest term is 1, and a term e**-t has an error of t * e**-t times
// the error of u, negligible in the sum.
static bool is_sum_under_maximum(const struct approximation *a, const struct stage *s) {
  const struct scalar *v = s->body;
  if (s->kind != STAGE_REDUCE || s->op != REDUCE_SUM || v->kind != SCALAR_APPLY ||
      v->op != SCALAR_EXP)
    return false;
  const struct scalar *u = v->in[0];
  return u->kind == SCALAR_APPLY && u->op == SCALAR_SUB && is_maximum(a, u->in[1], u->in[0]);
}

static void see_stage(struct approximation *a, const struct stage *s) {
  const struct scalar *const parts[3] = {s->body, s->a, s->b};
  bool is_exact = ptrmap_get(&a->stored_exact, s->out) || s->kind == STAGE_ATTENTION ||
                  s->kind == STAGE_SCAN || !keeps_errors_small(s) ||
                  (goes_to_memory(a->region, s->out) && !is_half(s->out->dtype));
  is_exact = is_exact && !is_sum_under_maximum(a, s);
  for (unsigned i = 0; i < 3; i++)
    if (parts[i] && is_exact)
      see_exactly(a, parts[i]);
    else if (parts[i])
      see_coarsely(a, parts[i]);
  for (size_t i = 0; s->call && i < s->call->operand_count; i++)
    see_exactly(a, s->call->operands[i]);
  if (s->predicate)
    see_exactly(a, s->predicate);
  if (s->offset)
    scalar_expr_symbols(s->offset, see_index, a);
}

void approximation_flow(struct approximation *a) {
  for (size_t i = a->region->stages.len; i-- > 0;)
    see_stage(a, a->region->stages.at[i]);
}

bool approximation_allows(const struct approximation *a, const struct scalar *v) {
  return v->dtype == DTYPE_F32 && ptrmap_get(&a->coarse, v) && !ptrmap_get(&a->exact, v);
}
