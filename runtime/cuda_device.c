// SPDX-License-Identifier: Apache-2.0
// GPUs through the CUDA driver: the primary context (shared with the CUDA runtime, so that Tile can
// be mixed with other CUDA code in one process), memory, streams, events. Modules and launches are
// in cuda_module.c.
#include "runtime/cuda_device.h"

#include "base/debug.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tile_status cuda_enter(struct cuda_device *c) {
  void *current = NULL;
  if (c->api.context_get(&current) == 0 && current == c->context)
    return TILE_OK;
  CUDA_TRY(&c->api, context_set, (c->context));
  return TILE_OK;
}

static uint64_t address_of(const void *p) { return (uint64_t)(uintptr_t)p; }

// ---- opening ----

static tile_status attribute(struct cuda_device *c, int which, int *ret) {
  CUDA_TRY(&c->api, device_attribute, (ret, which, c->device));
  return TILE_OK;
}

// The newest target whose PTX this GPU runs. Code for an `a` target runs on its own generation
// only; later GPUs take the newest target without `a`.
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

// Programmatic dependent launch; launches ignore the request for it where it is missing.
static tile_status read_pdl(struct cuda_device *c) {
  int version = 0;
  if (!c->api.launch_ex || c->base.capability < 90)
    return TILE_OK;
  CUDA_TRY(&c->api, driver_version, (&version));
  c->has_pdl = version >= CUDA_PROGRAMMATIC_EDGES;
  return TILE_OK;
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
  c->base.ordinal = c->device; // CUdevice is the ordinal
  const char *target = target_for(major, minor);
  if (!target)
    return status_set(TILE_NO_DEVICE,
                      "the GPU has compute capability %d.%d; 8.0 (Ampere) is the oldest that is "
                      "supported",
                      major, minor);
  snprintf(c->base.target, sizeof c->base.target, "%s", target);
  c->base.capability = (unsigned)(major * 10 + minor);
  return read_pdl(c);
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

// Opens the device of a context that the caller keeps alive; NULL: the calling thread's current
// context. The current context does not change.
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
  // Some GPUs lack these attributes; the value is then 0.
  int l2 = 0, khz = 0, bits = 0;
  if (c->api.device_attribute(&l2, CUDA_DEVICE_L2_BYTES, c->device) == 0)
    ret->l2_bytes = (size_t)l2;
  if (c->api.device_attribute(&khz, CUDA_DEVICE_MEMORY_CLOCK_KHZ, c->device) == 0 &&
      c->api.device_attribute(&bits, CUDA_DEVICE_MEMORY_BUS_BITS, c->device) == 0)
    ret->memory_gbs = 2.0 * khz * 1e3 * (bits / 8.0) * 1e-9; // two transfers per clock
  return TILE_OK;
}

// ---- memory ----

static tile_status cuda_alloc(tile_device *d, size_t size, void **ret) {
  struct cuda_device *c = cuda_of(d);
  CUDA_ENTER(c);
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
  CUDA_ENTER(c);
  CUDA_TRY(&c->api, mem_free, (address_of(p)));
  return TILE_OK;
}

static tile_status cuda_range(tile_device *d, const void *p, void **ret_base, size_t *ret_size) {
  struct cuda_device *c = cuda_of(d);
  CUDA_ENTER(c);
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
  CUDA_ENTER(c);
  switch (kind) {
  case COPY_ON_DEVICE:
    CUDA_TRY(&c->api, copy_on_device, (address_of(to), address_of(from), size, stream));
    return TILE_OK;
  case COPY_TO_DEVICE:
    CUDA_TRY(&c->api, copy_to_device, (address_of(to), from, size, stream));
    break;
  case COPY_TO_HOST: CUDA_TRY(&c->api, copy_to_host, (to, address_of(from), size, stream)); break;
  }
  // The driver's copies from and to page-locked memory are asynchronous; tile_copy_* is not.
  CUDA_TRY(&c->api, stream_wait, (stream));
  return TILE_OK;
}

static tile_status cuda_fill(tile_device *d, void *stream, void *to, int byte, size_t size) {
  struct cuda_device *c = cuda_of(d);
  CUDA_ENTER(c);
  CUDA_TRY(&c->api, fill_bytes, (address_of(to), (unsigned char)byte, size, stream));
  return TILE_OK;
}

static tile_status cuda_staging_alloc(tile_device *d, size_t size, void **ret) {
  struct cuda_device *c = cuda_of(d);
  CUDA_ENTER(c);
  CUDA_TRY(&c->api, cpu_alloc, (ret, size, 0));
  return TILE_OK;
}

static void cuda_staging_free(tile_device *d, void *p) {
  struct cuda_device *c = cuda_of(d);
  if (cuda_enter(c) == TILE_OK)
    c->api.cpu_free(p);
}

// ---- streams and events ----

static tile_status cuda_stream_create(tile_device *d, void **ret) {
  struct cuda_device *c = cuda_of(d);
  CUDA_ENTER(c);
  // Flags 0: the stream synchronises with the default stream, so that both can be mixed.
  CUDA_TRY(&c->api, stream_create, (ret, 0));
  return TILE_OK;
}

static void cuda_stream_destroy(tile_device *d, void *stream) {
  struct cuda_device *c = cuda_of(d);
  if (cuda_enter(c) == TILE_OK)
    c->api.stream_destroy(stream);
}

static tile_status cuda_stream_wait(tile_device *d, void *stream) {
  struct cuda_device *c = cuda_of(d);
  CUDA_ENTER(c);
  CUDA_TRY(&c->api, stream_wait, (stream));
  return TILE_OK;
}

static tile_status cuda_event_create(tile_device *d, void **ret) {
  struct cuda_device *c = cuda_of(d);
  CUDA_ENTER(c);
  CUDA_TRY(&c->api, event_create, (ret, 0));
  return TILE_OK;
}

static void cuda_event_destroy(tile_device *d, void *event) {
  struct cuda_device *c = cuda_of(d);
  if (cuda_enter(c) == TILE_OK)
    c->api.event_destroy(event);
}

static tile_status cuda_event_record(tile_device *d, void *event, void *stream) {
  struct cuda_device *c = cuda_of(d);
  CUDA_ENTER(c);
  CUDA_TRY(&c->api, event_record, (event, stream));
  return TILE_OK;
}

static tile_status cuda_event_elapsed(tile_device *d, void *start, void *stop, float *ret_ms) {
  struct cuda_device *c = cuda_of(d);
  CUDA_ENTER(c);
  CUDA_TRY(&c->api, event_wait, (stop));
  CUDA_TRY(&c->api, event_elapsed, (ret_ms, start, stop));
  return TILE_OK;
}

// The default stream cannot even be asked while others are captured: an error.
static bool cuda_is_capturing(tile_device *d, void *stream) {
  struct cuda_device *c = cuda_of(d);
  int status = 0;
  return c->api.is_capturing && (c->api.is_capturing(stream, &status) != 0 || status != 0);
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
    .is_capturing = cuda_is_capturing,
    .record_begin = cuda_record_begin,
    .record_end = cuda_record_end,
    .replay = cuda_replay,
    .record_destroy = cuda_record_destroy,
};
