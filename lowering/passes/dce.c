// SPDX-License-Identifier: Apache-2.0
// dce: keeps what effects depend on and removes the rest: pure operations, loads that are not
// volatile, whole loops and branches, and single values that an scf.if, scf.for or scf.while yields
// or carries. An scf.while stays, as it may not terminate. A carried value that only feeds itself,
// directly or through others, is removed too. Private functions without live references are
// removed.
//
//   %1 = arith.addi %a, %b   (unused)                  ->   (nothing)
//   %r:2 = scf.for ... iter_args(%s, %count)           ->   %r = scf.for ... iter_args(%s)
//
// First everything live is marked, starting from effects. Then each block is swept from its end.
#include "base/vec.h"
#include "lowering/pass.h"
#include "mlir-dialects/build.h"

struct dce {
  struct ir_context *c;
  struct arena *arena;
  struct map values, ops; // the live ones
  VEC(MlirValue) work;    // live values whose definitions are not marked yet
  bool changed;
};

static MlirValue operand(MlirOperation op, intptr_t i) { return mlirOperationGetOperand(op, i); }
static MlirBlock block_of(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}
static MlirOperation end_of(MlirOperation op, intptr_t region) {
  return mlirBlockGetTerminator(block_of(op, region));
}

static bool value_is_live(struct dce *d, MlirValue v) { return ptrmap_get(&d->values, v.ptr); }
static bool op_is_live(struct dce *d, MlirOperation op) { return ptrmap_get(&d->ops, op.ptr); }

// ---- marking ----

static void mark_value(struct dce *d, MlirValue v) {
  if (value_is_live(d, v))
    return;
  ptrmap_put(d->arena, &d->values, v.ptr, d);
  vec_push(d->arena, &d->work, v);
}

static void mark_function(struct dce *d, MlirOperation function);

// Functions that the op references are live with it.
static void mark_named(struct dce *d, MlirOperation op) {
  static const char *const names[] = {"combine", "function", "callee"};
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    MlirAttribute name = op_attr(op, names[i]);
    if (!mlirAttributeIsNull(name) && mlirAttributeIsAFlatSymbolRef(name))
      mark_function(d, op_function(d->c, op, names[i]));
  }
}

// Marks the op, the operands it needs, the functions it references, and the ops around it.
static void mark_op(struct dce *d, MlirOperation op) {
  if (op_is_live(d, op))
    return;
  ptrmap_put(d->arena, &d->ops, op.ptr, d);
  enum op_id id = op_id(d->c, op);
  intptr_t n = mlirOperationGetNumOperands(op);
  switch (id) {
  case OP_SCF_IF: n = 1; break;
  case OP_SCF_FOR: n = 3; break;
  case OP_SCF_WHILE: // runs as long as its condition holds
    mark_value(d, operand(end_of(op, 0), 0));
    n = 0;
    break;
  default: break;
  }
  for (intptr_t i = 0; i < n; i++)
    mark_value(d, operand(op, i));
  mark_named(d, op);
  MlirOperation parent = mlirOperationGetParentOperation(op);
  if (!mlirOperationIsNull(parent))
    mark_op(d, parent);
}

static void mark_carried(struct dce *d, MlirOperation loop, intptr_t i) {
  mark_value(d, operand(loop, 3 + i));
  mark_value(d, operand(end_of(loop, 0), i));
  mark_value(d, mlirBlockGetArgument(block_of(loop, 0), 1 + i));
  mark_value(d, mlirOperationGetResult(loop, i));
}

// The i-th operand that the condition of a while passes on.
static void mark_passed(struct dce *d, MlirOperation loop, intptr_t i) {
  mark_value(d, operand(end_of(loop, 0), 1 + i));
  mark_value(d, mlirBlockGetArgument(block_of(loop, 1), i));
  mark_value(d, mlirOperationGetResult(loop, i));
}

static void mark_origins_of_result(struct dce *d, MlirValue v) {
  MlirOperation op = mlirOpResultGetOwner(v);
  intptr_t i = mlirOpResultGetResultNumber(v);
  mark_op(d, op);
  switch (op_id(d->c, op)) {
  case OP_SCF_IF:
    mark_value(d, operand(end_of(op, 0), i));
    mark_value(d, operand(end_of(op, 1), i));
    break;
  case OP_SCF_FOR: mark_carried(d, op, i); break;
  case OP_SCF_WHILE: mark_passed(d, op, i); break;
  default: break;
  }
}

static void mark_origins_of_argument(struct dce *d, MlirValue v) {
  MlirBlock block = mlirBlockArgumentGetOwner(v);
  MlirOperation op = mlirBlockGetParentOperation(block);
  intptr_t i = mlirBlockArgumentGetArgNumber(v);
  enum op_id id = op_id(d->c, op);
  if (id == OP_SCF_FOR && i > 0) {
    mark_carried(d, op, i - 1);
  } else if (id == OP_SCF_WHILE && mlirBlockEqual(block, block_of(op, 1))) {
    mark_passed(d, op, i);
  } else if (id == OP_SCF_WHILE) {
    mark_value(d, operand(op, i));
    mark_value(d, operand(end_of(op, 1), i));
  }
}

