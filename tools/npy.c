// SPDX-License-Identifier: Apache-2.0
// A .npy file is the magic text, a version, the length of a header, the header, the elements:
//
//   \x93NUMPY 1 0 <u16 length> {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }    \n
//
// The header is a Python dictionary literal padded with blanks. It is read by its own small
// grammar; nothing is evaluated, and sizes are multiplied with checks before memory is asked for.
#include "tools/npy.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_HEADER 65536
#define ALIGNMENT 64 // of the elements in the file

struct npy_parser {
  struct diag_engine *diag;
  struct span where;
  const char *path;
  struct str header;
  size_t at;
  struct array array;
  bool fortran_order;
};

static bool malformed(const struct npy_parser *p, const char *why) {
  diag_error(p->diag, p->where, E0712, "`%s` is not a well-formed .npy file: %s", p->path, why);
  return false;
}

static bool unsupported(const struct npy_parser *p, const char *why, const char *help) {
  struct diag *d = diag_error(p->diag, p->where, E0713, "`%s` cannot be used: %s", p->path, why);
  if (help)
    diag_help(d, "%s", help);
  return false;
}

static bool unreadable(const struct npy_parser *p, int error) {
  if (error == ENOENT)
    diag_error(p->diag, p->where, E0710, "no such file: `%s`", p->path);
  else
    diag_error(p->diag, p->where, E0710, "cannot read `%s`: %s", p->path, strerror(error));
  return false;
}

// ---- the header ----

static int peek(struct npy_parser *p) {
  while (p->at < p->header.len && p->header.ptr[p->at] == ' ')
    p->at++;
  return p->at < p->header.len ? (unsigned char)p->header.ptr[p->at] : -1;
}

static bool accept(struct npy_parser *p, char c) {
  if (peek(p) != c)
    return false;
  p->at++;
  return true;
}

// A string without escapes, in either kind of quotes.
static bool parse_string(struct npy_parser *p, struct str *ret) {
  int quote = peek(p);
  if (quote != '\'' && quote != '"')
    return false;
  size_t begin = ++p->at;
  while (p->at < p->header.len && p->header.ptr[p->at] != quote) {
    if (p->header.ptr[p->at] == '\\')
      return false;
    p->at++;
  }
  if (p->at == p->header.len)
    return false;
  *ret = (struct str){p->header.ptr + begin, p->at - begin};
  p->at++;
  return true;
}

static bool accept_word(struct npy_parser *p, const char *word) {
  size_t n = strlen(word);
  (void)peek(p);
  if (p->header.len - p->at < n || memcmp(p->header.ptr + p->at, word, n) != 0)
    return false;
  p->at += n;
  return true;
}

// shape = '(' [ integer { ',' integer } [ ',' ] ] ')', with one integer the comma is a must
static bool parse_shape(struct npy_parser *p) {
  struct array *a = &p->array;
  bool comma = false;
  if (!accept(p, '('))
    return malformed(p, "`shape` is not a tuple");
  a->rank = 0;
  a->count = 1;
  while (peek(p) != ')') {
    if (a->rank > 0 && !comma)
      return malformed(p, "`shape` is not a tuple of numbers");
    size_t begin = p->at;
    while (p->at < p->header.len && p->header.ptr[p->at] >= '0' && p->header.ptr[p->at] <= '9')
      p->at++;
    uint64_t n;
    if (!str_to_u64((struct str){p->header.ptr + begin, p->at - begin}, &n))
      return malformed(p, "`shape` is not a tuple of numbers");
    if (a->rank == ARRAY_MAX_RANK)
      return unsupported(p, "it has more than 8 dimensions", NULL);
    a->shape[a->rank++] = n;
    comma = accept(p, ',');
  }
  p->at++;
  if (a->rank == 1 && !comma)
    return malformed(p, "`shape` is not a tuple");
  return true;
}

// The element type of a descr such as `<f4`, `|b1`, `<V2`.
static bool parse_type(struct npy_parser *p, struct str descr, enum dtype as) {
  static const struct {
    const char *code;
    enum dtype type;
  } codes[] = {{"b1", DTYPE_I1},  {"i1", DTYPE_I8},  {"i2", DTYPE_I16}, {"i4", DTYPE_I32},
               {"i8", DTYPE_I64}, {"u1", DTYPE_U8},  {"u2", DTYPE_U16}, {"u4", DTYPE_U32},
               {"u8", DTYPE_U64}, {"f2", DTYPE_F16}, {"f4", DTYPE_F32}, {"f8", DTYPE_F64}};
  if (descr.len < 2)
    return malformed(p, "`descr` is empty");
  char order = descr.ptr[0];
  struct str code = {descr.ptr + 1, descr.len - 1};
  if (order != '<' && order != '|' && order != '=' && order != '>')
    return malformed(p, "`descr` does not begin with a byte order");
  bool fp8 = dtype_is_float(as) && dtype_bits(as) == 8;
  if ((as == DTYPE_BF16 && (str_is(code, "u2") || str_is(code, "V2"))) ||
      (fp8 && (str_is(code, "u1") || str_is(code, "V1")))) {
    p->array.dtype = as;
  } else {
    size_t i = 0;
    while (i < COUNT_OF(codes) && !str_is(code, codes[i].code))
      i++;
    if (code.ptr[0] == 'O')
      return unsupported(p, "it holds Python objects, which are never loaded", NULL);
    if (i == COUNT_OF(codes))
      return unsupported(p, "its elements are not plain numbers",
                         "convert it: `numpy.save(path, x.astype('<f4'))`");
    p->array.dtype = codes[i].type;
  }
  if (order == '>' && dtype_bytes(p->array.dtype) > 1)
    return unsupported(p, "it is big-endian", "convert it: `x.astype(x.dtype.newbyteorder('<'))`");
  return true;
}

