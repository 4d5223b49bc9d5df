// SPDX-License-Identifier: Apache-2.0
// Source forms of kernels with matrix products.
#include "prepare.h"

#include <string.h>

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
static const char descriptors[] =
    "    a_of = tl.make_tensor_descriptor(a_ptr, [M, K], [sam, 1], [BM, BK])\n"
    "    b_of = tl.make_tensor_descriptor(b_ptr, [K, N], [sbk, 1], [BK, BN])\n"
    "    at_m = (first + pid % group % size) * BM\n"
    "    at_n = pid % group // size * BN\n" ZEROS TURNS "        a = a_of.load([at_m, i * BK])\n"
    "        b = b_of.load([i * BK, at_n])\n" DOT;
static const char transposed_descriptors[] = // of operands stored by columns
    "    a_of = tl.make_tensor_descriptor(a_ptr, [K, M], [sak, 1], [BK, BM])\n"
    "    b_of = tl.make_tensor_descriptor(b_ptr, [N, K], [sbn, 1], [BN, BK])\n"
    "    at_m = (first + pid % group % size) * BM\n"
    "    at_n = pid % group // size * BN\n" ZEROS TURNS "        a = a_of.load([i * BK, at_m]).T\n"
    "        b = b_of.load([at_n, i * BK]).T\n" DOT;
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

static const char promoted[] = // 8-bit floats: sums of 32 products are added in f32
    POINTERS ZEROS TURNS LOAD_BOTH
    "        acc = tl.dot(a, b, acc, max_num_imprecise_acc=32$)\n" ADVANCE;

// ---- several tiles per program ----

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

static const char persistent_descriptors[] =
    "@jit\n"
    "def k(a_ptr, b_ptr, c_ptr, x_ptr, M, N, K, sam, sak, sbk, sbn, scm):\n"
    "    tiles_n = cdiv(N, BN)\n"
    "    a_of = tl.make_tensor_descriptor(a_ptr, [M, K], [sam, 1], [BM, BK])\n"
    "    b_of = tl.make_tensor_descriptor(b_ptr, [K, N], [sbk, 1], [BK, BN])\n"
    "    for tile in tl.range(program_id(0), cdiv(M, BM) * tiles_n, num_programs(0)):\n"
    "        at_m = tile // tiles_n * BM\n"
    "        at_n = tile % tiles_n * BN\n"
    "        acc = tl.zeros((BM, BN), ACC)\n"
    "        for i in range(0, cdiv(K, BK)):\n"
    "            acc = tl.dot(a_of.load([at_m, i * BK]), b_of.load([i * BK, at_n]), acc$)\n"
    "        am = at_m + arange(0, BM)\n"
    "        bn = at_n + arange(0, BN)\n"
    "        mask = (am[:, None] < M) & (bn[None, :] < N)\n"
    "        store(c_ptr + am[:, None] * scm + bn[None, :], acc.to(OUT), mask=mask)\n";

#define PERSISTENT_STORED                                                                          \
  "@jit\n"                                                                                         \
  "def k(a_ptr, b_ptr, c_ptr, x_ptr, M, N, K, sam, sak, sbk, sbn, scm):\n"                         \
  "    tiles_n = cdiv(N, BN)\n"                                                                    \
  "    a_of = tl.make_tensor_descriptor(a_ptr, [M, K], [sam, 1], [BM, BK])\n"                      \
  "    b_of = tl.make_tensor_descriptor(b_ptr, [K, N], [sbk, 1], [BK, BN])\n"                      \
  "    out_of = tl.make_tensor_descriptor(c_ptr, [M, N], [scm, 1], [BM, BN])\n"                    \
  "    for tile in tl.range(program_id(0), cdiv(M, BM) * tiles_n, num_programs(0)):\n"             \
  "        at_m = tile // tiles_n * BM\n"                                                          \
  "        at_n = tile % tiles_n * BN\n"

static const char stored_descriptors[] = // accumulators: by columns of one swizzle
    PERSISTENT_STORED
    "        acc = tl.zeros((BM, BN), ACC)\n"
    "        for i in range(0, cdiv(K, BK)):\n"
    "            acc = tl.dot(a_of.load([at_m, i * BK]), b_of.load([i * BK, at_n]), acc$)\n"
    "        out_of.store([at_m, at_n], acc.to(OUT))\n";

