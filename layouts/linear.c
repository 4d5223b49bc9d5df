// SPDX-License-Identifier: Apache-2.0
// Linear layouts: construction, evaluation, and the queries that elimination answers (surjective,
// injective, replicated bits).
#include "layouts/gf2.h"

#include <assert.h>

const char *ll_in_name(enum ll_in in) {
  static const char *const names[LL_NO_IN] = {"register", "lane", "warp", "block", "offset"};
  return (unsigned)in < LL_NO_IN ? names[in] : "?";
}

// ---- building ----

struct linear_layout ll_empty(unsigned out_count, const unsigned *out_bits) {
  struct linear_layout l = {0};
  l.out_count = out_count < LL_MAX_OUT ? out_count : LL_MAX_OUT;
  for (unsigned d = 0; d < l.out_count; d++)
    l.out_bits[d] = out_bits ? out_bits[d] : 0;
  return l;
}

int ll_find_in(const struct linear_layout *l, enum ll_in in) {
  for (unsigned i = 0; i < l->in_count; i++)
    if (l->in[i] == in)
      return (int)i;
  return -1;
}

unsigned ll_in_bits(const struct linear_layout *l, enum ll_in in) {
  int i = ll_find_in(l, in);
  return i < 0 ? 0 : l->in_bits[i];
}

void ll_add_in(struct linear_layout *l, enum ll_in in) {
  if (ll_find_in(l, in) >= 0 || l->in_count == LL_MAX_IN)
    return;
  unsigned at = l->in_count++;
  for (; at > 0 && l->in[at - 1] > in; at--) {
    l->in[at] = l->in[at - 1];
    l->in_bits[at] = l->in_bits[at - 1];
    memcpy(l->basis[at], l->basis[at - 1], sizeof l->basis[at]);
  }
  l->in[at] = in;
  l->in_bits[at] = 0;
  memset(l->basis[at], 0, sizeof l->basis[at]);
}

void ll_push_basis(struct linear_layout *l, enum ll_in in, const uint32_t *coords) {
  ll_add_in(l, in);
  int i = ll_find_in(l, in);
  if (i < 0 || l->in_bits[i] == LL_MAX_BITS)
    return;
  memcpy(l->basis[i][l->in_bits[i]], coords, l->out_count * sizeof *coords);
  l->in_bits[i]++;
}

struct linear_layout ll_identity(enum ll_in in, unsigned bits, unsigned rank, unsigned dim) {
  assert(dim < rank && rank <= LL_MAX_OUT);
  struct linear_layout l = ll_empty(rank, NULL);
  ll_add_in(&l, in);
  for (unsigned b = 0; b < bits; b++) {
    uint32_t image[LL_MAX_OUT] = {0};
    image[dim] = 1u << b;
    ll_push_basis(&l, in, image);
  }
  l.out_bits[dim] = bits;
  return l;
}

struct linear_layout ll_zeros(enum ll_in in, unsigned bits, unsigned rank) {
  assert(rank <= LL_MAX_OUT);
  struct linear_layout l = ll_empty(rank, NULL);
  ll_add_in(&l, in);
  return ll_resize_in(&l, in, bits);
}

struct linear_layout ll_product(const struct linear_layout *a, const struct linear_layout *b) {
  assert(a->out_count == b->out_count);
  struct linear_layout l = *a;
  for (unsigned i = 0; i < b->in_count; i++) {
    ll_add_in(&l, b->in[i]);
    for (unsigned k = 0; k < b->in_bits[i]; k++) {
      uint32_t image[LL_MAX_OUT] = {0};
      for (unsigned d = 0; d < l.out_count; d++)
        image[d] = b->basis[i][k][d] << a->out_bits[d];
      ll_push_basis(&l, b->in[i], image);
    }
  }
  for (unsigned d = 0; d < l.out_count; d++)
    l.out_bits[d] += b->out_bits[d];
  return l;
}

struct linear_layout ll_remove_zero_bases(const struct linear_layout *l, enum ll_in in) {
  struct linear_layout r = *l;
  int i = ll_find_in(l, in);
  if (i < 0)
    return r;
  static const uint32_t zero[LL_MAX_OUT];
  r.in_bits[i] = 0;
  memset(r.basis[i], 0, sizeof r.basis[i]);
  for (unsigned b = 0; b < l->in_bits[i]; b++)
    if (memcmp(l->basis[i][b], zero, l->out_count * sizeof *zero) != 0)
      ll_push_basis(&r, in, l->basis[i][b]);
  return r;
}

