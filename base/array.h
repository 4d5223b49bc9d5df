// SPDX-License-Identifier: Apache-2.0
// Arrays in host memory and their comparison: of `--arg` and `--expect`, and of the tuner's
// candidates. |a - b| <= atol + rtol * |b| agrees, NaN agrees with NaN.
#ifndef TILE_BASE_ARRAY_H
#define TILE_BASE_ARRAY_H

#include "base/dtype.h"

#define ARRAY_MAX_RANK 8

// A dense row-major array in host memory.
struct array {
  enum dtype dtype;
  unsigned rank;
  uint64_t shape[ARRAY_MAX_RANK];
  uint64_t count; // elements
  void *data;     // malloc'ed, count * dtype_bytes(dtype) bytes; array_finish frees
};
void array_finish(struct array *a);

struct comparison {
  bool same_shape;
  uint64_t mismatches;
  uint64_t first;          // flat index of the first mismatch
  uint64_t worst;          // flat index of the largest |a - b| - allowed
  double max_over;         // |a - b| - allowed at `worst`; 0 without mismatches
  double max_abs, max_rel; // over all elements, NaN pairs excluded
};
struct comparison compare_arrays(const struct array *actual, const struct array *expected,
                                 double rtol, double atol);
// Adds the comparison of a part that begins at flat index `offset`.
void comparison_add(struct comparison *c, const struct comparison *part, uint64_t offset);
// Default tolerances for a type: 0 for integers.
void compare_defaults(enum dtype t, double *ret_rtol, double *ret_atol);
// "[3, 17]" for a flat index.
void format_index(const struct array *a, uint64_t flat, struct strbuf *out);

#endif
