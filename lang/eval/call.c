// SPDX-License-Identifier: Apache-2.0
// Calls: arguments, inlining of functions of the language and of its standard library.
//
// Recursion is the algorithm: an expression calls a function, whose statements hold expressions
// (lang/eval/eval.h).
#include "lang/eval/consteval.h"
#include "lang/eval/objects.h"
#include "lang/eval/std_module.h"
#include "lang/syntax/ast_visit.h"

// ---- binding of arguments to parameters ----

struct binding {
  struct eval *e;
  const struct function *f;
  struct frame *frame;
  bool *bound; // by parameter
  struct span at;
};

static bool is_constexpr_param(struct eval *e, const struct function *f,
                               const struct ast_param *p) {
  return p->annotation && ast_is_constexpr(e->a, f->module, p->annotation);
}

// "seed, offset, n_rounds=".
static const char *parameter_names(const struct binding *b) {
  const struct ast_function *f = b->f->ast;
  struct strbuf names = {.arena = b->e->a};
  for (size_t i = 0; i < f->param_count; i++)
    strbuf_printf(&names, "%s%s%s", names.len ? ", " : "", f->params[i].name,
                  f->params[i].default_value ? "=" : "");
  return names.len ? strbuf_cstr(&names) : "nothing";
}

static void bind(struct binding *b, size_t i, struct operand x) {
  struct eval *e = b->e;
  const struct ast_param *p = &b->f->ast->params[i];
  b->bound[i] = true;
  // The library's functions require constexpr arguments. In other functions, as in Triton, a
  // parameter declared constexpr accepts a run-time value too, and its uses report it.
  if (b->f->is_std && x.v.kind == VALUE_RT && is_constexpr_param(e, b->f, p)) {
    struct diag *d = eval_error(e, x.at, E0301, "`%s` of `%s` must be known at compile time",
                                p->name, b->f->ast->name);
    diag_primary_label(d, "%s", type_text(e->a, x.v.type));
    x.v = VALUE_ERROR;
  }
  if (e->on->hold)
    x.v = e->on->hold(e, x.v);
  struct variable *v = arena_new(e->a, struct variable);
  *v = (struct variable){.name = p->name, .value = x.v, .span = x.at};
  ptrmap_put(e->a, &b->frame->variables, p->name, v);
}

static bool bind_positional(struct binding *b, const struct operand *args, const char *const *names,
                            size_t count) {
  const struct ast_function *f = b->f->ast;
  size_t next = 0;
  for (size_t i = 0; i < count; i++) {
    if (names && names[i])
      continue;
    enum param_kind kind = next < f->param_count ? f->params[next].kind : PARAM_KEYWORD_ONLY;
    if (kind == PARAM_STAR) {
      size_t n = 0;
      struct value *rest = arena_array(b->e->a, struct value, count - i);
      for (size_t k = i; k < count; k++)
        if (!names || !names[k])
          rest[n++] = args[k].v;
      bind(b, next, (struct operand){value_tuple(rest, n), args[i].at});
      return true;
    }
    if (kind != PARAM_NORMAL && kind != PARAM_POSITIONAL_ONLY) {
      struct diag *d = eval_error(b->e, args[i].at, E0501, "too many arguments for `%s`", f->name);
      diag_help(d, "it takes: %s", parameter_names(b));
      if (!b->f->is_std)
        diag_label(d, f->span, "takes %zu", f->param_count);
      return false;
    }
    bind(b, next++, args[i]);
  }
  return true;
}

// Host code: **kwargs takes the keywords that name no parameter.
static bool bind_rest(struct binding *b, const char *name, struct operand x) {
  const struct ast_function *f = b->f->ast;
  size_t i = 0;
  while (i < f->param_count && f->params[i].kind != PARAM_DOUBLE_STAR)
    i++;
  if (i == f->param_count || !b->e->on->has_keywords)
    return false;
  if (!b->bound[i])
    bind(b, i, (struct operand){host_dict(b->e), b->at});
  host_dict_put(b->e, scope_find(b->frame, f->params[i].name)->value, value_str(str_from(name)),
                x.v);
  return true;
}

