// SPDX-License-Identifier: Apache-2.0
// Functions of a table: lookup by hash, binding of arguments to the parameters of a row.
//
// Recursion is the algorithm: an expression calls a function, whose statements hold expressions
// (lang/eval/eval.h).
#include "lang/eval/builtin_params.h"
#include "lang/eval/consteval.h"
#include "lang/eval/objects.h"
#include "lang/eval/std_module.h"

#include <assert.h>

static void fill(struct eval *e) {
  for (size_t i = 0; i < e->row_count; i++) {
    const struct builtin *b = &e->rows[i];
    map_put(e->a, b->flags & BUILTIN_BARE ? &e->bare : &e->builtins, str_from(b->name),
            (void *)(uintptr_t)b);
  }
}

const struct builtin *builtin_find(struct eval *e, const char *name) {
  if (!e->builtins.count)
    fill(e);
  return map_get(&e->builtins, str_from(name));
}

const struct builtin *builtin_find_bare(struct eval *e, const char *name) {
  if (!e->builtins.count)
    fill(e);
  const struct builtin *b = map_get(&e->bare, str_from(name));
  if (!b)
    b = builtin_find(e, name);
  return b && !(b->flags & (BUILTIN_PREFIXED | BUILTIN_TYPE)) ? b : NULL;
}

const char *builtin_nearest(struct eval *e, const char *name, bool methods_only) {
  const char **names = arena_array(e->a, const char *, e->row_count + 1);
  size_t n = 0;
  for (size_t i = 0; i < e->row_count; i++)
    if (e->rows[i].flags & BUILTIN_METHOD || (!methods_only && !(e->rows[i].flags & BUILTIN_TYPE)))
      names[n++] = e->rows[i].name;
  return str_nearest(str_from(name), names, n);
}

// ---- binding ----

#define MAX_PARAMS 12

static size_t split_params(const char *text, struct builtin_param *p) {
  struct str rest = str_from(text);
  size_t n = 0;
  while (builtin_param_next(&rest, &p[n]))
    n++;
  assert(n <= MAX_PARAMS);
  return n;
}

const char *builtin_spelled(struct eval *e, const struct builtin *b) {
  return b->flags & (BUILTIN_BARE | BUILTIN_HOST | BUILTIN_DESCRIPTOR)
             ? b->name
             : arena_printf(e->a, "tl.%s", b->name);
}

// Parameters that Triton had once, and what is written now.
static const char *instead_of(const char *builtin, const char *name) {
  static const struct {
    const char *builtin, *name, *instead;
  } gone[] = {
      {"dot", "trans_a", "`tl.dot(tl.trans(a), b)`"},
      {"dot", "trans_b", "`tl.dot(a, tl.trans(b))`"},
  };
  for (size_t i = 0; i < COUNT_OF(gone); i++)
    if (strcmp(gone[i].builtin, builtin) == 0 && strcmp(gone[i].name, name) == 0)
      return gone[i].instead;
  return NULL;
}

static bool bind_named(struct eval *e, struct call *c, const struct builtin_param *p, size_t n,
                       const char *name, struct operand x) {
  for (size_t i = 0; i < n; i++) {
    if (p[i].is_rest || !str_is(p[i].name, name))
      continue;
    if (c->args[i].v.kind != VALUE_ABSENT) {
      eval_error(e, x.at, E0501, "`%s` of `%s` is given twice", name,
                 builtin_spelled(e, c->builtin));
      return false;
    }
    c->args[i] = x;
    return true;
  }
  struct diag *d = eval_error(e, x.at, E0501, "`%s` has no parameter `%s`",
                              builtin_spelled(e, c->builtin), name);
  const char *instead = instead_of(c->builtin->name, name);
  if (instead) {
    diag_help(d, "Triton 2.1 dropped it; write %s", instead);
    return false;
  }
  for (size_t i = 0; i < n; i++) {
    const char *candidate = arena_strndup(e->a, p[i].name.ptr, p[i].name.len);
    if (str_nearest(str_from(name), &candidate, 1)) {
      diag_help(d, "did you mean `%s`?", candidate);
      return false;
    }
  }
  diag_help(d, "its parameters are: %s", c->builtin->params);
  return false;
}

static bool bind_arguments(struct eval *e, struct call *c, const struct builtin_param *p, size_t n,
                           const struct operand *args, const char *const *names, size_t count) {
  size_t next = 0;
  for (size_t i = 0; i < count; i++) {
    if (names && names[i])
      continue;
    if (next < n && p[next].is_rest) {
      c->rest[c->rest_count++] = args[i];
      continue;
    }
    if (next == n) {
      struct diag *d = eval_error(e, args[i].at, E0501, "too many arguments for `%s`",
                                  builtin_spelled(e, c->builtin));
      diag_help(d, "its parameters are: %s", c->builtin->params);
      return false;
    }
    c->args[next++] = args[i];
  }
  for (size_t i = 0; i < count; i++)
    if (names && names[i] && !bind_named(e, c, p, n, names[i], args[i]))
      return false;
  for (size_t i = 0; i < n; i++)
    if (!p[i].is_optional && c->args[i].v.kind == VALUE_ABSENT) {
      eval_error(e, c->at, E0501, "argument `%.*s` of `%s` is missing", STR_ARG(p[i].name),
                 builtin_spelled(e, c->builtin));
      return false;
    }
  return true;
}

static struct value call_std(struct eval *e, const struct builtin *b, const struct operand *args,
                             const char *const *names, size_t count, struct span at) {
  struct value f;
  if (std_value(e, b->name, &f))
    return eval_inline(e, f.func, args, names, count, at);
  eval_error(e, at, E0502, "the standard library has no `%s`", b->name);
  return VALUE_ERROR;
}

struct value builtin_call(struct eval *e, const struct builtin *b, const struct operand *args,
                          const char *const *names, size_t count, struct span at,
                          struct span callee) {
  assert(b && "names that the compiler itself calls are in the table");
  struct operand bound[MAX_PARAMS] = {{.at = at}};
  struct builtin_param params[MAX_PARAMS + 1];
  struct call c = {.builtin = b, .args = bound, .at = at, .callee = callee};
  for (size_t i = 0; i < count; i++)
    if (value_is_poison(args[i].v))
      return VALUE_ERROR;
  for (size_t i = 0; !(b->flags & BUILTIN_HOST) && i < count; i++)
    if (!need_known(e, args[i]))
      return VALUE_ERROR;
  struct value constant;
  if (const_math(e, b, args, count, &constant))
    return constant;
  if (e->on->refuse_builtin && e->on->refuse_builtin(e, b, callee))
    return VALUE_ERROR;
  if (!b->params)
    return call_std(e, b, args, names, count, at);
  c.count = split_params(b->params, params);
  for (size_t i = 0; i < c.count; i++)
    c.args[i].at = at;
  c.rest = count ? arena_array(e->a, struct operand, count) : NULL;
  if (!bind_arguments(e, &c, params, c.count, args, names, count))
    return VALUE_ERROR;
  eval_at(e, at);
  return b->emit(e, &c);
}
