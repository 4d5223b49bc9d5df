// SPDX-License-Identifier: Apache-2.0
// Results of pointwise operators: broadcast shapes, promoted dtypes, the operands' order of
// dimensions.
#include "graph/ir/infer.h"

enum { MAX_OPERANDS = 4 };

// Shape and strides from all tensor arguments.
static bool find_extent(struct infer *in, struct extent *e) {
  struct value *operands[MAX_OPERANDS];
  size_t count = 0;
  *e = (struct extent){0};
  for (uint32_t i = 0; i < in->n->arg_count; i++) {
    struct value *v = node_value(in->n, i);
    if (!v || count == MAX_OPERANDS)
      continue;
    if (count == 0)
      *e = extent_of(v);
    else if (!infer_broadcast(in, e, v))
      return false;
    operands[count++] = v;
  }
  extent_from_operands(in->g->exprs, e, count, operands);
  return true;
}

// `alpha` and flags are not operands.
static enum dtype promoted(struct infer *in, enum promotion how) {
  struct arg args[OPERATOR_MAX_PARAMETERS];
  size_t count, used = 0;
  const struct parameter *p = operator_parameters(in->op->id, &count);
  for (size_t i = 0; i < count; i++)
    if ((p[i].type == 'T' || p[i].type == 'N' || p[i].type == 'S') && !str_is(p[i].name, "alpha"))
      args[used++] = in->n->args[i];
  return promote(args, used, how);
}

static bool check_operand_dtypes(struct infer *in) {
  enum scalar_op op = in->op->scalar;
  if (op < SCALAR_BIT_NOT || op > SCALAR_SHIFT_RIGHT)
    return true;
  enum dtype t = promoted(in, PROMOTE_SAME);
  return dtype_is_int(t) ||
         infer_error(in, E1005, "operands of dtype %s; integers are required", dtype_name(t));
}

bool infer_pointwise(struct infer *in) {
  struct extent e;
  bool has_tensor = false;
  for (uint32_t i = 0; i < in->n->arg_count; i++)
    has_tensor |= node_value(in->n, i) != NULL;
  if (!has_tensor)
    return infer_error(in, E1003, "none of the operands is a tensor");
  return check_operand_dtypes(in) && find_extent(in, &e) &&
         infer_extent(in, 0, promoted(in, in->op->promotion), &e);
}

bool infer_div_mode(struct infer *in) {
  struct extent e;
  if (!node_value(in->n, 0) && !node_value(in->n, 1))
    return infer_error(in, E1003, "none of the operands is a tensor");
  if (node_is_none(in->n, 2))
    return find_extent(in, &e) && infer_extent(in, 0, promoted(in, PROMOTE_FLOAT), &e);
  struct str mode = in->n->args[2].string;
  if (!str_is(mode, "floor") && !str_is(mode, "trunc"))
    return infer_error(in, E1003, "`rounding_mode` is '%.*s'; there are 'floor' and 'trunc'",
                       STR_ARG(mode));
  return find_extent(in, &e) && infer_extent(in, 0, promoted(in, PROMOTE_SAME), &e);
}

bool infer_where(struct infer *in) {
  struct extent e;
  const struct value *condition = infer_value(in, 0);
  if (condition->dtype != DTYPE_I1 && condition->dtype != DTYPE_U8)
    return infer_error(in, E1005, "`condition` is %s; it must be bool",
                       infer_type_text(in, condition));
  return find_extent(in, &e) && infer_extent(in, 0, promote(in->n->args + 1, 2, PROMOTE_SAME), &e);
}

// ---- copies ----

// With an optional memory format, a word.
static bool infer_copy_of(struct infer *in, const struct value *v, enum dtype t,
                          const struct arg *format) {
  struct extent e = extent_of(v);
  struct str word =
      format && format->kind == ARG_STRING ? format->string : STR("torch.preserve_format");
  if (str_ends(word, "contiguous_format"))
    return infer_contiguous_like(in, 0, t, v);
  bool is_volume = str_ends(word, "channels_last_3d");
  if (is_volume || str_ends(word, "channels_last")) {
    if (!infer_wants_rank(in, v, "self", is_volume ? 5 : 4))
      return false;
    extent_channels_last(in->g->exprs, &e);
    return infer_extent(in, 0, t, &e);
  }
  if (!str_ends(word, "preserve_format"))
    return infer_error(in, E1003, "`memory_format` is %.*s, which is not supported", STR_ARG(word));
  return infer_dense_like(in, 0, t, v);
}

static const struct arg *memory_format(struct infer *in) {
  int i = infer_parameter(in, "memory_format");
  return i < 0 ? NULL : &in->n->args[i];
}

bool infer_clone(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  return infer_copy_of(in, v, v->dtype, memory_format(in));
}

bool infer_to_copy(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  return infer_copy_of(in, v, infer_dtype_or(in, 1, v->dtype), memory_format(in));
}

bool infer_to_bits(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  if (scalar_to_bits(v->dtype) == SCALAR_NONE)
    return infer_error(in, E1005, "an operand of dtype %s; a float is required",
                       dtype_name(v->dtype));
  return infer_dense_like(in, 0, dtype_of_bits(v->dtype), v);
}

bool infer_from_bits(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  enum dtype t = infer_dtype_or(in, 1, v->dtype);
  if (scalar_from_bits(t) == SCALAR_NONE || dtype_of_bits(t) != v->dtype)
    return infer_error(in, E1005, "an operand of dtype %s for %s", dtype_name(v->dtype),
                       dtype_name(t));
  return infer_dense_like(in, 0, t, v);
}

bool infer_full_like(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  return infer_copy_of(in, v, infer_dtype_or(in, (unsigned)infer_parameter(in, "dtype"), v->dtype),
                       memory_format(in));
}

bool infer_convert(struct infer *in) {
  return infer_dense_like(in, 0, in->n->args[1].dtype, infer_value(in, 0));
}

// The values of `src` in the shape and dtype of `self`.
bool infer_copy(struct infer *in) {
  const struct value *self = infer_value(in, 0), *src = infer_value(in, 1);
  struct extent e = extent_of(self);
  if (!infer_broadcast(in, &e, src))
    return false;
  bool same = e.rank == self->rank;
  for (uint32_t d = 0; d < e.rank && same; d++)
    same = infer_same_size(in, e.shape[d], self->shape[d]);
  if (!same)
    return infer_error(in, E1004, "%s does not fit into %s", infer_type_text(in, src),
                       infer_type_text(in, self));
  return infer_dense_like(in, 0, self->dtype, self);
}

bool infer_like(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  return infer_dense_like(in, 0, v->dtype, v);
}

bool infer_native_dropout(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  return infer_dense_like(in, 0, v->dtype, v) && infer_dense_like(in, 1, DTYPE_I1, v);
}

bool infer_cumsum(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  uint32_t dim;
  enum dtype t = dtype_is_float(v->dtype) ? v->dtype : DTYPE_I64;
  return infer_dim(in, 1, v->rank, &dim) &&
         infer_contiguous_like(in, 0, infer_dtype_or(in, 2, t), v);
}
