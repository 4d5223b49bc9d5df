// SPDX-License-Identifier: Apache-2.0
// Parses the inputs of a graph: the parameters of `forward`, and attributes of the module.
#include "graph/ir/complex.h"
#include "graph/read/fx.h"
#include "graph/read/fx_reader.h"

struct binding *fx_bind(struct reader *r, size_t token, struct binding b) {
  struct str name = fx_text(r, token);
  struct binding *old = map_get(&r->names, name), *new = arena_new(r->arena, struct binding);
  b.span = fx_span(r, token, token + 1);
  if (old && old->kind != BOUND_WRONG && b.kind != BOUND_WRONG) {
    struct diag *d = fx_error(r, b.span, E1001, "`%.*s` is defined twice", STR_ARG(name));
    diag_label(d, old->span, "first defined here");
    b.kind = BOUND_WRONG;
  }
  *new = b;
  map_put(r->arena, &r->names, name, new);
  return new;
}

// ---- inputs ----

static bool add_input(struct reader *r, size_t token, const struct annotation *an,
                      struct binding *ret) {
  struct str name = fx_text(r, token);
  const char *copy = arena_strndup(r->arena, name.ptr, name.len);
  if (r->g->inputs.len >= LIMIT_GRAPH_TENSORS)
    return limit_error(r->g->diag, an->span, LIMIT_ID_GRAPH_TENSORS, 0);
  struct value *v =
      an->is_complex
          ? complex_input(r->g, copy, an->dtype, an->rank, an->shape,
                          an->has_strides ? an->strides : NULL, fx_span(r, token, token + 1))
          : graph_add_input(r->g, copy, an->dtype, an->rank, an->shape,
                            an->has_strides ? an->strides : NULL, fx_span(r, token, token + 1));
  if (!v)
    return r->failed = true, false;
  *ret = (struct binding){.kind = BOUND_VALUE, .value = v};
  return fx_check_size(r, v, an->span);
}

static bool parameter(struct reader *r) {
  struct annotation an;
  struct binding b = {.kind = BOUND_WRONG};
  struct arg unused;
  size_t token = r->pos;
  r->failed = r->is_poisoned = false;
  if (!fx_expect(r, TOK_NAME))
    return false;
  if (!fx_accept(r, TOK_COLON)) {
    struct str name = fx_text(r, token);
    diag_help(fx_error(r, fx_span(r, token, token + 1), str_is(name, "args_list") ? E1008 : E1001,
                       "the parameter `%.*s` has no annotation", STR_ARG(name)),
              "inputs are written as `x: \"f32[2, 3]\"`, sizes as `s0: \"Sym(s0)\"`");
    return false;
  }
  bool at_run_time = r->level > 0 && fx_at_run_time_number(r, r->pos), ok = true;
  if (at_run_time) {
    an = (struct annotation){.dtype = DTYPE_I64, .span = fx_span(r, r->pos, r->pos + 1)};
    r->pos++;
  } else {
    ok = fx_annotation(r, &an);
  }
  if (ok && an.is_number)
    b = (struct binding){.kind = BOUND_NUMBER, .number = an.number, .depth = an.depth};
  else if (ok)
    ok = add_input(r, token, &an, &b);
  if (ok && at_run_time)
    fx_note_real(r, b.value);
  fx_bind(r, token, b);
  return ok && (!fx_accept(r, TOK_ASSIGN) || fx_value(r, &unused));
}

bool fx_too_many_errors(const struct reader *r) {
  return diag_error_count(r->diag) >= DIAG_PRINT_LIMIT;
}

// Skips to the token after the next comma of the parameters, or to their end.
static void skip_parameter(struct reader *r) {
  size_t depth = 0;
  for (;; r->pos++) {
    enum token_kind k = fx_peek(r);
    if (k == TOK_EOF || k == TOK_NEWLINE || (depth == 0 && (k == TOK_COMMA || k == TOK_RPAREN)))
      return;
    depth += k == TOK_LPAREN || k == TOK_LBRACKET;
    depth -= depth && (k == TOK_RPAREN || k == TOK_RBRACKET);
  }
}

