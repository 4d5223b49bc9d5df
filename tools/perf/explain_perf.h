// SPDX-License-Identifier: Apache-2.0
// `tilec FILE --explain-perf`: what a kernel costs and why.
#ifndef TILE_TOOLS_EXPLAIN_PERF_H
#define TILE_TOOLS_EXPLAIN_PERF_H

#include "tools/tool.h"

// Compiles the request for its GPU and writes the report. Returns the exit status.
int explain_perf(struct tool *t, struct compile_request *request);

// tools/perf/explain_processor.c: the same for a CPU target, as text, of a kernel in the language.
int explain_processor(struct tool *t, struct compile_request *request);

#endif
