// SPDX-License-Identifier: Apache-2.0
// Plans of reductions, performed by all threads of a CTA in step: a value is the set of elements
// that it stands for. Two sets that are combined must be disjoint parts of one group, and
// neighbours in the right order where the plan is ordered; in the end every holder has the whole
// group.
#include "generate.h"
#include "layouts/convert_plan.h"
#include "layouts/reduce_plan.h"
#include "suites.h"

enum { MAX_REGISTERS = 512, LANES = 32, MAX_WARPS = 8, MAX_THREADS = LANES * MAX_WARPS };

// Elements along the axis (bit i: coordinate i), of the group at `other`.
struct part {
  uint64_t set;
  uint32_t other;
};

static struct part x[MAX_THREADS][MAX_REGISTERS];

static bool odd(uint32_t v) { return __builtin_parity(v); }

static bool is_run(uint64_t set) {
  uint64_t low = set & (0 - set);
  return ((set + low) & set) == 0;
}

static struct part combine(struct part lhs, struct part rhs, bool ordered) {
  EXPECT(lhs.other == rhs.other);
  EXPECT((lhs.set & rhs.set) == 0 && lhs.set != 0 && rhs.set != 0);
  if (ordered)
    EXPECT(lhs.set < rhs.set && is_run(lhs.set | rhs.set));
  return (struct part){lhs.set | rhs.set, lhs.other};
}

static struct part in_order(const struct reduce_step *s, uint32_t r, uint32_t thread,
                            struct part own, struct part other, bool ordered) {
  bool later = odd(r & s->order_register) ^ odd(thread & s->order_thread);
  return later ? combine(other, own, ordered) : combine(own, other, ordered);
}

static uint32_t with_bit(uint32_t r, unsigned bit, uint32_t set) {
  uint32_t low = (1u << bit) - 1;
  return (r & ~low) << 1 | set << bit | (r & low);
}

static void run_step(const struct reduce_step *s, uint32_t threads, uint32_t count, bool ordered) {
  static struct part y[MAX_THREADS][MAX_REGISTERS];
  uint32_t after = s->kind == REDUCE_LANES ? count : count / 2;
  for (uint32_t t = 0; t < threads; t++)
    for (uint32_t to = 0; to < after; to++) {
      uint32_t partner = t ^ s->lane, own_keeps = t >> s->keep_lane & 1;
      switch (s->kind) {
      case REDUCE_REGISTERS: {
        uint32_t r = with_bit(to, s->drop, 0);
        EXPECT(s->lane == 0 && (r ^ s->reg) < count && (s->reg >> s->drop & 1));
        y[t][to] = in_order(s, r, t, x[t][r], x[t][r ^ s->reg], ordered);
        break;
      }
      case REDUCE_LANES:
        EXPECT((to ^ s->reg) < count);
        y[t][to] = in_order(s, to, t, x[t][to], x[partner][to ^ s->reg], ordered);
        break;
      case REDUCE_SCATTER:
        EXPECT((to ^ s->reg) < after && (s->lane >> s->keep_lane & 1));
        y[t][to] = in_order(s, to, t, x[t][with_bit(to, s->drop, own_keeps)],
                            x[partner][with_bit(to ^ s->reg, s->drop, own_keeps)], ordered);
        break;
      }
    }
  for (uint32_t t = 0; t < threads; t++)
    memcpy(x[t], y[t], after * sizeof x[t][0]);
}

static uint32_t run_phase(const struct reduce_phase *p, uint32_t threads, bool ordered) {
  uint32_t count = 1u << p->register_bits, lanes = 0;
  for (unsigned i = 0; i < p->count; i++) {
    run_step(&p->step[i], threads, count, ordered);
    count /= p->step[i].kind == REDUCE_LANES ? 1 : 2;
    lanes |= p->step[i].kind == REDUCE_LANES ? p->step[i].lane : 0;
  }
  EXPECT(count == ll_in_size(&p->partial, LL_REGISTER));
  if (p->whole_warp)
    EXPECT(lanes == LANES - 1);
  return count;
}

// The group (other coordinates, row-major) and the coordinate along the axis.
static void split(const struct linear_layout *l, unsigned axis, uint32_t reg, uint32_t thread,
                  uint32_t *ret_other, uint32_t *ret_along) {
  uint32_t index[LL_NO_IN] = {
      [LL_REGISTER] = reg, [LL_LANE] = thread % LANES, [LL_WARP] = thread / LANES};
  uint32_t at[LL_MAX_OUT], other = 0;
  ll_apply(l, index, at);
  for (unsigned d = 0; d < l->out_count; d++)
    if (d != axis)
      other = other << l->out_bits[d] | at[d];
  *ret_other = other;
  *ret_along = at[axis];
}

