// SPDX-License-Identifier: Apache-2.0
// Rules of maps that the producer makes: opened before, closed behind all use, made before each
// copy, and made again only when no copy by them is under way.
#include "lowering/analysis/ring_protocol_parts.h"
#include "mlir-dialects/rings.h"

struct made {
  struct protocol *p;
  int64_t number; // of the map; -1: any that the producer makes
  MlirOperation open, close;
  int64_t rings[PROTOCOL_RINGS]; // that copies by the map fill
  unsigned ring_count;
};

static bool is_made(struct protocol *p, int64_t number) {
  struct kernel_map map;
  return number >= 0 && module_map(p->c, p->module, (uint32_t)number, &map) && map.made;
}

// Does `a` come before `b` whenever `b` is executed: earlier in a block around it?
static bool comes_before(MlirOperation a, MlirOperation b) {
  if (mlirOperationIsNull(a))
    return false;
  MlirBlock block = mlirOperationGetBlock(a);
  while (!mlirOperationIsNull(b) && !mlirBlockEqual(mlirOperationGetBlock(b), block))
    b = mlirOperationGetParentOperation(b);
  for (MlirOperation at = mlirOperationGetNextInBlock(a); !mlirOperationIsNull(at);
       at = mlirOperationGetNextInBlock(at))
    if (mlirOperationEqual(at, b))
      return true;
  return false;
}

static bool note_ring(MlirOperation op, void *user) {
  struct made *m = user;
  int64_t map = op_attr_int(op, "map", -1), ring = op_attr_int(op, "ring", -1);
  if (!op_is(m->p->c, op, OP_GPU_MAP_COPY) ||
      (m->number < 0 ? !is_made(m->p, map) : map != m->number))
    return true;
  for (unsigned i = 0; i < m->ring_count; i++)
    if (m->rings[i] == ring)
      return true;
  if (m->ring_count < PROTOCOL_RINGS)
    m->rings[m->ring_count++] = ring;
  return true;
}

struct copies {
  struct ir_context *c;
  bool any;
};

static bool find_copy(MlirOperation op, void *user) {
  struct copies *x = user;
  x->any |= op_is(x->c, op, OP_GPU_MAP_COPY);
  return !x->any;
}

// Is the ring drained in front of `op`, in its block, without a copy between?
static bool is_drained(struct protocol *p, MlirOperation op, int64_t ring) {
  bool drained = false;
  MlirOperation at = mlirBlockGetFirstOperation(mlirOperationGetBlock(op));
  for (; !mlirOperationEqual(at, op); at = mlirOperationGetNextInBlock(at)) {
    struct copies x = {.c = p->c};
    ir_walk(at, find_copy, &x);
    drained &= !x.any;
    drained |= op_is(p->c, at, OP_GPU_RING_DRAIN) && op_attr_int(at, "ring", -1) == ring;
  }
  return drained;
}

static void check_drained(struct protocol *p, MlirOperation op, int64_t map, const char *what) {
  struct made m = {.p = p, .number = map};
  ir_walk(p->function, note_ring, &m);
  for (unsigned i = 0; i < m.ring_count; i++)
    if (!is_drained(p, op, m.rings[i]))
      protocol_violation(p, op, "%s while copies of ring %lld may be under way", what,
                         (long long)m.rings[i]);
}

struct copy {
  struct protocol *p;
  MlirOperation op;
  bool is_made;
};

static bool find_make(MlirOperation op, void *user) {
  struct copy *x = user;
  x->is_made |= op_is(x->p->c, op, OP_GPU_MAP_MAKE) &&
                op_attr_int(op, "map", -1) == op_attr_int(x->op, "map", -1) &&
                comes_before(op, x->op);
  return !x->is_made;
}

static bool find_ends(MlirOperation op, void *user) {
  struct made *m = user;
  if (op_is(m->p->c, op, OP_GPU_MAPS_OPEN))
    m->open = op;
  if (op_is(m->p->c, op, OP_GPU_MAPS_CLOSE))
    m->close = op;
  return true;
}

static bool visit(MlirOperation op, void *user) {
  struct made *m = user;
  bool makes = op_is(m->p->c, op, OP_GPU_MAP_MAKE);
  int64_t map = op_attr_int(op, "map", -1);
  if (!makes && !(op_is(m->p->c, op, OP_GPU_MAP_COPY) && is_made(m->p, map)))
    return true;
  if (!comes_before(m->open, op))
    protocol_violation(m->p, op, "is not behind the maps_open");
  if (mlirOperationIsNull(m->close) || comes_before(m->close, op))
    protocol_violation(m->p, op, "is not in front of the maps_close");
  struct copy x = {.p = m->p, .op = op};
  if (makes) {
    check_drained(m->p, op, map, "overwrites map");
    return true;
  }
  ir_walk(m->p->function, find_make, &x);
  if (!x.is_made)
    protocol_violation(m->p, op, "copies by map %lld, which is not made before", (long long)map);
  return true;
}

void protocol_check_maps(struct protocol *p) {
  struct made m = {.p = p, .number = -1};
  ir_walk(p->function, find_ends, &m);
  ir_walk(p->function, visit, &m);
  if (!mlirOperationIsNull(m.close))
    check_drained(p, m.close, -1, "gives the maps back");
}
