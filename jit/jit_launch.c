// SPDX-License-Identifier: Apache-2.0
// Launches: key, table, values, module. A launch with a known key takes no lock and allocates
// nothing.
#include "base/clock.h"
#include "base/debug.h"
#include "base/trace.h"
#include "jit/jit_kernel.h"

#include <stdio.h>
#include <string.h>

// ---- loading ----

static tile_status load_cpu(tile_kernel *k, struct jit_spec *spec, struct module **ret) {
  tile_status s = k->orc ? TILE_OK : orc_create(&k->orc);
  cpu_kernel_fn fn = NULL;
  if (s == TILE_OK)
    s = orc_load(k->orc, spec->code, spec->info.name, &fn);
  // The code is freed with the kernel's JIT, after its modules.
  return s == TILE_OK ? module_from_cpu(k->device, fn, &spec->info, NULL, NULL, ret) : s;
}

static tile_status load(tile_kernel *k, struct jit_spec *spec, struct module **ret) {
  tile_status s = TILE_OK;
  pthread_mutex_lock(&k->lock);
  struct module *m = atomic_load_explicit(&spec->module, memory_order_relaxed);
  if (!m) {
    double start = clock_ms();
    struct trace_slice slice = trace_begin(TRACE_LOAD, k->name);
    enum assembly how = ASSEMBLY_OPTIMIZED;
    if (device_is_cpu(k->device))
      s = load_cpu(k, spec, &m);
    else if (k->is_assembled_apart && device_assembles(k->device) &&
             module_may_be_apart(spec->code.ptr))
      s = jit_assemble(k, spec, k->first_assembly, &how, &m);
    else
      s = k->is_kept_only ? jit_not_kept(k)
                          : module_load(k->device, spec->code.ptr, spec->code.len, &spec->info, &m);
    spec->timing.load_ms = clock_ms() - start;
    uint32_t line = source_line_col(k->source, k->at.begin).line;
    trace_end(&slice, &(struct trace_detail){.file = k->source->name, .line = line});
    if (s == TILE_OK) {
      module_set_source(m, k->source->name, line);
      spec->is_tier1 = how == ASSEMBLY_TIER1;
      spec->tier1 = spec->is_tier1 ? m : NULL;
      atomic_store_explicit(&spec->module, m, memory_order_release);
    }
  }
  pthread_mutex_unlock(&k->lock);
  *ret = m;
  return s;
}

tile_status jit_spec_module(tile_kernel *k, struct jit_spec *spec, struct module **ret) {
  struct module *m = atomic_load_explicit(&spec->module, memory_order_acquire);
  if (!m)
    return load(k, spec, ret);
  *ret = m;
  return TILE_OK;
}

// ---- optimized code after tier-1 code ----

// Takes a specialisation that runs tier-1 code, for the caller to replace. NULL: none is left.
static struct jit_spec *take_tier1(tile_kernel *k) {
  pthread_mutex_lock(&k->lock);
  struct jit_spec *spec = k->specs;
  while (spec && !spec->is_tier1)
    spec = spec->next;
  if (spec)
    spec->is_tier1 = false;
  pthread_mutex_unlock(&k->lock);
  return spec;
}

bool jit_kernel_is_optimized(tile_kernel *k) {
  pthread_mutex_lock(&k->lock);
  const struct jit_spec *spec = k->specs;
  while (spec && !spec->is_tier1)
    spec = spec->next;
  pthread_mutex_unlock(&k->lock);
  return !spec;
}

// Launches use the new module as soon as it is stored. The old one is kept for launches in flight
// and for recordings; it also stays in use if the optimized module cannot be built.
void jit_kernel_optimize(tile_kernel *k) {
  for (struct jit_spec *spec; (spec = take_tier1(k));) {
    double start = clock_ms();
    struct module *best;
    enum assembly how;
    tile_status s = jit_assemble(k, spec, ASSEMBLY_OPTIMIZED, &how, &best);
    if (s == TILE_OK)
      atomic_store_explicit(&spec->module, best, memory_order_release);
    debug_log(DEBUG_LAUNCH, "`%s`: best code %s in %.1f ms", k->name,
              s == TILE_OK ? "loaded" : "failed", clock_ms() - start);
  }
}