struct linear_layout ll_resize_in(const struct linear_layout *l, enum ll_in in, unsigned bits) {
  static const uint32_t zero[LL_MAX_OUT];
  struct linear_layout r = *l;
  ll_add_in(&r, in);
  int i = ll_find_in(&r, in);
  if (i < 0)
    return r;
  while (r.in_bits[i] > bits)
    memset(r.basis[i][--r.in_bits[i]], 0, sizeof r.basis[i][0]);
  while (r.in_bits[i] < bits && r.in_bits[i] < LL_MAX_BITS)
    ll_push_basis(&r, in, zero);
  return r;
}

// ---- evaluating and comparing ----

void ll_apply(const struct linear_layout *l, const uint32_t index[LL_NO_IN], uint32_t *ret) {
  memset(ret, 0, l->out_count * sizeof *ret);
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = 0; b < l->in_bits[i]; b++)
      if (index[l->in[i]] >> b & 1)
        for (unsigned d = 0; d < l->out_count; d++)
          ret[d] ^= l->basis[i][b][d];
}

bool ll_equal(const struct linear_layout *a, const struct linear_layout *b) {
  if (a->out_count != b->out_count ||
      memcmp(a->out_bits, b->out_bits, a->out_count * sizeof a->out_bits[0]) != 0)
    return false;
  static const enum ll_in all[] = {LL_REGISTER, LL_LANE, LL_WARP, LL_BLOCK, LL_OFFSET};
  for (unsigned k = 0; k < COUNT_OF(all); k++) {
    unsigned bits = ll_in_bits(a, all[k]);
    if (bits != ll_in_bits(b, all[k]))
      return false;
    if (bits == 0)
      continue;
    int i = ll_find_in(a, all[k]), j = ll_find_in(b, all[k]);
    for (unsigned n = 0; n < bits; n++)
      if (memcmp(a->basis[i][n], b->basis[j][n], a->out_count * sizeof(uint32_t)) != 0)
        return false;
  }
  return true;
}

// ---- questions of rank ----

static unsigned rank_of(const struct linear_layout *l) {
  struct gf2_columns c;
  return gf2_columns_of(l, &c) ? gf2_span_of(&c).rank : 0;
}

bool ll_is_surjective(const struct linear_layout *l) { return rank_of(l) == ll_total_out_bits(l); }

bool ll_is_injective(const struct linear_layout *l) { return rank_of(l) == ll_total_in_bits(l); }

void ll_free_masks(const struct linear_layout *l, uint32_t ret_masks[LL_NO_IN]) {
  memset(ret_masks, 0, LL_NO_IN * sizeof *ret_masks);
  struct gf2_span span = {0};
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = 0; b < l->in_bits[i]; b++)
      if (!gf2_add(&span, gf2_flatten(l, l->basis[i][b]), 0))
        ret_masks[l->in[i]] |= 1u << b;
}

// Coordinates flattened with `fast` in the lowest bits, then the others from the last on.
static uint64_t flatten_fast(const struct linear_layout *l, unsigned fast, const uint32_t *coords) {
  uint64_t flat = 0;
  for (unsigned d = 0; d < l->out_count; d++)
    if (d != fast)
      flat = flat << l->out_bits[d] | coords[d];
  return flat << l->out_bits[fast] | coords[fast];
}

unsigned ll_consecutive(const struct linear_layout *l, enum ll_in in, unsigned fast_dim) {
  int at = ll_find_in(l, in);
  if (at < 0 || fast_dim >= l->out_count)
    return 1;
  unsigned run = 0;
  while (run < l->in_bits[at] && flatten_fast(l, fast_dim, l->basis[at][run]) == 1ull << run)
    run++;
  // The run must also start at a multiple of its length for all values of the other bits.
  uint64_t others = 0;
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = (int)i == at ? run : 0; b < l->in_bits[i]; b++)
      others |= flatten_fast(l, fast_dim, l->basis[i][b]);
  while (run > 0 && (others & ((1ull << run) - 1)) != 0)
    run--;
  return 1u << run;
}

void ll_print(const struct linear_layout *l, struct strbuf *out) {
  for (unsigned i = 0; i < l->in_count; i++) {
    strbuf_printf(out, "%s%s: [", i ? ", " : "", ll_in_name(l->in[i]));
    for (unsigned b = 0; b < l->in_bits[i]; b++) {
      strbuf_puts(out, b ? ",[" : "[");
      for (unsigned d = 0; d < l->out_count; d++)
        strbuf_printf(out, "%s%u", d ? "," : "", l->basis[i][b][d]);
      strbuf_putc(out, ']');
    }
    strbuf_putc(out, ']');
  }
}
