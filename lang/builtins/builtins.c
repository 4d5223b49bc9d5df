// SPDX-License-Identifier: Apache-2.0
// The table of functions: lookup by hash, binding of arguments to the parameters of a row.
#include "lang/builtins/builtins.h"

#include "lang/emit/std_module.h"
#include "lang/host/host.h"

static struct value builtin_later(struct emitter *e, struct call *c) {
  struct diag *d =
      emit_error(e, c->callee, E0502, "`tl.%s` is not supported yet", c->builtin->name);
  diag_help(d, "see section 7 of the language reference for what is");
  return VALUE_ERROR;
}

static const struct builtin table[] = {
#define BUILTIN(name, params, flags, fn, tag) {name, params, flags, fn, tag},
#define MATH(name, params, flags) {name, params, (flags) | BUILTIN_MATH, builtin_math, MATH_FN_STD},
#define STD(name, flags) {name, NULL, flags, NULL, 0},
#define LATER(name, flags) {name, "*args", flags, NULL, 0},
#include "lang/builtins/builtins.def"
#undef BUILTIN
#undef MATH
#undef STD
#undef LATER
};

void builtins_register(struct emitter *e) {
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    const struct builtin *b = &table[i];
    map_put(e->a, b->flags & BUILTIN_BARE ? &e->bare : &e->builtins, str_from(b->name),
            (void *)(uintptr_t)b);
  }
}

const struct builtin *builtin_find(struct emitter *e, const char *name) {
  return map_get(&e->builtins, str_from(name));
}

const struct builtin *builtin_find_bare(struct emitter *e, const char *name) {
  const struct builtin *b = map_get(&e->bare, str_from(name));
  if (!b)
    b = builtin_find(e, name);
  return b && !(b->flags & (BUILTIN_PREFIXED | BUILTIN_TYPE)) ? b : NULL;
}

const char *builtin_nearest(struct emitter *e, const char *name, bool methods_only) {
  (void)e;
  const char *names[COUNT_OF(table)];
  size_t n = 0;
  for (size_t i = 0; i < COUNT_OF(table); i++)
    if (methods_only ? (table[i].flags & BUILTIN_METHOD) != 0 : !(table[i].flags & BUILTIN_TYPE))
      names[n++] = table[i].name;
  return str_nearest(str_from(name), names, n);
}

// ---- binding ----

#define MAX_PARAMS 12

struct param {
  struct str name;
  bool optional, rest;
};

static size_t split_params(const char *text, struct param *p) {
  struct str s = str_from(text);
  size_t n = 0;
  while (s.ptr && s.len && n < MAX_PARAMS) {
    struct str word, tail = str_split(s, ' ', &word);
    s = tail;
    if (!word.len)
      continue;
    p[n] = (struct param){.name = word};
    p[n].rest = word.ptr[0] == '*';
    p[n].optional = p[n].rest || word.ptr[word.len - 1] == '=';
    p[n].name.ptr += p[n].rest;
    p[n].name.len -= p[n].rest || p[n].optional;
    n++;
  }
  return n;
}

static const char *spelled(struct emitter *e, const struct builtin *b) {
  return b->flags & (BUILTIN_BARE | BUILTIN_HOST) ? b->name : arena_printf(e->a, "tl.%s", b->name);
}

