// SPDX-License-Identifier: Apache-2.0
// Walks from an address back to the values that it is computed from.
#include "lowering/cost/narrow_access.h"

#include "lowering/analysis/provenance.h"

#include <string.h>

enum { MOST_VALUES = 64 };

// Values that were reached, each once.
struct walk {
  MlirValue found[MOST_VALUES];
  size_t len;
};

static void reach(struct walk *w, MlirValue v) {
  for (size_t i = 0; i < w->len; i++)
    if (mlirValueEqual(w->found[i], v))
      return;
  if (w->len < MOST_VALUES)
    w->found[w->len++] = v;
}

// The name of the kernel's parameter that `v` is; NULL: it is none.
static const char *parameter_of(struct ir_context *c, struct arena *a, MlirOperation op,
                                MlirValue v) {
  if (!mlirValueIsABlockArgument(v))
    return NULL;
  MlirOperation owner = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v));
  return op_is(c, owner, OP_FUNC_FUNC)
             ? parameter_name(c, a, op, (int)mlirBlockArgumentGetArgNumber(v))
             : NULL;
}

static void add(struct arena *a, narrow_root_list *ret, struct narrow_root root) {
  for (size_t i = 0; i < ret->len; i++) {
    const struct narrow_root *r = &ret->at[i];
    if (r->kind == root.kind && mlirOperationEqual(r->load, root.load) &&
        (!root.parameter || strcmp(r->parameter, root.parameter) == 0))
      return;
  }
  vec_push(a, ret, root);
}

// Whether `v` is known to be a multiple of `wanted` elements; pointers count in bytes.
static bool is_multiple(struct ir_context *c, struct axis_analysis *axis, MlirValue v,
                        unsigned wanted, uint32_t bytes) {
  const struct axis_info *info = axis_info_of(axis, v);
  bool is_pointer = type_is_ptr(c, element_type(mlirValueGetType(v)));
  int64_t need = is_pointer ? (int64_t)wanted * bytes : wanted;
  for (unsigned d = 0; d < info->rank; d++)
    if (info->divisibility[d] && info->divisibility[d] < need && info->contiguity[d] < need)
      return false;
  return true;
}

void narrow_roots(struct ir_context *c, struct arena *a, struct axis_analysis *axis,
                  MlirOperation op, MlirValue v, unsigned wanted, uint32_t bytes,
                  narrow_root_list *ret) {
  struct walk w = {.found = {v}, .len = 1};
  for (size_t i = 0; i < w.len; i++) {
    const char *name = parameter_of(c, a, op, w.found[i]);
    if (name)
      add(a, ret,
          (struct narrow_root){.kind = NARROW_PARAMETER,
                               .parameter = name,
                               .is_pointer = type_is_ptr(c, mlirValueGetType(w.found[i]))});
    if (mlirValueIsABlockArgument(w.found[i]))
      continue;
    MlirOperation def = mlirOpResultGetOwner(w.found[i]);
    MlirType element = element_type(mlirValueGetType(w.found[i]));
    if (op_is(c, def, OP_TILE_LOAD)) {
      if (mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) > 1)
        add(a, ret, (struct narrow_root){.kind = NARROW_LOADED, .load = def});
      continue;
    }
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(def); k++)
      if (!is_multiple(c, axis, mlirOperationGetOperand(def, k), wanted, bytes))
        reach(&w, mlirOperationGetOperand(def, k));
  }
}

// The parameter that `v` repeats; NULL: it is another value.
static const char *repeated_parameter(struct ir_context *c, struct arena *a, MlirOperation op,
                                      MlirValue v) {
  while (!mlirValueIsABlockArgument(v)) {
    MlirOperation def = mlirOpResultGetOwner(v);
    if (mlirOperationGetNumOperands(def) != 1 || op_is(c, def, OP_TILE_LOAD))
      return NULL;
    v = mlirOperationGetOperand(def, 0);
  }
  return parameter_of(c, a, op, v);
}

static bool has_run(struct axis_analysis *axis, MlirValue v) {
  const struct axis_info *info = axis_info_of(axis, v);
  for (unsigned d = 0; d < info->rank; d++)
    if (info->contiguity[d] > 1)
      return true;
  return false;
}

void narrow_strides(struct ir_context *c, struct arena *a, struct axis_analysis *axis,
                    MlirOperation op, MlirValue v, narrow_root_list *ret) {
  struct walk w = {.found = {v}, .len = 1};
  for (size_t i = 0; i < w.len; i++) {
    if (mlirValueIsABlockArgument(w.found[i]))
      continue;
    MlirOperation def = mlirOpResultGetOwner(w.found[i]);
    if (op_is(c, def, OP_TILE_LOAD))
      continue;
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(def); k++) {
      MlirValue operand = mlirOperationGetOperand(def, k);
      reach(&w, operand);
      if (!op_is(c, def, OP_ARITH_MULI) || !has_run(axis, mlirOperationGetOperand(def, 1 - k)))
        continue;
      const char *name = repeated_parameter(c, a, op, operand);
      if (name)
        add(a, ret, (struct narrow_root){.kind = NARROW_STRIDE, .parameter = name});
    }
  }
}
