// SPDX-License-Identifier: Apache-2.0
// Modules: directives, variables with initialisers, headers of functions (PTX ISA, 5 and 11).
#include "ptx-simulator/ptx_parse.h"

#include "ptx-simulator/decode.h"

// ---- small pieces ----

bool parse_integer(struct parser *p, uint64_t *ret) {
  struct lexer *l = &p->lexer;
  if (l->token.kind != TOKEN_INTEGER)
    return lexer_error(l, l->token.line, l->token.column, "an integer was expected");
  *ret = l->token.value;
  lexer_next(l);
  return true;
}

struct str parse_name(struct parser *p) {
  struct token t = p->lexer.token;
  if (t.kind != TOKEN_WORD) {
    lexer_error(&p->lexer, t.line, t.column, "a name was expected");
    return STR("");
  }
  lexer_next(&p->lexer);
  return t.text;
}

void skip_line(struct parser *p) {
  unsigned line = p->lexer.token.line;
  while (p->lexer.token.kind != TOKEN_END && p->lexer.token.line == line)
    lexer_next(&p->lexer);
}

unsigned ptx_type_bits(struct str t) {
  static const struct {
    const char *name;
    unsigned bits;
  } types[] = {{".b8", 8},   {".u8", 8},   {".s8", 8},     {".b16", 16},    {".u16", 16},
               {".s16", 16}, {".f16", 16}, {".bf16", 16},  {".b32", 32},    {".u32", 32},
               {".s32", 32}, {".f32", 32}, {".f16x2", 32}, {".bf16x2", 32}, {".b64", 64},
               {".u64", 64}, {".s64", 64}, {".f64", 64},   {".b128", 128}};
  for (size_t i = 0; i < COUNT_OF(types); i++)
    if (str_is(t, types[i].name))
      return types[i].bits;
  return 0;
}

enum sim_space space_of_directive(struct str d) {
  return str_is(d, ".global")   ? SIM_GLOBAL
         : str_is(d, ".shared") ? SIM_SHARED
         : str_is(d, ".local")  ? SIM_LOCAL
         : str_is(d, ".param")  ? SIM_PARAM
         : str_is(d, ".const")  ? SIM_CONST
                                : SIM_NO_SPACE;
}

static bool unexpected(struct parser *p, const char *what) {
  const struct token *t = &p->lexer.token;
  return lexer_error(&p->lexer, t->line, t->column, "%s, found '%.*s'", what,
                     (int)(t->text.len < 64 ? t->text.len : 64), t->text.ptr);
}

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

// Moves *bytes behind a variable and sets its offset in the space.
static bool allocate(struct parser *p, struct variable *v, uint64_t *bytes) {
  v->offset = (*bytes + v->align - 1) & ~(uint64_t)(v->align - 1);
  if (v->bytes > MAX_VARIABLE_BYTES || v->offset + v->bytes > MAX_VARIABLE_BYTES)
    return lexer_error(&p->lexer, p->lexer.token.line, p->lexer.token.column,
                       "variables of more than 2^30 bytes");
  *bytes = v->offset + v->bytes;
  return true;
}

// `[4][2]` behind a name: the count, and whether it was left open.
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
      return unexpected(p, "an array that is too large");
    if (!lexer_expect(&p->lexer, "]"))
      return false;
  }
  return true;
}

// ---- variables ----

static bool parse_elements(struct parser *p, unsigned bytes, uint8_t *to, uint64_t room,
                           uint64_t *filled) {
  struct lexer *l = &p->lexer;
  if (lexer_take(l, "{")) {
    while (!token_is(&l->token, "}")) {
      if (!parse_elements(p, bytes, to, room, filled) ||
          (!lexer_take(l, ",") && !token_is(&l->token, "}")))
        return l->failed ? false : unexpected(p, "',' or '}' was expected");
    }
    return lexer_expect(l, "}");
  }
  bool negative = lexer_take(l, "-");
  if (l->token.kind != TOKEN_INTEGER && l->token.kind != TOKEN_FLOAT32 &&
      l->token.kind != TOKEN_FLOAT64)
    return unexpected(p, "initialisers are numbers");
  uint64_t value = negative ? 0 - l->token.value : l->token.value;
  if (*filled + bytes > room || bytes > 8)
    return unexpected(p, "more values than elements");
  memcpy(to + *filled, &value, bytes);
  *filled += bytes;
  lexer_next(l);
  return true;
}

static bool parse_initialiser(struct parser *p, struct variable *v, unsigned element,
                              enum sim_space space) {
  if (space != SIM_GLOBAL && space != SIM_CONST)
    return unexpected(p, "only global and constant variables have initialisers");
  uint8_t *bytes = arena_array(p->arena, uint8_t, v->bytes);
  uint64_t filled = 0;
  if (!parse_elements(p, element, bytes, v->bytes, &filled))
    return false;
  vec_push(p->arena, &p->module->initialisers,
           (struct initialiser){.offset = v->offset, .bytes = bytes, .size = v->bytes});
  return true;
}

