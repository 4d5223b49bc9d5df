// SPDX-License-Identifier: Apache-2.0
// The dimensions along which loaded tiles are reduced or scanned, through shape ops and loops.
#include "lowering/analysis/reduced_axes.h"
#include "pass_session.h"
#include "suites.h"

#define ONE                                                                                        \
  "operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, "  \
  "0, 0, 0, 0, 0, 0, 0>"
#define LOAD(name, shape)                                                                          \
  name " = \"tile.load\"(%p" shape ") {cache = \"\", evict = \"\", is_volatile = false, "          \
       "operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<" shape "x!tile.ptr<i32>>) -> "       \
       "tensor<" shape "xi32>\n"

// %a: rows summed, %b: transposed, then columns summed, %c: scanned along rows, %d: one row
// broadcast, %e: carried by a loop and summed behind it, %f: added in it,
// %g: all summed, rows first, %h: the result of a loop that runs not once.
static const char text[] =
    "module {\n"
    "func.func private @add(%x: i32, %y: i32) -> i32 {\n"
    "%s = arith.addi %x, %y : i32\nreturn %s : i32 }\n"
    "func.func @k(%p4x8: tensor<4x8x!tile.ptr<i32>>, %p1x8: tensor<1x8x!tile.ptr<i32>>, %n: i32) "
    "{\n%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n" LOAD("%a", "4x8") LOAD(
        "%b", "4x8") LOAD("%c", "4x8") LOAD("%d", "1x8") LOAD("%e", "4x8") LOAD("%f", "4x8")
        LOAD("%g", "4x8") LOAD(
            "%h",
            "4x8") "%sum = \"tile.reduce\"(%a) {axis = 1 : i32, combine = @add, " ONE
                   "} : (tensor<4x8xi32>) -> tensor<4xi32>\n"
                   "%bt = \"tile.trans\"(%b) {order = array<i32: 1, 0>} : (tensor<4x8xi32>) -> "
                   "tensor<8x4xi32>\n"
                   "%bb = arith.addi %bt, %bt : tensor<8x4xi32>\n"
                   "%sb = \"tile.reduce\"(%bb) {axis = 1 : i32, combine = @add, " ONE
                   "} : (tensor<8x4xi32>) -> tensor<8xi32>\n"
                   "%sc = \"tile.scan\"(%c) {axis = 0 : i32, combine = @add, reverse = false, " ONE
                   "} : (tensor<4x8xi32>) -> tensor<4x8xi32>\n"
                   "%db = \"tile.broadcast\"(%d) : (tensor<1x8xi32>) -> tensor<4x8xi32>\n"
                   "%sd = \"tile.reduce\"(%db) {axis = 0 : i32, combine = @add, " ONE
                   "} : (tensor<4x8xi32>) -> tensor<8xi32>\n"
                   "%l = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %e) -> (tensor<4x8xi32>) "
                   ": i32 {\n"
                   "%next = arith.addi %acc, %f : tensor<4x8xi32>\nscf.yield %next : "
                   "tensor<4x8xi32> }\n"
                   "%sl = \"tile.reduce\"(%l) {axis = 0 : i32, combine = @add, " ONE
                   "} : (tensor<4x8xi32>) -> tensor<8xi32>\n"
                   "%sg = \"tile.reduce\"(%g) {axis = 0 : i32, combine = @add, " ONE
                   "} : (tensor<4x8xi32>) -> tensor<8xi32>\n"
                   "%sgg = \"tile.reduce\"(%sg) {axis = 0 : i32, combine = @add, " ONE
                   "} : (tensor<8xi32>) -> i32\n"
                   "%m = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %h) -> (tensor<4x8xi32>) "
                   ": i32 {\n"
                   "scf.yield %f : tensor<4x8xi32> }\n"
                   "%sm = \"tile.reduce\"(%m) {axis = 0 : i32, combine = @add, " ONE
                   "} : (tensor<4x8xi32>) -> tensor<8xi32>\n"
                   "return } }";

START_TEST(from_reductions_back_to_loads) {
  static const uint32_t reduced[] = {2, 1, 1, 0, 1, 1, 3, 1}, scanned[] = {0, 0, 1, 0, 0, 0, 0, 0};
  struct pass_session s = pass_session_open(text);
  MlirOperation module = mlirModuleGetOperation(s.context.module);
  struct reduced_axes *r = reduced_axes_find(s.context.c, module, s.arena);
  struct reduced_axes *q = scanned_axes_find(s.context.c, module, s.arena);
  for (unsigned i = 0; i < COUNT_OF(reduced); i++) {
    MlirOperation load = pass_session_op(&s, OP_TILE_LOAD, i);
    ck_assert_msg(reduced_axes_of(r, load) == reduced[i], "load %u: reduced along %u", i,
                  reduced_axes_of(r, load));
    ck_assert_msg(reduced_axes_of(q, load) == scanned[i], "load %u: scanned along %u", i,
                  reduced_axes_of(q, load));
  }
  pass_session_close(&s);
}
END_TEST

TCase *reduced_axes_tests(void) {
  TCase *t = tcase_create("reduced_axes");
  tcase_add_test(t, from_reductions_back_to_loads);
  return t;
}
