// SPDX-License-Identifier: Apache-2.0
// Elimination over GF(2), against listing all sums.
#include "generate.h"
#include "layouts/gf2.h"
#include "suites.h"

static uint64_t sum_of(const uint64_t *columns, uint64_t which) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < 64; i++)
    if (which >> i & 1)
      sum ^= columns[i];
  return sum;
}

START_TEST(spans) {
  struct random r = {1};
  for (int round = 0; round < 300; round++) {
    unsigned n = random_below(&r, 7), bits = 1 + random_below(&r, 6);
    uint64_t columns[8] = {0};
    struct gf2_span span = {0};
    bool reached[64] = {false};
    unsigned grown = 0;
    for (unsigned i = 0; i < n; i++) {
      columns[i] = random_below(&r, 1u << bits);
      grown += gf2_add(&span, columns[i], 1ull << i);
    }
    unsigned size = 0;
    for (uint64_t which = 0; which < 1u << n; which++) {
      uint64_t s = sum_of(columns, which);
      size += !reached[s];
      reached[s] = true;
    }
    EXPECT(grown == span.rank);
    EXPECT(size == 1u << span.rank);
    for (uint64_t v = 0; v < 1u << bits; v++) {
      uint64_t which = 0, left = gf2_reduce(&span, v, &which);
      EXPECT((left == 0) == reached[v]);
      EXPECT((sum_of(columns, which) ^ left) == v);
      if (left == 0) // the smallest of all solutions
        for (uint64_t other = 0; other < which; other++)
          EXPECT(sum_of(columns, other) != v);
    }
  }
}
END_TEST

START_TEST(dual_masks) {
  struct random r = {2};
  for (int round = 0; round < 500; round++) {
    struct gf2_span span = {0};
    uint64_t vectors[8], masks[8];
    unsigned n = 0;
    for (int tries = 0; tries < 7; tries++) {
      uint64_t v = random_below(&r, 256);
      if (gf2_add(&span, v, 0))
        vectors[n++] = v;
    }
    gf2_dual(n, vectors, masks);
    for (unsigned i = 0; i < n; i++)
      for (unsigned k = 0; k < n; k++)
        EXPECT(gf2_parity(masks[i] & vectors[k]) == (i == k));
  }
}
END_TEST

TCase *gf2_tests(void) {
  TCase *t = tcase_create("gf2");
  tcase_add_test(t, spans);
  tcase_add_test(t, dual_masks);
  return t;
}
