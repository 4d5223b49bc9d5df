// SPDX-License-Identifier: Apache-2.0
// Negative log likelihood loss and its gradient.
#include "graph/reference/reference.h"

enum reduction { REDUCTION_NONE, REDUCTION_MEAN, REDUCTION_SUM };

struct loss {
  const struct tensor *target, *weight; // weight: NULL if all are 1
  int64_t count, classes, ignored;
  int64_t reduction;
};

// The parameters target, weight, reduction, ignore_index are at `first` and after.
static struct loss begin(const struct reference_call *c, const struct tensor *self,
                         unsigned first) {
  return (struct loss){.target = call_tensor(c, first),
                       .weight = call_tensor(c, first + 1),
                       .count = self->rank > 1 ? self->shape[0] : 1,
                       .classes = self->rank > 0 ? self->shape[self->rank > 1] : 1,
                       .reduction = call_int(c, first + 2),
                       .ignored = call_int(c, first + 3)};
}

// The class of row i: -1 if it is ignored.
static bool class_of(const struct reference_call *c, const struct loss *l, int64_t i,
                     int64_t *ret) {
  const int64_t target = l->target->at[i].integer;
  *ret = target == l->ignored ? -1 : target;
  if (*ret != -1 && (target < 0 || target >= l->classes))
    return call_fail(c, "target %lld is not one of %lld classes", (long long)target,
                     (long long)l->classes);
  return true;
}

static double weight_of(const struct loss *l, int64_t class) {
  return l->weight ? l->weight->at[class].real : 1;
}

// self:0 target:1 weight:2 reduction:3 ignore_index:4; results: loss, total weight
bool reference_nll_loss(struct reference_call *c) {
  const struct tensor *self = call_tensor(c, 0);
  const struct loss l = begin(c, self, 1);
  const bool one_by_one = l.reduction == REDUCTION_NONE && self->rank > 1;
  double sum = 0, total = 0;
  for (int64_t i = 0; i < l.count; i++) {
    int64_t class;
    if (!class_of(c, &l, i, &class))
      return false;
    if (class < 0)
      continue;
    const double weight = weight_of(&l, class),
                 loss = -weight * self->at[i * l.classes + class].real;
    if (one_by_one && c->out[0])
      c->out[0]->at[i].real = loss;
    sum += loss;
    total += weight;
  }
  if (!one_by_one && c->out[0])
    c->out[0]->at[0].real = l.reduction == REDUCTION_MEAN ? sum / total : sum;
  if (!one_by_one && c->out[1])
    c->out[1]->at[0].real = total;
  return true;
}

// grad_output:0 self:1 target:2 weight:3 reduction:4 ignore_index:5 total_weight:6
bool reference_nll_loss_backward(struct reference_call *c) {
  const struct tensor *gradient = call_tensor(c, 0), *self = call_tensor(c, 1),
                      *total = call_tensor(c, 6);
  const struct loss l = begin(c, self, 2);
  for (int64_t i = 0; i < l.count; i++) {
    int64_t class;
    if (!class_of(c, &l, i, &class))
      return false;
    if (class < 0)
      continue;
    const double g = gradient->at[gradient->numel > 1 ? i : 0].real * weight_of(&l, class);
    c->out[0]->at[i * l.classes + class].real =
        l.reduction == REDUCTION_MEAN ? -g / total->at[0].real : -g;
  }
  return true;
}
