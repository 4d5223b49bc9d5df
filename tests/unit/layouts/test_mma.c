// SPDX-License-Identifier: Apache-2.0
// Tensor-core fragments against the formulas of the PTX ISA: for lane `lane` and element i of a
// fragment, groupID = lane / 4 and threadID_in_group = lane % 4 give row and column.
#include "generate.h"
#include "suites.h"

struct at {
  uint32_t row, col;
};

static struct at a_m16n8k16_16bit(uint32_t lane, uint32_t i) {
  return (struct at){lane / 4 + ((i < 2 || (4 <= i && i < 6)) ? 0 : 8),
                     lane % 4 * 2 + i % 2 + (i >= 4 ? 8 : 0)};
}

static struct at b_m16n8k16_16bit(uint32_t lane, uint32_t i) {
  return (struct at){lane % 4 * 2 + i % 2 + (i >= 2 ? 8 : 0), lane / 4};
}

static struct at a_m16n8k8_16bit(uint32_t lane, uint32_t i) {
  return (struct at){lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + i % 2};
}

static struct at b_m16n8k8_16bit(uint32_t lane, uint32_t i) {
  return (struct at){lane % 4 * 2 + i, lane / 4};
}

static struct at a_m16n8k8_tf32(uint32_t lane, uint32_t i) {
  return (struct at){lane / 4 + (i == 0 || i == 2 ? 0 : 8), lane % 4 + (i < 2 ? 0 : 4)};
}

static struct at b_m16n8k8_tf32(uint32_t lane, uint32_t i) {
  return (struct at){lane % 4 + (i == 0 ? 0 : 4), lane / 4};
}

static struct at a_m16n8k32_8bit(uint32_t lane, uint32_t i) {
  return (struct at){lane / 4 + ((i < 4 || (8 <= i && i < 12)) ? 0 : 8),
                     lane % 4 * 4 + (i & 3) + (i < 8 ? 0 : 16)};
}

static struct at b_m16n8k32_8bit(uint32_t lane, uint32_t i) {
  return (struct at){lane % 4 * 4 + (i & 3) + (i < 4 ? 0 : 16), lane / 4};
}

static struct at c_m16n8(uint32_t lane, uint32_t i) {
  return (struct at){lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)};
}

static const struct {
  int op; // -1: accumulator
  unsigned k_width, rows, cols, registers;
  struct at (*formula)(uint32_t lane, uint32_t i);
} fragments[] = {
    {-1, 0, 16, 8, 4, c_m16n8},         {0, 2, 16, 16, 8, a_m16n8k16_16bit},
    {1, 2, 16, 8, 4, b_m16n8k16_16bit}, {0, 2, 16, 8, 4, a_m16n8k8_16bit},
    {1, 2, 8, 8, 2, b_m16n8k8_16bit},   {0, 1, 16, 8, 4, a_m16n8k8_tf32},
    {1, 1, 8, 8, 2, b_m16n8k8_tf32},    {0, 4, 16, 32, 16, a_m16n8k32_8bit},
    {1, 4, 32, 8, 8, b_m16n8k32_8bit},
};

static const char *fragment_text(struct arena *a, size_t i, const char *mma) {
  if (fragments[i].op < 0)
    return mma;
  return arena_printf(a, "dot_op<{op_idx=%d, k_width=%u, parent=%s}>", fragments[i].op,
                      fragments[i].k_width, mma);
}

START_TEST(one_fragment) {
  struct arena *a = arena_create();
  for (size_t i = 0; i < COUNT_OF(fragments); i++) {
    const int64_t shape[] = {fragments[i].rows, fragments[i].cols};
    struct linear_layout l = linear_must(a, fragment_text(a, i, "mma<{version=2}>"), 2, shape);
    ck_assert_uint_eq(ll_in_size(&l, LL_REGISTER), fragments[i].registers);
    ck_assert(ll_is_surjective(&l) && ll_is_injective(&l));
    for (uint32_t lane = 0; lane < 32; lane++)
      for (uint32_t reg = 0; reg < fragments[i].registers; reg++) {
        struct at at = fragments[i].formula(lane, reg);
        EXPECT(element_of(&l, reg, lane, 0) == at.row * fragments[i].cols + at.col);
      }
  }
  arena_destroy(a);
}
END_TEST

