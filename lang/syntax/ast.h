// SPDX-License-Identifier: Apache-2.0
// The syntax tree as parsed; no name is resolved. Every node lives on the arena of ast_read, has
// the span of its text, and is a kind plus the union member named after the kind. Identifiers are
// interned NUL-terminated strings: within one module, equal names are equal pointers. Optional
// children are NULL.
#ifndef TILE_LANG_SYNTAX_AST_H
#define TILE_LANG_SYNTAX_AST_H

#include "lang/syntax/ast_expr.h"

// ---- Statements ----

enum stmt_kind {
  STMT_EXPR, // also docstrings and calls
  STMT_ASSIGN,
  STMT_AUG_ASSIGN,
  STMT_ANN_ASSIGN,
  STMT_IF, // elif is an STMT_IF alone in `orelse`
  STMT_FOR,
  STMT_WHILE,
  STMT_RETURN,
  STMT_PASS,     // no member
  STMT_BREAK,    // no member
  STMT_CONTINUE, // no member
  STMT_ASSERT,
  STMT_WITH,
  STMT_DEF,
  STMT_IMPORT,
  STMT_TRY, // in host code only
  // An error was already reported here; or, with `unsupported`, a statement that the language lacks
  // under an `if` whose condition may exclude it at compile time: an error (E0111) only when it is
  // reached.
  STMT_ERROR,
  STMT_KIND_COUNT
};

struct stmt;

struct stmt_list {
  struct stmt **at;
  size_t len;
};

struct with_item {
  struct expr *context;
  struct expr *target; // after `as`, or NULL
};

struct ast_handler {
  const char **names; // last words of the exceptions that it catches; count 0: all
  size_t count;
};

struct try_handler {
  struct ast_handler catches;
  const char *name; // after `as`, or NULL
  struct stmt_list body;
};

struct stmt {
  enum stmt_kind kind;
  struct span span; // of a compound statement: its header line only
  union {
    struct {                   // STMT_ERROR
      const char *unsupported; // "raise", or NULL
      const char *exception;   // of a `raise`: the last word of its name; NULL: not known
    };
    struct expr *expr; // STMT_EXPR
    struct {           // STMT_ASSIGN: a = (b, c) = value has two targets
      struct expr_list targets;
      struct expr *value;
    } assign;
    struct { // STMT_AUG_ASSIGN
      struct expr *target;
      enum ast_op op;
      struct expr *value;
      struct span op_span;
    } aug_assign;
    struct { // STMT_ANN_ASSIGN: target: annotation = value
      struct expr *target;
      struct expr *annotation;
      struct expr *value; // NULL: declaration only
    } ann_assign;
    struct { // STMT_IF
      struct expr *condition;
      struct stmt_list body, orelse;
    } if_stmt;
    struct { // STMT_FOR
      struct expr *target, *iter;
      struct stmt_list body, orelse;
    } for_stmt;
    struct { // STMT_WHILE
      struct expr *condition;
      struct stmt_list body, orelse;
    } while_stmt;
    struct expr *value; // STMT_RETURN, NULL: bare
    struct {            // STMT_ASSERT
      struct expr *condition, *message;
    } assert_stmt;
    struct { // STMT_WITH
      struct with_item *items;
      size_t count;
      struct stmt_list body;
    } with_stmt;
    struct ast_function *def; // STMT_DEF
    struct {                  // STMT_IMPORT
      struct ast_import *items;
      size_t count;
    } import;
    struct {                               // STMT_TRY
      struct stmt_list body, orelse, last; // last: `finally`
      // Of a kernel, where it is an error: reported by the parser, or to be reported when reached.
      bool is_reported, is_refused;
      struct try_handler *handlers;
      size_t count;
    } try_stmt;
  };
};

// ---- Conditions of the outer level ----

