// SPDX-License-Identifier: Apache-2.0
// canonicalize: control flow with known conditions or trip counts, values a loop carries without
// changing them, masks that are all true or all false, asserts and assumptions that hold.
#include "lowering/passes/canonicalize.h"

static MlirBlock block_of(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

// Inlines `block` before `op`; the terminator's operands replace op's results, and op is erased.
static void inline_block(MlirOperation op, MlirBlock block) {
  MlirBlock to = mlirOperationGetBlock(op);
  MlirOperation end = mlirBlockGetTerminator(block);
  for (MlirOperation o = mlirBlockGetFirstOperation(block), next; !mlirOperationEqual(o, end);
       o = next) {
    next = mlirOperationGetNextInBlock(o);
    mlirOperationRemoveFromParent(o);
    mlirBlockInsertOwnedOperationBefore(to, op, o);
  }
  for (intptr_t i = 0, n = mlirOperationGetNumResults(op); i < n; i++)
    value_replace(mlirOperationGetResult(op, i), operand(end, i));
  op_erase(op);
}

static bool is_empty(MlirBlock block) {
  return mlirOperationEqual(mlirBlockGetFirstOperation(block), mlirBlockGetTerminator(block));
}

// ---- scf.if ----

// Both branches do nothing but yield: results become selects (scalars) or the common value.
static bool select_instead(struct canon *k, MlirOperation op) {
  intptr_t n = mlirOperationGetNumResults(op);
  if (n == 0 || !is_empty(block_of(op, 0)) || !is_empty(block_of(op, 1)))
    return false;
  MlirOperation yes = mlirBlockGetTerminator(block_of(op, 0));
  MlirOperation no = mlirBlockGetTerminator(block_of(op, 1));
  for (intptr_t i = 0; i < n; i++)
    if (type_is_tensor(mlirValueGetType(operand(yes, i))) &&
        !mlirValueEqual(operand(yes, i), operand(no, i)))
      return false;
  struct builder b = builder_before(k->c, op);
  for (intptr_t i = 0; i < n; i++) {
    MlirValue x = operand(yes, i), y = operand(no, i);
    value_replace(mlirOperationGetResult(op, i),
                  mlirValueEqual(x, y) ? x : build_select(&b, operand(op, 0), x, y));
  }
  op_erase(op);
  return true;
}

// A result that is the same value in both branches, from outside, is that value.
static bool forward_common(MlirOperation op) {
  bool changed = false;
  for (intptr_t i = 0, n = mlirOperationGetNumResults(op); i < n; i++) {
    MlirValue result = mlirOperationGetResult(op, i);
    MlirValue x = operand(mlirBlockGetTerminator(block_of(op, 0)), i);
    if (!value_has_uses(result) ||
        !mlirValueEqual(x, operand(mlirBlockGetTerminator(block_of(op, 1)), i)))
      continue;
    value_replace(result, x);
    changed = true;
  }
  return changed;
}

// Hoists constants of branches, so that a branch may consist of its yield only.
static bool hoist_constants(struct canon *k, MlirOperation op) {
  bool changed = false;
  for (intptr_t r = 0; r < 2; r++) {
    MlirBlock block = block_of(op, r);
    if (mlirBlockIsNull(block) || mlirOperationGetNumResults(op) == 0)
      continue;
    for (MlirOperation o = mlirBlockGetFirstOperation(block), next; !mlirOperationIsNull(o);
         o = next) {
      next = mlirOperationGetNextInBlock(o);
      if (!op_is(k->c, o, OP_ARITH_CONSTANT) || type_is_tensor(result_type(o)))
        continue;
      mlirOperationMoveBefore(o, op);
      changed = true;
    }
  }
  return changed;
}

static bool canon_if(struct canon *k, MlirOperation op) {
  int64_t known;
  MlirBlock no = block_of(op, 1);
  if (!value_const_int(k->c, operand(op, 0), &known)) {
    bool idle = mlirOperationGetNumResults(op) == 0 && is_empty(block_of(op, 0)) &&
                (mlirBlockIsNull(no) || is_empty(no));
    if (idle)
      op_erase(op);
    return idle || hoist_constants(k, op) || select_instead(k, op) || forward_common(op);
  }
  if (known)
    inline_block(op, block_of(op, 0));
  else if (!mlirBlockIsNull(no))
    inline_block(op, no);
  else
    op_erase(op);
  return true;
}

// ---- scf.for ----

// A carried value that every iteration passes on unchanged is its initial value throughout.
static bool forward_unchanged(MlirOperation op) {
  bool changed = false;
  MlirBlock body = block_of(op, 0);
  MlirOperation yield = mlirBlockGetTerminator(body);
  for (intptr_t i = 0, n = mlirOperationGetNumResults(op); i < n; i++) {
    MlirValue arg = mlirBlockGetArgument(body, i + 1), init = operand(op, i + 3);
    MlirValue result = mlirOperationGetResult(op, i);
    MlirValue next = operand(yield, i);
    bool constant = mlirValueEqual(next, arg) || mlirValueEqual(next, init);
    bool used = value_has_uses(result) || value_use_count(arg) > mlirValueEqual(next, arg);
    if (!constant || !used)
      continue;
    changed = true;
    value_replace(result, init);
    value_replace(arg, init);
  }
  return changed;
}

static bool canon_for(struct canon *k, MlirOperation op) {
  int64_t lower, upper, step, after_first;
  if (!value_const_int(k->c, operand(op, 0), &lower) ||
      !value_const_int(k->c, operand(op, 1), &upper))
    return forward_unchanged(op);
  intptr_t n = mlirOperationGetNumResults(op);
  if (lower >= upper) { // never runs
    for (intptr_t i = 0; i < n; i++)
      value_replace(mlirOperationGetResult(op, i), operand(op, i + 3));
    op_erase(op);
    return true;
  }
  bool once = value_const_int(k->c, operand(op, 2), &step) && step > 0 &&
              (__builtin_add_overflow(lower, step, &after_first) || after_first >= upper);
  if (!once)
    return forward_unchanged(op);
  MlirBlock body = block_of(op, 0);
  value_replace(mlirBlockGetArgument(body, 0), operand(op, 0));
  for (intptr_t i = 0; i < n; i++)
    value_replace(mlirBlockGetArgument(body, i + 1), operand(op, i + 3));
  inline_block(op, body);
  return true;
}

// ---- scf.while ----

// What the loop passes on from `before`, by the operand's index in the condition, if it is `arg`.
static bool passes_on(MlirOperation op, MlirValue arg, MlirValue next) {
  MlirBlock after = block_of(op, 1);
  if (!mlirValueIsABlockArgument(next) || !mlirBlockEqual(mlirBlockArgumentGetOwner(next), after))
    return mlirValueEqual(next, arg);
  MlirOperation condition = mlirBlockGetTerminator(block_of(op, 0));
  return mlirValueEqual(operand(condition, mlirBlockArgumentGetArgNumber(next) + 1), arg);
}

// A carried value that is yielded unchanged is its initial value throughout.
static bool forward_unchanged_while(MlirOperation op) {
  bool changed = false;
  MlirBlock before = block_of(op, 0);
  MlirOperation yield = mlirBlockGetTerminator(block_of(op, 1));
  for (intptr_t i = 0, n = mlirOperationGetNumOperands(op); i < n; i++) {
    MlirValue arg = mlirBlockGetArgument(before, i), init = operand(op, i);
    MlirValue next = operand(yield, i);
    bool constant = passes_on(op, arg, next) || mlirValueEqual(next, init);
    if (!constant || !value_has_uses(arg))
      continue;
    value_replace(arg, init);
    changed = true;
  }
  return changed;
}

// Is `v` defined outside of the loop?
static bool is_outside(MlirOperation loop, MlirValue v) {
  MlirOperation at = mlirValueIsABlockArgument(v)
                         ? mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v))
                         : mlirOperationGetParentOperation(mlirOpResultGetOwner(v));
  for (; !mlirOperationIsNull(at); at = mlirOperationGetParentOperation(at))
    if (mlirOperationEqual(at, loop))
      return false;
  return true;
}

