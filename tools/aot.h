// SPDX-License-Identifier: Apache-2.0
// Compiling ahead of time: what was asked for (aot_plan.c), its codes (aot_compile.c), and the
// files made of them (emit_c.c, mode_aot.c).
#ifndef TILE_TOOLS_AOT_H
#define TILE_TOOLS_AOT_H

#include "runtime/pack.h"
#include "tools/ptxas.h"

struct aot_code {
  struct pack_code code;
  struct ptxas_report report; // of machine code
};

// A specialisation.
struct aot_variant {
  uint32_t *hints; // one a parameter of the function: 0: equals 1, else divisible by it
  uint32_t num_warps, num_stages;
  VEC(struct aot_code) codes;
};

// What a launch is called by: a kernel with constants and types.
struct aot_function {
  const char *name;
  const char *kernel; // in the source
  struct span at;     // where it was asked for
  VEC(struct lang_binding) bindings;
  uint32_t num_warps, num_stages, max_registers; // 0: default
  const struct lang_param *declared;
  size_t declared_count;
  const char *constants;            // "BLOCK=1024", for people
  struct kernel_info info;          // without the promises of specialisations
  VEC(struct aot_variant) variants; // most specific first
  const char *grid_text;            // as given; NULL: none
  const char *grid[3];              // in C
};

struct aot {
  struct tool *tool;
  const struct source *source;
  struct lang_unit *unit;
  VEC(const struct target *) targets;
  const char *ptxas; // NULL: none
  const char *name;  // of the module in C
  VEC(struct aot_function) functions;
};

// The names of C that stand for names of the language. Distinct ones stay distinct.
const char *aot_c_name(struct arena *a, const char *name);

// --name, or what the file's name makes of it; `unnamed` for standard input. False with a
// diagnostic.
bool aot_module_name(struct tool *t, const char *unnamed, const char **ret);

// Functions, targets and module name from the options. False with diagnostics.
bool aot_plan(struct tool *t, const struct source *source, struct aot *ret);
// Constants and launch options that were left open, from FILE.tune.json. False with diagnostics.
bool aot_take_tunings(struct aot *a);
// Those that are still open, from decorators of the kernels. False with diagnostics.
bool aot_take_defaults(struct aot *a);
// Parameters of each function, and its specialisations from --spec. False with diagnostics.
bool aot_describe(struct aot *a);
// --grid in C, once parameters are known.
bool aot_grids(struct aot *a);
// Codes for every specialisation and target. False with diagnostics.
bool aot_compile(struct aot *a);
// A pack of what was compiled, on the tool's arena; false when memory ran out (reported).
bool aot_pack(struct aot *a, struct str *ret);

// ---- C (emit_c.c) ----
void emit_c_header(const struct aot *a, struct strbuf *out);
void emit_c_source(const struct aot *a, struct str pack, struct strbuf *out);

#endif
