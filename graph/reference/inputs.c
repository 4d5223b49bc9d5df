// SPDX-License-Identifier: Apache-2.0
// Generates plausible inputs: follows each input forward through operators that keep its values to
// uses that constrain it.
#include "graph/reference/inputs.h"

#include "base/memory.h"
#include "graph/ir/graph_operators.h"
#include "graph/reference/input_draw.h"

#include <math.h>
#include <stdlib.h>

struct use {
  const struct node *node;
  unsigned parameter, position; // index in a list
};

struct follow {
  const struct graph *g;
  const int64_t *symbols;
  struct use *uses; // of value v: first[v] up to first[v + 1]
  uint32_t *first;
  int64_t *shifts; // by value id: the constant added to the input so far
  uint32_t *stack, depth;
  bool *seen;
  struct input_hint hint;
};

// ---- uses of values ----

// Counts the uses, or records them if `uses` is allocated.
static void note_use(struct follow *f, const struct arg *a, struct use use) {
  if (a->kind == ARG_LIST) {
    for (size_t k = 0; k < a->list.count; k++) {
      use.position = (unsigned)k;
      note_use(f, &a->list.at[k], use);
    }
  } else if (a->kind == ARG_VALUE && a->value) {
    const uint32_t slot = f->first[a->value->id + 1]++;
    if (f->uses)
      f->uses[slot] = use;
  }
}

static void note_uses(struct follow *f) {
  for (size_t i = 0; i < f->g->nodes.len; i++) {
    const struct node *n = f->g->nodes.at[i];
    for (unsigned k = 0; k < n->arg_count; k++)
      note_use(f, &n->args[k], (struct use){n, k, 0});
  }
}

static bool follow_init(struct follow *f, const struct graph *g, const int64_t *symbols) {
  const size_t values = g->value_count;
  *f = (struct follow){.g = g, .symbols = symbols};
  f->first = memory_zeroed(values + 2, sizeof *f->first);
  f->shifts = memory_zeroed(values + 1, sizeof *f->shifts);
  f->stack = memory_zeroed(values + 1, sizeof *f->stack);
  f->seen = memory_zeroed(values + 1, sizeof *f->seen);
  if (!f->first || !f->shifts || !f->stack || !f->seen)
    return false;
  note_uses(f);
  uint32_t total = 0;
  for (size_t v = 0; v <= values;
       v++) { // counts become offsets; note_uses advances each by its uses
    const uint32_t count = f->first[v + 1];
    f->first[v + 1] = total;
    total += count;
  }
  f->uses = memory_zeroed(total + 1, sizeof *f->uses);
  if (f->uses)
    note_uses(f);
  return f->uses != NULL;
}

static void follow_free(struct follow *f) {
  free(f->first);
  free(f->uses);
  free(f->shifts);
  free(f->stack);
  free(f->seen);
}

// ---- constraints by use ----

static int64_t size_at(const struct follow *f, const struct value *v, int64_t d) {
  int64_t size = 0;
  d += d < 0 ? v->rank : 0;
  if (d >= 0 && d < v->rank)
    expr_eval(v->shape[d], f->g->symbols.len, f->g->symbols.at, f->symbols, &size);
  return size;
}

static int64_t size_of_dim(const struct follow *f, const struct node *n) {
  const struct value *self = node_value(n, 0);
  return self->rank ? size_at(f, self, node_dim(n, 1, self->rank)) : 1;
}

static void want_index(struct follow *f, int64_t limit, int64_t shift) {
  f->hint.use = INPUT_INDEX;
  if (limit - shift < f->hint.limit)
    f->hint.limit = limit - shift;
}

// The ends of groups of `count` rows or inner indices.
static void want_ends(struct follow *f, int64_t count) {
  want_index(f, count + 1, 0);
  f->hint.use = INPUT_ENDS;
}

