// SPDX-License-Identifier: Apache-2.0
// Simplifies a graph, node by node, until nothing changes: known values become constants or iotas,
// rules replace nodes by simpler ones, equal nodes are merged, dead nodes are dropped.
#include "graph/passes/simplify.h"

enum { MOST_ROUNDS = 64 };

// ---- equal nodes ----

static uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ h >> 29;
}

static uint64_t hash_args(uint64_t h, const struct arg *args, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const struct arg *a = &args[i];
    uint64_t bits = 0;
    h = mix(h, a->kind);
    switch (a->kind) {
    case ARG_VALUE: h = mix(h, a->value->id); break;
    case ARG_INT: h = mix(h, a->number->id); break;
    case ARG_FLOAT:
      memcpy(&bits, &a->real, sizeof bits);
      h = mix(h, bits);
      break;
    case ARG_BOOL: h = mix(h, a->truth); break;
    case ARG_DTYPE: h = mix(h, a->dtype); break;
    case ARG_GRAPH: h = mix(h, (uintptr_t)a->graph); break;
    case ARG_LIST: h = hash_args(mix(h, a->list.count), a->list.at, a->list.count); break;
    default: break;
    }
  }
  return h;
}

static bool same_args(const struct arg *a, const struct arg *b, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (a[i].kind != b[i].kind)
      return false;
    switch (a[i].kind) {
    case ARG_NONE: break;
    case ARG_VALUE:
      if (a[i].value != b[i].value)
        return false;
      break;
    case ARG_INT:
      if (a[i].number != b[i].number)
        return false;
      break;
    case ARG_FLOAT: // bitwise: 0 and -0 differ, NaN equals itself
      if (memcmp(&a[i].real, &b[i].real, sizeof a[i].real) != 0)
        return false;
      break;
    case ARG_BOOL:
      if (a[i].truth != b[i].truth)
        return false;
      break;
    case ARG_DTYPE:
    case ARG_COMPLEX: // of no operator in a graph
      if (a[i].dtype != b[i].dtype)
        return false;
      break;
    case ARG_GRAPH:
      if (a[i].graph != b[i].graph)
        return false;
      break;
    case ARG_STRING:
      if (!str_eq(a[i].string, b[i].string))
        return false;
      break;
    case ARG_LIST:
      if (a[i].list.count != b[i].list.count ||
          !same_args(a[i].list.at, b[i].list.at, a[i].list.count))
        return false;
      break;
    }
  }
  return true;
}

// One may lack results that the other has.
static bool same_node(const struct node *a, const struct node *b) {
  if (a->op != b->op || a->arg_count != b->arg_count || a->result_count != b->result_count)
    return false;
  for (uint32_t i = 0; i < a->result_count; i++)
    if (!a->results[i] != !b->results[i])
      return false;
  return same_args(a->args, b->args, a->arg_count);
}

static size_t slot_of(const struct simplify *s, const struct node *n) {
  size_t at = hash_args(mix(0, n->op), n->args, n->arg_count) & (s->nodes.cap - 1);
  while (s->nodes.slots[at] && !same_node(s->nodes.slots[at], n))
    at = (at + 1) & (s->nodes.cap - 1);
  return at;
}

static void grow(struct simplify *s) {
  struct node **old = s->nodes.slots;
  size_t cap = s->nodes.cap;
  s->nodes.cap = cap ? 2 * cap : 256;
  s->nodes.slots = arena_array(s->b.g->arena, struct node *, s->nodes.cap);
  for (size_t i = 0; i < cap; i++)
    if (old[i])
      s->nodes.slots[slot_of(s, old[i])] = old[i];
}

// An equal earlier node; NULL if there is none, and then registers this one. Random operators
// without a stream number are never equal.
static struct node *find_or_note(struct simplify *s, struct node *n) {
  enum operator_class class = operator_row(n->op)->class;
  if ((class == CLASS_RANDOM && n->op != OP_TILE_RAND) || class == CLASS_MUTATE)
    return NULL;
  if (2 * s->nodes.count >= s->nodes.cap)
    grow(s);
  size_t at = slot_of(s, n);
  if (s->nodes.slots[at])
    return s->nodes.slots[at];
  s->nodes.slots[at] = n;
  s->nodes.count++;
  return NULL;
}

// ---- rules ----

static struct value *simpler(struct simplify *s, const struct node *n) {
  if (n->result_count != 1 || !n->results[0])
    return NULL;
  struct fact f = fact_of_node(s, n);
  struct value *v = f.kind == FACT_NONE ? NULL : simplify_known(s, n, &f);
  if (!v)
    v = simplify_pointwise(s, n);
  if (!v)
    v = simplify_view(s, n);
  if (!v)
    v = simplify_data(s, n);
  return v;
}

static bool copy(struct rewrite *rw, struct simplify *s, const struct node *n,
                 const struct arg *args) {
  struct node asked = *n;
  asked.args = arena_dup(rw->to->arena, args, n->arg_count * sizeof *args, _Alignof(struct arg));
  uint32_t first_id = rw->to->value_count;
  struct node *made = find_or_note(s, &asked);
  if (made)
    s->changed = true;
  else {
    made = graph_append(rw->to, n->op, asked.args, n->arg_count, n->span);
    if (!made)
      return false;
    if (s->nodes.cap) {
      size_t at = slot_of(s, &asked);
      if (s->nodes.slots[at] == &asked)
        s->nodes.slots[at] = made;
    }
  }
  for (uint32_t i = 0; i < n->result_count; i++) {
    if (!n->results[i])
      continue;
    rewrite_name(rw, n->results[i], made->results[i], first_id);
  }
  return true;
}

static bool simplify_node(struct rewrite *rw, const struct node *n) {
  struct simplify *s = rw->user;
  if (node_is_dead(s->is_live, n))
    return s->changed = true;
  s->b = (struct build){rw->to, n->span};
  struct node mapped = *n;
  mapped.args = rewrite_args(rw, n);
  uint32_t first_id = rw->to->value_count;
  struct value *v = simpler(s, &mapped);
  if (v) {
    if (n->op != OP_CLONE)
      s->changed = true; // rewriting may add copies again for outputs; those are counted by the
                         // number of nodes
    rewrite_name(rw, n->results[0], v, first_id);
    return true;
  }
  if (n->op == OP_TILE_ATTENTION && simplify_attention(s, &mapped, mapped.args))
    s->changed = true;
  return copy(rw, s, &mapped, mapped.args);
}

struct graph *graph_simplify(struct graph *g) {
  for (int round = 0; g && round < MOST_ROUNDS; round++) {
    struct simplify s = {.is_live = graph_live(g)};
    size_t before = g->nodes.len;
    g = graph_rewrite(g, simplify_node, &s);
    if (g && !s.changed && g->nodes.len == before)
      break;
  }
  return g;
}
