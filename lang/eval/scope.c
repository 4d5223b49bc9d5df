// SPDX-License-Identifier: Apache-2.0
// Names: variables of the functions being inlined, and names of modules.
//
// Recursion is the algorithm: an expression calls a function, whose statements hold expressions
// (lang/eval/eval.h).
#include "lang/eval/consteval.h"
#include "lang/eval/import.h"
#include "lang/eval/std_module.h"

#include <ctype.h>
#include <math.h>

struct variable *scope_find(struct frame *f, const char *name) {
  return ptrmap_get(&f->variables, name);
}

struct variable *scope_variable(struct eval *e, const char *name) {
  struct variable *v = scope_find(e->frame, name);
  if (v)
    return v;
  v = arena_new(e->a, struct variable);
  v->name = name;
  ptrmap_put(e->a, &e->frame->variables, name, v);
  return v;
}

void scope_assign(struct eval *e, const char *name, struct span at, struct value v) {
  struct variable *var = scope_variable(e, name);
  var->value = e->on->hold ? e->on->hold(e, v) : v;
  var->span = at;
  var->is_constexpr = false;
  if (e->on->show)
    e->on->show(e, name, at, var->value);
  if (at.source)
    eval_observe(e, at.source->text.ptr + at.begin, at, var->value);
}

struct variable_list scope_collect(struct eval *e, const struct name_list *names) {
  struct variable_list l = {0};
  for (size_t i = 0; i < names->len; i++)
    vec_push(e->a, &l, scope_variable(e, names->at[i]));
  return l;
}

// ---- reading ----

static struct value report_absent(struct eval *e, const struct variable *v, struct span at) {
  struct diag *d;
  switch (v->why) {
  case ABSENT_MISMATCH:
    d = eval_error(e, at, E0215, "Mismatched type for `%s`: %s on one path, %s on the other",
                   v->name, v->texts[0], v->texts[1]);
    diag_label(d, v->sites[0], "%s", v->texts[0]);
    diag_label(d, v->sites[1], "%s", v->texts[1]);
    diag_help(d, "make both paths give one type, e.g. by `.to(...)`, or use two names");
    break;
  case ABSENT_BRANCH:
    d = eval_error(e, at, E0202, "`%s` may be undefined here", v->name);
    diag_label(d, v->sites[0], "assigned on one path only");
    diag_help(d, "give `%s` a value before the `if`, or in both branches", v->name);
    break;
  case ABSENT_LOOP:
    d = eval_error(e, at, E0202, "`%s` may be undefined here", v->name);
    diag_label(d, v->sites[0], "assigned in a loop that may run no times");
    diag_help(d, "give `%s` a value before the loop", v->name);
    break;
  case ABSENT_UNSET:
    d = eval_error(e, at, E0202, "`%s` is used before it has a value", v->name);
    break;
  }
  return VALUE_ERROR;
}

struct value scope_read(struct eval *e, struct variable *v, struct span at) {
  return v->value.kind == VALUE_ABSENT ? report_absent(e, v, at) : v->value;
}

// ---- modules ----

static bool module_constant(const char *name, struct value *ret) {
  static const struct {
    const char *name;
    double value;
  } numbers[] = {{"pi", 3.14159265358979323846}, {"e", 2.71828182845904523536}};
  for (size_t i = 0; i < COUNT_OF(numbers); i++)
    if (strcmp(name, numbers[i].name) == 0)
      return *ret = value_float(numbers[i].value), true;
  if (strcmp(name, "inf") == 0)
    return *ret = value_float((double)INFINITY), true;
  if (strcmp(name, "nan") == 0)
    return *ret = value_float((double)NAN), true;
  return false;
}

static bool dtype_name_value(const char *name, struct value *ret) {
  enum dtype t;
  if (!dtype_parse(str_from(name), &t))
    return false;
  *ret = value_type(type_scalar(t));
  return true;
}

// Modules that `tl.NAME` and a bare `NAME` can mean.
static bool language_module(const char *name, struct value *ret) {
  static const struct {
    const char *name;
    enum module_id module;
  } modules[] = {{"tl", MODULE_TL},
                 {"triton", MODULE_TRITON},
                 {"language", MODULE_TL},
                 {"math", MODULE_MATH},
                 {"core", MODULE_TL},
                 {"standard", MODULE_TL},
                 {"extra", MODULE_EXTRA},
                 {"cuda", MODULE_EXTRA},
                 {"libdevice", MODULE_EXTRA},
                 {"tl_math", MODULE_MATH},
                 {"PropagateNan", MODULE_EXTRA},
                 {"random", MODULE_TL},
                 {"hip", MODULE_EXTRA},
                 {"target_info", MODULE_TL}};
  for (size_t i = 0; i < COUNT_OF(modules); i++)
    if (strcmp(name, modules[i].name) == 0) {
      *ret = (struct value){.kind = VALUE_MODULE, .module = modules[i].module};
      return true;
    }
  return false;
}

