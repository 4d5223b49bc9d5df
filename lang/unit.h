// SPDX-License-Identifier: Apache-2.0
// The insides of a struct lang_unit, for lang alone.
#ifndef TILE_LANG_UNIT_H
#define TILE_LANG_UNIT_H

#include "lang/frontend.h"
#include "lang/syntax/ast.h"

struct lang_unit {
  struct arena *arena;
  struct ast_module *tree;
  bool is_settled;
  // As lang_unit_settle was told; the probes are of what it read.
  const char *target;
  bool reads_files;
  struct lang_imports imports;
};

// The parameters of a kernel; false, and reported, where one cannot be one.
bool kernel_params(struct arena *a, struct diag_engine *diag, const struct ast_module *m,
                   const struct ast_function *f, struct lang_param **ret);

#endif
