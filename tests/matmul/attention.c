// SPDX-License-Identifier: Apache-2.0
// Flash attention, forward: two products in one loop with an online softmax between them, which
// rescales the accumulators of the second.
#include "product.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct attention {
  enum dtype type;
  unsigned length, depth, heads; // of the sequences; of a head
  unsigned bm, bn, warps, stages;
  bool is_causal;
  bool has_two_loops; // blocks that all rows see have a loop without masks
  unsigned form;
  enum bias { NO_BIAS, ADDED, START, OF_KEYS, CHOSEN } bias;
  enum dtype bias_type;
};

// Variants that change the scores: a tile read in every iteration, with row stride
// S.
static const char *const bias_names[] = {"", " added", " started", " of keys", " chosen"};
static const char *const load_bias[] = {
    "",
    "        b = load(b_ptr + m[:, None] * S + (j + n)[None, :], mask=m[:, None] < N, other=0)\n",
    "        b = load(b_ptr + m[:, None] * S + (j + n)[None, :], mask=m[:, None] < N, other=0)\n",
    "        b = load(b_ptr + j + n)[None, :]\n",
    "        b = load(b_ptr + m[:, None] * S + (j + n)[None, :], mask=m[:, None] < N, other=0)\n",
};
static const char *const score[] = {
    "        s = tl.dot(q, kt) * scale\n",
    "        s = tl.dot(q, kt) * scale + b.to(tl.float32)\n",
    "        s = tl.dot(q, kt, b.to(tl.float32)) * scale\n",
    "        s = tl.dot(q, kt) * scale + b.to(tl.float32)\n",
    "        s = where((b != 0) | (j + n == 0)[None, :], tl.dot(q, kt) * scale, float(\"-inf\"))\n",
};

static const char *const form_names[] = {"pointers",    "transposed",      "block pointers",
                                         "descriptors", "doubled queries", "descriptors of all"};

enum { BLOCK_POINTERS = 2, DESCRIPTORS = 3, DOUBLED = 4, ALL_DESCRIPTORS = 5, FORMS = 6 };

// How the (transposed) tile of K and that of V are loaded.
static const char *const load_k[] = {
    "        kt = load(k_ptr + (j + n)[None, :] * D + d[:, None], mask=(j + n)[None, :] < N, "
    "other=0)\n",
    "        kt = tl.trans(load(k_ptr + (j + n)[:, None] * D + d[None, :],\n"
    "                           mask=(j + n)[:, None] < N, other=0))\n",
    "        kt = load(k_at, boundary_check=(1,), padding_option=\"zero\")\n",
    "        kt = k_of.load([program_id(1) * N + j, 0]).T\n",
    "        kt = load(k_ptr + (j + n)[None, :] * D + d[:, None], mask=(j + n)[None, :] < N, "
    "other=0)\n",
    "        kt = k_of.load([program_id(1) * N + j, 0]).T\n",
};
static const char *const load_v[] = {
    "        v = load(v_ptr + (j + n)[:, None] * D + d[None, :], mask=(j + n)[:, None] < N, "
    "other=0)\n",
    "        v = load(v_ptr + (j + n)[:, None] * D + d[None, :], mask=(j + n)[:, None] < N, "
    "other=0)\n",
    "        v = load(v_at, boundary_check=(0,), padding_option=\"zero\")\n"
    "        k_at = advance(k_at, (0, BN))\n"
    "        v_at = advance(v_at, (BN, 0))\n",
    "        v = v_of.load([program_id(1) * N + j, 0])\n",
    "        v = load(v_ptr + (j + n)[:, None] * D + d[None, :], mask=(j + n)[:, None] < N, "
    "other=0)\n",
    "        v = v_of.load([program_id(1) * N + j, 0])\n",
};

static void write_loop(struct suite *s, const struct attention *a, const char *range,
                       bool is_masked) {
  static const char masks[] = "        keep = (j + n)[None, :] < N\n"
                              "        if CAUSAL:\n"
                              "            keep = keep & (m[:, None] >= (j + n)[None, :])\n"
                              "        s = where(keep, s, float(\"-inf\"))\n";
  case_source(s,
              "    for j in range(%s, BN):\n"
              "%s%s%s%s"
              "        next = maximum(most, tl.max(s, 1))\n"
              "        p = exp2(s - next[:, None])\n"
              "        alpha = exp2(most - next)\n"
              "        total = total * alpha + tl.sum(p, 1)\n"
              "        acc = acc * alpha[:, None]\n"
              "%s"
              "        acc = tl.dot(p.to(v.dtype), v, acc)\n"
              "        most = next\n",
              range, load_k[a->form], load_bias[a->bias], score[a->bias], is_masked ? masks : "",
              load_v[a->form]);
}

