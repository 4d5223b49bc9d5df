// SPDX-License-Identifier: Apache-2.0
// join, split, interleave, cat: two tiles become one of twice the size, and back.
#include "tile.h"

#include <stdio.h>
#include <string.h>

static size_t joined(const struct tile_kernel *k, const unsigned *index, const unsigned *param,
                     unsigned *ret_operand) {
  (void)param;
  *ret_operand = index[k->out.rank - 1];
  return tile_linear(k->in[0], index);
}

// The half of the last axis that param selects.
static size_t half_of(const struct tile_kernel *k, const unsigned *index, const unsigned *param,
                      unsigned *ret_operand) {
  (void)ret_operand;
  return tile_linear(k->out, index) * 2 + *param;
}

static size_t interleaved(const struct tile_kernel *k, const unsigned *index, const unsigned *param,
                          unsigned *ret_operand) {
  unsigned from[TILE_RANK];
  (void)param;
  memcpy(from, index, sizeof from);
  *ret_operand = from[k->out.rank - 1] % 2;
  from[k->out.rank - 1] /= 2;
  return tile_linear(k->in[0], from);
}

// One after the other along axis *param.
static size_t concatenated(const struct tile_kernel *k, const unsigned *index,
                           const unsigned *param, unsigned *ret_operand) {
  unsigned from[TILE_RANK];
  memcpy(from, index, sizeof from);
  *ret_operand = from[*param] / k->in[0].dim[*param];
  from[*param] %= k->in[0].dim[*param];
  return tile_linear(k->in[0], from);
}

static void two(struct suite *s, const char *expr, struct tile in, struct tile out,
                source_fn source, const unsigned *param) {
  struct tile_kernel k = {.expr = expr, .arity = 2, .in = {in, in}, .out = out};
  char name[128];
  snprintf(name, sizeof name, "%s of rank %u, %zu elements", expr, in.rank, tile_count(in));
  rearrange(s, name, &k, source, param);
}

static void halves(struct suite *s, struct tile in) {
  static const unsigned which[] = {0, 1};
  struct tile_kernel k = {.arity = 1, .in = {in}, .out = tile_without(in, in.rank - 1)};
  char name[128];
  for (int i = 0; i < 2; i++) {
    k.body = "    low, high = tl.split(a)\n";
    k.expr = i ? "high" : "low";
    snprintf(name, sizeof name, "%s half by split of rank %u, %zu elements", k.expr, in.rank,
             tile_count(in));
    rearrange(s, name, &k, half_of, &which[i]);
  }
}

void family_join(struct suite *s) {
  static const unsigned axes[] = {0, 1};
  two(s, "tl.join(a, b)", TILE(64), TILE(64, 2), joined, NULL);
  two(s, "tl.join(a, b)", TILE(8, 16), TILE(8, 16, 2), joined, NULL);
  two(s, "tl.join(a, b)", TILE(1), TILE(1, 2), joined, NULL);
  two(s, "tl.join(a, b)", TILE(2, 4, 8), TILE(2, 4, 8, 2), joined, NULL);
  two(s, "tl.interleave(a, b)", TILE(128), TILE(256), interleaved, NULL);
  two(s, "tl.interleave(a, b)", TILE(16, 16), TILE(16, 32), interleaved, NULL);
  two(s, "tl.cat(a, b)", TILE(64), TILE(128), concatenated, &axes[0]);
  two(s, "tl.cat(a, b, dim=0)", TILE(8, 16), TILE(16, 16), concatenated, &axes[0]);
  two(s, "tl.cat(a, b, dim=1)", TILE(8, 16), TILE(8, 32), concatenated, &axes[1]);
  halves(s, TILE(64, 2));
  halves(s, TILE(8, 16, 2));
  halves(s, TILE(1, 2));
  halves(s, TILE(512, 2));
}
