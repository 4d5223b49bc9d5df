// SPDX-License-Identifier: Apache-2.0
// Function bodies: scopes, registers, labels and instructions.
#include "ptx-simulator/ptx_parse.h"

enum { MAX_SCOPES = 64, MAX_INSTRUCTIONS = 1 << 20, MAX_PARTS = 24 };

// ---- registers ----

// `.reg .b32 %r<6>, %x;`, after `.reg`.
static bool parse_registers(struct parser *p) {
  struct lexer *l = &p->lexer;
  struct token type = l->token;
  unsigned bits = token_is(&type, ".pred") ? 1 : ptx_type_bits(type.text);
  if (bits == 0 || bits > 64)
    return lexer_error(l, type.line, type.column, "no registers of type '%.*s'",
                       (int)(type.text.len < 64 ? type.text.len : 64), type.text.ptr);
  lexer_next(l);
  do {
    struct token t = l->token;
    struct str name = parse_name(p);
    uint64_t count = 1;
    bool many = lexer_take(l, "<");
    if (many && (!parse_integer(p, &count) || !lexer_expect(l, ">")))
      return false;
    if (l->failed)
      return false;
    if (count > MAX_REGISTERS || p->function->regs.len + count > MAX_REGISTERS)
      return lexer_error(l, t.line, t.column, "more than %d registers", MAX_REGISTERS);
    struct binding *b = arena_new(p->arena, struct binding);
    *b = (struct binding){.reg = (unsigned)p->function->regs.len, .count = (unsigned)count};
    name = str_from(arena_printf(p->arena, "%.*s%s", STR_ARG(name), many ? "<" : ""));
    if (map_get(&p->scope->names, name))
      return lexer_error(l, t.line, t.column, "a register is declared twice");
    map_put(p->arena, &p->scope->names, name, b);
    for (uint64_t i = 0; i < count; i++)
      vec_push(p->arena, &p->function->regs, (struct reg){.name = name, .bits = bits});
  } while (lexer_take(l, ","));
  return lexer_expect(l, ";");
}

// ---- labels ----

static void collect_labels(struct parser *p, struct operand *o) {
  if (o->kind == OPERAND_LABEL)
    vec_push(p->arena, &p->scope->pending, o);
  for (unsigned i = 0; i < o->item_count; i++)
    collect_labels(p, &o->items[i]);
}

// `.branchtargets a, b;`, after the directive.
static bool parse_targets(struct parser *p, struct label *label) {
  VEC(struct operand) targets = {0};
  do {
    struct operand o = {.line = p->lexer.token.line, .column = p->lexer.token.column};
    o.kind = OPERAND_LABEL;
    o.name = parse_name(p);
    if (p->lexer.failed)
      return false;
    vec_push(p->arena, &targets, o);
  } while (lexer_take(&p->lexer, ","));
  label->targets = targets.at;
  label->target_count = (unsigned)targets.len;
  for (size_t i = 0; i < targets.len; i++)
    collect_labels(p, &targets.at[i]);
  return lexer_expect(&p->lexer, ";");
}

// After the colon.
static bool define_label(struct parser *p, const struct token *t) {
  if (map_get(&p->scope->labels, t->text))
    return lexer_error(&p->lexer, t->line, t->column, "the label '%.*s' is defined twice",
                       (int)(t->text.len < 64 ? t->text.len : 64), t->text.ptr);
  struct label *label = arena_new(p->arena, struct label);
  label->at = (unsigned)p->function->code.len;
  map_put(p->arena, &p->scope->labels, t->text, label);
  return !lexer_take(&p->lexer, ".branchtargets") || parse_targets(p, label);
}

static bool close_scope(struct parser *p) {
  struct scope *s = p->scope, *parent = s->parent;
  for (size_t i = 0; i < s->pending.len; i++) {
    struct operand *o = s->pending.at[i];
    const struct label *label = map_get(&s->labels, o->name);
    if (label && label->targets) {
      o->kind = OPERAND_LIST;
      o->items = label->targets;
      o->item_count = label->target_count;
    } else if (label) {
      o->label = label->at;
    } else if (parent) {
      vec_push(p->arena, &parent->pending, o);
    } else {
      return parse_error_at(p, o, "is not declared");
    }
  }
  p->scope = parent;
  return true;
}

static struct scope *open_scope(struct parser *p) {
  struct scope *s = arena_new(p->arena, struct scope);
  s->parent = p->scope;
  return p->scope = s;
}

// ---- instructions ----

// Splits "fma.rn.f32" at its dots. "::" does not split.
static bool split_opcode(struct parser *p, const struct token *t, struct instruction *in) {
  struct str rest = t->text, part;
  in->parts = arena_array(p->arena, struct str, MAX_PARTS);
  char *copy = arena_strndup(p->arena, rest.ptr, rest.len);
  rest.ptr = copy;
  while (rest.ptr) {
    if (in->part_count == MAX_PARTS)
      return lexer_error(&p->lexer, t->line, t->column, "an opcode with too many modifiers");
    rest = str_split(rest, '.', &part);
    in->parts[in->part_count++] = part;
  }
  return true;
}

