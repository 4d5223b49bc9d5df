// SPDX-License-Identifier: Apache-2.0
// Opening kernels and their settings.
#include "jit/jit_kernel.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// ---- opening ----

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static struct config *config_create(struct arena *a, const struct config *from, size_t declared) {
  struct config *c = arena_new(a, struct config);
  if (from) {
    c->target = from->target;
    c->num_warps = from->num_warps;
    c->num_stages = from->num_stages;
    c->max_registers = from->max_registers;
    c->check = from->check;
  }
  c->constants = arena_array(a, const char *, declared + 1);
  for (size_t i = 0; from && i < declared; i++)
    c->constants[i] = from->constants[i];
  c->folders = from ? from->folders : NULL;
  c->folder_count = from ? from->folder_count : 0;
  return c;
}

static void take_params(tile_kernel *k, const struct lang_param *params, size_t count) {
  k->declared = arena_dup(k->arena, params, count * sizeof *params, _Alignof(struct lang_param));
  k->declared_count = count;
  k->params = arena_array(k->arena, struct lang_param, count + 1);
  for (size_t i = 0; i < count; i++) {
    k->declared[i].name = arena_strdup(k->arena, params[i].name);
    k->declared[i].span = SPAN_NONE; // the tree it points into goes
    if (params[i].default_text)
      k->declared[i].default_text = arena_strdup(k->arena, params[i].default_text);
    if (params[i].default_text)
      k->declared[i].default_text = arena_strdup(k->arena, params[i].default_text);
    if (!k->declared[i].is_constexpr)
      k->params[k->param_count++] = k->declared[i];
  }
}

static void take_outer(tile_kernel *k, const struct jit_report *report) {
  size_t count = report ? report->constant_count : 0;
  k->outer = arena_array(k->arena, struct lang_binding, count + 1);
  for (size_t i = 0; i < count; i++) {
    k->outer[i] = report->constants[i];
    k->outer[i].name = arena_strdup(k->arena, report->constants[i].name);
    k->outer[i].text = arena_strdup(k->arena, report->constants[i].text);
  }
  k->outer_count = count;
}

// Which definitions there are in `u` for kernels of this target.
struct lang_outer jit_outer(const tile_kernel *k, const char *target,
                            const struct lang_imports *imports) {
  return (struct lang_outer){target, imports, k->outer, k->outer_count};
}

const struct lang_unit *jit_unit(const tile_kernel *k, const struct config *c) {
  struct lang_imports imports = {
      .folders = c->folders, .folder_count = c->folder_count, .is_detached = k->is_detached};
  struct lang_outer outer = jit_outer(k, c->target->name, &imports);
  return lang_unit_serves(k->unit, &outer) ? k->unit : NULL;
}

// Keeps what launches need.
static tile_status read_source(tile_kernel *k, const char *file_name, struct str text,
                               const char *kernel, struct arena *scratch,
                               const struct jit_report *report) {
  struct diag_engine *diag = report ? report->diag : diag_engine_create(scratch);
  k->unit = report ? report->unit : NULL;
  if (!k->unit) // the report's records point into the source and outlive a kernel that does not
                // open
    k->unit = lang_unit_read(k->arena, diag,
                             source_create(report ? report->arena : k->arena,
                                           file_name ? file_name : "kernel.tile", text));
  struct lang_param *params;
  size_t count;
  const char *name;
  struct lang_imports imports = {.is_detached = k->is_detached};
  take_outer(k, report);
  struct lang_outer outer = jit_outer(k, device_target(k->device), &imports);
  if (k->unit && !lang_unit_serves(k->unit, &outer))
    lang_unit_settle(k->unit, &outer);
  if (!k->unit || diag_error_count(diag) ||
      !lang_kernel_params(scratch, diag, k->unit, kernel, &name, &params, &count))
    return jit_diag_failure(diag, report != NULL);
  k->source = lang_unit_source(k->unit);
  k->name = arena_strdup(k->arena, name);
  k->at = lang_kernel_span(k->unit, name);
  take_params(k, params, count);
  k->is_tuned = lang_is_tuned(k->unit, name, &k->has_heuristics);
  if (k->param_count > JIT_MAX_ARGS)
    return status_set(TILE_LIMIT, "kernel `%s` has %zu run-time parameters; the limit is %d",
                      k->name, k->param_count, JIT_MAX_ARGS);
  struct config *c = config_create(k->arena, NULL, count);
  c->is_complete = !k->is_tuned;
  c->target = target_find(str_from(device_target(k->device)));
  if (!c->target)
    return status_set(TILE_INTERNAL, "the device's target `%s` is unknown to the compiler",
                      device_target(k->device));
  k->configs = c;
  atomic_init(&k->config, c);
  return TILE_OK;
}

