// SPDX-License-Identifier: Apache-2.0
// Plans of scans, performed by all threads of a CTA in step, on runs of elements: what is combined
// must be neighbours, and in the end every element has the run from the first one to itself.
#include "generate.h"
#include "layouts/layout_scan_plan.h"
#include "suites.h"

enum { MAX_REGISTERS = 128, LANES = 32, MAX_THREADS = LANES * 8 };

// Elements [first, end) along the axis of the group at `other`; end 0: none.
struct run {
  uint32_t first, end, other;
};

static struct run total[MAX_THREADS][MAX_REGISTERS], before[MAX_THREADS][MAX_REGISTERS];

static struct run join(struct run a, struct run b) {
  if (a.end == 0 || b.end == 0)
    return a.end == 0 ? b : a;
  EXPECT(a.other == b.other && a.end == b.first);
  return (struct run){a.first, b.end, a.other};
}

static struct run element(const struct linear_layout *l, unsigned axis, uint32_t reg,
                          uint32_t thread) {
  uint32_t index[LL_NO_IN] = {
      [LL_REGISTER] = reg, [LL_LANE] = thread % LANES, [LL_WARP] = thread / LANES};
  uint32_t at[LL_MAX_OUT], other = 0;
  ll_apply(l, index, at);
  for (unsigned d = 0; d < l->out_count; d++)
    other = d == axis ? other : other << l->out_bits[d] | at[d];
  return (struct run){at[axis], at[axis] + 1, other};
}

static uint32_t deposit_bits(uint32_t index, const unsigned *bit, unsigned count) {
  uint32_t r = 0;
  for (unsigned i = 0; i < count; i++)
    r |= (index >> i & 1) << bit[i];
  return r;
}

// Totals of the runs that threads go through alone; returns the register bits inside them.
static uint32_t go_through(const struct scan_plan *p, uint32_t threads, uint32_t count) {
  uint32_t within = deposit_bits(UINT32_MAX, p->serial, p->serial_count);
  memset(before, 0, sizeof before);
  memset(total, 0, sizeof total);
  for (uint32_t t = 0; t < threads; t++)
    for (uint32_t r = 0; r < count; r++)
      for (uint32_t i = 0; !(r & within) && i < 1u << p->serial_count; i++)
        total[t][r] =
            join(total[t][r],
                 element(&p->layout, p->axis, r | deposit_bits(i, p->serial, p->serial_count), t));
  return within;
}

static void step(const struct scan_step *s, uint32_t threads, uint32_t count, uint32_t within) {
  static struct run old[MAX_THREADS][MAX_REGISTERS];
  memcpy(old, total, sizeof old);
  for (uint32_t t = 0; t < threads; t++)
    for (uint32_t r = 0; r < count; r++) {
      uint32_t flag = 1u << s->bit;
      bool later = (s->is_lane ? t : r) & flag;
      struct run other = s->is_lane ? old[t ^ flag][r] : old[t][r ^ flag];
      if (r & within)
        continue;
      if (later)
        before[t][r] = join(other, before[t][r]);
      total[t][r] = later ? join(other, old[t][r]) : join(old[t][r], other);
    }
}

static uint32_t row(const struct linear_layout *l, unsigned axis, struct run r, uint32_t offset) {
  return r.other << l->out_bits[axis] | offset;
}

// Totals to memory, and from there what is before each thread's own offsets.
static void share(const struct scan_plan *p, uint32_t threads, uint32_t count, uint32_t within) {
  static struct run memory[1 << 12];
  memset(memory, 0, sizeof memory);
  EXPECT(ll_in_bits(&p->totals, LL_REGISTER) == p->total_count);
  EXPECT(ll_in_bits(&p->spread, LL_REGISTER) == p->rest_count + p->own_count);
  for (uint32_t t = 0; t < threads; t++)
    for (uint32_t i = 0; i < 1u << p->total_count; i++) {
      struct run at = element(&p->totals, p->axis, i, t);
      struct run *cell = &memory[row(&p->totals, p->axis, at, at.first)];
      struct run v = total[t][deposit_bits(i, p->total_bit, p->total_count)];
      EXPECT(cell->end == 0 || (cell->first == v.first && cell->end == v.end));
      EXPECT(v.other == at.other);
      *cell = v;
    }
  for (uint32_t t = 0; t < threads; t++)
    for (uint32_t r = 0; r < count; r++) {
      uint32_t offset = 0, group = 0;
      for (unsigned b = 0; b < p->rest_count; b++)
        offset |= (r & p->rest_register[b] || t & p->rest_thread[b] ? 1u : 0u) << b;
      for (unsigned b = 0; b < p->own_count; b++)
        group |= (r >> p->own_bit[b] & 1) << b;
      for (uint32_t i = offset; !(r & within) && i-- > 0;) {
        struct run at = element(&p->spread, p->axis, group << p->rest_count | i, t);
        EXPECT(at.first == i);
        before[t][r] = join(memory[row(&p->spread, p->axis, at, i)], before[t][r]);
      }
    }
}

