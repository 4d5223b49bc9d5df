// SPDX-License-Identifier: Apache-2.0
// --graph: reads a tensor graph; prints it, the plan, the sources, PTX, C; or runs it
// (tools/graph/graph_run.c).
#include "base/file.h"
#include "base/json.h"
#include "graph/graph_compile.h"
#include "graph/ir/graph_operators.h"
#include "graph/ir/subgraph.h"
#include "graph/read/fx.h"
#include "graph/write/write_c.h"
#include "lowering/target.h"
#include "tools/aot/aot.h"
#include "tools/graph/graph_gradient.h"
#include "tools/graph/graph_pack.h"
#include "tools/graph/graph_run.h"
#include "tools/graph/graph_tune.h"
#include "tools/progress.h"

#include <errno.h>

static void write_type(const struct value *v, struct json_writer *w) {
  struct strbuf type = {.arena = w->out->arena};
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
  struct strbuf out = {.arena = t->arena};
  if (t->o.json)
    write_json(g, &out);
  else
    graph_print(g, &out);
  int status = tool_write(t, strbuf_cstr(&out), out.len);
  strbuf_finish(&out);
  return status;
}

// ---- what is made of it ----

static int write_text(struct tool *t, struct strbuf *out) {
  int status = tool_write(t, strbuf_cstr(out), out->len);
  strbuf_finish(out);
  return status;
}

static int write_file(struct tool *t, const char *path, const struct strbuf *text) {
  int error = text->failed ? ENOMEM : file_write(path, text->ptr, text->len);
  return error ? tool_cannot_write(t, SPAN_NONE, path, error) : EXIT_DONE;
}

// Kernels of a graph are made for one GPU, or for processors.
static bool check_targets(struct tool *t, target_vec *ret) {
  if (!aot_targets(t, ret))
    return false;
  if (ret->len == 1 || !aot_has_gpu(ret))
    return true;
  diag_help(diag_error(t->diag, t->o.targets.at[t->o.targets.len - 1].where, E0703,
                       "the kernels of a graph are chosen for one GPU, or for processors"),
            "make one program for each, with a name of its own (`--name`)");
  return false;
}

// NAME.h and NAME.c in the folder -o.
static int emit_c(struct tool *t, const struct program *p) {
  target_vec targets = {0};
  struct c_module m = {.made_from = t->o.file};
  struct strbuf text = {.arena = t->arena};
  if (!t->o.output) {
    diag_help(diag_error(t->diag, t->o.emit_at, E0703, "`--emit=c` of a graph makes two files"),
              "name a folder for them: `-o out`");
    return EXIT_USAGE;
  }
  if (!aot_module_name(t, "graph", &m.name))
    return EXIT_USAGE;
  if (!check_targets(t, &targets))
    return EXIT_USAGE;
  if (!graph_pack(t, p, &targets, &m.pack))
    return tool_error_status(t);
  int error = dir_create(t->o.output, 0777);
  if (error) {
    diag_error(t->diag, SPAN_NONE, E0711, "cannot make the folder `%s`: %s", t->o.output,
               strerror(error));
    return EXIT_CANNOT_WRITE;
  }
  write_c_header(p, &m, &text);
  int status = write_file(t, arena_printf(t->arena, "%s/%s.h", t->o.output, m.name), &text);
  strbuf_clear(&text);
  write_c_source(p, &m, &text);
  if (status == EXIT_DONE)
    status = write_file(t, arena_printf(t->arena, "%s/%s.c", t->o.output, m.name), &text);
  strbuf_finish(&text);
  return status;
}

static int refuse(struct tool *t) {
  diag_help(diag_error(t->diag, t->o.emit_at, E0703, "not of graphs"),
            "of graphs there are `--emit=graph`, `plan`, `tile`, `ptx` and `c`");
  return EXIT_USAGE;
}

static bool is_stage(const struct tool *t, enum emit_kind kind) {
  return t->o.artifact == ARTIFACT_STAGE && t->o.emit == kind;
}

