// SPDX-License-Identifier: Apache-2.0
// Expressions and parameters as S-expressions.
#include "lang/syntax/ast_print.h"

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

void ast_print_optional(const struct expr *e, struct strbuf *out) {
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
    ast_print_optional(items.at[i], out);
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
    ast_print_optional(operands.at[i], out);
  }
  strbuf_putc(out, ')');
}

static void print_call(const struct expr *e, struct strbuf *out) {
  strbuf_puts(out, "(call");
  ast_print_optional(e->call.callee, out);
  for (size_t i = 0; i < e->call.arg_count; i++) {
    const struct ast_arg *arg = &e->call.args[i];
    if (arg->name)
      strbuf_printf(out, " :%s", arg->name);
    else if (arg->is_star)
      strbuf_puts(out, " *");
    else if (arg->is_double_star)
      strbuf_puts(out, " **");
    ast_print_optional(arg->value, out);
  }
  strbuf_putc(out, ')');
}

static void print_comprehension(const struct expr *e, struct strbuf *out) {
  static const char *const heads[] = {"generator", "list-of", "set-of", "dict-of"};
  strbuf_printf(out, "(%s", heads[e->comprehension.kind]);
  if (e->comprehension.key)
    ast_print_optional(e->comprehension.key, out);
  ast_print_optional(e->comprehension.element, out);
  for (size_t i = 0; i < e->comprehension.clause_count; i++) {
    const struct comprehension_clause *c = &e->comprehension.clauses[i];
    strbuf_puts(out, " (for");
    ast_print_optional(c->target, out);
    ast_print_optional(c->iter, out);
    for (size_t j = 0; j < c->conditions.len; j++) {
      strbuf_puts(out, " if");
      ast_print_optional(c->conditions.at[j], out);
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
    ast_print_optional(e->dict.items[i].value, out);
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
  ast_print_optional(a, out);
  ast_print_optional(b, out);
  ast_print_optional(c, out);
  strbuf_putc(out, ')');
}

void ast_print_wrapped(const char *head, const struct expr *inner, struct strbuf *out) {
  strbuf_printf(out, "(%s", head);
  if (inner)
    ast_print_optional(inner, out);
  strbuf_putc(out, ')');
}

static void print_subscript(const struct expr *e, struct strbuf *out) {
  strbuf_puts(out, "(index");
  ast_print_optional(e->subscript.object, out);
  for (size_t i = 0; i < e->subscript.items.len; i++)
    ast_print_optional(e->subscript.items.at[i], out);
  strbuf_puts(out, e->subscript.trailing_comma ? " ,)" : ")");
}

void ast_print_params(const struct ast_param *params, size_t count, struct strbuf *out) {
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
      ast_print_optional(params[i].annotation, out);
    }
    if (params[i].default_value) {
      strbuf_puts(out, " =");
      ast_print_optional(params[i].default_value, out);
    }
    if (!plain)
      strbuf_putc(out, ')');
  }
  strbuf_putc(out, ')');
}

static void print_lambda(const struct expr *e, struct strbuf *out) {
  strbuf_puts(out, "(lambda ");
  ast_print_params(e->lambda.params, e->lambda.param_count, out);
  ast_print_optional(e->lambda.body, out);
  strbuf_putc(out, ')');
}

static bool print_literal(const struct expr *e, struct strbuf *out) {
  switch (e->kind) {
  case EXPR_NAME: strbuf_puts(out, e->name); return true;
  case EXPR_INT: strbuf_put(out, e->integer.text.ptr, e->integer.text.len); return true;
  case EXPR_FLOAT: strbuf_put(out, e->floating.text.ptr, e->floating.text.len); return true;
  case EXPR_IMAGINARY: strbuf_puts(out, "(imaginary)"); return true;
  case EXPR_STRING:
    strbuf_puts(out, e->string.is_bytes ? "b" : "");
    print_quoted(e->string.value, out);
    return true;
  case EXPR_FSTRING:
    strbuf_puts(out, "(f-string");
    print_parts(e->fstring.parts, e->fstring.count, out);
    strbuf_putc(out, ')');
    return true;
  case EXPR_BOOL: strbuf_puts(out, e->boolean ? "True" : "False"); return true;
  case EXPR_NONE: strbuf_puts(out, "None"); return true;
  case EXPR_ELLIPSIS: strbuf_puts(out, "..."); return true;
  default: return false;
  }
}

static void print_binary(const struct expr *e, struct strbuf *out) {
  strbuf_printf(out, "(%s", ast_op_text(e->binary.op));
  ast_print_optional(e->binary.left, out);
  ast_print_optional(e->binary.right, out);
  strbuf_putc(out, ')');
}

static void print_walrus(const struct expr *e, struct strbuf *out) {
  strbuf_printf(out, "(:= %s", e->walrus.name);
  ast_print_optional(e->walrus.value, out);
  strbuf_putc(out, ')');
}

void ast_print_expr(const struct expr *e, struct strbuf *out) {
  if (print_literal(e, out))
    return;
  switch ((int)e->kind) {
  case EXPR_UNARY: ast_print_wrapped(ast_op_text(e->unary.op), e->unary.operand, out); break;
  case EXPR_BINARY: print_binary(e, out); break;
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
  case EXPR_WALRUS: print_walrus(e, out); break;
  case EXPR_STARRED: ast_print_wrapped("starred", e->inner, out); break;
  case EXPR_SLICE: print_three("slice", e->slice.lo, e->slice.hi, e->slice.step, out); break;
  case EXPR_AWAIT: ast_print_wrapped("await", e->inner, out); break;
  case EXPR_YIELD: ast_print_wrapped("yield", e->inner, out); break;
  default: strbuf_puts(out, "(error)"); break;
  }
}
