// SPDX-License-Identifier: Apache-2.0
// Chooses offsets in shared memory. With E the space of elements, an offset is coordinates along a
// basis of E, in this order:
//
//   V  elements of one access: bases that are registers of both sides, at most 16 bytes
//   H  the rest of a 4-byte word
//   B  the bank
//   S  the line of all banks
//
// The lanes that are served together conflict when two of them differ by an element of V + H + S
// outside V: same bank, another word. So H + S must meet neither the source's lanes (plus V) nor
// the destination's, except in zero: take what lies outside both, then sums of one vector of each
// that is not of the other. There are always enough of them.
//
// Where a side has the form of matrices, V is a row of 16 bytes, and only lanes that give rows are
// served together on that side.
#include "layouts/exchange_matrix.h"
#include "layouts/gf2.h"

enum {
  MAX_BYTES = 16,
  WORD_BITS = 2,
  BANK_BITS = 5,
  MAX_LANE_BITS = 5
}; // logarithms, except MAX_BYTES

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

// What one access of a side moves, and the lanes (or rows) that are served together.
struct reach {
  struct basis vec;
  unsigned count;
  uint64_t lane[MAX_LANE_BITS];
};

static struct reach reach_of(const struct side *s, const struct basis *vec, unsigned lanes) {
  struct reach r = {.vec = *vec, .count = lanes < s->lanes ? lanes : s->lanes};
  memcpy(r.lane, s->lane, r.count * sizeof r.lane[0]);
  return r;
}

static struct gf2_span span_of(const struct reach *r) {
  struct gf2_span span = {0};
  for (unsigned i = 0; i < r->vec.count; i++)
    gf2_add(&span, r->vec.at[i], 0);
  for (unsigned b = 0; b < r->count; b++)
    gf2_add(&span, r->lane[b], 0);
  return span;
}

static void push_all(struct basis *b, struct gf2_span *span, const struct reach *r) {
  for (unsigned i = 0; i < r->vec.count; i++)
    push(b, span, r->vec.at[i]);
  for (unsigned i = 0; i < r->count; i++)
    push(b, span, r->lane[i]);
}

// Up to `most` vectors that avoid both reaches: the span of them meets either in zero only.
static struct basis avoid(const struct reach *src, const struct reach *dst, unsigned elements,
                          unsigned most) {
  struct basis own_src = {0}, own_dst = {0}, ret = {0};
  struct gf2_span with_src = span_of(src), with_dst = span_of(dst);
  push_all(&own_src, &with_dst, src);
  push_all(&own_dst, &with_src, dst);
  struct gf2_span both = with_src;
  for (unsigned b = 0; b < elements && ret.count < most; b++)
    push(&ret, &both, 1ull << b);
  for (unsigned i = 0; i < own_src.count && i < own_dst.count && ret.count < most; i++)
    ret.at[ret.count++] = own_src.at[i] ^ own_dst.at[i];
  return ret;
}

// How the bits of an offset are divided, above V.
struct division {
  unsigned word_rest, banks; // of a word; of a line
};

static struct division division_of(unsigned vec_bits, unsigned element_bits) {
  unsigned width = vec_bits + log2_floor(element_bits / 8); // log2 of the bytes
  return (struct division){.word_rest = width < WORD_BITS ? WORD_BITS - width : 0,
                           .banks = width > WORD_BITS ? BANK_BITS + WORD_BITS - width : BANK_BITS};
}

