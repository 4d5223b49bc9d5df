// SPDX-License-Identifier: Apache-2.0
// The CPU as a device: buffers are memory of the process with a table of their bounds; streams run
// calls in order, synchronously; events are clock readings.
#include "runtime/cpu_device.h"

#include "base/debug.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Bytes to allocate for a buffer.
static size_t rounded(size_t size) {
  return (size + CPU_BUFFER_ALIGN - 1) / CPU_BUFFER_ALIGN * CPU_BUFFER_ALIGN;
}

static void buffer_free(const struct cpu_buffer *b) {
  if (!b->registrations)
    cpu_buffer_unmap((char *)b->base - b->shift, rounded(b->size), b->is_guarded);
}

// ---- memory ----

static tile_status out_of_memory(size_t size) {
  return status_set(TILE_OUT_OF_DEVICE_MEMORY, "no room for %zu bytes on the CPU device", size);
}

// watched_align: 0, or the alignment of a buffer that ends at its guard (cpu_watch.c).
static tile_status alloc(struct cpu_device *d, size_t size, size_t watched_align, void **ret) {
  // The poison below touches every page: a request for more memory than the machine has must fail
  // here, before the kernel's out-of-memory killer ends the process.
  if (size > d->memory)
    return out_of_memory(size);
  bool is_guarded = false;
  pthread_mutex_lock(&d->lock);
  bool fits = d->bytes_in_use <= d->memory - size;
  char *p = fits ? cpu_buffer_map(rounded(size), &is_guarded) : NULL;
  struct cpu_buffer b = {.base = (uintptr_t)p, .size = size, .is_guarded = is_guarded};
  if (watched_align && is_guarded)
    cpu_watch_place(&b, watched_align);
  if (p && !cpu_buffer_insert(d, b)) {
    cpu_buffer_unmap(p, rounded(size), is_guarded);
    p = NULL;
  }
  pthread_mutex_unlock(&d->lock);
  if (!p)
    return out_of_memory(size);
  memset(p, CPU_POISON, rounded(size));
  *ret = (void *)b.base;
  return TILE_OK;
}

static tile_status cpu_alloc(tile_device *base, size_t size, void **ret) {
  return alloc(cpu_of(base), size, 0, ret);
}

tile_status device_malloc_watched(tile_device *base, size_t size, size_t align, void **ret) {
  return alloc(cpu_of(base), size ? size : 1, align, ret);
}

static tile_status cpu_release(tile_device *base, void *p) {
  struct cpu_device *d = cpu_of(base);
  pthread_mutex_lock(&d->lock);
  size_t i = cpu_buffer_find(d->buffers, d->buffer_count, (uintptr_t)p);
  bool found =
      i < d->buffer_count && d->buffers[i].base == (uintptr_t)p && d->buffers[i].registrations == 0;
  struct cpu_buffer freed = {0};
  if (found)
    freed = cpu_buffer_remove(d, i);
  pthread_mutex_unlock(&d->lock);
  if (!found)
    return status_set(TILE_INVALID_ARGUMENT,
                      "tile_free: the pointer is not the start of a buffer of this device");
  buffer_free(&freed);
  return TILE_OK;
}

// With the lock.
static tile_status add_foreign(struct cpu_device *d, uintptr_t base, size_t size) {
  size_t i = cpu_buffer_find(d->buffers, d->buffer_count, base);
  struct cpu_buffer *known = i < d->buffer_count ? &d->buffers[i] : NULL;
  if (known && known->registrations && known->base == base && known->size == size) {
    known->registrations++;
    return TILE_OK;
  }
  if (cpu_buffer_overlaps(d, base, size))
    return status_set(TILE_INVALID_ARGUMENT,
                      "tile_memory_register: the %zu bytes overlap another buffer of the device",
                      size);
  return cpu_buffer_insert(d, (struct cpu_buffer){base, size, false, 1})
             ? TILE_OK
             : status_set(TILE_OUT_OF_MEMORY, "out of memory for the table of buffers");
}

