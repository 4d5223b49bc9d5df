// SPDX-License-Identifier: Apache-2.0
// Random and listed small layouts for the tests, from fixed seeds, and the direct evaluation they
// are checked against.
#ifndef TESTS_UNIT_LAYOUTS_GENERATE_H
#define TESTS_UNIT_LAYOUTS_GENERATE_H

#include "layouts/encoding.h"

#include <check.h>

// For inner loops: Check's own assertions write a mark each time, failing or not.
#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition))                                                                              \
      ck_abort_msg("%s:%d: not so: %s", __FILE__, __LINE__, #condition);                           \
  } while (0)

struct random {
  uint64_t state;
};

uint32_t random_below(struct random *r, uint32_t n); // 0 .. n-1

// A layout of `bits[in]` bits for each input (those with 0 bits are left out at random) on a shape
// of 1 to 3 dimensions, `out_bits` in total. With `simple` all bases are unit vectors or zero.
struct linear_layout random_layout(struct random *r, const unsigned bits[LL_NO_IN],
                                   unsigned out_bits, bool simple);
// Another one on the same shape as `like`, surjective. There must be enough input bits.
struct linear_layout random_surjective(struct random *r, const unsigned bits[LL_NO_IN],
                                       const struct linear_layout *like, bool simple);

// The same shape, `count` dimensions; row-major index of coordinates and back, by multiplication
// and division.
uint32_t row_major(const struct linear_layout *shape_of, const uint32_t *coords);

// Enumerates all input indices of a layout: for (i = 0; i < input_count(l); i++) input_at(l, i, x).
uint32_t input_count(const struct linear_layout *l);
void input_at(const struct linear_layout *l, uint32_t i, uint32_t index[LL_NO_IN]);

// The row-major element at an index, by summing the images of its bits.
uint32_t element_at(const struct linear_layout *l, const uint32_t index[LL_NO_IN]);
// The same for register, lane, warp.
uint32_t element_of(const struct linear_layout *l, uint32_t reg, uint32_t lane, uint32_t warp);

// Parses an encoding that must be right.
const struct encoding *encoding_must(struct arena *a, const char *text);
// Its layout of a shape, which must fit.
struct linear_layout linear_must(struct arena *a, const char *text, unsigned rank,
                                 const int64_t *shape);

#endif
