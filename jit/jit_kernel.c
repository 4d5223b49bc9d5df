// SPDX-License-Identifier: Apache-2.0
// Opens and closes kernels: parses the source and keeps its parameters.
#include "jit/jit_kernel.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// ---- opening ----

static void take_params(tile_kernel *k, const struct lang_param *params, size_t count) {
  k->declared = arena_dup(k->arena, params, count * sizeof *params, _Alignof(struct lang_param));
  k->declared_count = count;
  k->params = arena_array(k->arena, struct lang_param, count + 1);
  for (size_t i = 0; i < count; i++) {
    k->declared[i].name = arena_strdup(k->arena, params[i].name);
    k->declared[i].span = SPAN_NONE; // the tree it points into is freed
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

// The values that select definitions in the source, for kernels of this target.
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

// Parses the source and keeps what launches need.
static tile_status read_source(tile_kernel *k, const char *file_name, struct str text,
                               const char *kernel, struct arena *scratch,
                               const struct jit_report *report) {
  struct diag_engine *diag = report ? report->diag : diag_engine_create(scratch);
  k->unit = report ? report->unit : NULL;
  if (!k->unit) // records of the report point into the source and outlive a kernel that fails to
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
    lang_unit_resolve(k->unit, &outer);
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
  struct config *c = jit_config_create(k->arena, NULL, count);
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

static void free_specs(tile_kernel *k) {
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

void tile_kernel_close(tile_kernel *k) {
  if (!k)
    return;
  free_specs(k);
  orc_destroy(k->orc);
  disk_cache_close(k->cache);
  pthread_cond_destroy(&k->built);
  pthread_mutex_destroy(&k->lock);
  arena_destroy(k->arena);
  free(k);
}

// ---- options of callers ----

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

const char *tile_kernel_name(const tile_kernel *k) { return k ? k->name : ""; }

size_t tile_kernel_parameter_count(const tile_kernel *k) { return k ? k->declared_count : 0; }

tile_status tile_kernel_get_parameter(const tile_kernel *k, size_t index,
                                      tile_parameter *ret_parameter) {
  if (!k || !ret_parameter)
    return status_set(TILE_INVALID_ARGUMENT, "tile_kernel_get_parameter: `%s` is NULL",
                      k ? "ret_parameter" : "kernel");
  if (index >= k->declared_count)
    return status_set(TILE_NOT_FOUND, "kernel `%s` has %zu parameters", k->name, k->declared_count);
  const struct lang_param *p = &k->declared[index];
  *ret_parameter = (tile_parameter){
      .name = p->name,
      .default_text = p->has_default ? p->default_text : NULL,
      .is_constexpr = p->is_constexpr,
      .has_default = p->has_default,
      .is_typed = p->is_typed,
      .is_pointer = p->is_typed && p->is_pointer,
      .is_const = p->is_typed && p->is_const,
      .is_descriptor = p->is_typed && p->is_descriptor,
      .type = p->is_typed ? (tile_type)p->dtype : TILE_NONE,
  };
  return TILE_OK;
}
