// SPDX-License-Identifier: Apache-2.0
// The worker's bench: a device with a problem's arrays; loads candidates, compares their results
// and times their launches. For one thread at a time. Independent of frames and processes.
#ifndef TILE_AUTOTUNE_WORKER_BENCH_H
#define TILE_AUTOTUNE_WORKER_BENCH_H

#include "autotune/worker/worker.h"
#include "base/array.h"
#include "base/thread_pool.h"
#include "jit/orc.h"

#define BENCH_CHUNK ((size_t)2 << 20) // bytes that a thread compares or uploads at once
#define BENCH_MAX_PARAMS 256

struct bench_arg {
  const char *name;
  bool is_pointer;
  enum dtype type;
  uint64_t bits; // of a scalar: the value; of a pointer: the low bits of the original address
  struct tune_array array;
};

struct bench_problem {
  const char *device;
  struct bench_arg *args;
  size_t arg_count;
  uint64_t data_bytes;
  double rtol, atol; // negative: by type
};

// A distinct array; arguments with the same pointer share one.
struct bench_buffer {
  const char *name; // of its first argument
  struct tune_array array;
  enum dtype type;
  void *block, *device; // the allocation; the start of the array
  void *first;          // its first contents, on the device
  double scale;         // root mean square of the reference, if known
};

struct bench {
  const struct bench_problem *problem;
  tile_device *device;
  tile_device_properties properties;
  struct orc *orc; // of CPU devices
  tile_event *start, *stop;
  void *flush;
  size_t flush_bytes;
  struct bench_buffer *buffers;
  size_t buffer_count;
  size_t *buffer_of_arg; // SIZE_MAX: none
  const char *data;      // first contents, as the tuner filled them
  char *reference; // the reference's results, at the same offsets; written by this process only
  bool has_reference, has_scales;
  struct thread_pool *pool; // compares and uploads
  void *staging;            // a chunk for each thread; NULL: the device's memory is read directly
};

struct bench_candidate {
  struct kernel_info info; // on an arena that outlives the candidate
  tile_grid grid;
  struct module *module; // NULL: not loaded
  bool is_bound;         // `values` are those of the problem's arguments
  uint64_t words[BENCH_MAX_PARAMS];
  void *values[BENCH_MAX_PARAMS]; // point into `words`
};

// `problem`, `data` and `reference` belong to the caller; bench_close must be called in any case.
tile_status bench_open(struct bench *b, const struct bench_problem *problem, const void *data,
                       void *reference);
// Allocates the arrays on the device, once; then uploads their contents, as often as needed.
tile_status bench_prepare(struct bench *b, struct arena *a);
tile_status bench_upload(struct bench *b);
void bench_close(struct bench *b);
// Bytes of the buffer written before a timed launch: more than the L2 cache holds.
size_t bench_flush_bytes(const tile_device_properties *p);
// Keeps a GPU busy for a moment: an idle GPU lowers its clocks, and the first launches would be
// timed too slow.
void bench_stay_awake(struct bench *b);
// GB/s of a copy on the device, reading and writing counted.
tile_status bench_copy_rate(struct bench *b, double *ret_gbs);

// `code`: a cubin or PTX (NUL-terminated), or a CPU object. `c` has info and grid.
tile_status bench_load(struct bench *b, struct bench_candidate *c, struct str code);
void bench_unload(struct bench_candidate *c);

// Restores the first contents of all arrays (zeros where they are to be zeroed).
tile_status bench_restore(struct bench *b);
tile_status bench_reset(struct bench *b); // only those that are reset before every timed launch
tile_status bench_launch(struct bench *b, struct bench_candidate *c); // after bench_upload
// False: every later call on the device would fail.
bool bench_is_usable(struct bench *b);

// ---- autotune/worker/bench_chunks.c ----
struct bench_chunk {
  size_t buffer, offset, bytes;
  void *staging; // the calling thread's, NULL on the CPU
};
typedef tile_status (*bench_chunk_fn)(struct bench *b, void *user, const struct bench_chunk *c);
tile_status bench_make_threads(struct bench *b);
void bench_end_threads(struct bench *b);
// Calls `body` for each chunk of each array, in several threads; returns the first failure.
tile_status bench_for_chunks(struct bench *b, bench_chunk_fn body, void *user);

// ---- autotune/worker/bench_check.c ----
// Compares the arrays with the reference, or with the problem's expected contents: the maximum
// errors, and a text if they exceed the tolerance (then not *ret_same). For the reference itself:
// stores its results, except where contents are expected.
tile_status bench_compare(struct bench *b, bool is_reference, struct tune_reply *reply,
                          bool *ret_same);

// ---- autotune/worker/bench_measure.c ----
struct tune_sample tune_sample_of(double *ms, unsigned count); // of at least one time; sorts them

struct measure_plan {
  double budget_ms, give_up_ms;
  unsigned least, most;
};
struct measure_hooks {
  tile_status (*once)(void *user, double *ret_ms); // one timed launch
  double (*now)(void *user);                       // milliseconds
  void *user;
};
tile_status measure_run(const struct measure_plan *plan, const struct measure_hooks *hooks,
                        struct tune_sample *ret);
tile_status bench_measure(struct bench *b, struct bench_candidate *c,
                          const struct measure_plan *plan, struct tune_sample *ret);

#endif