static bool bind_keyword(struct binding *b, const char *name, struct operand x) {
  const struct ast_function *f = b->f->ast;
  for (size_t i = 0; i < f->param_count; i++) {
    if (strcmp(f->params[i].name, name) != 0 || f->params[i].kind >= PARAM_STAR ||
        f->params[i].kind == PARAM_POSITIONAL_ONLY)
      continue;
    if (b->bound[i]) {
      diag_help(eval_error(b->e, eval_argument_span(x.at, name), E0501,
                           "`%s` of `%s` is given twice", name, f->name),
                "remove one of the two");
      return false;
    }
    bind(b, i, x);
    return true;
  }
  if (bind_rest(b, name, x))
    return true;
  struct diag *d = eval_error(b->e, eval_argument_span(x.at, name), E0501,
                              "`%s` has no parameter `%s`", f->name, name);
  const char *best = NULL;
  if (habit_parameter_help(d, f->name, name, x.at, SPAN_NONE))
    return false;
  for (size_t i = 0; i < f->param_count && !best; i++)
    best = str_nearest(str_from(name), &f->params[i].name, 1);
  if (best)
    diag_did_you_mean(d, eval_keyword_span(x.at, name), best);
  else
    diag_help(d, "it takes: %s", parameter_names(b));
  return false;
}

static bool bind_defaults(struct binding *b) {
  const struct ast_function *f = b->f->ast;
  for (size_t i = 0; i < f->param_count; i++) {
    const struct ast_param *p = &f->params[i];
    if (b->bound[i])
      continue;
    if (p->kind == PARAM_STAR) {
      bind(b, i, (struct operand){value_tuple(NULL, 0), b->at});
    } else if (p->kind == PARAM_DOUBLE_STAR && b->e->on->has_keywords) {
      bind(b, i, (struct operand){host_dict(b->e), b->at});
    } else if (p->default_value) {
      struct frame *saved = b->e->frame;
      b->e->frame = b->frame;
      struct value v = eval_expr(b->e, p->default_value);
      b->e->frame = saved;
      bind(b, i, (struct operand){v, p->default_value->span});
    } else if (p->kind != PARAM_DOUBLE_STAR) {
      struct diag *d =
          eval_error(b->e, b->at, E0501, "argument `%s` of `%s` is missing", p->name, f->name);
      diag_help(d, "it takes: %s", parameter_names(b));
      if (!b->f->is_std)
        diag_label(d, p->span, "declared here");
      return false;
    }
  }
  return true;
}

// ---- inlining ----

static struct value take_result(struct eval *e, struct frame *f, struct span at) {
  const struct variable *r = &f->result;
  if (r->value.kind != VALUE_ABSENT)
    return r->value;
  if (r->why != ABSENT_MISMATCH)
    return VALUE_ERROR;
  struct diag *d = eval_error(
      e, at, E0219, "Inconsistent return types: `%s` returns %s on one path and %s on another",
      f->function->name, r->texts[0], r->texts[1]);
  diag_label(d, r->sites[0], "%s", r->texts[0]);
  diag_label(d, r->sites[1], "%s", r->texts[1]);
  diag_help(d, "all paths must return values of one type, or the condition must be known at "
               "compile time");
  return VALUE_ERROR;
}

void eval_body(struct eval *e, struct frame *f) {
  struct flow flow = {.skip = &f->returned};
  f->flow = &flow;
  f->returned = (struct variable){.name = "return", .value = value_bool(false)};
  f->result = (struct variable){.name = "result", .is_result = true};
  f->returned.span = f->result.span = f->function->span;
  struct seq end = {.kind = SEQ_END_FUNCTION};
  struct seq body = {.list = &f->function->body, .next = &end};
  eval_seq(e, &body);
  f->flow = NULL;
}

