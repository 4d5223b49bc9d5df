// SPDX-License-Identifier: Apache-2.0
// Construction, comparison and names of the language's types, and the MLIR types they map to.
#include "lang/eval/eval_types.h"

#include <stdio.h>

struct type type_scalar(enum dtype t) {
  return (struct type){.dtype = t};
}

struct type type_pointer(enum dtype pointee) {
  return (struct type){.dtype = pointee, .ptr = 1};
}

struct type type_elem(struct type t) {
  t.rank = 0;
  memset(t.shape, 0, sizeof t.shape);
  return t;
}

struct type type_pointee(struct type t) {
  if (t.ptr)
    t.ptr--;
  t.is_const = false;
  return t;
}

struct type type_shaped(struct type elem, struct type shape_of) {
  elem.rank = shape_of.rank;
  memcpy(elem.shape, shape_of.shape, sizeof elem.shape);
  return elem;
}

struct type type_with_dtype(struct type t, enum dtype dtype) {
  t.dtype = dtype;
  t.ptr = 0;
  t.is_const = false;
  return t;
}

bool type_elem_eq(struct type a, struct type b) { return a.dtype == b.dtype && a.ptr == b.ptr; }

bool type_shape_eq(struct type a, struct type b) {
  return a.rank == b.rank && memcmp(a.shape, b.shape, a.rank * sizeof a.shape[0]) == 0;
}

bool type_eq(struct type a, struct type b) { return type_elem_eq(a, b) && type_shape_eq(a, b); }

int64_t type_numel(struct type t) {
  int64_t n = 1;
  for (unsigned i = 0; i < t.rank; i++)
    n *= t.shape[i];
  return n;
}

const char *type_name(struct type t, char buf[TYPE_NAME_SIZE]) {
  size_t n = 0;
  if (t.rank) {
    n += (size_t)snprintf(buf + n, TYPE_NAME_SIZE - n, "tile<");
    for (unsigned i = 0; i < t.rank; i++)
      n += (size_t)snprintf(buf + n, TYPE_NAME_SIZE - n, "%dx", t.shape[i]);
  }
  for (unsigned i = 0; i < t.ptr; i++)
    n += (size_t)snprintf(buf + n, TYPE_NAME_SIZE - n, "%sptr[",
                          t.is_const && i == 0 ? "const_" : "");
  n += (size_t)snprintf(buf + n, TYPE_NAME_SIZE - n, "%s", dtype_name(t.dtype));
  for (unsigned i = 0; i < t.ptr; i++)
    n += (size_t)snprintf(buf + n, TYPE_NAME_SIZE - n, "]");
  if (t.rank)
    snprintf(buf + n, TYPE_NAME_SIZE - n, ">");
  return buf;
}

const char *type_text(struct arena *a, struct type t) {
  char buf[TYPE_NAME_SIZE];
  return arena_strdup(a, type_name(t, buf));
}

// Booleans take a byte in memory, so a pointer to them is a pointer to i8 in the IR; load and
// store convert.
static MlirType elem_to_mlir(struct ir_context *c, struct type t) {
  if (!t.ptr)
    return mlir_of_dtype(c, t.dtype);
  MlirType r = mlir_of_dtype(c, t.dtype == DTYPE_I1 ? DTYPE_I8 : t.dtype);
  for (unsigned i = 0; i < t.ptr; i++)
    r = ptr_type(c, r);
  return r;
}

MlirType type_to_mlir(struct ir_context *c, struct type t) {
  MlirType elem = elem_to_mlir(c, t);
  if (!t.rank)
    return elem;
  int64_t shape[TYPE_MAX_RANK];
  for (unsigned i = 0; i < t.rank; i++)
    shape[i] = t.shape[i];
  return tensor_type(t.rank, shape, elem, (MlirAttribute){NULL});
}