// Where variables of a space are counted.
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
    return unexpected(p, "an array that is too large");
  v->is_dynamic = space == SIM_SHARED && is_extern && open;
  if (is_extern && !v->is_dynamic)
    return unexpected(p, "external variables other than shared arrays are not supported");
  if (open && !v->is_dynamic)
    return unexpected(p, "an array without a size");
  uint64_t *bytes = counter_of(p, space);
  if (!bytes)
    return unexpected(p, "a variable of this space outside of functions");
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
    return unexpected(p, "a type was expected");
  lexer_next(&p->lexer);
  do {
    if (!parse_variable(p, space, is_extern, align, vector * bits / 8))
      return false;
  } while (lexer_take(&p->lexer, ","));
  return lexer_expect(&p->lexer, ";");
}

// ---- functions ----

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
    unexpected(p, "a type was expected");
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
      unexpected(p, "a parameter's name was expected");
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
    unexpected(p, "a parameter without a size, or too large");
    return NULL;
  }
  return allocate(p, v, bytes) ? v : NULL;
}

static bool parse_params(struct parser *p, struct function *f, struct variable ***ret,
                         unsigned *ret_count, const char *close) {
  VEC(struct variable *) params = {0};
  while (!token_is(&p->lexer.token, close)) {
    if (params.len > 0 && !lexer_expect(&p->lexer, ","))
      return false;
    struct variable *v = parse_param(p, &f->param_bytes);
    if (!v)
      return false;
    v->is_kernel_param = f->is_entry;
    vec_push(p->arena, &params, v);
  }
  *ret = params.at;
  *ret_count = (unsigned)params.len;
  return lexer_expect(&p->lexer, close);
}

static bool parse_block(struct parser *p, unsigned *ret) {
  ret[0] = ret[1] = ret[2] = 1;
  for (unsigned i = 0; i < 3; i++) {
    uint64_t n = 0;
    if (!parse_integer(p, &n))
      return false;
    if (n == 0 || n > 1024)
      return unexpected(p, "a block dimension outside of 1 to 1024");
    ret[i] = (unsigned)n;
    if (!lexer_take(&p->lexer, ","))
      break;
  }
  return true;
}

// Directives between a function's parameters and its body.
static bool parse_performance(struct parser *p, struct function *f) {
  struct lexer *l = &p->lexer;
  uint64_t ignored;
  while (l->token.kind == TOKEN_DIRECTIVE) {
    if (lexer_take(l, ".reqntid")) {
      if (!parse_block(p, f->required_block))
        return false;
    } else if (lexer_take(l, ".maxntid")) {
      if (!parse_block(p, f->largest_block))
        return false;
    } else if (lexer_take(l, ".maxnreg") || lexer_take(l, ".minnctapersm") ||
               lexer_take(l, ".maxnctapersm") || lexer_take(l, ".maxclusterrank")) {
      if (!parse_integer(p, &ignored))
        return false;
    } else if (lexer_take(l, ".pragma")) {
      lexer_next(l);
      if (!lexer_expect(l, ";"))
        return false;
    } else if (!lexer_take(l, ".noreturn")) {
      return unexpected(p, "an unknown directive of a function");
    }
  }
  return true;
}

static bool parse_function(struct parser *p, bool is_entry, bool is_extern) {
  struct lexer *l = &p->lexer;
  struct function *f = arena_new(p->arena, struct function);
  f->is_entry = is_entry;
  if (!is_entry && lexer_take(l, "(") && !parse_params(p, f, &f->results, &f->result_count, ")"))
    return false;
  struct token t = l->token;
  struct str name = parse_name(p);
  f->name = arena_strndup(p->arena, name.ptr, name.len);
  if (lexer_take(l, "(") && !parse_params(p, f, &f->params, &f->param_count, ")"))
    return false;
  if (is_entry)
    f->param_bytes = 0; // those of calls in its body are counted from here on
  if (!parse_performance(p, f))
    return false;
  struct function *known = map_get(&p->module->functions, name);
  if (known && known->is_defined && token_is(&l->token, "{"))
    return lexer_error(l, t.line, t.column, "the function '%s' is defined twice", f->name);
  if (known && known->is_entry != is_entry)
    return lexer_error(l, t.line, t.column, "'%s' is a function and an entry point", f->name);
  // Calls that were read before keep pointing at the declaration: it becomes the definition.
  if (!known)
    map_put(p->arena, &p->module->functions, name, known = f);
  else if (!known->is_defined)
    *known = *f;
  if (lexer_take(l, ";"))
    return true;
  if (!lexer_take(l, "{") || is_extern)
    return unexpected(p, "a function's body was expected");
  known->is_defined = true;
  p->function = known;
  p->source = (struct sim_source){0};
  p->source_file = 0;
  if (is_entry)
    vec_push(p->arena, &p->module->entries, known);
  bool ok = parse_body(p);
  p->function = NULL;
  p->scope = NULL;
  return ok;
}

