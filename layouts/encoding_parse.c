// SPDX-License-Identifier: Apache-2.0
// Text to encoding: NAME<{field = value, ...}>, driven by the field table. It accepts what MLIR
// prints (`2 : i64` for a number) and what users type (fields in any order, spaces anywhere).
#include "layouts/encoding_fields.h"
#include "layouts/encoding_internal.h"

enum { MAX_DEPTH = 8, MAX_NUMBER = 1 << 24 };

struct parser {
  struct arena *arena;
  struct str text;
  size_t pos, error_at;
  const char *error; // the first error is kept
};

static bool fail(struct parser *p, size_t at, const char *fmt, ...) PRINTF(3, 4);

static bool fail(struct parser *p, size_t at, const char *fmt, ...) {
  if (p->error)
    return false;
  va_list ap;
  va_start(ap, fmt);
  p->error = arena_vprintf(p->arena, fmt, ap);
  va_end(ap);
  p->error_at = at;
  return false;
}

// ---- words ----

static void skip_space(struct parser *p) {
  while (p->pos < p->text.len && strchr(" \t\r\n", p->text.ptr[p->pos]))
    p->pos++;
}

static bool accept(struct parser *p, char c) {
  skip_space(p);
  if (p->pos < p->text.len && p->text.ptr[p->pos] == c) {
    p->pos++;
    return true;
  }
  return false;
}

static bool expect(struct parser *p, char c, const char *where) {
  return accept(p, c) || fail(p, p->pos, "expected `%c` %s", c, where);
}

static bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static struct str word(struct parser *p) {
  skip_space(p);
  size_t begin = p->pos;
  while (p->pos < p->text.len && is_word_char(p->text.ptr[p->pos]))
    p->pos++;
  return (struct str){p->text.ptr + begin, p->pos - begin};
}

static bool number(struct parser *p, uint32_t *ret) {
  struct str w = word(p);
  size_t at = p->pos - w.len;
  uint64_t n;
  if (w.len == 0)
    return fail(p, at, "expected a number");
  if (!str_to_u64(w, &n) || n > MAX_NUMBER)
    return fail(p, at, "`%.*s` is no number up to 2^24", STR_ARG(w));
  *ret = (uint32_t)n;
  if (accept(p, ':')) { // a type, as MLIR prints
    w = word(p);
    if (w.len < 2 || w.ptr[0] != 'i')
      return fail(p, p->pos - w.len, "expected an integer type");
  }
  return true;
}

// [1, 2, ...]; at most `cap` numbers.
static bool number_list(struct parser *p, unsigned cap, uint32_t *ret, unsigned *ret_count) {
  if (!expect(p, '[', "to begin a list"))
    return false;
  *ret_count = 0;
  if (accept(p, ']'))
    return true;
  do {
    if (*ret_count == cap)
      return fail(p, p->pos, "a list has at most %u numbers here", cap);
    if (!number(p, &ret[(*ret_count)++]))
      return false;
  } while (accept(p, ','));
  return expect(p, ']', "to end the list");
}

// ---- fields ----

static struct encoding *parse_encoding(struct parser *p, unsigned depth);

static bool parse_bases(struct parser *p, struct encoding *e, enum ll_in in) {
  if (!expect(p, '[', "to begin the bases"))
    return false;
  ll_add_in(&e->linear, in);
  if (accept(p, ']'))
    return true;
  do {
    uint32_t image[LL_MAX_OUT] = {0};
    unsigned rank;
    skip_space(p);
    size_t at = p->pos;
    if (!number_list(p, LL_MAX_OUT, image, &rank))
      return false;
    if (rank == 0 || (e->rank != 0 && rank != e->rank))
      return fail(p, at, "all bases need the same number of coordinates");
    if (ll_in_bits(&e->linear, in) == LL_MAX_BITS)
      return fail(p, at, "at most %d bases of `%s`", (int)LL_MAX_BITS, ll_in_name(in));
    e->rank = e->linear.out_count = rank;
    ll_push_basis(&e->linear, in, image);
  } while (accept(p, ','));
  return expect(p, ']', "to end the bases");
}

static bool parse_bool(struct parser *p, bool *ret) {
  struct str w = word(p);
  *ret = str_is(w, "true");
  return *ret || str_is(w, "false") || fail(p, p->pos - w.len, "expected `true` or `false`");
}

static bool parse_field(struct parser *p, struct encoding *e, const struct encoding_field *f,
                        unsigned depth) {
  void *at = (char *)e + f->offset;
  skip_space(p);
  size_t begin = p->pos;
  unsigned count;
  switch (f->type) {
  case FIELD_NUMBER: return number(p, at);
  case FIELD_BOOL: return parse_bool(p, at);
  case FIELD_LIST:
    if (!number_list(p, LL_MAX_OUT, at, &count))
      return false;
    if (count == 0 || (e->rank != 0 && count != e->rank))
      return fail(p, begin,
                  count ? "this list has %u numbers, another has %u" : "this list is empty", count,
                  e->rank);
    e->rank = count;
    return true;
  case FIELD_INSTR: return number_list(p, 3, at, &count);
  case FIELD_BASES: return parse_bases(p, e, f->in);
  case FIELD_PARENT: {
    const struct encoding *parent = parse_encoding(p, depth + 1);
    if (!parent)
      return false;
    *(const struct encoding **)at = parent;
    if (e->kind == ENC_SLICE && parent->rank == 0)
      return fail(p, begin, "a layout without dimensions cannot be sliced");
    e->rank = e->kind == ENC_SLICE ? parent->rank - 1 : parent->rank;
    return true;
  }
  }
  return false;
}

