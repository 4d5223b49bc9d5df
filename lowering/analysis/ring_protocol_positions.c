// SPDX-License-Identifier: Apache-2.0
// Both sides of a ring advance equally often: the loops and branches around ring_empty and
// ring_full are compared in pairs. Their bounds and conditions are equal if the same ops compute
// them from the same values; what loops carry, by induction.
//
// Recursion is the algorithm: blocks contain loops, and values are computed from values.
#include "lowering/analysis/ring_protocol_parts.h"

enum { MAX_DEPTH = 64 };

struct pair {
  MlirValue a, b;
};
struct comparison {
  struct protocol *p;
  const struct protocol_ring *ring;
  VEC(struct pair) equal; // known or assumed: arguments of loops that correspond
  unsigned depth;
};

// ---- values ----

static bool same_value(struct comparison *x, MlirValue a, MlirValue b);

static bool same_operands(struct comparison *x, MlirOperation a, MlirOperation b, intptr_t n) {
  for (intptr_t i = 0; i < n; i++)
    if (!same_value(x, mlirOperationGetOperand(a, i), mlirOperationGetOperand(b, i)))
      return false;
  return true;
}

static MlirBlock body(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

static MlirValue yielded(MlirOperation op, intptr_t region, intptr_t i) {
  return mlirOperationGetOperand(mlirBlockGetTerminator(body(op, region)), i);
}

static void assume(struct comparison *x, MlirValue a, MlirValue b) {
  vec_push(x->p->a, &x->equal, (struct pair){a, b});
}

// What two loops carry in their arguments number i and k, from 1 on.
static bool same_carried(struct comparison *x, MlirOperation a, intptr_t i, MlirOperation b,
                         intptr_t k) {
  size_t before = x->equal.len;
  if (!op_is(x->p->c, a, OP_SCF_FOR) || !op_is(x->p->c, b, OP_SCF_FOR) ||
      !same_operands(x, a, b, 3))
    return false;
  assume(x, mlirBlockGetArgument(body(a, 0), 0), mlirBlockGetArgument(body(b, 0), 0));
  assume(x, mlirBlockGetArgument(body(a, 0), i), mlirBlockGetArgument(body(b, 0), k));
  bool same = same_value(x, mlirOperationGetOperand(a, i + 2), mlirOperationGetOperand(b, k + 2)) &&
              same_value(x, yielded(a, 0, i - 1), yielded(b, 0, k - 1));
  if (!same)
    x->equal.len = before;
  return same;
}

// What two scf.while carry in the arguments i and k of their conditions, or pass to their bodies.
static bool same_while(struct comparison *x, MlirOperation a, intptr_t i, MlirOperation b,
                       intptr_t k, bool passed) {
  size_t before = x->equal.len;
  if (!op_is(x->p->c, a, OP_SCF_WHILE) || !op_is(x->p->c, b, OP_SCF_WHILE))
    return false;
  bool same;
  if (passed) {
    same = same_value(x, yielded(a, 0, i + 1), yielded(b, 0, k + 1));
  } else {
    assume(x, mlirBlockGetArgument(body(a, 0), i), mlirBlockGetArgument(body(b, 0), k));
    same = same_value(x, mlirOperationGetOperand(a, i), mlirOperationGetOperand(b, k)) &&
           same_value(x, yielded(a, 1, i), yielded(b, 1, k));
  }
  if (!same)
    x->equal.len = before;
  return same;
}

static bool same_arguments(struct comparison *x, MlirValue a, MlirValue b) {
  MlirBlock f = mlirBlockArgumentGetOwner(a), g = mlirBlockArgumentGetOwner(b);
  MlirOperation loop = mlirBlockGetParentOperation(f), other = mlirBlockGetParentOperation(g);
  intptr_t i = mlirBlockArgumentGetArgNumber(a), k = mlirBlockArgumentGetArgNumber(b);
  if (!op_is(x->p->c, loop, OP_SCF_WHILE))
    return i > 0 && k > 0 && same_carried(x, loop, i, other, k);
  if (!op_is(x->p->c, other, OP_SCF_WHILE))
    return false;
  bool passed = mlirBlockEqual(f, body(loop, 1));
  return passed == mlirBlockEqual(g, body(other, 1)) && same_while(x, loop, i, other, k, passed);
}

static bool same_attributes(MlirOperation a, MlirOperation b) {
  if (mlirOperationGetNumAttributes(a) != mlirOperationGetNumAttributes(b))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(a); i++) {
    MlirNamedAttribute n = mlirOperationGetAttribute(a, i);
    MlirAttribute other = mlirOperationGetAttributeByName(b, mlirIdentifierStr(n.name));
    if (mlirAttributeIsNull(other) || !mlirAttributeEqual(n.attribute, other))
      return false;
  }
  return true;
}

