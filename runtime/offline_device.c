// SPDX-License-Identifier: Apache-2.0
// A device without hardware: kernels can be opened and compiled for its target; every launch or
// copy returns TILE_NO_DEVICE. For processes that must not open the GPU.
#include "base/memory.h"
#include "runtime/device.h"

#include <stdio.h>
#include <stdlib.h>

static tile_status absent(const tile_device *d) {
  return status_set(TILE_NO_DEVICE,
                    "this device only compiles for `%s`; there is nothing to run on", d->target);
}

static void offline_close(tile_device *d) { free(d); }

static tile_status offline_properties(tile_device *d, tile_device_properties *ret) {
  snprintf(ret->name, sizeof ret->name, "no device");
  snprintf(ret->target, sizeof ret->target, "%s", d->target);
  return TILE_OK;
}

static tile_status offline_alloc(tile_device *d, UNUSED size_t size, UNUSED void **ret) {
  return absent(d);
}
static tile_status offline_release(tile_device *d, UNUSED void *p) { return absent(d); }
static tile_status offline_create(tile_device *d, UNUSED void **ret) { return absent(d); }
static void offline_destroy(UNUSED tile_device *d, UNUSED void *handle) {}
static tile_status offline_wait(tile_device *d, UNUSED void *stream) { return absent(d); }
static tile_status offline_record(tile_device *d, UNUSED void *event, UNUSED void *stream) {
  return absent(d);
}
static tile_status offline_elapsed(tile_device *d, UNUSED void *start, UNUSED void *stop,
                                   UNUSED float *ret_ms) {
  return absent(d);
}
static tile_status offline_copy(tile_device *d, UNUSED enum copy_kind kind, UNUSED void *stream,
                                UNUSED void *to, UNUSED const void *from, UNUSED size_t size) {
  return absent(d);
}
static tile_status offline_fill(tile_device *d, UNUSED void *stream, UNUSED void *to,
                                UNUSED int byte, UNUSED size_t size) {
  return absent(d);
}
static tile_status offline_load(struct module *m, UNUSED const void *code, UNUSED size_t size) {
  return absent(m->device);
}

static const struct device_ops offline_ops = {
    .close = offline_close,
    .properties = offline_properties,
    .alloc = offline_alloc,
    .release = offline_release,
    .stream_create = offline_create,
    .stream_destroy = offline_destroy,
    .stream_wait = offline_wait,
    .event_create = offline_create,
    .event_destroy = offline_destroy,
    .event_record = offline_record,
    .event_elapsed = offline_elapsed,
    .copy = offline_copy,
    .fill = offline_fill,
    .module_load = offline_load,
};

tile_status device_open_offline(const char *target, tile_device **ret) {
  tile_device *d = memory_zeroed(1, sizeof *d);
  if (!d)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a device");
  d->ops = &offline_ops;
  snprintf(d->target, sizeof d->target, "%s", target);
  *ret = d;
  return TILE_OK;
}
