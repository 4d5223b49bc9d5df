// SPDX-License-Identifier: Apache-2.0
// Loads and stores of global memory. Registers that hold neighbours in memory are accessed
// together, as words (packing.c).
#include "lowering/analysis/axis_info.h"
#include "lowering/analysis/scratch.h"
#include "lowering/llvm/emit.h"

// ---- accesses ----

enum { MAX_WIDTH = 32 };

struct access access_of(MlirOperation op, const struct packing *p, LLVMValueRef ptr,
                        LLVMValueRef pred) {
  return (struct access){.op = op,
                         .ptr = ptr,
                         .pred = pred,
                         .count = p->word_count,
                         .word_bits = p->word_bits,
                         .align = p->bits / 8 * p->width};
}

const struct emitted *optional_operand(struct emitter *e, MlirOperation op, unsigned i) {
  return (unsigned)mlirOperationGetNumOperands(op) > i ? operand_of(e, op, i) : NULL;
}

LLVMValueRef both(struct emitter *e, LLVMValueRef a, LLVMValueRef b) {
  return a && b ? LLVMBuildAnd(e->b, a, b, "") : a ? a : b;
}

LLVMValueRef mask_at(const struct emitted *mask, unsigned r) {
  if (!mask)
    return NULL;
  LLVMValueRef m = mask->at[r];
  return LLVMIsAConstantInt(m) && LLVMConstIntGetZExtValue(m) != 0 ? NULL : m;
}

// One tile.load or tile.store: shared by its groups of registers.
struct transfer {
  MlirOperation op;
  const struct linear_layout *layout;
  struct packing packing, single; // of a group, of one element
  const struct emitted *ptr, *mask;
  uint32_t skip;      // replicas
  LLVMValueRef owner; // stores: this thread writes; NULL: all do
  bool cut;           // the mask may differ within a group
  LLVMValueRef *all;  // by the group's first register: its mask, once it is known
};

static struct transfer transfer_of(struct emitter *e, MlirOperation op, MlirType element,
                                   unsigned mask_at_operand) {
  struct transfer t = {.op = op, .layout = layout_of(e, operand_type(op, 0))};
  struct axis_vector vector = axis_vector_of(e->axis, op, e->target, t.layout);
  unsigned width = vector.width < MAX_WIDTH ? vector.width : MAX_WIDTH;
  t.packing = packing_of(e, type_of_mlir(e, element), width);
  t.single = packing_of(e, type_of_mlir(e, element), 1);
  t.ptr = operand_of(e, op, 0);
  t.mask = optional_operand(e, op, mask_at_operand);
  t.cut = t.mask && !vector.uniform && width > 1;
  t.all = arena_array(e->arena, LLVMValueRef, t.ptr->count);
  memset(t.all, 0, t.ptr->count * sizeof *t.all);
  return t;
}

// The mask of the group at `r`: that of its first register, or, where the mask may cut it, that all
// are on.
static LLVMValueRef group_mask(struct emitter *e, const struct transfer *t, unsigned r) {
  LLVMValueRef all = t->all[r];
  if (all)
    return all;
  all = mask_at(t->mask, r);
  for (unsigned i = 1; t->cut && i < t->packing.width; i++)
    all = both(e, all, mask_at(t->mask, r + i));
  t->all[r] = all;
  return all;
}

// Register r is on, but not its whole group (whose mask is `all`; NULL: always on).
static LLVMValueRef rest_mask(struct emitter *e, const struct transfer *t, unsigned r,
                              LLVMValueRef all) {
  LLVMValueRef off = all ? LLVMBuildNot(e->b, all, "") : LLVMConstInt(e->i1, 0, false);
  return both(e, mask_at(t->mask, r), off);
}

// Some register of the group at `r` is on, but not all.
static LLVMValueRef is_cut(struct emitter *e, const struct transfer *t, unsigned r) {
  LLVMValueRef all = group_mask(e, t, r), some = NULL;
  for (unsigned i = r; all && i < r + t->packing.width; i++) {
    LLVMValueRef m = mask_at(t->mask, i);
    if (!m) // always on
      return LLVMBuildNot(e->b, all, "");
    some = some ? LLVMBuildOr(e->b, some, m, "") : m;
  }
  return some ? LLVMBuildAnd(e->b, some, LLVMBuildNot(e->b, all, ""), "")
              : LLVMConstInt(e->i1, 0, false);
}

// This thread has a register of a group that the mask cuts.
static LLVMValueRef any_rest(struct emitter *e, const struct transfer *t, unsigned count) {
  LLVMValueRef any = NULL;
  for (unsigned r = 0; r < count; r += t->packing.width) {
    if (r & t->skip)
      continue;
    LLVMValueRef cut = is_cut(e, t, r);
    any = any ? LLVMBuildOr(e->b, any, cut, "") : cut;
  }
  return both(e, any, t->owner);
}

