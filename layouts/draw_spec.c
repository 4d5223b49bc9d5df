// SPDX-License-Identifier: Apache-2.0
// What a user types after --layout: an encoding or a short name, a shape, an element type.
#include "base/dtype.h"
#include "layouts/draw.h"
#include "layouts/encoding_internal.h"

enum { DRAW_LIMIT = 64, SHAPE_LIMIT = 1 << 24 };

struct spec {
  struct arena *arena;
  struct str text;
  size_t pos, shape_at; // shape_at: 0 when the shape is the tile's own
  const char *error;
  size_t error_at;
  const struct encoding *encoding;
  unsigned rank;
  int64_t shape[LL_MAX_OUT];
  unsigned element_bits; // 0: none
  bool by_thread;
};

static bool fail(struct spec *s, size_t at, const char *error) {
  if (!s->error) {
    s->error = error;
    s->error_at = at;
  }
  return false;
}

static struct str next_word(struct spec *s) {
  while (s->pos < s->text.len && strchr(" \t\r\n", s->text.ptr[s->pos]))
    s->pos++;
  size_t begin = s->pos;
  while (s->pos < s->text.len && !strchr(" \t\r\n", s->text.ptr[s->pos]))
    s->pos++;
  return (struct str){s->text.ptr + begin, s->pos - begin};
}

// ---- short names ----

// `%u` of a template is k_width or the element's bits.
struct short_name {
  const char *name, *text;
  enum { PLAIN, BY_WIDTH, BY_BITS } fill;
};

static const struct short_name short_names[] = {
    {"mma_v2", "mma<{version = 2}>", PLAIN},
    {"mma_v3", "mma<{version = 3, instr_shape = [16, 8, 16], warps_per_cta = [4, 1]}>", PLAIN},
    {"dot_a_v2", "dot_op<{op_idx = 0, parent = mma<{version = 2}>, k_width = %u}>", BY_WIDTH},
    {"dot_b_v2", "dot_op<{op_idx = 1, parent = mma<{version = 2}>, k_width = %u}>", BY_WIDTH},
    {"dot_a_v3", "dot_op<{op_idx = 0, parent = mma<{version = 3}>, k_width = %u}>", BY_WIDTH},
    {"nvmma_32b", "nvmma_shared<{swizzle = 32, transposed = false, element_bits = %u}>", BY_BITS},
    {"nvmma_64b", "nvmma_shared<{swizzle = 64, transposed = false, element_bits = %u}>", BY_BITS},
    {"nvmma_128b", "nvmma_shared<{swizzle = 128, transposed = false, element_bits = %u}>", BY_BITS},
};

static const struct short_name *find_short_name(struct str name) {
  for (size_t i = 0; i < COUNT_OF(short_names); i++)
    if (str_is(name, short_names[i].name))
      return &short_names[i];
  return NULL;
}

// The template itself is valid; an error is one of the element type.
static bool expand_short_name(struct spec *s, const struct short_name *n) {
  unsigned bits = s->element_bits ? s->element_bits : 16;
  const char *text = n->text;
  const char *hole = strstr(text, "%u");
  if (hole)
    text = arena_printf(s->arena, "%.*s%u%s", (int)(hole - text), text,
                        n->fill == BY_BITS ? bits
                        : bits >= 32       ? 1
                                           : 32 / bits,
                        hole + 2);
  const char *error;
  size_t at;
  s->encoding = encoding_parse(s->arena, str_from(text), &error, &at);
  return s->encoding || fail(s, 0, error);
}

// ---- shape and type ----

// 16x8, 16 or [16, 8].
static bool parse_shape(struct spec *s) {
  bool brackets = s->text.ptr[s->pos] == '[';
  size_t at = s->pos, end = at + brackets;
  while (end < s->text.len &&
         (brackets ? s->text.ptr[end] != ']' : !strchr(" \t\r\n", s->text.ptr[end])))
    end++;
  if (brackets && end == s->text.len)
    return fail(s, at, "expected `]` at the end of the shape");
  struct str rest = {s->text.ptr + at + brackets, end - at - brackets};
  s->pos = end + brackets;
  s->rank = 0;
  while (rest.ptr) {
    struct str head;
    rest = str_split(rest, brackets ? ',' : 'x', &head);
    uint64_t size;
    if (s->rank == LL_MAX_OUT)
      return fail(s, at, "a tensor has at most 8 dimensions");
    if (!str_to_u64(str_trim(head), &size) || size == 0 || size > SHAPE_LIMIT)
      return fail(s, at, "a shape is sizes with `x` between them: `16x8`");
    s->shape[s->rank++] = (int64_t)size;
  }
  return true;
}

static bool parse_rest(struct spec *s) {
  struct str w;
  bool has_shape = false, has_type = false;
  while ((w = next_word(s)).len != 0) {
    size_t at = s->pos - w.len;
    enum dtype t;
    if (!has_shape && !has_type && ((w.ptr[0] >= '0' && w.ptr[0] <= '9') || w.ptr[0] == '[')) {
      s->pos = at;
      has_shape = true;
      s->shape_at = at;
      if (!parse_shape(s))
        return false;
    } else if (!has_type && dtype_parse(w, &t)) {
      s->element_bits = dtype_bytes(t) * 8;
      has_type = true;
    } else if (str_is(w, "threads")) {
      s->by_thread = true;
    } else {
      return fail(s, at,
                  arena_printf(s->arena,
                               "`%.*s` is no shape (`16x8`), element type (`f16`) or "
                               "`threads`",
                               STR_ARG(w)));
    }
  }
  return true;
}

