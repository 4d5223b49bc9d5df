// SPDX-License-Identifier: Apache-2.0
// Files: whole-file reads with a limit, atomic writes, directories. Errors are errno values.
#ifndef TILE_BASE_FILE_H
#define TILE_BASE_FILE_H

#include "base/arena.h"
#include "base/str.h"

// Reads all of `path` ("-" is standard input) into the arena, NUL-terminated past the end.
// Returns 0, or an errno value; EFBIG when longer than `limit`, EISDIR for folders.
NODISCARD int file_read(struct arena *a, const char *path, size_t limit, struct str *ret);

// Writes to a temporary name beside `path` and renames, so that a failure leaves no partial file.
// "-" is standard output. 0 or errno.
NODISCARD int file_write(const char *path, const void *data, size_t size);

// Writes a file piece by piece, under a temporary name beside `path` (borrowed), which the end
// renames. Zero-initialise it. `error` is the first one, an errno value: later pieces are ignored.
// file_draft_end must follow also a failed open.
struct file_draft {
  const char *path;
  struct strbuf name;
  int fd, error;
};
enum draft_end {
  DRAFT_DROP,
  DRAFT_KEEP,
  DRAFT_KEEP_DURABLY // what is renamed is on the disk: it survives a crash of the machine
};
int file_draft_open(struct file_draft *d, const char *path); // the error
void file_draft_write(struct file_draft *d, const void *data, size_t size);
NODISCARD int file_draft_end(struct file_draft *d, enum draft_end end); // the error

NODISCARD int dir_create(const char *path, unsigned mode); // with parents; 0 if it exists
bool file_exists(const char *path);
bool dir_exists(const char *path);
// First executable of that name on PATH, or NULL.
const char *file_find_program(struct arena *a, const char *name);

#endif
