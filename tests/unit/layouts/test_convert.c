// SPDX-License-Identifier: Apache-2.0
// Conversion plans and shuffle schedules, by filling registers with element numbers, performing
// the plan, and looking whether every destination register holds its element.
#include "generate.h"
#include "layouts/convert_plan.h"
#include "layouts/shuffle_plan.h"
#include "suites.h"

enum { MAX_REGISTERS = 256, LANES = 32 };

static uint32_t parity(uint32_t x) { return (uint32_t)__builtin_parity(x); }

// Every destination index is told a source index that holds its element.
static void check_source_of(const struct linear_layout *src, const struct linear_layout *dst,
                            const struct convert_plan *p) {
  for (uint32_t i = 0; i < input_count(&p->source_of); i++) {
    uint32_t to[LL_NO_IN], at[LL_MAX_OUT] = {0};
    input_at(&p->source_of, i, to);
    ll_apply(&p->source_of, to, at);
    EXPECT(element_of(src, at[0], at[1], at[2]) == element_at(dst, to));
    if (p->kind == CONVERT_NOTHING)
      EXPECT(at[0] == to[LL_REGISTER]);
    if (p->kind == CONVERT_NOTHING || p->kind == CONVERT_REGISTERS)
      EXPECT(at[1] == to[LL_LANE]);
    if (p->kind != CONVERT_SHARED)
      EXPECT(at[2] == to[LL_WARP]);
    if (p->kind == CONVERT_REGISTERS) { // the same renaming in every thread
      uint32_t only_register[LL_NO_IN] = {[LL_REGISTER] = to[LL_REGISTER]}, same[LL_MAX_OUT];
      ll_apply(&p->source_of, only_register, same);
      EXPECT(same[0] == at[0]);
    }
  }
}

static void run_stages(const struct shuffle_stage *stages, unsigned count, uint32_t thread,
                       uint32_t registers, uint32_t *x) {
  for (unsigned i = 0; i < count; i++) {
    uint32_t old[MAX_REGISTERS];
    memcpy(old, x, registers * sizeof *x);
    for (uint32_t k = 0; k < registers; k++)
      x[k] = parity(thread & stages[i].thread_mask) ? old[k ^ stages[i].flip] : old[k];
  }
}

// One warp executes the schedule; returns the number of shuffles.
static unsigned run_warp(const struct shuffle_plan *s, const struct linear_layout *src,
                         const struct linear_layout *dst, unsigned lanes, uint32_t warp) {
  static uint32_t x[LANES][MAX_REGISTERS], y[LANES][MAX_REGISTERS];
  uint32_t from = 1u << s->src_bits, to = 1u << s->dst_bits;
  ck_assert(from <= MAX_REGISTERS && to <= MAX_REGISTERS);
  for (uint32_t lane = 0; lane < lanes; lane++) {
    for (uint32_t r = 0; r < from; r++)
      x[lane][r] = element_of(src, r, lane, warp);
    run_stages(s->pre, s->pre_count, warp * 32 + lane, from, x[lane]);
  }
  unsigned shuffles = 0;
  for (uint32_t r = 0; r < to; r++) {
    struct shuffle_round round = shuffle_plan_round(s, r);
    EXPECT(round.same_as <= r);
    if (round.same_as == r && !round.is_move)
      shuffles += 1u << s->choice_count;
    for (uint32_t lane = 0; lane < lanes; lane++) {
      uint32_t thread = warp * 32 + lane, read = round.lane_flip, send = round.send;
      for (unsigned i = 0; i < SHUFFLE_LANE_BITS; i++)
        read ^= parity(thread & s->lane_mask[i]) << i;
      EXPECT(read < lanes);
      if (round.is_move)
        EXPECT(read == lane);
      for (unsigned i = 0; i < s->choice_count; i++)
        send ^= parity(thread & s->choice[i].thread_mask) ? s->choice[i].flip : 0;
      EXPECT(send < from);
      y[lane][r] = x[read][send];
      EXPECT(y[lane][r] == y[lane][round.same_as]);
    }
  }
  for (uint32_t lane = 0; lane < lanes; lane++) {
    run_stages(s->post, s->post_count, warp * 32 + lane, to, y[lane]);
    for (uint32_t r = 0; r < to; r++)
      EXPECT(y[lane][r] == element_of(dst, r, lane, warp));
  }
  return shuffles;
}

