// SPDX-License-Identifier: Apache-2.0
// Cuts the graph of a path into steps: one for each answer, and one for the outputs. An operator
// belongs to the first step that needs it; what later steps read of it is written to memory. Views
// and constants are made again by each step that needs them.
#include "base/memory.h"
#include "graph/capture/function_internal.h"
#include "graph/ir/graph_operators.h"
#include "graph/ir/subgraph.h"
#include "graph/passes/passes.h"
#include "graph/run/handle.h"

#include <stdlib.h>

struct plan {
  tile_captured *f;
  struct variant *v;
  tile_graph *g;
  const struct path_capture *c;
  size_t first, count; // steps: those from `first` on are made
  size_t *step_of;     // by node id: 1 + its step; 0: none
  bool *is_given;      // by value id: written by a step before
  bool **is_written;   // by step and value id: later steps read it
  bool *needed;
};

static bool is_made_again(const struct node *n) {
  enum operator_class c = operator_row(n->op)->class;
  return c == CLASS_VIEW || c == CLASS_CREATE;
}

static void need(struct plan *p, const struct arg *args, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (args[i].kind == ARG_VALUE && args[i].value)
      p->needed[args[i].value->id] = true;
    if (args[i].kind == ARG_LIST)
      need(p, args[i].list.at, args[i].list.count);
  }
}

static void need_targets(struct plan *p, size_t step) {
  const struct graph *g = p->g->g;
  if (step < p->c->items.len) {
    p->needed[p->c->items.at[step]->id] = true;
    return;
  }
  for (size_t i = 0; i < g->outputs.len; i++)
    if (g->outputs.at[i])
      p->needed[g->outputs.at[i]->id] = true;
  for (size_t i = 0; i < g->mutations.len; i++)
    p->needed[g->mutations.at[i].value->id] = true;
}

// The operators of a step, from its targets backwards to what steps before wrote.
static void assign(struct plan *p, size_t step) {
  const struct graph *g = p->g->g;
  memset(p->needed, 0, g->value_count * sizeof *p->needed);
  need_targets(p, step);
  for (size_t i = g->nodes.len; i-- > 0;) {
    const struct node *n = g->nodes.at[i];
    bool is_needed = false;
    for (uint32_t k = 0; k < n->result_count; k++) {
      const struct value *v = n->results[k];
      bool here = v && p->needed[v->id] && !p->is_given[v->id];
      is_needed |= here;
      if (here && p->step_of[i] && p->step_of[i] - 1 < step && !is_made_again(n))
        p->is_written[p->step_of[i] - 1][v->id] = true;
    }
    if (!is_needed || (p->step_of[i] && p->step_of[i] - 1 < step && !is_made_again(n)))
      continue;
    p->step_of[i] = p->step_of[i] ? p->step_of[i] : step + 1;
    need(p, n->args, n->arg_count);
  }
}

static tile_status out_of_memory(void) {
  return status_set(TILE_OUT_OF_MEMORY, "out of memory for the paths of a function");
}

// ---- one step ----

static struct path_buffer *find_buffer(struct path_step *s, const struct value *v) {
  for (; s; s = s->parent) // values before a break have the same ids in all paths
    for (size_t i = 0; i < s->write_count; i++)
      if (s->writes[i].value->id == v->id)
        return &s->writes[i];
  return NULL;
}

static tile_status set_writes(struct plan *p, struct path_step *s, size_t step) {
  const struct graph *g = p->g->g;
  struct value **list = arena_array(p->g->arena, struct value *, g->value_count + 1);
  size_t count = 0;
  if (s->item)
    list[count++] = p->c->items.at[step];
  for (size_t i = 0; i < g->nodes.len; i++)
    for (uint32_t k = 0; k < g->nodes.at[i]->result_count; k++) {
      struct value *v = g->nodes.at[i]->results[k];
      if (v && p->is_written[step][v->id] && v != s->item)
        list[count++] = v;
    }
  s->write_count = count;
  s->writes = memory_zeroed(count + 1, sizeof *s->writes);
  if (!s->writes)
    return out_of_memory();
  for (size_t i = 0; i < count; i++)
    s->writes[i].value = list[i];
  return TILE_OK;
}

