// SPDX-License-Identifier: Apache-2.0
// Compile-time arithmetic with Python's meaning: integers without wrap-around (up to 127 bits),
// floor division, true division to float, comparison and truth of numbers, strings, tuples, types.
#ifndef TILE_LANG_EVAL_CONSTEVAL_H
#define TILE_LANG_EVAL_CONSTEVAL_H

#include "lang/eval/eval.h"

// Both operands known at compile time. Warns (E0305) where `//` and `%` differ from what the same
// operator does at run time.
struct value const_binary(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                          struct span at);
struct value const_unary(struct eval *e, enum ast_op op, struct operand x, struct span at);
struct value const_compare(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                           struct span at);
// Python's truth value; false when it is not known at compile time.
bool const_truth(struct value v, bool *ret);
// Same kind and value: what `==` of compile-time values and the merging of branches use.
bool const_equal(struct value a, struct value b);
// Not a run-time value, nor a tuple that contains one.
bool value_is_const(struct value v);
bool value_is_runtime(struct value v);                      // the value or a part of it
struct value value_of_shape(struct eval *e, struct type t); // as a tuple of integers
// A type that Triton has on other devices, or used to have.
bool is_foreign_type(struct str name);
// The type of that name in torch or numpy.
bool host_dtype(const char *name, enum dtype *ret);
// Evaluates a builtin with a FOLD flag where code is evaluated at compile time; false elsewhere.
bool const_math(struct eval *e, const struct builtin *b, const struct operand *args, size_t count,
                struct value *ret);

// As Python's str() prints it, or repr(), which quotes strings.
void const_format(struct eval *e, struct value v, bool repr, struct strbuf *out);
// f"{v:spec}" for numbers and strings; false if the specification is not understood.
bool const_format_spec(struct value v, struct str spec, struct strbuf *out);
// "{}".format(...): args[0] is the string; "%d" % values. Errors are reported (E0310).
struct value text_format(struct eval *e, const struct operand *args, const char *const *names,
                         size_t count, struct span at);
struct value text_percent(struct eval *e, struct operand text, struct operand values,
                          struct span at);
// The literal of a command line: 128, 0x10, -1, 1.5, True, "relu", relu, float16, None, and tuples:
// (2, 3), (16,), [4, 8].
bool const_parse(struct arena *a, struct str text, struct value *ret);

#endif
