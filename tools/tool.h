// SPDX-License-Identifier: Apache-2.0
// Shared by the modes of tilec: the parsed command line, the session, and the output of results and
// messages. Only this folder prints and exits.
#ifndef TILE_TOOLS_TOOL_H
#define TILE_TOOLS_TOOL_H

#include "autotune/search/search.h"
#include "base/diag.h"
#include "base/vec.h"
#include "lowering/compile.h"

// EXIT_DONE, EXIT_WRONG, ...
enum exit_status {
#define STATUS(id, number, meaning) EXIT_##id = number,
#include "tools/options/exit_status.def"
#undef STATUS
};

enum tool_mode {
  MODE_COMPILE,
  MODE_RUN,
  MODE_BENCH,
  MODE_AUTOTUNE,
  MODE_LAYOUT,
  MODE_TUNINGS,
  MODE_GRAPH,
  MODE_REPORT,
  MODE_DOCTOR,
  MODE_LIST_PASSES,
  MODE_EXPLAIN,
  MODE_LSP,
  MODE_VERSION,
  MODE_HELP
};

// NAME=VALUE of -D, --arg, --out, --expect; `where` spans the value on the command line.
struct assignment {
  const char *name;
  struct str value;
  struct span where;
};

// A value of an option that may be given several times.
struct word {
  struct str value;
  struct span where;
};

// Artifacts of --emit beyond the stages of one compilation. GRAPH and PLAN are for --graph only;
// PACK and HEADER are not for --graph.
enum artifact {
  ARTIFACT_STAGE,
  ARTIFACT_CUBIN,
  ARTIFACT_PACK,
  ARTIFACT_HEADER,
  ARTIFACT_C,
  ARTIFACT_GRAPH,
  ARTIFACT_PLAN,
  ARTIFACT_OBJECT_HEADER // of one kernel for a processor
};
#define ARTIFACT_COUNT 8

struct words {
  struct word *at;
  size_t len, cap;
};
struct texts {
  const char **at;
  size_t len, cap;
};

struct verb;

struct options {
  const struct verb *verb; // NULL: options alone
  enum { HELP_NONE, HELP_SHORT, HELP_FULL } help;
  enum tool_mode mode;
  const char *file; // NULL when none was given; the first of `files`
  struct span file_at;
  struct words files; // all; several for --tunings only
  // SPEC of --layout (all remaining words), CODE of --explain, VERB of --tunings, topic of help
  const char *mode_argument;
  struct span mode_at;
  bool graph;                // `file` is a graph
  enum tool_mode graph_mode; // mode of the graph: MODE_COMPILE, MODE_RUN or MODE_BENCH
  struct span emit_at;
  const char *kernel;
  const char *target; // as given; NULL: auto
  struct span target_at;
  VEC(struct assignment) defines, args, outs, expects;
  struct texts folders;                                   // of -I
  struct words kernels, targets, grids, specs, functions; // all that were given, in order
  struct str signature, grid;
  struct span signature_at, grid_at;
  bool no_tunings;
  struct word tuned_for;                                   // value.ptr NULL: not given
  uint32_t num_warps, num_stages, max_registers, num_ctas; // 0: default
  enum warp_specialize warp_specialize;
  enum emit_kind emit;
  bool emit_given;
  enum artifact artifact;   // with ARTIFACT_STAGE `emit` says which; ARTIFACT_CUBIN has EMIT_PTX
  const char *ptxas, *name; // NULL: not given
  struct span ptxas_at, name_at;
  const char *output; // NULL: standard output
  double rtol, atol;
  bool rtol_given, atol_given;
  bool check, simulate;
  struct span check_at, simulate_at;
  uint64_t repeats, bytes;
  struct word space;           // value.ptr NULL: not given
  double budget, tune_timeout; // seconds
  bool budget_given, no_resume;
  enum tune_effort effort;
  uint32_t candidates; // 0: by effort
  uint64_t seed;
  const char *tune_file, *svg, *t4, *trace; // NULL: not given
  double flops;
  struct pass_options passes;
  bool explain_perf, explain_fusion, json, quiet, verbose;
  enum { DIAGNOSTICS_TEXT, DIAGNOSTICS_JSON, DIAGNOSTICS_SARIF } diagnostics;
  struct span explain_fusion_at;
  bool launch_pdl; // of kernels
  bool find_nan;   // with --graph and --run
  struct span find_nan_at;
  bool no_pdl; // with --graph
  struct span no_pdl_at;
  bool keep_casts; // with --graph
  struct span keep_casts_at;
  bool max_autotune; // with --graph
  struct span max_autotune_at;
  struct word weights;                      // value.ptr NULL: not given
  bool grad, grad_seeds, explain_partition; // with --graph
  uint64_t memory_budget;                   // 0: none
  struct span grad_at;
  struct word loss, wrt; // value.ptr NULL: not given
  enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;
};