static const char stored_whole[] = // the transposed product, whose tile is stored whole
    PERSISTENT_STORED
    "        acc = tl.zeros((BN, BM), ACC)\n"
    "        for i in range(0, cdiv(K, BK)):\n"
    "            acc = tl.dot(b_of.load([i * BK, at_n]).T, a_of.load([at_m, i * BK]).T, acc$)\n"
    "        out_of.store([at_m, at_n], acc.T.to(OUT))\n";

static const char row_of_tiles[] = // one product an iteration, stored in the loop; A stays
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

// ---- additional loads ----

static const char gathered_rows[] =
    "    rows = load(x_ptr + am, mask=am < M, other=0)\n"
    "    a_at = a_ptr + rows[:, None] * sam + k[None, :] * sak\n"
    "    b_at = b_ptr + k[:, None] * sbk + bn[None, :] * sbn\n" ZEROS TURNS LOAD_BOTH DOT ADVANCE;

static const char gathered_k[] =
    ZEROS "    for i in range(0, K, BK):\n"
          "        at = load(x_ptr + i + k, mask=i + k < K, other=0)\n"
          "        a = load(a_ptr + am[:, None] * sam + at[None, :] * sak,\n"
          "                 mask=(am[:, None] < M) & (i + k[None, :] < K), other=0)\n"
          "        b = load(b_ptr + at[:, None] * sbk + bn[None, :] * sbn,\n"
          "                 mask=(i + k[:, None] < K) & (bn[None, :] < N), other=0)\n" DOT;

static const char start_from_memory[] =
    POINTERS "    acc = load(x_ptr + am[:, None] * N + bn[None, :],\n"
             "               mask=(am[:, None] < M) & (bn[None, :] < N), other=0)\n" TURNS LOAD_BOTH
                 DOT ADVANCE;

// Rows of A and B beyond K are ones and twos.
static const char other[] = POINTERS ZEROS TURNS
    "        a = load(a_at, mask=k[None, :] < K - i * BK, other=1)\n"
    "        b = load(b_at, mask=k[:, None] < K - i * BK, other=2)\n" DOT ADVANCE;
static const char other_and_masks[] = POINTERS ZEROS TURNS
    "        a = load(a_at, mask=(am[:, None] < M) & (k[None, :] < K - i * BK), other=1)\n"
    "        b = load(b_at, mask=(bn[None, :] < N) & (k[:, None] < K - i * BK), other=2)\n" DOT
        ADVANCE;

// ---- computed operands ----

static const char cast_a[] =
    POINTERS ZEROS TURNS LOAD_BOTH "        acc = tl.dot(a.to(b.dtype), b, acc$)\n" ADVANCE;
static const char cast_b[] =
    POINTERS ZEROS TURNS LOAD_BOTH "        acc = tl.dot(a, b.to(a.dtype), acc$)\n" ADVANCE;

static const char scaled_rows[] =
    POINTERS ZEROS "    scale = load(x_ptr + am, mask=am < M, other=0)\n" TURNS LOAD_BOTH
                   "        a = a.to(b.dtype) * scale[:, None]\n" DOT ADVANCE;

static const char scaled_k[] = // a scale for each 8 rows of B, of another type
    POINTERS ZEROS TURNS LOAD_BOTH
    "        scale = load(x_ptr + (i * BK + k) // 8, mask=k < K - i * BK, other=0)\n"
    "        b = (b * scale[:, None]).to(a.dtype)\n" DOT ADVANCE;

static const char rectified[] =
    POINTERS ZEROS TURNS LOAD_BOTH "        a = maximum(a, 0).to(b.dtype)\n"
                                   "        b = where(b > 1, b - 1, b)\n" DOT ADVANCE;