static void write_kernel(struct suite *s, const struct attention *a) {
  case_source(s,
              "BM: tl.constexpr = %u\nBN: tl.constexpr = %u\nD: tl.constexpr = %u\n"
              "CAUSAL: tl.constexpr = %s\n\n",
              a->bm, a->bn, a->depth, a->is_causal ? "True" : "False");
  case_source(s, "@jit\n"
                 "def k(q_ptr, k_ptr, v_ptr, b_ptr, o_ptr, N, S, H, scale):\n"
                 "    m = program_id(0) * BM + arange(0, BM)\n"
                 "    n = arange(0, BN)\n"
                 "    d = arange(0, D)\n"
                 "    head = program_id(1) * N * D\n");
  // Behind the keys of a head come those of the next one.
  if (a->form == DESCRIPTORS || a->form == ALL_DESCRIPTORS)
    case_source(s, "    rows = H * N\n"
                   "    k_of = tl.make_tensor_descriptor(k_ptr, [rows, D], [D, 1], [BN, D])\n"
                   "    v_of = tl.make_tensor_descriptor(v_ptr, [rows, D], [D, 1], [BN, D])\n");
  case_source(s, "    k_ptr += head\n"
                 "    v_ptr += head\n"
                 "    at = head + m[:, None] * D + d[None, :]\n"
                 "    most = tl.full((BM,), float(\"-inf\"), tl.float32)\n"
                 "    total = tl.zeros((BM,), tl.float32)\n"
                 "    acc = tl.zeros((BM, D), tl.float32)\n"
                 "    end = N\n"
                 "    if CAUSAL:\n"
                 "        end = min((program_id(0) + 1) * BM, N)\n");
  if (a->form == ALL_DESCRIPTORS)
    case_source(s, "    q_of = tl.make_tensor_descriptor(q_ptr, [rows, D], [D, 1], [BM, D])\n"
                   "    q = q_of.load([program_id(1) * N + program_id(0) * BM, 0])\n");
  else
    case_source(s, "    q = load(q_ptr + at, mask=m[:, None] < N, other=0)\n");
  if (a->form == DOUBLED)
    case_source(s, "    q = q + q\n");
  if (a->form == BLOCK_POINTERS)
    case_source(s, "    k_at = make_block_ptr(k_ptr, (D, N), (1, D), (0, 0), (D, BN), (0, 1))\n"
                   "    v_at = make_block_ptr(v_ptr, (N, D), (D, 1), (0, 0), (BN, D), (1, 0))\n");
  if (a->has_two_loops) {
    case_source(s, "    whole = (min(program_id(0) * BM + 1, N) if CAUSAL else N) // BN * BN\n");
    write_loop(s, a, "0, whole", false);
  }
  write_loop(s, a, a->has_two_loops ? "whole, end" : "0, end", true);
  case_source(s, "    acc = acc / total[:, None]\n"
                 "    store(o_ptr + at, acc.to(o_ptr.dtype.element_ty), mask=m[:, None] < N)\n");
}

static double biased(const struct attention *a, struct matrix bias, double product, double scale,
                     size_t row, size_t key) {
  double b = a->bias ? matrix_row(bias, a->bias == OF_KEYS ? 0 : row)[key] : 0;
  switch (a->bias) {
  case START: return (product + b) * scale;
  case CHOSEN: return b != 0 || key == 0 ? product * scale : (double)-INFINITY;
  default: return product * scale + b;
  }
}