static int emit_as(struct tool *t, const struct program *p, const struct target *target) {
  struct strbuf out = {.arena = t->arena};
  if (t->o.artifact == ARTIFACT_C)
    return emit_c(t, p);
  struct json_writer w = {.out = &out};
  if (t->o.artifact == ARTIFACT_PLAN && t->o.json)
    program_write_plan(p, target->name, &w), strbuf_putc(&out, '\n');
  else if (t->o.artifact == ARTIFACT_PLAN)
    program_print_plan(p, target->name, &out);
  else if (is_stage(t, EMIT_TILE))
    program_print_tile(p, &out);
  else if (!graph_ptx(t, p, target, &out))
    return tool_error_status(t);
  return write_text(t, &out);
}

static int emit_program(struct tool *t, struct graph *g) {
  const struct target *target = tool_target(t);
  bool is_tile = is_stage(t, EMIT_TILE), is_ptx = is_stage(t, EMIT_PTX);
  bool is_c = t->o.artifact == ARTIFACT_C, is_plan = t->o.artifact == ARTIFACT_PLAN;
  if (!is_tile && !is_ptx && !is_c && !is_plan)
    return refuse(t);
  if ((is_ptx && target->is_cpu) || (is_c && target->is_cpu && !t->o.target)) {
    diag_help(diag_error(t->diag, t->o.emit_at, E0703,
                         is_c ? "a program is made for a GPU or for processors"
                              : "the CPU target has no PTX"),
              is_c ? "name it: `--target sm_90a` or `--target cpu`"
                   : "name a GPU: `--target sm_90a`");
    return EXIT_USAGE;
  }
  if (t->o.max_autotune) {
    struct graph_session s = {0};
    int status = graph_session_open(t, g, &s);
    if (status == EXIT_DONE)
      status = emit_as(t, s.program, target);
    graph_session_close(&s);
    return status;
  }
  struct program_options options = {.target = target->name, .no_pdl = t->o.no_pdl};
  progress_stage(t, arena_printf(t->arena, "compiling %s for %s", g->name, target->name));
  struct program *p = program_compile(g, &options);
  size_t count;
  if (!p || !graph_take_tunings(t, p, NULL, target->name, &count))
    return tool_error_status(t);
  return emit_as(t, p, target);
}

// Arguments give likely sizes as soon as the graph's inputs are read.
struct likely_sizes {
  struct tool *t;
  int status;
};

static bool take_likely_sizes(struct graph *g, void *user) {
  struct likely_sizes *l = user;
  l->status = graph_take_sizes(l->t, g);
  return l->status == EXIT_DONE;
}

struct graph *graph_open(struct tool *t, const struct source *source, int *ret_status) {
  struct likely_sizes likely = {t, EXIT_DONE};
  struct graph *g = graph_read_fx_likely(t->arena, t->diag, source, take_likely_sizes, &likely);
  *ret_status = g ? EXIT_DONE : likely.status != EXIT_DONE ? likely.status : tool_error_status(t);
  return g;
}

int mode_graph(struct tool *t) {
  int status;
  const struct source *source = tool_source(t, &status);
  struct graph *g = source ? graph_open(t, source, &status) : NULL;
  if (!g)
    return status;
  size_t outputs = g->outputs.len, inputs = g->inputs.len;
  if (t->o.memory_budget && !t->o.explain_partition) {
    g->recomputes = true;
    g->saved_limit = (int64_t)t->o.memory_budget;
  }
  status = graph_take_gradients(t, g);
  if (status != EXIT_DONE)
    return status;
  if (t->o.explain_partition)
    return explain_partition(t, g, outputs, g->inputs.len - inputs);
  graph_keep_casts(g, t->o.keep_casts);
  if (t->o.graph_mode == MODE_RUN)
    return graph_run(t, g);
  if (t->o.graph_mode == MODE_BENCH)
    return graph_bench(t, g);
  if (t->o.artifact == ARTIFACT_GRAPH || (!t->o.emit_given && !t->o.explain_fusion))
    return emit_graph(t, g);
  return t->o.emit_given ? emit_program(t, g) : explain_fusion(t, g);
}
