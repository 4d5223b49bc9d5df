// SPDX-License-Identifier: Apache-2.0
// The public calls on devices, memory, streams and events: they check arguments and forward to the
// device's table.
#include "base/memory.h"
#include "runtime/trace_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tile_status no_device_given(const char *call) {
  return status_set(TILE_INVALID_ARGUMENT, "%s: the device is NULL", call);
}

static tile_status null_argument(const char *call, const char *what) {
  return status_set(TILE_INVALID_ARGUMENT, "%s: `%s` is NULL", call, what);
}

// "cuda" or "cuda:N"; false for other names.
static bool parse_cuda_name(const char *name, int *ret_ordinal) {
  if (strncmp(name, "cuda", 4) != 0)
    return false;
  *ret_ordinal = 0;
  if (name[4] == '\0')
    return true;
  if (name[4] != ':' || name[5] == '\0')
    return false;
  int n = 0;
  for (const char *p = name + 5; *p; p++) {
    if (*p < '0' || *p > '9' || n > 9999)
      return false;
    n = n * 10 + (*p - '0');
  }
  *ret_ordinal = n;
  return true;
}

#define SIMULATE "simulate:"

tile_status tile_device_open(const char *name, tile_device **ret_device) {
  if (!ret_device)
    return null_argument("tile_device_open", "ret_device");
  if (!name || strcmp(name, "auto") == 0) {
    tile_device *gpu = NULL;
    if (cuda_device_open(0, &gpu) == TILE_OK) {
      *ret_device = gpu;
      return TILE_OK;
    }
    return cpu_device_open(ret_device);
  }
  int ordinal;
  if (strcmp(name, "cpu") == 0)
    return cpu_device_open(ret_device);
  if (parse_cuda_name(name, &ordinal))
    return cuda_device_open(ordinal, ret_device);
  if (strncmp(name, SIMULATE, strlen(SIMULATE)) == 0)
    return simulator_device_open(name + strlen(SIMULATE), ret_device);
  return status_set(
      TILE_INVALID_ARGUMENT,
      "no device is called `%s`; use `auto`, `cpu`, `cuda`, `cuda:N` or `simulate:TARGET`", name);
}

tile_status tile_device_from_context(void *cuda_context, tile_device **ret_device) {
  if (!ret_device)
    return null_argument("tile_device_from_context", "ret_device");
  return cuda_device_from_context(cuda_context, ret_device);
}

void *device_kept(const tile_device *d) { return atomic_load(&d->kept); }

void *device_keep(tile_device *d, void *what, void (*close)(void *what)) {
  void *nothing = NULL;
  if (!atomic_compare_exchange_strong(&d->kept, &nothing, what))
    return nothing; // what is there
  d->kept_close = close;
  return what;
}

void tile_device_close(tile_device *device) {
  if (!device)
    return;
  void *kept = device_kept(device);
  if (kept && device->kept_close)
    device->kept_close(kept);
  device_marks_flush(device);
  device->ops->close(device);
}

int tile_device_count(void) { return cuda_device_count(); }

tile_status tile_device_get_properties(tile_device *device, tile_device_properties *ret) {
  if (!device)
    return no_device_given("tile_device_get_properties");
  if (!ret)
    return null_argument("tile_device_get_properties", "ret");
  tile_device_properties p = {0};
  tile_status s = device->ops->properties(device, &p);
  if (s == TILE_OK)
    *ret = p;
  return s;
}

bool device_is_cpu(const tile_device *d) { return d->is_cpu; }
bool device_checks(const tile_device *d) { return d->ops->violations != NULL; }
bool device_assembles(const tile_device *d) { return d->ops->assemble != NULL; }
const char *device_target(const tile_device *d) { return d->target; }

void device_open_name(const tile_device *d, char ret[32]) {
  if (d->is_cpu)
    snprintf(ret, 32, "cpu");
  else if (d->is_simulated)
    snprintf(ret, 32, SIMULATE "%s", d->target);
  else
    snprintf(ret, 32, "cuda:%d", d->ordinal);
}

size_t device_violations(tile_device *d, const struct cpu_violation **ret, uint64_t *ret_total) {
  *ret_total = 0;
  return d->ops->violations ? d->ops->violations(d, ret, ret_total) : 0;
}

void device_set_print(tile_device *d, void (*print)(void *user, const char *text), void *user) {
  if (d->ops->set_print)
    d->ops->set_print(d, print, user);
}

// ---- memory ----

tile_status tile_malloc(tile_device *device, size_t size, void **ret_pointer) {
  if (!device)
    return no_device_given("tile_malloc");
  if (!ret_pointer)
    return null_argument("tile_malloc", "ret_pointer");
  // An empty buffer still gets its own address, so that NULL always means failure.
  return device->ops->alloc(device, size ? size : 1, ret_pointer);
}

