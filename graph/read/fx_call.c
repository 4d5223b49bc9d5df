// SPDX-License-Identifier: Apache-2.0
// Parses calls of operators: binds arguments to parameters, evaluates sizes of tensors, records
// writes to inputs, reports unknown operators.
#include "graph/ir/complex.h"
#include "graph/ir/custom.h"
#include "graph/read/fx_reader.h"

#include <stdlib.h>

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

// Also without the suffix ".default".
static bool find_operator(struct reader *r, struct str name, enum operator_id *ret) {
  if (operator_find(name, ret))
    return true;
  const char *full = arena_printf(r->arena, "%.*s.default", STR_ARG(name));
  return full && operator_find(str_from(full), ret);
}

// "aten.add.Tensor" for "aten.add_.Tensor".
static bool find_written(struct reader *r, struct str name, enum operator_id *ret) {
  struct str space, base, overload = str_split(str_split(name, '.', &space), '.', &base);
  if (base.len < 2 || base.ptr[base.len - 1] != '_' || base.ptr[base.len - 2] == '_')
    return false;
  const char *plain = arena_printf(r->arena, "%.*s.%.*s.%.*s", STR_ARG(space), (int)base.len - 1,
                                   base.ptr, STR_ARG(overload.len ? overload : STR("default")));
  return operator_find(str_from(plain), ret) && operator_row(*ret)->results == 1;
}

static void note_unknown(struct reader *r, struct str name, struct span at) {
  size_t i = (size_t)(uintptr_t)map_get(&r->unknown_names, name);
  if (i == 0) {
    vec_push(r->arena, &r->unknown, (struct unknown_operator){name, 0, at});
    i = r->unknown.len;
    map_put(r->arena, &r->unknown_names, name, (void *)(uintptr_t)i);
  }
  r->unknown.at[i - 1].uses++;
}

static int by_uses(const void *a, const void *b) {
  const struct unknown_operator *x = a, *y = b;
  if (x->uses != y->uses)
    return x->uses < y->uses ? 1 : -1;
  return (x->span.begin > y->span.begin) - (x->span.begin < y->span.begin);
}

// Operators that cannot be supported, and why.
static const char *refusal(struct str name) {
  static const char *const sized[] = {"aten.nonzero.",       "aten.masked_select.",
                                      "aten._unique",        "aten.unique",
                                      "aten.bincount.",      "aten.item.",
                                      "aten._local_scalar_", "aten.repeat_interleave.Tensor"};
  static const char *const algebra[] = {
      "aten.linalg_",   "aten._linalg_", "aten.cholesky",    "aten.inverse.",
      "aten.pinverse.", "aten.det.",     "aten.logdet.",     "aten.slogdet.",
      "aten.lu_",       "aten._lu_",     "aten.qr.",         "aten.geqrf.",
      "aten.ormqr.",    "aten.orgqr.",   "aten.svd.",        "aten._svd",
      "aten.symeig.",   "aten.lstsq.",   "aten.matrix_exp.", "aten.triangular_solve."};
  for (size_t i = 0; i < COUNT_OF(sized); i++)
    if (str_starts(name, sized[i]))
      return "its result depends on the contents of a tensor, by its size or as a number";
  for (size_t i = 0; i < COUNT_OF(algebra); i++)
    if (str_starts(name, algebra[i]))
      return "linear algebra of matrices is not compiled: compute it before the graph (LAPACK, "
             "cuSOLVER) and pass its results as inputs, or write it as products, as "
             "Newton-Schulz iterations are";
  return NULL;
}

// What the message says about one operator.
static bool note_unknown_operator(struct diag *d, const struct unknown_operator *u) {
  const char *why = refusal(u->name), *near = why ? NULL : operator_nearest(u->name);
  if (why)
    diag_note(d, u->span, "`%.*s`: %s", STR_ARG(u->name), why);
  else if (near)
    diag_note(d, u->span, "the closest name to `%.*s` is `%s`", STR_ARG(u->name), near);
  return why || near;
}

