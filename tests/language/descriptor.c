// SPDX-License-Identifier: Apache-2.0
// Tensor descriptors: loads, stores, atomics, gather and scatter at offsets inside, across and
// outside of every edge of tensors of random shapes.
#include "tile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_RANK = 5, PLACES = 6 };

// A tensor in memory and a block of it.
struct view {
  struct tile block;
  int size[MAX_RANK], stride[MAX_RANK], offset[MAX_RANK];
};

static int draw_between(struct suite *s, int low, int high) {
  return low + (int)(random_bits(s) % (uint64_t)(high - low + 1));
}

// ---- drawing ----

// What is drawn before a case does not depend on the cases before it, which may be skipped.
static void seed(struct suite *s, unsigned variant, unsigned place) {
  s->random = 1000u * variant + place;
}

static struct tile draw_block(struct suite *s, enum dtype t, unsigned rank, unsigned variant) {
  struct tile b = {.rank = rank};
  seed(s, variant, PLACES);
  unsigned least = 16 / (unsigned)dtype_bytes(t), left = 64;
  for (unsigned i = 0; i < rank; i++) {
    unsigned n = 1u << random_bits(s) % 4;
    b.dim[i] = n < left ? n : left;
    left /= b.dim[i];
  }
  b.dim[rank - 1] = least << random_bits(s) % 3;
  return b;
}

// Around the block's size: less than a block, some blocks, a multiple.
static int draw_size(struct suite *s, unsigned block) {
  switch (random_bits(s) % 4) {
  case 0: return draw_between(s, 1, (int)block);
  case 1: return (int)block * draw_between(s, 1, 2);
  default: return draw_between(s, 1, 2 * (int)block + 3);
  }
}

static int round_up(int n, int to) { return (n + to - 1) / to * to; }

// Rows begin at multiples of 16 bytes; with or without space behind them.
static void draw_tensor(struct suite *s, enum dtype t, struct view *v) {
  unsigned rank = v->block.rank;
  int unit = 16 / (int)dtype_bytes(t), stride = 1;
  for (unsigned i = rank; i-- > 0;) {
    v->size[i] = draw_size(s, v->block.dim[i]);
    v->stride[i] = stride;
    stride = round_up(stride * v->size[i], unit) + unit * draw_between(s, 0, 1);
  }
}

// place 0: inside as far as the sizes allow; then across the low edges, across the high ones,
// beyond either, and each dimension for itself.
static int draw_offset(struct suite *s, int size, int block, unsigned place) {
  switch (place == PLACES - 1 ? random_bits(s) % (PLACES - 1) : place) {
  case 0: return draw_between(s, 0, size > block ? size - block : 0);
  case 1: return -draw_between(s, 0, block);
  case 2: return draw_between(s, size > block ? size - block : 0, size);
  case 3: return -block - draw_between(s, 0, 100000);
  default: return size + draw_between(s, 0, 100000);
  }
}

static struct view draw_view(struct suite *s, enum dtype t, struct tile block, unsigned place,
                             unsigned variant) {
  struct view v = {.block = block};
  seed(s, variant, place);
  draw_tensor(s, t, &v);
  for (unsigned i = 0; i < block.rank; i++)
    v.offset[i] = draw_offset(s, v.size[i], (int)block.dim[i], place);
  return v;
}

// Elements of the memory that the tensor spans.
static size_t span_of(const struct view *v) {
  size_t last = 0;
  for (unsigned i = 0; i < v->block.rank; i++)
    last += (size_t)(v->size[i] - 1) * (size_t)v->stride[i];
  return last + 1;
}

// Where the element of the block lies; -1: outside of the tensor.
static long position(const struct view *v, size_t linear) {
  unsigned index[TILE_RANK];
  long at = 0;
  tile_index(v->block, linear, index);
  for (unsigned i = 0; i < v->block.rank; i++) {
    int x = v->offset[i] + (int)index[i];
    if (x < 0 || x >= v->size[i])
      return -1;
    at += (long)x * v->stride[i];
  }
  return at;
}

