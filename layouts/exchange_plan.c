// SPDX-License-Identifier: Apache-2.0
// Where to put elements in shared memory. With E the space of elements, an offset is coordinates
// along a basis of E, in this order:
//
//   V  elements of one access: bases that are registers of both sides, at most 16 bytes
//   H  what is left of a 4-byte word
//   B  the bank
//   S  the line of all banks
//
// The lanes that are served together conflict when two of them differ by an element of V + H + S
// outside V: same bank, another word. So H + S must meet neither the source's lanes (plus V) nor
// the destination's, except in zero: take what lies outside both, then sums of one vector of each
// that is not of the other. There are always enough of them.
#include "layouts/exchange_plan.h"

#include "layouts/banks.h"
#include "layouts/gf2.h"

enum {
  MAX_BYTES = 16,
  WORD_BITS = 2,
  BANK_BITS = 5,
  MAX_LANE_BITS = 5
}; // logarithms, but for the bytes

struct side {
  const struct linear_layout *layout;
  unsigned registers, lanes; // bits
  uint64_t reg[LL_MAX_BITS], lane[LL_MAX_BITS];
};

struct basis {
  unsigned count;
  uint64_t at[64];
};

static bool side_of(const struct linear_layout *l, struct side *ret) {
  struct gf2_columns all;
  if (!gf2_columns_of(l, &all) || ll_total_out_bits(l) > LL_MAX_BITS ||
      gf2_span_of(&all).rank != ll_total_out_bits(l))
    return false;
  memset(ret, 0, sizeof *ret);
  ret->layout = l;
  int r = ll_find_in(l, LL_REGISTER), t = ll_find_in(l, LL_LANE);
  ret->registers = ll_in_bits(l, LL_REGISTER);
  ret->lanes = ll_in_bits(l, LL_LANE);
  for (unsigned b = 0; b < ret->registers; b++)
    ret->reg[b] = gf2_flatten(l, l->basis[r][b]);
  for (unsigned b = 0; b < ret->lanes; b++)
    ret->lane[b] = gf2_flatten(l, l->basis[t][b]);
  return true;
}

static bool push(struct basis *b, struct gf2_span *span, uint64_t v) {
  if (!gf2_add(span, v, 0))
    return false;
  b->at[b->count++] = v;
  return true;
}

static int find(const uint64_t *list, unsigned n, uint64_t v) {
  for (unsigned i = 0; i < n; i++)
    if (list[i] == v)
      return (int)i;
  return -1;
}

// Registers of both sides, in the order of the destination.
static struct basis common_registers(const struct side *src, const struct side *dst) {
  struct basis v = {0};
  struct gf2_span span = {0};
  for (unsigned b = 0; b < dst->registers; b++)
    if (find(src->reg, src->registers, dst->reg[b]) >= 0)
      push(&v, &span, dst->reg[b]);
  return v;
}

// Up to `want` vectors that avoid both sides' lanes: the span of them meets V + lanes of either
// side in zero only.
static struct basis avoid_lanes(const struct basis *v, const struct side *src,
                                const struct side *dst, unsigned lanes, unsigned elements,
                                unsigned want) {
  struct basis own_src = {0}, own_dst = {0}, ret = {0};
  struct gf2_span with_src = {0}, with_dst = {0};
  for (unsigned i = 0; i < v->count; i++) {
    gf2_add(&with_src, v->at[i], 0);
    gf2_add(&with_dst, v->at[i], 0);
  }
  struct gf2_span only_src = with_src, only_dst = with_dst;
  for (unsigned b = 0; b < lanes && b < src->lanes; b++)
    gf2_add(&only_src, src->lane[b], 0);
  for (unsigned b = 0; b < lanes && b < dst->lanes; b++)
    gf2_add(&only_dst, dst->lane[b], 0);
  with_src = only_src;
  with_dst = only_dst;
  for (unsigned b = 0; b < lanes && b < src->lanes; b++)
    push(&own_src, &with_dst, src->lane[b]);
  for (unsigned b = 0; b < lanes && b < dst->lanes; b++)
    push(&own_dst, &with_src, dst->lane[b]);
  struct gf2_span both = with_src; // all lanes of both sides
  for (unsigned b = 0; b < elements && ret.count < want; b++)
    push(&ret, &both, 1ull << b);
  for (unsigned i = 0; i < own_src.count && i < own_dst.count && ret.count < want; i++)
    ret.at[ret.count++] = own_src.at[i] ^ own_dst.at[i];
  return ret;
}

