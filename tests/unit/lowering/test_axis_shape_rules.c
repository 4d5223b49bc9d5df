// SPDX-License-Identifier: Apache-2.0
// Transfer functions of shape ops and of ops across elements.
#include "axis_cases.h"
#include "suites.h"

static const struct axis_case cases[] = {
    {"a new dimension is one element of the old values",
     "%x = \"tile.expand_dims\"(%ns) {axis = 0 : i32} : (tensor<64xi32>) -> "
     "tensor<1x64xi32>\n" WATCH,
     "contiguity [1, 1] divisibility [16, 16] constancy [1, 64]"},
    {"rows times stride plus columns",
     "%rows = \"tile.expand_dims\"(%offs) {axis = 1 : i32} : (tensor<64xi32>) -> "
     "tensor<64x1xi32>\n"
     "%stride = \"tile.splat\"(%n) : (i32) -> tensor<64x1xi32>\n"
     "%first = arith.muli %rows, %stride : tensor<64x1xi32>\n"
     "%first2 = \"tile.broadcast\"(%first) : (tensor<64x1xi32>) -> tensor<64x64xi32>\n"
     "%cols = \"tile.expand_dims\"(%r) {axis = 0 : i32} : (tensor<64xi32>) -> tensor<1x64xi32>\n"
     "%cols2 = \"tile.broadcast\"(%cols) : (tensor<1x64xi32>) -> tensor<64x64xi32>\n"
     "%x = arith.addi %first2, %cols2 : tensor<64x64xi32>\n" WATCH,
     "contiguity [1, 64] divisibility [1, 16] constancy [1, 1]"},
    {"a transposed tile runs the other way",
     "%cols = \"tile.expand_dims\"(%r) {axis = 0 : i32} : (tensor<64xi32>) -> tensor<1x64xi32>\n"
     "%x = \"tile.trans\"(%cols) {order = array<i32: 1, 0>} : (tensor<1x64xi32>) -> "
     "tensor<64x1xi32>\n" WATCH,
     "contiguity [64, 1] divisibility [any, 1] constancy [1, 1]"},
    {"a reshaped run is a run in the last dimension",
     "%x = \"tile.reshape\"(%offs) {allow_reorder = false} : (tensor<64xi32>) -> "
     "tensor<4x16xi32>\n" WATCH,
     "contiguity [1, 16] divisibility [1, 16] constancy [1, 1]"},
    {"equal groups survive a reshape",
     "%k = arith.constant dense<32> : tensor<64xi32>\n"
     "%y = arith.divui %offs, %k : tensor<64xi32>\n"
     "%x = \"tile.reshape\"(%y) {allow_reorder = false} : (tensor<64xi32>) -> "
     "tensor<4x16xi32>\n" WATCH,
     "contiguity [1, 1] divisibility [1, 1] constancy [2, 16]"},
    {"a flattened run stops at the row",
     "%cols = \"tile.expand_dims\"(%r) {axis = 0 : i32} : (tensor<64xi32>) -> tensor<1x64xi32>\n"
     "%cols2 = \"tile.broadcast\"(%cols) : (tensor<1x64xi32>) -> tensor<2x64xi32>\n"
     "%x = \"tile.reshape\"(%cols2) {allow_reorder = false} : (tensor<2x64xi32>) -> "
     "tensor<128xi32>\n" WATCH,
     "contiguity [64] divisibility [any] constancy [1]"},
    {"elements in any order say nothing",
     "%x = \"tile.reshape\"(%offs) {allow_reorder = true} : (tensor<64xi32>) -> "
     "tensor<4x16xi32>\n" WATCH,
     "contiguity [1, 1] divisibility [1, 1] constancy [1, 1]"},
    {"equal rows have equal sums",
     "%y = arith.divsi %offs, %ns : tensor<64xi32>\n"
     "%e = \"tile.expand_dims\"(%y) {axis = 1 : i32} : (tensor<64xi32>) -> tensor<64x1xi32>\n"
     "%z = \"tile.broadcast\"(%e) : (tensor<64x1xi32>) -> tensor<64x8xi32>\n"
     "%x = \"tile.reduce\"(%z) {axis = 1 : i32, combine = @f, " ONE_VALUE
     "} : (tensor<64x8xi32>) -> tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [16]"},
    {"a scan tells the elements along its axis apart",
     "%e = \"tile.expand_dims\"(%ns) {axis = 1 : i32} : (tensor<64xi32>) -> tensor<64x1xi32>\n"
     "%z = \"tile.broadcast\"(%e) : (tensor<64x1xi32>) -> tensor<64x8xi32>\n"
     "%x = \"tile.scan\"(%z) {axis = 1 : i32, combine = @f, reverse = false, " ONE_VALUE
     "} : (tensor<64x8xi32>) -> tensor<64x8xi32>\n" WATCH,
     "contiguity [1, 1] divisibility [1, 1] constancy [64, 1]"},
    {"a gather is equal where its index is",
     "%y = arith.divsi %offs, %ns : tensor<64xi32>\n"
     "%z = arith.muli %offs, %ns : tensor<64xi32>\n"
     "%x = \"tile.gather\"(%z, %y) {axis = 0 : i32} : (tensor<64xi32>, tensor<64xi32>) -> "
     "tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [16] constancy [16]"},
    {"both halves of a join run",
     "%s = arith.addi %r, %ns : tensor<64xi32>\n"
     "%x = \"tile.join\"(%s, %offs) : (tensor<64xi32>, tensor<64xi32>) -> tensor<64x2xi32>\n" WATCH,
     "contiguity [64, 1] divisibility [16, 1] constancy [1, 1]"},
    {"a half runs as the whole does",
     "%s = arith.addi %r, %ns : tensor<64xi32>\n"
     "%j = \"tile.join\"(%s, %offs) : (tensor<64xi32>, tensor<64xi32>) -> tensor<64x2xi32>\n"
     "%x, %y = \"tile.split\"(%j) : (tensor<64x2xi32>) -> (tensor<64xi32>, tensor<64xi32>)\n" WATCH,
     "contiguity [64] divisibility [16] constancy [1]"},
    {"the only element of a tile",
     "%o = \"tile.splat\"(%n) : (i32) -> tensor<1xi32>\n"
     "%x = \"tile.unsplat\"(%o) : (tensor<1xi32>) -> i32\n" WATCH,
     "contiguity [1] divisibility [16] constancy [1]"},
};

START_TEST(rules) { check_axis_case(&cases[_i]); }
END_TEST

TCase *axis_shape_rules_tests(void) {
  TCase *t = tcase_create("axis_shape_rules");
  tcase_add_loop_test(t, rules, 0, (int)COUNT_OF(cases));
  return t;
}