// Removes results of the loop that are defined outside it, and duplicates.
static bool forward_passed(MlirOperation op) {
  bool changed = false;
  MlirBlock after = block_of(op, 1);
  MlirOperation condition = mlirBlockGetTerminator(block_of(op, 0));
  for (intptr_t i = 0, n = mlirOperationGetNumResults(op); i < n; i++) {
    MlirValue passed = operand(condition, i + 1), arg = mlirBlockGetArgument(after, i);
    MlirValue result = mlirOperationGetResult(op, i);
    if (!value_has_uses(arg) && !value_has_uses(result))
      continue;
    MlirValue in_body = passed, behind = passed;
    if (!is_outside(op, passed)) {
      intptr_t first = 0;
      while (first < i && !mlirValueEqual(operand(condition, first + 1), passed))
        first++;
      if (first == i)
        continue;
      in_body = mlirBlockGetArgument(after, first);
      behind = mlirOperationGetResult(op, first);
    }
    value_replace(arg, in_body);
    value_replace(result, behind);
    changed = true;
  }
  return changed;
}

// A loop whose condition is false at once is its `before` region only.
static bool canon_while(struct canon *k, MlirOperation op) {
  int64_t known;
  MlirOperation condition = mlirBlockGetTerminator(block_of(op, 0));
  if (!value_const_int(k->c, operand(condition, 0), &known) || known) {
    bool unchanged = forward_unchanged_while(op), passed = forward_passed(op);
    return unchanged || passed;
  }
  MlirBlock before = block_of(op, 0), to = mlirOperationGetBlock(op);
  for (intptr_t i = 0, n = mlirOperationGetNumOperands(op); i < n; i++)
    value_replace(mlirBlockGetArgument(before, i), operand(op, i));
  for (MlirOperation o = mlirBlockGetFirstOperation(before), next;
       !mlirOperationEqual(o, condition); o = next) {
    next = mlirOperationGetNextInBlock(o);
    mlirOperationRemoveFromParent(o);
    mlirBlockInsertOwnedOperationBefore(to, op, o);
  }
  for (intptr_t i = 0, n = mlirOperationGetNumResults(op); i < n; i++)
    value_replace(mlirOperationGetResult(op, i), operand(condition, i + 1));
  op_erase(op);
  return true;
}

