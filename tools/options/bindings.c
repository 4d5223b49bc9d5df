// SPDX-License-Identifier: Apache-2.0
// Converts --signature and -D to the compiler's bindings; splits lists in options.
#include "tools/tool.h"

struct span tool_part(const struct word *of, struct str part) {
  uint32_t at = of->where.begin + (uint32_t)(part.ptr - of->value.ptr);
  return (struct span){of->where.source, at, at + (uint32_t)part.len};
}

struct span tool_name_span(struct span where, const char *name) {
  uint32_t n = (uint32_t)strlen(name);
  if (!where.source || where.begin < n + 1 ||
      memcmp(where.source->text.ptr + where.begin - n - 1, name, n) != 0)
    return SPAN_NONE;
  return (struct span){where.source, where.begin - n - 1, where.begin - 1};
}

// Commas inside quotes and brackets belong to the entry.
bool tool_next_entry(struct str *rest, struct str *ret) {
  if (!rest->ptr || rest->len == 0)
    return false;
  *rest = str_split_list(*rest, ret);
  *ret = str_trim(*ret);
  return true;
}

static bool signature_error(struct tool *t, const struct word *of, struct str entry,
                            const char *why) {
  diag_help(diag_error(t->diag, tool_part(of, entry), E0706, "`%.*s` is no type of a parameter: %s",
                       STR_ARG(entry), why),
            "an entry is NAME=TYPE, NAME=TYPE:HINT, NAME=None or a tuple of these, such as "
            "`x=*f32:16`, `n=i32`, `strides=(i32,i32)` or `a=tensordesc[f16,64x32]`");
  return false;
}

// tensordesc[TYPE,64x32][:pad(nan)][:16], already split at the bracket. The hint is about all
// sizes.
static bool parse_descriptor(struct tool *t, const struct word *of, struct str entry,
                             const char *name, struct str inside, struct lang_binding *ret) {
  static const char pad[] = ":pad(nan)";
  struct str element, extent, shape, tail = str_split(inside, ']', &inside);
  uint64_t hint = 1;
  *ret = (struct lang_binding){.name = name, .kind = BIND_DESCRIPTOR, .divisible_by = 1};
  ret->block.pads_nan = tail.ptr && str_starts(tail, pad);
  if (ret->block.pads_nan)
    tail = (struct str){tail.ptr + sizeof pad - 1, tail.len - (sizeof pad - 1)};
  if (!tail.ptr || (tail.len && (tail.ptr[0] != ':' ||
                                 !str_to_u64((struct str){tail.ptr + 1, tail.len - 1}, &hint) ||
                                 !is_pow2(hint) || hint > (1u << 20))))
    return signature_error(t, of, entry,
                           "`tensordesc[f16,64x32]` may be followed by `:pad(nan)` and by a power "
                           "of two that divides all sizes");
  shape = str_split(inside, ',', &element);
  if (!dtype_parse(str_trim(element), &ret->dtype))
    return signature_error(t, of, entry, "unknown element type of a tensor descriptor");
  while (shape.ptr) {
    uint64_t n = 0; // `?`: the kernel sets it
    shape = str_split(shape, 'x', &extent);
    extent = str_trim(extent);
    bool is_open = str_is(extent, "?");
    if (ret->block.rank == LANG_BLOCK_RANK ||
        (!is_open && (!str_to_u64(extent, &n) || n < 1 || n > INT32_MAX)))
      return signature_error(t, of, entry, "a block has 1 to 5 dimensions of at least 1 element");
    ret->sizes_divisible_by[ret->block.rank] = (uint32_t)hint;
    ret->block.shape[ret->block.rank++] = (uint32_t)n;
  }
  if (ret->block.rank)
    return true;
  return signature_error(t, of, entry, "a tensor descriptor needs the shape of its blocks");
}

// [*]TYPE[:HINT] | tensordesc[...] | None
static bool parse_type(struct tool *t, const struct word *of, struct str entry, const char *name,
                       struct str text, struct lang_binding *ret) {
  struct str type, hint, inside;
  inside = str_split(text, '[', &type);
  if (inside.ptr && str_is(type, "tensordesc"))
    return parse_descriptor(t, of, entry, name, inside, ret);
  hint = str_split(text, ':', &type);
  if (str_is(text, "None")) {
    *ret = tool_constant(t, name, text);
    return true;
  }
  bool pointer = str_starts(type, "*");
  if (pointer)
    type = (struct str){type.ptr + 1, type.len - 1};
  *ret = (struct lang_binding){
      .name = name, .kind = pointer ? BIND_POINTER : BIND_SCALAR, .divisible_by = 1};
  if (!dtype_parse(type, &ret->dtype))
    return signature_error(t, of, entry, "unknown type");
  if (!hint.ptr)
    return true;
  uint64_t n;
  if (!str_to_u64(hint, &n) || !is_pow2(n) || n > (1u << 20))
    return signature_error(t, of, entry, "a hint is a power of two");
  if (n == 1 && !pointer)
    ret->is_one = true;
  else
    ret->divisible_by = (uint32_t)n;
  return true;
}

