// SPDX-License-Identifier: Apache-2.0
// Shared by the files that write programs as C.
#ifndef TILE_GRAPH_WRITE_WRITE_C_INTERNAL_H
#define TILE_GRAPH_WRITE_WRITE_C_INTERNAL_H

#include "graph/write/write_c.h"

struct c_writer {
  const struct program *p;
  const struct c_module *m;
  struct strbuf *out;
};

// ---- graph/write/write_c_expr.c ----
const char *c_type_id(enum dtype t); // "F32"
bool c_is_dynamic(const struct program *p);
void c_run_parameters(const struct c_writer *w); // without the closing parenthesis
void c_print_size(const struct c_writer *w, const struct expr *e);

// ---- graph/write/write_c_run.c ----
void c_write_definitions(const struct c_writer *w);

// ---- graph/write/write_c_main.c ----
// The `main` of a program of static sizes: allocates, reads weights, runs, records, measures.
void c_write_main(const struct c_writer *w);

#endif
