// SPDX-License-Identifier: Apache-2.0
// Parses calls of operators: binds arguments to parameters, evaluates sizes of tensors, appends
// operators.
#include "graph/ir/complex.h"
#include "graph/ir/custom.h"
#include "graph/read/fx_reader.h"

#include <stdio.h>

// ---- names of operators ----

static bool is_space(struct str s) {
  return str_is(s, "aten") || str_is(s, "prims") || str_is(s, "quantized_decomposed");
}

bool fx_at_operator(const struct reader *r) {
  if (fx_peek(r) != TOK_NAME || fx_peek_behind(r) != TOK_DOT)
    return false;
  struct str first = fx_text(r, r->pos);
  if (is_space(first))
    return !map_get(&r->names, first);
  return str_is(first, "torch") && r->at[r->pos + 2].kind == TOK_NAME &&
         str_is(fx_text(r, r->pos + 2), "ops");
}

// "aten.add.Tensor", after `torch.ops.`.
static bool operator_name(struct reader *r, struct str *ret, struct span *ret_at) {
  if (str_is(fx_text(r, r->pos), "torch"))
    r->pos += 4; // torch . ops .
  size_t first = r->pos;
  do {
    if (fx_peek(r) != TOK_NAME && !token_kind_is_keyword(fx_peek(r)))
      return fx_unexpected(r, "expected the name of an operator");
    r->pos++;
  } while (fx_accept(r, TOK_DOT));
  *ret_at = fx_span(r, first, r->pos);
  *ret = (struct str){r->source->text.ptr + ret_at->begin, ret_at->end - ret_at->begin};
  return true;
}

enum { NAME_BYTES = 256 }; // longer than any operator's name

// Also without the suffix ".default".
static bool find_operator(struct str name, enum operator_id *ret) {
  char full[NAME_BYTES];
  if (name.len + sizeof ".default" > sizeof full)
    return false;
  snprintf(full, sizeof full, "%.*s.default", STR_ARG(name));
  return operator_find(name, ret) || operator_find(str_from(full), ret);
}

// "aten.add.Tensor" for "aten.add_.Tensor".
static bool find_written(struct str name, enum operator_id *ret) {
  struct str space, base, overload = str_split(str_split(name, '.', &space), '.', &base);
  if (base.len < 2 || base.ptr[base.len - 1] != '_' || base.ptr[base.len - 2] == '_')
    return false;
  char plain[NAME_BYTES];
  if (name.len + sizeof ".default" > sizeof plain)
    return false;
  if (str_is(name, "aten.transpose_.default"))
    overload = STR("int");
  snprintf(plain, sizeof plain, "%.*s.%.*s.%.*s", STR_ARG(space), (int)base.len - 1, base.ptr,
           STR_ARG(overload.len ? overload : STR("default")));
  return operator_find(str_from(plain), ret) && operator_row(*ret)->results == 1;
}

// ---- arguments ----

enum { CALL_MAX_ARGS = 256 };

struct call {
  struct str name;
  struct span at;
  const struct custom_operator *custom; // NULL: one of the table
  size_t count, by_name;
  struct value *variables[CALL_MAX_ARGS]; // of arguments that are tensors
  struct arg args[CALL_MAX_ARGS];         // positional ones, then keyword arguments
  struct str names[CALL_MAX_ARGS];
  struct span spans[CALL_MAX_ARGS];
};

static bool argument(struct reader *r, struct call *c) {
  size_t first = r->pos, i = c->count;
  if (i == CALL_MAX_ARGS) {
    diag_help(fx_error(r, fx_span(r, first, first + 1), E1003, "too many arguments for `%.*s`",
                       STR_ARG(c->name)),
              "remove it: `tilec explain E1003`");
    return false;
  }
  if (fx_peek(r) == TOK_NAME && fx_peek_behind(r) == TOK_ASSIGN) {
    c->names[i] = fx_text(r, first);
    r->pos += 2;
    c->by_name++;
  } else if (c->by_name) {
    return fx_unexpected(r, "expected a keyword argument");
  }
  if (!fx_value(r, &c->args[i]))
    return false;
  c->variables[i] = c->args[i].kind == ARG_VALUE ? r->variable : NULL;
  c->spans[i] = fx_span(r, first, r->pos);
  c->count++;
  return true;
}

