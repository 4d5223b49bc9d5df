// SPDX-License-Identifier: Apache-2.0
// Rules of clusters: CTAs that share copies meet when their mbarriers are ready, and before one of
// them ends.
#include "lowering/analysis/ring_protocol_parts.h"

struct meetings {
  struct protocol *p;
  MlirOperation made; // the last init of a shared ring; null: all CTAs know
  MlirOperation used; // the last op with accesses of shared rings; null: the CTAs have met since
  bool found;
};

static bool shares(struct protocol *p, MlirOperation op) {
  const struct protocol_ring *r =
      mlirAttributeIsNull(op_attr(op, "ring")) ? NULL : protocol_ring_of(p, op);
  return r && r->ctas > 0;
}

static bool find_shared(MlirOperation op, void *user) {
  struct meetings *m = user;
  m->found |= shares(m->p, op);
  return !m->found;
}

// An op of the function's own block.
static void visit(struct meetings *m, MlirOperation op) {
  if (op_is(m->p->c, op, OP_GPU_CLUSTER_BARRIER)) {
    m->made = m->used = (MlirOperation){NULL};
    return;
  }
  if (op_is(m->p->c, op, OP_GPU_RING_INIT)) {
    if (shares(m->p, op))
      m->made = op;
    return;
  }
  m->found = false;
  ir_walk(op, find_shared, m);
  if (!m->found)
    return;
  if (!mlirOperationIsNull(m->made))
    protocol_violation(
        m->p, m->made,
        "is of a ring that CTAs share, and no cluster_barrier follows: others may use "
        "its mbarriers before they are ready");
  m->used = op;
}

static bool check_part(MlirOperation op, void *user) {
  struct protocol *p = user;
  const struct protocol_ring *r = op_is(p->c, op, OP_GPU_MAP_COPY) ? protocol_ring_of(p, op) : NULL;
  int64_t ctas = op_attr_int(op, "ctas", 0);
  if (r && ctas && ctas != r->ctas)
    protocol_violation(p, op, "is shared by %lld CTAs, and ring %lld by %lld", (long long)ctas,
                       (long long)r->number, (long long)r->ctas);
  return true;
}

void protocol_check_clusters(struct protocol *p) {
  struct meetings m = {.p = p};
  for (MlirOperation op = mlirBlockGetFirstOperation(func_entry(p->function));
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    visit(&m, op);
  if (!mlirOperationIsNull(m.used))
    protocol_violation(p, m.used,
                       "is the last use of rings that CTAs share, and no cluster_barrier follows: "
                       "others may still write to the CTA's memory or arrive at its mbarriers");
  ir_walk(p->function, check_part, p);
}
