// SPDX-License-Identifier: Apache-2.0
// GPUs through the CUDA driver: the primary context (shared with the CUDA runtime, so that Tile
// mixes with other CUDA code in one process), memory, streams, events, modules, launches.
#include "base/debug.h"
#include "base/memory.h"
#include "runtime/cuda_api.h"
#include "runtime/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cuda_device {
  struct tile_device base;
  struct cuda_api api;
  int device; // CUdevice
  void *context;
  bool owns_context; // retained here, to be released; else the caller's
  int shared_limit;
  unsigned max_grid[3];
};

static struct cuda_device *cuda_of(tile_device *d) { return (struct cuda_device *)d; }

// Makes the device's context the calling thread's. Asking first costs some 10 ns and is right even
// where other CUDA code in the process switches contexts, which a note of our own would miss.
static tile_status enter(struct cuda_device *c) {
  void *current = NULL;
  if (c->api.context_get(&current) == 0 && current == c->context)
    return TILE_OK;
  CUDA_TRY(&c->api, context_set, (c->context));
  return TILE_OK;
}

#define ENTER(c)                                                                                   \
  do {                                                                                             \
    tile_status enter_status_ = enter(c);                                                          \
    if (enter_status_ != TILE_OK)                                                                  \
      return enter_status_;                                                                        \
  } while (0)

static uint64_t address_of(const void *p) { return (uint64_t)(uintptr_t)p; }

// ---- opening ----

static tile_status attribute(struct cuda_device *c, int which, int *ret) {
  CUDA_TRY(&c->api, device_attribute, (ret, which, c->device));
  return TILE_OK;
}

// What to compile for: the newest target whose PTX this GPU runs. The `a` targets run on their own
// generation only; later GPUs take the newest plain one.
static const char *target_for(int major, int minor) {
  int sm = major * 10 + minor;
  if (sm == 90)
    return "sm_90a";
  if (sm == 100)
    return "sm_100a";
  if (sm >= 89)
    return "sm_89";
  if (sm >= 86)
    return "sm_86";
  return sm >= 80 ? "sm_80" : NULL;
}

static tile_status read_limits(struct cuda_device *c) {
  int major, minor, grid[3];
  const struct {
    int which, *into;
  } wanted[] = {
      {CUDA_DEVICE_CAPABILITY_MAJOR, &major},       {CUDA_DEVICE_CAPABILITY_MINOR, &minor},
      {CUDA_DEVICE_SHARED_OPTIN, &c->shared_limit}, {CUDA_DEVICE_MAX_GRID_X, &grid[0]},
      {CUDA_DEVICE_MAX_GRID_Y, &grid[1]},           {CUDA_DEVICE_MAX_GRID_Z, &grid[2]},
  };
  for (size_t i = 0; i < COUNT_OF(wanted); i++) {
    tile_status s = attribute(c, wanted[i].which, wanted[i].into);
    if (s != TILE_OK)
      return s;
  }
  for (int i = 0; i < 3; i++)
    c->max_grid[i] = (unsigned)grid[i];
  c->base.ordinal = c->device; // the driver's CUdevice is the ordinal
  const char *target = target_for(major, minor);
  if (!target)
    return status_set(TILE_NO_DEVICE,
                      "the GPU has compute capability %d.%d; 8.0 (Ampere) is the oldest that is "
                      "supported",
                      major, minor);
  snprintf(c->base.target, sizeof c->base.target, "%s", target);
  c->base.capability = (unsigned)(major * 10 + minor);
  return TILE_OK;
}

static const struct device_ops cuda_ops;

static tile_status open_ordinal(struct cuda_device *c, int ordinal) {
  int count = 0;
  CUDA_TRY(&c->api, device_count, (&count));
  if (ordinal < 0 || ordinal >= count)
    return status_set(TILE_NO_DEVICE, "there is no GPU %d: the driver sees %d", ordinal, count);
  CUDA_TRY(&c->api, device_get, (&c->device, ordinal));
  tile_status s = read_limits(c);
  if (s != TILE_OK)
    return s;
  CUDA_TRY(&c->api, context_retain, (&c->context, c->device));
  c->owns_context = true;
  return TILE_OK;
}

