// SPDX-License-Identifier: Apache-2.0
// Plans a call: a launch without a kernel, with the buffers that it reads and writes.
#include "graph/plan/accesses.h"
#include "graph/plan/attention_plan.h"

// The computed operand, with the keys that it leaves visible.
static const struct scalar *bias_of(struct program *p, struct kernel_plan *k,
                                    const struct call *c) {
  const struct loops *l = p->regions->loops;
  const struct scalar *bias = c->operands[c->operand_count - 1];
  k->bounds = bias_bounds(l->scalars, l->exprs, bias, c->score_axes[2], c->score_axes[3]);
  return bias;
}

bool plan_call(struct program *p, const struct region *r) {
  assert(r->stages.len == 1 && r->stages.at[0]->call);
  struct kernel_plan *k = plan_kernel(p, KERNEL_CALL, r, NULL);
  const struct call *c = k->call = r->stages.at[0]->call;
  struct access_walk w = {.arena = p->arena, .k = k};
  for (size_t i = 0; i < c->operand_count; i++)
    if (c->score_axes && i + 1 == c->operand_count)
      access_any(&w, bias_of(p, k, c));
    else
      access_buffer(&w, c->operands[i]->buffer, false);
  for (uint32_t i = 0; i < c->node->result_count; i++)
    if (c->results[i])
      access_buffer(&w, c->results[i], true);
  plan_launch(p, k);
  return true;
}
