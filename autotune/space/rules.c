// SPDX-License-Identifier: Apache-2.0
// The rules of derived spaces: ranges of extents by their use, and elements per thread. They are
// wide on purpose: what they exclude is never measured.
#include "autotune/space/rules.h"

// ---- Values ----

static uint64_t pow2_above(uint64_t n) {
  uint64_t p = 1;
  while (p < n)
    p *= 2;
  return p;
}

static size_t powers(int64_t least, int64_t most, unsigned step, int64_t *ret, size_t cap) {
  size_t n = 0;
  for (int64_t v = least; v <= most && n < cap; v *= step)
    ret[n++] = v;
  return n;
}

// Blocks of a dimension of known length are at most that length, rounded up.
static size_t blocks(int64_t least, int64_t most, uint64_t length, unsigned step, int64_t *ret,
                     size_t cap) {
  if (length && (uint64_t)most > pow2_above(length))
    most = (int64_t)pow2_above(length);
  if (most < least)
    least = most;
  return powers(least, most, step, ret, cap);
}

static size_t list(const int64_t *values, size_t count, int64_t *ret) {
  memcpy(ret, values, count * sizeof *values);
  return count;
}

#define LIST(ret, ...)                                                                             \
  list((const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t),   \
       ret)

size_t space_values(const struct lang_extents *x, size_t i, uint64_t length, bool is_alone,
                    unsigned detail, int64_t *ret, size_t cap) {
  const struct lang_extent *e = &x->params[i];
  unsigned step = detail ? 2 : 4;
  bool long_enough =
      length >= 64 || detail == 0; // shorter ones are too small for a matrix instruction
  // Matrix instructions have 16 rows or 8 columns, and 16 columns of 16-bit elements.
  int64_t least = long_enough ? 32 : 16;
  switch (e->use) {
  case EXTENT_NONE: return 0;
  case EXTENT_ELEMENT:
    return is_alone ? blocks(128, 8192, length, step, ret, cap)
                    : blocks(1, 256, length, step, ret, cap);
  case EXTENT_STEP:
    return is_alone ? blocks(128, 8192, length, step, ret, cap)
                    : blocks(8, 256, length, step, ret, cap);
  case EXTENT_ROW:
    return length ? (*ret = (int64_t)pow2_above(length), 1) : powers(1024, 8192, 2, ret, cap);
  case EXTENT_DOT_M: {
    size_t n = blocks(least, 256, length, 2, ret, cap);
    return *ret >= 16 ? n : (*ret = 16, 1); // a length below 16 is masked
  }
  case EXTENT_DOT_N: {
    size_t n = blocks(least, x->has_chain ? 128 : 256, length, 2, ret, cap);
    return *ret >= 16 ? n : (*ret = 16, 1);
  }
  case EXTENT_DOT_K: {
    size_t n = blocks(least, detail ? 128 : 64, length, 2, ret, cap);
    return *ret >= 16 ? n : (*ret = 16, 1);
  }
  case EXTENT_GROUP: return detail == 2 ? LIST(ret, 1, 4, 8, 16) : LIST(ret, 8);
  case EXTENT_STAGES: return LIST(ret, 1, 2, 3, 4);
  }
  return 0;
}

static bool has_use(const struct lang_extents *x, enum extent_use use) {
  for (size_t i = 0; i < x->count; i++)
    if (x->params[i].use == use)
      return true;
  return false;
}

size_t space_warps(const struct lang_extents *x, int64_t *ret) {
  if (x->has_dot)
    return LIST(ret, 1, 2, 4, 8, 16);
  if (has_use(x, EXTENT_ROW) || x->has_reduction)
    return LIST(ret, 1, 2, 4, 8, 16, 32);
  return LIST(ret, 1, 2, 4, 8);
}

size_t space_stages(const struct lang_extents *x, unsigned detail, int64_t *ret) {
  if (!x->has_loop_with_loads)
    return 0;
  if (!x->has_dot)
    return detail == 2 ? LIST(ret, 1, 2, 3, 4) : LIST(ret, 1, 3);
  return detail == 2 ? LIST(ret, 2, 3, 4, 5) : LIST(ret, 2, 3, 4);
}

// ---- Combinations ----

static int64_t number_at(const struct space_rules *r, const struct tune_config *c, int dim) {
  return r->numbers[dim][c->at[dim]];
}

// A parameter's value; 0: unknown.
static int64_t value_of(const struct space_rules *r, const struct tune_config *c, int param) {
  int dim = r->dims[param];
  return dim >= 0 ? number_at(r, c, dim) : r->given[param];
}

