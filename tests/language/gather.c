// SPDX-License-Identifier: Apache-2.0
// gather, histogram, atomic_cas: operations indexed by run-time values.
#include "tile.h"

#include <stdio.h>
#include <string.h>

// ---- gather ----

static void gather(struct suite *s, enum dtype t, struct tile src, unsigned axis, unsigned length,
                   enum dtype index_type, unsigned warps) {
  struct tile out = src;
  out.dim[axis] = length;
  if (!case_begin(s, "gather %s by %s of %ux%ux%u rank %u axis %u length %u warps=%u",
                  dtype_name(t), dtype_name(index_type), src.dim[0], src.rank > 1 ? src.dim[1] : 1,
                  src.rank > 2 ? src.dim[2] : 1, src.rank, axis, length, warps))
    return;
  char expr[48];
  snprintf(expr, sizeof expr, "tl.gather(a, b, %u)", axis);
  struct tile_kernel k = {.expr = expr, .arity = 2, .in = {src, out}, .out = out, .out_type = t};
  tile_kernel_source(s, &k);
  case_warps(s, warps);
  struct array *x = case_input(s, t, tile_count(src)),
               *index = case_input(s, index_type, tile_count(out)),
               *r = case_output(s, t, tile_count(out));
  array_draw(s, x, DRAW_FINITE);
  for (size_t i = 0; i < index->count; i++)
    array_set(index, i, num_int(index_type, (int64_t)(random_bits(s) % src.dim[axis])));
  if (case_run(s, 1))
    for (size_t i = 0; i < r->count; i++) {
      unsigned from[TILE_RANK];
      tile_index(out, i, from);
      from[axis] = (unsigned)array_get(index, i).i;
      case_expect(s, r, i, array_get(x, tile_linear(src, from)), 0, 0);
    }
  case_end(s);
}

static void gathers(struct suite *s) {
  static const struct tile shapes[] = {{1, {32}},     {1, {256}},   {1, {1024}},     {2, {16, 32}},
                                       {2, {128, 4}}, {2, {4, 64}}, {3, {4, 8, 16}}, {2, {1, 64}}};
  static const enum dtype types[] = {DTYPE_F32, DTYPE_F16, DTYPE_I8, DTYPE_I64};
  unsigned variant = 0;
  for (size_t k = 0; k < COUNT_OF(shapes); k++)
    for (unsigned axis = 0; axis < shapes[k].rank; axis++)
      for (size_t t = 0; t < COUNT_OF(types); t++, variant++) {
        unsigned n = shapes[k].dim[axis];
        gather(s, types[t], shapes[k], axis, n, DTYPE_I32, 1u << variant % 5);
        gather(s, types[t], shapes[k], axis, n > 1 ? n / 2 : 2, DTYPE_I64, 1u << variant % 4);
        if (variant % 3 == 0)
          gather(s, types[t], shapes[k], axis, n * 2, DTYPE_I16, 1u << variant % 3);
      }
}

// ---- histogram ----

static void histogram(struct suite *s, enum dtype t, unsigned n, unsigned bins, const char *mask,
                      unsigned warps) {
  if (!case_begin(s, "histogram %s n=%u bins=%u mask='%s' warps=%u", dtype_name(t), n, bins, mask,
                  warps))
    return;
  case_source(s,
              "@jit\ndef k(x, out):\n    i = arange(0, %u)\n    a = load(x + i)\n"
              "    h = tl.histogram(a, %u%s%s)\n    static_assert(h.dtype == tl.int32)\n"
              "    store(out + arange(0, %u), h)\n",
              n, bins, mask[0] ? ", mask=" : "", mask, bins);
  case_warps(s, warps);
  struct array *x = case_input(s, t, n), *out = case_output(s, DTYPE_I32, bins);
  static unsigned counts[8192];
  memset(counts, 0, sizeof counts);
  for (unsigned i = 0; i < n; i++) {
    int64_t v = (int64_t)(random_bits(s) % (bins + bins / 4 + 1)); // some beyond
    array_set(x, i, num_int(t, v));
    if (v < (int64_t)bins && (!mask[0] || i % 3 == 0))
      counts[v]++;
  }
  if (case_run(s, 1))
    for (unsigned b = 0; b < bins; b++)
      case_expect(s, out, b, num_int(DTYPE_I32, counts[b]), 0, 0);
  case_end(s);
}

