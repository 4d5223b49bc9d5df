// SPDX-License-Identifier: Apache-2.0
// Kernel code as a dialect of the evaluator: values that are not known at compile time become
// operations.
#include "lang/builtins/builtins.h"
#include "lang/emit/control.h"
#include "lang/eval/std_module.h"

// ---- values ----

// As in Triton, a number that is assigned to a name is no longer a literal. Code evaluated at
// compile time and the standard library keep literals.
static struct value own_type(struct eval *e, struct value v) {
  if (e->frame->is_std || e->frame->function->is_constexpr_function)
    return v;
  v.is_typed = value_is_number(v);
  if (v.kind != VALUE_TUPLE || v.tuple.record)
    return v;
  struct value *items = arena_array(e->a, struct value, v.tuple.len + 1);
  for (size_t i = 0; i < v.tuple.len; i++)
    items[i] = own_type(e, v.tuple.at[i]);
  return value_with_items(v, items);
}

static struct value declare(struct eval *e, struct operand x, const char *annotation,
                            struct span at) {
  enum dtype dtype;
  if (!value_is_number(x.v) || !dtype_parse(str_from(annotation), &dtype))
    return x.v;
  emit_at(e, at);
  return emit_convert(e, x, type_scalar(dtype));
}

// Poison without a diagnostic would silently drop code from the kernel.
static struct value finish(struct eval *e, const struct expr *x, struct value v) {
  if (value_is_poison(v) && !e->damaged && diag_error_count(e->diag) == e->errors)
    eval_error(e, x->span, E0990, "an expression failed without a message");
  return v;
}

static bool find_attribute(struct eval *e, struct operand x, const char *name, struct value *ret) {
  struct type literal;
  if (value_is_record(x.v, RECORD_DESCRIPTOR))
    return descriptor_attribute(e, x.v, name, ret);
  bool asks_type = strcmp(name, "dtype") == 0 || (strcmp(name, "type") == 0 && x.v.is_typed);
  if (value_is_number(x.v) && asks_type && literal_type(x.v, &literal))
    return *ret = value_type(literal), true;
  if (!value_is_record(x.v, RECORD_BLOCK_POINTER) ||
      (strcmp(name, "dtype") != 0 && strcmp(name, "type") != 0))
    return false;
  *ret = value_type(block_pointer_type(x.v));
  return true;
}

// ---- operators ----

static struct value truth(struct eval *e, struct operand x, const char *what) {
  if (x.v.kind == VALUE_RT && x.v.type.rank && type_numel(x.v.type) == 1) {
    emit_at(e, x.at);
    return emit_truth_tile(e, value_rt(build_unsplat(&e->b, x.v.rt), type_elem(x.v.type)));
  }
  if (x.v.kind != VALUE_RT || x.v.type.rank) {
    report_tile_condition(e, x, what);
    return VALUE_ERROR;
  }
  emit_at(e, x.at);
  return emit_truth_tile(e, x.v);
}

static struct value subscript(struct eval *e, const struct expr *x, struct operand object) {
  struct value v = object.v;
  if (value_is_number(v))
    v = to_runtime(e, object, "the subscripted value");
  if (value_is_poison(v))
    return v;
  return v.kind == VALUE_RT ? emit_tile_subscript(e, x, v) : eval_no_elements(e, x, v);
}

// A table known at compile time.
static struct value emit_dict(struct eval *e, const struct expr *x) {
  struct value *rows = arena_array(e->a, struct value, x->dict.count ? x->dict.count : 1);
  for (size_t i = 0; i < x->dict.count; i++) {
    const struct dict_item *item = &x->dict.items[i];
    if (!item->key) {
      diag_help(eval_error(e, x->span, E0231, "`**` in dictionaries is not part of the language"),
                "write each key and value");
      return VALUE_ERROR;
    }
    struct value *row = arena_array(e->a, struct value, 2);
    row[0] = eval_expr(e, item->key);
    row[1] = eval_expr(e, item->value);
    if (value_is_poison(row[0]) || value_is_poison(row[1]))
      return VALUE_ERROR;
    if (!value_is_const(row[0])) {
      diag_help(eval_error(e, item->key->span, E0301,
                           "the key of a dictionary is not known at compile time"),
                "keys are constants: numbers and texts");
      return VALUE_ERROR;
    }
    rows[i] = value_tuple(row, 2);
  }
  struct value v = value_tuple(rows, x->dict.count);
  v.tuple.record = &record_dict;
  return v;
}