// `writes`: the first argument is an input itself, not its current value.
static bool arguments(struct reader *r, bool writes, struct call *c) {
  if (!fx_expect(r, TOK_LPAREN))
    return false;
  while (fx_peek(r) != TOK_RPAREN) {
    r->is_target = writes && c->count == 0;
    bool ok = argument(r, c);
    r->is_target = false;
    if (!ok)
      return false;
    if (!fx_accept(r, TOK_COMMA))
      break;
  }
  return fx_expect(r, TOK_RPAREN);
}

// Of a name that points into the source.
static struct span name_span(const struct reader *r, struct str name) {
  const char *text = r->source->text.ptr;
  if (name.ptr < text || name.ptr >= text + r->source->text.len)
    return SPAN_NONE;
  uint32_t begin = (uint32_t)(name.ptr - text);
  return (struct span){r->source, begin, begin + (uint32_t)name.len};
}

static bool put_named(struct reader *r, const struct call *c, size_t i, const struct parameter *ps,
                      size_t count, struct arg *args, struct value **variables, bool *given) {
  size_t p = 0;
  while (p < count && !str_eq(ps[p].name, c->names[i]))
    p++;
  if (p == count) {
    const char *names[OPERATOR_MAX_PARAMETERS];
    for (size_t k = 0; k < count; k++)
      names[k] = arena_strndup(r->arena, ps[k].name.ptr, ps[k].name.len);
    const char *near = str_nearest(c->names[i], names, count);
    struct diag *d = fx_error(r, c->spans[i], E1003, "`%.*s` has no parameter `%.*s`",
                              STR_ARG(c->name), STR_ARG(c->names[i]));
    if (near)
      diag_did_you_mean(d, name_span(r, c->names[i]), near);
    return false;
  }
  if (given[p]) {
    diag_help(fx_error(r, c->spans[i], E1003, "`%.*s` is given twice", STR_ARG(c->names[i])),
              "remove one of the two");
    return false;
  }
  args[p] = c->args[i];
  variables[p] = c->variables[i];
  given[p] = true;
  return true;
}

// Fills one argument for each parameter, up to the last one given.
static bool bind(struct reader *r, const struct call *c, const struct parameter *ps, size_t count,
                 struct arg *args, struct value **variables, size_t *ret_count) {
  size_t last = 0;
  bool given[OPERATOR_MAX_PARAMETERS] = {false};
  size_t positional = c->count - c->by_name;
  if (c->count > count) {
    diag_help(fx_error(r, c->spans[count], E1003, "`%.*s` takes %zu argument%s", STR_ARG(c->name),
                       count, count == 1 ? "" : "s"),
              "remove what is too much");
    return false;
  }
  for (size_t i = 0; i < positional; i++) {
    args[i] = c->args[i];
    variables[i] = c->variables[i];
    given[i] = true;
  }
  for (size_t i = positional; i < c->count; i++)
    if (!put_named(r, c, i, ps, count, args, variables, given))
      return false;
  for (size_t p = 0; p < count; p++)
    if (given[p])
      last = p + 1;
  for (size_t p = 0; p < count; p++) {
    if (given[p])
      continue;
    if (!ps[p].has_default) {
      diag_help(fx_error(r, c->at, E1003, "`%.*s` needs an argument `%.*s`", STR_ARG(c->name),
                         STR_ARG(ps[p].name)),
                "add it, such as `%.*s=...`", STR_ARG(ps[p].name));
      return false;
    }
    if (p < last)
      args[p] = parameter_default(r->g, &ps[p]);
  }
  *ret_count = last;
  return true;
}

// ---- calls that append no operator ----

enum special {
  SPECIAL_NONE,
  SPECIAL_SIZE,
  SPECIAL_STRIDE,
  SPECIAL_NUMEL,
  SPECIAL_OFFSET,
  SPECIAL_ITEM,
  SPECIAL_NOTHING
};

