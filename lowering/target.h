// SPDX-License-Identifier: Apache-2.0
// Targets: what differs between GPU generations and the CPU, as data and function pointers.
#ifndef TILE_LOWERING_TARGET_H
#define TILE_LOWERING_TARGET_H

#include "base/arena.h"
#include "base/instruction_set.h"
#include "base/str.h"

// A processor that code is for.
struct processor {
  enum instruction_set set;
  const char *triple, *cpu, *features; // LLVM's names
};

struct target {
  const char *name; // "sm_90a", "cpu", "cpu:x86-64-v3"
  bool is_cpu;
  unsigned sm;                       // 80, 86, 89, 90, 100; 0 for CPU
  unsigned ptx_version;              // 87 for PTX 8.7
  unsigned max_vector_bits;          // widest global access
  unsigned shared_limit;             // bytes a CTA may use
  unsigned max_warps;                // per CTA
  unsigned matrix_moves;             // EXCHANGE_LDMATRIX, ... of layouts/exchange_plan.h
  bool has_wgmma;                    // wgmma: products by warpgroups, operands in shared memory
  bool has_tma;                      // copies of blocks by tensor maps, mbarriers, setmaxnreg
  const struct target_hooks *hooks;  // emission; lowering/llvm/emit.h
  const struct processor *processor; // of a CPU target; NULL: this machine's
};

// Programmatic dependent launch: griddepcontrol, and the launch attribute.
static inline bool target_has_pdl(const struct target *t) { return t->sm >= 90; }

// NULL when unknown. `names` lists all, NULL-terminated.
const struct target *target_find(struct str name);
const char *const *target_names(void);

// ---- targets/processors.c ----
// The processor that code of a CPU target is for, in LLVM's terms. Of the target `cpu`, and of
// NULL: this machine, or what TILE_CPU_NAME names (x86-64-v3, haswell, ...; features may follow, as
// in x86-64-v3,+avxvnni), which this machine must be able to run. On `a`.
const char *processor_triple(const struct target *t, struct arena *a);
const char *processor_name(const struct target *t, struct arena *a);
const char *processor_features(const struct target *t, struct arena *a);
// The features that code may use: without those whose results differ.
const char *processor_code_features(const struct target *t, struct arena *a);
struct vector_registers {
  unsigned count, bytes;
  unsigned integers; // 8-bit products that one instruction adds up: 4, 2 (widened to 16 bits), or 1
};
struct vector_registers processor_registers(const struct target *t, struct arena *a);

// Registers LLVM's code generators. Thread-safe and idempotent; callers of LLVM's target registry
// must call it first, since registration itself is not thread-safe (llvm/codegen.c).
void targets_initialise(void);

#endif
