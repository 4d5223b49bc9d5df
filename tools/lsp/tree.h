// SPDX-License-Identifier: Apache-2.0
// Questions about a syntax tree: what is at an offset, and which names mean what.
#ifndef TILE_TOOLS_LSP_TREE_H
#define TILE_TOOLS_LSP_TREE_H

#include "base/vec.h"
#include "lang/syntax/ast.h"

// The functions around an offset, the outermost first: its text begins at `def` and ends with its
// last statement, or with an indented line.
#define TREE_MOST_NESTING 8
struct tree_scope {
  const struct ast_function *at[TREE_MOST_NESTING];
  size_t len;
};
struct tree_scope tree_scope_at(const struct ast_module *m, uint32_t offset);
uint32_t tree_function_end(const struct ast_function *f);

// A name that a function binds: parameters, assignments, loops, nested functions; not `x += 1`.
struct binding {
  const char *name;
  struct span at;                      // of the name
  struct span statement;               // SPAN_NONE: a parameter
  struct span value;                   // of `name = value`; else SPAN_NONE
  const struct ast_function *function; // a nested one; else NULL
};
typedef VEC(struct binding) binding_list;
// In the order of the text.
void tree_bindings(struct arena *a, const struct ast_function *f, binding_list *out);
// Which binding a name at an offset means: the one there, else the nearest before the statement
// with the offset, else the first. NULL: the function does not bind it.
const struct binding *tree_binding_of(const binding_list *all, const char *name, uint32_t offset);

// The name at an offset.
struct mention {
  const struct expr *expr;       // EXPR_NAME or EXPR_ATTRIBUTE; NULL: a binding without expression
  const struct ast_arg *keyword; // the name of an argument of `call`
  const struct expr *call;       // the innermost call around it; NULL: none
  struct span at;                // the word
  const char *name;
};
// False: there is no name at the offset, or not in code that was parsed.
bool tree_mention_at(struct arena *a, const struct ast_module *m, uint32_t offset,
                     struct mention *ret);

#endif
