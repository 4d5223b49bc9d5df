// SPDX-License-Identifier: Apache-2.0
// Edits of a kernel that make its accesses wider: each is compiled and its time predicted by the
// tuner's cost model (autotune/predict.h).
#ifndef TILE_TOOLS_PERF_ADVICE_H
#define TILE_TOOLS_PERF_ADVICE_H

#include "lowering/cost/kernel_cost.h"
#include "lowering/cost/performance.h"
#include "tools/tool.h"

// Why an access is narrow: a narrow_root (lowering/cost/narrow_access.h) without its IR.
struct perf_cause {
  enum narrow_kind kind;
  const char *parameter; // NULL: loaded from memory
  bool is_pointer;
  struct span load;   // of that load
  unsigned multiple;  // of which it is not known to be
  bool of_mask;       // it lets the mask cut vectors
  uint32_t num_warps; // nonzero: the tile has too few elements; as many warps suit it
  const char *access; // "load of `x` at 5:9 is 1 wide, not 4"
};
typedef VEC(struct perf_cause) perf_cause_list;

// Appends the causes of one access, which is at `location` ("5:9"), to `ret`. On `a`.
void perf_advice_collect(struct arena *a, struct ir_context *c, const struct source *source,
                         const struct memory_access *m, const char *location, perf_cause_list *ret);

// A line of the source after the edit.
struct perf_line {
  uint32_t number;
  struct str text;
  VEC(struct span) added; // byte ranges of `text`; their source is NULL
};

struct perf_advice {
  const char *what;            // the value, and the accesses that it keeps narrow
  VEC(struct perf_line) lines; // none: an option instead
  const char *option;          // "--signature pitch=i32:16"; NULL: an edit of the source
  const char *launches;        // what launches do by themselves; NULL: nothing
  double ms;                   // predicted
  const char *limiter;         // what limits it then
};

struct perf_advice_list {
  VEC(struct perf_advice) at;
  // Predicted as it is and with all edits, for that many programs.
  double ms, all_ms;
  const char *limiter;
  uint32_t programs;
  unsigned useless; // edits that widen an access and are not predicted to gain: left out
};

#define PERF_ADVICE_GAIN 0.995 // an edit gains if the predicted time is below this part

// Whether a predicted time is better than the kernel's as it is.
static inline bool perf_advice_gains(const struct perf_advice_list *l, double ms) {
  return ms < l->ms * PERF_ADVICE_GAIN;
}

// Compiles the edits for `causes` and keeps those that widen an access and are predicted to gain.
// `cost` and `p` are those of the kernel as it is. Edits that do not compile are dropped; t->diag
// has an error only after running out of memory.
void perf_advice_find(struct tool *t, const struct compile_request *request,
                      const perf_cause_list *causes, const struct kernel_cost *cost,
                      const struct performance *p, struct perf_advice_list *ret);

#endif
