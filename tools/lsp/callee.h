// SPDX-License-Identifier: Apache-2.0
// What a name in a call means: a function of the language, or one of the file or of an imported
// file; its parameters and documentation.
#ifndef TILE_TOOLS_LSP_CALLEE_H
#define TILE_TOOLS_LSP_CALLEE_H

#include "tools/lsp/documents.h"

struct callee_param {
  const char *name;
  uint32_t begin, end; // its text in the signature, bytes
};

struct callee {
  const char *signature; // "tl.dot(input, other, acc=...)"
  const char *doc;       // NULL: none
  VEC(struct callee_param) params;
  bool is_builtin;
};

// A dotted name at an offset, such as `tl.load`, `x.to` or `helper`; `base` is NULL for one word.
// Methods of tiles and descriptors are found by their name alone. On `a`.
bool callee_find(struct arena *a, const struct document *d, const struct ast_module *m,
                 const char *base, const char *name, struct callee *ret);
void callee_of_function(struct arena *a, const struct ast_function *f, struct callee *ret);

// The module that a dotted name denotes after the imports of the file.
enum base_kind {
  BASE_VALUE,    // no module: a value
  BASE_LANGUAGE, // triton.language
  BASE_MATH,     // its functions of floats: tl.math, libdevice
  BASE_TRITON,   // triton
  BASE_FILE      // another file; *ret_file is its tree
};
enum base_kind base_of(struct arena *a, const struct document *d, const struct ast_module *m,
                       const char *dotted, const struct ast_module **ret_file);
// The tree of an imported module ("utils", ".helpers"); NULL: not found.
const struct ast_module *imported_tree(struct arena *a, const struct document *d,
                                       const char *module);
// The import that binds a name; NULL: none.
const struct ast_import *import_of(const struct ast_module *m, const char *name);

#endif
