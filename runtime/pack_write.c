// SPDX-License-Identifier: Apache-2.0
// Writes packs: the tables one after the other, then the codes.
#include "base/sha256.h"
#include "runtime/pack.h"

struct writer {
  struct strbuf tables[PACK_TABLES];
  struct strbuf codes; // offsets count from the first code until finish()
  uint32_t counts[PACK_TABLES];
  uint32_t version;
};

// A pack has the oldest version that can hold it.
static void need_version(struct writer *w, uint32_t version) {
  w->version = w->version > version ? w->version : version;
}

static void put_u16(struct strbuf *b, uint32_t v) {
  strbuf_putc(b, (char)v);
  strbuf_putc(b, (char)(v >> 8));
}

static void put_u32(struct strbuf *b, uint32_t v) {
  char bytes[4] = {(char)v, (char)(v >> 8), (char)(v >> 16), (char)(v >> 24)};
  strbuf_put(b, bytes, sizeof bytes);
}

static void put_u64(struct strbuf *b, uint64_t v) {
  put_u32(b, (uint32_t)v);
  put_u32(b, (uint32_t)(v >> 32));
}

static void put_zeros(struct strbuf *b, size_t count) {
  while (count--)
    strbuf_putc(b, 0);
}

static size_t aligned(size_t n) { return (n + PACK_ALIGN - 1) / PACK_ALIGN * PACK_ALIGN; }

// Offset of `s` among the texts; equal texts are stored once.
static uint32_t text(struct writer *w, const char *s) {
  struct strbuf *b = &w->tables[PACK_TEXT];
  size_t n = strlen(s) + 1;
  for (size_t at = 0; at + n <= b->len; at += strlen(b->ptr + at) + 1)
    if (memcmp(b->ptr + at, s, n) == 0)
      return (uint32_t)at;
  strbuf_put(b, s, n);
  return (uint32_t)(b->failed ? 0 : b->len - n);
}

static uint32_t flags_of(const struct pack_code *c) {
  if (c->format == PACK_IMAGE)
    return (c->calls_programs ? PACK_CALLS_PROGRAMS : 0u) |
           (c->uses_collectives ? PACK_COLLECTIVES : 0u);
  uint32_t log2 = c->num_ctas ? (uint32_t)__builtin_ctz(c->num_ctas) : 0;
  return (c->launch_pdl ? PACK_LAUNCH_PDL : 0u) | log2 << PACK_CLUSTER_SHIFT;
}

// Offsets of codes count from the first code here; finish() adds its position.
static void add_code(struct writer *w, const struct pack_code *c) {
  struct strbuf *b = &w->tables[PACK_CODES];
  put_u32(b, text(w, c->symbol));
  put_u32(b, text(w, c->target));
  put_u32(b, (uint32_t)c->format);
  put_u32(b, c->capability);
  put_u32(b, c->is_specific);
  put_u32(b, c->shared_bytes);
  put_u32(b, c->registers);
  put_u32(b, c->spill_stores);
  if (c->maps || c->producer_warps)
    need_version(w, 2);
  if (c->launch_pdl || c->num_ctas)
    need_version(w, 3);
  if (c->format == PACK_IMAGE)
    need_version(w, 4);
  put_u32(b, c->maps ? text(w, c->maps) : 0);
  put_u16(b, c->producer_warps);
  put_u16(b, flags_of(c));
  put_zeros(&w->codes, aligned(w->codes.len) - w->codes.len);
  size_t at = w->codes.len;
  strbuf_put(&w->codes, c->bytes.ptr, c->bytes.len);
  if (c->format == PACK_PTX)
    strbuf_putc(&w->codes, 0);
  put_u64(b, at);
  put_u64(b, w->codes.len - at);
  struct sha256 h;
  uint8_t digest[32];
  sha256_init(&h);
  sha256_update(&h, strbuf_cstr(&w->codes) + (w->codes.failed ? 0 : at),
                w->codes.failed ? 0 : w->codes.len - at);
  sha256_final(&h, digest);
  strbuf_put(b, (const char *)digest, sizeof digest);
  w->counts[PACK_CODES]++;
}

static void add_variant(struct writer *w, const struct pack_kernel *k,
                        const struct pack_variant *v) {
  struct strbuf *b = &w->tables[PACK_VARIANTS];
  put_u32(b, w->counts[PACK_HINTS]);
  put_u32(b, w->counts[PACK_CODES]);
  put_u32(b, v->code_count);
  put_u32(b, v->num_warps);
  put_u32(b, v->num_stages);
  put_u32(b, 0);
  for (uint32_t i = 0; i < k->param_count; i++)
    put_u32(&w->tables[PACK_HINTS], v->hints[i]);
  w->counts[PACK_HINTS] += k->param_count;
  for (uint32_t i = 0; i < v->code_count; i++)
    add_code(w, &v->codes[i]);
  w->counts[PACK_VARIANTS]++;
}

