// SPDX-License-Identifier: Apache-2.0
// Parses ranges of sizes after the graph, from exported programs or written by hand:
//   Range constraints: {s77: VR[2, 16], s27: VR[0, int_oo]}
// They are read first, since expressions use the ranges of sizes.
#include "graph/read/fx_reader.h"

// The first token of the list, after its `{`. 0 if there is none.
static size_t find_list(const struct reader *r) {
  for (size_t i = 0; r->at[i].kind != TOK_EOF; i++)
    if (r->at[i].kind == TOK_NAME && r->at[i + 1].kind == TOK_NAME &&
        r->at[i + 2].kind == TOK_COLON && r->at[i + 3].kind == TOK_LBRACE &&
        str_is(fx_text(r, i), "Range") && str_is(fx_text(r, i + 1), "constraints"))
      return i + 4;
  return 0;
}

// A bound: a number; a word such as int_oo means no bound.
static int64_t bound(const struct reader *r, size_t token, int64_t otherwise) {
  uint64_t n;
  if (r->at[token].kind != TOK_INT || !literal_int(fx_text(r, token), &n) || n > GRAPH_MAX_SIZE)
    return otherwise;
  return (int64_t)n;
}

// One size, `s77: VR[2, 16]`: eight tokens from i on. False if they do not match.
static bool read_range(struct reader *r, size_t i) {
  enum { ANY = TOKEN_KIND_COUNT };
  static const int form[] = {TOK_NAME, TOK_COLON, TOK_NAME, TOK_LBRACKET,
                             ANY,      TOK_COMMA, ANY,      TOK_RBRACKET};
  for (size_t k = 0; k < COUNT_OF(form); k++)
    if (r->at[i + k].kind == TOK_EOF || (form[k] != ANY && (int)r->at[i + k].kind != form[k]))
      return false;
  struct size_range *range = arena_new(r->arena, struct size_range);
  range->lo = bound(r, i + 4, 0);
  range->hi = bound(r, i + 6, GRAPH_MAX_SIZE);
  if (range->hi < range->lo)
    return false;
  map_put(r->arena, &r->ranges, fx_text(r, i), range);
  return true;
}

void fx_read_ranges(struct reader *r) {
  r->ranges_end = find_list(r);
  while (r->ranges_end && read_range(r, r->ranges_end)) {
    r->ranges_end += 8;
    r->ranges_end += r->at[r->ranges_end].kind == TOK_COMMA;
  }
}

bool fx_skip_ranges(struct reader *r) {
  if (!r->ranges_end || fx_peek(r) != TOK_NAME || !str_is(fx_text(r, r->pos), "Range"))
    return true;
  r->pos = r->ranges_end;
  if (!fx_accept(r, TOK_RBRACE)) {
    fx_error(r, fx_span(r, r->pos, r->pos + 1), E1001, "expected a range such as `s0: VR[1, 16]`");
    return false;
  }
  while (fx_accept(r, TOK_NEWLINE))
    continue;
  return true;
}