// The condition under which an `if`, a `try` or a loop at module level makes the bindings in a
// block.
enum ast_guard_kind {
  GUARD_IF,   // the condition is `wanted`
  GUARD_TRY,  // wanted: the first `steps` steps of the attempt do not fail; else its handler number
              // `handler` is the one that runs
  GUARD_HOST, // what only host code decides: a loop, a call of the enclosing function
};
// Set when evaluated (lang/eval/outer.h); OPEN after parsing.
enum ast_guard_state { GUARD_OPEN, GUARD_BUSY, GUARD_HOLDS, GUARD_FAILS, GUARD_UNDECIDED };

struct ast_guard {
  enum ast_guard_kind kind;
  bool wanted, is_loop;
  const struct expr *condition; // GUARD_IF
  struct ast_try *attempt;      // GUARD_TRY
  size_t steps, handler;
  const char *what;        // GUARD_HOST: "a loop"
  struct span span;        // of the condition, or of the header's first word
  struct ast_guard *outer; // must hold too; NULL: none
  enum ast_guard_state state;
  const char *why; // GUARD_UNDECIDED: what is not known
};

// The statements of a `try` block that may raise an exception, in order.
enum ast_step_kind {
  STEP_IMPORT,
  STEP_VALUE,  // an expression is evaluated
  STEP_ASSERT, // and must be true
  STEP_RAISE,
  STEP_HOST, // a statement that is not evaluated
};
struct ast_step {
  enum ast_step_kind kind;
  struct ast_guard *guard; // it runs only under this guard
  const struct ast_import *import;
  const struct expr *value;
  const char *exception; // STEP_RAISE: the last word of its name; NULL: not known
  struct span span;
};
struct ast_try {
  struct ast_step *steps;
  size_t step_count, step_cap;
  struct ast_handler *handlers;
  size_t handler_count, handler_cap;
};

// ---- Functions and modules ----

enum param_kind {
  PARAM_NORMAL,
  PARAM_POSITIONAL_ONLY, // before `/`
  PARAM_KEYWORD_ONLY,    // after `*`
  PARAM_STAR,            // *args
  PARAM_DOUBLE_STAR,     // **kwargs
};

struct ast_param {
  const char *name;
  enum param_kind kind;
  struct expr *annotation;
  struct expr *default_value;
  struct span name_span;
  struct span span; // with annotation and default
};

struct ast_function {
  const char *name;
  struct span name_span;
  struct span span; // the header, from `def` to `:`
  struct ast_param *params;
  size_t param_count;
  struct expr *returns;        // annotation after `->`
  struct expr_list decorators; // without the `@`
  // A device function: decorated with jit, or undecorated in a file that decorates none.
  bool is_jit;
  bool is_constexpr_function; // decorated with constexpr_function: evaluated at compile time
  bool is_noinline;           // jit(noinline=True)
  bool is_commutative; // decorated so: combining b with a gives what a with b does, bit for bit
  bool is_property, is_static, is_class_method; // methods
  // Host code in a file with kernels. A kernel cannot call it, but a message can name it; if its
  // body could be parsed, is_constexpr_function is set too, and code evaluated at compile time can
  // call it.
  bool is_host;
  bool is_nested;          // defined inside a host function or class
  struct ast_guard *guard; // NULL: unconditional
  struct str docstring;    // ptr NULL: none. It is still the first statement of the body
  struct stmt_list body;
};

// One name bound by an import: `import module as bound` (name NULL), `from module import name as
// bound`; `from module import *` has name "*" and bound NULL. `import a.b` binds "a" to module "a"
// (expressions then write `a.b.c`).
struct ast_import {
  const char *module; // "triton.language"; leading dots of a relative import kept
  const char *name;
  const char *bound;
  struct ast_guard *guard; // NULL: unconditional
  struct span span;
};

// A class: a record whose values kernels may use (a NamedTuple or an aggregate), or host code.
struct ast_field {
  const char *name;
  struct expr *annotation;
  struct expr *default_value;
  struct span name_span;
};

struct ast_constant;
struct ast_class {
  const char *name;
  // Not a record: host code, of which code evaluated at compile time can use what could be parsed.
  bool is_host;
  struct ast_constant *constants; // NAME = value, in order
  size_t constant_count;
  struct span name_span;
  const char **bases;
  size_t base_count;
  struct ast_field *fields;
  size_t field_count;
  struct ast_function **methods;
  size_t method_count;
  struct ast_guard *guard; // NULL: unconditional
};