static enum special special_of(struct str name) {
  static const struct {
    const char *name;
    enum special special;
  } specials[] = {
      {"aten.sym_size.int", SPECIAL_SIZE},
      {"aten.sym_stride.int", SPECIAL_STRIDE},
      {"aten.sym_numel.default", SPECIAL_NUMEL},
      {"aten.sym_storage_offset.default", SPECIAL_OFFSET},
      {"aten._assert_tensor_metadata.default", SPECIAL_NOTHING},
      {"aten._assert_async.msg", SPECIAL_NOTHING}, // assertions are ignored
      {"aten._assert_async.default", SPECIAL_NOTHING},
      {"aten._assert_scalar.default", SPECIAL_NOTHING},
      {"aten.sym_constrain_range.default", SPECIAL_NOTHING},
      {"aten.sym_constrain_range_for_size.default", SPECIAL_NOTHING},
      {"aten.item.default", SPECIAL_ITEM},
      {"aten._local_scalar_dense.default", SPECIAL_ITEM},
  };
  for (size_t i = 0; i < COUNT_OF(specials); i++)
    if (str_is(name, specials[i].name))
      return specials[i].special;
  return SPECIAL_NONE;
}

static bool ask_tensor(struct reader *r, const struct call *c, enum special what,
                       struct binding *ret) {
  struct value *v = c->count && c->args[0].kind == ARG_VALUE ? c->args[0].value : NULL;
  bool wants_dim = what == SPECIAL_SIZE || what == SPECIAL_STRIDE;
  int64_t dim = 0;
  if (!v || c->count != 1 + (size_t)wants_dim ||
      (wants_dim && (c->args[1].kind != ARG_INT || !expr_is_const(c->args[1].number, &dim)))) {
    fx_error(r, c->at, E1003, "`%.*s` needs a tensor%s", STR_ARG(c->name),
             wants_dim ? " and a dimension" : "");
    return false;
  }
  dim += dim < 0 ? v->rank : 0;
  if (wants_dim && (dim < 0 || dim >= v->rank)) {
    fx_error(r, c->spans[1], E1003, "`%s` has %u dimensions", v->name, v->rank);
    return false;
  }
  const struct expr *e = what == SPECIAL_SIZE     ? v->shape[dim]
                         : what == SPECIAL_STRIDE ? v->strides[dim]
                         : what == SPECIAL_NUMEL  ? value_numel(r->g->exprs, v)
                                                  : expr_const(r->g->exprs, 0);
  *ret = (struct binding){.kind = BOUND_NUMBER, .number = ARG_E(e)};
  return true;
}

// ---- operators ----

// Composite operators whose result may be a part of their operand, or the operand itself.
static bool may_alias(enum operator_id op) {
  static const enum operator_id ids[] = {OP_LIFT_FRESH,
                                         OP_POSITIVE,
                                         OP_REAL,
                                         OP_CONJ,
                                         OP_CONJ_VIEW,
                                         OP_RESOLVE_CONJ,
                                         OP_DROPOUT,
                                         OP_FLATTEN,
                                         OP_CHUNK,
                                         OP_NARROW,
                                         OP_EXPAND_AS,
                                         OP_VIEW_AS,
                                         OP_UNFLATTEN,
                                         OP_NUMPY_T,
                                         OP_MOVEDIM,
                                         OP_TYPE_AS,
                                         OP_RESHAPE_AS,
                                         OP_MATRIX_T,
                                         OP_SWAPAXES,
                                         OP_SWAPDIMS,
                                         OP_TO_DTYPE,
                                         OP_TO_LAYOUT,
                                         OP_TO_DEVICE,
                                         OP_TO_OTHER,
                                         OP_CONTIGUOUS,
                                         OP_RESOLVE_NEG,
                                         OP_TENSOR_SPLIT,
                                         OP_UNSAFE_SPLIT,
                                         OP_UNSAFE_SPLIT_WITH_SIZES,
                                         OP_SPLIT_SIZES,
                                         OP_TENSOR_SPLIT_INDICES,
                                         OP_RAVEL,
                                         OP_MOVEDIMS,
                                         OP_MOVEAXES,
                                         OP_ADJOINT,
                                         OP_CONJUGATE_T,
                                         OP_MATRIX_H};
  if (operator_row(op)->class == CLASS_VIEW)
    return true;
  for (size_t i = 0; i < COUNT_OF(ids); i++)
    if (ids[i] == op)
      return true;
  return false;
}

