// SPDX-License-Identifier: Apache-2.0
// Bank conflicts: known access patterns, and every instruction of random layouts counted by hand.
#include "generate.h"
#include "layouts/banks.h"
#include "suites.h"

START_TEST(patterns) {
  uint32_t address[32];
  const struct {
    uint32_t stride, bytes, wavefronts;
  } cases[] = {
      {4, 4, 1},                // a row
      {8, 4, 2},                // every second bank
      {128, 4, 32},             // a column of 32 floats a row
      {132, 4, 1},              // the same, padded
      {2, 2, 1},                // halves share words
      {64, 2, 16},   {0, 4, 1}, // broadcast
      {8, 8, 2},                // half warps
      {16, 16, 4},              // quarters
      {128, 16, 32},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    for (uint32_t lane = 0; lane < 32; lane++)
      address[lane] = lane * cases[i].stride;
    ck_assert_msg(bank_wavefronts(address, 32, cases[i].bytes) == cases[i].wavefronts,
                  "stride %u: %u", cases[i].stride, bank_wavefronts(address, 32, cases[i].bytes));
  }
}
END_TEST

// Reads a 32x32 tensor of floats by columns: 32 wavefronts a register in plain rows, one with the
// swizzle.
START_TEST(columns) {
  struct arena *a = arena_create();
  const int64_t shape[] = {32, 32};
  struct linear_layout reader =
      linear_must(a,
                  "blocked<{order=[0,1], size_per_thread=[1,1], threads_per_warp=[32,1], "
                  "warps_per_cta=[1,1]}>",
                  2, shape);
  struct linear_layout plain =
      linear_must(a, "shared<{vec=1, per_phase=1, max_phase=1, order=[1,0]}>", 2, shape);
  struct linear_layout swizzled =
      linear_must(a, "shared<{vec=1, per_phase=1, max_phase=32, order=[1,0]}>", 2, shape);
  struct bank_report r;
  ck_assert(bank_report_of(&plain, &reader, 32, 1, &r));
  ck_assert_uint_eq(r.instructions, 32);
  ck_assert_uint_eq(r.ideal, 32);
  ck_assert_uint_eq(r.wavefronts, 32 * 32);
  ck_assert(bank_report_of(&swizzled, &reader, 32, 1, &r));
  ck_assert_uint_eq(bank_conflicts(r), 0);
  arena_destroy(a);
}
END_TEST

START_TEST(vectors) {
  struct arena *a = arena_create();
  const int64_t shape[] = {32, 64};
  struct linear_layout rows =
      linear_must(a,
                  "blocked<{order=[1,0], size_per_thread=[1,8], threads_per_warp=[4,8], "
                  "warps_per_cta=[4,1]}>",
                  2, shape);
  struct linear_layout smem =
      linear_must(a, "shared<{vec=4, per_phase=1, max_phase=8, order=[1,0]}>", 2, shape);
  ck_assert_uint_eq(bank_vector_width(&smem, &rows, 16), 4); // the swizzle's
  ck_assert_uint_eq(bank_vector_width(&smem, &rows, 64), 2); // 16 bytes
  struct bank_report r;
  ck_assert(bank_report_of(&smem, &rows, 16, 4, &r));
  ck_assert(!bank_report_of(&smem, &rows, 16, 8, &r));
  ck_assert(!bank_report_of(&smem, &rows, 64, 4, &r));
  ck_assert(!bank_report_of(&smem, &rows, 1, 1, &r));
  ck_assert(!bank_report_of(&rows, &rows, 16, 1, &r)); // not a shared layout
  arena_destroy(a);
}
END_TEST

// Looking at one instruction is enough: all others, counted one by one, give the same sum.
START_TEST(every_instruction) {
  struct random rng = {31};
  unsigned with_conflicts = 0;
  for (int round = 0; round < 300; round++) {
    unsigned out = 7 + random_below(&rng, 3), regs = out - 5 + random_below(&rng, 2);
    unsigned in_registers[LL_NO_IN] = {regs, 5, random_below(&rng, 2)};
    unsigned in_memory[LL_NO_IN] = {[LL_OFFSET] = out};
    bool simple = random_below(&rng, 2);
    struct linear_layout shape = random_layout(&rng, (unsigned[LL_NO_IN]){0}, out, true);
    struct linear_layout access = random_surjective(&rng, in_registers, &shape, simple);
    struct linear_layout smem = random_surjective(&rng, in_memory, &shape, simple), only_offset;
    const enum ll_in offset_in[] = {LL_OFFSET};
    const unsigned dims[] = {0, 1, 2};
    only_offset = ll_sublayout(&smem, 1, offset_in, smem.out_count, dims);
    unsigned bits = 8u << random_below(&rng, 3);
    unsigned vec = bank_vector_width(&only_offset, &access, bits);
    struct bank_report r;
    EXPECT(bank_report_of(&only_offset, &access, bits, vec, &r));
    uint32_t offset_of[1 << 10];
    for (uint32_t offset = 0; offset < 1u << out; offset++)
      offset_of[element_at(&only_offset, (uint32_t[LL_NO_IN]){[LL_OFFSET] = offset})] = offset;
    unsigned sum = 0;
    for (uint32_t reg = 0; reg < ll_in_size(&access, LL_REGISTER); reg += vec) {
      uint32_t address[32];
      for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t offset = offset_of[element_of(&access, reg, lane, 0)];
        address[lane] = offset * (bits / 8);
        for (uint32_t k = 0; k < vec; k++)
          EXPECT(offset_of[element_of(&access, reg + k, lane, 0)] == offset + k);
      }
      sum += bank_wavefronts(address, 32, vec * bits / 8);
    }
    EXPECT(sum == r.wavefronts);
    EXPECT(r.ideal <= r.wavefronts);
    with_conflicts += bank_conflicts(r) > 0;
  }
  ck_assert_uint_gt(with_conflicts, 30);
}
END_TEST

TCase *banks_tests(void) {
  TCase *t = tcase_create("banks");
  tcase_add_test(t, patterns);
  tcase_add_test(t, columns);
  tcase_add_test(t, vectors);
  tcase_add_test(t, every_instruction);
  return t;
}
