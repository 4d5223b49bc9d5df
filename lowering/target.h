// SPDX-License-Identifier: Apache-2.0
// Targets: what differs between GPU generations and the CPU, as data and function pointers.
#ifndef TILE_LOWERING_TARGET_H
#define TILE_LOWERING_TARGET_H

#include "base/str.h"

struct target {
  const char *name; // "sm_90a", "cpu"
  bool is_cpu;
  unsigned sm;                      // 80, 86, 89, 90, 100; 0 for CPU
  unsigned ptx_version;             // 87 for PTX 8.7
  unsigned max_vector_bits;         // widest global access
  unsigned shared_limit;            // bytes a CTA may use
  unsigned max_warps;               // per CTA
  unsigned matrix_moves;            // EXCHANGE_LDMATRIX, ... of layouts/exchange_plan.h
  bool has_wgmma;                   // wgmma: products by warpgroups, operands in shared memory
  bool has_tma;                     // copies of blocks by tensor maps, mbarriers, setmaxnreg
  const struct target_hooks *hooks; // emission; lowering/llvm/emit.h
};

// Programmatic dependent launch: griddepcontrol, and the launch attribute.
static inline bool target_has_pdl(const struct target *t) { return t->sm >= 90; }

// NULL when unknown. `names` lists all, NULL-terminated.
const struct target *target_find(struct str name);
const char *const *target_names(void);

// Registers LLVM's code generators. Thread-safe and idempotent; callers of LLVM's target registry
// must call it first, since registration itself is not thread-safe (llvm/codegen.c).
void targets_initialise(void);

#endif
