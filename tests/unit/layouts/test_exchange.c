// SPDX-License-Identifier: Apache-2.0
// Exchanges through shared memory, performed: store, load, compare; and every access counted for
// bank conflicts.
#include "generate.h"
#include "layouts/banks.h"
#include "layouts/exchange_plan.h"
#include "suites.h"

enum { MAX_ELEMENTS = 1 << 12, NOTHING = MAX_ELEMENTS };

static uint32_t offset_of(const struct exchange_side *s, uint32_t reg, uint32_t lane,
                          uint32_t warp) {
  return element_of(&s->offsets, reg, lane, warp);
}

static uint32_t register_in_vector(const struct exchange_side *s, unsigned vec_bits, uint32_t r,
                                   uint32_t i) {
  for (unsigned k = 0; k < vec_bits; k++)
    r += (i >> k & 1) << s->vec_register[k];
  return r;
}

// Runs one side for all threads; returns the wavefronts beyond one a group of lanes.
static unsigned run_side(const struct exchange_side *s, const struct linear_layout *layout,
                         unsigned element_bits, bool store, uint32_t *memory) {
  unsigned conflicts = 0, bytes = (element_bits / 8) << s->vec_bits;
  uint32_t lanes = ll_in_size(layout, LL_LANE), size = 1u << ll_total_out_bits(layout);
  for (uint32_t warp = 0; warp < ll_in_size(layout, LL_WARP); warp++)
    for (uint32_t r = 0; r < ll_in_size(layout, LL_REGISTER); r++) {
      if (r & s->skip_mask)
        continue;
      uint32_t address[32];
      for (uint32_t lane = 0; lane < lanes; lane++) {
        uint32_t offset = offset_of(s, r, lane, warp);
        EXPECT(offset % (1u << s->vec_bits) == 0);
        address[lane] = offset * (element_bits / 8);
        for (uint32_t i = 0; i < 1u << s->vec_bits; i++) {
          uint32_t reg = register_in_vector(s, s->vec_bits, r, i);
          uint32_t element = element_of(layout, reg, lane, warp);
          EXPECT(offset + i < size);
          if (store)
            memory[offset + i] = element;
          else
            EXPECT(memory[offset + i] == element);
        }
      }
      unsigned groups = bytes > 4 ? (lanes * bytes + 127) / 128 : 1;
      conflicts += bank_wavefronts(address, lanes, bytes) - groups;
    }
  return conflicts;
}

static void check(const struct linear_layout *src, const struct linear_layout *dst,
                  unsigned element_bits, struct exchange_plan *p) {
  static uint32_t memory[MAX_ELEMENTS];
  EXPECT(exchange_plan_make(src, dst, element_bits, p));
  EXPECT((element_bits / 8) << p->store.vec_bits <= 16);
  EXPECT((element_bits / 8) << p->load.vec_bits <= 16);
  uint32_t size = 1u << ll_total_out_bits(src);
  for (uint32_t i = 0; i < size; i++)
    memory[i] = NOTHING;
  EXPECT(run_side(&p->store, src, element_bits, true, memory) == 0);
  for (uint32_t i = 0; i < size; i++)
    EXPECT(memory[i] != NOTHING);
  EXPECT(run_side(&p->load, dst, element_bits, false, memory) == 0);
}

START_TEST(random_pairs) {
  struct random r = {41};
  unsigned vectors = 0;
  for (int round = 0; round < 600; round++) {
    bool simple = random_below(&r, 4) != 0;
    unsigned lanes = random_below(&r, 4) ? 5 : 3, out = random_below(&r, 11);
    unsigned a[LL_NO_IN] = {random_below(&r, 3), lanes, random_below(&r, 3)};
    unsigned b[LL_NO_IN] = {random_below(&r, 3), lanes, a[LL_WARP]};
    while (a[0] + lanes + a[LL_WARP] < out + 1)
      a[0]++;
    while (b[0] + lanes + b[LL_WARP] < out + 1)
      b[0]++;
    struct linear_layout shape = random_layout(&r, (unsigned[LL_NO_IN]){0}, out, true);
    struct linear_layout src = random_surjective(&r, a, &shape, simple);
    struct linear_layout dst = random_surjective(&r, b, &shape, simple);
    struct exchange_plan p;
    check(&src, &dst, 8u << random_below(&r, 4), &p);
    vectors += p.store.vec_bits > 0;
  }
  ck_assert_uint_gt(vectors, 50);
}
END_TEST

