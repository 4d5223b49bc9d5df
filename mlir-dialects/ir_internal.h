// SPDX-License-Identifier: Apache-2.0
// Declarations private to mlir-dialects/.
#ifndef TILE_MLIR_DIALECTS_IR_INTERNAL_H
#define TILE_MLIR_DIALECTS_IR_INTERNAL_H

#include "mlir-dialects/build.h"

#include <mlir-c/Diagnostics.h>

#define TENSOR_RANK_LIMIT 16 // of the helpers; the language's limit is lower

// The types !tile.ptr<T> or !tilegpu.memdesc<T>, in both directions.
struct wrapper {
  struct map outer_of, inner_of; // T -> the type, the type -> T
  MlirTypeID id;
};

struct ir_tables {
  struct map op_ids;    // identifier of an op name -> enum op_id
  struct map encodings; // encoding attribute -> struct encoding_text *
  struct wrapper ptr, memdesc;
  MlirType scalars[DTYPE_COUNT];
  MlirDiagnosticHandlerID handler;
};

// An encoding as this folder reads it: its kind and its dictionary.
struct encoding_text {
  const char *kind; // "blocked", "slice", ...
  MlirAttribute parameters;
};
// NULL if `a` is null or not an attribute of tilegpu.
const struct encoding_text *encoding_text_of(struct ir_context *c, MlirAttribute a);

// Printing of MLIR things into a strbuf. Does not jump: strbuf_check afterwards, or strbuf_cstr.
void ir_print_callback(MlirStringRef text, void *strbuf);
const char *ir_type_text(struct ir_context *c, MlirType t); // on the arena
const char *ir_attr_text(struct ir_context *c, MlirAttribute a);

static inline MlirStringRef ref_of(const char *s) { return mlirStringRefCreate(s, strlen(s)); }
static inline struct str str_of_ref(MlirStringRef r) { return (struct str){r.data, r.length}; }

bool types_init(struct ir_context *c);

// Inserts a finished op at the builder's insertion point.
MlirOperation build_insert(struct builder *b, MlirOperation op);
// Creates an op with one result, which is returned.
MlirValue build_value(struct builder *b, enum op_id id, size_t operand_count,
                      const MlirValue *operands, MlirType result, size_t attr_count,
                      const MlirNamedAttribute *attrs);

// verify_ops.c: the semantic checks of one op. False, and reported, if one fails.
bool verify_op(struct ir_context *c, MlirOperation op);

#endif
