// SPDX-License-Identifier: Apache-2.0
// Shared by the checks of verify_*.c: the op under check, and one function per requirement. A
// function that returns false has reported why.
#ifndef TILE_MLIR_DIALECTS_VERIFY_NEEDS_H
#define TILE_MLIR_DIALECTS_VERIFY_NEEDS_H

#include "mlir-dialects/ir_internal.h"

// Allowed values of the attributes `sem` and `scope` of atomics.
#define MEMORY_SEMS "relaxed acquire release acq_rel"
#define MEMORY_SCOPES "cta gpu sys"

struct checked {
  struct ir_context *c;
  MlirOperation op;
  enum op_id id;
};

// Reports an error of the op: its name, then the text. Always false.
bool wrong(struct checked *k, const char *fmt, ...) PRINTF(2, 3);

static inline intptr_t operand_count(struct checked *k) {
  return mlirOperationGetNumOperands(k->op);
}
static inline intptr_t result_count(struct checked *k) { return mlirOperationGetNumResults(k->op); }
static inline MlirType operand_type(struct checked *k, intptr_t i) {
  return mlirValueGetType(mlirOperationGetOperand(k->op, i));
}
static inline MlirType result_type_at(struct checked *k, intptr_t i) {
  return mlirValueGetType(mlirOperationGetResult(k->op, i));
}
static inline MlirType result_type(struct checked *k) { return result_type_at(k, 0); }
static inline const char *text(struct checked *k, MlirType t) { return ir_type_text(k->c, t); }

// ---- attributes ----
bool want_i32(struct checked *k, const char *name, int64_t *ret);
bool want_bool(struct checked *k, const char *name);
bool want_str(struct checked *k, const char *name);
// The string is one of `words`, separated by blanks.
bool want_word(struct checked *k, const char *name, const char *words);
bool want_word_or_none(struct checked *k, const char *name, const char *words); // "" too

// ---- types ----
bool is_float_type(MlirType t); // of the element, for tiles
bool is_int_type(MlirType t);
bool is_ptr_type(struct checked *k, MlirType t);
// Both scalars, or tiles of one shape and layout; element types may differ.
bool want_same_form(struct checked *k, MlirType a, MlirType b);
bool want_equal(struct checked *k, MlirType a, MlirType b);
bool want_element(struct checked *k, MlirType t, MlirType element);
bool want_mask(struct checked *k, MlirType mask, MlirType like);
// `value` has the pointee type of `ptr`.
bool want_pointee(struct checked *k, MlirType ptr, MlirType value);
// The layout `slice` is the slice of `parent` along `axis`; both may be null.
bool is_slice_of(struct checked *k, MlirAttribute slice, int64_t axis, MlirAttribute parent);
// A tile or memdesc within the size limits.
bool check_type(struct checked *k, MlirType t);

// verify_descriptor.c: accesses through tensor descriptors.
bool check_descriptor(struct checked *k);
// verify_shared.c: matrix products, shared memory.
bool check_shared(struct checked *k);
// verify_ring.c: rings of buffers, accesses through tensor maps.
bool check_ring(struct checked *k);
// verify_collective.c: collective ops, calls, inline assembly and device queries.
bool check_collective(struct checked *k);
bool check_map(struct checked *k);
bool check_inline_asm(struct checked *k);

#endif