// The device of a context that the caller keeps alive; NULL: the calling thread's current one,
// which stays current.
static tile_status open_context(struct cuda_device *c, void *context) {
  void *before = NULL;
  CUDA_TRY(&c->api, context_get, (&before));
  c->context = context ? context : before;
  if (!c->context)
    return status_set(TILE_INVALID_ARGUMENT,
                      "tile_device_from_context: this thread has no current CUDA context\n"
                      "  = help: make one current, or open the device by name");
  if (c->context != before)
    CUDA_TRY(&c->api, context_set, (c->context));
  int result = c->api.context_device(&c->device);
  if (c->context != before)
    CUDA_TRY(&c->api, context_set, (before));
  return result == 0 ? read_limits(c) : cuda_failure(&c->api, CUDA_CALL_context_device, result);
}

static struct cuda_device *device_new(const struct cuda_api *api) {
  struct cuda_device *c = memory_zeroed(1, sizeof *c);
  if (c) {
    c->base.ops = &cuda_ops;
    c->api = *api;
  } else {
    status_set(TILE_OUT_OF_MEMORY, "out of memory for a device");
  }
  return c;
}

tile_status cuda_device_from_context(void *context, tile_device **ret) {
  struct cuda_api api;
  tile_status s = cuda_api_load(&api);
  if (s != TILE_OK)
    return s;
  struct cuda_device *c = device_new(&api);
  if (!c)
    return TILE_OUT_OF_MEMORY;
  s = open_context(c, context);
  if (s != TILE_OK) {
    free(c);
    return s;
  }
  debug_log(DEBUG_DRIVER, "a context given, for %s", c->base.target);
  *ret = &c->base;
  return TILE_OK;
}

tile_status cuda_device_open_with(const struct cuda_api *api, int ordinal, tile_device **ret) {
  struct cuda_device *c = device_new(api);
  if (!c)
    return TILE_OUT_OF_MEMORY;
  tile_status s = open_ordinal(c, ordinal);
  if (s != TILE_OK) {
    free(c);
    return s;
  }
  debug_log(DEBUG_DRIVER, "GPU %d opened for %s", ordinal, c->base.target);
  *ret = &c->base;
  return TILE_OK;
}

tile_status cuda_device_open(int ordinal, tile_device **ret) {
  struct cuda_api api;
  tile_status s = cuda_api_load(&api);
  return s == TILE_OK ? cuda_device_open_with(&api, ordinal, ret) : s;
}

int cuda_device_count(void) {
  struct cuda_api api;
  int count = 0;
  if (cuda_api_load(&api) != TILE_OK || api.device_count(&count) != 0)
    return 0;
  return count;
}

static void cuda_close(tile_device *d) {
  struct cuda_device *c = cuda_of(d);
  if (c->owns_context)
    c->api.context_release(c->device);
  free(c);
}

static tile_status cuda_properties(tile_device *d, tile_device_properties *ret) {
  struct cuda_device *c = cuda_of(d);
  CUDA_TRY(&c->api, device_name, (ret->name, (int)sizeof ret->name, c->device));
  CUDA_TRY(&c->api, driver_version, (&ret->driver_version));
  CUDA_TRY(&c->api, device_memory, (&ret->memory, c->device));
  tile_status s = attribute(c, CUDA_DEVICE_MULTIPROCESSORS, &ret->multiprocessors);
  if (s != TILE_OK)
    return s;
  memcpy(ret->target, c->base.target, sizeof ret->target);
  ret->shared_limit = (size_t)c->shared_limit;
  // The rest may be missing on some GPUs; 0 then says so.
  int l2 = 0, khz = 0, bits = 0;
  if (c->api.device_attribute(&l2, CUDA_DEVICE_L2_BYTES, c->device) == 0)
    ret->l2_bytes = (size_t)l2;
  if (c->api.device_attribute(&khz, CUDA_DEVICE_MEMORY_CLOCK_KHZ, c->device) == 0 &&
      c->api.device_attribute(&bits, CUDA_DEVICE_MEMORY_BUS_BITS, c->device) == 0)
    ret->memory_gbs = 2.0 * khz * 1e3 * (bits / 8.0) * 1e-9; // two transfers a clock
  return TILE_OK;
}