void fx_report_unknown(struct reader *r) {
  enum { SHOWN = 40, NEAR = 8 };
  if (r->unknown.len == 0)
    return;
  struct strbuf names = {.arena = r->arena};
  struct span first = r->unknown.at[0].span;
  qsort(r->unknown.at, r->unknown.len, sizeof *r->unknown.at, by_uses);
  for (size_t i = 0; i < r->unknown.len && i < SHOWN; i++)
    strbuf_printf(&names, "%s`%.*s` (%u)", i ? ", " : "", STR_ARG(r->unknown.at[i].name),
                  r->unknown.at[i].uses);
  if (r->unknown.len > SHOWN)
    strbuf_printf(&names, " and %zu more", r->unknown.len - SHOWN);
  struct diag *d = diag_error(r->diag, first, E1002, "%zu unknown operator%s: %s", r->unknown.len,
                              r->unknown.len == 1 ? "" : "s", strbuf_cstr(&names));
  strbuf_finish(&names);
  size_t shown = 0;
  for (size_t i = 0; i < r->unknown.len && i < SHOWN && shown < NEAR; i++)
    shown += note_unknown_operator(d, &r->unknown.at[i]);
  diag_help(d, "docs/operators.md lists the operators; let PyTorch decompose others before the "
               "graph is printed, or register them (tile/operator.h)");
}

// ---- arguments ----

enum { CALL_MAX_ARGS = 256 };

struct call {
  struct str name;
  struct span at;
  const struct custom_operator *custom; // NULL: one of the table
  size_t count, by_name;
  struct arg args[CALL_MAX_ARGS]; // positional ones, then keyword arguments
  struct str names[CALL_MAX_ARGS];
  struct span spans[CALL_MAX_ARGS];
};

