// SPDX-License-Identifier: Apache-2.0
// The tree as S-expressions, for --emit=ast and for tests: one statement a line, blocks indented by
// two, expressions within the line. The form is stable: tests compare it.
//
//   y = x * 2 + tl.exp(z)        (= y (+ (* x 2) (call tl.exp z)))
#include "lang/syntax/ast.h"

struct printer {
  struct strbuf *out;
  unsigned indent;
};

static void print_params(const struct ast_param *params, size_t count, struct strbuf *out);

// ---- Expressions ----

static void print_quoted(struct str s, struct strbuf *out) {
  strbuf_putc(out, '"');
  for (size_t i = 0; i < s.len; i++) {
    unsigned char c = (unsigned char)s.ptr[i];
    if (c == '"' || c == '\\')
      strbuf_printf(out, "\\%c", c);
    else if (c == '\n')
      strbuf_puts(out, "\\n");
    else if (c < 0x20 || c == 0x7f)
      strbuf_printf(out, "\\x%02x", c);
    else
      strbuf_putc(out, (char)c);
  }
  strbuf_putc(out, '"');
}

static void print_optional(const struct expr *e, struct strbuf *out) {
  strbuf_putc(out, ' ');
  if (e)
    ast_print_expr(e, out);
  else
    strbuf_putc(out, '_');
}

// (head item item ...)
static void print_list(const char *head, struct expr_list items, struct strbuf *out) {
  strbuf_printf(out, "(%s", head);
  for (size_t i = 0; i < items.len; i++)
    print_optional(items.at[i], out);
  strbuf_putc(out, ')');
}

static void print_parts(const struct fstring_part *parts, size_t count, struct strbuf *out) {
  for (size_t i = 0; i < count; i++) {
    const struct fstring_part *part = &parts[i];
    strbuf_putc(out, ' ');
    if (!part->value) {
      print_quoted(part->text, out);
      continue;
    }
    strbuf_putc(out, '{');
    if (part->text.len) {
      print_quoted(part->text, out);
      strbuf_putc(out, ' ');
    }
    ast_print_expr(part->value, out);
    if (part->conversion)
      strbuf_printf(out, " !%c", part->conversion);
    if (part->format_count) {
      strbuf_puts(out, " :");
      print_parts(part->format, part->format_count, out);
    }
    strbuf_putc(out, '}');
  }
}

static void print_compare(const struct expr *e, struct strbuf *out) {
  const struct expr_list operands = e->compare.operands;
  if (operands.len == 2) {
    print_list(ast_op_text(e->compare.ops[0]), operands, out);
    return;
  }
  strbuf_puts(out, "(compare");
  for (size_t i = 0; i < operands.len; i++) {
    if (i > 0)
      strbuf_printf(out, " %s", ast_op_text(e->compare.ops[i - 1]));
    print_optional(operands.at[i], out);
  }
  strbuf_putc(out, ')');
}

static void print_call(const struct expr *e, struct strbuf *out) {
  strbuf_puts(out, "(call");
  print_optional(e->call.callee, out);
  for (size_t i = 0; i < e->call.arg_count; i++) {
    const struct ast_arg *arg = &e->call.args[i];
    if (arg->name)
      strbuf_printf(out, " :%s", arg->name);
    else if (arg->is_star)
      strbuf_puts(out, " *");
    else if (arg->is_double_star)
      strbuf_puts(out, " **");
    print_optional(arg->value, out);
  }
  strbuf_putc(out, ')');
}

static void print_comprehension(const struct expr *e, struct strbuf *out) {
  static const char *const heads[] = {"generator", "list-of", "set-of", "dict-of"};
  strbuf_printf(out, "(%s", heads[e->comprehension.kind]);
  if (e->comprehension.key)
    print_optional(e->comprehension.key, out);
  print_optional(e->comprehension.element, out);
  for (size_t i = 0; i < e->comprehension.clause_count; i++) {
    const struct comprehension_clause *c = &e->comprehension.clauses[i];
    strbuf_puts(out, " (for");
    print_optional(c->target, out);
    print_optional(c->iter, out);
    for (size_t j = 0; j < c->conditions.len; j++) {
      strbuf_puts(out, " if");
      print_optional(c->conditions.at[j], out);
    }
    strbuf_putc(out, ')');
  }
  strbuf_putc(out, ')');
}

