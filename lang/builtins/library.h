// SPDX-License-Identifier: Apache-2.0
// The functions of the language as editors show them: parameters, documentation, and where a name
// finds them. Thread-safe: constant tables.
#ifndef TILE_LANG_BUILTINS_LIBRARY_H
#define TILE_LANG_BUILTINS_LIBRARY_H

#include "base/arena.h"
#include "base/str.h"

struct library_function {
  const char *name;
  const char *params; // "x axis= *rest": required, optional, and the rest (builtin_params.h)
  const char *doc;    // NULL: none, an internal function
  unsigned flags;     // lang/eval/builtin_flags.h
};

size_t library_count(void);
struct library_function library_at(size_t i);
// Where a name is found: behind `tl.`, alone, as a method of tiles, or of tensor descriptors.
enum library_scope { LIBRARY_MODULE, LIBRARY_BARE, LIBRARY_METHOD, LIBRARY_DESCRIPTOR };
bool library_serves(const struct library_function *f, enum library_scope scope);
bool library_find(struct str name, enum library_scope scope, struct library_function *ret);
// The documentation of a function of that name; NULL: none.
const char *library_doc(const char *name);

#endif