// The second half of a parameter.
static void put_descriptor(struct writer *w, const struct kernel_param *param, struct strbuf *out) {
  uint32_t block = 0;
  for (uint32_t i = 0; i < param->descriptor_rank; i++)
    block |= (uint32_t)log2_floor(param->block[i]) << (PACK_BLOCK_BITS * i);
  strbuf_putc(out, (char)(param->descriptor_rank | (param->pads_nan ? PACK_DESCRIPTOR_NAN : 0u)));
  put_u32(out, param->divisible_by);
  put_u32(out, block);
  if (param->descriptor_rank)
    need_version(w, 3);
}

static void add_kernel(struct writer *w, const struct pack_kernel *k) {
  struct strbuf *b = &w->tables[PACK_KERNELS];
  put_u32(b, text(w, k->name));
  put_u32(b, text(w, k->source_name));
  put_u32(b, text(w, k->constants));
  put_u32(b, w->counts[PACK_PARAMS]);
  put_u32(b, k->param_count);
  put_u32(b, w->counts[PACK_VARIANTS]);
  put_u32(b, k->variant_count);
  put_u32(b, 0);
  for (uint32_t i = 0; i < k->param_count; i++) {
    struct strbuf *p = &w->tables[PACK_PARAMS];
    put_u32(p, text(w, k->params[i].name));
    strbuf_putc(p, (char)k->params[i].dtype);
    strbuf_putc(p, k->params[i].is_pointer);
    strbuf_putc(p, k->params[i].is_const);
    put_descriptor(w, &k->params[i], p);
  }
  w->counts[PACK_PARAMS] += k->param_count;
  for (uint32_t i = 0; i < k->variant_count; i++)
    add_variant(w, k, &k->variants[i]);
  w->counts[PACK_KERNELS]++;
}

// Adds the position of the first code to the offset of each.
static void move_codes(struct writer *w, uint64_t first) {
  for (uint32_t i = 0; i < w->counts[PACK_CODES]; i++) {
    uint8_t *field =
        (uint8_t *)w->tables[PACK_CODES].ptr + (size_t)i * PACK_CODE_BYTES + PACK_CODE_OFFSET;
    uint64_t at = pack_u64(field) + first;
    for (int b = 0; b < 8; b++)
      field[b] = (uint8_t)(at >> (8 * b));
  }
}

static void finish(struct writer *w, struct strbuf *out) {
  size_t index = PACK_HEADER_BYTES;
  for (int t = 0; t < PACK_TABLES; t++)
    index += w->tables[t].len;
  size_t first = w->counts[PACK_CODES] ? aligned(index) : index;
  move_codes(w, first);
  w->counts[PACK_TEXT] = (uint32_t)w->tables[PACK_TEXT].len;
  strbuf_put(out, PACK_MAGIC, 8);
  put_u32(out, w->version);
  put_u32(out, 0);
  put_u64(out, first + w->codes.len);
  put_u64(out, index);
  for (int t = 0; t < PACK_TABLES; t++)
    put_u32(out, w->counts[t]);
  put_u64(out, 0);
  if (out->failed)
    return;
  struct sha256 h;
  uint8_t digest[32];
  sha256_init(&h);
  sha256_update(&h, out->ptr, PACK_AT_SHA);
  for (int t = 0; t < PACK_TABLES; t++)
    sha256_update(&h, strbuf_cstr(&w->tables[t]), w->tables[t].len);
  sha256_final(&h, digest);
  strbuf_put(out, (const char *)digest, sizeof digest);
  for (int t = 0; t < PACK_TABLES; t++)
    strbuf_put(out, strbuf_cstr(&w->tables[t]), w->tables[t].len);
  put_zeros(out, first - index);
  strbuf_put(out, strbuf_cstr(&w->codes), w->codes.len);
}

void pack_write(const struct pack_kernel *kernels, uint32_t count, struct strbuf *out) {
  struct writer w = {.version = 1};
  strbuf_clear(out);
  text(&w, ""); // the text table is never empty
  for (uint32_t i = 0; i < count; i++)
    add_kernel(&w, &kernels[i]);
  bool failed = w.codes.failed;
  for (int t = 0; t < PACK_TABLES; t++)
    failed |= w.tables[t].failed;
  if (!failed)
    finish(&w, out);
  out->failed |= failed;
  for (int t = 0; t < PACK_TABLES; t++)
    strbuf_finish(&w.tables[t]);
  strbuf_finish(&w.codes);
}
