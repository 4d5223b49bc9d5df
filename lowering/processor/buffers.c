// SPDX-License-Identifier: Apache-2.0
// Tiles in the program's scratch. Buffers are never freed one by one: those of a region are all
// gone when it ends (control.c). Recursion is the algorithm: a value
// in the scratch is one of those that evaluate() reads, by its gathers.
#include "lowering/processor/strips.h"

enum { LINE = 64, SCRATCH_LIMIT = 64 << 20 };

struct buffer *buffer_of_type(struct strip_emitter *e, LLVMTypeRef type, unsigned rank,
                              const int64_t *shape) {
  struct buffer *b = arena_new(e->arena, struct buffer);
  uint64_t count = 1;
  for (unsigned d = rank; d-- > 0;) {
    b->stride[d] = (int64_t)count;
    count *= (uint64_t)shape[d];
  }
  // Behind each buffer a vector may be read that begins within it.
  uint64_t bytes = count * storage_bytes(e, type) + 2 * LINE;
  LLVMValueRef offset = index_constant(e, (int64_t)e->scratch_top);
  b->type = type;
  b->at = LLVMBuildGEP2(e->b, e->i8, e->scratch, &offset, 1, "");
  e->scratch_top += (bytes + LINE - 1) / LINE * LINE;
  if (e->scratch_top > e->scratch_bytes)
    e->scratch_bytes = e->scratch_top;
  if (e->scratch_bytes > SCRATCH_LIMIT)
    refuse(e, (MlirOperation){NULL}, "its tiles need more than %d MiB of scratch",
           SCRATCH_LIMIT >> 20);
  return b;
}

struct buffer *buffer_new(struct strip_emitter *e, MlirType tile) {
  int64_t shape[MAX_RANK];
  unsigned rank = tensor_rank(tile);
  for (unsigned d = 0; d < rank; d++)
    shape[d] = tensor_dim(tile, d);
  return buffer_of_type(e, storage_type(e, element_type(tile)), rank, shape);
}

struct buffer *buffer_for(struct strip_emitter *e, MlirValue v) {
  struct buffer *wanted = ptrmap_get(&e->wanted, v.ptr);
  return wanted ? wanted : buffer_new(e, mlirValueGetType(v));
}

LLVMValueRef scratch_address(struct strip_emitter *e, const struct buffer *b,
                             const struct position *p) {
  LLVMValueRef at = NULL;
  for (unsigned d = 0; d < p->rank; d++) {
    if (LLVMIsAConstantInt(p->at[d]) && LLVMConstIntGetZExtValue(p->at[d]) == 0)
      continue;
    LLVMValueRef part = LLVMBuildNSWMul(e->b, p->at[d], index_constant(e, b->stride[d]), "");
    at = at ? LLVMBuildNSWAdd(e->b, at, part, "") : part;
  }
  return at ? LLVMBuildInBoundsGEP2(e->b, b->type, b->at, &at, 1, "") : b->at;
}

static unsigned alignment(struct strip_emitter *e, const struct buffer *b, unsigned lanes) {
  unsigned bytes = storage_bytes(e, b->type) * lanes;
  return bytes < LINE ? bytes : LINE;
}

// The pointers of lanes that are not neighbours.
static LLVMValueRef lane_pointers(struct strip_emitter *e, const struct buffer *b,
                                  const struct position *p) {
  LLVMValueRef first = scratch_address(e, b, p);
  LLVMValueRef steps = LLVMBuildMul(
      e->b, counting(e, e->i64, p->lanes),
      int_constant(LLVMVectorType(e->i64, p->lanes), (uint64_t)b->stride[p->lane]), "");
  return LLVMBuildInBoundsGEP2(e->b, b->type, first, &steps, 1, "");
}

// Every second element from `at` on: two vectors, of which one half each is dropped.
static LLVMValueRef load_every_second(struct strip_emitter *e, const struct buffer *b,
                                      const struct position *p) {
  LLVMValueRef picks[STRIP];
  LLVMTypeRef type = LLVMVectorType(b->type, 2 * p->lanes);
  LLVMValueRef both = LLVMBuildLoad2(e->b, type, scratch_address(e, b, p), "");
  LLVMSetAlignment(both, storage_bytes(e, b->type));
  for (unsigned i = 0; i < p->lanes; i++)
    picks[i] = LLVMConstInt(e->i32, 2 * i, false);
  return LLVMBuildShuffleVector(e->b, both, LLVMGetPoison(type), LLVMConstVector(picks, p->lanes),
                                "");
}

LLVMValueRef scratch_load(struct strip_emitter *e, const struct buffer *b,
                          const struct position *p) {
  if (p->lanes > 1 && b->stride[p->lane] == 2)
    return load_every_second(e, b, p);
  if (p->lanes > 1 && b->stride[p->lane] != 1)
    return gather_elements(e, b->type, lane_pointers(e, b, p), NULL, NULL);
  LLVMValueRef v = LLVMBuildLoad2(e->b, vector_of(b->type, p->lanes), scratch_address(e, b, p), "");
  LLVMSetAlignment(v, alignment(e, b, p->lanes));
  return v;
}

void scratch_store(struct strip_emitter *e, const struct buffer *b, const struct position *p,
                   LLVMValueRef v) {
  if (p->lanes > 1 && b->stride[p->lane] != 1) {
    scatter_elements(e, lane_pointers(e, b, p), NULL, v);
    return;
  }
  LLVMSetAlignment(LLVMBuildStore(e->b, v, scratch_address(e, b, p)), alignment(e, b, p->lanes));
}

LLVMValueRef to_storage(struct strip_emitter *e, LLVMValueRef v) {
  LLVMTypeRef t = scalar_type(v);
  if (t == e->i1)
    return LLVMBuildZExt(e->b, v, like(v, e->i8), "");
  return t == e->ptr ? bits_of(e, v) : v;
}

LLVMValueRef from_storage(struct strip_emitter *e, LLVMValueRef v, LLVMTypeRef register_element) {
  if (register_element == e->i1)
    return LLVMBuildICmp(e->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
  return register_element == e->ptr ? of_bits(e, v, e->ptr) : v;
}
