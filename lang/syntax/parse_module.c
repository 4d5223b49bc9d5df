// SPDX-License-Identifier: Apache-2.0
// The module level of a file. A file may be a Python program that contains kernels: device
// functions are parsed and checked; imports and simple constants are kept if they can be parsed;
// everything else is host code, whose tokens are skipped without errors. Blocks of host code (`if`,
// `try`, functions, classes) are searched for device functions.
//
// Recursion is the algorithm: recursive descent.
#include "lang/syntax/guards.h"

// What is kept of the statements of a block.
struct scope {
  struct guard_scope at;
  bool is_native; // no function of the file is decorated: all are device functions
  bool is_match;  // the block of a `match`
};

typedef VEC(struct ast_function *) function_vec;
typedef VEC(struct ast_constant) constant_vec;
typedef VEC(struct ast_class *) class_vec;

struct module_parts {
  function_vec functions;
  constant_vec constants;
  import_vec imports;
  class_vec classes;
};

static void parse_outer(struct parser *p, struct module_parts *m, struct scope scope);

// ---- Functions ----

// A constexpr_function is Python code; if it cannot be parsed, it is host code.
static struct ast_function *try_constexpr_function(struct parser *p, const struct decoration *d) {
  size_t first = p->pos;
  unsigned errors = p->error_count;
  p->quiet = true;
  p->is_python = !d->is_constexpr_function;
  struct ast_function *f = parse_function(p, &d->exprs);
  p->quiet = p->is_python = false;
  if (p->error_count == errors) {
    f->is_constexpr_function = true;
    return f;
  }
  p->error_count = errors;
  p->panic = false;
  p->pos = first;
  return NULL;
}

// Parses it without reporting; NULL, with the position restored, if there are errors.
static struct ast_function *try_function(struct parser *p, const struct decoration *d) {
  size_t first = p->pos;
  unsigned errors = p->error_count;
  bool quiet = p->quiet;
  p->quiet = true;
  struct ast_function *f = parse_function(p, &d->exprs);
  p->quiet = quiet;
  if (p->error_count == errors)
    return f;
  p->error_count = errors;
  p->panic = false;
  p->pos = first;
  return NULL;
}

// Whether the file passes the function at `def` to `jit`.
static bool is_jitted(const struct parser *p) {
  struct token name = p->tokens.at[p->pos + 1];
  return name.kind == TOK_NAME && map_get(&p->jitted, parser_text_of(p, name)) != NULL;
}

// A host function. Its block is searched for device functions; its body is kept if it can be
// parsed: code evaluated at compile time may call it.
static void parse_host_function(struct parser *p, struct module_parts *m, struct scope scope) {
  static const struct decoration undecorated = {0};
  size_t first = p->pos;
  struct ast_function *f = scope.at.is_nested ? NULL : try_constexpr_function(p, &undecorated);
  p->pos = first;
  if (!f)
    f = arena_new(p->arena, struct ast_function);
  parser_accept(p, TOK_DEF);
  f->name_span = parser_token_span(p);
  if (parser_peek(p) == TOK_NAME)
    f->name = parser_name(p, "the function");
  parser_skip_line(p);
  f->span = parser_span_from(p, first);
  f->is_host = true;
  f->guard = scope.at.is_nested ? NULL : guards_now(p, &scope.at);
  if (f->name && !scope.at.is_nested)
    vec_push(p->arena, &m->functions, f);
  parser_accept(p, TOK_NEWLINE);
  scope.at.guard = guards_now(p, &scope.at);
  scope.at.attempt = NULL;
  scope.at.is_nested = true;
  if (parser_accept(p, TOK_INDENT))
    parse_outer(p, m, scope);
}

