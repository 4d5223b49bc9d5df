// SPDX-License-Identifier: Apache-2.0
// Integers that are known only at run time, as a loop counts them ("Sym(u4)"): tensors of rank 0.
// And operands of subgraphs that are numbers.
#include "graph/ir/complex.h"
#include "graph/read/fx_reader.h"

#include <ctype.h>

// "u4", which no input determines; "zuf4", a float.
static bool is_unknown(const struct reader *r, struct str name) {
  size_t letters = str_starts(name, "zuf") ? 3 : 1;
  bool is_unbacked = name.len > letters && (letters > 1 || name.ptr[0] == 'u');
  for (size_t i = letters; is_unbacked && i < name.len; i++)
    is_unbacked = isdigit((unsigned char)name.ptr[i]);
  return is_unbacked && !map_get(&r->symbols, name);
}

bool fx_at_run_time_number(const struct reader *r, size_t token) {
  struct str text = fx_text(r, token);
  if (r->at[token].kind != TOK_STRING || !memchr(text.ptr, '(', text.len) ||
      !str_starts((struct str){text.ptr + 1, text.len - 1}, "Sym("))
    return false;
  for (size_t i = 5; i < text.len; i++) {
    size_t begin = i;
    while (i < text.len && (isalnum((unsigned char)text.ptr[i]) || text.ptr[i] == '_'))
      i++;
    if (is_unknown(r, (struct str){text.ptr + begin, i - begin}))
      return true;
  }
  return false;
}

// ---- numbers taken from tensors ----

bool fx_item(struct reader *r, struct span at, struct value *x, struct binding *ret) {
  int64_t numel;
  if (!x || (expr_is_const(value_numel(r->g->exprs, x), &numel) && numel != 1)) {
    fx_error(r, at, E1004, "a number is taken from a tensor of one element");
    return false;
  }
  enum dtype t = dtype_is_float(x->dtype) ? DTYPE_F64 : DTYPE_I64;
  const struct arg shape[] = {ARG_V(x), arg_exprs(r->g, 0, NULL)};
  struct value *v = graph_apply(r->g, OP_RESHAPE, shape, COUNT_OF(shape), at);
  const struct arg convert[] = {ARG_V(v), ARG_D(t)};
  if (v && v->dtype != t)
    v = graph_apply(r->g, OP_CONVERT_ELEMENT_TYPE, convert, COUNT_OF(convert), at);
  if (!v)
    return r->failed = true, false;
  fx_note_real(r, v);
  *ret = (struct binding){.kind = BOUND_VALUE, .value = v};
  return true;
}

static bool is_at_run_time(const struct reader *r, const struct arg *a) {
  if (a->kind == ARG_VALUE)
    return fx_is_real(r, a->value);
  for (size_t i = 0; a->kind == ARG_LIST && i < a->list.count; i++)
    if (is_at_run_time(r, &a->list.at[i]))
      return true;
  return false;
}

void fx_tensor_overload(struct reader *r, struct str name, const struct arg *args, size_t count,
                        enum operator_id *op) {
  bool is_real = false;
  for (size_t i = 1; i < count; i++)
    is_real |= is_at_run_time(r, &args[i]);
  if (!is_real || !str_ends(name, "Scalar"))
    return;
  name.len -= strlen("Scalar");
  operator_find(str_from(arena_printf(r->arena, "%.*sTensor", STR_ARG(name))), op);
}

bool fx_check_sizes(struct reader *r, struct span at, struct str name, const struct parameter *ps,
                    const struct arg *args, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (ps[i].type == 'i' && is_at_run_time(r, &args[i])) {
      diag_help(fx_error(r, at, E1008, "`%.*s` of `%.*s` depends on the contents of a tensor",
                         STR_ARG(ps[i].name), STR_ARG(name)),
                "sizes and positions are known before a run: pass the number to the model as an "
                "integer, or use the largest size and a mask (`torch.where`)");
      return false;
    }
  return true;
}

// `full` and its relatives with such a number: zeros, and the number added.
static bool fill(struct reader *r, struct span at, enum operator_id op, struct arg *args,
                 size_t count, unsigned which, struct value **ret) {
  struct value *number = args[which].value;
  args[which] = arg_int(r->g, 0);
  struct value *zeros = graph_apply(r->g, op, args, count, at);
  if (!zeros)
    return r->failed = true, false;
  const struct arg convert[] = {ARG_V(number), ARG_D(zeros->dtype)};
  number = graph_apply(r->g, OP_CONVERT_ELEMENT_TYPE, convert, COUNT_OF(convert), at);
  const struct arg both[] = {ARG_V(zeros), ARG_V(number)};
  enum operator_id join = zeros->dtype == DTYPE_I1 ? OP_LOGICAL_OR : OP_ADD_TENSOR;
  *ret = number ? graph_apply(r->g, join, both, COUNT_OF(both), at) : NULL;
  return *ret || (r->failed = true, false);
}

