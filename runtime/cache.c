// SPDX-License-Identifier: Apache-2.0
// The cache on disk: content-addressed, one file per entry. An entry is written to a temporary file
// and renamed, so no reader sees a partial one. It is used only after its hash, key and lengths
// match, since damaged machine code crashes drivers. The cache never makes a compilation fail: an
// unreadable entry is a miss, an entry that cannot be written is not cached.
#include "base/debug.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "runtime/cache_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/auxv.h>
#include <sys/random.h>
#endif

#define ENTRY_VERSION 1u
#define ENTRY_MAX_BYTES (256u << 20)
#define CACHEDIR_TAG "CACHEDIR.TAG"

static const char entry_magic[8] = {'T', 'I', 'L', 'E', 'C', 'A', 'C', '\n'};

// A file is this header, the info text and the code. `hash` covers all that follows it.
struct entry_header {
  char magic[8];
  uint32_t version, header_bytes;
  uint8_t hash[32];
  uint8_t key[32];
  uint64_t info_bytes, code_bytes;
};

// ---- the folder ----

// The folder's path on the heap; NULL when there is no usable one.
static char *cache_path(const char **why) {
#if defined(__linux__)
  if (getauxval(AT_SECURE)) {
    *why = "set-user-id programs do not cache";
    return NULL;
  }
#endif
  struct strbuf b = {0};
  const char *dir = getenv("TILE_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME");
  const char *home = getenv("HOME");
  if (dir) {
    if (*dir)
      strbuf_puts(&b, dir);
    else
      *why = "TILE_CACHE_DIR is empty";
  } else if (xdg && xdg[0] == '/') {
    strbuf_printf(&b, "%s/tile", xdg);
  } else if (home && home[0] == '/') {
    strbuf_printf(&b, "%s/.cache/tile", home);
  } else {
    *why = "neither XDG_CACHE_HOME nor HOME is an absolute path";
  }
  return strbuf_take(&b);
}

// Opens a folder that is ours and that only we can write. -1, with the reason in *why, otherwise.
static int open_folder(const char *path, const char **why) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    *why = "the cache folder cannot be opened";
    return -1;
  }
  struct stat st;
  if (fstat(fd, &st) != 0 || st.st_uid != geteuid())
    *why = "the cache folder belongs to somebody else";
  else if (st.st_mode & 022)
    *why = "the cache folder can be written by others";
  else
    return fd;
  close(fd);
  return -1;
}

