// SPDX-License-Identifier: Apache-2.0
// The source of a kernel as parts: its name, the values of its constants and the order of its loads
// and stores can change without reading text.
#ifndef TILE_GRAPH_PROGRAM_KERNEL_TEXT_H
#define TILE_GRAPH_PROGRAM_KERNEL_TEXT_H

#include "base/vec.h"
#include "graph/expr/size_expr.h"

// A compile-time parameter: a block size, say.
struct kernel_constant {
  const char *name, *value;
  const struct expr *symbol; // what stands for it in the rules of grids
  bool starts_line;          // in the parameter list
};

struct source_param { // of run time
  const char *name, *type;
  bool starts_line;
};

struct kernel_line {
  const char *text;
  unsigned indent;    // steps of four blanks
  const char *stores; // the parameter that the line stores to; NULL: none
};

struct kernel_text {
  const char *comment;
  VEC(const char *) functions; // that the kernel calls: whole definitions
  VEC(struct source_param) params;
  VEC(struct kernel_line) body;
};

// Breaks the parameter list where a line of the kernel's definition would get too long.
void kernel_text_break_lines(struct arena *a, struct kernel_text *t, const char *name,
                             struct kernel_constant *constants, size_t count);
// The whole file.
const char *kernel_text_source(struct arena *a, const struct kernel_text *t, const char *name,
                               const struct kernel_constant *constants, size_t count);
// Lines as text, without the last line's end.
void kernel_lines_print(const struct kernel_line *lines, size_t count, struct strbuf *out);
// Puts a barrier in front of the first store to the parameter, unless one is there. False: nothing
// has changed.
bool kernel_text_add_barrier(struct arena *a, struct kernel_text *t, const char *param);

#endif
