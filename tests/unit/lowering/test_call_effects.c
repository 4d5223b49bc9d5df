// SPDX-License-Identifier: Apache-2.0
// Shared memory that a call touches: the items of the function and those of the functions that it
// calls.
#include "lowering/plan/barrier_plan.h"
#include "pass_session.h"
#include "suites.h"

#define SHARED                                                                                     \
  "#a = #tilegpu.blocked<{order = [0], size_per_thread = [2], threads_per_warp = [32], "           \
  "warps_per_cta = [4]}>\n"                                                                        \
  "#s = #tilegpu.shared<{max_phase = 1, order = [0], per_phase = 1, vec = 1}>\n"                   \
  "!t = tensor<256xi32, #a>\n!m = !tilegpu.memdesc<tensor<256xi32, #s>>\n"                         \
  "!p = tensor<256x!tile.ptr<i32>, #a>\n"

#define AT(bytes) "{tilegpu.shared_offset = " #bytes " : i32}"
#define BUFFER(name, at) name " = \"tilegpu.local_alloc\"() " AT(at) " : () -> !m\n"
#define STORE(to) "\"tilegpu.local_store\"(%x, " to ") : (!t, !m) -> ()\n"
#define LOAD(name, from) name " = \"tilegpu.local_load\"(" from ") : (!m) -> !t\n"

static const char text[] = SHARED "module {\n"
                                  "func.func @k(%x: !t) attributes {tile.kernel} {\n" BUFFER(
                                      "%a", 0) "func.call @f(%x) : (!t) -> ()\nreturn }\n"
                                               "func.func private @f(%x: !t) {\n" BUFFER("%b", 2048)
                                                   STORE("%b") "return } }";

static struct call_effects *effects_of(struct pass_session *s, unsigned number,
                                       const struct map *calls) {
  MlirOperation func = pass_session_op(s, OP_FUNC_FUNC, number);
  struct shared_items *items = shared_items_of(s->context.c, func, 4, s->arena);
  struct barrier_plan plan = barrier_plan_make(items, func, calls, NULL, NULL, s->arena);
  return call_effects_of(items, func, calls, &plan, s->arena);
}

START_TEST(calls_within_calls) {
  struct pass_session s = pass_session_open(text);
  struct map calls = {0};
  struct call_effects *inner = effects_of(&s, 1, NULL);
  ptrmap_put(s.arena, &calls, pass_session_op(&s, OP_FUNC_FUNC, 1).ptr, inner);
  struct call_effects *outer = effects_of(&s, 0, &calls), *blind = effects_of(&s, 0, NULL);
  struct shared_interval a = {0, 1024}, b = {2048, 3072}, between = {1024, 2048};
  ck_assert(intervals_overlap(&inner->touches, b) && !intervals_overlap(&inner->touches, a));
  ck_assert(intervals_overlap(&inner->left.writes, b));
  ck_assert(intervals_overlap(&outer->touches, a) && intervals_overlap(&outer->touches, b));
  ck_assert(!intervals_overlap(&outer->touches, between));
  ck_assert(!intervals_overlap(&blind->touches, b));
  pass_session_close(&s);
}
END_TEST

TCase *call_effects_tests(void) {
  TCase *t = tcase_create("call_effects");
  tcase_add_test(t, calls_within_calls);
  return t;
}
