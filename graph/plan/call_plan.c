// SPDX-License-Identifier: Apache-2.0
// Plans a call: a launch without a kernel, with the buffers that it reads and writes.
#include "graph/plan/plan.h"

bool plan_call(struct program *p, const struct region *r) {
  assert(r->stages.len == 1 && r->stages.at[0]->call);
  struct kernel_plan *k = plan_kernel(p, KERNEL_CALL, r, NULL);
  const struct call *c = k->call = r->stages.at[0]->call;
  for (size_t i = 0; i < c->operand_count; i++)
    vec_push(p->arena, &k->accesses, (struct kernel_access){.buffer = c->operands[i]->buffer});
  for (uint32_t i = 0; i < c->node->result_count; i++)
    if (c->results[i])
      vec_push(p->arena, &k->accesses,
               (struct kernel_access){.buffer = c->results[i], .is_store = true});
  plan_launch(p, k);
  return true;
}