struct tool {
  struct arena *arena;
  struct diag_engine *diag;
  struct source *command_line; // argv joined by blanks, with quotes, for locations in messages
  struct options o;
  struct strbuf log; // pass prints and timings, written to standard error at the end
};

// Parses argv into t->o. False after a usage error, with diagnostics (E0701..E0708).
bool options_parse(struct tool *t, int argc, char **argv);
// The help of a verb, of an option, or (NULL) of everything; the short one lists the verbs. False
// if the topic is unknown.
bool help_write(const char *topic, struct strbuf *out);
void help_write_short(struct strbuf *out);

// ---- the modes: each returns the exit status ----
int mode_compile(struct tool *t);
int mode_aot(struct tool *t); // --emit=cubin, pack, header and c
int mode_run(struct tool *t);
int mode_bench(struct tool *t);
int mode_autotune(struct tool *t);
int mode_layout(struct tool *t);
int mode_tunings(struct tool *t);
int mode_graph(struct tool *t);
struct graph;
int explain_fusion(struct tool *t, struct graph *g); // of --graph
int mode_report(struct tool *t);
int mode_doctor(struct tool *t);
int mode_list_passes(struct tool *t);
int mode_explain(struct tool *t);
int mode_version(struct tool *t);
int mode_help(struct tool *t);

// The program itself (tilec.c); returns its exit status.
int tilec_main(int argc, char **argv);

// ---- shared by modes ----
// Reads o.file as a source. NULL with a diagnostic (E0710 unreadable, E0901 too
// large); *ret_status.
struct source *tool_source(struct tool *t, int *ret_status);
// Writes to o.output or standard output. Returns EXIT_DONE or the status of the failure (reported).
int tool_write(struct tool *t, const void *data, size_t size);
// Reports that a file cannot be written, with that errno; returns the exit status.
int tool_cannot_write(struct tool *t, struct span at, const char *path, int error);
// The exit status for the recorded errors: EXIT_LIMIT for E09xx, EXIT_INTERNAL for E0990, else
// EXIT_WRONG.
int tool_error_status(const struct tool *t);
// The name for tile_device_open by --target and --simulate: "auto", "cpu", "cuda",
// "simulate:sm_80".
const char *tool_device_name(struct tool *t);
// The named target, else that of the machine's GPU, else the CPU.
const struct target *tool_target(const struct tool *t);
// What the options say about a compilation, except bindings. `mlir`: the source is IR.
struct compile_request tool_request(struct tool *t, struct source *source, bool mlir);
// Adds bindings of parameters and tunings. EXIT_DONE, or the exit status with diagnostics.
int tool_specialise(struct tool *t, struct compile_request *r, bool mlir);
// Bindings of the kernel's parameters from --signature and -D.
bool tool_bindings(struct tool *t, struct lang_binding **ret, size_t *ret_count);
// lang_unit_resolve with the options' constants, for this target (NULL: none); false with
// diagnostics if they cannot be parsed.
bool tool_bind_constants(struct tool *t, struct lang_unit *u, const char *target);
// Options that are 0 get the values of the kernel's decorators.
struct lang_defaults;
void tool_take_defaults(const struct lang_defaults *d, uint32_t *warps, uint32_t *stages,
                        uint32_t *registers, uint32_t *ctas, enum warp_specialize *specialize);
// The next entry of a list with commas, trimmed; false at its end.
bool tool_next_entry(struct str *rest, struct str *ret);
struct bindings {
  struct lang_binding *at;
  size_t len, cap;
};
enum { TOOL_MAX_TUPLE_NESTING = 32 };
// NAME=[*]TYPE[:HINT], NAME=None or NAME=(TYPE,...), a part of an option's value: appends a
// binding, for a tuple one for each element, NAME[0] and so on. False with E0706.
bool tool_parse_types(struct tool *t, const struct word *of, struct str entry,
                      struct bindings *out);
// Whether the text is `(a,b)`: its elements, for tool_next_entry.
bool tool_tuple_elements(struct str text, struct str *ret);
struct lang_binding tool_constant(struct tool *t, const char *name, struct str value);
struct span tool_part(const struct word *of, struct str part);
// The name before the value that `where` spans, NAME=VALUE; SPAN_NONE: it is not there.
struct span tool_name_span(struct span where, const char *name);
// An integer default of a compile-time parameter, for use in grids.
bool tool_default_value(const struct lang_param *p, int64_t *ret);

#endif