// x[number] along a dimension
static bool select_at(struct reader *r, struct span at, const struct arg *args,
                      struct value **ret) {
  struct value *list[GRAPH_MAX_RANK] = {NULL}, *x = args[0].value;
  int64_t dim;
  if (args[1].kind != ARG_INT || !expr_is_const(args[1].number, &dim) || dim < -(int64_t)x->rank ||
      dim >= (int64_t)x->rank) {
    fx_error(r, at, E1004, "there is no such dimension in a tensor of %u dimensions", x->rank);
    return false;
  }
  dim += dim < 0 ? x->rank : 0;
  list[dim] = args[2].value;
  const struct arg index[] = {args[0], arg_values(r->g, (size_t)dim + 1, list)};
  *ret = graph_apply(r->g, OP_INDEX, index, COUNT_OF(index), at);
  return *ret || (r->failed = true, false);
}

static bool apply_to(struct reader *r, struct span at, enum operator_id op, struct arg with,
                     struct arg *a) {
  const struct arg args[] = {*a, with};
  *a = ARG_V(graph_apply(r->g, op, args, COUNT_OF(args), at));
  return a->value || (r->failed = true, false);
}

static struct arg to_f32(const struct value *number) {
  return (struct arg){.kind = number->complex ? ARG_COMPLEX : ARG_DTYPE, .dtype = DTYPE_F32};
}

// Such a number has no say in the type of a result within its kind, as if it stood in the text:
// tensors of rank 0 get a dimension for the operation, and outrank it; a float beside integers
// alone is an f32.
static bool pointwise(struct reader *r, struct span at, enum operator_id op, struct arg *args,
                      size_t count, struct value **ret) {
  size_t numbers = 0, tensors = 0;
  bool has_dimensions = false, has_floats = false;
  for (size_t i = 0; i < count; i++) {
    bool is_number = is_at_run_time(r, &args[i]), is_tensor = args[i].kind == ARG_VALUE;
    numbers += is_number;
    if (is_number || !is_tensor)
      continue;
    tensors++;
    has_dimensions |= args[i].value->rank > 0;
    has_floats |= dtype_is_float(args[i].value->dtype);
  }
  if (numbers == 0 || tensors == 0)
    return true;
  const int64_t one = 1;
  for (size_t i = 0; i < count; i++) {
    bool is_number = is_at_run_time(r, &args[i]), is_tensor = args[i].kind == ARG_VALUE;
    if (is_number && is_tensor && !has_floats && args[i].value->dtype == DTYPE_F64 &&
        !apply_to(r, at, OP_CONVERT_ELEMENT_TYPE, to_f32(args[i].value), &args[i]))
      return false;
    if (!is_number && is_tensor && !has_dimensions &&
        !apply_to(r, at, OP_RESHAPE, arg_ints(r->g, 1, &one), &args[i]))
      return false;
  }
  if (has_dimensions)
    return true;
  struct arg result = ARG_V(graph_apply(r->g, op, args, count, at));
  if (!result.value || !apply_to(r, at, OP_RESHAPE, arg_exprs(r->g, 0, NULL), &result))
    return r->failed = true, false;
  *ret = result.value;
  return true;
}

bool fx_append_at_run_time(struct reader *r, struct span at, enum operator_id op, struct arg *args,
                           size_t count, struct value **ret) {
  unsigned which = op == OP_FULL || op == OP_FULL_LIKE ? 1 : op == OP_NEW_FULL ? 2 : 0;
  bool fills = which > 0 || op == OP_SCALAR_TENSOR;
  *ret = NULL;
  if (fills && which < count && is_at_run_time(r, &args[which]))
    return fill(r, at, op, args, count, which, ret);
  if (op == OP_SELECT && count == 3 && is_at_run_time(r, &args[2]) && args[0].kind == ARG_VALUE)
    return select_at(r, at, args, ret);
  if (operator_row(op)->class == CLASS_POINTWISE && operator_row(op)->results == 1)
    return pointwise(r, at, op, args, count, ret);
  return true;
}

