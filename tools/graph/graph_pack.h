// SPDX-License-Identifier: Apache-2.0
// Kernels of a graph's program compiled ahead of time, as one pack.
#ifndef TILE_TOOLS_GRAPH_PACK_H
#define TILE_TOOLS_GRAPH_PACK_H

#include "graph/program/program.h"
#include "tools/aot/aot.h"

// Every kernel for the targets, one GPU or processors: of a GPU as machine code if there is an
// assembler, else as PTX; each specialised for addresses that are multiples of 16, and for any. On
// the tool's arena. False with diagnostics.
bool graph_pack(struct tool *t, const struct program *p, const target_vec *targets,
                struct str *ret);

// The text of all kernels for `target`, concatenated.
bool graph_ptx(struct tool *t, const struct program *p, const struct target *target,
               struct strbuf *out);

#endif
