// SPDX-License-Identifier: Apache-2.0
// The grammar of `--arg NAME=SPEC`. Errors point into the text on the command line.
//
//   spec   = ( '@' file | array ) [ ':block(' [ extent { 'x' extent } ] ')' [ ':pad(nan)' ] ] |
//   scalar array  = type '[' extent { 'x' extent } ']' [ ':' fill ] fill   = 'zeros' | 'ones' |
//   'iota' | 'empty' | 'fill' '(' number ')'
//          | 'rand' '(' seed [ ',' low ',' high ] ')' | 'randn' '(' seed [ ',' mean ',' deviation ]
//          ')'
//   scalar = [ type ':' ] ( number | 'True' | 'False' ) | 'None'
#include "tools/launch/arg_spec.h"

#include "base/memory.h"
#include "tools/launch/array_fill.h"
#include "tools/launch/npy_file.h"

#include <stdlib.h>

#define MAX_BYTES ((uint64_t)1 << 46)

struct spec_parser {
  struct diag_engine *diag;
  struct span where;
  struct str spec;
};

// The location of a part of the spec, exact when `where` spans the spec's own text.
static struct span part_span(const struct spec_parser *p, struct str part) {
  if (!p->where.source || p->where.end - p->where.begin != p->spec.len)
    return p->where;
  uint32_t begin = p->where.begin + (uint32_t)(part.ptr - p->spec.ptr);
  return (struct span){p->where.source, begin, begin + (uint32_t)part.len};
}

#define WRONG(p, part, ...) diag_error((p)->diag, part_span((p), (part)), E0720, __VA_ARGS__)

// ---- fills ----

static const char *const fill_names[] = {"zeros", "ones", "iota", "empty", "fill", "rand", "randn"};
enum { NAME_ZEROS, NAME_ONES, NAME_IOTA, NAME_EMPTY, NAME_FILL, NAME_RAND, NAME_RANDN };

static bool parse_number(const struct spec_parser *p, struct str text, double *ret) {
  struct str trimmed = str_trim(text);
  int64_t integer;
  if (str_to_i64(trimmed, &integer)) {
    *ret = (double)integer;
    return true;
  }
  if (str_to_f64(trimmed, ret))
    return true;
  WRONG(p, text, "`%.*s` is not a number", STR_ARG(trimmed));
  return false;
}

// Splits `name(a, b, c)`; *ret_count is 0 without parentheses.
static bool split_call(const struct spec_parser *p, struct str text, struct str *ret_name,
                       struct str args[3], size_t *ret_count) {
  struct str inner = str_split(text, '(', ret_name);
  *ret_count = 0;
  if (!inner.ptr)
    return true;
  if (!str_ends(inner, ")")) {
    WRONG(p, text, "missing `)` in `%.*s`", STR_ARG(text));
    return false;
  }
  inner.len--;
  while (inner.ptr) {
    if (*ret_count == 3) {
      WRONG(p, text, "too many values in `%.*s`", STR_ARG(text));
      return false;
    }
    inner = str_split(inner, ',', &args[(*ret_count)++]);
  }
  return true;
}

static bool unknown_fill(const struct spec_parser *p, struct str name) {
  struct diag *d = WRONG(p, name, "unknown way to fill an array: `%.*s`", STR_ARG(name));
  const char *near = str_nearest(name, fill_names, COUNT_OF(fill_names));
  if (near)
    diag_did_you_mean(d, part_span(p, name), near);
  else
    diag_help(
        d, "one of `zeros`, `ones`, `iota`, `empty`, `fill(V)`, `rand(SEED)`, `rand(SEED,LO,HI)`, "
           "`randn(SEED)`");
  return false;
}

