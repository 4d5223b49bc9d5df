// SPDX-License-Identifier: Apache-2.0
// IR text, layouts and JSON.
#include "tests/limits/bombs.h"

static void repeat(FILE *f, int count, const char *text) {
  for (int i = 0; i < count; i++)
    fputs(text, f);
}

static void regions(FILE *f, int size) {
  fputs("module { func.func @k(%c: i1) {\n", f);
  repeat(f, size, "scf.if %c {\n");
  repeat(f, size, "}\n");
  fputs("return } }\n", f);
}

static void loops(FILE *f, int size) {
  fputs("module { func.func @k(%n: index) {\n", f);
  for (int i = 0; i < size; i++)
    fprintf(f, "scf.for %%i%d = %%n to %%n step %%n {\n", i);
  repeat(f, size, "}\n");
  fputs("return } }\n", f);
}

static void attributes_nested(FILE *f, int size) {
  fputs("module { func.func @k() attributes {a = ", f);
  repeat(f, size, "[");
  repeat(f, size, "]");
  fputs("} { return } }\n", f);
}

static void attributes_long(FILE *f, int size) {
  fputs("module { func.func @k() attributes {a = [0", f);
  repeat(f, size, ", 1");
  fputs("]} { return } }\n", f);
}

static void types_nested(FILE *f, int size) {
  fputs("module { func.func @k(%x: ", f);
  repeat(f, size, "tuple<");
  fputs("i32", f);
  repeat(f, size, ">");
  fputs(") { return } }\n", f);
}

static void chain(FILE *f, int size) {
  fputs("module { func.func @k(%v0: i32) -> i32 {\n", f);
  for (int i = 1; i <= size; i++)
    fprintf(f, "%%v%d = arith.addi %%v%d, %%v%d : i32\n", i, i - 1, i - 1);
  fprintf(f, "return %%v%d : i32 } }\n", size);
}

static void functions(FILE *f, int size) {
  fputs("module {\n", f);
  for (int i = 0; i < size; i++)
    fprintf(f, "func.func @k%d() { return }\n", i);
  fputs("}\n", f);
}

static void modules(FILE *f, int size) {
  repeat(f, size, "module {\n");
  repeat(f, size, "}\n");
}

#define PASSES "@ --passes=canonicalize,cse,dce"
const struct bomb text_bombs[] = {
    {"regions.mlir", regions, 100000, PASSES, "E0601"},
    {"regions-100.mlir", regions, 100, PASSES, ""},
    {"loops.mlir", loops, 10000, PASSES, "E0601"},
    {"modules.mlir", modules, 100000, PASSES, "E0601"},
    {"attributes-nested.mlir", attributes_nested, 100000, PASSES, "E0601"},
    {"attributes-long.mlir", attributes_long, 1000000, PASSES, ""},
    {"types-nested.mlir", types_nested, 100000, PASSES, "E0601"},
    {"chain.mlir", chain, 20000, PASSES, ""},
    {"chain-far.mlir", chain, 200000, PASSES, "E0950"},
    {"functions.mlir", functions, 10000, PASSES, ""},
    {NULL, NULL, 0, NULL, NULL},
};
