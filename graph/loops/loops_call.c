// SPDX-License-Identifier: Apache-2.0
// Nodes that run as they are: higher-order operators whose subgraphs become programs of their own.
#include "graph/ir/custom.h"
#include "graph/ir/subgraph.h"
#include "graph/loops/loops_internal.h"

// The load behind conversions from half precision.
static const struct scalar *load_of(const struct scalar *v, enum dtype t) {
  if (v->kind == SCALAR_CONVERT && dtype_to_compute(t) == v->dtype && v->in[0]->dtype == t)
    v = v->in[0];
  return v->kind == SCALAR_LOAD && v->buffer && v->dtype == t ? v : NULL;
}

static struct assignment dense_temporary(struct builder *b, struct value *v) {
  return (struct assignment){
      .value = v,
      .strides = contiguous_strides(b->x, b->arena, v->rank, v->shape),
      .buffer = loops_buffer(b, BUFFER_TEMP, 0, v, v->name, v->dtype, value_numel(b->x, v))};
}

// The operand in row-major order from element 0 of a buffer on; copied if no buffer has it so.
static const struct scalar *dense_operand(struct builder *b, const struct node *n,
                                          struct value *v) {
  struct deferred *z = b->deferred[v->id];
  const struct scalar *load = load_of(z->body, v->dtype), *start;
  const struct expr *zero = expr_const(b->x, 0);
  const struct expr **strides = contiguous_strides(b->x, b->arena, v->rank, v->shape);
  if (load && load->index == loops_dot(b, v->rank, z->at, strides))
    return scalar_load(b->s, load->buffer, zero);
  struct assignment h = dense_temporary(b, v);
  struct stage *s = loops_stage(b, STAGE_MAP, n);
  loops_add_axes(b, s, v->rank, z->at, false);
  s->body = z->body;
  s->dtype = s->body->dtype;
  s->out = h.buffer;
  s->offset = loops_offset(b, &h, z->at);
  loops_take_origins(b, z, s);
  if (s->origins.len == 0)
    vec_push(b->arena, &s->origins, "copy");
  start = scalar_load(b->s, h.buffer, zero);
  return start;
}

enum { ALIGNED_BYTES = 16 };

// As it is stored, with the strides; else dense.
static const struct scalar *strided_operand(struct builder *b, const struct node *n,
                                            struct value *v, const struct expr ***ret_strides) {
  struct deferred *z = b->deferred[v->id];
  const struct scalar *load = load_of(z->body, v->dtype);
  const struct expr *rest = load ? load->index : NULL;
  const struct expr **strides = arena_array(b->arena, const struct expr *, v->rank + 1);
  int64_t elements = ALIGNED_BYTES / dtype_bytes(v->dtype);
  bool ok = load != NULL && v->rank > 0;
  for (uint32_t i = 0; ok && i < v->rank; i++) {
    bool is_last = i + 1 == v->rank;
    if (expr_is(v->shape[i], 1)) { // no distance counts
      strides[i] = expr_const(b->x, is_last ? 1 : elements);
      continue;
    }
    ok = expr_linear(b->x, rest, z->at[i], &strides[i], &rest) && strides[i]->lo >= 1 &&
         (is_last ? expr_is(strides[i], 1) : expr_is_multiple(strides[i], elements));
  }
  if (ok && rest->lo >= 0 && expr_is_multiple(rest, elements)) {
    *ret_strides = strides;
    return scalar_load(b->s, load->buffer, rest);
  }
  *ret_strides = contiguous_strides(b->x, b->arena, v->rank, v->shape);
  return dense_operand(b, n, v);
}

// Does the kernel get where the node's tensor `index` begins, and its strides?
static bool takes_strides(struct builder *b, const struct node *n, size_t index) {
  const struct custom_operator *o = n->op == OP_CUSTOM ? node_custom(n) : NULL;
  if (!o || !o->takes_strides)
    return false;
  for (size_t i = 0; i < o->count; i++)
    if (node_custom_args(n)[i].kind == ARG_VALUE && index-- == 0)
      return strstr(o->given.arguments,
                    arena_printf(b->arena, " %.*s_start", STR_ARG(o->parameters[i].name))) != NULL;
  return false;
}

