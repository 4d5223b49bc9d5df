// SPDX-License-Identifier: Apache-2.0
// Names of outcomes, as in reports and files.
#include "autotune/tune.h"

const char *tune_outcome_name(enum tune_outcome o) {
  static const char *const names[] = {"untried",   "pruned",           "build failed",
                                      "same code", "launch failed",    "timeout",
                                      "wrong",     "spills registers", "measured"};
  return names[o];
}

const char *tune_spills_reason(struct arena *a, const struct tune_trial *t) {
  return arena_printf(a, "%d bytes a thread", t->spilled_bytes);
}
