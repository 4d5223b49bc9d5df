// SPDX-License-Identifier: Apache-2.0
// Intervals of bytes against sets of single bytes: union, overlap, and slots of a ring that advance
// by one or widen to all.
#include "lowering/analysis/intervals.h"
#include "suites.h"

#include <stdlib.h>

enum { BYTES = 64, ROUNDS = 2000 };

static uint64_t bytes_of(const struct intervals *s) {
  uint64_t set = 0;
  for (size_t i = 0; i < s->at.len; i++) {
    ck_assert_uint_lt(s->at.at[i].begin, s->at.at[i].end);
    if (i > 0) // ascending, apart from each other
      ck_assert_uint_lt(s->at.at[i - 1].end, s->at.at[i].begin);
    for (uint32_t b = s->at.at[i].begin; b < s->at.at[i].end; b++)
      set |= UINT64_C(1) << b;
  }
  return set;
}

static uint64_t range(uint32_t begin, uint32_t end) {
  uint64_t set = 0;
  for (uint32_t b = begin; b < end; b++)
    set |= UINT64_C(1) << b;
  return set;
}

static struct shared_interval random_interval(void) {
  uint32_t begin = (uint32_t)rand() % (BYTES - 1);
  return (struct shared_interval){begin, begin + 1 + (uint32_t)rand() % (BYTES - begin)};
}

static struct intervals random_set(struct arena *a, uint64_t *ret) {
  struct intervals s = {0};
  *ret = 0;
  for (int n = rand() % 5; n-- > 0;) {
    struct shared_interval i = random_interval();
    intervals_add(a, &s, i);
    *ret |= range(i.begin, i.end);
  }
  return s;
}

START_TEST(unions_and_overlaps) {
  struct arena *a = arena_create();
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t x, y;
    struct intervals s = random_set(a, &x), t = random_set(a, &y);
    struct shared_interval i = random_interval();
    ck_assert(bytes_of(&s) == x);
    ck_assert_int_eq(intervals_overlap(&s, i), (x & range(i.begin, i.end)) != 0);
    ck_assert_int_eq(intervals_any_overlap(&s, &t), (x & y) != 0);
    ck_assert_int_eq(intervals_same(&s, &t), x == y);
    intervals_add_all(a, &s, &t);
    ck_assert(bytes_of(&s) == (x | y));
  }
  arena_destroy(a);
}
END_TEST

// Where byte b of a slot is in slot `to`.
static uint32_t byte_in_slot(const struct ring_slots *p, uint32_t b, uint32_t to) {
  return p->offset + to * p->step + (b - p->offset) % p->step;
}

static bool is_in_slot(const struct ring_slots *p, uint32_t b) {
  return b >= p->offset && (b - p->offset) / p->step < p->count &&
         (b - p->offset) % p->step < p->bytes;
}

static uint64_t expected(const struct ring_slots *p, uint64_t set, bool widens) {
  uint64_t ret = 0;
  for (uint32_t b = 0; b < BYTES; b++) {
    if (!(set >> b & 1))
      continue;
    if (!is_in_slot(p, b)) {
      ret |= UINT64_C(1) << b;
      continue;
    }
    uint32_t slot = (b - p->offset) / p->step;
    for (uint32_t to = 0; to < p->count; to++)
      if (widens || to == (slot ? slot : p->count) - 1)
        ret |= UINT64_C(1) << byte_in_slot(p, b, to);
  }
  return ret;
}

START_TEST(slots_advance_and_widen) {
  struct arena *a = arena_create();
  for (int round = 0; round < ROUNDS; round++) {
    struct ring_slots p = {.offset = (uint32_t)rand() % 16,
                           .bytes = 1 + (uint32_t)rand() % 8,
                           .count = 1 + (uint32_t)rand() % 4};
    p.step = p.bytes + (uint32_t)rand() % 4;
    uint64_t x, y;
    struct intervals s = random_set(a, &x), t = random_set(a, &y);
    intervals_advance(a, &s, &p);
    ck_assert(bytes_of(&s) == expected(&p, x, false));
    intervals_widen(a, &t, &p);
    ck_assert(bytes_of(&t) == expected(&p, y, true));
  }
  arena_destroy(a);
}
END_TEST

START_TEST(differences_and_covers) {
  struct arena *a = arena_create();
  unsigned covered = 0;
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t x, y;
    struct intervals s = random_set(a, &x), t = random_set(a, &y), both = {0};
    ck_assert(intervals_cover(&s, &t) == ((y & ~x) == 0));
    intervals_add_all(a, &both, &s);
    intervals_add_all(a, &both, &t);
    ck_assert(intervals_cover(&both, &t));
    covered += intervals_cover(&s, &t);
    intervals_remove_all(a, &both, &t);
    ck_assert(bytes_of(&both) == (x & ~y));
  }
  ck_assert_uint_lt(covered, ROUNDS);
  arena_destroy(a);
}
END_TEST

TCase *intervals_tests(void) {
  TCase *t = tcase_create("intervals");
  tcase_add_test(t, unions_and_overlaps);
  tcase_add_test(t, slots_advance_and_widen);
  tcase_add_test(t, differences_and_covers);
  return t;
}