static tile_status open_kernel(tile_kernel *k, const char *file_name, struct str text,
                               const char *kernel, const struct jit_report *report) {
  struct arena *scratch = arena_create();
  jmp_buf out_of_memory;
  tile_status s;
  if (!scratch || setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory reading a kernel");
  } else {
    arena_set_oom(scratch, &out_of_memory);
    arena_set_oom(k->arena, &out_of_memory);
    s = read_source(k, file_name, text, kernel, scratch, report);
  }
  arena_set_oom(k->arena, NULL);
  arena_destroy(scratch);
  return s;
}

tile_status jit_kernel_open(tile_device *device, const char *file_name, struct str text,
                            const char *kernel, const struct jit_report *report,
                            tile_kernel **ret) {
  if (text.len > SOURCE_MAX_BYTES)
    return status_set(TILE_LIMIT, "the source has %zu bytes; the limit is %u", text.len,
                      SOURCE_MAX_BYTES);
  tile_kernel *k = memory_zeroed(1, sizeof *k);
  if (!k || !(k->arena = arena_create())) {
    free(k);
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a kernel");
  }
  k->device = device;
  k->is_detached = !file_name;
  pthread_mutex_init(&k->lock, NULL);
  pthread_cond_init(&k->built, NULL);
  tile_status s = open_kernel(k, file_name, text, kernel, report);
  if (s != TILE_OK) {
    tile_kernel_close(k);
    return s;
  }
  k->cache = disk_cache_open(NULL);
  *ret = k;
  return TILE_OK;
}

tile_status tile_kernel_from_source(tile_device *device, const char *file_name, const char *text,
                                    size_t size, const char *name, tile_kernel **ret_kernel) {
  if (!device || (!text && size) || !ret_kernel)
    return status_set(TILE_INVALID_ARGUMENT, "tile_kernel_from_source: `%s` is NULL",
                      !device       ? "device"
                      : !ret_kernel ? "ret_kernel"
                                    : "text");
  return jit_kernel_open(device, file_name, (struct str){text, size}, name, NULL, ret_kernel);
}

tile_status jit_read_failure(const char *path, int error) {
  switch (error) {
  case ENOENT:
  case ENOTDIR: return status_set(TILE_NOT_FOUND, "%s: no such file", path);
  case EFBIG: return status_set(TILE_LIMIT, "%s: larger than %u bytes", path, SOURCE_MAX_BYTES);
  case ENOMEM: return status_set(TILE_OUT_OF_MEMORY, "%s: out of memory", path);
  default: return status_set(TILE_IO_ERROR, "%s: %s", path, strerror(error));
  }
}

struct reading {
  struct arena *arena;
  const char *path;
  struct str text;
  int error;
};

static void read_file(void *user) {
  struct reading *r = user;
  r->error = file_read(r->arena, r->path, SOURCE_MAX_BYTES, &r->text);
}

tile_status jit_read_file(struct arena *a, const char *path, struct str *ret) {
  struct reading r = {.arena = a, .path = path};
  if (!arena_guard(a, read_file, &r))
    r.error = ENOMEM;
  *ret = r.text;
  return r.error ? jit_read_failure(path, r.error) : TILE_OK;
}

