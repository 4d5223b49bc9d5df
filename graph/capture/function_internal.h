// SPDX-License-Identifier: Apache-2.0
// Captured functions: their dynamic dimensions, variants and guards.
#ifndef TILE_GRAPH_CAPTURE_FUNCTION_INTERNAL_H
#define TILE_GRAPH_CAPTURE_FUNCTION_INTERNAL_H

#include "graph/capture/capture.h"
#include "graph/run/tensor_views.h"

#include <tile/program.h>

#include <pthread.h>

enum { DEFAULT_LIMIT = 16, DEFAULT_PATHS = 64, MAX_SYMBOLS = 64 };

// A dimension marked dynamic.
struct mark {
  size_t input;
  int dim;
  int64_t lo, hi;
};

// The guard of a tensor. A size below 0 is symbol -1 - size.
struct guard {
  enum dtype dtype;
  uint32_t rank;
  bool is_dense;
  int64_t shape[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK];
};

// A function while it is captured: the answers that it got, and how to get more.
struct path_capture {
  struct tile_captured *f;
  tile_stream *stream;
  const struct tensor_views *views;
  bool has_data;
  const uint64_t *known; // answers of this path so far
  size_t known_count;
  VEC(uint64_t) answers; // all, on the graph's arena
  VEC(struct value *) items;
};

// Device memory of a value that a step of a path writes.
struct path_buffer {
  struct value *value;
  void *data;
  size_t bytes;
  int64_t shape[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK]; // of this call
};

// A step of paths: a program that ends with an answer, or with the outputs.
struct path_step {
  struct path_step *parent; // NULL: the first one
  uint64_t answer;          // of the parent's item, which leads here
  tile_graph *graph;        // whole, of the path that made it
  tile_program *program;
  const struct value *item; // NULL: the path ends here
  size_t given_count, write_count;
  struct path_buffer **given; // values of steps before, which the program reads
  struct path_buffer *writes; // the item, then what later steps read
  struct tensor_view *in, *out;
  struct path_step **next;
  size_t next_count;
  uint64_t calls;
};

struct variant {
  tile_graph *graph;
  tile_program *program; // NULL: it has paths
  struct path_step *first;
  tile_graph **graphs; // of further paths
  size_t graph_count, path_count;
  uint64_t *answers; // of the current call
  int64_t *sizes;    // its symbols
  uint64_t dropped;  // calls whose path was not kept
  size_t input_count, count;
  struct guard *guards; // of inputs, then of outputs, of which only strides are checked
  size_t symbol_count;
  int64_t *lo, *hi;
  bool is_tuned;
};

struct tile_captured {
  tile_device *device;
  tile_graph_function function;
  void *user;
  pthread_mutex_t lock;
  struct mark *marks;
  size_t mark_count;
  struct variant **variants;
  size_t variant_count, limit;
  uint64_t seed;
  size_t path_limit;
  struct arena *report; // the last report's; NULL: none yet
  bool tunes;
  tile_program_tuning tuning;
};

// ---- graph/capture/capture_guards.c ----
// Do the tensors satisfy the guards of the variant?
bool variant_guards_hold(const struct variant *v, const struct tensor_views *views);

// ---- graph/capture/path_build.c ----
// Appends the steps of a captured path behind `last`, the last one that exists (NULL: none). The
// program of a step is on the graph's arena.
tile_status path_build(struct tile_captured *f, struct variant *v, tile_graph *g,
                       const struct path_capture *c, struct path_step *last);
void path_destroy(struct tile_captured *f, struct path_step *step); // and all behind it; NULL

// ---- graph/capture/path_run.c ----
tile_status path_run(struct tile_captured *f, struct variant *v, tile_stream *stream,
                     const struct tensor_views *views);

// ---- graph/capture/variant_graph.c ----
// Calls the function on a graph with the variant's inputs, and marks its outputs.
tile_status function_capture(struct tile_captured *f, struct variant *v, tile_graph *g,
                             struct path_capture *c);

#endif
