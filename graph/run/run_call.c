// SPDX-License-Identifier: Apache-2.0
// Launches that run programs of subgraphs: cond, while_loop, scan. The host reads a predicate from
// device memory before it goes on; a scan needs none. What a loop carries alternates between two
// sets of buffers.
// Recursion is the algorithm: the program of a subgraph is loaded and run as any other (run.c).
#include "base/memory.h"
#include "graph/ir/subgraph.h"
#include "graph/run/run.h"
#include "graph/run/run_internal.h"
#include "jit/jit.h"

#include <stdlib.h>

enum { ALIGNMENT = 256, SETS = 2 };

struct loaded_call {
  const struct launch *launch;
  struct loaded_program *bodies[COUNT_OF(((struct launch *)NULL)->bodies)];
  struct tensor_view *in, *out; // of the body of a loop, or of a branch
  char *scratch;
  int64_t scratch_bytes;
};

// ---- loading ----

static struct program *body_of(const struct loaded_call *c, unsigned i) {
  return c->launch->bodies[i];
}

static tile_status load_one(struct loaded_program *l, const struct launch *launch,
                            struct loaded_call *c) {
  size_t inputs = 0, outputs = 0;
  tile_status s = TILE_OK;
  c->launch = launch;
  for (unsigned i = 0; s == TILE_OK && i < COUNT_OF(c->bodies) && body_of(c, i); i++) {
    const struct graph *g = body_of(c, i)->graph;
    s = program_load(launch->bodies[i], l->device, &c->bodies[i]);
    inputs = g->inputs.len > inputs ? g->inputs.len : inputs;
    outputs = g->outputs.len > outputs ? g->outputs.len : outputs;
  }
  if (s != TILE_OK)
    return s;
  c->in = memory_zeroed(inputs + 1, sizeof *c->in);
  c->out = memory_zeroed(outputs + 1, sizeof *c->out);
  return c->in && c->out ? TILE_OK
                         : status_set(TILE_OUT_OF_MEMORY, "out of memory for a graph's program");
}

tile_status loaded_open_calls(struct loaded_program *l) {
  size_t count = 0, at = 0;
  for (size_t i = 0; i < l->p->launches.len; i++)
    count += l->p->launches.at[i].call != NULL;
  if (count == 0)
    return TILE_OK;
  if (!(l->calls = memory_zeroed(count, sizeof *l->calls)))
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a graph's program");
  l->call_count = count;
  tile_status s = TILE_OK;
  for (size_t i = 0; s == TILE_OK && i < l->p->launches.len; i++)
    if (l->p->launches.at[i].call)
      s = load_one(l, &l->p->launches.at[i], &l->calls[at++]);
  return s;
}

void loaded_close_calls(struct loaded_program *l) {
  for (size_t i = 0; i < l->call_count; i++) {
    struct loaded_call *c = &l->calls[i];
    for (unsigned k = 0; k < COUNT_OF(c->bodies); k++)
      program_unload(c->bodies[k]);
    tile_free(l->device, c->scratch);
    free(c->in);
    free(c->out);
  }
  free(l->calls);
}

void loaded_each_body(struct loaded_program *l, void (*f)(struct loaded_program *body, bool on),
                      bool on) {
  for (size_t i = 0; i < l->call_count; i++)
    for (unsigned k = 0; k < COUNT_OF(l->calls[i].bodies); k++)
      if (l->calls[i].bodies[k])
        f(l->calls[i].bodies[k], on);
}

static struct loaded_call *find(struct loaded_program *l, const struct launch *launch) {
  for (size_t i = 0; i < l->call_count; i++)
    if (l->calls[i].launch == launch)
      return &l->calls[i];
  UNREACHABLE();
}

// ---- a run ----

struct call_run {
  struct loaded_program *l;
  struct loaded_call *c;
  const struct call *call;
  tile_stream *stream;
  uint64_t seed;
  size_t carried;   // tensors that a loop carries
  size_t outputs;   // of the body
  int64_t *bytes;   // by output of the body
  char **set[SETS]; // by output: memory for it
};

static void *operand(const struct call_run *r, size_t i) {
  return r->l->memory[r->call->operands[i]->buffer->id];
}

