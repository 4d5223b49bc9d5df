// SPDX-License-Identifier: Apache-2.0
// The source of a kernel as data: its name, constants and the order of loads and stores can be
// changed without parsing.
#ifndef TILE_GRAPH_PROGRAM_KERNEL_TEXT_H
#define TILE_GRAPH_PROGRAM_KERNEL_TEXT_H

#include "base/vec.h"
#include "graph/expr/size_expr.h"

// A constexpr parameter, such as a block size.
struct kernel_constant {
  const char *name, *value;
  const struct expr *symbol; // represents it in expressions of grids
  bool starts_line;          // in the parameter list
};

struct source_param { // a runtime parameter
  const char *name, *type;
  bool starts_line;
};

struct kernel_line {
  const char *text;
  unsigned indent;    // in units of four spaces
  const char *stores; // the pointer parameter that the line stores to; NULL: none
};

struct kernel_text {
  const char *comment;
  VEC(const char *) functions; // helper functions: whole definitions
  VEC(struct source_param) params;
  VEC(struct kernel_line) body;
};

// Breaks the parameter list where the line of the kernel's definition gets too long.
void kernel_text_break_lines(struct arena *a, struct kernel_text *t, const char *name,
                             struct kernel_constant *constants, size_t count);
// The whole file.
const char *kernel_text_source(struct arena *a, const struct kernel_text *t, const char *name,
                               const struct kernel_constant *constants, size_t count);
// Lines as text, without the final newline.
void kernel_lines_print(const struct kernel_line *lines, size_t count, struct strbuf *out);
// Inserts a barrier before the first store to the parameter, unless there is one. False: unchanged.
bool kernel_text_add_barrier(struct arena *a, struct kernel_text *t, const char *param);

#endif