static void run_plan(const struct scan_plan *p, uint32_t warps) {
  uint32_t threads = LANES * warps, count = ll_in_size(&p->layout, LL_REGISTER);
  uint32_t within = go_through(p, threads, count);
  for (unsigned i = 0; i < p->step_count; i++)
    step(&p->step[i], threads, count, within);
  if (p->rest_count)
    share(p, threads, count, within);
  for (uint32_t t = 0; t < threads; t++)
    for (uint32_t r = 0; r < count; r++) {
      // What is before the run, and the run up to the element.
      struct run own = element(&p->layout, p->axis, r, t);
      struct run start = element(&p->layout, p->axis, r & ~within, t);
      struct run all = join(before[t][r & ~within], (struct run){start.first, own.end, own.other});
      EXPECT(all.first == 0 && all.end == own.first + 1 && all.other == own.other);
    }
}

START_TEST(random_layouts) {
  struct random r = {5};
  unsigned fits = 0, shared = 0, steps = 0;
  for (int round = 0; round < 1500; round++) {
    bool simple = random_below(&r, 8) != 0;
    unsigned warps = random_below(&r, 4), out = 1 + random_below(&r, 10);
    unsigned bits[LL_NO_IN] = {random_below(&r, 3), 5, warps};
    while (bits[0] + 5 + warps < out + 1)
      bits[0]++;
    struct linear_layout shape = random_layout(&r, (unsigned[LL_NO_IN]){0}, out, true);
    struct linear_layout src = random_surjective(&r, bits, &shape, simple);
    unsigned axis = random_below(&r, src.out_count), width = 32;
    struct scan_plan p;
    EXPECT(scan_plan_make(&src, axis, 1, &width, &p));
    EXPECT(ll_is_surjective(&p.layout));
    if (ll_in_bits(&p.layout, LL_REGISTER) > 7)
      continue;
    run_plan(&p, 1u << warps);
    fits += ll_in_bits(&p.layout, LL_REGISTER) == ll_in_bits(&src, LL_REGISTER);
    shared += p.rest_count > 0;
    steps += p.step_count;
    EXPECT((p.scratch_bytes > 0) == (p.rest_count > 0));
  }
  ck_assert_uint_gt(fits, 200);
  ck_assert_uint_gt(shared, 200);
  ck_assert_uint_gt(steps, 500);
}
END_TEST

START_TEST(known) {
  struct arena *a = arena_create();
  const int64_t shape[] = {2048};
  struct linear_layout l = linear_must(
      a, "blocked<{order=[0], size_per_thread=[4], threads_per_warp=[32], warps_per_cta=[4]}>", 1,
      shape);
  struct scan_plan p;
  unsigned widths[] = {32, 16};
  ck_assert(scan_plan_make(&l, 0, 2, widths, &p));
  ck_assert(ll_equal(&p.layout, &l)); // it stays as it is
  ck_assert_uint_eq(p.serial_count, 2);
  ck_assert_uint_eq(p.step_count, 5);
  // Four warps, four times over: 16 totals of each value.
  ck_assert_uint_eq(p.rest_count, 4);
  ck_assert_uint_eq(p.offset[1], 64);
  ck_assert_uint_eq(p.scratch_bytes, 96);
  ck_assert(!scan_plan_make(&l, 1, 2, widths, &p));
  arena_destroy(a);
}
END_TEST

TCase *scan_tests(void) {
  TCase *t = tcase_create("scan");
  tcase_add_test(t, random_layouts);
  tcase_add_test(t, known);
  return t;
}
