// SPDX-License-Identifier: Apache-2.0
// Structured control flow. Scalars that loops carry are phis; tiles live in two buffers, one read
// and one written, which are exchanged after each iteration. Tiles of pointers or offsets that only
// advance by one number are that number. Recursion is the algorithm: regions contain ops with
// regions.
#include "lowering/processor/strips.h"

static LLVMBasicBlockRef new_block(struct strip_emitter *e, const char *name) {
  return LLVMAppendBasicBlockInContext(e->llvm, e->function, name);
}

static MlirBlock region_block(MlirOperation op, intptr_t i) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i));
}

// One element: a scalar, or a tile of one.
static bool is_single(MlirValue v) { return tensor_numel(mlirValueGetType(v)) == 1; }

// Buffers of a region end with it, also those of values from outside that only it needed in one.
struct scope {
  uint64_t top;
  size_t loads, bound;
};

static struct scope scope_begin(struct strip_emitter *e) {
  return (struct scope){e->scratch_top, e->loads.len, e->bound.len};
}

static void scope_end(struct strip_emitter *e, struct scope s) {
  e->scratch_top = s.top;
  e->loads.len = s.loads;
  unbind_since(e, s.bound);
}

static bool note_write(MlirOperation op, void *user) {
  struct strip_emitter *e = ((void **)user)[0];
  bool *writes = ((void **)user)[1];
  *writes |= (op_flags(e->c, op) & (OP_WRITE | OP_EFFECT)) != 0;
  return !*writes;
}

// Before an op with regions.
static void begin_regions(struct strip_emitter *e, MlirOperation op) {
  bool writes = false;
  void *user[] = {e, &writes};
  flush(e);
  finish_captured(e, op);
  ir_walk(op, note_write, user);
  if (writes)
    finish_loads(e);
}

// ---- if ----

struct arm {
  LLVMBasicBlockRef end;
  LLVMValueRef *scalars; // by result
};

static void emit_arm(struct strip_emitter *e, MlirBlock block, struct buffer *const *to,
                     struct arm *ret) {
  struct scope s = scope_begin(e);
  if (!mlirBlockIsNull(block)) {
    emit_ops(e, block);
    MlirOperation yield = mlirBlockGetTerminator(block);
    unsigned n = (unsigned)mlirOperationGetNumOperands(yield);
    ret->scalars = arena_array(e->arena, LLVMValueRef, n + 1);
    for (unsigned i = 0; i < n; i++)
      if (to[i])
        add_copy(e, operand(yield, i), to[i]);
    flush(e);
    for (unsigned i = 0; i < n; i++)
      ret->scalars[i] = to[i] ? NULL : single_element(e, operand(yield, i));
  }
  ret->end = LLVMGetInsertBlock(e->b);
  scope_end(e, s);
}

void emit_branches(struct strip_emitter *e, MlirOperation op) {
  begin_regions(e, op);
  LLVMValueRef condition = scalar_of(e, operand(op, 0));
  unsigned n = (unsigned)mlirOperationGetNumResults(op);
  struct buffer **to = arena_array(e->arena, struct buffer *, n + 1);
  for (unsigned i = 0; i < n; i++)
    to[i] = is_single(result(op, i)) ? NULL : buffer_for(e, result(op, i));
  LLVMBasicBlockRef blocks[2] = {new_block(e, "then"), new_block(e, "else")};
  LLVMBasicBlockRef after = new_block(e, "endif");
  struct arm arms[2] = {0};
  LLVMBuildCondBr(e->b, condition, blocks[0], blocks[1]);
  for (int i = 0; i < 2; i++) {
    LLVMPositionBuilderAtEnd(e->b, blocks[i]);
    emit_arm(e, region_block(op, i), to, &arms[i]);
    LLVMBuildBr(e->b, after);
  }
  LLVMPositionBuilderAtEnd(e->b, after);
  for (unsigned i = 0; i < n; i++) {
    MlirValue out = result(op, i);
    if (to[i]) {
      bind_buffer(e, out, to[i]);
      continue;
    }
    LLVMValueRef phi =
        LLVMBuildPhi(e->b, register_type(e, element_type(mlirValueGetType(out))), "");
    for (int k = 0; k < 2; k++)
      LLVMAddIncoming(phi, &arms[k].scalars[i], &arms[k].end, 1);
    bind_scalar(e, out, phi);
  }
}

