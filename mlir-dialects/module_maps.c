// SPDX-License-Identifier: Apache-2.0
// The attribute `tile.maps` of a module.
#include "mlir-dialects/ir_internal.h"
#include "mlir-dialects/rings.h"

#include <mlir-c/BuiltinAttributes.h>

#include <stdlib.h>

static const char maps_name[] = "tile.maps";

// ---- expressions as words ----

static const char *const words[] = {
    [LAUNCH_ADD] = "add", [LAUNCH_SUB] = "sub", [LAUNCH_MUL] = "mul", [LAUNCH_DIV] = "div",
    [LAUNCH_REM] = "rem", [LAUNCH_MIN] = "min", [LAUNCH_MAX] = "max"};

static MlirAttribute text_of(struct ir_context *c, const struct launch_expr *e) {
  struct strbuf b = {.arena = c->arena};
  for (uint32_t i = 0; i < e->count; i++) {
    const struct launch_term *t = &e->terms[i];
    if (i)
      strbuf_putc(&b, ' ');
    if (t->op == LAUNCH_CONST)
      strbuf_printf(&b, "%lld", (long long)t->number);
    else if (t->op == LAUNCH_PARAM)
      strbuf_printf(&b, "p%lld", (long long)t->number);
    else
      strbuf_puts(&b, words[t->op]);
  }
  MlirAttribute text = attr_str(c, strbuf_cstr(&b));
  strbuf_finish(&b);
  return text;
}

static bool read_number(const char *word, int64_t *ret) {
  char *end;
  *ret = strtoll(word, &end, 10);
  return end != word && *end == 0;
}

static bool read_term(const char *word, struct launch_term *ret) {
  for (size_t i = LAUNCH_ADD; i < COUNT_OF(words); i++)
    if (str_is(str_from(word), words[i])) {
      *ret = (struct launch_term){.op = (enum launch_op)i};
      return true;
    }
  bool is_param = *word == 'p';
  ret->op = is_param ? LAUNCH_PARAM : LAUNCH_CONST;
  return read_number(word + is_param, &ret->number);
}

static bool read_expr(struct ir_context *c, MlirAttribute text, struct launch_expr *ret) {
  if (mlirAttributeIsNull(text) || !mlirAttributeIsAString(text))
    return false;
  MlirStringRef s = mlirStringAttrGetValue(text);
  *ret = (struct launch_expr){.terms = arena_array(c->arena, struct launch_term, LAUNCH_EXPR_MAX)};
  for (size_t at = 0; at < s.length;) {
    size_t end = at;
    while (end < s.length && s.data[end] != ' ')
      end++;
    if (ret->count == LAUNCH_EXPR_MAX ||
        !read_term(arena_strndup(c->arena, s.data + at, end - at), &ret->terms[ret->count++]))
      return false;
    at = end + 1;
  }
  return ret->count > 0;
}

// ---- maps ----

static MlirAttribute exprs(struct ir_context *c, uint32_t n, const struct launch_expr *e) {
  MlirAttribute at[KERNEL_MAP_RANK];
  for (uint32_t i = 0; i < n; i++)
    at[i] = text_of(c, &e[i]);
  return mlirArrayAttrGet(c->mlir, n, at);
}

static MlirAttribute attr_of_made_map(struct ir_context *c, const struct kernel_map *m,
                                      const int32_t *box) {
  MlirNamedAttribute a[] = {
      named_attr(c, "made", attr_i32(c, (int32_t)m->made)),
      named_attr(c, "dtype", attr_str(c, dtype_name(m->dtype))),
      named_attr(c, "box", attr_i32_array(c, m->rank, box)),
      named_attr(c, "swizzle", attr_i32(c, (int32_t)m->swizzle)),
      named_attr(c, "pads_nan", attr_bool(c, m->pads_nan)),
  };
  return mlirDictionaryAttrGet(c->mlir, COUNT_OF(a), a);
}

static MlirAttribute attr_of_map(struct ir_context *c, const struct kernel_map *m) {
  int32_t box[KERNEL_MAP_RANK];
  for (uint32_t i = 0; i < m->rank; i++)
    box[i] = (int32_t)m->box[i];
  if (m->made)
    return attr_of_made_map(c, m, box);
  MlirNamedAttribute a[] = {
      named_attr(c, "base", attr_i32(c, (int32_t)m->base)),
      named_attr(c, "dtype", attr_str(c, dtype_name(m->dtype))),
      named_attr(c, "offset", text_of(c, &m->offset)),
      named_attr(c, "sizes", exprs(c, m->rank, m->sizes)),
      named_attr(c, "strides", exprs(c, m->rank - 1, m->strides)),
      named_attr(c, "box", attr_i32_array(c, m->rank, box)),
      named_attr(c, "swizzle", attr_i32(c, (int32_t)m->swizzle)),
      named_attr(c, "pads_nan", attr_bool(c, m->pads_nan)),
  };
  return mlirDictionaryAttrGet(c->mlir, COUNT_OF(a), a);
}

