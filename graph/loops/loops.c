// SPDX-License-Identifier: Apache-2.0
// Lowers a graph of primitives to loops, node by node.
#include "graph/loops/loops_internal.h"

static bool lower(struct builder *b, const struct node *n) {
  switch (n->op) {
  case OP_TILE_RAND:
  case OP_TILE_SEED:
  case OP_FULL:
  case OP_IOTA: return loops_lower_create(b, n);
  case OP_EMBEDDING:
  case OP_GATHER:
  case OP_INDEX:
  case OP_INDEX_SELECT: return loops_lower_gather(b, n);
  case OP_INDEX_PUT:
  case OP_SCATTER_VALUE:
  case OP_SCATTER_SRC:
  case OP_SCATTER_ADD: return loops_lower_scatter(b, n);
  case OP_CAT: return loops_lower_cat(b, n);
  case OP_CUMSUM: return loops_lower_scan(b, n);
  case OP_MM:
  case OP_TILE_FAST_MM:
  case OP_BMM: return loops_lower_product(b, n);
  case OP_TILE_GROUPED_MM: return loops_lower_grouped(b, n);
  case OP_CONVOLUTION:
  case OP_CONVOLUTION_GRAD_INPUT:
  case OP_CONVOLUTION_GRAD_WEIGHT: return loops_lower_convolution(b, n);
  case OP_TILE_ATTENTION: return loops_lower_attention(b, n);
  case OP_COND:
  case OP_WHILE_LOOP:
  case OP_SCAN:
  case OP_CUSTOM: return loops_lower_call(b, n);
  default: break;
  }
  switch (operator_row(n->op)->class) {
  case CLASS_POINTWISE: return loops_lower_pointwise(b, n);
  case CLASS_VIEW: return loops_lower_view(b, n);
  case CLASS_SHAPE: return loops_lower_move(b, n);
  case CLASS_REDUCTION: return loops_lower_reduction(b, n);
  default: return loops_refuse(b, n, "it should have been decomposed");
  }
}

static void add_input(struct builder *b, struct value *v, uint32_t index) {
  struct deferred *z = loops_deferred(b, v);
  struct buffer *buffer =
      loops_buffer(b, BUFFER_INPUT, index, v, v->name, v->dtype, loops_span(b, v, v->strides));
  b->inputs[index] = buffer;
  z->body =
      scalar_convert(b->s, scalar_load(b->s, buffer, loops_dot(b, v->rank, z->at, v->strides)),
                     dtype_to_compute(v->dtype));
  b->deferred[v->id] = z;
}

static bool check_stages(const struct loops *l, struct span at) {
  return l->stages.len <= LIMIT_GRAPH_STAGES || limit_error(l->diag, at, LIMIT_ID_GRAPH_STAGES, 0);
}

struct loops *loops_build(struct graph *g) {
  struct arena *a = g->arena;
  struct loops *l = arena_new(a, struct loops);
  *l = (struct loops){.arena = a,
                      .exprs = g->exprs,
                      .diag = g->diag,
                      .graph = g,
                      .parts_stay_apart = g->parts_stay_apart};
  l->scalars = scalars_create(a, g->exprs);
  scalars_round_half_precision(l->scalars, g->keeps_casts);
  struct builder b = {.l = l,
                      .s = l->scalars,
                      .x = g->exprs,
                      .arena = a,
                      .g = g,
                      .rounds = g->keeps_casts,
                      .deferred = arena_array(a, struct deferred *, g->value_count + 1),
                      .inputs = arena_array(a, struct buffer *, g->inputs.len + 1),
                      .outputs = arena_array(a, struct buffer *, g->outputs.len + 1)};
  if (!loops_find_uses(&b))
    return NULL;
  for (size_t i = 0; i < g->inputs.len; i++)
    add_input(&b, g->inputs.at[i], (uint32_t)i);
  for (size_t i = 0; i < g->nodes.len; i++)
    if (loops_is_used(&b, g->nodes.at[i]) &&
        !(lower(&b, g->nodes.at[i]) && check_stages(l, g->nodes.at[i]->span)))
      return NULL;
  if (!loops_write_outputs(&b) || !check_stages(l, SPAN_NONE))
    return NULL;
  loops_write_inputs(&b);
  loops_drop_unread(&b);
  return l;
}