// ---- memory ----

static tile_status cuda_alloc(tile_device *d, size_t size, void **ret) {
  struct cuda_device *c = cuda_of(d);
  ENTER(c);
  uint64_t address = 0;
  int result = c->api.mem_alloc(&address, size);
  if (result == 2)
    return status_set(TILE_OUT_OF_DEVICE_MEMORY,
                      "cuMemAlloc: no room for %zu bytes on the GPU\n  = help: free buffers, or "
                      "stop other programs that use it",
                      size);
  if (result != 0)
    return cuda_failure(&c->api, CUDA_CALL_mem_alloc, result);
  *ret = (void *)(uintptr_t)address;
  return TILE_OK;
}

static tile_status cuda_release(tile_device *d, void *p) {
  struct cuda_device *c = cuda_of(d);
  ENTER(c);
  CUDA_TRY(&c->api, mem_free, (address_of(p)));
  return TILE_OK;
}

static tile_status cuda_range(tile_device *d, const void *p, void **ret_base, size_t *ret_size) {
  struct cuda_device *c = cuda_of(d);
  ENTER(c);
  uint64_t base = 0;
  size_t size = 0;
  int result = c->api.mem_range(&base, &size, address_of(p));
  if (result == 1 || result == 500) // the driver does not know the address
    return status_set(TILE_INVALID_ARGUMENT,
                      "cuMemGetAddressRange: %p lies in no allocation of this GPU", p);
  if (result != 0)
    return cuda_failure(&c->api, CUDA_CALL_mem_range, result);
  *ret_base = (void *)(uintptr_t)base;
  *ret_size = size;
  return TILE_OK;
}

static tile_status cuda_copy(tile_device *d, enum copy_kind kind, void *stream, void *to,
                             const void *from, size_t size) {
  struct cuda_device *c = cuda_of(d);
  ENTER(c);
  switch (kind) {
  case COPY_ON_DEVICE:
    CUDA_TRY(&c->api, copy_on_device, (address_of(to), address_of(from), size, stream));
    return TILE_OK;
  case COPY_TO_DEVICE:
    CUDA_TRY(&c->api, copy_to_device, (address_of(to), from, size, stream));
    break;
  case COPY_TO_HOST: CUDA_TRY(&c->api, copy_to_host, (to, address_of(from), size, stream)); break;
  }
  // From and to page-locked memory the driver's copies are asynchronous; ours are not.
  CUDA_TRY(&c->api, stream_wait, (stream));
  return TILE_OK;
}

static tile_status cuda_fill(tile_device *d, void *stream, void *to, int byte, size_t size) {
  struct cuda_device *c = cuda_of(d);
  ENTER(c);
  CUDA_TRY(&c->api, fill_bytes, (address_of(to), (unsigned char)byte, size, stream));
  return TILE_OK;
}

static tile_status cuda_staging_alloc(tile_device *d, size_t size, void **ret) {
  struct cuda_device *c = cuda_of(d);
  ENTER(c);
  CUDA_TRY(&c->api, cpu_alloc, (ret, size, 0));
  return TILE_OK;
}

static void cuda_staging_free(tile_device *d, void *p) {
  struct cuda_device *c = cuda_of(d);
  if (enter(c) == TILE_OK)
    c->api.cpu_free(p);
}

