// SPDX-License-Identifier: Apache-2.0
// Shared-memory layouts against address arithmetic, and the swizzles chosen for dot operands.
#include "generate.h"
#include "layouts/banks.h"
#include "layouts/exchange_plan.h"
#include "suites.h"

static uint32_t element_at_offset(const struct linear_layout *l, uint32_t offset) {
  uint32_t index[LL_NO_IN] = {[LL_OFFSET] = offset};
  return element_at(l, index);
}

START_TEST(swizzled) {
  struct arena *a = arena_create();
  for (uint32_t vec = 1; vec <= 8; vec *= 2)
    for (uint32_t per_phase = 1; per_phase <= 4; per_phase *= 2)
      for (uint32_t max_phase = 1; max_phase <= 8; max_phase *= 2)
        for (unsigned inner = 0; inner < 2; inner++) {
          const char *text =
              arena_printf(a, "shared<{vec=%u, per_phase=%u, max_phase=%u, order=[%u,%u]}>", vec,
                           per_phase, max_phase, inner, 1 - inner);
          const int64_t shape[] = {32, 64};
          struct linear_layout l = linear_must(a, text, 2, shape);
          uint32_t cols = (uint32_t)shape[inner], rows = (uint32_t)shape[1 - inner];
          for (uint32_t row = 0; row < rows; row++)
            for (uint32_t col = 0; col < cols; col++) {
              uint32_t phase = row / per_phase % max_phase;
              uint32_t offset = row * cols + (col ^ (vec * phase % cols));
              uint32_t element = inner == 1 ? row * 64 + col : col * 64 + row;
              EXPECT(element_at_offset(&l, offset) == element);
            }
        }
  arena_destroy(a);
}
END_TEST

// TMA's and wgmma's swizzles permute the 16-byte pieces of each 128-byte line: the piece's number
// is xored with bits 7.. of the byte address (128 B: three bits, 64 B: two, 32 B: one).
START_TEST(nvmma) {
  struct arena *a = arena_create();
  const uint32_t rows = 16, row_bytes = 256;
  for (uint32_t swizzle = 32; swizzle <= 128; swizzle *= 2)
    for (uint32_t bits = 8; bits <= 32; bits *= 2)
      for (int transposed = 0; transposed < 2; transposed++) {
        uint32_t cols = row_bytes * 8 / bits, bytes = bits / 8;
        const char *text =
            arena_printf(a, "nvmma_shared<{swizzle=%u, transposed=%s, element_bits=%u}>", swizzle,
                         transposed ? "true" : "false", bits);
        const int64_t shape[] = {transposed ? cols : rows, transposed ? rows : cols};
        struct linear_layout l = linear_must(a, text, 2, shape);
        for (uint32_t row = 0; row < rows; row++)
          for (uint32_t col = 0; col < cols; col++) {
            uint32_t in_row = col * bytes, box = in_row / swizzle;
            uint32_t address = box * rows * swizzle + row * swizzle + in_row % swizzle;
            uint32_t pieces = swizzle / 16;
            address ^= (address >> 7 & (pieces - 1)) << 4;
            uint32_t element = transposed ? col * rows + row : row * cols + col;
            EXPECT(element_at_offset(&l, address / bytes) == element);
          }
      }
  arena_destroy(a);
}
END_TEST

// Without a swizzle: 8 x 16-byte core matrices, contiguous, stacked along the rows.
START_TEST(nvmma_plain) {
  struct arena *a = arena_create();
  const int64_t shape[] = {32, 32};
  struct linear_layout l =
      linear_must(a, "nvmma_shared<{swizzle=0, transposed=false, element_bits=16}>", 2, shape);
  for (uint32_t row = 0; row < 32; row++)
    for (uint32_t col = 0; col < 32; col++)
      EXPECT(element_at_offset(&l, col / 8 * (32 * 8) + row * 8 + col % 8) == row * 32 + col);
  arena_destroy(a);
}
END_TEST

// A third dimension continues the rows.
START_TEST(nvmma_batched) {
  struct arena *a = arena_create();
  const int64_t shape[] = {2, 4, 64};
  struct linear_layout l =
      linear_must(a, "nvmma_shared<{swizzle=128, transposed=false, element_bits=16}>", 3, shape);
  for (uint32_t row = 0; row < 8; row++)
    for (uint32_t col = 0; col < 64; col++)
      EXPECT(element_at_offset(&l, row * 64 + (col ^ 8 * row)) == row * 64 + col);
  arena_destroy(a);
}
END_TEST

