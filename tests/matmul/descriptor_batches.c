// SPDX-License-Identifier: Apache-2.0
// Batches of products by tensor descriptors of three and four dimensions, whose blocks have one
// element along those of the batch.
#include "product.h"

#include <stdio.h>

enum { HEADS = 2, MOST_BATCH = 4 };

enum layout { IN_TURN, BY_HEADS }; // [batch, row, column], or [batch / HEADS, row, head, column]

struct described {
  const struct types *types;
  size_t batch, m, n, k;
  struct blocks block;
  unsigned warps, stages;
  enum layout layout;
  bool a_columns, b_columns, shares_b; // stored by columns; one B for all
  bool is_persistent;
};

// ---- the kernel ----

// `name`_of: the descriptor of an operand or a result.
static void write_descriptor(struct suite *s, const struct described *p, const char *name,
                             const char *rows, const char *columns, const char *block_rows,
                             const char *block_columns, bool is_shared) {
  if (is_shared)
    case_source(s, "    %s_of = tl.make_tensor_descriptor(%s_ptr, [%s, %s], [%s, 1], [%s, %s])\n",
                name, name, rows, columns, columns, block_rows, block_columns);
  else if (p->layout == IN_TURN)
    case_source(s,
                "    %s_of = tl.make_tensor_descriptor(%s_ptr, [BATCH, %s, %s], [%s * %s, %s, 1], "
                "[1, %s, %s])\n",
                name, name, rows, columns, rows, columns, columns, block_rows, block_columns);
  else
    case_source(s,
                "    %s_of = tl.make_tensor_descriptor(%s_ptr, [BATCH // 2, %s, 2, %s], "
                "[%s * 2 * %s, 2 * %s, %s, 1], [1, %s, 1, %s])\n",
                name, name, rows, columns, rows, columns, columns, columns, block_rows,
                block_columns);
}

static const char *offsets(struct suite *s, const struct described *p, const char *row,
                           const char *column, bool is_shared) {
  if (is_shared)
    return arena_printf(s->arena, "[%s, %s]", row, column);
  return p->layout == IN_TURN ? arena_printf(s->arena, "[z, %s, %s]", row, column)
                              : arena_printf(s->arena, "[z // 2, %s, z %% 2, %s]", row, column);
}

static void write_loads(struct suite *s, const struct described *p) {
  if (p->a_columns)
    case_source(s, "            a = a_of.load(%s).reshape(BK, BM).T\n",
                offsets(s, p, "k", "at_m", false));
  else
    case_source(s, "            a = a_of.load(%s).reshape(BM, BK)\n",
                offsets(s, p, "at_m", "k", false));
  if (p->b_columns)
    case_source(s, "            b = b_of.load(%s).reshape(BN, BK).T\n",
                offsets(s, p, "at_n", "k", p->shares_b));
  else
    case_source(s, "            b = b_of.load(%s).reshape(BK, BN)\n",
                offsets(s, p, "k", "at_n", p->shares_b));
}

static const char loops[] =
    "    tiles_n = tl.cdiv(N, BN)\n"
    "    tiles = tl.cdiv(M, BM) * tiles_n\n"
    "    for tile in tl.range(program_id(0), tiles * BATCH, num_programs(0)):\n"
    "        z = tile // tiles\n"
    "        at_m = tile % tiles // tiles_n * BM\n"
    "        at_n = tile % tiles % tiles_n * BN\n"
    "        acc = tl.zeros((BM, BN), ACC)\n"
    "        for k in range(0, K, BK):\n";

static void write_kernel(struct suite *s, const struct described *p) {
  case_source(s,
              "BM: tl.constexpr = %u\nBN: tl.constexpr = %u\nBK: tl.constexpr = %u\n"
              "ACC: tl.constexpr = tl.%s\nOUT: tl.constexpr = tl.%s\n\n"
              "@jit\ndef k(a_ptr, b_ptr, c_ptr, BATCH, M, N, K):\n",
              p->block.m, p->block.n, p->block.k, dtype_language_name(p->types->acc),
              dtype_language_name(p->types->out));
  write_descriptor(s, p, "a", p->a_columns ? "K" : "M", p->a_columns ? "M" : "K",
                   p->a_columns ? "BK" : "BM", p->a_columns ? "BM" : "BK", false);
  write_descriptor(s, p, "b", p->b_columns ? "N" : "K", p->b_columns ? "K" : "N",
                   p->b_columns ? "BN" : "BK", p->b_columns ? "BK" : "BN", p->shares_b);
  write_descriptor(s, p, "c", "M", "N", "BM", "BN", false);
  case_source(s, "%s", loops);
  write_loads(s, p);
  case_source(s, "            acc = tl.dot(a, b, acc)\n");
  case_source(s, "        c_of.store(%s, acc.to(OUT).reshape(%s))\n",
              offsets(s, p, "at_m", "at_n", false),
              p->layout == IN_TURN ? "1, BM, BN" : "1, BM, 1, BN");
}

