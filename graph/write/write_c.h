// SPDX-License-Identifier: Apache-2.0
// Writes a program as C: a header, and a source file that contains the kernels as a pack
// (tile/pack.h). C89 with the types of <stdint.h>; needs only libtile-rt.
#ifndef TILE_GRAPH_WRITE_WRITE_C_H
#define TILE_GRAPH_WRITE_WRITE_C_H

#include "graph/program/program.h"

// The names in a C program.
struct c_module {
  const char *name;
  const char *made_from; // the graph's file, for the banner
  const char *root;      // of a subgraph: the name of the whole program; NULL: it is the whole
  bool is_body;          // a subgraph's program: static functions, the pack of the whole
  struct str pack;       // function i of the pack is kernel i, named program_function_name
};

// "k3_add_gelu": kernel 3's name in the pack; on the program's arena.
const char *program_function_name(const struct program *p, uint32_t kernel);

void write_c_header(const struct program *p, const struct c_module *m, struct strbuf *out);
void write_c_source(const struct program *p, const struct c_module *m, struct strbuf *out);

#endif