// One row of the result; x: queries, keys, values, and the tile that changes the scores.
static void expect_row(struct suite *s, const struct attention *a, const struct matrix x[4],
                       const struct array *out, size_t head, size_t row, double scale) {
  double p[4096], most = -INFINITY, total = 0, bits = a->type == DTYPE_F16 ? 0x1p-9 : 0x1p-6;
  size_t first = head * a->length, count = a->is_causal ? row + 1 : a->length;
  for (size_t j = 0; j < count; j++) {
    p[j] = 0;
    for (size_t d = 0; d < a->depth; d++)
      p[j] += matrix_row(x[0], first + row)[d] * matrix_row(x[1], first + j)[d];
    p[j] = biased(a, x[3], p[j], scale, row, j);
    most = fmax(most, p[j]);
  }
  for (size_t j = 0; j < count; j++)
    total += p[j] = exp2(p[j] - most);
  for (size_t d = 0; d < a->depth && !s->is_failed; d++) {
    double sum = 0, magnitude = 0;
    for (size_t j = 0; j < count; j++) {
      sum += p[j] * matrix_row(x[2], first + j)[d];
      magnitude += p[j] * fabs(matrix_row(x[2], first + j)[d]);
    }
    case_expect(s, out, (first + row) * a->depth + d, num_float(out->type, sum / total), 1,
                bits * magnitude / total);
  }
}

static void attention_case(struct suite *s, const struct attention *a) {
  if (!case_begin(s, "attention %s%s %s%s%s%s%s length %u depth %u blocks %ux%u warps=%u stages=%u",
                  form_names[a->form], a->has_two_loops ? " two loops" : "", dtype_name(a->type),
                  a->is_causal ? " causal" : "", bias_names[a->bias], a->bias ? " " : "",
                  a->bias ? dtype_name(a->bias_type) : "", a->length, a->depth, a->bm, a->bn,
                  a->warps, a->stages))
    return;
  size_t rows = (size_t)a->heads * a->length, stride = (a->length + 127) / 128 * 128;
  struct matrix x[4];
  case_warps(s, a->warps);
  case_stages(s, a->stages);
  write_kernel(s, a);
  for (unsigned i = 0; i < 3; i++) {
    x[i] = matrix_new(s, rows, a->depth);
    matrix_draw(s, x[i], case_input(s, a->type, rows * a->depth), (struct strides){0, a->depth, 1},
                0);
  }
  size_t bias_rows = !a->bias ? 0 : a->bias == OF_KEYS ? 1 : a->length;
  x[3] = matrix_new(s, bias_rows, stride);
  matrix_draw(s, x[3], case_input(s, a->bias ? a->bias_type : a->type, (bias_rows + 1) * stride),
              (struct strides){0, stride, 1}, a->bias == CHOSEN);
  struct array *out = case_output(s, a->type, rows * a->depth);
  float scale = 1.5f / sqrtf((float)a->depth) * 4;
  case_int(s, (int32_t)a->length);
  case_int(s, (int32_t)stride);
  case_int(s, (int32_t)a->heads);
  case_arg(s, tile_arg_f32(a->form == DOUBLED ? scale / 2 : scale));
  tile_grid grid = {(a->length + a->bm - 1) / a->bm, a->heads, 1};
  if (case_run_grid(s, grid)) {
    size_t step = rows * a->length * a->depth > 1 << 26 ? rows / 64 | 1 : 1;
    for (size_t i = 0; i < rows && !s->is_failed; i += step)
      expect_row(s, a, x, out, i / a->length, i % a->length, (double)scale);
    if (s->o.repeats)
      case_repeat(s, grid, s->o.repeats);
  }
  case_end(s);
}

// Bytes of the rings of keys, values and the addend.
static size_t ring_bytes(const struct attention *a) {
  size_t keys = (size_t)a->bn * a->depth * 2 * 2;
  size_t added = a->bias ? (size_t)a->bm * a->bn * dtype_bits(a->bias_type) / 8 : 0;
  return a->stages * (keys + added);
}

// Takes stages away until the rings fit beside the queries: 163 KB of shared memory on sm_80, 227
// KB on sm_90.
static void fit_rings(const struct suite *s, struct attention *a) {
  bool is_sm80 = s->o.target && strcmp(s->o.target, "sm_80") == 0;
  size_t queries = (size_t)a->bm * a->depth * 2;
  size_t limit = (is_sm80 || a->bias ? 160 << 10 : 224 << 10) - queries;
  while (a->stages > 1 && ring_bytes(a) > limit)
    a->stages--;
}

