// SPDX-License-Identifier: Apache-2.0
// Matrices, and the verification of products. For a product of integers C = A B and a random
// vector r, C r = A (B r) is checked exactly: it takes as long as reading the matrices, and one
// wrong element never passes (r has no zeros).
#include "matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLED_ROWS = 8 };
static const double ONE_BY_ONE = 0x1p27; // products that are added up one by one

struct matrix matrix_new(struct suite *s, size_t rows, size_t columns) {
  return (struct matrix){rows, columns, arena_array(s->arena, double, rows *columns + 1)};
}

double *matrix_row(struct matrix m, size_t row) { return m.at + row * m.columns; }

// ---- drawing ----

void array_poison(struct array *x) {
  memset(x->host, dtype_is_float(x->type) ? 0xff : 0x7d, x->count * dtype_bytes(x->type));
}

// The bit patterns of the integers from -limit to limit.
struct encoded {
  unsigned count;
  double value[256];
  char bytes[256][8];
};

static void encode(struct encoded *e, enum dtype t, int limit) {
  e->count = (unsigned)(2 * limit + 1);
  for (unsigned i = 0; i < e->count; i++) {
    struct num v = num_number(t, (double)((int)i - limit));
    num_store(e->bytes[i], v);
    e->value[i] = num_double(v);
  }
}

void matrix_draw(struct suite *s, struct matrix m, struct array *x, struct strides strides,
                 int limit) {
  struct encoded e;
  size_t bytes = dtype_bytes(x->type);
  if (s->is_failed)
    return;
  if (limit)
    encode(&e, x->type, limit);
  for (size_t i = 0; i < m.rows; i++)
    for (size_t j = 0; j < m.columns; j++) {
      char *p = x->host + (strides.first + i * strides.row + j * strides.column) * bytes;
      if (limit) {
        size_t pick = (size_t)(random_bits(s) >> 32) * e.count >> 32;
        memcpy(p, e.bytes[pick], bytes);
        m.at[i * m.columns + j] = e.value[pick];
      } else {
        struct num v = num_round(num_float(x->type, random_unit(s) * 2 - 1));
        num_store(p, v);
        m.at[i * m.columns + j] = v.f;
      }
    }
}

// ---- comparing ----

struct comparison {
  struct suite *s;
  const struct array *out;
  struct strides strides;
  const struct expected *e;
  size_t rows, columns;
  double *sum, *magnitude; // of a row
};

static size_t index_of(const struct comparison *c, size_t row, size_t column) {
  return c->strides.first + row * c->strides.row + column * c->strides.column;
}

static void add_up(const struct comparison *c, size_t row) {
  const struct expected *e = c->e;
  for (size_t j = 0; j < c->columns; j++) {
    c->sum[j] = e->start ? e->start[row * c->columns + j] : 0;
    c->magnitude[j] = fabs(c->sum[j]);
  }
  for (size_t k = 0; k < e->a.columns; k++) {
    double factor = matrix_row(e->a, row)[k];
    const double *b = matrix_row(e->b, k);
    for (size_t j = 0; j < c->columns; j++)
      c->sum[j] += factor * b[j];
    for (size_t j = 0; j < c->columns && !e->is_exact; j++)
      c->magnitude[j] += fabs(factor * b[j]);
  }
}

static void compare_row(const struct comparison *c, size_t row) {
  const struct expected *e = c->e;
  add_up(c, row);
  double lost = e->product + e->step * (2 + sqrt((double)e->a.columns) / 4);
  for (size_t j = 0; j < c->columns && !c->s->is_failed; j++) {
    double v = e->finish ? e->finish(c->sum[j], row, j, e->user) : c->sum[j];
    struct num want = dtype_is_float(c->out->type) ? num_float(c->out->type, v)
                                                   : num_int(c->out->type, (int64_t)v);
    case_expect(c->s, c->out, index_of(c, row, j), want, e->is_exact ? 0.5 : 1,
                e->is_exact ? 0 : lost * c->magnitude[j]);
    if (c->s->is_failed)
      printf("# that is row %zu, column %zu of %zu x %zu, sums of %zu\n", row, j, c->rows,
             c->columns, e->a.columns);
  }
}

static double dot(const double *x, const double *y, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += x[i] * y[i];
  return sum;
}

// All numbers here are integers below 2^53.
static void compare_combined(const struct comparison *c) {
  const struct expected *e = c->e;
  double *r = arena_array(c->s->arena, double, c->columns);
  double *br = arena_array(c->s->arena, double, e->b.rows);
  for (size_t j = 0; j < c->columns; j++)
    r[j] = (double)(1 + random_bits(c->s) % 31) * (random_bits(c->s) & 1 ? -1 : 1);
  for (size_t k = 0; k < e->b.rows; k++)
    br[k] = dot(matrix_row(e->b, k), r, c->columns);
  for (size_t i = 0; i < c->rows && !c->s->is_failed; i++) {
    double got = 0, want = dot(matrix_row(e->a, i), br, e->b.rows);
    if (e->start)
      want += dot(e->start + i * c->columns, r, c->columns);
    for (size_t j = 0; j < c->columns; j++)
      got += num_double(array_get(c->out, index_of(c, i, j))) * r[j];
    if (got != want) {
      compare_row(c, i); // says which
      case_fail(c->s, "row %zu is wrong", i);
    }
  }
}

// Integers of the product are exact in this type. They are below 2048 where they must be.
static bool is_exact_in(enum dtype t) { return !dtype_is_float(t) || num_ulp(t, 1024) <= 1; }

void expect_product(struct suite *s, const struct array *out, struct strides strides,
                    const struct expected *e) {
  struct comparison c = {s, out, strides, e, e->a.rows, e->b.columns, NULL, NULL};
  c.sum = arena_array(s->arena, double, c.columns);
  c.magnitude = arena_array(s->arena, double, c.columns);
  if ((double)c.rows * (double)c.columns * (double)e->a.columns <= ONE_BY_ONE) {
    for (size_t i = 0; i < c.rows; i++)
      compare_row(&c, i);
    return;
  }
  if (e->is_exact && !e->finish && is_exact_in(out->type))
    compare_combined(&c);
  for (unsigned i = 0; i < SAMPLED_ROWS; i++)
    compare_row(&c, i == 0 ? 0 : i == 1 ? c.rows - 1 : (size_t)(random_bits(s) % c.rows));
}
