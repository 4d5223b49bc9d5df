// SPDX-License-Identifier: Apache-2.0
// Captured functions: their dynamic dimensions, variants and guards.
#ifndef TILE_GRAPH_CAPTURE_FUNCTION_INTERNAL_H
#define TILE_GRAPH_CAPTURE_FUNCTION_INTERNAL_H

#include "graph/capture/capture.h"
#include "graph/run/tensor_views.h"

#include <tile/program.h>

#include <pthread.h>

enum { DEFAULT_LIMIT = 16, MAX_SYMBOLS = 64 };

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

struct variant {
  tile_graph *graph;
  tile_program *program;
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
  bool tunes;
  tile_program_tuning tuning;
};

// ---- graph/capture/capture_guards.c ----
// Do the tensors satisfy the guards of the variant?
bool variant_guards_hold(const struct variant *v, const struct tensor_views *views);

#endif