// Larger tensors and several warps: fragments repeat, along N first for accumulators and along K
// first for operands; warps count row-major over the accumulator, and share operands.
START_TEST(many_fragments) {
  struct arena *a = arena_create();
  const unsigned warps_m = 2, warps_n = 4;
  for (size_t i = 0; i < COUNT_OF(fragments); i++) {
    unsigned rows = fragments[i].rows, cols = fragments[i].cols, each = fragments[i].registers;
    if (fragments[i].k_width == 2 && (rows == 8 || cols == 8) && each != 4)
      continue; // k8 fragments of 16-bit types exist for tensors with K = 8 alone
    if (fragments[i].formula == a_m16n8k8_16bit)
      continue;
    int op = fragments[i].op;
    unsigned along_rows = op == 1 ? 1 : warps_m, along_cols = op == 0 ? 1 : warps_n;
    const int64_t shape[] = {rows * along_rows * 2, cols * along_cols * 4};
    const char *mma = "mma<{version=2, instr_shape=[16,8], warps_per_cta=[2,4]}>";
    struct linear_layout l = linear_must(a, fragment_text(a, i, mma), 2, shape);
    ck_assert_uint_eq(ll_in_size(&l, LL_REGISTER), each * 8);
    for (uint32_t warp = 0; warp < 8; warp++)
      for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t reg = 0; reg < each * 8; reg++) {
          struct at at = fragments[i].formula(lane, reg % each);
          uint32_t rep = reg / each;
          uint32_t rep_row = op == 1 ? rep % 2 : rep / 4, rep_col = op == 1 ? rep / 2 : rep % 4;
          uint32_t warp_row = op == 1 ? 0 : warp / warps_n, warp_col = op == 0 ? 0 : warp % warps_n;
          at.row += (rep_row * along_rows + warp_row) * rows;
          at.col += (rep_col * along_cols + warp_col) * cols;
          EXPECT(element_of(&l, reg, lane, warp) == at.row * (uint32_t)shape[1] + at.col);
        }
  }
  arena_destroy(a);
}
END_TEST

// wgmma m64nNk16: warp w of the group has rows 16 w and on; element i of a thread is
// row lane/4 + 8 (i/2 % 2), column 8 (i/4) + 2 (lane%4) + i%2.
START_TEST(wgmma_accumulator) {
  struct arena *a = arena_create();
  for (uint32_t n = 8; n <= 256; n *= 2) {
    const char *text =
        arena_printf(a, "mma<{version=3, instr_shape=[16,%u,16], warps_per_cta=[4,1]}>", n);
    const int64_t shape[] = {64, n}, tall[] = {128, n};
    struct linear_layout l = linear_must(a, text, 2, shape), two = linear_must(a, text, 2, tall);
    ck_assert_uint_eq(ll_in_size(&l, LL_REGISTER), n / 2);
    for (uint32_t warp = 0; warp < 4; warp++)
      for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t i = 0; i < n / 2; i++) {
          uint32_t row = 16 * warp + lane / 4 + 8 * (i / 2 % 2);
          uint32_t col = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
          EXPECT(element_of(&l, i, lane, warp) == row * n + col);
          EXPECT(element_of(&two, n / 2 + i, lane, warp) == (64 + row) * n + col);
        }
  }
  // Two warp groups stack along M, too.
  const int64_t shape[] = {128, 16};
  struct linear_layout l =
      linear_must(a, "mma<{version=3, instr_shape=[16,16,16], warps_per_cta=[8,1]}>", 2, shape);
  ck_assert_uint_eq(element_of(&l, 0, 0, 5), 5 * 16 * 16);
  arena_destroy(a);
}
END_TEST

