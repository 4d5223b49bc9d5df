// SPDX-License-Identifier: Apache-2.0
// Finds the rings of a function, and checks who executes their ops and how often they begin and
// end.
#include "lowering/analysis/ring_protocol.h"

#include "lowering/analysis/ring_protocol_parts.h"
#include "lowering/analysis/scratch.h"

// ---- rings and buffers ----

static struct protocol_ring *new_ring(struct protocol *p, MlirOperation op, MlirValue barriers) {
  if (p->ring_count == PROTOCOL_RINGS) {
    protocol_violation(p, op, "is of ring %d of the kernel: no more than that are supported",
                       PROTOCOL_RINGS + 1);
    return NULL;
  }
  struct protocol_ring *r = &p->rings[p->ring_count++];
  *r = (struct protocol_ring){.number = op_attr_int(op, "ring", -1),
                              .slots = op_attr_int(op, "slots", 1),
                              .barriers = barriers,
                              .first = op};
  return r;
}

static void add_buffer(struct protocol *p, struct protocol_ring *r, MlirOperation copy) {
  MlirValue slot, alloc = protocol_buffer_of(p, mlirOperationGetOperand(copy, 0), &slot);
  const struct protocol_ring *owner = protocol_ring_with(p, alloc);
  if (owner && owner != r)
    protocol_violation(p, copy, "of ring %lld fills a buffer of ring %lld", (long long)r->number,
                       (long long)owner->number);
  if (owner)
    return;
  if (r->buffer_count == PROTOCOL_BUFFERS)
    protocol_violation(p, copy, "fills buffer %d of a ring: no more than that are supported",
                       PROTOCOL_BUFFERS + 1);
  else
    r->buffers[r->buffer_count++] = alloc;
}

// Which operand has the mbarriers; -1 for ops that are of no ring.
static intptr_t barriers_operand(enum op_id id) {
  switch (id) {
  case OP_GPU_RING_INIT:
  case OP_GPU_RING_EMPTY:
  case OP_GPU_RING_FULL:
  case OP_GPU_RING_RELEASE: return 0;
  case OP_GPU_MAP_COPY: return 1;
  default: return -1;
  }
}

static void check_role(struct protocol *p, MlirOperation op, enum op_id id) {
  enum protocol_role role = protocol_role_of(p, op);
  switch (id) {
  case OP_GPU_RING_INIT:
    if (role != ROLE_ALL || !mlirBlockEqual(mlirOperationGetBlock(op), func_entry(p->function)))
      protocol_violation(p, op, "is not executed once by all threads");
    break;
  case OP_GPU_CLUSTER_BARRIER:
    if (role != ROLE_ALL || !mlirBlockEqual(mlirOperationGetBlock(op), func_entry(p->function)))
      protocol_violation(p, op, "is not executed once by all threads");
    break;
  case OP_GPU_RING_EMPTY:
  case OP_GPU_MAP_COPY:
    if (role != ROLE_LEADER)
      protocol_violation(p, op, "is executed by other threads than the first of the producer");
    break;
  case OP_GPU_RING_FULL:
  case OP_GPU_RING_RELEASE:
    if (role != ROLE_COMPUTING)
      protocol_violation(p, op,
                         "is executed by other warps than those that compute: the empty "
                         "mbarrier counts an arrival of each of them");
    break;
  case OP_GPU_MAP_STORE:
  case OP_GPU_MAP_WAIT:
  case OP_GPU_BARRIER:
  case OP_GPU_WARP_GROUP_DOT:
  case OP_GPU_LOCAL_STORE:
  case OP_GPU_LOCAL_LOAD:
    if (role == ROLE_PRODUCER || role == ROLE_LEADER)
      protocol_violation(p, op,
                         "is executed by the producer, which meets the others at no barrier");
    break;
  default: break;
  }
}

static void see_ring_op(struct protocol *p, MlirOperation op, enum op_id id, MlirValue barriers) {
  struct protocol_ring *r = protocol_ring_of(p, op);
  if (!r)
    r = new_ring(p, op, barriers);
  if (!r)
    return;
  if (!mlirValueEqual(r->barriers, barriers) || r->slots != op_attr_int(op, "slots", 1))
    protocol_violation(p, op, "has other mbarriers or slots than the first op of ring %lld",
                       (long long)r->number);
  if (id == OP_GPU_RING_INIT)
    r->ctas = op_attr_int(op, "ctas", 0);
  if (id == OP_GPU_RING_INIT && r->inits++)
    protocol_violation(p, op, "is the second of ring %lld", (long long)r->number);
  if (id != OP_GPU_RING_INIT && !r->inits && mlirOperationEqual(op, r->first))
    protocol_violation(p, op, "comes before the ring_init of ring %lld", (long long)r->number);
  if (id == OP_GPU_RING_EMPTY && mlirOperationIsNull(r->first_empty))
    r->first_empty = op;
  if (id == OP_GPU_RING_FULL && mlirOperationIsNull(r->first_full))
    r->first_full = op;
  if (id == OP_GPU_MAP_COPY)
    add_buffer(p, r, op);
}