bool scope_language_name(const char *name, struct value *ret) {
  return dtype_name_value(name, ret) || language_module(name, ret);
}

static struct value value_of_builtin(const struct builtin *b) {
  return (struct value){.kind = VALUE_BUILTIN, .builtin = b};
}

static bool array_library_find(struct eval *e, const char *name, struct value *ret) {
  enum dtype t;
  const struct builtin *b = builtin_find(e, name);
  if (b && b->flags & BUILTIN_ARRAY)
    return *ret = value_of_builtin(b), true;
  if (host_dtype(name, &t))
    return *ret = value_type(type_scalar(t)), true;
  return module_constant(name, ret);
}

// What `from triton_helpers import NAME` binds: its functions, and the modules that it passes on.
static bool inductor_find(struct eval *e, const char *name, struct value *ret) {
  return std_value(e, arena_printf(e->a, "inductor_%s", name), ret) || language_module(name, ret);
}

bool module_find(struct eval *e, enum module_id m, const char *name, struct value *ret) {
  if (m == MODULE_HOST)
    return array_library_find(e, name, ret);
  if (m == MODULE_INDUCTOR)
    return inductor_find(e, name, ret);
  if (is_foreign_type(str_from(name))) // can be compared, and is never equal
    return *ret = value_str(str_from(name)), true;
  const struct builtin *b = builtin_find(e, name);
  if (b)
    return *ret = value_of_builtin(b), true;
  if (scope_language_name(name, ret))
    return true;
  if (m == MODULE_MATH && module_constant(name, ret))
    return true;
  if (m == MODULE_EXTRA && (strcmp(name, "ALL") == 0 || strcmp(name, "NONE") == 0))
    return *ret = value_str(str_from(name)), true;
  return false;
}

static bool suggest_habit(struct eval *e, struct diag *d, const char *name, struct span at) {
  const struct builtin *b = builtin_find(e, name);
  bool is_prefixed = b && !(b->flags & (BUILTIN_BARE | BUILTIN_HOST | BUILTIN_DESCRIPTOR));
  return habit_help(d, name, is_prefixed ? builtin_spelled(e, b) : NULL, at);
}

// A module that is not imported: what stands for the function that is taken from it.
static bool suggest_member(struct eval *e, struct diag *d, const char *name, struct span at) {
  static const char *const modules[] = {"torch", "np", "numpy", "jnp", "F", "math"};
  bool is_module = false;
  for (size_t i = 0; i < COUNT_OF(modules); i++)
    is_module |= strcmp(name, modules[i]) == 0;
  if (!is_module || !at.source)
    return false;
  struct str text = at.source->text;
  size_t begin = at.end + 1, end = begin;
  while (end < text.len && (isalnum((unsigned char)text.ptr[end]) || text.ptr[end] == '_'))
    end++;
  if (begin >= text.len || text.ptr[at.end] != '.' || end == begin)
    return false;
  const char *member = arena_strndup(e->a, text.ptr + begin, end - begin);
  return suggest_habit(e, d, member, (struct span){at.source, at.begin, (uint32_t)end});
}

struct value module_attribute(struct eval *e, enum module_id m, const char *name, struct span at) {
  struct value v;
  if (module_find(e, m, name, &v))
    return v;
  if (m == MODULE_HOST) {
    struct diag *d = eval_error(e, at, E0201, "`%s` of this module is host code", name);
    if (suggest_habit(e, d, name, eval_dotted_span(at)))
      return VALUE_ERROR;
    diag_help(d, "kernels take types and `finfo`, `iinfo` from there; the functions of the "
                 "language are in `tl`");
    return VALUE_ERROR;
  }
  if (m == MODULE_INDUCTOR) {
    struct diag *d = eval_error(e, at, E0201, "`triton_helpers` has no `%s` here", name);
    diag_help(d, "the functions of `triton_helpers` in this compiler are those of torch 2.9");
    return VALUE_ERROR;
  }
  struct diag *d = eval_error(e, at, E0201, "there is no `%s` in this module", name);
  if (suggest_habit(e, d, name, eval_dotted_span(at)))
    return VALUE_ERROR;
  const char *near = builtin_nearest(e, name, false);
  if (near) {
    diag_did_you_mean(d, at, near);
  }
  return VALUE_ERROR;
}

// ---- the module that the text stands in ----

static bool module_lookup(struct eval *e, const char *name, struct span at, struct value *ret) {
  const struct ast_module *m = e->frame->module;
  if (e->frame->is_std && !ast_find_constant(m, name) && !ast_find_function(m, name) &&
      std_value(e, name, ret))
    return true;
  return scope_module_name(e, m, name, at, ret);
}

