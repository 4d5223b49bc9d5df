// SPDX-License-Identifier: Apache-2.0
// A .npy file is the magic text, a version, the length of a header, the header, the elements:
//
//   \x93NUMPY 1 0 <u16 length> {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }    \n
//
// The header is a Python dictionary literal padded with blanks (base/npy.h). Sizes are multiplied
// with checks before memory is allocated.
#include "tools/launch/npy_file.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/npy.h"
#include "tools/file_help.h"
#include "tools/foreign_file.h"
#include "tools/launch/npz_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALIGNMENT 64 // of the elements in the file

struct npy_parser {
  struct arena *arena;
  struct diag_engine *diag;
  struct span where;
  const char *path;
  struct array array;
};

// An archive of arrays, with what is in it.
static bool is_archive(const struct npy_parser *p) {
  const char *names[NPZ_MOST_NAMES];
  if (!str_ends(str_from(p->path), ".npz"))
    return false;
  size_t count = npz_names(p->arena, p->path, names);
  struct strbuf list = {.arena = p->arena};
  for (size_t i = 0; i < count; i++)
    strbuf_printf(&list, "%s`%s`", i ? ", " : " of ", names[i]);
  struct diag *d = diag_error(p->diag, p->where, E0712, "`%s` is a .npz archive%s%s, not one array",
                              p->path, strbuf_cstr(&list), count == NPZ_MOST_NAMES ? ", ..." : "");
  strbuf_finish(&list);
  const char *name = count ? names[0] : "NAME";
  diag_help(d,
            "save an array alone, `numpy.save(\"%s.npy\", numpy.load(\"%s\")[\"%s\"])`, and give "
            "`@%s.npy`",
            name, p->path, name, name);
  return true;
}

static bool malformed(const struct npy_parser *p, const char *why) {
  if (is_archive(p))
    return false;
  struct diag *d =
      diag_error(p->diag, p->where, E0712, "`%s` is not a well-formed .npy file: %s", p->path, why);
  foreign_help(d, foreign_kind(p->path, (struct str){0}), FOREIGN_ARRAY);
  return false;
}

static bool faulty(const struct npy_parser *p, const struct npy_fault *fault) {
  if (!fault->is_unsupported)
    return malformed(p, fault->why);
  struct diag *d =
      diag_error(p->diag, p->where, E0713, "`%s` cannot be used: %s", p->path, fault->why);
  if (fault->help)
    diag_help(d, "%s", fault->help);
  return false;
}

static bool unreadable(const struct npy_parser *p, int error) {
  if (error == ENOENT)
    file_help(p->arena, diag_error(p->diag, p->where, E0710, "no such file: `%s`", p->path),
              p->path, SPAN_NONE);
  else
    diag_error(p->diag, p->where, E0710, "cannot read `%s`: %s", p->path, strerror(error));
  return false;
}

// ---- the file ----

// Reads exactly n bytes; fewer at the end of the file. -1 with errno set on failure.
static ssize_t read_full(int fd, char *to, size_t n) {
  size_t have = 0;
  while (have < n) {
    ssize_t got = read(fd, to + have, n - have);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return -1;
    if (got == 0)
      break;
    have += (size_t)got;
  }
  return (ssize_t)have;
}

// Reads magic, version and header.
static bool read_header(struct npy_parser *p, struct arena *a, int fd, enum dtype as,
                        uint64_t *ret_bytes) {
  char start[12];
  struct str header;
  struct npy_fault fault;
  ssize_t n = read_full(fd, start, 10);
  if (n == 10 && start[6] > 1) { // its length has two bytes more
    ssize_t more = read_full(fd, start + 10, 2);
    n = more < 0 ? more : n + more;
  }
  if (n < 0)
    return unreadable(p, errno);
  if (!npy_find_header((struct str){start, (size_t)n}, &header, &fault))
    return faulty(p, &fault);
  char *text = arena_alloc(a, header.len + 1, 1);
  n = read_full(fd, text, header.len);
  if (n < 0)
    return unreadable(p, errno);
  if ((size_t)n < header.len)
    return malformed(p, "it ends in the header");
  *ret_bytes = (size_t)(header.ptr - start) + header.len;
  return npy_parse_header((struct str){text, header.len}, as, &p->array, &fault) ||
         faulty(p, &fault);
}

