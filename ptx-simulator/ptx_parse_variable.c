// SPDX-License-Identifier: Apache-2.0
// Variables with initialisers, and parameters of functions (PTX ISA, 5.4).
#include "ptx-simulator/ptx_parse.h"

static bool parse_align(struct parser *p, unsigned *ret) {
  uint64_t align = 0;
  if (!parse_integer(p, &align))
    return false;
  if (!is_pow2(align) || align > 4096)
    return lexer_error(&p->lexer, p->lexer.token.line, p->lexer.token.column,
                       "an alignment that is no power of two up to 4096");
  *ret = (unsigned)align;
  return true;
}

// Sets the variable's offset in the space and advances *bytes past it.
static bool allocate(struct parser *p, struct variable *v, uint64_t *bytes) {
  v->offset = (*bytes + v->align - 1) & ~(uint64_t)(v->align - 1);
  if (v->bytes > MAX_VARIABLE_BYTES || v->offset + v->bytes > MAX_VARIABLE_BYTES)
    return lexer_error(&p->lexer, p->lexer.token.line, p->lexer.token.column,
                       "variables of more than 2^30 bytes");
  *bytes = v->offset + v->bytes;
  return true;
}

// `[4][2]` after a name: the element count, and whether a dimension is open.
static bool parse_dimensions(struct parser *p, uint64_t *count, bool *ret_open) {
  *count = 1;
  *ret_open = false;
  while (lexer_take(&p->lexer, "[")) {
    uint64_t n = 0;
    if (token_is(&p->lexer.token, "]"))
      *ret_open = true;
    else if (!parse_integer(p, &n))
      return false;
    if (!*ret_open && !checked_mul(*count, n, count))
      return parse_unexpected(p, "an array that is too large");
    if (!lexer_expect(&p->lexer, "]"))
      return false;
  }
  return true;
}

static bool parse_elements(struct parser *p, unsigned bytes, uint8_t *to, uint64_t room,
                           uint64_t *filled) {
  struct lexer *l = &p->lexer;
  if (lexer_take(l, "{")) {
    while (!token_is(&l->token, "}")) {
      if (!parse_elements(p, bytes, to, room, filled) ||
          (!lexer_take(l, ",") && !token_is(&l->token, "}")))
        return l->failed ? false : parse_unexpected(p, "',' or '}' was expected");
    }
    return lexer_expect(l, "}");
  }
  bool negative = lexer_take(l, "-");
  if (l->token.kind != TOKEN_INTEGER && l->token.kind != TOKEN_FLOAT32 &&
      l->token.kind != TOKEN_FLOAT64)
    return parse_unexpected(p, "initialisers are numbers");
  uint64_t value = negative ? 0 - l->token.value : l->token.value;
  if (*filled + bytes > room || bytes > 8)
    return parse_unexpected(p, "more values than elements");
  memcpy(to + *filled, &value, bytes);
  *filled += bytes;
  lexer_next(l);
  return true;
}

static bool parse_initialiser(struct parser *p, struct variable *v, unsigned element,
                              enum sim_space space) {
  if (space != SIM_GLOBAL && space != SIM_CONST)
    return parse_unexpected(p, "only global and constant variables have initialisers");
  uint8_t *bytes = arena_array(p->arena, uint8_t, v->bytes);
  uint64_t filled = 0;
  if (!parse_elements(p, element, bytes, v->bytes, &filled))
    return false;
  vec_push(p->arena, &p->module->initialisers,
           (struct initialiser){.offset = v->offset, .bytes = bytes, .size = v->bytes});
  return true;
}

// The size of a space so far.
static uint64_t *counter_of(struct parser *p, enum sim_space space) {
  return space == SIM_SHARED  ? &p->module->shared_bytes
         : space == SIM_LOCAL ? (p->function ? &p->function->local_bytes : NULL)
         : space == SIM_PARAM ? (p->function ? &p->function->param_bytes : NULL)
                              : &p->module->memory_bytes;
}