// Indices of the maximum of each window, which is one of its positions. With windows of one
// position the operator scatters to any.
static void want_windows(struct follow *f, const struct node *n) {
  const struct value *image = node_value(n, 1), *windows = node_value(n, 7);
  int64_t kernel[2], stride[2], padding[2], dilation[2];
  const struct arg *list;
  want_index(f, size_at(f, image, -1) * size_at(f, image, -2), 0);
  node_extents(n, 2, 2, 1, kernel);
  node_extents(n, node_list(n, 3, &list) ? 3 : 2, 2, 1, stride);
  node_extents(n, 4, 2, 0, padding);
  node_extents(n, 5, 2, 1, dilation);
  if (kernel[0] * kernel[1] == 1)
    return;
  f->hint.use = INPUT_WINDOWS;
  for (int i = 0; i < 2; i++)
    f->hint.window[i] = (struct input_window){.size = size_at(f, image, i - 2),
                                              .count = size_at(f, windows, i - 2),
                                              .kernel = kernel[i],
                                              .stride = stride[i],
                                              .padding = padding[i],
                                              .dilation = dilation[i]};
}

static void want(struct follow *f, enum input_use use, double scale) {
  if (f->hint.use == INPUT_PLAIN) {
    f->hint.use = use;
    f->hint.scale = scale;
  }
}

static void want_small(struct follow *f, int64_t depth) {
  const double scale = depth > 0 ? 1 / sqrt((double)depth) : 1;
  if (f->hint.use == INPUT_PLAIN && scale < f->hint.scale)
    f->hint.scale = scale;
}

static bool is_named(const struct use *u, const char *name) {
  size_t count;
  const struct parameter *p = operator_parameters(u->node->op, &count);
  return u->parameter < count && str_is(p[u->parameter].name, name);
}

// Indices: true if the value is used as one.
static bool look_at_index(struct follow *f, const struct use *u, int64_t shift) {
  const struct node *n = u->node;
  switch (n->op) {
  case OP_EMBEDDING:
    if (u->parameter == 1)
      want_index(f, size_at(f, node_value(n, 0), 0), shift);
    return u->parameter == 1;
  case OP_EMBEDDING_DENSE_BACKWARD:
    if (u->parameter == 1)
      want_index(f, size_at(f, n->results[0], 0), shift);
    return u->parameter == 1;
  case OP_GATHER:
  case OP_INDEX_SELECT:
  case OP_SCATTER_VALUE:
  case OP_SCATTER_SRC:
  case OP_SCATTER_ADD:
    if (u->parameter == 2)
      want_index(f, size_of_dim(f, n), shift);
    return u->parameter == 2;
  case OP_INDEX:
  case OP_INDEX_PUT:
    if (u->parameter == 1)
      want_index(f, size_at(f, node_value(n, 0), u->position), shift);
    return u->parameter == 1;
  case OP_TILE_GROUPED_MM:
    if (u->parameter == 2)
      want_ends(f, size_at(f, node_value(n, 0), node_value(n, 1)->rank == 3 ? 0 : 1));
    return u->parameter == 2;
  case OP_NLL_LOSS_FORWARD:
  case OP_NLL_LOSS_BACKWARD:
    if (is_named(u, "target"))
      want_index(f, size_at(f, node_value(n, n->op == OP_NLL_LOSS_BACKWARD), -1), shift);
    return is_named(u, "target");
  case OP_MAX_POOL2D_BACKWARD:
    if (u->parameter == 7)
      want_windows(f, n);
    return u->parameter == 7;
  default: return false;
  }
}