static void print_dict(const struct expr *e, struct strbuf *out) {
  strbuf_puts(out, "(dict");
  for (size_t i = 0; i < e->dict.count; i++) {
    strbuf_puts(out, " (");
    if (e->dict.items[i].key)
      ast_print_expr(e->dict.items[i].key, out);
    else
      strbuf_puts(out, "**");
    print_optional(e->dict.items[i].value, out);
    strbuf_putc(out, ')');
  }
  strbuf_putc(out, ')');
}

// Dotted where it reads well, `(. (call f) shape)` elsewhere.
static void print_attribute(const struct expr *e, struct strbuf *out) {
  const struct expr *object = e->attribute.object;
  bool plain = object->kind == EXPR_NAME || object->kind == EXPR_ATTRIBUTE;
  if (!plain)
    strbuf_puts(out, "(. ");
  ast_print_expr(object, out);
  strbuf_printf(out, plain ? ".%s" : " %s)", e->attribute.name);
}

static void print_three(const char *head, const struct expr *a, const struct expr *b,
                        const struct expr *c, struct strbuf *out) {
  strbuf_printf(out, "(%s", head);
  print_optional(a, out);
  print_optional(b, out);
  print_optional(c, out);
  strbuf_putc(out, ')');
}

static void print_wrapped(const char *head, const struct expr *inner, struct strbuf *out) {
  strbuf_printf(out, "(%s", head);
  if (inner)
    print_optional(inner, out);
  strbuf_putc(out, ')');
}

static void print_subscript(const struct expr *e, struct strbuf *out) {
  strbuf_puts(out, "(index");
  print_optional(e->subscript.object, out);
  for (size_t i = 0; i < e->subscript.items.len; i++)
    print_optional(e->subscript.items.at[i], out);
  strbuf_puts(out, e->subscript.trailing_comma ? " ,)" : ")");
}

static void print_lambda(const struct expr *e, struct strbuf *out) {
  strbuf_puts(out, "(lambda ");
  print_params(e->lambda.params, e->lambda.param_count, out);
  print_optional(e->lambda.body, out);
  strbuf_putc(out, ')');
}

void ast_print_expr(const struct expr *e, struct strbuf *out) {
  switch (e->kind) {
  case EXPR_NAME: strbuf_puts(out, e->name); break;
  case EXPR_INT: strbuf_put(out, e->integer.text.ptr, e->integer.text.len); break;
  case EXPR_FLOAT: strbuf_put(out, e->floating.text.ptr, e->floating.text.len); break;
  case EXPR_IMAGINARY: strbuf_puts(out, "(imaginary)"); break;
  case EXPR_STRING:
    if (e->string.is_bytes)
      strbuf_putc(out, 'b');
    print_quoted(e->string.value, out);
    break;
  case EXPR_FSTRING:
    strbuf_puts(out, "(f-string");
    print_parts(e->fstring.parts, e->fstring.count, out);
    strbuf_putc(out, ')');
    break;
  case EXPR_BOOL: strbuf_puts(out, e->boolean ? "True" : "False"); break;
  case EXPR_NONE: strbuf_puts(out, "None"); break;
  case EXPR_ELLIPSIS: strbuf_puts(out, "..."); break;
  case EXPR_UNARY: print_wrapped(ast_op_text(e->unary.op), e->unary.operand, out); break;
  case EXPR_BINARY:
    strbuf_printf(out, "(%s", ast_op_text(e->binary.op));
    print_optional(e->binary.left, out);
    print_optional(e->binary.right, out);
    strbuf_putc(out, ')');
    break;
  case EXPR_LOGIC: print_list(ast_op_text(e->logic.op), e->logic.operands, out); break;
  case EXPR_COMPARE: print_compare(e, out); break;
  case EXPR_CALL: print_call(e, out); break;
  case EXPR_ATTRIBUTE: print_attribute(e, out); break;
  case EXPR_SUBSCRIPT: print_subscript(e, out); break;
  case EXPR_TUPLE: print_list("tuple", e->items, out); break;
  case EXPR_LIST: print_list("list", e->items, out); break;
  case EXPR_SET: print_list("set", e->items, out); break;
  case EXPR_DICT: print_dict(e, out); break;
  case EXPR_TERNARY:
    print_three("if-else", e->ternary.condition, e->ternary.then, e->ternary.otherwise, out);
    break;
  case EXPR_LAMBDA: print_lambda(e, out); break;
  case EXPR_COMPREHENSION: print_comprehension(e, out); break;
  case EXPR_WALRUS:
    strbuf_printf(out, "(:= %s", e->walrus.name);
    print_optional(e->walrus.value, out);
    strbuf_putc(out, ')');
    break;
  case EXPR_STARRED: print_wrapped("starred", e->inner, out); break;
  case EXPR_SLICE: print_three("slice", e->slice.lo, e->slice.hi, e->slice.step, out); break;
  case EXPR_AWAIT: print_wrapped("await", e->inner, out); break;
  case EXPR_YIELD: print_wrapped("yield", e->inner, out); break;
  case EXPR_ERROR:
  case EXPR_KIND_COUNT: strbuf_puts(out, "(error)"); break;
  }
}

