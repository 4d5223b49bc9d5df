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

// The callee's name, where the call begins with it.
static struct span callee_span(const struct call *c) {
  struct span at = c->at;
  size_t n = strlen(c->builtin->name);
  if (!at.source || at.begin + n > at.source->text.len ||
      memcmp(at.source->text.ptr + at.begin, c->builtin->name, n) != 0)
    return SPAN_NONE;
  at.end = at.begin + (uint32_t)n;
  return at;
}

static bool bind_named(struct eval *e, struct call *c, const struct builtin_param *p, size_t n,
                       const char *name, struct operand x) {
  for (size_t i = 0; i < n; i++) {
    if (p[i].is_rest || !str_is(p[i].name, name))
      continue;
    if (c->args[i].v.kind != VALUE_ABSENT) {
      diag_help(eval_error(e, eval_argument_span(x.at, name), E0501, "`%s` of `%s` is given twice",
                           name, builtin_spelled(e, c->builtin)),
                "remove one of the two");
      return false;
    }
    c->args[i] = x;
    return true;
  }
  struct span callee = callee_span(c), at = eval_argument_span(x.at, name);
  if (habit_compares(c->builtin->name, callee)) // of `max(v, axis=0)` the whole argument is meant
    at = span_join(at, x.at);
  struct diag *d =
      eval_error(e, at, E0501, "`%s` has no parameter `%s`", builtin_spelled(e, c->builtin), name);
  if (habit_parameter_help(d, c->builtin->name, name, x.at, callee))
    return false;
  for (size_t i = 0; i < n; i++) {
    const char *candidate = arena_strndup(e->a, p[i].name.ptr, p[i].name.len);
    if (str_nearest(str_from(name), &candidate, 1)) {
      diag_did_you_mean(d, eval_keyword_span(x.at, name), candidate);
      return false;
    }
  }
  diag_help(d, "its parameters are: %s", c->builtin->params);
  return false;
}

// The parameters that a call must give, "pointer, value, ..."; without a method's own object.
static const char *parameter_list(struct eval *e, const struct builtin *b) {
  struct strbuf list = {.arena = e->a};
  struct str rest = str_from(b->params), name;
  bool is_method = b->flags & BUILTIN_DESCRIPTOR;
  for (size_t n = 0; rest.ptr; n++) {
    rest = str_split(rest, ' ', &name);
    bool is_optional = name.len && name.ptr[name.len - 1] == '=';
    if (n == 0 && is_method)
      continue;
    strbuf_printf(&list, "%s%.*s", list.len ? ", " : "", is_optional ? 3 : (int)name.len,
                  is_optional ? "..." : name.ptr);
    if (is_optional)
      break;
  }
  return strbuf_cstr(&list);
}

// The closing parenthesis of the call at `at`, for an edit before it; SPAN_NONE if it is not found
// on the line.
static struct span before_close(struct span at) {
  if (!at.source)
    return SPAN_NONE;
  struct str text = at.source->text;
  int depth = 0;
  for (size_t i = at.begin; i < text.len && text.ptr[i] != '\n'; i++) {
    depth += text.ptr[i] == '(' || text.ptr[i] == '[';
    depth -= text.ptr[i] == ')' || text.ptr[i] == ']';
    if (depth == 0 && text.ptr[i] == ')')
      return (struct span){at.source, (uint32_t)i, (uint32_t)i};
  }
  return SPAN_NONE;
}

static void report_missing_argument(struct eval *e, struct call *c, struct str name) {
  const char *spelled = builtin_spelled(e, c->builtin);
  struct diag *d =
      eval_error(e, c->at, E0501, "argument `%.*s` of `%s` is missing", STR_ARG(name), spelled);
  struct span end = before_close(c->at);
  if (strcmp(c->builtin->name, "arange") == 0 && c->args[0].at.source) {
    diag_help(d, "a range has a start: `tl.arange(0, N)`");
    diag_fixit(d, (struct span){c->args[0].at.source, c->args[0].at.begin, c->args[0].at.begin},
               "0, ");
  } else if (str_is(name, "axis") && c->count == 1 && end.source) { // of the grid
    diag_help(d, "the axis of the grid is 0, 1 or 2: `%s(0)`", spelled);
    diag_fixit(d, end, "0");
  } else if (str_is(name, "dtype") && end.source) {
    diag_help(d, "for example `%s(..., dtype=tl.float32)`", spelled);
    diag_fixit(d, end, ", dtype=tl.float32");
  } else {
    diag_help(d, "write `%s(%s)`", spelled, parameter_list(e, c->builtin));
  }
}

// `desc.load(0, 0)`: the offsets are one list. The value of `store` follows them.
static bool help_offset_list(struct eval *e, struct diag *d, const struct call *c,
                             const struct operand *args, const char *const *names, size_t count) {
  const struct builtin *b = c->builtin;
  struct span callee = c->callee;
  size_t last = count - (strcmp(b->name, "store") == 0 ? 2 : 1);
  bool is_access = b->flags & BUILTIN_DESCRIPTOR && last >= 2 && last < count;
  for (size_t i = 1; is_access && i < count; i++)
    is_access = (!names || !names[i]) && args[i].at.source == args[1].at.source;
  if (!is_access || (strcmp(b->name, "load") != 0 && strcmp(b->name, "store") != 0))
    return false;
  struct span from = args[1].at, to = args[last].at;
  struct str offsets = eval_spelled(e, span_join(from, to)), name = eval_spelled(e, callee);
  diag_help(d, "the offsets are one list: `%.*s([%.*s]%s)`", (int)name.len, name.ptr,
            offsets.len ? (int)offsets.len : 4, offsets.len ? offsets.ptr : "0, 0",
            last + 1 < count ? ", ..." : "");
  diag_fixit(d, (struct span){from.source, from.begin, from.begin}, "[");
  diag_fixit(d, (struct span){to.source, to.end, to.end}, "]");
  return true;
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
      if (help_offset_list(e, d, c, args, names, count))
        return false;
      if (strcmp(c->builtin->name, "arange") == 0)
        diag_help(d, "a step is multiplied: `tl.arange(0, N) * step`");
      else if (n == 0)
        diag_help(d, "it takes none");
      else
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
      report_missing_argument(e, c, p[i].name);
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