// Conversions of kernels, and how wide they go.
START_TEST(known) {
  struct arena *a = arena_create();
  static const char row[] = "blocked<{order=[1,0], size_per_thread=[1,4], threads_per_warp=[8,4], "
                            "warps_per_cta=[4,1]}>";
  static const char column[] = "blocked<{order=[0,1], size_per_thread=[4,1], "
                               "threads_per_warp=[16,2], warps_per_cta=[1,4]}>";
  static const char wide[] = "blocked<{order=[1,0], size_per_thread=[1,8], threads_per_warp=[4,8], "
                             "warps_per_cta=[2,2]}>";
  static const char mma[] = "mma<{version=2, instr_shape=[16,8], warps_per_cta=[2,2]}>";
  static const char dot[] = "dot_op<{op_idx=0, k_width=2, parent=mma<{version=2, "
                            "instr_shape=[16,8], warps_per_cta=[2,2]}>}>";
  const struct {
    const char *src, *dst;
    unsigned bits, vec_bits;
  } cases[] = {
      {row, wide, 32, 2},   // four floats
      {row, wide, 16, 3},   // the repeated register, too
      {row, column, 32, 2}, // no common run, but common registers further up
      {mma, row, 32, 2},    {wide, dot, 16, 3}, {row, row, 64, 1}, {mma, wide, 8, 3},
  };
  const int64_t shape[] = {64, 64};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct linear_layout src = linear_must(a, cases[i].src, 2, shape);
    struct linear_layout dst = linear_must(a, cases[i].dst, 2, shape);
    struct exchange_plan p;
    check(&src, &dst, cases[i].bits, &p);
    ck_assert_msg(p.store.vec_bits == cases[i].vec_bits, "case %zu: %u", i, p.store.vec_bits);
    ck_assert_uint_ge(p.load.vec_bits, cases[i].vec_bits);
    ck_assert(ll_is_injective(&p.shared) && ll_is_surjective(&p.shared));
  }
  arena_destroy(a);
}
END_TEST

// Every element goes in one round, stored and loaded by those who take part.
static unsigned check_rounds(const struct linear_layout *src, const struct linear_layout *dst,
                             unsigned element_bits) {
  static uint32_t round_of[1 << 17];
  struct exchange_rounds x;
  exchange_rounds_of(src, dst, element_bits, &x);
  EXPECT(x.bytes == ((element_bits / 8) << ll_total_out_bits(src)) >> x.bits);
  const struct linear_layout *whole[] = {src, dst};
  const struct exchange_share *share[] = {&x.store, &x.load};
  for (int side = 0; side < 2; side++) {
    const struct linear_layout *part = &share[side]->layout;
    uint32_t seen = 0;
    EXPECT(ll_total_out_bits(part) + x.bits == ll_total_out_bits(src));
    for (uint32_t round = 0; round < 1u << x.bits; round++)
      for (uint32_t warp = 0; warp < ll_in_size(part, LL_WARP); warp++) {
        bool takes_part = true;
        for (unsigned i = 0; i < x.bits; i++) {
          uint32_t mask = share[side]->of_warp[i];
          takes_part &= !mask || ((warp & mask) != 0) == (round >> i & 1);
        }
        for (uint32_t r = 0; takes_part && r < ll_in_size(part, LL_REGISTER); r++)
          for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t reg = exchange_round_register(share[side], x.bits, round, r);
            uint32_t e = element_of(whole[side], reg, lane, warp);
            if (side == 0)
              round_of[e] = round;
            EXPECT(round_of[e] == round);
            seen++;
          }
      }
    EXPECT(seen == 1u << ll_total_in_bits(whole[side]));
  }
  struct exchange_plan p;
  EXPECT(exchange_plan_make(&x.store.layout, &x.load.layout, element_bits, &p));
  return x.bits;
}

START_TEST(rounds) {
  struct arena *a = arena_create();
  static const char row[] = "blocked<{order=[1,0], size_per_thread=[1,4], threads_per_warp=[1,32], "
                            "warps_per_cta=[4,1]}>";
  static const char column[] = "blocked<{order=[0,1], size_per_thread=[4,1], "
                               "threads_per_warp=[32,1], warps_per_cta=[1,4]}>";
  static const char other[] =
      "blocked<{order=[1,0], size_per_thread=[1,8], threads_per_warp=[4,8], "
      "warps_per_cta=[4,1]}>";
  const struct {
    const char *src, *dst;
    unsigned bits, rounds; // log2
  } cases[] = {
      {row, column, 32, 1}, {row, column, 64, 2}, {row, column, 16, 0},
      {row, other, 32, 1},  {other, row, 64, 2},  {row, row, 64, 2},
  };
  const int64_t shape[] = {128, 128};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct linear_layout src = linear_must(a, cases[i].src, 2, shape);
    struct linear_layout dst = linear_must(a, cases[i].dst, 2, shape);
    ck_assert_uint_eq(check_rounds(&src, &dst, cases[i].bits), cases[i].rounds);
  }
  arena_destroy(a);
}
END_TEST

START_TEST(refused) {
  unsigned small[] = {2}, large[] = {3};
  struct linear_layout a = ll_identity(LL_LANE, 2, 1, 0), b = ll_identity(LL_LANE, 3, 1, 0);
  struct linear_layout holes = ll_empty(1, small), more = ll_empty(1, large);
  struct exchange_plan p;
  ck_assert(exchange_plan_make(&a, &a, 32, &p));
  ck_assert(!exchange_plan_make(&a, &b, 32, &p));
  ck_assert(!exchange_plan_make(&a, &holes, 32, &p));
  ck_assert(!exchange_plan_make(&more, &b, 32, &p));
  ck_assert(!exchange_plan_make(&a, &a, 1, &p));
  ck_assert(!exchange_plan_make(&a, &a, 128, &p));
}
END_TEST

TCase *exchange_tests(void) {
  TCase *t = tcase_create("exchange");
  tcase_add_test(t, random_pairs);
  tcase_add_test(t, known);
  tcase_add_test(t, rounds);
  tcase_add_test(t, refused);
  return t;
}