static bool same_results(struct comparison *x, MlirValue a, MlirValue b) {
  MlirOperation f = mlirOpResultGetOwner(a), g = mlirOpResultGetOwner(b);
  intptr_t i = mlirOpResultGetResultNumber(a), k = mlirOpResultGetResultNumber(b);
  enum op_id id = op_id(x->p->c, f);
  if (id != op_id(x->p->c, g))
    return false;
  if (id == OP_SCF_FOR)
    return same_carried(x, f, i + 1, g, k + 1);
  if (id == OP_SCF_WHILE)
    return same_while(x, f, i, g, k, true);
  if (id == OP_SCF_IF)
    return same_operands(x, f, g, 1) && same_value(x, yielded(f, 0, i), yielded(g, 0, k)) &&
           same_value(x, yielded(f, 1, i), yielded(g, 1, k));
  return id != OP_UNKNOWN && i == k && mlirOperationGetNumRegions(f) == 0 &&
         mlirOperationGetNumOperands(f) == mlirOperationGetNumOperands(g) &&
         same_attributes(f, g) && same_operands(x, f, g, mlirOperationGetNumOperands(f));
}

static bool same_values(struct comparison *x, MlirValue a, MlirValue b) {
  int64_t m, n;
  if (mlirValueEqual(a, b))
    return true;
  for (size_t i = 0; i < x->equal.len; i++)
    if (mlirValueEqual(x->equal.at[i].a, a) && mlirValueEqual(x->equal.at[i].b, b))
      return true;
  if (!mlirTypeEqual(mlirValueGetType(a), mlirValueGetType(b)))
    return false;
  if (value_const_int(x->p->c, a, &m) && value_const_int(x->p->c, b, &n))
    return m == n;
  if (!mlirValueIsABlockArgument(a) && !mlirValueIsABlockArgument(b))
    return same_results(x, a, b);
  if (!mlirValueIsABlockArgument(a) || !mlirValueIsABlockArgument(b))
    return false;
  return same_arguments(x, a, b);
}

static bool same_value(struct comparison *x, MlirValue a, MlirValue b) {
  if (x->depth == MAX_DEPTH)
    return false;
  x->depth++;
  bool same = same_values(x, a, b);
  x->depth--;
  return same;
}

// ---- blocks ----

struct found {
  struct comparison *x;
  bool any;
};

static bool find(MlirOperation op, void *user) {
  struct found *f = user;
  f->any |= (op_is(f->x->p->c, op, OP_GPU_RING_EMPTY) || op_is(f->x->p->c, op, OP_GPU_RING_FULL)) &&
            op_attr_int(op, "ring", -1) == f->x->ring->number;
  return !f->any;
}

// The first op from `op` on that advances the ring, or contains one that does; null: none.
static MlirOperation next_advance(struct comparison *x, MlirOperation op) {
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    struct found f = {x, false};
    ir_walk(op, find, &f);
    if (f.any)
      return op;
  }
  return op;
}

static bool same_blocks(struct comparison *x, MlirBlock a, MlirBlock b);

// `v` is a + b.
static bool is_sum(struct comparison *x, MlirValue v, MlirValue a, MlirValue b) {
  MlirOperation add = value_def(v);
  int64_t m, n, sum;
  if (value_const_int(x->p->c, v, &sum) && value_const_int(x->p->c, a, &m) &&
      value_const_int(x->p->c, b, &n))
    return sum == m + n;
  return !mlirOperationIsNull(add) && op_is(x->p->c, add, OP_ARITH_ADDI) &&
         same_value(x, a, mlirOperationGetOperand(add, 0)) &&
         same_value(x, b, mlirOperationGetOperand(add, 1));
}

// The only op of the block that contains positions of the ring, and the number of positions beside
// it; null if there are others.
static MlirOperation only_loop(struct comparison *x, MlirBlock block, unsigned *ret_beside) {
  MlirOperation loop = {NULL};
  *ret_beside = 0;
  for (MlirOperation op = next_advance(x, mlirBlockGetFirstOperation(block));
       !mlirOperationIsNull(op); op = next_advance(x, mlirOperationGetNextInBlock(op))) {
    if (mlirOperationGetNumRegions(op) == 0) {
      ++*ret_beside;
      continue;
    }
    if (!mlirOperationIsNull(loop) || !op_is(x->p->c, op, OP_SCF_FOR))
      return (MlirOperation){NULL};
    loop = op;
  }
  return loop;
}

