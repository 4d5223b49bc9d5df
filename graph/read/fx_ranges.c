// SPDX-License-Identifier: Apache-2.0
// What an exported program says of its sizes, behind the graph:
//   Range constraints: {s77: VR[2, 16], s27: VR[0, int_oo]}
#include "graph/read/fx_reader.h"

// Where the list begins: behind its `{`. 0 if there is none.
static size_t find_list(const struct reader *r) {
  for (size_t i = 0; r->at[i].kind != TOK_EOF; i++)
    if (r->at[i].kind == TOK_NAME && r->at[i + 1].kind == TOK_NAME &&
        r->at[i + 2].kind == TOK_COLON && r->at[i + 3].kind == TOK_LBRACE &&
        str_is(fx_text(r, i), "Range") && str_is(fx_text(r, i + 1), "constraints"))
      return i + 4;
  return 0;
}

// A bound: a number, or a word such as int_oo, which says nothing.
static int64_t bound(const struct reader *r, size_t token, int64_t otherwise) {
  uint64_t n;
  if (r->at[token].kind != TOK_INT || !literal_int(fx_text(r, token), &n) || n > FX_MAX_SIZE)
    return otherwise;
  return (int64_t)n;
}

// s77: VR[2, 16] -- eight tokens; anything else ends the list.
void fx_read_ranges(struct reader *r) {
  static const enum token_kind form[] = {TOK_NAME, TOK_COLON, TOK_NAME, TOK_LBRACKET};
  size_t i = find_list(r);
  for (; i && r->at[i].kind == TOK_NAME; i += 8) {
    for (size_t k = 0; k < 8; k++)
      if (r->at[i + k].kind == TOK_EOF || (k < COUNT_OF(form) && r->at[i + k].kind != form[k]))
        return;
    struct size_range *range = arena_new(r->arena, struct size_range);
    range->lo = bound(r, i + 4, 0);
    range->hi = bound(r, i + 6, FX_MAX_SIZE);
    if (r->at[i + 5].kind != TOK_COMMA || r->at[i + 7].kind != TOK_RBRACKET ||
        range->hi < range->lo)
      return;
    map_put(r->arena, &r->ranges, fx_text(r, i), range);
    i += r->at[i + 8].kind == TOK_COMMA;
  }
}