// Added tiles, loaded with the operands of the products.
static void test_biases(struct suite *s) {
  static const enum dtype types[] = {DTYPE_F16, DTYPE_BF16, DTYPE_F32};
  static const unsigned lengths[] = {64, 144, 200, 1024, 2000};
  static const unsigned sizes[][2] = {{64, 64}, {64, 32}, {128, 64}, {128, 128}};
  unsigned variant = 0;
  for (enum bias bias = ADDED; bias <= CHOSEN; bias++)
    for (unsigned type = 0; type < COUNT_OF(types); type++)
      for (size_t i = 0; i < (s->on_processor ? 2 : COUNT_OF(lengths)); i++, variant++) {
        struct attention a = {.type = variant % 2 ? DTYPE_BF16 : DTYPE_F16,
                              .length = lengths[i],
                              .depth = s->on_processor ? 16 : 64,
                              .heads = s->on_processor ? 1 : 3,
                              .bm = sizes[variant % (s->on_processor ? 2 : 4)][0],
                              .bn = sizes[variant % (s->on_processor ? 2 : 4)][1],
                              .warps = variant % 3 == 0 ? 8 : 4,
                              .stages = 1 + (variant / 2 + variant / 5) % 4,
                              .bias = bias,
                              .bias_type = bias == CHOSEN ? DTYPE_I8 : types[type]};
        fit_rings(s, &a);
        attention_case(s, &a);
      }
}

// Blocks that warpgroups multiply, many of them as wide as a head is deep.
static void test_warpgroups(struct suite *s) {
  static const unsigned lengths[] = {128, 200, 640, 1001};
  static const unsigned blocks[] = {64, 128, 32};
  unsigned variant = 0;
  for (unsigned form = 0; form < FORMS; form++)
    for (unsigned depth = 64; depth <= (s->on_processor ? 64u : 128u); depth *= 2)
      for (size_t i = 0; i < (s->on_processor ? 2 : COUNT_OF(lengths)); i++, variant++) {
        struct attention a = {.type = variant % 3 ? DTYPE_F16 : DTYPE_BF16,
                              .length = lengths[i],
                              .depth = depth,
                              .heads = s->on_processor ? 2 : 3,
                              .bm = variant % 2 ? 64 : 128,
                              .bn = i % 2 ? blocks[variant % COUNT_OF(blocks)] : depth,
                              .warps = variant % 2 ? 4 : 8,
                              .stages = 2 + (unsigned)i % 2,
                              .is_causal = variant / 2 % 2,
                              .form = form};
        fit_rings(s, &a);
        attention_case(s, &a);
        a.has_two_loops = true;
        if (form == 0 || form == DESCRIPTORS || form == ALL_DESCRIPTORS)
          attention_case(s, &a);
      }
}

void test_attention(struct suite *s, const struct settings *t) {
  static const unsigned lengths[] = {1, 17, 64, 100, 129, 511, 1024, 2000};
  static const unsigned sizes[][2] = {{16, 16}, {64, 32}, {32, 64}, {128, 64}, {64, 64}, {128, 32}};
  unsigned variant = 0;
  (void)t;
  for (unsigned depth = 16; depth <= 128; depth *= 2)
    for (size_t i = 0; i < (s->on_processor ? 5 : COUNT_OF(lengths)); i++)
      for (int causal = 0; causal < 2; causal++)
        for (unsigned half = 0; half < 2; half++, variant++) {
          struct attention a = {.type = half ? DTYPE_BF16 : DTYPE_F16,
                                .length = lengths[i],
                                .depth = depth,
                                .heads = s->on_processor ? 1 : 3,
                                .bm = sizes[(variant + i) % (s->on_processor ? 3 : 6)][0],
                                .bn = sizes[(variant + i) % (s->on_processor ? 3 : 6)][1],
                                .warps = 1u << (variant / 2 + i) % 4,
                                .stages = 1 + (variant + depth / 16) % 4,
                                .is_causal = causal,
                                .form = (variant / 3 + (unsigned)i) % 3};
          while (a.bm * a.depth / (32 * a.warps) > 64)
            a.warps *= 2;
          if (!s->on_processor || (half ^ causal ^ (i & 1)) == 0)
            attention_case(s, &a);
        }
  // Accumulators, scores and queries need more registers than there are: queries stay in their
  // buffer.
  for (int causal = 0; causal < 2; causal++) {
    struct attention a = {.type = DTYPE_F16,
                          .length = s->on_processor ? 200 : 1000,
                          .depth = 128,
                          .heads = 1,
                          .bm = 128,
                          .bn = 64,
                          .warps = 4,
                          .stages = 2 + (unsigned)causal,
                          .is_causal = causal};
    attention_case(s, &a);
  }
  test_warpgroups(s);
  test_biases(s);
}