// ---- streams and events ----

static tile_status cuda_stream_create(tile_device *d, void **ret) {
  struct cuda_device *c = cuda_of(d);
  ENTER(c);
  // Flags 0: ordered with the default stream, so that mixing both is safe.
  CUDA_TRY(&c->api, stream_create, (ret, 0));
  return TILE_OK;
}

static void cuda_stream_destroy(tile_device *d, void *stream) {
  struct cuda_device *c = cuda_of(d);
  if (enter(c) == TILE_OK)
    c->api.stream_destroy(stream);
}

static tile_status cuda_stream_wait(tile_device *d, void *stream) {
  struct cuda_device *c = cuda_of(d);
  ENTER(c);
  CUDA_TRY(&c->api, stream_wait, (stream));
  return TILE_OK;
}

static tile_status cuda_event_create(tile_device *d, void **ret) {
  struct cuda_device *c = cuda_of(d);
  ENTER(c);
  CUDA_TRY(&c->api, event_create, (ret, 0));
  return TILE_OK;
}

static void cuda_event_destroy(tile_device *d, void *event) {
  struct cuda_device *c = cuda_of(d);
  if (enter(c) == TILE_OK)
    c->api.event_destroy(event);
}

static tile_status cuda_event_record(tile_device *d, void *event, void *stream) {
  struct cuda_device *c = cuda_of(d);
  ENTER(c);
  CUDA_TRY(&c->api, event_record, (event, stream));
  return TILE_OK;
}

static tile_status cuda_event_elapsed(tile_device *d, void *start, void *stop, float *ret_ms) {
  struct cuda_device *c = cuda_of(d);
  ENTER(c);
  CUDA_TRY(&c->api, event_wait, (stop));
  CUDA_TRY(&c->api, event_elapsed, (ret_ms, start, stop));
  return TILE_OK;
}

// ---- modules ----

#define LOG_BYTES 4096

static tile_status load_failure(struct cuda_device *c, const struct kernel_info *info, int result,
                                const char *log) {
  tile_status s = cuda_failure(&c->api, CUDA_CALL_module_load, result);
  return status_set(s, "kernel `%s` does not load: %s%s%s", info->name, tile_error_message(),
                    log[0] ? "\n" : "", log);
}

// Above 48 KB a kernel gets dynamic shared memory only when it asks.
#define SHARED_WITHOUT_ASKING (48u << 10)

static tile_status prepare_function(struct cuda_device *c, struct module *m) {
  CUDA_TRY(&c->api, module_function, (&m->function, m->handle, m->info->name));
  if (m->info->shared_bytes > SHARED_WITHOUT_ASKING)
    CUDA_TRY(&c->api, function_set,
             (m->function, CUDA_FUNCTION_MAX_SHARED, (int)m->info->shared_bytes));
  return TILE_OK;
}

