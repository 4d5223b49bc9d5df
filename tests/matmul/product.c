// SPDX-License-Identifier: Apache-2.0
// Runs one product: generates its kernel, draws the matrices, launches, compares.
#include "product.h"

#include <stdio.h>
#include <string.h>

// Accumulation on tensor cores: products are exact, sums of 8-bit floats keep 13 fraction bits.
const struct types product_types[] = {
    {DTYPE_F16, DTYPE_F16, DTYPE_F32, DTYPE_F16, NULL, 0, 0x1p-23},
    {DTYPE_BF16, DTYPE_BF16, DTYPE_F32, DTYPE_F32, NULL, 0, 0x1p-23},
    {DTYPE_F32, DTYPE_F32, DTYPE_F32, DTYPE_F32, NULL, 0x1p-9, 0x1p-23},
    {DTYPE_F8E4NV, DTYPE_F8E4NV, DTYPE_F32, DTYPE_F16, NULL, 0, 0x1p-12},
    {DTYPE_I8, DTYPE_I8, DTYPE_I32, DTYPE_I32, NULL, 0, 0},
    {DTYPE_F64, DTYPE_F64, DTYPE_F64, DTYPE_F64, NULL, 0, 0x1p-52},
    {DTYPE_F16, DTYPE_F16, DTYPE_F32, DTYPE_F32, NULL, 0, 0x1p-23},
    {DTYPE_F16, DTYPE_F16, DTYPE_F16, DTYPE_F16, NULL, 0, 0x1p-10},
    {DTYPE_F8E5, DTYPE_F8E5, DTYPE_F32, DTYPE_F32, NULL, 0, 0x1p-12},
    {DTYPE_F32, DTYPE_F32, DTYPE_F32, DTYPE_F32, "ieee", 0, 0x1p-23},
    {DTYPE_F8E5, DTYPE_F8E4NV, DTYPE_F32, DTYPE_F32, NULL, 0, 0x1p-12},
    {DTYPE_F8E4NV, DTYPE_F8E5, DTYPE_F16, DTYPE_F16, NULL, 0, 0x1p-10},
    {DTYPE_F32, DTYPE_F32, DTYPE_F32, DTYPE_F32, "tf32x3", 0x1p-20, 0x1p-23},
    {DTYPE_BF16, DTYPE_BF16, DTYPE_F32, DTYPE_BF16, NULL, 0, 0x1p-23},
    {DTYPE_F32, DTYPE_F32, DTYPE_F32, DTYPE_F32, "bf16x3", 0x1p-14, 0x1p-23},
    {DTYPE_I8, DTYPE_I8, DTYPE_I32, DTYPE_F32, NULL, 0, 0},
    {DTYPE_F32, DTYPE_F32, DTYPE_F32, DTYPE_F32, "bf16x6", 0x1p-21, 0x1p-23},
};
const size_t product_types_count = COUNT_OF(product_types);

// ---- which products ----

size_t product_shared_bytes(const struct product *p) {
  struct blocks b = p->block;
  size_t row = b.m * dtype_bytes(p->types->a) + b.n * dtype_bytes(p->types->b);
  return row * b.k * p->stages;
}

// Operands that are computed, or read by fma, need a buffer besides the stages: one of wide
// elements may be as large as a stage.
static size_t most_shared(const struct product *p) {
  return (dtype_bytes(p->types->a) >= 4 ? 96 : 160) << 10;
}

bool product_fits(const struct product *p) {
  struct blocks b = p->block;
  size_t threads = 32 * (size_t)p->warps, wide = dtype_bits(p->types->acc) / 32;
  size_t sums = (size_t)b.m * b.n / threads * (wide ? wide : 1);
  bool is_fma = p->types->precision && strcmp(p->types->precision, "ieee") == 0;
  return sums <= (is_fma ? 64 : 128) && product_shared_bytes(p) <= most_shared(p) &&
         (!p->form->fits || p->form->fits(p));
}

// ---- the kernel ----

static const char head[] = "@jit\n"
                           "def k(a_ptr, b_ptr, c_ptr, x_ptr, M, N, K, sam, sak, sbk, sbn, scm):\n"
                           "    pid = program_id(0)\n"
                           "    group = 4 * cdiv(N, BN)\n"
                           "    first = pid // group * 4\n"
                           "    size = min(cdiv(M, BM) - first, 4)\n"
                           "    am = (first + pid % group % size) * BM + arange(0, BM)\n"
                           "    bn = pid % group // size * BN + arange(0, BN)\n"
                           "    k = arange(0, BK)\n";

static const char tail[] =
    "    mask = (am[:, None] < M) & (bn[None, :] < N)\n"
    "    store(c_ptr + am[:, None] * scm + bn[None, :], acc.to(OUT), mask=mask)\n";

