// SPDX-License-Identifier: Apache-2.0
// Occupancy by division; cost_machine.c has the resources of a multiprocessor.
#include "lowering/cost/occupancy.h"

#include "lowering/analysis/layout_flow.h"
#include "lowering/analysis/scratch.h"
#include "lowering/cost/cost_machine.h"

#include <assert.h>
#include <limits.h>

enum {
  REGISTERS_PER_ALLOCATION = 256, // of a warp
  RESERVED_SHARED = 1024,         // of every program, reserved by the system
  MOST_REGISTERS = 255,           // of a thread
  LANES = 32
};

const char *resource_purpose(struct ir_context *c, MlirOperation op) {
  switch (op_id(c, op)) {
  case OP_GPU_LOCAL_ALLOC:
    return alloc_copies(op) > 1 ? "the tiles that are under way" : "a buffer";
  case OP_GPU_CONVERT_LAYOUT: return "a layout conversion";
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_BROADCAST:
  case OP_TILE_RESHAPE:
  case OP_TILE_TRANS:
  case OP_TILE_JOIN:
  case OP_TILE_SPLIT: return "a change of shape";
  case OP_TILE_ATOMIC_RMW:
  case OP_TILE_ATOMIC_CAS: return "the old values of an atomic";
  case OP_TILE_REDUCE: return "a reduction";
  case OP_TILE_SCAN: return "a scan";
  case OP_TILE_GATHER: return "a gather";
  case OP_TILE_HISTOGRAM: return "a histogram";
  default: return "an operation";
  }
}

// ---- elements a thread ----

struct widest {
  struct ir_context *c;
  struct widest_tile found;
};

static bool see_widest(MlirOperation op, void *user) {
  struct widest *w = user;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirType t = mlirValueGetType(mlirOperationGetResult(op, i));
    unsigned n = type_is_tensor(t) && linear_of_type(w->c, t) ? layout_registers(w->c, t) : 0;
    if (n > w->found.elements)
      w->found = (struct widest_tile){op, t, n};
  }
  return true;
}

struct widest_tile resource_widest_tile(struct ir_context *c, MlirOperation root) {
  struct widest w = {.c = c};
  ir_walk(root, see_widest, &w);
  return w.found;
}

// ---- occupancy ----

unsigned resource_warps_per_sm(const struct target *t) { return machine_of(t)->warps; }

unsigned resource_registers(const struct target *t, uint32_t num_warps) {
  assert(num_warps > 0);
  unsigned n = machine_of(t)->registers / (LANES * num_warps);
  return n < MOST_REGISTERS ? n : MOST_REGISTERS;
}

static void take_less(unsigned *n, const char **limit, unsigned other, const char *name) {
  if (other < *n) {
    *n = other;
    *limit = name;
  }
}

struct program_limits resource_program_limits(const struct target *t, uint32_t num_warps,
                                              uint32_t registers, uint32_t shared_bytes) {
  assert(t && num_warps > 0);
  const struct machine *m = machine_of(t);
  // A program may use all but the reserved bytes.
  struct program_limits l = {.warps = m->warps / num_warps,
                             .programs = m->programs,
                             .registers = UINT_MAX,
                             .shared = (t->shared_limit + RESERVED_SHARED) /
                                       (shared_bytes + RESERVED_SHARED)};
  if (registers) {
    unsigned of_warp = (registers * LANES + REGISTERS_PER_ALLOCATION - 1) /
                       REGISTERS_PER_ALLOCATION * REGISTERS_PER_ALLOCATION;
    l.registers = m->registers / (of_warp * num_warps);
  }
  return l;
}

unsigned resource_programs_per_sm(const struct target *t, uint32_t num_warps, uint32_t registers,
                                  uint32_t shared_bytes, const char **ret_limit) {
  assert(ret_limit);
  struct program_limits l = resource_program_limits(t, num_warps, registers, shared_bytes);
  unsigned n = l.warps;
  *ret_limit = "warps";
  take_less(&n, ret_limit, l.programs, "programs");
  take_less(&n, ret_limit, l.registers, "registers");
  take_less(&n, ret_limit, l.shared, "shared memory");
  return n;
}
