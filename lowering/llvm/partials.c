// SPDX-License-Identifier: Apache-2.0
// See partials.h.
#include "lowering/llvm/partials.h"

#include "layouts/exchange_plan.h"
#include "lowering/analysis/collective.h"

// Stores the partial results of an element consecutively, for wide loads.
static struct linear_layout side_by_side(const struct partials *p) {
  struct linear_layout shared = ll_empty(p->from->out_count, p->from->out_bits);
  uint32_t image[LL_MAX_OUT] = {0};
  ll_add_in(&shared, LL_OFFSET);
  for (unsigned b = 0; b < shared.out_bits[p->axis]; b++) {
    image[p->axis] = 1u << b;
    ll_push_basis(&shared, LL_OFFSET, image);
  }
  for (unsigned d = shared.out_count; d-- > 0;)
    for (unsigned b = 0; d != p->axis && b < shared.out_bits[d]; b++) {
      memset(image, 0, sizeof image);
      image[d] = 1u << b;
      ll_push_basis(&shared, LL_OFFSET, image);
    }
  return shared;
}

static unsigned wavefronts(const struct exchange_plan *x, unsigned bits,
                           const struct linear_layout *from) {
  uint32_t copies[LL_NO_IN];
  ll_free_masks(from, copies);
  return exchange_wavefronts(&x->store, bits, copies[LL_LANE]) +
         exchange_wavefronts(&x->load, bits, 0);
}

// The better of two layouts: free of conflicts, or with the widest loads.
static bool choose_exchange(const struct partials *p, unsigned bits, struct exchange_plan *ret) {
  struct linear_layout shared = side_by_side(p);
  struct exchange_plan wide;
  if (!exchange_plan_make(p->from, p->to, bits, 0, ret))
    return false;
  if (exchange_plan_with(p->from, p->to, &shared, bits, 0, &wide) &&
      wavefronts(&wide, bits, p->from) <= wavefronts(ret, bits, p->from))
    *ret = wide;
  return true;
}

static LLVMValueRef area(struct emitter *e, LLVMValueRef base, uint32_t offset) {
  LLVMValueRef at = const_i32(e, offset);
  return offset ? LLVMBuildGEP2(e->b, e->i8, base, &at, 1, "") : base;
}

bool exchange_partials(struct emitter *e, MlirOperation op, const struct partials *p,
                       const LLVMTypeRef *types, LLVMValueRef **x) {
  struct exchange_plan exchanges[REDUCE_MAX_VALUES];
  for (unsigned i = 0; i < p->count; i++)
    if (!choose_exchange(p, packing_of(e, types[i], 1).bits, &exchanges[i]))
      return emit_unsupported(e, op, "layouts that do not cover their tile");
  LLVMValueRef base = scratch_begin(e, op, p->bytes);
  LLVMValueRef owner = owner_predicate(e, p->from);
  struct branch br;
  if (owner)
    br = branch_begin(e, owner);
  for (unsigned i = 0; i < p->count; i++)
    exchange_store(e, &exchanges[i].store, types[i], area(e, base, p->offset[i]), x[i]);
  if (owner)
    branch_end(e, &br);
  cta_barrier(e);
  for (unsigned i = 0; i < p->count; i++) {
    x[i] = arena_array(e->arena, LLVMValueRef, ll_in_size(p->to, LL_REGISTER));
    exchange_load(e, &exchanges[i].load, types[i], area(e, base, p->offset[i]), x[i]);
  }
  scratch_end(e);
  return true;
}