// The offset's basis: V, H, B, S. False if they do not span all elements.
static bool offset_basis(const struct basis *v, const struct reach *from, const struct reach *to,
                         const struct side *src, unsigned element_bits, struct linear_layout *ret) {
  unsigned elements = ll_total_out_bits(src->layout);
  struct division d = division_of(v->count, element_bits);
  unsigned left = elements - v->count, most = left > d.banks ? left - d.banks : 0;
  struct basis lines = avoid(from, to, elements, most), all = *v;
  struct gf2_span span = {0};
  for (unsigned i = 0; i < v->count; i++)
    gf2_add(&span, v->at[i], 0);
  unsigned word_rest = d.word_rest < lines.count ? d.word_rest : lines.count;
  for (unsigned i = 0; i < lines.count; i++) {
    if (!gf2_add(&span, lines.at[i], 0))
      return false;
    if (i < word_rest)
      all.at[all.count++] = lines.at[i];
  }
  // Banks in the order of the source's lanes, for simple addresses.
  for (unsigned b = 0; b < src->lanes; b++)
    push(&all, &span, src->lane[b]);
  for (unsigned b = 0; b < elements; b++)
    push(&all, &span, 1ull << b);
  for (unsigned i = word_rest; i < lines.count; i++)
    all.at[all.count++] = lines.at[i];
  *ret = ll_empty(src->layout->out_count, src->layout->out_bits);
  ll_add_in(ret, LL_OFFSET);
  for (unsigned i = 0; i < all.count; i++) {
    uint32_t image[LL_MAX_OUT] = {0};
    gf2_unflatten(ret->out_count, ret->out_bits, all.at[i], image);
    ll_push_basis(ret, LL_OFFSET, image);
  }
  return true;
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

// The widest accesses that the offsets allow.
static void vectors_of(uint32_t copies, unsigned element_bits, struct exchange_side *ret) {
  uint32_t vector = 0;
  while ((element_bits / 8) << (ret->vec_bits + 1) <= MAX_BYTES) {
    int r = vector_register(&ret->offsets, copies, ret->vec_bits);
    if (r < 0)
      break;
    ret->vec_register[ret->vec_bits++] = (unsigned)r;
    vector |= 1u << r;
  }
  ret->skip_mask = vector | copies;
}

// Fewer instructions without more wavefronts.
static bool is_better(const struct exchange_side *a, const struct exchange_side *b,
                      unsigned element_bits) {
  return exchange_instructions(a) < exchange_instructions(b) &&
         exchange_wavefronts(a, element_bits, 0) <= exchange_wavefronts(b, element_bits, 0);
}

static bool make_side(const struct linear_layout *layout, const struct linear_layout *shared,
                      unsigned element_bits, bool stores, unsigned instructions,
                      struct exchange_side *ret) {
  memset(ret, 0, sizeof *ret);
  if (!ll_invert_and_compose(layout, shared, &ret->offsets))
    return false;
  uint32_t copies[LL_NO_IN];
  ll_free_masks(&ret->offsets, copies);
  vectors_of(copies[LL_REGISTER], element_bits, ret);
  // Lanes that replicate do not store, and matrix instructions need all lanes.
  if (!(instructions & (stores ? EXCHANGE_STMATRIX : EXCHANGE_LDMATRIX)) ||
      (stores && copies[LL_LANE]))
    return true;
  struct linear_layout offsets = ret->offsets;
  struct exchange_side side;
  for (int form = EXCHANGE_MATRICES; form <= EXCHANGE_TRANSPOSED; form++)
    if (matrix_side_of(&offsets, copies[LL_REGISTER], element_bits, (enum exchange_form)form,
                       &side) &&
        is_better(&side, ret, element_bits))
      *ret = side;
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
                        unsigned instructions, struct exchange_plan *ret) {
  ret->shared = *shared;
  return is_exchange(src, dst, element_bits) &&
         make_side(src, shared, element_bits, true, instructions, &ret->store) &&
         make_side(dst, shared, element_bits, false, instructions, &ret->load);
}

// ---- offsets for matrices ----

// Elements of a row in the order of memory, as the side's lanes and registers give them. Registers
// of a word that the other side also has form its vectors.
static bool row_of(const struct side *s, const struct side *other, unsigned element_bits,
                   enum exchange_form form, struct basis *ret) {
  unsigned row_bits, word_bits;
  struct gf2_span span = {0};
  if (s->lanes != MATRIX_LANE_BITS || !matrix_row_of(element_bits, form, &row_bits, &word_bits))
    return false;
  memset(ret, 0, sizeof *ret);
  bool transposed = form == EXCHANGE_TRANSPOSED;
  struct basis words = common_registers(s, other);
  for (unsigned i = 0; !transposed && i < words.count && ret->count < word_bits; i++)
    push(ret, &span, words.at[i]);
  for (unsigned b = 0; !transposed && b < s->registers && ret->count < word_bits; b++)
    push(ret, &span, s->reg[b]);
  if (!transposed && ret->count < word_bits)
    return false;
  for (unsigned b = transposed ? 2 : 0; b < (transposed ? MATRIX_LANE_BITS : 2); b++)
    if (!push(ret, &span, s->lane[b]))
      return false;
  return ret->count == row_bits;
}

// Whether the side has the row as a matrix needs it; ret: what is then served together.
static bool reach_of_matrix(const struct side *s, const struct basis *row, unsigned element_bits,
                            enum exchange_form form, struct reach *ret) {
  unsigned row_bits, word_bits, n = 0;
  bool transposed = form == EXCHANGE_TRANSPOSED;
  if (s->lanes != MATRIX_LANE_BITS || !matrix_row_of(element_bits, form, &row_bits, &word_bits))
    return false;
  *ret = (struct reach){.vec = *row, .count = MATRIX_ROW_BITS};
  unsigned first = transposed ? 2 : 0, from = transposed ? 0 : word_bits;
  for (unsigned i = from; i < row_bits; i++)
    if (row->at[i] != s->lane[first + i - from])
      return false;
  for (unsigned i = 0; i < from; i++)
    if (find(s->reg, s->registers, row->at[i]) < 0)
      return false;
  if (!transposed) {
    memcpy(ret->lane, s->lane + 2, sizeof ret->lane[0] * MATRIX_ROW_BITS);
    return true;
  }
  while (n < s->registers && s->reg[n] == 0)
    n++;
  if (n == s->registers)
    return false;
  ret->lane[0] = s->reg[n];
  memcpy(ret->lane + 1, s->lane, sizeof ret->lane[0] * 2);
  return true;
}

static struct reach reach_of_row(const struct side *s, const struct basis *row,
                                 unsigned element_bits, bool has_matrices) {
  struct reach r;
  for (int form = EXCHANGE_MATRICES; has_matrices && form <= EXCHANGE_TRANSPOSED; form++)
    if (reach_of_matrix(s, row, element_bits, (enum exchange_form)form, &r))
      return r;
  struct basis vec = *row;
  vec.count = 0;
  while (vec.count < row->count && find(s->reg, s->registers, row->at[vec.count]) >= 0)
    vec.count++;
  struct division d = division_of(vec.count, element_bits);
  vec.count += d.word_rest; // lanes share words
  return reach_of(s, &vec, d.banks);
}

static unsigned cost(const struct exchange_plan *p, unsigned element_bits, uint32_t copies,
                     unsigned *ret_instructions) {
  *ret_instructions = exchange_instructions(&p->store) + exchange_instructions(&p->load);
  return exchange_wavefronts(&p->store, element_bits,
                             p->store.form == EXCHANGE_VECTORS ? copies : 0) +
         exchange_wavefronts(&p->load, element_bits, 0);
}

// Rows of matrices instead of vectors, where that is better.
static void try_rows(const struct side *src, const struct side *dst, const struct side *owner,
                     unsigned element_bits, unsigned instructions, struct exchange_plan *best) {
  uint32_t copies[LL_NO_IN];
  ll_free_masks(src->layout, copies);
  for (int form = EXCHANGE_MATRICES; form <= EXCHANGE_TRANSPOSED; form++) {
    struct basis row;
    struct exchange_plan p;
    struct linear_layout shared;
    if (!row_of(owner, owner == src ? dst : src, element_bits, (enum exchange_form)form, &row))
      continue;
    struct reach from = reach_of_row(src, &row, element_bits, instructions & EXCHANGE_STMATRIX);
    struct reach to = reach_of_row(dst, &row, element_bits, instructions & EXCHANGE_LDMATRIX);
    unsigned count, least;
    if (offset_basis(&row, &from, &to, src, element_bits, &shared) &&
        exchange_plan_with(src->layout, dst->layout, &shared, element_bits, instructions, &p) &&
        cost(&p, element_bits, copies[LL_LANE], &count) <=
            cost(best, element_bits, copies[LL_LANE], &least) &&
        count < least)
      *best = p;
  }
}

bool exchange_plan_make(const struct linear_layout *src, const struct linear_layout *dst,
                        unsigned element_bits, unsigned instructions, struct exchange_plan *ret) {
  struct side from, to;
  if (!is_exchange(src, dst, element_bits) || !side_of(src, &from) || !side_of(dst, &to))
    return false;
  struct basis v = common_registers(&from, &to);
  while (v.count > 0 && (element_bits / 8) << v.count > MAX_BYTES)
    v.count--;
  for (;; v.count--) { // without a vector it always works
    unsigned lanes = division_of(v.count, element_bits).banks;
    struct reach stored = reach_of(&from, &v, lanes), loaded = reach_of(&to, &v, lanes);
    struct linear_layout shared;
    bool made = offset_basis(&v, &stored, &loaded, &from, element_bits, &shared) &&
                exchange_plan_with(src, dst, &shared, element_bits, 0, ret);
    if (made && ret->store.vec_bits >= v.count && ret->load.vec_bits >= v.count)
      break;
    if (v.count == 0)
      return false;
  }
  struct linear_layout shared = ret->shared;
  exchange_plan_with(src, dst, &shared, element_bits, instructions, ret);
  if (instructions & EXCHANGE_STMATRIX)
    try_rows(&from, &to, &from, element_bits, instructions, ret);
  if (instructions & EXCHANGE_LDMATRIX)
    try_rows(&from, &to, &to, element_bits, instructions, ret);
  return true;
}