static tile_status cpu_register(tile_device *base, void *p, size_t size) {
  struct cpu_device *d = cpu_of(base);
  pthread_mutex_lock(&d->lock);
  tile_status s = add_foreign(d, (uintptr_t)p, size);
  pthread_mutex_unlock(&d->lock);
  return s;
}

static tile_status cpu_unregister(tile_device *base, void *p) {
  struct cpu_device *d = cpu_of(base);
  pthread_mutex_lock(&d->lock);
  size_t i = cpu_buffer_find(d->buffers, d->buffer_count, (uintptr_t)p);
  bool found =
      i < d->buffer_count && d->buffers[i].base == (uintptr_t)p && d->buffers[i].registrations > 0;
  if (found && d->buffers[i].registrations > 1)
    d->buffers[i].registrations--;
  else if (found)
    cpu_buffer_remove(d, i);
  pthread_mutex_unlock(&d->lock);
  return found ? TILE_OK
               : status_set(TILE_INVALID_ARGUMENT,
                            "tile_memory_unregister: the pointer was not registered");
}

static tile_status cpu_range(tile_device *base, const void *p, void **ret_base, size_t *ret_size) {
  struct cpu_device *d = cpu_of(base);
  pthread_mutex_lock(&d->lock);
  size_t i = cpu_buffer_find(d->buffers, d->buffer_count, (uintptr_t)p);
  struct cpu_buffer found = i < d->buffer_count ? d->buffers[i] : (struct cpu_buffer){0};
  pthread_mutex_unlock(&d->lock);
  if (!found.base)
    return status_set(
        TILE_INVALID_ARGUMENT,
        "%p lies in no buffer of the CPU device\n  = help: allocate it by tile_malloc",
        (const void *)p);
  *ret_base = (void *)found.base;
  *ret_size = found.size;
  return TILE_OK;
}

// False when [p, p + size) begins in a buffer and ends outside it.
static bool within_buffer(struct cpu_device *d, const void *p, size_t size, size_t *ret_room) {
  pthread_mutex_lock(&d->lock);
  size_t i = cpu_buffer_find(d->buffers, d->buffer_count, (uintptr_t)p);
  bool known = i < d->buffer_count;
  size_t room = known ? d->buffers[i].size - ((uintptr_t)p - d->buffers[i].base) : 0;
  pthread_mutex_unlock(&d->lock);
  *ret_room = room;
  return !known || size <= room;
}

static tile_status past_the_end(const char *what, size_t size, size_t room) {
  return status_set(TILE_INVALID_ARGUMENT, "%s of %zu bytes: the buffer has room for %zu", what,
                    size, room);
}

static tile_status cpu_copy(tile_device *base, enum copy_kind kind, void *stream, void *to,
                            const void *from, size_t size) {
  struct cpu_device *d = cpu_of(base);
  size_t room;
  (void)stream; // all earlier calls have finished
  if (kind != COPY_TO_HOST && !within_buffer(d, to, size, &room))
    return past_the_end("copy to the device", size, room);
  if (kind != COPY_TO_DEVICE && !within_buffer(d, from, size, &room))
    return past_the_end("copy from the device", size, room);
  memmove(to, from, size);
  return TILE_OK;
}

static tile_status cpu_fill(tile_device *base, void *stream, void *to, int byte, size_t size) {
  size_t room;
  (void)stream;
  if (!within_buffer(cpu_of(base), to, size, &room))
    return past_the_end("memset", size, room);
  memset(to, byte, size);
  return TILE_OK;
}

// ---- streams and events ----

static tile_status cpu_stream_create(tile_device *d, void **ret) {
  *ret = d; // any non-NULL handle
  return TILE_OK;
}

static void cpu_stream_destroy(tile_device *d, void *stream) {
  (void)d;
  (void)stream;
}

static tile_status cpu_stream_wait(tile_device *d, void *stream) {
  (void)d;
  (void)stream;
  return TILE_OK;
}

static tile_status cpu_event_create(tile_device *d, void **ret) {
  (void)d;
  *ret = memory_zeroed(1, sizeof(struct timespec));
  return *ret ? TILE_OK : status_set(TILE_OUT_OF_MEMORY, "out of memory for an event");
}

