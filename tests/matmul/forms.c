// SPDX-License-Identifier: Apache-2.0
// The forms that kernels with matrix products are written in: the kernels' texts, and what becomes
// of the matrices where the kernel changes them.
#include "product.h"

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

// ---- plain products ----

#define LOAD_BOTH                                                                                  \
  "        a = load(a_at, mask=(am[:, None] < M) & (k[None, :] < K - i * BK), other=0)\n"          \
  "        b = load(b_at, mask=(k[:, None] < K - i * BK) & (bn[None, :] < N), other=0)\n"
#define ADVANCE                                                                                    \
  "        a_at += BK * sak\n"                                                                     \
  "        b_at += BK * sbk\n"
#define POINTERS                                                                                   \
  "    a_at = a_ptr + am[:, None] * sam + k[None, :] * sak\n"                                      \
  "    b_at = b_ptr + k[:, None] * sbk + bn[None, :] * sbn\n"
#define ZEROS "    acc = tl.zeros((BM, BN), ACC)\n"
#define TURNS "    for i in range(0, cdiv(K, BK)):\n"
#define DOT "        acc = tl.dot(a, b, acc$)\n"

static const char pointers[] = POINTERS ZEROS TURNS LOAD_BOTH DOT ADVANCE;
static const char plus[] = POINTERS ZEROS TURNS LOAD_BOTH "        acc += tl.dot(a, b$)\n" ADVANCE;
static const char stages_of_loop[] = POINTERS ZEROS
    "    for i in tl.range(0, cdiv(K, BK), num_stages=STAGES):\n" LOAD_BOTH DOT ADVANCE;
static const char unrolled[] = POINTERS ZEROS
    "    for i in tl.range(0, cdiv(K, BK), loop_unroll_factor=2):\n" LOAD_BOTH DOT ADVANCE;
static const char while_loop[] =
    POINTERS ZEROS "    i = 0\n"
                   "    while i * BK < K:\n" LOAD_BOTH DOT ADVANCE "        i += 1\n";
static const char computed[] =
    ZEROS "    for i in range(0, K, BK):\n"
          "        at = i + k\n"
          "        a = load(a_ptr + am[:, None] * sam + at[None, :] * sak,\n"
          "                 mask=(am[:, None] < M) & (at[None, :] < K), other=0)\n"
          "        b = load(b_ptr + at[:, None] * sbk + bn[None, :] * sbn,\n"
          "                 mask=(at[:, None] < K) & (bn[None, :] < N), other=0)\n" DOT;
static const char backwards[] =
    ZEROS "    for i in range(cdiv(K, BK) - 1, -1, -1):\n"
          "        at = i * BK + k\n"
          "        a = load(a_ptr + am[:, None] * sam + at[None, :] * sak,\n"
          "                 mask=(am[:, None] < M) & (at[None, :] < K), other=0)\n"
          "        b = load(b_ptr + at[:, None] * sbk + bn[None, :] * sbn,\n"
          "                 mask=(at[:, None] < K) & (bn[None, :] < N), other=0)\n" DOT;
static const char wrapped[] =
    "    a_at = a_ptr + (am % M)[:, None] * sam + k[None, :] * sak\n"
    "    b_at = b_ptr + k[:, None] * sbk + (bn % N)[None, :] * sbn\n" ZEROS TURNS
    "        a = load(a_at, mask=k[None, :] < K - i * BK, other=0.0)\n"
    "        b = load(b_at, mask=k[:, None] < K - i * BK, other=0.0)\n" DOT ADVANCE;
static const char even[] =
    "    a_at = a_ptr + (am % M)[:, None] * sam + k[None, :] * sak\n"
    "    b_at = b_ptr + k[:, None] * sbk + (bn % N)[None, :] * sbn\n" ZEROS TURNS
    "        a = load(a_at)\n"
    "        b = load(b_at)\n" DOT ADVANCE;
static const char block_pointers[] =
    "    a_at = make_block_ptr(a_ptr, (M, K), (sam, sak), ((first + pid % group % size) * BM, 0),\n"
    "                          (BM, BK), (1, 0))\n"
    "    b_at = make_block_ptr(b_ptr, (K, N), (sbk, sbn), (0, pid % group // size * BN),\n"
    "                          (BK, BN), (1, 0))\n" ZEROS TURNS
    "        a = load(a_at, boundary_check=(0, 1), padding_option=\"zero\")\n"
    "        b = load(b_at, boundary_check=(0, 1), padding_option=\"zero\")\n" DOT
    "        a_at = advance(a_at, (0, BK))\n"
    "        b_at = advance(b_at, (BK, 0))\n";
