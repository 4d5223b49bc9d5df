// SPDX-License-Identifier: Apache-2.0
// The direct children of a node of the syntax tree, one call each, for walks that treat most kinds
// of nodes alike. A callback recurses by calling these functions again.
#ifndef TILE_LANG_SYNTAX_AST_VISIT_H
#define TILE_LANG_SYNTAX_AST_VISIT_H

#include "lang/syntax/ast.h"

struct ast_visitor {
  void (*expr)(void *user, const struct expr *e);         // never NULL
  void (*target)(void *user, const struct expr *e);       // of an assignment, `for` or `with`
  void (*body)(void *user, const struct stmt_list *body); // a block
  void *user;
};

// The subexpressions of `e`; of a comprehension its elements, iterables and conditions. Calls
// `expr`.
void ast_visit_expr(const struct ast_visitor *v, const struct expr *e);
// The expressions, targets and blocks of `s`.
void ast_visit_stmt(const struct ast_visitor *v, const struct stmt *s);

#endif
