// SPDX-License-Identifier: Apache-2.0
// Plans a call: a launch without a kernel, with the buffers that it reads and writes.
#include "graph/plan/accesses.h"
#include "graph/plan/attention_plan.h"

// If the bound is the query plus what no axis determines: the query for a key. NULL: it is not.
static const struct expr *query_of(struct exprs *x, const struct expr *bound,
                                   const struct expr *query, const struct expr *key) {
  const struct expr *step, *base;
  if (!bound || !expr_linear(x, bound, query, &step, &base) || !expr_is(step, 1))
    return NULL;
  return expr_sub(x, key, base);
}

static const struct expr *smaller(struct exprs *x, const struct expr *a, const struct expr *b) {
  return a && b ? expr_min(x, a, b) : a ? a : b;
}

static const struct expr *larger(struct exprs *x, const struct expr *a, const struct expr *b) {
  return a && b ? expr_max(x, a, b) : a ? a : b;
}

// Of the operands that the kernel computes, with the keys that the scores leave visible.
static void plan_scores(struct program *p, struct kernel_plan *k, struct access_walk *w) {
  const struct loops *l = p->regions->loops;
  struct exprs *x = l->exprs;
  const struct call *c = k->call;
  const struct expr *const *table = c->bounds, *query = c->score_axes[2], *key = c->score_axes[3];
  struct key_bounds by_score = score_bounds(l->scalars, x, c->operands[c->scores + 1], query, key);
  k->bounds.first = larger(x, by_score.first, table[0]);
  k->bounds.last = smaller(x, by_score.last, table[1] ? expr_addi(x, table[1], -1) : NULL);
  k->bounds.first_query = table[2] ? table[2] : query_of(x, by_score.last, query, key);
  k->bounds.last_query =
      table[3] ? expr_addi(x, table[3], -1) : query_of(x, by_score.first, query, key);
  access_given(w, c->operands[c->scores]);
  for (size_t i = c->scores + 1; i < c->operand_count; i++)
    access_any(w, c->operands[i]);
}

bool plan_call(struct program *p, const struct region *r) {
  assert(r->stages.len == 1 && r->stages.at[0]->call);
  struct kernel_plan *k = plan_kernel(p, KERNEL_CALL, r, NULL);
  const struct call *c = k->call = r->stages.at[0]->call;
  struct access_walk w = {.arena = p->arena, .k = k};
  for (size_t i = 0; i < (c->score_axes ? c->scores : c->operand_count); i++)
    access_buffer(&w, c->operands[i]->buffer, false);
  if (c->score_axes)
    plan_scores(p, k, &w);
  for (uint32_t i = 0; i < c->node->result_count; i++)
    if (c->results[i])
      access_buffer(&w, c->results[i], true);
  plan_launch(p, k);
  return true;
}
