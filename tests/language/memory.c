// SPDX-License-Identifier: Apache-2.0
// Loads and stores: masks with and without `other`, strides, indirection, offsets of every type,
// scalars, hints.
#include "tile.h"

#include <stdio.h>

// ---- masks ----

struct masked {
  const char *mask;  // of i and n
  const char *other; // an expression, "" for none
  bool other_is_tile;
};

static bool mask_holds(const char *mask, unsigned i, unsigned n) {
  switch (mask[0]) {
  case '(': return i < n && i % 3 == 1; // "(i < n) & (i % 3 == 1)"
  case 'i': return i < n;               // "i < n"
  case 'n': return i >= n / 2;          // "n // 2 <= i"
  default: return false;                // "False"
  }
}

// Masked-off lanes hold `other`, else 0; storing every lane without a mask tests that.
static void masked_load(struct suite *s, enum dtype t, const struct masked *m, unsigned n,
                        unsigned block, unsigned warps) {
  if (!case_begin(s, "load %s mask='%s' other='%s' n=%u B=%u warps=%u", dtype_name(t), m->mask,
                  m->other, n, block, warps))
    return;
  case_source(s,
              "@jit\ndef k(x, y, out, n):\n    i = arange(0, %u)\n"
              "    o = load(y + i)\n"
              "    store(out + i, load(x + i, mask=%s%s%s))\n",
              block, m->mask, m->other[0] ? ", other=" : "", m->other);
  case_warps(s, warps);
  bool reads_past = m->mask[0] == 'n'; // the mask does not keep it inside of n
  struct array *x = case_input(s, t, reads_past ? block : n), *y = case_input(s, t, block),
               *out = case_output(s, t, block);
  array_draw(s, x, DRAW_FINITE);
  array_draw(s, y, DRAW_FINITE);
  case_int(s, (int32_t)n);
  if (case_run(s, 1))
    for (unsigned i = 0; i < block; i++) {
      struct num other = m->other_is_tile ? array_get(y, i) : num_number(t, m->other[0] ? 1 : 0);
      case_expect(s, out, i, mask_holds(m->mask, i, n) ? array_get(x, i) : other, 0, 0);
    }
  case_end(s);
}

static void masked_store(struct suite *s, enum dtype t, const char *mask, unsigned n,
                         unsigned block, unsigned warps) {
  if (!case_begin(s, "store %s mask='%s' n=%u B=%u warps=%u", dtype_name(t), mask, n, block, warps))
    return;
  case_source(s,
              "@jit\ndef k(x, out, n):\n    i = arange(0, %u)\n"
              "    store(out + i, load(x + i), mask=%s)\n",
              block, mask);
  case_warps(s, warps);
  struct array *x = case_input(s, t, block), *out = case_output(s, t, mask[0] == 'n' ? block : n);
  array_draw(s, x, DRAW_FINITE);
  case_int(s, (int32_t)n);
  bool ran = case_run(s, 1);
  for (unsigned i = 0; ran && i < out->count; i++)
    if (mask_holds(mask, i, n))
      case_expect(s, out, i, array_get(x, i), 0, 0);
    else
      case_expect_untouched(s, out, i);
  case_end(s);
}

static void masks(struct suite *s) {
  static const struct masked rows[] = {
      {"i < n", "", false},        {"i < n", "1", false},
      {"i < n", "o", true},        {"(i < n) & (i % 3 == 1)", "o", true},
      {"n // 2 <= i", "1", false}, {"False", "o", true}};
  static const unsigned blocks[] = {128, 512, 64};
  for (enum dtype t = DTYPE_I1; t < DTYPE_COUNT; t++)
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
      unsigned block = blocks[(k + t) % COUNT_OF(blocks)];
      const unsigned lengths[] = {1, block - 1, block, 37};
      for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        masked_load(s, t, &rows[k], lengths[i], block, 1u << (t + i) % 4);
        if (k % 2 == 1)
          masked_store(s, t, rows[k].mask, lengths[i], block, 1u << (t + i) % 4);
      }
    }
}

// ---- strides and indirection ----