// Partial results by way of memory, into the layout that the last steps start from.
static void exchange(const struct reduce_plan *p, uint32_t threads, uint32_t count) {
  static struct part memory[1 << 12];
  const struct linear_layout *from = &p->local.partial;
  unsigned bits = from->out_bits[p->axis];
  uint32_t other, along;
  memset(memory, 0, sizeof memory);
  for (uint32_t t = 0; t < threads; t++)
    for (uint32_t r = 0; r < count; r++) {
      split(from, p->axis, r, t, &other, &along);
      struct part *offset = &memory[other << bits | along];
      EXPECT(offset->set == 0 || (offset->set == x[t][r].set && offset->other == x[t][r].other));
      *offset = x[t][r];
    }
  EXPECT(p->last.register_bits == ll_in_bits(&p->spread, LL_REGISTER));
  for (uint32_t t = 0; t < threads; t++)
    for (uint32_t r = 0; r < ll_in_size(&p->spread, LL_REGISTER); r++) {
      split(&p->spread, p->axis, r, t, &other, &along);
      x[t][r] = memory[other << bits | along];
      EXPECT(x[t][r].set != 0);
    }
}

// Performs the plan; returns what it is made of.
struct made_of {
  unsigned registers, lanes, scatters, exchanges;
};

static void run_plan(const struct reduce_plan *p, const struct linear_layout *src,
                     const struct linear_layout *dst, bool ordered, struct made_of *seen) {
  uint32_t threads = LANES * ll_in_size(src, LL_WARP), all = 1u << src->out_bits[p->axis];
  uint32_t count = 1u << p->local.register_bits, along;
  for (uint32_t t = 0; t < threads; t++)
    for (uint32_t r = 0; r < count; r++) {
      uint32_t from = 0;
      for (unsigned b = 0; b < p->local.register_bits; b++)
        from |= (r >> b & 1) << p->start_bit[b];
      split(src, p->axis, from, t, &x[t][r].other, &along);
      x[t][r].set = 1ull << along;
    }
  count = run_phase(&p->local, threads, ordered);
  if (p->exchanges) {
    exchange(p, threads, count);
    count = run_phase(&p->last, threads, ordered);
  }
  for (unsigned i = 0; i < p->local.count; i++) {
    seen->registers += p->local.step[i].kind == REDUCE_REGISTERS;
    seen->lanes += p->local.step[i].kind == REDUCE_LANES;
    seen->scatters += p->local.step[i].kind == REDUCE_SCATTER;
  }
  seen->exchanges += p->exchanges;
  struct convert_plan convert;
  EXPECT(count == ll_in_size(&p->result, LL_REGISTER));
  EXPECT(convert_plan_make(&p->result, dst, &convert));
  for (uint32_t t = 0; t < threads; t++)
    for (uint32_t r = 0; r < count; r++) {
      EXPECT(x[t][r].set == (all == 64 ? UINT64_MAX : (1ull << all) - 1));
      EXPECT(x[t][r].other == element_of(&p->result, r, t % LANES, t / LANES));
    }
}

static struct linear_layout sliced(const struct linear_layout *l, unsigned axis) {
  struct linear_layout r = ll_remove_out(l, axis);
  return ll_remove_zero_bases(&r, LL_REGISTER);
}

START_TEST(random_layouts) {
  struct random r = {3};
  struct made_of seen = {0};
  for (int round = 0; round < 1500; round++) {
    bool simple = random_below(&r, 4) != 0;
    unsigned warps = random_below(&r, 4), out = 1 + random_below(&r, 9);
    unsigned bits[LL_NO_IN] = {random_below(&r, 4), 5, warps};
    while (bits[0] + 5 + warps < out + 1)
      bits[0]++;
    struct linear_layout shape = random_layout(&r, (unsigned[LL_NO_IN]){0}, out, true);
    struct linear_layout src = random_surjective(&r, bits, &shape, simple);
    unsigned axis = random_below(&r, src.out_count);
    if (src.out_bits[axis] > 6) // sets are of 64 elements
      continue;
    ll_add_in(&src, LL_REGISTER);
    struct linear_layout dst = sliced(&src, axis);
    struct reduce_request q = {.count = 1 + random_below(&r, 3), .ordered = random_below(&r, 2)};
    for (unsigned i = 0; i < q.count; i++)
      q.bits[i] = 8u << random_below(&r, 4);
    struct reduce_plan p;
    EXPECT(reduce_plan_make(&src, axis, &dst, &q, &p));
    run_plan(&p, &src, &dst, q.ordered, &seen);
  }
  ck_assert_uint_gt(seen.registers, 500);
  ck_assert_uint_gt(seen.lanes, 500);
  ck_assert_uint_gt(seen.scatters, 100);
  ck_assert_uint_gt(seen.exchanges, 100);
}
END_TEST

