// SPDX-License-Identifier: Apache-2.0
// Results of operators that move data (cat, pad, repeat) and of creation operators.
#include "graph/ir/infer.h"

#include <math.h>

// ---- concatenation ----

static bool tensors_of(struct infer *in, const struct arg **ret_list, size_t *ret_count,
                       enum dtype *ret) {
  *ret_count = node_list(in->n, 0, ret_list);
  if (*ret_count == 0)
    return infer_error(in, E1003, "`tensors` is empty");
  *ret = promote(*ret_list, *ret_count, PROMOTE_SAME);
  return true;
}

// PyTorch ignores tensors of shape [0].
static bool is_nothing(const struct value *v) { return v->rank == 1 && expr_is(v->shape[0], 0); }

bool infer_cat(struct infer *in) {
  const struct arg *list;
  struct exprs *x = in->g->exprs;
  const struct value *first = NULL;
  bool channels_last = true;
  size_t count;
  enum dtype t = DTYPE_NONE;
  uint32_t d = 0;
  if (!tensors_of(in, &list, &count, &t))
    return false;
  struct extent e = extent_of(list[0].value);
  for (size_t i = 0; i < count; i++) {
    const struct value *v = list[i].value;
    if (v->rank == 0)
      return infer_error(in, E1004, "tensor %zu has no dimensions", i);
    if (is_nothing(v))
      continue;
    channels_last &= value_is_channels_last(x, v);
    if (!first) {
      first = v;
      e = extent_of(v);
      if (!infer_dim(in, 1, v->rank, &d))
        return false;
      continue;
    }
    bool same = v->rank == e.rank;
    for (uint32_t k = 0; k < e.rank && same; k++)
      same = k == d || infer_same_size(in, v->shape[k], e.shape[k]);
    if (!same)
      return infer_error(
          in, E1004,
          "%s and %s cannot be concatenated along dimension %u\nall other dimensions are equal: "
          "cut or pad one of them, or choose another dimension",
          infer_type_text(in, first), infer_type_text(in, v), d);
    e.shape[d] = expr_add(x, e.shape[d], v->shape[d]);
  }
  if (!first && !infer_dim(in, 1, 1, &d))
    return false;
  if (first && channels_last)
    extent_channels_last(x, &e);
  else
    extent_make_contiguous(x, &e);
  return infer_extent(in, 0, t, &e);
}

bool infer_stack(struct infer *in) {
  const struct arg *list;
  size_t count;
  enum dtype t = DTYPE_NONE;
  uint32_t d;
  if (!tensors_of(in, &list, &count, &t))
    return false;
  const struct value *first = list[0].value;
  for (size_t i = 1; i < count; i++) {
    const struct value *v = list[i].value;
    bool same = v->rank == first->rank;
    for (uint32_t k = 0; k < v->rank && same; k++)
      same = infer_same_size(in, v->shape[k], first->shape[k]);
    if (!same)
      return infer_error(in, E1004, "%s and %s cannot be stacked", infer_type_text(in, first),
                         infer_type_text(in, v));
  }
  struct extent e = extent_of(first);
  if (first->rank == GRAPH_MAX_RANK)
    return infer_error(in, E1009, "more than %d dimensions", GRAPH_MAX_RANK);
  if (!infer_dim(in, 1, first->rank + 1, &d))
    return false;
  memmove(e.shape + d + 1, e.shape + d, (e.rank - d) * sizeof *e.shape);
  e.shape[d] = expr_const(in->g->exprs, (int64_t)count);
  return infer_result(in, 0, t, e.rank + 1, e.shape, NULL);
}

// ---- larger copies ----

bool infer_pad(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  struct exprs *x = in->g->exprs;
  struct extent e = extent_of(v);
  const struct arg *list;
  size_t count = node_list(in->n, 1, &list);
  if (count % 2 != 0 || count / 2 > v->rank)
    return infer_error(in, E1004, "%zu paddings for %s; each padded dimension needs two", count,
                       infer_type_text(in, v));
  for (size_t i = 0; i < count / 2; i++) {
    const struct expr **size = &e.shape[v->rank - 1 - i];
    *size = expr_add(x, *size, expr_add(x, list[2 * i].number, list[2 * i + 1].number));
  }
  return infer_result(in, 0, v->dtype, e.rank, e.shape, NULL);
}

bool infer_repeat(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  struct extent e;
  if (!infer_sizes(in, 1, &e))
    return false;
  if (e.rank < v->rank)
    return infer_error(in, E1004, "%u repetitions for %s", e.rank, infer_type_text(in, v));
  for (uint32_t d = e.rank - v->rank; d < e.rank; d++)
    e.shape[d] = expr_mul(in->g->exprs, e.shape[d], v->shape[d - (e.rank - v->rank)]);
  return infer_result(in, 0, v->dtype, e.rank, e.shape, NULL);
}

// ---- creation ----

