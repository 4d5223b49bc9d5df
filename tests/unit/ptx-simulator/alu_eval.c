// SPDX-License-Identifier: Apache-2.0
// Splits opcodes at dots and runs them.
#include "alu_eval.h"

#include <check.h>

bool alu_known(const char *opcode, struct alu_instruction *ret) {
  struct str parts[16], rest = str_from(opcode);
  size_t count = 0;
  do {
    rest = str_split(rest, '.', &parts[count++]);
  } while (rest.ptr && count < COUNT_OF(parts));
  return alu_decode(parts, count, ret);
}

struct alu_instruction alu_get(const char *opcode) {
  struct alu_instruction in;
  if (!alu_known(opcode, &in))
    ck_abort_msg("%s is not known", opcode);
  return in;
}

static uint64_t run(const char *opcode, unsigned count, const uint64_t *sources) {
  struct alu_instruction in = alu_get(opcode);
  if (in.source_count != count)
    ck_abort_msg("%s has %u sources", opcode, in.source_count);
  uint64_t results[ALU_MAX_RESULTS];
  in.run(&in, sources, results);
  return results[0];
}

uint64_t alu_run1(const char *opcode, uint64_t a) { return run(opcode, 1, &a); }
uint64_t alu_run2(const char *opcode, uint64_t a, uint64_t b) {
  return run(opcode, 2, (uint64_t[]){a, b});
}
uint64_t alu_run3(const char *opcode, uint64_t a, uint64_t b, uint64_t c) {
  return run(opcode, 3, (uint64_t[]){a, b, c});
}
uint64_t alu_run4(const char *opcode, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  return run(opcode, 4, (uint64_t[]){a, b, c, d});
}
