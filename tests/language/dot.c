// SPDX-License-Identifier: Apache-2.0
// Matrix products: every type of operands and accumulators, every precision, ranks 2 to 4, sizes
// from 1 (also below those of matrix instructions), with and without an accumulator. Small integers
// as operands make sums exact; numbers between -1 and 1 test the precision.
#include "tile.h"

#include <math.h>
#include <stdio.h>

struct row {
  enum dtype a, b, sum;
  const char *precision; // or NULL
  // Error bounds of a product and of a sum of n, relative to the sum of magnitudes.
  double product, step;
  unsigned imprecise; // max_num_imprecise_acc where K is not smaller; 0: not given
};

static const struct row rows[] = {
    {DTYPE_F16, DTYPE_F16, DTYPE_F32, NULL, 0, 0x1p-23},
    {DTYPE_F16, DTYPE_F16, DTYPE_F16, NULL, 0, 0x1p-10},
    {DTYPE_BF16, DTYPE_BF16, DTYPE_F32, NULL, 0, 0x1p-23},
    {DTYPE_F32, DTYPE_F32, DTYPE_F32, NULL, 0x1p-9, 0x1p-23},
    {DTYPE_F32, DTYPE_F32, DTYPE_F32, "tf32", 0x1p-9, 0x1p-23},
    {DTYPE_F32, DTYPE_F32, DTYPE_F32, "tf32x3", 0x1p-20, 0x1p-23},
    {DTYPE_F32, DTYPE_F32, DTYPE_F32, "ieee", 0, 0x1p-23},
    {DTYPE_F32, DTYPE_F32, DTYPE_F32, "bf16x3", 0x1p-14, 0x1p-23},
    {DTYPE_F32, DTYPE_F32, DTYPE_F32, "bf16x6", 0x1p-21, 0x1p-23},
    {DTYPE_F64, DTYPE_F64, DTYPE_F64, NULL, 0, 0x1p-52},
    {DTYPE_I8, DTYPE_I8, DTYPE_I32, NULL, 0, 0},
    {DTYPE_F8E5, DTYPE_F8E5, DTYPE_F32, NULL, 0, 0x1p-12},
    {DTYPE_F8E4NV, DTYPE_F8E4NV, DTYPE_F32, NULL, 0, 0x1p-12},
    {DTYPE_F8E5, DTYPE_F8E4NV, DTYPE_F32, NULL, 0, 0x1p-12},
    {DTYPE_F8E4NV, DTYPE_F8E5, DTYPE_F32, NULL, 0, 0x1p-12},
    {DTYPE_F8E5, DTYPE_F8E4NV, DTYPE_F32, NULL, 0, 0x1p-12, 32},
    {DTYPE_F8E5, DTYPE_F8E5, DTYPE_F16, NULL, 0, 0x1p-10},
    {DTYPE_F8E4NV, DTYPE_F8E4NV, DTYPE_F16, NULL, 0, 0x1p-10},
    {DTYPE_F8E4B15, DTYPE_F8E4B15, DTYPE_F32, NULL, 0, 0x1p-23},
};

enum sum { NO_SUM, POSITIONAL, NAMED, ADDED, SUMS };

struct product {
  const struct row *row;
  struct tile a, b, c; // ranks agree; [..., M, K], [..., K, N], [..., M, N]
  enum sum sum;        // how the accumulator is given
  bool is_exact;
  bool by_columns; // B is given as [..., N, K] and transposed
  unsigned warps;
};

// As the accumulator, or as an addend of the product.
static const char *expression(struct suite *s, const struct product *p) {
  static const char *const acc[SUMS] = {"", ", c", ", acc=c", ""};
  const struct row *r = p->row;
  const char *precision = r->precision ? r->precision : "", *imprecise = "";
  if (r->imprecise && p->a.dim[p->a.rank - 1] >= r->imprecise)
    imprecise = arena_printf(s->arena, ", max_num_imprecise_acc=%u", r->imprecise);
  return arena_printf(
      s->arena, "tl.dot(a, %s%s%s%s%s%s%s)%s", p->by_columns ? "tl.trans(b)" : "b", acc[p->sum],
      r->precision ? ", input_precision=\"" : "", precision, r->precision ? "\"" : "", imprecise,
      r->sum == DTYPE_F16 ? ", out_dtype=tl.float16" : "", p->sum == ADDED ? " + c" : "");
}

