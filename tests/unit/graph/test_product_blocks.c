// SPDX-License-Identifier: Apache-2.0
// The choice of blocks, splits and persistence for products on Hopper and on processors, whose time
// models estimate. TILE_TEST_PRINT=1 prints what is chosen for each shape.
#include "graph/plan/product_plan.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

enum { MULTIPROCESSORS = 132 }; // of an H100 and an H200
static const struct program_options on_gpu = {.target = "sm_90a"};

enum way { WHOLE, SPLIT }; // blocks of a persistent kernel
static const struct {
  int64_t batch, m, n, k;
  unsigned block_m, block_n; // 0: any
  enum way way;
  const char *why;
} choices[] = {
    // many blocks: the one with the highest rate
    {1, 4096, 4096, 4096, 128, 256, WHOLE, "four waves, the last one nearly full"},
    {1, 8192, 8192, 8192, 128, 256, WHOLE, "16 waves"},
    {1, 8192, 8192, 256, 128, 256, WHOLE, "short k"},
    {1, 8192, 8192, 512, 128, 256, WHOLE, "short k"},
    {1, 8192, 8192, 1024, 128, 256, WHOLE, "16 waves"},
    {1, 8192, 8192, 16384, 128, 256, WHOLE, "16 waves"},
    {1, 4096, 11008, 4096, 128, 256, WHOLE, "eleven waves, the last one half full"},
    {1, 11008, 4096, 4096, 0, 0, WHOLE, "the same"},
    {1, 2048, 2048, 2048, 128, 256, WHOLE, "128 blocks are one wave"},
    {1, 16384, 4096, 1024, 128, 256, WHOLE, "8 waves"},
    // one wave that is not full
    {1, 1024, 1024, 1024, 64, 128, WHOLE,
     "128 small blocks; to share sums takes longer than it saves"},
    {1, 512, 4096, 4096, 0, 0, WHOLE, "one wave of 128x128"},
    {1, 2048, 4096, 512, 0, 0, WHOLE, "short k"},
    {1, 1024, 4096, 1024, 0, 0, WHOLE, "short k"},
    {1, 768, 768, 768, 0, 0, WHOLE, "little to compute"},
    {1, 8192, 768, 768, 0, 0, WHOLE, "little to compute"},
    {1, 512, 768, 3072, 64, 64, WHOLE, "96 blocks, whose rings are 192 KB long"},
    {1, 128, 4096, 4096, 64, 64, WHOLE, "128 blocks with such rings"},
    {1, 1024, 1024, 16384, 64, 128, WHOLE, "128 blocks"},
    {1, 192, 3072, 12288, 0, 0, WHOLE, "72 blocks of 64x128"},
    // few blocks and a long k: all blocks are split
    {1, 256, 1024, 16384, 0, 0, SPLIT, "16 blocks of 128x128"},
    {1, 256, 256, 65536, 0, 0, SPLIT, "4 blocks"},
    {1, 64, 8192, 8192, 0, 0, WHOLE, "one row of blocks; weights from memory bound it"},
    {1, 512, 512, 8192, 0, 0, SPLIT, "16 blocks"},
    {1, 128, 128, 16384, 0, 0, SPLIT, "one block"},
    // blocks are left over behind whole waves, and k is long
    {1, 3000, 3000, 8192, 0, 0, SPLIT, "two waves and 24 blocks"},
    {1, 4096, 2304, 8192, 0, 0, SPLIT, "two waves and 24 blocks"},
    {1, 3072, 3072, 16384, 0, 0, SPLIT, "two waves and 24 blocks"},
    {1, 6144, 2816, 16384, 128, 256, WHOLE, "four full waves"},
    {1, 2304, 2048, 16384, 0, 0, SPLIT, "one wave and 12 blocks"},
    {1, 2560, 2560, 4096, 0, 0, WHOLE, "one wave and 68 blocks: to share takes longer"},
    // batches fill the device
    {16, 1024, 1024, 1024, 128, 256, WHOLE, "512 blocks"},
    {128, 2048, 2048, 128, 0, 0, WHOLE, "attention's scores: memory bounds it"},
    {128, 2048, 128, 2048, 0, 0, WHOLE, "attention's values: 2048 blocks of 128 columns"},
    {4, 256, 256, 8192, 0, 0, SPLIT, "16 blocks of 128x128"},
    {12, 64, 64, 64, 0, 0, WHOLE, "tiny"},
    {64, 512, 512, 512, 0, 0, WHOLE, "1024 blocks of 128x128"},
    // odd lengths that end within a block
    {1, 4095, 4096, 4096, 128, 256, WHOLE, "a row less is as many blocks"},
    {1, 4097, 4096, 4096, 128, 256, WHOLE, "a row more fills the fourth wave"},
    {1, 4225, 4096, 4096, 128, 128, WHOLE, "nine waves of half the size, the last one half full"},
    {1, 4096, 4096, 40, 0, 0, WHOLE, "k of less than a block"},
};

