// SPDX-License-Identifier: Apache-2.0
// Norms over lines of a tensor, each with a mean and a deviation.
#ifndef TILE_GRAPH_REFERENCE_NORM_H
#define TILE_GRAPH_REFERENCE_NORM_H

#include "graph/reference/reference.h"

struct norm {
  struct lines lines;
  const union element *in,
      *gradient; // the gradient's input: of the norm, or for softmax its result
  const union element *weight, *bias; // NULL: 1, 0
  int64_t weight_lines; // number of weight rows, which lines use cyclically; 0: indexed by element
  const union element *mean, *rstd; // per line; NULL: computed
  union element *out, *mean_out, *rstd_out;
  double eps;
  bool safe, log, centres, fixed; // fixed: mean and rstd do not depend on the input
  bool adds_sizes;                // as in reference_call
};

// Calls `line` for each line of t along those dimensions.
bool norm_each_line(const struct reference_call *c, struct norm *n, const struct tensor *t,
                    uint32_t along, void (*line)(void *user, int64_t i));

// y = (x - mean) * rstd * weight + bias
void norm_line(void *user, int64_t i);
// dx = rstd * (wg - mean(wg) - xhat * mean(wg * xhat)), wg being gradient times weight; where mean
// and rstd are fixed: rstd * wg.
void norm_backward_line(void *user, int64_t i);
// x - mean, or with adds_sizes the sum of their absolute values.
double norm_centred(const struct norm *n, double x, double mean);
// Mean and variance; returns the reciprocal deviation. With adds_sizes the mean of absolute values.
double norm_line_stats(const struct norm *n, int64_t i, double *ret_mean, double *ret_var);

static inline union element *elements(const struct tensor *t) { return t ? t->at : NULL; }

#endif