static void strided(struct suite *s, enum dtype t, int stride, unsigned warps) {
  enum { B = 256 };
  unsigned size = (unsigned)(stride < 0 ? -stride : stride) * (B - 1) + 1;
  unsigned first = stride < 0 ? size - 1 : 0;
  if (!case_begin(s, "strided %s stride=%d warps=%u", dtype_name(t), stride, warps))
    return;
  case_source(s,
              "@jit\ndef k(x, out, back, first, stride):\n    i = arange(0, %d)\n"
              "    v = load(x + first + i * stride)\n"
              "    store(out + i, v)\n"
              "    store(back + first + i * stride, v)\n",
              B);
  case_warps(s, warps);
  struct array *x = case_input(s, t, size), *out = case_output(s, t, B),
               *back = case_output(s, t, size);
  array_draw(s, x, DRAW_FINITE);
  case_int(s, (int32_t)first);
  case_int(s, stride);
  if (case_run(s, 1)) {
    for (unsigned i = 0; i < B; i++)
      case_expect(s, out, i, array_get(x, first + i * (unsigned)stride), 0, 0);
    for (unsigned i = 0; i < size; i++)
      if (stride == 0 || i % (unsigned)(stride < 0 ? -stride : stride) == 0)
        case_expect(s, back, i, array_get(x, i), 0, 0);
      else
        case_expect_untouched(s, back, i);
  }
  case_end(s);
}

// Permutes the rows of a matrix by an index array, and back.
static void indirect(struct suite *s, enum dtype t, enum dtype index, unsigned block,
                     unsigned warps) {
  if (!case_begin(s, "indirect %s by %s B=%u warps=%u", dtype_name(t), dtype_name(index), block,
                  warps))
    return;
  case_source(s,
              "@jit\ndef k(x, at, out, back):\n    i = arange(0, %u)\n    j = load(at + i)\n"
              "    store(out + i, load(x + j))\n    store(back + j, load(x + i))\n",
              block);
  case_warps(s, warps);
  struct array *x = case_input(s, t, block), *at = case_input(s, index, block),
               *out = case_output(s, t, block), *back = case_output(s, t, block);
  array_draw(s, x, DRAW_FINITE);
  for (unsigned i = 0; i < block; i++)
    array_set(at, i, num_int(index, (int64_t)(i * 37 % block)));
  if (case_run(s, 1))
    for (unsigned i = 0; i < block; i++) {
      size_t j = (size_t)array_get(at, i).i;
      case_expect(s, out, i, array_get(x, j), 0, 0);
      case_expect(s, back, j, array_get(x, i), 0, 0);
    }
  case_end(s);
}

// A tile of a row-major or column-major matrix with a given leading dimension.
static void matrix(struct suite *s, enum dtype t, unsigned rows, unsigned columns, bool by_column,
                   unsigned warps) {
  const unsigned m = rows - rows / 4, n = columns - columns / 8, lead = 75; // what the masks leave
  if (!case_begin(s, "matrix %s %ux%u%s warps=%u", dtype_name(t), rows, columns,
                  by_column ? " by column" : "", warps))
    return;
  case_source(s,
              "@jit\ndef k(x, out, m, n, sr, sc):\n"
              "    r = arange(0, %u)[:, None]\n    c = arange(0, %u)[None, :]\n"
              "    inside = (r < m) & (c < n)\n"
              "    v = load(x + r * sr + c * sc, mask=inside, other=0)\n"
              "    store(out + r * %u + c, v)\n",
              rows, columns, columns);
  case_warps(s, warps);
  struct array *x = case_input(s, t, (size_t)lead * 75),
               *out = case_output(s, t, (size_t)rows * columns);
  array_draw(s, x, DRAW_FINITE);
  case_int(s, (int32_t)m);
  case_int(s, (int32_t)n);
  case_int(s, by_column ? 1 : (int32_t)lead);
  case_int(s, by_column ? (int32_t)lead : 1);
  if (case_run(s, 1))
    for (unsigned i = 0; i < rows * columns; i++) {
      unsigned r = i / columns, c = i % columns;
      bool inside = r < m && c < n;
      size_t at = by_column ? r + (size_t)c * lead : (size_t)r * lead + c;
      case_expect(s, out, i, inside ? array_get(x, at) : num_number(t, 0), 0, 0);
    }
  case_end(s);
}