static struct product_shape shape_of(size_t i) {
  return (struct product_shape){.batch = choices[i].batch,
                                .m = choices[i].m,
                                .n = choices[i].n,
                                .k = choices[i].k,
                                .dtype = DTYPE_BF16,
                                .products = 1,
                                .may_split = true,
                                .may_split_blocks = true,
                                .has_tiles = true};
}

static const char *text_of(const struct product_plan *p, char text[static 100]) {
  snprintf(text, 100, "%ux%ux%u, %u warps, %u stages, split %u, %u a multiprocessor, %.1f us",
           p->block_m, p->block_n, p->block_k, p->num_warps, p->num_stages, p->split_k, p->resident,
           p->microseconds);
  return text;
}

// Blocks that are left over when each program has computed as many as the others, over programs.
static int64_t left_over(const struct product_shape *s, const struct product_plan *p) {
  int64_t blocks = (s->m + p->block_m - 1) / p->block_m * ((s->n + p->block_n - 1) / p->block_n);
  int64_t most = p->resident * MULTIPROCESSORS;
  blocks *= s->batch;
  return blocks % (blocks * p->split_k < most ? blocks * p->split_k : most);
}

START_TEST(shapes_have_reasons) {
  struct product_shape s = shape_of((size_t)_i);
  struct product_plan p = product_choose(&s, &on_gpu);
  char text[100];
  text_of(&p, text);
  if (getenv("TILE_TEST_PRINT"))
    fprintf(stderr, "%4lldx %5lldx%5lldx%5lld: %s (%s)\n", (long long)s.batch, (long long)s.m,
            (long long)s.n, (long long)s.k, text, choices[_i].why);
  if (choices[_i].block_m)
    ck_assert_msg(p.block_m == choices[_i].block_m && p.block_n == choices[_i].block_n, "%s", text);
  ck_assert_msg((p.split_k > 1) == (choices[_i].way == SPLIT), "%s", text);
  if (p.split_k > 1 && p.resident) // the parts are at most one wave, each some blocks of k
    ck_assert_msg(left_over(&s, &p) * p.split_k <= 2 * p.resident * MULTIPROCESSORS &&
                      p.split_k * 4 * p.block_k <= s.k + 4 * p.block_k,
                  "%s", text);
}
END_TEST

// TFLOP/s on an H100 (docs/performance.md), of 8192x2304x768 on an H200.
static const struct {
  int64_t m, n, k;
  double rate;
} measured[] = {{1024, 1024, 1024, 246}, {2048, 2048, 2048, 621},  {4096, 4096, 4096, 757},
                {8192, 8192, 8192, 747}, {8192, 8192, 256, 517},   {8192, 8192, 512, 608},
                {8192, 8192, 1024, 696}, {8192, 8192, 16384, 714}, {8192, 2304, 768, 594},
                {2048, 4096, 4096, 739}, {4096, 11008, 4096, 743}, {512, 4096, 4096, 567},
                {512, 768, 3072, 218},   {128, 4096, 4096, 200},   {256, 1024, 16384, 246},
                {512, 512, 512, 45}};