// entry = string ':' value; each of the three keys once
static bool parse_entry(struct npy_parser *p, enum dtype as, unsigned *seen) {
  static const char *const keys[] = {"descr", "fortran_order", "shape"};
  struct str key, descr;
  if (!parse_string(p, &key))
    return malformed(p, "the header is not a dictionary");
  unsigned k = 0;
  while (k < 3 && !str_is(key, keys[k]))
    k++;
  if (k == 3)
    return malformed(p, "the header has a key that does not belong there");
  if (*seen & 1u << k)
    return malformed(p, "the header has a key twice");
  *seen |= 1u << k;
  if (!accept(p, ':'))
    return malformed(p, "the header is not a dictionary");
  if (k == 2)
    return parse_shape(p);
  if (k == 1) {
    p->fortran_order = accept_word(p, "True");
    return p->fortran_order || accept_word(p, "False") ||
           malformed(p, "`fortran_order` is neither True nor False");
  }
  if (peek(p) == '[')
    return unsupported(p, "its elements are records", "save one field: `x['name']`");
  return parse_string(p, &descr) ? parse_type(p, descr, as)
                                 : malformed(p, "`descr` is not a string");
}

// header = '{' entry { ',' entry } [ ',' ] '}' blanks newline
static bool parse_header(struct npy_parser *p, enum dtype as) {
  unsigned seen = 0;
  if (!accept(p, '{'))
    return malformed(p, "the header is not a dictionary");
  while (peek(p) != '}') {
    if (!parse_entry(p, as, &seen))
      return false;
    if (!accept(p, ',') && peek(p) != '}')
      return malformed(p, "the header is not a dictionary");
  }
  p->at++;
  if (seen != 7)
    return malformed(p, "the header lacks `descr`, `fortran_order` or `shape`");
  if (peek(p) != '\n' || p->at + 1 != p->header.len)
    return malformed(p, "the header does not end with a newline");
  // One dimension, or none, has the same order either way.
  if (p->fortran_order && p->array.rank > 1)
    return unsupported(p, "it is in Fortran order", "save `numpy.ascontiguousarray(x)` instead");
  return true;
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

// Reads magic, version and header text (onto the arena).
static bool read_header(struct npy_parser *p, struct arena *a, int fd, uint64_t *ret_bytes) {
  unsigned char start[12];
  ssize_t n = read_full(fd, (char *)start, 10);
  if (n < 0)
    return unreadable(p, errno);
  if (n < 10 || memcmp(start, "\x93NUMPY", 6) != 0)
    return malformed(p, "it does not begin as one");
  if (start[6] < 1 || start[6] > 3 || start[7] != 0)
    return unsupported(p, "its version is not 1.0, 2.0 or 3.0", NULL);
  size_t length = start[8] | (size_t)start[9] << 8, before = 10;
  if (start[6] > 1) {
    before = 12;
    n = read_full(fd, (char *)start + 10, 2);
    if (n < 2)
      return n < 0 ? unreadable(p, errno) : malformed(p, "it ends in the header");
    length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
  }
  if (length > MAX_HEADER)
    return malformed(p, "its header is longer than 65536 bytes");
  char *text = arena_alloc(a, length + 1, 1);
  n = read_full(fd, text, length);
  if (n < 0)
    return unreadable(p, errno);
  if ((size_t)n < length)
    return malformed(p, "it ends in the header");
  p->header = (struct str){text, length};
  *ret_bytes = before + length;
  return true;
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
    a->count *= a->shape[i]; // no factor is larger than in the product above
  *ret_bytes = a->count * dtype_bytes(a->dtype);
  return true;
}

static bool read_elements(struct npy_parser *p, int fd, uint64_t header_bytes) {
  uint64_t bytes;
  struct stat st;
  if (!check_size(p, &bytes))
    return false;
  // A file whose length does not fit is refused before its size is believed.
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size != header_bytes + bytes)
    return malformed(p, (uint64_t)st.st_size < header_bytes + bytes
                            ? "it has fewer elements than its shape says"
                            : "bytes follow the last element");
  p->array.data = malloc(bytes ? bytes : 1);
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
  struct npy_parser p = {.diag = diag, .where = where, .path = path};
  bool standard_input = strcmp(path, "-") == 0;
  int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return unreadable(&p, errno);
  uint64_t header_bytes = 0;
  bool ok = read_header(&p, a, fd, &header_bytes) && parse_header(&p, as) &&
            read_elements(&p, fd, header_bytes);
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
  char *file = out.failed ? NULL : malloc(sizeof start + length + bytes);
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
