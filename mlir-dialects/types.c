// SPDX-License-Identifier: Apache-2.0
// Types: scalars, pointers, tensors with encodings. The parameter of a dynamic type cannot be read
// through the C API, so a table stores the pointee of each pointer type; for a type from parsed
// text it is read from its printed form, once.
#include "mlir-dialects/ir_internal.h"

#include <mlir-c/BuiltinTypes.h>

#include <assert.h>

static MlirType scalar_of_dtype(MlirContext m, enum dtype t) {
  switch (t) {
  case DTYPE_F8E5: return mlirFloat8E5M2TypeGet(m);
  case DTYPE_F8E4NV: return mlirFloat8E4M3FNTypeGet(m);
  case DTYPE_F16: return mlirF16TypeGet(m);
  case DTYPE_BF16: return mlirBF16TypeGet(m);
  case DTYPE_F32: return mlirF32TypeGet(m);
  case DTYPE_F64: return mlirF64TypeGet(m);
  default: return mlirIntegerTypeGet(m, dtype_bits(t));
  }
}

bool types_init(struct ir_context *c) {
  for (int t = 0; t < DTYPE_COUNT; t++)
    c->tables->scalars[t] = scalar_of_dtype(c->mlir, (enum dtype)t);
  MlirType ptr = mlirTypeParseGet(c->mlir, ref_of("!tile.ptr<i8>"));
  MlirType memdesc = mlirTypeParseGet(c->mlir, ref_of("!tilegpu.memdesc<i8>"));
  if (mlirTypeIsNull(ptr) || mlirTypeIsNull(memdesc))
    return false;
  c->tables->ptr.id = mlirTypeGetTypeID(ptr);
  c->tables->memdesc.id = mlirTypeGetTypeID(memdesc);
  return true;
}

MlirType mlir_of_dtype(struct ir_context *c, enum dtype t) { return c->tables->scalars[t]; }

// Signed and unsigned integers of one width are one type; f8e4b15 is i8 too.
enum dtype dtype_of_mlir(MlirType t) {
  if (mlirTypeIsAInteger(t)) {
    switch (mlirIntegerTypeGetWidth(t)) {
    case 1: return DTYPE_I1;
    case 8: return DTYPE_I8;
    case 16: return DTYPE_I16;
    case 32: return DTYPE_I32;
    case 64: return DTYPE_I64;
    default: return DTYPE_NONE;
    }
  }
  if (mlirTypeIsAF32(t))
    return DTYPE_F32;
  if (mlirTypeIsAF16(t))
    return DTYPE_F16;
  if (mlirTypeIsABF16(t))
    return DTYPE_BF16;
  if (mlirTypeIsAF64(t))
    return DTYPE_F64;
  if (mlirTypeIsAFloat8E5M2(t))
    return DTYPE_F8E5;
  if (mlirTypeIsAFloat8E4M3FN(t))
    return DTYPE_F8E4NV;
  return DTYPE_NONE;
}

// ---- text of types and attributes ----

void ir_print_callback(MlirStringRef text, void *strbuf) {
  strbuf_put_in_callback(strbuf, text.data, text.length);
}

static const char *text_of(struct ir_context *c, struct strbuf *b) {
  const char *text = arena_strdup(c->arena, strbuf_cstr(b));
  strbuf_finish(b);
  return text ? text : "";
}

const char *ir_type_text(struct ir_context *c, MlirType t) {
  struct strbuf b = {.arena = c->arena};
  mlirTypePrint(t, ir_print_callback, &b);
  return text_of(c, &b);
}

const char *ir_attr_text(struct ir_context *c, MlirAttribute a) {
  struct strbuf b = {.arena = c->arena};
  mlirAttributePrint(a, ir_print_callback, &b);
  return text_of(c, &b);
}

// The text between the first '<' and the last '>'.
static struct str between_angles(struct str text) {
  const char *open = memchr(text.ptr, '<', text.len);
  if (!open || !str_ends(text, ">"))
    return (struct str){NULL, 0};
  return (struct str){open + 1, (size_t)(text.ptr + text.len - open) - 2};
}

// ---- pointers and buffers: types with one parameter that is a type ----

static void remember(struct ir_context *c, struct wrapper *w, MlirType outer, MlirType inner) {
  // MLIR's handles are pointers to const, which the map stores without the const.
  ptrmap_put(c->arena, &w->outer_of, inner.ptr, (void *)(uintptr_t)outer.ptr);
  ptrmap_put(c->arena, &w->inner_of, outer.ptr, (void *)(uintptr_t)inner.ptr);
}

static MlirType wrap(struct ir_context *c, struct wrapper *w, const char *name, MlirType inner) {
  const void *known = ptrmap_get(&w->outer_of, inner.ptr);
  if (known)
    return (MlirType){known};
  const char *text = arena_printf(c->arena, "%s<%s>", name, ir_type_text(c, inner));
  MlirType outer = mlirTypeParseGet(c->mlir, ref_of(text));
  if (!mlirTypeIsNull(outer))
    remember(c, w, outer, inner);
  return outer;
}

