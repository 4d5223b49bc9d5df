// SPDX-License-Identifier: Apache-2.0
// The first error of a graph that is built from C.
#include "base/memory.h"
#include "graph/capture/capture.h"

tile_status capture_fail(tile_graph *g, tile_status status, const char *fmt, ...) {
  if (g->status == TILE_OK) {
    struct strbuf text = {0};
    va_list ap;
    va_start(ap, fmt);
    strbuf_vprintf(&text, fmt, ap);
    va_end(ap);
    g->message = strbuf_take(&text);
    g->status = g->message ? status : TILE_OUT_OF_MEMORY;
  }
  return status_set_diagnostics(g->status, g->message ? g->message : "out of memory", g->records);
}

tile_status capture_fail_diag(tile_graph *g) {
  struct strbuf text = {.arena = g->arena}, records = {.arena = g->arena};
  diag_render_text(g->diag, (struct diag_style){0}, &text);
  diag_render_json_records(g->diag, &records);
  bool is_limit = diag_code_is_limit(diag_first_error_code(g->diag));
  if (g->status == TILE_OK)
    g->records = memory_strdup(strbuf_cstr(&records));
  tile_status s = capture_fail(g, is_limit ? TILE_LIMIT : TILE_COMPILE_ERROR, "%s",
                               text.len ? strbuf_cstr(&text) : "the graph has an error");
  strbuf_finish(&text);
  strbuf_finish(&records);
  return s;
}

bool capture_is_open(tile_graph *g) {
  if (g->status == TILE_OK && g->is_closed)
    capture_fail(g, TILE_INVALID_ARGUMENT, "the graph was compiled; it cannot be changed");
  else if (g->status != TILE_OK)
    capture_fail(g, g->status, "%s", "");
  return g->status == TILE_OK;
}
