// SPDX-License-Identifier: Apache-2.0
// Shuffle schedules. The source of destination register r of thread t is
//
//   register A r + B t,  lane C r + D t        (+ is xor; t covers lanes and warps)
//
// A shuffle lets every lane send one register and read one lane. With round r serving register r
// for all lanes, two lanes that read the same lane may need different registers of it: those are
// the vectors of the kernel of D where B is not zero. So a round serves register r + F t instead,
// with F chosen to map each such vector to a register bit whose C is another lane. Then
//
//   lane   C r + D' t     D' = D + C F, and what a lane must send depends on that lane alone:
//   register = A r + W t, W = B + A F, W t = G (D' t) for a linear G, up to the remainder
//   W (kernel of D'), which needs choices.
//
// Register index = (constant of the round) + (linear function of the thread) on both sides: the
// thread's part is a few conditional swaps, before the exchange (G) and after it (F).
#include "layouts/shuffle_plan.h"

#include "layouts/gf2.h"

enum { OUT_REGISTER, OUT_LANE, OUT_WARP, MAX_THREAD_BITS = 16 };

// The matrices as images of bits.
struct maps {
  unsigned lanes, threads, registers;              // bits
  uint64_t a[LL_MAX_BITS], c[LL_MAX_BITS];         // of a register bit
  uint64_t b[MAX_THREAD_BITS], d[MAX_THREAD_BITS]; // of a thread bit
  uint64_t f[MAX_THREAD_BITS];
};

static uint64_t image(const uint64_t *columns, uint64_t x) {
  uint64_t sum = 0;
  for (; x != 0; x &= x - 1)
    sum ^= columns[__builtin_ctzll(x)];
  return sum;
}

// False when an element is in another warp. Thread bit 5 is warp bit 0, however many lanes.
static bool maps_of(const struct linear_layout *source_of, struct maps *m) {
  memset(m, 0, sizeof *m);
  m->lanes = ll_in_bits(source_of, LL_LANE);
  m->registers = ll_in_bits(source_of, LL_REGISTER);
  m->threads = SHUFFLE_LANE_BITS + ll_in_bits(source_of, LL_WARP);
  if (m->lanes > SHUFFLE_LANE_BITS || m->threads > MAX_THREAD_BITS)
    return false;
  for (unsigned i = 0; i < source_of->in_count; i++)
    for (unsigned k = 0; k < source_of->in_bits[i]; k++) {
      const uint32_t *at = source_of->basis[i][k];
      enum ll_in in = source_of->in[i];
      if (at[OUT_WARP] != (in == LL_WARP ? 1u << k : 0))
        return false;
      unsigned bit = in == LL_WARP ? SHUFFLE_LANE_BITS + k : k;
      *(in == LL_REGISTER ? &m->a[bit] : &m->b[bit]) = at[OUT_REGISTER];
      *(in == LL_REGISTER ? &m->c[bit] : &m->d[bit]) = at[OUT_LANE];
    }
  return true;
}

// A basis of the lanes' kernel of D: first `ret_same` vectors on which B vanishes too (replicas),
// then those by which readers of one lane differ.
static unsigned lane_kernel(const struct maps *m, uint64_t *ret, unsigned *ret_same) {
  struct gf2_span lanes = {0}, wanted = {0};
  uint64_t differ[SHUFFLE_LANE_BITS];
  unsigned same = 0, differing = 0;
  for (unsigned k = 0; k < m->lanes; k++) {
    uint64_t v = 1ull << k;
    if (gf2_add(&lanes, m->d[k], v))
      continue;
    gf2_reduce(&lanes, m->d[k], &v);
    if (gf2_add(&wanted, image(m->b, v), v)) {
      differ[differing++] = v;
    } else {
      gf2_reduce(&wanted, image(m->b, v), &v);
      ret[same++] = v;
    }
  }
  memcpy(ret + same, differ, differing * sizeof *differ);
  *ret_same = same;
  return same + differing;
}

