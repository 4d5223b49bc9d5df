// SPDX-License-Identifier: Apache-2.0
// Modules: directives and function headers (PTX ISA, 5 and 11).
#include "ptx-simulator/ptx_parse.h"

#include "ptx-simulator/decode.h"

// ---- functions ----

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
      return parse_unexpected(p, "a block dimension outside of 1 to 1024");
    ret[i] = (unsigned)n;
    if (!lexer_take(&p->lexer, ","))
      break;
  }
  return true;
}

// Performance-tuning directives between a function's parameters and its body.
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
    } else if (lexer_take(l, ".reqnctapercluster")) {
      if (!parse_block(p, f->required_cluster))
        return false;
    } else if (lexer_take(l, ".explicitcluster")) {
    } else if (lexer_take(l, ".maxnreg")) {
      if (!parse_integer(p, &ignored))
        return false;
      f->max_registers = ignored < 256 ? (unsigned)ignored : 255;
    } else if (lexer_take(l, ".minnctapersm") || lexer_take(l, ".maxnctapersm") ||
               lexer_take(l, ".maxclusterrank")) {
      if (!parse_integer(p, &ignored))
        return false;
    } else if (lexer_take(l, ".pragma")) {
      lexer_next(l);
      if (!lexer_expect(l, ";"))
        return false;
    } else if (!lexer_take(l, ".noreturn")) {
      return parse_unexpected(p, "an unknown directive of a function");
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
    f->param_bytes = 0; // from here on: parameters of calls in its body
  if (!parse_performance(p, f))
    return false;
  struct function *known = map_get(&p->module->functions, name);
  if (known && known->is_defined && token_is(&l->token, "{"))
    return lexer_error(l, t.line, t.column, "the function '%s' is defined twice", f->name);
  if (known && known->is_entry != is_entry)
    return lexer_error(l, t.line, t.column, "'%s' is a function and an entry point", f->name);
  // Earlier calls keep pointing at the declaration, which becomes the definition.
  if (!known)
    map_put(p->arena, &p->module->functions, name, known = f);
  else if (!known->is_defined)
    *known = *f;
  if (lexer_take(l, ";"))
    return true;
  if (!lexer_take(l, "{") || is_extern)
    return parse_unexpected(p, "a function's body was expected");
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
    return parse_unexpected(p, "'.file NUMBER \"NAME\"' was expected");
  while (p->module->files.len <= number)
    vec_push(p->arena, &p->module->files, NULL);
  p->module->files.at[number] = arena_strndup(p->arena, t.text.ptr, t.text.len);
  skip_line(p);
  return true;
}

// `.section .debug_info { ... }`, after the directive.
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
      return parse_unexpected(p, "'{' was expected");
    lexer_next(l);
  } while (depth > 0);
  return true;
}

static bool parse_address_size(struct parser *p) {
  uint64_t bits = 0;
  if (!parse_integer(p, &bits))
    return false;
  return bits == 64 || parse_unexpected(p, "addresses have 64 bits");
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
    return parse_unexpected(p, "a directive was expected");
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
  shared_names_read(m, ptx, size);
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