static bool parse_variable(struct parser *p, enum sim_space space, bool is_extern, unsigned align,
                           unsigned element) {
  struct variable *v = arena_new(p->arena, struct variable);
  struct str name = parse_name(p);
  uint64_t count;
  bool open;
  if (p->lexer.failed || !parse_dimensions(p, &count, &open))
    return false;
  *v = (struct variable){.name = arena_strndup(p->arena, name.ptr, name.len),
                         .space = space,
                         .align = align > element ? align : element};
  if (align)
    v->align = align;
  if (!checked_mul(count, element, &v->bytes))
    return parse_unexpected(p, "an array that is too large");
  v->is_dynamic = space == SIM_SHARED && is_extern && open;
  if (is_extern && !v->is_dynamic)
    return parse_unexpected(p, "external variables other than shared arrays are not supported");
  if (open && !v->is_dynamic)
    return parse_unexpected(p, "an array without a size");
  uint64_t *bytes = counter_of(p, space);
  if (!bytes)
    return parse_unexpected(p, "a variable of this space outside of functions");
  if (v->is_dynamic) {
    v->bytes = 0;
    p->module->has_dynamic_shared = true;
    if (v->align > p->module->dynamic_align)
      p->module->dynamic_align = v->align;
  } else if (!allocate(p, v, bytes)) {
    return false;
  }
  if (p->scope)
    bind_variable(p, v);
  else
    map_put(p->arena, &p->module->variables, name, v);
  return !lexer_take(&p->lexer, "=") || parse_initialiser(p, v, element, space);
}

bool parse_variables(struct parser *p, enum sim_space space, bool is_extern) {
  unsigned align = 0, vector = 1;
  for (;;) {
    if (lexer_take(&p->lexer, ".align")) {
      if (!parse_align(p, &align))
        return false;
    } else if (lexer_take(&p->lexer, ".v2")) {
      vector = 2;
    } else if (lexer_take(&p->lexer, ".v4")) {
      vector = 4;
    } else {
      break;
    }
  }
  unsigned bits = ptx_type_bits(p->lexer.token.text);
  if (p->lexer.token.kind != TOKEN_DIRECTIVE || bits == 0)
    return parse_unexpected(p, "a type was expected");
  lexer_next(&p->lexer);
  do {
    if (!parse_variable(p, space, is_extern, align, vector * bits / 8))
      return false;
  } while (lexer_take(&p->lexer, ","));
  return lexer_expect(&p->lexer, ";");
}

struct variable *parse_param(struct parser *p, uint64_t *bytes) {
  struct lexer *l = &p->lexer;
  struct variable *v = arena_new(p->arena, struct variable);
  unsigned align = 0, ignored;
  uint64_t count;
  bool open, is_pointer = false;
  if (!lexer_expect(l, ".param"))
    return NULL;
  if (lexer_take(l, ".align") && !parse_align(p, &align))
    return NULL;
  unsigned bits = l->token.kind == TOKEN_DIRECTIVE ? ptx_type_bits(l->token.text) : 0;
  if (bits == 0) {
    parse_unexpected(p, "a type was expected");
    return NULL;
  }
  lexer_next(l);
  while (l->token.kind == TOKEN_DIRECTIVE) {
    if (lexer_take(l, ".align")) {
      if (!parse_align(p, is_pointer ? &ignored : &align))
        return NULL;
    } else if (token_is(&l->token, ".ptr") || space_of_directive(l->token.text)) {
      is_pointer = true;
      lexer_next(l);
    } else {
      parse_unexpected(p, "a parameter's name was expected");
      return NULL;
    }
  }
  struct str name = parse_name(p);
  if (l->failed || !parse_dimensions(p, &count, &open))
    return NULL;
  *v = (struct variable){.name = arena_strndup(p->arena, name.ptr, name.len),
                         .space = SIM_PARAM,
                         .align = align ? align : bits / 8};
  if (!checked_mul(count, bits / 8, &v->bytes) || open) {
    parse_unexpected(p, "a parameter without a size, or too large");
    return NULL;
  }
  return allocate(p, v, bytes) ? v : NULL;
}
