// SPDX-License-Identifier: Apache-2.0
// Writes FILE.tune.json. The lock file becomes the new file: the lock's owner reads the old file,
// fills the lock file, flushes it and renames it over the old one. A killed process loses its lock
// with its descriptors; the next one takes over its lock file.
#include "autotune/database/database_internal.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK_PATIENCE_MS 30000.0

// ---- text ----

void tune_setting_write(struct json_writer *w, const struct tune_setting *s) {
  int64_t n;
  json_key(w, s->name);
  if (str_to_i64(str_from(s->value), &n))
    json_int(w, n);
  else
    json_cstring(w, s->value);
}

static void write_settings(struct json_writer *w, const char *name, const struct tune_setting *s,
                           size_t count) {
  json_key(w, name);
  json_begin_object(w);
  for (size_t i = 0; i < count; i++)
    tune_setting_write(w, &s[i]);
  json_end_object(w);
}

// Measurements are less precise than five digits.
static void write_time(struct json_writer *w, const char *name, double ms) {
  double unit = pow(10, 4 - floor(log10(ms)));
  json_key(w, name);
  json_double(w, unit > 0 && isfinite(unit) ? round(ms * unit) / unit : ms);
}

void tune_entry_print(const struct tune_entry *e, struct strbuf *out) {
  struct json_writer w = {.out = out};
  char hash[65];
  sha256_hex(e->key.hash, hash);
  json_begin_object(&w);
  json_key(&w, "kernel"), json_cstring(&w, e->key.kernel);
  json_key(&w, "target"), json_cstring(&w, e->key.target);
  json_key(&w, "device"), json_cstring(&w, e->key.device);
  json_key(&w, "types"), json_cstring(&w, e->key.types);
  if (e->key.fixed_count)
    write_settings(&w, "fixed", e->key.fixed, e->key.fixed_count);
  json_key(&w, "key"), json_begin_object(&w);
  for (size_t i = 0; i < e->key.value_count; i++)
    json_key(&w, e->key.values[i].name), json_int(&w, e->key.values[i].value);
  json_end_object(&w);
  write_settings(&w, "config", e->settings, e->setting_count);
  write_time(&w, "ms", e->ms);
  if (e->default_ms > 0)
    write_time(&w, "default_ms", e->default_ms);
  if (e->spilled_bytes > 0)
    json_key(&w, "spilled_bytes"), json_int(&w, e->spilled_bytes);
  json_key(&w, "tuned"), json_cstring(&w, e->version ? e->version : "");
  json_key(&w, "hash"), json_cstring(&w, hash);
  json_end_object(&w);
}

void tune_file_print(const struct tune_file *f, struct strbuf *out) {
  strbuf_printf(out, "{\"tile_tune\": %d, \"entries\": [", TUNE_FILE_VERSION);
  for (size_t i = 0; i < f->count; i++) {
    strbuf_puts(out, i ? ",\n" : "\n");
    tune_entry_print(&f->entries[i], out);
  }
  strbuf_puts(out, "\n]}\n");
}

// ---- the lock file ----

struct update {
  const char *path; // symbolic links followed
  const char *lock_path;
  int fd; // of the lock file, locked
};

static bool is_same_file(int fd, const char *path) {
  struct stat a, b;
  return fstat(fd, &a) == 0 && lstat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int try_lock(const char *path) {
  int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0)
    return -1;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
    if (is_same_file(fd, path))
      return fd;
    errno = EWOULDBLOCK; // its previous owner renamed it meanwhile
  }
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

static int lock_failure(const char *path, int error) {
  if (error == EWOULDBLOCK)
    return status_set(TILE_IO_ERROR, "%s: another process holds it for more than %.0f s", path,
                      LOCK_PATIENCE_MS / 1000);
  return status_set(TILE_IO_ERROR, "%s: %s", path, strerror(error));
}

