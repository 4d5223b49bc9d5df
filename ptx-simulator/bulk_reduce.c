// SPDX-License-Identifier: Apache-2.0
// Reductions of bulk stores, element by element (PTX ISA, "cp.reduce.async.bulk"): the arithmetic
// is that of atomics in global memory.
#include "ptx-simulator/alu.h"
#include "ptx-simulator/bulk_copy.h"

#include <stdlib.h>

enum { ADD, MIN, MAX, INC, DEC, AND, OR, XOR };

struct reduction {
  unsigned operation, bytes;
  const struct reduction *of_tensor; // [type], of the operation; NULL unless it is for tensors
  struct alu_instruction alu;        // neither inc nor dec
};

static const char *const names[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor", NULL};

// The PTX type of a tensor's elements for an operation; NULL: the operation is not for them.
static const char *type_of(enum sim_tensor_type type, unsigned operation) {
  static const char *const sums[] = {
      [SIM_TENSOR_U32] = "u32",   [SIM_TENSOR_I32] = "s32",     [SIM_TENSOR_U64] = "u64",
      [SIM_TENSOR_I64] = "u64",   [SIM_TENSOR_F16] = "f16",     [SIM_TENSOR_F32] = "f32",
      [SIM_TENSOR_BF16] = "bf16", [SIM_TENSOR_F32_FTZ] = "f32", [SIM_TENSOR_TF32_FTZ] = NULL};
  static const char *const orders[] = {
      [SIM_TENSOR_U32] = "u32",    [SIM_TENSOR_I32] = "s32", [SIM_TENSOR_U64] = "u64",
      [SIM_TENSOR_I64] = "s64",    [SIM_TENSOR_F16] = "f16", [SIM_TENSOR_BF16] = "bf16",
      [SIM_TENSOR_TF32_FTZ] = NULL};
  static const char *const bits[] = {[SIM_TENSOR_U32] = "b32",
                                     [SIM_TENSOR_I32] = "b32",
                                     [SIM_TENSOR_U64] = "b64",
                                     [SIM_TENSOR_I64] = "b64",
                                     [SIM_TENSOR_TF32_FTZ] = NULL};
  if (operation == ADD)
    return sums[type];
  if (operation == INC || operation == DEC)
    return type == SIM_TENSOR_U32 ? "u32" : NULL;
  return operation >= AND ? bits[type] : orders[type];
}

static bool fill(struct reduction *r, const char *type) {
  struct str parts[3];
  unsigned n = 0;
  unsigned digits = (unsigned)strcspn(type, "0123456789");
  unsigned bits = (unsigned)strtoul(type + digits, NULL, 10);
  r->bytes = bits / 8;
  if ((bits != 16 && bits != 32 && bits != 64) || strlen(type + digits) != 2)
    return false;
  if (r->operation == INC || r->operation == DEC)
    return strcmp(type, "u32") == 0;
  parts[n++] = str_from(names[r->operation]);
  if (r->operation == ADD && strcmp(type, "f32") == 0)
    parts[n++] = STR("ftz");
  else if (r->operation == ADD && r->bytes == 2)
    parts[n++] = STR("rn");
  parts[n++] = str_from(type);
  return alu_decode(parts, n, &r->alu) && r->alu.source_count == 2 && r->alu.result_count == 1;
}

static const struct reduction *new_for_tensors(struct decoder *d, unsigned operation) {
  struct reduction *r = arena_array(d->arena, struct reduction, 1 + SIM_TENSOR_TF32_FTZ + 1);
  r->of_tensor = r + 1;
  for (unsigned t = 0; t <= SIM_TENSOR_TF32_FTZ; t++) {
    const char *type = type_of((enum sim_tensor_type)t, operation);
    r[1 + t].operation = operation;
    if (!type || !fill(&r[1 + t], type))
      r[1 + t].bytes = 0;
  }
  return r;
}

const struct reduction *reduction_find(struct decoder *d, struct str operation, const char *type) {
  unsigned i = 0;
  while (names[i] && !str_is(operation, names[i]))
    i++;
  if (names[i] && !type)
    return new_for_tensors(d, i);
  struct reduction *r = arena_new(d->arena, struct reduction);
  r->operation = i;
  if (names[i] && fill(r, type))
    return r;
  decode_error(d, "unknown reduction '%.*s' of a bulk copy", STR_ARG(operation));
  return NULL;
}

const struct reduction *reduction_of_tensor(const struct reduction *any,
                                            enum sim_tensor_type type) {
  const struct reduction *r = &any->of_tensor[type];
  return r->bytes ? r : NULL;
}

unsigned reduction_bytes(const struct reduction *r) { return r->bytes; }

void reduction_apply(const struct reduction *r, uint8_t *to, const uint8_t *from) {
  uint64_t in[2] = {0}, out[ALU_MAX_RESULTS] = {0};
  memcpy(&in[0], to, r->bytes);
  memcpy(&in[1], from, r->bytes);
  if (r->operation == INC)
    out[0] = in[0] >= in[1] ? 0 : in[0] + 1;
  else if (r->operation == DEC)
    out[0] = in[0] == 0 || in[0] > in[1] ? in[1] : in[0] - 1;
  else
    r->alu.run(&r->alu, in, out);
  memcpy(to, out, r->bytes);
}