static bool has_effect(struct ir_context *c, MlirOperation op) {
  enum op_id id = op_id(c, op);
  if (id == OP_TILE_LOAD)
    return op_attr_bool(op, "is_volatile");
  if (id == OP_TILE_DESCRIPTOR_LOAD || id == OP_TILE_DESCRIPTOR_GATHER || id == OP_TILE_MAP_LOAD)
    return false;
  return id == OP_FUNC_RETURN || id == OP_SCF_WHILE ||
         (op_flags(c, op) & (OP_READ | OP_WRITE | OP_EFFECT)) != 0;
}

static bool mark_effect(MlirOperation op, void *user) {
  struct dce *d = user;
  if (has_effect(d->c, op))
    mark_op(d, op);
  return true;
}

static void mark_function(struct dce *d, MlirOperation function) {
  if (mlirOperationIsNull(function) || op_is_live(d, function))
    return;
  mark_op(d, function);
  ir_walk(function, mark_effect, d);
}

static bool is_private(struct ir_context *c, MlirOperation op) {
  return op_is(c, op, OP_FUNC_FUNC) && str_is(op_attr_str(op, "sym_visibility"), "private");
}

static void mark(struct dce *d, MlirOperation root) {
  mark_op(d, root);
  MlirOperation op = mlirBlockGetFirstOperation(block_of(root, 0));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (op_is(d->c, op, OP_FUNC_FUNC) && !is_private(d->c, op))
      mark_function(d, op);
    else if (!op_is(d->c, op, OP_FUNC_FUNC))
      ir_walk(op, mark_effect, d);
  while (d->work.len) {
    MlirValue v = vec_pop(&d->work);
    if (mlirValueIsABlockArgument(v))
      mark_origins_of_argument(d, v);
    else
      mark_origins_of_result(d, v);
  }
}

// ---- sweeping ----

// The indices of a list of values that stay.
struct kept {
  bool *keep;
  intptr_t n, count;
};

static struct kept kept_of(struct dce *d, intptr_t n, MlirValue (*at)(MlirOperation, intptr_t),
                           MlirOperation op) {
  struct kept k = {arena_array(d->arena, bool, (size_t)n + 1), n, 0};
  for (intptr_t i = 0; i < n; i++) {
    k.keep[i] = value_is_live(d, at(op, i));
    k.count += k.keep[i];
  }
  return k;
}

static MlirValue argument_before(MlirOperation loop, intptr_t i) {
  return mlirBlockGetArgument(block_of(loop, 0), i);
}

// Rebuilds the terminator with its first `fixed` operands and those kept.
static void shrink_end(struct dce *d, MlirBlock block, intptr_t fixed, struct kept k) {
  if (k.count == k.n)
    return;
  MlirOperation old = mlirBlockGetTerminator(block);
  MlirValue *values = arena_array(d->arena, MlirValue, (size_t)(fixed + k.count) + 1);
  intptr_t n = 0;
  for (intptr_t i = 0; i < fixed + k.n; i++)
    if (i < fixed || k.keep[i - fixed])
      values[n++] = operand(old, i);
  struct builder b = builder_before(d->c, old);
  build_op(&b, op_id(d->c, old), (size_t)n, values, 0, NULL, 0, NULL);
  op_erase(old);
}

// Moves the ops of `from` to the end of `to`, and the uses of the arguments kept (after `fixed`
// first ones).
static void move_body(MlirBlock from, MlirBlock to, intptr_t fixed, struct kept k) {
  for (MlirOperation o = mlirBlockGetFirstOperation(from), next; !mlirOperationIsNull(o);
       o = next) {
    next = mlirOperationGetNextInBlock(o);
    mlirOperationRemoveFromParent(o);
    mlirBlockAppendOwnedOperation(to, o);
  }
  for (intptr_t i = 0, n = 0; i < fixed + k.n; i++)
    if (i < fixed || k.keep[i - fixed])
      value_replace(mlirBlockGetArgument(from, i), mlirBlockGetArgument(to, n++));
}

static void replace_op(MlirOperation old, MlirOperation smaller, struct kept results) {
  for (intptr_t i = 0, n = mlirOperationGetNumAttributes(old); i < n; i++) {
    MlirNamedAttribute a = mlirOperationGetAttribute(old, i);
    mlirOperationSetAttributeByName(smaller, mlirIdentifierStr(a.name), a.attribute);
  }
  for (intptr_t i = 0, n = 0; i < results.n; i++)
    if (results.keep[i])
      value_replace(mlirOperationGetResult(old, i), mlirOperationGetResult(smaller, n++));
  op_erase(old);
}