// NAME = value, NAME: tl.constexpr = value at module level; NAME += value has the value NAME +
// value.
struct ast_constant {
  const char *name;
  struct ast_guard *guard; // NULL: unconditional
  struct expr *annotation;
  struct expr *value;
  struct span name_span;
};

// The value that -D gives to a constant of the file.
struct ast_override {
  const char *name, *text;
};

struct ast_module {
  const struct source *source;
  unsigned readable_errors; // errors that hide nothing: the tree is as complete as without them
  struct ast_function **functions;
  size_t function_count;
  struct ast_class **classes;
  size_t class_count;
  struct ast_constant *constants;
  size_t constant_count;
  struct ast_import *imports;
  size_t import_count;
  bool has_jit; // some function is decorated with jit
  // The kernels that no other function calls; all kernels if each is called.
  const char **kernel_names;
  size_t kernel_count;
  const struct ast_override *overrides;
  size_t override_count;
};

// The last definition of that name, as in Python; NULL if there is none. Definitions whose
// condition is known to fail are ignored.
// What to write instead of a statement that the language lacks, by its first word.
const char *ast_unsupported_help(const char *word);
const struct ast_function *ast_find_function(const struct ast_module *m, const char *name);
const struct ast_constant *ast_find_constant(const struct ast_module *m, const char *name);
const struct ast_class *ast_find_class(const struct ast_module *m, const char *name);
// Whether a binding with this guard (NULL: none) may take effect; whether it certainly does.
bool ast_may_hold(const struct ast_guard *g);
bool ast_does_hold(const struct ast_guard *g);
// The undecided guard on which the choice of the function of that name depends; NULL: none.
const struct ast_guard *ast_undecided_function(const struct ast_module *m, const char *name);
// Reports that condition as the reason why `name` has no single meaning.
struct diag_engine;
struct diag *ast_report_undecided(struct diag_engine *diag, const struct ast_module *m,
                                  const struct ast_guard *g, const char *name, struct span at);

// The full dotted name that an expression of names and attributes denotes, with imports resolved:
// `tl.math.exp` gives "triton.language.math.exp" after `import triton.language as tl`, a plain
// `exp` the same after `from triton.language.math import exp`. `tl` and `triton` mean their usual
// modules even without an import. Names that no import binds are returned as written (`x.shape`,
// `exp`): the caller decides what a bare name means, and looks at local variables first. NULL if
// the expression has another form.
const char *ast_qualified_name(struct arena *a, const struct ast_module *m, const struct expr *e);
// The same name without the modules of the language ("triton.language.", "triton.language.math.",
// "triton.", ...): "exp", "range", "jit". NULL if it belongs to another module (`torch.exp`) or the
// expression has another form. A bare name that no import binds is returned as written.
const char *ast_builtin_name(struct arena *a, const struct ast_module *m, const struct expr *e);
// Is the expression the name `constexpr` of the language?
bool ast_is_constexpr(struct arena *a, const struct ast_module *m, const struct expr *e);

// Parses a file; NULL only if it could not be tokenized. Errors, possibly several, are in `diag`.
// The tree lives on `a`.
struct ast_module *ast_read(struct arena *a, struct diag_engine *diag, const struct source *source);
// The same for a Python file, where undecorated functions are host code.
struct ast_module *ast_read_python(struct arena *a, struct diag_engine *diag,
                                   const struct source *source);

// The same for an imported Python file: without decorators, functions that cannot be device code
// are host code.
struct ast_module *ast_read_imported(struct arena *a, struct diag_engine *diag,
                                     const struct source *source);

// S-expressions, one statement per line; the second prints one expression, for tests.
struct strbuf;
void ast_print(const struct ast_module *m, struct strbuf *out);
void ast_print_expr(const struct expr *e, struct strbuf *out);

#endif