// ---- statements and calls ----

static void unread(struct eval *e, const struct stmt *s) {
  if (s->unsupported)
    diag_help(eval_error(e, s->span, E0111, "`%s` is not part of the language", s->unsupported),
              "%s", ast_unsupported_help(s->unsupported));
  else
    e->damaged = true;
}

// In a kernel an error; the statements are checked as if the `try` were not there.
static void refuse_attempt(struct eval *e, const struct stmt *s) {
  if (s->try_stmt.is_refused)
    diag_help(eval_error(e, s->span, E0111, "`try` is not part of the language"), "%s",
              ast_unsupported_help("try"));
  struct seq last = {.list = &s->try_stmt.last};
  struct seq orelse = {.list = &s->try_stmt.orelse, .next = &last};
  struct seq body = {.list = &s->try_stmt.body, .next = &orelse};
  eval_seq(e, &body);
}

// Of functions evaluated at compile time: the block is assumed to succeed, unless it imports.
static void attempt(struct eval *e, const struct stmt *s) {
  if (s->try_stmt.is_refused || s->try_stmt.is_reported) {
    refuse_attempt(e, s);
    return;
  }
  for (size_t i = 0; i < s->try_stmt.body.len; i++)
    if (s->try_stmt.body.at[i]->kind == STMT_IMPORT) {
      diag_help(eval_error(e, s->span, E0111, "`try` is not part of the language"), "%s",
                ast_unsupported_help("try"));
      return;
    }
  struct seq body = {.list = &s->try_stmt.body};
  eval_seq(e, &body);
}

// A function that must not have effects is inlined.
static bool stays_call(struct eval *e, const struct function *f, const struct operand *args,
                       const char *const *names, size_t count, struct span at, struct value *ret) {
  if (e->is_pure)
    return false;
  *ret = emit_noinline(e, f, args, names, count, at);
  return true;
}

static void refuse_function(struct eval *e, const struct function *f, struct span at) {
  struct diag *d =
      eval_error(e, at, E0311, "`%s` is host code, not a kernel function", f->ast->name);
  diag_label(d, f->ast->name_span, "without `@triton.jit`");
  diag_help(d, "decorate it with `@triton.jit` to call it from kernels");
}

// ---- control flow ----

static struct value constant_i1(struct eval *e, bool b) {
  return literal_as(e, (struct operand){value_bool(b), SPAN_NONE}, type_scalar(DTYPE_I1));
}

// If the condition is an error, both branches are still checked.
static void branch(struct eval *e, struct value cond, const struct variable_list *changed,
                   branch_fn then, branch_fn otherwise, void *user) {
  if (value_is_poison(cond))
    cond = constant_i1(e, true);
  ssa_if(e, cond, changed, then, otherwise, user);
}

const struct dialect kernel_dialect = {.most_values = EVAL_MAX_UNROLL,
                                       .set_location = emit_at,
                                       .assign = own_type,
                                       .declare = declare,
                                       .finish = finish,
                                       .constant = eval_constant,
                                       .show = show_value,
                                       .find_attribute = find_attribute,
                                       .binary = emit_binary,
                                       .unary = emit_unary,
                                       .compare = emit_comparison,
                                       .logic = emit_logic,
                                       .truths = emit_truth_tile,
                                       .truth = truth,
                                       .subscript = subscript,
                                       .dict = emit_dict,
                                       .attempt = attempt,
                                       .unread = unread,
                                       .call = stays_call,
                                       .refuse_function = refuse_function,
                                       .branch = branch,
                                       .loop = emit_loop,
                                       .loop_while = emit_while};