static void parse_outer_function(struct parser *p, struct module_parts *m, struct scope scope,
                                 const struct decoration *d) {
  struct ast_function *f = NULL;
  bool is_native = scope.is_native && !scope.at.is_nested && !d->is_other;
  bool is_device = d->is_jit || is_native || is_jitted(p);
  if (is_device && !d->is_jit && p->is_imported)
    f = try_function(p, d); // perhaps host code: the file does not say
  else if (is_device)
    f = parse_function(p, &d->exprs);
  if (f && is_device) {
    f->is_jit = true;
    f->is_noinline = d->is_noinline;
    f->is_commutative = d->is_commutative;
  } else if (d->is_constexpr_function && !scope.at.is_nested) {
    f = try_constexpr_function(p, d);
  }
  if (!f) {
    parse_host_function(p, m, scope);
    return;
  }
  f->is_nested = scope.at.is_nested;
  f->guard = guards_now(p, &scope.at);
  if (f->name)
    vec_push(p->arena, &m->functions, f);
}

static void keep_class(struct parser *p, struct module_parts *m, struct scope scope,
                       struct ast_class *c) {
  if (!c)
    return;
  c->guard = guards_now(p, &scope.at);
  vec_push(p->arena, &m->classes, c);
}

static void parse_decorated(struct parser *p, struct module_parts *m, struct scope scope) {
  size_t first = p->pos;
  struct decoration d = {0};
  parse_decoration(p, &d);
  if (parser_peek(p) == TOK_DEF) {
    parse_outer_function(p, m, scope, &d);
  } else if (parser_peek(p) == TOK_CLASS && d.is_aggregate && !scope.at.is_nested) {
    keep_class(p, m, scope, parse_class(p));
  } else if (parser_peek(p) != TOK_CLASS && parser_peek(p) != TOK_ASYNC) {
    struct token at = p->tokens.at[first];
    diag_help(parser_report(p, (struct span){p->source, at.begin, at.end}, E0116,
                            "no function follows this decorator"),
              "write its `def` on the next line, or remove the decorator");
  }
}

// ---- Constants ----

// Parses a line of simple statements without reporting. False, with the position restored, if that
// fails.
static bool try_simple(struct parser *p, stmt_vec *out) {
  size_t first = p->pos;
  unsigned errors = p->error_count;
  bool is_python = p->is_python, quiet = p->quiet;
  p->quiet = p->is_python = true;
  parse_simple_line(p, out);
  p->quiet = quiet;
  p->is_python = is_python;
  if (p->error_count == errors)
    return true;
  p->error_count = errors;
  p->pos = first;
  return false;
}

// Element `i` of a value assigned to several names.
static struct expr *element_of(struct parser *p, struct expr *value, size_t i) {
  if ((value->kind == EXPR_TUPLE || value->kind == EXPR_LIST))
    return i < value->items.len ? value->items.at[i] : NULL;
  struct expr *index = expr_new(p, EXPR_INT, p->pos), *e = expr_new(p, EXPR_SUBSCRIPT, p->pos);
  index->span = e->span = value->span;
  index->integer.text = str_from(arena_printf(p->arena, "%zu", i));
  index->integer.value = i;
  e->subscript.object = value;
  e->subscript.items.at = arena_array(p->arena, struct expr *, 1);
  e->subscript.items.at[0] = index;
  e->subscript.items.len = 1;
  expr_adopt(p, e, value);
  return e;
}

static void keep_constant(struct parser *p, struct module_parts *m, const struct scope *scope,
                          const struct expr *target, struct expr *annotation, struct expr *value) {
  if (target->kind == EXPR_TUPLE || target->kind == EXPR_LIST) { // A, B = 1, 2
    for (size_t i = 0; i < target->items.len; i++) {
      struct expr *element = element_of(p, value, i);
      if (element)
        keep_constant(p, m, scope, target->items.at[i], NULL, element);
    }
    return;
  }
  if (target->kind != EXPR_NAME)
    return;
  struct ast_class *record = named_tuple_class(p, target->name, target->span, value);
  if (record) { // P = namedtuple("P", "x y")
    keep_class(p, m, *scope, record);
    return;
  }
  struct expr *function;
  if (is_jit_call(p, value, &function)) { // k = triton.jit(f): another name for f
    if (strcmp(function->name, target->name) == 0)
      return;
    value = function;
  }
  struct ast_constant c = {.name = target->name,
                           .guard = guards_now(p, &scope->at),
                           .annotation = annotation,
                           .value = value,
                           .name_span = target->span};
  vec_push(p->arena, &m->constants, c);
}

