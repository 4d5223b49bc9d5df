// SPDX-License-Identifier: Apache-2.0
// Operations on run-time values of a kernel: promotion, casts, operators, shapes, functions beside
// the kernel. lang/eval folds operations whose operands are all known at compile time.
#ifndef TILE_LANG_OPS_OPS_H
#define TILE_LANG_OPS_OPS_H

#include "lang/eval/consteval.h"
#include "mlir-dialects/build.h"

// Sets the source location of the operations built from now on (op_location.c).
void emit_at(struct eval *e, struct span at);

struct leaves {
  MlirValue *at;
  size_t len, cap;
};

// A function emitted as a separate func.func beside the kernel, called by symbol.
struct outlined {
  const char *symbol;
  struct value result;  // its structure: the run-time leaves have the types of the results
  struct leaves leaves; // the results as values of its body
};

// ---- functions beside the kernel (outline.c) ----
struct outline {
  struct operand callee;
  const struct operand *args; // run-time leaves become parameters; only their types matter
  const char *const *names;   // as of eval_inline
  size_t count;
  bool is_pure;               // effects are an error
  const struct type *results; // the required result types; NULL: any
  size_t result_count;
  const char *what; // "the combine function", for messages
  struct span at;
};
// The private function for these types and constants, emitted on first use. False, and reported, if
// that fails.
bool emit_outlined(struct eval *e, const struct outline *o, struct outlined *ret);
// func.call of a function declared `noinline=True`.
struct value emit_noinline(struct eval *e, const struct function *f, const struct operand *args,
                           const char *const *names, size_t count, struct span at);

// ---- operators (operators.c) ----
struct value emit_binary(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                         struct span at);
struct value emit_unary(struct eval *e, enum ast_op op, struct operand x, struct span at);
struct value emit_comparison(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                             struct span at);
// `and`, `or` of two values, at least one of them run-time.
struct value emit_logic(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                        struct span at);
// ---- truth (cast.c) ----
struct value emit_truth_tile(struct eval *e, struct value v); // v != 0, as i1 of its shape
struct value emit_zero_like(struct eval *e, struct value v);
struct value emit_address(struct eval *e, struct value v); // a pointer as an integer of 64 bits

// ---- conversions (number_value.c, cast.c) ----
// The default type of a compile-time number.
bool literal_type(struct value v, struct type *ret);
// A scalar constant of type t; reports numbers that do not fit.
struct value literal_as(struct eval *e, struct operand x, struct type t);
// A number as a run-time value; reports other values. `what` names its use.
struct value to_runtime(struct eval *e, struct operand x, const char *what);
struct value emit_cast(struct eval *e, struct value v, struct type elem, const char *rounding);
struct value emit_bitcast(struct eval *e, struct operand x, struct type elem);
// Converts to element type `elem`: literals by literal_as, other values by emit_cast.
struct value emit_convert(struct eval *e, struct operand x, struct type elem);

enum promote_flags {
  PROMOTE_POINTERS = 1, // pointers allowed
  PROMOTE_DIV = 2,      // division or remainder
  PROMOTE_STORAGE = 4,  // storage types allowed: the values are only moved
};
// Promotes both operands to one element type and one shape; at least one is a run-time value.
// `what` is the operator or function for messages.
bool promote_pair(struct eval *e, struct operand *a, struct operand *b, unsigned flags,
                  const char *what, struct span at);
bool promote_elements(struct eval *e, struct operand *a, struct operand *b, unsigned flags,
                      const char *what, struct span at);

// ---- shapes (shapes.c) ----
// A shape from a tuple or an integer; reports extents that are not powers of two and sizes over the
// limit.
bool shape_from_value(struct eval *e, struct operand x, struct type *ret);
bool shape_check(struct eval *e, struct type t, struct span at);
bool broadcast_pair(struct eval *e, struct operand *a, struct operand *b, struct span at);
// Broadcasts a run-time value to the shape of `t`. For the message: `what` names it ("the mask ",
// or "") and `pointer` is the pointer that has this shape, or SPAN_NONE.
struct value broadcast_to(struct eval *e, struct operand x, struct type t, const char *what,
                          struct span pointer);
struct value emit_expand_dims(struct eval *e, struct value v, unsigned axis);
struct value emit_splat(struct eval *e, struct value scalar, struct type shape_of);

// ---- errors of shapes (shape_errors.c) ----
// E0214 for two operands of the operator at `at`, and for broadcast_to.
void report_broadcast_pair(struct eval *e, struct operand a, struct operand b, struct span at);
void report_broadcast_to(struct eval *e, struct operand x, struct type t, const char *what,
                         struct span pointer);
// The first assigned variable of the function that has an integer for each element of t, or NULL.
const struct variable *find_offsets(const struct eval *e, struct type t);
// Label and help for a float where an integer is needed, if `/` of integers gave it
// (true_division.c).
bool help_true_division(struct eval *e, struct diag *d, struct value x);

// Calls a function of the standard library on behalf of the compiler.
struct value emit_std(struct eval *e, const char *name, size_t n, const struct value *args,
                      struct span at);

#endif
