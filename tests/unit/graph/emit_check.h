// SPDX-License-Identifier: Apache-2.0
// Runs graphs as programs on the CPU and compares them with the graph interpreter.
#ifndef TESTS_UNIT_GRAPH_EMIT_CHECK_H
#define TESTS_UNIT_GRAPH_EMIT_CHECK_H

#include "graph/program/program.h"

// Compiles a graph's text; fails the test if there are errors.
struct program *check_program(struct arena *a, const char *text, const struct program_options *o,
                              const char *name);
// Applies to each kernel a configuration of its space, a different one for each `round`; fails the
// test if a space or a grid is invalid. Returns how many kernels changed.
unsigned check_configure(struct program *p, unsigned round, const char *name);
// Random inputs of a graph and the interpreter's results, to be used for all programs of the graph.
struct reference;
struct reference *check_reference(const struct graph *g, const int64_t *symbols, const char *name);
void check_reference_destroy(struct reference *r);
void check_agrees_with(const struct reference *reference, struct program *p, const int64_t *symbols,
                       double tolerance, const char *name);
// Runs it on random inputs; elements may differ by `tolerance` times the largest of a tensor, and
// must be within their rounding bounds (graph/reference/bounds.h). `symbols` as in graph_interpret.
void check_agrees(struct program *p, const int64_t *symbols, double tolerance, const char *name);
// The number of elements beyond their bounds.
int64_t check_wrong_elements(struct program *p, const char *name);
// As check_agrees for the first output; then switches all kernels to their tier-1 code and requires
// the same bits. Returns how many have tier-1 code of their own.
unsigned check_tier1_forms(struct program *p, double tolerance, const char *name);

#endif
