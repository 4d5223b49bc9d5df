// SPDX-License-Identifier: Apache-2.0
// The picture of --explain-fusion.
#ifndef TILE_TOOLS_EXPLAIN_FUSION_H
#define TILE_TOOLS_EXPLAIN_FUSION_H

#include "graph/fuse/region.h"

// Each kernel is a box with the operators that it computes, in the order of execution; arcs are the
// values that one kernel stores and a later one loads.
void fusion_svg(const struct regions *r, struct strbuf *out);

#endif
