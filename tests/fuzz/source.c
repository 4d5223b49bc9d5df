// SPDX-License-Identifier: Apache-2.0
// Compiles an arbitrary kernel source to one of the compiler's stages.
#include "source.h"

#include <ctype.h>

static bool is_size(const char *name) {
  static const char *const words[] = {"n",    "m",     "k",    "i",    "j",
                                      "size", "count", "rows", "cols", "seed"};
  for (size_t w = 0; w < COUNT_OF(words); w++)
    if (strcmp(name, words[w]) == 0)
      return true;
  return strstr(name, "stride") || strstr(name, "_n") || strstr(name, "num");
}

static struct lang_binding bind(const struct lang_param *p, char choice) {
  static const enum dtype types[] = {DTYPE_F32, DTYPE_F16, DTYPE_I32,  DTYPE_BF16,
                                     DTYPE_I8,  DTYPE_F64, DTYPE_F8E5, DTYPE_U64};
  struct lang_binding b = {.name = p->name, .divisible_by = 1};
  if (p->is_constexpr || isupper((unsigned char)p->name[0])) {
    b.kind = BIND_CONSTANT;
    b.dtype = DTYPE_NONE;
    b.text = choice & 4 ? "32" : "16";
  } else {
    b.kind = is_size(p->name) ? BIND_SCALAR : BIND_POINTER;
    b.dtype = b.kind == BIND_SCALAR ? DTYPE_I32 : types[(choice >> 3) & 7];
    b.divisible_by = choice & 1 ? 16 : 1;
    b.is_one = b.kind == BIND_SCALAR && (choice & 2);
  }
  return b;
}

static void bind_all(struct drive *d, const struct lang_unit *m, char choice,
                     struct compile_request *r) {
  struct lang_param *params;
  size_t count = 0;
  const char *name;
  struct diag_engine *ignored = diag_engine_create(d->arena);
  if (!lang_kernel_params(d->arena, ignored, m, r->kernel, &name, &params, &count))
    return;
  r->bindings = arena_array(d->arena, struct lang_binding, count + 1);
  for (size_t i = 0; i < count; i++)
    if (!params[i].is_typed && !(params[i].is_constexpr && params[i].has_default))
      r->bindings[r->binding_count++] = bind(&params[i], choice);
}

static const struct target *target_of(char c) {
  static const char *const names[] = {"sm_80", "sm_90a", "cpu", "sm_89", "sm_86", "sm_90a"};
  return target_find(str_from(names[(unsigned char)c % COUNT_OF(names)]));
}

void drive_source(const uint8_t *data, size_t size, enum emit_kind emit) {
  struct drive d;
  if (size > SOURCE_LIMIT || !drive_begin(&d))
    return;
  struct str text = {arena_strndup(d.arena, (const char *)data, size), size};
  bool has_line = size > 5 && text.ptr[0] == '#' && text.ptr[1] == 'F';
  char target = has_line ? text.ptr[2] : 0, warps = has_line ? text.ptr[3] : 2,
       choice = has_line ? text.ptr[4] : 1;
  struct strbuf printed = {0};
  struct compile_request r = {.source = source_create(d.arena, "fuzz.tile", text),
                              .target = target_of(target),
                              .num_warps = 1u << (warps & 3),
                              .num_stages = (uint32_t)(warps >> 2 & 3) + 1,
                              .emit = emit,
                              .is_detached = true,
                              .static_print = &printed};
  struct diag_engine *ignored = diag_engine_create(d.arena);
  struct lang_unit *m = lang_unit_read(d.arena, ignored, r.source);
  const char *const *names;
  size_t count = m ? lang_kernels(m, &names) : 0;
  if (count)
    r.kernel = names[(unsigned char)choice % count];
  if (m)
    bind_all(&d, m, choice, &r);
  struct compile_result result = {0};
  if (emit == EMIT_PTX && r.target->is_cpu)
    r.emit = EMIT_LLVM;
  bool ok = compile_kernel(d.arena, d.diag, &r, &result);
  DRIVE_CHECK(ok == (diag_error_count(d.diag) == 0));
  strbuf_finish(&printed);
  drive_end(&d);
}
