// SPDX-License-Identifier: Apache-2.0
// Lowers graphs to loops and compares the two interpreters.
#ifndef TESTS_UNIT_GRAPH_LOOPS_CHECK_H
#define TESTS_UNIT_GRAPH_LOOPS_CHECK_H

#include "graph/loops/loops.h"

// The loops of g; fails the test if there are none.
struct loops *loops_of(struct graph *g, const char *name);
// Both interpreters on the same random inputs. `symbols` as in graph_interpret.
void loops_agree(struct graph *g, struct loops *l, const int64_t *symbols, const char *name);
// A graph from text; fails the test if there is none.
struct graph *graph_of_text(struct arena *a, struct str text, const char *name);

#endif