static tile_status cuda_module_load(struct module *m, const void *code, size_t size) {
  struct cuda_device *c = cuda_of(m->device);
  (void)size; // PTX ends with a NUL, a cubin knows its length
  if (m->info->shared_bytes > (unsigned)c->shared_limit)
    return status_set(TILE_LIMIT,
                      "kernel `%s` needs %u bytes of shared memory; a CTA of this GPU may use %d\n"
                      "  = help: use smaller blocks or fewer stages",
                      m->info->name, m->info->shared_bytes, c->shared_limit);
  ENTER(c);
  char info_log[LOG_BYTES] = "", error_log[LOG_BYTES] = "";
  int options[] = {CUDA_JIT_INFO_LOG, CUDA_JIT_INFO_LOG_BYTES, CUDA_JIT_ERROR_LOG,
                   CUDA_JIT_ERROR_LOG_BYTES, CUDA_JIT_LINE_INFO};
  // The driver takes integers instead of pointers here.
  void *values[] = {info_log, (void *)(uintptr_t)LOG_BYTES, error_log, (void *)(uintptr_t)LOG_BYTES,
                    (void *)(uintptr_t)1};
  // A thread that records elsewhere in the process is not disturbed: this is no part of it.
  int mode = CUDA_CAPTURE_RELAXED;
  CUDA_TRY(&c->api, capture_mode, (&mode));
  int result = c->api.module_load(&m->handle, code, COUNT_OF(options), options, values);
  int mode_result = c->api.capture_mode(&mode);
  info_log[LOG_BYTES - 1] = error_log[LOG_BYTES - 1] = '\0';
  if (result != 0)
    return load_failure(c, m->info, result, error_log);
  if (info_log[0])
    debug_log(DEBUG_DRIVER, "loading `%s`: %s", m->info->name, info_log);
  tile_status s = mode_result == 0 ? prepare_function(c, m)
                                   : cuda_failure(&c->api, CUDA_CALL_capture_mode, mode_result);
  if (s != TILE_OK)
    c->api.module_unload(m->handle);
  return s;
}

// A failed call as TILE_COMPILE_ERROR if the text is to blame, else by its own kind.
static tile_status assemble_failure(struct cuda_device *c, enum cuda_call call, int result,
                                    const char *log) {
  tile_status s = cuda_failure(&c->api, call, result);
  if (log[0] || s == TILE_INTERNAL || s == TILE_INVALID_ARGUMENT)
    s = TILE_COMPILE_ERROR;
  return status_set(s, "the driver does not assemble the kernel: %s%s%s", tile_error_message(),
                    log[0] ? "\n" : "", log);
}

static tile_status cuda_assemble(tile_device *d, const char *ptx, size_t size, enum assembly how,
                                 void **ret_code, size_t *ret_size) {
  struct cuda_device *c = cuda_of(d);
  ENTER(c);
  char error_log[LOG_BYTES] = "";
  int options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_BYTES, CUDA_JIT_LINE_INFO,
                   CUDA_JIT_LEVEL};
  void *values[] = {error_log, (void *)(uintptr_t)LOG_BYTES, (void *)(uintptr_t)1,
                    (void *)(uintptr_t)1};
  unsigned count = how == ASSEMBLY_TIER1 ? COUNT_OF(options) : COUNT_OF(options) - 1;
  void *link = NULL, *cubin = NULL; // the cubin goes with the link
  size_t cubin_size = 0;
  CUDA_TRY(&c->api, link_create, (count, options, values, &link));
  enum cuda_call call = CUDA_CALL_link_add;
  // The driver does not write to the text; its prototype has no const.
  void *text = (void *)(uintptr_t)ptx;
  int result = c->api.link_add(link, CUDA_LINK_PTX, text, size + 1, "kernel", 0, NULL, NULL);
  if (result == 0) {
    call = CUDA_CALL_link_complete;
    result = c->api.link_complete(link, &cubin, &cubin_size);
  }
  void *copy = result == 0 ? memory_alloc(cubin_size) : NULL;
  if (copy)
    memcpy(copy, cubin, cubin_size);
  c->api.link_destroy(link);
  error_log[LOG_BYTES - 1] = '\0';
  if (result != 0)
    return assemble_failure(c, call, result, error_log);
  if (!copy)
    return status_set(TILE_OUT_OF_MEMORY, "no room for a cubin of %zu bytes", cubin_size);
  *ret_code = copy;
  *ret_size = cubin_size;
  return TILE_OK;
}

static void cuda_module_unload(struct module *m) {
  struct cuda_device *c = cuda_of(m->device);
  if (enter(c) == TILE_OK)
    c->api.module_unload(m->handle);
}