tile_status tile_kernel_open(tile_device *device, const char *path, const char *name,
                             tile_kernel **ret_kernel) {
  if (!device || !path || !ret_kernel)
    return status_set(TILE_INVALID_ARGUMENT, "tile_kernel_open: `%s` is NULL",
                      !device ? "device"
                      : !path ? "path"
                              : "ret_kernel");
  struct arena *a = arena_create();
  if (!a)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a kernel");
  struct str text;
  tile_status s = jit_read_file(a, path, &text);
  if (s == TILE_OK)
    s = jit_kernel_open(device, path, text, name, NULL, ret_kernel);
  arena_destroy(a);
  return s;
}

void tile_kernel_close(tile_kernel *k) {
  if (!k)
    return;
  jit_specs_free(k);
  orc_destroy(k->orc);
  disk_cache_close(k->cache);
  pthread_cond_destroy(&k->built);
  pthread_mutex_destroy(&k->lock);
  arena_destroy(k->arena);
  free(k);
}

// ---- settings ----

static bool same_config(const tile_kernel *k, const struct config *a, const struct config *b) {
  if (a->target != b->target || a->num_warps != b->num_warps || a->num_stages != b->num_stages ||
      a->max_registers != b->max_registers || a->check != b->check ||
      a->is_complete != b->is_complete)
    return false;
  for (size_t i = 0; i < k->declared_count; i++)
    if (!same_text(a->constants[i], b->constants[i]))
      return false;
  for (size_t i = 0; i < a->folder_count && a->folder_count == b->folder_count; i++)
    if (strcmp(a->folders[i], b->folders[i]) != 0)
      return false;
  return a->folder_count == b->folder_count;
}

static void add_folder(struct arena *a, struct config *c, const char *path) {
  const char **folders = arena_array(a, const char *, c->folder_count + 1);
  for (size_t i = 0; i < c->folder_count; i++)
    folders[i] = c->folders[i];
  folders[c->folder_count++] = arena_strdup(a, path);
  c->folders = folders;
}

// `c` becomes one of the kernel's, unless there is one like it; `mark` is from before it was made.
static struct config *keep(tile_kernel *k, struct config *c, struct arena_mark mark) {
  struct config *known = k->configs;
  while (known && !same_config(k, known, c))
    known = known->next;
  if (known) {
    arena_release(k->arena, mark);
    return known;
  }
  c->next = k->configs;
  return k->configs = c;
}

struct config *jit_config_complete(tile_kernel *k, const struct config *from,
                                   const struct lang_defaults *defaults) {
  jmp_buf out_of_memory;
  struct config *volatile result = NULL;
  if (setjmp(out_of_memory) == 0) {
    arena_set_oom(k->arena, &out_of_memory);
    struct arena_mark mark = arena_mark(k->arena);
    struct config *c = config_create(k->arena, from, k->declared_count);
    c->is_complete = true;
    c->num_warps = c->num_warps ? c->num_warps : defaults->num_warps;
    c->num_stages = c->num_stages ? c->num_stages : defaults->num_stages;
    c->max_registers = c->max_registers ? c->max_registers : defaults->max_registers;
    for (size_t i = 0; i < defaults->setting_count; i++)
      for (size_t p = 0; p < k->declared_count; p++)
        if (k->declared[p].is_constexpr &&
            strcmp(k->declared[p].name, defaults->settings[i].name) == 0)
          c->constants[p] = arena_strdup(k->arena, defaults->settings[i].text);
    result = keep(k, c, mark);
  }
  arena_set_oom(k->arena, NULL);
  return result;
}

struct config *jit_config_checked(tile_kernel *k, const struct config *from) {
  jmp_buf out_of_memory;
  struct config *volatile result = NULL;
  pthread_mutex_lock(&k->lock);
  if (setjmp(out_of_memory) == 0) {
    arena_set_oom(k->arena, &out_of_memory);
    struct arena_mark mark = arena_mark(k->arena);
    struct config *c = config_create(k->arena, from, k->declared_count);
    c->is_complete = true;
    c->check = true;
    result = keep(k, c, mark);
  }
  arena_set_oom(k->arena, NULL);
  pthread_mutex_unlock(&k->lock);
  return result;
}