START_TEST(nvmma_too_small) {
  struct arena *a = arena_create();
  const struct encoding *e =
      encoding_must(a, "nvmma_shared<{swizzle=128, transposed=false, element_bits=16}>");
  struct linear_layout l;
  const char *why = NULL;
  const int64_t narrow[] = {8, 32}, low[] = {4, 64};
  ck_assert(!encoding_to_linear(e, 2, narrow, &l, &why));
  ck_assert_str_eq(why, "the tensor is smaller than 8 rows of the swizzle's width");
  ck_assert(!encoding_to_linear(e, 2, low, &l, &why));
  ck_assert(!encoding_to_linear(e, 0, low, &l, &why));
  ck_assert_str_eq(why, "a tensor in shared memory has at least one dimension");
  arena_destroy(a);
}
END_TEST

// The chosen swizzle lets ldmatrix read its 8 rows of 16 bytes in one wavefront, for every shape
// and operand; plain rows would not.
START_TEST(swizzle_for_dot) {
  struct arena *a = arena_create();
  unsigned plain_conflicts = 0;
  for (unsigned op = 0; op < 2; op++)
    for (unsigned inner = 0; inner < 2; inner++)
      for (uint32_t cols = 16; cols <= 256; cols *= 2) {
        const struct encoding *dot = encoding_must(
            a, arena_printf(a, "dot_op<{op_idx=%u, k_width=2, parent=mma<{version=2}>}>", op));
        int64_t shape[] = {64, 64};
        shape[inner] = cols;
        const uint32_t order[] = {inner, 1 - inner};
        struct encoding e = encoding_shared_for_dot(dot, shape, order, 16);
        struct linear_layout l, inverse;
        const char *why;
        ck_assert(encoding_to_linear(&e, 2, shape, &l, &why));
        ck_assert(ll_invert(&l, &inverse));
        for (uint32_t row = 0; row < 64; row += 8)
          for (uint32_t col = 0; col < cols; col += 8) {
            uint32_t address[8], plain[8];
            for (uint32_t k = 0; k < 8; k++) {
              uint32_t c[2];
              c[inner] = col;
              c[1 - inner] = row + k;
              uint32_t in[LL_NO_IN] = {[LL_OFFSET] = c[0] * (uint32_t)shape[1] + c[1]}, offset[8];
              ll_apply(&inverse, in, offset);
              address[k] = offset[0] * 2;
              plain[k] = ((row + k) * cols + col) * 2;
            }
            EXPECT(bank_wavefronts(address, 8, 16) == 1);
            plain_conflicts += bank_wavefronts(plain, 8, 16) - 1;
          }
      }
  ck_assert_uint_gt(plain_conflicts, 0);
  // Known values: 32 columns of f16, two rows a line of banks.
  const struct encoding *dot =
      encoding_must(a, "dot_op<{op_idx=0, k_width=2, parent=mma<{version=2}>}>");
  const int64_t shape[] = {64, 32};
  const uint32_t order[] = {1, 0};
  struct encoding e = encoding_shared_for_dot(dot, shape, order, 16);
  ck_assert_uint_eq(e.shared.vec, 8);
  ck_assert_uint_eq(e.shared.per_phase, 2);
  ck_assert_uint_eq(e.shared.max_phase, 4);
  arena_destroy(a);
}
END_TEST

// Lanes that read operands without matrix instructions, in accesses as wide as the layout has
// neighbours: no bank twice, for the widths that accelerate-dot chooses.
START_TEST(operands_without_conflicts) {
  struct arena *a = arena_create();
  static const struct {
    unsigned bits, k_width;
    bool k_contiguous;
  } cases[] = {{16, 2, true},  {16, 4, true}, {32, 1, true},  {32, 2, true},
               {8, 4, true},   {64, 1, true}, {32, 1, false}, {32, 2, false},
               {64, 1, false}, {8, 4, false}, {8, 2, false}};
  for (unsigned i = 0; i < COUNT_OF(cases); i++)
    for (unsigned op = 0; op < 2; op++)
      for (uint32_t cols = 32; cols <= 256; cols *= 2) {
        const char *text = arena_printf(
            a, "dot_op<{op_idx=%u, k_width=%u, parent=mma<{version=2}>}>", op, cases[i].k_width);
        const struct encoding *dot = encoding_must(a, text);
        uint32_t k_dim = 1 - op, inner = cases[i].k_contiguous ? k_dim : 1 - k_dim;
        int64_t shape[] = {64, 64};
        shape[inner] = cols;
        const uint32_t order[] = {inner, 1 - inner};
        struct encoding e = encoding_shared_for_dot(dot, shape, order, cases[i].bits);
        struct linear_layout l, access = linear_must(a, text, 2, shape);
        struct bank_report r;
        ck_assert(encoding_to_linear(&e, 2, shape, &l, NULL));
        unsigned vec = bank_vector_width(&l, &access, cases[i].bits);
        ck_assert(bank_report_of(&l, &access, cases[i].bits, vec, &r));
        ck_assert_msg(bank_conflicts(r) == 0, "%s, %u bits, %u columns, inner %u: %u of %u", text,
                      cases[i].bits, cols, inner, r.wavefronts, r.ideal);
        ck_assert(cols == 32 || e.shared.vec * cases[i].bits >= 128); // copies of 16 bytes
      }
  arena_destroy(a);
}
END_TEST

