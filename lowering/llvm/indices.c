// SPDX-License-Identifier: Apache-2.0
// Layouts as arithmetic: the coordinates of the elements in a thread's registers. A layout is
// linear, so an index is one value that depends on the thread alone, xor a constant for each
// register; where they have no bits in common (nearly always) the xor is written as an addition,
// which LLVM folds into addresses.
#include "lowering/analysis/scratch.h"
#include "lowering/llvm/emit.h"

struct linear_memo {
  struct linear_memo *next;
  uint32_t image[THREAD_BITS], flip;
  LLVMValueRef value;
};

// One term for all bits that move by the same distance.
static LLVMValueRef shifted_bits(struct emitter *e, uint32_t bits, int left, uint32_t all) {
  LLVMValueRef x = e->thread_id;
  if (bits != all)
    x = LLVMBuildAnd(e->entry, x, const_i32(e, bits), "");
  if (left > 0) {
    x = LLVMBuildShl(e->entry, x, const_i32(e, (uint32_t)left), "");
    LLVMSetNUW(x, true);
    LLVMSetNSW(x, true);
  } else if (left < 0) {
    x = LLVMBuildLShr(e->entry, x, const_i32(e, (uint32_t)-left), "");
  }
  return x;
}

static LLVMValueRef add_or_xor(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y, bool disjoint) {
  if (!disjoint)
    return LLVMBuildXor(b, x, y, "");
  LLVMValueRef sum = LLVMBuildAdd(b, x, y, "");
  if (LLVMIsAInstruction(sum)) {
    LLVMSetNUW(sum, true);
    LLVMSetNSW(sum, true);
  }
  return sum;
}

static LLVMValueRef build_linear(struct emitter *e, const uint32_t image[THREAD_BITS]) {
  uint32_t all = 32 * e->num_warps - 1;
  LLVMValueRef sum = NULL;
  uint32_t seen = 0; // output bits of the sum so far
  for (int left = 31; left > -THREAD_BITS; left--) {
    uint32_t bits = 0, moved = 0;
    for (int b = 0; b < THREAD_BITS && (all >> b & 1); b++) {
      int to = b + left;
      if (to >= 0 && to < 32 && (image[b] >> to & 1)) {
        bits |= 1u << b;
        moved |= 1u << to;
      }
    }
    if (!bits)
      continue;
    LLVMValueRef term = shifted_bits(e, bits, left, all);
    sum = sum ? add_or_xor(e->entry, sum, term, (seen & moved) == 0) : term;
    seen |= moved;
  }
  return sum ? sum : const_i32(e, 0);
}

// The xor of both, in the entry block.
static LLVMValueRef flipped(struct emitter *e, const uint32_t image[THREAD_BITS], uint32_t flip) {
  for (struct linear_memo *m = e->memo; m; m = m->next)
    if (m->flip == flip && memcmp(m->image, image, sizeof m->image) == 0)
      return m->value;
  LLVMValueRef value =
      flip ? LLVMBuildXor(e->entry, linear_of_thread(e, image), const_i32(e, flip), "")
           : build_linear(e, image);
  struct linear_memo *m = arena_new(e->arena, struct linear_memo);
  *m = (struct linear_memo){.next = e->memo, .flip = flip, .value = value};
  memcpy(m->image, image, sizeof m->image);
  e->memo = m;
  return m->value;
}

LLVMValueRef linear_of_thread(struct emitter *e, const uint32_t image[THREAD_BITS]) {
  return flipped(e, image, 0);
}

LLVMValueRef thread_parity(struct emitter *e, uint32_t mask) {
  uint32_t image[THREAD_BITS];
  for (unsigned b = 0; b < THREAD_BITS; b++)
    image[b] = mask >> b & 1;
  LLVMValueRef bit = linear_of_thread(e, image);
  return LLVMBuildICmp(e->b, LLVMIntNE, bit, const_i32(e, 0), "");
}

// Images of the bits of lane and warp in output `dim`, and the union of their bits.
static uint32_t thread_images(const struct linear_layout *l, unsigned dim,
                              uint32_t ret[THREAD_BITS]) {
  uint32_t bits = 0;
  memset(ret, 0, THREAD_BITS * sizeof *ret);
  for (unsigned i = 0; i < l->in_count; i++) {
    unsigned first = l->in[i] == LL_LANE ? 0 : LANE_BITS;
    if (l->in[i] != LL_LANE && l->in[i] != LL_WARP)
      continue;
    for (unsigned b = 0; b < l->in_bits[i] && first + b < THREAD_BITS; b++)
      bits |= ret[first + b] = l->basis[i][b][dim];
  }
  return bits;
}

void layout_indices(struct emitter *e, const struct linear_layout *l, int dim, LLVMValueRef *ret) {
  struct linear_layout flat = dim < 0 ? ll_flatten_outs(l) : *l;
  unsigned out = dim < 0 ? 0 : (unsigned)dim;
  uint32_t image[THREAD_BITS], thread_bits = thread_images(&flat, out, image);
  LLVMValueRef base = linear_of_thread(e, image);
  for (uint32_t r = 0; r < register_count(l); r++) {
    uint32_t index[LL_NO_IN] = {[LL_REGISTER] = r}, at[LL_MAX_OUT];
    ll_apply(&flat, index, at);
    ret[r] = at[out] == 0
                 ? base
                 : add_or_xor(e->b, base, const_i32(e, at[out]), (at[out] & thread_bits) == 0);
  }
}

void layout_offsets(struct emitter *e, const struct linear_layout *l, uint32_t start,
                    LLVMValueRef *ret_thread, uint32_t *ret_rest) {
  uint32_t image[THREAD_BITS], thread_bits = thread_images(l, 0, image);
  for (uint32_t r = 0; r < register_count(l); r++) {
    uint32_t index[LL_NO_IN] = {[LL_REGISTER] = r}, at[LL_MAX_OUT];
    ll_apply(l, index, at);
    at[0] ^= start;
    ret_thread[r] = flipped(e, image, at[0] & thread_bits);
    ret_rest[r] = at[0] & ~thread_bits;
  }
}

LLVMValueRef owner_predicate(struct emitter *e, const struct linear_layout *l) {
  uint32_t bits = thread_copies(l, e->num_warps);
  if (bits == 0)
    return NULL;
  LLVMValueRef own = e->thread_id;
  if (bits != 32 * e->num_warps - 1)
    own = LLVMBuildAnd(e->entry, own, const_i32(e, bits), "");
  return LLVMBuildICmp(e->entry, LLVMIntEQ, own, const_i32(e, 0), "owner");
}

uint32_t owner_registers(const struct linear_layout *l) { return register_copies(l); }
