// SPDX-License-Identifier: Apache-2.0
// Traces are kept in memory, as an array of slices, and written sorted by time when they end.
#include "base/trace.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/nvtx.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#define MOST_SLICES (4u << 20) // more are counted, and left out
#define MOST_TRACKS 64         // of devices
#define MOST_NAMED 1024        // threads of the host
#define FLUSH_BYTES (1u << 16)

enum { STATE_OFF, STATE_UNREAD = 1, STATE_FILE = 2, STATE_NVTX = 4 };
atomic_uint trace_state = STATE_UNREAD;

struct slice {
  uint64_t begin, end, order;
  uint64_t track;
  bool of_device;
  enum trace_category category;
  char *name, *file, target[16];
  struct trace_detail detail; // its texts are those above
};

static struct trace {
  pthread_mutex_t lock;
  int file; // -1: none
  uint64_t start;
  struct slice *slices;
  size_t len, cap, dropped;
  struct {
    uint64_t track, end;
  } tracks[MOST_TRACKS]; // of devices: where their last slices end
  size_t track_count;
  void (*flush)(void);
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1};

uint64_t trace_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// A small number for the calling thread, from 1.
static uint64_t own_track(void) {
  static atomic_uint threads;
  static _Thread_local unsigned own;
  if (!own)
    own = atomic_fetch_add(&threads, 1) + 1;
  return own;
}

// ---- slices ----

static bool grow(void) {
  size_t cap = trace.cap ? trace.cap * 2 : 256;
  struct slice *grown =
      trace.len < MOST_SLICES ? memory_resize(trace.slices, cap * sizeof *grown) : NULL;
  if (grown)
    trace.slices = grown, trace.cap = cap;
  return grown != NULL;
}

// The lock is held.
static void push(struct slice s, const char *name, const struct trace_detail *d) {
  if (trace.file < 0 || s.begin < trace.start)
    return;
  s.name = memory_strdup(name);
  s.file = d && d->file ? memory_strdup(d->file) : NULL;
  if (!s.name || (trace.len == trace.cap && !grow())) {
    free(s.name);
    free(s.file);
    trace.dropped++;
    return;
  }
  if (d)
    s.detail = *d;
  s.detail.file = s.file;
  snprintf(s.target, sizeof s.target, "%s", d && d->target ? d->target : "");
  s.order = trace.len;
  trace.slices[trace.len++] = s;
}

struct trace_slice trace_begin_slice(enum trace_category category, const char *name) {
  if (atomic_load_explicit(&trace_state, memory_order_relaxed) & STATE_NVTX)
    nvtx_push(name);
  return (struct trace_slice){trace_clock(), category, name};
}

void trace_end_slice(const struct trace_slice *s, const struct trace_detail *d) {
  uint64_t end = trace_clock(), track = own_track();
  unsigned state = atomic_load_explicit(&trace_state, memory_order_relaxed);
  if (state & STATE_NVTX)
    nvtx_pop();
  if (!(state & STATE_FILE))
    return;
  pthread_mutex_lock(&trace.lock);
  push((struct slice){.begin = s->begin, .end = end, .track = track, .category = s->category},
       s->name, d);
  pthread_mutex_unlock(&trace.lock);
}

// The index of a device's track; MOST_TRACKS: there are too many.
static size_t find_track(uint64_t track) {
  size_t i = 0;
  while (i < trace.track_count && trace.tracks[i].track != track)
    i++;
  if (i == trace.track_count && i < MOST_TRACKS)
    trace.tracks[trace.track_count++].track = track, trace.tracks[i].end = 0;
  return i;
}

void trace_device_slice(uint64_t track, enum trace_category category, const char *name,
                        uint64_t begin, uint64_t end, const struct trace_detail *d) {
  pthread_mutex_lock(&trace.lock);
  size_t i = find_track(track);
  if (i == MOST_TRACKS) {
    trace.dropped++;
  } else { // behind the track's last slice
    begin = begin < trace.tracks[i].end ? trace.tracks[i].end : begin;
    end = end < begin ? begin : end;
    trace.tracks[i].end = end;
    push(
        (struct slice){
            .begin = begin, .end = end, .track = i + 1, .of_device = true, .category = category},
        name, d);
  }
  pthread_mutex_unlock(&trace.lock);
}

// ---- writing ----

enum { PROCESS_HOST = 1, PROCESS_DEVICE = 2 };