// NAME += value
static void keep_augmented(struct parser *p, struct module_parts *m, const struct scope *scope,
                           const struct stmt *s) {
  struct expr *e = expr_new(p, EXPR_BINARY, p->pos);
  e->span = s->span;
  e->binary.op = s->aug_assign.op;
  e->binary.left = s->aug_assign.target;
  e->binary.right = s->aug_assign.value;
  e->binary.op_span = s->aug_assign.op_span;
  expr_adopt(p, e, s->aug_assign.value);
  keep_constant(p, m, scope, s->aug_assign.target, NULL, e);
}

static void keep_simple(struct parser *p, struct module_parts *m, const struct scope *scope,
                        const struct stmt *s) {
  guards_step_of(p, &scope->at, s);
  if (s->kind == STMT_IMPORT) {
    for (size_t i = 0; i < s->import.count; i++) {
      s->import.items[i].guard = guards_now(p, &scope->at);
      vec_push(p->arena, &m->imports, s->import.items[i]);
    }
  } else if (s->kind == STMT_ASSIGN) {
    for (size_t i = 0; i < s->assign.targets.len; i++)
      keep_constant(p, m, scope, s->assign.targets.at[i], NULL, s->assign.value);
  } else if (s->kind == STMT_ANN_ASSIGN && s->ann_assign.value) {
    keep_constant(p, m, scope, s->ann_assign.target, s->ann_assign.annotation, s->ann_assign.value);
  } else if (s->kind == STMT_AUG_ASSIGN) {
    keep_augmented(p, m, scope, s);
  }
}

// ---- Other statements ----

// The rest of a header, and the block under it.
static void search_block(struct parser *p, struct module_parts *m, struct scope scope) {
  parser_skip_line(p);
  parser_accept(p, TOK_NEWLINE);
  if (parser_accept(p, TOK_INDENT))
    parse_outer(p, m, scope);
}

// `if __name__ == "__main__":` is skipped.
static bool at_main_guard(const struct parser *p) {
  const struct token *next = &p->tokens.at[p->pos + 1];
  if (parser_peek(p) != TOK_IF || next->kind != TOK_NAME || next[1].kind != TOK_EQ)
    return false;
  struct str name = {p->source->text.ptr + next->begin, next->end - next->begin};
  return str_is(name, "__name__");
}

// Two names in a row start no Python statement: a misspelt keyword in a file without decorators,
// where skipping it would hide the function.
static bool is_misspelt(const struct parser *p, struct scope scope) {
  return scope.is_native && !scope.at.is_nested && parser_peek(p) == TOK_NAME &&
         parser_peek_at(p, 1) == TOK_NAME && !at_match(p) && !parser_at_word(p, "type");
}

// `NAME =`, `NAME:`, `A, B =`, `(A, B) =`, `NAME +=`
static bool at_assignment(const struct parser *p) {
  enum token_kind kind = parser_peek(p), next = parser_peek_at(p, 1);
  bool is_name = next == TOK_ASSIGN || next == TOK_COLON || next == TOK_COMMA ||
                 (next >= TOK_PLUS_ASSIGN && next <= TOK_CARET_ASSIGN);
  return (kind == TOK_NAME && is_name) || ((kind == TOK_LPAREN || kind == TOK_LBRACKET) &&
                                           next == TOK_NAME && parser_peek_at(p, 2) == TOK_COMMA);
}

// `raise a.B(...)`
static void parse_raise(struct parser *p, const struct scope *scope) {
  struct ast_step step = {.kind = STEP_RAISE, .span = parser_token_span(p)};
  step.exception = guards_raised(p);
  guards_step(p, &scope->at, step);
  parser_skip_statement(p);
}