static tile_status compile(struct plan *p, struct path_step *s) {
  struct graph *g = p->g->g;
  struct value **outputs = arena_array(g->arena, struct value *, s->write_count + 1);
  for (size_t i = 0; i < s->write_count; i++)
    outputs[i] = s->writes[i].value;
  const struct extraction e = {.name = s->item ? "step" : "end",
                               .is_given = p->is_given,
                               .count = s->item ? s->write_count : g->outputs.len,
                               .outputs = s->item ? outputs : g->outputs.at,
                               .writes = !s->item,
                               .keeps_inputs = true};
  struct graph *part = graph_extract(g, &e);
  if (!part)
    return capture_fail_diag(p->g);
  s->given_count = part->inputs.len - g->inputs.len;
  s->given = memory_zeroed(s->given_count + 1, sizeof *s->given);
  s->in = memory_zeroed(part->inputs.len + 1, sizeof *s->in);
  s->out = memory_zeroed(part->outputs.len + 1, sizeof *s->out);
  s->program = program_handle_create();
  if (!s->given || !s->in || !s->out || !s->program)
    return out_of_memory();
  size_t at = 0; // given values are in the order of their operators
  for (size_t i = 0; i < g->nodes.len; i++)
    for (uint32_t k = 0; k < g->nodes.at[i]->result_count; k++) {
      const struct value *v = g->nodes.at[i]->results[k];
      if (v && at < s->given_count && p->is_given[v->id] &&
          strcmp(part->inputs.at[g->inputs.len + at]->name, v->name) == 0)
        s->given[at++] = find_buffer(s->parent, v);
    }
  return program_handle_load(s->program, part, p->f->device);
}

static tile_status link_step(struct path_step *parent, struct path_step *s, struct variant *v) {
  s->parent = parent;
  if (!parent) {
    v->first = s;
    return TILE_OK;
  }
  struct path_step **more = memory_resize(parent->next, (parent->next_count + 1) * sizeof *more);
  if (!more)
    return out_of_memory();
  parent->next = more;
  parent->next[parent->next_count++] = s;
  return TILE_OK;
}

static tile_status add_step(struct plan *p, size_t step, struct path_step **last) {
  struct path_step *s = memory_zeroed(1, sizeof *s);
  if (!s)
    return out_of_memory();
  s->graph = p->g;
  s->item = step < p->c->items.len ? p->c->items.at[step] : NULL;
  s->answer = step ? p->c->answers.at[step - 1] : 0;
  tile_status status = link_step(*last, s, p->v);
  if (status != TILE_OK) {
    free(s);
    return status;
  }
  *last = s;
  status = set_writes(p, s, step);
  if (status == TILE_OK)
    status = compile(p, s);
  for (size_t i = 0; i < s->write_count; i++)
    p->is_given[s->writes[i].value->id] = true;
  return status;
}

// ---- all ----

static tile_status build(struct plan *p, struct path_step *last) {
  struct graph *g = p->g->g;
  struct arena *a = p->g->arena;
  p->count = p->c->items.len + 1;
  p->step_of = arena_array(a, size_t, g->nodes.len + 1);
  p->is_given = arena_array(a, bool, g->value_count + 1);
  p->needed = arena_array(a, bool, g->value_count + 1);
  p->is_written = arena_array(a, bool *, p->count + 1);
  for (struct path_step *s = last; s; s = s->parent, p->first++)
    for (size_t i = 0; i < s->write_count; i++)
      p->is_given[s->writes[i].value->id] = true;
  for (size_t i = p->first; i < p->count; i++) {
    p->is_written[i] = arena_array(a, bool, g->value_count + 1);
    assign(p, i);
  }
  tile_status s = TILE_OK;
  for (size_t i = p->first; s == TILE_OK && i < p->count; i++)
    s = add_step(p, i, &last);
  return s;
}

tile_status path_build(tile_captured *f, struct variant *v, tile_graph *g,
                       const struct path_capture *c, struct path_step *last) {
  struct plan p = {.f = f, .v = v, .g = g, .c = c};
  GUARDED(g, out_of_memory, TILE_OUT_OF_MEMORY);
  g->is_closed = true;
  tile_status s = build(&p, last);
  v->path_count += s == TILE_OK;
  return s;
}

void path_destroy(tile_captured *f, struct path_step *s) {
  if (!s)
    return;
  for (size_t i = 0; i < s->next_count; i++)
    path_destroy(f, s->next[i]);
  tile_program_close(s->program);
  for (size_t i = 0; i < s->write_count; i++)
    tile_free(f->device, s->writes[i].data);
  free(s->next);
  free(s->given);
  free(s->writes);
  free(s->in);
  free(s->out);
  free(s);
}
