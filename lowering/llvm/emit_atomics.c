// SPDX-License-Identifier: Apache-2.0
// Atomic operations of global memory. Each element is touched once, however many threads hold it;
// the old value is sent to the replicas. Neighbours are combined where the target has an
// instruction (packed f16 or bf16, vectors).
#include "lowering/analysis/axis_info.h"
#include "lowering/llvm/emit.h"

enum { MAX_WIDTH = 8 };

// Shared by the accesses of one op.
struct atomics {
  MlirOperation op;
  const struct linear_layout *layout;
  const struct emitted *ptr, *value, *mask;
  struct atomic single, group; // of an element, of neighbours
  struct packing packing_single, packing_group;
  LLVMValueRef owner; // this thread does the operation; NULL: all do
  uint32_t copies;    // registers that repeat others
  bool cut;           // the mask may differ within a group
};

static bool describe(struct emitter *e, MlirOperation op, struct atomics *s) {
  MlirValue old = mlirOperationGetResult(op, 0);
  MlirType element = element_type(mlirValueGetType(old));
  *s = (struct atomics){.op = op,
                        .layout = layout_of(e, operand_type(op, 0)),
                        .ptr = operand_of(e, op, 0),
                        .value = operand_of(e, op, 1),
                        .mask = optional_operand(e, op, 2)};
  s->owner = owner_predicate(e, s->layout);
  s->copies = owner_registers(s->layout);
  s->single = (struct atomic){.access.op = op,
                              .kind = op_attr_str(op, "kind"),
                              .dtype = dtype_of_mlir(element),
                              .element = type_of_mlir(e, element),
                              .width = 1,
                              .unused = !value_has_uses(old)};
  if (e->target->hooks->atomic_width(e, &s->single) == 0)
    return emit_unsupported(e, op, "atomic `%.*s` of `%s` has no lowering on `%s`",
                            STR_ARG(s->single.kind), dtype_name(s->single.dtype), e->target->name);
  struct axis_vector vector = axis_vector_of(e->axis, op, e->target, s->layout);
  s->group = s->single;
  s->group.width = vector.width < MAX_WIDTH ? vector.width : MAX_WIDTH;
  s->group.width = e->target->hooks->atomic_width(e, &s->group);
  s->packing_single = packing_of(e, s->single.element, 1);
  s->packing_group = packing_of(e, s->single.element, s->group.width);
  s->cut = s->mask && !vector.uniform && s->group.width > 1;
  return true;
}

static LLVMValueRef group_mask(struct emitter *e, const struct atomics *s, unsigned r) {
  LLVMValueRef all = mask_at(s->mask, r);
  for (unsigned i = 1; s->cut && i < s->group.width; i++)
    all = both(e, all, mask_at(s->mask, r + i));
  return both(e, all, s->owner);
}

static void update(struct emitter *e, const struct atomics *s, unsigned r, LLVMValueRef pred,
                   bool alone, LLVMValueRef *ret) {
  struct atomic a = alone ? s->single : s->group;
  a.access = access_of(s->op, alone ? &s->packing_single : &s->packing_group, s->ptr->at[r], pred);
  e->target->hooks->atomic_rmw(e, &a, s->value->at + r, ret);
}

// Elements of a group whose mask is on for some only, one by one.
static void update_rest(struct emitter *e, const struct atomics *s, unsigned r, LLVMValueRef all,
                        LLVMValueRef *ret) {
  struct branch br = branch_begin(e, LLVMBuildNot(e->b, all, ""));
  LLVMValueRef fresh[MAX_WIDTH];
  for (unsigned i = 0; i < s->group.width; i++)
    update(e, s, r + i, both(e, mask_at(s->mask, r + i), s->owner), true, &fresh[i]);
  LLVMBasicBlockRef from[] = {br.from, LLVMGetInsertBlock(e->b)};
  branch_end(e, &br);
  for (unsigned i = 0; !s->single.unused && i < s->group.width; i++) {
    LLVMValueRef values[] = {ret[i], fresh[i]};
    ret[i] = LLVMBuildPhi(e->b, s->single.element, "");
    LLVMAddIncoming(ret[i], values, from, 2);
  }
}

bool emit_atomic_rmw(struct emitter *e, MlirOperation op) {
  struct atomics s;
  if (!describe(e, op, &s))
    return false;
  struct emitted *ret = result_of(e, op, 0);
  for (unsigned r = 0; r < ret->count; r += s.group.width) {
    if (r & s.copies)
      continue;
    LLVMValueRef all = group_mask(e, &s, r);
    update(e, &s, r, all, false, ret->at + r);
    if (s.cut && all)
      update_rest(e, &s, r, all, ret->at + r);
  }
  for (unsigned r = 0; r < ret->count; r++) // replaced below
    if (s.single.unused || (r & s.copies))
      ret->at[r] = s.single.unused ? LLVMGetPoison(s.single.element) : ret->at[0];
  // Only owners have the old value.
  if ((s.owner || s.copies) && !s.single.unused)
    return exchange_through_shared(e, s.single.element, s.layout, s.layout, s.owner, ret->at,
                                   ret->at);
  return true;
}

bool emit_atomic_cas(struct emitter *e, MlirOperation op) {
  const struct linear_layout *l = layout_of(e, operand_type(op, 0));
  LLVMTypeRef type = type_of_mlir(e, element_type(operand_type(op, 2)));
  struct packing p = packing_of(e, type, 1);
  const struct emitted *ptr = operand_of(e, op, 0), *compare = operand_of(e, op, 1);
  const struct emitted *value = operand_of(e, op, 2);
  struct emitted *ret = result_of(e, op, 0);
  LLVMValueRef owner = owner_predicate(e, l);
  uint32_t copies = owner_registers(l);
  for (unsigned r = 0; r < ret->count; r++) {
    if (r & copies)
      continue;
    struct access a = access_of(op, &p, ptr->at[r], owner);
    LLVMValueRef old =
        e->target->hooks->atomic_cas(e, &a, to_bits(e, compare->at[r]), to_bits(e, value->at[r]));
    ret->at[r] = from_bits(e, old, type);
  }
  for (unsigned r = 0; r < ret->count; r++)
    if (r & copies)
      ret->at[r] = ret->at[0];
  if ((owner || copies) && value_has_uses(mlirOperationGetResult(op, 0)))
    return exchange_through_shared(e, type, l, l, owner, ret->at, ret->at);
  return true;
}