static double element(const struct array *x, size_t i) { return num_double(array_get(x, i)); }

static struct num exact(enum dtype type, double v) {
  return dtype_is_float(type) ? num_float(type, v) : num_int(type, (int64_t)v);
}

// arrays: a, b, c (or NULL), the result.
static void compare(struct suite *s, const struct product *p, struct array *const x[4]) {
  unsigned last = p->a.rank - 1;
  size_t m = p->a.dim[last - 1], k = p->a.dim[last], n = p->c.dim[last];
  for (size_t i = 0; i < x[3]->count; i++) {
    size_t row = i / n, batch = row / m;
    double sum = x[2] ? element(x[2], i) : 0, magnitude = fabs(sum);
    for (size_t j = 0; j < k; j++) {
      size_t at = p->by_columns ? (batch * n + i % n) * k + j : (batch * k + j) * n + i % n;
      double v = element(x[0], row * k + j) * element(x[1], at);
      sum += v, magnitude += fabs(v);
    }
    double lost = p->row->product + p->row->step * (2 + sqrt((double)k) / 4);
    case_expect(s, x[3], i, exact(p->row->sum, sum), p->is_exact ? 0.5 : 1,
                p->is_exact ? 0 : lost * magnitude);
  }
}

static void draw(struct suite *s, struct array *x, bool is_exact) {
  array_draw(s, x, is_exact ? DRAW_SMALL : DRAW_UNIT);
  for (size_t i = 0; i < x->count && x->type == DTYPE_F8E4B15 && is_exact; i++)
    array_set(x, i, num_float(x->type, (double)(random_bits(s) % 15) / 8 - 0.875));
}

static const char *name_of(const struct product *p, char text[static 160]) {
  static const char *const sums[SUMS] = {"", " acc", " acc=", " + c"};
  const struct row *r = p->row;
  struct strbuf b = {0};
  unsigned last = p->a.rank - 1;
  strbuf_printf(&b, "%s %s %s%s%s ", dtype_name(r->a), dtype_name(r->b), dtype_name(r->sum),
                r->precision ? " " : "", r->precision ? r->precision : "");
  for (unsigned i = 0; i < last; i++)
    strbuf_printf(&b, "%ux", p->a.dim[i]);
  strbuf_printf(&b, "%ux%u%s%s%s", p->c.dim[last], p->a.dim[last], sums[p->sum],
                p->is_exact ? "" : " rounded", p->by_columns ? " trans" : "");
  if (r->imprecise)
    strbuf_printf(&b, " promoted");
  snprintf(text, 160, "%s", strbuf_cstr(&b));
  strbuf_finish(&b);
  return text;
}

static void product(struct suite *s, const struct product *p) {
  const struct row *r = p->row;
  char name[160];
  if (!case_begin(s, "dot %s warps=%u", name_of(p, name), p->warps))
    return;
  struct tile_kernel k = {.expr = expression(s, p),
                          .arity = p->sum ? 3 : 2,
                          .in = {p->a, p->b, p->c},
                          .out = p->c,
                          .out_type = r->sum};
  tile_kernel_source(s, &k);
  case_warps(s, p->warps);
  struct array *x[4] = {case_input(s, r->a, tile_count(p->a)),
                        case_input(s, r->b, tile_count(p->b)),
                        p->sum ? case_input(s, r->sum, tile_count(p->c)) : NULL,
                        case_output(s, r->sum, tile_count(p->c))};
  for (unsigned i = 0; i < 3 && !s->is_failed; i++)
    if (x[i])
      draw(s, x[i], p->is_exact);
  if (case_run(s, 1))
    compare(s, p, x);
  case_end(s);
}

// ---- the table ----

