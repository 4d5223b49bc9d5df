// SPDX-License-Identifier: Apache-2.0
// The tree as S-expressions, for --emit=ast and for tests: one statement a line, blocks indented by
// two, expressions within the line. The form is stable: tests compare it.
//
//   y = x * 2 + tl.exp(z)        (= y (+ (* x 2) (call tl.exp z)))
#include "lang/syntax/ast_print.h"

struct printer {
  struct strbuf *out;
  unsigned indent;
};

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
      ast_print_optional(s->assign.targets.at[i], out);
    ast_print_optional(s->assign.value, out);
  } else if (s->kind == STMT_AUG_ASSIGN) {
    strbuf_printf(out, "(%s=", ast_op_text(s->aug_assign.op));
    ast_print_optional(s->aug_assign.target, out);
    ast_print_optional(s->aug_assign.value, out);
  } else {
    strbuf_puts(out, "(:");
    ast_print_optional(s->ann_assign.target, out);
    ast_print_optional(s->ann_assign.annotation, out);
    if (s->ann_assign.value)
      ast_print_optional(s->ann_assign.value, out);
  }
  strbuf_putc(out, ')');
}

static void print_with(struct printer *p, const struct stmt *s) {
  strbuf_puts(p->out, "(with");
  for (size_t i = 0; i < s->with_stmt.count; i++) {
    ast_print_optional(s->with_stmt.items[i].context, p->out);
    if (s->with_stmt.items[i].target) {
      strbuf_puts(p->out, " as");
      ast_print_optional(s->with_stmt.items[i].target, p->out);
    }
  }
  print_body(p, s->with_stmt.body);
  strbuf_putc(p->out, ')');
}

static void print_compound(struct printer *p, const struct stmt *s) {
  switch (s->kind) {
  case STMT_IF:
    strbuf_puts(p->out, "(if");
    ast_print_optional(s->if_stmt.condition, p->out);
    print_body(p, s->if_stmt.body);
    print_branch(p, "else", s->if_stmt.orelse);
    break;
  case STMT_FOR:
    strbuf_puts(p->out, "(for");
    ast_print_optional(s->for_stmt.target, p->out);
    ast_print_optional(s->for_stmt.iter, p->out);
    print_body(p, s->for_stmt.body);
    print_branch(p, "else", s->for_stmt.orelse);
    break;
  default:
    strbuf_puts(p->out, "(while");
    ast_print_optional(s->while_stmt.condition, p->out);
    print_body(p, s->while_stmt.body);
    print_branch(p, "else", s->while_stmt.orelse);
    break;
  }
  strbuf_putc(p->out, ')');
}

static void print_try(struct printer *p, const struct stmt *s) {
  strbuf_puts(p->out, "(try");
  print_body(p, s->try_stmt.body);
  for (size_t i = 0; i < s->try_stmt.count; i++) {
    const struct try_handler *h = &s->try_stmt.handlers[i];
    strbuf_puts(p->out, " except");
    for (size_t k = 0; k < h->catches.count; k++)
      strbuf_printf(p->out, " %s", h->catches.names[k]);
    print_body(p, h->body);
  }
  print_branch(p, "else", s->try_stmt.orelse);
  print_branch(p, "finally", s->try_stmt.last);
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
  case STMT_RETURN: ast_print_wrapped("return", s->value, p->out); break;
  case STMT_PASS: strbuf_puts(p->out, "(pass)"); break;
  case STMT_BREAK: strbuf_puts(p->out, "(break)"); break;
  case STMT_CONTINUE: strbuf_puts(p->out, "(continue)"); break;
  case STMT_ASSERT:
    strbuf_puts(p->out, "(assert");
    ast_print_optional(s->assert_stmt.condition, p->out);
    if (s->assert_stmt.message)
      ast_print_optional(s->assert_stmt.message, p->out);
    strbuf_putc(p->out, ')');
    break;
  case STMT_WITH: print_with(p, s); break;
  case STMT_DEF: print_function(p, s->def); break;
  case STMT_TRY: print_try(p, s); break;
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
  ast_print_params(f->params, f->param_count, p->out);
  if (f->returns) {
    strbuf_puts(p->out, " ->");
    ast_print_optional(f->returns, p->out);
  }
  p->indent++;
  for (size_t i = 0; i < f->decorators.len; i++) {
    strbuf_putc(p->out, '\n');
    begin_line(p);
    strbuf_puts(p->out, "(@");
    ast_print_optional(f->decorators.at[i], p->out);
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
    ast_print_optional(c->fields[i].annotation, p->out);
    if (c->fields[i].default_value)
      ast_print_optional(c->fields[i].default_value, p->out);
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
      ast_print_optional(c->annotation, out);
    }
    ast_print_optional(c->value, out);
    strbuf_puts(out, ")\n");
  }
  for (size_t i = 0; i < m->class_count; i++) {
    if (m->classes[i]->is_host)
      continue;
    print_class(&p, m->classes[i]);
    strbuf_putc(out, '\n');
  }
  for (size_t i = 0; i < m->function_count; i++) {
    print_function(&p, m->functions[i]);
    strbuf_putc(out, '\n');
  }
}