// ---- kernels ----

// "m0, m1"
static const char *names(struct suite *s, const char *stem, unsigned n) {
  const char *text = "";
  for (unsigned i = 0; i < n; i++)
    text = arena_printf(s->arena, "%s%s%s%u", text, i ? ", " : "", stem, i);
  return text;
}

// Ways for a descriptor to reach its use; "$" is the call that makes it, `q` its base.
static const char *const ways[] = {
    "    d = $\n",
    "    d = make(q, $L)\n",
    "    d = tl.make_tensor_descriptor(q, [$M], [$S1], [$B]$P)\n"
    "    e = tl.make_tensor_descriptor(q, [$M], [$S1], [$B]$P)\n"
    "    for i in range(0, m0):\n"
    "        d, e = e, d\n",
    "    d = tl.make_tensor_descriptor(q, [0] * $R, [$S1], [$B]$P)\n"
    "    if m0 > 0:\n"
    "        d = $\n",
    "    pair = (q, $)\n"
    "    d = pair[1]\n",
};

static const char *replace(struct suite *s, const char *text, const char *what, const char *with) {
  for (const char *at; (at = strstr(text, what));)
    text = arena_printf(s->arena, "%.*s%s%s", (int)(at - text), text, with, at + strlen(what));
  return text;
}

// The parameters behind the arrays, and the statements that make `d` of `q`.
static void source_of_descriptor(struct suite *s, const struct view *v, const char *arrays,
                                 const char *padding, unsigned way) {
  unsigned rank = v->block.rank;
  const char *sizes = names(s, "m", rank), *strides = names(s, "s", rank - 1);
  const char *all_strides = rank > 1 ? arena_printf(s->arena, "%s, 1", strides) : "1";
  const char *option = padding[0] ? arena_printf(s->arena, ", padding_option=\"%s\"", padding) : "";
  const char *list = rank > 1 ? arena_printf(s->arena, "%s, %s", sizes, strides) : sizes;
  const char *make = "tl.make_tensor_descriptor(q, [$M], [$S1], [$B]$P)";
  const char *text = arena_printf(
      s->arena, "@jit\ndef make(q, $L):\n    return %s\n@jit\ndef k(%s, $L, %s):\n    q = x\n%s",
      make, arrays, names(s, "o", rank), ways[way % COUNT_OF(ways)]);
  text = replace(s, text, "$L", list);
  text = replace(s, text, "$M", sizes);
  text = replace(s, text, "$S1", all_strides);
  text = replace(s, text, "$R", arena_printf(s->arena, "%u", rank));
  make = replace(s, replace(s, make, "$M", sizes), "$S1", all_strides);
  text = replace(s, text, "$B", tile_text(s, v->block));
  text = replace(s, text, "$P", option);
  make = replace(s, replace(s, make, "$B", tile_text(s, v->block)), "$P", option);
  case_source(s, "%s", replace(s, text, "$", make));
}

static void pass_view(struct suite *s, const struct view *v) {
  for (unsigned i = 0; i < v->block.rank; i++)
    case_int(s, v->size[i]);
  for (unsigned i = 0; i + 1 < v->block.rank; i++)
    case_int(s, v->stride[i]);
  for (unsigned i = 0; i < v->block.rank; i++)
    case_int(s, v->offset[i]);
}

static const char *view_text(struct suite *s, const struct view *v) {
  static char text[160];
  size_t n = 0;
  (void)s;
  for (unsigned i = 0; i < v->block.rank; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "%s%d+%u/%d", i ? " x " : "", v->offset[i],
                          v->block.dim[i], v->size[i]);
  return text;
}

// ---- loads and stores ----

