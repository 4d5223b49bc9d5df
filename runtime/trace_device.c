// SPDX-License-Identifier: Apache-2.0
// Marks are events of the device, kept until there are many, the device is closed or the trace
// ends. Their times are relative to an event that was recorded at a known time of the host.
#include "runtime/trace_device.h"

#include "base/memory.h"

#include <tile/trace.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MARKS = 1024 };

struct mark {
  tile_device *device;
  void *stream, *start, *stop;
  enum trace_category category;
  char *name, *file, target[16];
  struct trace_detail detail; // its texts are those above
};

// The event of a known time; a device keeps it while it has marks.
struct base {
  tile_device *device;
  void *event;
  uint64_t at;
  struct base *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mark marks[MOST_MARKS];
static size_t mark_count;
static struct base *bases;

// ---- the common time ----

static struct base *find_base(tile_device *d) {
  struct base *b = bases;
  while (b && b->device != d)
    b = b->next;
  return b;
}

static bool is_capturing(tile_device *d, void *stream) {
  return d->ops->is_capturing && d->ops->is_capturing(d, stream);
}

// Recorded in an idle default stream, or behind its work: then its time is when it has ended.
static bool make_base(tile_device *d) {
  if (is_capturing(d, NULL))
    return false;
  struct base *b = memory_zeroed(1, sizeof *b);
  float none;
  if (!b || d->ops->event_create(d, &b->event) != TILE_OK) {
    free(b);
    return false;
  }
  if (d->ops->event_record(d, b->event, NULL) != TILE_OK ||
      d->ops->event_elapsed(d, b->event, b->event, &none) != TILE_OK) {
    d->ops->event_destroy(d, b->event);
    free(b);
    return false;
  }
  b->at = trace_clock();
  b->device = d;
  b->next = bases;
  bases = b;
  return true;
}

static void drop_base(tile_device *d) {
  for (struct base **b = &bases; *b; b = &(*b)->next)
    if ((*b)->device == d) {
      struct base *gone = *b;
      *b = gone->next;
      d->ops->event_destroy(d, gone->event);
      free(gone);
      return;
    }
}

// ---- marks ----

static void drop_mark(struct mark *m) {
  if (m->start)
    m->device->ops->event_destroy(m->device, m->start);
  if (m->stop)
    m->device->ops->event_destroy(m->device, m->stop);
  free(m->name);
  free(m->file);
}

static void tell(const struct mark *m, const struct base *b) {
  float begin = 0, length = 0;
  tile_device *d = m->device;
  if (d->ops->event_elapsed(d, b->event, m->start, &begin) != TILE_OK ||
      d->ops->event_elapsed(d, m->start, m->stop, &length) != TILE_OK)
    return;
  uint64_t at = (uint64_t)((int64_t)b->at + (int64_t)((double)begin * 1e6));
  uint64_t track = (uint64_t)d->ordinal << 48 | ((uintptr_t)m->stream & 0xffffffffffff);
  struct trace_detail detail = m->detail;
  detail.file = m->file;
  detail.target = m->target;
  trace_device_slice(track, m->category, m->name, at, at + (uint64_t)((double)length * 1e6),
                     &detail);
}

// The lock is held. The order of marks, which is that of their streams, is kept.
static void flush(tile_device *of) {
  size_t kept = 0;
  for (size_t i = 0; i < mark_count; i++) {
    struct mark *m = &marks[i];
    if (of && m->device != of) {
      marks[kept++] = *m;
      continue;
    }
    tell(m, find_base(m->device));
    drop_mark(m);
  }
  mark_count = kept;
  while (bases && !of)
    drop_base(bases->device);
  if (of)
    drop_base(of);
}

void device_marks_flush(tile_device *d) {
  pthread_mutex_lock(&lock);
  flush(d);
  pthread_mutex_unlock(&lock);
}

static void flush_all(void) { device_marks_flush(NULL); }

struct device_mark device_mark_begin(tile_device *d, void *stream, bool is_recording) {
  struct device_mark m = {NULL};
  if (!trace_on() || d->is_cpu || d->is_simulated || is_recording || is_capturing(d, stream))
    return m;
  pthread_mutex_lock(&lock);
  trace_set_flush(flush_all);
  bool has_base = find_base(d) || make_base(d);
  pthread_mutex_unlock(&lock);
  if (has_base && d->ops->event_create(d, &m.start) == TILE_OK &&
      d->ops->event_record(d, m.start, stream) != TILE_OK) {
    d->ops->event_destroy(d, m.start);
    m.start = NULL;
  }
  return m;
}

void device_mark_end(tile_device *d, void *stream, struct device_mark m,
                     enum trace_category category, const char *name,
                     const struct trace_detail *detail) {
  if (!m.start)
    return;
  struct mark made = {.device = d, .stream = stream, .start = m.start, .category = category};
  made.name = memory_strdup(name);
  made.file = detail->file ? memory_strdup(detail->file) : NULL;
  made.detail = *detail;
  snprintf(made.target, sizeof made.target, "%s", detail->target ? detail->target : "");
  if (!made.name || d->ops->event_create(d, &made.stop) != TILE_OK ||
      d->ops->event_record(d, made.stop, stream) != TILE_OK) {
    drop_mark(&made);
    return;
  }
  pthread_mutex_lock(&lock);
  if (mark_count == MOST_MARKS)
    flush(NULL);
  if (find_base(d) || make_base(d))
    marks[mark_count++] = made;
  else
    drop_mark(&made);
  pthread_mutex_unlock(&lock);
}

// ---- the public calls ----

tile_status tile_trace_begin(const char *path) {
  if (!path || !*path)
    return status_set(TILE_INVALID_ARGUMENT, "tile_trace_begin: there is no path");
  int error = trace_start(path);
  if (error == EBUSY)
    return status_set(TILE_INVALID_ARGUMENT, "tile_trace_begin: a trace is on already");
  if (error == ENOMEM)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a trace");
  return error ? status_set(TILE_IO_ERROR, "cannot create `%s`: %s", path, strerror(error))
               : TILE_OK;
}

tile_status tile_trace_end(void) {
  int error = trace_stop();
  if (error == ESRCH)
    return status_set(TILE_INVALID_ARGUMENT, "tile_trace_end: there is no trace");
  if (error == ENOMEM)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a trace");
  return error ? status_set(TILE_IO_ERROR, "cannot write the trace: %s", strerror(error)) : TILE_OK;
}
