// SPDX-License-Identifier: Apache-2.0
// Integer operations of arith on known numbers: for folding constants, and for counting the
// iterations of loops. Numbers are passed in 64 bits; bits above the op's width are ignored.
#ifndef TILE_LOWERING_ANALYSIS_INT_ARITH_H
#define TILE_LOWERING_ANALYSIS_INT_ARITH_H

#include "mlir-dialects/ir.h"

int64_t sign_extend(int64_t v, unsigned bits);
uint64_t zero_extend(int64_t v, unsigned bits);
// One of the ten predicates of arith.cmpi on two integers of that width.
bool compare_ints(int predicate, int64_t x, int64_t y, unsigned bits);
// An op of two integers of that width. False: another op, or the result is undefined (division by
// zero, shifts by the width and more).
bool int_binary(enum op_id id, int64_t x, int64_t y, unsigned bits, int64_t *ret);
// An op of one integer, of so many bits before it.
bool int_unary(enum op_id id, int64_t x, unsigned bits, int64_t *ret);

#endif
