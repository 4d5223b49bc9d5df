// SPDX-License-Identifier: Apache-2.0
// Walking and rewriting. A visitor may erase or replace the visited op.
#include "mlir-dialects/ir_internal.h"

typedef bool (*walk_fn)(MlirOperation op, void *user);

// The number of ops this thread has erased: if it is unchanged, the visited op still exists.
static _Thread_local size_t erasures;

// Whether `op`, which was in `block` when `erasures` was `before`, is still there.
static bool block_holds(MlirBlock block, MlirOperation op, size_t before) {
  if (erasures == before)
    return mlirBlockEqual(mlirOperationGetBlock(op), block);
  for (MlirOperation o = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(o);
       o = mlirOperationGetNextInBlock(o))
    if (mlirOperationEqual(o, op))
      return true;
  return false;
}

static bool walk_children(MlirOperation op, walk_fn fn, void *user);

static bool walk_block(MlirBlock block, walk_fn fn, void *user) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block), next; !mlirOperationIsNull(op);
       op = next) {
    next = mlirOperationGetNextInBlock(op);
    bool nested = mlirOperationGetNumRegions(op) > 0;
    size_t before = erasures;
    if (!fn(op, user))
      return false;
    if (nested && block_holds(block, op, before) && !walk_children(op, fn, user))
      return false;
  }
  return true;
}

static bool walk_children(MlirOperation op, walk_fn fn, void *user) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    for (; !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      if (!walk_block(block, fn, user))
        return false;
  }
  return true;
}

void ir_walk(MlirOperation root, walk_fn fn, void *user) {
  if (fn(root, user))
    walk_children(root, fn, user);
}

static bool walk_post(struct arena *a, MlirOperation op, walk_fn fn, void *user);

// From the block's end. The C API has no link to the previous op, so the ops are listed first, in
// separate memory: allocations by `fn` must remain.
static bool walk_block_post(struct arena *a, MlirBlock block, walk_fn fn, void *user) {
  size_t n = 0, i = 0;
  MlirOperation first = mlirBlockGetFirstOperation(block);
  for (MlirOperation op = first; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    n++;
  MlirOperation *list = n ? arena_block_resize(a, NULL, n * sizeof(*list)) : NULL;
  if (!list) {
    if (n)
      arena_raise(a);
    return n == 0;
  }
  for (MlirOperation op = first; i < n; op = mlirOperationGetNextInBlock(op))
    list[i++] = op;
  bool go_on = true;
  while (go_on && i-- > 0)
    go_on = walk_post(a, list[i], fn, user);
  arena_block_free(list);
  return go_on;
}

static bool walk_post(struct arena *a, MlirOperation op, walk_fn fn, void *user) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    for (; !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      if (!walk_block_post(a, block, fn, user))
        return false;
  }
  return fn(op, user);
}

void ir_walk_post(struct arena *a, MlirOperation root, walk_fn fn, void *user) {
  walk_post(a, root, fn, user);
}

bool value_has_uses(MlirValue v) { return !mlirOpOperandIsNull(mlirValueGetFirstUse(v)); }

unsigned value_use_count(MlirValue v) {
  unsigned n = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    n++;
  return n;
}

void op_erase(MlirOperation op) {
  erasures++;
  mlirOperationDestroy(op);
}

void value_replace(MlirValue of, MlirValue with) { mlirValueReplaceAllUsesOfWith(of, with); }

struct purity {
  struct ir_context *c;
  bool pure;
};

static bool note_effect(MlirOperation op, void *user) {
  struct purity *p = user;
  p->pure = (op_flags(p->c, op) & (OP_READ | OP_WRITE | OP_EFFECT)) == 0;
  return p->pure;
}

bool op_is_pure(struct ir_context *c, MlirOperation op) {
  struct purity p = {c, true};
  ir_walk(op, note_effect, &p);
  return p.pure;
}

static bool erase_if_dead(MlirOperation op, void *user) {
  struct ir_context *c = user;
  if (mlirOperationGetNumResults(op) == 0 || !op_is_pure(c, op))
    return true;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (value_has_uses(mlirOperationGetResult(op, i)))
      return true;
  op_erase(op);
  return true;
}

void ir_erase_dead(struct ir_context *c, MlirOperation root) {
  ir_walk_post(c->arena, root, erase_if_dead, c);
}

MlirOperation module_kernel(struct ir_context *c, MlirModule m) {
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(m));
  while (!mlirOperationIsNull(op) &&
         !(op_is(c, op, OP_FUNC_FUNC) && !mlirAttributeIsNull(op_attr(op, "tile.kernel"))))
    op = mlirOperationGetNextInBlock(op);
  return op;
}

MlirOperation op_function(struct ir_context *c, MlirOperation op, const char *name) {
  MlirAttribute symbol = op_attr(op, name);
  if (mlirAttributeIsNull(symbol) || !mlirAttributeIsAFlatSymbolRef(symbol))
    return (MlirOperation){NULL};
  MlirStringRef wanted = mlirFlatSymbolRefAttrGetValue(symbol);
  while (!mlirOperationIsNull(mlirOperationGetParentOperation(op)))
    op = mlirOperationGetParentOperation(op);
  MlirOperation f =
      mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
  for (; !mlirOperationIsNull(f); f = mlirOperationGetNextInBlock(f)) {
    MlirAttribute found = op_attr(f, "sym_name");
    if (op_is(c, f, OP_FUNC_FUNC) && !mlirAttributeIsNull(found) &&
        mlirStringRefEqual(mlirStringAttrGetValue(found), wanted))
      return f;
  }
  return (MlirOperation){NULL};
}

static void mix(uint64_t *h, uint64_t v) {
  *h = (*h ^ v) * 0x9e3779b97f4a7c15;
  *h ^= *h >> 29;
}

static void mix_pointer(uint64_t *h, const void *p) { mix(h, (uint64_t)(uintptr_t)p); }

// Types and attributes are unique in their context, so a pointer is a content.
static void mix_block(uint64_t *h, MlirBlock block) {
  mix_pointer(h, block.ptr);
  intptr_t count = mlirBlockGetNumArguments(block);
  mix(h, (uint64_t)count);
  for (intptr_t i = 0; i < count; i++)
    mix_pointer(h, mlirValueGetType(mlirBlockGetArgument(block, i)).ptr);
}

static bool mix_op(MlirOperation op, void *user) {
  uint64_t *h = user;
  mix_pointer(h, op.ptr);
  mix_pointer(h, mlirOperationGetBlock(op).ptr);
  mix(h, mlirOperationHashValue(op)); // name, location, attributes, operands, types of results
  for (intptr_t i = 0, count = mlirOperationGetNumSuccessors(op); i < count; i++)
    mix_pointer(h, mlirOperationGetSuccessor(op, i).ptr);
  for (intptr_t i = 0, count = mlirOperationGetNumRegions(op); i < count; i++) {
    MlirRegion region = mlirOperationGetRegion(op, i);
    mix_pointer(h, region.ptr);
    for (MlirBlock b = mlirRegionGetFirstBlock(region); !mlirBlockIsNull(b);
         b = mlirBlockGetNextInRegion(b))
      mix_block(h, b);
  }
  return true;
}

uint64_t ir_fingerprint(MlirOperation root) {
  uint64_t h = 0;
  ir_walk(root, mix_op, &h);
  return h;
}