// Views in PyTorch that are composed of operators that are not.
static bool is_composed_view(enum operator_id op, const struct arg *args) {
  return op == OP_UNFOLD || op == OP_VIEW_DTYPE || op == OP_NEG_VIEW || op == OP_VIEW_AS_COMPLEX ||
         op == OP_VIEW_AS_REAL || op == OP_IMAG ||
         (op == OP_REAL && args[0].kind == ARG_VALUE && args[0].value->complex);
}

// What each result of a node is a view of. `operand`: of the call; `variable` is its variable.
static void note_view(struct reader *r, const struct node *n, const struct value *operand,
                      struct value *variable) {
  if (operator_row(n->op)->class != CLASS_VIEW || n->args[0].kind != ARG_VALUE)
    return;
  struct value *of = n->args[0].value;
  // PyTorch's `reshape` of other tensors is mostly a copy.
  if (n->op == OP_RESHAPE && !value_is_contiguous(r->g->exprs, of))
    return;
  for (uint32_t i = 0; i < n->result_count; i++)
    if (n->results[i])
      fx_note_view(r, n->results[i], of == operand ? variable : of);
}

static bool check_sizes(struct reader *r, const struct node *n, struct span at) {
  for (uint32_t i = 0; i < n->result_count; i++)
    if (n->results[i] && !fx_check_size(r, n->results[i], at))
      return false;
  return true;
}

static bool append(struct reader *r, const struct call *c, enum operator_id op,
                   struct binding *ret) {
  struct arg args[OPERATOR_MAX_PARAMETERS] = {{0}};
  size_t count = 0, parameters = c->custom ? c->custom->count : 0;
  const struct parameter *ps =
      c->custom ? c->custom->parameters : operator_parameters(op, &parameters);
  struct value *made = NULL, *variables[OPERATOR_MAX_PARAMETERS] = {NULL};
  if (!bind(r, c, ps, parameters, args, variables, &count) ||
      (!c->custom && !fx_append_at_run_time(r, c->at, op, args, count, &made)))
    return false;
  if (made)
    return *ret = (struct binding){.kind = BOUND_VALUE, .value = made}, true;
  if (!fx_check_sizes(r, c->at, c->name, ps, args, count))
    return false;
  if (r->g->nodes.len >= GRAPH_MAX_NODES) {
    fx_error(r, c->at, E1009, "more than %d operators", GRAPH_MAX_NODES);
    return false;
  }
  size_t first = r->g->nodes.len;
  uint32_t values = r->g->value_count;
  struct node *n = c->custom ? graph_append_custom(r->g, c->custom, args, count, c->at)
                   : fx_writes_statistics(op, args, count)
                       ? fx_append_statistics(r, c->at, op, args, variables)
                       : graph_append(r->g, op, args, count, c->at);
  if (!n)
    return r->failed = true, false;
  bool is_tuple = (c->custom ? c->custom->results : operator_row(op)->results) != 1;
  if (!is_tuple && n->results[0]->id < values) { // composed of nothing: the result has its own name
    const struct arg whole = ARG_V(n->results[0]);
    n->results[0] = graph_apply(r->g, OP_ALIAS, &whole, 1, c->at);
    if (!n->results[0])
      return r->failed = true, false;
  }
  if (r->g->value_count > FX_MAX_VALUES) {
    fx_error(r, c->at, E1009, "more than %d tensors", FX_MAX_VALUES);
    return false;
  }
  bool shares = !c->custom && may_alias(op);
  for (size_t i = first; i < r->g->nodes.len; i++) { // several if it is composed
    if (!check_sizes(r, r->g->nodes.at[i], c->at))
      return false;
    if (shares)
      note_view(r, r->g->nodes.at[i], args[0].value, variables[0]);
  }
  if (!c->custom && is_composed_view(op, args) && variables[0])
    fx_note_composed_view(r, n->results[0], variables[0], op, args, count);
  *ret = is_tuple ? (struct binding){.kind = BOUND_TUPLE, .tuple = n}
                  : (struct binding){.kind = BOUND_VALUE, .value = n->results[0]};
  return true;
}

// ---- writes ----

// `new` in the dtype and shape of the variable.
static struct value *as_written(struct reader *r, struct value *v, struct value *new,
                                struct span at) {
  bool same = new->dtype == v->dtype &&new->rank == v->rank;
  for (uint32_t i = 0; same && i < v->rank; i++)
    same = new->shape[i] == v->shape[i];
  if (same)
    return new;
  const struct arg args[] = {ARG_V(v), ARG_V(new)};
  return graph_apply(r->g, OP_COPY, args, 2, at);
}

