// SPDX-License-Identifier: Apache-2.0
// The members of struct lang_unit, private to lang/ and, for the editor, tools/lsp/.
#ifndef TILE_LANG_UNIT_H
#define TILE_LANG_UNIT_H

#include "lang/frontend.h"
#include "lang/syntax/ast.h"

struct lang_unit {
  struct arena *arena;
  struct ast_module *tree;
  bool is_whole;
  bool is_resolved;
  // The arguments of lang_unit_resolve; the dependencies are of the files that it read.
  const char *target;
  bool reads_files;
  struct lang_imports imports;
};

// The expressions of the block in `tensordesc[f16, [64, BK]]`; NULL: it has none.
const struct expr *descriptor_annotation_block(const struct expr *annotation);
// The parameters of a kernel; false, after a diagnostic, if one is not allowed.
bool kernel_params(struct arena *a, struct diag_engine *diag, const struct ast_module *m,
                   const struct ast_function *f, struct lang_param **ret);

#endif
