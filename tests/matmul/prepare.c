// SPDX-License-Identifier: Apache-2.0
// Changes matrices for forms of kernels that transform them, and decides which products a form
// supports.
#include "prepare.h"

#include <string.h>

static struct array *extra(struct product_run *r, enum dtype type, size_t count) {
  struct array *x = case_input(r->s, type, count + 1);
  array_poison(x);
  return x;
}

static unsigned pick(struct product_run *r, unsigned n) {
  return (unsigned)(random_bits(r->s) % n);
}

static void put(struct array *x, size_t i, double v) { array_set(x, i, num_number(x->type, v)); }

static double get(const struct array *x, size_t i) { return num_double(array_get(x, i)); }

// Two iterations of loads in one.
bool fits_unrolled(const struct product *p) { return product_shared_bytes(p) <= 64 << 10; }

bool fits_even(const struct product *p) { return p->k % p->block.k == 0; }

bool fits_promoted(const struct product *p) {
  return dtype_is_float(p->types->a) && dtype_bits(p->types->a) == 8 && p->block.k >= 32;
}

// Rows of multiples of 16 bytes, in memory and in the blocks.
static bool fits_descriptor(size_t length, const struct product *p, enum dtype t, unsigned block) {
  size_t padded = p->pad == 16 ? 16 : length + p->pad;
  return padded * dtype_bytes(t) % 16 == 0 && block * dtype_bytes(t) >= 16;
}

bool fits_descriptors(const struct product *p) {
  return !p->a_columns && !p->b_columns && fits_descriptor(p->k, p, p->types->a, p->block.k) &&
         fits_descriptor(p->n, p, p->types->b, p->block.n);
}

bool fits_transposed_descriptors(const struct product *p) {
  return p->a_columns && p->b_columns && fits_descriptor(p->m, p, p->types->a, p->block.m) &&
         fits_descriptor(p->k, p, p->types->b, p->block.k);
}

bool fits_stored_descriptors(const struct product *p) {
  return fits_descriptors(p) && fits_descriptor(p->n, p, p->types->out, p->block.n);
}

bool fits_static(const struct product *p) { return p->k <= 3 * p->block.k; }

void p_persistent(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  r->grid.x = r->grid.x > 2 ? (r->grid.x + 2) / 3 : 1;
}

bool fits_one_k(const struct product *p) { return p->k <= p->block.k; }

void p_row_of_tiles(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  r->grid.x = (unsigned)((r->p->m + r->p->block.m - 1) / r->p->block.m);
}

bool fits_split(const struct product *p) {
  return !p->is_rounded && dtype_bits(p->types->out) >= 32;
}

void p_split(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  memset(r->c->host, 0, r->c->count * dtype_bytes(r->c->type));
  r->grid.y = 3;
}

void p_gathered_rows(struct product_run *r) {
  struct array *x = extra(r, DTYPE_I32, r->p->m);
  struct matrix a = matrix_new(r->s, r->p->m, r->p->k);
  for (size_t i = 0; i < a.rows; i++) {
    unsigned from = pick(r, (unsigned)a.rows);
    put(x, i, from);
    memcpy(matrix_row(a, i), matrix_row(r->e.a, from), a.columns * sizeof(double));
  }
  r->e.a = a;
}

void p_gathered_k(struct product_run *r) {
  struct array *x = extra(r, DTYPE_I32, r->p->k);
  struct matrix a = matrix_new(r->s, r->p->m, r->p->k), b = matrix_new(r->s, r->p->k, r->p->n);
  for (size_t j = 0; j < r->p->k; j++) {
    unsigned from = pick(r, (unsigned)r->p->k);
    put(x, j, from);
    for (size_t i = 0; i < a.rows; i++)
      matrix_row(a, i)[j] = matrix_row(r->e.a, i)[from];
    memcpy(matrix_row(b, j), matrix_row(r->e.b, from), b.columns * sizeof(double));
  }
  r->e.a = a;
  r->e.b = b;
}

void p_start(struct product_run *r) {
  struct matrix start = matrix_new(r->s, r->p->m, r->p->n);
  struct array *x = extra(r, r->p->types->acc, start.rows * start.columns);
  matrix_draw(r->s, start, x, (struct strides){0, start.columns, 1}, r->limit);
  r->e.start = start.at;
}

void p_other(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  size_t tail = (r->p->block.k - r->p->k % r->p->block.k) % r->p->block.k;
  struct matrix start = matrix_new(r->s, r->p->m, r->p->n);
  for (size_t i = 0; i < start.rows * start.columns; i++)
    start.at[i] = 2 * (double)tail;
  r->e.start = start.at;
}

bool fits_other(const struct product *p) {
  return p->m % p->block.m == 0 && p->n % p->block.n == 0;
}

bool fits_cast_a(const struct product *p) {
  return dtype_bits(p->types->a) < dtype_bits(p->types->b);
}

bool fits_cast_b(const struct product *p) {
  return dtype_bits(p->types->a) > dtype_bits(p->types->b);
}

void p_scaled_rows(struct product_run *r) {
  struct array *x = extra(r, r->p->types->b, r->p->m);
  for (size_t i = 0; i < r->p->m; i++) {
    double scale = 1 << pick(r, 2);
    put(x, i, scale);
    for (size_t k = 0; k < r->p->k; k++)
      matrix_row(r->e.a, i)[k] *= scale;
  }
}

bool fits_arithmetic(const struct product *p) {
  return dtype_is_float(p->types->b) && dtype_bits(p->types->b) > 8 && p->types->acc != DTYPE_F16;
}