// rand and randn: (seed) or (seed, a, b)
static bool parse_random(const struct spec_parser *p, struct str text, const struct str *args,
                         size_t count, struct fill *ret) {
  if (count != 1 && count != 3) {
    diag_help(WRONG(p, text, "`%.*s` takes a seed, or a seed and two numbers", STR_ARG(text)),
              ret->kind == FILL_UNIFORM
                  ? "`rand(0)` is uniform in [0, 1), `rand(0,-1,1)` in [-1, 1)"
                  : "`randn(0)`, or `randn(0,MEAN,DEVIATION)`");
    return false;
  }
  if (!str_to_u64(str_trim(args[0]), &ret->seed)) {
    WRONG(p, args[0], "the seed `%.*s` is not a whole number of at least 0", STR_ARG(args[0]));
    return false;
  }
  if (count == 3 && (!parse_number(p, args[1], &ret->a) || !parse_number(p, args[2], &ret->b)))
    return false;
  if (ret->kind == FILL_UNIFORM && !(ret->a < ret->b)) {
    WRONG(p, args[1], "the lower bound %g is not below the upper bound %g", ret->a, ret->b);
    return false;
  }
  return true;
}

static bool parse_fill(const struct spec_parser *p, struct str text, enum dtype type,
                       struct fill *ret) {
  struct str name, args[3];
  size_t count, which = 0;
  if (!split_call(p, text, &name, args, &count))
    return false;
  while (which < COUNT_OF(fill_names) && !str_is(name, fill_names[which]))
    which++;
  if (which == COUNT_OF(fill_names))
    return unknown_fill(p, name);
  if (which <= NAME_EMPTY && count > 0) {
    WRONG(p, text, "`%s` takes no value", fill_names[which]);
    return false;
  }
  switch (which) {
  case NAME_ZEROS: *ret = (struct fill){.kind = FILL_VALUE, .a = 0}; return true;
  case NAME_ONES: *ret = (struct fill){.kind = FILL_VALUE, .a = 1}; return true;
  case NAME_IOTA: *ret = (struct fill){.kind = FILL_IOTA}; return true;
  case NAME_EMPTY: *ret = (struct fill){.kind = FILL_EMPTY}; return true;
  case NAME_FILL:
    *ret = (struct fill){.kind = FILL_VALUE};
    if (count == 1)
      return parse_number(p, args[0], &ret->a);
    diag_help(WRONG(p, text, "`fill` takes one value"), "write for example `fill(0.5)`");
    return false;
  default: break;
  }
  // Integers between 0 and 1 would all be 0, so their default range is wider.
  double high = !dtype_is_int(type) ? 1 : type == DTYPE_I1 ? 2 : 100;
  *ret = which == NAME_RAND ? (struct fill){.kind = FILL_UNIFORM, .a = 0, .b = high}
                            : (struct fill){.kind = FILL_NORMAL, .a = 0, .b = 1};
  return parse_random(p, text, args, count, ret);
}

// ---- arrays ----

static bool unknown_type(const struct spec_parser *p, struct str name) {
  const char *names[DTYPE_COUNT];
  for (unsigned i = 0; i < DTYPE_COUNT; i++)
    names[i] = dtype_name((enum dtype)i);
  struct diag *d = WRONG(p, name, "unknown element type `%.*s`", STR_ARG(name));
  const char *near = dtype_of_other_language(name);
  if (!near)
    near = str_nearest(name, names, DTYPE_COUNT);
  if (near)
    diag_did_you_mean(d, part_span(p, name), near);
  else
    diag_help(d, "types are `f32`, `f16`, `bf16`, `f64`, `f8e4nv`, `f8e5`, `f8e4b15`, `i1` to "
                 "`i64`, `u8` to "
                 "`u64`");
  return false;
}

// `f32[8,128]`: commas where `x` belongs.
static bool help_commas(const struct spec_parser *p, struct diag *d, struct str text) {
  char edit[64];
  bool has_comma = false;
  size_t n = 0;
  for (size_t i = 0; i < text.len; i++) {
    char c = text.ptr[i] == ',' ? 'x' : text.ptr[i];
    bool is_digit = c >= '0' && c <= '9';
    if ((!is_digit && c != 'x' && c != ' ') || n + 1 == sizeof edit)
      return false;
    has_comma |= text.ptr[i] == ',';
    if (c != ' ')
      edit[n++] = c;
  }
  edit[n] = 0;
  if (!has_comma || !n || edit[n - 1] == 'x')
    return false;
  diag_help(d, "extents are separated by `x`: `%s`", edit);
  diag_fixit(d, part_span(p, text), edit);
  return true;
}

