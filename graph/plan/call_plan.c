// SPDX-License-Identifier: Apache-2.0
// Plans a call: a launch without a kernel, with the buffers that it reads and writes.
#include "graph/plan/accesses.h"
#include "graph/plan/attention_plan.h"

enum { SCORES = 3 }; // operands that the kernel computes: see struct call

// Of these operands, with the keys that the scores leave visible.
static void plan_scores(struct program *p, struct kernel_plan *k, struct access_walk *w) {
  const struct loops *l = p->regions->loops;
  const struct call *c = k->call;
  const struct scalar *const *last = c->operands + c->operand_count - SCORES;
  k->bounds = score_bounds(l->scalars, l->exprs, last[1], c->score_axes[2], c->score_axes[3]);
  access_given(w, last[0]);
  access_any(w, last[1]);
  access_any(w, last[2]);
}

bool plan_call(struct program *p, const struct region *r) {
  assert(r->stages.len == 1 && r->stages.at[0]->call);
  struct kernel_plan *k = plan_kernel(p, KERNEL_CALL, r, NULL);
  const struct call *c = k->call = r->stages.at[0]->call;
  struct access_walk w = {.arena = p->arena, .k = k};
  for (size_t i = 0; i + (c->score_axes ? SCORES : 0) < c->operand_count; i++)
    access_buffer(&w, c->operands[i]->buffer, false);
  if (c->score_axes)
    plan_scores(p, k, &w);
  for (uint32_t i = 0; i < c->node->result_count; i++)
    if (c->results[i])
      access_buffer(&w, c->results[i], true);
  plan_launch(p, k);
  return true;
}
