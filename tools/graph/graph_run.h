// SPDX-License-Identifier: Apache-2.0
// Runs a graph's program: inputs from --arg or generated from --seed; outputs shown, written,
// compared.
#ifndef TILE_TOOLS_GRAPH_RUN_H
#define TILE_TOOLS_GRAPH_RUN_H

#include "graph/program/program.h"
#include "graph/reference/tensor.h"
#include "graph/run/run.h"
#include "graph/run/run_tune.h"
#include "tools/tool.h"

// A program on a device, with its arguments.
struct graph_session {
  struct program *program;
  tile_device *device;
  tile_device_properties properties;
  struct loaded_program *loaded;
  int64_t *sizes;                    // of the graph's symbols: from --arg, else the graph's hints
  struct tensor **inputs, **outputs; // outputs: after graph_session_run
  struct tensor_view *in, *out;      // the device's memory
  struct strbuf nans;                // of --find-nan, after graph_session_run
  double compile_ms, load_ms;
  struct program_tune_count tunings;
  const char *made_up; // names of inputs that neither --arg nor --weights gave; NULL: no --weights
};

// The graph's symbolic sizes that --arg gives, by name or as sizes of arrays: used for decisions in
// every mode, and for runs. Where two arrays disagree, the later one fails to fit.
int graph_take_sizes(struct tool *t, struct graph *g);
// The exit status for a failure of the library, recorded with its message; EXIT_DONE for TILE_OK.
int graph_session_failed(struct tool *t, tile_status s);
// Opens the device and creates the arguments. EXIT_DONE, or the status of a recorded failure; close
// in either case.
int graph_session_open(struct tool *t, struct graph *g, struct graph_session *s);
void graph_session_close(struct graph_session *s);
// Runs once and downloads the outputs.
int graph_session_run(struct tool *t, struct graph_session *s);

// Reads a graph from its text, with the sizes that arguments give; NULL with diagnostics and the
// exit status.
struct graph *graph_open(struct tool *t, const struct source *source, int *ret_status);

// The modes: --graph with --run and with --bench.
int graph_run(struct tool *t, struct graph *g);
int graph_bench(struct tool *t, struct graph *g);

#endif