static MlirAttribute element(MlirAttribute map, const char *name) {
  return mlirDictionaryAttrGetElementByName(map, mlirStringRefCreateFromCString(name));
}

static bool read_exprs(struct ir_context *c, MlirAttribute list, uint32_t n,
                       struct launch_expr *ret) {
  if (mlirAttributeIsNull(list) || !mlirAttributeIsAArray(list) ||
      mlirArrayAttrGetNumElements(list) != (intptr_t)n)
    return false;
  for (uint32_t i = 0; i < n; i++)
    if (!read_expr(c, mlirArrayAttrGetElement(list, i), &ret[i]))
      return false;
  return true;
}

static bool read_i32(MlirAttribute a, uint32_t *ret) {
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a))
    return false;
  *ret = (uint32_t)mlirIntegerAttrGetValueInt(a);
  return true;
}

static bool read_box(MlirAttribute a, struct kernel_map *ret) {
  if (mlirAttributeIsNull(a) || !mlirAttributeIsADenseI32Array(a))
    return false;
  intptr_t n = mlirDenseArrayGetNumElements(a);
  ret->rank = (uint32_t)n;
  if (n < 1 || n > KERNEL_MAP_RANK)
    return false;
  for (intptr_t i = 0; i < n; i++)
    ret->box[i] = (uint32_t)mlirDenseI32ArrayGetElement(a, i);
  return true;
}

static bool read_map(struct ir_context *c, MlirAttribute a, struct kernel_map *ret) {
  *ret = (struct kernel_map){.rank = 0};
  if (!mlirAttributeIsADictionary(a))
    return false;
  MlirAttribute dtype = element(a, "dtype"), nan = element(a, "pads_nan");
  if (mlirAttributeIsNull(dtype) || !mlirAttributeIsAString(dtype) || mlirAttributeIsNull(nan) ||
      !mlirAttributeIsABool(nan))
    return false;
  MlirStringRef name = mlirStringAttrGetValue(dtype);
  ret->pads_nan = mlirBoolAttrGetValue(nan);
  if (!dtype_parse((struct str){name.data, name.length}, &ret->dtype) ||
      !read_box(element(a, "box"), ret) || !read_i32(element(a, "swizzle"), &ret->swizzle))
    return false;
  if (!mlirAttributeIsNull(element(a, "made")))
    return read_i32(element(a, "made"), &ret->made) && ret->made > 0;
  return read_i32(element(a, "base"), &ret->base) &&
         read_expr(c, element(a, "offset"), &ret->offset) &&
         read_exprs(c, element(a, "sizes"), ret->rank, ret->sizes) &&
         read_exprs(c, element(a, "strides"), ret->rank - 1, ret->strides);
}

uint32_t module_map_count(MlirOperation module) {
  MlirAttribute all = op_attr(module, maps_name);
  return mlirAttributeIsNull(all) || !mlirAttributeIsAArray(all)
             ? 0
             : (uint32_t)mlirArrayAttrGetNumElements(all);
}

bool module_map(struct ir_context *c, MlirOperation module, uint32_t number,
                struct kernel_map *ret) {
  return number < module_map_count(module) &&
         read_map(c, mlirArrayAttrGetElement(op_attr(module, maps_name), number), ret);
}

uint32_t module_map_add(struct ir_context *c, MlirOperation module, const struct kernel_map *map) {
  uint32_t n = module_map_count(module);
  MlirAttribute *all = arena_array(c->arena, MlirAttribute, n + 1), added = attr_of_map(c, map);
  for (uint32_t i = 0; i < n; i++) {
    all[i] = mlirArrayAttrGetElement(op_attr(module, maps_name), i);
    if (mlirAttributeEqual(all[i], added))
      return i;
  }
  all[n] = added;
  mlirOperationSetAttributeByName(module, mlirStringRefCreateFromCString(maps_name),
                                  mlirArrayAttrGet(c->mlir, n + 1, all));
  return n;
}
