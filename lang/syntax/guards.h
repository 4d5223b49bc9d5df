// SPDX-License-Identifier: Apache-2.0
// Conditions at module level: `if`, `try`, `with` and loops around definitions. The parser keeps
// every branch with the guard under which Python would run it; which guards hold is decided later
// (lang/eval/outer.h), when the imports, the target and -D are known.
#ifndef TILE_LANG_SYNTAX_GUARDS_H
#define TILE_LANG_SYNTAX_GUARDS_H

#include "lang/syntax/parser.h"

// The statement that a following `elif`, `else`, `except` or `finally` of the block continues.
struct guard_chain {
  enum { CHAIN_NONE, CHAIN_IF, CHAIN_TRY, CHAIN_LOOP } kind;
  struct ast_guard *rest;  // CHAIN_IF: no branch so far was taken; else: the guard around
  struct ast_try *attempt; // CHAIN_TRY
};

// The context of a statement at module level.
struct guard_scope {
  struct ast_guard *guard;   // of its block; NULL: the file itself
  struct ast_try *attempt;   // the `try` that an exception here would end; NULL: none
  struct guard_chain *chain; // of its block
  bool is_nested;            // in a host function or class: whether it runs is not known
};

// Parses the header of a compound statement and the colon; `scope` becomes that of its block. A
// condition that cannot be parsed counts as not known.
void guards_enter(struct parser *p, struct guard_scope *scope);
// The exceptions that the `except` here names, and the name after `as`; moves to the colon.
struct ast_handler guards_read_handler(struct parser *p, const char **ret_name);
// The last word of the exception's name in `raise a.B(...)`; NULL: not known.
const char *guards_raised(struct parser *p);
// The guard of a binding made here; NULL: none.
struct ast_guard *guards_now(struct parser *p, const struct guard_scope *scope);
// Adds a step to the enclosing `try`, if there is one.
void guards_step(struct parser *p, const struct guard_scope *scope, struct ast_step step);
void guards_step_of(struct parser *p, const struct guard_scope *scope, const struct stmt *s);

#endif
