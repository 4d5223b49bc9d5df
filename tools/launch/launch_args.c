// SPDX-License-Identifier: Apache-2.0
// Arguments of a launch: the kernel's run-time parameters, typed by --signature, with values of
// --arg.
#include "tools/launch/launch.h"

#include <math.h>

// The tile_type of a dtype: both enumerations have the same order.
static tile_type type_of(enum dtype d) { return (tile_type)d; }

// A scalar argument's type: the annotation's, the one given with the value, or the smallest default
// that holds it.
static enum dtype scalar_type(const struct launch_arg *a) {
  if (a->param->is_typed && !a->param->is_pointer && !a->param->is_descriptor)
    return a->param->dtype;
  if (a->value.scalar_type != DTYPE_NONE)
    return a->value.scalar_type;
  if (!a->value.is_integer)
    return DTYPE_F32;
  return a->value.integer >= INT32_MIN && a->value.integer <= INT32_MAX ? DTYPE_I32 : DTYPE_I64;
}

static int pack_integer(struct tool *t, const struct launch_arg *a, enum dtype type,
                        tile_arg *ret) {
  int64_t n = a->value.integer;
  unsigned bits = dtype_bits(type) - dtype_is_signed(type);
  int64_t most = bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
  int64_t least = dtype_is_signed(type) ? -most - 1 : dtype_bits(type) == 64 ? INT64_MIN : 0;
  if (n >= least && n <= most) {
    *ret = tile_arg_int(type_of(type), n);
    return EXIT_DONE;
  }
  struct diag *d = diag_error(t->diag, a->where, E0723, "`%s` is an %s, which %lld does not fit",
                              a->param->name, dtype_name(type), (long long)n);
  diag_help(d, "give %lld to %lld, or declare the parameter as `%s: i64`", (long long)least,
            (long long)most, a->param->name);
  return EXIT_WRONG;
}

static int pack_none(struct tool *t, const struct launch_arg *a, tile_arg *ret) {
  *ret = tile_arg_none();
  if (!a->param->is_typed || a->param->is_pointer)
    return EXIT_DONE;
  diag_error(t->diag, a->where, E0723, "`%s` is declared %s and cannot be None", a->param->name,
             a->param->is_descriptor ? "a tensor descriptor" : dtype_name(a->param->dtype));
  return EXIT_WRONG;
}

static int pack(struct tool *t, struct launch_arg *a, tile_arg *ret) {
  if (a->value.is_none)
    return pack_none(t, a, ret);
  if (a->value.is_array && (a->value.is_descriptor || a->param->is_descriptor))
    return launch_make_descriptor(t, a, ret);
  if (a->param->is_descriptor) {
    diag_help(diag_error(t->diag, a->where, E0723, "`%s` is a tensor descriptor and needs an array",
                         a->param->name),
              "write for example `--arg '%s=%s[512x256]:rand(0):block(64x32)'`", a->param->name,
              dtype_name(a->param->dtype));
    return EXIT_WRONG;
  }
  if (a->value.is_array) {
    if (a->param->is_typed && !a->param->is_pointer) {
      diag_error(t->diag, a->where, E0723, "`%s` is a scalar, not an array", a->param->name);
      return EXIT_WRONG;
    }
    enum dtype declared = a->param->is_typed ? a->param->dtype : a->value.array.dtype;
    if (declared != a->value.array.dtype) {
      diag_help(diag_error(t->diag, a->where, E0714, "`%s` points to %s, not to %s", a->param->name,
                           dtype_name(declared), dtype_name(a->value.array.dtype)),
                "give an array of `%s`, or change the annotation of `%s`", dtype_name(declared),
                a->param->name);
      return EXIT_WRONG;
    }
    *ret = tile_arg_pointer(a->buffer, type_of(a->value.array.dtype));
    return EXIT_DONE;
  }
  if (a->param->is_typed && a->param->is_pointer) {
    diag_help(diag_error(t->diag, a->where, E0723, "`%s` is a pointer and needs an array",
                         a->param->name),
              "write for example `--arg '%s=%s[1000]:rand(0)'`", a->param->name,
              dtype_name(a->param->dtype));
    return EXIT_WRONG;
  }
  enum dtype type = scalar_type(a);
  double real = a->value.is_integer ? (double)a->value.integer : a->value.real;
  if (dtype_is_float(type))
    *ret = type == DTYPE_F32 ? tile_arg_f32((float)real) : tile_arg_f64(real);
  else if (a->value.is_integer)
    return pack_integer(t, a, type, ret);
  else {
    struct diag *d = diag_error(t->diag, a->where, E0723, "`%s` is an integer (%s), not %g",
                                a->param->name, dtype_name(type), real);
    double limit = 2147483647.0;
    bool is_whole = floor(real) == real && fabs(real) < 9e18;
    if (is_whole && (fabs(real) <= limit || dtype_bits(type) == 64))
      diag_help(d, "write it without a point or exponent: `--arg %s=%.0f`", a->param->name, real);
    else if (is_whole)
      diag_help(d,
                "it does not fit 32 bits: declare the parameter as `%s: i64`, and write `%s=%.0f`",
                a->param->name, a->param->name, real);
    else
      diag_help(d, "write a whole number, `--arg %s=%.0f`, or declare the parameter as `%s: f32`",
                a->param->name, floor(real), a->param->name);
    return EXIT_WRONG;
  }
  if (dtype_is_float(type) && type != DTYPE_F32)
    ret->type = type_of(type);
  return EXIT_DONE;
}

