// SPDX-License-Identifier: Apache-2.0
// What each parameter of a kernel is, from its declaration and the bindings of the launch. The
// bindings `s[0]`, `s[1]`, ... make `s` a tuple.
#include "lang/emit/kernel_param.h"

#include "lang/emit/control.h"
#include "lang/eval/consteval.h"
#include "lang/eval/python.h"
#include "lang/extents/parameter_uses.h"

enum { MOST_ELEMENTS = 256, MOST_NESTING = 32 };

static struct span here(const struct kernel_param *p) { return p->ast->span; }

static const struct lang_binding *find_binding(const struct lang_options *o, const char *name) {
  for (size_t i = 0; i < o->binding_count; i++)
    if (strcmp(o->bindings[i].name, name) == 0)
      return &o->bindings[i];
  return NULL;
}

// Whether a binding's name is that of an element of `name`.
static bool is_element(struct str binding, const char *name) {
  size_t n = strlen(name);
  return binding.len > n && memcmp(binding.ptr, name, n) == 0 && binding.ptr[n] == '[';
}

static void report_unknown(struct eval *e, struct kernel *k, const struct lang_binding *b,
                           const char **names) {
  struct span at = b->name_at.source ? b->name_at : k->function->name_span;
  struct diag *d =
      diag_error(e->diag, at, E0412, "`%s` has no parameter `%s`", k->function->name, b->name);
  const char *near = str_nearest(str_from(b->name), names, k->count);
  for (size_t i = 0; near && i < k->count; i++)
    k->params[i].is_meant |= strcmp(names[i], near) == 0;
  if (near && b->name_at.source)
    diag_did_you_mean(d, b->name_at, near);
  else if (near)
    diag_help(d, "did you mean `%s`?", near);
  else if (k->count)
    diag_help(d, "its parameters are named as in its `def` line");
}

void kernel_check_bindings(struct eval *e, struct kernel *k) {
  const struct lang_options *o = e->options;
  const char **names = arena_array(e->a, const char *, k->count + 1);
  for (size_t i = 0; i < k->count; i++)
    names[i] = k->params[i].ast->name;
  for (size_t b = 0; b < o->binding_count; b++) {
    bool known = false;
    for (size_t i = 0; i < k->count && !known; i++)
      known = strcmp(names[i], o->bindings[b].name) == 0 ||
              is_element(str_from(o->bindings[b].name), names[i]);
    for (size_t i = 0; i < e->module->override_count && !known; i++)
      known = strcmp(e->module->overrides[i].name, o->bindings[b].name) == 0;
    if (known)
      continue;
    report_unknown(e, k, &o->bindings[b], names);
  }
}

static void bind_constant(struct eval *e, struct kernel_param *p) {
  const struct lang_binding *b = p->binding;
  const struct lang_param *a = p->declared;
  if (b->text && !b->text[0]) { // `-D ACTIVATION=""`: the shell removed the quotes
    p->constant = value_str(STR(""));
    return;
  }
  if (const_parse(e->a, str_from(b->text ? b->text : ""), &p->constant)) {
    if (p->constant.kind == VALUE_NONE && a->is_typed && !a->is_pointer) {
      eval_error(e, here(p), E0413, "`%s` is declared %s and cannot be None", p->name,
                 a->is_descriptor ? "a tensor descriptor" : dtype_name(a->dtype));
      p->constant = VALUE_ERROR;
    }
    return;
  }
  struct diag *d = eval_error(e, here(p), E0413, "`%s` is not a value for `%s`",
                              b->text ? b->text : "", b->name);
  diag_help(d,
            "a number, True, False, None, a type such as float16, a string, or a tuple of these");
  p->constant = VALUE_ERROR;
}

static void missing_constant(struct eval *e, struct kernel_param *p) {
  p->constant = VALUE_ERROR;
  if (p->is_meant)
    return;
  struct diag *d =
      eval_error(e, here(p), E0411, "missing value of compile-time parameter `%s`", p->name);
  diag_help(d, "pass `-D %s=...`", p->name);
}

// The types of the annotation and of the launch must agree.
static void check_type(struct eval *e, const struct kernel_param *p) {
  const struct lang_param *a = p->declared;
  if (!a->is_typed ||
      (!a->is_descriptor && a->is_pointer == (p->type.ptr > 0) && a->dtype == p->type.dtype))
    return;
  struct type declared = {.dtype = a->dtype, .ptr = a->is_pointer};
  struct diag *d = eval_error(e, here(p), E0413, "`%s` is declared %s but given as %s", p->name,
                              a->is_descriptor ? "a tensor descriptor" : type_text(e->a, declared),
                              type_text(e->a, p->type));
  diag_help(d, "change the annotation, or the argument");
}

