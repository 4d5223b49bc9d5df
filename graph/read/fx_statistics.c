// SPDX-License-Identifier: Apache-2.0
// Norms in training, which write their running statistics: the norm that returns them, and a write
// to each.
#include "graph/ir/graph_build.h"
#include "graph/read/fx_reader.h"

// The arguments of all: input weight bias running_mean running_var training momentum eps
enum { MEAN = 3, VARIANCE, TRAINING, MOMENTUM, EPS };

bool fx_writes_statistics(enum operator_id op, const struct arg *args, size_t count) {
  return (op == OP_BATCH_NORM || op == OP_INSTANCE_NORM || op == OP_NATIVE_BATCH_NORM ||
          op == OP_BATCH_NORM_LEGIT) &&
         count > EPS && args[MEAN].kind == ARG_VALUE && args[VARIANCE].kind == ARG_VALUE &&
         args[TRAINING].kind == ARG_BOOL && args[TRAINING].truth;
}

static bool write(struct reader *r, struct value *variable, struct value *new, struct span at) {
  return new &&variable &&fx_write(r, variable, new, at);
}

static struct node *of_batch(struct reader *r, struct span at, const struct arg *args) {
  return graph_append(r->g, OP_NATIVE_BATCH_NORM_FUNCTIONAL, args, EPS + 1, at);
}

// Each instance has statistics of its own; the running ones take their mean.
static bool write_of_instances(struct reader *r, struct span at, const struct arg *args,
                               struct value *const *variables) {
  struct build b = {r->g, at};
  const struct value *x = args[0].value;
  if (x->rank < 2)
    return true; // the norm itself has an error
  const struct expr *shape[GRAPH_MAX_RANK] = {expr_const(r->g->exprs, 1),
                                              expr_mul(r->g->exprs, x->shape[0], x->shape[1])};
  for (uint32_t d = 2; d < x->rank; d++)
    shape[d] = x->shape[d];
  struct value *flat = BUILD(&b, OP_RESHAPE, args[0], arg_exprs(r->g, x->rank, shape));
  struct arg norm[EPS + 1] = {TENSOR(flat), {0}, {0}};
  for (unsigned i = MEAN; i <= EPS; i++)
    norm[i] = args[i];
  for (unsigned i = MEAN; i <= VARIANCE; i++) {
    struct value *each = BUILD(&b, OP_REPEAT, args[i], arg_exprs(r->g, 1, &x->shape[0]));
    norm[i] = TENSOR(each);
    if (!each)
      return false;
  }
  struct node *n = flat ? of_batch(r, at, norm) : NULL;
  struct dims first = dims_one(0);
  for (unsigned i = MEAN; n && i <= VARIANCE; i++) {
    struct value *all = build_view(&b, n->results[i], 2, x->shape);
    if (!write(r, variables[i], build_mean(&b, all, &first, false), at))
      return false;
  }
  return n;
}

struct node *fx_append_statistics(struct reader *r, struct span at, enum operator_id op,
                                  const struct arg *args, struct value *const *variables) {
  if (op == OP_INSTANCE_NORM) {
    struct node *n = graph_append(r->g, op, args, EPS + 2, at);
    return n && write_of_instances(r, at, args, variables) ? n : NULL;
  }
  struct node *n = of_batch(r, at, args);
  for (unsigned i = MEAN; n && i <= VARIANCE; i++)
    if (!write(r, variables[i], n->results[i], at))
      return NULL;
  return n;
}