static void patterns(struct suite *s) {
  static const int strides[] = {0, 1, 2, 3, 4, 16, 17, -1, -5};
  static const enum dtype indices[] = {DTYPE_I16, DTYPE_I32, DTYPE_I64, DTYPE_U16, DTYPE_U32};
  static const enum dtype types[] = {DTYPE_I8, DTYPE_F16, DTYPE_F32, DTYPE_F64};
  static const unsigned sizes[][2] = {{16, 16}, {64, 8}, {1, 64}, {32, 64}, {64, 64}};
  for (size_t t = 0; t < COUNT_OF(types); t++) {
    for (size_t i = 0; i < COUNT_OF(strides); i++)
      strided(s, types[t], strides[i], 1u << i % 4);
    for (size_t i = 0; i < COUNT_OF(indices); i++)
      indirect(s, types[t], indices[i], 64u << i % 3, 1u << i % 4);
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
      for (int by_column = 0; by_column < 2; by_column++)
        matrix(s, types[t], sizes[i][0], sizes[i][1], by_column, 1u << (i + t) % 4);
  }
}

// ---- pointers ----

// The same elements with other address expressions.
static void address(struct suite *s, const char *expr, enum dtype t, unsigned from, int step) {
  enum { B = 128, SIZE = 1024 };
  if (!case_begin(s, "address %s of %s", expr, dtype_name(t)))
    return;
  case_source(s,
              "@jit\ndef k(x, out, n):\n    i = arange(0, %d)\n    p = %s\n"
              "    store(out + i, load(p))\n",
              B, expr);
  struct array *x = case_input(s, t, SIZE), *out = case_output(s, t, B);
  array_draw(s, x, DRAW_FINITE);
  case_int(s, 40);
  if (case_run(s, 1))
    for (unsigned i = 0; i < B; i++)
      case_expect(s, out, i, array_get(x, (size_t)((int)from + step * (int)i)), 0, 0);
  case_end(s);
}

static void addresses(struct suite *s) {
  static const enum dtype types[] = {DTYPE_I1, DTYPE_I8, DTYPE_BF16, DTYPE_F32, DTYPE_I64};
  for (size_t k = 0; k < COUNT_OF(types); k++) {
    enum dtype t = types[k];
    address(s, "x + i", t, 0, 1);
    address(s, "i + x", t, 0, 1);
    address(s, "(x + n) + i", t, 40, 1);
    address(s, "x + (127 - i)", t, 127, -1);
    address(s, "(x + 500) - i", t, 500, -1);
    address(s, "x + i.to(tl.int64) * 3", t, 0, 3);
    address(s, "x + i.to(tl.uint8)", t, 0, 1);
    address(s, "x + (i * 2).to(tl.uint8)", t, 0, 2); // up to 254: not negative
    address(s, "x + (i + 256).to(tl.uint32)", t, 256, 1);
    address(s, "x + i.to(tl.int8) + n", t, 40, 1);
    address(s, "tl.broadcast_to(x, 128) + i", t, 0, 1);
    address(s, "x + tl.zeros((128,), tl.int32)", t, 0, 0);
    address(s, "x + tl.where(i < n, i, i)", t, 0, 1);
    address(s, "tl.multiple_of(x, 16) + tl.max_contiguous(i, 128)", t, 0, 1);
  }
  address(s, "(x.to(tl.int64) + i * 4).to(tl.pointer_type(tl.float32))", DTYPE_F32, 0, 1);
  address(s, "(x.to(tl.pointer_type(tl.float32)) + i)", DTYPE_F32, 0, 1);
}

// ---- scalars, hints, aliases ----