static const char transposed[] = // tiles are loaded the other way round
    "    a_at = a_ptr + am[None, :] * sam + k[:, None] * sak\n"
    "    b_at = b_ptr + k[None, :] * sbk + bn[:, None] * sbn\n" ZEROS TURNS
    "        a = load(a_at, mask=(am[None, :] < M) & (k[:, None] < K - i * BK), other=0)\n"
    "        b = load(b_at, mask=(k[None, :] < K - i * BK) & (bn[:, None] < N), other=0)\n"
    "        acc = tl.dot(tl.trans(a), b.T, acc$)\n" ADVANCE;

static const char no_loads[] = // A is made of the indices alone
    POINTERS ZEROS TURNS
    "        b = load(b_at, mask=(k[:, None] < K - i * BK) & (bn[None, :] < N), other=0)\n"
    "        a = ((am[:, None] + i * BK + k[None, :]) % 3).to(b.dtype)\n" DOT
    "        b_at += BK * sbk\n";

// ---- other operations in the loop ----

static const char two_products[] = POINTERS
    "    d_at = b_ptr + k[:, None] * sbk + (N - 1 - bn)[None, :] * sbn\n" ZEROS
    "    twin = tl.zeros((BM, BN), ACC)\n" TURNS LOAD_BOTH
    "        d = load(d_at, mask=(k[:, None] < K - i * BK) & (bn[None, :] < N), other=0)\n" DOT
    "        twin = tl.dot(a, d, twin$)\n" ADVANCE "        d_at += BK * sbk\n"
    "    acc = acc + twin\n";

static const char row_sums[] = // of A, beside the product
    POINTERS ZEROS "    total = tl.zeros((BM,), ACC)\n" TURNS LOAD_BOTH DOT
                   "        total += tl.sum(a.to(ACC), 1)\n" ADVANCE
                   "    acc = acc + total[:, None]\n";

static const char rescaled[] = // the sum is negated each iteration, as attention rescales
    POINTERS ZEROS TURNS LOAD_BOTH "        acc = tl.dot(a, b, (0 - acc)$)\n" ADVANCE;

static const char skipped_dots[] =
    POINTERS ZEROS TURNS LOAD_BOTH "        if load(x_ptr + i) != 0:\n"
                                   "            acc = tl.dot(a, b, acc$)\n" ADVANCE;
static const char skipped_iterations[] = POINTERS ZEROS TURNS
    "        if load(x_ptr + i) != 0:\n"
    "            a = load(a_at, mask=(am[:, None] < M) & (k[None, :] < K - i * BK), other=0)\n"
    "            b = load(b_at, mask=(k[:, None] < K - i * BK) & (bn[None, :] < N), other=0)\n"
    "            acc = tl.dot(a, b, acc$)\n" ADVANCE;

// ---- epilogues ----

static const char epilogue[] = POINTERS ZEROS TURNS LOAD_BOTH DOT ADVANCE
    "    acc = acc + load(x_ptr + bn, mask=bn < N, other=0)[None, :].to(ACC)\n"
    "    acc = where(acc >= 0, acc, acc * 2)\n"; // leaky, and exact

static const char chained[] = // (A B) X, where X has the sizes of a tile
    POINTERS ZEROS TURNS LOAD_BOTH DOT ADVANCE
    "    n = arange(0, BN)\n"
    "    x = load(x_ptr + n[:, None] * BN + n[None, :])\n"
    "    acc = tl.dot(acc.to(x.dtype), x$)\n";

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

// ---- the table ----

const struct form forms[] = {
    {"pointers", false, pointers, NULL, NULL},
    {"even", false, even, NULL, fits_even},
    {"wrapped", false, wrapped, NULL, NULL},
    {"computed", false, computed, NULL, NULL},
    {"block pointers", false, block_pointers, NULL, NULL},
    {"descriptors", false, descriptors, NULL, fits_descriptors},
    {"transposed descriptors", false, transposed_descriptors, NULL, fits_transposed_descriptors},
    {"persistent descriptors", true, persistent_descriptors, p_persistent, fits_descriptors},
    {"stored descriptors", true, stored_descriptors, p_persistent, fits_stored_descriptors},
    {"whole stored descriptors", true, stored_whole, p_persistent, fits_stored_descriptors},
    {"plus", false, plus, NULL, NULL},
    {"promoted", false, promoted, NULL, fits_promoted},
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
    {"skipped iterations", false, skipped_iterations, p_skipped, NULL},
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
