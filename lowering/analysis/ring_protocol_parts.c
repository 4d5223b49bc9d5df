// SPDX-License-Identifier: Apache-2.0
// What the rules of rings have in common: reports, who executes an op, and what belongs to a ring.
#include "lowering/analysis/ring_protocol_parts.h"

#include <stdarg.h>

void protocol_violation(struct protocol *p, MlirOperation op, const char *fmt, ...) {
  p->failed = true;
  if (ptrmap_get(&p->reported, op.ptr))
    return;
  ptrmap_put(p->a, &p->reported, op.ptr, p);
  va_list args;
  va_start(args, fmt);
  const char *text = arena_vprintf(p->c->arena, fmt, args);
  va_end(args);
  diag_error(p->c->diag, op_span(p->c, op), E0602, "`%s` %s", op_info(op_id(p->c, op))->name, text);
}

static bool is_in_region(MlirOperation branch, intptr_t region, MlirOperation op) {
  MlirBlock block = mlirOperationGetBlock(op);
  while (!mlirOperationEqual(mlirBlockGetParentOperation(block), branch))
    block = mlirOperationGetBlock(mlirBlockGetParentOperation(block));
  return mlirRegionEqual(mlirBlockGetParentRegion(block), mlirOperationGetRegion(branch, region));
}

enum protocol_role protocol_role_of(struct protocol *p, MlirOperation op) {
  for (MlirOperation at = mlirOperationGetParentOperation(op);
       !mlirOperationEqual(at, p->function) && !mlirOperationIsNull(at);
       at = mlirOperationGetParentOperation(at)) {
    MlirOperation condition = {NULL};
    if (op_is(p->c, at, OP_SCF_IF))
      condition = value_def(mlirOperationGetOperand(at, 0));
    if (mlirOperationIsNull(condition) || !op_is(p->c, condition, OP_GPU_IS_PRODUCER))
      continue;
    bool is_leader = op_attr_bool(condition, "leader");
    if (is_in_region(at, 0, op))
      return is_leader ? ROLE_LEADER : ROLE_PRODUCER;
    if (!is_leader)
      return ROLE_COMPUTING;
  }
  return ROLE_ALL;
}

struct protocol_ring *protocol_ring_of(struct protocol *p, MlirOperation op) {
  int64_t number = op_attr_int(op, "ring", -1);
  for (unsigned i = 0; i < p->ring_count; i++)
    if (p->rings[i].number == number)
      return &p->rings[i];
  return NULL;
}

struct protocol_ring *protocol_ring_with(struct protocol *p, MlirValue alloc) {
  for (unsigned i = 0; i < p->ring_count; i++)
    for (unsigned k = 0; k < p->rings[i].buffer_count; k++)
      if (mlirValueEqual(p->rings[i].buffers[k], alloc))
        return &p->rings[i];
  return NULL;
}

MlirValue protocol_buffer_of(struct protocol *p, MlirValue memdesc, MlirValue *ret_slot) {
  *ret_slot = (MlirValue){NULL};
  for (;;) {
    MlirOperation def = value_def(memdesc);
    if (mlirOperationIsNull(def) ||
        (!op_is(p->c, def, OP_GPU_LOCAL_INDEX) && !op_is(p->c, def, OP_GPU_LOCAL_TRANS)))
      return memdesc;
    if (op_is(p->c, def, OP_GPU_LOCAL_INDEX))
      *ret_slot = mlirOperationGetOperand(def, 1);
    memdesc = mlirOperationGetOperand(def, 0);
  }
}
