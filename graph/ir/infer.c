// SPDX-License-Identifier: Apache-2.0
// Shared by the rules of operators: errors, results, broadcasting, strides of results.
#include "graph/ir/infer.h"

#include "graph/ir/operator_help.h"

#include <inttypes.h>

// ---- errors ----

bool infer_error(struct infer *in, enum diag_code code, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(in->g->arena, fmt, ap);
  va_end(ap);
  operator_error(in->g->diag, in->n->span, code, in->op, text);
  return false;
}

const char *infer_shape_text(struct infer *in, uint32_t rank, const struct expr *const *shape) {
  struct strbuf b = {.arena = in->g->arena};
  strbuf_putc(&b, '[');
  for (uint32_t i = 0; i < rank; i++) {
    strbuf_puts(&b, i ? ", " : "");
    expr_print(shape[i], &b);
  }
  strbuf_putc(&b, ']');
  const char *text = arena_strdup(in->g->arena, strbuf_cstr(&b));
  strbuf_finish(&b);
  return text;
}

const char *infer_type_text(struct infer *in, const struct value *v) {
  struct strbuf b = {.arena = in->g->arena};
  value_type_print(v, false, &b);
  const char *text = arena_strdup(in->g->arena, strbuf_cstr(&b));
  strbuf_finish(&b);
  return text;
}

bool infer_wants_float(struct infer *in, const struct value *v, const char *parameter) {
  return dtype_is_float(v->dtype) || infer_error(in, E1005, "`%s` is %s; floats are required",
                                                 parameter, infer_type_text(in, v));
}

bool infer_wants_integer(struct infer *in, const struct value *v, const char *parameter,
                         bool with_bool) {
  return (dtype_is_int(v->dtype) && (with_bool || v->dtype != DTYPE_I1)) ||
         infer_error(in, E1005, "`%s` is %s; integers are required", parameter,
                     infer_type_text(in, v));
}

bool infer_wants_rank(struct infer *in, const struct value *v, const char *parameter,
                      uint32_t rank) {
  return v->rank == rank || infer_error(in, E1004, "`%s` is %s; it needs %u dimensions", parameter,
                                        infer_type_text(in, v), rank);
}

bool infer_same_dtype(struct infer *in, const struct value *a, const struct value *b) {
  return a->dtype == b->dtype || infer_error(in, E1005, "operands of different dtypes, %s and %s",
                                             infer_type_text(in, a), infer_type_text(in, b));
}

// ---- results ----

bool infer_result(struct infer *in, unsigned i, enum dtype t, uint32_t rank,
                  const struct expr *const *shape, const struct expr *const *strides) {
  struct graph *g = in->g;
  if (rank > GRAPH_MAX_RANK)
    return infer_error(in, E1009, "a result of %u dimensions; there are at most %d", rank,
                       GRAPH_MAX_RANK);
  if (g->value_count >= GRAPH_MAX_VALUES)
    return infer_error(in, E1009, "more than %d results in the graph", GRAPH_MAX_VALUES);
  const struct expr *bytes = expr_const(g->exprs, dtype_bytes(t));
  for (uint32_t d = 0; d < rank; d++) {
    if (shape[d]->hi < 0)
      return infer_error(in, E1004, "a result of shape %s", infer_shape_text(in, rank, shape));
    bytes = expr_mul(g->exprs, bytes, shape[d]);
  }
  // A size that is too large only for some values of its symbols is reported when these are known.
  if ((bytes->overflows && expr_is_const(bytes, NULL)) || bytes->lo > INT64_C(1) << 46)
    return infer_error(in, E0911, "a result of shape %s is too large",
                       infer_shape_text(in, rank, shape));
  struct value *v = arena_new(g->arena, struct value);
  *v = (struct value){.id = g->value_count++,
                      .dtype = t,
                      .rank = rank,
                      .def = in->n,
                      .result = i,
                      .span = in->n->span};
  v->shape = arena_array(g->arena, const struct expr *, rank);
  v->strides = arena_array(g->arena, const struct expr *, rank);
  if (!strides)
    strides = contiguous_strides(g->exprs, g->arena, rank, shape);
  for (uint32_t d = 0; d < rank; d++) {
    v->shape[d] = shape[d];
    v->strides[d] = strides[d];
  }
  in->n->results[i] = v;
  return true;
}

bool infer_extent(struct infer *in, unsigned i, enum dtype t, const struct extent *e) {
  return infer_result(in, i, t, e->rank, e->shape, e->strides);
}

bool infer_contiguous_like(struct infer *in, unsigned i, enum dtype t, const struct value *v) {
  return infer_result(in, i, t, v->rank, v->shape, NULL);
}

bool infer_dense_like(struct infer *in, unsigned i, enum dtype t, const struct value *v) {
  struct extent e = extent_of(v);
  struct value *operand = in->g->inputs.len ? in->g->inputs.at[0] : NULL;
  memcpy(&operand, &v, sizeof v); // read only
  extent_from_operands(in->g->exprs, &e, 1, &operand);
  return infer_extent(in, i, t, &e);
}

