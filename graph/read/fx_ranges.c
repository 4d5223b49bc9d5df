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

// A bound: a number; a word such as int_oo means no bound. Moves behind it.
static int64_t bound(const struct reader *r, size_t *token, int64_t otherwise) {
  uint64_t n;
  bool is_negative = r->at[*token].kind == TOK_MINUS;
  *token += is_negative;
  size_t at = *token;
  *token += r->at[at].kind != TOK_EOF;
  if (r->at[at].kind != TOK_INT || !literal_int(fx_text(r, at), &n) || n > GRAPH_MAX_SIZE)
    return otherwise;
  return is_negative ? -(int64_t)n : (int64_t)n;
}

static bool follows(const struct reader *r, size_t *token, enum token_kind kind) {
  return r->at[*token].kind == kind && ++*token;
}

// One size, `s77: VR[2, 16]`, from *token on; moves behind it. False if it has another form. A size
// that may be negative counts from 0: tensors have no such sizes. A range below 0 is ignored.
static bool read_range(struct reader *r, size_t *token) {
  size_t i = *token, name = i;
  struct size_range range;
  if (!follows(r, &i, TOK_NAME) || !follows(r, &i, TOK_COLON) || !follows(r, &i, TOK_NAME) ||
      !follows(r, &i, TOK_LBRACKET))
    return false;
  range.lo = bound(r, &i, 0);
  range.lo = range.lo < 0 ? 0 : range.lo;
  if (!follows(r, &i, TOK_COMMA))
    return false;
  range.hi = bound(r, &i, GRAPH_MAX_SIZE);
  if (!follows(r, &i, TOK_RBRACKET) || (range.hi >= 0 && range.hi < range.lo))
    return false;
  if (range.hi >= 0)
    map_put(r->arena, &r->ranges, fx_text(r, name),
            arena_dup(r->arena, &range, sizeof range, _Alignof(struct size_range)));
  *token = i + (r->at[i].kind == TOK_COMMA);
  return true;
}

void fx_read_ranges(struct reader *r) {
  r->ranges_end = find_list(r);
  while (r->ranges_end && read_range(r, &r->ranges_end))
    continue;
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
