// SPDX-License-Identifier: Apache-2.0
// Axis info: small kernels, each with what must be known about its last value; vector widths and
// the provenance of pointers likewise.
#include "lowering/analysis/axis_info.h"
#include "lowering/analysis/provenance.h"
#include "mlir-dialects/build.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>

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

static const struct {
  const char *name, *body, *want;
} cases[] = {
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
    {"a function of pairs tells neighbours apart",
     "%x = \"tile.map_elementwise\"(%ns) {function = @f, pack = 2 : i32, " ONE_VALUE
     "} : (tensor<64xi32>) -> tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [1]"},
    {"a function of single elements does not",
     "%x = \"tile.map_elementwise\"(%ns) {function = @f, pack = 1 : i32, " ONE_VALUE
     "} : (tensor<64xi32>) -> tensor<64xi32>\n" WATCH,
     "contiguity [1] divisibility [1] constancy [64]"},
};

struct session {
  struct arena *a;
  struct ir_context *c;
  MlirModule module;
  MlirValue watched;
};

static MlirValue last_result(MlirOperation func) {
  MlirValue last = {NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(func_entry(func)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (mlirOperationGetNumResults(op) > 0)
      last = mlirOperationGetResult(op, 0);
  return last;
}

static struct session open_session(const char *body) {
  struct session s = {.a = arena_create()};
  struct diag_engine *diag = diag_engine_create(s.a);
  s.c = ir_context_create(s.a, diag);
  s.module = ir_parse(s.c, "test.mlir", str_from(arena_printf(s.a, "%s%s", PREAMBLE, body)));
  ck_assert_msg(!mlirModuleIsNull(s.module), "%.400s", diag_first_error(diag));
  s.watched = last_result(module_kernel(s.c, s.module));
  return s;
}

static void close_session(struct session *s) {
  mlirModuleDestroy(s->module);
  ir_context_destroy(s->c);
  arena_destroy(s->a);
}

START_TEST(rules) {
  struct session s = open_session(cases[_i].body);
  struct axis_analysis *x = axis_analyse(s.c, mlirModuleGetOperation(s.module), s.a);
  struct strbuf got = {0};
  axis_describe_value(x, s.watched, &got);
  ck_assert_msg(strcmp(strbuf_cstr(&got), cases[_i].want) == 0, "%s:\n  got  %s\n  want %s",
                cases[_i].name, strbuf_cstr(&got), cases[_i].want);
  strbuf_finish(&got);
  close_session(&s);
}
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
  struct session s = open_session(body);
  struct axis_analysis *x = axis_analyse(s.c, mlirModuleGetOperation(s.module), s.a);
  ck_assert_int_eq(axis_info_of(x, s.watched)->divisibility[0], 1);
  free(body);
  close_session(&s);
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
  struct session s = open_session(body);
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
  close_session(&s);
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
  struct session s = open_session(origins[_i].body);
  ck_assert_msg(pointer_argument(s.c, s.watched) == origins[_i].want, "%s: argument %d, not %d",
                origins[_i].name, pointer_argument(s.c, s.watched), origins[_i].want);
  close_session(&s);
}
END_TEST

TCase *axis_info_tests(void) {
  TCase *t = tcase_create("axis_info");
  tcase_add_loop_test(t, rules, 0, (int)COUNT_OF(cases));
  tcase_add_test(t, deep_loops_end);
  tcase_add_loop_test(t, vector_widths, 0, (int)COUNT_OF(widths));
  tcase_add_loop_test(t, provenance, 0, (int)COUNT_OF(origins));
  return t;
}
