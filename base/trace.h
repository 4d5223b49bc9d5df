// SPDX-License-Identifier: Apache-2.0
// Traces: what ran when, on which thread or device, as trace events for Perfetto and Chrome
// (JSON, "Trace Event Format", complete events `X`), and as NVTX ranges. Off, a slice costs one
// load. Thread-safe. The public calls are in include/tile/trace.h.
//
//   struct trace_slice s = trace_begin(TRACE_PASS, "coalesce");
//   ...
//   trace_end(&s, NULL);
//
// TILE_TRACE=FILE traces a process from its first slice until it exits; `%p` in FILE is the
// process id. TILE_NVTX=1 makes a range of libnvToolsExt of every slice; another value than 0 and 1
// is the library's path.
#ifndef TILE_BASE_TRACE_H
#define TILE_BASE_TRACE_H

#include "base/attrs.h"

#include <stdatomic.h>

enum trace_category {
  TRACE_COMPILE, // a compilation, and its stages
  TRACE_PASS,    // a pass over the IR
  TRACE_LOAD,    // code is found, assembled or loaded
  TRACE_KERNEL,  // a kernel runs
  TRACE_LAUNCH,  // the call that starts one on a GPU
  TRACE_COPY,    // memory is copied or filled
  TRACE_GRAPH,   // a graph or a replay runs
  TRACE_CATEGORY_COUNT
};

// What is known of a slice beyond its name; zero: nothing.
struct trace_detail {
  const char *file; // of the source
  uint32_t line;
  uint64_t bytes;
  uint32_t grid[3];
  const char *target; // "sm_90a"
};

struct trace_slice {
  uint64_t begin; // ns; 0: not traced
  enum trace_category category;
  const char *name; // must live until the end of the slice
};

// Private to the functions below: 0 is off.
extern atomic_uint trace_state;
bool trace_is_on(void);
struct trace_slice trace_begin_slice(enum trace_category category, const char *name);
void trace_end_slice(const struct trace_slice *s, const struct trace_detail *d);

static inline bool trace_on(void) {
  return atomic_load_explicit(&trace_state, memory_order_relaxed) != 0 && trace_is_on();
}
// Slices of one thread nest: each is ended before the one around it, by the same thread.
static inline struct trace_slice trace_begin(enum trace_category category, const char *name) {
  return trace_on() ? trace_begin_slice(category, name) : (struct trace_slice){0};
}
static inline void trace_end(const struct trace_slice *s, const struct trace_detail *d) {
  if (s->begin)
    trace_end_slice(s, d); // d NULL: nothing
}

// A slice on the track of a device: `track` is its number, as of a stream. Slices of one track are
// given in the order in which they ran; one that begins before the end of the one before it is cut.
void trace_device_slice(uint64_t track, enum trace_category category, const char *name,
                        uint64_t begin, uint64_t end, const struct trace_detail *d);
uint64_t trace_clock(void); // ns, the clock of slices

// Called before a trace is written, for slices that devices still hold. Set once, before tracing.
void trace_set_flush(void (*flush)(void));

// An errno: the file cannot be created (then EBUSY: a trace is on already).
int trace_start(const char *path);
// Writes the file. An errno; ESRCH: there is no trace.
int trace_stop(void);

#endif
