// SPDX-License-Identifier: Apache-2.0
// Atomic operations: every kind, type, order and scope; contention from none to all programs on one
// index; the old values; masks.
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct kind {
  const char *name, *types; // kinds of types
  unsigned narrowest;       // bits
};

static const struct kind kinds[] = {
    {"add", "iuf", 16}, {"max", "iuf", 16}, {"min", "iuf", 16},  {"and", "iu", 32},
    {"or", "iu", 32},   {"xor", "iu", 32},  {"xchg", "iuf", 32},
};

static bool takes(const struct kind *k, enum dtype t) {
  bool is_float = dtype_is_float(t);
  unsigned bits = dtype_bits(t);
  return strchr(k->types, num_kind(t)) && bits >= (is_float ? k->narrowest : 32);
}

static struct num apply(const struct kind *k, struct num a, struct num b) {
  uint64_t x = (uint64_t)a.i, y = (uint64_t)b.i;
  bool less = a.type == DTYPE_U64 ? x < y : a.i < b.i;
  bool is_float = dtype_is_float(a.type);
  switch (k->name[1]) {
  case 'd':
    return is_float ? num_round(num_float(a.type, a.f + b.f)) : num_int(a.type, (int64_t)(x + y));
  case 'a': return is_float ? num_float(a.type, fmax(a.f, b.f)) : less ? b : a;
  case 'i': return is_float ? num_float(a.type, fmin(a.f, b.f)) : less ? a : b;
  case 'n': return num_int(a.type, (int64_t)(x & y));
  case 'r': return num_int(a.type, (int64_t)(x | y));
  case 'o': return num_int(a.type, (int64_t)(x ^ y));
  default: return b;
  }
}

// Small integers, so that sums of floats do not depend on their order.
static void fill(struct suite *s, struct array *a, const struct kind *k) {
  bool is_exact = !dtype_is_float(a->type) && k->name[1] != 'd';
  array_draw(s, a, is_exact ? DRAW_FINITE : DRAW_SMALL);
}

// ---- each index by one lane: the old value and the new one are known ----

static void alone(struct suite *s, const struct kind *k, enum dtype t, const char *options,
                  unsigned n, unsigned block, unsigned warps) {
  if (!case_begin(s, "atomic_%s %s(%s) n=%u B=%u warps=%u", k->name, dtype_name(t), options, n,
                  block, warps))
    return;
  case_source(s,
              "@jit\ndef k(x, y, old, n):\n    i = program_id(0) * %u + arange(0, %u)\n"
              "    m = i < n\n    v = load(y + i, mask=m)\n"
              "    r = tl.atomic_%s(x + i, v, mask=m%s)\n    store(old + i, r, mask=m)\n",
              block, block, k->name, options);
  case_warps(s, warps);
  struct array *x = case_inout(s, t, n), *y = case_input(s, t, n), *old = case_output(s, t, n);
  fill(s, x, k);
  fill(s, y, k);
  struct array before = *x;
  before.host = x->before; // filled by the launch
  case_int(s, (int32_t)n);
  if (case_run(s, (n + block - 1) / block))
    for (unsigned i = 0; i < n; i++) {
      struct num was = array_get(&before, i);
      case_expect(s, old, i, was, 0, 0);
      case_expect(s, x, i, apply(k, was, array_get(y, i)), 0.5, 0);
    }
  case_end(s);
}

// ---- many lanes at few indices: the result is known where the order does not matter ----

// Zeros some values of y, so that all sums of some of x[p] and its values are exact.
static void keep_sums_exact(const struct array *x, struct array *y, unsigned n) {
  const double limit = x->type == DTYPE_BF16 ? 1 << 8 : 1 << 11; // of 16-bit floats
  for (size_t p = 0; p < x->count; p++) {
    double sum = fabs(array_get(x, p).f);
    for (size_t i = p; i < n; i += x->count) {
      sum += fabs(array_get(y, i).f);
      if (sum > limit) {
        sum -= fabs(array_get(y, i).f);
        array_set(y, i, num_float(y->type, 0));
      }
    }
  }
}