// Factors of products: a sum over `depth` of them stays small.
static void look_at_product(struct follow *f, const struct use *u, const struct value *v) {
  switch (u->node->op) {
  case OP_MM:
  case OP_TILE_FAST_MM:
  case OP_TILE_GROUPED_MM:
  case OP_BMM:
  case OP_MATMUL: want_small(f, size_at(f, v, u->parameter == 0 || v->rank < 2 ? -1 : -2)); break;
  case OP_ADDMM:
  case OP_BADDBMM:
    if (u->parameter == 1 || u->parameter == 2)
      want_small(f, size_at(f, v, u->parameter == 1 ? -1 : -2));
    break;
  case OP_LINEAR:
    if (u->parameter < 2)
      want_small(f, size_at(f, v, -1));
    break;
  case OP_CONVOLUTION:
  case OP_CONVOLUTION_BACKWARD:
    if (is_named(u, "weight")) {
      int64_t depth = 1;
      for (uint32_t d = 1; d < v->rank; d++)
        depth *= size_at(f, v, d);
      want_small(f, depth);
    }
    break;
  default: break;
  }
}

// The factor of n * x - ..., as in gradients of norms, contains 1 / n.
static void look_at_factor(struct follow *f, const struct use *u) {
  const struct node *n = u->node;
  const struct value *other = n->op == OP_MUL_TENSOR ? node_value(n, 1 - u->parameter) : NULL;
  for (int steps = 0; steps < 8 && other && other->def; steps++) {
    const struct node *def = other->def;
    if (def->op == OP_MUL_TENSOR && !node_value(def, 1) && def->args[1].kind != ARG_BOOL) {
      const double most = 1 << 20; // NaN counts as 0
      int64_t by = 0;
      if (def->args[1].kind == ARG_FLOAT)
        by = (int64_t)fmin(fmax(def->args[1].real, 0), most);
      else
        expr_is_const(def->args[1].number, &by);
      if (by > 1 && by <= (int64_t)most && steps > 0)
        want_small(f, by * by);
      return;
    }
    other = def->op == OP_SUB_TENSOR ? node_value(def, 0) : NULL;
  }
}

static void look_at_range(struct follow *f, const struct use *u) {
  const struct node *n = u->node;
  switch (n->op) {
  case OP_SQRT:
  case OP_RSQRT:
  case OP_LOG:
  case OP_LOG2:
  case OP_RECIPROCAL: want(f, INPUT_POSITIVE, 1); return;
  case OP_DIV_TENSOR:
    if (u->parameter == 1)
      want(f, INPUT_POSITIVE, 1);
    return;
  case OP_POW_TENSOR_SCALAR:
    if (n->args[1].kind == ARG_FLOAT && floor(n->args[1].real) != n->args[1].real)
      want(f, INPUT_POSITIVE, 1);
    return;
  default: break;
  }
  if (is_named(u, "running_var") || is_named(u, "save_invstd") || is_named(u, "rstd") ||
      is_named(u, "total_weight"))
    want(f, INPUT_POSITIVE, 1);
  else if (is_named(u, "logsumexp"))
    want(f, INPUT_LOGARITHM, (double)size_at(f, node_value(n, 2), -2));
}

// ---- propagation ----

// Do the results have the operand's values? An added constant goes into *shift.
static bool passes_on(const struct use *u, int64_t *shift) {
  const struct node *n = u->node;
  switch (operator_row(n->op)->class) {
  case CLASS_VIEW:
  case CLASS_SHAPE: return true;
  case CLASS_GATHER: return u->parameter == 0;
  default: break;
  }
  switch (n->op) {
  case OP_CLONE:
  case OP_CONVERT_ELEMENT_TYPE:
  case OP_TO_COPY: return true;
  case OP_WHERE_SELF: return u->parameter > 0;
  case OP_ADD_TENSOR:
  case OP_SUB_TENSOR: {
    int64_t constant = 0;
    if (u->parameter != 0 || n->args[1].kind == ARG_VALUE)
      return false;
    if (n->args[1].kind == ARG_INT && expr_is_const(n->args[1].number, &constant) &&
        constant > -INT32_MAX && constant < INT32_MAX) // beyond any index
      *shift += n->op == OP_ADD_TENSOR ? constant : -constant;
    return true;
  }
  default: return false;
  }
}