static void show_parameters(struct eval *e, struct frame *f) {
  for (size_t i = 0; e->on->show && i < f->function->param_count; i++) {
    const struct variable *v = scope_find(f, f->function->params[i].name);
    if (v)
      e->on->show(e, v->name, f->function->name_span, v->value);
  }
}

struct deciding {
  struct eval *e;
  const struct ast_function *of;
  const char *found;
};

static void see_deciding(void *user, const struct expr *x) {
  struct deciding *w = user;
  struct ast_visitor v = {.expr = see_deciding, .user = w};
  ast_visit_expr(&v, x);
  for (size_t i = 0; x->kind == EXPR_NAME && !w->found && i < w->of->param_count; i++) {
    const struct variable *p = scope_find(w->e->frame, x->name);
    if (strcmp(w->of->params[i].name, x->name) == 0 && p && p->value.kind == VALUE_RT &&
        p->value.type.rank == 0 && !p->value.type.ptr)
      w->found = x->name;
  }
}

// The parameter of the function, which calls itself, that a condition of an `if` reads and that is
// a value of the launch; NULL: there is none.
static const char *deciding_param(struct eval *e, const struct ast_function *f) {
  struct deciding w = {.e = e, .of = f};
  for (size_t i = 0; e->frame->function == f && i < f->body.len; i++)
    if (f->body.at[i]->kind == STMT_IF)
      see_deciding(&w, f->body.at[i]->if_stmt.condition);
  return w.found;
}

static bool can_inline(struct eval *e, const struct function *f, struct span at) {
  // Host functions can be called only where code is evaluated at compile time.
  const struct ast_function *caller = e->frame->function;
  bool is_python = f->ast->is_constexpr_function &&
                   (!caller || caller->is_constexpr_function || e->on->is_static);
  if (f->ast->is_host && !is_python)
    return e->on->refuse_function(e, f, at), false;
  if (e->call_depth < EVAL_MAX_CALL_DEPTH)
    return true;
  struct diag *d = eval_error(e, at, E0307, "calls of `%s` are nested more than %d deep",
                              f->ast->name, EVAL_MAX_CALL_DEPTH);
  const char *runtime = deciding_param(e, f->ast);
  if (runtime)
    diag_help(d,
              "calls are inlined, and `%s`, on which the recursion's end depends, is a value of "
              "the launch:\n"
              "write a loop, or make it a compile-time value, `%s: tl.constexpr`",
              runtime, runtime);
  else
    diag_help(d, "calls are inlined; a recursion must end by a compile-time condition");
  e->stopped = true;
  return false;
}

struct value eval_inline(struct eval *e, const struct function *f, const struct operand *args,
                         const char *const *names, size_t count, struct span at) {
  return eval_inline_for(e, f, args, names, count, at, NULL, NULL);
}

static struct frame *new_frame(struct eval *e, const struct function *f, struct span at) {
  bool is_entered = e->frame->region == e->region;
  struct frame *frame = arena_new(e->a, struct frame);
  *frame = (struct frame){.caller = e->frame,
                          .closure = f->closure,
                          .module = f->module,
                          .function = f->ast,
                          .call_span = at,
                          .is_std = f->is_std,
                          .is_exact = f->is_std && std_is_exact(f->module),
                          .region = e->region};
  if (is_entered || f->is_std) // the first function of a func.func has its own locations
    frame->call_loc = e->b.loc;
  return frame;
}

static bool bind_all(struct binding *b, const struct operand *args, const char *const *names,
                     size_t count) {
  if (!bind_positional(b, args, names, count))
    return false;
  for (size_t i = 0; i < count; i++)
    if (names && names[i] && !bind_keyword(b, names[i], args[i]))
      return false;
  return bind_defaults(b);
}

