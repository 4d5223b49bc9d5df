// SPDX-License-Identifier: Apache-2.0
// Images enlarged or reduced by bilinear interpolation, also of symbolic sides: two gathers along
// each side, weighted by the distances to the position between them (torch/_decomp,
// upsample_bilinear2d).
#include "graph/ir/compose.h"
#include "graph/ir/sizes.h"

#define X node_value(n, 0)

// One side: sizes before and after, and the factor between them if the call names it, else 0.
struct side {
  const struct expr *from, *to;
  double factor;
};

// input output_size align_corners scales: a list, or one argument a side
static bool find_side(struct build *b, const struct node *n, unsigned k, struct side *ret) {
  const struct arg *sizes = NULL, *factors = NULL;
  size_t given = node_is_none(n, 1) ? 0 : node_list(n, 1, &sizes);
  bool is_vec = operator_row(n->op)->part == OP_UPSAMPLE_BILINEAR2D;
  *ret = (struct side){.from = X->shape[2 + k]};
  if (is_vec && !node_is_none(n, 3) && node_list(n, 3, &factors) == 2) {
    struct node one = {.args = (struct arg[]){factors[k]}, .arg_count = 1};
    ret->factor = node_real(&one, 0);
  } else if (!is_vec && !node_is_none(n, 3 + k)) {
    ret->factor = node_real(n, 3 + k);
  }
  if (given == 2)
    ret->to = sizes[k].number;
  else if (ret->factor > 0)
    ret->to = graph_scaled_size(b->g, ret->from, ret->factor, false, b->at);
  if (ret->to)
    return true;
  compose_error(b, n, E1004, "the output's sides are not known: give `output_size`");
  return false;
}

// A size as a tensor of one number.
static struct value *real_size(struct build *b, const struct expr *size, int64_t more) {
  return BUILD(b, OP_FULL, arg_ints(b->g, 0, NULL), ARG_E(expr_addi(b->g->exprs, size, more)),
               ARG_D(DTYPE_F32));
}

// Where each position of the result lies in the input.
static struct value *positions(struct build *b, const struct side *s, bool corners) {
  struct value *o = build_convert(b, build_iota(b, s->to, 0, 1), DTYPE_F32);
  if (corners) {
    struct value *steps = build_real(b, OP_MAXIMUM, real_size(b, s->to, -1), 1);
    return build_mul(b, o, build_div(b, real_size(b, s->from, -1), steps));
  }
  o = compose_more(b, o, 0.5);
  o = s->factor > 0
          ? build_scale(b, o, 1 / s->factor)
          : build_mul(b, o, build_div(b, real_size(b, s->from, 0), real_size(b, s->to, 0)));
  return build_real(b, OP_MAXIMUM, compose_more(b, o, -0.5), 0);
}

static struct value *resize(struct build *b, struct value *x, uint32_t dim, const struct side *s,
                            bool corners) {
  const struct expr *last = expr_addi(b->g->exprs, s->from, -1);
  struct value *at = positions(b, s, corners);
  struct value *low = build_convert(b, build_unop(b, OP_FLOOR, at), DTYPE_I64);
  low = BUILD(b, OP_MINIMUM, TENSOR(low), ARG_E(last));
  struct value *high = build_int(b, OP_ADD_TENSOR, low, 1);
  high = BUILD(b, OP_MINIMUM, TENSOR(high), ARG_E(last));
  struct value *share = build_sub(b, at, build_convert(b, low, DTYPE_F32));
  share = BUILD(b, OP_MINIMUM, TENSOR(share), ARG_F(1));
  share = build_along(b, build_convert(b, share, x->dtype), dim, x->rank);
  struct value *first = compose_index(b, x, dim, low), *second = compose_index(b, x, dim, high);
  return build_add(b, first, build_mul(b, build_sub(b, second, first), share));
}

void compose_upsample_bilinear2d(struct build *b, struct node *n) {
  struct value *x = X;
  if (x->rank != 4 || !dtype_is_float(x->dtype)) {
    compose_error(b, n, E1004, "`input` is no tensor of floats of 4 dimensions");
    return;
  }
  x = build_up(b, x);
  for (unsigned k = 0; k < 2 && x; k++) {
    struct side s;
    if (!find_side(b, n, k, &s))
      return;
    if (s.from != s.to || s.factor > 0)
      x = resize(b, x, 2 + k, &s, node_truth(n, 2));
  }
  n->results[0] = build_convert(b, x, X->dtype);
}
