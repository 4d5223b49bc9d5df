// SPDX-License-Identifier: Apache-2.0
// Composed recurrent layers: the products with the inputs of all steps are one product; the steps,
// whose number is constant, follow one another.
#include "graph/ir/compose.h"

enum { MAX_STEPS = 1 << 14 };

enum cell { CELL_LSTM, CELL_GRU, CELL_TANH, CELL_RELU };

struct layer {
  struct build *b;
  enum cell cell;
  const struct arg *weights; // w_ih w_hh [b_ih b_hh] [w_hr]
  bool has_biases, has_projection;
};

static struct value *linear(struct build *b, struct value *x, struct value *w, struct value *bias) {
  return BUILD(b, OP_LINEAR, TENSOR(x), TENSOR(w), ARG_V(bias));
}

static struct value *bias_of(const struct layer *l, unsigned i) {
  return l->has_biases && l->weights[2 + i].kind == ARG_VALUE ? l->weights[2 + i].value : NULL;
}

// Gate i of `count` in the last dimension.
static struct value *gate(struct build *b, struct value *gates, int64_t i, int64_t count) {
  if (!gates)
    return NULL;
  uint32_t last = gates->rank - 1;
  struct exprs *x = b->g->exprs;
  const struct expr *size = expr_floordiv(x, gates->shape[last], expr_const(x, count));
  return build_slice(b, gates, last, expr_muli(x, size, i), expr_muli(x, size, i + 1), 1);
}

// i, f, g, o; c is updated.
static struct value *lstm_step(struct layer *l, struct value *gates, struct value **c) {
  struct build *b = l->b;
  struct value *in = build_unop(b, OP_SIGMOID, gate(b, gates, 0, 4)),
               *forget = build_unop(b, OP_SIGMOID, gate(b, gates, 1, 4)),
               *fresh = build_unop(b, OP_TANH, gate(b, gates, 2, 4)),
               *out = build_unop(b, OP_SIGMOID, gate(b, gates, 3, 4));
  *c = build_add(b, build_mul(b, forget, *c), build_mul(b, in, fresh));
  struct value *h = build_mul(b, out, build_unop(b, OP_TANH, *c));
  return l->has_projection ? linear(b, h, l->weights[l->has_biases ? 4 : 2].value, NULL) : h;
}

// r, z, n: the products with x and with h are added where r scales the latter.
static struct value *gru_step(struct layer *l, struct value *x, struct value *of_h,
                              struct value *h) {
  struct build *b = l->b;
  struct value *r = build_unop(b, OP_SIGMOID, build_add(b, gate(b, x, 0, 3), gate(b, of_h, 0, 3)));
  struct value *z = build_unop(b, OP_SIGMOID, build_add(b, gate(b, x, 1, 3), gate(b, of_h, 1, 3)));
  struct value *fresh = build_mul(b, r, gate(b, of_h, 2, 3));
  fresh = build_unop(b, OP_TANH, build_add(b, gate(b, x, 2, 3), fresh));
  return build_add(b, fresh, build_mul(b, z, build_sub(b, h, fresh)));
}

static struct value *step(struct layer *l, struct value *x, struct value *h, struct value **c) {
  struct build *b = l->b;
  struct value *of_h = linear(b, h, l->weights[1].value, bias_of(l, 1));
  if (l->cell == CELL_GRU)
    return gru_step(l, x, of_h, h);
  struct value *sum = build_add(b, x, of_h);
  if (l->cell == CELL_LSTM)
    return lstm_step(l, sum, c);
  return build_unop(b, l->cell == CELL_TANH ? OP_TANH : OP_RELU, sum);
}

// [steps, batch, features] of the states after each step, in parts, since lists have limits.
static struct value *stack_all(struct build *b, struct value **each, size_t steps) {
  enum { MOST = LIMIT_GRAPH_OPERANDS };
  size_t count = (steps + MOST - 1) / MOST;
  struct value **parts = arena_array(b->g->arena, struct value *, count);
  for (size_t i = 0; i < count; i++) {
    size_t of_part = steps - i * MOST < MOST ? steps - i * MOST : MOST;
    parts[i] = BUILD(b, OP_STACK, arg_values(b->g, of_part, each + i * MOST));
  }
  return count == 1 ? parts[0] : BUILD(b, OP_CAT, arg_values(b->g, count, parts));
}

// x[steps, batch, features] in one direction: the state after each step, and the last ones.
static struct value *run(struct layer *l, struct value *x, int64_t steps, bool backward,
                         struct value **h, struct value **c) {
  struct build *b = l->b;
  struct value **each = arena_array(b->g->arena, struct value *, steps);
  x = linear(b, x, l->weights[0].value, bias_of(l, 0));
  for (int64_t i = 0; i < steps && x; i++) {
    int64_t at = backward ? steps - 1 - i : i;
    struct value *now = BUILD(b, OP_SELECT, TENSOR(x), arg_int(b->g, 0), arg_int(b->g, at));
    each[at] = *h = step(l, now, *h, c);
    if (!*h)
      return NULL;
  }
  return x ? stack_all(b, each, (size_t)steps) : NULL;
}

static struct value *part(struct build *b, struct value *x, int64_t i) {
  return BUILD(b, OP_SELECT, TENSOR(x), arg_int(b->g, 0), arg_int(b->g, i));
}

