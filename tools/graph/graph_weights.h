// SPDX-License-Identifier: Apache-2.0
// --weights: a graph's inputs by name from a .safetensors file, a .npy file or a folder of those.
#ifndef TILE_TOOLS_GRAPH_WEIGHTS_H
#define TILE_TOOLS_GRAPH_WEIGHTS_H

#include "graph/reference/tensor.h"
#include "tools/tool.h"

#include <tile/weights.h>

// *ret is NULL where no --weights was given. False with a diagnostic: the file cannot be read, or
// has no tensor of the name of any input.
bool graph_weights_open(struct tool *t, const struct graph *g, tile_weights **ret);
// Copies the tensor of the input's name to `into`, which has the input's shape; *ret_found: there
// is one. False with a diagnostic if its shape or dtype differs.
bool graph_weights_take(struct tool *t, tile_weights *w, const struct value *input,
                        struct tensor *into, bool *ret_found);

#endif
