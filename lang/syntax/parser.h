// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the parser. Recursive descent; each function has the grammar rule that it
// parses above it.
//
// Errors: parser_error records one diagnostic and enters panic mode: the current token becomes the
// end of the statement, so every loop and optional part ends, and no further error is reported
// until the statement parser leaves panic mode at the next line. Functions that return an
// expression never return NULL; after an error it is an EXPR_ERROR.
#ifndef TILE_LANG_SYNTAX_PARSER_H
#define TILE_LANG_SYNTAX_PARSER_H

#include "base/map.h"
#include "base/vec.h"
#include "lang/syntax/ast.h"
#include "lang/syntax/lexer.h"

// Recursion of the parser: brackets and blocks are limited by the lexer, prefix operators here.
#define PARSER_MAX_NESTING LIMIT_PARSER_DEPTH
#define PARSER_MAX_BRANCHES 256 // elif of one if

struct parser {
  struct arena *arena;
  struct diag_engine *diag;
  const struct source *source;
  struct token_list tokens;
  size_t pos;
  struct map *names; // interned identifiers
  struct ast_module *module;
  struct map jitted;    // names of functions that the file passes to `jit`: `k = triton.jit(k)`
  struct map jit_names; // names that the file gives `jit`
  bool is_imported;     // a file that another one imports
  unsigned nesting;
  unsigned loop_depth; // loops of this function around the statement
  unsigned if_depth;   // branches of this function around it
  bool in_field;       // parsing a field of an f-string
  bool quiet;          // parsing host code on trial: errors are counted, not reported
  bool is_python; // host code: a statement that kernels lack is an error only when it is reached
  bool panic;
  bool after_broken; // the previous statement was broken: an `else` may seem to have no `if`
  unsigned error_count;
  // The last logical line looked up, and whether the lexer has reported an error in it.
  size_t line_first, line_end;
  bool line_has_error;
};

// ---- Tokens (lang/syntax/parser.c) ----

enum token_kind parser_peek(const struct parser *p);
enum token_kind parser_peek_at(const struct parser *p, size_t ahead);
struct token parser_token(const struct parser *p);
struct str parser_token_text(const struct parser *p);
struct str parser_text_of(const struct parser *p, struct token t);
struct span parser_span_of(const struct parser *p, struct token t);
bool parser_is_layout(enum token_kind kind); // the end of a line, or a change of indentation
struct span parser_token_span(const struct parser *p);
// The end of the previous token, where a token is missing.
struct span parser_end_span(const struct parser *p);
// From the token with index `first` to the token before the current one.
struct span parser_span_from(const struct parser *p, size_t first);
bool parser_accept(struct parser *p, enum token_kind kind);
// Takes a token of that kind, or reports what was found instead.
bool parser_expect(struct parser *p, enum token_kind kind);
// Takes the bracket that closes the one with token index `open`.
void parser_close(struct parser *p, enum token_kind kind, size_t open);
// Takes a name and interns it; NULL after an error. `what` for the message: "a parameter".
const char *parser_name(struct parser *p, const char *what);
const char *parser_intern(struct parser *p, struct str name, struct span at);
bool parser_at_word(const struct parser *p, const char *word); // a name with this spelling
bool parser_starts_expression(enum token_kind kind);

// ---- Errors (lang/syntax/parse_errors.c) ----

// NULL in quiet and in panic mode; the diag_ functions accept that.
struct diag *parser_error(struct parser *p, struct span at, enum diag_code code, const char *fmt,
                          ...) PRINTF(4, 5);
// The same without panic: parsing goes on behind the error.
struct diag *parser_report(struct parser *p, struct span at, enum diag_code code, const char *fmt,
                           ...) PRINTF(4, 5);
// Reports the current token as unexpected; `expected` completes the message after "expected".
void parser_unexpected(struct parser *p, const char *expected);
bool parser_enter(struct parser *p); // false after an error; else parser_leave
void parser_leave(struct parser *p);

// ---- Skipping (lang/syntax/parser.c) ----

void parser_skip_line(struct parser *p);  // to the end of the logical line, not past it
void parser_skip_block(struct parser *p); // an indented block, if one begins here
// Skips a statement: the rest of the line and the block under it.
void parser_skip_statement(struct parser *p);

// ---- Expressions (lang/syntax/parse_expr.c, lang/syntax/parse_operators.c,
// lang/syntax/parse_atom.c, lang/syntax/parse_string.c)
// ----

// Lowest first. The table is in lang/syntax/parse_operators.c.
enum precedence {
  PREC_OR = 1,
  PREC_AND,
  PREC_NOT,
  PREC_COMPARE,
  PREC_BIT_OR,
  PREC_BIT_XOR,
  PREC_BIT_AND,
  PREC_SHIFT,
  PREC_SUM,
  PREC_TERM
};