static const struct encoding_field *find_field(struct parser *p, enum encoding_kind kind,
                                               struct str name) {
  const char *names[COUNT_OF(encoding_fields)];
  size_t n = 0;
  for (size_t i = 0; i < COUNT_OF(encoding_fields); i++) {
    if (encoding_fields[i].kind != kind)
      continue;
    names[n++] = encoding_fields[i].name;
    if (str_is(name, encoding_fields[i].name))
      return &encoding_fields[i];
  }
  size_t at = p->pos - name.len;
  const char *near = str_nearest(name, names, n);
  if (name.len == 0)
    fail(p, at, "expected a field of `%s`", encoding_names[kind]);
  else if (near)
    fail(p, at, "`%s` has no field `%.*s`, did you mean `%s`?", encoding_names[kind], STR_ARG(name),
         near);
  else
    fail(p, at, "`%s` has no field `%.*s`", encoding_names[kind], STR_ARG(name));
  return NULL;
}

static bool parse_fields(struct parser *p, struct encoding *e, unsigned depth) {
  uint32_t seen = 0;
  if (!expect(p, '<', "after the layout's name") || !expect(p, '{', "after `<`"))
    return false;
  if (!accept(p, '}')) {
    do {
      const struct encoding_field *f = find_field(p, e->kind, word(p));
      if (!f || !expect(p, '=', "after the field's name"))
        return false;
      uint32_t bit = 1u << (f - encoding_fields);
      if (seen & bit)
        return fail(p, p->pos, "`%s` is given twice", f->name);
      seen |= bit;
      if (!parse_field(p, e, f, depth))
        return false;
    } while (accept(p, ','));
    if (!expect(p, '}', "or `,` after a field"))
      return false;
  }
  for (size_t i = 0; i < COUNT_OF(encoding_fields); i++) {
    const struct encoding_field *f = &encoding_fields[i];
    if (f->kind == e->kind && !f->optional && f->type != FIELD_BASES && !(seen >> i & 1))
      return fail(p, p->pos - 1, "`%s` needs the field `%s`", encoding_names[e->kind], f->name);
  }
  return expect(p, '>', "at the end of the layout");
}

// ---- encodings ----

// Defaults of fields that are missing: sizes of `linear`; the shape and one warp group of `mma`.
static bool complete(struct parser *p, struct encoding *e, size_t at) {
  if (e->kind == ENC_LINEAR) {
    if (e->rank == 0)
      return fail(p, at, "a `linear` layout needs at least one basis");
    for (unsigned i = 0; i < e->linear.in_count; i++)
      for (unsigned b = 0; b < e->linear.in_bits[i]; b++)
        for (unsigned d = 0; d < e->rank; d++) {
          uint32_t x = e->linear.basis[i][b][d];
          if (x != 0 && e->linear.out_bits[d] < log2_floor(x) + 1)
            e->linear.out_bits[d] = log2_floor(x) + 1;
        }
  }
  if (e->kind == ENC_MMA) {
    static const uint32_t usual[2][3] = {{16, 8, 0}, {16, 64, 16}};
    bool wgmma = e->mma.version == 3;
    if (e->mma.instr_shape[0] == 0)
      memcpy(e->mma.instr_shape, usual[wgmma], sizeof usual[0]);
    if (e->rank == 0) {
      e->rank = 2;
      e->mma.warps_per_cta[0] = wgmma ? 4 : 1;
      e->mma.warps_per_cta[1] = 1;
    }
  }
  if (e->kind == ENC_NVMMA_SHARED)
    e->rank = 2;
  const char *problem = encoding_problem(e);
  return !problem || fail(p, at, "%s", problem);
}

static struct encoding *parse_encoding(struct parser *p, unsigned depth) {
  skip_space(p);
  size_t at = p->pos;
  struct str rest = {p->text.ptr + at, p->text.len - at};
  if (str_starts(rest, "#tilegpu."))
    p->pos += strlen("#tilegpu.");
  size_t name_at = p->pos;
  struct str name = word(p);
  unsigned kind = 0;
  while (kind < COUNT_OF(encoding_names) && !str_is(name, encoding_names[kind]))
    kind++;
  if (kind == COUNT_OF(encoding_names)) {
    const char *near = str_nearest(name, encoding_names, COUNT_OF(encoding_names));
    if (name.len == 0)
      fail(p, name_at, "expected a layout: `blocked<{...}>`, `mma<{...}>`, ...");
    else if (near)
      fail(p, name_at, "unknown layout `%.*s`, did you mean `%s`?", STR_ARG(name), near);
    else
      fail(p, name_at, "unknown layout `%.*s`", STR_ARG(name));
    return NULL;
  }
  if (depth > MAX_DEPTH) {
    fail(p, at, "layouts are nested too deeply");
    return NULL;
  }
  struct encoding *e = arena_new(p->arena, struct encoding);
  e->kind = (enum encoding_kind)kind;
  return parse_fields(p, e, depth) && complete(p, e, at) ? e : NULL;
}

const struct encoding *encoding_parse_prefix(struct arena *a, struct str text, size_t *ret_used,
                                             const char **ret_error, size_t *ret_at) {
  struct parser p = {.arena = a, .text = text};
  const struct encoding *e = parse_encoding(&p, 0);
  if (!e) {
    *ret_error = p.error;
    *ret_at = p.error_at;
  }
  *ret_used = p.pos;
  return e;
}

const struct encoding *encoding_parse(struct arena *a, struct str text, const char **ret_error,
                                      size_t *ret_at) {
  size_t used;
  const struct encoding *e = encoding_parse_prefix(a, text, &used, ret_error, ret_at);
  if (!e)
    return NULL;
  struct parser p = {.arena = a, .text = text, .pos = used};
  skip_space(&p);
  if (p.pos == text.len)
    return e;
  *ret_error = "unexpected text after the layout";
  *ret_at = p.pos;
  return NULL;
}
