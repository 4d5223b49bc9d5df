// SPDX-License-Identifier: Apache-2.0
// Tunings of a graph's kernels: from FILE.tune.json beside it, and by --max-autotune.
#ifndef TILE_TOOLS_GRAPH_TUNE_H
#define TILE_TOOLS_GRAPH_TUNE_H

#include "tools/graph/graph_run.h"

// Applies the tuning file, unless --no-tunings is given; *ret_count kernels. `device` NULL: any of
// the target. False with a diagnostic.
bool graph_take_tunings(struct tool *t, struct program *p, const char *device, const char *target,
                        size_t *ret_count);
// --max-autotune: measures what is not in the file, with one line per kernel on standard error.
int graph_tune(struct tool *t, struct graph_session *s);
// --max-autotune excludes a --target other than this device's. False with a diagnostic.
bool graph_tune_check(struct tool *t, const char *target);
void graph_tunings_print(const struct tool *t, const struct graph_session *s, struct strbuf *out);

#endif
