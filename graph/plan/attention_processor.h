// SPDX-License-Identifier: Apache-2.0
// Blocks of attention on a processor.
#ifndef TILE_GRAPH_PLAN_ATTENTION_PROCESSOR_H
#define TILE_GRAPH_PLAN_ATTENTION_PROCESSOR_H

#include "graph/plan/attention_plan.h"

// Sets the blocks of queries and keys, warps and stages; `depth` and `columns` are set.
void attention_on_processor(const struct attention_shape *s, const struct program_options *o,
                            struct attention_blocks *b);

#endif
