// SPDX-License-Identifier: Apache-2.0
// From options to the functions of a pack: --kernel or --function, -D, --signature, --target.
#include "lang/frontend.h"
#include "tools/aot/aot.h"

#include <ctype.h>

// ---- names in C ----

// Reserved words of C and C++, and names that generated code uses.
static const char *const taken[] = {
    "alignas",  "alignof",  "and",       "and_eq",   "asm",      "auto",      "bitand",
    "bitor",    "bool",     "break",     "case",     "catch",    "char",      "class",
    "compl",    "const",    "constexpr", "continue", "decltype", "default",   "delete",
    "do",       "double",   "else",      "enum",     "errno",    "explicit",  "export",
    "extern",   "false",    "float",     "for",      "friend",   "goto",      "if",
    "inline",   "int",      "int16_t",   "int32_t",  "int64_t",  "int8_t",    "linux",
    "long",     "mutable",  "namespace", "new",      "noexcept", "not",       "not_eq",
    "nullptr",  "operator", "or",        "or_eq",    "private",  "protected", "public",
    "register", "restrict", "return",    "short",    "signed",   "size_t",    "sizeof",
    "static",   "stdin",    "stdout",    "stderr",   "struct",   "switch",    "template",
    "this",     "throw",    "true",      "try",      "typedef",  "typeid",    "typename",
    "typeof",   "uint16_t", "uint32_t",  "uint64_t", "uint8_t",  "uintptr_t", "union",
    "unix",     "unsigned", "using",     "virtual",  "void",     "volatile",  "wchar_t",
    "while",    "xor",      "xor_eq",    "NULL",     "EOF",      "module",    "stream",
    "grid"};

static bool is_taken(struct str name) {
  for (size_t i = 0; i < COUNT_OF(taken); i++)
    if (str_is(name, taken[i]))
      return true;
  return str_starts(name, "tile_");
}

// Letters, digits and single underscores are kept; other bytes become `_xHH`. A reserved name, and
// any that ends in `_`, gets another `_`. An element of a tuple, `s[0]`, is `s_0`.
const char *aot_c_name(struct arena *a, const char *name) {
  struct strbuf b = {.arena = a};
  if (isdigit((unsigned char)name[0]))
    strbuf_putc(&b, '_');
  for (const char *p = name; *p; p++) {
    if (isalnum((unsigned char)*p) || *p == '_')
      strbuf_putc(&b, *p);
    else if (*p == '[')
      strbuf_putc(&b, '_');
    else if (*p != ']')
      strbuf_printf(&b, "_x%02x", (unsigned)(unsigned char)*p);
  }
  if (b.len == 0 || b.ptr[b.len - 1] == '_' || is_taken((struct str){b.ptr, b.len}))
    strbuf_putc(&b, '_');
  const char *result = arena_strdup(a, strbuf_cstr(&b));
  strbuf_finish(&b);
  return result;
}

static bool is_c_name(struct str name) {
  for (size_t i = 0; i < name.len; i++)
    if (!isalnum((unsigned char)name.ptr[i]) && name.ptr[i] != '_')
      return false;
  return name.len > 0 && !isdigit((unsigned char)name.ptr[0]) && !is_taken(name);
}

// ---- functions ----

// Of an element of a tuple, `strides[0]`, the parameter.
static const struct lang_param *find_param(const struct aot_function *f, struct str name) {
  (void)str_split(name, '[', &name);
  for (size_t i = 0; i < f->declared_count; i++)
    if (str_is(name, f->declared[i].name))
      return &f->declared[i];
  return NULL;
}

static bool set_kernel(struct aot *a, struct aot_function *f, const char *kernel) {
  struct lang_param *params;
  if (!lang_kernel_params(a->tool->arena, a->tool->diag, a->unit, kernel, &f->kernel, &params,
                          &f->declared_count))
    return false;
  f->declared = params;
  return true;
}

static bool add_function(struct aot *a, struct aot_function *f) {
  for (size_t i = 0; i < a->functions.len; i++)
    if (strcmp(a->functions.at[i].name, f->name) == 0) {
      diag_help(diag_error(a->tool->diag, f->at, E0753, "there are two functions `%s`", f->name),
                "`--function NAME:kernel=%s,...` gives one another name", f->kernel);
      return false;
    }
  f->num_warps = f->num_warps ? f->num_warps : a->tool->o.num_warps;
  f->num_stages = f->num_stages ? f->num_stages : a->tool->o.num_stages;
  f->max_registers = a->tool->o.max_registers;
  f->num_ctas = f->num_ctas ? f->num_ctas : a->tool->o.num_ctas;
  f->warp_specialize = f->warp_specialize ? f->warp_specialize : a->tool->o.warp_specialize;
  vec_push(a->tool->arena, &a->functions, *f);
  return true;
}