// ---- Statements ----

static void print_function(struct printer *p, const struct ast_function *f);

static void begin_line(struct printer *p) {
  for (unsigned i = 0; i < p->indent; i++)
    strbuf_puts(p->out, "  ");
}

static void print_body(struct printer *p, struct stmt_list body);

static void print_branch(struct printer *p, const char *head, struct stmt_list body) {
  if (body.len == 0)
    return;
  strbuf_putc(p->out, '\n');
  begin_line(p);
  strbuf_printf(p->out, "(%s", head);
  print_body(p, body);
  strbuf_putc(p->out, ')');
}

static void print_import(const struct ast_import *i, struct strbuf *out) {
  strbuf_printf(out, "(import %s", i->module);
  if (i->name)
    strbuf_printf(out, " %s", i->name);
  if (i->bound)
    strbuf_printf(out, " as %s", i->bound);
  strbuf_putc(out, ')');
}

static void print_assignment(const struct stmt *s, struct strbuf *out) {
  if (s->kind == STMT_ASSIGN) {
    strbuf_puts(out, "(=");
    for (size_t i = 0; i < s->assign.targets.len; i++)
      print_optional(s->assign.targets.at[i], out);
    print_optional(s->assign.value, out);
  } else if (s->kind == STMT_AUG_ASSIGN) {
    strbuf_printf(out, "(%s=", ast_op_text(s->aug_assign.op));
    print_optional(s->aug_assign.target, out);
    print_optional(s->aug_assign.value, out);
  } else {
    strbuf_puts(out, "(:");
    print_optional(s->ann_assign.target, out);
    print_optional(s->ann_assign.annotation, out);
    if (s->ann_assign.value)
      print_optional(s->ann_assign.value, out);
  }
  strbuf_putc(out, ')');
}

static void print_with(struct printer *p, const struct stmt *s) {
  strbuf_puts(p->out, "(with");
  for (size_t i = 0; i < s->with_stmt.count; i++) {
    print_optional(s->with_stmt.items[i].context, p->out);
    if (s->with_stmt.items[i].target) {
      strbuf_puts(p->out, " as");
      print_optional(s->with_stmt.items[i].target, p->out);
    }
  }
  print_body(p, s->with_stmt.body);
  strbuf_putc(p->out, ')');
}

static void print_compound(struct printer *p, const struct stmt *s) {
  switch (s->kind) {
  case STMT_IF:
    strbuf_puts(p->out, "(if");
    print_optional(s->if_stmt.condition, p->out);
    print_body(p, s->if_stmt.body);
    print_branch(p, "else", s->if_stmt.orelse);
    break;
  case STMT_FOR:
    strbuf_puts(p->out, "(for");
    print_optional(s->for_stmt.target, p->out);
    print_optional(s->for_stmt.iter, p->out);
    print_body(p, s->for_stmt.body);
    print_branch(p, "else", s->for_stmt.orelse);
    break;
  default:
    strbuf_puts(p->out, "(while");
    print_optional(s->while_stmt.condition, p->out);
    print_body(p, s->while_stmt.body);
    print_branch(p, "else", s->while_stmt.orelse);
    break;
  }
  strbuf_putc(p->out, ')');
}

static void print_statement(struct printer *p, const struct stmt *s) {
  switch (s->kind) {
  case STMT_EXPR: ast_print_expr(s->expr, p->out); break;
  case STMT_ASSIGN:
  case STMT_AUG_ASSIGN:
  case STMT_ANN_ASSIGN: print_assignment(s, p->out); break;
  case STMT_IF:
  case STMT_FOR:
  case STMT_WHILE: print_compound(p, s); break;
  case STMT_RETURN: print_wrapped("return", s->value, p->out); break;
  case STMT_PASS: strbuf_puts(p->out, "(pass)"); break;
  case STMT_BREAK: strbuf_puts(p->out, "(break)"); break;
  case STMT_CONTINUE: strbuf_puts(p->out, "(continue)"); break;
  case STMT_ASSERT:
    strbuf_puts(p->out, "(assert");
    print_optional(s->assert_stmt.condition, p->out);
    if (s->assert_stmt.message)
      print_optional(s->assert_stmt.message, p->out);
    strbuf_putc(p->out, ')');
    break;
  case STMT_WITH: print_with(p, s); break;
  case STMT_DEF: print_function(p, s->def); break;
  case STMT_IMPORT:
    for (size_t i = 0; i < s->import.count; i++)
      print_import(&s->import.items[i], p->out);
    break;
  case STMT_ERROR:
    if (s->unsupported)
      strbuf_printf(p->out, "(unsupported %s)", s->unsupported);
    else
      strbuf_puts(p->out, "(error)");
    break;
  case STMT_KIND_COUNT: break;
  }
}