static void see_store(struct protocol *p, MlirOperation op) {
  MlirValue slot, alloc = protocol_buffer_of(p, mlirOperationGetOperand(op, 0), &slot);
  for (unsigned i = 0; i < p->store_count; i++)
    if (mlirValueEqual(p->stores[i], alloc))
      return;
  if (p->store_count == PROTOCOL_STORES) {
    protocol_violation(p, op, "reads buffer %d of stores: no more than that are supported",
                       PROTOCOL_STORES + 1);
    return;
  }
  p->store_ops[p->store_count] = op;
  p->stores[p->store_count++] = alloc;
}

static bool see(MlirOperation op, void *user) {
  struct protocol *p = user;
  enum op_id id = op_id(p->c, op);
  intptr_t barriers = barriers_operand(id);
  check_role(p, op, id);
  if (barriers >= 0)
    see_ring_op(p, op, id, mlirOperationGetOperand(op, barriers));
  if (id == OP_GPU_MAP_STORE)
    see_store(p, op);
  p->has_barriers |= id == OP_GPU_BARRIER;
  return true;
}

// ---- ends ----

static unsigned count_ends(struct protocol *p, MlirValue buffer) {
  unsigned n = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(buffer); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    n += op_is(p->c, mlirOpOperandGetOwner(use), OP_GPU_RING_END);
  return n;
}

static void check_end(struct protocol *p, MlirValue buffer, MlirOperation op, const char *what) {
  unsigned n = count_ends(p, buffer);
  if (n != 1)
    protocol_violation(p, op, "has %s with %u ring_end: one is needed", what, n);
}

static void check_ring(struct protocol *p, struct protocol_ring *r) {
  check_end(p, r->barriers, r->first, "mbarriers");
  for (unsigned i = 0; i < r->buffer_count; i++) {
    MlirOperation alloc = value_def(r->buffers[i]);
    check_end(p, r->buffers[i], r->first, "a buffer");
    if (mlirOperationIsNull(alloc) || !op_is(p->c, alloc, OP_GPU_LOCAL_ALLOC))
      protocol_violation(p, r->first, "has a buffer that no local_alloc makes");
    else if (alloc_copies(alloc) < r->slots)
      protocol_violation(p, alloc, "has %u copies for a ring of %lld slots", alloc_copies(alloc),
                         (long long)r->slots);
  }
  if (mlirOperationIsNull(r->first_empty) != mlirOperationIsNull(r->first_full))
    protocol_violation(p, r->first, "is of a ring that %s",
                       mlirOperationIsNull(r->first_full) ? "nothing reads" : "nothing fills");
}

static void check_function(struct protocol *p) {
  ir_walk(p->function, see, p);
  for (unsigned i = 0; i < p->ring_count; i++)
    check_ring(p, &p->rings[i]);
  for (unsigned i = 0; i < p->store_count; i++)
    check_end(p, p->stores[i], p->store_ops[i], "a buffer");
  protocol_check_registers(p);
  protocol_check_clusters(p);
  if (!p->ring_count && !p->store_count)
    return;
  protocol_check_producer(p);
  protocol_check_positions(p);
  protocol_check_readers(p);
}

struct search {
  struct ir_context *c;
  MlirOperation module;
  struct arena *a;
  bool ok;
};

static bool uses_rings(MlirOperation op, void *user) {
  struct search *s = user;
  enum op_id id = op_id(s->c, op);
  s->ok &= barriers_operand(id) < 0 && id != OP_GPU_MAP_STORE && id != OP_GPU_SET_REGISTERS &&
           id != OP_GPU_IS_PRODUCER && id != OP_GPU_MAP_WAIT && id != OP_GPU_RING_END;
  return s->ok;
}

static bool visit(MlirOperation op, void *user) {
  struct search *s = user;
  if (!op_is(s->c, op, OP_FUNC_FUNC))
    return true;
  struct search found = {.c = s->c, .ok = true};
  ir_walk(op, uses_rings, &found);
  if (found.ok)
    return true;
  struct protocol *p = arena_new(s->a, struct protocol);
  *p = (struct protocol){.c = s->c, .a = s->a, .module = s->module, .function = op};
  check_function(p);
  s->ok &= !p->failed;
  return true;
}

bool ring_protocol_check(struct ir_context *c, MlirOperation module, struct arena *scratch) {
  struct search s = {c, module, scratch, true};
  ir_walk(module, visit, &s);
  return s.ok;
}