// The offset's basis: V, H, B, S.
static struct linear_layout place(const struct basis *v, const struct side *src,
                                  const struct side *dst, unsigned element_bits) {
  unsigned elements = ll_total_out_bits(src->layout), bytes = log2_floor(element_bits / 8);
  unsigned width = v->count + bytes; // log2 of the bytes of an access
  unsigned half_bits = width < WORD_BITS ? WORD_BITS - width : 0;
  unsigned bank_bits = width > WORD_BITS ? BANK_BITS + WORD_BITS - width : BANK_BITS;
  unsigned left = elements - v->count, want = left > bank_bits ? left - bank_bits : 0;
  struct basis lines = avoid_lanes(v, src, dst, bank_bits, elements, want), all = *v;
  struct gf2_span span = {0};
  for (unsigned i = 0; i < v->count; i++)
    gf2_add(&span, v->at[i], 0);
  unsigned halves = half_bits < lines.count ? half_bits : lines.count;
  for (unsigned i = 0; i < lines.count; i++) {
    gf2_add(&span, lines.at[i], 0);
    if (i < halves)
      all.at[all.count++] = lines.at[i];
  }
  // Banks in the order of the source's lanes, which keeps its addresses simple.
  for (unsigned b = 0; b < src->lanes; b++)
    push(&all, &span, src->lane[b]);
  for (unsigned b = 0; b < elements; b++)
    push(&all, &span, 1ull << b);
  for (unsigned i = halves; i < lines.count; i++)
    all.at[all.count++] = lines.at[i];
  struct linear_layout shared = ll_empty(src->layout->out_count, src->layout->out_bits);
  ll_add_in(&shared, LL_OFFSET);
  for (unsigned i = 0; i < all.count; i++) {
    uint32_t image[LL_MAX_OUT] = {0};
    gf2_unflatten(shared.out_count, shared.out_bits, all.at[i], image);
    ll_push_basis(&shared, LL_OFFSET, image);
  }
  return shared;
}

// The register whose neighbour in memory is 2^k offsets away, if nothing else moves an access by
// that; -1 without one.
static int vector_register(const struct linear_layout *offsets, uint32_t skip, unsigned k) {
  int found = -1;
  for (unsigned i = 0; i < offsets->in_count; i++)
    for (unsigned b = 0; b < offsets->in_bits[i]; b++) {
      bool is_register = offsets->in[i] == LL_REGISTER;
      uint32_t offset = offsets->basis[i][b][0];
      if ((offset >> k & 1) == 0 || (is_register && skip >> b & 1))
        continue;
      if (found >= 0 || !is_register || offset != 1u << k)
        return -1;
      found = (int)b;
    }
  return found;
}

// As wide as the places allow.
static bool make_side(const struct linear_layout *layout, const struct linear_layout *shared,
                      unsigned element_bits, struct exchange_side *ret) {
  memset(ret, 0, sizeof *ret);
  if (!ll_invert_and_compose(layout, shared, &ret->offsets))
    return false;
  uint32_t free_masks[LL_NO_IN], vector = 0;
  ll_free_masks(&ret->offsets, free_masks);
  while ((element_bits / 8) << (ret->vec_bits + 1) <= MAX_BYTES) {
    int r = vector_register(&ret->offsets, free_masks[LL_REGISTER], ret->vec_bits);
    if (r < 0)
      break;
    ret->vec_register[ret->vec_bits++] = (unsigned)r;
    vector |= 1u << r;
  }
  ret->skip_mask = vector | free_masks[LL_REGISTER];
  return true;
}

static bool is_exchange(const struct linear_layout *src, const struct linear_layout *dst,
                        unsigned element_bits) {
  return element_bits >= 8 && element_bits <= 64 && is_pow2(element_bits) &&
         src->out_count == dst->out_count &&
         memcmp(src->out_bits, dst->out_bits, src->out_count * sizeof src->out_bits[0]) == 0;
}

bool exchange_plan_with(const struct linear_layout *src, const struct linear_layout *dst,
                        const struct linear_layout *shared, unsigned element_bits,
                        struct exchange_plan *ret) {
  ret->shared = *shared;
  return is_exchange(src, dst, element_bits) && make_side(src, shared, element_bits, &ret->store) &&
         make_side(dst, shared, element_bits, &ret->load);
}

bool exchange_plan_make(const struct linear_layout *src, const struct linear_layout *dst,
                        unsigned element_bits, struct exchange_plan *ret) {
  struct side from, to;
  if (!is_exchange(src, dst, element_bits) || !side_of(src, &from) || !side_of(dst, &to))
    return false;
  struct basis v = common_registers(&from, &to);
  while (v.count > 0 && (element_bits / 8) << v.count > MAX_BYTES)
    v.count--;
  for (;; v.count--) { // without a vector it always works
    struct linear_layout shared = place(&v, &from, &to, element_bits);
    bool made = exchange_plan_with(src, dst, &shared, element_bits, ret);
    if (made && ret->store.vec_bits >= v.count && ret->load.vec_bits >= v.count)
      return true;
    if (v.count == 0)
      return false;
  }
}

unsigned exchange_wavefronts(const struct exchange_side *side, unsigned element_bits,
                             uint32_t copies) {
  uint32_t address[1 << MAX_LANE_BITS], index[LL_NO_IN] = {0}, at[LL_MAX_OUT];
  unsigned lanes = 0, bytes = (element_bits / 8) << side->vec_bits, bits = 0;
  for (uint32_t lane = 0; lane < 1u << MAX_LANE_BITS; lane++) {
    if (lane & copies)
      continue;
    index[LL_LANE] = lane;
    ll_apply(&side->offsets, index, at);
    address[lanes++] = at[0] * (element_bits / 8);
  }
  // Other registers move all lanes alike.
  for (unsigned b = 0; b < ll_in_bits(&side->offsets, LL_REGISTER); b++)
    bits += !(side->skip_mask >> b & 1);
  return bank_wavefronts(address, lanes, bytes) << bits;
}
