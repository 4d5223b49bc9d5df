// SPDX-License-Identifier: Apache-2.0
// The parts of the report of --explain-perf: what is read from the IR, and how it is written.
#ifndef TILE_TOOLS_EXPLAIN_PERF_REPORT_H
#define TILE_TOOLS_EXPLAIN_PERF_REPORT_H

#include "lowering/cost/kernel_cost.h"
#include "lowering/cost/occupancy.h"
#include "lowering/cost/performance.h"
#include "tools/perf_advice.h"
#include "tools/ptxas.h"

// Location and type of an operation; the IR is freed before the report is written.
struct where {
  const char *location, *type;
};

typedef VEC(struct where) where_list;

struct perf_report {
  struct arena *arena;
  const struct source *source;
  const struct target *target;
  const struct kernel_info *info;
  uint32_t num_warps;
  struct performance p;
  struct kernel_cost cost; // of one program, with no argument known
  where_list accesses, products, conversions, reductions, shared;
  struct where widest, persistent; // persistent.location NULL: no loop over tiles
  unsigned elements;               // per thread, of the widest tile
  bool has_ptxas;
  struct ptxas_report ptxas;
  perf_cause_list causes; // why accesses are narrow
  struct perf_advice_list advice;
};

void perf_report_text(const struct perf_report *r, struct strbuf *out);
void perf_report_svg(const struct perf_report *r, struct strbuf *out);
void perf_report_json(const struct perf_report *r, struct strbuf *out);

// Warps of a CTA, with those that only copy.
static inline uint32_t perf_report_warps(const struct perf_report *r) {
  return kernel_info_threads(r->info) / 32;
}

// Registers per thread that a CTA is launched with; 0: not known.
static inline unsigned perf_report_registers(const struct perf_report *r) {
  if (r->p.registers.entry)
    return r->p.registers.entry;
  return r->has_ptxas && r->ptxas.registers > 0 ? (unsigned)r->ptxas.registers : 0;
}

#endif
