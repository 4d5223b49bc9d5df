// SPDX-License-Identifier: Apache-2.0
// Ahead-of-time compilation: the plan (aot_plan.c, aot_spec.c), the codes (aot_compile.c), and the
// generated files (emit_c.c, mode_aot.c).
#ifndef TILE_TOOLS_AOT_H
#define TILE_TOOLS_AOT_H

#include "runtime/pack.h"
#include "tools/aot/ptxas.h"

typedef VEC(const struct target *) target_vec;

struct aot_code {
  struct pack_code code;
  struct kernel_info info;    // of this code
  struct ptxas_report report; // of machine code
};

// A specialisation.
struct aot_variant {
  uint32_t *hints; // one per parameter of the function: 0: equals 1, else divisible by it
  uint32_t num_warps, num_stages;
  VEC(struct aot_code) codes;
};

// A function of the pack: a kernel with constants and types.
struct aot_function {
  const char *name;
  const char *kernel; // in the source
  struct span at;     // location of the option that named it
  VEC(struct lang_binding) bindings;
  uint32_t num_warps, num_stages, max_registers, num_ctas; // 0: default
  enum warp_specialize warp_specialize;
  const struct lang_param *declared;
  size_t declared_count;
  const char *constants;            // "BLOCK=1024", to show
  struct kernel_info info;          // without the hints of specialisations
  VEC(struct aot_variant) variants; // most specific first
  const char *grid_text;            // as given; NULL: none
  const char *grid[3];              // in C
};

struct aot {
  struct tool *tool;
  const struct source *source;
  struct lang_unit *unit;
  target_vec targets;
  const char *ptxas; // NULL: none
  const char *name;  // of the module in C
  VEC(struct aot_function) functions;
};

// Maps names of the language to C names. Distinct names stay distinct, except `s[0]` and `s_0`
// (aot_describe reports them).
const char *aot_c_name(struct arena *a, const char *name);

// --name, or derived from the file's name; `unnamed` for standard input. False with a diagnostic.
bool aot_module_name(struct tool *t, const char *unnamed, const char **ret);

// The targets of the options, each once; `cpu` stands for the instruction sets of this machine's
// architecture. False with a diagnostic.
bool aot_targets(struct tool *t, target_vec *ret);
// Whether one of them is a GPU.
bool aot_has_gpu(const target_vec *targets);
// Describes and links what the compiler made, which is for `target`: as PTX, or as an image. False
// with a diagnostic.
bool aot_code_of(struct tool *t, const struct compile_result *r, const struct target *target,
                 struct span at, struct aot_code *ret);
// Functions, targets and module name from the options. False with diagnostics.
bool aot_plan(struct tool *t, const struct source *source, struct aot *ret);
// Sets open constants and launch options from FILE.tune.json. False with diagnostics.
bool aot_take_tunings(struct aot *a);
// Sets those that are still open from decorators of the kernels. False with diagnostics.
bool aot_take_defaults(struct aot *a);
// Parameters of each function, and its specialisations from --spec. False with diagnostics.
bool aot_describe(struct aot *a);
// --grid in C; after the parameters are known.
bool aot_grids(struct aot *a);
// Codes for every specialisation and target. False with diagnostics.
bool aot_compile(struct aot *a);
// Packs the compiled codes, on the tool's arena; false when memory ran out (reported).
bool aot_pack(struct aot *a, struct str *ret);

// ---- C (emit_c.c) ----
// The C type of a scalar, or of a pointer's elements: `void` for those that C lacks, which scalars
// have as float.
const char *aot_c_type(enum dtype t, bool is_pointer);
void aot_comment_text(const char *s, struct strbuf *out);                       // escaped
void aot_banner(const char *source_name, const char *what, struct strbuf *out); // a comment
void emit_c_header(const struct aot *a, struct strbuf *out);
void emit_c_source(const struct aot *a, struct str pack, struct strbuf *out);

// ---- emit_object_header.c ----
// The declarations of a kernel that was compiled to loops over vectors (info.calls_programs).
void emit_object_header(struct arena *a, const char *source_name, const struct kernel_info *info,
                        struct strbuf *out);

#endif