static tile_status cuda_resources(struct module *m, int *ret_registers, int *ret_local_bytes) {
  struct cuda_device *c = cuda_of(m->device);
  ENTER(c);
  CUDA_TRY(&c->api, function_get, (ret_registers, CUDA_FUNCTION_REGISTERS, m->function));
  CUDA_TRY(&c->api, function_get, (ret_local_bytes, CUDA_FUNCTION_LOCAL_BYTES, m->function));
  return TILE_OK;
}

static tile_status grid_too_large(struct cuda_device *c, const struct kernel_info *info,
                                  tile_grid g) {
  int axis = g.x > c->max_grid[0] ? 0 : g.y > c->max_grid[1] ? 1 : 2;
  unsigned asked = axis == 0 ? g.x : axis == 1 ? g.y : g.z;
  return status_set(TILE_INVALID_ARGUMENT,
                    "launch of `%s`: the grid's %c is %u; this GPU allows %u", info->name,
                    "xyz"[axis], asked, c -> max_grid[axis]);
}

static tile_status cuda_launch(struct module *m, void *stream, tile_grid g, void *const *values,
                               bool check) {
  struct cuda_device *c = cuda_of(m->device);
  const struct kernel_info *info = m->info;
  (void)check; // the CPU executor's
  if (g.x > c->max_grid[0] || g.y > c->max_grid[1] || g.z > c->max_grid[2])
    return grid_too_large(c, info, g);
  ENTER(c);
  // The driver reads the values through the pointers and writes neither; its prototype has no
  // const.
  void **params;
  memcpy(&params, &values, sizeof params);
  int result = c->api.launch(m->function, g.x, g.y, g.z, info->num_warps * 32, 1, 1,
                             info->shared_bytes, stream, params, NULL);
  if (result == 0)
    return TILE_OK;
  tile_status s = cuda_failure(&c->api, CUDA_CALL_launch, result);
  return status_set(s, "launch of `%s`: %s", info->name, tile_error_message());
}

// ---- recording ----

static tile_status cuda_record_begin(tile_device *d, void *stream) {
  struct cuda_device *c = cuda_of(d);
  ENTER(c);
  CUDA_TRY(&c->api, capture_begin, (stream, CUDA_CAPTURE_THREAD));
  return TILE_OK;
}

static tile_status cuda_record_end(tile_device *d, void *stream, void **ret) {
  struct cuda_device *c = cuda_of(d);
  void *graph = NULL;
  ENTER(c);
  CUDA_TRY(&c->api, capture_end, (stream, &graph));
  int result = c->api.graph_make(ret, graph, 0);
  c->api.graph_destroy(graph);
  return result == 0 ? TILE_OK : cuda_failure(&c->api, CUDA_CALL_graph_make, result);
}

static tile_status cuda_replay(tile_device *d, void *recorded, void *stream) {
  struct cuda_device *c = cuda_of(d);
  ENTER(c);
  CUDA_TRY(&c->api, graph_launch, (recorded, stream));
  return TILE_OK;
}

static void cuda_record_destroy(tile_device *d, void *recorded) {
  struct cuda_device *c = cuda_of(d);
  if (enter(c) == TILE_OK)
    c->api.exec_destroy(recorded);
}

static const struct device_ops cuda_ops = {
    .close = cuda_close,
    .properties = cuda_properties,
    .alloc = cuda_alloc,
    .release = cuda_release,
    .range = cuda_range,
    .stream_create = cuda_stream_create,
    .stream_destroy = cuda_stream_destroy,
    .stream_wait = cuda_stream_wait,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_elapsed = cuda_event_elapsed,
    .copy = cuda_copy,
    .fill = cuda_fill,
    .assemble = cuda_assemble,
    .staging_alloc = cuda_staging_alloc,
    .staging_free = cuda_staging_free,
    .module_load = cuda_module_load,
    .module_unload = cuda_module_unload,
    .launch = cuda_launch,
    .resources = cuda_resources,
    .record_begin = cuda_record_begin,
    .record_end = cuda_record_end,
    .replay = cuda_replay,
    .record_destroy = cuda_record_destroy,
};
