// SPDX-License-Identifier: Apache-2.0
// A simulated GPU as a device: memory, streams that run calls in order, and events that are clock
// readings.
#include "runtime/simulated/simulated_device.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Fills new buffers, as on the CPU device: a NaN in every float type.
#define POISON 0xff
#define ALIGN 256
// Gap between buffers: larger than the error of a wrong 32-bit index.
#define FIRST_ADDRESS ((uint64_t)1 << 40)
#define GAP ((uint64_t)1 << 35)
#define LAST_ADDRESS ((uint64_t)1 << 62)

static const struct model {
  const char *target;
  unsigned capability, shared_kib;
  int multiprocessors;
} models[] = {
    {"sm_80", 80, 163, 108},  {"sm_86", 86, 99, 84},      {"sm_89", 89, 99, 128},
    {"sm_90a", 90, 227, 132}, {"sm_100a", 100, 227, 148},
};

// ---- memory ----

// Index of the first buffer above `address`; the lock is held.
static size_t upper_bound(const struct simulated_device *d, uint64_t address) {
  size_t low = 0, high = d->buffer_count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (d->buffers[mid].address <= address)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

struct sim_buffer *simulated_find(const struct simulated_device *d, uint64_t address) {
  size_t i = upper_bound(d, address);
  if (i == 0 || address - d->buffers[i - 1].address >= d->buffers[i - 1].size)
    return NULL;
  return &d->buffers[i - 1];
}

static uint64_t address_of(const void *p) { return (uint64_t)(uintptr_t)p; }

static tile_status out_of_memory(size_t size) {
  return status_set(TILE_OUT_OF_DEVICE_MEMORY, "no room for %zu bytes on the simulated device",
                    size);
}

// Appends a buffer to the table; its addresses are above all others.
static bool append(struct simulated_device *d, void *base, uint8_t *written, size_t size) {
  uint64_t spaced = (size + GAP - 1) / GAP * GAP + GAP;
  if (spaced > LAST_ADDRESS - d->next_address)
    return false;
  if (d->buffer_count == d->buffer_cap) {
    size_t cap = d->buffer_cap ? d->buffer_cap * 2 : 16;
    struct sim_buffer *grown = memory_resize(d->buffers, cap * sizeof *grown);
    if (!grown)
      return false;
    d->buffers = grown;
    d->buffer_cap = cap;
  }
  d->buffers[d->buffer_count++] = (struct sim_buffer){
      .address = d->next_address, .base = base, .size = size, .written = written};
  d->next_address += spaced;
  d->bytes_in_use += size;
  return true;
}

static tile_status simulated_alloc(tile_device *base, size_t size, void **ret) {
  struct simulated_device *d = simulated_of(base);
  if (size > d->memory)
    return out_of_memory(size);
  size_t rounded = (size + ALIGN - 1) / ALIGN * ALIGN;
  pthread_mutex_lock(&d->lock);
  void *p = d->bytes_in_use <= d->memory - size ? memory_aligned(ALIGN, rounded) : NULL;
  uint8_t *written = memory_zeroed(1, rounded / 8 + 1);
  bool ok = p && written && append(d, p, written, size);
  if (ok)
    *ret = (void *)(uintptr_t)d->buffers[d->buffer_count - 1].address;
  pthread_mutex_unlock(&d->lock);
  if (!ok) {
    free(p);
    free(written);
    return out_of_memory(size);
  }
  memset(p, POISON, rounded);
  return TILE_OK;
}

static tile_status simulated_release(tile_device *base, void *p) {
  struct simulated_device *d = simulated_of(base);
  pthread_mutex_lock(&d->lock);
  struct sim_buffer *b = simulated_find(d, address_of(p));
  void *memory = b && b->address == address_of(p) ? b->base : NULL;
  if (memory) {
    free(b->written);
    size_t i = (size_t)(b - d->buffers);
    d->bytes_in_use -= b->size;
    d->buffer_count--;
    memmove(b, b + 1, (d->buffer_count - i) * sizeof *b);
  }
  pthread_mutex_unlock(&d->lock);
  if (!memory)
    return status_set(TILE_INVALID_ARGUMENT,
                      "tile_free: the pointer is not the start of a buffer of this device");
  free(memory);
  return TILE_OK;
}

static tile_status simulated_range(tile_device *base, const void *p, void **ret_base,
                                   size_t *ret_size) {
  struct simulated_device *d = simulated_of(base);
  pthread_mutex_lock(&d->lock);
  const struct sim_buffer *b = simulated_find(d, address_of(p));
  if (b) {
    *ret_base = (void *)(uintptr_t)b->address;
    *ret_size = b->size;
  }
  pthread_mutex_unlock(&d->lock);
  return b ? TILE_OK
           : status_set(TILE_INVALID_ARGUMENT,
                        "%p lies in no buffer of the simulated device\n"
                        "  = help: allocate it by tile_malloc",
                        p);
}

// The buffer of `size` bytes at a device address, and the offset there; the lock is held.
struct buffer_offset {
  struct sim_buffer *buffer;
  size_t offset;
};

static char *memory_of(const struct buffer_offset *p) {
  return (char *)p->buffer->base + p->offset;
}

static tile_status translate(const struct simulated_device *d, const char *what, const void *p,
                             size_t size, struct buffer_offset *ret) {
  struct sim_buffer *b = simulated_find(d, address_of(p));
  if (!b)
    return status_set(TILE_INVALID_ARGUMENT, "%s: %p lies in no buffer of the simulated device",
                      what, p);
  size_t offset = (size_t)(address_of(p) - b->address);
  if (size > b->size - offset)
    return status_set(TILE_INVALID_ARGUMENT, "%s of %zu bytes: the buffer has room for %zu", what,
                      size, b->size - offset);
  *ret = (struct buffer_offset){b, offset};
  return TILE_OK;
}

static tile_status simulated_copy(tile_device *base, enum copy_kind kind, UNUSED void *stream,
                                  void *to, const void *from, size_t size) {
  struct simulated_device *d = simulated_of(base);
  struct buffer_offset target = {0}, source = {0};
  tile_status s = TILE_OK;
  pthread_mutex_lock(&d->lock);
  if (kind != COPY_TO_HOST)
    s = translate(d, "copy to the device", to, size, &target);
  if (s == TILE_OK && kind != COPY_TO_DEVICE)
    s = translate(d, "copy from the device", from, size, &source);
  if (s == TILE_OK)
    memmove(target.buffer ? memory_of(&target) : to, source.buffer ? memory_of(&source) : from,
            size);
  if (s == TILE_OK && kind == COPY_TO_DEVICE)
    sim_mark_written(target.buffer, target.offset, size);
  else if (s == TILE_OK && target.buffer)
    sim_copy_written(target.buffer, target.offset, source.buffer, source.offset, size);
  pthread_mutex_unlock(&d->lock);
  return s;
}

static tile_status simulated_fill(tile_device *base, UNUSED void *stream, void *to, int byte,
                                  size_t size) {
  struct simulated_device *d = simulated_of(base);
  struct buffer_offset target;
  pthread_mutex_lock(&d->lock);
  tile_status s = translate(d, "memset", to, size, &target);
  if (s == TILE_OK) {
    memset(memory_of(&target), byte, size);
    sim_mark_written(target.buffer, target.offset, size);
  }
  pthread_mutex_unlock(&d->lock);
  return s;
}

// ---- streams and events ----

static tile_status simulated_stream_create(tile_device *d, void **ret) {
  *ret = d; // any handle but NULL
  return TILE_OK;
}

static void simulated_stream_destroy(UNUSED tile_device *d, UNUSED void *stream) {}

static tile_status simulated_stream_wait(UNUSED tile_device *d, UNUSED void *stream) {
  return TILE_OK; // all earlier calls have finished
}

static tile_status simulated_event_create(UNUSED tile_device *d, void **ret) {
  *ret = memory_zeroed(1, sizeof(struct timespec));
  return *ret ? TILE_OK : status_set(TILE_OUT_OF_MEMORY, "out of memory for an event");
}

static void simulated_event_destroy(UNUSED tile_device *d, void *event) { free(event); }

static tile_status simulated_event_record(UNUSED tile_device *d, void *event, UNUSED void *stream) {
  clock_gettime(CLOCK_MONOTONIC, event);
  return TILE_OK;
}

static tile_status simulated_event_elapsed(UNUSED tile_device *d, void *start, void *stop,
                                           float *ret_ms) {
  const struct timespec *a = start, *b = stop;
  double seconds = (double)(b->tv_sec - a->tv_sec) + (double)(b->tv_nsec - a->tv_nsec) * 1e-9;
  *ret_ms = (float)(seconds * 1e3);
  return TILE_OK;
}

// ---- violations and printing ----

static size_t simulated_violations(tile_device *base, const struct cpu_violation **ret,
                                   uint64_t *ret_total) {
  struct simulated_device *d = simulated_of(base);
  pthread_mutex_lock(&d->lock);
  size_t count = d->violation_count;
  *ret = d->violations;
  *ret_total = d->violation_total;
  pthread_mutex_unlock(&d->lock);
  return count;
}

static void simulated_set_print(tile_device *base, void (*print)(void *user, const char *text),
                                void *user) {
  struct simulated_device *d = simulated_of(base);
  pthread_mutex_lock(&d->lock);
  d->print = print;
  d->print_user = user;
  pthread_mutex_unlock(&d->lock);
}

// ---- opening, properties ----

static tile_status simulated_properties(tile_device *base, tile_device_properties *ret) {
  const struct simulated_device *d = simulated_of(base);
  snprintf(ret->name, sizeof ret->name, "simulated %s", base->target);
  snprintf(ret->target, sizeof ret->target, "%s", base->target);
  ret->multiprocessors = d->multiprocessors;
  ret->memory = d->memory;
  ret->shared_limit = d->shared_limit;
  return TILE_OK;
}

static void simulated_close(tile_device *base) {
  struct simulated_device *d = simulated_of(base);
  arena_destroy(d->report_arena);
  for (size_t i = 0; i < d->buffer_count; i++)
    free(d->buffers[i].base), free(d->buffers[i].written);
  free(d->buffers);
  pthread_mutex_destroy(&d->lock);
  free(d);
}

static const struct device_ops simulated_ops = {
    .close = simulated_close,
    .properties = simulated_properties,
    .alloc = simulated_alloc,
    .release = simulated_release,
    .range = simulated_range,
    .stream_create = simulated_stream_create,
    .stream_destroy = simulated_stream_destroy,
    .stream_wait = simulated_stream_wait,
    .event_create = simulated_event_create,
    .event_destroy = simulated_event_destroy,
    .event_record = simulated_event_record,
    .event_elapsed = simulated_event_elapsed,
    .copy = simulated_copy,
    .fill = simulated_fill,
    .module_load = simulated_load,
    .module_unload = simulated_unload,
    .launch = simulated_launch,
    .violations = simulated_violations,
    .set_print = simulated_set_print,
};

static tile_status no_such_model(const char *target) {
  char list[128] = "";
  for (size_t i = 0; i < COUNT_OF(models); i++)
    snprintf(list + strlen(list), sizeof list - strlen(list), "%s`%s`", i ? ", " : "",
             models[i].target);
  return status_set(TILE_INVALID_ARGUMENT, "there is no GPU `%s` to simulate; there are %s", target,
                    list);
}

tile_status simulator_device_open(const char *target, tile_device **ret) {
  const struct model *model = NULL;
  for (size_t i = 0; i < COUNT_OF(models) && !model; i++)
    if (strcmp(models[i].target, target) == 0)
      model = &models[i];
  if (!model)
    return no_such_model(target);
  struct simulated_device *d = memory_zeroed(1, sizeof *d);
  if (!d)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a device");
  d->base.ops = &simulated_ops;
  d->base.is_simulated = true;
  d->base.capability = model->capability;
  snprintf(d->base.target, sizeof d->base.target, "%s", model->target);
  d->shared_limit = (size_t)model->shared_kib << 10;
  d->multiprocessors = model->multiprocessors;
  d->next_address = FIRST_ADDRESS;
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  d->memory = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : (size_t)1 << 30;
  pthread_mutex_init(&d->lock, NULL);
  *ret = &d->base;
  return TILE_OK;
}