static void parse_outer_simple(struct parser *p, struct module_parts *m, struct scope scope) {
  if (is_misspelt(p, scope)) {
    stmt_vec dropped = {0};
    parse_simple_line(p, &dropped);
    return;
  }
  if (parser_peek(p) == TOK_RAISE) {
    parse_raise(p, &scope);
    return;
  }
  bool is_import = parser_peek(p) == TOK_IMPORT || parser_peek(p) == TOK_FROM;
  bool is_wanted = is_import || at_assignment(p) || parser_peek(p) == TOK_PASS || scope.at.attempt;
  stmt_vec line = {0};
  if (scope.at.is_nested || !is_wanted || !try_simple(p, &line)) {
    guards_step(p, &scope.at, (struct ast_step){.kind = STEP_HOST, .span = parser_token_span(p)});
    parser_skip_statement(p);
    return;
  }
  for (size_t i = 0; i < line.len; i++)
    keep_simple(p, m, &scope, line.at[i]);
}

// A compound statement, whose block may hold imports, constants and device functions. The block may
// be the rest of its line.
static void parse_outer_compound(struct parser *p, struct module_parts *m, struct scope scope) {
  if (at_main_guard(p)) {
    parser_skip_statement(p);
    // The block of the `else` runs here.
    *scope.at.chain = (struct guard_chain){.kind = CHAIN_IF, .rest = guards_now(p, &scope.at)};
    return;
  }
  scope.is_match = at_match(p);
  guards_enter(p, &scope.at);
  if (parser_peek(p) == TOK_NEWLINE)
    search_block(p, m, scope);
  else if (parser_peek(p) != TOK_EOF)
    parse_outer_simple(p, m, scope);
}

static void parse_outer_statement(struct parser *p, struct module_parts *m, struct scope scope) {
  static const struct decoration undecorated = {0};
  switch (parser_peek(p)) {
  case TOK_NEWLINE: parser_accept(p, TOK_NEWLINE); break;
  case TOK_INDENT:
    diag_help(parser_report(p, parser_token_span(p), E0104,
                            "this line is indented, but no block begins here"),
              "align it with the line before");
    parser_accept(p, TOK_INDENT);
    parse_outer(p, m, scope);
    break;
  case TOK_AT: parse_decorated(p, m, scope); break;
  case TOK_DEF: parse_outer_function(p, m, scope, &undecorated); break;
  case TOK_IF:
  case TOK_ELIF:
  case TOK_ELSE:
  case TOK_TRY:
  case TOK_EXCEPT:
  case TOK_FINALLY:
  case TOK_WITH:
  case TOK_FOR:
  case TOK_WHILE: parse_outer_compound(p, m, scope); break;
  case TOK_CLASS:
    if (!scope.at.is_nested && at_record_class(p)) {
      keep_class(p, m, scope, parse_class(p));
      break;
    }
    if (!scope.at.is_nested)
      keep_class(p, m, scope, parse_host_class(p));
    scope.at.is_nested = true;
    search_block(p, m, scope);
    break;
  case TOK_ASYNC:
    scope.at.is_nested = true;
    search_block(p, m, scope);
    break;
  default:
    if (at_match(p) || (parser_at_word(p, "case") && scope.is_match))
      parse_outer_compound(p, m, scope);
    else
      parse_outer_simple(p, m, scope);
    break;
  }
}

// Statements up to the end of the block, which is taken, or of the file.
static void parse_outer(struct parser *p, struct module_parts *m, struct scope scope) {
  struct guard_chain chain = {0};
  scope.at.chain = &chain;
  while (parser_peek(p) != TOK_EOF && !parser_accept(p, TOK_DEDENT))
    parse_outer_statement(p, m, scope);
}

// module = { import | constant | function | host_statement } EOF
void parse_module(struct parser *p, bool is_python) {
  struct module_parts parts = {0};
  struct ast_module *m = p->module;
  parser_find_jit_names(p);
  m->has_jit = parser_has_jit(p);
  parser_find_jitted(p);
  struct scope scope = {.is_native = !m->has_jit && p->jitted.count == 0 && !is_python};
  while (parser_peek(p) != TOK_EOF)
    parse_outer(p, &parts, scope);
  m->functions = parts.functions.at;
  m->function_count = parts.functions.len;
  m->constants = parts.constants.at;
  m->constant_count = parts.constants.len;
  m->classes = parts.classes.at;
  m->class_count = parts.classes.len;
  m->imports = parts.imports.at;
  m->import_count = parts.imports.len;
}