static const char by_hand[] = // the next tiles are loaded before the product
    POINTERS ZEROS
    "    i = 0\n"
    "    a = load(a_at, mask=(am[:, None] < M) & (k[None, :] < K), other=0)\n"
    "    b = load(b_at, mask=(k[:, None] < K) & (bn[None, :] < N), other=0)\n"
    "    for i in range(1, cdiv(K, BK) + 1):\n" ADVANCE
    "        a_next = load(a_at, mask=(am[:, None] < M) & (k[None, :] < K - i * BK), other=0)\n"
    "        b_next = load(b_at, mask=(k[:, None] < K - i * BK) & (bn[None, :] < N), other=0)\n" DOT
    "        a = a_next\n"
    "        b = b_next\n";
static const char static_range[] =
    POINTERS ZEROS "    for i in tl.static_range(0, 3):\n" LOAD_BOTH DOT ADVANCE;

// Two turns of loads in one.
static bool fits_unrolled(const struct product *p) { return product_shared_bytes(p) <= 64 << 10; }

static bool fits_even(const struct product *p) { return p->k % p->block.k == 0; }
static bool fits_static(const struct product *p) { return p->k <= 3 * p->block.k; }

// ---- several tiles a program ----

static const char persistent[] =
    "@jit\n"
    "def k(a_ptr, b_ptr, c_ptr, x_ptr, M, N, K, sam, sak, sbk, sbn, scm):\n"
    "    k = arange(0, BK)\n"
    "    tiles_n = cdiv(N, BN)\n"
    "    for tile in tl.range(program_id(0), cdiv(M, BM) * tiles_n, num_programs(0)):\n"
    "        am = tile // tiles_n * BM + arange(0, BM)\n"
    "        bn = tile % tiles_n * BN + arange(0, BN)\n"
    "        a_at = a_ptr + am[:, None] * sam + k[None, :] * sak\n"
    "        b_at = b_ptr + k[:, None] * sbk + bn[None, :] * sbn\n"
    "        acc = tl.zeros((BM, BN), ACC)\n"
    "        for i in range(0, cdiv(K, BK)):\n"
    "            a = load(a_at, mask=(am[:, None] < M) & (k[None, :] < K - i * BK), other=0)\n"
    "            b = load(b_at, mask=(k[:, None] < K - i * BK) & (bn[None, :] < N), other=0)\n"
    "            acc = tl.dot(a, b, acc$)\n"
    "            a_at += BK * sak\n"
    "            b_at += BK * sbk\n"
    "        mask = (am[:, None] < M) & (bn[None, :] < N)\n"
    "        store(c_ptr + am[:, None] * scm + bn[None, :], acc.to(OUT), mask=mask)\n";

static void p_persistent(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  r->grid.x = r->grid.x > 2 ? (r->grid.x + 2) / 3 : 1;
}

static const char row_of_tiles[] = // one product a turn, stored in the loop; A stays
    "@jit\n"
    "def k(a_ptr, b_ptr, c_ptr, x_ptr, M, N, K, sam, sak, sbk, sbn, scm):\n"
    "    k = arange(0, BK)\n"
    "    am = program_id(0) * BM + arange(0, BM)\n"
    "    a = load(a_ptr + am[:, None] * sam + k[None, :] * sak,\n"
    "             mask=(am[:, None] < M) & (k[None, :] < K), other=0)\n"
    "    for j in range(0, N, BN):\n"
    "        bn = j + arange(0, BN)\n"
    "        b = load(b_ptr + k[:, None] * sbk + bn[None, :] * sbn,\n"
    "                 mask=(k[:, None] < K) & (bn[None, :] < N), other=0)\n"
    "        acc = tl.dot(a, b$)\n"
    "        mask = (am[:, None] < M) & (bn[None, :] < N)\n"
    "        store(c_ptr + am[:, None] * scm + bn[None, :], acc.to(OUT), mask=mask)\n";

static bool fits_one_k(const struct product *p) { return p->k <= p->block.k; }

static void p_row_of_tiles(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  r->grid.x = (unsigned)((r->p->m + r->p->block.m - 1) / r->p->block.m);
}