static MlirType unwrap(struct ir_context *c, struct wrapper *w, MlirType outer) {
  const void *known = ptrmap_get(&w->inner_of, outer.ptr);
  if (known)
    return (MlirType){known};
  struct str inside = between_angles(str_from(ir_type_text(c, outer)));
  MlirType inner = mlirTypeParseGet(c->mlir, mlirStringRefCreate(inside.ptr, inside.len));
  if (!mlirTypeIsNull(inner))
    remember(c, w, outer, inner);
  return inner;
}

MlirType ptr_type(struct ir_context *c, MlirType pointee) {
  return wrap(c, &c->tables->ptr, "!tile.ptr", pointee);
}
bool type_is_ptr(struct ir_context *c, MlirType t) {
  return mlirTypeIDEqual(mlirTypeGetTypeID(t), c->tables->ptr.id);
}
MlirType ptr_pointee(struct ir_context *c, MlirType ptr) {
  assert(type_is_ptr(c, ptr));
  return unwrap(c, &c->tables->ptr, ptr);
}

MlirType memdesc_type(struct ir_context *c, MlirType tile) {
  return wrap(c, &c->tables->memdesc, "!tilegpu.memdesc", tile);
}
bool type_is_memdesc(struct ir_context *c, MlirType t) {
  return mlirTypeIDEqual(mlirTypeGetTypeID(t), c->tables->memdesc.id);
}
MlirType memdesc_tile(struct ir_context *c, MlirType memdesc) {
  assert(type_is_memdesc(c, memdesc));
  return unwrap(c, &c->tables->memdesc, memdesc);
}

// ---- tensors ----

bool type_is_tensor(MlirType t) { return mlirTypeIsARankedTensor(t); }

unsigned tensor_rank(MlirType t) {
  return type_is_tensor(t) ? (unsigned)mlirShapedTypeGetRank(t) : 0;
}

int64_t tensor_dim(MlirType t, unsigned i) {
  assert(i < tensor_rank(t));
  return mlirShapedTypeGetDimSize(t, i);
}

int64_t tensor_numel(MlirType t) {
  int64_t n = 1;
  for (unsigned i = 0, rank = tensor_rank(t); i < rank; i++)
    n *= tensor_dim(t, i);
  return n;
}

MlirType tensor_type(unsigned rank, const int64_t *shape, MlirType element,
                     MlirAttribute encoding) {
  return mlirRankedTensorTypeGet(rank, shape, element, encoding);
}

MlirType element_type(MlirType t) {
  return type_is_tensor(t) ? mlirShapedTypeGetElementType(t) : t;
}

MlirAttribute tensor_encoding(MlirType t) {
  return type_is_tensor(t) ? mlirRankedTensorTypeGetEncoding(t) : mlirAttributeGetNull();
}

// The shape of `t` with another element type and encoding.
static MlirType reshaped(MlirType t, MlirType element, MlirAttribute encoding) {
  int64_t shape[TENSOR_RANK_LIMIT];
  unsigned rank = tensor_rank(t);
  if (rank > COUNT_OF(shape))
    return (MlirType){NULL};
  for (unsigned i = 0; i < rank; i++)
    shape[i] = tensor_dim(t, i);
  return tensor_type(rank, shape, element, encoding);
}

MlirType type_with_element(MlirType t, MlirType element) {
  return type_is_tensor(t) ? reshaped(t, element, tensor_encoding(t)) : element;
}

MlirType type_with_encoding(MlirType t, MlirAttribute encoding) {
  return reshaped(t, element_type(t), encoding);
}

unsigned type_bits(struct ir_context *c, MlirType scalar) {
  if (type_is_ptr(c, scalar))
    return 64;
  if (mlirTypeIsAInteger(scalar))
    return mlirIntegerTypeGetWidth(scalar);
  enum dtype t = dtype_of_mlir(scalar);
  return t == DTYPE_NONE ? 0 : dtype_bits(t);
}

// ---- encodings, as far as this folder reads them ----

const struct encoding_text *encoding_text_of(struct ir_context *c, MlirAttribute a) {
  if (mlirAttributeIsNull(a))
    return NULL;
  struct encoding_text *known = ptrmap_get(&c->tables->encodings, a.ptr);
  if (known)
    return known;
  struct str text = str_from(ir_attr_text(c, a)), head;
  if (!str_starts(text, "#tilegpu."))
    return NULL;
  struct str inside = between_angles(text);
  str_split((struct str){text.ptr + 9, text.len - 9}, '<', &head);
  struct encoding_text *e = arena_new(c->arena, struct encoding_text);
  e->kind = arena_strndup(c->arena, head.ptr, head.len);
  e->parameters = mlirAttributeParseGet(c->mlir, mlirStringRefCreate(inside.ptr, inside.len));
  ptrmap_put(c->arena, &c->tables->encodings, a.ptr, e);
  return e;
}
