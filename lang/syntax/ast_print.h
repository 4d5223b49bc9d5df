// SPDX-License-Identifier: Apache-2.0
// Shared by the files that print the tree; "ast.h" declares ast_print and ast_print_expr.
#ifndef TILE_LANG_SYNTAX_AST_PRINT_H
#define TILE_LANG_SYNTAX_AST_PRINT_H

#include "lang/syntax/ast.h"

// A space, then the expression, or `_` for NULL.
void ast_print_optional(const struct expr *e, struct strbuf *out);
// (head inner); `inner` may be NULL.
void ast_print_wrapped(const char *head, const struct expr *inner, struct strbuf *out);
void ast_print_params(const struct ast_param *params, size_t count, struct strbuf *out);

#endif