// `width` neighbours from register r on; `other` holds what masked-off ones get (NULL: zero).
static void load_group(struct emitter *e, const struct transfer *t, const struct packing *p,
                       unsigned r, LLVMValueRef pred, const LLVMValueRef *other,
                       LLVMValueRef *ret) {
  LLVMValueRef words[MAX_WIDTH], others[MAX_WIDTH];
  struct access a = access_of(t->op, p, t->ptr->at[r], pred);
  if (other && pred)
    pack_elements(e, p, other, others);
  e->target->hooks->load(e, &a, other && pred ? others : NULL, words);
  unpack_elements(e, p, words, ret);
}

// A branch around the rest is free where no mask cuts, but keeps all elements and masks of the tile
// live. Kernels that spill registers do not have it.
static bool is_short_of_registers(const struct emitter *e) { return spill_bytes(e->kernel) != 0; }

// The elements of groups that the mask cuts, one by one; the others keep what they have.
static void load_rest(struct emitter *e, const struct transfer *t, struct emitted *ret) {
  if (is_short_of_registers(e)) {
    for (unsigned r = 0; r < ret->count; r++)
      if (!(r & t->skip))
        load_group(e, t, &t->single, r,
                   rest_mask(e, t, r, group_mask(e, t, r & ~(t->packing.width - 1))), &ret->at[r],
                   &ret->at[r]);
    return;
  }
  struct branch br = branch_begin(e, any_rest(e, t, ret->count));
  LLVMValueRef *fresh = arena_array(e->arena, LLVMValueRef, ret->count);
  for (unsigned r = 0; r < ret->count; r++)
    if (!(r & t->skip))
      load_group(e, t, &t->single, r,
                 rest_mask(e, t, r, group_mask(e, t, r & ~(t->packing.width - 1))), &ret->at[r],
                 &fresh[r]);
  LLVMBasicBlockRef from[] = {br.from, LLVMGetInsertBlock(e->b)};
  branch_end(e, &br);
  for (unsigned r = 0; r < ret->count; r++)
    if (!(r & t->skip)) {
      LLVMValueRef values[] = {ret->at[r], fresh[r]};
      ret->at[r] = LLVMBuildPhi(e->b, t->packing.element, "");
      LLVMAddIncoming(ret->at[r], values, from, 2);
    }
}

bool emit_load(struct emitter *e, MlirOperation op) {
  struct transfer t = transfer_of(e, op, element_type(result_type(op, 0)), 1);
  const struct emitted *other = optional_operand(e, op, 2);
  struct emitted *ret = result_of(e, op, 0);
  t.skip = register_replicas(t.layout);
  for (unsigned r = 0; r < ret->count; r += t.packing.width)
    if (!(r & t.skip))
      load_group(e, &t, &t.packing, r, group_mask(e, &t, r), other ? other->at + r : NULL,
                 ret->at + r);
  if (t.cut)
    load_rest(e, &t, ret);
  for (unsigned r = 0; r < ret->count; r++)
    ret->at[r] = ret->at[r & ~t.skip];
  return true;
}

static void store_group(struct emitter *e, const struct transfer *t, const struct packing *p,
                        unsigned r, LLVMValueRef pred, const LLVMValueRef *elements) {
  LLVMValueRef words[MAX_WIDTH];
  pack_elements(e, p, elements, words);
  struct access a = access_of(t->op, p, t->ptr->at[r], pred);
  e->target->hooks->store(e, &a, words);
}

bool emit_store(struct emitter *e, MlirOperation op) {
  struct transfer t = transfer_of(e, op, element_type(operand_type(op, 1)), 2);
  const struct emitted *value = operand_of(e, op, 1);
  t.owner = owner_predicate(e, t.layout);
  t.skip = owner_registers(t.layout);
  for (unsigned r = 0; r < value->count; r += t.packing.width)
    if (!(r & t.skip))
      store_group(e, &t, &t.packing, r, both(e, group_mask(e, &t, r), t.owner), value->at + r);
  if (!t.cut)
    return true;
  // Whole groups are stored already; in a branch that few threads take, storing them again is
  // cheaper than distinguishing them.
  bool branches = !is_short_of_registers(e);
  struct branch br;
  if (branches)
    br = branch_begin(e, any_rest(e, &t, value->count));
  for (unsigned r = 0; r < value->count; r++) {
    if (r & t.skip)
      continue;
    LLVMValueRef pred = branches
                            ? mask_at(t.mask, r)
                            : rest_mask(e, &t, r, group_mask(e, &t, r & ~(t.packing.width - 1)));
    store_group(e, &t, &t.single, r, pred, value->at + r);
  }
  if (branches)
    branch_end(e, &br);
  return true;
}