static void bind_typed(struct eval *e, struct kernel_param *p) {
  const struct lang_binding *b = p->binding;
  if (p->declared->is_constexpr) {
    struct diag *d = eval_error(
        e, here(p), E0413, "`%s` is a compile-time parameter and cannot be an argument", p->name);
    diag_help(d, "pass `-D %s=...`", p->name);
    p->constant = VALUE_ERROR;
    return;
  }
  p->type = (struct type){
      .dtype = b->dtype, .ptr = b->kind == BIND_POINTER, .is_const = p->declared->is_const};
  check_type(e, p);
  p->is_one = b->kind == BIND_SCALAR && b->is_one && type_is_int(p->type);
  p->is_runtime = !p->is_one;
  p->is_unaligned = b->is_unaligned;
  p->divisible_by =
      b->divisible_by > p->declared->divisible_by ? b->divisible_by : p->declared->divisible_by;
}

// Defaults are host code.
static struct value default_of(struct eval *e, const struct kernel_param *p) {
  struct purpose purpose = {.code = E0411, .what = "the default of a parameter", .param = p->name};
  e->on = &python_dialect;
  e->purpose = &purpose;
  struct operand v = {eval_expr(e, p->ast->default_value), p->ast->default_value->span};
  bool known = need_known(e, v);
  e->on = &kernel_dialect;
  e->purpose = NULL;
  e->stopped = false; // an error ends only the evaluation of the default
  return known ? v.v : VALUE_ERROR;
}

// ---- parameters without a type ----

// A tensor descriptor as in --signature, or, `in_file`, as an annotation; extents of 0 are 64.
static const char *descriptor_text(struct eval *e, enum dtype element, unsigned rank,
                                   const uint32_t *shape, bool in_file) {
  struct strbuf b = {.arena = e->a};
  strbuf_printf(&b, in_file ? "tensordesc[%s, [" : "tensordesc[%s,", dtype_name(element));
  for (unsigned d = 0; d < rank; d++)
    strbuf_printf(&b, "%s%u", d == 0 ? "" : in_file ? ", " : "x", shape[d] ? shape[d] : 64);
  strbuf_puts(&b, in_file ? "]]" : "]");
  return arena_strdup(e->a, strbuf_cstr(&b));
}

static const char *binding_text(struct eval *e, const struct lang_binding *b) {
  if (b->kind == BIND_CONSTANT)
    return b->text;
  if (b->kind == BIND_DESCRIPTOR)
    return descriptor_text(e, b->dtype, b->block.rank, b->block.shape, false);
  const char *star = b->kind == BIND_POINTER ? "*" : "", *type = dtype_name(b->dtype);
  return b->is_one || b->divisible_by > 1
             ? arena_printf(e->a, "%s%s:%u", star, type, b->is_one ? 1 : b->divisible_by)
             : arena_printf(e->a, "%s%s", star, type);
}

// The type that the parameter's use suggests, as in --signature or, `in_file`, as an annotation.
static const char *suggested_type(struct eval *e, const struct parameter_uses *uses, size_t i,
                                  const char *name, bool in_file) {
  static const uint32_t open[LANG_BLOCK_RANK];
  enum parameter_use use = uses->use[i];
  enum dtype type = parameter_dtype(use, name, DTYPE_F32);
  if (use == USE_DESCRIPTOR)
    return descriptor_text(e, type, uses->rank[i], open, in_file);
  return use == USE_SCALAR ? dtype_name(type)
                           : arena_printf(e->a, in_file ? "ptr[%s]" : "*%s", dtype_name(type));
}

// One --signature with the types of all parameters that the file leaves untyped.
static const char *whole_signature(struct eval *e, const struct ast_function *f,
                                   const struct lang_param *declared,
                                   const struct parameter_uses *uses) {
  struct strbuf b = {.arena = e->a};
  for (size_t i = 0; i < f->param_count; i++) {
    const struct lang_param *p = &declared[i];
    const struct lang_binding *given = find_binding(e->options, p->name);
    if (p->is_constexpr || p->is_typed || (!given && p->has_default))
      continue;
    strbuf_printf(&b, "%s%s=%s", b.len ? "," : "", p->name,
                  given ? binding_text(e, given) : suggested_type(e, uses, i, p->name, false));
  }
  return arena_strdup(e->a, strbuf_cstr(&b));
}

static void report_untyped(struct eval *e, const struct kernel_param *p) {
  const struct ast_function *f = e->frame->function;
  struct diag *d =
      eval_error(e, here(p), E0410, "the type of parameter `%s` is not known", p->name);
  size_t i = 0;
  while (i < f->param_count && &f->params[i] != p->ast)
    i++;
  if (!d || i == f->param_count)
    return;
  struct parameter_uses uses = parameter_uses_of(e->a, e->module, f);
  const char *edit =
      arena_printf(e->a, "%s: %s", p->name, suggested_type(e, &uses, i, p->name, true));
  diag_help(d,
            "write `%s` in the file, or give the types of all parameters by\n"
            "`--signature '%s'`",
            edit, whole_signature(e, f, p->declared - i, &uses));
  diag_fixit(d, p->ast->name_span, edit);
}