// The text from `start` to `end`, in one line.
static const char *one_line(struct parser *p, const char *start, const char *end) {
  size_t size = (size_t)(end - start), n = 0;
  char *text = arena_strndup(p->arena, start, size < 160 ? size : 160);
  for (const char *s = text; *s; s++)
    if (!(*s == '\n' || *s == '\t' || *s == ' ' || *s == '\r'))
      text[n++] = *s;
    else if (n > 0 && text[n - 1] != ' ')
      text[n++] = ' ';
  text[n] = 0;
  return text;
}

static bool parse_operands(struct parser *p, struct instruction *in) {
  VEC(struct operand) operands = {0};
  while (!token_is(&p->lexer.token, ";")) {
    struct operand o = {0};
    if (operands.len == MAX_OPERANDS)
      return lexer_error(&p->lexer, in->line, in->column, "more than %d operands", MAX_OPERANDS);
    if ((operands.len > 0 && !lexer_expect(&p->lexer, ",")) || !parse_operand(p, &o))
      return false;
    vec_push(p->arena, &operands, o);
  }
  in->operands = operands.at;
  in->operand_count = (unsigned)operands.len;
  for (size_t i = 0; i < operands.len; i++)
    collect_labels(p, &operands.at[i]);
  return lexer_expect(&p->lexer, ";");
}

static bool parse_instruction(struct parser *p) {
  struct lexer *l = &p->lexer;
  const char *start = l->token.text.ptr;
  struct instruction in = {.line = l->token.line,
                           .column = l->token.column,
                           .source = p->source,
                           .source_file = p->source_file};
  if (p->function->code.len == MAX_INSTRUCTIONS)
    return lexer_error(l, in.line, in.column, "more than %d instructions", MAX_INSTRUCTIONS);
  if (lexer_take(l, "@")) {
    in.is_guarded = true;
    if (!parse_guard(p, &in.guard))
      return false;
  }
  struct token opcode = l->token;
  if (opcode.kind != TOKEN_WORD)
    return lexer_error(l, opcode.line, opcode.column, "an instruction was expected, found '%.*s'",
                       (int)(opcode.text.len < 64 ? opcode.text.len : 64), opcode.text.ptr);
  lexer_next(l);
  if (!split_opcode(p, &opcode, &in) || !parse_operands(p, &in))
    return false;
  in.text = one_line(p, start, l->previous_end - 1);
  vec_push(p->arena, &p->function->code, in);
  return true;
}

// `.loc 1 12 5`, after the directive.
static bool parse_location(struct parser *p) {
  uint64_t file, line, column;
  if (!parse_integer(p, &file) || !parse_integer(p, &line))
    return false;
  unsigned here = p->lexer.token.line;
  column = p->lexer.token.value;
  if (p->lexer.token.kind == TOKEN_INTEGER)
    lexer_next(&p->lexer);
  p->source_file = (unsigned)file;
  p->source = (struct sim_source){.line = (unsigned)line, .column = (unsigned)column};
  while (p->lexer.token.kind != TOKEN_END && p->lexer.token.line == here)
    lexer_next(&p->lexer);
  return true;
}

static bool parse_directive(struct parser *p) {
  struct lexer *l = &p->lexer;
  struct token t = l->token;
  lexer_next(l);
  if (token_is(&t, ".reg"))
    return parse_registers(p);
  if (token_is(&t, ".loc"))
    return parse_location(p);
  if (token_is(&t, ".pragma")) {
    lexer_next(l);
    return lexer_expect(l, ";");
  }
  enum sim_space space = space_of_directive(t.text);
  if (space == SIM_LOCAL || space == SIM_SHARED || space == SIM_PARAM || space == SIM_GLOBAL ||
      space == SIM_CONST)
    return parse_variables(p, space, false);
  return lexer_error(l, t.line, t.column, "unknown directive '%.*s' in a function",
                     (int)(t.text.len < 64 ? t.text.len : 64), t.text.ptr);
}

// A word followed by a colon is a label.
static bool is_label(const struct lexer *l) {
  if (l->token.kind != TOKEN_WORD)
    return false;
  const char *s = l->at;
  while (s < l->end && (*s == ' ' || *s == '\t'))
    s++;
  return s < l->end && *s == ':';
}

bool ptx_parse_statement(struct parser *p) {
  struct lexer *l = &p->lexer;
  if (l->token.kind == TOKEN_DIRECTIVE)
    return parse_directive(p);
  if (lexer_take(l, "{")) {
    if (++p->nesting > MAX_SCOPES)
      return lexer_error(l, l->token.line, l->token.column, "blocks nested too deeply");
    open_scope(p);
    return true;
  }
  if (is_label(l)) {
    struct token t = l->token;
    lexer_next(l);
    return lexer_expect(l, ":") && define_label(p, &t);
  }
  return lexer_take(l, ";") || parse_instruction(p);
}

bool parse_body(struct parser *p) {
  struct lexer *l = &p->lexer;
  unsigned base = p->nesting = 1;
  open_scope(p);
  for (unsigned i = 0; i < p->function->param_count; i++)
    bind_variable(p, p->function->params[i]);
  for (unsigned i = 0; i < p->function->result_count; i++)
    bind_variable(p, p->function->results[i]);
  while (p->nesting >= base && !l->failed) {
    if (l->token.kind == TOKEN_END)
      return lexer_error(l, l->line, 1, "the text ends inside of a function");
    if (lexer_take(l, "}")) {
      p->nesting--;
      if (!close_scope(p))
        return false;
    } else if (!ptx_parse_statement(p)) {
      return false;
    }
  }
  return !l->failed;
}