// Chooses F and writes the stages that undo it on the receiving side.
static void untangle(struct maps *m, struct shuffle_plan *ret) {
  uint64_t kernel[SHUFFLE_LANE_BITS], coordinate[SHUFFLE_LANE_BITS];
  unsigned same, n = lane_kernel(m, kernel, &same);
  gf2_dual(n, kernel, coordinate);
  struct gf2_span lanes = {0};
  for (unsigned k = 0; k < m->lanes; k++)
    gf2_add(&lanes, m->d[k], 0);
  unsigned r = 0;
  for (unsigned i = same; i < n; i++) {
    while (r < m->registers && !gf2_add(&lanes, m->c[r], 0))
      r++;
    if (r == m->registers)
      return; // choices resolve the rest
    for (unsigned k = 0; k < m->lanes; k++)
      if (coordinate[i] >> k & 1)
        m->f[k] ^= 1ull << r;
    ret->post[ret->post_count++] =
        (struct shuffle_stage){.thread_mask = (uint32_t)coordinate[i], .flip = 1u << r};
    r++;
  }
}

// Stages for "register index + X t", X given as the images of thread bits: as many as X has rank.
static unsigned stages_of(const uint64_t *x, unsigned threads, unsigned registers,
                          struct shuffle_stage *ret) {
  struct gf2_span rows = {0};
  unsigned count = 0;
  for (unsigned k = 0; k < registers; k++) {
    uint64_t row = 0, made_of = 0;
    for (unsigned t = 0; t < threads; t++)
      row |= (x[t] >> k & 1) << t;
    if (count < SHUFFLE_MAX_STAGES && gf2_add(&rows, row, 1ull << count)) {
      ret[count++] = (struct shuffle_stage){.thread_mask = (uint32_t)row, .flip = 1u << k};
      continue;
    }
    // gf2_reduce returns a combination of the stages so far, which are the tags.
    gf2_reduce(&rows, row, &made_of);
    for (unsigned i = 0; i < count; i++)
      ret[i].flip |= (uint32_t)(made_of >> i & 1) << k;
  }
  return count;
}

// The remainder W t + G (D' t), a vector of the span of the registers that readers of one lane
// read. Its coordinates choose.
static void choices_of(const uint64_t *left, unsigned lanes, struct shuffle_plan *ret) {
  struct gf2_span span = {0};
  uint64_t flips[SHUFFLE_LANE_BITS], coordinate[SHUFFLE_LANE_BITS];
  unsigned n = 0;
  for (unsigned k = 0; k < lanes; k++)
    if (gf2_add(&span, left[k], 0))
      flips[n++] = left[k];
  gf2_dual(n, flips, coordinate);
  for (unsigned i = 0; i < n; i++) {
    uint32_t mask = 0;
    for (unsigned k = 0; k < lanes; k++)
      mask |= gf2_parity(coordinate[i] & left[k]) << k;
    ret->choice[i] = (struct shuffle_stage){.thread_mask = mask, .flip = (uint32_t)flips[i]};
  }
  ret->choice_count = n;
}

