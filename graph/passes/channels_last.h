// SPDX-License-Identifier: Apache-2.0
// Images are stored with their channels next to each other (NHWC) where convolutions read them.
#ifndef TILE_GRAPH_PASSES_CHANNELS_LAST_H
#define TILE_GRAPH_PASSES_CHANNELS_LAST_H

#include "graph/ir/graph.h"

// Sets the strides of images that the program stores for itself: results of convolutions in half
// precision with enough channels for wide loads, and all images that pointwise operators, pooling
// and the like connect with them. Inputs, outputs and views keep theirs.
void graph_store_channels_last(struct graph *g);

// The same for outputs with free strides. `g` is the graph as read: its outputs say what callers
// allocate.
void graph_choose_output_strides(struct graph *g);

#endif
