// SPDX-License-Identifier: Apache-2.0
// Global memory: neighbours as vectors, with masks; others as gathers and scatters. One element
// that a mask switches off is read from and written to bytes of the scratch that nobody reads,
// without a branch. Recursion is the algorithm: an access evaluates its pointers and mask.
#include "lowering/analysis/axis_info.h"
#include "lowering/processor/strips.h"

LLVMValueRef nowhere(struct strip_emitter *e) { return e->scratch; }

// ---- operands ----

static MlirValue optional(MlirOperation op, unsigned segment) {
  int32_t sizes[3] = {1, 0, 0};
  MlirAttribute a = op_attr(op, "operandSegmentSizes");
  if (mlirAttributeIsNull(a) || !mlirAttributeIsADenseI32Array(a))
    return (MlirValue){NULL};
  op_attr_i32_array(op, "operandSegmentSizes", 3, sizes);
  return sizes[segment] ? operand(op, segment == 2 ? (unsigned)(1 + sizes[1]) : 1)
                        : (MlirValue){NULL};
}

MlirValue load_mask(MlirOperation op) { return optional(op, 1); }

MlirValue load_other(MlirOperation op) { return optional(op, 2); }

MlirValue store_mask(MlirOperation op) {
  return mlirOperationGetNumOperands(op) > 2 ? operand(op, 2) : (MlirValue){NULL};
}

// NULL: always on.
static LLVMValueRef mask_of(struct strip_emitter *e, MlirValue mask, const struct position *p) {
  if (mlirValueIsNull(mask))
    return NULL;
  LLVMValueRef m = repeat(e, evaluate(e, mask, p), p->lanes);
  return m == LLVMConstAllOnes(LLVMTypeOf(m)) ? NULL : m;
}

static LLVMValueRef choose(struct strip_emitter *e, LLVMValueRef mask, LLVMValueRef on,
                           LLVMValueRef off) {
  return mask ? LLVMBuildSelect(e->b, mask, on, off, "") : on;
}

// ---- elements that are not neighbours ----

// Only the processor's own gathers and scatters take masks without branches.
static bool has_masked_gather(struct strip_emitter *e, LLVMTypeRef type) {
  return storage_bytes(e, type) >= 4;
}

LLVMValueRef gather_elements(struct strip_emitter *e, LLVMTypeRef type, LLVMValueRef pointers,
                             LLVMValueRef mask, LLVMValueRef otherwise) {
  unsigned lanes = lanes_of(pointers);
  LLVMTypeRef types[] = {vector_of(type, lanes), LLVMTypeOf(pointers)};
  LLVMValueRef all = LLVMConstAllOnes(LLVMVectorType(e->i1, lanes));
  bool masked = mask && has_masked_gather(e, type);
  if (mask && !masked)
    pointers = choose(e, mask, pointers, repeat(e, nowhere(e), lanes));
  LLVMValueRef other = masked ? otherwise : LLVMGetPoison(types[0]);
  LLVMValueRef args[] = {pointers, masked ? mask : all, other};
  LLVMValueRef v = call_intrinsic(e, "llvm.masked.gather", 2, types, 3, args);
  return mask && !masked ? choose(e, mask, v, otherwise) : v;
}

void scatter_elements(struct strip_emitter *e, LLVMValueRef pointers, LLVMValueRef mask,
                      LLVMValueRef stored) {
  unsigned lanes = lanes_of(pointers);
  LLVMTypeRef types[] = {LLVMTypeOf(stored), LLVMTypeOf(pointers)};
  LLVMValueRef all = LLVMConstAllOnes(LLVMVectorType(e->i1, lanes));
  bool masked = mask && has_masked_gather(e, scalar_type(stored));
  if (mask && !masked)
    pointers = choose(e, mask, pointers, repeat(e, nowhere(e), lanes));
  LLVMValueRef args[] = {stored, pointers, masked ? mask : all};
  call_intrinsic(e, "llvm.masked.scatter", 2, types, 3, args);
}

// ---- neighbours ----

static LLVMValueRef load_one(struct strip_emitter *e, LLVMTypeRef type, LLVMValueRef at,
                             LLVMValueRef mask, bool is_volatile) {
  LLVMValueRef v = LLVMBuildLoad2(e->b, type, choose(e, mask, at, nowhere(e)), "");
  LLVMSetAlignment(v, 1);
  LLVMSetVolatile(v, is_volatile);
  return v;
}

static LLVMValueRef load_neighbours(struct strip_emitter *e, LLVMTypeRef type, unsigned lanes,
                                    LLVMValueRef at, LLVMValueRef mask, LLVMValueRef otherwise) {
  LLVMTypeRef types[] = {LLVMVectorType(type, lanes), e->ptr};
  if (!mask) {
    LLVMValueRef v = LLVMBuildLoad2(e->b, types[0], at, "");
    LLVMSetAlignment(v, 1);
    return v;
  }
  LLVMValueRef args[] = {at, mask, otherwise};
  return call_intrinsic(e, "llvm.masked.load", 2, types, 3, args);
}

static void store_neighbours(struct strip_emitter *e, LLVMValueRef at, LLVMValueRef mask,
                             LLVMValueRef stored) {
  LLVMTypeRef types[] = {LLVMTypeOf(stored), e->ptr};
  if (!mask) {
    LLVMSetAlignment(LLVMBuildStore(e->b, stored, at), 1);
    return;
  }
  LLVMValueRef args[] = {stored, at, mask};
  call_intrinsic(e, "llvm.masked.store", 2, types, 3, args);
}

// ---- every second element ----

