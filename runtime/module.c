// SPDX-License-Identifier: Apache-2.0
// Loaded kernels and their launches, for any kind of device.
#include "base/debug.h"
#include "base/memory.h"
#include "runtime/trace_device.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static struct module *module_new(tile_device *device, const struct kernel_info *info) {
  struct module *m = memory_zeroed(1, sizeof *m);
  if (m) {
    m->device = device;
    m->info = info;
  }
  return m;
}

tile_status module_load(tile_device *device, const void *code, size_t size,
                        const struct kernel_info *info, struct module **ret) {
  if (device->is_cpu || !device->ops->module_load)
    return status_set(TILE_INVALID_ARGUMENT,
                      "kernel `%s` was compiled for %s; the CPU device runs CPU code only",
                      info->name, info->target);
  struct module *m = module_new(device, info);
  if (!m)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for kernel `%s`", info->name);
  if (info->map_count && !(m->maps = map_cache_create(info))) {
    free(m);
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for kernel `%s`", info->name);
  }
  tile_status s = device->ops->module_load(m, code, size);
  if (s != TILE_OK) {
    map_cache_destroy(m->maps);
    free(m);
    return s;
  }
  *ret = m;
  return TILE_OK;
}

tile_status module_assemble(tile_device *device, const char *ptx, size_t size, enum assembly how,
                            void **ret_code, size_t *ret_size) {
  if (!device->ops->assemble)
    return status_set(TILE_INVALID_ARGUMENT, "module_assemble: the device does not run PTX");
  return device->ops->assemble(device, ptx, size, how, ret_code, ret_size);
}

bool module_may_be_apart(const char *ptx) { return !strstr(ptx, "setmaxnreg"); }

tile_status module_from_cpu(tile_device *device, cpu_kernel_fn fn, const struct kernel_info *info,
                            void (*release)(void *user), void *user, struct module **ret) {
  if (!device->is_cpu)
    return status_set(TILE_INVALID_ARGUMENT, "kernel `%s` was compiled for the CPU, not for %s",
                      info->name, device->target);
  struct module *m = module_new(device, info);
  if (!m)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for kernel `%s`", info->name);
  m->cpu_fn = fn;
  m->release = release;
  m->release_user = user;
  *ret = m;
  return TILE_OK;
}

void module_destroy(struct module *m) {
  if (!m)
    return;
  if (m->device->ops->module_unload)
    m->device->ops->module_unload(m);
  if (m->release)
    m->release(m->release_user);
  map_cache_destroy(m->maps);
  free(m);
}

void module_set_source(struct module *m, const char *file, uint32_t line) {
  m->file = file;
  m->line = line;
}

// On a GPU the call is one slice, and the kernel another one.
static tile_status launch_traced(struct module *m, tile_stream *stream, tile_grid grid,
                                 void *const *values, unsigned flags) {
  tile_device *d = m->device;
  void *handle = stream ? stream->handle : NULL;
  bool is_asynchronous = !d->is_cpu && !d->is_simulated;
  const struct trace_detail detail = {.file = m->file,
                                      .line = m->line,
                                      .grid = {grid.x, grid.y, grid.z},
                                      .target = m->info->target};
  struct trace_slice slice =
      trace_begin(is_asynchronous ? TRACE_LAUNCH : TRACE_KERNEL, m->info->name);
  struct device_mark mark = device_mark_begin(d, handle, stream && stream->is_recording);
  tile_status s = d->ops->launch(m, handle, grid, values, flags);
  device_mark_end(d, handle, mark, TRACE_KERNEL, m->info->name, &detail);
  trace_end(&slice, &detail);
  return s;
}

tile_status module_launch(struct module *m, tile_stream *stream, tile_grid grid,
                          void *const *values, unsigned flags) {
  assert(!(flags & LAUNCH_CHECKED) || device_checks(m->device));
  if (stream && stream->device != m->device)
    return status_set(TILE_INVALID_ARGUMENT, "launch of `%s`: the stream belongs to another device",
                      m->info->name);
  grid.x += grid.x == 0;
  grid.y += grid.y == 0;
  grid.z += grid.z == 0;
  if (debug_on(DEBUG_LAUNCH))
    debug_log(DEBUG_LAUNCH, "%s grid (%u, %u, %u) warps %u shared %u", m->info->name, grid.x,
              grid.y, grid.z, kernel_info_threads(m->info) / 32, m->info->shared_bytes);
  if (stream && stream->recording)
    return record_launch(stream->recording, m, grid, values, flags);
  if (trace_on())
    return launch_traced(m, stream, grid, values, flags);
  return m->device->ops->launch(m, stream ? stream->handle : NULL, grid, values, flags);
}

tile_status module_resources(struct module *m, int *ret_registers, int *ret_local_bytes) {
  if (!m->device->ops->resources) {
    *ret_registers = *ret_local_bytes = 0;
    return TILE_OK;
  }
  return m->device->ops->resources(m, ret_registers, ret_local_bytes);
}
