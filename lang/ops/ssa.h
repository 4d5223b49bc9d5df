// SPDX-License-Identifier: Apache-2.0
// Structured control flow in one pass. The body of a branch or loop is emitted into a detached
// block; the scf operation is built afterwards, when the values that it must carry are known.
#ifndef TILE_LANG_OPS_SSA_H
#define TILE_LANG_OPS_SSA_H

#include "lang/ops/ops.h"

// Operations built from now on are appended to `block`.
void ssa_enter(struct eval *e, MlirBlock block);

// The run-time leaves of a value in order: tuples may contain several.
void ssa_flatten(struct eval *e, struct value v, struct leaves *out);
// The same value with its leaves taken from `at`, from *k on.
struct value ssa_rebuild(struct eval *e, struct value v, const MlirValue *at, size_t *k);
// Compile-time numbers become run-time values; other values are unchanged.
struct value ssa_materialize(struct eval *e, struct value v, struct span at);
// A literal takes the type of the scalar that it is merged with.
bool ssa_literal_adopts(struct value literal, struct type t);
// Appends the leaves of `x`, converted to the structure of `like`; false if it differs.
bool ssa_match(struct eval *e, struct value like, struct operand x, struct leaves *out);
bool ssa_has_poison(struct value v);
// `v` loses its value, because the values of `a` and `b` cannot be merged.
void ssa_set_mismatch(struct eval *e, struct variable *v, const struct variable *a,
                      const struct variable *b);

// Builds an operation at b's insertion point; each block becomes a region.
MlirOperation ssa_make_op(struct builder *b, const char *name, size_t operand_count,
                          const MlirValue *operands, size_t result_count, const MlirType *results,
                          size_t block_count, MlirBlock *blocks);
const MlirType *ssa_types_of(struct eval *e, const struct leaves *l);

#endif
