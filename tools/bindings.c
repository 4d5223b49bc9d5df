// SPDX-License-Identifier: Apache-2.0
// --signature and -D to the compiler's bindings.
#include "tools/tool.h"

static bool signature_error(struct tool *t, struct str entry, const char *why) {
  uint32_t at = t->o.signature_at.begin + (uint32_t)(entry.ptr - t->o.signature.ptr);
  struct span where = {t->command_line, at, at + (uint32_t)entry.len};
  diag_help(diag_error(t->diag, where, E0706, "`%.*s` in --signature: %s", STR_ARG(entry), why),
            "an entry is NAME=TYPE or NAME=TYPE:HINT, such as `x=*f32:16` or `n=i32`");
  return false;
}

// NAME=[*]TYPE[:HINT]
static bool parse_entry(struct tool *t, struct str entry, struct lang_binding *ret) {
  struct str name, type, hint, rest = str_split(entry, '=', &name);
  if (!rest.ptr || name.len == 0)
    return signature_error(t, entry, "no `=`");
  hint = str_split(rest, ':', &type);
  bool pointer = str_starts(type, "*");
  if (pointer)
    type = (struct str){type.ptr + 1, type.len - 1};
  *ret = (struct lang_binding){.name = arena_strndup(t->arena, name.ptr, name.len),
                               .kind = pointer ? BIND_POINTER : BIND_SCALAR,
                               .divisible_by = 1};
  if (!dtype_parse(type, &ret->dtype))
    return signature_error(t, entry, "unknown type");
  if (!hint.ptr)
    return true;
  uint64_t n;
  if (!str_to_u64(hint, &n) || !is_pow2(n) || n > (1u << 20))
    return signature_error(t, entry, "a hint is a power of two");
  if (n == 1 && !pointer)
    ret->is_one = true;
  else
    ret->divisible_by = (uint32_t)n;
  return true;
}

bool tool_bindings(struct tool *t, struct lang_binding **ret, size_t *ret_count) {
  VEC(struct lang_binding) bindings = {0};
  for (struct str rest = t->o.signature, entry; rest.ptr && rest.len;) {
    rest = str_split(rest, ',', &entry);
    struct lang_binding b;
    if (!parse_entry(t, str_trim(entry), &b))
      return false;
    vec_push(t->arena, &bindings, b);
  }
  for (size_t i = 0; i < t->o.defines.len; i++) {
    const struct assignment *d = &t->o.defines.at[i];
    struct lang_binding b = {.name = d->name,
                             .kind = BIND_CONSTANT,
                             .dtype = DTYPE_NONE,
                             .divisible_by = 1,
                             .text = arena_strndup(t->arena, d->value.ptr, d->value.len)};
    vec_push(t->arena, &bindings, b);
  }
  *ret = bindings.at;
  *ret_count = bindings.len;
  return true;
}