static void run_schedule(const struct linear_layout *src, const struct linear_layout *dst,
                         const struct convert_plan *p, struct shuffle_plan *s) {
  for (uint32_t warp = 0; warp < ll_in_size(&p->source_of, LL_WARP); warp++)
    ck_assert_uint_eq(run_warp(s, src, dst, ll_in_size(&p->source_of, LL_LANE), warp),
                      shuffle_plan_shuffles(s));
}

static void check_pair(const struct linear_layout *src, const struct linear_layout *dst,
                       unsigned seen[4], unsigned *ret_schedules, unsigned *ret_choices) {
  struct convert_plan p;
  ck_assert(convert_plan_make(src, dst, &p));
  check_source_of(src, dst, &p);
  seen[p.kind]++;
  struct shuffle_plan s;
  bool inside = shuffle_plan_make(&p, &s);
  ck_assert(inside || p.kind == CONVERT_SHARED);
  if (inside) {
    run_schedule(src, dst, &p, &s);
    ++*ret_schedules;
    *ret_choices += s.choice_count > 0;
  }
}

START_TEST(random_pairs) {
  struct random r = {7};
  unsigned seen[4] = {0}, schedules = 0, choices = 0;
  for (int round = 0; round < 1500; round++) {
    bool simple = random_below(&r, 4) != 0;
    unsigned lanes = 1 + random_below(&r, 5), warps = random_below(&r, 3) ? 0 : random_below(&r, 3);
    unsigned out = random_below(&r, simple ? 8 : 6);
    unsigned a[LL_NO_IN] = {random_below(&r, 6), lanes, warps};
    unsigned b[LL_NO_IN] = {random_below(&r, 6), lanes, warps};
    while (a[0] + lanes + warps < out + 1)
      a[0]++;
    while (b[0] + lanes + warps < out + 1)
      b[0]++;
    struct linear_layout shape = random_layout(&r, (unsigned[LL_NO_IN]){0}, out, true);
    struct linear_layout src = random_surjective(&r, a, &shape, simple);
    struct linear_layout dst = random_surjective(&r, b, &shape, simple);
    check_pair(&src, &dst, seen, &schedules, &choices);
    check_pair(&src, &src, seen, &schedules, &choices);
  }
  // The sample has all kinds, and schedules that need choices.
  for (int kind = 0; kind < 4; kind++)
    ck_assert_uint_gt(seen[kind], 50);
  ck_assert_uint_gt(schedules, 1000);
  ck_assert_uint_gt(choices, 5);
}
END_TEST