static tile_status begin_update(struct arena *a, const char *path, struct update *ret) {
  char *real = realpath(path, NULL);
  ret->path = arena_strdup(a, real ? real : path);
  free(real);
  ret->lock_path = arena_printf(a, "%s.lock", ret->path);
  double deadline = clock_ms() + LOCK_PATIENCE_MS;
  unsigned wait_us = 200;
  while ((ret->fd = try_lock(ret->lock_path)) < 0) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || clock_ms() > deadline)
      return lock_failure(ret->lock_path, errno);
    struct timespec t = {0, (long)wait_us * 1000};
    nanosleep(&t, NULL);
    wait_us = wait_us < 5000 ? wait_us * 2 : wait_us;
  }
  return TILE_OK;
}

static bool write_all(int fd, const char *data, size_t size) {
  while (size > 0) {
    ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    data += n;
    size -= (size_t)n;
  }
  return true;
}

// Flushes the folder, so that the rename is durable.
static void flush_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder =
      slash ? memory_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : memory_strdup(".");
  int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd >= 0) {
    fsync(fd);
    close(fd);
  }
  free(folder);
}

static tile_status end_update(struct arena *a, struct update *u, const struct tune_file *f) {
  struct strbuf text = {.arena = a};
  struct stat st;
  tune_file_print(f, &text);
  bool ok = ftruncate(u->fd, 0) == 0 && write_all(u->fd, text.ptr, text.len);
  if (ok && stat(u->path, &st) == 0) // keeps the old file's permissions where that is allowed
    (void)!fchmod(u->fd, st.st_mode & 07777);
  ok = ok && fsync(u->fd) == 0 && rename(u->lock_path, u->path) == 0;
  tile_status s = TILE_OK;
  if (ok)
    flush_folder(u->path);
  else
    s = status_set(TILE_IO_ERROR, "%s cannot be written: %s", u->path, strerror(errno));
  strbuf_finish(&text);
  return s;
}

// Removes the lock file unless it was renamed.
static void drop_update(struct update *u) {
  if (u->fd < 0)
    return;
  if (is_same_file(u->fd, u->lock_path))
    unlink(u->lock_path);
  close(u->fd);
}

// ---- changes ----

static tile_status put(struct arena *a, struct update *u, const char *path,
                       const struct tune_entry *entry) {
  struct diag_engine *diag = diag_engine_create(a);
  struct tune_file f;
  tile_status s = begin_update(a, path, u);
  if (s != TILE_OK)
    return s;
  if (!tune_file_read(a, diag, u->path, &f)) {
    struct strbuf text = {.arena = a};
    diag_render_text(diag, (struct diag_style){0}, &text);
    s = status_set(TILE_IO_ERROR, "%s", strbuf_cstr(&text));
    strbuf_finish(&text);
    return s;
  }
  tune_file_replace(a, &f, entry);
  return end_update(a, u, &f);
}

tile_status tune_file_put(const char *path, const struct tune_entry *entry) {
  struct arena *a = arena_create();
  struct update u = {.fd = -1};
  jmp_buf out_of_memory;
  tile_status s;
  if (!a || setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for `%s`", path);
  } else {
    arena_set_oom(a, &out_of_memory);
    s = put(a, &u, path, entry);
  }
  drop_update(&u);
  arena_destroy(a);
  return s;
}

struct merge {
  struct arena *a;
  struct diag_engine *diag;
  const char *into, *from;
  struct update u;
  bool ok;
};

static void merge(void *user) {
  struct merge *m = user;
  struct tune_file f, more;
  if (!tune_file_read(m->a, m->diag, m->from, &more))
    return;
  if (begin_update(m->a, m->into, &m->u) != TILE_OK) {
    diag_error(m->diag, SPAN_NONE, E0711, "%s", tile_error_message());
    return;
  }
  if (!tune_file_read(m->a, m->diag, m->u.path, &f))
    return;
  tune_file_join(m->a, &f, &more);
  m->ok = end_update(m->a, &m->u, &f) == TILE_OK;
  if (!m->ok)
    diag_error(m->diag, SPAN_NONE, E0711, "%s", tile_error_message());
}

bool tune_file_merge(struct arena *a, struct diag_engine *diag, const char *into,
                     const char *from) {
  struct merge m = {.a = a, .diag = diag, .into = into, .from = from, .u = {.fd = -1}};
  bool has_memory = arena_guard(a, merge, &m);
  drop_update(&m.u); // before an arena handler may jump
  if (!has_memory)
    diag_out_of_memory(diag);
  return has_memory && m.ok;
}
