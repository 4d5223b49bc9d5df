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
void c_write_address(const struct c_writer *w, const struct buffer *b);

// ---- graph/write/write_c_call.c ----
// Calls f for each program of a subgraph that a launch runs.
void c_each_body(const struct c_writer *w,
                 void (*f)(const struct c_writer *w, size_t launch, size_t body));
struct c_module c_body_module(const struct c_writer *w, size_t launch, size_t body);
// The launch of that index, which has no kernel.
void c_write_call(const struct c_writer *w, size_t index);
void c_write_grow(const struct c_writer *w); // a function that all of them use

// ---- graph/write/write_c_main.c ----
// The `main` of a program of static sizes: allocates, reads weights, runs, records, measures.
void c_write_main(const struct c_writer *w);

#endif