static struct product product_of(const struct row *r, struct tile batch, unsigned m, unsigned n,
                                 unsigned k, unsigned variant) {
  struct product p = {.row = r, .a = batch, .b = batch, .c = batch, .warps = 1u << variant % 4};
  unsigned at = batch.rank;
  p.a.rank = p.b.rank = p.c.rank = at + 2;
  p.a.dim[at] = p.c.dim[at] = m;
  p.b.dim[at + 1] = p.c.dim[at + 1] = n;
  p.a.dim[at + 1] = p.b.dim[at] = k;
  while (tile_count(p.c) / (32 * p.warps) > 512) // a thread holds no more
    p.warps *= 2;
  p.sum = variant / 2 % SUMS;
  p.is_exact = r->sum == DTYPE_I32 || variant % 3 != 0;
  return p;
}

// Both operands may go through shared memory; float8e4b15 does as f16.
static bool fits_in_shared(const struct product *p) {
  size_t bytes = p->row->a == DTYPE_F8E4B15 ? 2 : dtype_bytes(p->row->a);
  return (tile_count(p->a) + tile_count(p->b)) * bytes <= 128 << 10;
}

static void sized(struct suite *s, const struct row *r, struct tile batch, unsigned m, unsigned n,
                  unsigned k, unsigned variant) {
  struct product p = product_of(r, batch, m, n, k, variant);
  if (fits_in_shared(&p))
    product(s, &p);
}

// Of each size as each operand; more around the sizes of instructions.
static const unsigned sizes[][3] = {
    {1, 1, 1},   {1, 1, 64},   {1, 64, 16},  {64, 1, 16},  {2, 2, 2},    {2, 32, 4},
    {4, 4, 4},   {4, 64, 2},   {8, 8, 4},    {8, 8, 8},    {8, 16, 32},  {16, 8, 8},
    {16, 8, 16}, {16, 16, 1},  {16, 16, 8},  {16, 16, 16}, {16, 16, 32}, {16, 32, 64},
    {32, 8, 16}, {32, 16, 32}, {32, 32, 32}, {32, 64, 16}, {64, 2, 32},  {64, 16, 64},
    {64, 32, 8}, {64, 64, 16}, {64, 64, 32}, {64, 64, 64},
};
static const struct tile batches[] = {{1, {1}}, {1, {2}}, {1, {4}}, {1, {16}}, {2, {2, 4}}};

// All numbers of warps, of the sizes at which they share the work.
static void warps(struct suite *s, const struct row *r) {
  static const unsigned some[][3] = {{16, 16, 32}, {64, 16, 32}, {16, 64, 32}, {32, 32, 64}};
  for (size_t i = 0; i < COUNT_OF(some); i++)
    for (unsigned w = 0; w < 4; w++) // variants of one w: sums, exact or not
      sized(s, r, (struct tile){0}, some[i][0], some[i][1], some[i][2], w + 4 * (unsigned)(i + w));
}

// K is the contiguous dimension of both operands: wgmma can read operands of any width.
static void by_columns(struct suite *s, const struct row *r) {
  static const unsigned some[][3] = {{64, 16, 32}, {64, 64, 64}, {128, 32, 64}, {64, 128, 128}};
  for (size_t i = 0; i < COUNT_OF(some); i++)
    for (unsigned w = 2; w < 4; w++) {
      unsigned m = some[i][0], n = some[i][1], k = some[i][2];
      struct product p = product_of(r, (struct tile){0}, m, n, k, w + 4 * (unsigned)(i + w));
      p.b.dim[0] = n;
      p.b.dim[1] = k;
      p.by_columns = true;
      if (fits_in_shared(&p))
        product(s, &p);
    }
}

// ---- where operands come from and where products go ----

enum { N = 32 };
typedef double matrix[N][N];

static void multiply(matrix a, matrix b, matrix ret) {
  for (unsigned i = 0; i < N; i++)
    for (unsigned j = 0; j < N; j++) {
      ret[i][j] = 0;
      for (unsigned k = 0; k < N; k++)
        ret[i][j] += a[i][k] * b[k][j];
    }
}

static void transpose(matrix a, matrix ret) {
  for (unsigned i = 0; i < N; i++)
    for (unsigned j = 0; j < N; j++)
      ret[i][j] = a[j][i];
}

static void r_product(matrix a, matrix b, matrix ret) { multiply(a, b, ret); }

static void r_square(matrix a, matrix b, matrix ret) {
  (void)b;
  multiply(a, a, ret);
}