static const char split[] =
    "@jit\n"
    "def k(a_ptr, b_ptr, c_ptr, x_ptr, M, N, K, sam, sak, sbk, sbn, scm):\n"
    "    am = program_id(0) // cdiv(N, BN) * BM + arange(0, BM)\n"
    "    bn = program_id(0) % cdiv(N, BN) * BN + arange(0, BN)\n"
    "    k = arange(0, BK)\n"
    "    acc = tl.zeros((BM, BN), ACC)\n"
    "    for i in range(program_id(1) * BK, K, num_programs(1) * BK):\n"
    "        at = i + k\n"
    "        a = load(a_ptr + am[:, None] * sam + at[None, :] * sak,\n"
    "                 mask=(am[:, None] < M) & (at[None, :] < K), other=0)\n"
    "        b = load(b_ptr + at[:, None] * sbk + bn[None, :] * sbn,\n"
    "                 mask=(at[:, None] < K) & (bn[None, :] < N), other=0)\n"
    "        acc = tl.dot(a, b, acc$)\n"
    "    mask = (am[:, None] < M) & (bn[None, :] < N)\n"
    "    atomic_add(c_ptr + am[:, None] * scm + bn[None, :], acc.to(OUT), mask=mask)\n";

static bool fits_split(const struct product *p) {
  return !p->is_rounded && dtype_bits(p->types->out) >= 32;
}

static void p_split(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  memset(r->c->host, 0, r->c->count * dtype_bytes(r->c->type));
  r->grid.y = 3;
}

// ---- what else is loaded ----

static const char gathered_rows[] =
    "    rows = load(x_ptr + am, mask=am < M, other=0)\n"
    "    a_at = a_ptr + rows[:, None] * sam + k[None, :] * sak\n"
    "    b_at = b_ptr + k[:, None] * sbk + bn[None, :] * sbn\n" ZEROS TURNS LOAD_BOTH DOT ADVANCE;

static void p_gathered_rows(struct product_run *r) {
  struct array *x = extra(r, DTYPE_I32, r->p->m);
  struct matrix a = matrix_new(r->s, r->p->m, r->p->k);
  for (size_t i = 0; i < a.rows; i++) {
    unsigned from = pick(r, (unsigned)a.rows);
    put(x, i, from);
    memcpy(matrix_row(a, i), matrix_row(r->e.a, from), a.columns * sizeof(double));
  }
  r->e.a = a;
}

static const char gathered_k[] =
    ZEROS "    for i in range(0, K, BK):\n"
          "        at = load(x_ptr + i + k, mask=i + k < K, other=0)\n"
          "        a = load(a_ptr + am[:, None] * sam + at[None, :] * sak,\n"
          "                 mask=(am[:, None] < M) & (i + k[None, :] < K), other=0)\n"
          "        b = load(b_ptr + at[:, None] * sbk + bn[None, :] * sbn,\n"
          "                 mask=(i + k[:, None] < K) & (bn[None, :] < N), other=0)\n" DOT;

