// SPDX-License-Identifier: Apache-2.0
// Registers spilled to shared memory: stored once they are computed, loaded by each op that uses
// them. Every thread has its own 16 bytes in each row. Accesses are volatile so that LLVM and ptxas
// keep them where schedule.c puts them: loads that move up would occupy the freed registers again.
#include "lowering/analysis/scratch.h"
#include "lowering/llvm/emit.h"

enum { MOST_PER_ROW = 8 };

struct spilled {
  struct packing packing; // of a row
  uint32_t copies;        // replicas
  uint32_t row, rows;
};

static LLVMValueRef row_pointer(struct emitter *e, uint32_t row) {
  uint32_t image[THREAD_BITS], threads = 32 * e->num_warps;
  for (unsigned b = 0; b < THREAD_BITS; b++)
    image[b] = SPILL_ROW_BYTES << b;
  uint32_t base = (uint32_t)op_attr_int(e->kernel, "tilegpu.spill_offset", 0);
  LLVMValueRef own = linear_of_thread(e, image);
  return LLVMBuildGEP2(e->b, e->i8, shared_pointer(e, base + row * threads * SPILL_ROW_BYTES), &own,
                       1, "");
}

unsigned spill_kind(LLVMContextRef llvm) {
  return LLVMGetMDKindIDInContext(llvm, "tile.spilled", strlen("tile.spilled"));
}

// Marks the row of the access, for schedule.c.
static void mark_row(struct emitter *e, LLVMValueRef access, uint32_t row) {
  LLVMMetadataRef number = LLVMValueAsMetadata(const_i32(e, row));
  LLVMMetadataRef node = LLVMMDNodeInContext2(e->llvm, &number, 1);
  LLVMSetMetadata(access, spill_kind(e->llvm), LLVMMetadataAsValue(e->llvm, node));
  LLVMSetVolatile(access, true);
}

// The next register after r that is no replica.
static uint32_t next_register(const struct spilled *p, uint32_t r) {
  do
    r++;
  while (r & p->copies);
  return r;
}

static void store_rows(struct emitter *e, const struct emitted *x) {
  const struct spilled *p = x->spilled;
  uint32_t r = 0;
  for (uint32_t row = 0; row < p->rows; row++) {
    LLVMValueRef elements[MOST_PER_ROW], words[MOST_PER_ROW];
    for (unsigned i = 0; i < p->packing.width; i++, r = next_register(p, r))
      elements[i] = x->at[r];
    pack_elements(e, &p->packing, elements, words);
    shared_store(e, join_words(e, p->packing.word_count, words), row_pointer(e, p->row + row),
                 SPILL_ROW_BYTES);
    mark_row(e, LLVMGetLastInstruction(LLVMGetInsertBlock(e->b)), p->row + row);
  }
}

void spill_result(struct emitter *e, MlirOperation op) {
  uint32_t rows = spill_row_count(op);
  if (rows == 0)
    return;
  MlirValue v = mlirOperationGetResult(op, 0);
  struct emitted *x = ptrmap_get(&e->values, v.ptr);
  LLVMTypeRef element = type_of_mlir(e, element_type(mlirValueGetType(v)));
  struct spilled *p = arena_new(e->arena, struct spilled);
  *p = (struct spilled){.packing = packing_of(e, element, spill_elements_per_row(e->c, op)),
                        .copies = register_copies(layout_of(e, mlirValueGetType(v))),
                        .row = (uint32_t)op_attr_int(op, "tilegpu.spill_row", 0),
                        .rows = rows};
  x->spilled = p;
  store_rows(e, x);
}

const struct emitted *reload_spilled(struct emitter *e, const struct emitted *x) {
  const struct spilled *p = x->spilled;
  struct emitted *fresh = arena_new(e->arena, struct emitted);
  *fresh = (struct emitted){.count = x->count};
  fresh->at = arena_dup(e->arena, x->at, x->count * sizeof *x->at, _Alignof(LLVMValueRef));
  LLVMTypeRef type = words_type(e, p->packing.word_count, p->packing.word_bits);
  uint32_t r = 0;
  for (uint32_t row = 0; row < p->rows; row++) {
    LLVMValueRef elements[MOST_PER_ROW], words[MOST_PER_ROW];
    LLVMValueRef v = shared_load(e, type, row_pointer(e, p->row + row), SPILL_ROW_BYTES);
    mark_row(e, v, p->row + row);
    split_words(e, p->packing.word_count, v, words);
    unpack_elements(e, &p->packing, words, elements);
    for (unsigned i = 0; i < p->packing.width; i++, r = next_register(p, r))
      fresh->at[r] = elements[i];
  }
  // Replicas take the value of their original.
  for (uint32_t i = 0; i < x->count; i++)
    for (uint32_t k = 0; (i & p->copies) && k < x->count; k++)
      if (!(k & p->copies) && x->at[i] == x->at[k])
        fresh->at[i] = fresh->at[k];
  return fresh;
}
