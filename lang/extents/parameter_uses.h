// SPDX-License-Identifier: Apache-2.0
// What the use of a function's parameters says about types that the source does not give, as of
// most kernels written for Python: pointers are those that addresses are computed from. Heuristics,
// for messages and editors: what was assumed must be shown.
#ifndef TILE_LANG_EXTENTS_PARAMETER_USES_H
#define TILE_LANG_EXTENTS_PARAMETER_USES_H

#include "lang/frontend.h"
#include "lang/syntax/ast.h"

enum parameter_use { USE_SCALAR, USE_POINTER, USE_DESCRIPTOR };
struct parameter_uses {
  enum parameter_use *use;
  unsigned *rank; // of a descriptor: dimensions of its blocks
};
// For each parameter of the function, on `a`.
struct parameter_uses parameter_uses_of(struct arena *a, const struct ast_module *m,
                                        const struct ast_function *f);
// The type of the elements that a pointer or descriptor of this name has, else of the number: i32
// for names of indices and sizes, f32 for those of factors; `element` for other pointers.
enum dtype parameter_dtype(enum parameter_use use, const char *name, enum dtype element);

#endif
