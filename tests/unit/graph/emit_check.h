// SPDX-License-Identifier: Apache-2.0
// Graphs as programs on the CPU, compared with the graph's own interpreter.
#ifndef TESTS_UNIT_GRAPH_EMIT_CHECK_H
#define TESTS_UNIT_GRAPH_EMIT_CHECK_H

#include "graph/program/program.h"

// The program of a graph's text; fails the test if there is none.
struct program *check_program(struct arena *a, const char *text, const struct program_options *o,
                              const char *name);
// Takes for each kernel a configuration of its space, another one for each `round`; fails the test
// where a space or a grid cannot be read. Returns how many kernels have other than their own.
unsigned check_configure(struct program *p, unsigned round, const char *name);
// Random inputs of a graph, and what the interpreter computes from them: one for all programs of
// the graph.
struct reference;
struct reference *check_reference(const struct graph *g, const int64_t *symbols, const char *name);
void check_reference_destroy(struct reference *r);
void check_agrees_with(const struct reference *reference, struct program *p, const int64_t *symbols,
                       double tolerance, const char *name);
// Runs it on random inputs; elements may differ by `tolerance` of the largest of a tensor, and by
// what rounding can make of each (graph/reference/bounds.h). `symbols` as in graph_interpret.
void check_agrees(struct program *p, const int64_t *symbols, double tolerance, const char *name);
// The number of elements that are beyond their bounds.
int64_t check_wrong_elements(struct program *p, const char *name);
// As check_agrees for the first output, then again with all kernels in their tier-1 code, which
// they keep: the same bits. Returns how many have one of their own.
unsigned check_tier1_forms(struct program *p, double tolerance, const char *name);

#endif
