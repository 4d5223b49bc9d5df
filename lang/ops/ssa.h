// SPDX-License-Identifier: Apache-2.0
// Structured control flow in one pass. The body of a branch or loop is emitted into a block of its
// own before its scf operation exists; what the operation must carry is known exactly when the
// body is done, and only then it is built.
#ifndef TILE_LANG_OPS_SSA_H
#define TILE_LANG_OPS_SSA_H

#include "lang/ops/ops.h"

// Appends to `block` from now on.
void ssa_enter(struct eval *e, MlirBlock block);

// The run-time parts of a value in order: tuples may hold several.
void ssa_flatten(struct eval *e, struct value v, struct leaves *out);
// The same value with its leaves taken from `at`, from *k on.
struct value ssa_rebuild(struct eval *e, struct value v, const MlirValue *at, size_t *k);
// Numbers known at compile time as run-time values; everything else as it is.
struct value ssa_materialize(struct eval *e, struct value v, struct span at);
// A literal may take the type of a scalar that it meets on another path.
bool ssa_literal_adopts(struct value literal, struct type t);
// Appends the leaves of `x` in the form of `like`; false if it has another form.
bool ssa_match(struct eval *e, struct value like, struct operand x, struct leaves *out);
bool ssa_has_poison(struct value v);
// `v` has no value any more, because the values of `a` and `b` do not go together.
void ssa_set_mismatch(struct eval *e, struct variable *v, const struct variable *a,
                      const struct variable *b);

// An operation at b's place; each block becomes a region of its own.
MlirOperation ssa_make_op(struct builder *b, const char *name, size_t operand_count,
                          const MlirValue *operands, size_t result_count, const MlirType *results,
                          size_t block_count, MlirBlock *blocks);
const MlirType *ssa_types_of(struct eval *e, const struct leaves *l);

#endif
