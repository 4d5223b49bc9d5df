// SPDX-License-Identifier: Apache-2.0
// Small layouts for the tests.
#include "generate.h"

uint32_t random_below(struct random *r, uint32_t n) {
  r->state = r->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((r->state >> 33) % n);
}

static void fill(struct random *r, const unsigned bits[LL_NO_IN], bool simple,
                 struct linear_layout *l) {
  unsigned total = ll_total_out_bits(l);
  uint32_t left = total >= 32 ? 0 : (1u << total) - 1; // unit vectors not used yet
  for (unsigned in = 0; in < LL_NO_IN; in++) {
    if (bits[in] == 0 && (in == LL_OFFSET || random_below(r, 2)))
      continue;
    if (l->in_count < LL_MAX_IN)
      ll_add_in(l, (enum ll_in)in);
    for (unsigned b = 0; b < bits[in]; b++) {
      uint32_t image[LL_MAX_OUT] = {0};
      if (simple) {
        uint32_t pick = left && random_below(r, 5) ? random_below(r, 32) : 32;
        for (uint32_t tries = 0; pick < 32 && !(left >> pick & 1) && tries < 64; tries++)
          pick = (pick + 1) % 32;
        if (pick < 32) {
          left &= ~(1u << pick);
          unsigned d = 0, at = pick;
          while (at >= l->out_bits[d])
            at -= l->out_bits[d++];
          image[d] = 1u << at;
        }
      } else {
        for (unsigned d = 0; d < l->out_count; d++)
          image[d] = random_below(r, 1u << l->out_bits[d]);
      }
      ll_push_basis(l, (enum ll_in)in, image);
    }
  }
}

struct linear_layout random_layout(struct random *r, const unsigned bits[LL_NO_IN],
                                   unsigned out_bits, bool simple) {
  unsigned rank = 1 + random_below(r, 3), cut[3] = {0};
  for (unsigned b = 0; b < out_bits; b++)
    cut[random_below(r, rank)]++;
  struct linear_layout l = ll_empty(rank, cut);
  fill(r, bits, simple, &l);
  return l;
}

// All elements reached, by looking at each.
static bool reaches_all(const struct linear_layout *l) {
  static bool seen[1 << 12];
  uint32_t size = 1u << ll_total_out_bits(l), count = 0, index[LL_NO_IN];
  memset(seen, 0, size * sizeof *seen);
  for (uint32_t i = 0; i < input_count(l); i++) {
    input_at(l, i, index);
    uint32_t e = element_at(l, index);
    count += !seen[e];
    seen[e] = true;
  }
  return count == size;
}

struct linear_layout random_surjective(struct random *r, const unsigned bits[LL_NO_IN],
                                       const struct linear_layout *like, bool simple) {
  struct linear_layout l;
  do {
    l = ll_empty(like->out_count, like->out_bits);
    fill(r, bits, simple, &l);
  } while (!reaches_all(&l));
  return l;
}

uint32_t row_major(const struct linear_layout *shape_of, const uint32_t *coords) {
  uint32_t e = 0;
  for (unsigned d = 0; d < shape_of->out_count; d++) {
    uint32_t size = 1u << shape_of->out_bits[d];
    EXPECT(coords[d] < size);
    e = e * size + coords[d];
  }
  return e;
}

uint32_t input_count(const struct linear_layout *l) {
  uint32_t n = 1;
  for (unsigned i = 0; i < l->in_count; i++)
    n *= 1u << l->in_bits[i];
  return n;
}

void input_at(const struct linear_layout *l, uint32_t i, uint32_t index[LL_NO_IN]) {
  memset(index, 0, LL_NO_IN * sizeof *index);
  for (unsigned k = 0; k < l->in_count; k++) {
    uint32_t size = 1u << l->in_bits[k];
    index[l->in[k]] = i % size;
    i /= size;
  }
}

uint32_t element_at(const struct linear_layout *l, const uint32_t index[LL_NO_IN]) {
  uint32_t coords[LL_MAX_OUT] = {0};
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = 0; b < l->in_bits[i]; b++)
      for (unsigned d = 0; d < l->out_count; d++)
        coords[d] ^= (index[l->in[i]] >> b & 1) * l->basis[i][b][d];
  return row_major(l, coords);
}

uint32_t element_of(const struct linear_layout *l, uint32_t reg, uint32_t lane, uint32_t warp) {
  uint32_t index[LL_NO_IN] = {[LL_REGISTER] = reg, [LL_LANE] = lane, [LL_WARP] = warp};
  return element_at(l, index);
}

const struct encoding *encoding_must(struct arena *a, const char *text) {
  const char *error = "";
  size_t at;
  const struct encoding *e = encoding_parse(a, str_from(text), &error, &at);
  ck_assert_msg(e != NULL, "%s: %s", text, error);
  return e;
}

struct linear_layout linear_must(struct arena *a, const char *text, unsigned rank,
                                 const int64_t *shape) {
  struct linear_layout l;
  const char *why = "";
  ck_assert_msg(encoding_to_linear(encoding_must(a, text), rank, shape, &l, &why), "%s: %s", text,
                why);
  return l;
}