static void write_kernel(struct suite *s, const struct product *p) {
  const struct types *t = p->types;
  const char *options =
      arena_printf(s->arena, "%s%s%s%s", t->precision ? ", input_precision=\"" : "",
                   t->precision ? t->precision : "", t->precision ? "\"" : "",
                   t->acc == DTYPE_F16 ? ", out_dtype=tl.float16" : "");
  case_source(s,
              "BM: tl.constexpr = %u\nBN: tl.constexpr = %u\nBK: tl.constexpr = %u\n"
              "STAGES: tl.constexpr = %u\nACC: tl.constexpr = tl.%s\nOUT: tl.constexpr = tl.%s\n\n",
              p->block.m, p->block.n, p->block.k, p->stages, dtype_language_name(t->acc),
              dtype_language_name(t->out));
  bool whole = p->form->whole_text;
  case_source(s, "%s%s%s", whole ? "" : head, tile_text_with(s, p->form->body, options),
              whole ? "" : tail);
}

// ---- its arguments ----

// Sums stay exact in f16 and in the 13 fraction bits of 8-bit float accumulation.
static int integer_limit(const struct product *p) {
  const struct types *t = p->types;
  if (p->is_rounded)
    return 0;
  if (t->acc == DTYPE_I32)
    return 127;
  bool narrow = t->acc == DTYPE_F16 || t->out == DTYPE_F16 || dtype_bits(t->a) == 8;
  return narrow ? (p->k > 200 ? 2 : 4) : 8;
}

static size_t padded(size_t length, unsigned pad) {
  return pad == 16 ? (length + 31) / 16 * 16 : length + pad;
}

// Stores a matrix in its array, with values that must not be read between its rows (or columns).
static struct array *stored(struct suite *s, enum dtype type, size_t rows, size_t columns,
                            bool by_columns, unsigned pad, struct strides *ret) {
  size_t length = padded(by_columns ? rows : columns, pad), lines = by_columns ? columns : rows;
  *ret = (struct strides){0, by_columns ? 1 : length, by_columns ? length : 1};
  struct array *x = case_input(s, type, lines * length + 1);
  array_poison(x);
  return x;
}

static void make_arrays(struct product_run *r) {
  const struct product *p = r->p;
  struct suite *s = r->s;
  r->a = stored(s, p->types->a, p->m, p->k, p->a_columns, p->pad, &r->at_a);
  r->b = stored(s, p->types->b, p->k, p->n, p->b_columns, p->pad, &r->at_b);
  r->at_c = (struct strides){0, padded(p->n, p->pad), 1};
  r->c = case_output(s, p->types->out, p->m * r->at_c.row);
  r->e.a = matrix_new(s, p->m, p->k);
  r->e.b = matrix_new(s, p->k, p->n);
  matrix_draw(s, r->e.a, r->a, r->at_a, r->limit);
  matrix_draw(s, r->e.b, r->b, r->at_b, r->limit);
  r->e.is_exact = !p->is_rounded;
  r->e.product = p->types->product;
  r->e.step = p->types->step;
  if (p->form->prepare)
    p->form->prepare(r);
  else
    case_input(s, DTYPE_I32, 1);
}

static void pass_numbers(const struct product_run *r) {
  const struct product *p = r->p;
  case_int(r->s, (int32_t)p->m);
  case_int(r->s, (int32_t)p->n);
  case_int(r->s, (int32_t)p->k);
  case_int(r->s, (int32_t)r->at_a.row);
  case_int(r->s, (int32_t)r->at_a.column);
  case_int(r->s, (int32_t)r->at_b.row);
  case_int(r->s, (int32_t)r->at_b.column);
  case_int(r->s, (int32_t)r->at_c.row);
}

// ---- a case ----

static const char *name_of(const struct product *p, char text[static 180]) {
  const struct types *t = p->types;
  char types[60];
  snprintf(types, sizeof types, "%s %s %s %s%s%s", dtype_name(t->a), dtype_name(t->b),
           dtype_name(t->acc), dtype_name(t->out), t->precision ? " " : "",
           t->precision ? t->precision : "");
  snprintf(text, 180, "%s %s %c%c %zux%zux%zu pad %u blocks %ux%ux%u warps=%u stages=%u%s",
           p->form->name, types, p->a_columns ? 't' : 'n', p->b_columns ? 't' : 'n', p->m, p->n,
           p->k, p->pad, p->block.m, p->block.n, p->block.k, p->warps, p->stages,
           p->is_rounded ? " rounded" : "");
  return text;
}

static void compare(struct product_run *r) {
  const struct product *p = r->p;
  expect_product(r->s, r->c, r->at_c, &r->e);
  for (size_t i = 0; i < p->m; i++)
    for (size_t j = p->n; j < r->at_c.row && !r->s->is_failed; j++)
      case_expect_untouched(r->s, r->c, i * r->at_c.row + j);
}

static size_t cdiv(size_t a, size_t b) { return (a + b - 1) / b; }

void product_case(struct suite *s, const struct product *p) {
  char name[180];
  if (!case_begin(s, "%s", name_of(p, name)))
    return;
  struct product_run r = {.s = s, .p = p, .limit = integer_limit(p)};
  r.grid = (tile_grid){(unsigned)(cdiv(p->m, p->block.m) * cdiv(p->n, p->block.n)), 1, 1};
  case_warps(s, p->warps);
  case_stages(s, p->stages);
  write_kernel(s, p);
  make_arrays(&r);
  pass_numbers(&r);
  if (case_run_grid(s, r.grid)) {
    compare(&r);
    if (s->o.repeats)
      case_repeat(s, r.grid, s->o.repeats);
  }
  case_end(s);
}