static bool bind_named(struct emitter *e, struct call *c, const struct param *p, size_t n,
                       const char *name, struct operand x) {
  for (size_t i = 0; i < n; i++) {
    if (p[i].rest || !str_is(p[i].name, name))
      continue;
    if (c->args[i].v.kind != VALUE_ABSENT) {
      emit_error(e, x.at, E0501, "`%s` of `%s` is given twice", name, spelled(e, c->builtin));
      return false;
    }
    c->args[i] = x;
    return true;
  }
  struct diag *d =
      emit_error(e, x.at, E0501, "`%s` has no parameter `%s`", spelled(e, c->builtin), name);
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

static bool bind_arguments(struct emitter *e, struct call *c, const struct param *p, size_t n,
                           const struct operand *args, const char *const *names, size_t count) {
  size_t next = 0;
  for (size_t i = 0; i < count; i++) {
    if (names && names[i])
      continue;
    if (next < n && p[next].rest) {
      c->rest[c->rest_count++] = args[i];
      continue;
    }
    if (next == n) {
      struct diag *d =
          emit_error(e, args[i].at, E0501, "too many arguments for `%s`", spelled(e, c->builtin));
      diag_help(d, "its parameters are: %s", c->builtin->params);
      return false;
    }
    c->args[next++] = args[i];
  }
  for (size_t i = 0; i < count; i++)
    if (names && names[i] && !bind_named(e, c, p, n, names[i], args[i]))
      return false;
  for (size_t i = 0; i < n; i++)
    if (!p[i].optional && c->args[i].v.kind == VALUE_ABSENT) {
      emit_error(e, c->at, E0501, "argument `%.*s` of `%s` is missing", STR_ARG(p[i].name),
                 spelled(e, c->builtin));
      return false;
    }
  return true;
}

static struct value call_std(struct emitter *e, const struct builtin *b, const struct operand *args,
                             const char *const *names, size_t count, struct span at) {
  struct value f;
  if (std_value(e, b->name, &f))
    return emit_inline(e, f.func, args, names, count, at);
  emit_error(e, at, E0502, "the standard library has no `%s`", b->name);
  return VALUE_ERROR;
}

struct value builtin_call(struct emitter *e, const struct builtin *b, const struct operand *args,
                          const char *const *names, size_t count, struct span at,
                          struct span callee) {
  struct operand bound[MAX_PARAMS] = {{.at = at}};
  struct param params[MAX_PARAMS];
  struct call c = {.builtin = b, .args = bound, .at = at, .callee = callee};
  if (b->params && !b->emit)
    return builtin_later(e, &c);
  for (size_t i = 0; i < count; i++)
    if (value_is_poison(args[i].v))
      return VALUE_ERROR;
  for (size_t i = 0; e->host && !(b->flags & BUILTIN_HOST) && i < count; i++)
    if (!need_known(e, args[i]))
      return VALUE_ERROR;
  struct value constant;
  if (b->flags & BUILTIN_MATH && const_math(e, b->name, args, count, &constant))
    return constant;
  if (e->host && !host_allows(b)) {
    emit_error(e, callee, e->host->code, "%s needs `%s`, which is a function of kernels",
               e->host->what, spelled(e, b));
    return VALUE_ERROR;
  }
  if (!b->params)
    return call_std(e, b, args, names, count, at);
  c.count = split_params(b->params, params);
  for (size_t i = 0; i < c.count; i++)
    c.args[i].at = at;
  c.rest = count ? arena_array(e->a, struct operand, count) : NULL;
  if (!bind_arguments(e, &c, params, c.count, args, names, count))
    return VALUE_ERROR;
  emit_at(e, at);
  return b->emit(e, &c);
}

// ---- what the functions ask of their arguments ----

struct value arg_runtime(struct emitter *e, struct call *c, unsigned i) {
  return to_runtime(e, c->args[i],
                    arena_printf(e->a, "an argument of `%s`", spelled(e, c->builtin)));
}

bool is_foreign_type(struct str name) {
  return str_is(name, "float8e4b8") || str_is(name, "float8e5b16");
}

bool need_type(struct emitter *e, struct operand x, const char *what, struct type *ret) {
  if (value_is_poison(x.v))
    return false;
  enum dtype t;
  if (x.v.kind == VALUE_TYPE)
    return *ret = type_elem(x.v.type), true;
  if (x.v.kind == VALUE_STR && dtype_parse(x.v.s, &t))
    return *ret = type_scalar(t), true;
  if (x.v.kind == VALUE_BUILTIN && x.v.builtin->emit == builtin_number) // int, float, bool
    return *ret = type_scalar((enum dtype)x.v.builtin->tag), true;
  if (x.v.kind == VALUE_STR && is_foreign_type(x.v.s)) {
    struct diag *d = emit_error(e, x.at, E0502, "`%.*s` is not supported", STR_ARG(x.v.s));
    diag_help(d, "no target has it: `tl.float8e4nv` and `tl.float8e5` are the 8-bit types");
    return false;
  }
  struct diag *d = emit_error(e, x.at, E0503, "%s must be an element type, not %s", what,
                              value_describe(e, x.v));
  diag_help(d, "such as `tl.float32`, `tl.int64` or `x.dtype`");
  return false;
}

bool need_choice(struct emitter *e, struct call *c, unsigned i, const char *what,
                 const char *const *allowed, const char **ret) {
  *ret = "";
  struct str s;
  if (!arg_given(c, i) || c->args[i].v.kind == VALUE_NONE)
    return true;
  if (!need_const_str(e, c->args[i], what, &s))
    return false;
  struct strbuf all = {.arena = e->a};
  for (size_t k = 0; allowed[k]; k++) {
    if (str_is(s, allowed[k])) {
      strbuf_finish(&all);
      *ret = allowed[k];
      return true;
    }
    strbuf_printf(&all, "%s`\"%s\"`", k ? ", " : "", allowed[k]);
  }
  struct diag *d = emit_error(e, c->args[i].at, E0504, "%s cannot be `\"%.*s\"`", what, STR_ARG(s));
  diag_help(d, "one of %s", strbuf_cstr(&all));
  strbuf_finish(&all);
  return false;
}
