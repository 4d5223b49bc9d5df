// SPDX-License-Identifier: Apache-2.0
// Gathers within a warp: the bits of an element's lane and register that depend on the index and
// those that depend on the reader are separated. Each register that the index may name is a
// candidate; the reader selects one.
#include "lowering/analysis/gather_plan.h"

#include "layouts/attr.h"
#include "layouts/convert_plan.h"
#include "lowering/analysis/convert_scratch.h"

enum { OUT_REGISTER, OUT_LANE, OUT_WARP };

// Shuffles and selects per register of the result, beyond which shared memory is cheaper: a store
// and a load, addresses and two barriers shared by a few registers.
enum { MAX_CANDIDATES = 8, MAX_SHUFFLES = 32 };

static const struct linear_layout *layout(struct ir_context *c, MlirType t) {
  return type_is_tensor(t) ? linear_of_type(c, t) : NULL;
}

// The result's layout with coordinate 0 along the axis, in a tile of the source's shape.
static struct linear_layout column_of(const struct linear_layout *result,
                                      const struct linear_layout *source, unsigned axis) {
  struct linear_layout l = *result;
  l.out_bits[axis] = source->out_bits[axis];
  for (unsigned i = 0; i < l.in_count; i++)
    for (unsigned b = 0; b < l.in_bits[i]; b++)
      l.basis[i][b][axis] = 0;
  return l;
}

// Register bit b is a step of 2^b along the axis.
static struct linear_layout steps_along(const struct linear_layout *source, unsigned axis) {
  struct linear_layout l = ll_empty(source->out_count, source->out_bits);
  ll_add_in(&l, LL_REGISTER);
  for (unsigned b = 0; b < source->out_bits[axis]; b++) {
    uint32_t step[LL_MAX_OUT] = {0};
    step[axis] = 1u << b;
    ll_push_basis(&l, LL_REGISTER, step);
  }
  return l;
}

// Each thread finds the registers of `column` in one register, the same for all, of some lane of
// the same warp.
static bool stays_in_warp(const struct linear_layout *source_of) {
  for (unsigned i = 0; i < source_of->in_count; i++)
    for (unsigned b = 0; b < source_of->in_bits[i]; b++) {
      const uint32_t *at = source_of->basis[i][b];
      uint32_t own_warp = source_of->in[i] == LL_WARP ? 1u << b : 0;
      if (at[OUT_WARP] != own_warp || (source_of->in[i] != LL_REGISTER && at[OUT_REGISTER] != 0))
        return false;
    }
  return true;
}

static bool stays_in_lane(const struct gather_plan *p) {
  for (unsigned b = 0; b < p->axis_bits; b++)
    if (p->axis_lane[b])
      return false;
  for (unsigned i = 0; i < p->source_of.in_count; i++)
    for (unsigned b = 0; b < p->source_of.in_bits[i]; b++)
      if (p->source_of.basis[i][b][OUT_LANE] != (p->source_of.in[i] == LL_LANE ? 1u << b : 0))
        return false;
  return true;
}

// The registers of a lane among which an index chooses, as a power of two.
static unsigned candidate_bits(const struct gather_plan *p) {
  unsigned n = 0;
  for (unsigned b = 0; b < p->axis_bits; b++)
    n += p->axis_register[b] != 0;
  return n;
}

static bool plan_in_warp(const struct linear_layout *source, struct gather_plan *p) {
  struct convert_plan to_column, along;
  struct linear_layout steps = steps_along(source, p->axis);
  if (!convert_plan_make(source, &p->column, &to_column) || !stays_in_warp(&to_column.source_of) ||
      !convert_plan_make(source, &steps, &along))
    return false;
  p->source_of = to_column.source_of;
  int registers = ll_find_in(&along.source_of, LL_REGISTER);
  for (unsigned b = 0; b < p->axis_bits; b++) {
    const uint32_t *at = along.source_of.basis[registers][b];
    if (at[OUT_WARP])
      return false;
    p->axis_register[b] = at[OUT_REGISTER];
    p->axis_lane[b] = at[OUT_LANE];
  }
  p->own_lane = stays_in_lane(p);
  unsigned candidates = candidate_bits(p);
  unsigned shuffles = ll_in_size(&p->column, LL_REGISTER) << candidates;
  return candidates < 8 && 1u << candidates <= MAX_CANDIDATES &&
         (p->own_lane || shuffles <= MAX_SHUFFLES);
}

bool gather_plan_of(struct ir_context *c, MlirOperation op, struct gather_plan *ret) {
  const struct linear_layout *source = layout(c, mlirValueGetType(mlirOperationGetOperand(op, 0)));
  const struct linear_layout *result = layout(c, mlirValueGetType(mlirOperationGetResult(op, 0)));
  int64_t axis = op_attr_int(op, "axis", 0);
  if (!source || !result || axis < 0 || axis >= (int64_t)source->out_count)
    return false;
  *ret = (struct gather_plan){.axis = (unsigned)axis,
                              .axis_bits = source->out_bits[axis],
                              .column = column_of(result, source, (unsigned)axis)};
  ret->in_warp = plan_in_warp(source, ret);
  return true;
}

uint32_t gather_scratch_bytes(struct ir_context *c, MlirOperation op) {
  struct gather_plan p;
  MlirType source = mlirValueGetType(mlirOperationGetOperand(op, 0));
  if (!gather_plan_of(c, op, &p) || p.in_warp)
    return 0;
  return exchange_bytes(linear_of_type(c, source), memory_bits(c, element_type(source)));
}
