// SPDX-License-Identifier: Apache-2.0
// Offsets in shared memory: what lives at the same time lies apart, what does not may share.
#include "lowering/plan/shared_allocation.h"
#include "pass_session.h"
#include "suites.h"

#define KERNEL(body)                                                                               \
  "#a = #tilegpu.blocked<{order = [0], size_per_thread = [2], threads_per_warp = [32], "           \
  "warps_per_cta = [4]}>\n"                                                                        \
  "#s = #tilegpu.shared<{max_phase = 1, order = [0], per_phase = 1, vec = 1}>\n"                   \
  "!t = tensor<16384xi32, #a>\n!m = !tilegpu.memdesc<tensor<16384xi32, #s>>\n"                     \
  "module { func.func @k(%x: !t) attributes {tile.kernel} {\n" body "return } }"
#define ALLOC(name) name " = \"tilegpu.local_alloc\"(%x) : (!t) -> !m\n"
#define LOAD(name, from) name " = \"tilegpu.local_load\"(" from ") : (!m) -> !t\n"
enum { BYTES = 64 * 1024 }; // of a buffer: three do not leave room for a second program

static struct shared_allocation allocate(struct pass_session *s, uint32_t *ret_total) {
  struct shared_allocation r =
      shared_allocation_of(s->context.c, s->context.module, s->context.target, 4, s->arena);
  *ret_total = r.total;
  return r;
}

START_TEST(at_the_same_time) {
  struct pass_session s =
      pass_session_open(KERNEL(ALLOC("%a") ALLOC("%b") LOAD("%0", "%a") LOAD("%1", "%b")));
  uint32_t total;
  struct shared_allocation r = allocate(&s, &total);
  ck_assert_uint_eq(r.at.len, 2);
  ck_assert_uint_eq(r.at.at[0].bytes, BYTES);
  uint32_t low = r.at.at[0].offset, high = r.at.at[1].offset;
  ck_assert_uint_eq(low > high ? low - high : high - low, BYTES);
  ck_assert_uint_eq(total, 2 * BYTES);
  pass_session_close(&s);
}
END_TEST

START_TEST(one_behind_the_other) {
  struct pass_session s = pass_session_open(KERNEL(ALLOC("%a") LOAD("%0", "%a") ALLOC("%b") LOAD(
      "%1", "%b") ALLOC("%c") LOAD("%2", "%c") ALLOC("%d") LOAD("%3", "%d")));
  uint32_t total;
  struct shared_allocation r = allocate(&s, &total);
  ck_assert_uint_eq(r.at.len, 4);
  ck_assert_uint_lt(total, 4 * BYTES); // 256 KiB are more than a CTA has
  for (size_t i = 0; i < r.at.len; i++)
    ck_assert_uint_le(r.at.at[i].offset + r.at.at[i].bytes, total);
  pass_session_close(&s);
}
END_TEST

TCase *shared_allocation_tests(void) {
  TCase *t = tcase_create("shared_allocation");
  tcase_add_test(t, at_the_same_time);
  tcase_add_test(t, one_behind_the_other);
  return t;
}