static bool argument(struct reader *r, struct call *c) {
  size_t first = r->pos, i = c->count;
  if (i == CALL_MAX_ARGS) {
    fx_error(r, fx_span(r, first, first + 1), E1003, "too many arguments for `%.*s`",
             STR_ARG(c->name));
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

static bool put_named(struct reader *r, const struct call *c, size_t i, const struct parameter *ps,
                      size_t count, struct arg *args, bool *given) {
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
      diag_help(d, "did you mean `%s`?", near);
    return false;
  }
  if (given[p]) {
    fx_error(r, c->spans[i], E1003, "`%.*s` is given twice", STR_ARG(c->names[i]));
    return false;
  }
  args[p] = c->args[i];
  given[p] = true;
  return true;
}

// Fills one argument for each parameter, up to the last one given.
static bool bind(struct reader *r, const struct call *c, const struct parameter *ps, size_t count,
                 struct arg *args, size_t *ret_count) {
  size_t last = 0;
  bool given[OPERATOR_MAX_PARAMETERS] = {false};
  size_t positional = c->count - c->by_name;
  if (c->count > count) {
    fx_error(r, c->spans[count], E1003, "`%.*s` takes %zu argument%s", STR_ARG(c->name), count,
             count == 1 ? "" : "s");
    return false;
  }
  for (size_t i = 0; i < positional; i++) {
    args[i] = c->args[i];
    given[i] = true;
  }
  for (size_t i = positional; i < c->count; i++)
    if (!put_named(r, c, i, ps, count, args, given))
      return false;
  for (size_t p = 0; p < count; p++)
    if (given[p])
      last = p + 1;
  for (size_t p = 0; p < count; p++) {
    if (given[p])
      continue;
    if (!ps[p].has_default) {
      fx_error(r, c->at, E1003, "`%.*s` needs an argument `%.*s`", STR_ARG(c->name),
               STR_ARG(ps[p].name));
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

// ---- writes to inputs ----

// copy_(input, src): from here on the input's value is `src`, also after the run.
static bool write_input(struct reader *r, const struct arg *args, struct span at,
                        struct binding *ret) {
  struct value *input = args[0].kind == ARG_VALUE ? args[0].value : NULL;
  if (!input || input->def) {
    diag_help(fx_error(r, at, E1008, "a write to a tensor that is not an input of the graph"),
              "make the graph functional, as `run_decompositions()` does");
    return false;
  }
  if (input->complex || complex_in(args + 1, 1)) {
    diag_help(fx_error(r, at, E1008, "a write to a complex input"),
              "return the new value instead, and copy it after the run");
    return false;
  }
  struct value *v = args[1].kind == ARG_VALUE ? args[1].value : NULL;
  bool same = v && v->dtype == input->dtype && v->rank == input->rank;
  for (uint32_t i = 0; same && i < v->rank; i++)
    same = v->shape[i] == input->shape[i];
  if (!same)
    v = graph_apply(r->g, OP_COPY, args, 2, at);
  if (!v)
    return r->failed = true, false;
  size_t index = (size_t)(uintptr_t)ptrmap_get(&r->written, input);
  if (index) {
    r->g->mutations.at[index - 1].value = v;
  } else {
    graph_add_mutation(r->g, input, v);
    ptrmap_put(r->arena, &r->written, input, (void *)(uintptr_t)r->g->mutations.len);
  }
  *ret = (struct binding){.kind = BOUND_VALUE, .value = v};
  return true;
}

// ---- operators ----

void fx_note_base(struct reader *r, const struct value *v) {
  struct value *base = NULL;
  const struct node *n = v->def;
  if (n && n->arg_count && n->args[0].kind == ARG_VALUE &&
      operator_row(n->op)->class == CLASS_VIEW) {
    const struct value *of = n->args[0].value;
    base = !of->def ? n->args[0].value : of->id < r->bases.len ? r->bases.at[of->id] : NULL;
  }
  while (r->bases.len <= v->id)
    vec_push(r->arena, &r->bases, NULL);
  r->bases.at[v->id] = base;
}

static bool note_results(struct reader *r, const struct node *n, struct span at) {
  for (uint32_t i = 0; i < n->result_count; i++) {
    if (!n->results[i])
      continue;
    fx_note_base(r, n->results[i]);
    if (!fx_check_size(r, n->results[i], at))
      return false;
  }
  return true;
}

static bool append(struct reader *r, const struct call *c, enum operator_id op,
                   struct binding *ret) {
  struct arg args[OPERATOR_MAX_PARAMETERS] = {{0}};
  size_t count = 0, parameters = c->custom ? c->custom->count : 0;
  const struct parameter *ps =
      c->custom ? c->custom->parameters : operator_parameters(op, &parameters);
  if (!bind(r, c, ps, parameters, args, &count))
    return false;
  if (op == OP_COPY_)
    return write_input(r, args, c->at, ret);
  if (r->g->nodes.len >= GRAPH_MAX_NODES) {
    fx_error(r, c->at, E1009, "more than %d operators", GRAPH_MAX_NODES);
    return false;
  }
  size_t first = r->g->nodes.len;
  uint32_t values = r->g->value_count;
  struct node *n = c->custom ? graph_append_custom(r->g, c->custom, args, count, c->at)
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
  for (size_t i = first; i < r->g->nodes.len; i++) // several if it is composed
    if (!note_results(r, r->g->nodes.at[i], c->at))
      return false;
  *ret = is_tuple ? (struct binding){.kind = BOUND_TUPLE, .tuple = n}
                  : (struct binding){.kind = BOUND_VALUE, .value = n->results[0]};
  return true;
}

// x.op_(..): the operator on the current value of x, written to x in its dtype.
static bool append_written(struct reader *r, struct call *c, enum operator_id op,
                           struct binding *ret) {
  struct value *input = c->count && c->args[0].kind == ARG_VALUE ? c->args[0].value : NULL;
  struct arg args[] = {ARG_V(input), {0}};
  if (input && !input->def) {
    c->args[0] = ARG_V(fx_current(r, input));
    if (!append(r, c, op, ret))
      return false;
    args[1] = ARG_V(ret->value);
  }
  return write_input(r, args, c->at, ret);
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
  else if (special == SPECIAL_NONE && !find_operator(r, c.name, &op) &&
           !(writes = find_written(r, c.name, &op))) {
    note_unknown(r, c.name, c.at);
    return fx_skip_brackets(r);
  }
  if (!arguments(r, special == SPECIAL_NONE && (op == OP_COPY_ || writes), &c))
    return false;
  if (r->is_poisoned)
    return true;
  if (special == SPECIAL_NONE && str_starts(c.name, "higher_order.")) {
    if (!c.by_name)
      fx_gather_operands(r, op, c.args, &c.count);
    if (op == OP_COND && c.count && !fx_predicate(r, c.at, &c.args[0]))
      return false;
    if (op != OP_FLEX_ATTENTION && !fx_operands(r, c.at, c.args, c.count))
      return false;
  }
  if (special == SPECIAL_NOTHING)
    return *ret = (struct binding){.kind = BOUND_NONE}, true;
  bool ok = special != SPECIAL_NONE ? ask_tensor(r, &c, special, ret)
            : writes                ? append_written(r, &c, op, ret)
                                    : append(r, &c, op, ret);
  ret->span = c.at;
  return ok;
}
