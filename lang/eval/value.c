// SPDX-License-Identifier: Apache-2.0
// Predicates of values, and names of types.
#include "lang/eval/consteval.h"

bool value_is_const(struct value v) {
  if (v.kind == VALUE_RT || v.kind == VALUE_POISON || v.kind == VALUE_ABSENT ||
      v.kind == VALUE_OPAQUE)
    return false;
  if (v.kind == VALUE_TUPLE)
    for (size_t i = 0; i < v.tuple.len; i++)
      if (!value_is_const(v.tuple.at[i]))
        return false;
  return true;
}

bool value_is_runtime(struct value v) {
  if (v.kind == VALUE_TUPLE)
    for (size_t i = 0; i < v.tuple.len; i++)
      if (value_is_runtime(v.tuple.at[i]))
        return true;
  return v.kind == VALUE_RT;
}

struct value value_of_shape(struct eval *e, struct type t) {
  struct value *at = arena_array(e->a, struct value, t.rank ? t.rank : 1);
  for (unsigned i = 0; i < t.rank; i++)
    at[i] = value_int(t.shape[i]);
  return value_tuple(at, t.rank);
}

bool host_dtype(const char *name, enum dtype *ret) {
  static const struct {
    const char *name;
    enum dtype dtype;
  } names[] = {{"half", DTYPE_F16},         {"float", DTYPE_F32},
               {"double", DTYPE_F64},       {"short", DTYPE_I16},
               {"int", DTYPE_I32},          {"long", DTYPE_I64},
               {"bool", DTYPE_I1},          {"bool_", DTYPE_I1},
               {"float8_e5m2", DTYPE_F8E5}, {"float8_e4m3fn", DTYPE_F8E4NV}};
  for (size_t i = 0; i < COUNT_OF(names); i++)
    if (strcmp(name, names[i].name) == 0)
      return *ret = names[i].dtype, true;
  return dtype_parse(str_from(name), ret);
}

bool is_foreign_type(struct str name) {
  return str_is(name, "float8e4b8") || str_is(name, "float8e5b16");
}

// ---- records ----

const struct record record_dict = {.kind = RECORD_DICT};
const struct record record_constexpr_type = {.kind = RECORD_CONSTEXPR_TYPE};

const char *record_name(const struct record *r) {
  switch (r->kind) {
  case RECORD_CLASS: return r->ast->name;
  case RECORD_DICT: return "dict";
  case RECORD_BLOCK_POINTER: return "block pointer";
  case RECORD_DESCRIPTOR: return "tensor descriptor";
  case RECORD_CONSTEXPR_TYPE: return "constexpr_type";
  }
  return "?";
}
