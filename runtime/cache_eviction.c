// SPDX-License-Identifier: Apache-2.0
// Eviction: removes unfinished entries of processes that died, old tuning journals, and the least
// recently used entries above the size limit.
#include "base/debug.h"
#include "base/memory.h"
#include "runtime/cache_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_NAME ".eviction"
#define HOUR 3600

struct entry {
  char path[80]; // "ab/cdef..."
  time_t used;
  uint64_t bytes;
};

struct inventory {
  struct entry *at;
  size_t count, cap;
  uint64_t bytes;
};

static void add(struct inventory *v, const char *folder, const char *file, const struct stat *st) {
  struct entry e = {.used = st->st_mtime, .bytes = (uint64_t)st->st_size};
  size_t length = strlen(folder) + 1 + strlen(file);
  if (length >= sizeof e.path)
    return; // not a name of the cache
  if (v->count == v->cap) {
    size_t cap = v->cap ? v->cap * 2 : 256;
    struct entry *grown = memory_resize(v->at, cap * sizeof *grown);
    if (!grown)
      return;
    v->at = grown;
    v->cap = cap;
  }
  memcpy(e.path, folder, strlen(folder));
  e.path[strlen(folder)] = '/';
  memcpy(e.path + strlen(folder) + 1, file, strlen(file) + 1);
  v->at[v->count++] = e;
  v->bytes += e.bytes;
}

typedef void see_fn(int fd, const char *folder, const char *file, const struct stat *st, time_t now,
                    struct inventory *v);

// Calls `see` for each file of a folder.
static void visit(int dir, const char *folder, time_t now, struct inventory *v, see_fn *see) {
  int fd = openat(dir, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
  if (!stream) {
    if (fd >= 0)
      close(fd);
    return;
  }
  for (struct dirent *d; (d = readdir(stream));) {
    struct stat st;
    if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
      see(fd, folder, d->d_name, &st, now, v);
  }
  closedir(stream);
}

// Counts an entry of a fan-out folder, or removes an unfinished one.
static void see_entry(int fd, const char *folder, const char *file, const struct stat *st,
                      time_t now, struct inventory *v) {
  if (strncmp(file, CACHE_TEMPORARY, sizeof CACHE_TEMPORARY - 1) != 0)
    add(v, folder, file, st);
  else if (now - st->st_mtime > HOUR)
    unlinkat(fd, file, 0);
}

static void see_journal(int fd, const char *folder, const char *file, const struct stat *st,
                        time_t now, struct inventory *v) {
  (void)folder;
  (void)v;
  if (now - st->st_mtime > CACHE_TUNE_SECONDS)
    unlinkat(fd, file, 0);
}

static int by_use(const void *a, const void *b) {
  const struct entry *x = a, *y = b;
  if (x->used != y->used)
    return x->used < y->used ? -1 : 1;
  return strcmp(x->path, y->path);
}

static void shrink(int dir, struct inventory *v, uint64_t limit) {
  if (v->bytes <= limit)
    return;
  qsort(v->at, v->count, sizeof *v->at, by_use);
  for (size_t i = 0; i < v->count && v->bytes > limit; i++) {
    unlinkat(dir, v->at[i].path, 0);
    v->bytes -= v->at[i].bytes;
  }
}

// The lock file's descriptor; -1 when another process holds it.
static int take_lock(const struct disk_cache *c) {
  int fd = openat(c->dir, LOCK_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

bool disk_cache_evict(struct disk_cache *c, uint64_t limit, time_t now) {
  int lock = take_lock(c);
  if (lock < 0)
    return false;
  futimens(lock, NULL); // the time of the last eviction
  struct inventory v = {0};
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < 256; i++) {
    char folder[3] = {digits[i / 16], digits[i % 16], '\0'};
    visit(c->dir, folder, now, &v, see_entry);
  }
  visit(c->dir, CACHE_TUNE_FOLDER, now, &v, see_journal);
  size_t before = v.count;
  shrink(c->dir, &v, limit);
  debug_log(DEBUG_CACHE, "eviction: %zu entries, %llu bytes left", before,
            (unsigned long long)v.bytes);
  free(v.at);
  close(lock);
  return true;
}

void disk_cache_evict_if_due(struct disk_cache *c) {
  struct stat st;
  time_t now = time(NULL);
  if (fstatat(c->dir, LOCK_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 && now - st.st_mtime < HOUR)
    return;
  disk_cache_evict(c, CACHE_LIMIT_BYTES, now);
}
