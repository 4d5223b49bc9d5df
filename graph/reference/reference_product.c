// SPDX-License-Identifier: Apache-2.0
// Matrix products. Floats are computed in packed blocks; integers wrap at 64 bits.
#include "graph/reference/reference.h"

enum { TILE = 4, PANEL = 64, DEPTH = 128 };

typedef double pair __attribute__((vector_size(16)));

struct product {
  int64_t m, n, k;
  struct matrix a, b, c;
};

// Columns [from, from + PANEL) of b, rows [depth, depth + DEPTH): groups of TILE columns,
// zero-padded.
static void pack_columns(const struct product *p, int64_t from, int64_t depth, int64_t count,
                         double *ret) {
  for (int64_t g = 0; g < PANEL; g += TILE)
    for (int64_t k = 0; k < count; k++)
      for (int64_t j = g; j < g + TILE; j++)
        *ret++ =
            from + j < p->n ? p->b.p[(depth + k) * p->b.row + (from + j) * p->b.column].real : 0;
}

static void pack_rows(const struct product *p, int64_t from, int64_t depth, int64_t count,
                      double *ret) {
  for (int64_t k = 0; k < count; k++)
    for (int64_t i = from; i < from + TILE; i++)
      *ret++ = i < p->m ? p->a.p[i * p->a.row + (depth + k) * p->a.column].real : 0;
}

// Separate variables for the sums, so that they stay in registers.
static void multiply_tile(int64_t count, const double *a, const double *b, double ret[TILE][TILE]) {
  pair l0 = {0}, r0 = {0}, l1 = {0}, r1 = {0}, l2 = {0}, r2 = {0}, l3 = {0}, r3 = {0};
  for (int64_t k = 0; k < count; k++, a += TILE, b += TILE) {
    const pair left = {b[0], b[1]}, right = {b[2], b[3]};
#define ROW(i)                                                                                     \
  l##i += (pair){a[i], a[i]} * left;                                                               \
  r##i += (pair){a[i], a[i]} * right;
    ROW(0)
    ROW(1)
    ROW(2)
    ROW(3)
#undef ROW
  }
  const pair sums[TILE][2] = {{l0, r0}, {l1, r1}, {l2, r2}, {l3, r3}};
  memcpy(ret, sums, sizeof sums);
}

static void add_tile(const struct product *p, int64_t row, int64_t column,
                     double sums[TILE][TILE]) {
  for (int64_t i = 0; i < TILE && row + i < p->m; i++)
    for (int64_t j = 0; j < TILE && column + j < p->n; j++)
      p->c.p[(row + i) * p->c.row + (column + j) * p->c.column].real += sums[i][j];
}

static void multiply_panel(void *user, uint64_t i, unsigned worker) {
  (void)worker;
  const struct product *p = user;
  const int64_t from = (int64_t)i * PANEL;
  double columns[PANEL * DEPTH], rows[TILE * DEPTH], sums[TILE][TILE];
  for (int64_t depth = 0; depth < p->k; depth += DEPTH) {
    const int64_t count = p->k - depth < DEPTH ? p->k - depth : DEPTH;
    pack_columns(p, from, depth, count, columns);
    for (int64_t row = 0; row < p->m; row += TILE) {
      pack_rows(p, row, depth, count, rows);
      for (int64_t g = 0; g < PANEL && from + g < p->n; g += TILE) {
        multiply_tile(count, rows, columns + g * count, sums);
        add_tile(p, row, from + g, sums);
      }
    }
  }
}

static void multiply_integers(const struct product *p) {
  for (int64_t i = 0; i < p->m; i++)
    for (int64_t j = 0; j < p->n; j++) {
      uint64_t sum = 0;
      for (int64_t k = 0; k < p->k; k++)
        sum += (uint64_t)p->a.p[i * p->a.row + k * p->a.column].integer *
               (uint64_t)p->b.p[k * p->b.row + j * p->b.column].integer;
      union element *to = &p->c.p[i * p->c.row + j * p->c.column];
      to->integer = (int64_t)((uint64_t)to->integer + sum);
    }
}

static struct matrix flipped(struct matrix x) { return (struct matrix){x.p, x.column, x.row}; }

void matrix_product(struct thread_pool *pool, bool real, int64_t m, int64_t n, int64_t k,
                    struct matrix a, struct matrix b, struct matrix c) {
  struct product p = {m, n, k, a, b, c};
  if (n < m) // panels are taken from the longer side
    p = (struct product){n, m, k, flipped(b), flipped(a), flipped(c)};
  if (!real) {
    multiply_integers(&p);
    return;
  }
  const int64_t panels = (p.n + PANEL - 1) / PANEL;
  if (pool && panels > 1 && (double)m * (double)n * (double)k > 1e5) {
    thread_pool_for(pool, (uint64_t)panels, multiply_panel, &p);
    return;
  }
  for (int64_t i = 0; i < panels; i++)
    multiply_panel(&p, (uint64_t)i, 0);
}

// ---- operators ----

static struct matrix rows_of(const struct tensor *t, int64_t start) {
  return (struct matrix){t->at + start, t->shape[t->rank - 1], 1};
}

static bool is_real(const struct reference_call *c) { return dtype_is_float(c->out[0]->dtype); }

// Groups of rows have a matrix each; groups of inner indices, a result.
bool reference_grouped_mm(struct reference_call *c) {
  const struct tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1), *offs = call_tensor(c, 2);
  struct tensor *out = c->out[0];
  const bool of_rows = b->rank == 3;
  const int64_t m = a->shape[0], k = a->shape[1], n = b->shape[b->rank - 1];
  const int64_t limit = of_rows ? m : k;
  for (int64_t g = 0, begin = 0; g < offs->shape[0]; g++) {
    const int64_t end = offs->at[g].integer < limit ? offs->at[g].integer : limit;
    const int64_t size = end - begin;
    if (size > 0 && of_rows)
      matrix_product(c->pool, true, size, n, k, rows_of(a, begin * k), rows_of(b, g * k * n),
                     rows_of(out, begin * n));
    else if (size > 0)
      matrix_product(c->pool, true, m, n, size, rows_of(a, begin), rows_of(b, begin * n),
                     rows_of(out, g * m * n));
    begin = end > begin ? end : begin;
  }
  return true;
}

