// SPDX-License-Identifier: Apache-2.0
// Appends operators: fits arguments to parameters; composed operators append others instead.
#include "graph/ir/complex.h"
#include "graph/ir/compose_dropout.h"
#include "graph/ir/compose_mask_write.h"
#include "graph/ir/custom.h"
#include "graph/ir/graph.h"
#include "graph/ir/graph_build.h"
#include "graph/ir/graph_operators.h"

// ---- arguments against parameters ----

struct signature {
  const char *name, *parameters;
  const struct parameter *at;
  size_t count;
};

static const char *describe_type(char type) {
  switch (type) {
  case 'T': return "tensor";
  case 'N': return "tensor or number";
  case 'S': return "number";
  case 'i': return "integer";
  case 'f': return "float";
  case 'b': return "truth value";
  case 'd': return "dtype";
  case 'G': return "graph";
  default: return "word";
  }
}

static const char *describe_arg(const struct arg *a) {
  switch (a->kind) {
  case ARG_NONE: return "None";
  case ARG_VALUE: return "a tensor";
  case ARG_INT: return "an integer";
  case ARG_FLOAT: return "a float";
  case ARG_BOOL: return "a truth value";
  case ARG_DTYPE: return "a dtype";
  case ARG_COMPLEX: return "a complex dtype";
  case ARG_STRING: return "a word";
  case ARG_GRAPH: return "a graph";
  default: return "a list";
  }
}

static bool is_of_type(const struct arg *a, char type) {
  bool is_number = a->kind == ARG_INT || a->kind == ARG_FLOAT || a->kind == ARG_BOOL;
  switch (type) {
  case 'T': return a->kind == ARG_VALUE;
  case 'N': return a->kind == ARG_VALUE || is_number;
  case 'S': return is_number;
  case 'i': return a->kind == ARG_INT;
  case 'f': return a->kind == ARG_FLOAT || a->kind == ARG_INT;
  case 'b': return a->kind == ARG_BOOL;
  case 'd': return a->kind == ARG_DTYPE || a->kind == ARG_COMPLEX;
  case 'G': return a->kind == ARG_GRAPH;
  case 'A': return true;
  default: return a->kind == ARG_STRING;
  }
}

static void say_expected(struct graph *g, const struct signature *row, const struct parameter *p,
                         const char *what, struct span at) {
  const char *article = p->type == 'i' && !p->is_list ? "an" : "a";
  struct diag *d =
      diag_error(g->diag, at, E1003, "`%.*s` of `%s` is %s %s%s%s, not %s", STR_ARG(p->name),
                 row->name, article, p->is_list ? "list, each a " : "", describe_type(p->type),
                 p->is_optional ? " or None" : "", what);
  diag_help(d, "its parameters are: %s", row->parameters);
}

// A copy of the argument in the parameter's form; one element counts as a list of one.
static bool fit_arg(struct graph *g, const struct signature *row, const struct parameter *p,
                    const struct arg *a, struct arg *ret, struct span at) {
  *ret = *a;
  if (a->kind == ARG_NONE && p->is_optional)
    return true;
  if (!p->is_list) {
    if (is_of_type(a, p->type))
      return true;
    say_expected(g, row, p, describe_arg(a), at);
    return false;
  }
  const struct arg *from = a->kind == ARG_LIST ? a->list.at : a;
  size_t count = a->kind == ARG_LIST ? a->list.count : 1;
  *ret = (struct arg){.kind = ARG_LIST};
  if (count > LIMIT_GRAPH_OPERANDS)
    return limit_error(g->diag, at, LIMIT_ID_GRAPH_OPERANDS, count);
  ret->list.count = count;
  ret->list.at = arena_array(g->arena, struct arg, count);
  for (size_t i = 0; i < count; i++) {
    if (!is_of_type(&from[i], p->type) && !(from[i].kind == ARG_NONE && p->has_optional_elements)) {
      const char *where = a->kind == ARG_LIST ? "one that holds " : "";
      say_expected(g, row, p, arena_printf(g->arena, "%s%s", where, describe_arg(&from[i])), at);
      return false;
    }
    ret->list.at[i] = from[i];
  }
  return true;
}

static bool fit_args(struct graph *g, const struct signature *row, const struct arg *args,
                     size_t arg_count, struct arg *ret, struct span at) {
  if (arg_count > row->count) {
    struct diag *d = diag_error(g->diag, at, E1003, "`%s` takes %zu arguments, %zu are given",
                                row->name, row->count, arg_count);
    diag_help(d, "its parameters are: %s", row->parameters);
    return false;
  }
  for (size_t i = 0; i < row->count; i++) {
    const struct parameter *p = &row->at[i];
    if (i >= arg_count && !p->has_default) {
      struct diag *d = diag_error(g->diag, at, E1003, "`%s` needs an argument `%.*s`", row->name,
                                  STR_ARG(p->name));
      diag_help(d, "its parameters are: %s", row->parameters);
      return false;
    }
    if (i >= arg_count)
      ret[i] = parameter_default(g, p);
    else if (!fit_arg(g, row, p, &args[i], &ret[i], at))
      return false;
  }
  return true;
}

// ---- nodes ----

// "mul" for "aten.mul.Tensor", then "mul_1", "mul_2"; may clash with another name
// (graph/ir/graph_print.c resolves that).
static const char *make_name(struct graph *g, const struct operator_row *row) {
  struct str part, name;
  str_split(str_split(str_from(row->name), '.', &part), '.', &name);
  uint32_t number = g->made[row->id]++;
  return number == 0 ? arena_strndup(g->arena, name.ptr, name.len)
                     : arena_printf(g->arena, "%.*s_%u", STR_ARG(name), number);
}