static void together(struct suite *s, const struct kind *k, enum dtype t, unsigned elements,
                     unsigned warps) {
  enum { N = 500, B = 128 };
  if (!case_begin(s, "atomic_%s %s, %u elements, warps=%u", k->name, dtype_name(t), elements,
                  warps))
    return;
  case_source(s,
              "@jit\ndef k(x, y, n):\n    i = program_id(0) * %d + arange(0, %d)\n    m = i < n\n"
              "    tl.atomic_%s(x + i %% %u, load(y + i, mask=m), mask=m)\n",
              B, B, k->name, elements);
  case_warps(s, warps);
  struct array *x = case_inout(s, t, elements), *y = case_input(s, t, N);
  fill(s, x, k);
  fill(s, y, k);
  if (dtype_is_float(t) && k->name[1] == 'd')
    keep_sums_exact(x, y, N);
  struct array before = *x;
  before.host = x->before;
  case_int(s, N);
  if (case_run(s, (N + B - 1) / B))
    for (unsigned p = 0; p < elements; p++) {
      struct num want = array_get(&before, p);
      for (unsigned i = p; i < N; i += elements)
        want = apply(k, want, array_get(y, i));
      case_expect(s, x, p, want, 0.5, 0);
    }
  case_end(s);
}

// Every program takes a work_id from one counter: all must differ.
static void work_ids(struct suite *s, enum dtype t, const char *options) {
  enum { PROGRAMS = 97 };
  if (!case_begin(s, "work_ids by atomic_add %s(%s)", dtype_name(t), options))
    return;
  case_source(s,
              "@jit\ndef k(counter, out):\n    t = tl.atomic_add(counter, 1%s)\n"
              "    store(out + t, program_id(0) + 1)\n",
              options);
  struct array *counter = case_inout(s, t, 1), *out = case_output(s, DTYPE_I32, PROGRAMS);
  if (case_run(s, PROGRAMS)) {
    int64_t sum = 0;
    for (unsigned i = 0; i < PROGRAMS; i++)
      sum += array_get(out, i).i;
    case_expect(s, counter, 0, num_int(t, PROGRAMS), 0, 0);
    if (sum != PROGRAMS * (PROGRAMS + 1) / 2)
      case_fail(s, "programs shared a work_id");
  }
  case_end(s);
}

static void types_unsupported(struct suite *s) {
  for (size_t k = 0; k < COUNT_OF(kinds); k++)
    for (enum dtype t = DTYPE_I8; t < DTYPE_COUNT; t++) {
      if (takes(&kinds[k], t) ||
          !case_begin(s, "atomic_%s %s is E0510", kinds[k].name, dtype_name(t)))
        continue;
      case_source(s, "@jit\ndef k(x, y):\n    tl.atomic_%s(x, load(y))\n", kinds[k].name);
      case_input(s, t, 1);
      case_input(s, t, 1);
      case_refuse(s, "E0510");
      case_end(s);
    }
}

void family_atomics(struct suite *s) {
  static const char *const orders[] = {"relaxed", "acquire", "release", "acq_rel"},
                           *const scopes[] = {"gpu", "cta", "sys"};
  static const unsigned elements[] = {1, 2, 16, 100};
  for (size_t k = 0; k < COUNT_OF(kinds); k++)
    for (enum dtype t = DTYPE_I8; t < DTYPE_COUNT; t++) {
      if (!takes(&kinds[k], t))
        continue;
      const unsigned lengths[] = {1, 127, 128, 129, 331};
      for (size_t i = 0; i < COUNT_OF(lengths); i++)
        alone(s, &kinds[k], t, "", lengths[i], 128u << i % 2, 1u << i % 4);
      for (size_t i = 0; i < COUNT_OF(elements) && strcmp(kinds[k].name, "xchg") != 0; i++)
        together(s, &kinds[k], t, elements[i], 1u << i);
      for (size_t o = 0; o < COUNT_OF(orders); o++)
        for (size_t c = 0; c < COUNT_OF(scopes); c++) {
          char options[64];
          snprintf(options, sizeof options, ", sem=\"%s\", scope=\"%s\"", orders[o], scopes[c]);
          if (dtype_bits(t) == 32)
            alone(s, &kinds[k], t, options, 100, 64, 2);
        }
    }
  work_ids(s, DTYPE_I32, "");
  work_ids(s, DTYPE_U32, ", sem=\"relaxed\"");
  work_ids(s, DTYPE_I64, ", sem=\"acq_rel\", scope=\"sys\"");
  types_unsupported(s);
}