// 0: unknown.
static double elements(const struct space_rules *r, const struct tune_config *c,
                       const struct lang_tile *t) {
  double n = 1;
  for (unsigned i = 0; i < t->rank; i++)
    n *= t->axes[i].param >= 0 ? (double)value_of(r, c, t->axes[i].param)
                               : (double)t->axes[i].length;
  return n;
}

// Blocks outside the rules occur only in the declared default.
static bool in_range(const struct space_rules *r, const struct tune_config *c) {
  for (size_t i = 0; i < r->x->count; i++) {
    const struct lang_extent *e = &r->x->params[i];
    int64_t v = r->dims[i] >= 0 ? number_at(r, c, r->dims[i]) : 0;
    bool is_block = e->use != EXTENT_GROUP && e->use != EXTENT_STAGES && e->use != EXTENT_ROW;
    bool is_dot = e->use == EXTENT_DOT_M || e->use == EXTENT_DOT_N || e->use == EXTENT_DOT_K;
    if (is_block && v > (is_dot ? 16 : 1) && r->lengths[i] &&
        (uint64_t)v > pow2_above(r->lengths[i]))
      return false;
  }
  return true;
}

// Enough iterations for the pipeline's stages.
static bool fills_stages(const struct space_rules *r, const struct tune_config *c) {
  int64_t stages = r->stages >= 0 ? number_at(r, c, r->stages) : 0;
  for (size_t i = 0; i < r->x->count; i++) {
    int64_t v = value_of(r, c, (int)i);
    if (!r->x->params[i].is_step || !r->lengths[i] || v <= 0)
      continue;
    uint64_t iterations = (r->lengths[i] + (uint64_t)v - 1) / (uint64_t)v;
    if (stages > 2 && (uint64_t)stages > iterations)
      return false;
  }
  return true;
}

// Accumulators: enough elements per thread for the matrix instructions, few enough for registers;
// and not too narrow unless the matrix is.
static bool products_fit(const struct space_rules *r, const struct tune_config *c, int64_t warps) {
  double threads = (double)warps * 32, sum = 0, largest = 0;
  for (size_t i = 0; i < r->x->tile_count; i++) {
    const struct lang_tile *t = &r->x->tiles[i];
    if (!t->is_product)
      continue;
    double n = elements(r, c, t);
    if (warps > 1 && n > 0 && n / threads < (warps <= 4 ? 8 : 16))
      return false;
    largest = n > largest ? n : largest;
    sum += n;
  }
  if (warps >= 16 && largest < 32768)
    return false;
  return largest / threads <= 128 && (r->one_by_one || sum / threads <= 192);
}

static bool is_square_enough(const struct space_rules *r, const struct tune_config *c) {
  int64_t m = 0, n = 0;
  bool all_of_m = false, all_of_n = false;
  for (size_t i = 0; i < r->x->count; i++) {
    if (r->x->params[i].use != EXTENT_DOT_M && r->x->params[i].use != EXTENT_DOT_N)
      continue;
    int64_t v = value_of(r, c, (int)i);
    bool all = r->lengths[i] && (uint64_t)v >= r->lengths[i];
    if (r->x->params[i].use == EXTENT_DOT_M) {
      m = v;
      all_of_m = all;
    } else {
      n = v;
      all_of_n = all;
    }
  }
  return m == 0 || n == 0 || r->x->has_chain ||
         ((all_of_m || m * 4 >= n) && (all_of_n || n * 4 >= m)) || (m == 16 || n == 16);
}

// Whether every extent that may be small has its smallest value.
static bool is_smallest(const struct space_rules *r, const struct tune_config *c) {
  for (size_t i = 0; i < r->x->count; i++)
    if (r->dims[i] >= 0 && c->at[r->dims[i]] > 0 && r->x->params[i].is_tile)
      return false;
  return true;
}

// Elements per thread of the largest tile.
static bool elements_fit(const struct space_rules *r, const struct tune_config *c, int64_t warps) {
  double largest = 0;
  for (size_t i = 0; i < r->x->tile_count; i++) {
    double n = elements(r, c, &r->x->tiles[i]);
    largest = n > largest ? n : largest;
  }
  if (largest == 0) // no tile is known
    return warps <= 8;
  double each = largest / ((double)warps * 32);
  bool has_rows = has_use(r->x, EXTENT_ROW);
  if (each < 2)
    return warps == 1;
  return each <= (has_rows ? 64 : 32) || (has_rows && warps == 32 && is_smallest(r, c));
}

bool space_is_sensible(void *user, const struct tune_config *config) {
  const struct space_rules *r = user;
  int64_t warps = r->warps >= 0 ? number_at(r, config, r->warps) : 4;
  if (!in_range(r, config) || !fills_stages(r, config))
    return false;
  return r->x->has_dot ? products_fit(r, config, warps) && is_square_enough(r, config)
                       : elements_fit(r, config, warps);
}
