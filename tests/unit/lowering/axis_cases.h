// SPDX-License-Identifier: Apache-2.0
// Small kernels as text, each with the axis info of the first result of its last op: for the tests
// of the analysis and of its transfer functions.
#ifndef TEST_LOWERING_AXIS_CASES_H
#define TEST_LOWERING_AXIS_CASES_H

#include "assertions.h"
#include "lowering/analysis/axis_info.h"

#define PREAMBLE                                                                                   \
  "module { func.func @k(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, "                      \
  "%h: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %q: !tile.ptr<f32>, "                        \
  "%d: !tile.ptr<f64> {tile.divisibility = 16 : i32}, %b: !tile.ptr<i8>, "                         \
  "%n: i32 {tile.divisibility = 16 : i32}, %m: i32, %l: i64 {tile.divisibility = 8 : i32}, "       \
  "%cond: i1) attributes {tile.kernel} {\n"                                                        \
  "%r = \"tile.make_range\"() {end = 64 : i32, start = 0 : i32} : () -> tensor<64xi32>\n"          \
  "%pid = \"tile.get_program_id\"() {axis = 0 : i32} : () -> i32\n"                                \
  "%c64 = arith.constant 64 : i32\n"                                                               \
  "%start = arith.muli %pid, %c64 : i32\n"                                                         \
  "%starts = \"tile.splat\"(%start) : (i32) -> tensor<64xi32>\n"                                   \
  "%offs = arith.addi %starts, %r : tensor<64xi32>\n"                                              \
  "%ns = \"tile.splat\"(%n) : (i32) -> tensor<64xi32>\n"                                           \
  "%ms = \"tile.splat\"(%m) : (i32) -> tensor<64xi32>\n"

// Ends the kernel. The test asks about the result of the last op.
#define WATCH "return } }\n"

#define ONE_VALUE                                                                                  \
  "operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, "                                     \
  "resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>"

#define POINTERS(ptr, type)                                                                        \
  "%ps = \"tile.splat\"(" ptr ") : (!tile.ptr<" type ">) -> tensor<64x!tile.ptr<" type ">>\n"      \
  "%x = \"tile.addptr\"(%ps, %offs) : (tensor<64x!tile.ptr<" type ">>, tensor<64xi32>) -> "        \
  "tensor<64x!tile.ptr<" type ">>\n" WATCH

struct axis_case {
  const char *name, *body, *want; // want: as axis_describe_value prints it
};

struct axis_session {
  struct arena *a;
  struct ir_context *c;
  MlirModule module;
  MlirValue watched; // first result of the last op
};

struct axis_session axis_session_open(const char *body);
void axis_session_close(struct axis_session *s);
void check_axis_case(const struct axis_case *k);

#endif
