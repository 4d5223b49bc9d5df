// SPDX-License-Identifier: Apache-2.0
// --graph FILE --explain-fusion: prints the regions of a graph, each of which becomes a kernel;
// remarks say why neighbours are separate.
#include "tools/graph/explain_fusion.h"

#include "base/file.h"
#include "base/json.h"
#include "graph/passes/passes.h"
#include "tools/tool.h"

static void write_names(struct buffer *const *at, size_t len, struct json_writer *w) {
  json_begin_array(w);
  for (size_t i = 0; i < len; i++)
    json_cstring(w, at[i]->name);
  json_end_array(w);
}

static void write_expr(const struct expr *e, struct json_writer *w) {
  struct strbuf text = {.arena = w->out->arena};
  int64_t value;
  expr_print(e, &text);
  if (expr_is_const(e, &value))
    json_int(w, value);
  else
    json_cstring(w, strbuf_cstr(&text));
  strbuf_finish(&text);
}

static void write_axes(const struct region *r, struct json_writer *w) {
  json_begin_object(w);
  for (uint32_t i = 0; i < r->rank; i++) {
    json_key(w, r->axes[i]->symbol->name);
    write_expr(r->axes[i]->symbol->limit, w);
  }
  json_end_object(w);
}

static void write_stages(const struct region *r, struct json_writer *w) {
  struct strbuf text = {.arena = w->out->arena};
  json_begin_array(w);
  for (size_t i = 0; i < r->stages.len; i++) {
    strbuf_clear(&text);
    stage_print(r->stages.at[i], &text);
    json_string(w, str_trim((struct str){text.ptr, text.len}));
  }
  json_end_array(w);
  strbuf_finish(&text);
}

static void write_json(const struct regions *r, struct strbuf *out) {
  struct json_writer w = {.out = out};
  json_begin_object(&w);
  json_key(&w, "regions");
  json_begin_array(&w);
  for (size_t i = 0; i < r->list.len; i++) {
    const struct region *g = r->list.at[i];
    json_begin_object(&w);
    json_key(&w, "name"), json_cstring(&w, g->name);
    json_key(&w, "kind"), json_cstring(&w, region_kind_name(g->kind));
    json_key(&w, "axes"), write_axes(g, &w);
    json_key(&w, "reads"), write_names(g->reads.at, g->reads.len, &w);
    json_key(&w, "writes"), write_names(g->writes.at, g->writes.len, &w);
    json_key(&w, "bytes"), write_expr(g->bytes, &w);
    json_key(&w, "operations"), write_expr(g->flops, &w);
    json_key(&w, "stages"), write_stages(g, &w);
    json_end_object(&w);
  }
  json_end_array(&w);
  json_key(&w, "temporaries");
  write_names(r->temporaries.at, r->temporaries.len, &w);
  json_end_object(&w);
  strbuf_putc(out, '\n');
}

int explain_fusion(struct tool *t, struct graph *g) {
  g = graph_decompose(g, KEEPS_ATTENTION, false);
  g = g ? graph_simplify(g) : NULL;
  struct loops *l = g ? loops_build(g) : NULL;
  struct regions *r = l ? regions_form(l, &(struct fuse_options){0}) : NULL;
  if (!r)
    return tool_error_status(t);
  struct strbuf out = {.arena = t->arena};
  if (t->o.svg) {
    fusion_svg(r, &out);
    int error = file_write(t->o.svg, strbuf_cstr(&out), out.len);
    if (error)
      return tool_cannot_write(t, SPAN_NONE, t->o.svg, error);
    strbuf_clear(&out);
  }
  if (t->o.json)
    write_json(r, &out);
  else
    regions_print(r, &out);
  int status = tool_write(t, strbuf_cstr(&out), out.len);
  strbuf_finish(&out);
  return status;
}