// The elements of `(a,b)`, without what surrounds them.
bool tool_tuple_elements(struct str text, struct str *ret) {
  text = str_trim(text);
  if (text.len < 2 || text.ptr[0] != '(' || text.ptr[text.len - 1] != ')')
    return false;
  *ret = str_trim((struct str){text.ptr + 1, text.len - 2});
  return true;
}

static bool parse_types(struct tool *t, const struct word *of, struct str entry, const char *name,
                        struct str text, unsigned depth, struct bindings *out) {
  struct str elements, element;
  if (!tool_tuple_elements(text, &elements)) {
    struct lang_binding b;
    bool ok = parse_type(t, of, entry, name, text, &b);
    if (ok)
      vec_push(t->arena, out, b);
    return ok;
  }
  if (elements.len == 0 || depth == TOOL_MAX_TUPLE_NESTING)
    return signature_error(t, of, entry, depth ? "too many brackets" : "an empty tuple");
  for (size_t i = 0; tool_next_entry(&elements, &element); i++)
    if (!parse_types(t, of, entry, arena_printf(t->arena, "%s[%zu]", name, i), element, depth + 1,
                     out))
      return false;
  return true;
}

// The kernel's parameters, silently; 0: they cannot be read.
static size_t read_params(struct tool *t, struct lang_param **ret) {
  struct diag_engine *own = t->diag;
  const char *kernel;
  size_t count = 0;
  int status;
  t->diag = diag_engine_create(t->arena);
  struct source *source = tool_source(t, &status);
  struct lang_unit *u = source ? lang_unit_read(t->arena, t->diag, source) : NULL;
  if (u && !lang_kernel_params(t->arena, t->diag, u, t->o.kernel, &kernel, ret, &count))
    count = 0;
  t->diag = own;
  return count;
}

// The signature with the names of the run-time parameters, in their order; NULL: it has another
// number of types.
static const char *with_names(struct tool *t, struct str signature) {
  struct lang_param *params;
  size_t count = read_params(t, &params), next = 0;
  struct strbuf b = {.arena = t->arena};
  struct str entry;
  while (tool_next_entry(&signature, &entry)) {
    while (next < count && params[next].is_constexpr)
      next++;
    if (next == count || memchr(entry.ptr, '=', entry.len))
      return NULL;
    strbuf_printf(&b, "%s%s=%.*s", b.len ? "," : "", params[next++].name, STR_ARG(entry));
  }
  while (next < count && params[next].is_constexpr)
    next++;
  return next == count ? arena_strdup(t->arena, strbuf_cstr(&b)) : NULL;
}

// A type alone, as in signatures of Triton's compiler.
static bool no_name(struct tool *t, const struct word *of, struct str entry) {
  struct diag *d = diag_error(t->diag, tool_part(of, entry), E0706,
                              "the entry `%.*s` names no parameter", STR_ARG(entry));
  const char *named = with_names(t, of->value);
  diag_help(d, "each type has the name of its parameter: `--signature '%s'`",
            named ? named : "x=*fp32:16,n=i32");
  if (named)
    diag_fixit(d, of->where, named);
  return false;
}

// NAME=TYPE | NAME=(TYPE,...)
bool tool_parse_types(struct tool *t, const struct word *of, struct str entry,
                      struct bindings *out) {
  struct str name, text = str_split(entry, '=', &name);
  if (!text.ptr || name.len == 0)
    return no_name(t, of, entry);
  return parse_types(t, of, entry, arena_strndup(t->arena, name.ptr, name.len), text, 0, out);
}

struct lang_binding tool_constant(struct tool *t, const char *name, struct str value) {
  return (struct lang_binding){.name = name,
                               .kind = BIND_CONSTANT,
                               .dtype = DTYPE_NONE,
                               .divisible_by = 1,
                               .text = arena_strndup(t->arena, value.ptr, value.len)};
}

bool tool_bindings(struct tool *t, struct lang_binding **ret, size_t *ret_count) {
  struct bindings bindings = {0};
  struct word signature = {t->o.signature, t->o.signature_at};
  struct str entry;
  for (struct str rest = signature.value; tool_next_entry(&rest, &entry);)
    if (!tool_parse_types(t, &signature, entry, &bindings))
      return false;
  for (size_t i = 0; i < t->o.defines.len; i++) {
    const struct assignment *a = &t->o.defines.at[i];
    struct lang_binding b = tool_constant(t, a->name, a->value);
    b.name_at = tool_name_span(a->where, a->name);
    vec_push(t->arena, &bindings, b);
  }
  *ret = bindings.at;
  *ret_count = bindings.len;
  return true;
}

bool tool_bind_constants(struct tool *t, struct lang_unit *u, const char *target) {
  struct lang_binding *bindings;
  size_t count;
  if (!tool_bindings(t, &bindings, &count))
    return false;
  struct lang_imports imports = {.folders = t->o.folders.at,
                                 .folder_count = t->o.folders.len,
                                 .is_detached = strcmp(t->o.file, "-") == 0};
  struct lang_outer outer = {target, &imports, bindings, count};
  if (!lang_unit_serves(u, &outer))
    lang_unit_resolve(u, &outer);
  return true;
}

bool tool_default_value(const struct lang_param *p, int64_t *ret) {
  const char *text = p->default_text;
  return text && *text >= '0' && *text <= '9' && str_to_i64(str_from(text), ret);
}