static void *result(const struct call_run *r, size_t i) {
  const struct buffer *b = r->call->results[i];
  return b ? r->l->memory[b->id] : NULL;
}

static tile_status bytes_of(const struct call_run *r, const struct value *v, int64_t *ret) {
  int64_t n = 0;
  if (!loaded_size(r->l, value_numel(r->l->p->graph->exprs, v), &n))
    return status_set(TILE_INVALID_ARGUMENT, "a size does not fit 64 bits");
  *ret = n * (int64_t)dtype_bytes(v->dtype);
  return TILE_OK;
}

static int64_t rounded(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

// Memory for the flag, and for both sets of the body's results.
static tile_status place(struct call_run *r, const struct graph *body) {
  int64_t total = ALIGNMENT, at = ALIGNMENT;
  for (size_t i = 0; i < r->outputs; i++) {
    tile_status s = bytes_of(r, body->outputs.at[i], &r->bytes[i]);
    if (s != TILE_OK)
      return s;
    total += SETS * rounded(r->bytes[i]);
  }
  if (total > r->c->scratch_bytes) {
    tile_status s = r->c->scratch ? tile_stream_synchronize(r->l->device, r->stream) : TILE_OK;
    tile_free(r->l->device, r->c->scratch);
    r->c->scratch = NULL;
    r->c->scratch_bytes = 0;
    s = s == TILE_OK ? tile_malloc(r->l->device, (size_t)total, (void **)&r->c->scratch) : s;
    if (s != TILE_OK)
      return s;
    r->c->scratch_bytes = total;
  }
  for (unsigned k = 0; k < SETS; k++)
    for (size_t i = 0; i < r->outputs; i++) {
      r->set[k][i] = r->c->scratch + at;
      at += rounded(r->bytes[i]);
    }
  return TILE_OK;
}

static tile_status run_body(const struct call_run *r, unsigned which) {
  return program_run_within(r->c->bodies[which], r->l->sizes, r->stream, r->seed, r->c->in,
                            r->c->out);
}

static tile_status read_flag(const struct call_run *r, const void *at, bool *ret) {
  unsigned char byte = 0;
  tile_status s = tile_copy_to_host(r->l->device, r->stream, &byte, at, 1);
  *ret = byte != 0;
  return s;
}

static tile_status copy(const struct call_run *r, void *to, const void *from, int64_t bytes) {
  if (!to || to == from || bytes == 0)
    return TILE_OK;
  return tile_copy_on_device(r->l->device, r->stream, to, from, (size_t)bytes);
}

// ---- cond: pred, operands ----

static tile_status run_cond(struct call_run *r) {
  bool taken = false;
  tile_status s = read_flag(r, operand(r, 0), &taken);
  if (s != TILE_OK)
    return s;
  for (size_t i = 1; i < r->call->operand_count; i++)
    r->c->in[i - 1].data = operand(r, i);
  for (size_t i = 0; i < r->outputs; i++) // results that nothing reads have memory too
    r->c->out[i].data = result(r, i) ? result(r, i) : r->set[0][i];
  return run_body(r, taken ? 0 : 1);
}

// ---- loops ----

// The carried values at the end.
static tile_status finish(const struct call_run *r) {
  tile_status s = TILE_OK;
  for (size_t i = 0; s == TILE_OK && i < r->carried; i++)
    s = copy(r, result(r, i), r->c->in[i].data, r->bytes[i]);
  return s;
}

// What the body has computed is what it gets next.
static void carry(const struct call_run *r) {
  for (size_t i = 0; i < r->carried; i++)
    r->c->in[i].data = r->c->out[i].data;
}

static tile_status run_while(struct call_run *r) {
  bool goes_on = true;
  tile_status s = TILE_OK;
  for (size_t i = 0; i < r->call->operand_count; i++)
    r->c->in[i].data = operand(r, i);
  for (uint64_t at = 0; s == TILE_OK; at++) {
    r->c->out[0].data = r->c->scratch;
    s = run_body(r, 0);
    if (s == TILE_OK)
      s = read_flag(r, r->c->scratch, &goes_on);
    if (s != TILE_OK || !goes_on)
      break;
    for (size_t i = 0; i < r->carried; i++)
      r->c->out[i].data = r->set[at % SETS][i];
    s = run_body(r, 1);
    carry(r);
  }
  return s == TILE_OK ? finish(r) : s;
}

// Operands: initial values, xs, additional ones. Slices are parts of xs and of the results.
static tile_status run_scan(struct call_run *r) {
  const struct graph *body = body_of(r->c, 0)->graph;
  const struct node *n = r->call->node;
  size_t carried = r->carried, sliced = node_list_tensors(n, 2, 3, NULL);
  const struct value *first =
      n->args[2].kind == ARG_LIST ? n->args[2].list.at[0].value : n->args[2].value;
  int64_t length = 0;
  tile_status s = TILE_OK;
  if (!loaded_size(r->l, first->shape[0], &length))
    return status_set(TILE_INVALID_ARGUMENT, "a size does not fit 64 bits");
  for (size_t i = 0; i < r->call->operand_count; i++)
    r->c->in[i].data = operand(r, i);
  for (int64_t at = 0; s == TILE_OK && at < length; at++) {
    for (size_t i = carried; s == TILE_OK && i < carried + sliced; i++) {
      int64_t bytes = 0;
      s = bytes_of(r, body->inputs.at[i], &bytes);
      r->c->in[i].data = (char *)operand(r, i) + at * bytes;
    }
    for (size_t i = 0; i < r->outputs; i++) {
      char *whole = i < carried ? NULL : result(r, i);
      r->c->out[i].data = whole ? whole + at * r->bytes[i] : r->set[at % SETS][i];
    }
    if (s == TILE_OK)
      s = run_body(r, 0);
    carry(r);
  }
  return s == TILE_OK ? finish(r) : s;
}

static tile_status run_placed(struct call_run *r) {
  switch (r->call->node->op) {
  case OP_COND: return run_cond(r);
  case OP_WHILE_LOOP: return run_while(r);
  default: return run_scan(r);
  }
}

// Fills in *r, with memory for the call's sizes. end() frees what the host holds.
static tile_status begin(struct loaded_program *l, struct loaded_call *c, struct call_run *r) {
  const struct node *n = c->launch->call->node;
  const struct graph *body = c->launch->bodies[n->op == OP_WHILE_LOOP]->graph;
  *r = (struct call_run){.l = l, .c = c, .call = c->launch->call, .outputs = body->outputs.len};
  if (n->op == OP_WHILE_LOOP)
    r->carried = r->outputs;
  else if (n->op == OP_SCAN)
    r->carried = node_list_tensors(n, 1, 2, NULL);
  r->bytes = memory_zeroed(r->outputs + 1, sizeof *r->bytes);
  for (unsigned k = 0; k < SETS; k++)
    r->set[k] = memory_zeroed(r->outputs + 1, sizeof *r->set[k]);
  return r->bytes && r->set[0] && r->set[1]
             ? place(r, body)
             : status_set(TILE_OUT_OF_MEMORY, "out of memory for a run");
}

static void end(struct call_run *r) {
  free(r->bytes);
  for (unsigned k = 0; k < SETS; k++)
    free(r->set[k]);
}

tile_status loaded_call(struct loaded_program *l, tile_stream *stream, uint64_t seed,
                        const struct launch *launch) {
  struct call_run r;
  tile_status s = begin(l, find(l, launch), &r);
  r.stream = stream;
  r.seed = seed;
  if (s == TILE_OK)
    s = run_placed(&r);
  end(&r);
  return s;
}

tile_status loaded_reserve_calls(struct loaded_program *l) {
  tile_status s = TILE_OK;
  for (size_t i = 0; s == TILE_OK && i < l->call_count; i++) {
    struct call_run r;
    s = begin(l, &l->calls[i], &r);
    end(&r);
    for (unsigned k = 0; s == TILE_OK && k < COUNT_OF(l->calls[i].bodies); k++)
      if (l->calls[i].bodies[k])
        s = program_reserve_within(l->calls[i].bodies[k], l->sizes);
  }
  return s;
}