// The operands of a kernel that computes scores, over axes of their own.
static void computed_scores(struct builder *b, const struct node *n, struct call *c) {
  const struct loops_scores of = loops_scores_of(n);
  c->score_axes = arena_array(b->arena, const struct expr *, of.product->rank);
  for (uint32_t i = 0; i < of.product->rank; i++)
    c->score_axes[i] = loops_symbol(b, "bhmj"[i], 0, of.product->shape[i]);
  size_t at = c->operand_count - 3;
  for (unsigned i = 0; i < COUNT_OF(of.bounds); i++)
    at -= of.bounds[i] != NULL;
  at -= of.computed[2] != NULL;
  c->scores = at;
  const struct scalar *product = scalar_load(b->s, NULL, expr_const(b->x, 0));
  c->operands[at++] = product;
  for (unsigned i = 0; i < 2; i++)
    c->operands[at++] = loops_score(b, of.product, of.computed[i], product, c->score_axes);
  for (unsigned i = 0; i < COUNT_OF(of.bounds); i++) {
    const struct expr *const *row = &c->score_axes[i < 2 ? 2 : 3];
    if (!of.bounds[i])
      continue;
    const struct expr *most = expr_addi(b->x, axis_extent(c->score_axes[i < 2 ? 3 : 2]), 1);
    c->operands[at] = loops_broadcast(b, of.bounds[i], 1, row);
    c->bounds[i] = scalar_indirect(b->s, c->operands[at++], most);
  }
  if (of.computed[2])
    c->kept = c->operands[at] =
        scalar_convert(b->s, loops_broadcast(b, of.computed[2], 4, c->score_axes), DTYPE_F32);
}

// In row-major order, in the memory of an output where one has that order.
static struct assignment dense_result(struct builder *b, struct value *v) {
  const struct uses *u = &b->uses[v->id];
  bool is_output = u->output >= 0 && !b->outputs[u->output] && !u->via &&
                   value_is_contiguous(b->x, b->g->outputs.at[u->output]);
  return is_output ? loops_assign(b, v) : dense_temporary(b, v);
}

bool loops_lower_call(struct builder *b, const struct node *n) {
  struct call *c = arena_new(b->arena, struct call);
  struct value **operands;
  c->node = n;
  c->operand_count = node_tensors(n, 0, n->arg_count, b->arena, &operands);
  c->operands = arena_array(b->arena, const struct scalar *, c->operand_count + 1);
  if (n->op == OP_CUSTOM && node_custom(n)->takes_strides)
    c->strides = arena_array(b->arena, const struct expr **, c->operand_count + 1);
  bool computes_scores = n->op == OP_CUSTOM && node_custom(n)->computes_scores;
  if (computes_scores)
    computed_scores(b, n, c);
  for (size_t i = 0; i < (computes_scores ? c->scores : c->operand_count); i++)
    c->operands[i] = takes_strides(b, n, i) ? strided_operand(b, n, operands[i], &c->strides[i])
                                            : dense_operand(b, n, operands[i]);
  struct stage *s = loops_stage(b, STAGE_CALL, n);
  s->call = c;
  s->offset = expr_const(b->x, 0);
  c->results = arena_array(b->arena, struct buffer *, n->result_count + 1);
  for (uint32_t i = 0; i < n->result_count; i++) {
    struct value *v = n->results[i];
    bool is_used = v && (b->uses[v->id].count || b->uses[v->id].is_output);
    if (!v || (!is_used && n->op != OP_CUSTOM)) // a kernel writes all of them
      continue;
    struct deferred *z = loops_deferred(b, v);
    struct assignment h = dense_result(b, v);
    c->results[i] = h.buffer;
    s->out = s->out ? s->out : h.buffer;
    s->dtype = s->out->dtype;
    loops_inherit(b, z, n);
    loops_take_origins(b, z, s);
    loops_stored(b, z, &h);
  }
  assert(s->out); // loops_build lowers only nodes with a used result
  return true;
}