// The mask of `lanes` neighbours from element `first` on, of which those at even places are lanes.
static LLVMValueRef spread(struct strip_emitter *e, LLVMValueRef mask, unsigned first) {
  LLVMValueRef from[STRIP];
  unsigned lanes = lanes_of(mask);
  for (unsigned i = 0; i < lanes; i++) {
    bool is_lane = (first + i) % 2 == 0;
    from[i] = LLVMConstInt(e->i32, is_lane ? (first + i) / 2 : lanes, false);
  }
  return LLVMBuildShuffleVector(e->b, mask, LLVMConstNull(LLVMTypeOf(mask)),
                                LLVMConstVector(from, lanes), "");
}

// Two vectors; the second ends with the last lane, so that nothing behind it is read.
static LLVMValueRef load_alternate(struct strip_emitter *e, LLVMTypeRef type, unsigned lanes,
                                   LLVMValueRef at, LLVMValueRef mask, LLVMValueRef otherwise) {
  LLVMValueRef from[STRIP], none = LLVMConstNull(LLVMVectorType(type, lanes));
  LLVMValueRef last = index_constant(e, lanes - 1);
  LLVMValueRef end = LLVMBuildGEP2(e->b, type, at, &last, 1, "");
  LLVMValueRef low = load_neighbours(e, type, lanes, at, mask ? spread(e, mask, 0) : NULL, none);
  LLVMValueRef high =
      load_neighbours(e, type, lanes, end, mask ? spread(e, mask, lanes - 1) : NULL, none);
  for (unsigned i = 0; i < lanes; i++)
    from[i] = LLVMConstInt(e->i32, i < lanes / 2 ? 2 * i : 2 * i + 1, false);
  LLVMValueRef v = LLVMBuildShuffleVector(e->b, low, high, LLVMConstVector(from, lanes), "");
  return LLVMIsNull(otherwise) ? v : choose(e, mask, v, otherwise);
}

static bool alternate(struct strip_emitter *e, MlirValue ptr, const struct position *p) {
  int64_t step;
  return p->lanes >= 4 && p->lanes % 2 == 0 && p->lanes <= STRIP &&
         lane_step(e, ptr, p->lane, &step) && step == 2;
}

static struct position first_lane(const struct position *p) {
  struct position q = *p;
  q.lane = -1;
  q.lanes = 1;
  return q;
}

static bool are_neighbours(struct strip_emitter *e, MlirValue ptr, const struct position *p) {
  return axis_contiguity(e->axis, ptr, (unsigned)p->lane) >= (int64_t)p->lanes;
}

static bool are_equal(struct strip_emitter *e, MlirValue ptr, const struct position *p) {
  return axis_constancy(e->axis, ptr, (unsigned)p->lane) >= (int64_t)p->lanes;
}

// All lanes have one pointer: it is read once, if any of them is on.
static LLVMValueRef load_equal(struct strip_emitter *e, LLVMTypeRef type, unsigned lanes,
                               LLVMValueRef at, LLVMValueRef mask, LLVMValueRef otherwise) {
  LLVMValueRef any = NULL;
  if (mask) {
    LLVMTypeRef t = LLVMTypeOf(mask);
    any = call_intrinsic(e, "llvm.vector.reduce.or", 1, &t, 1, &mask);
  }
  LLVMValueRef v = repeat(e, load_one(e, type, at, any, false), lanes);
  return choose(e, mask, v, otherwise);
}

LLVMValueRef load_at(struct strip_emitter *e, MlirOperation op, const struct position *p) {
  MlirType element = element_type(mlirValueGetType(result(op, 0)));
  LLVMTypeRef type = storage_type(e, element), in_register = register_type(e, element);
  MlirValue ptr = operand(op, 0), other = load_other(op);
  LLVMValueRef mask = mask_of(e, load_mask(op), p), v;
  LLVMValueRef otherwise = LLVMConstNull(vector_of(type, p->lanes));
  if (mask && !mlirValueIsNull(other))
    otherwise = to_storage(e, repeat(e, evaluate(e, other, p), p->lanes));
  struct position q = first_lane(p);
  if (p->lanes == 1)
    v = choose(e, mask,
               load_one(e, type, evaluate(e, ptr, p), mask, op_attr_bool(op, "is_volatile")),
               otherwise);
  else if (are_neighbours(e, ptr, p))
    v = load_neighbours(e, type, p->lanes, evaluate(e, ptr, &q), mask, otherwise);
  else if (are_equal(e, ptr, p))
    v = load_equal(e, type, p->lanes, evaluate(e, ptr, &q), mask, otherwise);
  else if (alternate(e, ptr, p))
    v = load_alternate(e, type, p->lanes, evaluate(e, ptr, &q), mask, otherwise);
  else
    v = gather_elements(e, type, repeat(e, evaluate(e, ptr, p), p->lanes), mask, otherwise);
  return from_storage(e, v, in_register);
}

void store_at(struct strip_emitter *e, MlirOperation op, const struct position *p,
              LLVMValueRef value) {
  MlirValue ptr = operand(op, 0);
  LLVMValueRef mask = mask_of(e, store_mask(op), p);
  LLVMValueRef stored = to_storage(e, repeat(e, value, p->lanes));
  struct position q = first_lane(p);
  if (p->lanes == 1) {
    LLVMValueRef at = evaluate(e, ptr, p);
    LLVMSetAlignment(LLVMBuildStore(e->b, stored, choose(e, mask, at, nowhere(e))), 1);
  } else if (are_neighbours(e, ptr, p)) {
    store_neighbours(e, evaluate(e, ptr, &q), mask, stored);
  } else {
    scatter_elements(e, repeat(e, evaluate(e, ptr, p), p->lanes), mask, stored);
  }
}