// ---- its arguments ----

// Of batch `z` of matrices of rows x columns.
static struct strides place(const struct described *p, size_t z, size_t rows, size_t columns,
                            bool by_columns, bool is_shared) {
  size_t width = by_columns ? rows : columns, first = 0, distance = width;
  if (!is_shared && p->layout == IN_TURN)
    first = z * rows * columns;
  else if (!is_shared) {
    distance = HEADS * width;
    first = z / HEADS * rows * columns * HEADS + z % HEADS * width;
  }
  return (struct strides){first, by_columns ? 1 : distance, by_columns ? distance : 1};
}

static void described_case(struct suite *s, const struct described *p) {
  const struct types *t = p->types;
  if (!case_begin(s,
                  "descriptors of %zu %s%s %s %s %c%c %zux%zux%zu blocks %ux%ux%u warps=%u "
                  "stages=%u%s",
                  p->batch, p->layout == IN_TURN ? "batches" : "heads",
                  p->shares_b ? " with one b" : "", dtype_name(t->a), dtype_name(t->out),
                  p->a_columns ? 't' : 'n', p->b_columns ? 't' : 'n', p->m, p->n, p->k, p->block.m,
                  p->block.n, p->block.k, p->warps, p->stages,
                  p->is_persistent ? " persistent" : ""))
    return;
  struct matrix a[MOST_BATCH], b[MOST_BATCH];
  case_warps(s, p->warps);
  case_stages(s, p->stages);
  write_kernel(s, p);
  struct array *xa = case_input(s, t->a, p->batch * p->m * p->k),
               *xb = case_input(s, t->b, (p->shares_b ? 1 : p->batch) * p->k * p->n),
               *xc = case_output(s, t->out, p->batch * p->m * p->n);
  for (size_t z = 0; z < p->batch; z++) {
    a[z] = matrix_new(s, p->m, p->k);
    matrix_draw(s, a[z], xa, place(p, z, p->m, p->k, p->a_columns, false), 3);
    b[z] = p->shares_b && z ? b[0] : matrix_new(s, p->k, p->n);
    if (!p->shares_b || !z)
      matrix_draw(s, b[z], xb, place(p, z, p->k, p->n, p->b_columns, p->shares_b), 3);
  }
  const size_t numbers[] = {p->batch, p->m, p->n, p->k};
  for (unsigned i = 0; i < COUNT_OF(numbers); i++)
    case_int(s, (int32_t)numbers[i]);
  size_t tiles = (p->m + p->block.m - 1) / p->block.m * ((p->n + p->block.n - 1) / p->block.n);
  tile_grid grid = {p->is_persistent ? 3 : (unsigned)(tiles * p->batch), 1, 1};
  if (case_run_grid(s, grid)) {
    for (size_t z = 0; z < p->batch && !s->is_failed; z++) {
      struct expected e = {.a = a[z], .b = b[z], .is_exact = true};
      expect_product(s, xc, place(p, z, p->m, p->n, false, false), &e);
    }
    if (s->o.repeats)
      case_repeat(s, grid, s->o.repeats);
  }
  case_end(s);
}

void test_descriptor_batches(struct suite *s) {
  static const struct types types[] = {
      {DTYPE_F16, DTYPE_F16, DTYPE_F32, DTYPE_F16, NULL, 0, 0},
      {DTYPE_BF16, DTYPE_BF16, DTYPE_F32, DTYPE_BF16, NULL, 0, 0},
      {DTYPE_F16, DTYPE_F16, DTYPE_F32, DTYPE_F32, NULL, 0, 0},
  };
  static const struct {
    struct blocks block;
    unsigned warps;
  } shapes[] = {{{64, 64, 32}, 4}, {{64, 128, 64}, 4}, {{128, 64, 64}, 8}, {{128, 256, 32}, 8}};
  static const size_t sizes[][3] = {{64, 64, 64}, {104, 72, 40}, {40, 136, 96}, {136, 256, 32}};
  for (unsigned variant = 0; variant < 24; variant++) {
    struct described p = {.types = &types[variant % 3],
                          .batch = variant % 2 ? 4 : 2,
                          .block = shapes[variant / 2 % 4].block,
                          .warps = shapes[variant / 2 % 4].warps,
                          .stages = 2 + variant % 3,
                          .layout = variant / 3 % 2 ? BY_HEADS : IN_TURN,
                          .a_columns = variant / 4 % 2,
                          .b_columns = variant / 2 % 2,
                          .shares_b = variant % 5 == 4,
                          .is_persistent = variant % 3 == 1};
    const size_t *size = sizes[(variant + variant / 4) % 4];
    p.m = size[0], p.n = size[1], p.k = size[2];
    described_case(s, &p);
  }
}
