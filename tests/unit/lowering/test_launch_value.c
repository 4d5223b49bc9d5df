// SPDX-License-Identifier: Apache-2.0
// What the launch can compute: integers and pointers made of parameters and constants.
#include "lowering/analysis/launch_value.h"
#include "pass_session.h"
#include "suites.h"

#define P "!tile.ptr<f32>"
#define STORE(p, v)                                                                                \
  "\"tile.store\"(" p ", " v ") {cache = \"\", evict = \"\", operandSegmentSizes = array<i32: 1, " \
  "1, 0>} : (" P ", f32) -> ()\nreturn\n}"
#define HEAD                                                                                       \
  "func.func @k(%a: " P ", %n: i32, %w: i64, %v: f32) attributes {tile.kernel} {\n"                \
  "%c2 = arith.constant 2 : i32\n%c5 = arith.constant 5 : i64\n"
#define AT(offset, type)                                                                           \
  "%p = \"tile.addptr\"(%a, " offset ") : (" P ", " type ") -> " P "\n" STORE("%p", "%v")

// The distance of the pointer that a store writes to.
static const struct {
  const char *text;
  int64_t n, w, distance; // distance -1: the launch cannot know it
} cases[] = {
    {HEAD STORE("%a", "%v"), 3, 4, 0},
    {HEAD AT("%n", "i32"), 3, 4, 3},
    {HEAD "%e = arith.extsi %n : i32 to i64\n%m = arith.muli %e, %w : i64\n"
          "%s = arith.subi %m, %c5 : i64\n" AT("%s", "i64"),
     3, 4, 7},
    {HEAD "%d = arith.divsi %n, %c2 : i32\n%r = arith.remsi %n, %c2 : i32\n"
          "%s = arith.addi %d, %r : i32\n" AT("%s", "i32"),
     7, 0, 4},
    {HEAD "%l = arith.minsi %w, %c5 : i64\n%h = arith.maxsi %l, %w : i64\n" AT("%h", "i64"), 0, 9,
     9},
    {HEAD "%q = \"tile.addptr\"(%a, %n) : (" P ", i32) -> " P "\n"
          "%p = \"tile.addptr\"(%q, %w) : (" P ", i64) -> " P "\n" STORE("%p", "%v"),
     30, 4, 34},
    {HEAD "%i = \"tile.get_program_id\"() {axis = 0 : i32} : () -> i32\n" AT("%i", "i32"), 3, 4,
     -1},
    {HEAD "%t = arith.trunci %w : i64 to i32\n" AT("%t", "i32"), 3, 4, -1},
};

struct search {
  struct pass_session *s;
  MlirOperation kernel;
  int at;
};

static bool find_store(MlirOperation op, void *user) {
  const struct search *x = user;
  struct ir_context *c = x->s->context.c;
  struct launch_expr offset;
  uint32_t param = 99;
  int64_t value = -1;
  if (!op_is(c, op, OP_TILE_STORE))
    return true;
  const int64_t params[] = {0, cases[x->at].n, cases[x->at].w, 0};
  bool known =
      launch_pointer_of(c, x->kernel, mlirOperationGetOperand(op, 0), c->arena, &param, &offset);
  ck_assert_int_eq(known, cases[x->at].distance >= 0);
  if (!known)
    return true;
  ck_assert_uint_eq(param, 0);
  ck_assert(launch_expr_is_valid(&offset, COUNT_OF(params)));
  ck_assert(launch_expr_value(&offset, params, &value));
  ck_assert_int_eq(value, cases[x->at].distance);
  return true;
}

START_TEST(pointers) {
  struct pass_session s = pass_session_open(cases[_i].text);
  struct search x = {&s, module_kernel(s.context.c, s.context.module), _i};
  ir_walk(mlirModuleGetOperation(s.context.module), find_store, &x);
  pass_session_close(&s);
}
END_TEST

// More terms than an expression has: refused, and no overrun.
START_TEST(long_expressions) {
  struct strbuf text = {0};
  strbuf_puts(&text, HEAD "%x0 = arith.addi %w, %c5 : i64\n");
  for (int i = 1; i < 40; i++)
    strbuf_printf(&text, "%%x%d = arith.addi %%x%d, %%w : i64\n", i, i - 1);
  strbuf_puts(&text, AT("%x39", "i64"));
  struct pass_session s = pass_session_open(strbuf_cstr(&text));
  MlirOperation kernel = module_kernel(s.context.c, s.context.module);
  MlirOperation op =
      mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0)));
  while (!op_is(s.context.c, op, OP_TILE_STORE))
    op = mlirOperationGetNextInBlock(op);
  struct launch_expr offset;
  uint32_t param;
  ck_assert(!launch_pointer_of(s.context.c, kernel, mlirOperationGetOperand(op, 0),
                               s.context.c->arena, &param, &offset));
  pass_session_close(&s);
  strbuf_finish(&text);
}
END_TEST

TCase *launch_value_tests(void) {
  TCase *t = tcase_create("launch_value");
  tcase_add_loop_test(t, pointers, 0, COUNT_OF(cases));
  tcase_add_test(t, long_expressions);
  return t;
}
