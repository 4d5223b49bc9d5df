// SPDX-License-Identifier: Apache-2.0
// Expressions of the syntax tree (ast.h): operators, and a node for each form.
#ifndef TILE_LANG_SYNTAX_AST_EXPR_H
#define TILE_LANG_SYNTAX_AST_EXPR_H

#include "base/arena.h"
#include "base/limits.h"
#include "base/source.h"
#include "base/str.h"

#define AST_MAX_HEIGHT LIMIT_EXPRESSION_DEPTH

// ---- Operators ----

enum ast_op {
  // binary, also of augmented assignment
  OP_ADD,
  OP_SUB,
  OP_MUL,
  OP_MATMUL,
  OP_DIV,
  OP_FLOORDIV,
  OP_MOD,
  OP_POW,
  OP_SHL,
  OP_SHR,
  OP_BIT_AND,
  OP_BIT_OR,
  OP_BIT_XOR,
  // unary
  OP_POS,
  OP_NEG,
  OP_INVERT,
  OP_NOT,
  // boolean
  OP_AND,
  OP_OR,
  // comparison
  OP_LT,
  OP_LE,
  OP_GT,
  OP_GE,
  OP_EQ,
  OP_NE,
  OP_IS,
  OP_IS_NOT,
  OP_IN,
  OP_NOT_IN,
  AST_OP_COUNT
};

const char *ast_op_text(enum ast_op op); // "+", "not in"

// ---- Expressions ----

enum expr_kind {
  EXPR_NAME,
  EXPR_INT,
  EXPR_FLOAT,
  EXPR_IMAGINARY, // 1j: parsed so that it can be rejected with a location; no member
  EXPR_STRING,
  EXPR_FSTRING,
  EXPR_BOOL,     // True, False
  EXPR_NONE,     // no member
  EXPR_ELLIPSIS, // no member
  EXPR_UNARY,
  EXPR_BINARY,
  EXPR_LOGIC,   // and, or: n operands
  EXPR_COMPARE, // n operators, n + 1 operands
  EXPR_CALL,
  EXPR_ATTRIBUTE,
  EXPR_SUBSCRIPT,
  EXPR_TUPLE,
  EXPR_LIST,
  EXPR_SET,
  EXPR_DICT,
  EXPR_TERNARY,
  EXPR_LAMBDA,
  EXPR_COMPREHENSION,
  EXPR_WALRUS,
  EXPR_STARRED, // *e, in a tuple, list or assignment target
  EXPR_SLICE,   // lo:hi:step, only as an item of a subscript
  EXPR_AWAIT,   // await e, yield e: parsed so that they can be rejected with a location
  EXPR_YIELD,
  EXPR_ERROR, // an error was already reported here
  EXPR_KIND_COUNT
};

struct expr;

struct expr_list {
  struct expr **at;
  size_t len;
};

// One argument of a call.
struct ast_arg {
  const char *name; // keyword, or NULL
  struct expr *value;
  bool is_star;          // *value
  bool is_double_star;   // **value
  struct span name_span; // of the keyword
  struct span span;      // of the whole argument
};

// A piece of an f-string: literal text, or a replacement field.
struct fstring_part {
  struct str text; // literal text with escapes resolved; field: text before `=` in {x=}, or empty
  struct expr *value;          // NULL for literal text
  char conversion;             // 'r', 's', 'a' or 0
  struct fstring_part *format; // parts of the format specification, or NULL
  size_t format_count;
  struct span span;
};

struct comprehension_clause { // for target in iter if condition if condition ...
  struct expr *target;
  struct expr *iter;
  struct expr_list conditions;
  struct span span;
};

struct dict_item {
  struct expr *key; // NULL: **value
  struct expr *value;
};

enum comprehension_kind {
  COMPREHENSION_GENERATOR,
  COMPREHENSION_LIST,
  COMPREHENSION_SET,
  COMPREHENSION_DICT,
};

struct expr {
  enum expr_kind kind;
  bool in_parens;   // written (e): `(x)` alone; a tuple with its parentheses has it too
  uint16_t height;  // longest path to a leaf, at most AST_MAX_HEIGHT, which bounds recursion
  struct span span; // of a parenthesised expression other than a tuple: without the parentheses
  union {
    const char *name; // EXPR_NAME
    struct {          // EXPR_INT
      struct str text;
      uint64_t value;
      bool overflow; // does not fit 64 bits; value is UINT64_MAX
    } integer;
    struct { // EXPR_FLOAT
      struct str text;
      double value;
    } floating;
    struct {            // EXPR_STRING: adjacent literals joined, escapes resolved
      struct str value; // NUL-terminated after the end; may hold NUL bytes
      bool is_bytes;
    } string;
    struct { // EXPR_FSTRING
      struct fstring_part *parts;
      size_t count;
    } fstring;
    bool boolean; // EXPR_BOOL
    struct {      // EXPR_UNARY
      enum ast_op op;
      struct expr *operand;
    } unary;
    struct { // EXPR_BINARY
      enum ast_op op;
      struct expr *left, *right;
      struct span op_span;
    } binary;
    struct { // EXPR_LOGIC
      enum ast_op op;
      struct expr_list operands;
    } logic;
    struct { // EXPR_COMPARE
      enum ast_op *ops;
      struct span *op_spans;
      struct expr_list operands; // one more than operators
    } compare;
    struct { // EXPR_CALL
      struct expr *callee;
      struct ast_arg *args;
      size_t arg_count;
    } call;
    struct { // EXPR_ATTRIBUTE
      struct expr *object;
      const char *name;
      struct span name_span;
    } attribute;
    struct { // EXPR_SUBSCRIPT: items are expressions, EXPR_SLICE or EXPR_NONE; x[1] has one item
      struct expr *object;
      struct expr_list items;
      bool trailing_comma; // x[1,]
    } subscript;
    struct expr_list items; // EXPR_TUPLE, EXPR_LIST, EXPR_SET
    struct {                // EXPR_DICT
      struct dict_item *items;
      size_t count;
    } dict;
    struct { // EXPR_TERNARY: then if condition else otherwise
      struct expr *condition, *then, *otherwise;
    } ternary;
    struct { // EXPR_LAMBDA
      struct ast_param *params;
      size_t param_count;
      struct expr *body;
    } lambda;
    struct { // EXPR_COMPREHENSION
      enum comprehension_kind kind;
      struct expr *key; // COMPREHENSION_DICT only
      struct expr *element;
      struct comprehension_clause *clauses;
      size_t clause_count;
    } comprehension;
    struct { // EXPR_WALRUS
      const char *name;
      struct span name_span;
      struct expr *value;
    } walrus;
    struct expr *inner; // EXPR_STARRED, EXPR_AWAIT, EXPR_YIELD (NULL: bare yield)
    struct {            // EXPR_SLICE
      struct expr *lo, *hi, *step;
    } slice;
  };
};

#endif
