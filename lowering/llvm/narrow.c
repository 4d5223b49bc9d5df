// SPDX-License-Identifier: Apache-2.0
// Narrow tiles through loops. An f16 or bf16 in a register of its own takes as much of the register
// file as a float; a tile of 8- or 16-bit elements that is live through a loop, carried or used in
// it, is packed into words of 32 bits, which the body unpacks at its begin. Packing of values just
// unpacked folds to the words that were loaded.
#include "lowering/llvm/narrow.h"

static bool find_packing(struct emitter *e, MlirValue v, struct packing *ret) {
  MlirType t = mlirValueGetType(v);
  if (e->target->is_cpu || !type_is_tensor(t))
    return false;
  unsigned bits = type_bits(e->c, element_type(t));
  const struct linear_layout *l = layout_of(e, t);
  if ((bits != 8 && bits != 16) || register_replicas(l) || register_count(l) < 32 / bits)
    return false;
  *ret = packing_of(e, type_of_mlir(e, element_type(t)), register_count(l));
  return ret->per_word > 1;
}

bool narrow_begin(struct emitter *e, MlirValue v, struct narrow_tile *ret) {
  *ret = (struct narrow_tile){.value = v};
  if (!find_packing(e, v, &ret->packing))
    return false;
  ret->words = arena_array(e->arena, LLVMValueRef, ret->packing.word_count);
  return true;
}

void narrow_pack(struct emitter *e, struct narrow_tile *n, const struct emitted *x) {
  pack_elements(e, &n->packing, x->at, n->words);
}

void narrow_phis(struct emitter *e, struct narrow_tile *n) {
  for (unsigned i = 0; i < n->packing.word_count; i++)
    n->words[i] = LLVMBuildPhi(e->b, e->i32, "");
}

void narrow_incoming(struct emitter *e, const struct narrow_tile *n, const struct emitted *x,
                     LLVMBasicBlockRef from) {
  LLVMValueRef *words = arena_array(e->arena, LLVMValueRef, n->packing.word_count);
  pack_elements(e, &n->packing, x->at, words);
  for (unsigned i = 0; i < n->packing.word_count; i++)
    LLVMAddIncoming(n->words[i], &words[i], &from, 1);
}

void narrow_unpack(struct emitter *e, const struct narrow_tile *n, MlirValue as) {
  unpack_elements(e, &n->packing, n->words, value_bind(e, as)->at);
}

// ---- tiles from outside that a loop uses ----

struct search {
  struct emitter *e;
  MlirOperation loop;
  struct map seen; // MlirValue.ptr
  struct narrow_tiles *found;
};

static bool is_inside(MlirOperation loop, MlirValue v) {
  MlirBlock block = mlirValueIsABlockArgument(v) ? mlirBlockArgumentGetOwner(v)
                                                 : mlirOperationGetBlock(mlirOpResultGetOwner(v));
  MlirOperation op = mlirBlockGetParentOperation(block);
  while (!mlirOperationIsNull(op) && !mlirOperationEqual(op, loop))
    op = mlirOperationGetParentOperation(op);
  return !mlirOperationIsNull(op);
}

static bool search_op(MlirOperation op, void *user) {
  struct search *s = user;
  if (mlirOperationEqual(op, s->loop)) // operands of the loop are read before it
    return true;
  for (intptr_t i = 0, n = mlirOperationGetNumOperands(op); i < n; i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    struct narrow_tile tile;
    if (ptrmap_get(&s->seen, v.ptr) || is_inside(s->loop, v))
      continue;
    ptrmap_put(s->e->arena, &s->seen, v.ptr, s);
    if (!value_of(s->e, v)->spilled && narrow_begin(s->e, v, &tile))
      vec_push(s->e->arena, s->found, tile);
  }
  return true;
}

void narrow_enter(struct emitter *e, MlirOperation loop, struct narrow_tiles *ret) {
  struct search s = {.e = e, .loop = loop, .found = ret};
  ir_walk(loop, search_op, &s);
  for (size_t i = 0; i < ret->len; i++) {
    ret->at[i].outside = ptrmap_get(&e->values, ret->at[i].value.ptr);
    narrow_pack(e, &ret->at[i], ret->at[i].outside);
  }
}

void narrow_exit_loop(struct emitter *e, const struct narrow_tiles *tiles) {
  for (size_t i = 0; i < tiles->len; i++)
    ptrmap_put(e->arena, &e->values, tiles->at[i].value.ptr, tiles->at[i].outside);
}