static void histograms(struct suite *s) {
  static const unsigned lengths[] = {1, 32, 256, 2048}, bins[] = {1, 2, 16, 128, 1024};
  static const enum dtype types[] = {DTYPE_I32, DTYPE_U32};
  unsigned variant = 0;
  for (size_t t = 0; t < COUNT_OF(types); t++)
    for (size_t i = 0; i < COUNT_OF(lengths); i++)
      for (size_t b = 0; b < COUNT_OF(bins); b++, variant++) {
        histogram(s, types[t], lengths[i], bins[b], "", 1u << variant % 5);
        histogram(s, types[t], lengths[i], bins[b], "i % 3 == 0", 1u << variant % 4);
      }
}

// ---- atomic_cas ----

// Elements equal to `cmp` become `val`; the old value is returned.
static void cas(struct suite *s, enum dtype t, unsigned n, unsigned warps) {
  if (!case_begin(s, "atomic_cas %s n=%u warps=%u", dtype_name(t), n, warps))
    return;
  case_source(s,
              "@jit\ndef k(x, c, v, old):\n    i = arange(0, %u)\n"
              "    store(old + i, tl.atomic_cas(x + i, load(c + i), load(v + i)))\n",
              n);
  case_warps(s, warps);
  struct array *x = case_inout(s, t, n), *c = case_input(s, t, n), *v = case_input(s, t, n),
               *old = case_output(s, t, n);
  for (unsigned i = 0; i < n; i++) {
    array_set(x, i, draw_num(s, t, DRAW_SMALL));
    array_set(c, i, i % 2 ? array_get(x, i) : num_number(t, 100));
    array_set(v, i, draw_num(s, t, DRAW_SMALL));
  }
  struct array before = *x;
  before.host = x->before;
  if (case_run(s, 1))
    for (unsigned i = 0; i < n; i++) {
      case_expect(s, old, i, array_get(&before, i), 0, 0);
      case_expect(s, x, i, i % 2 ? array_get(v, i) : array_get(&before, i), 0, 0);
    }
  case_end(s);
}

// All programs add to one element under a lock.
static void lock(struct suite *s, const char *sem, unsigned warps) {
  enum { PROGRAMS = 40, N = 64 };
  if (!case_begin(s, "lock by atomic_cas %s warps=%u", sem, warps))
    return;
  case_source(s,
              "@jit\ndef k(lock, x):\n    i = arange(0, %d)\n"
              "    while tl.atomic_cas(lock, 0, 1%s) == 1:\n        pass\n"
              "    store(x + i, load(x + i) + i)\n"
              "    tl.debug_barrier()\n"
              "    tl.atomic_xchg(lock, 0)\n",
              N, sem);
  case_warps(s, warps);
  struct array *word = case_inout(s, DTYPE_I32, 1), *x = case_inout(s, DTYPE_I32, N);
  if (case_run(s, PROGRAMS)) {
    case_expect(s, word, 0, num_int(DTYPE_I32, 0), 0, 0);
    for (unsigned i = 0; i < N; i++)
      case_expect(s, x, i, num_int(DTYPE_I32, (int64_t)i * PROGRAMS), 0, 0);
  }
  case_end(s);
}

static void swaps(struct suite *s) {
  static const enum dtype types[] = {DTYPE_I32, DTYPE_U32, DTYPE_I64, DTYPE_U64, DTYPE_F32,
                                     DTYPE_F64, DTYPE_I16, DTYPE_F16, DTYPE_BF16};
  for (size_t t = 0; t < COUNT_OF(types); t++)
    for (unsigned warps = 1; warps <= 8; warps *= 2) {
      cas(s, types[t], 64, warps);
      cas(s, types[t], 512, warps);
    }
  for (unsigned warps = 1; warps <= 8; warps *= 2) {
    lock(s, "", warps);
    lock(s, ", sem=\"acquire\"", warps);
    lock(s, ", sem=\"acq_rel\", scope=\"gpu\"", warps);
  }
}

void family_gather(struct suite *s) {
  gathers(s);
  histograms(s);
  swaps(s);
}