// ---- masks ----

// The operand of that optional segment, or null.
static MlirValue optional_operand(MlirOperation op, int segment) {
  int32_t sizes[3] = {0};
  if (op_attr_i32_array(op, "operandSegmentSizes", 3, sizes) != 3 || !sizes[segment])
    return no_value();
  intptr_t at = 0;
  for (int i = 0; i < segment; i++)
    at += sizes[i];
  return operand(op, at);
}

static MlirValue zero_of(struct builder *b, MlirType type) {
  MlirType element = element_type(type);
  if (mlirTypeIsAInteger(element))
    return build_const_int(b, type, 0);
  return dtype_of_mlir(element) == DTYPE_NONE ? no_value() : build_const_float(b, type, 0);
}

static const char *text_attr(struct canon *k, MlirOperation op, const char *name) {
  struct str s = op_attr_str(op, name);
  return arena_strndup(k->scratch, s.ptr, s.len);
}

static bool canon_load(struct canon *k, MlirOperation op) {
  MlirValue mask = optional_operand(op, 1), other = optional_operand(op, 2);
  int64_t known;
  if (mlirValueIsNull(mask) || !value_const_int(k->c, mask, &known))
    return false;
  struct builder b = builder_before(k->c, op);
  MlirValue v;
  if (known)
    v = build_load(&b, operand(op, 0), no_value(), no_value(), text_attr(k, op, "cache"),
                   text_attr(k, op, "evict"), op_attr_bool(op, "is_volatile"));
  else
    v = mlirValueIsNull(other) ? zero_of(&b, result_type(op)) : other;
  if (mlirValueIsNull(v))
    return false;
  value_replace(mlirOperationGetResult(op, 0), v);
  op_erase(op);
  return true;
}

static bool canon_store(struct canon *k, MlirOperation op) {
  int64_t known;
  if (mlirOperationGetNumOperands(op) < 3 || !value_const_int(k->c, operand(op, 2), &known))
    return false;
  struct builder b = builder_before(k->c, op);
  if (known)
    build_store(&b, operand(op, 0), operand(op, 1), no_value(), text_attr(k, op, "cache"),
                text_attr(k, op, "evict"));
  op_erase(op);
  return true;
}

static bool erase_if_true(struct canon *k, MlirOperation op) {
  int64_t known;
  if (!value_const_int(k->c, operand(op, 0), &known) || !known)
    return false;
  op_erase(op);
  return true;
}

bool canon_control(struct canon *k, MlirOperation op, enum op_id id) {
  switch (id) {
  case OP_SCF_IF: return canon_if(k, op);
  case OP_SCF_FOR: return canon_for(k, op);
  case OP_SCF_WHILE: return canon_while(k, op);
  case OP_TILE_LOAD: return canon_load(k, op);
  case OP_TILE_STORE: return canon_store(k, op);
  case OP_TILE_ASSERT:
  case OP_TILE_ASSUME: return erase_if_true(k, op);
  default: return false;
  }
}