void infer_results(struct infer *in, uint32_t count) {
  in->n->result_count = count;
  in->n->results = arena_array(in->g->arena, struct value *, count);
}

// ---- arguments ----

struct value *infer_value(struct infer *in, unsigned i) {
  return node_value(in->n, i);
}

bool infer_wrap_dim(struct infer *in, const struct expr *e, uint32_t rank, uint32_t *ret) {
  int64_t dim, count = rank ? rank : 1;
  if (!expr_is_const(e, &dim) || dim < -count || dim >= count) {
    struct strbuf b = {.arena = in->g->arena};
    expr_print(e, &b);
    infer_error(in, E1004, "there is no dimension %s in a tensor of %u dimensions", strbuf_cstr(&b),
                rank);
    strbuf_finish(&b);
    return false;
  }
  *ret = (uint32_t)(dim < 0 ? dim + count : dim);
  return true;
}

bool infer_dim(struct infer *in, unsigned i, uint32_t rank, uint32_t *ret) {
  return infer_wrap_dim(in, node_expr(in->n, i), rank, ret);
}

bool infer_require(struct infer *in, const struct expr *slack, const char *text) {
  return graph_require(in->g, slack, text, in->n->span);
}

bool infer_not_above(struct infer *in, const struct expr *a, const struct expr *b,
                     const char *text) {
  return infer_require(in, expr_sub(in->g->exprs, b, a), text);
}

bool infer_sizes(struct infer *in, unsigned i, struct extent *ret) {
  const struct arg *list;
  size_t count = node_list(in->n, i, &list);
  if (count > GRAPH_MAX_RANK)
    return infer_error(in, E1009, "%zu dimensions; there are at most %d", count, GRAPH_MAX_RANK);
  ret->rank = (uint32_t)count;
  for (size_t d = 0; d < count; d++)
    ret->shape[d] = list[d].number;
  return true;
}

enum dtype infer_dtype_or(struct infer *in, unsigned i, enum dtype otherwise) {
  return in->n->args[i].kind == ARG_DTYPE ? in->n->args[i].dtype : otherwise;
}

bool infer_in_output_mask(const struct infer *in, unsigned i) {
  const struct arg *list;
  size_t count = node_list(in->n, in->n->arg_count - 1, &list);
  return i < count && list[i].truth;
}

int infer_parameter(const struct infer *in, const char *name) {
  return operator_parameter(in->op->id, name);
}

struct extent extent_of(const struct value *v) {
  struct extent e = {.rank = v->rank};
  for (uint32_t d = 0; d < v->rank; d++) {
    e.shape[d] = v->shape[d];
    e.strides[d] = v->strides[d];
  }
  return e;
}

// ---- shapes ----

bool infer_same_size(struct infer *in, const struct expr *a, const struct expr *b) {
  bool are_numbers = expr_is_const(a, NULL) && expr_is_const(b, NULL);
  return a == b || (!are_numbers && graph_require_equal(in->g, a, b, in->n->span));
}

bool infer_is_one(struct infer *in, const struct value *v) {
  return infer_same_size(in, value_numel(in->g->exprs, v), expr_const(in->g->exprs, 1));
}

// The operands have this size no longer, but 1.
static void forget_size(struct infer *in, const struct expr *size, const struct expr *one) {
  for (unsigned i = 0; i < in->n->arg_count; i++) {
    const struct value *v = in->n->args[i].kind == ARG_VALUE ? in->n->args[i].value : NULL;
    for (uint32_t d = 0; v && d < v->rank; d++)
      if (v->shape[d] == size)
        v->shape[d] = one;
  }
}

bool infer_make_one(struct infer *in, const struct expr *size) {
  const struct expr *one = expr_const(in->g->exprs, 1);
  if (size == one)
    return true;
  if (size->kind == EXPR_SYMBOL || !graph_require_equal(in->g, size, one, in->n->span))
    return false;
  expr_equate(size, one);
  forget_size(in, size, one);
  return true;
}

// Is it 1 in a broadcast to another size?
static bool is_one(struct infer *in, const struct expr *size, const struct expr *other) {
  bool is_likely =
      !expr_is_const(size, NULL) && size->lo <= 1 && expr_hint(size) == 1 && expr_hint(other) != 1;
  return expr_is(size, 1) || (is_likely && infer_make_one(in, size));
}

bool infer_broadcast(struct infer *in, struct extent *e, const struct value *v) {
  struct extent wide = *e;
  if (v->rank > e->rank) {
    uint32_t more = v->rank - e->rank;
    memmove(wide.shape + more, wide.shape, e->rank * sizeof *wide.shape);
    for (uint32_t d = 0; d < more; d++)
      wide.shape[d] = v->shape[d];
    wide.rank = v->rank;
  }
  for (uint32_t d = 0; d < v->rank; d++) {
    const struct expr **size = &wide.shape[wide.rank - v->rank + d];
    if (*size == v->shape[d] || is_one(in, v->shape[d], *size))
      continue;
    bool widens = is_one(in, *size, v->shape[d]);
    if (!widens && !infer_same_size(in, *size, v->shape[d]))
      return infer_error(
          in, E1004,
          "shapes %s and %s do not broadcast\ndimensions are aligned at the right, each pair is "
          "equal or has a 1: `aten.unsqueeze.default(x, dim)` inserts one",
          infer_shape_text(in, e->rank, e->shape), infer_shape_text(in, v->rank, v->shape));
    *size = widens ? v->shape[d] : expr_equate(*size, v->shape[d]);
  }
  *e = wide;
  return true;
}

