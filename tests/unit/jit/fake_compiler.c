// SPDX-License-Identifier: Apache-2.0
// See fake_compiler.h.
#include "fake_compiler.h"

#include "lang/tuning/tuning.h"

#include <stdio.h>
#include <unistd.h>

struct fake_compiler fake_compiler;

// ---- front end ----

struct lang_unit {
  const struct source *source;
};

struct lang_unit *lang_unit_read(struct arena *a, struct diag_engine *diag,
                                 const struct source *source) {
  struct lang_unit *m = arena_new(a, struct lang_unit);
  atomic_fetch_add(&fake_compiler.reads, 1);
  m->source = source;
  if (str_starts(source->text, "wrong"))
    diag_error(diag, (struct span){source, 0, 5}, E0101, "`wrong` is not a statement");
  return m;
}

const struct source *lang_unit_source(const struct lang_unit *m) { return m->source; }

void lang_unit_resolve(struct lang_unit *m, const struct lang_outer *o) { (void)m, (void)o; }

bool lang_unit_serves(const struct lang_unit *m, const struct lang_outer *o) {
  (void)m, (void)o;
  return true;
}

bool lang_kernel_params(struct arena *a, struct diag_engine *diag, const struct lang_unit *m,
                        const char *name, const char **ret_name, struct lang_param **ret_params,
                        size_t *ret_count) {
  if (name && strcmp(name, "kernel") != 0) {
    diag_error(diag, (struct span){m->source, 0, 1}, E0401, "no kernel is called `%s`", name);
    return false;
  }
  *ret_name = "kernel";
  *ret_params =
      arena_dup(a, fake_compiler.params, sizeof fake_compiler.params, _Alignof(struct lang_param));
  *ret_count = fake_compiler.param_count;
  return true;
}

struct span lang_kernel_span(const struct lang_unit *m, const char *name) {
  (void)name;
  return (struct span){m->source, 0, 1};
}

// Its kernels have no decorators.
bool lang_is_tuned(const struct lang_unit *m, const char *kernel, bool *ret_heuristics) {
  (void)m, (void)kernel;
  return *ret_heuristics = false;
}

bool lang_defaults(struct arena *a, struct diag_engine *diag, const struct lang_defaults_request *r,
                   struct lang_defaults *ret) {
  (void)a, (void)diag, (void)r;
  *ret = (struct lang_defaults){0};
  return true;
}

// ---- targets and compiler ----

static const struct target targets[] = {
    {.name = "cpu", .is_cpu = true, .max_warps = 32},
    {.name = "sm_90a", .sm = 90, .max_warps = 32},
    {.name = "sm_80", .sm = 80, .max_warps = 32},
};

const struct target *target_find(struct str name) {
  for (size_t i = 0; i < COUNT_OF(targets); i++)
    if (str_is(name, targets[i].name))
      return &targets[i];
  return NULL;
}

const char *compiler_version(void) { return "fake 1"; }

static void describe(const struct compile_request *r, char *text, size_t size) {
  struct strbuf b = {0};
  for (size_t i = 0; i < r->binding_count; i++) {
    const struct lang_binding *at = &r->bindings[i];
    strbuf_printf(&b, "%s%s", i ? " " : "", at->name);
    if (at->kind == BIND_CONSTANT)
      strbuf_printf(&b, "='%s'", at->text);
    else
      strbuf_printf(&b, ":%s%s", at->kind == BIND_POINTER ? "*" : "", dtype_name(at->dtype));
    if (at->divisible_by > 1)
      strbuf_printf(&b, "%%%u", at->divisible_by);
    if (at->is_one)
      strbuf_puts(&b, "=1");
  }
  snprintf(text, size, "%s", strbuf_cstr(&b));
  strbuf_finish(&b);
}

bool compile_kernel(struct arena *a, struct diag_engine *diag,
                    const struct compile_request *request, struct compile_result *ret) {
  atomic_fetch_add(&fake_compiler.compilations, 1);
  if (fake_compiler.delay_us)
    usleep(fake_compiler.delay_us);
  if (atomic_load(&fake_compiler.fail) > 0) {
    atomic_fetch_sub(&fake_compiler.fail, 1);
    diag_error(diag, (struct span){request->source, 0, 1}, E0601, "the fake compiler was told to");
    return false;
  }
  char text[512];
  describe(request, text, sizeof text);
  struct kernel_param *params = arena_array(a, struct kernel_param, request->binding_count + 1);
  uint32_t count = 0;
  for (size_t i = 0; i < request->binding_count; i++) {
    const struct lang_binding *at = &request->bindings[i];
    if (at->kind != BIND_CONSTANT && !at->is_one)
      params[count++] = (struct kernel_param){.name = at->name,
                                              .is_pointer = at->kind == BIND_POINTER,
                                              .dtype = at->dtype,
                                              .divisible_by = at->divisible_by};
  }
  *ret = (struct compile_result){
      .output = str_from(arena_printf(a, "// %s", text)),
      .info = {.name = "kernel",
               .target = request->target->name,
               .num_warps = request->num_warps ? request->num_warps : 4,
               .num_stages = request->num_stages ? request->num_stages : 3,
               .param_count = count,
               .params = params},
  };
  if (!fake_compiler.delay_us) { // not recorded in tests with threads
    memcpy(fake_compiler.bindings, text, sizeof text);
    fake_compiler.num_warps = request->num_warps;
    size_t n = 0;
    fake_compiler.folders[0] = 0;
    for (size_t i = 0; i < request->folder_count; i++)
      n += (size_t)snprintf(fake_compiler.folders + n, sizeof fake_compiler.folders - n, "%s ",
                            request->folders[i]);
    fake_compiler.is_detached = request->is_detached;
    fake_compiler.has_unit = request->unit != NULL;
    fake_compiler.num_stages = request->num_stages;
    fake_compiler.check = request->check;
    fake_compiler.emit = request->emit;
    snprintf(fake_compiler.target, sizeof fake_compiler.target, "%s", request->target->name);
  }
  return true;
}
