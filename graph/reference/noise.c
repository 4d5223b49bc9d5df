// SPDX-License-Identifier: Apache-2.0
// Noise of the magnitude of rounding errors, and which operators get none.
#include "graph/reference/noise.h"

#include "graph/ir/graph_operators.h"

#include <float.h>
#include <math.h>
#include <string.h>

// ---- magnitude ----

static bool is_half(enum dtype t) { return t == DTYPE_F16 || t == DTYPE_BF16; }

// A unit in the last place of half precision, 16 of f32 and f64: functions are accurate to a few,
// and sums of many terms to a few more.
double noise_of(enum dtype t, bool is_coarse) {
  switch (t) {
  case DTYPE_F64: return 0x1p-49;
  case DTYPE_F16: return 0x1p-10;
  case DTYPE_BF16: return 0x1p-7;
  default: return is_coarse ? 0x1p-11 : 0x1p-20;
  }
}

static uint64_t mix(uint64_t x) { // the finaliser of SplitMix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// 1 or -1 for each element.
static double direction(const struct noise *noise, uint32_t which, int64_t i) {
  uint64_t h =
      mix(noise->seed + mix(((uint64_t)which << 32) + 1) + (uint64_t)i * 0x9e3779b97f4a7c15u);
  return h >> 63 ? noise->sign : -noise->sign;
}

// Usually computed exactly: counts, masks, values compared with constants.
static bool is_small_integer(double v) { return fabs(v) <= 2048 && v == rint(v); }

void noise_add(const struct noise *noise, struct tensor *t, uint32_t which, double relative) {
  for (int64_t i = 0; i < t->numel; i++) {
    double v = t->at[i].real;
    if (isfinite(v) && !is_small_integer(v))
      t->at[i].real = v * (1 + direction(noise, which, i) * relative);
  }
}

void noise_add_equal(const struct noise *noise, struct tensor *t, double relative) {
  for (int64_t i = 0; i < t->numel; i++) {
    double v = t->at[i].real;
    int64_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (isfinite(v) && !is_small_integer(v))
      t->at[i].real = v * (1 + direction(noise, 0, bits) * relative);
  }
}

void noise_add_sums(const struct noise *noise, struct tensor *t, uint32_t which,
                    const struct tensor *sizes) {
  const double relative = t->dtype == DTYPE_F64 ? 0x1p-50 : 0x1p-21;
  for (int64_t i = 0; i < t->numel; i++) {
    double v = t->at[i].real, size = fabs(sizes->at[i].real);
    if (isfinite(v) && isfinite(size) && !(is_small_integer(v) && is_small_integer(size)))
      t->at[i].real = v + direction(noise, which, i) * relative * size;
  }
}

void noise_add_rows(const struct noise *noise, struct tensor *t, uint32_t which, double relative) {
  const int64_t width = t->rank ? t->shape[t->rank - 1] : 1;
  for (int64_t row = 0; row + width <= t->numel && width > 0; row += width) {
    double largest = 0;
    for (int64_t i = row; i < row + width; i++)
      largest = isfinite(t->at[i].real) ? fmax(largest, fabs(t->at[i].real)) : largest;
    for (int64_t i = row; i < row + width; i++)
      t->at[i].real += direction(noise, which, i) * relative * largest;
  }
}

void noise_add_before_bias(const struct noise *noise, struct tensor *t, uint32_t which,
                           double relative, const struct tensor *bias) {
  int64_t inner = 1;
  for (uint32_t d = 2; d < t->rank; d++)
    inner *= t->shape[d];
  for (int64_t i = 0; i < t->numel; i++) {
    double before = t->at[i].real - bias->at[i / inner % bias->numel].real;
    if (isfinite(before))
      t->at[i].real += direction(noise, which, i) * relative * before;
  }
}

void tensor_limit_range(struct tensor *t) {
  const double most = t->dtype == DTYPE_F16    ? 65520 // values from here on round to infinity
                      : t->dtype == DTYPE_BF16 ? 0x1.ffp127
                                               : 0x1.ffffffp127;
  for (int64_t i = 0; t->dtype != DTYPE_F64 && i < t->numel; i++)
    if (fabs(t->at[i].real) >= most)
      t->at[i].real = copysign(INFINITY, t->at[i].real);
}

// ---- by operator ----

static bool is_exact_pointwise(enum operator_id op) {
  switch (op) {
  case OP_MAXIMUM:
  case OP_MINIMUM:
  case OP_CLAMP:
  case OP_CLAMP_TENSOR:
  case OP_CLAMP_MIN:
  case OP_CLAMP_MAX:
  case OP_NEG:
  case OP_ABS:
  case OP_SIGN:
  case OP_FLOOR:
  case OP_CEIL:
  case OP_TRUNC:
  case OP_ROUND:
  case OP_WHERE_SELF:
  case OP_TO_BITS:
  case OP_FROM_BITS:
  case OP_CLONE:
  case OP_RELU:
  case OP_HARDTANH:
  case OP_HARDTANH_BACKWARD:
  case OP_THRESHOLD_BACKWARD:
  case OP_MASKED_FILL_SCALAR:
  case OP_MASKED_FILL_TENSOR: return true;
  default: return false;
  }
}

static bool is_extremum(enum operator_id op) {
  switch (op) {
  case OP_AMAX:
  case OP_AMIN:
  case OP_MAX:
  case OP_MIN:
  case OP_MAX_DIM:
  case OP_MIN_DIM:
  case OP_MAX_POOL2D: return true;
  default: return false;
  }
}

static bool is_cast(enum operator_id op) {
  return op == OP_CONVERT_ELEMENT_TYPE || op == OP_TO_COPY || op == OP_COPY;
}

bool noise_is_sum(const struct node *n) {
  switch (n->op) {
  case OP_SUM:
  case OP_SUM_DIM:
  case OP_MEAN:
  case OP_MEAN_DIM:
  case OP_CUMSUM:
  case OP_INDEX_PUT:
  case OP_SCATTER_ADD:
  case OP_EMBEDDING_DENSE_BACKWARD: return true;
  default: return operator_row(n->op)->class == CLASS_PRODUCT;
  }
}

bool noise_has_terms(const struct node *n) {
  switch (n->op) {
  case OP_SOFTMAX_BACKWARD:
  case OP_LOG_SOFTMAX_BACKWARD:
  case OP_NATIVE_LAYER_NORM:
  case OP_NATIVE_LAYER_NORM_BACKWARD:
  case OP_NATIVE_BATCH_NORM_BACKWARD:
  case OP_NATIVE_BATCH_NORM_FUNCTIONAL:
  case OP_NATIVE_BATCH_NORM_NO_TRAINING:
  case OP_NATIVE_GROUP_NORM: return true;
  default: return false;
  }
}

bool noise_is_exact(const struct node *n) {
  switch (operator_row(n->op)->class) {
  case CLASS_VIEW:
  case CLASS_SHAPE:
  case CLASS_CREATE:
  case CLASS_GATHER:
  case CLASS_CONTROL: // their subgraphs have noise
  case CLASS_RANDOM: return true;
  case CLASS_SCATTER: return !noise_is_sum(n);
  default: break;
  }
  if (is_cast(n->op)) { // to a wider dtype, or from integers
    const struct value *from = node_value(n, n->op == OP_COPY), *to = n->results[0];
    return from && to &&
           (!dtype_is_float(from->dtype) || dtype_bits(from->dtype) <= dtype_bits(to->dtype));
  }
  return is_exact_pointwise(n->op) || is_extremum(n->op);
}

// ---- values seen in half precision only ----

static void need(bool *is_fine, const struct arg *args, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (args[i].kind == ARG_VALUE && args[i].value)
      is_fine[args[i].value->id] = true;
    else if (args[i].kind == ARG_LIST)
      need(is_fine, args[i].list.at, args[i].list.count);
  }
}

// Is a result of the node used in f32 precision?
static bool is_seen_finely(const bool *is_fine, const struct node *n) {
  for (uint32_t i = 0; i < n->result_count; i++) {
    const struct value *v = n->results[i];
    if (v && !is_half(v->dtype) && (!dtype_is_float(v->dtype) || is_fine[v->id]))
      return true;
  }
  return false;
}

const bool *noise_find_coarse(const struct graph *g, struct arena *a) {
  bool *is_fine = arena_array(a, bool, g->value_count + 1);
  for (size_t i = 0; i < g->outputs.len; i++)
    if (g->outputs.at[i])
      is_fine[g->outputs.at[i]->id] = true;
  for (size_t i = 0; i < g->mutations.len; i++)
    is_fine[g->mutations.at[i].value->id] = true;
  for (size_t i = g->nodes.len; i-- > 0;)
    if (is_seen_finely(is_fine, g->nodes.at[i]))
      need(is_fine, g->nodes.at[i]->args, g->nodes.at[i]->arg_count);
  for (uint32_t i = 0; i < g->value_count; i++)
    is_fine[i] = !is_fine[i];
  return is_fine;
}
