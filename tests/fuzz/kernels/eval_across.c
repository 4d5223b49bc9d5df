// SPDX-License-Identifier: Apache-2.0
// Operations that move or combine elements: shapes, reductions, scans, sorting, products.
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct cell wild(void) { return (struct cell){.wild = true}; }

// ---- indices ----

static void index_at(struct shape s, size_t linear, unsigned ret[RANK_MAX]) {
  for (unsigned d = s.rank; d-- > 0; linear /= s.dim[d])
    ret[d] = (unsigned)(linear % s.dim[d]);
}

static size_t linear_at(struct shape s, const unsigned index[RANK_MAX]) {
  size_t linear = 0;
  for (unsigned d = 0; d < s.rank; d++)
    linear = linear * s.dim[d] + index[d];
  return linear;
}

struct axis {
  size_t length, stride, lines;
};

static struct axis axis_of(struct shape s, unsigned axis) {
  struct axis a = {s.dim[axis], 1, 0};
  for (unsigned d = axis + 1; d < s.rank; d++)
    a.stride *= s.dim[d];
  a.lines = shape_count(s) / a.length;
  return a;
}

static size_t element(struct axis a, size_t line, size_t k) {
  return line / a.stride * a.stride * a.length + k * a.stride + line % a.stride;
}

// ---- moves: the source index of element i of the result ----

static size_t source_of(const struct statement *s, const struct var *from, const struct var *to,
                        size_t i) {
  unsigned index[RANK_MAX] = {0}, source[RANK_MAX] = {0};
  index_at(to->shape, i, index);
  switch (s->op) {
  case OP_BROADCAST:
    for (unsigned d = 0; d < from->shape.rank; d++) {
      unsigned at = index[to->shape.rank - from->shape.rank + d];
      source[d] = from->shape.dim[d] == 1 ? 0 : at;
    }
    break;
  case OP_TRANS:
    for (unsigned d = 0; d < to->shape.rank; d++)
      source[s->number[d]] = index[d];
    break;
  case OP_FLIP:
    memcpy(source, index, sizeof source);
    source[s->number[0]] = from->shape.dim[s->number[0]] - 1 - index[s->number[0]];
    break;
  default: return i; // OP_RESHAPE, OP_EXPAND
  }
  return linear_at(from->shape, source);
}

static void move(struct kernel *k, const struct statement *s) {
  struct var *to = &k->vars[s->dst[0]];
  const struct var *from = &k->vars[s->src[0]];
  size_t n = shape_count(to->shape);
  for (size_t i = 0; i < n; i++)
    to->cells[i] = from->cells[source_of(s, from, to, i)];
}

static void join(struct kernel *k, const struct statement *s) {
  struct var *to = &k->vars[s->dst[0]];
  size_t n = shape_count(to->shape);
  for (size_t i = 0; i < n; i++)
    to->cells[i] = k->vars[s->src[i % 2]].cells[i / 2];
}

static void split(struct kernel *k, const struct statement *s) {
  size_t n = shape_count(k->vars[s->dst[0]].shape);
  for (size_t i = 0; i < 2 * n; i++)
    k->vars[s->dst[i % 2]].cells[i / 2] = k->vars[s->src[0]].cells[i];
}

static void gather(struct kernel *k, const struct statement *s) {
  struct var *to = &k->vars[s->dst[0]];
  const struct var *from = &k->vars[s->src[0]], *at = &k->vars[s->src[1]];
  size_t n = shape_count(to->shape);
  for (size_t i = 0; i < n; i++) {
    unsigned index[RANK_MAX];
    index_at(to->shape, i, index);
    index[s->number[0]] = (unsigned)at->cells[i].i;
    to->cells[i] = from->cells[linear_at(from->shape, index)];
  }
}

// ---- sums ----

// A running sum of floats in any order: the value, the sum of magnitudes, the error.
struct sum {
  double f, magnitude, err;
  bool wild, exact; // exact: integers of which every partial sum is a number of the type
  size_t n;
};