tile_status tile_free(tile_device *device, void *pointer) {
  if (!pointer)
    return TILE_OK;
  if (!device)
    return no_device_given("tile_free");
  return device->ops->release(device, pointer);
}

tile_status tile_memory_register(tile_device *device, void *pointer, size_t size) {
  if (!device)
    return no_device_given("tile_memory_register");
  if (!pointer || !size)
    return status_set(TILE_INVALID_ARGUMENT, "tile_memory_register: there is no memory");
  return device->ops->register_memory ? device->ops->register_memory(device, pointer, size)
                                      : TILE_OK;
}

tile_status tile_memory_unregister(tile_device *device, void *pointer) {
  if (!device)
    return no_device_given("tile_memory_unregister");
  if (!pointer)
    return null_argument("tile_memory_unregister", "pointer");
  return device->ops->unregister_memory ? device->ops->unregister_memory(device, pointer) : TILE_OK;
}

tile_status device_allocation(tile_device *d, const void *p, void **ret_base, size_t *ret_size) {
  if (!p)
    return null_argument("device_allocation", "p");
  if (!d->ops->range)
    return status_set(TILE_NO_DEVICE, "this device has no memory");
  return d->ops->range(d, p, ret_base, ret_size);
}

tile_status device_staging_alloc(tile_device *d, size_t size, void **ret) {
  if (d->ops->staging_alloc)
    return d->ops->staging_alloc(d, size ? size : 1, ret);
  *ret = memory_alloc(size ? size : 1);
  return *ret ? TILE_OK : status_set(TILE_OUT_OF_MEMORY, "no room for %zu bytes", size);
}

void device_staging_free(tile_device *d, void *p) {
  if (!d->ops->staging_free)
    free(p);
  else if (p)
    d->ops->staging_free(d, p);
}

// ---- streams and events ----

// The handle of `stream`, which must belong to `device`.
static tile_status stream_handle(tile_device *device, const tile_stream *stream, const char *call,
                                 void **ret) {
  if (!device)
    return no_device_given(call);
  if (stream && stream->device != device)
    return status_set(TILE_INVALID_ARGUMENT, "%s: the stream belongs to another device", call);
  *ret = stream ? stream->handle : NULL;
  return TILE_OK;
}

tile_status tile_stream_create(tile_device *device, tile_stream **ret_stream) {
  if (!device)
    return no_device_given("tile_stream_create");
  if (!ret_stream)
    return null_argument("tile_stream_create", "ret_stream");
  tile_stream *s = memory_zeroed(1, sizeof *s);
  if (!s)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a stream");
  s->device = device;
  tile_status status = device->ops->stream_create(device, &s->handle);
  if (status != TILE_OK) {
    free(s);
    return status;
  }
  *ret_stream = s;
  return TILE_OK;
}

tile_status tile_stream_from_handle(tile_device *device, void *cuda_stream,
                                    tile_stream **ret_stream) {
  if (!device)
    return no_device_given("tile_stream_from_handle");
  if (!ret_stream)
    return null_argument("tile_stream_from_handle", "ret_stream");
  if (device->is_cpu || device->is_simulated)
    return status_set(TILE_INVALID_ARGUMENT,
                      "tile_stream_from_handle: the %s device has no CUDA streams",
                      device->is_cpu ? "cpu" : "simulated");
  tile_stream *s = memory_zeroed(1, sizeof *s);
  if (!s)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a stream");
  *s = (tile_stream){.device = device, .handle = cuda_stream, .is_foreign = true};
  *ret_stream = s;
  return TILE_OK;
}

void tile_stream_destroy(tile_stream *stream) {
  if (!stream)
    return;
  recording_destroy(stream->recording);
  if (!stream->is_foreign)
    stream->device->ops->stream_destroy(stream->device, stream->handle);
  free(stream);
}

tile_status tile_stream_synchronize(tile_device *device, tile_stream *stream) {
  void *handle = NULL;
  tile_status s = stream_handle(device, stream, "tile_stream_synchronize", &handle);
  if (s == TILE_OK && stream && stream->is_recording)
    return status_set(TILE_INVALID_ARGUMENT, "tile_stream_synchronize: the stream is recording");
  return s == TILE_OK ? device->ops->stream_wait(device, handle) : s;
}

tile_status tile_event_create(tile_device *device, tile_event **ret_event) {
  if (!device)
    return no_device_given("tile_event_create");
  if (!ret_event)
    return null_argument("tile_event_create", "ret_event");
  tile_event *e = memory_zeroed(1, sizeof *e);
  if (!e)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for an event");
  e->device = device;
  tile_status status = device->ops->event_create(device, &e->handle);
  if (status != TILE_OK) {
    free(e);
    return status;
  }
  *ret_event = e;
  return TILE_OK;
}