// Tells backup programs to leave the folder out.
static void write_tag(int dir) {
  static const char text[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
                             "# This file is a cache directory tag created by tile.\n";
  int fd = openat(dir, CACHEDIR_TAG, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0)
    return;
  if (write(fd, text, sizeof text - 1) != (ssize_t)(sizeof text - 1))
    unlinkat(dir, CACHEDIR_TAG, 0);
  close(fd);
}

struct disk_cache *disk_cache_open(const char **ret_why) {
  const char *why = NULL;
  int fd = -1;
  char *path = cache_path(&why);
  if (path) {
    if (dir_create(path, 0700) != 0)
      why = "the cache folder cannot be made";
    else
      fd = open_folder(path, &why);
  }
  struct disk_cache *c = fd >= 0 ? memory_zeroed(1, sizeof *c) : NULL;
  if (c) {
    c->dir = fd;
    debug_log(DEBUG_CACHE, "folder %s", path);
    write_tag(fd);
    disk_cache_evict_if_due(c);
  } else if (fd >= 0) {
    close(fd);
    why = "out of memory";
  } else {
    debug_log(DEBUG_CACHE, "off: %s", why ? why : "out of memory");
  }
  free(path);
  if (ret_why)
    *ret_why = why;
  return c;
}

void disk_cache_close(struct disk_cache *c) {
  if (!c)
    return;
  close(c->dir);
  free(c);
}

int disk_cache_folder(struct disk_cache *c, const char *name) {
  if (!c || (mkdirat(c->dir, name, 0700) != 0 && errno != EEXIST))
    return -1;
  return openat(c->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// ---- names: "ab/cdef..." ----

struct entry_name {
  char folder[3];
  char file[63];
};

static struct entry_name name_of(const uint8_t key[32]) {
  struct entry_name n;
  char hex[65];
  sha256_hex(key, hex);
  memcpy(n.folder, hex, 2);
  n.folder[2] = '\0';
  memcpy(n.file, hex + 2, sizeof n.file);
  return n;
}

static int open_fan_out(const struct disk_cache *c, const char *folder) {
  return openat(c->dir, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// ---- reading ----

static bool read_all(int fd, void *data, size_t size) {
  char *p = data;
  size_t done = 0;
  while (done < size) {
    ssize_t n = pread(fd, p + done, size - done, (off_t)done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    done += (size_t)n;
  }
  return true;
}

static void hash_entry(const struct entry_header *h, const void *payload, size_t bytes,
                       uint8_t digest[32]) {
  struct sha256 s;
  sha256_init(&s);
  sha256_update(&s, h->key, sizeof h->key);
  sha256_update(&s, &h->info_bytes, sizeof h->info_bytes);
  sha256_update(&s, &h->code_bytes, sizeof h->code_bytes);
  sha256_update(&s, payload, bytes);
  sha256_final(&s, digest);
}

enum read_result { READ_HIT, READ_MISS, READ_DAMAGED };

// The whole file is copied to private memory first: another process may truncate it meanwhile.
static enum read_result read_entry(int fd, struct arena *a, const uint8_t key[32], struct str *info,
                                   struct str *code) {
  struct stat st;
  if (fstat(fd, &st) != 0)
    return READ_MISS;
  struct entry_header h;
  if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) || st.st_nlink != 1 ||
      st.st_size < (off_t)sizeof h || st.st_size > (off_t)ENTRY_MAX_BYTES)
    return READ_DAMAGED;
  size_t size = (size_t)st.st_size, payload = size - sizeof h;
  char *data = arena_alloc(a, size + 1, 16); // code stays NUL-terminated
  if (!data || !read_all(fd, data, size))
    return READ_MISS;
  memcpy(&h, data, sizeof h);
  if (memcmp(h.magic, entry_magic, sizeof h.magic) != 0 || h.version != ENTRY_VERSION ||
      h.header_bytes != sizeof h || memcmp(h.key, key, 32) != 0 || h.info_bytes > payload ||
      h.code_bytes != payload - h.info_bytes)
    return READ_DAMAGED;
  uint8_t digest[32];
  hash_entry(&h, data + sizeof h, payload, digest);
  if (memcmp(digest, h.hash, 32) != 0)
    return READ_DAMAGED;
  *info = (struct str){data + sizeof h, (size_t)h.info_bytes};
  *code = (struct str){data + sizeof h + h.info_bytes, (size_t)h.code_bytes};
  // Keeps recently used entries. The time is updated once an hour at most, to save writes.
  if (time(NULL) - st.st_mtime > 3600)
    futimens(fd, NULL);
  return READ_HIT;
}

// Renames a file that cannot be removed, so that an entry can be stored under its name.
static void move_away(int folder, const char *file) {
  char name[64];
  snprintf(name, sizeof name, "moved-%.40s", file);
  if (renameat(folder, file, folder, name) != 0)
    debug_log(DEBUG_CACHE, "%s is in the way: %s", file, strerror(errno));
}

bool disk_cache_get(struct disk_cache *c, struct arena *a, const uint8_t key[32],
                    struct str *ret_info, struct str *ret_code) {
  if (!c)
    return false;
  struct entry_name n = name_of(key);
  enum read_result r = READ_MISS;
  int folder = open_fan_out(c, n.folder);
  if (folder >= 0) {
    // O_NONBLOCK: the file may be a FIFO.
    int fd = openat(folder, n.file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
      r = read_entry(fd, a, key, ret_info, ret_code);
      close(fd);
    } else if (errno == ELOOP) {
      r = READ_DAMAGED;
    }
    // A folder would block the entry's name forever.
    if (r == READ_DAMAGED && unlinkat(folder, n.file, 0) != 0 &&
        unlinkat(folder, n.file, AT_REMOVEDIR) != 0)
      move_away(folder, n.file);
    close(folder);
  }
  debug_log(DEBUG_CACHE, "%s %s%s", n.folder, n.file,
            r == READ_HIT       ? ": hit"
            : r == READ_DAMAGED ? ": damaged, removed"
                                : ": miss");
  return r == READ_HIT;
}

// ---- writing ----

static bool write_all(int fd, const void *data, size_t size) {
  const char *p = data;
  while (size > 0) {
    ssize_t n = write(fd, p, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    p += n;
    size -= (size_t)n;
  }
  return true;
}

static uint64_t random_word(void) {
  uint64_t r = 0;
#if defined(__linux__)
  if (getrandom(&r, sizeof r, GRND_NONBLOCK) == (ssize_t)sizeof r)
    return r;
#endif
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u ^ (uint64_t)now.tv_sec ^
         (uint64_t)(uintptr_t)&r;
}

static bool write_entry(int folder, const char *file, const struct entry_header *h, struct str info,
                        struct str code) {
  char temporary[64];
  snprintf(temporary, sizeof temporary, CACHE_TEMPORARY "%ld-%016llx", (long)getpid(),
           (unsigned long long)random_word());
  int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0)
    return false;
  bool ok = write_all(fd, h, sizeof *h) && write_all(fd, info.ptr, info.len) &&
            write_all(fd, code.ptr, code.len) && fsync(fd) == 0;
  ok = close(fd) == 0 && ok;
  ok = ok && renameat(folder, temporary, folder, file) == 0;
  if (!ok)
    unlinkat(folder, temporary, 0);
  return ok;
}

void disk_cache_put(struct disk_cache *c, const uint8_t key[32], struct str info, struct str code) {
  if (!c || info.len > ENTRY_MAX_BYTES / 2 ||
      code.len > ENTRY_MAX_BYTES / 2 - sizeof(struct entry_header))
    return;
  struct entry_header h = {.version = ENTRY_VERSION, .header_bytes = sizeof h};
  memcpy(h.magic, entry_magic, sizeof h.magic);
  memcpy(h.key, key, sizeof h.key);
  h.info_bytes = info.len;
  h.code_bytes = code.len;
  struct sha256 s;
  sha256_init(&s);
  sha256_update(&s, h.key, sizeof h.key);
  sha256_update(&s, &h.info_bytes, sizeof h.info_bytes);
  sha256_update(&s, &h.code_bytes, sizeof h.code_bytes);
  sha256_update(&s, info.ptr, info.len);
  sha256_update(&s, code.ptr, code.len);
  sha256_final(&s, h.hash);
  struct entry_name n = name_of(key);
  if (mkdirat(c->dir, n.folder, 0700) != 0 && errno != EEXIST)
    return;
  int folder = open_fan_out(c, n.folder);
  if (folder < 0)
    return;
  bool ok = write_entry(folder, n.file, &h, info, code);
  close(folder);
  debug_log(DEBUG_CACHE, "%s %s: %s", n.folder, n.file, ok ? "stored" : "could not be stored");
}
