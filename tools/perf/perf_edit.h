// SPDX-License-Identifier: Apache-2.0
// The edit of a source and of a request that removes causes of narrow accesses.
#ifndef TILE_TOOLS_PERF_EDIT_H
#define TILE_TOOLS_PERF_EDIT_H

#include "tools/perf/perf_advice.h"

struct perf_insertion {
  uint32_t at; // offset in the source
  const char *text;
};

struct perf_edit {
  struct compile_request request;        // edited
  VEC(struct perf_insertion) insertions; // into the source, by offset
  struct strbuf option;                  // of the command line
};

// The edit for `count` causes, on `a`. False: there is none, such as for a parameter that another
// file declares. `params`: those of the kernel.
bool perf_edit_make(struct arena *a, const struct compile_request *request,
                    const struct lang_param *params, size_t param_count,
                    const struct perf_cause *const *causes, size_t count, struct perf_edit *ret);

// The lines that the edit changes.
void perf_edit_lines(struct arena *a, const struct source *source, const struct perf_edit *e,
                     struct perf_advice *ret);

#endif
