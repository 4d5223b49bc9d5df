// SPDX-License-Identifier: Apache-2.0
// Passes and their manager. A pass is one file in passes/ and one row of passes.def; it changes the
// module in place, reports through the diagnostics engine and never prints.
#ifndef TILE_LOWERING_PASS_H
#define TILE_LOWERING_PASS_H

#include "lowering/target.h"
#include "mlir-dialects/ir.h"

// Facts about the module, tracked by the manager.
enum {
  FACT_TILE = 1,      // tile IR: tensors without encodings
  FACT_LAYOUTS = 2,   // every tensor has an encoding
  FACT_COALESCED = 4, // memory accesses have their widest layout
  FACT_PLACED = 8     // shared memory is allocated
};

enum pass_result { PASS_FAILED, PASS_UNCHANGED, PASS_CHANGED };

struct pass_context {
  struct ir_context *c;
  MlirModule module;
  const struct target *target;
  uint32_t num_warps;
  uint32_t num_stages;
  uint32_t
      refused_stages; // that did not fit in shared memory, so that num_stages is smaller; 0: none
  // NULL: a program that does not fit in shared memory is an error. Else, if fewer stages fit, they
  // are written here and the run ends without a message.
  uint32_t *ret_fewer_stages;
  struct arena *scratch; // released after each pass
};

enum pass_id {
#define PASS(id, flag, doc, needs, gives, breaks) PASS_##id,
#include "lowering/passes.def"
#undef PASS
  PASS_COUNT
};

struct pass {
  const char *flag; // command-line spelling, "assign-layouts"
  const char *doc;
  enum pass_result (*run)(struct pass_context *p);
  unsigned needs, gives, breaks; // facts
};

const struct pass *pass_info(enum pass_id id);
bool pass_find(struct str flag, enum pass_id *ret);

// Prototypes: pass_<id>(), defined in passes/<id>.c.
#define PASS(id, flag, doc, needs, gives, breaks)                                                  \
  enum pass_result pass_##id(struct pass_context *p);
#include "lowering/passes.def"
#undef PASS

// Rows of lowering/pass_pipelines.c.
enum pipeline_id {
  PIPELINE_WHOLE,        // from tile IR to the input of the emission
  PIPELINE_PROCESSOR,    // tile IR simplified, for a processor's vectors
  PIPELINE_DEBUGGER,     // the same, but nothing is moved or merged
  PIPELINE_SHARED_MEMORY // the last passes alone, for IR whose tiles have layouts
};

// Which passes run, and what is printed. Zero-initialised: the whole pipeline, nothing shown.
struct pass_options {
  enum pipeline_id pipeline;
  const char *print_after; // pass flag, "all" or "change"
  const char *dump_dir;    // NN-pass.mlir after each pass
  const char *stop_after;  // pass flag
  const char *only;        // "a,b": run just these, in this order
  bool verify_each;        // TILE_CHECK_PASSES (option check_passes of the build): always
  bool time_passes;
  struct strbuf *log; // where prints and timings go; required if any of the above prints
};

const enum pass_id *pipeline_passes(enum pipeline_id id, size_t *ret_count);
// Runs the pipeline (or options->only). False when a pass or the verifier failed. *ret_stopped is
// set when stop_after ended the run early.
bool passes_run(struct pass_context *p, const struct pass_options *options, bool *ret_stopped);

// A remark with a topic at op's source location ("not vectorised: ...").
void pass_remark(struct pass_context *p, MlirOperation op, const char *topic, const char *fmt, ...)
    PRINTF(4, 5);

#endif