static void resolve_one(struct eval *e, struct kernel_param *p) {
  const struct lang_param *a = p->declared;
  if (p->binding && p->binding->kind == BIND_CONSTANT) {
    bind_constant(e, p);
  } else if (descriptor_param_is(p)) {
    p->is_descriptor = true;
  } else if (p->binding) {
    bind_typed(e, p);
  } else if (a->is_constexpr || (!a->is_typed && p->ast->default_value)) {
    if (p->ast->default_value)
      p->constant = default_of(e, p);
    else
      missing_constant(e, p);
  } else if (a->is_typed) {
    p->type = (struct type){.dtype = a->dtype, .ptr = a->is_pointer, .is_const = a->is_const};
    p->is_runtime = true;
    p->divisible_by = a->divisible_by;
  } else {
    report_untyped(e, p);
    p->constant = VALUE_ERROR;
  }
}

// ---- tuples ----

// One more than the largest index of an element; 0: no tuple. False, and reported, for a name such
// as `s[x]`.
static bool count_elements(struct eval *e, const struct kernel_param *p, size_t *ret) {
  const struct lang_options *o = e->options;
  *ret = 0;
  for (size_t i = 0; i < o->binding_count; i++) {
    struct str name = str_from(o->bindings[i].name), index;
    if (!is_element(name, p->name))
      continue;
    size_t n = strlen(p->name) + 1;
    uint64_t at;
    struct str rest = str_split((struct str){name.ptr + n, name.len - n}, ']', &index);
    bool fits = rest.ptr && (rest.len == 0 || rest.ptr[0] == '[');
    if (!fits || !str_to_u64(index, &at) || at >= MOST_ELEMENTS) {
      eval_error(e, here(p), E0413, "`%s` is no element of `%s`", o->bindings[i].name, p->name);
      return false;
    }
    *ret = at + 1 > *ret ? (size_t)at + 1 : *ret;
  }
  return true;
}

static void resolve_tuple(struct eval *e, struct kernel_param *p, size_t count, unsigned depth);

static void resolve(struct eval *e, struct kernel_param *p, unsigned depth) {
  size_t count;
  p->binding = find_binding(e->options, p->name);
  if (!count_elements(e, p, &count))
    p->constant = VALUE_ERROR;
  else if (count == 0 && depth && !p->binding)
    eval_error(e, here(p), E0413, "the tuple has no element `%s`", p->name);
  else if (count == 0)
    resolve_one(e, p);
  else
    resolve_tuple(e, p, count, depth);
}

static bool has_descriptors(const struct kernel_param *params, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (params[i].is_descriptor || has_descriptors(params[i].items, params[i].item_count))
      return true;
  return false;
}

static void resolve_descriptors(struct eval *e, struct kernel_param *params, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (params[i].is_descriptor)
      descriptor_param_resolve(e, &params[i]);
    else
      resolve_descriptors(e, params[i].items, params[i].item_count);
}

static void resolve_tuple(struct eval *e, struct kernel_param *p, size_t count, unsigned depth) {
  const struct lang_param *a = p->declared;
  p->constant = VALUE_ERROR;
  if (a->is_typed || a->is_constexpr || p->binding || depth == MOST_NESTING) {
    struct diag *d = eval_error(e, here(p), E0413, "`%s` cannot be a tuple of arguments", p->name);
    if (a->is_constexpr)
      diag_help(d, "pass `-D %s=(1,2)`", p->ast->name);
    return;
  }
  p->is_tuple = true;
  p->item_count = count;
  p->items = arena_array(e->a, struct kernel_param, count);
  for (size_t i = 0; i < count; i++) {
    p->items[i] = (struct kernel_param){.ast = p->ast, .declared = a};
    p->items[i].name = arena_printf(e->a, "%s[%zu]", p->name, i);
    resolve(e, &p->items[i], depth + 1);
  }
}

// The blocks of descriptors may be named by compile-time parameters, which come first.
void kernel_params_resolve(struct eval *e, struct kernel *k) {
  for (size_t i = 0; i < k->count; i++)
    resolve(e, &k->params[i], 0);
  if (!has_descriptors(k->params, k->count))
    return;
  e->on = &python_dialect;
  for (size_t i = 0; i < k->count; i++) {
    const struct kernel_param *p = &k->params[i];
    bool is_known = !p->is_tuple && !p->is_descriptor && !p->is_runtime && !p->is_one;
    scope_assign(e, p->name, p->ast->name_span,
                 is_known ? p->constant : host_argument(e, p->name, false, DTYPE_NONE));
  }
  e->on = &kernel_dialect;
  resolve_descriptors(e, k->params, k->count);
}
