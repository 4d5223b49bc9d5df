// SPDX-License-Identifier: Apache-2.0
// For tests of the reader of graphs: texts that must be read, or refused.
#ifndef TESTS_UNIT_GRAPH_READ_CHECK_H
#define TESTS_UNIT_GRAPH_READ_CHECK_H

#include "graph_fixture.h"

#include <string.h>

// A graph of the lines between the parameters and the return.
#define GRAPH(parameters, ...)                                                                     \
  "class <lambda>(torch.nn.Module):\n    def forward(self, " parameters "):\n        " __VA_ARGS__ \
  "\n"

static inline void read_must(const struct graph_fixture *r) {
  graph_fixture_require(r->diag, r->graph != NULL, "graph.py");
}

static inline struct graph_fixture read_good(const char *text) {
  struct graph_fixture r = graph_fixture_read("graph.py", str_from(text));
  read_must(&r);
  return r;
}

// With an error that contains `says`.
static inline void read_refused(const char *text, const char *says) {
  struct graph_fixture f = graph_fixture_read("g.py", str_from(text));
  ck_assert_msg(!f.graph && strstr(diag_first_error(f.diag), says), "%s",
                f.graph ? "it was read" : diag_first_error(f.diag));
  graph_fixture_end(&f);
}

static inline void read_check_type(const struct value *v, const char *type) {
  struct strbuf out = {0};
  value_type_print(v, true, &out);
  ck_assert_str_eq(strbuf_cstr(&out), type);
  strbuf_finish(&out);
}

#endif