// ---- what loops carry ----

enum carry_kind { CARRY_SCALAR, CARRY_ADVANCE, CARRY_IN_PLACE, CARRY_BUFFERS };

struct carry {
  enum carry_kind kind;
  MlirValue first;
  LLVMValueRef initial, phi; // SCALAR, ADVANCE
  struct buffer *pair[2];    // IN_PLACE: the first only
  struct buffer *now, *next; // BUFFERS: phis
};

// The addend if v is `arg` plus the same number for each element; null otherwise.
static MlirValue advance_of(struct strip_emitter *e, MlirValue arg, MlirValue v) {
  MlirOperation op = value_def(v);
  if (mlirOperationIsNull(op) ||
      !(op_is(e->c, op, OP_TILE_ADDPTR) || op_is(e->c, op, OP_ARITH_ADDI)))
    return (MlirValue){NULL};
  for (unsigned i = 0; i < 2; i++) {
    MlirValue other = operand(op, 1 - i);
    MlirOperation def = value_def(other);
    if (!mlirValueEqual(operand(op, i), arg) || mlirOperationIsNull(def))
      continue;
    if (op_is(e->c, def, OP_TILE_SPLAT) || op_is(e->c, def, OP_ARITH_CONSTANT))
      return other;
  }
  return (MlirValue){NULL};
}

// Does the value come from `arg` by products that add to it only, so that one buffer serves?
static bool is_chain_of_products(struct strip_emitter *e, MlirValue arg, MlirValue v) {
  while (!mlirValueEqual(v, arg)) {
    MlirOperation op = value_def(v);
    if (mlirOperationIsNull(op) || !op_is(e->c, op, OP_TILE_DOT) || value_use_count(v) != 1 ||
        !mlirBlockEqual(mlirOperationGetBlock(op), mlirBlockArgumentGetOwner(arg)))
      return false;
    v = operand(op, 2);
  }
  enum dtype t = dtype_of(arg);
  return value_use_count(arg) == 1 && (t == DTYPE_F32 || t == DTYPE_F64 || t == DTYPE_I32);
}

static LLVMTypeRef advance_type(struct strip_emitter *e, MlirValue arg) {
  MlirType element = element_type(mlirValueGetType(arg));
  return type_is_ptr(e->c, element) ? e->i64 : register_type(e, element);
}

// In front of the loop.
static struct carry carry_begin(struct strip_emitter *e, MlirValue arg, MlirValue first,
                                MlirValue yielded) {
  struct carry c = {.first = first};
  bool can_stay = !mlirValueIsNull(yielded);
  if (is_single(arg)) {
    c.initial = single_element(e, first);
  } else if (can_stay && !mlirValueIsNull(advance_of(e, arg, yielded))) {
    c.kind = CARRY_ADVANCE;
    c.initial = LLVMConstNull(advance_type(e, arg));
    if (!known_value(e, first) && (reads_memory(e, first) || cost_of(e, first) > STRIP))
      in_buffer(e, first);
  } else {
    bool in_place = can_stay && is_chain_of_products(e, arg, yielded);
    c.kind = in_place ? CARRY_IN_PLACE : CARRY_BUFFERS;
    for (int i = 0; i < (in_place ? 1 : 2); i++)
      c.pair[i] = buffer_new(e, mlirValueGetType(arg));
    copy_to(e, first, c.pair[0], -1);
  }
  return c;
}

static LLVMValueRef pointer_phi(struct strip_emitter *e, LLVMValueRef first,
                                LLVMBasicBlockRef before) {
  LLVMValueRef phi = LLVMBuildPhi(e->b, e->ptr, "");
  LLVMAddIncoming(phi, &first, &before, 1);
  return phi;
}

static struct buffer *moved_to(struct strip_emitter *e, const struct buffer *b, LLVMValueRef at) {
  struct buffer *moved = arena_new(e->arena, struct buffer);
  *moved = *b;
  moved->at = at;
  return moved;
}