// Decorators have nothing to add.
static bool leaves_nothing(const tile_kernel *k, const struct config *c) {
  bool all = c->num_warps && c->num_stages;
  for (size_t i = 0; i < k->declared_count && all; i++)
    all = !k->declared[i].is_constexpr || c->constants[i];
  return all || !k->is_tuned;
}

// A changed copy of the current configuration becomes the current one; if there was one like it
// before, that one does, with what was compiled for it. `constant` is the index of a declared
// parameter to set to `text`, or declared_count; then `text` is a folder to add, or NULL.
static tile_status change(tile_kernel *k, const struct config *to, size_t constant,
                          const char *text) {
  pthread_mutex_lock(&k->lock);
  jmp_buf out_of_memory;
  tile_status s = TILE_OK;
  if (setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for a setting of kernel `%s`", k->name);
  } else {
    arena_set_oom(k->arena, &out_of_memory);
    struct arena_mark mark = arena_mark(k->arena);
    struct config *c = config_create(k->arena, to, k->declared_count);
    if (constant < k->declared_count)
      c->constants[constant] = arena_strdup(k->arena, text);
    else if (text)
      add_folder(k->arena, c, text);
    c->is_complete = leaves_nothing(k, c);
    atomic_store_explicit(&k->config, keep(k, c, mark), memory_order_release);
  }
  arena_set_oom(k->arena, NULL);
  pthread_mutex_unlock(&k->lock);
  return s;
}

static tile_status no_kernel(const char *call) {
  return status_set(TILE_INVALID_ARGUMENT, "%s: the kernel is NULL", call);
}

static tile_status unknown_constant(const tile_kernel *k, const char *name) {
  const char *names[64];
  size_t n = 0;
  for (size_t i = 0; i < k->declared_count && n < COUNT_OF(names); i++)
    if (k->declared[i].is_constexpr)
      names[n++] = k->declared[i].name;
  for (size_t i = 0; i < k->param_count; i++)
    if (strcmp(k->params[i].name, name) == 0)
      return status_set(TILE_INVALID_ARGUMENT,
                        "`%s` of kernel `%s` is a run-time parameter: pass it as an argument, or "
                        "declare it `%s: constexpr`",
                        name, k->name, name);
  const char *near = str_nearest(str_from(name), names, n);
  return status_set(TILE_INVALID_ARGUMENT, "kernel `%s` has no compile-time parameter `%s`%s%s%s",
                    k->name, name, near ? "; did you mean `" : "", near ? near : "",
                    near ? "`?" : "");
}

tile_status tile_kernel_set_constant(tile_kernel *k, const char *name, const char *value) {
  if (!k)
    return no_kernel("tile_kernel_set_constant");
  if (!name || !value)
    return status_set(TILE_INVALID_ARGUMENT, "tile_kernel_set_constant: `%s` is NULL",
                      name ? "value" : "name");
  size_t i = 0;
  while (i < k->declared_count &&
         !(k->declared[i].is_constexpr && strcmp(k->declared[i].name, name) == 0))
    i++;
  if (i == k->declared_count)
    return unknown_constant(k, name);
  return change(k, atomic_load(&k->config), i, value);
}

tile_status tile_kernel_set_warps(tile_kernel *k, unsigned num_warps) {
  if (!k)
    return no_kernel("tile_kernel_set_warps");
  struct config c = *atomic_load(&k->config);
  if (!is_pow2(num_warps) || num_warps > c.target->max_warps)
    return status_set(TILE_INVALID_ARGUMENT,
                      "num_warps must be a power of two from 1 to %u, got %u", c.target->max_warps,
                      num_warps);
  c.num_warps = num_warps;
  return change(k, &c, k->declared_count, NULL);
}

tile_status tile_kernel_set_stages(tile_kernel *k, unsigned num_stages) {
  if (!k)
    return no_kernel("tile_kernel_set_stages");
  if (num_stages == 0 || num_stages > 16)
    return status_set(TILE_INVALID_ARGUMENT, "num_stages must be from 1 to 16, got %u", num_stages);
  struct config c = *atomic_load(&k->config);
  c.num_stages = num_stages;
  return change(k, &c, k->declared_count, NULL);
}