// Sizes, offsets and steps stay below 2^46, so that sums of a few of them do not overflow.
static bool is_in_range(const struct arg *a) {
  const int64_t most = (int64_t)1 << 46;
  int64_t n;
  if (a->kind == ARG_LIST) {
    for (size_t i = 0; i < a->list.count; i++)
      if (!is_in_range(&a->list.at[i]))
        return false;
    return true;
  }
  return a->kind != ARG_INT || !expr_is_const(a->number, &n) || (n >= -most && n <= most);
}

// PyTorch writes a slice without an end with the largest integer.
static bool is_to_the_end(const struct parameter *p, const struct arg *a) {
  return str_is(p->name, "end") && a->kind == ARG_INT && expr_is(a->number, INT64_MAX);
}

static bool check_integers(struct graph *g, const struct operator_row *row, const struct node *n) {
  size_t count;
  const struct parameter *p = operator_parameters(row->id, &count);
  for (size_t i = 0; i < count; i++)
    if (p[i].type == 'i' && !is_to_the_end(&p[i], &n->args[i]) && !is_in_range(&n->args[i])) {
      diag_help(diag_error(g->diag, n->span, E1004, "`%s`: `%.*s` is larger than any tensor",
                           row->name, STR_ARG(p[i].name)),
                "write a size of the tensors");
      return false;
    }
  return true;
}

// Is a tensor missing, after an error that is recorded?
static bool has_missing(const struct arg *args, size_t count) {
  for (size_t i = 0; i < count; i++)
    if ((args[i].kind == ARG_VALUE && !args[i].value) ||
        (args[i].kind == ARG_LIST && has_missing(args[i].list.at, args[i].list.count)))
      return true;
  return false;
}

// Appends others instead; afterwards every result exists or an error is recorded.
static bool compose(struct graph *g, const struct operator_row *row, compose_fn append,
                    struct node *n) {
  unsigned errors = diag_error_count(g->diag);
  struct build b = {g, n->span};
  n->name = make_name(g, row);
  if (!check_integers(g, row, n))
    return false;
  append(&b, n);
  if (diag_error_count(g->diag) > errors)
    return false;
  for (uint32_t i = 0; i < n->result_count; i++)
    if (n->results[i])
      return true;
  diag_error(g->diag, n->span, E1004, "`%s` has no result for these arguments", row->name);
  return false;
}

struct node *graph_append(struct graph *g, enum operator_id op, const struct arg *args,
                          size_t arg_count, struct span at) {
  const struct operator_row *row = operator_row(op);
  if (has_missing(args, arg_count))
    return NULL;
  if (g->nodes.len >= GRAPH_MAX_NODES) {
    diag_error(g->diag, at, E1009, "more than %d operators", GRAPH_MAX_NODES);
    return NULL;
  }
  struct node *n = arena_new(g->arena, struct node);
  n->op = op;
  n->span = at;
  n->region = g->region;
  n->result_count = row->results;
  n->results = arena_array(g->arena, struct value *, row->results);
  struct signature of = {.name = row->name, .parameters = row->parameters};
  of.at = operator_parameters(op, &of.count);
  n->arg_count = (uint32_t)of.count;
  n->args = arena_array(g->arena, struct arg, of.count);
  if (!fit_args(g, &of, args, arg_count, n->args, at))
    return NULL;
  compose_fn append = attention_drops_weights(n) ? compose_dropout_attention
                      : mask_write_is_where(n)   ? compose_mask_write
                                                 : row->compose;
  if (complex_in(args, arg_count) && !(append = complex_rule(op))) {
    diag_help(diag_error(g->diag, at, E1008, "`%s` of complex tensors", row->name),
              "write it with the real and the imaginary part: `aten.view_as_real.default`");
    return NULL;
  }
  if (append)
    return compose(g, row, append, n) ? n : NULL;
  struct infer in = {g, n, row};
  if (!row->infer(&in))
    return NULL;
  n->id = (uint32_t)g->nodes.len;
  n->name = make_name(g, row);
  bool single = row->results == 1;
  for (uint32_t i = 0; i < n->result_count; i++)
    if (n->results[i])
      n->results[i]->name = single ? n->name : arena_printf(g->arena, "%s_r%u", n->name, i);
  vec_push(g->arena, &g->nodes, n);
  return n;
}

struct node *graph_append_custom(struct graph *g, const struct custom_operator *o,
                                 const struct arg *args, size_t arg_count, struct span at) {
  const struct signature of = {o->name, o->schema, o->parameters, o->count};
  struct arg *all = arena_array(g->arena, struct arg, o->count + 1);
  if (!fit_args(g, &of, args, arg_count, all, at))
    return NULL;
  if (!o->build) {
    const struct arg whole[] = {{.kind = ARG_STRING, .string = str_from(o->name)},
                                {.kind = ARG_LIST, .list = {all, o->count}}};
    return graph_append(g, OP_CUSTOM, whole, COUNT_OF(whole), at);
  }
  struct node *n = arena_new(g->arena, struct node);
  *n = (struct node){.op = OP_CUSTOM,
                     .args = all,
                     .arg_count = (uint32_t)o->count,
                     .result_count = o->results,
                     .name = o->name,
                     .span = at};
  n->results = arena_array(g->arena, struct value *, o->results + 1);
  return o->build(o, g, n) ? n : NULL;
}

struct value *graph_apply(struct graph *g, enum operator_id op, const struct arg *args,
                          size_t arg_count, struct span at) {
  struct node *n = graph_append(g, op, args, arg_count, at);
  return n ? n->results[0] : NULL;
}
