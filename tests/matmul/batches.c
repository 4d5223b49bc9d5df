// SPDX-License-Identifier: Apache-2.0
// Batches of products: tiles of three and four dimensions, several products at once.
#include "product.h"

#include <stdio.h>

struct batch {
  const struct types *types;
  unsigned count; // products a tile, one program for all of them
  size_t m, n, k;
  struct blocks block;
  unsigned warps, stages;
  bool b_columns;
  bool has_two; // dimensions in front of the last two
};

static const char *const kernels[] = {
    "    z = arange(0, NB)[:, None, None]\n"
    "    am = (program_id(0) * BM + arange(0, BM))[None, :, None]\n"
    "    bn = (program_id(1) * BN + arange(0, BN))[None, None, :]\n"
    "    k = arange(0, BK)\n"
    "    acc = tl.zeros((NB, BM, BN), ACC)\n"
    "    for i in range(0, K, BK):\n"
    "        at_a = (i + k)[None, None, :]\n"
    "        at_b = (i + k)[None, :, None]\n"
    "        a = load(a_ptr + z * M * K + am * K + at_a, mask=(am < M) & (at_a < K), other=0)\n"
    "        b = load(b_ptr + z * K * N + at_b * sbk + bn * sbn, mask=(at_b < K) & (bn < N), "
    "other=0)\n"
    "        acc = tl.dot(a, b, acc)\n"
    "    store(c_ptr + z * M * N + am * N + bn, acc.to(OUT), mask=(am < M) & (bn < N))\n",
    "    z = arange(0, 2)[:, None, None, None] * (NB // 2) + arange(0, NB // 2)[None, :, None, "
    "None]\n"
    "    am = (program_id(0) * BM + arange(0, BM))[None, None, :, None]\n"
    "    bn = (program_id(1) * BN + arange(0, BN))[None, None, None, :]\n"
    "    k = arange(0, BK)\n"
    "    acc = tl.zeros((2, NB // 2, BM, BN), ACC)\n"
    "    for i in range(0, K, BK):\n"
    "        at_a = (i + k)[None, None, None, :]\n"
    "        at_b = (i + k)[None, None, :, None]\n"
    "        a = load(a_ptr + z * M * K + am * K + at_a, mask=(am < M) & (at_a < K), other=0)\n"
    "        b = load(b_ptr + z * K * N + at_b * sbk + bn * sbn, mask=(at_b < K) & (bn < N), "
    "other=0)\n"
    "        acc = tl.dot(a, b, acc)\n"
    "    store(c_ptr + z * M * N + am * N + bn, acc.to(OUT), mask=(am < M) & (bn < N))\n",
};

static void write_kernel(struct suite *s, const struct batch *p) {
  case_source(s,
              "BM: tl.constexpr = %u\nBN: tl.constexpr = %u\nBK: tl.constexpr = %u\n"
              "NB: tl.constexpr = %u\nACC: tl.constexpr = tl.%s\nOUT: tl.constexpr = tl.%s\n\n"
              "@jit\ndef k(a_ptr, b_ptr, c_ptr, M, N, K, sbk, sbn):\n%s",
              p->block.m, p->block.n, p->block.k, p->count, dtype_language_name(p->types->acc),
              dtype_language_name(p->types->out), kernels[p->has_two]);
}

static void compare(struct suite *s, const struct batch *p, const struct matrix *a,
                    const struct matrix *b, const struct array *c) {
  for (unsigned i = 0; i < p->count && !s->is_failed; i++) {
    struct expected e = {.a = a[i], .b = b[i], .is_exact = true};
    expect_product(s, c, (struct strides){i * p->m * p->n, p->n, 1}, &e);
  }
}