tile_status tile_kernel_set_max_registers(tile_kernel *k, unsigned max_registers) {
  if (!k)
    return no_kernel("tile_kernel_set_max_registers");
  if (max_registers != 0 && (max_registers < 16 || max_registers > 255))
    return status_set(TILE_INVALID_ARGUMENT,
                      "max_registers must be from 16 to 255, or 0 for no bound, got %u",
                      max_registers);
  struct config c = *atomic_load(&k->config);
  c.max_registers = max_registers;
  return change(k, &c, k->declared_count, NULL);
}

tile_status tile_kernel_set_check(tile_kernel *k, int on) {
  if (!k)
    return no_kernel("tile_kernel_set_check");
  struct config c = *atomic_load(&k->config);
  if (on && !device_checks(k->device))
    return status_set(TILE_INVALID_ARGUMENT, "checks work on the CPU device and on simulated ones");
  c.check = on != 0;
  return change(k, &c, k->declared_count, NULL);
}

tile_status tile_kernel_add_folder(tile_kernel *k, const char *path) {
  if (!k)
    return no_kernel("tile_kernel_add_folder");
  if (!path || !*path)
    return status_set(TILE_INVALID_ARGUMENT, "tile_kernel_add_folder: `path` is %s",
                      path ? "empty" : "NULL");
  return change(k, atomic_load(&k->config), k->declared_count, path);
}

tile_status tile_kernel_set_target(tile_kernel *k, const char *target) {
  if (!k)
    return no_kernel("tile_kernel_set_target");
  if (!target)
    return status_set(TILE_INVALID_ARGUMENT, "tile_kernel_set_target: `target` is NULL");
  struct config c = *atomic_load(&k->config);
  const struct target *t = target_find(str_from(target));
  if (!t)
    return status_set(TILE_INVALID_ARGUMENT, "there is no target `%s`", target);
  if (t->is_cpu != device_is_cpu(k->device))
    return status_set(TILE_INVALID_ARGUMENT, "code for `%s` does not run on this device (`%s`)",
                      target, device_target(k->device));
  c.target = t;
  return change(k, &c, k->declared_count, NULL);
}

void jit_kernel_set_disk_cache(tile_kernel *k, bool on) {
  if (on == (k->cache != NULL))
    return;
  disk_cache_close(k->cache);
  k->cache = on ? disk_cache_open(NULL) : NULL;
}

void jit_kernel_set_assembled_apart(tile_kernel *k, bool on) { k->is_assembled_apart = on; }

void jit_kernel_set_tier1_first(tile_kernel *k, bool on) {
  k->first_assembly = on ? ASSEMBLY_TIER1 : ASSEMBLY_OPTIMIZED;
}

void jit_kernel_set_passes(tile_kernel *k, const struct pass_options *options) {
  k->passes = options;
}

const struct lang_param *jit_kernel_params(const tile_kernel *k, size_t *ret_count) {
  *ret_count = k->param_count;
  return k->params;
}

const struct lang_param *jit_kernel_declared(const tile_kernel *k, size_t *ret_count) {
  *ret_count = k->declared_count;
  return k->declared;
}

const char *jit_kernel_name(const tile_kernel *k) { return k->name; }

void jit_specs_free(tile_kernel *k) {
  for (struct jit_spec *s = k->specs, *next; s; s = next) {
    next = s->next;
    struct module *m = atomic_load_explicit(&s->module, memory_order_relaxed);
    if (s->tier1 != m)
      module_destroy(s->tier1);
    module_destroy(m);
    arena_destroy(s->arena);
  }
  for (struct config *c = k->configs; c; c = c->next) {
    struct spec_table *t = atomic_load_explicit(&c->table, memory_order_relaxed);
    while (t) {
      struct spec_table *older = t->older;
      free(t);
      t = older;
    }
  }
}