// ---- kernels that stand for another ----

static tile_status prepare_key(tile_kernel *k, const struct jit_key *key) {
  struct config *c = atomic_load(&k->config);
  struct jit_spec *spec = jit_find(c, key);
  struct module *m;
  tile_status s = spec ? TILE_OK : jit_find_or_build(k, c, key, NULL, &spec);
  return s == TILE_OK ? jit_spec_module(k, spec, &m) : s;
}

tile_status jit_kernel_prepare_like(tile_kernel *k, tile_kernel *like) {
  pthread_mutex_lock(&like->lock);
  const struct jit_spec *spec = like->specs; // the rest of the list does not change
  pthread_mutex_unlock(&like->lock);
  tile_status s = TILE_OK;
  for (; s == TILE_OK && spec; spec = spec->next) {
    struct jit_key key = {.count = spec->key_count, .hash = spec->hash};
    memcpy(key.bytes, spec->key, spec->key_count);
    s = prepare_key(k, &key);
  }
  return s;
}

tile_status jit_kernel_prepare_kept(tile_kernel *k, const tile_arg *args, size_t arg_count) {
  k->is_kept_only = true;
  tile_status s = k->cache ? tile_kernel_prepare(k, args, arg_count) : jit_not_kept(k);
  k->is_kept_only = false;
  return s;
}

// ---- specialisations ----

static inline tile_status specialise(tile_kernel *k, const tile_arg *args, size_t count,
                                     const struct jit_report *report, struct jit_spec **ret) {
  struct jit_key key;
  tile_status s = jit_key_make(k, args, count, &key);
  if (s != TILE_OK)
    return s;
  struct config *c;
  s = jit_config(k, args, count, report, &c);
  if (s != TILE_OK)
    return s;
  *ret = jit_find(c, &key);
  return *ret ? TILE_OK : jit_find_or_build(k, c, &key, report, ret);
}

tile_status jit_specialise(tile_kernel *k, const tile_arg *args, size_t arg_count,
                           const struct jit_report *report, struct jit_spec **ret) {
  return specialise(k, args, arg_count, report, ret);
}

const struct kernel_info *jit_spec_info(const struct jit_spec *spec) { return &spec->info; }
struct str jit_spec_code(const struct jit_spec *spec) {
  return spec->code;
}
struct jit_timing jit_spec_timing(const struct jit_spec *spec) {
  return spec->timing;
}

const char *tile_kernel_param_name(tile_kernel *k, const tile_arg *args, size_t arg_count,
                                   int32_t index) {
  struct jit_spec *spec;
  if (specialise(k, args, arg_count, NULL, &spec) != TILE_OK || index < 0 ||
      (uint32_t)index >= spec->info.param_count)
    return NULL;
  return spec->info.params[index].name;
}

// ---- the public calls ----

static tile_status launch_spec(tile_kernel *k, struct jit_spec *spec, tile_stream *stream,
                               tile_grid grid, const tile_arg *args, unsigned flags) {
  struct module *m;
  tile_status s = jit_spec_module(k, spec, &m);
  if (s != TILE_OK)
    return s;
  uint64_t values[JIT_MAX_ARGS];
  void *pointers[JIT_MAX_ARGS];
  tile_arg flat[JIT_MAX_ARGS];
  args = args_flatten(args, k->param_count, flat);
  for (uint32_t i = 0; i < spec->info.param_count; i++) {
    arg_store(&args[spec->arg_of_param[i]], &values[i]);
    pointers[i] = &values[i];
  }
  return module_launch(m, stream, grid, pointers,
                       flags | (spec->config->check ? LAUNCH_CHECKED : 0));
}