static void sum_add(struct sum *s, double f, double err, bool is_wild) {
  s->wild |= is_wild;
  s->f += f;
  s->magnitude += fabs(f);
  s->err += err;
  s->exact &= err <= 0 && f == rint(f);
  s->n++;
}

// Partial sums have type `partial`; `step`: the relative rounding error of one addition.
static struct cell sum_result(const struct sum *s, enum dtype t, enum dtype partial, double step,
                              double whole) {
  if (s->wild)
    return wild();
  if (!isfinite(s->f)) {
    bool is_special = s->err <= 0 && !isfinite(s->magnitude);
    return is_special ? (struct cell){.f = s->f} : wild();
  }
  if (isfinite(s->magnitude) && s->magnitude > num_largest(partial) / 2)
    return wild(); // overflows in some orders
  if (s->exact && s->magnitude <= whole)
    return cell_round(t, s->f, 0);
  return cell_round(t, s->f, s->err + s->magnitude * step * (2 + (double)s->n) + num_ulp(t, s->f));
}

static double step_of(enum dtype t) { return num_ulp(t, 1); }

static struct cell sum_line(enum dtype from, enum dtype to, enum dtype partial,
                            const struct cell *line, size_t n) {
  struct sum s = {.exact = true};
  uint64_t total = 0;
  bool is_wild = false, is_negative_zero = true; // which sums of nothing else are, in any order
  for (size_t k = 0; k < n; k++) {
    struct cell c = cell_cast(line[k], from, to);
    is_negative_zero &= c.f == 0 && signbit(c.f);
    if (dtype_is_float(to))
      sum_add(&s, c.f, c.err + (c.product ? num_ulp(to, c.f) : 0), c.wild);
    total += (uint64_t)c.i;
    is_wild |= c.wild;
  }
  if (dtype_is_float(to)) {
    struct cell r = sum_result(&s, to, partial, step_of(partial), cell_whole(partial));
    r.f = is_negative_zero && r.f == 0 ? -0.0 : r.f;
    return r;
  }
  return is_wild ? wild() : cell_of(num_int(to, (int64_t)total));
}

// ---- reductions ----

static struct cell arg_extreme(enum dtype t, const struct cell *line, size_t n, bool is_max) {
  size_t best = 0;
  for (size_t k = 0; k < n; k++) {
    if (line[k].wild || line[k].err > 0 || isnan(line[k].f))
      return wild();
    struct num a = cell_num(t, line[k]), b = cell_num(t, line[best]);
    bool less = dtype_is_float(t)    ? a.f < b.f
                : dtype_is_signed(t) ? a.i < b.i
                                     : (uint64_t)a.i < (uint64_t)b.i;
    bool more = dtype_is_float(t)    ? a.f > b.f
                : dtype_is_signed(t) ? a.i > b.i
                                     : (uint64_t)a.i > (uint64_t)b.i;
    if (is_max ? more : less)
      best = k;
  }
  return (struct cell){.i = (int64_t)best};
}

static struct cell reduce_line(const char *word, enum dtype from, enum dtype to,
                               const struct cell *line, size_t n) {
  if (strcmp(word, "sum") == 0)
    return sum_line(from, to, dtype_bits(to) < 32 ? DTYPE_F32 : to, line, n);
  if (strncmp(word, "arg", 3) == 0)
    return arg_extreme(from, line, n, word[3] == 'm' && word[4] == 'a');
  struct cell r = cell_cast(line[0], from, to);
  const char *by = strcmp(word, "xor_sum") == 0 ? "xor" : word;
  for (size_t k = 1; k < n; k++)
    r = cell_combine(by, to, r, cell_cast(line[k], from, to));
  return r;
}

static void take_line(const struct var *v, struct axis a, size_t line, bool reverse,
                      struct cell *ret) {
  for (size_t k = 0; k < a.length; k++) {
    ret[k] = v->cells[element(a, line, reverse ? a.length - 1 - k : k)];
    if (ret[k].product) { // may be fused with a sum that it is the first of
      ret[k].err += num_ulp(v->type, ret[k].f);
      ret[k].product = false;
    }
  }
}