START_TEST(the_model_is_near_what_was_measured) {
  struct product_shape s = shape_of(0);
  s.m = measured[_i].m, s.n = measured[_i].n, s.k = measured[_i].k;
  struct product_plan p = product_choose(&s, &on_gpu);
  double rate = 2e-6 * (double)s.m * (double)s.n * (double)s.k / p.microseconds;
  if (getenv("TILE_TEST_PRINT"))
    fprintf(stderr, "%lldx%lldx%lld: %.0f TFLOP/s expected, %.0f measured\n", (long long)s.m,
            (long long)s.n, (long long)s.k, rate, measured[_i].rate);
  ck_assert_double_ge(rate, 0.88 * measured[_i].rate);
  ck_assert_double_le(rate, 1.12 * measured[_i].rate);
}
END_TEST

// Memory for parts may be bounded.
START_TEST(parts_fit_the_memory_they_may_use) {
  struct product_shape s = {.batch = 1,
                            .m = 256,
                            .n = 1024,
                            .k = 16384,
                            .dtype = DTYPE_F16,
                            .products = 1,
                            .may_split_blocks = true,
                            .has_tiles = true};
  struct program_options o = on_gpu;
  o.bounds_parts = true;
  o.parts_bytes = 4 << 20;
  struct product_plan p = product_choose(&s, &o);
  ck_assert_uint_gt(p.split_k, 1);
  ck_assert_int_le(4 * p.split_k * left_over(&s, &p) * p.block_m * p.block_n, o.parts_bytes);
  o.parts_bytes = 0;
  ck_assert_uint_eq(product_choose(&s, &o).split_k, 1);
}
END_TEST

// Two products with a common operand have no split.
START_TEST(pairs_are_whole) {
  struct product_shape s = {.batch = 1,
                            .m = 256,
                            .n = 1024,
                            .k = 16384,
                            .dtype = DTYPE_F16,
                            .products = 2,
                            .has_tiles = true};
  ck_assert_uint_eq(product_choose(&s, &on_gpu).split_k, 1);
}
END_TEST

// Blocks of b whose rows straddle lines are loaded once for two programs, where these are
// neighbours in all columns of blocks.
START_TEST(clusters_share_rows_that_straddle_lines) {
  struct product_shape s = shape_of(0);
  ck_assert_uint_eq(product_choose(&s, &on_gpu).num_ctas, 1);
  s.b_straddles = true;
  struct product_plan shared = product_choose(&s, &on_gpu);
  ck_assert_uint_eq(shared.num_ctas, 2);
  s.m -= 128; // 31 blocks of 128 rows
  struct product_plan odd = product_choose(&s, &on_gpu);
  ck_assert(odd.num_ctas == 1 || (s.m + odd.block_m - 1) / odd.block_m % 2 == 0);
  s.m += 128;
  s.a_straddles = true; // of a, whose blocks are not shared, it takes longer
  ck_assert_double_gt(product_choose(&s, &on_gpu).microseconds, shared.microseconds);
  s.b_straddles = false;
  ck_assert_uint_eq(product_choose(&s, &on_gpu).num_ctas, 1);
}
END_TEST