static void p_gathered_k(struct product_run *r) {
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

static const char start_from_memory[] =
    POINTERS "    acc = load(x_ptr + am[:, None] * N + bn[None, :],\n"
             "               mask=(am[:, None] < M) & (bn[None, :] < N), other=0)\n" TURNS LOAD_BOTH
                 DOT ADVANCE;

static void p_start(struct product_run *r) {
  struct matrix start = matrix_new(r->s, r->p->m, r->p->n);
  struct array *x = extra(r, r->p->types->acc, start.rows * start.columns);
  matrix_draw(r->s, start, x, (struct place){0, start.columns, 1}, r->limit);
  r->e.start = start.at;
}

// Rows of A and B beyond K are ones and twos.
static const char other[] = POINTERS ZEROS TURNS
    "        a = load(a_at, mask=k[None, :] < K - i * BK, other=1)\n"
    "        b = load(b_at, mask=k[:, None] < K - i * BK, other=2)\n" DOT ADVANCE;
static const char other_and_masks[] = POINTERS ZEROS TURNS
    "        a = load(a_at, mask=(am[:, None] < M) & (k[None, :] < K - i * BK), other=1)\n"
    "        b = load(b_at, mask=(bn[None, :] < N) & (k[:, None] < K - i * BK), other=2)\n" DOT
        ADVANCE;

static void p_other(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  size_t tail = (r->p->block.k - r->p->k % r->p->block.k) % r->p->block.k;
  struct matrix start = matrix_new(r->s, r->p->m, r->p->n);
  for (size_t i = 0; i < start.rows * start.columns; i++)
    start.at[i] = 2 * (double)tail;
  r->e.start = start.at;
}

static bool fits_other(const struct product *p) {
  return p->m % p->block.m == 0 && p->n % p->block.n == 0;
}

// ---- operands that are computed ----

static const char cast_a[] =
    POINTERS ZEROS TURNS LOAD_BOTH "        acc = tl.dot(a.to(b.dtype), b, acc$)\n" ADVANCE;
static const char cast_b[] =
    POINTERS ZEROS TURNS LOAD_BOTH "        acc = tl.dot(a, b.to(a.dtype), acc$)\n" ADVANCE;

static bool fits_cast_a(const struct product *p) {
  return dtype_bits(p->types->a) < dtype_bits(p->types->b);
}
static bool fits_cast_b(const struct product *p) {
  return dtype_bits(p->types->a) > dtype_bits(p->types->b);
}

static const char scaled_rows[] =
    POINTERS ZEROS "    scale = load(x_ptr + am, mask=am < M, other=0)\n" TURNS LOAD_BOTH
                   "        a = a.to(b.dtype) * scale[:, None]\n" DOT ADVANCE;

static void p_scaled_rows(struct product_run *r) {
  struct array *x = extra(r, r->p->types->b, r->p->m);
  for (size_t i = 0; i < r->p->m; i++) {
    double scale = 1 << pick(r, 2);
    put(x, i, scale);
    for (size_t k = 0; k < r->p->k; k++)
      matrix_row(r->e.a, i)[k] *= scale;
  }
}

static bool fits_arithmetic(const struct product *p) {
  return dtype_is_float(p->types->b) && dtype_bits(p->types->b) > 8 && p->types->acc != DTYPE_F16;
}

static const char scaled_k[] = // a scale for each 8 rows of B, of another type
    POINTERS ZEROS TURNS LOAD_BOTH
    "        scale = load(x_ptr + (i * BK + k) // 8, mask=k < K - i * BK, other=0)\n"
    "        b = (b * scale[:, None]).to(a.dtype)\n" DOT ADVANCE;

static void p_scaled_k(struct product_run *r) {
  struct array *x = extra(r, DTYPE_F32, (r->p->k + 7) / 8);
  for (size_t k = 0; k < r->p->k; k++) {
    if (k % 8 == 0)
      put(x, k / 8, 1 << pick(r, 2));
    for (size_t j = 0; j < r->p->n; j++)
      matrix_row(r->e.b, k)[j] *= get(x, k / 8);
  }
}

static bool fits_same(const struct product *p) {
  return p->types->a == p->types->b && fits_arithmetic(p);
}

static const char rectified[] =
    POINTERS ZEROS TURNS LOAD_BOTH "        a = maximum(a, 0).to(b.dtype)\n"
                                   "        b = where(b > 1, b - 1, b)\n" DOT ADVANCE;

static void p_rectified(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  for (size_t i = 0; i < r->p->m * r->p->k; i++)
    r->e.a.at[i] = r->e.a.at[i] > 0 ? r->e.a.at[i] : 0;
  for (size_t i = 0; i < r->p->k * r->p->n; i++)
    r->e.b.at[i] -= r->e.b.at[i] > 1;
}

static bool fits_rectified(const struct product *p) {
  return dtype_bits(p->types->a) > 8 && p->types->a == p->types->b && !p->is_rounded;
}

static const char transposed[] = // tiles are loaded the other way round
    "    a_at = a_ptr + am[None, :] * sam + k[:, None] * sak\n"
    "    b_at = b_ptr + k[None, :] * sbk + bn[:, None] * sbn\n" ZEROS TURNS
    "        a = load(a_at, mask=(am[None, :] < M) & (k[:, None] < K - i * BK), other=0)\n"
    "        b = load(b_at, mask=(k[None, :] < K - i * BK) & (bn[:, None] < N), other=0)\n"
    "        acc = tl.dot(tl.trans(a), b.T, acc$)\n" ADVANCE;

static const char no_loads[] = // A is made of the places alone
    POINTERS ZEROS TURNS
    "        b = load(b_at, mask=(k[:, None] < K - i * BK) & (bn[None, :] < N), other=0)\n"
    "        a = ((am[:, None] + i * BK + k[None, :]) % 3).to(b.dtype)\n" DOT
    "        b_at += BK * sbk\n";

static void p_no_loads(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  for (size_t i = 0; i < r->p->m; i++)
    for (size_t k = 0; k < r->p->k; k++)
      matrix_row(r->e.a, i)[k] = (double)((i + k) % 3);
}

// ---- what else is done in the loop ----

static const char two_products[] = POINTERS
    "    d_at = b_ptr + k[:, None] * sbk + (N - 1 - bn)[None, :] * sbn\n" ZEROS
    "    twin = tl.zeros((BM, BN), ACC)\n" TURNS LOAD_BOTH
    "        d = load(d_at, mask=(k[:, None] < K - i * BK) & (bn[None, :] < N), other=0)\n" DOT
    "        twin = tl.dot(a, d, twin$)\n" ADVANCE "        d_at += BK * sbk\n"
    "    acc = acc + twin\n";

static void p_two_products(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  struct matrix b = matrix_new(r->s, r->p->k, r->p->n);
  for (size_t k = 0; k < b.rows; k++)
    for (size_t j = 0; j < b.columns; j++)
      matrix_row(b, k)[j] = matrix_row(r->e.b, k)[j] + matrix_row(r->e.b, k)[b.columns - 1 - j];
  r->e.b = b;
}

static bool fits_two_products(const struct product *p) {
  return !p->is_rounded && (size_t)p->block.m * p->block.n / p->warps <= 32 * 64 &&
         product_shared_bytes(p) <= 96 << 10;
}

static const char row_sums[] = // of A, beside the product
    POINTERS ZEROS "    total = tl.zeros((BM,), ACC)\n" TURNS LOAD_BOTH DOT
                   "        total += tl.sum(a.to(ACC), 1)\n" ADVANCE
                   "    acc = acc + total[:, None]\n";

static void p_row_sums(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  for (size_t i = 0; i < r->p->k * r->p->n; i++)
    r->e.b.at[i] += 1;
}

static bool fits_exact(const struct product *p) { return !p->is_rounded; }

static const char rescaled[] = // the sum is negated each turn, as attention rescales
    POINTERS ZEROS TURNS LOAD_BOTH "        acc = tl.dot(a, b, (0 - acc)$)\n" ADVANCE;

static void p_rescaled(struct product_run *r) {
  extra(r, DTYPE_I32, 1);
  size_t turns = (r->p->k + r->p->block.k - 1) / r->p->block.k;
  for (size_t k = 0; k < r->p->k; k++)
    for (size_t j = 0; j < r->p->n && (turns - 1 - k / r->p->block.k) % 2; j++)
      matrix_row(r->e.b, k)[j] *= -1;
}

static const char skipped_dots[] =
    POINTERS ZEROS TURNS LOAD_BOTH "        if load(x_ptr + i) != 0:\n"
                                   "            acc = tl.dot(a, b, acc$)\n" ADVANCE;
static const char skipped_turns[] = POINTERS ZEROS TURNS
    "        if load(x_ptr + i) != 0:\n"
    "            a = load(a_at, mask=(am[:, None] < M) & (k[None, :] < K - i * BK), other=0)\n"
    "            b = load(b_at, mask=(k[:, None] < K - i * BK) & (bn[None, :] < N), other=0)\n"
    "            acc = tl.dot(a, b, acc$)\n" ADVANCE;

static void p_skipped(struct product_run *r) {
  struct array *x = extra(r, DTYPE_I32, r->p->k / r->p->block.k + 1);
  for (size_t i = 0; i < x->count; i++)
    put(x, i, pick(r, 2));
  for (size_t k = 0; k < r->p->k; k++)
    for (size_t j = 0; j < r->p->n; j++)
      matrix_row(r->e.b, k)[j] *= get(x, k / r->p->block.k);
}

// ---- behind the loop ----

static const char epilogue[] = POINTERS ZEROS TURNS LOAD_BOTH DOT ADVANCE
    "    acc = acc + load(x_ptr + bn, mask=bn < N, other=0)[None, :].to(ACC)\n"
    "    acc = where(acc >= 0, acc, acc * 2)\n"; // leaky, and exact

static double f_epilogue(double v, size_t row, size_t column, const void *user) {
  (void)row;
  v += get(user, column);
  return v >= 0 ? v : 2 * v;
}

static void p_epilogue(struct product_run *r) {
  struct array *x = extra(r, DTYPE_F32, r->p->n);
  for (size_t j = 0; j < r->p->n; j++)
    put(x, j, (double)pick(r, 17) - 8);
  r->e.finish = f_epilogue;
  r->e.user = x;
}

static const char chained[] = // (A B) X, where X has the sizes of a tile
    POINTERS ZEROS TURNS LOAD_BOTH DOT ADVANCE
    "    n = arange(0, BN)\n"
    "    x = load(x_ptr + n[:, None] * BN + n[None, :])\n"
    "    acc = tl.dot(acc.to(x.dtype), x$)\n";

static void p_chained(struct product_run *r) {
  struct matrix x = matrix_new(r->s, r->p->block.n, r->p->block.n), sums, b;
  struct array *stored = extra(r, r->p->types->b, x.rows * x.columns);
  matrix_draw(r->s, x, stored, (struct place){0, x.columns, 1}, 2);
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

// One tile along N; sums as operands stay exact.
static bool fits_chained(const struct product *p) {
  const struct types *t = p->types;
  bool is_wide = t->a == DTYPE_F16 || t->a == DTYPE_BF16 || t->a == DTYPE_F64 ||
                 (t->precision && strcmp(t->precision, "ieee") == 0);
  return p->n <= p->block.n && p->block.n <= 64 && is_wide && t->acc != DTYPE_F16 && p->k <= 1000 &&
         !p->is_rounded;
}

// X becomes A X three times over, through memory; A moves rows.
static const char through_memory[] =
    "    a = load(a_ptr + am[:, None] * sam + k[None, :] * sak,\n"
    "             mask=(am[:, None] < M) & (k[None, :] < K), other=0)\n" ZEROS
    "    for i in range(0, 3):\n"
    "        b = load(x_ptr + k[:, None] * N + bn[None, :],\n"
    "                 mask=(k[:, None] < K) & (bn[None, :] < N), other=0)\n"
    "        acc = tl.dot(a, b$)\n"
    "        debug_barrier()\n"
    "        store(x_ptr + am[:, None] * N + bn[None, :], acc.to(b.dtype),\n"
    "              mask=(am[:, None] < M) & (bn[None, :] < N))\n"
    "        debug_barrier()\n";

static void p_through_memory(struct product_run *r) {
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

static bool fits_through_memory(const struct product *p) {
  return p->m == p->k && p->m <= p->block.m && p->block.m == p->block.k && !p->is_rounded;
}

// ---- the table ----

const struct form forms[] = {
    {"pointers", false, pointers, NULL, NULL},
    {"even", false, even, NULL, fits_even},
    {"wrapped", false, wrapped, NULL, NULL},
    {"computed", false, computed, NULL, NULL},
    {"block pointers", false, block_pointers, NULL, NULL},
    {"plus", false, plus, NULL, NULL},
    {"backwards", false, backwards, NULL, NULL},
    {"stages of the loop", false, stages_of_loop, NULL, NULL},
    {"unrolled", false, unrolled, NULL, fits_unrolled},
    {"static range", false, static_range, NULL, fits_static},
    {"while", false, while_loop, NULL, NULL},
    {"next by hand", false, by_hand, NULL, NULL},
    {"persistent", true, persistent, p_persistent, NULL},
    {"row of tiles", true, row_of_tiles, p_row_of_tiles, fits_one_k},
    {"split", true, split, p_split, fits_split},
    {"gathered rows", false, gathered_rows, p_gathered_rows, NULL},
    {"gathered k", false, gathered_k, p_gathered_k, NULL},
    {"start from memory", false, start_from_memory, p_start, NULL},
    {"other", false, other, p_other, fits_other},
    {"other and masks", false, other_and_masks, p_other, fits_exact},
    {"cast a", false, cast_a, NULL, fits_cast_a},
    {"cast b", false, cast_b, NULL, fits_cast_b},
    {"scaled rows", false, scaled_rows, p_scaled_rows, fits_arithmetic},
    {"scaled k", false, scaled_k, p_scaled_k, fits_same},
    {"rectified", false, rectified, p_rectified, fits_rectified},
    {"transposed", false, transposed, NULL, NULL},
    {"no loads", false, no_loads, p_no_loads, NULL},
    {"two products", false, two_products, p_two_products, fits_two_products},
    {"row sums", false, row_sums, p_row_sums, fits_exact},
    {"rescaled", false, rescaled, p_rescaled, NULL},
    {"skipped dots", false, skipped_dots, p_skipped, NULL},
    {"skipped turns", false, skipped_turns, p_skipped, NULL},
    {"epilogue", false, epilogue, p_epilogue, fits_exact},
    {"chained", false, chained, p_chained, fits_chained},
    {"through memory", false, through_memory, p_through_memory, fits_through_memory},
};
const size_t form_count = COUNT_OF(forms);

const struct form *form_named(const char *name) {
  for (size_t i = 0; i < form_count; i++)
    if (strcmp(forms[i].name, name) == 0)
      return &forms[i];
  return NULL;
}