// By begin; of slices that begin together, the longer one is around the other, which ended first.
static int by_begin(const void *a, const void *b) {
  const struct slice *x = a, *y = b;
  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  if (x->end != y->end)
    return x->end > y->end ? -1 : 1;
  return x->order > y->order ? -1 : x->order < y->order;
}

static int write_out(struct strbuf *text) {
  size_t done = 0;
  if (text->failed)
    return ENOMEM;
  while (done < text->len) {
    ssize_t n = write(trace.file, text->ptr + done, text->len - done);
    if (n < 0 && errno != EINTR)
      return errno;
    done += n > 0 ? (size_t)n : 0;
  }
  strbuf_clear(text);
  return 0;
}

// Nanoseconds as microseconds: exact, and independent of the locale.
static void put_time(struct json_writer *w, const char *key, uint64_t ns) {
  char number[32];
  size_t n = sizeof number;
  number[--n] = '\0';
  for (int digits = 0; digits < 3 || ns > 0 || digits == 3; digits++, ns /= 10) {
    if (digits == 3)
      number[--n] = '.';
    number[--n] = (char)('0' + ns % 10);
  }
  json_key(w, key), json_raw(w, number + n);
}

static void put_name(struct strbuf *out, const char *what, int process, uint64_t track,
                     const char *name) {
  struct json_writer w = {.out = out};
  json_begin_object(&w);
  json_key(&w, "ph"), json_cstring(&w, "M");
  json_key(&w, "name"), json_cstring(&w, what);
  json_key(&w, "pid"), json_int(&w, process);
  json_key(&w, "tid"), json_int(&w, (int64_t)track);
  json_key(&w, "args"), json_begin_object(&w);
  json_key(&w, "name"), json_cstring(&w, name);
  json_end_object(&w);
  json_end_object(&w);
}

static void put_detail(struct json_writer *w, const struct slice *s) {
  const struct trace_detail *d = &s->detail;
  json_key(w, "args"), json_begin_object(w);
  if (d->file) {
    json_key(w, "file"), json_cstring(w, d->file);
    json_key(w, "line"), json_int(w, d->line);
  }
  if (d->bytes)
    json_key(w, "bytes"), json_int(w, (int64_t)d->bytes);
  if (d->grid[0]) {
    json_key(w, "grid"), json_begin_array(w);
    for (int i = 0; i < 3; i++)
      json_int(w, d->grid[i]);
    json_end_array(w);
  }
  if (s->target[0])
    json_key(w, "target"), json_cstring(w, s->target);
  json_end_object(w);
}

static void put_slice(struct strbuf *out, const struct slice *s) {
  static const char *const categories[TRACE_CATEGORY_COUNT] = {
      [TRACE_COMPILE] = "compile", [TRACE_PASS] = "pass",     [TRACE_LOAD] = "load",
      [TRACE_KERNEL] = "kernel",   [TRACE_LAUNCH] = "launch", [TRACE_COPY] = "copy",
      [TRACE_GRAPH] = "graph"};
  struct json_writer w = {.out = out};
  json_begin_object(&w);
  json_key(&w, "ph"), json_cstring(&w, "X");
  json_key(&w, "name"), json_cstring(&w, s->name);
  json_key(&w, "cat"), json_cstring(&w, categories[s->category]);
  json_key(&w, "pid"), json_int(&w, s->of_device ? PROCESS_DEVICE : PROCESS_HOST);
  json_key(&w, "tid"), json_int(&w, (int64_t)s->track);
  put_time(&w, "ts", s->begin - trace.start);
  put_time(&w, "dur", s->end - s->begin);
  put_detail(&w, s);
  json_end_object(&w);
}

static void put_thread(struct strbuf *out, int process, uint64_t track, const char *what,
                       uint64_t number) {
  char name[32];
  snprintf(name, sizeof name, "%s %" PRIu64, what, number);
  strbuf_puts(out, ",\n");
  put_name(out, "thread_name", process, track, name);
}

// The names of processes and threads that have slices.
static void put_names(struct strbuf *out) {
  bool is_named[MOST_NAMED] = {false};
  put_name(out, "process_name", PROCESS_HOST, 1, "host");
  for (size_t i = 0; i < trace.len; i++) {
    const struct slice *s = &trace.slices[i];
    if (s->of_device || s->track >= MOST_NAMED || is_named[s->track])
      continue;
    is_named[s->track] = true;
    put_thread(out, PROCESS_HOST, s->track, "thread", s->track);
  }
  if (trace.track_count) {
    strbuf_puts(out, ",\n");
    put_name(out, "process_name", PROCESS_DEVICE, 1, "devices");
  }
  for (size_t i = 0; i < trace.track_count; i++)
    put_thread(out, PROCESS_DEVICE, i + 1, "stream", i);
}