// At the loop's head: phis.
static void carry_phis(struct strip_emitter *e, struct carry *c, MlirValue arg,
                       LLVMBasicBlockRef before) {
  switch (c->kind) {
  case CARRY_SCALAR:
  case CARRY_ADVANCE:
    c->phi = LLVMBuildPhi(e->b, LLVMTypeOf(c->initial), "");
    LLVMAddIncoming(c->phi, &c->initial, &before, 1);
    if (c->kind == CARRY_SCALAR)
      bind_scalar(e, arg, c->phi);
    else
      bind_advanced(e, arg, c->first, c->phi);
    break;
  case CARRY_IN_PLACE: bind_buffer(e, arg, c->pair[0]); break;
  case CARRY_BUFFERS:
    c->now = moved_to(e, c->pair[0], pointer_phi(e, c->pair[0]->at, before));
    c->next = moved_to(e, c->pair[1], pointer_phi(e, c->pair[1]->at, before));
    bind_buffer(e, arg, c->now);
    break;
  }
}

// Before the body: results that are carried are computed where the next iteration reads them.
static void want(struct strip_emitter *e, const struct carry *c, MlirBlock body,
                 MlirValue yielded) {
  MlirOperation def = value_def(yielded);
  if (c->kind == CARRY_BUFFERS && !mlirOperationIsNull(def) &&
      mlirBlockEqual(mlirOperationGetBlock(def), body) && !ptrmap_get(&e->wanted, yielded.ptr))
    ptrmap_put(e->arena, &e->wanted, yielded.ptr, c->next);
}

// After the body: tiles are copied to where the next iteration reads them.
static void carry_copies(struct strip_emitter *e, const struct carry *c, MlirValue yielded) {
  if (c->kind != CARRY_BUFFERS)
    return;
  struct value *known = known_value(e, yielded);
  if (!known || known->kind != VALUE_BUFFER || known->buffer->at != c->next->at)
    add_copy(e, yielded, c->next);
}

static void carry_next(struct strip_emitter *e, struct carry *c, MlirValue arg, MlirValue yielded) {
  LLVMValueRef next = NULL;
  LLVMBasicBlockRef latch;
  if (c->kind == CARRY_SCALAR)
    next = single_element(e, yielded);
  if (c->kind == CARRY_ADVANCE) {
    struct position p = {.rank = rank_of(arg), .lane = -1, .lanes = 1};
    for (unsigned d = 0; d < p.rank; d++)
      p.at[d] = index_constant(e, 0);
    levels_begin(e);
    LLVMValueRef by = evaluate(e, advance_of(e, arg, yielded), &p);
    levels_end(e);
    if (LLVMTypeOf(by) != LLVMTypeOf(c->phi))
      by = LLVMBuildSExt(e->b, by, LLVMTypeOf(c->phi), "");
    next = LLVMBuildAdd(e->b, c->phi, by, "");
  }
  latch = LLVMGetInsertBlock(e->b);
  if (next)
    LLVMAddIncoming(c->phi, &next, &latch, 1);
  if (c->kind == CARRY_BUFFERS) {
    LLVMAddIncoming(c->now->at, &c->next->at, &latch, 1);
    LLVMAddIncoming(c->next->at, &c->now->at, &latch, 1);
  }
}

static void end_body(struct strip_emitter *e, struct carry *c, unsigned n, MlirBlock args,
                     unsigned first_arg, MlirOperation yield) {
  for (unsigned i = 0; i < n; i++)
    carry_copies(e, &c[i], operand(yield, i));
  flush(e);
  // Scalars may need code in more than one block: all of it comes before the phis' edges.
  for (unsigned i = 0; i < n; i++)
    carry_next(e, &c[i], mlirBlockGetArgument(args, first_arg + i), operand(yield, i));
}

// ---- for ----

