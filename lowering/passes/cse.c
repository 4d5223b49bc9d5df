// SPDX-License-Identifier: Apache-2.0
// cse: merges equal pure operations. An operation may be replaced by an equal one that stands
// before it in the same block or in a block around it (structured control flow: that one dominates
// it). Operands of commutative operations are compared in either order.
//
//   %1 = arith.addi %a, %b          %1 = arith.addi %a, %b
//   %2 = arith.addi %b, %a    ->
//   use(%2)                         use(%1)
#include "lowering/pass.h"

struct entry {
  MlirOperation op;
  uint64_t hash;
  struct entry *next;     // in the bucket
  struct entry *previous; // added before it in the same block
};

enum { BUCKETS = 1024 };

// Operations that are visible at the current point. Leaving a region removes its entries.
struct scope_table {
  struct ir_context *c;
  struct arena *arena;
  struct entry *buckets[BUCKETS];
  bool changed;
};

static bool is_commutative(enum op_id id) {
  switch (id) {
  case OP_ARITH_ADDI:
  case OP_ARITH_MULI:
  case OP_ARITH_ANDI:
  case OP_ARITH_ORI:
  case OP_ARITH_XORI:
  case OP_ARITH_ADDF:
  case OP_ARITH_MULF:
  case OP_ARITH_MAXSI:
  case OP_ARITH_MAXUI:
  case OP_ARITH_MINSI:
  case OP_ARITH_MINUI:
  case OP_TILE_MULHIUI: return true;
  default: return false;
  }
}

static uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdu;
}

static uint64_t hash_of(struct ir_context *c, MlirOperation op) {
  enum op_id id = op_id(c, op);
  uint64_t h = mix(0, id), sum = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    uint64_t v = (uint64_t)(uintptr_t)mlirOperationGetOperand(op, i).ptr;
    if (is_commutative(id))
      sum += v * 0x9e3779b97f4a7c15u;
    else
      h = mix(h, v);
  }
  h = mix(h, sum);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    h = mix(h, (uint64_t)(uintptr_t)mlirValueGetType(mlirOperationGetResult(op, i)).ptr);
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); i++)
    h = mix(h, (uint64_t)(uintptr_t)mlirOperationGetAttribute(op, i).attribute.ptr);
  return h;
}

static bool same_operands(struct ir_context *c, MlirOperation a, MlirOperation b) {
  intptr_t n = mlirOperationGetNumOperands(a);
  bool straight = true;
  for (intptr_t i = 0; i < n; i++)
    straight &= mlirValueEqual(mlirOperationGetOperand(a, i), mlirOperationGetOperand(b, i));
  if (straight)
    return true;
  return n == 2 && is_commutative(op_id(c, a)) &&
         mlirValueEqual(mlirOperationGetOperand(a, 0), mlirOperationGetOperand(b, 1)) &&
         mlirValueEqual(mlirOperationGetOperand(a, 1), mlirOperationGetOperand(b, 0));
}

static bool same(struct ir_context *c, MlirOperation a, MlirOperation b) {
  if (op_id(c, a) != op_id(c, b) ||
      mlirOperationGetNumOperands(a) != mlirOperationGetNumOperands(b) ||
      mlirOperationGetNumResults(a) != mlirOperationGetNumResults(b) ||
      mlirOperationGetNumAttributes(a) != mlirOperationGetNumAttributes(b))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(a); i++)
    if (!mlirTypeEqual(mlirValueGetType(mlirOperationGetResult(a, i)),
                       mlirValueGetType(mlirOperationGetResult(b, i))))
      return false;
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(a); i++) {
    MlirNamedAttribute x = mlirOperationGetAttribute(a, i);
    MlirAttribute y = mlirOperationGetAttributeByName(b, mlirIdentifierStr(x.name));
    if (mlirAttributeIsNull(y) || !mlirAttributeEqual(x.attribute, y))
      return false;
  }
  return same_operands(c, a, b);
}

// Only operations without regions are merged: those are what front end and passes repeat.
static bool takes_part(struct ir_context *c, MlirOperation op) {
  return (op_flags(c, op) & OP_PURE) && mlirOperationGetNumRegions(op) == 0 &&
         mlirOperationGetNumResults(op) > 0;
}

static void visit_block(struct scope_table *s, MlirBlock block);

static void visit_regions(struct scope_table *s, MlirOperation op) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
    for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(b);
         b = mlirBlockGetNextInRegion(b))
      visit_block(s, b);
}

// Merges `op` with an equal visible one, or makes it visible: pushed on *ret_added.
static void visit(struct scope_table *s, MlirOperation op, struct entry **ret_added) {
  uint64_t h = hash_of(s->c, op);
  struct entry **bucket = &s->buckets[h % BUCKETS];
  for (struct entry *e = *bucket; e; e = e->next) {
    if (e->hash != h || !same(s->c, e->op, op))
      continue;
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
      value_replace(mlirOperationGetResult(op, i), mlirOperationGetResult(e->op, i));
    op_erase(op);
    s->changed = true;
    return;
  }
  struct entry *e = arena_new(s->arena, struct entry);
  *e = (struct entry){op, h, *bucket, *ret_added};
  *bucket = e;
  *ret_added = e;
}

static void visit_block(struct scope_table *s, MlirBlock block) {
  struct entry *added = NULL;
  for (MlirOperation op = mlirBlockGetFirstOperation(block), next; !mlirOperationIsNull(op);
       op = next) {
    next = mlirOperationGetNextInBlock(op);
    visit_regions(s, op);
    if (takes_part(s->c, op))
      visit(s, op, &added);
  }
  for (; added; added = added->previous) // newest first: each is the head of its bucket
    s->buckets[added->hash % BUCKETS] = added->next;
}

enum pass_result pass_cse(struct pass_context *p) {
  struct scope_table *s = arena_new(p->scratch, struct scope_table);
  s->c = p->c;
  s->arena = p->scratch;
  visit_regions(s, mlirModuleGetOperation(p->module));
  return s->changed ? PASS_CHANGED : PASS_UNCHANGED;
}