static int write_slices(void) {
  struct strbuf text = {0};
  int error = 0;
  if (trace.len)
    qsort(trace.slices, trace.len, sizeof *trace.slices, by_begin);
  strbuf_printf(&text,
                "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"dropped\": \"%zu\"}, "
                "\"traceEvents\": [\n",
                trace.dropped);
  put_names(&text);
  for (size_t i = 0; i < trace.len && !error; i++) {
    strbuf_puts(&text, ",\n");
    put_slice(&text, &trace.slices[i]);
    if (text.len > FLUSH_BYTES)
      error = write_out(&text);
  }
  strbuf_puts(&text, "\n]}\n");
  error = error ? error : write_out(&text);
  strbuf_finish(&text);
  return error;
}

// ---- begin and end ----

static void set_state(unsigned on, unsigned off) {
  unsigned now = atomic_load(&trace_state);
  atomic_store(&trace_state, (now & ~(off | STATE_UNREAD)) | on);
}

// The path with `%p` replaced by the process id; malloc'ed.
static char *path_of(const char *pattern) {
  struct strbuf path = {0};
  for (const char *c = pattern; *c; c++)
    if (c[0] == '%' && c[1] == 'p')
      strbuf_printf(&path, "%ld", (long)getpid()), c++;
    else
      strbuf_putc(&path, *c);
  return strbuf_take(&path);
}

// The lock is held.
static int open_file(const char *pattern) {
  if (trace.file >= 0)
    return EBUSY;
  char *path = path_of(pattern);
  if (!path)
    return ENOMEM;
  trace.file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  int error = trace.file < 0 ? errno : 0;
  free(path);
  trace.start = trace_clock();
  return error;
}

static void stop_at_exit(void) { trace_stop(); }

// The lock is held.
static void read_environment(void) {
  const char *path = getenv("TILE_TRACE"), *nvtx = getenv("TILE_NVTX");
  unsigned on = STATE_OFF;
  if (!(atomic_load(&trace_state) & STATE_UNREAD))
    return;
  if (getauxval(AT_SECURE)) // a set-user-id program opens no file or library of the environment
    path = nvtx = NULL;
  if (nvtx && *nvtx && strcmp(nvtx, "0") != 0 && nvtx_open(strcmp(nvtx, "1") == 0 ? NULL : nvtx))
    on |= STATE_NVTX;
  if (path && *path && open_file(path) == 0) {
    on |= STATE_FILE;
    atexit(stop_at_exit);
  }
  set_state(on, 0);
}

bool trace_is_on(void) {
  unsigned state = atomic_load_explicit(&trace_state, memory_order_relaxed);
  if (state & STATE_UNREAD) {
    pthread_mutex_lock(&trace.lock);
    read_environment();
    pthread_mutex_unlock(&trace.lock);
    state = atomic_load_explicit(&trace_state, memory_order_relaxed);
  }
  return state != STATE_OFF;
}

void trace_set_flush(void (*flush)(void)) {
  pthread_mutex_lock(&trace.lock);
  trace.flush = flush;
  pthread_mutex_unlock(&trace.lock);
}

int trace_start(const char *path) {
  pthread_mutex_lock(&trace.lock);
  read_environment();
  int error = open_file(path);
  if (!error)
    set_state(STATE_FILE, 0);
  pthread_mutex_unlock(&trace.lock);
  return error;
}

static void forget_slices(void) {
  for (size_t i = 0; i < trace.len; i++) {
    free(trace.slices[i].name);
    free(trace.slices[i].file);
  }
  free(trace.slices);
  trace.slices = NULL;
  trace.len = trace.cap = trace.dropped = trace.track_count = 0;
}

int trace_stop(void) {
  pthread_mutex_lock(&trace.lock);
  void (*flush)(void) = trace.file >= 0 ? trace.flush : NULL;
  pthread_mutex_unlock(&trace.lock);
  if (flush)
    flush();
  pthread_mutex_lock(&trace.lock);
  int error = ESRCH;
  if (trace.file >= 0) {
    set_state(0, STATE_FILE);
    error = write_slices();
    if (close(trace.file) != 0 && !error)
      error = errno;
    trace.file = -1;
    forget_slices();
  }
  pthread_mutex_unlock(&trace.lock);
  return error;
}
