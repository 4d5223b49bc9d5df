// SPDX-License-Identifier: Apache-2.0
// Axis info through control flow, hints and assumptions; vector widths; the provenance of pointers.
#include "axis_cases.h"
#include "lowering/analysis/provenance.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>

static const struct axis_case cases[] = {
    {"hints on an op",
     "%x = \"tile.addptr\"(%q, %m) {tile.divisibility = array<i32: 16>} : (!tile.ptr<f32>, i32) -> "
     "!tile.ptr<f32>\n" WATCH,
     "contiguity [1] divisibility [16] constancy [1]"},
    {"hints beside the rules: the larger number counts",
     "%x = arith.remsi %offs, %ms {tile.contiguity = array<i32: 64>, tile.divisibility = "
     "array<i32: 32>, tile.constancy = array<i32: 1>} : tensor<64xi32>\n" WATCH,
     "contiguity [64] divisibility [32] constancy [1]"},
    {"an assumption holds where it is reached",
     "%k = arith.constant 32 : i32\n%z = arith.constant 0 : i32\n"
     "%rem = arith.remsi %m, %k : i32\n%eq = arith.cmpi eq, %rem, %z : i32\n"
     "\"tile.assume\"(%eq) : (i1) -> ()\n"
     "%x = arith.addi %m, %z : i32\n" WATCH,
     "contiguity [1] divisibility [32] constancy [1]"},
    {"a loop variable is divided by start and step",
     "%z = arith.constant 0 : i32\n%k = arith.constant 32 : i32\n"
     "%x = scf.for %i = %z to %n step %k iter_args(%last = %n) -> (i32) : i32 { "
     "scf.yield %i : i32 }\n" WATCH,
     "contiguity [1] divisibility [16] constancy [1]"},
    {"a carried pointer is what start and step have in common",
     "%z = arith.constant 0 : i32\n%k = arith.constant 4 : i32\n"
     "%x = scf.for %i = %z to %n step %k iter_args(%o = %offs) -> (tensor<64xi32>) : i32 { "
     "%ks = arith.constant dense<8> : tensor<64xi32>\n"
     "%next = arith.addi %o, %ks : tensor<64xi32>\n"
     "scf.yield %next : tensor<64xi32> }\n" WATCH,
     "contiguity [64] divisibility [8] constancy [1]"},
    {"a carried value that keeps halving ends with nothing",
     "%z = arith.constant 0 : i32\n%k = arith.constant 2 : i32\n"
     "%big = arith.constant 65536 : i32\n"
     "%x = scf.for %i = %z to %n step %k iter_args(%o = %big) -> (i32) : i32 { "
     "%next = arith.divsi %o, %k : i32\nscf.yield %next : i32 }\n" WATCH,
     "contiguity [1] divisibility [1] constancy [1]"},
    {"both branches",
     "%x = scf.if %cond -> (tensor<64xi32>) { scf.yield %offs : tensor<64xi32> } else { "
     "%s = arith.addi %r, %ns : tensor<64xi32>\nscf.yield %s : tensor<64xi32> }\n" WATCH,
     "contiguity [64] divisibility [16] constancy [1]"},
    {"a while loop",
     "%x = scf.while (%o = %offs) : (tensor<64xi32>) -> tensor<64xi32> { "
     "scf.condition(%cond) %o : tensor<64xi32> } do { ^bb0(%o: tensor<64xi32>):\n"
     "%next = arith.addi %o, %ns : tensor<64xi32>\nscf.yield %next : tensor<64xi32> }\n" WATCH,
     "contiguity [64] divisibility [16] constancy [1]"},
};

START_TEST(control_flow_and_hints) { check_axis_case(&cases[_i]); }
END_TEST