// extent { 'x' extent }
static bool parse_shape(const struct spec_parser *p, struct str text, struct array *ret) {
  uint64_t bytes = dtype_bytes(ret->dtype);
  ret->count = 1;
  ret->rank = 0;
  for (struct str rest = text, extent; rest.ptr;) {
    rest = str_split(rest, 'x', &extent);
    if (ret->rank == ARRAY_MAX_RANK) {
      WRONG(p, text, "an array has at most %d dimensions", ARRAY_MAX_RANK);
      return false;
    }
    uint64_t n;
    if (!str_to_u64(str_trim(extent), &n)) {
      struct diag *d = WRONG(p, extent, "`%.*s` is not an extent", STR_ARG(extent));
      if (help_commas(p, d, text))
        return false;
      diag_help(d, "write for example `%s[1000]` or `%s[64x128]`", dtype_name(ret->dtype),
                dtype_name(ret->dtype));
      return false;
    }
    ret->shape[ret->rank++] = n;
    // An extent of 0 must not hide an invalid one.
    if (!checked_mul(bytes, n ? n : 1, &bytes) || bytes > MAX_BYTES) {
      diag_error(p->diag, part_span(p, text), E0911, "the array is larger than 2^46 bytes");
      return false;
    }
    ret->count *= n;
  }
  return true;
}

// type '[' shape ']' [ ':' fill ], already split at the bracket
static bool parse_array(const struct spec_parser *p, struct str type, struct str after,
                        struct array *ret, struct fill *ret_fill) {
  struct str shape, fill_text;
  if (!dtype_parse(str_trim(type), &ret->dtype))
    return unknown_type(p, type);
  struct str tail = str_split(after, ']', &shape);
  if (!tail.ptr) {
    diag_help(WRONG(p, p->spec, "missing `]`"), "write for example `%s[1000]` or `%s[64x128]`",
              dtype_name(ret->dtype), dtype_name(ret->dtype));
    return false;
  }
  if (!parse_shape(p, shape, ret))
    return false;
  *ret_fill = (struct fill){.kind = FILL_VALUE};
  if (tail.len) {
    if (tail.ptr[0] != ':') {
      diag_help(WRONG(p, tail, "expected `:` after the shape"), "write for example `:rand(0)`");
      return false;
    }
    fill_text = (struct str){tail.ptr + 1, tail.len - 1};
    if (!parse_fill(p, fill_text, ret->dtype, ret_fill))
      return false;
  }
  return true;
}

// ---- blocks of tensor descriptors ----

static bool parse_block(const struct spec_parser *p, struct str text, struct arg_value *ret) {
  struct str extent;
  for (struct str rest = text; rest.ptr;) {
    uint64_t n;
    rest = str_split(rest, 'x', &extent);
    if (ret->block_rank == ARG_SPEC_BLOCK_RANK || !str_to_u64(str_trim(extent), &n) ||
        !is_pow2(n) || n > INT32_MAX) {
      diag_help(WRONG(p, text, "`%.*s` is no block of a tensor descriptor", STR_ARG(text)),
                "it has 1 to %d dimensions, each a power of two, such as `block(64x32)`",
                ARG_SPEC_BLOCK_RANK);
      return false;
    }
    ret->block[ret->block_rank++] = (uint32_t)n;
  }
  return true;
}

// Splits `:block(64x32)` and `:pad(nan)` off the end of the spec.
static bool split_block(const struct spec_parser *p, struct str *spec, struct arg_value *ret) {
  static const char mark[] = ":block(";
  size_t n = sizeof mark - 1, at = spec->len;
  struct str inside, tail;
  while (at-- > 0 && !(at + n <= spec->len && memcmp(spec->ptr + at, mark, n) == 0))
    ;
  if (at == SIZE_MAX)
    return true;
  tail = str_split((struct str){spec->ptr + at + n, spec->len - at - n}, ')', &inside);
  ret->pads_nan = str_is(tail, ":pad(nan)");
  if (!tail.ptr || (tail.len && !ret->pads_nan)) {
    struct str part = {spec->ptr + at, spec->len - at};
    diag_help(WRONG(p, part, "cannot read `%.*s`", STR_ARG(part)),
              "write `:block(64x32)`, and `:pad(nan)` behind it for NaN outside of the tensor");
    return false;
  }
  spec->len = at;
  ret->is_descriptor = true;
  return str_trim(inside).len == 0 || parse_block(p, inside, ret);
}

