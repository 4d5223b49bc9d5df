// SPDX-License-Identifier: Apache-2.0
// Encodings as attributes. MLIR's C API can neither build nor read attributes of dynamic dialects,
// so both directions go through text; since MLIR uniques attributes and types, each is printed or
// parsed once per context.
#include "layouts/attr.h"

struct layout_cache {
  struct map attr_of_text;   // printed encoding -> attribute
  struct map encoding_of;    // attribute -> struct encoding, or &no_encoding
  struct map layout_of_type; // type -> struct linear_layout, or &no_layout
};

static const struct encoding no_encoding;
static const struct linear_layout no_layout;

static struct layout_cache *cache_of(struct ir_context *c) {
  if (!c->layouts)
    c->layouts = arena_new(c->arena, struct layout_cache);
  return c->layouts;
}

// The maps keep `void *`; what they point to is never written through it.
static void *unconst(const void *p) {
  union {
    const void *in;
    void *out;
  } u = {.in = p};
  return u.out;
}

static void append(MlirStringRef text, void *out) {
  strbuf_put_in_callback(out, text.data, text.length);
}

MlirAttribute encoding_attr(struct ir_context *c, const struct encoding *e) {
  struct layout_cache *cache = cache_of(c);
  struct strbuf text = {.arena = c->arena};
  encoding_print(e, &text);
  struct str key = {strbuf_cstr(&text), text.len};
  MlirAttribute a = {map_get(&cache->attr_of_text, key)};
  if (mlirAttributeIsNull(a)) {
    a = mlirAttributeParseGet(c->mlir, mlirStringRefCreate(key.ptr, key.len));
    if (!mlirAttributeIsNull(a))
      map_put(c->arena, &cache->attr_of_text, key, unconst(a.ptr));
  }
  strbuf_finish(&text);
  return a;
}

const struct encoding *encoding_of_attr(struct ir_context *c, MlirAttribute a) {
  if (mlirAttributeIsNull(a))
    return NULL;
  struct layout_cache *cache = cache_of(c);
  const struct encoding *e = ptrmap_get(&cache->encoding_of, a.ptr);
  if (!e) {
    struct strbuf text = {.arena = c->arena};
    mlirAttributePrint(a, append, &text);
    const char *error;
    size_t at;
    struct str s = {strbuf_cstr(&text), text.len};
    e = str_starts(s, "#tilegpu.") ? encoding_parse(c->arena, s, &error, &at) : NULL;
    strbuf_finish(&text);
    e = e ? e : &no_encoding;
    ptrmap_put(c->arena, &cache->encoding_of, a.ptr, unconst(e));
  }
  return e == &no_encoding ? NULL : e;
}

static const struct linear_layout *compute_linear(struct ir_context *c, MlirType tensor) {
  const struct encoding *e = encoding_of_attr(c, tensor_encoding(tensor));
  unsigned rank = tensor_rank(tensor);
  if (!e || rank > LL_MAX_OUT)
    return &no_layout;
  int64_t shape[LL_MAX_OUT];
  for (unsigned d = 0; d < rank; d++)
    shape[d] = tensor_dim(tensor, d);
  struct linear_layout l;
  const char *why;
  if (!encoding_to_linear(e, rank, shape, &l, &why))
    return &no_layout;
  return arena_dup(c->arena, &l, sizeof l, _Alignof(struct linear_layout));
}

const struct linear_layout *linear_of_type(struct ir_context *c, MlirType tensor) {
  if (mlirTypeIsNull(tensor) || !type_is_tensor(tensor))
    return NULL;
  struct layout_cache *cache = cache_of(c);
  const struct linear_layout *l = ptrmap_get(&cache->layout_of_type, tensor.ptr);
  if (!l) {
    l = compute_linear(c, tensor);
    ptrmap_put(c->arena, &cache->layout_of_type, tensor.ptr, unconst(l));
  }
  return l == &no_layout ? NULL : l;
}
