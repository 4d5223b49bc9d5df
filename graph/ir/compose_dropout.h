// SPDX-License-Identifier: Apache-2.0
// Attention with dropout is composed: of native_dropout and tile.dropout_attention.
#ifndef TILE_GRAPH_IR_COMPOSE_DROPOUT_H
#define TILE_GRAPH_IR_COMPOSE_DROPOUT_H

#include "graph/ir/graph_build.h"

// Is it forward attention whose `dropout_p` is not 0? (graph/ir/graph_args.c)
bool attention_drops_weights(const struct node *n);
// Is this result of it the state of the generator, which programs do not have?
bool attention_is_random_state(const struct node *n, uint32_t result);
// Appends them for an operator of forward attention whose `dropout_p` is not 0; the results of `n`
// are theirs. It has no state of the generator (NULL): gradients that take one would draw another
// mask.
void compose_dropout_attention(struct build *b, struct node *n);

#endif
