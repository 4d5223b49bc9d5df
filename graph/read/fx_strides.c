// SPDX-License-Identifier: Apache-2.0
// Parses the outputs whose strides the compiler may choose, after the graph and its ranges:
//   Free strides: {relu, convolution_1}
#include "graph/read/fx_reader.h"

static bool is_output(const struct graph *g, const struct value *v) {
  for (size_t i = 0; i < g->outputs.len; i++)
    if (g->outputs.at[i] == v)
      return true;
  return false;
}

static bool read_name(struct reader *r) {
  size_t token = r->pos;
  if (!fx_accept(r, TOK_NAME))
    return fx_unexpected(r, "expected the name of an output");
  const struct binding *b = map_get(&r->names, fx_text(r, token));
  if (!b || b->kind != BOUND_VALUE || !b->value->def || !is_output(r->g, b->value)) {
    struct str name = fx_text(r, token);
    diag_help(fx_error(r, fx_span(r, token, r->pos), E1001,
                       "`%.*s` is not an output that the graph computes", (int)name.len, name.ptr),
              "the list has names of the `return`");
    return false;
  }
  b->value->has_free_strides = true;
  return true;
}

bool fx_read_free_strides(struct reader *r) {
  if (fx_peek(r) != TOK_NAME || !str_is(fx_text(r, r->pos), "Free"))
    return true;
  r->failed = false;
  r->pos++;
  if (!fx_accept_name(r, "strides"))
    return fx_unexpected(r, "expected `strides`");
  if (!fx_expect(r, TOK_COLON) || !fx_expect(r, TOK_LBRACE))
    return false;
  do
    if (!read_name(r))
      return false;
  while (fx_accept(r, TOK_COMMA));
  if (!fx_expect(r, TOK_RBRACE))
    return false;
  while (fx_accept(r, TOK_NEWLINE))
    continue;
  return true;
}
