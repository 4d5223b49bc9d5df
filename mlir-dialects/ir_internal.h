// SPDX-License-Identifier: Apache-2.0
// What the files of mlir-dialects/ share and nobody else sees.
#ifndef TILE_MLIR_DIALECTS_IR_INTERNAL_H
#define TILE_MLIR_DIALECTS_IR_INTERNAL_H

#include "mlir-dialects/build.h"

#include <mlir-c/Diagnostics.h>

#define TENSOR_RANK_LIMIT 16 // of what the helpers handle; the language allows less

// The types !tile.ptr<T> or !tilegpu.memdesc<T>, both ways.
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

// An encoding as far as this folder reads it: which one it is and its dictionary.
struct encoding_text {
  const char *kind; // "blocked", "slice", ...
  MlirAttribute parameters;
};
// NULL when `a` is null or no attribute of tilegpu.
const struct encoding_text *encoding_text_of(struct ir_context *c, MlirAttribute a);

// Printing of MLIR things into a strbuf. Does not jump: strbuf_check afterwards, or strbuf_cstr.
void ir_print_callback(MlirStringRef text, void *strbuf);
const char *ir_type_text(struct ir_context *c, MlirType t); // on the arena
const char *ir_attr_text(struct ir_context *c, MlirAttribute a);

static inline MlirStringRef ref_of(const char *s) { return mlirStringRefCreate(s, strlen(s)); }
static inline struct str str_of_ref(MlirStringRef r) { return (struct str){r.data, r.length}; }

bool types_init(struct ir_context *c);

// Inserts a finished op where the builder stands.
MlirOperation build_insert(struct builder *b, MlirOperation op);
// An op with one result; answers it.
MlirValue build_value(struct builder *b, enum op_id id, size_t operand_count,
                      const MlirValue *operands, MlirType result, size_t attr_count,
                      const MlirNamedAttribute *attrs);

// verify_ops.c: the semantic checks of one op; reports what is wrong. False if anything was.
bool verify_op(struct ir_context *c, MlirOperation op);

#endif