static void r_gram(matrix a, matrix b, matrix ret) { // a aT
  transpose(a, b);
  multiply(a, b, ret);
}

static void r_trans_a(matrix a, matrix b, matrix ret) {
  matrix t;
  transpose(a, t);
  multiply(t, b, ret);
}

static void r_trans_b(matrix a, matrix b, matrix ret) {
  matrix t;
  transpose(b, t);
  multiply(a, t, ret);
}

static void r_chain_left(matrix a, matrix b, matrix ret) { // (a b) b
  matrix c;
  multiply(a, b, c);
  multiply(c, b, ret);
}

static void r_chain_right(matrix a, matrix b, matrix ret) { // a (a b)
  matrix c;
  multiply(a, b, c);
  multiply(a, c, ret);
}

static void r_chain_sum(matrix a, matrix b, matrix ret) { // a (a b)T + a b
  matrix c, t;
  multiply(a, b, c);
  transpose(c, t);
  multiply(a, t, ret);
  for (unsigned i = 0; i < N * N; i++)
    ret[i / N][i % N] += c[i / N][i % N];
}

static void r_column_sums(matrix a, matrix b, matrix ret) { // 2 1 b
  (void)a;
  for (unsigned i = 0; i < N; i++)
    for (unsigned j = 0; j < N; j++) {
      ret[i][j] = 0;
      for (unsigned k = 0; k < N; k++)
        ret[i][j] += 2 * b[k][j];
    }
}

static void r_same(matrix a, matrix b, matrix ret) {
  for (unsigned i = 0; i < N * N; i++)
    ret[i / N][i % N] = a[i / N][i % N];
  (void)b;
}

static void r_centered(matrix a, matrix b, matrix ret) { // columns add up to 0 after this
  multiply(a, b, ret);
  for (unsigned j = 0; j < N; j++) {
    double sum = 0;
    for (unsigned i = 0; i < N; i++)
      sum += ret[i][j];
    for (unsigned i = 0; i < N; i++)
      ret[i][j] -= sum;
  }
}

static void r_running(matrix a, matrix b, matrix ret) {
  multiply(a, b, ret);
  for (unsigned i = 0; i < N; i++) {
    double most = ret[i][0];
    for (unsigned j = 1; j < N; j++)
      most = fmax(most, ret[i][j]);
    for (unsigned j = 1; j < N; j++)
      ret[i][j] += ret[i][j - 1];
    for (unsigned j = 0; j < N; j++)
      ret[i][j] += most;
  }
}

static void r_triangle(matrix a, matrix b, matrix ret) { // below the diagonal
  multiply(a, b, ret);
  for (unsigned i = 0; i < N; i++)
    for (unsigned j = i + 1; j < N; j++)
      ret[i][j] = 0;
}

static void r_power(matrix a, matrix b, matrix ret) { // three times the product
  multiply(a, b, ret);
  for (unsigned i = 0; i < N * N; i++)
    ret[i / N][i % N] *= 3;
}

