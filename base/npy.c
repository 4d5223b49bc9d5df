// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file: a Python dictionary literal padded with blanks,
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }    \n
//
// read by its own small grammar; nothing is evaluated.
#include "base/npy.h"

struct parser {
  struct str header;
  size_t at;
  struct array array;
  bool fortran_order;
  struct npy_fault *fault;
};

static bool malformed(const struct parser *p, const char *why) {
  *p->fault = (struct npy_fault){.why = why};
  return false;
}

static bool unsupported(const struct parser *p, const char *why, const char *help) {
  *p->fault = (struct npy_fault){.is_unsupported = true, .why = why, .help = help};
  return false;
}

static int peek(struct parser *p) {
  while (p->at < p->header.len && p->header.ptr[p->at] == ' ')
    p->at++;
  return p->at < p->header.len ? (unsigned char)p->header.ptr[p->at] : -1;
}

static bool accept(struct parser *p, char c) {
  if (peek(p) != c)
    return false;
  p->at++;
  return true;
}

// A string without escapes, in single or double quotes.
static bool parse_string(struct parser *p, struct str *ret) {
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

static bool accept_word(struct parser *p, const char *word) {
  size_t n = strlen(word);
  (void)peek(p);
  if (p->header.len - p->at < n || memcmp(p->header.ptr + p->at, word, n) != 0)
    return false;
  p->at += n;
  return true;
}

// shape = '(' [ integer { ',' integer } [ ',' ] ] ')', with one integer the comma is required
static bool parse_shape(struct parser *p) {
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
static bool parse_type(struct parser *p, struct str descr, enum dtype as) {
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
static bool parse_entry(struct parser *p, enum dtype as, unsigned *seen) {
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
static bool parse_header(struct parser *p, enum dtype as) {
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

bool npy_parse_header(struct str header, enum dtype as, struct array *ret,
                      struct npy_fault *ret_fault) {
  struct parser p = {.header = header, .fault = ret_fault};
  if (!parse_header(&p, as))
    return false;
  *ret = p.array;
  return true;
}

bool npy_find_header(struct str file, struct str *ret_header, struct npy_fault *ret_fault) {
  struct parser p = {.fault = ret_fault};
  if (file.len < 10 || memcmp(file.ptr, "\x93NUMPY", 6) != 0)
    return malformed(&p, "it does not begin as one");
  const unsigned char *start = (const unsigned char *)file.ptr;
  if (start[6] < 1 || start[6] > 3 || start[7] != 0)
    return unsupported(&p, "its version is not 1.0, 2.0 or 3.0", NULL);
  size_t length = start[8] | (size_t)start[9] << 8, before = start[6] > 1 ? 12 : 10;
  if (file.len < before)
    return malformed(&p, "it ends in the header");
  if (start[6] > 1)
    length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
  if (length > NPY_MAX_HEADER)
    return malformed(&p, "its header is longer than 65536 bytes");
  *ret_header = (struct str){file.ptr + before, length};
  return true;
}