// ---- modules ----

static bool parse_file(struct parser *p) {
  uint64_t number = 0;
  if (!parse_integer(p, &number))
    return false;
  struct token t = p->lexer.token;
  if (number > 1 << 16 || t.kind != TOKEN_STRING)
    return unexpected(p, "'.file NUMBER \"NAME\"' was expected");
  while (p->module->files.len <= number)
    vec_push(p->arena, &p->module->files, NULL);
  p->module->files.at[number] = arena_strndup(p->arena, t.text.ptr, t.text.len);
  skip_line(p);
  return true;
}

// `.section .debug_info { ... }` behind the directive.
static bool skip_section(struct parser *p) {
  struct lexer *l = &p->lexer;
  lexer_next(l);
  unsigned depth = 0;
  do {
    if (token_is(&l->token, "{"))
      depth++;
    else if (token_is(&l->token, "}"))
      depth--;
    else if (l->token.kind == TOKEN_END)
      return lexer_error(l, l->line, 1, "a section that never ends");
    else if (depth == 0)
      return unexpected(p, "'{' was expected");
    lexer_next(l);
  } while (depth > 0);
  return true;
}

static bool parse_address_size(struct parser *p) {
  uint64_t bits = 0;
  if (!parse_integer(p, &bits))
    return false;
  return bits == 64 || unexpected(p, "addresses have 64 bits");
}

static bool parse_module_item(struct parser *p) {
  struct lexer *l = &p->lexer;
  bool is_extern = false;
  for (;;) {
    if (lexer_take(l, ".extern"))
      is_extern = true;
    else if (!lexer_take(l, ".visible") && !lexer_take(l, ".weak") && !lexer_take(l, ".common"))
      break;
  }
  struct token t = l->token;
  enum sim_space space = space_of_directive(t.text);
  if (t.kind != TOKEN_DIRECTIVE)
    return unexpected(p, "a directive was expected");
  lexer_next(l);
  if (token_is(&t, ".entry") || token_is(&t, ".func"))
    return parse_function(p, token_is(&t, ".entry"), is_extern);
  if (space == SIM_GLOBAL || space == SIM_SHARED || space == SIM_CONST)
    return parse_variables(p, space, is_extern);
  if (token_is(&t, ".file"))
    return parse_file(p);
  if (token_is(&t, ".section"))
    return skip_section(p);
  if (token_is(&t, ".address_size"))
    return parse_address_size(p);
  if (token_is(&t, ".version") || token_is(&t, ".target")) {
    if (l->token.line == t.line)
      skip_line(p);
    return true;
  }
  if (token_is(&t, ".pragma")) {
    lexer_next(l);
    return lexer_expect(l, ";");
  }
  return lexer_error(l, t.line, t.column, "unknown directive '%.*s'",
                     (int)(t.text.len < 64 ? t.text.len : 64), t.text.ptr);
}

static void name_sources(struct sim_module *m, struct function *f) {
  for (size_t i = 0; i < f->code.len; i++) {
    struct instruction *in = &f->code.at[i];
    if (in->source_file < m->files.len)
      in->source.file = m->files.at[in->source_file];
    if (!in->source.file)
      in->source = (struct sim_source){0};
  }
}

static void fill_memory(struct parser *p) {
  struct sim_module *m = p->module;
  m->memory = arena_alloc(p->arena, m->memory_bytes + 1, 64);
  for (size_t i = 0; i < m->initialisers.len; i++)
    memcpy(m->memory + m->initialisers.at[i].offset, m->initialisers.at[i].bytes,
           m->initialisers.at[i].size);
}

struct sim_module *sim_module_parse(struct arena *a, const char *ptx, size_t size,
                                    struct sim_error *ret_error) {
  struct sim_module *m = arena_new(a, struct sim_module);
  struct parser p = {.arena = a, .module = m};
  m->arena = a;
  m->dynamic_align = 1;
  lexer_start(&p.lexer, ptx, size, ret_error);
  while (p.lexer.token.kind != TOKEN_END && parse_module_item(&p)) {
  }
  if (p.lexer.failed)
    return NULL;
  struct map_entry e;
  for (size_t i = 0; map_next(&m->functions, &i, &e);)
    name_sources(m, e.value);
  fill_memory(&p);
  return decode_module(m, ret_error) ? m : NULL;
}

const struct sim_kernel *sim_module_kernel(const struct sim_module *m, const char *name) {
  for (size_t i = 0; i < m->kernels.len; i++)
    if (strcmp(m->kernels.at[i]->name, name) == 0)
      return m->kernels.at[i];
  return NULL;
}

size_t sim_module_kernel_count(const struct sim_module *m) { return m->kernels.len; }

const struct sim_kernel *sim_module_kernel_at(const struct sim_module *m, size_t i) {
  return i < m->kernels.len ? m->kernels.at[i] : NULL;
}