// One tile of an encoding, for specs without a shape.
static unsigned tile_of(const struct encoding *e, int64_t *shape) {
  unsigned rank = e->rank;
  for (unsigned d = 0; d < rank; d++)
    shape[d] = 1;
  switch (e->kind) {
  case ENC_BLOCKED:
    for (unsigned d = 0; d < rank; d++)
      shape[d] = (int64_t)e->blocked.size_per_thread[d] * e->blocked.threads_per_warp[d] *
                 e->blocked.warps_per_cta[d];
    break;
  case ENC_SLICE: {
    int64_t full[LL_MAX_OUT];
    tile_of(e->slice.parent, full);
    for (unsigned d = 0; d < rank; d++)
      shape[d] = full[d < e->slice.dim ? d : d + 1];
    break;
  }
  case ENC_LINEAR:
    for (unsigned d = 0; d < rank; d++)
      shape[d] = (int64_t)1 << e->linear.out_bits[d];
    break;
  case ENC_MMA:
    for (unsigned d = 0; d < rank; d++)
      shape[d] = e->mma.warps_per_cta[d];
    shape[rank - 2] *= e->mma.instr_shape[0];
    shape[rank - 1] *= e->mma.instr_shape[1];
    break;
  case ENC_DOT_OP: {
    unsigned k_dim = e->dot.op_idx == 0 ? rank - 1 : rank - 2;
    tile_of(e->dot.parent, shape);
    shape[k_dim] = e->dot.parent->kind == ENC_MMA ? 8 * e->dot.k_width : 8;
    break;
  }
  case ENC_SHARED:
    shape[e->shared.order[0]] = (int64_t)e->shared.vec * e->shared.max_phase;
    if (rank > 1)
      shape[e->shared.order[1]] = (int64_t)e->shared.per_phase * e->shared.max_phase;
    break;
  case ENC_NVMMA_SHARED: {
    int64_t line = (e->nvmma.swizzle ? e->nvmma.swizzle : 16) * 8 / e->nvmma.element_bits;
    shape[0] = e->nvmma.transposed ? line : 8;
    shape[1] = e->nvmma.transposed ? 8 : line;
    break;
  }
  }
  return rank;
}

// ---- JSON ----

static void print_shape(const struct spec *s, const char *separator, struct strbuf *out) {
  for (unsigned d = 0; d < s->rank; d++)
    strbuf_printf(out, "%s%lld", d ? separator : "", (long long)s->shape[d]);
}

// {"encoding": "...", "shape": [...], "element_bits": n, "bases": {"register": [[...]], ...}}: the
// whole layout; the element at an index is the xor of the bases of its bits.
static void draw_json(const struct spec *s, const struct linear_layout *l, struct strbuf *out) {
  strbuf_puts(out, "{\"encoding\": \"");
  encoding_print(s->encoding, out);
  strbuf_puts(out, "\", \"shape\": [");
  print_shape(s, ", ", out);
  strbuf_printf(out, "], \"element_bits\": %u, \"bases\": {", s->element_bits);
  for (unsigned i = 0; i < l->in_count; i++) {
    strbuf_printf(out, "%s\"%s\": [", i ? ", " : "", ll_in_name(l->in[i]));
    for (unsigned b = 0; b < l->in_bits[i]; b++) {
      strbuf_puts(out, b ? ", [" : "[");
      for (unsigned d = 0; d < l->out_count; d++)
        strbuf_printf(out, "%s%u", d ? ", " : "", l->basis[i][b][d]);
      strbuf_putc(out, ']');
    }
    strbuf_putc(out, ']');
  }
  strbuf_puts(out, "}}\n");
}

// ---- all together ----

static bool read_spec(struct spec *s) {
  size_t begin = 0;
  struct str first = next_word(s);
  if (first.len == 0)
    return fail(s, 0, "expected a layout: `mma_v2 16x8`, `blocked<{...}> 32x32`, ...");
  begin = s->pos - first.len;
  const struct short_name *name = find_short_name(first);
  if (!name) {
    size_t used, at;
    const char *error;
    struct str rest = {s->text.ptr + begin, s->text.len - begin};
    s->encoding = encoding_parse_prefix(s->arena, rest, &used, &error, &at);
    if (!s->encoding)
      return fail(s, begin + at, error);
    s->pos = begin + used;
  }
  if (!parse_rest(s) || (name && !expand_short_name(s, name)))
    return false;
  if (s->encoding->kind == ENC_NVMMA_SHARED)
    s->element_bits = s->encoding->nvmma.element_bits;
  if (s->element_bits == 0)
    s->element_bits = s->encoding->kind == ENC_SHARED || s->encoding->kind == ENC_DOT_OP ? 16 : 32;
  if (s->rank == 0)
    s->rank = tile_of(s->encoding, s->shape);
  return true;
}

bool layout_draw_spec(struct arena *a, const char *spec, enum draw_format format,
                      struct strbuf *out, const char **ret_error, size_t *ret_at) {
  struct spec s = {.arena = a, .text = str_from(spec)};
  struct linear_layout l;
  const char *why = NULL;
  bool fits = read_spec(&s) && (encoding_to_linear(s.encoding, s.rank, s.shape, &l, &why) ||
                                fail(&s, s.shape_at, why));
  if (!fits) {
    *ret_error = s.error;
    *ret_at = s.error_at;
    return false;
  }
  struct draw_options opt = {.element_bits = s.element_bits,
                             .max_rows = DRAW_LIMIT,
                             .max_cols = DRAW_LIMIT,
                             .by_thread = s.by_thread};
  switch (format) {
  case DRAW_JSON: draw_json(&s, &l, out); break;
  case DRAW_SVG: layout_draw_svg(&l, s.rank, s.shape, opt, out); break;
  case DRAW_TEXT:
    encoding_print(s.encoding, out);
    strbuf_putc(out, '\n');
    layout_draw_text(&l, s.rank, s.shape, opt, out);
    break;
  }
  return true;
}
