// SPDX-License-Identifier: Apache-2.0
// Copies forward operators in front of the backward ones that need them: what autograd calls
// checkpointing (Chen et al., arXiv:1604.06174), with the cut of the partition.
//
//   x -> mm -> gelu -> mm_1 -> loss        x -> mm -> gelu -> mm_1 -> loss
//          |      |                  =>          |
//          +------+-> backward                   +-> gelu_again -> backward
#include "graph/autodiff/recompute.h"

#include "graph/autodiff/cut.h"
#include "graph/ir/graph_operators.h"
#include "graph/passes/passes.h"

struct again {
  struct cut cut;
  struct value **copies;         // by id of the old graph's values; NULL: none yet
  VEC(const struct node *) open; // whose copies are missing
  size_t count;
};

// Backward operators read a copy of it. Outputs stay in the caller's memory.
static bool is_copied(const struct cut *c, const struct value *v) {
  return v->def && !c->by_seed[v->id] && !c->is_saved[v->id] && !c->is_output[v->id];
}

static struct arg map_arg(struct rewrite *rw, const struct arg *x) {
  struct again *a = rw->user;
  struct arg copy = *x;
  if (x->kind == ARG_VALUE && x->value)
    copy.value = is_copied(&a->cut, x->value) ? a->copies[x->value->id] : rw->map[x->value->id];
  if (x->kind == ARG_LIST) {
    copy.list.at = arena_array(rw->to->arena, struct arg, x->list.count + 1);
    for (size_t i = 0; i < x->list.count; i++)
      copy.list.at[i] = map_arg(rw, &x->list.at[i]);
  }
  return copy;
}

// Appends n with copies as operands.
static struct node *append(struct rewrite *rw, const struct node *n, enum node_part part) {
  struct arg *args = arena_array(rw->to->arena, struct arg, n->arg_count + 1);
  for (uint32_t i = 0; i < n->arg_count; i++)
    args[i] = map_arg(rw, &n->args[i]);
  struct node *made = graph_append(rw->to, n->op, args, n->arg_count, n->span);
  if (made)
    made->part = part;
  return made;
}

static void open_missing(struct cut *c, const struct node *n, struct value *v, void *user) {
  (void)n;
  struct again *a = user;
  if (is_copied(c, v) && !a->copies[v->id])
    vec_push(c->g->arena, &a->open, v->def);
}

static bool has_copy(const struct again *a, const struct node *n) {
  for (uint32_t k = 0; k < n->result_count; k++)
    if (n->results[k] && is_copied(&a->cut, n->results[k]))
      return a->copies[n->results[k]->id] != NULL;
  return true;
}

// Copies of all that n reads, operands first.
static bool copy_operands(struct rewrite *rw, const struct node *n) {
  struct again *a = rw->user;
  cut_visit(&a->cut, n, n->args, n->arg_count, open_missing, a);
  while (a->open.len) {
    const struct node *of = vec_last(&a->open);
    size_t before = a->open.len;
    if (!has_copy(a, of))
      cut_visit(&a->cut, of, of->args, of->arg_count, open_missing, a);
    if (a->open.len > before)
      continue;
    a->open.len--;
    if (has_copy(a, of))
      continue;
    struct node *made = append(rw, of, PART_AGAIN);
    if (!made)
      return false;
    a->count++;
    for (uint32_t k = 0; k < of->result_count; k++)
      if (of->results[k])
        a->copies[of->results[k]->id] = made->results[k];
  }
  return true;
}

// What a view shows is stored.
static void keep(struct value *v) {
  while (v->def && operator_row(v->def->op)->class == CLASS_VIEW)
    v = node_value(v->def, 0);
  if (v->def)
    v->def->is_kept = true;
}

// Nothing but copies of it is used.
static bool is_for_copies(const struct cut *c, const struct node *n) {
  for (uint32_t k = 0; k < n->result_count; k++)
    if (n->results[k] && !is_copied(c, n->results[k]))
      return false;
  return true;
}

static bool repeats_costly(const struct cut *c) {
  for (uint32_t i = 0; i < c->g->value_count; i++)
    if (c->is_again[i] || c->is_inner[i])
      return true;
  return false;
}

static bool recompute_node(struct rewrite *rw, const struct node *n) {
  struct again *a = rw->user;
  if (!cut_is_behind(&a->cut, n)) {
    if (n->region == REGION_GRADIENT && is_for_copies(&a->cut, n))
      return true;
    if (!rewrite_copy(rw, n))
      return false;
    for (uint32_t k = 0; k < n->result_count; k++)
      if (n->results[k] && a->cut.is_saved[n->results[k]->id])
        keep(rw->map[n->results[k]->id]);
    return true;
  }
  struct node *made = copy_operands(rw, n) ? append(rw, n, PART_BACKWARD) : NULL;
  if (!made)
    return false;
  for (uint32_t k = 0; k < n->result_count; k++)
    if (n->results[k])
      rewrite_name(rw, n->results[k], made->results[k], 0);
  return true;
}

struct graph *graph_recompute(struct graph *g, struct recomputation *ret) {
  const struct partition_options o = {.budget = g->saved_limit};
  struct again a = {.cut = cut_create(g, g->outputs.len, 0, &o)};
  a.copies = arena_array(g->arena, struct value *, g->value_count + 1);
  struct graph *made = graph_rewrite(g, recompute_node, &a);
  // Their operands would wait for copies of values that are still there.
  if (made)
    made->parts_stay_apart = repeats_costly(&a.cut);
  *ret = (struct recomputation){a.cut.saved_bytes, a.count, a.cut.fits};
  return made;
}