void emit_for_loop(struct strip_emitter *e, MlirOperation op) {
  begin_regions(e, op);
  MlirBlock body = region_block(op, 0);
  MlirOperation yield = mlirBlockGetTerminator(body);
  LLVMValueRef lower = scalar_of(e, operand(op, 0)), upper = scalar_of(e, operand(op, 1));
  LLVMValueRef step = scalar_of(e, operand(op, 2));
  bool is_unsigned = !mlirAttributeIsNull(op_attr(op, "unsignedCmp"));
  unsigned n = (unsigned)mlirOperationGetNumResults(op);
  struct carry *c = arena_array(e->arena, struct carry, n + 1);
  for (unsigned i = 0; i < n; i++)
    c[i] = carry_begin(e, mlirBlockGetArgument(body, i + 1), operand(op, i + 3), operand(yield, i));
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), header = new_block(e, "for");
  LLVMBasicBlockRef inside = new_block(e, "for.body"), after = new_block(e, "for.end");
  LLVMBuildBr(e->b, header);
  LLVMPositionBuilderAtEnd(e->b, header);
  LLVMValueRef i_phi = LLVMBuildPhi(e->b, LLVMTypeOf(lower), "");
  LLVMAddIncoming(i_phi, &lower, &before, 1);
  bind_scalar(e, mlirBlockGetArgument(body, 0), i_phi);
  for (unsigned i = 0; i < n; i++)
    carry_phis(e, &c[i], mlirBlockGetArgument(body, i + 1), before);
  LLVMIntPredicate less = is_unsigned ? LLVMIntULT : LLVMIntSLT;
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, less, i_phi, upper, ""), inside, after);
  LLVMPositionBuilderAtEnd(e->b, inside);
  struct scope s = scope_begin(e);
  for (unsigned i = 0; i < n; i++)
    want(e, &c[i], body, operand(yield, i));
  emit_ops(e, body);
  end_body(e, c, n, body, 1, yield);
  scope_end(e, s);
  LLVMValueRef next = LLVMBuildAdd(e->b, i_phi, step, "");
  if (LLVMIsAInstruction(next)) // the language's loops do not wrap around
    (is_unsigned ? LLVMSetNUW : LLVMSetNSW)(next, true);
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
  LLVMAddIncoming(i_phi, &next, &latch, 1);
  LLVMBuildBr(e->b, header);
  LLVMPositionBuilderAtEnd(e->b, after);
  for (unsigned i = 0; i < n; i++)
    bind_same(e, result(op, i), mlirBlockGetArgument(body, i + 1));
}

// ---- while ----

void emit_while_loop(struct strip_emitter *e, MlirOperation op) {
  begin_regions(e, op);
  MlirBlock head = region_block(op, 0), body = region_block(op, 1);
  MlirOperation condition = mlirBlockGetTerminator(head), yield = mlirBlockGetTerminator(body);
  unsigned n = (unsigned)mlirBlockGetNumArguments(head);
  struct carry *c = arena_array(e->arena, struct carry, n + 1);
  for (unsigned i = 0; i < n; i++)
    c[i] = carry_begin(e, mlirBlockGetArgument(head, i), operand(op, i), (MlirValue){NULL});
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), header = new_block(e, "while");
  LLVMBasicBlockRef inside = new_block(e, "while.body"), after = new_block(e, "while.end");
  LLVMBuildBr(e->b, header);
  LLVMPositionBuilderAtEnd(e->b, header);
  for (unsigned i = 0; i < n; i++)
    carry_phis(e, &c[i], mlirBlockGetArgument(head, i), before);
  emit_ops(e, head);
  for (unsigned i = 0; i < (unsigned)mlirOperationGetNumResults(op); i++) {
    MlirValue passed = operand(condition, i + 1);
    if (!is_single(passed))
      in_buffer(e, passed);
    else
      bind_scalar(e, passed, single_element(e, passed));
    bind_same(e, result(op, i), passed);
    bind_same(e, mlirBlockGetArgument(body, i), passed);
  }
  LLVMBuildCondBr(e->b, scalar_of(e, operand(condition, 0)), inside, after);
  LLVMPositionBuilderAtEnd(e->b, inside);
  struct scope s = scope_begin(e);
  emit_ops(e, body);
  end_body(e, c, n, head, 0, yield);
  scope_end(e, s);
  LLVMBuildBr(e->b, header);
  LLVMPositionBuilderAtEnd(e->b, after);
}