struct launch_arg *launch_find(struct tool *t, struct launch *l, const char *name,
                               struct span where) {
  const char **names = arena_array(t->arena, const char *, l->arg_count + 1);
  for (size_t i = 0; i < l->arg_count; i++) {
    names[i] = l->args[i].param->name;
    if (strcmp(names[i], name) == 0)
      return &l->args[i];
  }
  struct diag *d = diag_error(t->diag, where, E0721, "kernel `%s` has no run-time parameter `%s`",
                              l->kernel_name, name);
  const char *near = str_nearest(str_from(name), names, l->arg_count);
  if (near)
    diag_did_you_mean(d, tool_name_span(where, name), near);
  if (!near) {
    struct strbuf list = {.arena = t->arena};
    for (size_t i = 0; i < l->arg_count; i++)
      strbuf_printf(&list, "%s`%s`", i ? ", " : "", names[i]);
    diag_help(d, "its run-time parameters are %s; values of others are given by `-D`",
              l->arg_count ? strbuf_cstr(&list) : "none");
    strbuf_finish(&list);
  }
  return NULL;
}

static bool take_type(struct tool *t, struct launch *l, const struct lang_binding *b,
                      struct span at) {
  struct lang_param *p = NULL;
  for (size_t i = 0; i < l->param_count && !p; i++)
    p = strcmp(l->params[i].name, b->name) == 0 ? &l->params[i] : NULL;
  bool is_pointer = b->kind == BIND_POINTER;
  if (!p || p->is_constexpr) {
    diag_error(t->diag, at, E0412, "`%s` has no %s parameter `%s`", l->kernel_name,
               p ? "run-time" : "such", b->name);
    return false;
  }
  if (b->kind == BIND_CONSTANT) {
    l->is_none[p - l->params] = true;
    return true;
  }
  bool is_descriptor = b->kind == BIND_DESCRIPTOR;
  if (p->is_typed &&
      (p->is_pointer != is_pointer || p->is_descriptor != is_descriptor || p->dtype != b->dtype)) {
    diag_help(diag_error(t->diag, at, E0413, "`%s` is declared as another type", b->name),
              "change the annotation, or leave it out of `--signature`");
    return false;
  }
  p->is_typed = true;
  p->is_pointer = is_pointer;
  p->dtype = b->dtype;
  if (is_descriptor) { // beside an annotation both are checked by the compiler
    p->is_descriptor = true;
    p->block = b->block;
  }
  if (b->is_one || b->divisible_by > p->divisible_by)
    p->divisible_by = b->is_one ? 0 : b->divisible_by; // 0: it is 1
  return true;
}

bool launch_take_signature(struct tool *t, struct launch *l) {
  struct word signature = {t->o.signature, t->o.signature_at};
  struct str entry;
  l->is_none = arena_array(t->arena, bool, l->param_count + 1);
  for (struct str rest = signature.value; tool_next_entry(&rest, &entry);) {
    struct bindings types = {0};
    if (!tool_parse_types(t, &signature, entry, &types))
      return false;
    for (size_t i = 0; i < types.len; i++)
      if (!take_type(t, l, &types.at[i], tool_part(&signature, entry)))
        return false;
  }
  return true;
}