struct value eval_inline_for(struct eval *e, const struct function *f, const struct operand *args,
                             const char *const *names, size_t count, struct span at, const char *of,
                             struct value *ret) {
  if (!can_inline(e, f, at))
    return VALUE_ERROR;
  bool is_entered = e->frame->region == e->region;
  struct value result;
  if (f->ast->is_noinline && is_entered && e->on->call &&
      e->on->call(e, f, args, names, count, at, &result))
    return result;
  eval_at(e, at);
  struct frame *frame = new_frame(e, f, at);
  struct binding b = {e, f, frame, arena_array(e->a, bool, f->ast->param_count + 1), at};
  if (!bind_all(&b, args, names, count))
    return VALUE_ERROR;
  MlirLocation loc = e->b.loc;
  e->frame = frame;
  e->span = SPAN_NONE;
  e->call_depth++;
  show_parameters(e, frame);
  eval_body(e, frame);
  e->call_depth--;
  e->frame = frame->caller;
  e->span = SPAN_NONE;
  e->b.loc = loc;
  if (of)
    *ret = scope_read(e, scope_find(frame, of), at);
  return take_result(e, frame, at);
}

// ---- call expressions ----

struct arguments {
  struct operand *at;
  const char **names;
  size_t len, cap, name_len, name_cap;
};

static void add_argument(struct eval *e, struct arguments *l, const char *name, struct operand x) {
  vec_reserve_(e->a, (void **)&l->names, &l->name_cap, l->len + 1, sizeof *l->names);
  l->names[l->len] = name;
  vec_push(e->a, l, x);
}

// `**x` in host code.
static bool add_pairs(struct eval *e, struct arguments *l, struct operand x) {
  struct tuple ignored;
  if (!value_is_record(x.v, RECORD_DICT)) {
    if (need_sequence(e, x, &ignored))
      diag_help(eval_error(e, x.at, E0230, "%s is no dictionary", value_describe(e, x.v)),
                "write the arguments by name");
    return false;
  }
  for (size_t i = 0; i < x.v.tuple.len; i++) {
    const struct value *row = x.v.tuple.at[i].tuple.at;
    struct str name;
    if (!need_const_str(e, (struct operand){row[0], x.at}, "the name of an argument", &name))
      return false;
    add_argument(e, l, arena_strndup(e->a, name.ptr, name.len), (struct operand){row[1], x.at});
  }
  return true;
}

static bool eval_arguments(struct eval *e, const struct expr *x, struct arguments *l) {
  for (size_t i = 0; i < x->call.arg_count; i++) {
    const struct ast_arg *a = &x->call.args[i];
    if (a->is_double_star && e->on->has_keywords) {
      if (!add_pairs(e, l, (struct operand){eval_expr(e, a->value), a->value->span}))
        return false;
      continue;
    }
    if (a->is_double_star) {
      diag_help(eval_error(e, a->span, E0231, "`**` in calls is not part of the language"),
                "name each argument: `f(x, mask=m)`");
      return false;
    }
    struct operand v = {eval_expr(e, a->value), a->value->span};
    struct tuple t;
    if (!a->is_star) {
      add_argument(e, l, a->name, v);
      continue;
    }
    if (!need_sequence(e, v, &t))
      return false;
    for (size_t k = 0; k < t.len; k++)
      add_argument(e, l, NULL, (struct operand){t.at[k], a->span});
  }
  return true;
}

// `-D F=relu` gives a parameter the name of a function: one of the kernel's file, of its imports or
// of the language.
static bool function_of_name(struct eval *e, struct operand name, struct value *ret) {
  const char *text = arena_strndup(e->a, name.v.s.ptr, name.v.s.len);
  if (!scope_module_name(e, e->module, text, name.at, ret)) {
    const struct builtin *b = builtin_find(e, strncmp(text, "tl.", 3) == 0 ? text + 3 : text);
    *ret = (struct value){.kind = b ? VALUE_BUILTIN : VALUE_POISON, .builtin = b};
  }
  return ret->kind == VALUE_FUNC || ret->kind == VALUE_BUILTIN;
}

