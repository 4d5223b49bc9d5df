// SPDX-License-Identifier: Apache-2.0
// Warps with many accumulators take most of the producer's share.
#include "lowering/plan/register_shares.h"

#include "lowering/analysis/layout_flow.h"

enum {
  PRODUCER_REGISTERS = 40,
  MAX_REGISTERS = 240,    // of a thread that computes
  SM_REGISTERS = 65536,   // of a multiprocessor
  MANY_ACCUMULATORS = 64, // of a thread: fewer leave registers enough to all warps
};

static bool continues_sum(struct ir_context *c, MlirOperation dot) {
  MlirOperation from = value_def(mlirOperationGetOperand(dot, 2));
  return !mlirOperationIsNull(from) && op_is(c, from, OP_TILE_DOT);
}

// Accumulators of all products in the block: a thread has them at once.
static unsigned accumulators(struct ir_context *c, MlirBlock block) {
  unsigned count = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (op_is(c, op, OP_TILE_DOT) && !continues_sum(c, op))
      count += layout_registers(c, mlirValueGetType(mlirOperationGetResult(op, 0)));
  return count;
}

struct many_look {
  struct ir_context *c;
  bool found;
};

static bool sees_many(MlirOperation op, void *user) {
  struct many_look *l = user;
  l->found |= op_is(l->c, op, OP_TILE_DOT) &&
              accumulators(l->c, mlirOperationGetBlock(op)) > MANY_ACCUMULATORS;
  return !l->found;
}

// The given limit, or the registers of a CTA alone on its multiprocessor.
static uint32_t entry_registers(MlirOperation module, uint32_t threads) {
  int64_t limit = op_attr_int(module, "tilegpu.max_registers", 0);
  uint32_t all = SM_REGISTERS / threads / 8 * 8;
  return limit && limit < all ? (uint32_t)limit / 8 * 8 : all;
}

struct register_shares register_shares_of(struct ir_context *c, MlirOperation module,
                                          MlirOperation kernel, uint32_t num_warps) {
  uint32_t threads = 32 * (num_warps + PRODUCER_WARPS);
  uint32_t groups = num_warps / WGMMA_WARPS, entry = entry_registers(module, threads);
  struct register_shares r = {.entry = entry, .producer = PRODUCER_REGISTERS};
  r.ctas = SM_REGISTERS / threads / entry;
  r.ctas = r.ctas ? r.ctas : 1;
  struct many_look l = {.c = c};
  ir_walk(kernel, sees_many, &l);
  if (!l.found || groups == 0 || entry >= MAX_REGISTERS || entry <= PRODUCER_REGISTERS)
    return r;
  uint32_t most = (entry * (groups + 1) - PRODUCER_REGISTERS) / groups / 8 * 8;
  r.computing = most < MAX_REGISTERS ? most : MAX_REGISTERS;
  return r;
}
