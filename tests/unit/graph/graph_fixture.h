// SPDX-License-Identifier: Apache-2.0
// The fixture of tests on graphs: a graph read from text, with its arena and diagnostics.
#ifndef TESTS_UNIT_GRAPH_GRAPH_FIXTURE_H
#define TESTS_UNIT_GRAPH_GRAPH_FIXTURE_H

#include "base/source.h"
#include "graph/read/fx.h"

#include <check.h>

struct graph_fixture {
  struct arena *arena;
  struct diag_engine *diag;
  struct graph *graph; // NULL: the text was refused
};

// On an arena of its own. Reading gives a graph or a diagnostic, never both or neither.
static inline struct graph_fixture graph_fixture_read(const char *name, struct str text) {
  struct graph_fixture f = {.arena = arena_create()};
  f.diag = diag_engine_create(f.arena);
  f.graph = graph_read_fx(f.arena, f.diag, source_create(f.arena, name, text));
  ck_assert_int_eq(f.graph == NULL, diag_error_count(f.diag) > 0);
  return f;
}

static inline void graph_fixture_end(struct graph_fixture *f) { arena_destroy(f->arena); }

// Fails the test with the diagnostics, unless `ok`.
static inline void graph_fixture_require(struct diag_engine *diag, bool ok, const char *what) {
  struct strbuf out = {0};
  if (!ok)
    diag_render_text(diag, (struct diag_style){0}, &out);
  ck_assert_msg(ok, "%s: %s", what, strbuf_cstr(&out));
  strbuf_finish(&out);
}

// On the test's arena, a text that has to be accepted.
static inline struct graph *graph_fixture_in(struct arena *a, const char *name, struct str text) {
  struct diag_engine *diag = diag_engine_create(a);
  struct graph *g = graph_read_fx(a, diag, source_create(a, name, text));
  graph_fixture_require(diag, g != NULL, name);
  return g;
}

#endif
