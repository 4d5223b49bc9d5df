// SPDX-License-Identifier: Apache-2.0
// Comparison of an output with a reference, element by element in double (64-bit integers exactly).
#include "base/array.h"

#include <math.h>
#include <stdlib.h>

void array_finish(struct array *a) {
  free(a->data);
  *a = (struct array){0};
}

void compare_defaults(enum dtype t, double *ret_rtol, double *ret_atol) {
  static const struct {
    enum dtype type;
    double rtol, atol;
  } rows[] = {{DTYPE_F64, 1e-9, 1e-12},    {DTYPE_F32, 1.3e-6, 1e-5},    {DTYPE_F16, 1e-3, 1e-5},
              {DTYPE_BF16, 1.6e-2, 1e-5},  {DTYPE_F8E4NV, 0.125, 0.002}, {DTYPE_F8E5, 0.25, 1e-4},
              {DTYPE_F8E4B15, 0.125, 1e-5}};
  *ret_rtol = *ret_atol = 0;
  for (size_t i = 0; i < COUNT_OF(rows); i++)
    if (rows[i].type == t) {
      *ret_rtol = rows[i].rtol;
      *ret_atol = rows[i].atol;
    }
}

static bool same_shape(const struct array *a, const struct array *b) {
  if (a->rank != b->rank || a->count != b->count)
    return false;
  for (unsigned i = 0; i < a->rank; i++)
    if (a->shape[i] != b->shape[i])
      return false;
  return true;
}

// How far the pair exceeds the tolerance; not positive when they agree.
static double excess(double actual, double expected, double rtol, double atol, double *ret_abs,
                     double *ret_rel) {
  *ret_abs = *ret_rel = 0;
  if (actual == expected || (isnan(actual) && isnan(expected)))
    return 0;
  // NaN against a number, or an infinity against anything else: infinitely far.
  if (!isfinite(actual) || !isfinite(expected)) {
    *ret_abs = *ret_rel = (double)INFINITY;
    return (double)INFINITY;
  }
  *ret_abs = fabs(actual - expected);
  *ret_rel = expected != 0 ? *ret_abs / fabs(expected) : (double)INFINITY;
  return *ret_abs - (atol + rtol * fabs(expected));
}

struct comparison compare_arrays(const struct array *actual, const struct array *expected,
                                 double rtol, double atol) {
  struct comparison c = {.same_shape = same_shape(actual, expected)};
  if (!c.same_shape)
    return c;
  unsigned actual_bytes = dtype_bytes(actual->dtype);
  unsigned expected_bytes = dtype_bytes(expected->dtype);
  const char *p = actual->data, *q = expected->data;
  bool same_type = actual->dtype == expected->dtype;
  bool wide = same_type && dtype_is_int(actual->dtype) && actual_bytes == 8;
  for (uint64_t i = 0; i < actual->count; i++, p += actual_bytes, q += expected_bytes) {
    if (same_type && memcmp(p, q, actual_bytes) == 0)
      continue;
    double abs_error, rel_error;
    double over = excess(dtype_load(actual->dtype, p), dtype_load(expected->dtype, q), rtol, atol,
                         &abs_error, &rel_error);
    // Different 64-bit integers may be the same double; that is a distance of at least 1.
    if (wide && abs_error == 0) {
      abs_error = 1;
      over = 1 - (atol + rtol * fabs(dtype_load(expected->dtype, q)));
    }
    c.max_abs = fmax(c.max_abs, abs_error);
    c.max_rel = fmax(c.max_rel, rel_error);
    if (!(over > 0))
      continue;
    if (c.mismatches++ == 0)
      c.first = i;
    if (over > c.max_over) {
      c.max_over = over;
      c.worst = i;
    }
  }
  return c;
}

void comparison_add(struct comparison *c, const struct comparison *part, uint64_t offset) {
  if (part->mismatches && (!c->mismatches || offset + part->first < c->first))
    c->first = offset + part->first;
  if (part->max_over > c->max_over) {
    c->max_over = part->max_over;
    c->worst = offset + part->worst;
  }
  c->mismatches += part->mismatches;
  c->max_abs = fmax(c->max_abs, part->max_abs);
  c->max_rel = fmax(c->max_rel, part->max_rel);
}

void format_index(const struct array *a, uint64_t flat, struct strbuf *out) {
  uint64_t index[ARRAY_MAX_RANK] = {0};
  for (unsigned i = a->rank; i-- > 0;) {
    index[i] = a->shape[i] ? flat % a->shape[i] : 0;
    flat = a->shape[i] ? flat / a->shape[i] : 0;
  }
  strbuf_putc(out, '[');
  for (unsigned i = 0; i < a->rank; i++)
    strbuf_printf(out, "%s%llu", i ? ", " : "", (unsigned long long)index[i]);
  strbuf_putc(out, ']');
}
