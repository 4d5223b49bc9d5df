// SPDX-License-Identifier: Apache-2.0
// A small interpreter of tile IR, for comparing a function before and after passes. Values are
// arrays of 64-bit integers, one a tile element; pointers are addresses, and memory that was not
// written reads as a hash of its address.
#ifndef TEST_LOWERING_INTERPRET_H
#define TEST_LOWERING_INTERPRET_H

#include "mlir-dialects/ir.h"

// A digest of what the first function of the module returns and stores for these scalar arguments
// (pointers and integers). Fails the test on an op that it does not know.
uint64_t interpret(struct ir_context *c, MlirModule m, const int64_t *args);

#endif
