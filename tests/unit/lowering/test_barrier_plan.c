// SPDX-License-Identifier: Apache-2.0
// Barriers between accesses to shared memory: read after write, write after read, none between
// buffers apart.
#include "lowering/plan/barrier_plan.h"
#include "pass_session.h"
#include "suites.h"

#define SHARED                                                                                     \
  "#a = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 2], threads_per_warp = [1, 32], "  \
  "warps_per_cta = [4, 1]}>\n"                                                                     \
  "#s = #tilegpu.shared<{max_phase = 1, order = [1, 0], per_phase = 1, vec = 1}>\n"                \
  "!t = tensor<4x64xi32, #a>\n!m = !tilegpu.memdesc<tensor<4x64xi32, #s>>\n"                       \
  "!p = tensor<4x64x!tile.ptr<i32>, #a>\n"

#define AT(bytes) "{tilegpu.shared_offset = " #bytes " : i32}"
#define BUFFER(name, at) name " = \"tilegpu.local_alloc\"() " AT(at) " : () -> !m\n"
#define STORE(to) "\"tilegpu.local_store\"(%x, " to ") : (!t, !m) -> ()\n"
#define LOAD(name, from) name " = \"tilegpu.local_load\"(" from ") : (!m) -> !t\n"

#define MAPS                                                                                       \
  "attributes {tile.maps = [{base = 0 : i32, box = array<i32: 4, 64>, dtype = \"i32\", "           \
  "offset = \"0\", pads_nan = false, sizes = [\"4\", \"64\"], strides = [\"64\"], swizzle = 0 : "  \
  "i32}]} "
#define KERNEL(body)                                                                               \
  SHARED                                                                                           \
  "module " MAPS "{ func.func @k(%x: !t, %n: i32) attributes {tile.kernel} {\n" BUFFER("%a", 0)    \
      BUFFER("%b", 1024) "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n" body       \
                         "return } }"

// Each warpgroup copies what it wrote to %a, and no other buffer.
#define OWN_STORE(from)                                                                            \
  "\"tilegpu.map_store\"(" from                                                                    \
  ", %c0, %c0) {map = 0 : i32, warps = 4 : i32} : (!m, i32, i32) -> ()\n"

static const struct {
  const char *name, *text;
  unsigned barriers;
  enum op_id id; // of the op that the first barrier precedes, and which of them
  unsigned number;
} cases[] = {
    {"read after write", KERNEL(STORE("%a") LOAD("%0", "%a")), 1, OP_GPU_LOCAL_LOAD, 0},
    {"write after read", KERNEL(LOAD("%0", "%a") STORE("%a")), 1, OP_GPU_LOCAL_STORE, 0},
    {"reads of one buffer", KERNEL(LOAD("%0", "%a") LOAD("%1", "%a")), 0, OP_UNKNOWN, 0},
    {"buffers apart", KERNEL(STORE("%a") LOAD("%0", "%b")), 0, OP_UNKNOWN, 0},
    {"one barrier for both", KERNEL(STORE("%a") STORE("%b") LOAD("%0", "%a") LOAD("%1", "%b")), 1,
     OP_GPU_LOCAL_LOAD, 0},
    {"a barrier of the program",
     KERNEL(STORE("%a") "\"tilegpu.barrier\"() : () -> ()\n" LOAD("%0", "%a")), 0, OP_UNKNOWN, 0},
    {"around a loop: the next iteration writes what this one reads",
     KERNEL("scf.for %i = %c0 to %n step %c1 : i32 {\n" STORE("%a") LOAD("%0", "%a") "}\n"), 2,
     OP_GPU_LOCAL_STORE, 0},
};

static const struct {
  const char *name, *text;
  unsigned count;
  uint32_t warps[2];
} groups[] = {
    {"rows of a group's own", KERNEL(STORE("%a") OWN_STORE("%a") STORE("%a")), 2, {4, 4}},
    {"what others wrote, too",
     KERNEL(STORE("%a") STORE("%b") OWN_STORE("%a") LOAD("%0", "%b")),
     2,
     {4, 0}},
    {"a barrier of all serves both",
     KERNEL(STORE("%a") STORE("%b") LOAD("%0", "%b") OWN_STORE("%a")),
     1,
     {0}},
    {"around a loop",
     KERNEL("scf.for %i = %c0 to %n step %c1 : i32 {\n" STORE("%a") OWN_STORE("%a") "}\n"),
     2,
     {4, 4}},
    {"a buffer in the same bytes",
     KERNEL("%o = \"tilegpu.local_alloc\"() " AT(0) " : () -> !m\n" STORE("%a") OWN_STORE("%a")
                STORE("%o") LOAD("%0", "%o")),
     3,
     {0, 0}},
};

START_TEST(barriers_of_groups) {
  struct pass_session s = pass_session_open(groups[_i].text);
  struct pass_context *p = &s.context;
  MlirOperation func = pass_session_op(&s, OP_FUNC_FUNC, 0);
  struct shared_items *items = shared_items_of(p->c, func, 8, s.arena);
  struct barrier_plan plan = barrier_plan_make(items, func, NULL, NULL, NULL, s.arena);
  ck_assert_msg(plan.before.len == groups[_i].count, "%s: %zu barriers", groups[_i].name,
                plan.before.len);
  for (size_t i = 0; i < plan.before.len && i < 2; i++)
    ck_assert_msg(plan.before.at[i].warps == groups[_i].warps[i], "%s: barrier %zu of %u warps",
                  groups[_i].name, i, plan.before.at[i].warps);
  pass_session_close(&s);
}
END_TEST

START_TEST(barriers) {
  struct pass_session s = pass_session_open(cases[_i].text);
  struct pass_context *p = &s.context;
  MlirOperation func = pass_session_op(&s, OP_FUNC_FUNC, 0);
  struct shared_items *items = shared_items_of(p->c, func, 4, s.arena);
  struct barrier_plan plan = barrier_plan_make(items, func, NULL, NULL, NULL, s.arena);
  ck_assert_msg(plan.before.len == cases[_i].barriers, "%s: %zu barriers", cases[_i].name,
                plan.before.len);
  bool found = plan.before.len == 0;
  for (size_t i = 0; i < plan.before.len; i++)
    found |= mlirOperationEqual(plan.before.at[i].op,
                                pass_session_op(&s, cases[_i].id, cases[_i].number));
  ck_assert_msg(found, "%s", cases[_i].name);
  pass_session_close(&s);
}
END_TEST

START_TEST(what_is_left_at_the_return) {
  struct pass_session s = pass_session_open(KERNEL(STORE("%b")));
  MlirOperation func = pass_session_op(&s, OP_FUNC_FUNC, 0);
  struct shared_items *items = shared_items_of(s.context.c, func, 4, s.arena);
  struct barrier_plan plan = barrier_plan_make(items, func, NULL, NULL, NULL, s.arena);
  ck_assert(intervals_overlap(&plan.left.writes, (struct shared_interval){1024, 2048}));
  ck_assert(!intervals_overlap(&plan.left.writes, (struct shared_interval){0, 1024}));
  ck_assert_uint_eq(plan.left.reads.at.len, 0);
  pass_session_close(&s);
}
END_TEST

TCase *barrier_plan_tests(void) {
  TCase *t = tcase_create("barrier_plan");
  tcase_add_loop_test(t, barriers, 0, (int)COUNT_OF(cases));
  tcase_add_loop_test(t, barriers_of_groups, 0, (int)COUNT_OF(groups));
  tcase_add_test(t, what_is_left_at_the_return);
  return t;
}
