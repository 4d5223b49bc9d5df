// SPDX-License-Identifier: Apache-2.0
// Effects on shared memory: buffers of rings through control flow, copies and waits, scratch.
#include "lowering/analysis/shared_effects.h"
#include "pass_session.h"
#include "suites.h"

#define SHARED                                                                                     \
  "#a = #tilegpu.blocked<{order = [0], size_per_thread = [2], threads_per_warp = [32], "           \
  "warps_per_cta = [4]}>\n"                                                                        \
  "#s = #tilegpu.shared<{max_phase = 1, order = [0], per_phase = 1, vec = 1}>\n"                   \
  "!t = tensor<256xi32, #a>\n!m = !tilegpu.memdesc<tensor<256xi32, #s>>\n"                         \
  "!p = tensor<256x!tile.ptr<i32>, #a>\n"

static const char text[] =
    SHARED "#r = #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], "
           "warps_per_cta = [4]}>\n"
           "module { func.func @k(%x: !t, %p: !p, %n: i32, %cond: i1) attributes {tile.kernel} {\n"
           "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
           "%ring = \"tilegpu.local_alloc\"() {copies = 3 : i32} : () -> !m\n"
           "%own = \"tilegpu.local_alloc\"(%x) : (!t) -> !m\n"
           "%first = \"tilegpu.local_index\"(%ring, %c1) : (!m, i32) -> !m\n"
           "%any = \"tilegpu.local_index\"(%ring, %n) : (!m, i32) -> !m\n"
           "\"tilegpu.async_copy\"(%p, %first) {cache = \"\", evict = \"\"} : (!p, !m) -> ()\n"
           "scf.for %i = %c0 to %n step %c1 : i32 {\n"
           "%now = \"tilegpu.local_index\"(%ring, %i) {phase = 4 : i32} : (!m, i32) -> !m\n"
           "\"tilegpu.local_store\"(%x, %now) : (!t, !m) -> ()\n}\n"
           "\"tilegpu.async_wait\"(%first) {pending = 0 : i32} : (!m) -> ()\n"
           "%l = \"tilegpu.local_load\"(%own) : (!m) -> !t\n"
           "%v = \"tilegpu.convert_layout\"(%x) : (!t) -> tensor<256xi32, #r>\n"
           "return } }";

static struct shared_items *items_of(struct pass_session *s) {
  return shared_items_of(s->context.c, pass_session_op(s, OP_FUNC_FUNC, 0), 4, s->arena);
}

static struct shared_part only(const struct part_set *set) {
  ck_assert_uint_eq(set->at.len, 1);
  return set->at.at[0];
}

START_TEST(items_and_parts) {
  struct pass_session s = pass_session_open(text);
  struct shared_items *items = items_of(&s);
  ck_assert_uint_eq(items->items.len, 3); // the ring, the buffer, the scratch of the conversion
  ck_assert_uint_eq(items->items.at[0].copies, 3);
  ck_assert_uint_eq(items->items.at[0].bytes, 3 * 1024);
  ck_assert_uint_eq(items->items.at[0].stride, 1024);
  ck_assert(!items->items.at[1].is_scratch && items->items.at[2].is_scratch);
  MlirValue index[3];
  for (unsigned i = 0; i < 3; i++)
    index[i] = mlirOperationGetResult(pass_session_op(&s, OP_GPU_LOCAL_INDEX, i), 0);
  ck_assert_uint_eq(only(shared_parts_of(items, index[0])).number, 1);
  ck_assert_uint_eq(only(shared_parts_of(items, index[1])).number, SHARED_ANY);
  struct shared_part phased = only(shared_parts_of(items, index[2]));
  ck_assert_uint_eq(phased.number, 1); // 4 modulo the copies
  ck_assert(mlirOperationEqual(phased.loop, pass_session_op(&s, OP_SCF_FOR, 0)));
  // The copy is under way until the wait: the ring lives that long.
  ck_assert_uint_ge(items->items.at[0].live.end,
                    liveness_point(items->live, pass_session_op(&s, OP_GPU_ASYNC_WAIT, 0)));
  pass_session_close(&s);
}
END_TEST

START_TEST(effects) {
  struct pass_session s = pass_session_open(text);
  struct shared_items *items = items_of(&s);
  struct shared_effects ring = shared_effects_of(items, pass_session_op(&s, OP_GPU_LOCAL_ALLOC, 0));
  struct shared_effects own = shared_effects_of(items, pass_session_op(&s, OP_GPU_LOCAL_ALLOC, 1));
  struct shared_effects copy = shared_effects_of(items, pass_session_op(&s, OP_GPU_ASYNC_COPY, 0));
  struct shared_effects wait = shared_effects_of(items, pass_session_op(&s, OP_GPU_ASYNC_WAIT, 0));
  struct shared_effects load = shared_effects_of(items, pass_session_op(&s, OP_GPU_LOCAL_LOAD, 0));
  struct shared_effects convert =
      shared_effects_of(items, pass_session_op(&s, OP_GPU_CONVERT_LAYOUT, 0));
  ck_assert(!shared_effects_any(&ring)); // without a tile nothing is written
  ck_assert_uint_eq(only(&own.writes).item, 1);
  ck_assert_uint_eq(only(&copy.starts).number, 1);
  ck_assert(copy.writes.at.len == 0 && !copy.synchronizes);
  ck_assert(wait.completes_all);
  ck_assert_uint_eq(only(&wait.completed).item, 0);
  ck_assert_uint_eq(only(&load.reads).item, 1);
  ck_assert(convert.synchronizes);
  ck_assert_uint_eq(only(&convert.writes).item, 2);
  ck_assert_uint_eq(only(&convert.late_reads).item, 2);
  pass_session_close(&s);
}
END_TEST

TCase *shared_effects_tests(void) {
  TCase *t = tcase_create("shared_effects");
  tcase_add_test(t, items_and_parts);
  tcase_add_test(t, effects);
  return t;
}
