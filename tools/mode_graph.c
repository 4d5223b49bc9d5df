// SPDX-License-Identifier: Apache-2.0
// --graph: reads a tensor graph and says what becomes of it.
#include "base/json.h"
#include "graph/operators.h"
#include "graph/read_fx.h"
#include "tools/tool.h"

static void write_type(const struct value *v, struct json_writer *w) {
  struct strbuf type = {0};
  value_type_print(v, true, &type);
  json_begin_object(w);
  json_key(w, "name"), json_cstring(w, v->name);
  json_key(w, "type"), json_cstring(w, strbuf_cstr(&type));
  json_end_object(w);
  strbuf_finish(&type);
}

static void write_nodes(const struct graph *g, struct json_writer *w) {
  json_key(w, "operators");
  json_begin_array(w);
  for (size_t i = 0; i < g->nodes.len; i++) {
    const struct node *n = g->nodes.at[i];
    json_begin_object(w);
    json_key(w, "operator"), json_cstring(w, operator_row(n->op)->name);
    json_key(w, "results");
    json_begin_array(w);
    for (uint32_t k = 0; k < n->result_count; k++)
      if (n->results[k])
        write_type(n->results[k], w);
      else
        json_null(w);
    json_end_array(w);
    json_end_object(w);
  }
  json_end_array(w);
}

static void write_outputs(const struct graph *g, struct json_writer *w) {
  json_key(w, "outputs");
  json_begin_array(w);
  for (size_t i = 0; i < g->outputs.len; i++)
    if (g->outputs.at[i])
      json_cstring(w, g->outputs.at[i]->name);
    else
      json_null(w);
  json_end_array(w);
  json_key(w, "mutations");
  json_begin_array(w);
  for (size_t i = 0; i < g->mutations.len; i++) {
    json_begin_object(w);
    json_key(w, "input"), json_cstring(w, g->mutations.at[i].input->name);
    json_key(w, "value"), json_cstring(w, g->mutations.at[i].value->name);
    json_end_object(w);
  }
  json_end_array(w);
}

static void write_json(const struct graph *g, struct strbuf *out) {
  struct json_writer w = {.out = out};
  json_begin_object(&w);
  json_key(&w, "name"), json_cstring(&w, g->name);
  json_key(&w, "sizes");
  json_begin_array(&w);
  for (size_t i = 0; i < g->symbols.len; i++)
    json_cstring(&w, g->symbols.at[i]->symbol->name);
  json_end_array(&w);
  json_key(&w, "inputs");
  json_begin_array(&w);
  for (size_t i = 0; i < g->inputs.len; i++)
    write_type(g->inputs.at[i], &w);
  json_end_array(&w);
  write_nodes(g, &w);
  write_outputs(g, &w);
  json_end_object(&w);
  strbuf_putc(out, '\n');
}

static int emit_graph(struct tool *t, const struct graph *g) {
  struct strbuf out = {0};
  if (t->o.json)
    write_json(g, &out);
  else
    graph_print(g, &out);
  int status = tool_write(t, strbuf_cstr(&out), out.len);
  strbuf_finish(&out);
  return status;
}

int mode_graph(struct tool *t) {
  int status;
  const struct source *source = tool_source(t, &status);
  if (!source)
    return status;
  struct graph *g = graph_read_fx(t->arena, t->diag, source);
  if (!g)
    return tool_error_status(t);
  if (t->o.graph_mode == MODE_COMPILE && !t->o.emit_given && t->o.explain_fusion)
    return explain_fusion(t, g);
  if (t->o.graph_mode == MODE_COMPILE && (!t->o.emit_given || t->o.artifact == ARTIFACT_GRAPH))
    return emit_graph(t, g);
  diag_help(
      diag_error(t->diag, t->o.emit_given ? t->o.emit_at : t->o.mode_at, E0703, "not of graphs"),
      "`--emit=graph` prints the graph");
  return EXIT_USAGE;
}