static void load(struct suite *s, enum dtype t, const struct view *v, bool nan, unsigned variant) {
  if (!case_begin(s, "load %s %s of %s way %u warps=%u", nan ? "nan" : "zero", dtype_name(t),
                  view_text(s, v), variant % (unsigned)COUNT_OF(ways), 1u << variant % 4))
    return;
  source_of_descriptor(s, v, "x, out", nan ? "nan" : variant % 2 ? "zero" : "", variant);
  const char *offsets = names(s, "o", v->block.rank);
  case_source(
      s, variant % 3 ? "    t = d.load([%s])\n" : "    t = tl.load_tensor_descriptor(d, (%s,))\n",
      offsets);
  case_source(s,
              "    static_assert(t.dtype == d.dtype and t.type == d.block_type)\n"
              "    static_assert(t.shape == d.block_shape)\n"
              "    store(out + %s, t)\n",
              tile_offsets(s, v->block));
  case_warps(s, 1u << variant % 4);
  struct array *x = case_input(s, t, span_of(v)), *out = case_output(s, t, tile_count(v->block));
  array_draw(s, x, DRAW_FINITE);
  pass_view(s, v);
  if (case_run(s, 1))
    for (size_t i = 0; i < out->count; i++) {
      long at = position(v, i);
      struct num pad = nan ? num_float(t, (double)NAN) : num_number(t, 0);
      case_expect(s, out, i, at < 0 ? pad : array_get(x, (size_t)at), 0, 0);
    }
  case_end(s);
}

// What the block writes to each element of the memory: its index in the block, or -1.
static const long *writers(struct suite *s, const struct view *v) {
  size_t n = span_of(v);
  long *of = arena_array(s->arena, long, n);
  for (size_t i = 0; i < n; i++)
    of[i] = -1;
  for (size_t i = 0; i < tile_count(v->block); i++)
    if (position(v, i) >= 0)
      of[position(v, i)] = (long)i;
  return of;
}

static void store(struct suite *s, enum dtype t, enum dtype from, const struct view *v,
                  unsigned variant) {
  if (!case_begin(s, "store %s as %s to %s way %u warps=%u", dtype_name(from), dtype_name(t),
                  view_text(s, v), variant % (unsigned)COUNT_OF(ways), 1u << variant % 4))
    return;
  source_of_descriptor(s, v, "x, y", "", variant);
  const char *offsets = names(s, "o", v->block.rank);
  case_source(s,
              variant % 3 ? "    d.store([%s], load(y + %s))\n"
                          : "    tl.store_tensor_descriptor(d, [%s], load(y + %s))\n",
              offsets, tile_offsets(s, v->block));
  case_warps(s, 1u << variant % 4);
  struct array *x = case_inout(s, t, span_of(v)), *y = case_input(s, from, tile_count(v->block));
  array_draw(s, x, DRAW_FINITE);
  array_draw(s, y, from == t ? DRAW_FINITE : DRAW_SMALL);
  pass_view(s, v);
  const long *of = writers(s, v);
  bool ran = case_run(s, 1);
  for (size_t i = 0; ran && i < x->count; i++)
    if (of[i] >= 0)
      case_expect(s, x, i, num_cast(array_get(y, (size_t)of[i]), t), 0, 0);
    else
      case_expect_untouched(s, x, i);
  case_end(s);
}

static void loads_and_stores(struct suite *s) {
  static const enum dtype types[] = {DTYPE_F16, DTYPE_I8,  DTYPE_F32,    DTYPE_I64, DTYPE_BF16,
                                     DTYPE_I32, DTYPE_F64, DTYPE_F8E4NV, DTYPE_U16, DTYPE_F8E5};
  unsigned variant = 0;
  for (size_t k = 0; k < COUNT_OF(types); k++)
    for (unsigned rank = 1; rank <= MAX_RANK; rank++, variant++) {
      enum dtype t = types[k];
      struct tile block = draw_block(s, t, rank, variant);
      for (unsigned place = 0; place < PLACES; place++) {
        struct view v = draw_view(s, t, block, place, 2 * variant);
        load(s, t, &v, false, variant);
      }
      for (unsigned place = 0; place < PLACES; place++) {
        struct view v = draw_view(s, t, block, place, 2 * variant + 1);
        store(s, t, t, &v, variant);
      }
      struct view v = draw_view(s, t, block, PLACES - 1, 2 * variant);
      if (dtype_is_float(t))
        load(s, t, &v, true, variant);
      if (dtype_bits(t) > 8)
        store(s, t, dtype_is_float(t) ? DTYPE_F32 : DTYPE_I32, &v, variant + 1);
    }
}

