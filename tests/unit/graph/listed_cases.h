// SPDX-License-Identifier: Apache-2.0
// Files of cases: a call of an operator in FX text, its tensors, and PyTorch's results.
#ifndef TESTS_UNIT_GRAPH_LISTED_CASES_H
#define TESTS_UNIT_GRAPH_LISTED_CASES_H

#include "graph/ir/graph_operators.h"
#include "graph/reference/tensor.h"

enum { CASE_TENSORS = 12, CASE_ELEMENTS = 512, CASE_NAMES = 64 };

struct listed {
  struct str type; // "f32[2, 3][1, 2]"; empty: None, a result that is left out
  int64_t count;
  union element at[CASE_ELEMENTS];
};

struct listed_case {
  struct str call;
  struct listed in[CASE_TENSORS], out[CASE_TENSORS];
  unsigned in_count, out_count;
};

struct case_reader {
  struct str rest;
  struct str names[CASE_NAMES], tensors[CASE_NAMES]; // of lines `$NAME TENSOR`
  unsigned name_count;
};

// One case, up to the next call. False at the end.
bool case_read(struct case_reader *r, struct listed_case *ret);
enum operator_id case_operator(const struct listed_case *c);
bool case_has_tuple(const struct listed_case *c);
// A graph of `count` cases: tensor i of case k is the input ak_i, result i the next output.
void cases_write_graph(const struct listed_case *const *cases, unsigned count, struct strbuf *out);
struct tensor *case_tensor(const struct value *v, const struct listed *l);

#endif