// Errors with suggestions: the search takes time proportional to the number of names.
enum { MOST_SUGGESTIONS = 100 };

struct nearest {
  struct str name;
  const char *best;
  unsigned distance;
};

static void consider(struct nearest *n, const char *candidate) {
  const char *near = str_nearest(n->name, &candidate, 1);
  unsigned d = near ? str_distance(n->name, str_from(candidate)) : 0;
  if (near && (!n->best || d < n->distance))
    n->best = near, n->distance = d;
}

// `np.inf`, `math.pi`, `np.newaxis`: numbers and None, not functions of `tl`.
static bool suggest_constant(struct diag *d, const char *name, struct span at) {
  static const char *const rows[][2] = {{"inf", "float(\"inf\")"},   {"nan", "float(\"nan\")"},
                                        {"pi", "3.141592653589793"}, {"e", "2.718281828459045"},
                                        {"newaxis", "None"},         {"float16", "tl.float16"},
                                        {"float32", "tl.float32"},   {"int32", "tl.int32"}};
  static const char *const modules[] = {"np", "numpy", "math", "torch", "jnp"};
  bool known = false;
  for (size_t i = 0; i < COUNT_OF(modules); i++)
    known |= strcmp(modules[i], name) == 0;
  if (!known || !at.source || at.source->text.ptr[at.end] != '.')
    return false;
  struct str rest = {at.source->text.ptr + at.end + 1, at.source->text.len - at.end - 1};
  size_t n = 0;
  while (n < rest.len && (rest.ptr[n] == '_' || isalnum((unsigned char)rest.ptr[n])))
    n++;
  for (size_t i = 0; i < COUNT_OF(rows); i++)
    if (str_is((struct str){rest.ptr, n}, rows[i][0])) {
      diag_help(d, "write `%s`", rows[i][1]);
      diag_fixit(d, (struct span){at.source, at.begin, at.end + 1 + (uint32_t)n}, rows[i][1]);
      return true;
    }
  return false;
}

static struct value report_unknown(struct eval *e, const char *name, struct span at) {
  if (import_report(e, e->frame->module, name, at))
    return VALUE_ERROR;
  struct diag *d = eval_error(e, at, E0201, "unknown name `%s`", name);
  if (diag_error_count(e->diag) > MOST_SUGGESTIONS)
    return VALUE_ERROR;
  if (suggest_constant(d, name, at) || suggest_member(e, d, name, at) ||
      suggest_habit(e, d, name, at))
    return VALUE_ERROR;
  struct nearest n = {.name = str_from(name)};
  for (struct frame *f = e->frame; f; f = f->closure) {
    struct map_entry m;
    for (size_t i = 0; map_next(&f->variables, &i, &m);)
      consider(&n, ((struct variable *)m.value)->name);
  }
  const struct ast_module *m = e->frame->module;
  for (size_t i = 0; i < m->constant_count; i++)
    consider(&n, m->constants[i].name);
  for (size_t i = 0; i < m->function_count; i++)
    consider(&n, m->functions[i]->name);
  const char *builtin = builtin_nearest(e, name, false);
  if (builtin)
    consider(&n, builtin);
  if (n.best) {
    diag_did_you_mean(d, at, n.best);
  } else if (e->frame->function && e->frame->function->is_nested && !e->frame->closure) {
    diag_help(d,
              "variables of the host function around a kernel are known only to Python: make `%s` "
              "a parameter, `%s: tl.constexpr`, and give its value (`-D %s=...`)",
              name, name, name);
  } else {
    diag_help(d, "a kernel sees its parameters, its variables, functions of the file, module "
                 "constants and the language's functions");
  }
  return VALUE_ERROR;
}

// A function that is not inlined cannot use run-time values of the enclosing one.
static struct value report_outer(struct eval *e, const struct variable *v, struct span at) {
  struct diag *d =
      eval_error(e, at, E0312, "`%s` belongs to the function around this one", v->name);
  diag_label(d, v->span, "%s", value_type_text(e, v->value));
  diag_help(d,
            "a function that is not inlined sees values known at compile time only: pass `%s` "
            "as an argument",
            v->name);
  return VALUE_ERROR;
}

struct value scope_lookup(struct eval *e, const char *name, struct span at) {
  for (struct frame *f = e->frame; f; f = f->closure) {
    struct variable *v = scope_find(f, name);
    if (v && f->region != e->region && value_is_runtime(v->value))
      return report_outer(e, v, at);
    if (v)
      return scope_read(e, v, at);
  }
  struct value v;
  if (module_lookup(e, name, at, &v) || (e->on->find_name && e->on->find_name(e, name, &v)))
    return v;
  const struct builtin *b = builtin_find_bare(e, name);
  if (b)
    return value_of_builtin(b);
  if (scope_language_name(name, &v))
    return v;
  return report_unknown(e, name, at);
}