static void print_body(struct printer *p, struct stmt_list body) {
  p->indent++;
  for (size_t i = 0; i < body.len; i++) {
    strbuf_putc(p->out, '\n');
    begin_line(p);
    print_statement(p, body.at[i]);
  }
  p->indent--;
}

// ---- Functions and modules ----

static void print_params(const struct ast_param *params, size_t count, struct strbuf *out) {
  static const char *const marks[] = {"", "", "", "*", "**"};
  strbuf_putc(out, '(');
  for (size_t i = 0; i < count; i++) {
    if (i > 0)
      strbuf_putc(out, ' ');
    bool plain = !params[i].annotation && !params[i].default_value;
    if (!plain)
      strbuf_putc(out, '(');
    strbuf_printf(out, "%s%s", marks[params[i].kind], params[i].name);
    if (params[i].annotation) {
      strbuf_puts(out, " :");
      print_optional(params[i].annotation, out);
    }
    if (params[i].default_value) {
      strbuf_puts(out, " =");
      print_optional(params[i].default_value, out);
    }
    if (!plain)
      strbuf_putc(out, ')');
  }
  strbuf_putc(out, ')');
}

static void print_function(struct printer *p, const struct ast_function *f) {
  const char *head = f->is_host                 ? "host"
                     : f->is_constexpr_function ? "constexpr-function"
                     : f->is_jit                ? "kernel"
                                                : "def";
  strbuf_printf(p->out, "(%s %s", head, f->name);
  if (f->is_host) {
    strbuf_putc(p->out, ')');
    return;
  }
  strbuf_putc(p->out, ' ');
  print_params(f->params, f->param_count, p->out);
  if (f->returns) {
    strbuf_puts(p->out, " ->");
    print_optional(f->returns, p->out);
  }
  p->indent++;
  for (size_t i = 0; i < f->decorators.len; i++) {
    strbuf_putc(p->out, '\n');
    begin_line(p);
    strbuf_puts(p->out, "(@");
    print_optional(f->decorators.at[i], p->out);
    strbuf_putc(p->out, ')');
  }
  p->indent--;
  print_body(p, f->body);
  strbuf_putc(p->out, ')');
}

static void print_class(struct printer *p, const struct ast_class *c) {
  strbuf_printf(p->out, "(class %s", c->name);
  for (size_t i = 0; i < c->base_count; i++)
    strbuf_printf(p->out, " %s", c->bases[i]);
  p->indent++;
  for (size_t i = 0; i < c->field_count; i++) {
    strbuf_putc(p->out, '\n');
    begin_line(p);
    strbuf_printf(p->out, "(field %s", c->fields[i].name);
    print_optional(c->fields[i].annotation, p->out);
    if (c->fields[i].default_value)
      print_optional(c->fields[i].default_value, p->out);
    strbuf_putc(p->out, ')');
  }
  for (size_t i = 0; i < c->method_count; i++) {
    strbuf_putc(p->out, '\n');
    begin_line(p);
    print_function(p, c->methods[i]);
  }
  p->indent--;
  strbuf_putc(p->out, ')');
}

void ast_print(const struct ast_module *m, struct strbuf *out) {
  struct printer p = {.out = out};
  for (size_t i = 0; i < m->import_count; i++) {
    print_import(&m->imports[i], out);
    strbuf_putc(out, '\n');
  }
  for (size_t i = 0; i < m->constant_count; i++) {
    const struct ast_constant *c = &m->constants[i];
    strbuf_printf(out, "(constant %s", c->name);
    if (c->annotation) {
      strbuf_puts(out, " :");
      print_optional(c->annotation, out);
    }
    print_optional(c->value, out);
    strbuf_puts(out, ")\n");
  }
  for (size_t i = 0; i < m->class_count; i++) {
    print_class(&p, m->classes[i]);
    strbuf_putc(out, '\n');
  }
  for (size_t i = 0; i < m->function_count; i++) {
    print_function(&p, m->functions[i]);
    strbuf_putc(out, '\n');
  }
}
