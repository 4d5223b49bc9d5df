// SPDX-License-Identifier: Apache-2.0
// The compiler's interface to MLIR: one context per session, op lookup, types, attributes, walking
// and rewriting. A thin layer: MLIR handles stay visible.
#ifndef TILE_MLIR_DIALECTS_IR_H
#define TILE_MLIR_DIALECTS_IR_H

#include "base/diag.h"
#include "base/dtype.h"
#include "base/map.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/IR.h>

// Flags of the op table.
enum op_flags {
  OP_PURE = 1,
  OP_READ = 2,
  OP_WRITE = 4,
  OP_EW = 8,
  OP_ANCHOR = 16,
  OP_TERM = 32,
  OP_REGION = 64,
  OP_EFFECT = 128
};

enum op_id {
  OP_UNKNOWN,
#define OP(id, name, flags, doc) OP_##id,
#include "mlir-dialects/ops.def"
#undef OP
  OP_ID_COUNT
};

struct op_info {
  const char *name;
  unsigned flags;
  const char *doc;
};

// One compilation session's IR state. Owns the MLIR context (threading off; only arith, math, scf,
// func, irdl and our dialects are registered). Not thread-safe: one session, one thread.
struct ir_context {
  MlirContext mlir;
  struct arena *arena;      // borrowed: outlives the context
  struct diag_engine *diag; // borrowed
  struct map sources;       // file name -> struct source *, to turn locations into spans
  struct ir_tables *tables; // private: op ids, pointer types, parsed encodings
  bool is_loaded;           // the dialects are loaded
  MlirModule unfinished;    // a module under construction, or null: destroyed with the context
  void *layouts;            // private to layouts/attr.c: encodings of attributes
  size_t built;             // operations created by builders so far
};

// Loads the dialects; NULL only when memory is out and the arena has no handler. MLIR's own
// diagnostics (verifier, parser) go to `diag`, an engine on the same arena, as E0601.
struct ir_context *ir_context_create(struct arena *a, struct diag_engine *diag);
void ir_context_destroy(struct ir_context *c); // accepts NULL; does not free the arena

const struct op_info *op_info(enum op_id id);
enum op_id op_id(struct ir_context *c, MlirOperation op); // OP_UNKNOWN if not in the table
static inline bool op_is(struct ir_context *c, MlirOperation op, enum op_id id) {
  return op_id(c, op) == id;
}
unsigned op_flags(struct ir_context *c, MlirOperation op); // OP_EFFECT for unknown ops
// No effects in it or its regions.
bool op_is_pure(struct ir_context *c, MlirOperation op);

// ---- locations ----
MlirLocation loc_from_span(struct ir_context *c, struct span s); // unknown for SPAN_NONE
struct span loc_to_span(struct ir_context *c, MlirLocation loc); // the innermost file location
struct span op_span(struct ir_context *c, MlirOperation op);

// ---- types ----
// Signedness is not in the IR: DTYPE_U32 and DTYPE_I32 are both i32; dtype_of_mlir gives the signed
// one.
MlirType mlir_of_dtype(struct ir_context *c, enum dtype t);
enum dtype dtype_of_mlir(MlirType scalar); // DTYPE_NONE for pointers and anything else
MlirType ptr_type(struct ir_context *c, MlirType pointee); // !tile.ptr<pointee>
bool type_is_ptr(struct ir_context *c, MlirType t);
MlirType ptr_pointee(struct ir_context *c, MlirType ptr);
// !tilegpu.memdesc<tile>: a tile in shared memory, of a tensor type with a shared encoding.
MlirType memdesc_type(struct ir_context *c, MlirType tile);
bool type_is_memdesc(struct ir_context *c, MlirType t);
MlirType memdesc_tile(struct ir_context *c, MlirType memdesc);
bool type_is_tensor(MlirType t);
unsigned tensor_rank(MlirType t);
int64_t tensor_dim(MlirType t, unsigned i);
int64_t tensor_numel(MlirType t); // 1 for scalars
MlirType tensor_type(unsigned rank, const int64_t *shape, MlirType element, MlirAttribute encoding);
MlirType element_type(MlirType t);                        // of a tensor; the type itself otherwise
MlirAttribute tensor_encoding(MlirType t);                // null attribute when there is none
MlirType type_with_element(MlirType t, MlirType element); // keeps shape and encoding
MlirType type_with_encoding(MlirType t, MlirAttribute encoding); // tensors only
unsigned type_bits(struct ir_context *c, MlirType scalar);       // pointers: 64

