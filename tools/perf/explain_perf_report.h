// SPDX-License-Identifier: Apache-2.0
// The parts of the report of --explain-perf: what is read from the IR, and how it is written.
#ifndef TILE_TOOLS_EXPLAIN_PERF_REPORT_H
#define TILE_TOOLS_EXPLAIN_PERF_REPORT_H

#include "lowering/cost/kernel_cost.h"
#include "lowering/cost/occupancy.h"
#include "lowering/cost/performance.h"
#include "tools/aot/ptxas.h"
#include "tools/perf/perf_advice.h"

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
  where_list accesses, products, conversions, reductions, shared, loops;
  struct where widest, persistent; // persistent.location NULL: no loop over tiles
  unsigned elements;               // per thread, of the widest tile
  bool has_ptxas;
  struct ptxas_report ptxas;
  // Called with the module, too, before the report reads it; NULL: nothing.
  void (*also)(void *user, struct ir_context *c, MlirModule module);
  void *also_user;
  perf_cause_list causes; // why accesses are narrow
  struct perf_advice_list advice;
};

// Compiles the request for its GPU, the CPU's for sm_80, and fills *ret, which is on the tool's
// arena as is the PTX. The request's `inspect` becomes `also`. EXIT_DONE, or the exit status of an
// error with diagnostics.
int perf_report_make(struct tool *t, struct compile_request *request, struct perf_report *ret,
                     struct str *ret_ptx);

void perf_report_text(const struct perf_report *r, struct strbuf *out);
void perf_report_svg(const struct perf_report *r, struct strbuf *out);
// The parts of the picture with a time axis, into an open SVG from `top` on, and their height.
double perf_time_height(const struct perf_report *r);
void perf_time_svg(const struct perf_report *r, double top, double width, struct strbuf *out);
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