void fx_note_real(struct reader *r, struct value *v) { ptrmap_put(r->arena, &r->reals, v, v); }

bool fx_complex_number(struct reader *r, struct span at, const struct arg *parts, size_t count,
                       struct arg *ret) {
  struct build b = {r->g, at};
  struct value *v[2];
  for (size_t i = 0; i < 2; i++) {
    int64_t whole = 0;
    bool is_whole = i < count && parts[i].kind == ARG_INT && expr_is_const(parts[i].number, &whole);
    if (count != 2 || (!is_whole && parts[i].kind != ARG_FLOAT)) {
      fx_error(r, at, E1001, "`complex` needs two numbers");
      return false;
    }
    v[i] = build_number(&b, is_whole ? (double)whole : parts[i].real, DTYPE_F32);
  }
  struct value *z = complex_of_parts(&b, v[0], v[1]);
  if (!z)
    return r->failed = true, false;
  fx_note_real(r, z);
  *ret = ARG_V(z);
  return true;
}

static struct value *tensor_of(struct reader *r, const struct arg *a, enum dtype t,
                               struct span at) {
  const struct arg args[] = {*a, ARG_D(t)};
  return graph_apply(r->g, OP_SCALAR_TENSOR, args, COUNT_OF(args), at);
}

static bool is_number(const struct arg *a) { return a->kind == ARG_INT || a->kind == ARG_BOOL; }

bool fx_predicate(struct reader *r, struct span at, struct arg *a) {
  if (!is_number(a))
    return true;
  struct arg args[] = {ARG_V(tensor_of(r, a, DTYPE_I64, at)), arg_int(r->g, 0)};
  struct value *v = args[0].value ? graph_apply(r->g, OP_NE_TENSOR, args, 2, at) : NULL;
  *a = ARG_V(v);
  return v || (r->failed = true, false);
}

// Tensors and numbers among arguments, which may be lists.
static void count(const struct arg *a, size_t *tensors, size_t *numbers) {
  *tensors += a->kind == ARG_VALUE;
  *numbers += is_number(a);
  for (size_t i = 0; a->kind == ARG_LIST && i < a->list.count; i++)
    count(&a->list.at[i], tensors, numbers);
}

bool fx_operands(struct reader *r, struct span at, enum operator_id op, struct arg *args,
                 size_t arg_count) {
  size_t tensors = 0, numbers = 0, none = 0;
  if (op == OP_ASSOCIATIVE_SCAN && arg_count > 1) // its subgraph takes two elements of each
    count(&args[1], &tensors, &none);
  const struct graph *sub = NULL;
  for (size_t i = 0; i < arg_count; i++)
    if (args[i].kind == ARG_GRAPH)
      sub = args[i].graph;
    else if (args[i].kind == ARG_LIST)
      count(&args[i], &tensors, &numbers);
  bool drops = sub && sub->inputs.len == tensors;
  for (size_t i = 0; sub && numbers && i < arg_count; i++) {
    if (args[i].kind != ARG_LIST)
      continue;
    struct arg list = {.kind = ARG_LIST};
    list.list.at = arena_array(r->arena, struct arg, args[i].list.count + 1);
    for (size_t k = 0; k < args[i].list.count; k++) {
      struct arg a = args[i].list.at[k];
      if (is_number(&a) && drops)
        continue; // a size, which the subgraph knows by name
      if (is_number(&a)) {
        a = ARG_V(tensor_of(r, &a, DTYPE_I64, at));
        if (a.kind == ARG_NONE)
          return r->failed = true, false;
      }
      list.list.at[list.list.count++] = a;
    }
    args[i] = list;
  }
  return true;
}

void fx_gather_operands(struct reader *r, enum operator_id op, struct arg *args, size_t *count) {
  size_t parameters;
  const struct parameter *ps = operator_parameters(op, &parameters);
  if (*count + 1 < parameters || !str_is(ps[parameters - 1].name, "operands") ||
      (*count == parameters && args[parameters - 1].kind == ARG_LIST))
    return;
  struct arg list = {.kind = ARG_LIST};
  list.list.count = *count + 1 - parameters;
  list.list.at = arena_array(r->arena, struct arg, list.list.count + 1);
  for (size_t i = 0; i < list.list.count; i++)
    list.list.at[i] = args[parameters - 1 + i];
  args[parameters - 1] = list;
  *count = parameters;
}