tile_status jit_launch_checked(tile_kernel *k, const struct config *failed, tile_stream *stream,
                               tile_grid grid, const tile_arg *args, size_t arg_count) {
  char message[512];
  snprintf(message, sizeof message, "%s", tile_error_message());
  struct jit_key key;
  struct config *c = jit_config_checked(k, failed);
  tile_status s = c ? jit_key_make(k, args, arg_count, &key) : TILE_OUT_OF_MEMORY;
  struct jit_spec *spec = s == TILE_OK ? jit_find(c, &key) : NULL;
  if (s == TILE_OK && !spec)
    s = jit_find_or_build(k, c, &key, NULL, &spec);
  if (s == TILE_OK) {
    device_quiet(k->device, true);
    s = launch_spec(k, spec, stream, grid, args, 0);
    device_quiet(k->device, false);
  }
  return s == TILE_CHECK_FAILED ? s : status_set(TILE_LAUNCH_FAILED, "%s", message);
}

tile_status tile_launch(tile_kernel *k, tile_stream *stream, tile_grid grid, const tile_arg *args,
                        size_t arg_count) {
  return tile_launch_with(k, stream, grid, args, arg_count, NULL);
}

tile_status tile_launch_with(tile_kernel *k, tile_stream *stream, tile_grid grid,
                             const tile_arg *args, size_t arg_count,
                             const tile_launch_options *options) {
  if (!k)
    return status_set(TILE_INVALID_ARGUMENT, "tile_launch: the kernel is NULL");
  struct jit_spec *spec;
  tile_status s = specialise(k, args, arg_count, NULL, &spec);
  if (s == TILE_OK)
    s = launch_spec(k, spec, stream, grid, args, launch_flags_of(options));
  if (s == TILE_LAUNCH_FAILED && device_is_cpu(k->device) && !spec->config->check)
    s = jit_launch_checked(k, spec->config, stream, grid, args, arg_count);
  return s;
}

tile_status tile_kernel_prepare(tile_kernel *k, const tile_arg *args, size_t arg_count) {
  if (!k)
    return status_set(TILE_INVALID_ARGUMENT, "tile_kernel_prepare: the kernel is NULL");
  struct jit_spec *spec;
  struct module *m;
  tile_status s = specialise(k, args, arg_count, NULL, &spec);
  return s == TILE_OK ? jit_spec_module(k, spec, &m) : s;
}

tile_status tile_kernel_get_code(tile_kernel *k, const tile_arg *args, size_t arg_count,
                                 const char **ret_code, size_t *ret_size) {
  if (!k || !ret_code || !ret_size)
    return status_set(TILE_INVALID_ARGUMENT, "tile_kernel_get_code: `%s` is NULL",
                      !k          ? "kernel"
                      : !ret_code ? "ret_code"
                                  : "ret_size");
  struct jit_spec *spec;
  tile_status s = specialise(k, args, arg_count, NULL, &spec);
  if (s != TILE_OK)
    return s;
  *ret_code = spec->code.ptr;
  *ret_size = spec->code.len;
  return TILE_OK;
}

tile_status tile_kernel_get_resources(tile_kernel *k, const tile_arg *args, size_t arg_count,
                                      tile_kernel_resources *ret) {
  if (!k || !ret)
    return status_set(TILE_INVALID_ARGUMENT, "tile_kernel_get_resources: `%s` is NULL",
                      !k ? "kernel" : "ret");
  struct jit_spec *spec;
  struct module *m;
  tile_status s = specialise(k, args, arg_count, NULL, &spec);
  if (s == TILE_OK)
    s = jit_spec_module(k, spec, &m);
  int registers = 0, local_bytes = 0;
  if (s == TILE_OK)
    s = module_resources(m, &registers, &local_bytes);
  if (s != TILE_OK)
    return s;
  const struct kernel_info *info = &spec->info;
  *ret = (tile_kernel_resources){
      .registers = registers,
      .local_bytes = local_bytes,
      .shared_bytes = info->calls_programs ? 0 : info->shared_bytes,
      .threads = 32 * (info->num_warps + info->producer_warps),
      .num_warps = info->num_warps,
      .num_stages = info->num_stages,
      .num_ctas = info->num_ctas ? info->num_ctas : 1,
  };
  return TILE_OK;
}