static void cpu_event_destroy(tile_device *d, void *event) {
  (void)d;
  free(event);
}

static tile_status cpu_event_record(tile_device *d, void *event, void *stream) {
  (void)d;
  (void)stream;
  clock_gettime(CLOCK_MONOTONIC, event);
  return TILE_OK;
}

static tile_status cpu_event_elapsed(tile_device *d, void *start, void *stop, float *ret_ms) {
  (void)d;
  const struct timespec *a = start, *b = stop;
  double seconds = (double)(b->tv_sec - a->tv_sec) + (double)(b->tv_nsec - a->tv_nsec) * 1e-9;
  *ret_ms = (float)(seconds * 1e3);
  return TILE_OK;
}

// ---- opening, properties ----

static void processor_name(char *name, size_t size) {
  snprintf(name, size, "cpu processor");
  FILE *f = fopen("/proc/cpuinfo", "re");
  if (!f)
    return;
  char line[256];
  while (fgets(line, sizeof line, f)) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !colon)
      continue;
    colon[1 + strcspn(colon + 1, "\n")] = '\0';
    snprintf(name, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
    break;
  }
  fclose(f);
}

// TILE_NUM_THREADS or TILE_CPU_THREADS is the number of workers; 0: one per core that the process
// may use.
static unsigned worker_threads(void) {
  const char *text = getenv("TILE_NUM_THREADS");
  text = text && *text ? text : getenv("TILE_CPU_THREADS");
  long asked = text ? strtol(text, NULL, 10) : 0;
  return asked > 0 && asked <= 4096 ? (unsigned)asked : thread_pool_cores();
}

static tile_status cpu_properties(tile_device *base, tile_device_properties *ret) {
  struct cpu_device *d = cpu_of(base);
  processor_name(ret->name, sizeof ret->name);
  memcpy(ret->target, base->target, sizeof ret->target);
  ret->is_cpu = 1;
  ret->multiprocessors = (int)d->thread_count;
  ret->memory = d->memory;
  ret->shared_limit = CPU_SHARED_LIMIT;
#if defined(_SC_LEVEL2_CACHE_SIZE)
  long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  ret->l2_bytes = l2 > 0 ? (size_t)l2 : 0;
#endif
  return TILE_OK;
}

static void cpu_close(tile_device *base) {
  struct cpu_device *d = cpu_of(base);
  if (d->pool_process == (long)getpid())
    thread_pool_destroy(d->pool);
  cpu_workers_free(d);
  arena_destroy(d->report_arena);
  for (size_t i = 0; i < d->buffer_count; i++)
    buffer_free(&d->buffers[i]);
  free(d->buffers);
  pthread_mutex_destroy(&d->lock);
  pthread_mutex_destroy(&d->print_lock);
  free(d);
}

static const struct device_ops cpu_ops = {
    .close = cpu_close,
    .properties = cpu_properties,
    .alloc = cpu_alloc,
    .release = cpu_release,
    .range = cpu_range,
    .register_memory = cpu_register,
    .unregister_memory = cpu_unregister,
    .stream_create = cpu_stream_create,
    .stream_destroy = cpu_stream_destroy,
    .stream_wait = cpu_stream_wait,
    .event_create = cpu_event_create,
    .event_destroy = cpu_event_destroy,
    .event_record = cpu_event_record,
    .event_elapsed = cpu_event_elapsed,
    .copy = cpu_copy,
    .fill = cpu_fill,
    .launch = cpu_launch_run,
    .violations = cpu_violations,
    .set_print = cpu_set_print,
};

tile_status cpu_device_open(tile_device **ret) {
  struct cpu_device *d = memory_zeroed(1, sizeof *d);
  if (!d)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a device");
  d->base.ops = &cpu_ops;
  d->base.is_cpu = true;
  snprintf(d->base.target, sizeof d->base.target, "cpu");
  pthread_mutex_init(&d->lock, NULL);
  pthread_mutex_init(&d->print_lock, NULL);
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  d->memory = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : (size_t)1 << 30;
  d->thread_count = worker_threads();
  *ret = &d->base;
  return TILE_OK;
}
