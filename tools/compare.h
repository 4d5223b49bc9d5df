// SPDX-License-Identifier: Apache-2.0
// `--expect`: compares an output with a reference, |a - b| <= atol + rtol * |b|, NaN equal to NaN.
#ifndef TILE_TOOLS_COMPARE_H
#define TILE_TOOLS_COMPARE_H

#include "tools/arg_spec.h"

struct comparison {
  bool same_shape;
  uint64_t mismatches;
  uint64_t first;          // flat index of the first mismatch
  uint64_t worst;          // flat index of the largest |a - b| - allowed
  double max_abs, max_rel; // over all elements, NaN pairs excluded
};
struct comparison compare_arrays(const struct array *actual, const struct array *expected,
                                 double rtol, double atol);
// Default tolerances for a type: 0 for integers.
void compare_defaults(enum dtype t, double *ret_rtol, double *ret_atol);
// "[3, 17]" for a flat index.
void format_index(const struct array *a, uint64_t flat, struct strbuf *out);

#endif