struct expr *parse_expr(struct parser *p);
struct expr *parse_named(struct parser *p);
struct expr *parse_exprs(struct parser *p);
struct expr *parse_targets(struct parser *p);
struct expr *parse_binary(struct parser *p, enum precedence min);
struct expr *parse_item(struct parser *p);
struct expr *parse_atom(struct parser *p);
struct expr *parse_strings(struct parser *p);
struct expr *parse_call(struct parser *p, struct expr *callee, size_t first);
struct expr *parse_subscript(struct parser *p, struct expr *object, size_t first);
struct expr *parse_comprehension(struct parser *p, enum comprehension_kind kind, size_t first,
                                 struct expr *key, struct expr *element);
void parse_params(struct parser *p, enum token_kind end, struct ast_param **ret_params,
                  size_t *ret_count);
// A parameter written as in C (parse_foreign_param.c): reports and takes `float *x` or `int n`
// where a parameter begins, and `float*` where its annotation does. False: it is another form.
bool parse_foreign_param(struct parser *p, struct ast_param *param);
bool parse_foreign_annotation(struct parser *p, struct ast_param *param);

struct expr *expr_new(struct parser *p, enum expr_kind kind, size_t first);
struct expr *expr_error(struct parser *p);
// Sets the end of a node whose children are complete to the previous token.
struct expr *expr_finish(struct parser *p, struct expr *e, size_t first);
void expr_adopt(struct parser *p, struct expr *e, const struct expr *child); // counts the height
// Reports what cannot be assigned to; `how` for the message: "assign to".
void check_target(struct parser *p, const struct expr *e, const char *how);
const char *expr_kind_text(const struct expr *e); // "a call"

// ---- Statements (lang/syntax/parse_stmt.c, lang/syntax/parse_compound.c,
// lang/syntax/parse_function.c) ----

typedef VEC(struct stmt *) stmt_vec;
typedef VEC(struct expr *) expr_vec;

void parse_statement(struct parser *p, stmt_vec *out);
void parse_simple_line(struct parser *p, stmt_vec *out);
void parse_compound(struct parser *p, stmt_vec *out);
bool at_compound(const struct parser *p);
void parse_block(struct parser *p, const char *owner, struct span header, struct stmt_list *ret);
bool parse_import(struct parser *p, struct stmt *s);
bool at_match(const struct parser *p);
struct stmt *stmt_unsupported(struct parser *p, size_t first);
struct stmt *stmt_new(struct parser *p, enum stmt_kind kind, size_t first);
void parse_decorators(struct parser *p, expr_vec *out);
struct ast_function *parse_function(struct parser *p, const expr_vec *decorators);

// Whether the expression is `triton.jit(NAME, ...)`; *ret: the name.
bool is_jit_call(const struct parser *p, const struct expr *e, struct expr **ret);
// Fills p->jitted.
void parser_find_jitted(struct parser *p);
void parser_find_jit_names(struct parser *p); // other names of `jit`
// Whether a class with the base NamedTuple, or `namedtuple(...)`, begins here.
bool at_record_class(const struct parser *p);
struct ast_class *parse_class(struct parser *p);      // NULL without a name
struct ast_class *parse_host_class(struct parser *p); // the same; reports and consumes nothing

// ---- Named tuples (lang/syntax/parse_named_tuple.c) ----

typedef VEC(struct ast_field) field_vec;
// The fields that a call of `namedtuple` or `NamedTuple` gives; false: another expression, or
// fields that are not written out.
bool named_tuple_fields(struct parser *p, const struct expr *call, field_vec *ret);
// The class that `NAME = call` makes; NULL: the call makes none.
struct ast_class *named_tuple_class(struct parser *p, const char *name, struct span name_span,
                                    const struct expr *call);

// ---- Decorators (lang/syntax/parse_decorator.c) ----

struct decoration {
  expr_vec exprs;
  bool is_jit, is_constexpr_function, is_other;
  bool is_noinline;
  bool is_commutative;
  bool is_aggregate;
};
// Runs of `@...` lines.
void parse_decoration(struct parser *p, struct decoration *d);
// The decorators of a method; true if one is `jit`.
bool parse_method_decorators(struct parser *p, expr_vec *out);
// `@jit`, `@triton.jit`, `@tl.jit(...)` at that token; not the jit of other libraries.
bool at_jit_decorator(const struct parser *p, size_t at);
bool parser_has_jit(const struct parser *p); // the file has one

// ---- Modules (lang/syntax/parse_module.c, lang/syntax/parse_import.c) ----

typedef VEC(struct ast_import) import_vec;

void parse_module(struct parser *p, bool is_python);

#endif