// x.op_(..) changes no element: from here on x is the view.
static bool changes_shape(enum operator_id op) {
  return (operator_row(op)->class == CLASS_VIEW && op != OP_DETACH) || op == OP_SWAPAXES ||
         op == OP_SWAPDIMS;
}

// x.op_(..): the operator on the present value of x, written to x in its dtype; x.copy_(y).
static bool append_written(struct reader *r, struct call *c, enum operator_id op,
                           struct binding *ret) {
  struct value *x = c->count && c->args[0].kind == ARG_VALUE ? c->args[0].value : NULL;
  bool is_copy = op == OP_COPY_;
  if (!x || (is_copy && (c->count < 2 || c->args[1].kind != ARG_VALUE))) {
    fx_error(r, c->at, E1003, "`%.*s` needs %s", STR_ARG(c->name), x ? "two tensors" : "a tensor");
    return false;
  }
  if (changes_shape(op)) {
    c->args[0] = ARG_V(fx_current(r, x));
    if (!c->args[0].value || !append(r, c, op, ret))
      return false;
    if (ret->value != x)
      ptrmap_put(r->arena, &r->reshaped, x, ret->value);
    return true;
  }
  if (x->complex || complex_in(c->args, c->count)) {
    diag_help(fx_error(r, c->at, E1008, "a write to a complex tensor"),
              "return the new value instead, and copy it after the run");
    return false;
  }
  struct value *new = c->args[1].value;
  if (!is_copy) {
    struct value *now = fx_current(r, x);
    c->args[0] = ARG_V(now);
    if (!now || !append(r, c, op, ret))
      return false;
    new = ret->value;
  }
  if (op == OP_DETACH)
    return true;
  new = as_written(r, x, new, c->at);
  if (!new)
    return r->failed = true, false;
  *ret = (struct binding){.kind = BOUND_VALUE, .value = x};
  return fx_write(r, x, new, c->at);
}

bool fx_has_operator(struct str name) {
  enum operator_id op;
  return custom_find(name) || special_of(name) != SPECIAL_NONE || find_operator(name, &op) ||
         find_written(name, &op);
}

bool fx_call(struct reader *r, struct binding *ret) {
  struct call c;
  enum operator_id op = OPERATOR_COUNT;
  c.count = c.by_name = 0;
  *ret = (struct binding){.kind = BOUND_WRONG};
  if (!operator_name(r, &c.name, &c.at))
    return false;
  enum special special = special_of(c.name);
  bool writes = false;
  c.custom = custom_find(c.name);
  if (c.custom)
    op = OP_CUSTOM;
  else if (special == SPECIAL_NONE && !find_operator(c.name, &op) &&
           !(writes = find_written(c.name, &op))) {
    fx_note_unknown(r, c.name, c.at);
    return fx_skip_brackets(r);
  }
  if (!arguments(r, special == SPECIAL_NONE && (op == OP_COPY_ || writes), &c))
    return false;
  if (r->is_poisoned)
    return true;
  bool is_flex = op == OP_FLEX_ATTENTION || op == OP_FLEX_ATTENTION_BACKWARD;
  if (special == SPECIAL_NONE && str_starts(c.name, "higher_order.")) {
    if (!c.by_name)
      fx_gather_operands(r, op, c.args, &c.count);
    if (op == OP_COND && c.count && !fx_predicate(r, c.at, &c.args[0]))
      return false;
    if (!is_flex && !fx_operands(r, c.at, op, c.args, c.count))
      return false;
  }
  fx_tensor_overload(r, c.name, c.args, c.count, &op);
  if (special == SPECIAL_NOTHING)
    return *ret = (struct binding){.kind = BOUND_NONE}, true;
  bool ok = special == SPECIAL_ITEM    ? fx_item(r, c.at, c.count ? c.args[0].value : NULL, ret)
            : special != SPECIAL_NONE  ? ask_tensor(r, &c, special, ret)
            : writes || op == OP_COPY_ ? append_written(r, &c, op, ret)
                                       : append(r, &c, op, ret);
  ret->span = c.at;
  return ok;
}