static void batch_case(struct suite *s, const struct batch *p) {
  const struct types *t = p->types;
  if (!case_begin(s, "batch of %u%s %s %s %s %s %c %zux%zux%zu blocks %ux%ux%u warps=%u stages=%u",
                  p->count, p->has_two ? " in two" : "", dtype_name(t->a), dtype_name(t->b),
                  dtype_name(t->acc), dtype_name(t->out), p->b_columns ? 't' : 'n', p->m, p->n,
                  p->k, p->block.m, p->block.n, p->block.k, p->warps, p->stages))
    return;
  struct matrix a[16], b[16];
  case_warps(s, p->warps);
  case_stages(s, p->stages);
  write_kernel(s, p);
  struct array *xa = case_input(s, t->a, p->count * p->m * p->k),
               *xb = case_input(s, t->b, p->count * p->k * p->n),
               *xc = case_output(s, t->out, p->count * p->m * p->n);
  size_t row = p->b_columns ? 1 : p->n, column = p->b_columns ? p->k : 1;
  for (unsigned i = 0; i < p->count; i++) {
    a[i] = matrix_new(s, p->m, p->k);
    b[i] = matrix_new(s, p->k, p->n);
    matrix_draw(s, a[i], xa, (struct strides){i * p->m * p->k, p->k, 1}, 4);
    matrix_draw(s, b[i], xb, (struct strides){i * p->k * p->n, row, column}, 4);
  }
  const size_t numbers[] = {p->m, p->n, p->k, row, column};
  for (unsigned i = 0; i < COUNT_OF(numbers); i++)
    case_int(s, (int32_t)numbers[i]);
  tile_grid grid = {(unsigned)((p->m + p->block.m - 1) / p->block.m),
                    (unsigned)((p->n + p->block.n - 1) / p->block.n), 1};
  if (case_run_grid(s, grid)) {
    compare(s, p, a, b, xc);
    if (s->o.repeats)
      case_repeat(s, grid, s->o.repeats);
  }
  case_end(s);
}

void test_batches(struct suite *s, const struct settings *t) {
  static const struct types types[] = {
      {DTYPE_F16, DTYPE_F16, DTYPE_F32, DTYPE_F32, NULL, 0, 0},
      {DTYPE_BF16, DTYPE_BF16, DTYPE_F32, DTYPE_F32, NULL, 0, 0},
      {DTYPE_F32, DTYPE_F32, DTYPE_F32, DTYPE_F32, NULL, 0, 0},
      {DTYPE_I8, DTYPE_I8, DTYPE_I32, DTYPE_I32, NULL, 0, 0},
      {DTYPE_F64, DTYPE_F64, DTYPE_F64, DTYPE_F64, NULL, 0, 0},
      {DTYPE_F8E5, DTYPE_F8E5, DTYPE_F32, DTYPE_F32, NULL, 0, 0},
  };
  static const struct blocks blocks[] = {{16, 16, 16}, {32, 16, 32}, {16, 32, 64}, {32, 32, 32}};
  static const size_t sizes[][3] = {{16, 16, 16}, {17, 20, 33}, {40, 33, 64}, {1, 50, 100}};
  (void)t;
  for (unsigned variant = 0; variant < (s->on_processor ? 36 : 144); variant++) {
    struct batch p = {.types = &types[variant % 6],
                      .count = 2u << variant / 3 % 3,
                      .block = blocks[(variant + variant / 4) % 4],
                      .warps = 1u << (variant + variant / 8) % 4,
                      .stages = 1 + variant % 5,
                      .b_columns = variant / 2 % 2,
                      .has_two = variant % 4 == 3};
    const size_t *size = sizes[(variant + variant / 16) % 4];
    p.m = size[0], p.n = size[1], p.k = size[2];
    size_t bytes = (p.block.m + p.block.n) * p.block.k * dtype_bytes(p.types->a) * p.stages;
    while (p.count > 2 &&
           (p.count * p.block.m * p.block.n / (32 * p.warps) > 64 || p.count * bytes > 160 << 10))
      p.count /= 2;
    if (p.count * p.block.m * p.block.n / (32 * p.warps) <= 64 && p.count * bytes <= 160 << 10)
      batch_case(s, &p);
  }
  test_descriptor_batches(s);
}