// ---- atomics ----

struct kind {
  const char *name, *types; // kinds of types
};
static const struct kind kinds[] = {{"add", "iuf"}, {"min", "iu"}, {"max", "iu"},
                                    {"and", "iu"},  {"or", "iu"},  {"xor", "iu"}};

static struct num apply(const char *kind, struct num a, struct num b) {
  uint64_t x = (uint64_t)a.i, y = (uint64_t)b.i;
  bool less = a.type == DTYPE_U64 ? x < y : a.i < b.i;
  if (dtype_is_float(a.type))
    return num_round(num_float(a.type, a.f + b.f));
  if (strcmp(kind, "min") == 0 || strcmp(kind, "max") == 0)
    return (kind[1] == 'i') == less ? a : b;
  return num_int(a.type, (int64_t)(strcmp(kind, "add") == 0   ? x + y
                                   : strcmp(kind, "and") == 0 ? x & y
                                   : strcmp(kind, "or") == 0  ? x | y
                                                              : x ^ y));
}

static void atomic(struct suite *s, const struct kind *k, enum dtype t, const struct view *v,
                   unsigned variant) {
  if (!case_begin(s, "atomic_%s %s to %s way %u warps=%u", k->name, dtype_name(t), view_text(s, v),
                  variant % (unsigned)COUNT_OF(ways), 1u << variant % 4))
    return;
  source_of_descriptor(s, v, "x, y", "", variant);
  case_source(s, "    d.atomic_%s([%s], load(y + %s))\n", k->name, names(s, "o", v->block.rank),
              tile_offsets(s, v->block));
  case_warps(s, 1u << variant % 4);
  struct array *x = case_inout(s, t, span_of(v)), *y = case_input(s, t, tile_count(v->block));
  array_draw(s, x, DRAW_SMALL);
  array_draw(s, y, DRAW_SMALL);
  pass_view(s, v);
  const long *of = writers(s, v);
  bool ran = case_run(s, 1);
  struct array before = *x;
  before.host = x->before;
  for (size_t i = 0; ran && i < x->count; i++)
    if (of[i] >= 0)
      case_expect(s, x, i, apply(k->name, array_get(&before, i), array_get(y, (size_t)of[i])), 0,
                  0);
    else
      case_expect_untouched(s, x, i);
  case_end(s);
}

static void atomics(struct suite *s) {
  static const enum dtype types[] = {DTYPE_I32, DTYPE_U32,  DTYPE_I64, DTYPE_U64,
                                     DTYPE_F16, DTYPE_BF16, DTYPE_F32, DTYPE_F64};
  unsigned variant = 0;
  for (size_t k = 0; k < COUNT_OF(kinds); k++)
    for (size_t t = 0; t < COUNT_OF(types); t++, variant++) {
      if (!strchr(kinds[k].types, num_kind(types[t])))
        continue;
      struct tile block = draw_block(s, types[t], 1 + variant % MAX_RANK, variant);
      for (unsigned place = 0; place < PLACES; place++) {
        struct view v = draw_view(s, types[t], block, place, variant);
        atomic(s, &kinds[k], types[t], &v, variant);
      }
    }
}

// ---- rows ----