static bool wrong_function(struct aot *a, const struct word *w, struct str part, const char *why) {
  diag_help(diag_error(a->tool->diag, tool_part(w, part), E0753, "`%.*s`: %s", STR_ARG(part), why),
            "such as `--function 'add_f16:kernel=add,x=*f16,BLOCK=2048,num_warps=8'`");
  return false;
}

static bool launch_option(struct aot *a, const struct word *w, struct str entry, struct str value,
                          uint64_t limit, uint32_t *ret) {
  uint64_t n;
  if (!str_to_u64(value, &n) || n < 1 || n > limit)
    return wrong_function(a, w, entry, "out of range");
  *ret = (uint32_t)n;
  return true;
}

static bool function_entry(struct aot *a, const struct word *w, struct aot_function *f,
                           struct str entry) {
  struct str key, value = str_split(entry, '=', &key);
  struct arena *arena = a->tool->arena;
  if (!value.ptr)
    return wrong_function(a, w, entry, "no `=`");
  if (str_is(key, "kernel"))
    return true; // an earlier entry counts
  if (str_is(key, "num_warps"))
    return launch_option(a, w, entry, value, 32, &f->num_warps);
  if (str_is(key, "num_stages"))
    return launch_option(a, w, entry, value, 16, &f->num_stages);
  if (str_is(key, "num_ctas"))
    return launch_option(a, w, entry, value, 16, &f->num_ctas);
  if (str_is(key, "warp_specialize") && !find_param(f, key))
    return warp_specialize_of(value, &f->warp_specialize) ||
           wrong_function(a, w, entry, "it is auto, on or off");
  const struct lang_param *p = find_param(f, key);
  if (!p) {
    const char **names = arena_array(arena, const char *, f->declared_count + 5);
    size_t n = 0;
    for (; n < f->declared_count; n++)
      names[n] = f->declared[n].name;
    names[n++] = "kernel", names[n++] = "num_warps", names[n++] = "num_stages";
    names[n++] = "num_ctas";
    names[n++] = "warp_specialize";
    const char *near = str_nearest(key, names, n);
    struct diag *d = diag_error(a->tool->diag, tool_part(w, key), E0753,
                                "kernel `%s` has no parameter `%.*s`", f->kernel, STR_ARG(key));
    if (near)
      diag_did_you_mean(d, tool_part(w, key), near);
    return false;
  }
  struct bindings types = {0};
  if (p->is_constexpr)
    vec_push(arena, &types, tool_constant(a->tool, p->name, value));
  else if (!tool_parse_types(a->tool, w, entry, &types))
    return false;
  for (size_t i = 0; i < types.len; i++)
    vec_push(arena, &f->bindings, types.at[i]);
  return true;
}

// The value of `kernel=` among the entries, or NULL.
static const char *kernel_entry(struct aot *a, struct str entries) {
  struct str entry, key;
  while (tool_next_entry(&entries, &entry)) {
    struct str value = str_split(entry, '=', &key);
    if (value.ptr && str_is(key, "kernel"))
      return arena_strndup(a->tool->arena, value.ptr, value.len);
  }
  return NULL;
}

// --function NAME[:KEY=VALUE,...]. Without `kernel=`: the kernel of that name, or else the only
// one.
static bool parse_function(struct aot *a, const struct word *w) {
  struct tool *t = a->tool;
  struct str name, entries = str_split(w->value, ':', &name), entry;
  struct aot_function f = {.at = w->where};
  if (!is_c_name(name))
    return wrong_function(a, w, name, "this is no name for a function in C");
  f.name = arena_strndup(t->arena, name.ptr, name.len);
  const char *kernel = kernel_entry(a, entries);
  const char *const *names;
  size_t count = lang_kernels(a->unit, &names);
  for (size_t i = 0; i < count && !kernel; i++)
    if (str_is(name, names[i]))
      kernel = names[i];
  if (!set_kernel(a, &f, kernel ? kernel : t->o.kernel))
    return false;
  while (tool_next_entry(&entries, &entry))
    if (!function_entry(a, w, &f, entry))
      return false;
  return add_function(a, &f);
}

