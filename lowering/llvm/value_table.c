// SPDX-License-Identifier: Apache-2.0
// The value table: the LLVM values of each MLIR value, one for each register of its layout.
#include "lowering/llvm/emit.h"

#include <assert.h>

const struct emitted *value_of(struct emitter *e, MlirValue v) {
  const struct emitted *x = ptrmap_get(&e->values, v.ptr);
  return x && x->spilled ? reload_spilled(e, x) : x;
}

struct emitted *value_bind(struct emitter *e, MlirValue v) {
  struct emitted *x = arena_new(e->arena, struct emitted);
  x->spilled = NULL;
  x->count = register_count(layout_of(e, mlirValueGetType(v)));
  x->at = arena_array(e->arena, LLVMValueRef, x->count);
  ptrmap_put(e->arena, &e->values, v.ptr, x);
  return x;
}

unsigned distinct_registers(struct emitter *e, const struct linear_layout *l, unsigned **ret) {
  uint32_t replicas = register_replicas(l);
  unsigned n = 0;
  *ret = arena_array(e->arena, unsigned, register_count(l));
  for (uint32_t r = 0; r < register_count(l); r++)
    if (!(r & replicas))
      (*ret)[n++] = r;
  return n;
}

void fill_replicas(const struct linear_layout *l, struct emitted *x) {
  assert(x->count == register_count(l));
  uint32_t replicas = register_replicas(l);
  for (uint32_t r = 0; r < x->count; r++)
    x->at[r] = x->at[r & ~replicas];
}
