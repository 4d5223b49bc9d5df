// SPDX-License-Identifier: Apache-2.0
// Comparisons: every pair of types, with NaN and zeros of both signs. Also the
// logical operators and i1 arithmetic.
#include "suite.h"

#include <stdio.h>
#include <string.h>

static const char *const tokens[] = {"<", "<=", ">", ">=", "==", "!="};

struct row {
  const char *token;
  enum dtype type; // the operands meet in
};

// -1, 0, 1, or 2 for unordered
static int order(struct num a, struct num b) {
  if (dtype_is_float(a.type))
    return a.f < b.f ? -1 : a.f > b.f ? 1 : a.f == b.f ? 0 : 2;
  if (a.type == DTYPE_U64)
    return (uint64_t)a.i < (uint64_t)b.i ? -1 : a.i != b.i;
  return a.i < b.i ? -1 : a.i != b.i;
}

static struct num reference(const struct num *in, const void *user) {
  const struct row *r = user;
  int c = order(num_cast(in[0], r->type), num_cast(in[1], r->type));
  bool is_true = false;
  if (strcmp(r->token, "!=") == 0)
    is_true = c != 0;
  else if (strcmp(r->token, "==") == 0)
    is_true = c == 0;
  else if (c != 2)
    is_true = (r->token[0] == '<' ? c < 0 : c > 0) || (r->token[1] == '=' && c == 0);
  return num_int(DTYPE_I1, is_true);
}

static void pair(struct suite *s, const char *token, enum dtype a, enum dtype b) {
  struct row r = {token, num_promote(a, b, false)};
  char expr[32], name[64];
  snprintf(expr, sizeof expr, "a %s b", token);
  snprintf(name, sizeof name, "%s %s,%s", token, dtype_name(a), dtype_name(b));
  struct elementwise e = {.expr = expr,
                          .arity = 2,
                          .in = {a, b},
                          .draw = {DRAW_ANY, DRAW_ANY},
                          .out = DTYPE_I1,
                          .reference = reference,
                          .user = &r};
  if (r.type == DTYPE_NONE) {
    elementwise_refuse(s, &e, name, "E0203");
    return;
  }
  for (int i = 0; i < 2; i++) // small numbers are equal more often, and exact in any type
    if (dtype_is_float(r.type) && !dtype_is_float(e.in[i]))
      e.draw[i] = DRAW_SMALL;
  if (a == b)
    elementwise_lengths(s, &e, name);
  else
    elementwise_once(s, &e, name);
}

// ---- i1 ----

static struct num logical(const struct num *in, const void *user) {
  const char *token = user;
  bool a = in[0].i != 0, b = in[1].i != 0;
  bool r = token[0] == '&' || token[0] == 'a'   ? a && b
           : token[0] == '|' || token[0] == 'o' ? a || b
           : token[0] == '~' || token[0] == 'n' ? !a
                                                : a != b;
  return num_int(DTYPE_I1, r);
}

static void booleans(struct suite *s) {
  static const struct {
    const char *expr, *token;
  } rows[] = {{"a & b", "&"},
              {"a | b", "|"},
              {"a ^ b", "^"},
              {"a and b", "a"},
              {"a or b", "o"},
              {"a != b", "!"},
              {"~a", "~"},
              {"not a", "n"},
              {"a.logical_and(b)", "a"},
              {"logical_or(a, b)", "o"}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    struct elementwise e = {.expr = rows[i].expr,
                            .arity = 2,
                            .in = {DTYPE_I1, DTYPE_I1},
                            .out = DTYPE_I1,
                            .reference = logical,
                            .user = rows[i].token};
    char name[64];
    snprintf(name, sizeof name, "%s i1,i1", rows[i].expr);
    elementwise_lengths(s, &e, name);
  }
}

static struct num truth(const struct num *in, const void *user) {
  struct num b[2];
  for (int i = 0; i < 2; i++)
    b[i] = num_cast(in[i], DTYPE_I1);
  return logical(b, user);
}

// `and`, `or` and `not` of numbers compare with 0 first.
static void truths(struct suite *s, enum dtype t) {
  static const char *const exprs[] = {"a and b", "or", "not a"};
  for (int i = 0; i < 3; i++) {
    struct elementwise e = {.expr = i == 1 ? "a or b" : exprs[i],
                            .arity = 2,
                            .in = {t, t},
                            .draw = {DRAW_SMALL, DRAW_SMALL},
                            .out = DTYPE_I1,
                            .reference = truth,
                            .user = exprs[i]};
    char name[64];
    snprintf(name, sizeof name, "%s %s", e.expr, dtype_name(t));
    elementwise_once(s, &e, name);
  }
}

void family_compare(struct suite *s) {
  for (size_t k = 0; k < COUNT_OF(tokens); k++) {
    for (size_t i = 0; i < COUNT_OF(number_types); i++)
      for (size_t j = 0; j < COUNT_OF(number_types); j++)
        pair(s, tokens[k], number_types[i], number_types[j]);
    pair(s, tokens[k], DTYPE_F8E5, DTYPE_F8E5);
    pair(s, tokens[k], DTYPE_F8E4NV, DTYPE_F8E4NV);
    pair(s, tokens[k], DTYPE_F8E5, DTYPE_I32);
  }
  booleans(s);
  for (size_t i = 0; i < COUNT_OF(number_types); i++)
    truths(s, number_types[i]);
}