// On a processor operands are packed into caches, and cores share what there is.
START_TEST(processors_have_large_blocks) {
  enum { CACHE = 512 << 10, BYTES = 4 };
  static const int64_t shapes[][3] = {
      {1, 1, 1},        {9, 24, 4100},      {100, 3, 70},
      {512, 768, 3072}, {1024, 1024, 1024}, {64, 50257, 768},
  };
  for (size_t i = 0; i < COUNT_OF(shapes); i++) {
    struct product_shape s = {.batch = 1,
                              .m = shapes[i][0],
                              .n = shapes[i][1],
                              .k = shapes[i][2],
                              .dtype = DTYPE_F32,
                              .products = 1,
                              .may_split = true};
    struct program_options few = {.target = "cpu", .multiprocessors = 2};
    struct program_options many = {.target = "cpu", .multiprocessors = 64};
    struct product_plan p = product_choose(&s, &few), q = product_choose(&s, &many);
    ck_assert(p.masks_edges && !p.resident && p.num_stages == 1);
    ck_assert(is_pow2(p.block_m) && is_pow2(p.block_n) && is_pow2(p.block_k));
    unsigned elements = p.block_m * p.block_k + p.block_k * p.block_n + p.block_m * p.block_n;
    ck_assert_uint_le(BYTES * elements, CACHE);
    ck_assert(p.block_m < 2 * s.m || p.block_m == 16);
    ck_assert(p.block_n < 2 * s.n || p.block_n == 16);
    ck_assert_double_le(q.microseconds, p.microseconds);
    if (s.m * s.n >= 512 * 512)
      ck_assert_uint_ge(p.block_m * p.block_n, 128 * 64);
    if (i == 1)
      ck_assert_uint_gt(q.split_k, p.split_k); // one block, and a long k
  }
}
END_TEST

// Few rows: one block of all of them, and blocks of weights as these lie in memory.
START_TEST(processors_read_weights_in_order) {
  static const struct program_options two = {.target = "cpu", .multiprocessors = 2};
  for (int64_t m = 1; m <= 16; m += 5) {
    struct product_shape s = {
        .batch = 1, .m = m, .n = 3000, .k = 5000, .dtype = DTYPE_BF16, .products = 1};
    struct product_plan rows = product_choose(&s, &two);
    s.b_runs_along_k = true;
    struct product_plan columns = product_choose(&s, &two);
    ck_assert(rows.block_m >= m && rows.block_m < 2 * m && columns.block_m == rows.block_m);
    ck_assert(rows.block_n >= 512 && rows.block_k <= 32);
    ck_assert(columns.block_k >= 512 && columns.block_n <= 64);
    s.dtype = DTYPE_I8; // bytes along n are packed
    s.b_runs_along_k = false;
    ck_assert_uint_ge(product_choose(&s, &two).block_k, 128);
  }
}
END_TEST

// Blocks of processors compute little more of k than there is: less than 32 or a sixth.
START_TEST(processors_round_k_little) {
  static const int64_t lengths[] = {33, 80, 144, 224, 272, 300, 336, 544, 608, 1000};
  static const struct program_options one = {.target = "cpu", .multiprocessors = 1};
  for (size_t i = 0; i < COUNT_OF(lengths); i++) {
    struct product_shape s = {
        .batch = 1, .m = 96, .n = 200, .k = lengths[i], .dtype = DTYPE_F32, .products = 1};
    struct product_plan p = product_choose(&s, &one);
    int64_t whole = (s.k + p.block_k - 1) / p.block_k * p.block_k;
    ck_assert_msg(whole - s.k < 32 || 6 * (whole - s.k) <= s.k, "k %lld in blocks of %u",
                  (long long)s.k, p.block_k);
  }
  struct product_shape s = {
      .batch = 1, .m = 96, .n = 200, .k = 1024, .dtype = DTYPE_F32, .products = 1};
  ck_assert_uint_ge(product_choose(&s, &one).block_k, 128);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("blocks of products");
  TCase *c = tcase_create("choices");
  tcase_add_loop_test(c, shapes_have_reasons, 0, (int)COUNT_OF(choices));
  tcase_add_loop_test(c, the_model_is_near_what_was_measured, 0, (int)COUNT_OF(measured));
  tcase_add_test(c, parts_fit_the_memory_they_may_use);
  tcase_add_test(c, pairs_are_whole);
  tcase_add_test(c, clusters_share_rows_that_straddle_lines);
  tcase_add_test(c, processors_have_large_blocks);
  tcase_add_test(c, processors_read_weights_in_order);
  tcase_add_test(c, processors_round_k_little);
  suite_add_tcase(suite, c);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}
