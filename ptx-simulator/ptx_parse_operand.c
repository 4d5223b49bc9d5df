// SPDX-License-Identifier: Apache-2.0
// Operands of instructions: registers, constants, addresses, vectors (PTX ISA, 6).
#include "ptx-simulator/ptx_parse.h"

enum { MAX_OPERAND_NESTING = 4 };

static const char *const special_names[] = {
#define SPECIAL(name, id, bits) name,
#include "ptx-simulator/specials.def"
#undef SPECIAL
};

unsigned special_named(struct str name) {
  for (unsigned i = 0; i < COUNT_OF(special_names); i++)
    if (str_is(name, special_names[i]))
      return i + 1;
  return 0;
}

static bool parse_nested(struct parser *p, struct operand *ret, unsigned depth);

static bool parse_items(struct parser *p, struct operand *ret, const char *close, unsigned depth) {
  VEC(struct operand) items = {0};
  while (!token_is(&p->lexer.token, close)) {
    struct operand item = {0};
    if (items.len == MAX_OPERANDS)
      return lexer_error(&p->lexer, p->lexer.token.line, p->lexer.token.column,
                         "more than %d operands", MAX_OPERANDS);
    if ((items.len > 0 && !lexer_expect(&p->lexer, ",")) || !parse_nested(p, &item, depth + 1))
      return false;
    vec_push(p->arena, &items, item);
  }
  ret->items = items.at;
  ret->item_count = (unsigned)items.len;
  return lexer_expect(&p->lexer, close);
}

// `+ 4`, `+ -4`, `- 4`, any number of them.
static bool parse_offset(struct parser *p, int64_t *ret) {
  struct lexer *l = &p->lexer;
  while (token_is(&l->token, "+") || token_is(&l->token, "-")) {
    bool negative = false;
    while (token_is(&l->token, "+") || token_is(&l->token, "-")) {
      negative ^= token_is(&l->token, "-");
      lexer_next(l);
    }
    uint64_t value;
    if (!parse_integer(p, &value))
      return false;
    *ret = (int64_t)((uint64_t)*ret + (negative ? 0 - value : value));
  }
  return true;
}

// An address, or a tensor map and coordinates: `[map, {x, y}]`.
static bool parse_address(struct parser *p, struct operand *ret, unsigned depth) {
  ret->kind = OPERAND_ADDRESS;
  ret->items = arena_array(p->arena, struct operand, 2);
  ret->item_count = 1;
  if (!parse_nested(p, ret->items, depth + 1) || !parse_offset(p, &ret->offset))
    return false;
  if (lexer_take(&p->lexer, ",") && !parse_nested(p, &ret->items[ret->item_count++], depth + 1))
    return false;
  return lexer_expect(&p->lexer, "]");
}

static bool parse_word(struct parser *p, struct operand *ret) {
  const struct binding *b = find_binding(p, ret->name, &ret->reg);
  void *found;
  lexer_next(&p->lexer);
  if (b && b->variable) {
    ret->kind = OPERAND_VARIABLE;
    ret->variable = b->variable;
  } else if (b) {
    ret->kind = OPERAND_REGISTER;
  } else if (str_is(ret->name, "_")) {
    ret->kind = OPERAND_SINK;
  } else if (ret->name.ptr[0] == '%') {
    unsigned special = special_named(ret->name);
    ret->kind = OPERAND_SPECIAL;
    ret->value = special - 1;
    return special > 0 || parse_error_at(p, ret, "is not a register");
  } else if (str_is(ret->name, "WARP_SZ")) {
    ret->kind = OPERAND_INTEGER;
    ret->value = SIM_LANES;
  } else if ((found = map_get(&p->module->variables, ret->name))) {
    ret->kind = OPERAND_VARIABLE;
    ret->variable = found;
  } else if ((found = map_get(&p->module->functions, ret->name))) {
    ret->kind = OPERAND_FUNCTION;
    ret->function = found;
  } else {
    ret->kind = OPERAND_LABEL;
  }
  return true;
}

static bool parse_number(struct parser *p, struct operand *ret, bool negative) {
  const struct token *t = &p->lexer.token;
  ret->value = t->value;
  ret->kind = t->kind == TOKEN_FLOAT32   ? OPERAND_FLOAT32
              : t->kind == TOKEN_FLOAT64 ? OPERAND_FLOAT64
                                         : OPERAND_INTEGER;
  if (negative)
    ret->value = ret->kind == OPERAND_FLOAT32   ? t->value ^ (1u << 31)
                 : ret->kind == OPERAND_FLOAT64 ? t->value ^ ((uint64_t)1 << 63)
                                                : 0 - t->value;
  lexer_next(&p->lexer);
  return true;
}

static bool parse_primary(struct parser *p, struct operand *ret, unsigned depth) {
  struct lexer *l = &p->lexer;
  const struct token *t = &l->token;
  bool negative = false;
  *ret = (struct operand){.line = t->line, .column = t->column};
  if (depth > MAX_OPERAND_NESTING)
    return lexer_error(l, t->line, t->column, "operands nested too deeply");
  if (lexer_take(l, "{")) {
    ret->kind = OPERAND_VECTOR;
    return parse_items(p, ret, "}", depth);
  }
  if (lexer_take(l, "(")) {
    ret->kind = OPERAND_LIST;
    return parse_items(p, ret, ")", depth);
  }
  if (lexer_take(l, "["))
    return parse_address(p, ret, depth);
  if (lexer_take(l, "!"))
    ret->negated = true;
  else if (lexer_take(l, "-"))
    negative = true;
  ret->name = t->text;
  if (t->kind == TOKEN_INTEGER || t->kind == TOKEN_FLOAT32 || t->kind == TOKEN_FLOAT64)
    return ret->negated ? lexer_error(l, t->line, t->column, "'!' of a number")
                        : parse_number(p, ret, negative);
  if (t->kind != TOKEN_WORD || negative)
    return lexer_error(l, t->line, t->column, "an operand was expected, found '%.*s'",
                       (int)(t->text.len < 64 ? t->text.len : 64), t->text.ptr);
  if (!parse_word(p, ret))
    return false;
  return (ret->kind != OPERAND_VARIABLE || depth > 0 || parse_offset(p, &ret->offset)) &&
         (!ret->negated || ret->kind == OPERAND_REGISTER || ret->kind == OPERAND_SPECIAL ||
          parse_error_at(p, ret, "cannot be negated"));
}

static bool parse_nested(struct parser *p, struct operand *ret, unsigned depth) {
  if (!parse_primary(p, ret, depth))
    return false;
  if (!token_is(&p->lexer.token, "|"))
    return true;
  struct operand *pair = arena_array(p->arena, struct operand, 2);
  pair[0] = *ret;
  lexer_next(&p->lexer);
  if (!parse_primary(p, &pair[1], depth))
    return false;
  *ret = (struct operand){.kind = OPERAND_PAIR,
                          .line = pair[0].line,
                          .column = pair[0].column,
                          .name = pair[0].name,
                          .items = pair,
                          .item_count = 2};
  return true;
}

bool parse_operand(struct parser *p, struct operand *ret) { return parse_nested(p, ret, 0); }

// After `@`.
bool parse_guard(struct parser *p, struct operand *ret) {
  if (!parse_primary(p, ret, 1))
    return false;
  if (ret->kind != OPERAND_REGISTER || p->function->regs.at[ret->reg].bits != 1)
    return parse_error_at(p, ret, "is not a predicate register");
  return true;
}