static void reduce(struct kernel *k, const struct statement *s) {
  static struct cell line[COUNT_MAX];
  const struct var *from = &k->vars[s->src[0]];
  struct var *to = &k->vars[s->dst[0]];
  struct axis a = axis_of(from->shape, (unsigned)s->number[0]);
  for (size_t i = 0; i < a.lines; i++) {
    take_line(from, a, i, false, line);
    to->cells[i] = reduce_line(s->word, from->type, to->type, line, a.length);
  }
}

static void scan(struct kernel *k, const struct statement *s) {
  static struct cell line[COUNT_MAX];
  const struct var *from = &k->vars[s->src[0]];
  struct var *to = &k->vars[s->dst[0]];
  struct axis a = axis_of(from->shape, (unsigned)s->number[0]);
  for (size_t i = 0; i < a.lines; i++) {
    take_line(from, a, i, s->number[1], line);
    for (size_t j = 0; j < a.length; j++)
      to->cells[element(a, i, s->number[1] ? a.length - 1 - j : j)] =
          sum_line(from->type, to->type, to->type, line, j + 1);
  }
}

// A fold of `steps` steps in any order.
static struct cell in_any_order(const char *word, enum dtype t, struct cell c, double magnitude,
                                size_t steps) {
  if (c.wild || !dtype_is_float(t) || strcmp(word, "add") != 0 || !isfinite(magnitude))
    return c;
  if (magnitude > num_largest(t) / 2)
    return wild();
  if (c.err > 0 || magnitude > cell_whole(t))
    c.err += (double)steps * num_ulp(t, magnitude);
  return c;
}

// Folds of several values at once.
static void fold(struct kernel *k, const struct statement *s) {
  static struct cell line[COUNT_MAX];
  const struct combine *c = &k->combines[s->number[1]];
  bool is_scan = s->op == OP_FOLD_SCAN;
  for (unsigned m = 0; m < s->src_count; m++) {
    const struct var *from = &k->vars[s->src[m]];
    struct var *to = &k->vars[s->dst[m]];
    struct axis a = axis_of(from->shape, (unsigned)s->number[0]);
    for (size_t i = 0; i < a.lines; i++) {
      bool reverse = is_scan && s->number[2];
      take_line(from, a, i, reverse, line);
      struct cell r = line[0];
      double magnitude = fabs(r.f);
      for (size_t j = 0; j < a.length; j++) {
        r = j ? cell_combine(c->words[m], from->type, r, line[j]) : r;
        magnitude += j ? fabs(line[j].f) : 0;
        if (is_scan || j + 1 == a.length)
          to->cells[is_scan ? element(a, i, reverse ? a.length - 1 - j : j) : i] =
              in_any_order(c->words[m], from->type, r, magnitude, j);
      }
    }
  }
}

// ---- sorting, counting, products ----

static enum dtype sorted_type; // qsort has no argument of its own

static int compare_cells(const void *x, const void *y) {
  const struct cell *a = x, *b = y;
  if (dtype_is_float(sorted_type)) {
    if (isnan(a->f) || isnan(b->f))
      return isnan(a->f) - isnan(b->f);
    return (a->f > b->f) - (a->f < b->f);
  }
  if (dtype_is_signed(sorted_type))
    return (a->i > b->i) - (a->i < b->i);
  return ((uint64_t)a->i > (uint64_t)b->i) - ((uint64_t)a->i < (uint64_t)b->i);
}

static void sort(struct kernel *k, const struct statement *s) {
  static struct cell line[COUNT_MAX];
  const struct var *from = &k->vars[s->src[0]];
  struct var *to = &k->vars[s->dst[0]];
  struct axis a = axis_of(from->shape, from->shape.rank - 1);
  for (size_t i = 0; i < a.lines; i++) {
    double err = 0;
    bool is_wild = false;
    take_line(from, a, i, false, line);
    for (size_t j = 0; j < a.length; j++) {
      err = fmax(err, line[j].err);
      is_wild |= line[j].wild;
    }
    sorted_type = from->type;
    qsort(line, a.length, sizeof *line, compare_cells);
    for (size_t j = 0; j < a.length; j++) {
      struct cell c = line[s->number[0] ? a.length - 1 - j : j];
      c.err = err;
      to->cells[element(a, i, j)] = is_wild ? wild() : c;
    }
  }
}

