// SPDX-License-Identifier: Apache-2.0
// Registers that wait in shared memory while the thread does something else: stored once they are
// computed, loaded by each op that uses them. Every thread has its own 16 bytes in each row.
// Accesses are volatile so that LLVM and ptxas keep them where schedule.c puts them: loads that go
// up take back the registers that were freed.
#include "lowering/analysis/scratch.h"
#include "lowering/llvm/emit.h"

enum { MOST_PER_ROW = 8 };

struct parked {
  struct packing packing; // of a row
  uint32_t copies;        // registers that only repeat others
  uint32_t row, rows;
};

static LLVMValueRef row_pointer(struct emitter *e, uint32_t row) {
  uint32_t image[THREAD_BITS], threads = 32 * e->num_warps;
  for (unsigned b = 0; b < THREAD_BITS; b++)
    image[b] = PARKED_ROW_BYTES << b;
  uint32_t base = (uint32_t)op_attr_int(e->kernel, "tilegpu.park_offset", 0);
  LLVMValueRef own = linear_of_thread(e, image);
  return LLVMBuildGEP2(e->b, e->i8, shared_pointer(e, base + row * threads * PARKED_ROW_BYTES),
                       &own, 1, "");
}

unsigned parked_kind(LLVMContextRef llvm) {
  return LLVMGetMDKindIDInContext(llvm, "tile.parked", strlen("tile.parked"));
}

// Tells the scheduler which row this accesses.
static void mark_row(struct emitter *e, LLVMValueRef access, uint32_t row) {
  LLVMMetadataRef number = LLVMValueAsMetadata(const_i32(e, row));
  LLVMMetadataRef node = LLVMMDNodeInContext2(e->llvm, &number, 1);
  LLVMSetMetadata(access, parked_kind(e->llvm), LLVMMetadataAsValue(e->llvm, node));
  LLVMSetVolatile(access, true);
}

// The register that follows r and is no copy.
static uint32_t next_register(const struct parked *p, uint32_t r) {
  do
    r++;
  while (r & p->copies);
  return r;
}

static void store_rows(struct emitter *e, const struct emitted *x) {
  const struct parked *p = x->parked;
  uint32_t r = 0;
  for (uint32_t row = 0; row < p->rows; row++) {
    LLVMValueRef elements[MOST_PER_ROW], words[MOST_PER_ROW];
    for (unsigned i = 0; i < p->packing.width; i++, r = next_register(p, r))
      elements[i] = x->at[r];
    pack_elements(e, &p->packing, elements, words);
    shared_store(e, join_words(e, p->packing.word_count, words), row_pointer(e, p->row + row),
                 PARKED_ROW_BYTES);
    mark_row(e, LLVMGetLastInstruction(LLVMGetInsertBlock(e->b)), p->row + row);
  }
}

void park_result(struct emitter *e, MlirOperation op) {
  uint32_t rows = parked_rows(op);
  if (rows == 0)
    return;
  MlirValue v = mlirOperationGetResult(op, 0);
  struct emitted *x = ptrmap_get(&e->values, v.ptr);
  LLVMTypeRef element = type_of_mlir(e, element_type(mlirValueGetType(v)));
  struct parked *p = arena_new(e->arena, struct parked);
  *p = (struct parked){.packing = packing_of(e, element, parked_per_row(e->c, op)),
                       .copies = register_copies(layout_of(e, mlirValueGetType(v))),
                       .row = (uint32_t)op_attr_int(op, "tilegpu.park_row", 0),
                       .rows = rows};
  x->parked = p;
  store_rows(e, x);
}

const struct emitted *fetch_parked(struct emitter *e, const struct emitted *x) {
  const struct parked *p = x->parked;
  struct emitted *fresh = arena_new(e->arena, struct emitted);
  *fresh = (struct emitted){.count = x->count};
  fresh->at = arena_dup(e->arena, x->at, x->count * sizeof *x->at, _Alignof(LLVMValueRef));
  LLVMTypeRef type = words_type(e, p->packing.word_count, p->packing.word_bits);
  uint32_t r = 0;
  for (uint32_t row = 0; row < p->rows; row++) {
    LLVMValueRef elements[MOST_PER_ROW], words[MOST_PER_ROW];
    LLVMValueRef v = shared_load(e, type, row_pointer(e, p->row + row), PARKED_ROW_BYTES);
    mark_row(e, v, p->row + row);
    split_words(e, p->packing.word_count, v, words);
    unpack_elements(e, &p->packing, words, elements);
    for (unsigned i = 0; i < p->packing.width; i++, r = next_register(p, r))
      fresh->at[r] = elements[i];
  }
  // Copies of what was fetched are looked up again by their original.
  for (uint32_t i = 0; i < x->count; i++)
    for (uint32_t k = 0; (i & p->copies) && k < x->count; k++)
      if (!(k & p->copies) && x->at[i] == x->at[k])
        fresh->at[i] = fresh->at[k];
  return fresh;
}
