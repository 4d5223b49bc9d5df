// SPDX-License-Identifier: Apache-2.0
// Files by POSIX calls: bounded reads, writes that replace a file atomically.
#include "base/file.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static ssize_t read_some(int fd, char *to, size_t n) {
  ssize_t got;
  do
    got = read(fd, to, n);
  while (got < 0 && errno == EINTR);
  return got;
}

// Reads until the end; `guess` is the expected size.
static int read_all(struct arena *a, int fd, size_t guess, size_t limit, struct str *ret) {
  size_t cap = guess < limit ? guess + 1 : limit + 1, len = 0;
  char *text = arena_alloc(a, cap, 1);
  while (text) {
    ssize_t got = read_some(fd, text + len, cap - len);
    if (got < 0)
      return errno;
    if (got == 0)
      break;
    len += (size_t)got;
    if (len > limit)
      return EFBIG;
    if (len == cap) {
      size_t bigger = cap < 32768 ? 65536 : cap * 2;
      char *copy = arena_alloc(a, bigger, 1);
      if (copy)
        memcpy(copy, text, len);
      text = copy;
      cap = bigger;
    }
  }
  if (!text)
    return ENOMEM;
  text[len] = 0; // len < cap: a full buffer was grown above
  *ret = (struct str){text, len};
  return 0;
}

int file_read(struct arena *a, const char *path, size_t limit, struct str *ret) {
  if (strcmp(path, "-") == 0)
    return read_all(a, STDIN_FILENO, 65536, limit, ret);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return errno;
  struct stat st;
  int error = 0;
  if (fstat(fd, &st) < 0)
    error = errno;
  else if (S_ISDIR(st.st_mode))
    error = EISDIR;
  else if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > limit)
    error = EFBIG;
  else
    error = read_all(a, fd, S_ISREG(st.st_mode) ? (size_t)st.st_size : 65536, limit, ret);
  close(fd);
  return error;
}

static int write_all(int fd, const char *data, size_t size) {
  while (size) {
    ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return errno;
    data += n;
    size -= (size_t)n;
  }
  return 0;
}

static int write_in_place(const char *path, const void *data, size_t size) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return errno;
  int error = write_all(fd, data, size);
  if (close(fd) < 0 && !error)
    error = errno;
  return error;
}

// Creates a file with a new name in the folder of `path`; `name` receives it.
static int open_beside(const char *path, mode_t mode, struct strbuf *name) {
  for (unsigned attempt = 0; attempt < 100; attempt++) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    strbuf_clear(name);
    strbuf_printf(name, "%s.%ld-%lx%x.tmp", path, (long)getpid(), (unsigned long)now.tv_nsec,
                  attempt);
    if (name->failed) {
      errno = ENOMEM;
      return -1;
    }
    int fd = open(name->ptr, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST)
      return fd;
  }
  return -1;
}

// ---- drafts ----

// `old`: the existing file, whose permissions are kept; NULL: none.
static int open_draft(struct file_draft *d, const char *path, const struct stat *old) {
  mode_t mode = old ? old->st_mode & 0777 : 0666;
  d->path = path;
  d->fd = open_beside(path, mode, &d->name);
  d->error = d->fd < 0 ? errno : 0;
  if (d->fd >= 0 && old && fchmod(d->fd, mode) < 0) // the umask cleared some bits
    d->error = errno;
  return d->error;
}

int file_draft_open(struct file_draft *d, const char *path) {
  struct stat st;
  return open_draft(d, path, stat(path, &st) == 0 && S_ISREG(st.st_mode) ? &st : NULL);
}

void file_draft_write(struct file_draft *d, const void *data, size_t size) {
  if (!d->error)
    d->error = write_all(d->fd, data, size);
}

// The folder's entry survives a crash of the machine too.
static int sync_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash ? memory_strdup(path) : NULL;
  if (slash && !folder)
    return ENOMEM;
  if (folder)
    folder[slash == path ? 1 : slash - path] = 0;
  int fd = open(folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  free(folder);
  if (fd < 0)
    return errno;
  int error = fsync(fd) < 0 && errno != EINVAL ? errno : 0; // some file systems cannot
  close(fd);
  return error;
}

int file_draft_end(struct file_draft *d, enum draft_end end) {
  bool keeps = end != DRAFT_DROP;
  if (d->fd >= 0) {
    if (!d->error && end == DRAFT_KEEP_DURABLY && fsync(d->fd) < 0)
      d->error = errno;
    if (close(d->fd) < 0 && !d->error)
      d->error = errno;
    if (keeps && !d->error && rename(d->name.ptr, d->path) < 0)
      d->error = errno;
    if (!keeps || d->error)
      unlink(d->name.ptr);
    else if (end == DRAFT_KEEP_DURABLY)
      d->error = sync_folder(d->path);
  }
  d->fd = -1;
  strbuf_finish(&d->name);
  return d->error;
}

static int replace_file(const char *path, const struct stat *old, const void *data, size_t size) {
  struct file_draft d = {0};
  if (open_draft(&d, path, old) == 0)
    file_draft_write(&d, data, size);
  return file_draft_end(&d, DRAFT_KEEP);
}

int file_write(const char *path, const void *data, size_t size) {
  if (strcmp(path, "-") == 0)
    return write_all(STDOUT_FILENO, data, size);
  struct stat st;
  if (lstat(path, &st) < 0)
    return replace_file(path, NULL, data, size);
  if (!S_ISLNK(st.st_mode))
    return S_ISREG(st.st_mode) ? replace_file(path, &st, data, size)
                               : write_in_place(path, data, size);
  // Through a symbolic link, the target is replaced and the link is kept.
  char *target = realpath(path, NULL);
  if (!target)
    return errno;
  bool is_there = stat(target, &st) == 0;
  int error = is_there && !S_ISREG(st.st_mode)
                  ? write_in_place(target, data, size)
                  : replace_file(target, is_there ? &st : NULL, data, size);
  free(target);
  return error;
}

static int make_one(const char *path, unsigned mode) {
  struct stat st;
  if (mkdir(path, mode) == 0)
    return 0;
  int error = errno;
  if (error == EEXIST)
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
  return error;
}

int dir_create(const char *path, unsigned mode) {
  size_t n = strlen(path);
  if (!n)
    return ENOENT;
  char *copy = memory_strdup(path);
  if (!copy)
    return ENOMEM;
  int error = 0;
  for (size_t i = 1; i < n && !error; i++)
    if (copy[i] == '/' && copy[i - 1] != '/') {
      copy[i] = 0;
      error = make_one(copy, mode);
      copy[i] = '/';
    }
  if (!error)
    error = make_one(copy, mode);
  free(copy);
  return error;
}

bool file_exists(const char *path) {
  struct stat st;
  return stat(path, &st) == 0;
}

bool dir_exists(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_program(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

const char *file_find_program(struct arena *a, const char *name) {
  if (strchr(name, '/'))
    return is_program(name) ? arena_strdup(a, name) : NULL;
  const char *path = getenv("PATH");
  struct str rest = str_from(path ? path : "/usr/bin:/bin"), folder;
  while (rest.ptr) {
    rest = str_split(rest, ':', &folder);
    const char *candidate = folder.len ? arena_printf(a, "%.*s/%s", STR_ARG(folder), name)
                                       : arena_printf(a, "./%s", name);
    if (candidate && is_program(candidate))
      return candidate;
  }
  return NULL;
}
