/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: compilations with their passes, launches, kernels, copies and graph runs as a time line,
 * for ui.perfetto.dev and chrome://tracing. Part of libtile and libtile-rt. Without a trace, each
 * place that could be traced costs one load. Kernels of a GPU are timed by events around each
 * launch, which may delay the next one by a few microseconds; launches within a recording are not
 * timed, its replays are.
 * Threads: all threads of the process write to one trace; both calls may be made by any thread. */
#ifndef TILE_TRACE_H
#define TILE_TRACE_H

#include <tile/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begins a trace to a file, which is created now and written by tile_trace_end; `%p` in the path is
 * the process id. TILE_INVALID_ARGUMENT: a trace is on already (also one of the environment
 * variable TILE_TRACE). TILE_IO_ERROR: the file cannot be created. */
TILE_API tile_status tile_trace_begin(const char *path);
/* Ends the trace and writes it; waits for the kernels that are in it. Slices that have not ended
 * are left out. TILE_INVALID_ARGUMENT: there is no trace. TILE_IO_ERROR: the file cannot be
 * written. */
TILE_API tile_status tile_trace_end(void);

#ifdef __cplusplus
}
#endif

#endif