struct value eval_call_value(struct eval *e, struct operand callee, const struct operand *args,
                             const char *const *names, size_t count, struct span at) {
  switch ((int)callee.v.kind) {
  case VALUE_POISON: return callee.v;
  case VALUE_STR: {
    struct operand f = callee;
    if (function_of_name(e, callee, &f.v))
      return eval_call_value(e, f, args, names, count, at);
    break;
  }
  case VALUE_FUNC: return eval_inline(e, callee.v.func, args, names, count, at);
  case VALUE_BUILTIN:
    if (callee.v.builtin->flags & BUILTIN_FORMAT)
      return text_format(e, args, names, count, at);
    if (e->on->call_dict && names && callee.v.builtin->flags & BUILTIN_KEYWORDS)
      return e->on->call_dict(e, args, names, count);
    return builtin_call(e, callee.v.builtin, args, names, count, at, callee.at);
  case VALUE_CLASS: return record_construct(e, callee.v.class, args, names, count, at);
  case VALUE_TYPE: { // tl.float32(x)
    struct operand cast[2] = {count ? args[0] : callee, callee};
    if (count == 1)
      return builtin_call(e, builtin_find(e, "cast"), cast, NULL, 2, at, callee.at);
  }
  }
  struct diag *d =
      eval_error(e, callee.at, E0232, "%s cannot be called", value_describe(e, callee.v));
  if (callee.v.kind == VALUE_STR)
    diag_help(d, "the kernel's file, its imports and the language have no function of this name");
  else if (callee.v.kind == VALUE_RT)
    diag_help(d, "a number is multiplied by `*`, and a tile has elements: `x[i]`");
  else if (callee.v.kind == VALUE_TUPLE)
    diag_help(d, "square brackets take a value of a tuple: `x[0]`");
  else
    diag_help(d, "call one of its functions, such as `tl.load(...)`");
  return VALUE_ERROR;
}

// `x.numel()`, as of PyTorch's tensors: an attribute here, and nothing that a pointer has.
static struct value report_numel(struct eval *e, const struct expr *callee) {
  struct value v = eval_expr(e, callee->attribute.object);
  bool is_pointer = v.kind == VALUE_RT && v.type.ptr && !v.type.rank;
  struct diag *d = eval_error(e, callee->span, E0232, "`numel` is no function of %s",
                              is_pointer ? "a pointer" : "a tile");
  diag_help(d, is_pointer ? "a pointer is an address: pass the size as a parameter of the kernel, "
                            "`n: i32`"
                          : "leave out the parentheses: `x.numel`");
  return VALUE_ERROR;
}

struct value eval_call(struct eval *e, const struct expr *x) {
  struct operand callee = {eval_expr(e, x->call.callee), x->call.callee->span};
  struct arguments l = {0};
  bool is_attribute = x->call.callee->kind == EXPR_ATTRIBUTE && callee.v.kind == VALUE_INT;
  if (is_attribute && strcmp(x->call.callee->attribute.name, "numel") == 0)
    return report_numel(e, x->call.callee);
  if (callee.v.kind == VALUE_OPAQUE)
    return e->on->call_opaque(e, callee);
  if (callee.v.kind == VALUE_BOUND) {
    add_argument(e, &l, NULL, (struct operand){*callee.v.bound.receiver, callee.at});
    struct bound_method b = callee.v.bound;
    callee.v = b.func ? (struct value){.kind = VALUE_FUNC, .func = b.func}
                      : (struct value){.kind = VALUE_BUILTIN, .builtin = b.builtin};
  }
  if (!eval_arguments(e, x, &l))
    return VALUE_ERROR;
  return eval_call_value(e, callee, l.at, l.names, l.len, x->span);
}