// overlap-products runs a part of an iteration in the next one:
//
//   for %i = %l to %u step %s { advance }   and   if %l < %u { for %i = %l + %s to %u step %s {
//                                                   advance }   advance }
static bool same_as_peeled(struct comparison *x, MlirOperation loop, MlirOperation branch) {
  enum { SLT = 2 };
  MlirOperation condition = value_def(mlirOperationGetOperand(branch, 0));
  unsigned beside, in_loop, none;
  if (!op_is(x->p->c, loop, OP_SCF_FOR) || !op_is(x->p->c, branch, OP_SCF_IF) ||
      mlirOperationIsNull(condition) || !op_is(x->p->c, condition, OP_ARITH_CMPI) ||
      op_attr_int(condition, "predicate", -1) != SLT || !same_operands(x, loop, condition, 2))
    return false;
  MlirOperation rest = only_loop(x, body(branch, 0), &beside);
  if (mlirOperationIsNull(rest) ||
      !mlirOperationIsNull(next_advance(x, mlirBlockGetFirstOperation(body(branch, 1)))))
    return false;
  bool is_simple = mlirOperationIsNull(only_loop(x, body(loop, 0), &in_loop)) &&
                   mlirOperationIsNull(only_loop(x, body(rest, 0), &none)) && in_loop == none;
  return is_simple && in_loop == 1 && beside == 1 &&
         is_sum(x, mlirOperationGetOperand(rest, 0), mlirOperationGetOperand(loop, 0),
                mlirOperationGetOperand(loop, 2)) &&
         same_value(x, mlirOperationGetOperand(loop, 1), mlirOperationGetOperand(rest, 1)) &&
         same_value(x, mlirOperationGetOperand(loop, 2), mlirOperationGetOperand(rest, 2));
}

static bool same_regions(struct comparison *x, MlirOperation a, MlirOperation b) {
  bool is_position = mlirOperationGetNumRegions(a) == 0;
  if (is_position || mlirOperationGetNumRegions(b) == 0)
    return is_position && mlirOperationGetNumRegions(b) == 0;
  if (op_id(x->p->c, a) != op_id(x->p->c, b))
    return same_as_peeled(x, a, b);
  if (op_is(x->p->c, a, OP_SCF_FOR)) {
    if (!same_operands(x, a, b, 3))
      return false;
    assume(x, mlirBlockGetArgument(body(a, 0), 0), mlirBlockGetArgument(body(b, 0), 0));
    return same_blocks(x, body(a, 0), body(b, 0));
  }
  if (op_is(x->p->c, a, OP_SCF_WHILE)) {
    if (!same_value(x, yielded(a, 0, 0), yielded(b, 0, 0)))
      return false;
  } else if (!op_is(x->p->c, a, OP_SCF_IF) || !same_operands(x, a, b, 1)) {
    return false;
  }
  for (intptr_t i = 0; i < 2; i++) {
    MlirBlock f = body(a, i), g = body(b, i);
    if (!mlirBlockIsNull(f) && !mlirBlockIsNull(g) && !same_blocks(x, f, g))
      return false;
  }
  return true;
}

static bool same_blocks(struct comparison *x, MlirBlock a, MlirBlock b) {
  MlirOperation f = next_advance(x, mlirBlockGetFirstOperation(a));
  MlirOperation g = next_advance(x, mlirBlockGetFirstOperation(b));
  while (!mlirOperationIsNull(f) && !mlirOperationIsNull(g)) {
    if (!same_regions(x, f, g))
      return false;
    f = next_advance(x, mlirOperationGetNextInBlock(f));
    g = next_advance(x, mlirOperationGetNextInBlock(g));
  }
  return mlirOperationIsNull(f) && mlirOperationIsNull(g);
}

// The block of the branch of is_producer that contains the op: one side's code.
static MlirBlock side_of(struct protocol *p, MlirOperation op) {
  MlirBlock block = mlirOperationGetBlock(op);
  for (MlirOperation at = mlirBlockGetParentOperation(block); !mlirOperationEqual(at, p->function);
       at = mlirBlockGetParentOperation(block)) {
    MlirOperation condition = {NULL};
    if (op_is(p->c, at, OP_SCF_IF))
      condition = value_def(mlirOperationGetOperand(at, 0));
    if (!mlirOperationIsNull(condition) && op_is(p->c, condition, OP_GPU_IS_PRODUCER))
      return block;
    block = mlirOperationGetBlock(at);
  }
  return block;
}

void protocol_check_positions(struct protocol *p) {
  for (unsigned i = 0; i < p->ring_count; i++) {
    const struct protocol_ring *r = &p->rings[i];
    if (mlirOperationIsNull(r->first_empty) || mlirOperationIsNull(r->first_full))
      continue;
    struct comparison x = {.p = p, .ring = r};
    if (!same_blocks(&x, side_of(p, r->first_empty), side_of(p, r->first_full)))
      protocol_violation(p, r->first_empty,
                         "is not executed as often as the ring_full of ring %lld: the loops or "
                         "branches around them differ",
                         (long long)r->number);
  }
}
