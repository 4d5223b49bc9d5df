// SPDX-License-Identifier: Apache-2.0
// The values that keep accesses narrow, by name.
#include "lowering/cost/narrow_access.h"
#include "pass_session.h"
#include "suites.h"

#define TILE(type) "tensor<512x" type ">"
// x + table[id] * pitch + range * step, with a mask of range < n.
static const char text[] =
    "module { func.func @k(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.name = \"x\"}, "
    "%table: !tile.ptr<i32> {tile.name = \"table\"}, %pitch: i32 {tile.name = \"pitch\"}, "
    "%step: i32 {tile.name = \"step\"}, %n: i32 {tile.name = \"n\"}, "
    "%even: i32 {tile.divisibility = 16 : i32, tile.name = \"even\"}) attributes {tile.kernel} {\n"
    "%where = \"tile.load\"(%table) {cache = \"\", evict = \"\", is_volatile = false, "
    "operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<i32>) -> i32\n"
    "%row = arith.muli %where, %pitch : i32\n"
    "%far = arith.addi %row, %even : i32\n"
    "%p = \"tile.addptr\"(%x, %far) : (!tile.ptr<f32>, i32) -> !tile.ptr<f32>\n"
    "%r = \"tile.make_range\"() {start = 0 : i32, end = 512 : i32} : () -> " TILE(
        "i32") "\n"
               "%steps = \"tile.splat\"(%step) : (i32) -> " TILE(
                   "i32") "\n"
                          "%i = arith.muli %r, %steps : " TILE(
                              "i32") "\n"
                                     "%ps = \"tile.splat\"(%p) : (!tile.ptr<f32>) -> " TILE(
                                         "!tile.ptr<f32>") "\n"
                                                           "%at = \"tile.addptr\"(%ps, %i) : "
                                                           "(" TILE("!tile.ptr<f32>") ", " TILE("i3"
                                                                                                "2") ") -> " TILE(
                                                               "!tile.ptr<f32>") "\n"
                                                                                 "%ns = "
                                                                                 "\"tile.splat\"(%"
                                                                                 "n) : (i32) "
                                                                                 "-> " TILE(
                                                                                     "i32") "\n"
                                                                                            "%mask "
                                                                                            "= "
                                                                                            "arith."
                                                                                            "cmpi "
                                                                                            "slt, "
                                                                                            "%r, "
                                                                                            "%ns "
                                                                                            ":"
                                                                                            " " TILE(
                                                                                                "i3"
                                                                                                "2") "\n"
                                                                                                     "%v = \"tile.load\"(%at, %mask) {cache = \"\", evict = \"\", is_volatile = false, "
                                                                                                     "operandSegmentSizes = array<i32: 1, 1, 0>} : (" TILE("!tile.ptr<f32>") ", " TILE(
                                                                                                         "i1") ") -> " TILE("f32") "\n"
                                                                                                                                   "return } }";

static narrow_root_list roots_of(struct pass_session *s, intptr_t operand, bool strides) {
  struct pass_context *p = &s->context;
  struct axis_analysis *axis = axis_analyse(p->c, mlirModuleGetOperation(p->module), s->arena);
  MlirOperation load = pass_session_op(s, OP_TILE_LOAD, 1);
  narrow_root_list found = {0};
  MlirValue v = mlirOperationGetOperand(load, operand);
  if (strides)
    narrow_strides(p->c, s->arena, axis, load, v, &found);
  else
    narrow_roots(p->c, s->arena, axis, load, v, 4, operand ? 1 : 4, &found);
  return found;
}

static bool has(const narrow_root_list *l, enum narrow_kind kind, const char *name) {
  for (size_t i = 0; i < l->len; i++)
    if (l->at[i].kind == kind &&
        (name ? l->at[i].parameter && strcmp(l->at[i].parameter, name) == 0 : !l->at[i].parameter))
      return true;
  return false;
}

// What is promised is not named, and neither is the pointer that a number is loaded through.
START_TEST(parameters_and_loaded_values) {
  struct pass_session s = pass_session_open(text);
  narrow_root_list l = roots_of(&s, 0, false);
  ck_assert(has(&l, NARROW_PARAMETER, "pitch"));
  ck_assert(has(&l, NARROW_LOADED, NULL));
  ck_assert(!has(&l, NARROW_PARAMETER, "x"));
  ck_assert(!has(&l, NARROW_PARAMETER, "table"));
  ck_assert(!has(&l, NARROW_PARAMETER, "even"));
  for (size_t i = 0; i < l.len; i++)
    if (l.at[i].kind == NARROW_LOADED)
      ck_assert(mlirOperationEqual(l.at[i].load, pass_session_op(&s, OP_TILE_LOAD, 0)));
  pass_session_close(&s);
}
END_TEST

START_TEST(masks) {
  struct pass_session s = pass_session_open(text);
  narrow_root_list l = roots_of(&s, 1, false);
  ck_assert_uint_eq(l.len, 1);
  ck_assert(has(&l, NARROW_PARAMETER, "n"));
  pass_session_close(&s);
}
END_TEST

// Only what multiplies consecutive numbers is a stride that could be 1.
START_TEST(strides) {
  struct pass_session s = pass_session_open(text);
  narrow_root_list l = roots_of(&s, 0, true);
  ck_assert_uint_eq(l.len, 1);
  ck_assert(has(&l, NARROW_STRIDE, "step"));
  pass_session_close(&s);
}
END_TEST

TCase *narrow_access_tests(void) {
  TCase *t = tcase_create("narrow_access");
  tcase_add_test(t, parameters_and_loaded_values);
  tcase_add_test(t, masks);
  tcase_add_test(t, strides);
  return t;
}