// $ is the precision.
static const struct form {
  const char *body, *expr;
  void (*reference)(matrix a, matrix b, matrix ret); // may change a and b
} forms[] = {
    {"", "tl.dot(a, a$)", r_square},
    {"", "tl.dot(a, tl.trans(a)$)", r_gram},
    {"", "tl.dot(tl.trans(a), b$)", r_trans_a},
    {"", "tl.dot(a, tl.permute(b, (1, 0))$)", r_trans_b},
    {"", "tl.trans(tl.dot(tl.trans(b), tl.trans(a)$))", r_product},
    {"", "tl.dot(a + a, b$) - tl.dot(a, b$)", r_product},
    {"", "tl.dot(tl.dot(a, b$).to(a.dtype), b$)", r_chain_left},
    {"", "tl.dot(a, tl.dot(a, b$).to(a.dtype)$)", r_chain_right},
    {"    c = tl.dot(a, b$)\n", "tl.dot(a, tl.trans(c.to(a.dtype)), c$)", r_chain_sum},
    {"", "tl.dot(tl.full((32, 32), 2, a.dtype), b$)", r_column_sums},
    {"    i = arange(0, 32)\n    c = where(i[:, None] == i[None, :], 1, 0).to(a.dtype)\n",
     "tl.dot(c, tl.dot(a, c$).to(a.dtype)$)", r_same},
    {"    c = tl.dot(a, b$)\n", "c - tl.sum(c, 0)[None, :]", r_centered},
    {"    c = tl.dot(a, b$)\n", "tl.cumsum(c, 1) + tl.max(c, 1)[:, None]", r_running},
    {"    c = tl.dot(tl.reshape(a, (4, 8, 32)), tl.broadcast_to(b[None, :, :], (4, 32, 32))$)\n",
     "tl.reshape(c, (32, 32))", r_product},
    {"    i = arange(0, 32)\n", "where(i[:, None] >= i[None, :], tl.dot(a, b$), 0)", r_triangle},
    {"    c = zeros((32, 32), float32)\n    for i in range(0, 3):\n        c = tl.dot(a, b, c$)\n",
     "c", r_power},
    {"    c = zeros((32, 32), float32)\n    for i in range(0, 3):\n        c += tl.dot(a, b$)\n",
     "c", r_power},
    {"    c = tl.dot(a, b$)\n    if tl.sum(tl.sum(c, 0), 0) != 12345:\n        c = tl.dot(a + a, "
     "b, c$)\n",
     "c", r_power},
};

static void compare_form(struct suite *s, const struct form *f, struct array *const x[3]) {
  matrix a, b, want;
  for (unsigned i = 0; i < N * N; i++) {
    a[i / N][i % N] = element(x[0], i);
    b[i / N][i % N] = element(x[1], i);
  }
  f->reference(a, b, want);
  for (unsigned i = 0; i < N * N; i++)
    case_expect(s, x[2], i, num_float(DTYPE_F32, want[i / N][i % N]), 0.5, 0);
}

static void form(struct suite *s, const struct form *f, enum dtype t, const char *precision,
                 unsigned warps) {
  if (!case_begin(s, "dot form %zu %s%s warps=%u", (size_t)(f - forms), dtype_name(t), precision,
                  warps))
    return;
  struct tile tile = {2, {N, N}};
  struct tile_kernel k = {.body = tile_text_with(s, f->body, precision),
                          .expr = tile_text_with(s, f->expr, precision),
                          .arity = 2,
                          .in = {tile, tile},
                          .out = tile,
                          .out_type = DTYPE_F32};
  tile_kernel_source(s, &k);
  case_warps(s, warps);
  struct array *x[3] = {case_input(s, t, N * N), case_input(s, t, N * N),
                        case_output(s, DTYPE_F32, N * N)};
  for (unsigned i = 0; i < N * N && !s->is_failed; i++) { // sums of 32 products stay exact
    array_set(x[0], i, num_float(t, (double)(random_bits(s) % 5) - 2));
    array_set(x[1], i, num_float(t, (double)(random_bits(s) % 5) - 2));
  }
  if (case_run(s, 1))
    compare_form(s, f, x);
  case_end(s);
}

static void all_forms(struct suite *s) {
  for (size_t i = 0; i < COUNT_OF(forms); i++) {
    form(s, &forms[i], DTYPE_F16, "", 1);
    form(s, &forms[i], DTYPE_F16, "", 4);
    form(s, &forms[i], DTYPE_BF16, "", 8);
    form(s, &forms[i], DTYPE_F32, "", 2);
    form(s, &forms[i], DTYPE_F32, ", input_precision=\"ieee\"", 4);
    form(s, &forms[i], DTYPE_F32, ", input_precision=\"tf32x3\"", 4);
  }
}

void family_dot(struct suite *s) {
  unsigned variant = 0;
  for (size_t r = 0; r < COUNT_OF(rows); r++) {
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
      sized(s, &rows[r], (struct tile){0}, sizes[i][0], sizes[i][1], sizes[i][2], variant++);
    for (size_t i = 0; i < COUNT_OF(batches); i++, variant++)
      sized(s, &rows[r], batches[i], sizes[(variant + r) % 28][0], sizes[(variant + r) % 28][1],
            sizes[(variant + r) % 28][2], variant);
    warps(s, &rows[r]);
    by_columns(s, &rows[r]);
  }
  all_forms(s);
}