// What is stored 16 bytes a lane and read as an accumulator: no bank twice on either side. Halves
// are read by ldmatrix; rows as they are would conflict.
START_TEST(tiles_without_conflicts) {
  struct arena *a = arena_create();
  unsigned plain_conflicts = 0;
  for (unsigned bits = 8; bits <= 32; bits *= 2)
    for (uint32_t cols = 32; cols <= 128; cols *= 2) {
      uint32_t vec = 128 / bits, lanes = cols / vec < 32 ? cols / vec : 32;
      int64_t shape[] = {128, cols};
      const uint32_t order[] = {1, 0};
      const char *from = arena_printf(a,
                                      "blocked<{order=[1,0], size_per_thread=[1,%u], "
                                      "threads_per_warp=[%u,%u], warps_per_cta=[4,1]}>",
                                      vec, 32 / lanes, lanes);
      struct linear_layout store = linear_must(a, from, 2, shape), l;
      struct linear_layout load = linear_must(a, "mma<{version=2, warps_per_cta=[4,1]}>", 2, shape);
      struct encoding e =
          encoding_shared_between(&store, &load, shape, order, bits, EXCHANGE_LDMATRIX);
      struct encoding plain = e;
      plain.shared.vec = plain.shared.per_phase = plain.shared.max_phase = 1;
      struct exchange_plan plan;
      ck_assert(encoding_to_linear(&e, 2, shape, &l, NULL));
      ck_assert(exchange_plan_with(&store, &load, &l, bits, EXCHANGE_LDMATRIX, &plan));
      ck_assert_int_eq(plan.load.form, bits == 16 ? EXCHANGE_MATRICES : EXCHANGE_VECTORS);
      ck_assert_uint_eq(bits << plan.store.vec_bits, 128);
      // Of a warp: the bytes that a thread has, 128 a wavefront.
      unsigned ideal = 128 * cols * bits / 8 / 4 / 128, narrow = bits == 8 ? 2 : 1;
      ck_assert_uint_eq(exchange_wavefronts(&plan.store, bits, 0), ideal);
      ck_assert_uint_eq(exchange_wavefronts(&plan.load, bits, 0), ideal * narrow);
      ck_assert(encoding_to_linear(&plain, 2, shape, &l, NULL));
      ck_assert(exchange_plan_with(&store, &load, &l, bits, EXCHANGE_LDMATRIX, &plan));
      plain_conflicts += exchange_wavefronts(&plan.load, bits, 0) > ideal * narrow;
    }
  ck_assert_uint_ge(plain_conflicts, 8);
  arena_destroy(a);
}
END_TEST

// Without tensor cores a thread reads one element of K at a time: no bank twice either.
START_TEST(plain_operands_without_conflicts) {
  struct arena *a = arena_create();
  const char *parent = "blocked<{order=[1,0], size_per_thread=[4,4], threads_per_warp=[4,8], "
                       "warps_per_cta=[1,1]}>";
  for (unsigned op = 0; op < 2; op++)
    for (uint32_t cols = 16; cols <= 128; cols *= 2)
      for (unsigned inner = 0; inner < 2; inner++) {
        const char *text = arena_printf(a, "dot_op<{op_idx=%u, k_width=1, parent=%s}>", op, parent);
        const struct encoding *dot = encoding_must(a, text);
        int64_t shape[] = {64, 64};
        shape[inner] = cols;
        const uint32_t order[] = {inner, 1 - inner};
        struct encoding e = encoding_shared_for_dot(dot, shape, order, 32);
        struct linear_layout l, access = linear_must(a, text, 2, shape);
        struct bank_report r;
        ck_assert(encoding_to_linear(&e, 2, shape, &l, NULL));
        bool k_contiguous = inner == 1 - op;
        ck_assert(bank_report_of(&l, &access, 32, 1, &r));
        // Eight rows of B need eight pieces of K.
        bool fits = !k_contiguous || op == 0 || cols >= 32;
        ck_assert_msg((bank_conflicts(r) == 0) == fits, "%s, %u columns, inner %u: %u of %u", text,
                      cols, inner, r.wavefronts, r.ideal);
      }
  arena_destroy(a);
}
END_TEST

TCase *shared_tests(void) {
  TCase *t = tcase_create("shared");
  tcase_add_test(t, swizzled);
  tcase_add_test(t, nvmma);
  tcase_add_test(t, nvmma_plain);
  tcase_add_test(t, nvmma_batched);
  tcase_add_test(t, nvmma_too_small);
  tcase_add_test(t, swizzle_for_dot);
  tcase_add_test(t, operands_without_conflicts);
  tcase_add_test(t, tiles_without_conflicts);
  tcase_add_test(t, plain_operands_without_conflicts);
  return t;
}