// Conversions that kernels do, and what they should take.
START_TEST(known) {
  struct arena *a = arena_create();
  const struct {
    const char *src, *dst;
    int64_t shape[2];
    enum convert_kind kind;
  } cases[] = {
      {"blocked<{order=[1,0], size_per_thread=[1,4], threads_per_warp=[8,4], warps_per_cta=[4,1]}>",
       "blocked<{order=[1,0], size_per_thread=[1,4], threads_per_warp=[8,4], warps_per_cta=[4,1]}>",
       {32, 16},
       CONVERT_NOTHING},
      // Registers alone: the same threads, counted along the other dimension first.
      {"blocked<{order=[1,0], size_per_thread=[2,2], threads_per_warp=[8,4], warps_per_cta=[1,1]}>",
       "linear<{register=[[1,0],[0,1]], lane=[[0,2],[0,4],[2,0],[4,0],[8,0]], warp=[], block=[]}>",
       {16, 8},
       CONVERT_REGISTERS},
      // An accumulator of mma.sync is its own A operand, up to registers' names.
      {"mma<{version=2, instr_shape=[16,8], warps_per_cta=[4,1]}>",
       "dot_op<{op_idx=0, k_width=2, parent=mma<{version=2, instr_shape=[16,8], "
       "warps_per_cta=[4,1]}>}>",
       {64, 16},
       CONVERT_NOTHING},
      // A transpose inside a warp.
      {"blocked<{order=[1,0], size_per_thread=[1,4], threads_per_warp=[8,4], warps_per_cta=[1,1]}>",
       "blocked<{order=[0,1], size_per_thread=[4,1], threads_per_warp=[2,16], "
       "warps_per_cta=[1,1]}>",
       {8, 16},
       CONVERT_SHUFFLES},
      // Rows move between warps.
      {"blocked<{order=[1,0], size_per_thread=[1,4], threads_per_warp=[8,4], warps_per_cta=[4,1]}>",
       "blocked<{order=[1,0], size_per_thread=[1,4], threads_per_warp=[8,4], warps_per_cta=[1,4]}>",
       {32, 64},
       CONVERT_SHARED},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct linear_layout src = linear_must(a, cases[i].src, 2, cases[i].shape);
    struct linear_layout dst = linear_must(a, cases[i].dst, 2, cases[i].shape);
    struct convert_plan p;
    struct shuffle_plan s;
    ck_assert(convert_plan_make(&src, &dst, &p));
    check_source_of(&src, &dst, &p);
    ck_assert_msg(p.kind == cases[i].kind, "case %zu: kind %d", i, (int)p.kind);
    ck_assert_int_eq(shuffle_plan_make(&p, &s), p.kind != CONVERT_SHARED);
    if (p.kind != CONVERT_SHARED)
      run_schedule(&src, &dst, &p, &s);
    if (p.kind < CONVERT_SHUFFLES) {
      ck_assert_uint_eq(convert_plan_cost(&p, 32), 0);
      ck_assert_uint_eq(shuffle_plan_shuffles(&s), 0);
    } else {
      ck_assert_uint_gt(convert_plan_cost(&p, 32), 0);
      ck_assert_uint_ge(convert_plan_cost(&p, 64), convert_plan_cost(&p, 32));
    }
  }
  arena_destroy(a);
}
END_TEST

// An untangled transpose takes one shuffle a register, not one for each pair of registers.
START_TEST(transpose_cost) {
  struct arena *a = arena_create();
  const int64_t shape[] = {8, 16};
  struct linear_layout src = linear_must(
      a,
      "blocked<{order=[1,0], size_per_thread=[1,4], threads_per_warp=[8,4], warps_per_cta=[1,1]}>",
      2, shape);
  struct linear_layout dst = linear_must(
      a,
      "blocked<{order=[0,1], size_per_thread=[4,1], threads_per_warp=[2,16], warps_per_cta=[1,1]}>",
      2, shape);
  struct convert_plan p;
  struct shuffle_plan s;
  ck_assert(convert_plan_make(&src, &dst, &p));
  ck_assert(shuffle_plan_make(&p, &s));
  ck_assert_uint_eq(s.choice_count, 0);
  ck_assert_uint_le(shuffle_plan_shuffles(&s), 4);
  arena_destroy(a);
}
END_TEST

START_TEST(refused) {
  unsigned small[] = {2}, large[] = {3};
  struct linear_layout a = ll_empty(1, small), b = ll_empty(1, large);
  struct convert_plan p;
  ck_assert(!convert_plan_make(&a, &b, &p));
  // A source without the element: not surjective.
  struct linear_layout holes = ll_empty(1, small), all = ll_identity(LL_LANE, 2, 1, 0);
  ck_assert(!convert_plan_make(&holes, &all, &p));
}
END_TEST

TCase *convert_tests(void) {
  TCase *t = tcase_create("convert");
  tcase_add_test(t, random_pairs);
  tcase_add_test(t, known);
  tcase_add_test(t, transpose_cost);
  tcase_add_test(t, refused);
  return t;
}