static void scalars(struct suite *s, enum dtype t) {
  if (case_begin(s, "scalar load and store %s", dtype_name(t))) {
    case_source(s, "@jit\ndef k(x, out, n):\n    p = program_id(0)\n    v = load(x + p)\n"
                   "    store(out + p, v, mask=p < n)\n");
    struct array *x = case_input(s, t, 9), *out = case_output(s, t, 9);
    array_draw(s, x, DRAW_FINITE);
    case_int(s, 5);
    bool ran = case_run(s, 9);
    for (unsigned i = 0; ran && i < 9; i++)
      if (i < 5)
        case_expect(s, out, i, array_get(x, i), 0, 0);
      else
        case_expect_untouched(s, out, i);
    case_end(s);
  }
  if (case_begin(s, "scalar load masked off %s", dtype_name(t))) {
    case_source(s, "@jit\ndef k(x, out, n):\n    p = program_id(0)\n"
                   "    v = load(x + p, mask=p < n, other=1)\n    store(out + p, v)\n");
    struct array *x = case_input(s, t, 5), *out = case_output(s, t, 9);
    array_draw(s, x, DRAW_FINITE);
    case_int(s, 5);
    if (case_run(s, 9))
      for (unsigned i = 0; i < 9; i++)
        case_expect(s, out, i, i < 5 ? array_get(x, i) : num_number(t, 1), 0, 0);
    case_end(s);
  }
  if (case_begin(s, "store of a scalar to a tile %s", dtype_name(t))) {
    case_source(s, "@jit\ndef k(x, out):\n    i = arange(0, 64)\n    store(out + i, load(x))\n"
                   "    store(out + 64 + i, 1)\n");
    struct array *x = case_input(s, t, 1), *out = case_output(s, t, 128);
    array_draw(s, x, DRAW_FINITE);
    if (case_run(s, 1))
      for (unsigned i = 0; i < 128; i++)
        case_expect(s, out, i, i < 64 ? array_get(x, 0) : num_number(t, 1), 0, 0);
    case_end(s);
  }
  if (case_begin(s, "load and store at the same location %s", dtype_name(t))) {
    case_source(s, "@jit\ndef k(x):\n    i = program_id(0) * 64 + arange(0, 64)\n"
                   "    v = load(x + i)\n    store(x + i, where(i %% 2 == 0, v, load(x + i)))\n");
    struct array *x = case_inout(s, t, 192);
    array_draw(s, x, DRAW_FINITE);
    if (case_run(s, 3))
      for (unsigned i = 0; i < 192; i++)
        case_expect_untouched(s, x, i);
    case_end(s);
  }
}

static void hinted(struct suite *s, const char *load, const char *store) {
  if (!case_begin(s, "hints load(%s) store(%s)", load, store))
    return;
  case_source(s,
              "@jit\ndef k(x, out, n):\n    i = arange(0, 256)\n"
              "    store(out + i, load(x + i, mask=i < n%s), mask=i < n%s)\n",
              load, store);
  struct array *x = case_input(s, DTYPE_F32, 200), *out = case_output(s, DTYPE_F32, 200);
  array_draw(s, x, DRAW_FINITE);
  case_int(s, 200);
  if (case_run(s, 1))
    for (unsigned i = 0; i < 200; i++)
      case_expect(s, out, i, array_get(x, i), 0, 0);
  case_end(s);
}

static void hints(struct suite *s) {
  static const char *const loads[] = {"", ".ca", ".cg", ".cs", ".cv"},
                           *const stores[] = {"", ".wb", ".cg", ".cs", ".wt"},
                           *const policies[] = {"", "evict_first", "evict_last", "evict_normal"};
  char load[96], store[96];
  for (size_t m = 0; m < COUNT_OF(loads); m++)
    for (size_t p = 0; p < COUNT_OF(policies); p++) {
      snprintf(load, sizeof load, ", cache_modifier=\"%s\", eviction_policy=\"%s\"", loads[m],
               policies[p]);
      snprintf(store, sizeof store, ", cache_modifier=\"%s\", eviction_policy=\"%s\"", stores[m],
               policies[p]);
      hinted(s, load, store);
    }
  hinted(s, ", volatile=True", "");
  hinted(s, ", other=1.0, volatile=True", ", cache_modifier=\".cs\"");
}

void family_memory(struct suite *s) {
  masks(s);
  patterns(s);
  addresses(s);
  for (enum dtype t = DTYPE_I1; t < DTYPE_COUNT; t++)
    scalars(s, t);
  hints(s);
}