// ---- scalars ----

static bool fits(enum dtype type, int64_t value) {
  unsigned bits = dtype_bits(type);
  if (dtype_is_float(type) || type == DTYPE_NONE || bits == 64)
    return type != DTYPE_U64 || value >= 0;
  int64_t high = dtype_is_signed(type) ? ((int64_t)1 << (bits - 1)) - 1 : ((int64_t)1 << bits) - 1;
  return value <= high && value >= (dtype_is_signed(type) ? -high - 1 : 0);
}

static bool parse_scalar(const struct spec_parser *p, struct str text, struct arg_value *ret) {
  struct str type, number = str_split(text, ':', &type);
  ret->scalar_type = DTYPE_NONE;
  if (!number.ptr)
    number = text;
  else if (!dtype_parse(str_trim(type), &ret->scalar_type))
    return unknown_type(p, type);
  struct str trimmed = str_trim(number);
  uint64_t u;
  bool is_true = str_is(trimmed, "True") || str_is(trimmed, "true");
  ret->is_integer = true;
  if (is_true || str_is(trimmed, "False") || str_is(trimmed, "false")) {
    ret->integer = is_true;
    if (ret->scalar_type == DTYPE_NONE)
      ret->scalar_type = DTYPE_I1;
  } else if (ret->scalar_type == DTYPE_U64 && str_to_u64(trimmed, &u)) {
    ret->integer = (int64_t)u; // the same bits
    return true;
  } else if (!str_to_i64(trimmed, &ret->integer)) {
    ret->is_integer = false;
    if (!str_to_f64(trimmed, &ret->real)) {
      diag_help(WRONG(p, number, "cannot read `%.*s`", STR_ARG(number)),
                "a number, `@file.npy`, `None`, or an array such as `f32[1000]:rand(0)`");
      return false;
    }
  }
  if (ret->is_integer)
    ret->real = (double)ret->integer;
  bool wants_integer = ret->scalar_type != DTYPE_NONE && dtype_is_int(ret->scalar_type);
  if (ret->is_integer ? !fits(ret->scalar_type, ret->integer) : wants_integer) {
    WRONG(p, number, "%.*s is no value of type `%s`", STR_ARG(trimmed),
          dtype_name(ret->scalar_type));
    return false;
  }
  return true;
}

bool arg_spec_shape(struct arena *a, struct diag_engine *diag, struct span where, struct str spec,
                    enum dtype as, struct arg_value *ret) {
  struct spec_parser p = {diag, where, spec};
  struct arg_value value = {.scalar_type = DTYPE_NONE};
  if (!split_block(&p, &spec, &value))
    return false;
  struct str head, after = str_split(spec, '[', &head);
  bool ok;
  if (str_is(str_trim(spec), "None")) {
    ok = value.is_none = true;
  } else if (str_starts(spec, "@")) {
    value.is_array = true;
    const char *path = arena_strndup(a, spec.ptr + 1, spec.len - 1);
    ok = npy_read(a, diag, where, path, as, &value.array);
  } else if (after.ptr) {
    value.is_array = true;
    ok = parse_array(&p, head, after, &value.array, &value.fill);
  } else {
    ok = parse_scalar(&p, spec, &value);
  }
  if (ok && value.is_descriptor && !value.is_array) {
    WRONG(&p, spec, "`%.*s` is no array, which a tensor descriptor needs", STR_ARG(spec));
    ok = false;
  }
  if (ok)
    *ret = value;
  return ok;
}

bool arg_spec_parse(struct arena *a, struct diag_engine *diag, struct span where, struct str spec,
                    enum dtype as, struct arg_value *ret) {
  struct arg_value value;
  if (!arg_spec_shape(a, diag, where, spec, as, &value))
    return false;
  if (value.is_array && !value.array.data) {
    uint64_t bytes = value.array.count * dtype_bytes(value.array.dtype);
    value.array.data = memory_alloc(bytes ? bytes : 1);
    if (!value.array.data) {
      diag_error(diag, where, E0991, "no memory for an array of %llu bytes",
                 (unsigned long long)bytes);
      return false;
    }
    array_fill(&value.array, &value.fill);
  }
  *ret = value;
  return true;
}