void extent_make_contiguous(struct exprs *x, struct extent *e) {
  const struct expr *stride = expr_const(x, 1);
  for (uint32_t d = e->rank; d-- > 0;) {
    e->strides[d] = stride;
    if (!expr_is(e->shape[d], 0))
      stride = expr_mul(x, stride, e->shape[d]);
  }
}

static void strides_in_order(struct exprs *x, struct extent *e, const uint32_t *innermost_first) {
  const struct expr *stride = expr_const(x, 1);
  for (uint32_t i = 0; i < e->rank; i++) {
    e->strides[innermost_first[i]] = stride;
    if (!expr_is(e->shape[innermost_first[i]], 0))
      stride = expr_mul(x, stride, e->shape[innermost_first[i]]);
  }
}

void extent_channels_last(struct exprs *x, struct extent *e) {
  uint32_t innermost_first[GRAPH_MAX_RANK] = {1};
  for (uint32_t d = e->rank - 1, i = 1; d >= 2; d--)
    innermost_first[i++] = d;
  strides_in_order(x, e, innermost_first);
}

bool value_is_channels_last(struct exprs *x, const struct value *v) {
  if ((v->rank != 4 && v->rank != 5) || expr_is(v->shape[1], 1) || value_is_contiguous(x, v))
    return false;
  struct extent e = extent_of(v);
  extent_channels_last(x, &e);
  for (uint32_t d = 0; d < v->rank; d++)
    if (!expr_is(e.shape[d], 1) && e.strides[d] != v->strides[d])
      return false;
  return true;
}

// The stride of an operand along dimension d of the result: 0 if it is broadcast.
static int64_t operand_stride(const struct extent *e, const struct value *v, uint32_t d) {
  if (d + v->rank < e->rank)
    return 0;
  uint32_t own = d - (e->rank - v->rank);
  if (expr_is(v->shape[own], 1) && !expr_is(e->shape[d], 1))
    return 0;
  return expr_hint(v->strides[own]);
}

// 1: dimension a is further in than b; -1: further out; 0: no operand decides.
static int compare_dims(const struct extent *e, size_t count, struct value *const *operands,
                        uint32_t a, uint32_t b) {
  for (size_t i = 0; i < count; i++) {
    int64_t sa = operand_stride(e, operands[i], a), sb = operand_stride(e, operands[i], b);
    if (sa == 0 || sb == 0)
      continue;
    if (sa != sb)
      return sa < sb ? 1 : -1;
    int64_t na = expr_hint(e->shape[a]), nb = expr_hint(e->shape[b]);
    if (na > nb)
      return -1;
  }
  return 0;
}

void extent_from_operands(struct exprs *x, struct extent *e, size_t count,
                          struct value *const *operands) {
  bool all_contiguous = true, all_same = true;
  for (size_t i = 0; i < count; i++) {
    const struct value *v = operands[i];
    bool same_shape = v->rank == e->rank;
    for (uint32_t d = 0; d < e->rank && same_shape; d++)
      same_shape = v->shape[d] == e->shape[d];
    all_contiguous &= same_shape && value_is_contiguous(x, v);
    for (uint32_t d = 0; d < e->rank && all_same; d++)
      all_same = same_shape && v->strides[d] == operands[0]->strides[d];
  }
  if (all_contiguous || count == 0) {
    extent_make_contiguous(x, e);
    return;
  }
  uint32_t order[GRAPH_MAX_RANK]; // innermost first
  for (uint32_t i = 0; i < e->rank; i++)
    order[i] = e->rank - 1 - i;
  for (uint32_t i = 1; i < e->rank; i++)
    for (uint32_t at = i, k = i; k-- > 0;) {
      int c = compare_dims(e, count, operands, order[k], order[at]);
      if (c == 1)
        break;
      if (c == -1) {
        uint32_t d = order[k];
        order[k] = order[at];
        order[at] = d;
        at = k;
      }
    }
  struct extent dense = *e;
  strides_in_order(x, &dense, order);
  bool operand_is_dense = all_same; // then its own strides, also of dimensions of size 1
  for (uint32_t d = 0; d < e->rank && operand_is_dense; d++)
    operand_is_dense = expr_is(e->shape[d], 1) || dense.strides[d] == operands[0]->strides[d];
  for (uint32_t d = 0; d < e->rank; d++)
    e->strides[d] = operand_is_dense ? operands[0]->strides[d] : dense.strides[d];
}