static void histogram(struct kernel *k, const struct statement *s) {
  const struct var *from = &k->vars[s->src[0]];
  struct var *to = &k->vars[s->dst[0]];
  size_t n = shape_count(from->shape);
  bool is_wild = false;
  for (int i = 0; i < s->number[0]; i++)
    to->cells[i] = (struct cell){0};
  for (size_t i = 0; i < n; i++) {
    is_wild |= from->cells[i].wild;
    if (!is_wild)
      to->cells[from->cells[i].i].i++;
  }
  for (int i = 0; is_wild && i < s->number[0]; i++)
    to->cells[i].wild = true;
}

// Relative rounding errors of a product and of an addition.
static void dot_precision(const char *word, enum dtype t, enum dtype sum, double *ret_product,
                          double *ret_step) {
  *ret_step = sum == DTYPE_F64 ? 0x1p-52 : num_kind(t) == '8' ? 0x1p-12 : 0x1p-23;
  *ret_product = t != DTYPE_F32 || (word && strcmp(word, "ieee") == 0) ? 0
                 : word && strcmp(word, "tf32x3") == 0                 ? 0x1p-20
                                                                       : 0x1p-9;
}

static struct cell dot_element(const struct var *a, const struct var *b, size_t row, size_t column,
                               const struct cell *acc, const struct statement *s, enum dtype sum) {
  size_t inner = a->shape.dim[1], width = b->shape.dim[1];
  struct sum total = {.exact = true};
  uint64_t integer = acc ? (uint64_t)acc->i : 0;
  double product, step;
  dot_precision(s->word, a->type, sum, &product, &step);
  if (acc)
    sum_add(&total, acc->f, acc->err + (acc->product ? num_ulp(sum, acc->f) : 0), acc->wild);
  for (size_t j = 0; j < inner; j++) {
    const struct cell *x = &a->cells[row * inner + j], *y = &b->cells[j * width + column];
    double v = x->f * y->f, err = fabs(x->f) * y->err + fabs(y->f) * x->err + x->err * y->err;
    bool is_whole =
        x->f == rint(x->f) && y->f == rint(y->f) && fabs(x->f) <= 256 && fabs(y->f) <= 256;
    sum_add(&total, v, err + (is_whole ? 0 : product * fabs(v) + 1e-38),
            x->wild || y->wild || !isfinite(v));
    integer += (uint64_t)x->i * (uint64_t)y->i;
  }
  if (!dtype_is_float(sum))
    return total.wild ? wild() : cell_of(num_int(sum, (int64_t)integer));
  double whole = num_kind(a->type) == '8' ? 0x1p12 : 0x1p23;
  struct cell r = sum_result(&total, sum, sum, step, whole);
  r.magnitude = total.magnitude;
  r.step = step * (3 + (double)total.n);
  r.whole = whole;
  return r;
}

static void dot(struct kernel *k, const struct statement *s) {
  const struct var *a = &k->vars[s->src[0]], *b = &k->vars[s->src[1]];
  struct var *to = &k->vars[s->dst[0]];
  const struct cell *acc = s->src_count > 2 ? k->vars[s->src[2]].cells : NULL;
  size_t width = to->shape.dim[1], n = shape_count(to->shape);
  for (size_t i = 0; i < n; i++)
    to->cells[i] = dot_element(a, b, i / width, i % width, acc ? &acc[i] : NULL, s, to->type);
}

void eval_across(struct kernel *k, const struct statement *s) {
  switch (s->op) {
  case OP_JOIN: join(k, s); break;
  case OP_SPLIT: split(k, s); break;
  case OP_GATHER: gather(k, s); break;
  case OP_REDUCE: reduce(k, s); break;
  case OP_SCAN: scan(k, s); break;
  case OP_FOLD:
  case OP_FOLD_SCAN: fold(k, s); break;
  case OP_SORT: sort(k, s); break;
  case OP_HISTOGRAM: histogram(k, s); break;
  case OP_DOT: dot(k, s); break;
  default: move(k, s);
  }
}