// Different rows, some below and above the tensor's.
static void draw_rows(struct suite *s, struct array *rows, int size) {
  int low = -draw_between(s, 0, 3), count = size - low + draw_between(s, 0, 3);
  int least = (int)rows->count;
  int *all = arena_array(s->arena, int, (size_t)(count > least ? count : least));
  if (count < least)
    count = least;
  for (int i = 0; i < count; i++)
    all[i] = low + i;
  for (int i = 0; i < least; i++) {
    int with = draw_between(s, i, count - 1), row = all[with];
    all[with] = all[i];
    all[i] = row;
    array_set(rows, (size_t)i, num_int(DTYPE_I32, row));
  }
}

static void rows(struct suite *s, enum dtype t, bool scatter, unsigned count, unsigned columns,
                 unsigned place, unsigned variant) {
  struct view v = {.block = TILE(1, columns)};
  seed(s, variant, place);
  draw_tensor(s, t, &v);
  v.size[0] = draw_between(s, 1, 2 * (int)count);
  v.offset[1] = draw_offset(s, v.size[1], (int)columns, place);
  if (!case_begin(s, "%s %s %ux%u at %d of %dx%d warps=%u", scatter ? "scatter" : "gather",
                  dtype_name(t), count, columns, v.offset[1], v.size[0], v.size[1],
                  1u << variant % 4))
    return;
  struct tile tile = TILE(count, columns);
  source_of_descriptor(s, &v, "x, y, rows", variant % 2 || !dtype_is_float(t) ? "zero" : "nan",
                       variant);
  case_source(s, "    r = load(rows + arange(0, %u))\n", count);
  case_source(
      s, scatter ? "    d.scatter(load(y + %s), r, o1)\n" : "    store(y + %s, d.gather(r, o1))\n",
      tile_offsets(s, tile));
  case_warps(s, 1u << variant % 4);
  size_t n = tile_count(tile);
  struct array *x = scatter ? case_inout(s, t, span_of(&v)) : case_input(s, t, span_of(&v));
  struct array *y = scatter ? case_input(s, t, n) : case_output(s, t, n);
  struct array *at = case_input(s, DTYPE_I32, count);
  array_draw(s, x, DRAW_FINITE);
  if (scatter)
    array_draw(s, y, DRAW_FINITE);
  draw_rows(s, at, v.size[0]);
  pass_view(s, &v);
  long *of = arena_array(s->arena, long, x->count);
  memset(of, -1, x->count * sizeof *of);
  bool nan = variant % 2 == 0 && dtype_is_float(t), ran = case_run(s, 1);
  for (size_t i = 0; ran && i < n; i++) {
    v.offset[0] = (int)array_get(at, i / columns).i;
    long from = position(&v, i % columns);
    struct num pad = nan ? num_float(t, (double)NAN) : num_number(t, 0);
    if (!scatter)
      case_expect(s, y, i, from < 0 ? pad : array_get(x, (size_t)from), 0, 0);
    else if (from >= 0)
      of[from] = (long)i;
  }
  for (size_t i = 0; ran && scatter && i < x->count; i++)
    if (of[i] >= 0)
      case_expect(s, x, i, array_get(y, (size_t)of[i]), 0, 0);
    else
      case_expect_untouched(s, x, i);
  case_end(s);
}

static void gathers_and_scatters(struct suite *s) {
  static const enum dtype types[] = {DTYPE_F16, DTYPE_I8, DTYPE_F32, DTYPE_I64};
  unsigned variant = 0;
  for (size_t k = 0; k < COUNT_OF(types); k++)
    for (unsigned count = 8; count <= 32; count *= 2, variant++) {
      unsigned columns = 32 / (unsigned)dtype_bytes(types[k]) << variant % 3;
      for (unsigned place = 0; place < PLACES; place++)
        for (int scatter = 0; scatter < 2; scatter++)
          rows(s, types[k], scatter, count, columns, place, variant);
    }
}

void family_descriptor(struct suite *s) {
  loads_and_stores(s);
  atomics(s);
  gathers_and_scatters(s);
}