// Each --kernel, or every kernel of the file.
static bool plain_functions(struct aot *a) {
  struct tool *t = a->tool;
  const char *const *names;
  size_t count = lang_kernels(a->unit, &names), n = t->o.kernels.len ? t->o.kernels.len : count;
  if (n == 0)
    return set_kernel(a, &(struct aot_function){0}, NULL); // reports that there is no kernel
  for (size_t i = 0; i < n; i++) {
    struct aot_function f = {.at = SPAN_NONE};
    const char *name = t->o.kernels.len ? arena_strndup(t->arena, t->o.kernels.at[i].value.ptr,
                                                        t->o.kernels.at[i].value.len)
                                        : names[i];
    if (t->o.kernels.len)
      f.at = t->o.kernels.at[i].where;
    if (!set_kernel(a, &f, name))
      return false;
    f.name = aot_c_name(t->arena, f.kernel);
    if (!add_function(a, &f))
      return false;
  }
  return true;
}

// ---- -D and --signature ----

static bool has_binding(const struct aot_function *f, const char *name) {
  for (size_t i = 0; i < f->bindings.len; i++)
    if (strcmp(f->bindings.at[i].name, name) == 0)
      return true;
  return false;
}

// Types apply to parameters that the source leaves untyped; other kernels of the file may have one
// of the same name and another type.
static bool suits(const struct lang_param *p, const struct lang_binding *b) {
  return b->kind == BIND_CONSTANT || !p->is_typed ||
         (p->is_descriptor == (b->kind == BIND_DESCRIPTOR) &&
          p->is_pointer == (b->kind == BIND_POINTER) && p->dtype == b->dtype);
}

// Whether some kernel of the file has it.
static bool file_has(struct aot *a, const struct lang_binding *b) {
  const char *const *kernels;
  size_t count = lang_kernels(a->unit, &kernels);
  struct diag_engine *silent = diag_engine_create(a->tool->arena);
  for (size_t i = 0; i < count; i++) {
    struct aot_function f = {0};
    struct lang_param *params;
    if (!lang_kernel_params(a->tool->arena, silent, a->unit, kernels[i], &f.kernel, &params,
                            &f.declared_count))
      continue;
    f.declared = params;
    const struct lang_param *p = find_param(&f, str_from(b->name));
    if (p && suits(p, b))
      return true;
  }
  return false;
}

// A constant of the file has one value for all kernels.
static bool bind_all(struct aot *a, const struct lang_binding *b) {
  for (size_t i = 0; i < a->functions.len; i++)
    if (!has_binding(&a->functions.at[i], b->name))
      vec_push(a->tool->arena, &a->functions.at[i].bindings, *b);
  return true;
}

// For every function whose kernel has the parameter and that does not set it itself. A name that
// fits no function is given to the first, so that its compilation reports it.
static bool bind_everywhere(struct aot *a, const struct lang_binding *b, struct span where) {
  struct aot_function *first = NULL;
  bool bound = false;
  for (size_t i = 0; i < a->functions.len; i++) {
    struct aot_function *f = &a->functions.at[i];
    const struct lang_param *p = find_param(f, str_from(b->name));
    if (!p)
      continue;
    first = first ? first : f;
    if (!suits(p, b))
      continue;
    bound = true;
    if (!has_binding(f, b->name))
      vec_push(a->tool->arena, &f->bindings, *b);
  }
  if (!bound && lang_unit_overrides(a->unit, b->name))
    return bind_all(a, b);
  if (!bound && file_has(a, b))
    return true; // for a kernel that is not compiled now
  if (!first)
    diag_help(diag_error(a->tool->diag, where, E0412, "no kernel of the pack has a parameter `%s`",
                         b->name),
              "`tilec help -D`: names are those of the `constexpr` parameters of the kernels");
  else if (!bound)
    vec_push(a->tool->arena, &first->bindings, *b);
  return first != NULL;
}

static bool bind_options(struct aot *a) {
  struct tool *t = a->tool;
  struct word signature = {t->o.signature, t->o.signature_at};
  struct str entry;
  for (struct str rest = signature.value; tool_next_entry(&rest, &entry);) {
    struct bindings types = {0};
    if (!tool_parse_types(t, &signature, entry, &types))
      return false;
    for (size_t i = 0; i < types.len; i++)
      if (!bind_everywhere(a, &types.at[i], tool_part(&signature, entry)))
        return false;
  }
  for (size_t i = 0; i < t->o.defines.len; i++) {
    struct lang_binding b = tool_constant(t, t->o.defines.at[i].name, t->o.defines.at[i].value);
    if (!bind_everywhere(a, &b, t->o.defines.at[i].where))
      return false;
  }
  return true;
}