// Number of elements and of bytes, with every product checked.
static bool check_size(struct npy_parser *p, uint64_t *ret_bytes) {
  struct array *a = &p->array;
  uint64_t bytes = dtype_bytes(a->dtype);
  for (unsigned i = 0; i < a->rank; i++)
    if (!checked_mul(bytes, a->shape[i] ? a->shape[i] : 1, &bytes) || bytes > NPY_MAX_BYTES) {
      diag_error(p->diag, p->where, E0901, "`%s` is larger than 64 GiB", p->path);
      return false;
    }
  for (unsigned i = 0; i < a->rank; i++)
    a->count *= a->shape[i]; // no overflow: no factor is larger than in the product above
  *ret_bytes = a->count * dtype_bytes(a->dtype);
  return true;
}

static bool read_elements(struct npy_parser *p, int fd, uint64_t header_bytes) {
  uint64_t bytes;
  struct stat st;
  if (!check_size(p, &bytes))
    return false;
  // Rejects a file of the wrong length before its header's sizes are used.
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size != header_bytes + bytes)
    return malformed(p, (uint64_t)st.st_size < header_bytes + bytes
                            ? "it has fewer elements than its shape says"
                            : "bytes follow the last element");
  p->array.data = memory_alloc(bytes ? bytes : 1);
  if (!p->array.data) {
    diag_error(p->diag, p->where, E0991, "no memory for the %llu bytes of `%s`",
               (unsigned long long)bytes, p->path);
    return false;
  }
  char extra;
  ssize_t n = read_full(fd, p->array.data, bytes);
  ssize_t more = n < 0 || (uint64_t)n < bytes ? 0 : read_full(fd, &extra, 1);
  if (n < 0 || more < 0)
    return unreadable(p, errno);
  if ((uint64_t)n < bytes)
    return malformed(p, "it has fewer elements than its shape says");
  return more == 0 || malformed(p, "bytes follow the last element");
}

bool npy_read(struct arena *a, struct diag_engine *diag, struct span where, const char *path,
              enum dtype as, struct array *ret) {
  struct npy_parser p = {.arena = a, .diag = diag, .where = where, .path = path};
  bool standard_input = strcmp(path, "-") == 0;
  int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return unreadable(&p, errno);
  uint64_t header_bytes = 0;
  bool ok = read_header(&p, a, fd, as, &header_bytes) && read_elements(&p, fd, header_bytes);
  if (!standard_input)
    close(fd);
  if (ok)
    *ret = p.array;
  else
    array_finish(&p.array);
  return ok;
}

static const char *descr_of(enum dtype t) {
  switch (t) {
  case DTYPE_I1: return "|b1";
  case DTYPE_I8: return "|i1";
  case DTYPE_I16: return "<i2";
  case DTYPE_I32: return "<i4";
  case DTYPE_I64: return "<i8";
  case DTYPE_U8:
  case DTYPE_F8E5:
  case DTYPE_F8E4NV:
  case DTYPE_F8E4B15: return "|u1";
  case DTYPE_U16:
  case DTYPE_BF16: return "<u2";
  case DTYPE_U32: return "<u4";
  case DTYPE_U64: return "<u8";
  case DTYPE_F16: return "<f2";
  case DTYPE_F32: return "<f4";
  case DTYPE_F64: return "<f8";
  case DTYPE_NONE: break;
  }
  return "|V1";
}

int npy_write(const char *path, const struct array *array) {
  struct strbuf out = {0};
  strbuf_printf(&out, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr_of(array->dtype));
  for (unsigned i = 0; i < array->rank; i++)
    strbuf_printf(&out, i ? ", %llu" : "%llu", (unsigned long long)array->shape[i]);
  strbuf_puts(&out, array->rank == 1 ? ",), }" : "), }");
  size_t length = (10 + out.len + ALIGNMENT) / ALIGNMENT * ALIGNMENT - 10;
  strbuf_printf(&out, "%*s\n", (int)(length - 1 - out.len), "");
  char start[10] = {
      '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(length & 255), (char)(length >> 8)};
  size_t bytes = array->count * dtype_bytes(array->dtype);
  char *file = out.failed ? NULL : memory_alloc(sizeof start + length + bytes);
  int error = file ? 0 : ENOMEM;
  if (file) {
    memcpy(file, start, sizeof start);
    memcpy(file + sizeof start, out.ptr, length);
    if (bytes)
      memcpy(file + sizeof start + length, array->data, bytes);
    error = file_write(path, file, sizeof start + length + bytes);
  }
  free(file);
  strbuf_finish(&out);
  return error;
}