bool reference_mm(struct reference_call *c) {
  const struct tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
  matrix_product(c->pool, is_real(c), a->shape[0], b->shape[1], a->shape[1], rows_of(a, 0),
                 rows_of(b, 0), rows_of(c->out[0], 0));
  return true;
}

static void multiply_batches(const struct reference_call *c, const struct tensor *a,
                             const struct tensor *b) {
  const int64_t m = a->shape[1], k = a->shape[2], n = b->shape[2];
  for (int64_t i = 0; i < a->shape[0]; i++)
    matrix_product(c->pool, is_real(c), m, n, k, rows_of(a, i * m * k), rows_of(b, i * k * n),
                   rows_of(c->out[0], i * m * n));
}

bool reference_bmm(struct reference_call *c) {
  multiply_batches(c, call_tensor(c, 0), call_tensor(c, 1));
  return true;
}

// out = beta * self + alpha * out; a factor of 0 ignores its operand, even NaN.
static void add_scaled(const struct reference_call *c) {
  const struct tensor *self = call_tensor(c, 0);
  struct tensor *out = c->out[0];
  const union element beta = call_element(c, 3, out->dtype), alpha = call_element(c, 4, out->dtype);
  const bool adds = call_real(c, 3) != 0, multiplies = call_real(c, 4) != 0;
  int64_t strides[GRAPH_MAX_RANK] = {0}, dense[GRAPH_MAX_RANK];
  dense_strides(self->rank, self->shape, dense);
  for (uint32_t d = 0; d < self->rank; d++)
    strides[out->rank - self->rank + d] = self->shape[d] == 1 ? 0 : dense[d];
  for (int64_t i = 0; i < out->numel; i++) {
    int64_t offset = 0, rest = i;
    for (uint32_t d = out->rank; d-- > 0; rest /= out->shape[d])
      offset += rest % out->shape[d] * strides[d];
    union element *to = &out->at[i];
    const union element e = element_convert(self->at[offset], self->dtype, out->dtype);
    if (is_real(c))
      to->real = (multiplies ? alpha.real * to->real : 0) + (adds ? beta.real * e.real : 0);
    else
      to->integer = (int64_t)((uint64_t)alpha.integer * (uint64_t)to->integer +
                              (uint64_t)beta.integer * (uint64_t)e.integer);
  }
}

bool reference_addmm(struct reference_call *c) {
  const struct tensor *a = call_tensor(c, 1), *b = call_tensor(c, 2);
  matrix_product(c->pool, is_real(c), a->shape[0], b->shape[1], a->shape[1], rows_of(a, 0),
                 rows_of(b, 0), rows_of(c->out[0], 0));
  add_scaled(c);
  return true;
}

bool reference_baddbmm(struct reference_call *c) {
  multiply_batches(c, call_tensor(c, 1), call_tensor(c, 2));
  add_scaled(c);
  return true;
}

// All dimensions of the input but the last are rows; the weight is [columns, depth].
bool reference_linear(struct reference_call *c) {
  const struct tensor *in = call_tensor(c, 0), *weight = call_tensor(c, 1),
                      *bias = call_tensor(c, 2);
  struct tensor *out = c->out[0];
  const int64_t k = in->shape[in->rank - 1], n = weight->rank == 2 ? weight->shape[0] : 1;
  const int64_t m = n ? out->numel / n : 0;
  for (int64_t i = 0; bias && i < out->numel; i++)
    out->at[i] = bias->at[bias->rank ? i % n : 0];
  matrix_product(c->pool, is_real(c), m, n, k, (struct matrix){in->at, k, 1},
                 (struct matrix){weight->at, 1, k}, (struct matrix){out->at, n, 1});
  return true;
}

// Rank 1 is a row on the left and a column on the right; leading dimensions broadcast.
bool reference_matmul(struct reference_call *c) {
  const struct tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
  struct tensor *out = c->out[0];
  const int64_t m = a->rank > 1 ? a->shape[a->rank - 2] : 1, k = a->shape[a->rank - 1],
                n = b->rank > 1 ? b->shape[b->rank - 1] : 1;
  const uint32_t dropped = (a->rank == 1) + (b->rank == 1), batch_rank = out->rank + dropped - 2;
  const int64_t batches = m > 0 && n > 0 ? out->numel / (m * n) : 0;
  for (int64_t i = 0; i < batches; i++) {
    int64_t from_a = 0, from_b = 0, step_a = m * k, step_b = k * n, rest = i;
    for (uint32_t d = batch_rank; d-- > 0; rest /= out->shape[d]) {
      const int64_t at = rest % out->shape[d], back = batch_rank - d;
      if (back + 2 <= a->rank) {
        const int64_t size = a->shape[a->rank - 2 - back];
        from_a += size == 1 ? 0 : at * step_a;
        step_a *= size;
      }
      if (back + 2 <= b->rank) {
        const int64_t size = b->shape[b->rank - 2 - back];
        from_b += size == 1 ? 0 : at * step_b;
        step_b *= size;
      }
    }
    matrix_product(c->pool, is_real(c), m, n, k, (struct matrix){a->at + from_a, k, 1},
                   (struct matrix){b->at + from_b, n, 1},
                   (struct matrix){out->at + i * m * n, n, 1});
  }
  return true;
}