void tile_event_destroy(tile_event *event) {
  if (!event)
    return;
  event->device->ops->event_destroy(event->device, event->handle);
  free(event);
}

tile_status tile_event_record(tile_device *device, tile_event *event, tile_stream *stream) {
  void *handle = NULL;
  tile_status s = stream_handle(device, stream, "tile_event_record", &handle);
  if (s != TILE_OK)
    return s;
  if (!event)
    return null_argument("tile_event_record", "event");
  if (event->device != device)
    return status_set(TILE_INVALID_ARGUMENT,
                      "tile_event_record: the event belongs to another device");
  s = device->ops->event_record(device, event->handle, handle);
  if (s == TILE_OK)
    event->recorded = true;
  return s;
}

tile_status tile_event_elapsed(tile_event *start, tile_event *stop, float *ret_ms) {
  if (!start || !stop || !ret_ms)
    return null_argument("tile_event_elapsed", !start ? "start" : !stop ? "stop" : "ret_ms");
  if (start->device != stop->device)
    return status_set(TILE_INVALID_ARGUMENT,
                      "tile_event_elapsed: the events belong to different devices");
  if (!start->recorded || !stop->recorded)
    return status_set(TILE_INVALID_ARGUMENT, "tile_event_elapsed: the %s event was never recorded",
                      start->recorded ? "second" : "first");
  return start->device->ops->event_elapsed(start->device, start->handle, stop->handle, ret_ms);
}

// ---- copies ----

// A copy or fill as a slice of a trace, and of a GPU's stream where it is asynchronous.
struct transfer {
  struct trace_slice slice;
  struct device_mark mark;
};

static struct transfer transfer_begin(tile_device *d, tile_stream *stream, const char *name) {
  struct transfer t = {.slice = trace_begin(TRACE_COPY, name)};
  if (t.slice.begin)
    t.mark = device_mark_begin(d, stream ? stream->handle : NULL, stream && stream->is_recording);
  return t;
}

static void transfer_end(struct transfer *t, tile_device *d, tile_stream *stream, size_t size) {
  const struct trace_detail detail = {.bytes = size};
  device_mark_end(d, stream ? stream->handle : NULL, t->mark, TRACE_COPY, t->slice.name, &detail);
  trace_end(&t->slice, &detail);
}

static tile_status copy(const char *call, enum copy_kind kind, tile_device *device,
                        tile_stream *stream, void *to, const void *from, size_t size) {
  void *handle = NULL;
  tile_status s = stream_handle(device, stream, call, &handle);
  if (s != TILE_OK || size == 0)
    return s;
  if (!to || !from)
    return null_argument(call, to ? "from" : "to");
  if (stream && stream->is_recording && kind != COPY_ON_DEVICE)
    return status_set(TILE_INVALID_ARGUMENT, "%s: the stream is recording", call);
  if (stream && stream->recording)
    return record_copy(stream->recording, to, from, size);
  static const char *const names[] = {[COPY_TO_DEVICE] = "copy to device",
                                      [COPY_TO_HOST] = "copy to host",
                                      [COPY_ON_DEVICE] = "copy on device"};
  struct transfer t = transfer_begin(device, stream, names[kind]);
  s = device->ops->copy(device, kind, handle, to, from, size);
  transfer_end(&t, device, stream, size);
  return s;
}

tile_status tile_copy_to_device(tile_device *device, tile_stream *stream, void *to,
                                const void *from, size_t size) {
  return copy("tile_copy_to_device", COPY_TO_DEVICE, device, stream, to, from, size);
}

tile_status tile_copy_to_host(tile_device *device, tile_stream *stream, void *to, const void *from,
                              size_t size) {
  return copy("tile_copy_to_host", COPY_TO_HOST, device, stream, to, from, size);
}

tile_status tile_copy_on_device(tile_device *device, tile_stream *stream, void *to,
                                const void *from, size_t size) {
  return copy("tile_copy_on_device", COPY_ON_DEVICE, device, stream, to, from, size);
}

tile_status tile_memset(tile_device *device, tile_stream *stream, void *to, int byte, size_t size) {
  void *handle = NULL;
  tile_status s = stream_handle(device, stream, "tile_memset", &handle);
  if (s != TILE_OK || size == 0)
    return s;
  if (!to)
    return null_argument("tile_memset", "to");
  if (stream && stream->recording)
    return record_fill(stream->recording, to, byte, size);
  struct transfer t = transfer_begin(device, stream, "fill");
  s = device->ops->fill(device, handle, to, byte, size);
  transfer_end(&t, device, stream, size);
  return s;
}