static void push(struct follow *f, uint32_t id, int64_t shift) {
  if (f->seen[id])
    return;
  f->seen[id] = true;
  f->shifts[id] = shift;
  f->stack[f->depth++] = id;
}

static const struct value *used_value(const struct use *u) {
  const struct arg *a = &u->node->args[u->parameter];
  return a->kind == ARG_LIST ? a->list.at[u->position].value : a->value;
}

static void look_at(struct follow *f, const struct use *u, int64_t shift) {
  const struct value *v = used_value(u);
  if (look_at_index(f, u, shift))
    return;
  if (dtype_is_float(v->dtype)) {
    look_at_product(f, u, v);
    look_at_factor(f, u);
    look_at_range(f, u);
  }
  if (!passes_on(u, &shift))
    return;
  for (uint32_t i = 0; i < u->node->result_count; i++)
    if (u->node->results[i])
      push(f, u->node->results[i]->id, shift);
}

static void follow_input(struct follow *f, const struct value *input) {
  memset(f->seen, 0, f->g->value_count * sizeof *f->seen);
  f->hint = (struct input_hint){.use = INPUT_PLAIN, .scale = 0.5, .limit = INT64_MAX};
  f->depth = 0;
  push(f, input->id, 0);
  while (f->depth > 0) {
    const uint32_t id = f->stack[--f->depth];
    for (uint32_t k = f->first[id]; k < f->first[id + 1]; k++)
      look_at(f, &f->uses[k], f->shifts[id]);
  }
  if (input->rank == 0 && dtype_is_float(input->dtype))
    want(f, INPUT_POSITIVE, 1); // a scale, an epsilon, a rate
  if (f->hint.use != INPUT_INDEX && f->hint.use != INPUT_ENDS && f->hint.use != INPUT_WINDOWS)
    f->hint.limit = 2; // a mask, most likely
  if (f->hint.limit < 1)
    f->hint.limit = 1;
}

bool graph_hint_input(const struct graph *g, const int64_t *symbols, size_t i,
                      struct input_hint *ret) {
  struct follow f;
  const bool ok = follow_init(&f, g, symbols);
  if (ok)
    follow_input(&f, g->inputs.at[i]);
  *ret = f.hint;
  follow_free(&f);
  return ok;
}

// ---- values ----

static int compare_integers(const void *a, const void *b) {
  const int64_t x = ((const union element *)a)->integer, y = ((const union element *)b)->integer;
  return (x > y) - (x < y);
}

static struct tensor *make(const struct follow *f, const struct value *v, uint64_t seed) {
  int64_t shape[GRAPH_MAX_RANK];
  for (uint32_t d = 0; d < v->rank; d++)
    shape[d] = size_at(f, v, d);
  struct tensor *t = tensor_create(v->dtype, v->rank, shape);
  for (int64_t i = 0; t && i < t->numel; i++)
    t->at[i] = input_draw(&f->hint, t, i, input_scramble(seed + (uint64_t)i));
  if (t && f->hint.use == INPUT_ENDS)
    qsort(t->at, (size_t)t->numel, sizeof *t->at, compare_integers);
  return t;
}

bool graph_make_inputs(const struct graph *g, const int64_t *symbols, uint64_t seed,
                       struct tensor **ret) {
  struct follow f;
  bool ok = follow_init(&f, g, symbols);
  for (size_t i = 0; i < g->inputs.len; i++) {
    ret[i] = NULL;
    if (!ok)
      continue;
    follow_input(&f, g->inputs.at[i]);
    ret[i] = make(&f, g->inputs.at[i], input_scramble(input_scramble(seed) + i + 1));
    ok = ret[i] != NULL;
  }
  for (size_t i = 0; !ok && i < g->inputs.len; i++) {
    tensor_destroy(ret[i]);
    ret[i] = NULL;
  }
  follow_free(&f);
  return ok;
}
