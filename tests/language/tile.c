// SPDX-License-Identifier: Apache-2.0
// Shapes of tiles, and kernels that load and store whole tiles.
#include "tile.h"

#include <stdio.h>

size_t tile_count(struct tile t) {
  size_t n = 1;
  for (unsigned i = 0; i < t.rank; i++)
    n *= t.dim[i];
  return n;
}

void tile_index(struct tile t, size_t linear, unsigned ret[TILE_RANK]) {
  for (unsigned i = t.rank; i-- > 0; linear /= t.dim[i])
    ret[i] = (unsigned)(linear % t.dim[i]);
}

size_t tile_linear(struct tile t, const unsigned index[TILE_RANK]) {
  size_t linear = 0;
  for (unsigned i = 0; i < t.rank; i++)
    linear = linear * t.dim[i] + index[i];
  return linear;
}

struct tile tile_without(struct tile t, unsigned axis) {
  struct tile r = {.rank = t.rank - 1};
  for (unsigned i = 0; i < r.rank; i++)
    r.dim[i] = t.dim[i + (i >= axis)];
  return r;
}

const char *tile_text(struct suite *s, struct tile t) {
  struct strbuf b = {0};
  for (unsigned i = 0; i < t.rank; i++)
    strbuf_printf(&b, "%s%u", i ? ", " : "", t.dim[i]);
  const char *text = arena_strdup(s->arena, strbuf_cstr(&b));
  strbuf_finish(&b);
  return text;
}

const char *tile_offsets(struct suite *s, struct tile t) {
  struct strbuf b = {0};
  size_t stride = tile_count(t);
  for (unsigned i = 0; i < t.rank; i++) {
    stride /= t.dim[i];
    strbuf_printf(&b, "%sarange(0, %u)", i ? " + " : "", t.dim[i]);
    for (unsigned k = 0; k < t.rank && t.rank > 1; k++)
      strbuf_printf(&b, "%s%s", k ? ", " : "[", k == i ? ":" : "None");
    strbuf_printf(&b, "%s * %zu", t.rank > 1 ? "]" : "", stride);
  }
  if (t.rank == 0)
    strbuf_printf(&b, "0");
  const char *text = arena_strdup(s->arena, strbuf_cstr(&b));
  strbuf_finish(&b);
  return text;
}

const char *tile_text_with(struct suite *s, const char *text, const char *dollar) {
  struct strbuf b = {0};
  for (; *text; text++)
    if (*text == '$')
      strbuf_puts(&b, dollar);
    else
      strbuf_putc(&b, *text);
  text = arena_strdup(s->arena, strbuf_cstr(&b));
  strbuf_finish(&b);
  return text;
}

void tile_kernel_source(struct suite *s, const struct tile_kernel *k) {
  static const char *const names[] = {"a", "b", "c"};
  case_source(s, "%s@jit\ndef k(", k->prelude ? k->prelude : "");
  for (unsigned i = 0; i < k->arity; i++)
    case_source(s, "x%u, ", i);
  case_source(s, "out):\n");
  for (unsigned i = 0; i < k->arity; i++)
    case_source(s, "    %s = load(x%u + %s)\n", names[i], i, tile_offsets(s, k->in[i]));
  case_source(s,
              "%s    r = %s\n"
              "    static_assert(r.dtype == tl.%s)\n"
              "    store(out + %s, r)\n",
              k->body ? k->body : "", k->expr, dtype_language_name(k->out_type),
              tile_offsets(s, k->out));
}

// ---- operations that move elements ----

static const enum dtype types[] = {DTYPE_F32, DTYPE_F16, DTYPE_I8, DTYPE_I64, DTYPE_I1};

static void rearrange_once(struct suite *s, const char *name, struct tile_kernel *k,
                           enum dtype type, unsigned warps, source_fn source,
                           const unsigned *param) {
  if (!case_begin(s, "%s %s warps=%u", name, dtype_name(type), warps))
    return;
  k->type[0] = k->type[1] = k->out_type = type;
  tile_kernel_source(s, k);
  case_warps(s, warps);
  struct array *in[2] = {NULL};
  for (unsigned i = 0; i < k->arity; i++) {
    in[i] = case_input(s, type, tile_count(k->in[i]));
    array_draw(s, in[i], DRAW_FINITE);
  }
  struct array *out = case_output(s, type, tile_count(k->out));
  if (case_run(s, 1))
    for (size_t i = 0; i < out->count; i++) {
      unsigned index[TILE_RANK], operand = 0;
      tile_index(k->out, i, index);
      size_t from = source(k, index, param, &operand);
      case_expect(s, out, i, array_get(in[operand], from), 0, 0);
    }
  case_end(s);
}

void rearrange(struct suite *s, const char *name, struct tile_kernel *k, source_fn source,
               const unsigned *param) {
  for (size_t t = 0; t < COUNT_OF(types); t++)
    rearrange_once(s, name, k, types[t], 1u << t % 4, source, param);
  rearrange_once(s, name, k, DTYPE_F32, 4, source, param);
  rearrange_once(s, name, k, DTYPE_BF16, 8, source, param);
}