void p_scaled_k(struct product_run *r) {
  struct array *x = extra(r, DTYPE_F32, (r->p->k + 7) / 8);
  for (size_t k = 0; k < r->p->k; k++) {
    if (k % 8 == 0)
      put(x, k / 8, 1 << pick(r, 2));
    for (size_t j = 0; j < r->p->n; j++)
      matrix_row(r->e.b, k)[j] *= get(x, k / 8);
  }
}

bool fits_same(const struct product *p) { return p->types->a == p->types->b && fits_arithmetic(p); }

void p_rectified(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  for (size_t i = 0; i < r->p->m * r->p->k; i++)
    r->e.a.at[i] = r->e.a.at[i] > 0 ? r->e.a.at[i] : 0;
  for (size_t i = 0; i < r->p->k * r->p->n; i++)
    r->e.b.at[i] -= r->e.b.at[i] > 1;
}

bool fits_rectified(const struct product *p) {
  return dtype_bits(p->types->a) > 8 && p->types->a == p->types->b && !p->is_rounded;
}

void p_no_loads(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  for (size_t i = 0; i < r->p->m; i++)
    for (size_t k = 0; k < r->p->k; k++)
      matrix_row(r->e.a, i)[k] = (double)((i + k) % 3);
}

void p_two_products(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  struct matrix b = matrix_new(r->s, r->p->k, r->p->n);
  for (size_t k = 0; k < b.rows; k++)
    for (size_t j = 0; j < b.columns; j++)
      matrix_row(b, k)[j] = matrix_row(r->e.b, k)[j] + matrix_row(r->e.b, k)[b.columns - 1 - j];
  r->e.b = b;
}

bool fits_two_products(const struct product *p) {
  return !p->is_rounded && (size_t)p->block.m * p->block.n / p->warps <= 32 * 64 &&
         product_shared_bytes(p) <= 96 << 10;
}

void p_row_sums(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  for (size_t i = 0; i < r->p->k * r->p->n; i++)
    r->e.b.at[i] += 1;
}

bool fits_exact(const struct product *p) { return !p->is_rounded; }

void p_rescaled(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  size_t iterations = (r->p->k + r->p->block.k - 1) / r->p->block.k;
  for (size_t k = 0; k < r->p->k; k++)
    for (size_t j = 0; j < r->p->n && (iterations - 1 - k / r->p->block.k) % 2; j++)
      matrix_row(r->e.b, k)[j] *= -1;
}

void p_skipped(struct product_run *r) {
  struct array *x = extra(r, DTYPE_I32, r->p->k / r->p->block.k + 1);
  for (size_t i = 0; i < x->count; i++)
    put(x, i, pick(r, 2));
  for (size_t k = 0; k < r->p->k; k++)
    for (size_t j = 0; j < r->p->n; j++)
      matrix_row(r->e.b, k)[j] *= get(x, k / r->p->block.k);
}

static double f_epilogue(double v, size_t row, size_t column, const void *user) {
  (void)row;
  v += get(user, column);
  return v >= 0 ? v : 2 * v;
}

void p_epilogue(struct product_run *r) {
  struct array *x = extra(r, DTYPE_F32, r->p->n);
  for (size_t j = 0; j < r->p->n; j++)
    put(x, j, (double)pick(r, 17) - 8);
  r->e.finish = f_epilogue;
  r->e.user = x;
}

void p_chained(struct product_run *r) {
  struct matrix x = matrix_new(r->s, r->p->block.n, r->p->block.n), sums, b;
  struct array *stored = extra(r, r->p->types->b, x.rows * x.columns);
  matrix_draw(r->s, x, stored, (struct strides){0, x.columns, 1}, 2);
  sums = matrix_new(r->s, r->p->m, r->p->n);
  for (size_t i = 0; i < sums.rows; i++)
    for (size_t j = 0; j < sums.columns; j++) {
      double sum = 0;
      for (size_t k = 0; k < r->p->k; k++)
        sum += matrix_row(r->e.a, i)[k] * matrix_row(r->e.b, k)[j];
      matrix_row(sums, i)[j] = num_round(num_float(r->p->types->b, sum)).f;
    }
  b = matrix_new(r->s, r->p->n, r->p->n);
  for (size_t j = 0; j < b.rows; j++)
    memcpy(matrix_row(b, j), matrix_row(x, j), b.columns * sizeof(double));
  r->e.a = sums;
  r->e.b = b;
}

// One tile along N; sums that become operands stay exact.
bool fits_chained(const struct product *p) {
  const struct types *t = p->types;
  bool is_wide = t->a == DTYPE_F16 || t->a == DTYPE_BF16 || t->a == DTYPE_F64 ||
                 (t->precision && strcmp(t->precision, "ieee") == 0);
  return p->n <= p->block.n && p->block.n <= 64 && is_wide && t->acc != DTYPE_F16 && p->k <= 1000 &&
         !p->is_rounded;
}

void p_through_memory(struct product_run *r) {
  size_t n = r->p->m, from[256];
  struct array *x = case_inout(r->s, r->p->types->b, n * r->p->n);
  for (size_t i = 0; i < n * r->p->n && !r->s->is_failed; i++)
    put(x, i, r->e.b.at[i]);
  for (size_t i = 0; i < n; i++) {
    from[i] = pick(r, (unsigned)n);
    for (size_t k = 0; k < n; k++)
      put(r->a, i * r->at_a.row + k * r->at_a.column, k == from[i]);
  }
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n; k++)
      matrix_row(r->e.a, i)[k] = k == from[from[from[i]]];
}

bool fits_through_memory(const struct product *p) {
  return p->m == p->k && p->m <= p->block.m && p->block.m == p->block.k && !p->is_rounded;
}