bool fx_parameters(struct reader *r) {
  bool ok = true;
  if (!fx_expect(r, TOK_LPAREN))
    return false;
  if (fx_accept_name(r, "self"))
    fx_accept(r, TOK_COMMA);
  r->may_add_symbols = true;
  while (fx_peek(r) != TOK_RPAREN && !fx_too_many_errors(r)) {
    if (!parameter(r)) {
      ok = false;
      skip_parameter(r);
    }
    if (!fx_accept(r, TOK_COMMA))
      break;
  }
  r->may_add_symbols = false;
  r->failed = false;
  return fx_expect(r, TOK_RPAREN) && ok;
}

// ---- attributes of the module that are tensors ----

// The dotted name of an attribute, from `self` on.
static struct str attribute(const struct reader *r, size_t token, size_t *ret_behind) {
  size_t i = token + 1;
  while (r->at[i].kind == TOK_DOT && r->at[i + 1].kind == TOK_NAME)
    i += 2;
  *ret_behind = i;
  struct span s = fx_span(r, token, i);
  return (struct str){r->source->text.ptr + s.begin, s.end - s.begin};
}

// `name: "..." = self.attribute`, with the reader at `self`.
static bool add_attribute(struct reader *r, size_t self) {
  enum { FAR = 128 };
  size_t first = self - 1, behind;
  struct str name = attribute(r, self, &behind);
  while (first > 0 && self - first < FAR && r->at[first - 1].kind != TOK_NEWLINE &&
         r->at[first - 1].kind != TOK_INDENT)
    first--;
  if (map_get(&r->attributes, name) || r->at[first].kind != TOK_NAME ||
      r->at[behind].kind == TOK_LPAREN)
    return true; // calls are reported where they are read
  r->failed = false;
  if (r->at[first + 1].kind != TOK_COLON) {
    diag_help(
        fx_error(r, fx_span(r, first, behind), E1001, "`%.*s` has no annotation", STR_ARG(name)),
        "a tensor attribute of the module becomes an input; write its type: `x: \"f32[3][1]\" = "
        "self.x`. A subgraph is a class of that name beneath the function");
    return false;
  }
  struct annotation an;
  struct binding b;
  r->pos = first + 2;
  bool ok = fx_annotation(r, &an) && !an.is_number && add_input(r, first, &an, &b);
  if (ok)
    map_put(r->arena, &r->attributes, name, b.value);
  return ok;
}

// Finds these first, since inputs precede all operators.
bool fx_attributes(struct reader *r) {
  size_t start = r->pos;
  bool ok = true;
  r->may_add_symbols = true;
  for (size_t i = start; i < r->body_end && ok; i++)
    if (r->at[i].kind == TOK_ASSIGN && !fx_class_of(r, i + 1) && r->at[i + 1].kind == TOK_NAME &&
        r->at[i + 2].kind == TOK_DOT && str_is(fx_text(r, i + 1), "self"))
      ok = add_attribute(r, i + 1);
  r->may_add_symbols = false;
  r->pos = start;
  return ok;
}

bool fx_use_attribute(struct reader *r, struct binding *ret) {
  size_t first = r->pos;
  struct str name = attribute(r, first, &r->pos);
  struct value *v = map_get(&r->attributes, name);
  if (v && fx_peek(r) != TOK_LPAREN)
    return *ret = (struct binding){.kind = BOUND_VALUE, .value = v}, true;
  diag_help(
      fx_error(r, fx_span(r, first, r->pos), E1008, "`%.*s` in a graph", STR_ARG(name)),
      "no class of that name follows the function; modules that are called are not supported: "
      "export the graph at the level of ATen");
  return false;
}
