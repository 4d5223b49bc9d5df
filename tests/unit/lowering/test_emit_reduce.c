// SPDX-License-Identifier: Apache-2.0
// Reductions and scans on the host: random layouts of tiles of rank 1 to 4, all element types, up
// to 32 warps, against the same done element by element.
#include "collective.h"
#include "suites.h"

static void read_input(const struct function *f, unsigned at, int64_t *ret) {
  for (unsigned i = 0; i < f->count; i++)
    ret[i] = collective_input[i][at];
}

static void check_values(const struct function *f, unsigned at, const int64_t *want,
                         const char *ir) {
  for (unsigned i = 0; i < f->count; i++)
    ck_assert_msg(collective_result(f, i, at) == want[i], "value %u of %u: %lld, not %lld\n%s", i,
                  at, (long long)collective_result(f, i, at), (long long)want[i], ir);
}

// i1 sums and the like stay within their type.
static void check_group(const struct function *f, enum collective kind, unsigned first,
                        unsigned stride, unsigned size, unsigned reduced_at, const char *ir) {
  int64_t so_far[MAX_VALUES], x[MAX_VALUES];
  for (unsigned k = 0; k < size; k++) {
    unsigned at = first + stride * (kind == SCAN_REVERSE ? size - 1 - k : k);
    read_input(f, at, x);
    if (k == 0)
      memcpy(so_far, x, sizeof x);
    else
      f->combine(so_far, x);
    if (kind != REDUCE)
      check_values(f, at, so_far, ir);
  }
  if (kind == REDUCE)
    check_values(f, reduced_at, so_far, ir);
}

static void check_all(const struct function *f, const struct tile *t, unsigned axis,
                      enum collective kind, const char *ir) {
  unsigned inner = 0, size = 1u << t->bits[axis];
  for (unsigned d = axis + 1; d < t->rank; d++)
    inner += t->bits[d];
  for (unsigned at = 0; at < t->count / size; at++) {
    unsigned high = at >> inner << inner, low = at & ((1u << inner) - 1);
    check_group(f, kind, high * size + low, 1u << inner, size, at, ir);
  }
}

static void random_rounds(unsigned rounds, enum collective first, enum collective last) {
  for (unsigned round = 0; round < rounds; round++) {
    const struct function *f = &collective_functions[round % collective_function_count];
    enum collective kind = first + pick(last - first + 1);
    unsigned warp_bits = round % 7 == 0 ? 3 + pick(3) : pick(3);
    struct tile t = random_tile(11);
    unsigned axis = pick(t.rank);
    struct encoding layout = random_distribution(t.rank, t.bits, warp_bits, pick(2));
    const char *ir = collective_kernel(f, &t, axis, &layout, kind);
    collective_fill(f, t.count);
    collective_launch(f, ir, 1u << warp_bits, true);
    check_all(f, &t, axis, kind, ir);
  }
}

START_TEST(reductions) { random_rounds(150, REDUCE, REDUCE); }
END_TEST

START_TEST(scans) { random_rounds(240, SCAN, SCAN_REVERSE); }
END_TEST

TCase *emit_reduce_tests(void) {
  TCase *t = tcase_create("emit_reduce");
  tcase_add_checked_fixture(t, open_collective_run, close_collective_run);
  tcase_set_timeout(t, 300);
  tcase_add_test(t, reductions);
  tcase_add_test(t, scans);
  return t;
}
