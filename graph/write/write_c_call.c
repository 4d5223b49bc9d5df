// SPDX-License-Identifier: Apache-2.0
// Launches that run programs of subgraphs, in C: each subgraph is a program of its own within the
// file, with static functions (graph/run/run_call.c does the same in process).
// Recursion is the algorithm: that program is written as any other (write_c_run.c).
#include "graph/ir/subgraph.h"
#include "graph/write/write_c_internal.h"

#include <inttypes.h>

enum { ALIGNMENT = 256, SETS = 2 };

struct c_call {
  const struct c_writer *w;
  const struct launch *l;
  size_t index; // of the launch
  const struct program *body;
  size_t carried;
};

struct c_module c_body_module(const struct c_writer *w, size_t launch, size_t body) {
  struct c_module m = *w->m;
  m.name = arena_printf(w->p->arena, "%s_%zu_%zu", w->m->name, launch, body);
  m.is_body = true;
  if (!m.root)
    m.root = w->m->name;
  return m;
}

void c_each_body(const struct c_writer *w,
                 void (*f)(const struct c_writer *w, size_t launch, size_t body)) {
  for (size_t i = 0; i < w->p->launches.len; i++)
    for (size_t k = 0; k < COUNT_OF(w->p->launches.at[i].bodies); k++)
      if (w->p->launches.at[i].bodies[k])
        f(w, i, k);
}

// ---- parts of a call ----

static void put_operand(const struct c_call *c, size_t i) {
  strbuf_puts(c->w->out, "(char *)");
  c_write_address(c->w, c->l->call->operands[i]->buffer);
}

static void put_bytes(const struct c_call *c, const struct value *v) {
  struct exprs *x = c->w->p->graph->exprs;
  c_print_size(c->w, expr_muli(x, value_numel(x, v), dtype_bytes(v->dtype)));
}

static void put_run(const struct c_call *c, size_t body, const char *out) {
  strbuf_printf(c->w->out, "%s_%zu_%zu_run(program->b%zu_%zu, stream, seed, %sin, %s)",
                c->w->m->name, c->index, body, c->index, body,
                c_is_dynamic(c->w->p) ? "sizes, " : "", out);
}

// set[k][i]: memory for output i of the body; `flag_at` precedes them.
static void put_scratch(const struct c_call *c) {
  struct strbuf *out = c->w->out;
  const struct graph *g = c->body->graph;
  strbuf_printf(out, "    int64_t need = %d;\n", ALIGNMENT);
  for (size_t i = 0; i < g->outputs.len; i++) {
    strbuf_printf(out, "    bytes[%zu] = ", i);
    put_bytes(c, g->outputs.at[i]);
    strbuf_printf(out, ";\n    need += %d * ((bytes[%zu] + %d) / %d * %d);\n", SETS, i,
                  ALIGNMENT - 1, ALIGNMENT, ALIGNMENT);
  }
  strbuf_printf(out,
                "    status = %s_grow(program->device, stream, need, &program->scratch%zu, "
                "&program->scratch_bytes%zu);\n"
                "    flag_at = program->scratch%zu;\n"
                "    for (k = 0, need = %d; k < %d; k++)\n"
                "      for (i = 0; i < %zu; i++) {\n"
                "        set[k][i] = flag_at ? flag_at + need : NULL;\n"
                "        need += (bytes[i] + %d) / %d * %d;\n"
                "      }\n",
                c->w->m->root ? c->w->m->root : c->w->m->name, c->index, c->index, c->index,
                ALIGNMENT, SETS, g->outputs.len, ALIGNMENT - 1, ALIGNMENT, ALIGNMENT);
}

static void put_inputs(const struct c_call *c, size_t first) {
  for (size_t i = first; i < c->l->call->operand_count; i++) {
    strbuf_printf(c->w->out, "    in[%zu] = ", i - first);
    put_operand(c, i);
    strbuf_puts(c->w->out, ";\n");
  }
}

static void put_flag(const struct c_call *c, const char *at) {
  strbuf_printf(c->w->out,
                "%sif (status == TILE_OK)\n"
                "%s  status = tile_copy_to_host(program->device, stream, &flag, ",
                at ? "      " : "    ", at ? "      " : "    ");
  if (at)
    strbuf_puts(c->w->out, at);
  else
    put_operand(c, 0);
  strbuf_puts(c->w->out, ", 1);\n");
}

static void put_carried_results(const struct c_call *c) {
  for (size_t i = 0; i < c->carried; i++) {
    const struct buffer *b = c->l->call->results[i];
    if (!b)
      continue;
    strbuf_puts(c->w->out, "    if (status == TILE_OK)\n"
                           "      status = tile_copy_on_device(program->device, stream, ");
    c_write_address(c->w, b);
    strbuf_printf(c->w->out, ", in[%zu], (size_t)bytes[%zu]);\n", i, i);
  }
}

// ---- kinds ----

static void put_cond(const struct c_call *c) {
  struct strbuf *out = c->w->out;
  put_inputs(c, 1);
  for (size_t i = 0; i < c->body->graph->outputs.len; i++) {
    strbuf_printf(out, "    out[%zu] = ", i);
    if (c->l->call->results[i])
      c_write_address(c->w, c->l->call->results[i]);
    else
      strbuf_printf(out, "set[0][%zu]", i);
    strbuf_puts(out, ";\n");
  }
  put_flag(c, NULL);
  strbuf_puts(out, "    if (status == TILE_OK)\n      status = flag ? ");
  put_run(c, 0, "out");
  strbuf_puts(out, "\n                    : ");
  put_run(c, 1, "out");
  strbuf_puts(out, ";\n");
}

