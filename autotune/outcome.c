// SPDX-License-Identifier: Apache-2.0
// The words for what became of a configuration, as reports and files spell them.
#include "autotune/worker.h"

const char *tune_outcome_name(enum tune_outcome o) {
  static const char *const names[] = {"untried", "pruned",  "build failed", "same code",
                                      "launch failed", "timeout", "wrong",        "measured"};
  return names[o];
}