START_TEST(deep_loops_end) {
  // Every level feeds the next and itself: without a budget the rounds would multiply.
  struct strbuf text = {0};
  strbuf_puts(&text, "%z = arith.constant 0 : i32\n%k = arith.constant 4 : i32\n");
  enum { DEPTH = 40 };
  for (int i = 0; i < DEPTH; i++)
    strbuf_printf(&text,
                  "%%v%d = scf.for %%i%d = %%z to %%n step %%k iter_args(%%a%d = %s%d) -> "
                  "(i32) : i32 {\n",
                  i, i, i, i ? "%a" : "%k", i ? i - 1 : 0);
  strbuf_printf(&text,
                "%%w = arith.addi %%a%d, %%n : i32\n%%u = arith.shrsi %%w, %%k : i32\n"
                "scf.yield %%u : i32 }\n",
                DEPTH - 1);
  for (int i = DEPTH - 2; i >= 0; i--)
    strbuf_printf(&text, "scf.yield %%v%d : i32 }\n", i + 1);
  strbuf_puts(&text, "%x = arith.addi %v0, %z : i32\n" WATCH);
  char *body = strbuf_take(&text);
  for (char *at = body; (at = strstr(at, "%k0")) != NULL;)
    memmove(at + 2, at + 3, strlen(at + 3) + 1); // the first loop starts from %k
  struct axis_session s = axis_session_open(body);
  struct axis_analysis *x = axis_analyse(s.c, mlirModuleGetOperation(s.module), s.a);
  ck_assert_int_eq(axis_info_of(x, s.watched)->divisibility[0], 1);
  free(body);
  axis_session_close(&s);
}
END_TEST

// ---- vector width ----

static const struct {
  const char *name, *ptr, *type, *offset, *mask;
  unsigned register_bits; // of a layout whose registers run along the tile
  unsigned want;
} widths[] = {
    {"f32 fills 128 bits", "%p", "f32", "%offs", NULL, 3, 4},
    {"f16 fills 128 bits", "%h", "f16", "%offs", NULL, 3, 8},
    {"f64 fills 128 bits", "%d", "f64", "%offs", NULL, 3, 2},
    {"no wider than the layout", "%h", "f16", "%offs", NULL, 1, 2},
    {"unaligned pointers go alone", "%q", "f32", "%offs", NULL, 3, 1},
    {"bytes of unknown alignment go alone", "%b", "i8", "%offs", NULL, 3, 1},
    {"strided pointers go alone", "%p", "f32", "%twice", NULL, 3, 1},
    {"a round mask lets vectors pass", "%p", "f32", "%offs", "%round", 3, 4},
    {"an unknown mask may cut vectors", "%p", "f32", "%offs", "%odd", 3, 4},
};

static bool find_load(MlirOperation op, void *user) {
  MlirOperation *found = user;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (name.length == 9 && memcmp(name.data, "tile.load", 9) == 0)
    *found = op;
  return true;
}