static void put_while(const struct c_call *c) {
  struct strbuf *out = c->w->out;
  put_inputs(c, 0);
  strbuf_puts(out, "    for (at = 0; status == TILE_OK; at++) {\n"
                   "      out[0] = flag_at;\n"
                   "      status = ");
  put_run(c, 0, "out");
  strbuf_puts(out, ";\n");
  put_flag(c, "flag_at");
  strbuf_printf(out,
                "      if (status != TILE_OK || !flag)\n"
                "        break;\n"
                "      for (i = 0; i < %zu; i++)\n"
                "        out[i] = set[at %% %d][i];\n"
                "      status = ",
                c->carried, SETS);
  put_run(c, 1, "out");
  strbuf_printf(out, ";\n      for (i = 0; i < %zu; i++)\n        in[i] = out[i];\n    }\n",
                c->carried);
  put_carried_results(c);
}

static void put_scan(const struct c_call *c) {
  struct strbuf *out = c->w->out;
  const struct graph *g = c->body->graph;
  struct value **xs;
  size_t sliced = node_tensors(c->l->call->node, 2, 3, c->w->p->arena, &xs);
  put_inputs(c, 0);
  strbuf_puts(out, "    for (at = 0; status == TILE_OK && at < ");
  c_print_size(c->w, xs[0]->shape[0]);
  strbuf_puts(out, "; at++) {\n");
  for (size_t i = c->carried; i < c->carried + sliced; i++) {
    strbuf_printf(out, "      in[%zu] = ", i);
    put_operand(c, i);
    strbuf_puts(out, " + at * ");
    put_bytes(c, g->inputs.at[i]);
    strbuf_puts(out, ";\n");
  }
  for (size_t i = 0; i < g->outputs.len; i++) {
    strbuf_printf(out, "      out[%zu] = ", i);
    if (i >= c->carried && c->l->call->results[i]) {
      strbuf_puts(out, "(char *)");
      c_write_address(c->w, c->l->call->results[i]);
      strbuf_printf(out, " + at * bytes[%zu]", i);
    } else {
      strbuf_printf(out, "set[at %% %d][%zu]", SETS, i);
    }
    strbuf_puts(out, ";\n");
  }
  strbuf_puts(out, "      status = ");
  put_run(c, 0, "out");
  strbuf_printf(out, ";\n      for (i = 0; i < %zu; i++)\n        in[i] = out[i];\n    }\n",
                c->carried);
  put_carried_results(c);
}

void c_write_call(const struct c_writer *w, size_t index) {
  const struct launch *l = &w->p->launches.at[index];
  const struct node *n = l->call->node;
  struct c_call c = {.w = w, .l = l, .index = index};
  c.body = l->bodies[n->op == OP_WHILE_LOOP];
  size_t outputs = c.body->graph->outputs.len;
  struct value **carried;
  c.carried = n->op == OP_COND         ? 0
              : n->op == OP_WHILE_LOOP ? outputs
                                       : node_tensors(n, 1, 2, w->p->arena, &carried);
  strbuf_printf(w->out,
                "  if (status == TILE_OK) { /* %s */\n"
                "    void *in[%zu], *out[%zu];\n"
                "    char *set[%d][%zu], *flag_at;\n"
                "    int64_t bytes[%zu], at = 0;\n"
                "    size_t i = 0, k = 0;\n"
                "    unsigned char flag = 0;\n",
                n->name, l->call->operand_count + 1, outputs + 1, SETS, outputs + 1, outputs + 1);
  put_scratch(&c);
  if (n->op == OP_COND)
    put_cond(&c);
  else if (n->op == OP_WHILE_LOOP)
    put_while(&c);
  else
    put_scan(&c);
  strbuf_printf(w->out, "    (void)at, (void)i, (void)k, (void)flag, (void)set;\n  }\n%s",
                w->p->launch_pdl ? "  order.in_order = 1;\n" : "");
}

void c_write_grow(const struct c_writer *w) {
  strbuf_printf(
      w->out,
      "/* Memory that a loop or branch needs besides its results. */\n"
      "static tile_status %s_grow(tile_device *device, tile_stream *stream, int64_t need, "
      "char **at, int64_t *bytes) {\n"
      "  tile_status status = TILE_OK;\n"
      "  if (need <= *bytes)\n"
      "    return TILE_OK;\n"
      "  if (*at) {\n"
      "    status = tile_stream_synchronize(device, stream);\n"
      "    if (status == TILE_OK)\n"
      "      status = tile_free(device, *at);\n"
      "    if (status != TILE_OK)\n"
      "      return status;\n"
      "  }\n"
      "  *at = NULL;\n"
      "  *bytes = 0;\n"
      "  status = tile_malloc(device, (size_t)need, (void **)at);\n"
      "  if (status == TILE_OK)\n"
      "    *bytes = need;\n"
      "  return status;\n"
      "}\n\n",
      w->m->name);
}