// Checks that a number satisfies the hint of --signature.
static bool keeps_hint(struct tool *t, const struct launch_arg *a) {
  uint32_t by = a->param->divisible_by;
  if (a->value.is_array || !a->value.is_integer ||
      (by ? a->value.integer % by : a->value.integer - 1) == 0)
    return true;
  if (by)
    diag_error(t->diag, a->where, E0723, "`%s` is %lld, and promised to be divisible by %u",
               a->param->name, (long long)a->value.integer, by);
  else
    diag_error(t->diag, a->where, E0723, "`%s` is %lld, and promised to be 1", a->param->name,
               (long long)a->value.integer);
  return false;
}

// NumPy has no bf16: its files hold the bits as integers.
static void warn_of_bits(struct tool *t, const struct launch_arg *a, struct str spec) {
  if (a->param->is_typed || !a->value.is_array || a->value.array.dtype != DTYPE_U16 ||
      !str_starts(spec, "@"))
    return;
  diag_help(diag_warning(t->diag, a->where, E0714,
                         "`%s` is read as integers of 16 bits, which may be the bits of bf16",
                         a->param->name),
            "`--signature '%s=*bf16'` reads them so, `--signature '%s=*u16'` as integers",
            a->param->name, a->param->name);
}

// Sets the argument that one --arg names.
static int match_argument(struct tool *t, struct launch *l, const struct assignment *given,
                          struct launch_arg **ret) {
  for (size_t k = 0; k < l->param_count; k++)
    if (l->params[k].is_constexpr && strcmp(l->params[k].name, given->name) == 0) {
      diag_help(
          diag_error(t->diag, given->where, E0723, "`%s` is a compile-time parameter", given->name),
          "give it as `-D %s=%.*s`", given->name, STR_ARG(given->value));
      return EXIT_WRONG;
    }
  struct launch_arg *a = *ret = launch_find(t, l, given->name, given->where);
  if (!a)
    return EXIT_WRONG;
  a->where = given->where;
  bool has_elements = a->param->is_typed && (a->param->is_pointer || a->param->is_descriptor);
  enum dtype as = has_elements ? a->param->dtype : DTYPE_NONE;
  bool (*parse)(struct arena *, struct diag_engine *, struct span, struct str, enum dtype,
                struct arg_value *) = l->is_shape_only ? arg_spec_shape : arg_spec_parse;
  a->value = (struct arg_value){0};
  if (!parse(t->arena, t->diag, given->where, given->value, as, &a->value))
    return tool_error_status(t);
  if (l->is_none[a->param - l->params] && !a->value.is_none) {
    diag_error(t->diag, given->where, E0723, "`%s` is None by `--signature`", given->name);
    return EXIT_WRONG;
  }
  if (!keeps_hint(t, a))
    return EXIT_WRONG;
  warn_of_bits(t, a, given->value);
  return EXIT_DONE;
}

// Whether the parameter is None without an --arg.
static bool is_none_by_default(const struct launch *l, const struct lang_param *p) {
  return l->is_none[p - l->params] ||
         (!p->is_typed && p->default_text && strcmp(p->default_text, "None") == 0);
}

int launch_match_arguments(struct tool *t, struct launch *l) {
  const struct lang_param *params = l->params;
  size_t count = l->param_count;
  l->args = arena_array(t->arena, struct launch_arg, count + 1);
  l->packed = arena_array(t->arena, tile_arg, count + 1);
  bool *is_set = arena_array(t->arena, bool, count + 1);
  for (size_t i = 0; i < count; i++)
    if (!params[i].is_constexpr)
      l->args[l->arg_count++].param = &params[i];
  for (size_t i = 0; i < t->o.args.len; i++) {
    struct launch_arg *a;
    int status = match_argument(t, l, &t->o.args.at[i], &a);
    if (status != EXIT_DONE)
      return status;
    is_set[a - l->args] = true;
  }
  int status = EXIT_DONE;
  bool *is_missing = arena_array(t->arena, bool, count + 1); // by parameter
  for (size_t i = 0; i < l->arg_count; i++) {
    if (is_set[i])
      continue;
    const struct lang_param *p = l->args[i].param;
    l->args[i].where = p->span;
    l->args[i].value.is_none = is_none_by_default(l, p);
    is_missing[p - params] = !l->args[i].value.is_none;
    status = l->args[i].value.is_none ? status : EXIT_WRONG;
  }
  if (status != EXIT_DONE)
    launch_report_missing(t, l, is_missing);
  for (size_t i = 0; status == EXIT_DONE && i < l->arg_count; i++)
    status = pack(t, &l->args[i], &l->packed[i]);
  return status;
}