static enum cell cell_of(const struct node *n) {
  switch (operator_row(n->op)->part) {
  case OP_SIGMOID: return CELL_LSTM;
  case OP_SUB_TENSOR: return CELL_GRU;
  case OP_TANH: return CELL_TANH;
  default: return CELL_RELU;
  }
}

// The states of all layers and directions before the first step.
struct states {
  struct value *h, *c;
};

static bool states_of(struct build *b, const struct node *n, enum cell cell, struct states *ret) {
  const struct arg *list;
  if (cell != CELL_LSTM) {
    *ret = (struct states){node_value(n, 1), NULL};
    return true;
  }
  if (node_list(n, 1, &list) != 2) {
    compose_error(b, n, E1003, "`hx` has the states h and c");
    return false;
  }
  *ret = (struct states){list[0].value, list[1].value};
  return true;
}

// The whole network: `each` weights for each layer and direction.
struct network {
  struct layer layer;
  const struct arg *weights;
  size_t each;
  int64_t layers, directions, steps;
};

// params:2 has_biases:3 num_layers:4 dropout:5 train:6 bidirectional:7; x[steps, ..]
static bool network_of(struct build *b, const struct node *n, const struct value *x,
                       struct network *ret) {
  size_t count = node_list(n, 2, &ret->weights);
  ret->layer = (struct layer){.b = b, .cell = cell_of(n), .has_biases = node_truth(n, 3)};
  ret->layers = node_int(n, 4);
  ret->directions = node_truth(n, 7) ? 2 : 1;
  size_t plain = ret->layer.has_biases ? 4 : 2, parts = (size_t)(ret->layers * ret->directions);
  ret->each = ret->layers > 0 ? count / parts : 0;
  ret->layer.has_projection = ret->layer.cell == CELL_LSTM && ret->each == plain + 1;
  if ((ret->each != plain && !ret->layer.has_projection) || count != ret->each * parts)
    compose_error(b, n, E1003, "%zu weights for %lld layers", count, (long long)ret->layers);
  else if (!expr_is_const(x->shape[0], &ret->steps) || ret->steps < 1)
    compose_error(b, n, E1008, "a symbolic number of steps, or none");
  else if (ret->steps > MAX_STEPS)
    compose_error(b, n, E1008, "%lld steps; at most %d are unrolled: write the layer as a `scan`",
                  (long long)ret->steps, MAX_STEPS);
  else if (node_truth(n, 6) && node_real(n, 5) > 0)
    compose_error(b, n, E1008, "dropout between layers: export the model in evaluation mode");
  else
    return true;
  return false;
}

// The results of the last layer. h and c: the first states of all layers and directions, then the
// last ones.
static struct value *run_network(struct network *net, struct value *x, const struct states *first,
                                 struct value **h, struct value **c) {
  struct build *b = net->layer.b;
  for (int64_t i = 0; i < net->layers; i++) {
    struct value *out[2] = {NULL};
    for (int64_t d = 0; d < net->directions; d++) {
      int64_t at = i * net->directions + d;
      net->layer.weights = net->weights + (size_t)at * net->each;
      h[at] = part(b, first->h, at);
      c[at] = first->c ? part(b, first->c, at) : NULL;
      if (!(out[d] = run(&net->layer, x, net->steps, d, &h[at], &c[at])))
        return NULL;
    }
    x = net->directions == 1 ? out[0]
                             : BUILD(b, OP_CAT, arg_values(b->g, 2, out), arg_int(b->g, -1));
  }
  return x;
}

// input hx params has_biases num_layers dropout train bidirectional batch_first
void compose_recurrent(struct build *b, struct node *n) {
  struct states s;
  struct network net;
  struct value *x = node_value(n, 0);
  bool batch_first = x->rank == 3 && node_truth(n, 8);
  x = batch_first ? build_swap(b, x, 0, 1) : x;
  if (!x || x->rank == 0 || !states_of(b, n, cell_of(n), &s) || !network_of(b, n, x, &net))
    return;
  size_t count = (size_t)(net.layers * net.directions);
  struct value **h = arena_array(b->g->arena, struct value *, count),
               **c = arena_array(b->g->arena, struct value *, count);
  if (!(x = run_network(&net, x, &s, h, c)))
    return;
  n->results[0] = batch_first ? build_swap(b, x, 0, 1) : x;
  n->results[1] = BUILD(b, OP_STACK, arg_values(b->g, count, h));
  if (net.layer.cell == CELL_LSTM)
    n->results[2] = BUILD(b, OP_STACK, arg_values(b->g, count, c));
}

// input hx w_ih w_hh b_ih b_hh: one step
void compose_cell(struct build *b, struct node *n) {
  struct states s;
  struct layer l = {.b = b,
                    .cell = cell_of(n),
                    .weights = n->args + 2,
                    .has_biases = !node_is_none(n, 4) || !node_is_none(n, 5)};
  if (!states_of(b, n, l.cell, &s))
    return;
  struct value *x = linear(b, node_value(n, 0), l.weights[0].value, bias_of(&l, 0));
  n->results[0] = step(&l, x, s.h, &s.c);
  if (l.cell == CELL_LSTM)
    n->results[1] = s.c;
}