static enum dtype number_dtype(const struct arg *a) {
  return a->kind == ARG_INT ? DTYPE_I64 : a->kind == ARG_BOOL ? DTYPE_I1 : DTYPE_F32;
}

static enum dtype asked_dtype(struct infer *in, enum dtype otherwise) {
  return infer_dtype_or(in, (unsigned)infer_parameter(in, "dtype"), otherwise);
}

bool infer_full(struct infer *in) {
  struct extent e;
  enum dtype t = in->op->id == OP_FULL ? number_dtype(&in->n->args[1]) : DTYPE_F32;
  return infer_sizes(in, 0, &e) && infer_result(in, 0, asked_dtype(in, t), e.rank, e.shape, NULL);
}

bool infer_new_full(struct infer *in) {
  struct extent e;
  return infer_sizes(in, 1, &e) &&
         infer_result(in, 0, asked_dtype(in, infer_value(in, 0)->dtype), e.rank, e.shape, NULL);
}

bool infer_scalar_tensor(struct infer *in) {
  return infer_result(in, 0, asked_dtype(in, DTYPE_F32), 0, NULL, NULL);
}

// Of floats that are multiples of 2^-10, up to a symbolic size.
static const struct expr *steps_to_size(struct exprs *x, const struct arg *start,
                                        const struct expr *end, const struct arg *step) {
  const struct arg *args[] = {start, step};
  double numbers[] = {0, 1};
  int64_t n, units[2];
  for (int i = 0; i < 2; i++) {
    if (args[i] && args[i]->kind == ARG_FLOAT)
      numbers[i] = args[i]->real;
    else if (args[i] && args[i]->kind == ARG_INT && expr_is_const(args[i]->number, &n))
      numbers[i] = (double)n;
    else if (args[i])
      return NULL;
    double unit = numbers[i] * 0x1p10;
    if (!(fabs(unit) < 0x1p30) || unit != floor(unit))
      return NULL;
    units[i] = (int64_t)unit;
  }
  if (units[1] <= 0)
    return NULL;
  const struct expr *far = expr_addi(x, expr_muli(x, end, 1 << 10), -units[0]);
  return expr_max(x, expr_const(x, 0), expr_cdiv(x, far, expr_const(x, units[1])));
}

// The number of steps from start to end, rounded up; never below 0.
static const struct expr *count_steps(struct infer *in, const struct arg *start,
                                      const struct arg *end, const struct arg *step) {
  struct exprs *x = in->g->exprs;
  const struct expr *zero = expr_const(x, 0);
  bool integers = (!start || start->kind == ARG_INT) && end->kind == ARG_INT &&
                  (!step || step->kind == ARG_INT);
  if (integers) {
    const struct expr *from = start ? start->number : zero,
                      *by = step ? step->number : expr_const(x, 1);
    if (expr_is(by, 0))
      return NULL;
    if (by->hi < 0)
      return expr_max(x, zero, expr_cdiv(x, expr_sub(x, from, end->number), expr_muli(x, by, -1)));
    return expr_max(x, zero, expr_cdiv(x, expr_sub(x, end->number, from), by));
  }
  if (end->kind == ARG_INT && !expr_is_const(end->number, NULL))
    return steps_to_size(x, start, end->number, step);
  int64_t n;
  double numbers[3] = {0, 0, 1};
  const struct arg *args[3] = {start, end, step};
  for (int i = 0; i < 3; i++)
    if (args[i] && args[i]->kind == ARG_FLOAT)
      numbers[i] = args[i]->real;
    else if (args[i] && args[i]->kind == ARG_BOOL)
      numbers[i] = args[i]->truth;
    else if (args[i] && expr_is_const(args[i]->number, &n))
      numbers[i] = (double)n;
    else if (args[i])
      return NULL;
  double steps = (numbers[1] - numbers[0]) / numbers[2];
  if (!(steps <= 0x1p46) || numbers[2] == 0)
    return NULL;
  if (steps <= 0)
    return expr_const(x, 0);
  n = (int64_t)steps;
  return expr_const(x, n + ((double)n < steps));
}

bool infer_arange(struct infer *in) {
  const struct arg *args = in->n->args;
  bool has_start = in->op->id != OP_ARANGE, has_step = in->op->id == OP_ARANGE_START_STEP;
  const struct arg *start = has_start ? &args[0] : NULL, *end = &args[has_start],
                   *step = has_step ? &args[2] : NULL;
  bool real = end->kind == ARG_FLOAT || (start && start->kind == ARG_FLOAT) ||
              (step && step->kind == ARG_FLOAT);
  const struct expr *count = count_steps(in, start, end, step);
  if (!count)
    return infer_error(in, E1004, "the number of elements is unknown or too large");
  return infer_result(in, 0, asked_dtype(in, real ? DTYPE_F32 : DTYPE_I64), 1, &count, NULL);
}

bool infer_iota(struct infer *in) {
  const struct expr *length = node_expr(in->n, 0);
  return infer_result(in, 0, in->n->args[3].dtype, 1, &length, NULL);
}
