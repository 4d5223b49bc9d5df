// SPDX-License-Identifier: Apache-2.0
// What the compiler knows of a file: the types of its values, and the layouts of its tiles. Each
// kernel is emitted with its annotations, defaults and decorators; what they do not give is assumed
// (assume.h).
#ifndef TILE_TOOLS_LSP_ANALYSIS_H
#define TILE_TOOLS_LSP_ANALYSIS_H

#include "lang/unit.h"
#include "lowering/target.h"
#include "tools/lsp/positions.h"

struct analysis_settings {
  const struct target *target;
  const char *const *folders; // of imported modules, besides the file's own
  size_t folder_count;
};

// The value of an expression or an assigned name.
struct fact {
  uint32_t begin, end;
  const char *type;     // "tile<64xf32>"
  const char *constant; // NULL: not known at compile time
};

// How the threads hold a tile, and how a load or store moves it.
struct layout_fact {
  uint32_t begin, end; // of the operation that makes or stores it
  const char *type;    // "64x64xf32"
  const char *encoding;
  unsigned registers; // per thread
  unsigned vector;    // elements per access; 0: no access
  unsigned element_bits;
};

// The layouts of all kernels of a file.
struct layouts {
  struct arena *arena; // owns it
  VEC(struct layout_fact) facts;
};

// A kernel, and what was assumed of it: "x_ptr: *f32, n: i32", or NULL.
struct kernel_note {
  const char *name, *assumed;
};

struct analysis {
  struct arena *arena; // owns it
  struct source *source;
  struct text_lines lines;
  struct lang_unit *unit; // NULL: the text could not be tokenized
  bool has_syntax_errors;
  struct diag_engine *diag; // errors of syntax; without any, those of kernels
  VEC(struct fact) facts;   // sorted by begin, then by end
  VEC(struct kernel_note) kernels;
  struct layouts *layouts; // owned; NULL: not known yet
};

// Whether the analysis is still of use: asked before each kernel.
struct analysis_check {
  bool (*goes_on)(void *user);
  void *user;
};

// NULL: memory is out, or it was stopped.
struct analysis *analysis_run(const char *path, struct str text, const struct analysis_settings *s,
                              struct analysis_check check);
// The same for the layouts (layout_facts.c).
struct layouts *layouts_run(const char *path, struct str text, const struct analysis_settings *s,
                            struct analysis_check check);
void layouts_destroy(struct layouts *l);   // accepts NULL
void analysis_destroy(struct analysis *a); // accepts NULL

// The fact of exactly this range; the smallest one around an offset. NULL: none.
const struct fact *analysis_fact(const struct analysis *a, uint32_t begin, uint32_t end);
const struct fact *analysis_fact_around(const struct analysis *a, uint32_t offset);

#endif