// What kernels do, and what it should take.
START_TEST(known) {
  struct arena *a = arena_create();
  const struct {
    const char *layout;
    unsigned rank;
    int64_t shape[2];
    unsigned axis;
    bool ordered;
    struct made_of want;
    uint32_t scratch;
  } cases[] = {
      // A row: registers, five lanes, one exchange of a word a warp.
      {"blocked<{order=[0], size_per_thread=[4], threads_per_warp=[32], warps_per_cta=[4]}>",
       1,
       {1024},
       0,
       false,
       {.registers = 3, .lanes = 5, .exchanges = 1},
       16},
      // In order, the halves meet last; the lanes share their work.
      {"blocked<{order=[0], size_per_thread=[4], threads_per_warp=[32], warps_per_cta=[1]}>",
       1,
       {256},
       0,
       true,
       {.registers = 2, .lanes = 5, .scatters = 1},
       0},
      // Rows of a warp each.
      {"blocked<{order=[1,0], size_per_thread=[1,4], threads_per_warp=[1,32], "
       "warps_per_cta=[4,1]}>",
       2,
       {4, 128},
       1,
       false,
       {.registers = 2, .lanes = 5},
       0},
      // Eight rows a thread: they are scattered over the lanes, and gathered in the end.
      {"blocked<{order=[1,0], size_per_thread=[8,4], threads_per_warp=[1,32], "
       "warps_per_cta=[4,1]}>",
       2,
       {32, 128},
       1,
       false,
       {.registers = 2, .lanes = 2, .scatters = 3},
       0},
      // Columns: lanes have different ones, warps have parts of them.
      {"blocked<{order=[1,0], size_per_thread=[1,4], threads_per_warp=[1,32], "
       "warps_per_cta=[4,1]}>",
       2,
       {32, 128},
       0,
       false,
       {.registers = 3, .exchanges = 1},
       2048},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct linear_layout src = linear_must(a, cases[i].layout, cases[i].rank, cases[i].shape);
    struct linear_layout dst = sliced(&src, cases[i].axis);
    struct reduce_request q = {.count = 1, .bits = {32}, .ordered = cases[i].ordered};
    struct reduce_plan p;
    struct made_of seen = {0}, want = cases[i].want;
    ck_assert(reduce_plan_make(&src, cases[i].axis, cases[i].rank > 1 ? &dst : NULL, &q, &p));
    if (src.out_bits[cases[i].axis] <= 6)
      run_plan(&p, &src, &dst, q.ordered, &seen);
    else
      for (unsigned k = 0; k < p.local.count; k++) {
        seen.registers += p.local.step[k].kind == REDUCE_REGISTERS;
        seen.lanes += p.local.step[k].kind == REDUCE_LANES;
        seen.scatters += p.local.step[k].kind == REDUCE_SCATTER;
      }
    ck_assert_msg(seen.registers == want.registers && seen.lanes == want.lanes &&
                      seen.scatters == want.scatters && p.exchanges == want.exchanges,
                  "case %zu: %u registers, %u lanes, %u scatters", i, seen.registers, seen.lanes,
                  seen.scatters);
    ck_assert_uint_eq(p.scratch_bytes, cases[i].scratch);
  }
  arena_destroy(a);
}
END_TEST

START_TEST(refused) {
  unsigned two[] = {2}, three[] = {3};
  struct linear_layout holes = ll_empty(1, two), all = ll_identity(LL_LANE, 2, 1, 0);
  struct linear_layout larger = ll_empty(1, three);
  struct reduce_request q = {.count = 1, .bits = {32}};
  struct reduce_plan p;
  ck_assert(reduce_plan_make(&all, 0, NULL, &q, &p));
  ck_assert(!reduce_plan_make(&all, 1, NULL, &q, &p));
  ck_assert(!reduce_plan_make(&holes, 0, NULL, &q, &p));
  ck_assert(!reduce_plan_make(&all, 0, &larger, &q, &p)); // a result of another shape
}
END_TEST

TCase *reduce_tests(void) {
  TCase *t = tcase_create("reduce");
  tcase_add_test(t, random_layouts);
  tcase_add_test(t, known);
  tcase_add_test(t, refused);
  return t;
}