static MlirValue *kept_operands(struct dce *d, MlirOperation op, intptr_t first, struct kept k) {
  MlirValue *values = arena_array(d->arena, MlirValue, (size_t)k.count + 1);
  for (intptr_t i = 0, n = 0; i < k.n; i++)
    if (k.keep[i])
      values[n++] = operand(op, first + i);
  return values;
}

static MlirType *kept_types(struct dce *d, MlirOperation op, struct kept k) {
  MlirType *types = arena_array(d->arena, MlirType, (size_t)k.count + 1);
  for (intptr_t i = 0, n = 0; i < k.n; i++)
    if (k.keep[i])
      types[n++] = mlirValueGetType(mlirOperationGetResult(op, i));
  return types;
}

static void sweep_block(struct dce *d, MlirBlock block);

static void sweep_if(struct dce *d, MlirOperation op, struct kept results) {
  bool has_else = !mlirBlockIsNull(block_of(op, 1));
  for (intptr_t r = 0; r < 1 + has_else; r++) {
    shrink_end(d, block_of(op, r), 0, results);
    sweep_block(d, block_of(op, r));
  }
  if (results.count == results.n)
    return;
  struct builder b = builder_before(d->c, op);
  MlirBlock blocks[2];
  MlirOperation smaller = build_if(&b, operand(op, 0), (size_t)results.count,
                                   kept_types(d, op, results), &blocks[0], &blocks[1]);
  for (intptr_t r = 0; r < 2; r++)
    move_body(block_of(op, r), blocks[r], 0, (struct kept){0});
  replace_op(op, smaller, results);
}

static void sweep_for(struct dce *d, MlirOperation op, struct kept results) {
  shrink_end(d, block_of(op, 0), 0, results);
  sweep_block(d, block_of(op, 0));
  if (results.count == results.n)
    return;
  struct builder b = builder_before(d->c, op);
  MlirBlock body;
  MlirOperation smaller = build_for(&b, operand(op, 0), operand(op, 1), operand(op, 2),
                                    (size_t)results.count, kept_operands(d, op, 3, results), &body);
  move_body(block_of(op, 0), body, 1, results);
  replace_op(op, smaller, results);
}

static void sweep_while(struct dce *d, MlirOperation op, struct kept results) {
  struct kept inits = kept_of(d, mlirOperationGetNumOperands(op), argument_before, op);
  shrink_end(d, block_of(op, 0), 1, results);
  shrink_end(d, block_of(op, 1), 0, inits);
  sweep_block(d, block_of(op, 1));
  sweep_block(d, block_of(op, 0));
  if (results.count == results.n && inits.count == inits.n)
    return;
  struct builder b = builder_before(d->c, op);
  MlirBlock before, after;
  MlirOperation smaller =
      build_while(&b, (size_t)inits.count, kept_operands(d, op, 0, inits), (size_t)results.count,
                  kept_types(d, op, results), &before, &after);
  move_body(block_of(op, 0), before, 0, inits);
  move_body(block_of(op, 1), after, 0, results);
  replace_op(op, smaller, results);
  d->changed = true;
}

static void sweep_op(struct dce *d, MlirOperation op) {
  enum op_id id = op_id(d->c, op);
  if (op_info(id)->flags & OP_TERM)
    return;
  if (!op_is_live(d, op)) {
    op_erase(op);
    d->changed = true;
    return;
  }
  struct kept results = kept_of(d, mlirOperationGetNumResults(op), mlirOperationGetResult, op);
  bool region_op = id == OP_SCF_IF || id == OP_SCF_FOR || id == OP_SCF_WHILE;
  d->changed |= region_op && results.count < results.n;
  switch (id) {
  case OP_SCF_IF: sweep_if(d, op, results); break;
  case OP_SCF_FOR: sweep_for(d, op, results); break;
  case OP_SCF_WHILE: sweep_while(d, op, results); break;
  default:
    for (intptr_t r = 0, n = mlirOperationGetNumRegions(op); r < n; r++)
      if (!mlirBlockIsNull(block_of(op, r)))
        sweep_block(d, block_of(op, r));
  }
}

// Backwards: users of a dead value are erased before its definition.
static void sweep_block(struct dce *d, MlirBlock block) {
  VEC(MlirOperation) ops = {0};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    vec_push(d->arena, &ops, op);
  while (ops.len)
    sweep_op(d, vec_pop(&ops));
}

enum pass_result pass_dce(struct pass_context *p) {
  struct dce d = {.c = p->c, .arena = p->scratch};
  MlirOperation root = mlirModuleGetOperation(p->module);
  mark(&d, root);
  sweep_op(&d, root);
  return d.changed ? PASS_CHANGED : PASS_UNCHANGED;
}