START_TEST(vector_widths) {
  char body[2048];
  const char *mask = widths[_i].mask, *type = widths[_i].type;
  snprintf(body, sizeof body,
           "%%twice = arith.addi %%offs, %%offs : tensor<64xi32>\n"
           "%%round = arith.cmpi slt, %%offs, %%ns : tensor<64xi32>\n"
           "%%odd = arith.cmpi slt, %%offs, %%ms : tensor<64xi32>\n"
           "%%ps = \"tile.splat\"(%s) : (!tile.ptr<%s>) -> tensor<64x!tile.ptr<%s>>\n"
           "%%y = \"tile.addptr\"(%%ps, %s) : (tensor<64x!tile.ptr<%s>>, tensor<64xi32>) -> "
           "tensor<64x!tile.ptr<%s>>\n"
           "%%x = \"tile.load\"(%%y%s%s) {cache = \"\", evict = \"\", is_volatile = false, "
           "operandSegmentSizes = array<i32: 1, %d, 0>} : (tensor<64x!tile.ptr<%s>>%s) -> "
           "tensor<64x%s>\n" WATCH,
           widths[_i].ptr, type, type, widths[_i].offset, type, type, mask ? ", " : "",
           mask ? mask : "", mask ? 1 : 0, type, mask ? ", tensor<64xi1>" : "", type);
  struct axis_session s = axis_session_open(body);
  struct axis_analysis *x = axis_analyse(s.c, mlirModuleGetOperation(s.module), s.a);
  MlirOperation load = {NULL};
  ir_walk(mlirModuleGetOperation(s.module), find_load, &load);
  struct linear_layout registers = ll_identity(LL_REGISTER, widths[_i].register_bits, 1, 0);
  struct linear_layout lanes = ll_identity(LL_LANE, 6 - widths[_i].register_bits, 1, 0);
  struct linear_layout l = ll_product(&registers, &lanes);
  struct target t = {.name = "test", .max_vector_bits = 128};
  struct axis_vector v = axis_vector_of(x, load, &t, &l);
  ck_assert_msg(v.width == widths[_i].want, "%s: %u, not %u", widths[_i].name, v.width,
                widths[_i].want);
  ck_assert_msg(v.uniform == (!mask || strcmp(mask, "%odd") != 0), "%s: uniform is %d",
                widths[_i].name, v.uniform);
  ck_assert_uint_eq(axis_vector_of(x, load, &t, NULL).width, 1);
  axis_session_close(&s);
}
END_TEST

// ---- provenance ----

static const struct {
  const char *name, *body;
  int want;
} origins[] = {
    {"arithmetic on a parameter", POINTERS("%h", "f16"), 1},
    {"a parameter itself",
     "%z = arith.constant 0 : i32\n%x = \"tile.addptr\"(%q, %z) : (!tile.ptr<f32>, i32) -> "
     "!tile.ptr<f32>\n" WATCH,
     2},
    {"one of two parameters", "%x = arith.select %cond, %p, %q : !tile.ptr<f32>\n" WATCH, -1},
    {"one parameter both ways",
     "%o = \"tile.addptr\"(%q, %n) : (!tile.ptr<f32>, i32) -> !tile.ptr<f32>\n"
     "%x = arith.select %cond, %o, %q : !tile.ptr<f32>\n" WATCH,
     2},
    {"carried by a loop",
     "%z = arith.constant 0 : i32\n%k = arith.constant 2 : i32\n"
     "%x = scf.for %i = %z to %n step %k iter_args(%a = %q) -> (!tile.ptr<f32>) : i32 { "
     "%next = \"tile.addptr\"(%a, %k) : (!tile.ptr<f32>, i32) -> !tile.ptr<f32>\n"
     "scf.yield %next : !tile.ptr<f32> }\n" WATCH,
     2},
    {"chosen by a branch",
     "%x = scf.if %cond -> (!tile.ptr<f32>) { scf.yield %p : !tile.ptr<f32> } else { "
     "scf.yield %p : !tile.ptr<f32> }\n" WATCH,
     0},
    {"made from an integer", "%x = \"tile.int_to_ptr\"(%l) : (i64) -> !tile.ptr<f32>\n" WATCH, -1},
};

START_TEST(provenance) {
  struct axis_session s = axis_session_open(origins[_i].body);
  ck_assert_msg(pointer_argument(s.c, s.watched) == origins[_i].want, "%s: argument %d, not %d",
                origins[_i].name, pointer_argument(s.c, s.watched), origins[_i].want);
  axis_session_close(&s);
}
END_TEST

TCase *axis_info_tests(void) {
  TCase *t = tcase_create("axis_info");
  tcase_add_loop_test(t, control_flow_and_hints, 0, (int)COUNT_OF(cases));
  tcase_add_test(t, deep_loops_end);
  tcase_add_loop_test(t, vector_widths, 0, (int)COUNT_OF(widths));
  tcase_add_loop_test(t, provenance, 0, (int)COUNT_OF(origins));
  return t;
}