static void describe_constants(struct aot *a, struct aot_function *f) {
  struct strbuf b = {.arena = a->tool->arena};
  for (size_t i = 0; i < f->bindings.len; i++)
    if (f->bindings.at[i].kind == BIND_CONSTANT)
      strbuf_printf(&b, "%s%s=%s", b.len ? ", " : "", f->bindings.at[i].name,
                    f->bindings.at[i].text);
  f->constants = arena_strdup(a->tool->arena, strbuf_cstr(&b));
  strbuf_finish(&b);
}

// ---- targets and the module ----

static void add_target(struct tool *t, target_vec *to, const struct target *target) {
  bool known = false;
  for (size_t i = 0; i < to->len; i++)
    known |= to->at[i] == target;
  if (!known)
    vec_push(t->arena, to, target);
}

// `cpu`: every instruction set of this machine's architecture, since a pack runs elsewhere too.
static void add_processors(struct tool *t, target_vec *to) {
#if defined(__aarch64__)
  add_target(t, to, target_find(STR("cpu:aarch64")));
#else
  add_target(t, to, target_find(STR("cpu:x86-64-v3")));
  add_target(t, to, target_find(STR("cpu:x86-64-v4")));
#endif
}

bool aot_targets(struct tool *t, target_vec *ret) {
  for (size_t i = 0; i < t->o.targets.len; i++) {
    const struct target *target = target_find(t->o.targets.at[i].value); // NULL: auto
    target = target ? target : tool_target(&(struct tool){0});
    if (t->o.artifact == ARTIFACT_CUBIN && target->is_cpu) {
      diag_help(diag_error(t->diag, t->o.targets.at[i].where, E0703,
                           "`--emit=cubin` is machine code of GPUs"),
                "name one (`--target sm_90a`); `--emit=object` makes that of a processor");
      return false;
    }
    if (target->is_cpu && !target->processor)
      add_processors(t, ret);
    else
      add_target(t, ret, target);
  }
  if (t->o.targets.len)
    return true;
  const struct target *target = tool_target(t);
  if (target->is_cpu && t->o.artifact == ARTIFACT_HEADER)
    target = target_find(STR("sm_80")); // a header does not depend on the target
  if (target->is_cpu) {
    diag_help(
        diag_error(t->diag, SPAN_NONE, E0703, "no target, and there is no GPU to take it from"),
        "name those that the code is for: `--target sm_80 --target sm_90a`, `--target cpu`");
    return false;
  }
  vec_push(t->arena, ret, target);
  return true;
}

bool aot_module_name(struct tool *t, const char *unnamed, const char **ret) {
  if (t->o.name) {
    *ret = t->o.name;
    if (is_c_name(str_from(t->o.name)))
      return true;
    diag_error(t->diag, t->o.name_at, E0753, "`%s` is no name for a module in C", t->o.name);
    return false;
  }
  const char *file = strrchr(t->o.file, '/');
  file = file ? file + 1 : t->o.file;
  struct str stem = str_from(file);
  for (size_t i = stem.len; i-- > 1;)
    if (stem.ptr[i] == '.')
      stem.len = i;
  bool is_stdin = strcmp(t->o.file, "-") == 0;
  char *name = arena_strndup(t->arena, stem.ptr, stem.len);
  for (char *p = name; *p; p++)
    if (!isalnum((unsigned char)*p))
      *p = '_';
  *ret = is_stdin ? unnamed : aot_c_name(t->arena, name);
  return true;
}

bool aot_plan(struct tool *t, const struct source *source, struct aot *ret) {
  *ret = (struct aot){.tool = t, .source = source};
  ret->unit = lang_unit_read(t->arena, t->diag, source);
  if (!ret->unit || diag_error_count(t->diag) || !tool_bind_constants(t, ret->unit, t->o.target) ||
      !aot_targets(t, &ret->targets) || !aot_module_name(t, "kernels", &ret->name))
    return false;
  for (size_t i = 0; i < t->o.functions.len; i++)
    if (!parse_function(ret, &t->o.functions.at[i]))
      return false;
  if (t->o.functions.len == 0 && !plain_functions(ret))
    return false;
  if (!bind_options(ret) || !aot_take_tunings(ret) || !aot_take_defaults(ret))
    return false;
  for (size_t i = 0; i < ret->functions.len; i++)
    describe_constants(ret, &ret->functions.at[i]);
  return true;
}