bool shuffle_plan_make(const struct convert_plan *p, struct shuffle_plan *ret) {
  struct maps m;
  memset(ret, 0, sizeof *ret);
  if (!maps_of(&p->source_of, &m))
    return false;
  ret->src_bits = p->source_of.out_bits[OUT_REGISTER];
  ret->dst_bits = m.registers;
  untangle(&m, ret);

  // D' and W on all thread bits; a basis of the image of D' on lanes, and coordinates along it.
  uint64_t d[MAX_THREAD_BITS] = {0}, w[MAX_THREAD_BITS] = {0};
  for (unsigned k = 0; k < m.threads; k++) {
    d[k] = m.d[k] ^ image(m.c, m.f[k]);
    w[k] = m.b[k] ^ image(m.a, m.f[k]);
  }
  struct gf2_span lanes = {0};
  uint64_t basis[SHUFFLE_LANE_BITS], coordinate[SHUFFLE_LANE_BITS], wanted[SHUFFLE_LANE_BITS];
  unsigned n = 0;
  for (unsigned k = 0; k < m.lanes; k++)
    if (gf2_add(&lanes, d[k], 0)) {
      wanted[n] = w[k];
      basis[n++] = d[k];
    }
  gf2_dual(n, basis, coordinate);
  // G on lane bits, then X: what a thread adds to the register it sends.
  uint64_t g[SHUFFLE_LANE_BITS] = {0}, x[MAX_THREAD_BITS] = {0}, left[SHUFFLE_LANE_BITS] = {0};
  for (unsigned k = 0; k < m.lanes; k++)
    for (unsigned i = 0; i < n; i++)
      g[k] ^= coordinate[i] >> k & 1 ? wanted[i] : 0;
  for (unsigned k = 0; k < m.threads; k++)
    x[k] = k < SHUFFLE_LANE_BITS ? g[k] : image(g, d[k]) ^ w[k];
  for (unsigned k = 0; k < m.lanes; k++)
    left[k] = w[k] ^ image(g, d[k]);
  ret->pre_count = stages_of(x, m.threads, ret->src_bits, ret->pre);
  choices_of(left, m.lanes, ret);

  ret->lane_is_own = true;
  for (unsigned i = 0; i < m.lanes; i++) {
    for (unsigned k = 0; k < m.threads; k++)
      ret->lane_mask[i] |= (uint32_t)(d[k] >> i & 1) << k;
    ret->lane_is_own &= ret->lane_mask[i] == 1u << i;
  }
  for (unsigned k = 0; k < m.registers; k++) {
    ret->send_of[k] = (uint32_t)(m.a[k] ^ image(g, m.c[k]));
    ret->lane_flip_of[k] = (uint32_t)m.c[k];
  }
  return true;
}

// ---- reading a schedule ----

struct shuffle_round shuffle_plan_round(const struct shuffle_plan *s, uint32_t r) {
  struct shuffle_round round = {0};
  struct gf2_span span = {0};
  uint64_t both = 0, same_as = 0;
  for (unsigned k = 0; k < s->dst_bits; k++) {
    uint64_t column = (uint64_t)s->send_of[k] << SHUFFLE_LANE_BITS | s->lane_flip_of[k];
    gf2_add(&span, column, 1ull << k);
    if (r >> k & 1) {
      both ^= column;
      round.send ^= s->send_of[k];
      round.lane_flip ^= s->lane_flip_of[k];
    }
  }
  gf2_reduce(&span, both, &same_as);
  round.same_as = (uint32_t)same_as;
  round.is_move = s->lane_is_own && round.lane_flip == 0;
  return round;
}

// Distinct rounds: 2^(rank of the rounds' map); of them, moves when `moves`.
static unsigned distinct_rounds(const struct shuffle_plan *s, bool moves) {
  struct gf2_span all = {0}, flips = {0};
  for (unsigned k = 0; k < s->dst_bits; k++) {
    gf2_add(&all, (uint64_t)s->send_of[k] << SHUFFLE_LANE_BITS | s->lane_flip_of[k], 0);
    gf2_add(&flips, s->lane_flip_of[k], 0);
  }
  if (moves)
    return s->lane_is_own ? 1u << (all.rank - flips.rank) : 0;
  return 1u << all.rank;
}

unsigned shuffle_plan_shuffles(const struct shuffle_plan *s) {
  return (distinct_rounds(s, false) - distinct_rounds(s, true)) << s->choice_count;
}

unsigned shuffle_plan_selects(const struct shuffle_plan *s) {
  return (s->pre_count << s->src_bits) + (s->post_count << s->dst_bits) +
         distinct_rounds(s, false) * ((1u << s->choice_count) - 1);
}