// Operand A of wgmma in registers: the mma.sync fragment in each warp's 16 rows. B, which wgmma
// reads from shared memory, as mma.sync would have it: all columns in each warp.
START_TEST(wgmma_operands) {
  struct arena *a = arena_create();
  const char *mma = "mma<{version=3, instr_shape=[16,64,16], warps_per_cta=[4,1]}>";
  const int64_t shape[] = {64, 16}, b_shape[] = {16, 64};
  struct linear_layout l =
      linear_must(a, arena_printf(a, "dot_op<{op_idx=0, k_width=2, parent=%s}>", mma), 2, shape);
  for (uint32_t warp = 0; warp < 4; warp++)
    for (uint32_t lane = 0; lane < 32; lane++)
      for (uint32_t i = 0; i < 8; i++) {
        struct at at = a_m16n8k16_16bit(lane, i);
        EXPECT(element_of(&l, i, lane, warp) == (at.row + 16 * warp) * 16 + at.col);
      }
  l = linear_must(a, arena_printf(a, "dot_op<{op_idx=1, k_width=2, parent=%s}>", mma), 2, b_shape);
  for (uint32_t warp = 0; warp < 4; warp++)
    for (uint32_t lane = 0; lane < 32; lane++)
      for (uint32_t i = 0; i < 32; i++) { // pairs along K, then columns 8 apart, then K
        uint32_t k = 2 * (lane % 4) + i % 2 + 8 * (i / 16), column = lane / 4 + 8 * (i / 2 % 8);
        EXPECT(element_of(&l, i, lane, warp) == k * 64 + column);
      }
  arena_destroy(a);
}
END_TEST

// ldmatrix gives each thread two neighbouring 16-bit elements of row lane/4 of an 8x8 matrix: that
// tile divides the operands that it loads.
START_TEST(ldmatrix_tile) {
  struct arena *a = arena_create();
  unsigned bits[] = {3, 3};
  struct linear_layout tile = ll_empty(2, bits), q;
  ll_push_basis(&tile, LL_REGISTER, (uint32_t[]){0, 1});
  for (uint32_t b = 0; b < 2; b++)
    ll_push_basis(&tile, LL_LANE, (uint32_t[]){0, 2u << b});
  for (uint32_t b = 0; b < 3; b++)
    ll_push_basis(&tile, LL_LANE, (uint32_t[]){1u << b, 0});
  const int64_t a_shape[] = {64, 32}, b_shape[] = {32, 64};
  const char *mma = "mma<{version=2, instr_shape=[16,8], warps_per_cta=[2,2]}>";
  struct linear_layout l =
      linear_must(a, arena_printf(a, "dot_op<{op_idx=0, k_width=2, parent=%s}>", mma), 2, a_shape);
  ck_assert(ll_divide_left(&l, &tile, &q));
  ck_assert_uint_eq(ll_in_size(&q, LL_REGISTER), ll_in_size(&l, LL_REGISTER) / 2);
  ck_assert_uint_eq(ll_in_bits(&q, LL_LANE), 0);
  l = linear_must(a, arena_printf(a, "dot_op<{op_idx=1, k_width=2, parent=%s}>", mma), 2, b_shape);
  ck_assert(!ll_divide_left(&l, &tile, &q)); // B's rows are K: its columns make the tile
  struct linear_layout transposed = ll_transpose_outs(&l, (unsigned[]){1, 0});
  ck_assert(ll_divide_left(&transposed, &tile, &q));
  l = linear_must(a, arena_printf(a, "dot_op<{op_idx=0, k_width=1, parent=%s}>", mma), 2, a_shape);
  ck_assert(!ll_divide_left(&l, &tile, &q));
  arena_destroy(a);
}
END_TEST

// A leading batch dimension goes to warps, then to registers.
START_TEST(batched) {
  struct arena *a = arena_create();
  const int64_t shape[] = {4, 16, 8};
  struct linear_layout l =
      linear_must(a, "mma<{version=2, instr_shape=[16,8], warps_per_cta=[2,1,1]}>", 3, shape);
  for (uint32_t warp = 0; warp < 2; warp++)
    for (uint32_t lane = 0; lane < 32; lane++)
      for (uint32_t reg = 0; reg < 8; reg++) {
        struct at at = c_m16n8(lane, reg % 4);
        EXPECT(element_of(&l, reg, lane, warp) ==
               ((reg / 4 * 2 + warp) * 16 + at.row) * 8 + at.col);
      }
  arena_destroy(a);
}
END_TEST

TCase *mma_tests(void) {
  TCase *t = tcase_create("mma");
  tcase_add_test(t, one_fragment);
  tcase_add_test(t, many_fragments);
  tcase_add_test(t, wgmma_accumulator);
  tcase_add_test(t, wgmma_operands);
  tcase_add_test(t, ldmatrix_tile);
  tcase_add_test(t, batched);
  return t;
}
