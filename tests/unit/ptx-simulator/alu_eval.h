// SPDX-License-Identifier: Apache-2.0
// Runs one PTX instruction by its opcode, for tests of the arithmetic.
#ifndef TESTS_UNIT_SIMULATOR_ALU_EVAL_H
#define TESTS_UNIT_SIMULATOR_ALU_EVAL_H

#include "ptx-simulator/alu.h"

// As ck_assert_uint_eq, for loops: Check writes to a file at each assertion.
#define AGREE(got, expected)                                                                       \
  do {                                                                                             \
    uint64_t got_ = (got), expected_ = (expected);                                                 \
    if (got_ != expected_)                                                                         \
      ck_abort_msg("%s is %llx, not %llx", #got, (unsigned long long)got_,                         \
                   (unsigned long long)expected_);                                                 \
  } while (0)

bool alu_known(const char *opcode, struct alu_instruction *ret);
// Fails the test if the opcode is unknown or has other sources.
struct alu_instruction alu_get(const char *opcode);
uint64_t alu_run1(const char *opcode, uint64_t a);
uint64_t alu_run2(const char *opcode, uint64_t a, uint64_t b);
uint64_t alu_run3(const char *opcode, uint64_t a, uint64_t b, uint64_t c);
uint64_t alu_run4(const char *opcode, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

#endif
