// SPDX-License-Identifier: Apache-2.0
// cond, while_loop, scan: the interpreter runs the subgraphs.
#include "base/memory.h"
#include "graph/ir/subgraph.h"
#include "graph/reference/noise.h"
#include "graph/reference/reference.h"

#include <stdlib.h>
#include <string.h>

// Tensors of a call of a subgraph, which belong to the interpreter.
struct operands {
  struct tensor **at;
  size_t count;
};

static bool operands_of(const struct reference_call *c, unsigned first, unsigned last,
                        struct operands *ret) {
  ret->count = node_list_tensors(c->node, first, last, NULL);
  ret->at = memory_zeroed(ret->count + 1, sizeof *ret->at);
  struct value **values = memory_zeroed(ret->count + 1, sizeof *values);
  bool ok = ret->at && values;
  if (ok)
    node_list_tensors(c->node, first, last, values);
  for (size_t i = 0; ok && i < ret->count; i++)
    ret->at[i] = c->tensors[values[i]->id];
  free(values);
  return ok || call_fail(c, "out of memory");
}

// ret has room for the subgraph's outputs.
static bool run(const struct reference_call *c, const struct graph *sub,
                struct tensor *const *inputs, struct tensor **ret) {
  struct interpret_options o = *c->options;
  struct noise noise;
  if (o.noise) { // its values have ids of their own
    noise = *o.noise;
    noise.is_coarse = NULL;
    o.noise = &noise;
  }
  return graph_interpret(sub, &o, c->symbols, inputs, ret);
}

static void copy_elements(struct tensor *to, int64_t at, const struct tensor *from, int64_t begin,
                          int64_t count) {
  if (count)
    memcpy(to->at + at, from->at + begin, (size_t)count * sizeof *to->at);
}

static void destroy_all(struct tensor **at, size_t count) {
  for (size_t i = 0; at && i < count; i++) {
    tensor_destroy(at[i]);
    at[i] = NULL;
  }
}

// The results of one call, copied to those of the node.
static bool run_once(struct reference_call *c, const struct graph *sub, const struct operands *in) {
  struct tensor **out = memory_zeroed(sub->outputs.len + 1, sizeof *out);
  bool ok = out ? run(c, sub, in->at, out) : call_fail(c, "out of memory");
  for (size_t i = 0; ok && i < sub->outputs.len; i++)
    if (c->out[i])
      copy_elements(c->out[i], 0, out[i], 0, out[i]->numel);
  if (out)
    destroy_all(out, sub->outputs.len);
  free(out);
  return ok;
}

bool reference_cond(struct reference_call *c) {
  struct operands in;
  bool taken = call_tensor(c, 0)->at[0].integer != 0;
  if (!operands_of(c, 3, 4, &in))
    return false;
  bool ok = run_once(c, node_graph(c->node, taken ? 1 : 2), &in);
  free(in.at);
  return ok;
}

// ---- while_loop ----

static bool holds(const struct reference_call *c, const struct operands *in, bool *ret) {
  struct tensor *out = NULL;
  bool ok = run(c, node_graph(c->node, 0), in->at, &out);
  *ret = ok && out->at[0].integer != 0;
  tensor_destroy(out);
  return ok;
}

bool reference_while_loop(struct reference_call *c) {
  const struct graph *body = node_graph(c->node, 1);
  size_t carried = body->outputs.len;
  struct operands in;
  if (!operands_of(c, 2, 4, &in))
    return false;
  struct tensor **next = memory_zeroed(carried + 1, sizeof *next),
                **last = memory_zeroed(carried + 1, sizeof *last);
  bool ok = (next && last) || call_fail(c, "out of memory"), more = false;
  while (ok && (ok = holds(c, &in, &more)) && more) {
    ok = run(c, body, in.at, next);
    destroy_all(last, carried);
    for (size_t i = 0; ok && i < carried; i++) {
      in.at[i] = last[i] = next[i];
      next[i] = NULL;
    }
  }
  for (size_t i = 0; ok && i < carried; i++)
    if (c->out[i])
      copy_elements(c->out[i], 0, in.at[i], 0, in.at[i]->numel);
  destroy_all(last, carried);
  free(next);
  free(last);
  free(in.at);
  return ok;
}

// ---- scan ----

struct scan {
  struct reference_call *c;
  const struct graph *body;
  struct operands in; // carried, slices, additional
  size_t carried, sliced;
  struct tensor *const *whole;    // xs
  struct tensor **slices, **last; // owned
};

static bool make_slices(struct scan *s) {
  for (size_t i = 0; i < s->sliced; i++) {
    const struct tensor *x = s->whole[i];
    s->slices[i] = tensor_create(x->dtype, x->rank - 1, x->shape + 1);
    if (!s->slices[i])
      return call_fail(s->c, "out of memory");
    s->in.at[s->carried + i] = s->slices[i];
  }
  return true;
}

static bool step(struct scan *s, int64_t at, struct tensor **out) {
  for (size_t i = 0; i < s->sliced; i++)
    copy_elements(s->slices[i], 0, s->whole[i], at * s->slices[i]->numel, s->slices[i]->numel);
  bool ok = run(s->c, s->body, s->in.at, out);
  destroy_all(s->last, s->carried);
  for (size_t i = 0; ok && i < s->body->outputs.len; i++) {
    if (i < s->carried) {
      s->in.at[i] = s->last[i] = out[i];
      out[i] = NULL;
    } else if (s->c->out[i])
      copy_elements(s->c->out[i], at * out[i]->numel, out[i], 0, out[i]->numel);
  }
  destroy_all(out, s->body->outputs.len);
  return ok;
}

static bool scan_all(struct scan *s, struct tensor **out) {
  const int64_t n = s->whole[0]->shape[0];
  if (!make_slices(s))
    return false;
  for (int64_t i = 0; i < n; i++)
    if (!step(s, i, out))
      return false;
  for (size_t i = 0; i < s->carried; i++)
    if (s->c->out[i])
      copy_elements(s->c->out[i], 0, s->in.at[i], 0, s->in.at[i]->numel);
  return true;
}

bool reference_scan(struct reference_call *c) {
  struct scan s = {.c = c, .body = node_graph(c->node, 0)};
  struct operands xs;
  s.carried = node_list_tensors(c->node, 1, 2, NULL);
  if (!operands_of(c, 2, 3, &xs))
    return false;
  s.sliced = xs.count;
  s.whole = xs.at;
  bool ok = operands_of(c, 1, 4, &s.in);
  s.slices = memory_zeroed(s.sliced + 1, sizeof *s.slices);
  s.last = memory_zeroed(s.carried + 1, sizeof *s.last);
  struct tensor **out = memory_zeroed(s.body->outputs.len + 1, sizeof *out);
  ok = ok && ((s.slices && s.last && out) || call_fail(c, "out of memory"));
  ok = ok && scan_all(&s, out);
  destroy_all(s.slices, s.sliced);
  destroy_all(s.last, s.carried);
  free(s.slices);
  free(s.last);
  free(out);
  free(s.in.at);
  free(xs.at);
  return ok;
}
