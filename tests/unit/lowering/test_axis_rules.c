// SPDX-License-Identifier: Apache-2.0
// Transfer functions of arithmetic, casts, pointers, loads and functions of elements.
#include "axis_cases.h"
#include "suites.h"

static const struct axis_case cases[] = {
    {"a range counts up from its start",
     "%x = \"tile.make_range\"() {end = 96 : i32, start = 32 : i32} : () -> tensor<64xi32>\n" WATCH,
     "contiguity [64] divisibility [32] constancy [1]"},
    {"a splat is equal throughout", "%x = arith.addi %ns, %ns : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [16] constancy [64]"},
    {"a constant is known", "%x = arith.constant dense<48> : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [16] constancy [64] constant 48"},
    {"block offset plus range keeps the run",
     "%z = arith.constant dense<0> : tensor<64xi32>\n"
     "%x = arith.addi %offs, %z : tensor<64xi32>\n" WATCH,
     "contiguity [64] divisibility [64] constancy [1]"},
    {"an offset of unknown alignment keeps the run only",
     "%x = arith.addi %r, %ms : tensor<64xi32>\n" WATCH,
     "contiguity [64] divisibility [1] constancy [1]"},
    {"a run minus a splat is a run", "%x = arith.subi %r, %ns : tensor<64xi32>\n" WATCH,
     "contiguity [64] divisibility [16] constancy [1]"},
    {"a splat minus a run counts down", "%x = arith.subi %ns, %r : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [1]"},
    {"a multiple of a run has no run",
     "%k = arith.constant dense<4> : tensor<64xi32>\n"
     "%x = arith.muli %r, %k : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [4] constancy [1]"},
    {"times one changes nothing",
     "%k = arith.constant dense<1> : tensor<64xi32>\n"
     "%x = arith.muli %offs, %k : tensor<64xi32>\n" WATCH,
     "contiguity [64] divisibility [64] constancy [1]"},
    {"a product multiplies what divides its factors",
     "%x = arith.muli %ns, %ns : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [256] constancy [64]"},
    {"a quotient is equal within one multiple of the divisor",
     "%x = arith.divsi %offs, %ns : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [16]"},
    {"division that truncates says nothing where the dividend may be negative",
     "%y = arith.addi %r, %ns : tensor<64xi32>\n"
     "%x = arith.divsi %y, %ns : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [1]"},
    {"an unsigned quotient does not care",
     "%y = arith.addi %r, %ns : tensor<64xi32>\n"
     "%x = arith.divui %y, %ns : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [16]"},
    {"an exact quotient keeps the rest of the divisibility",
     "%k = arith.constant dense<4> : tensor<64xi32>\n"
     "%x = arith.divsi %ns, %k : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [4] constancy [64]"},
    {"a remainder runs up to the divisor", "%x = arith.remsi %offs, %ns : tensor<64xi32>\n" WATCH,
     "contiguity [16] divisibility [16] constancy [1]"},
    {"program ids are divided by positive numbers: the remainder of a block runs up to the divisor",
     "%g = arith.divsi %pid, %m : i32\n%first = arith.muli %g, %c64 : i32\n"
     "%firsts = \"tile.splat\"(%first) : (i32) -> tensor<64xi32>\n"
     "%block = arith.addi %firsts, %r : tensor<64xi32>\n"
     "%x = arith.remsi %block, %ns : tensor<64xi32>\n" WATCH,
     "contiguity [16] divisibility [16] constancy [1]"},
    {"a remainder of a multiple is zero",
     "%k = arith.constant dense<8> : tensor<64xi32>\n"
     "%x = arith.remsi %ns, %k : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [any] constancy [64] constant 0"},
    {"masking with ones below a power of two is a remainder",
     "%k = arith.constant dense<7> : tensor<64xi32>\n"
     "%x = arith.andi %offs, %k : tensor<64xi32>\n" WATCH,
     "contiguity [8] divisibility [8] constancy [1]"},
    {"clearing low bits makes groups equal",
     "%k = arith.constant dense<-8> : tensor<64xi32>\n"
     "%x = arith.andi %offs, %k : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [8] constancy [8]"},
    {"shifting left multiplies",
     "%k = arith.constant dense<3> : tensor<64xi32>\n"
     "%x = arith.shli %ns, %k : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [128] constancy [64]"},
    {"shifting right divides, rounding down",
     "%k = arith.constant dense<3> : tensor<64xi32>\n"
     "%y = arith.addi %r, %ns : tensor<64xi32>\n"
     "%x = arith.shrsi %y, %k : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [8]"},
    {"a bound that is a multiple of 16 masks in groups of 16",
     "%x = arith.cmpi slt, %offs, %ns : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [16]"},
    {"the same from the other side", "%x = arith.cmpi sgt, %ns, %offs : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [16]"},
    {"below or equal has its edge one element off",
     "%x = arith.cmpi sle, %offs, %ns : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [1]"},
    {"below or equal to 31 is below 32",
     "%k = arith.constant dense<31> : tensor<64xi32>\n"
     "%x = arith.cmpi sle, %offs, %k : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [32]"},
    {"an unknown bound masks element by element",
     "%x = arith.cmpi slt, %offs, %ms : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [1]"},
    {"equality with a bound is no group", "%x = arith.cmpi eq, %offs, %ns : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [1]"},
    {"both masks must hold",
     "%k = arith.constant dense<8> : tensor<64xi32>\n"
     "%y = arith.cmpi slt, %offs, %ns : tensor<64xi32>\n"
     "%z = arith.cmpi sge, %offs, %k : tensor<64xi32>\n"
     "%x = arith.andi %y, %z : tensor<64xi1>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [8]"},
    {"a select by one condition keeps the common run",
     "%s = arith.addi %r, %ns : tensor<64xi32>\n"
     "%x = arith.select %cond, %s, %offs : tensor<64xi32>\n" WATCH,
     "contiguity [64] divisibility [16] constancy [1]"},
    {"a select by a mask runs within the mask's groups",
     "%s = arith.addi %r, %ns : tensor<64xi32>\n"
     "%y = arith.cmpi slt, %offs, %ns : tensor<64xi32>\n"
     "%x = arith.select %y, %s, %offs : tensor<64xi1>, tensor<64xi32>\n" WATCH,
     "contiguity [16] divisibility [16] constancy [1]"},
    {"the minimum of two runs is one of them",
     "%s = arith.addi %r, %ns : tensor<64xi32>\n"
     "%x = arith.minsi %s, %offs : tensor<64xi32>\n" WATCH,
     "contiguity [64] divisibility [16] constancy [1]"},
    {"a run clamped by a bound is no run", "%x = arith.minsi %offs, %ns : tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [1]"},
    {"widening keeps a run", "%x = arith.extsi %offs : tensor<64xi32> to tensor<64xi64>\n" WATCH,
     "contiguity [64] divisibility [64] constancy [1]"},
    {"zero extension keeps a run",
     "%x = arith.extui %offs : tensor<64xi32> to tensor<64xi64>\n" WATCH,
     "contiguity [64] divisibility [64] constancy [1]"},
    {"zero extension breaks a run that may pass zero",
     "%y = arith.addi %r, %ns : tensor<64xi32>\n"
     "%x = arith.extui %y : tensor<64xi32> to tensor<64xi64>\n" WATCH,
     "contiguity [16] divisibility [16] constancy [1]"},
    {"64-bit offsets",
     "%w = arith.extsi %r : tensor<64xi32> to tensor<64xi64>\n"
     "%ls = \"tile.splat\"(%l) : (i64) -> tensor<64xi64>\n"
     "%x = arith.addi %w, %ls : tensor<64xi64>\n" WATCH,
     "contiguity [64] divisibility [8] constancy [1]"},
    {"narrowing to bytes wraps only where it is aligned",
     "%y = arith.addi %r, %ns : tensor<64xi32>\n"
     "%x = arith.trunci %y : tensor<64xi32> to tensor<64xi8>\n" WATCH,
     "contiguity [16] divisibility [16] constancy [1]"},
    {"a boolean widened keeps its groups",
     "%y = arith.cmpi slt, %offs, %ns : tensor<64xi32>\n"
     "%x = arith.extui %y : tensor<64xi1> to tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [16]"},
    {"f32 pointers count 4 bytes", POINTERS("%p", "f32"),
     "contiguity [64] divisibility [16] constancy [1]"},
    {"f16 pointers count 2 bytes", POINTERS("%h", "f16"),
     "contiguity [64] divisibility [16] constancy [1]"},
    {"a pointer of unknown alignment", POINTERS("%q", "f32"),
     "contiguity [64] divisibility [1] constancy [1]"},
    {"an unaligned offset aligns to the element",
     "%o = arith.addi %r, %ms : tensor<64xi32>\n"
     "%ps = \"tile.splat\"(%d) : (!tile.ptr<f64>) -> tensor<64x!tile.ptr<f64>>\n"
     "%x = \"tile.addptr\"(%ps, %o) : (tensor<64x!tile.ptr<f64>>, tensor<64xi32>) -> "
     "tensor<64x!tile.ptr<f64>>\n" WATCH,
     "contiguity [64] divisibility [8] constancy [1]"},
    {"a pointer seen as another size has no run",
     "%ps = \"tile.splat\"(%p) : (!tile.ptr<f32>) -> tensor<64x!tile.ptr<f32>>\n"
     "%y = \"tile.addptr\"(%ps, %offs) : (tensor<64x!tile.ptr<f32>>, tensor<64xi32>) -> "
     "tensor<64x!tile.ptr<f32>>\n"
     "%x = \"tile.bitcast\"(%y) : (tensor<64x!tile.ptr<f32>>) -> tensor<64x!tile.ptr<f16>>\n" WATCH,
     "contiguity [1] divisibility [4] constancy [1]"},
    {"a pointer seen as another type of that size keeps it",
     "%ps = \"tile.splat\"(%p) : (!tile.ptr<f32>) -> tensor<64x!tile.ptr<f32>>\n"
     "%y = \"tile.addptr\"(%ps, %offs) : (tensor<64x!tile.ptr<f32>>, tensor<64xi32>) -> "
     "tensor<64x!tile.ptr<f32>>\n"
     "%x = \"tile.bitcast\"(%y) : (tensor<64x!tile.ptr<f32>>) -> tensor<64x!tile.ptr<i32>>\n" WATCH,
     "contiguity [64] divisibility [16] constancy [1]"},
    {"what is loaded is equal where pointers and mask are",
     "%k = arith.constant dense<8> : tensor<64xi32>\n"
     "%o = arith.divui %offs, %k : tensor<64xi32>\n"
     "%mask = arith.cmpi slt, %offs, %ns : tensor<64xi32>\n"
     "%ps = \"tile.splat\"(%p) : (!tile.ptr<f32>) -> tensor<64x!tile.ptr<f32>>\n"
     "%y = \"tile.addptr\"(%ps, %o) : (tensor<64x!tile.ptr<f32>>, tensor<64xi32>) -> "
     "tensor<64x!tile.ptr<f32>>\n"
     "%x = \"tile.load\"(%y, %mask) {cache = \"\", evict = \"\", is_volatile = false, "
     "operandSegmentSizes = array<i32: 1, 1, 0>} : "
     "(tensor<64x!tile.ptr<f32>>, tensor<64xi1>) -> tensor<64xf32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [8]"},
    {"a function of pairs tells neighbours apart",
     "%x = \"tile.map_elementwise\"(%ns) {function = @f, pack = 2 : i32, " ONE_VALUE
     "} : (tensor<64xi32>) -> tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [1]"},
    {"a function of single elements does not",
     "%x = \"tile.map_elementwise\"(%ns) {function = @f, pack = 1 : i32, " ONE_VALUE
     "} : (tensor<64xi32>) -> tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [64]"},
};

START_TEST(rules) { check_axis_case(&cases[_i]); }
END_TEST

TCase *axis_rules_tests(void) {
  TCase *t = tcase_create("axis_rules");
  tcase_add_loop_test(t, rules, 0, (int)COUNT_OF(cases));
  return t;
}