// ---- attributes ----
MlirAttribute attr_i32(struct ir_context *c, int32_t v);
MlirAttribute attr_bool(struct ir_context *c, bool v);
MlirAttribute attr_str(struct ir_context *c, const char *s);
MlirAttribute attr_i32_array(struct ir_context *c, size_t n, const int32_t *v); // array<i32: ...>
MlirAttribute op_attr(MlirOperation op, const char *name);                      // null if absent
int64_t op_attr_int(MlirOperation op, const char *name, int64_t absent);
bool op_attr_bool(MlirOperation op, const char *name);      // false if absent
struct str op_attr_str(MlirOperation op, const char *name); // "" if absent
size_t op_attr_i32_array(MlirOperation op, const char *name, size_t cap, int32_t *ret);
// Attribute of a function argument: tile.name, tile.divisibility, ...; null if absent.
MlirAttribute func_arg_attr(MlirOperation func, unsigned i, const char *name);
void func_set_arg_attr(struct ir_context *c, MlirOperation func, unsigned i, const char *name,
                       MlirAttribute value);
// Sets the dictionaries of all arguments, replacing existing ones.
void func_set_arg_attrs(struct ir_context *c, MlirOperation func, MlirAttribute *dictionaries);

// The value of an arith.constant that is a scalar integer or an integer splat.
bool value_const_int(struct ir_context *c, MlirValue v, int64_t *ret);
bool value_const_float(struct ir_context *c, MlirValue v, double *ret);
MlirOperation value_def(MlirValue v); // null operation for block arguments

// ---- walking and rewriting ----
// Every op under `root` (root included), parents before children; stops when fn returns false.
// fn may erase or replace the op it is given, not others.
void ir_walk(MlirOperation root, bool (*fn)(MlirOperation op, void *user), void *user);
// Children before parents, blocks from their end, as DCE needs. Lists are heap blocks of `a`, which
// are freed at the end.
void ir_walk_post(struct arena *a, MlirOperation root, bool (*fn)(MlirOperation op, void *user),
                  void *user);
bool value_has_uses(MlirValue v);
unsigned value_use_count(MlirValue v);
void op_erase(MlirOperation op); // unlinks and destroys; must have no uses
void value_replace(MlirValue of, MlirValue with);
// Erases pure ops under `root` without uses, and ops that only they used.
void ir_erase_dead(struct ir_context *c, MlirOperation root);
// A hash of every op, block and region under `root`, by identity, order and contents. Equal as long
// as nothing under `root` is written, moved or replaced, even by an equal op; another process gives
// another hash.
uint64_t ir_fingerprint(MlirOperation root);
// The first kernel of the module (func.func with the unit attribute tile.kernel).
MlirOperation module_kernel(struct ir_context *c, MlirModule m);
// The function that the symbol attribute `name` of `op` refers to (combine, function, callee); null
// if the module has none of that name.
MlirOperation op_function(struct ir_context *c, MlirOperation op, const char *name);

// ---- text ----
// Prints with locations when `debug_info`. The text parses back to the same module.
void ir_print(MlirOperation op, bool debug_info, struct strbuf *out);
// Null module on error; the diagnostics are in c->diag.
MlirModule ir_parse(struct ir_context *c, const char *name, struct str text);

// ---- verification (mlir-dialects/verify.c) ----
// MLIR's own verifier, then ours; reports every problem at its op's location as E0601/E0602. True
// if valid.
bool ir_verify(struct ir_context *c, MlirOperation module);

#endif
