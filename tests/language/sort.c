// SPDX-License-Identifier: Apache-2.0
// sort, argsort, topk, flip, gather, histogram: operations that move elements by their values or
// indices.
#include "across.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
  bool descending;
  bool is_index; // argsort
};

struct ranked {
  struct num v;
  size_t at;
};

static int ascending(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  int order = num_order(x->v, y->v);
  return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int descending(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  int order = num_order(y->v, x->v);
  return order ? order : (x->at > y->at) - (x->at < y->at);
}

static void r_sort(const struct num *line, size_t n, struct num *ret, double *ret_atol,
                   const void *user) {
  static struct ranked all[LINE_MAX];
  const struct row *r = user;
  (void)ret_atol;
  for (size_t k = 0; k < n; k++)
    all[k] = (struct ranked){line[k], k};
  qsort(all, n, sizeof all[0], r->descending ? descending : ascending);
  for (size_t k = 0; k < n; k++)
    ret[k] = r->is_index ? num_int(DTYPE_I32, (int64_t)all[k].at) : all[k].v;
}

static void r_flip(const struct num *line, size_t n, struct num *ret, double *ret_atol,
                   const void *user) {
  (void)user, (void)ret_atol;
  for (size_t k = 0; k < n; k++)
    ret[k] = line[n - 1 - k];
}

static const struct tile shapes[] = {{1, {2}},     {1, {32}},     {1, {256}},
                                     {1, {512}},   {2, {8, 32}},  {2, {32, 8}},
                                     {2, {1, 64}}, {2, {16, 64}}, {3, {2, 4, 16}}};

// Along the last axis.
static void line_case(struct suite *s, const char *expr, struct tile shape, enum dtype t,
                      enum dtype out, unsigned length, const struct row *r, unsigned warps) {
  struct across a = {.expr = expr,
                     .in = shape,
                     .axis = shape.rank - 1,
                     .out_length = length,
                     .type = t,
                     .out_type = out,
                     .draw = DRAW_SMALL,
                     .reference = r_sort,
                     .user = r,
                     .ulps = 0.5, // zeros of both signs are equal
                     .warps = warps};
  if (warps % 4 == 1 && !r->is_index && num_kind(t) != '8')
    a.draw = DRAW_ANY;
  across_case(s, expr, &a);
}

static void sorts(struct suite *s, struct tile shape, enum dtype t, unsigned warps) {
  unsigned n = shape.dim[shape.rank - 1];
  for (int falls = 0; falls < 2; falls++) {
    struct row r = {falls, false};
    line_case(s, falls ? "tl.sort(a, descending=True)" : "tl.sort(a)", shape, t, t, n, &r, warps);
    r.is_index = true;
    line_case(s, falls ? "tl.argsort(a, descending=True)" : "tl.argsort(a)", shape, t, DTYPE_I32, n,
              &r, warps);
    r.is_index = false;
    for (unsigned k = 1; k <= n; k *= 8) {
      char expr[64];
      snprintf(expr, sizeof expr, "tl.topk(a, %u, descending=%s)", k, falls ? "True" : "False");
      line_case(s, expr, shape, t, t, k, &r, warps);
    }
  }
}

static void flips(struct suite *s, struct tile shape, enum dtype t, unsigned warps) {
  for (unsigned axis = 0; axis < shape.rank; axis++) {
    char expr[32];
    snprintf(expr, sizeof expr, "tl.flip(a, %u)", axis);
    struct across a = {.expr = expr,
                       .in = shape,
                       .axis = axis,
                       .out_length = shape.dim[axis],
                       .type = t,
                       .out_type = t,
                       .draw = DRAW_FINITE,
                       .reference = r_flip,
                       .warps = warps};
    across_case(s, expr, &a);
  }
}

void family_sort(struct suite *s) {
  static const enum dtype types[] = {DTYPE_F32, DTYPE_I32, DTYPE_F16, DTYPE_U8, DTYPE_I64};
  for (size_t k = 0; k < COUNT_OF(shapes); k++)
    for (size_t t = 0; t < COUNT_OF(types); t++) {
      unsigned warps = 1u << (k + t) % 5;
      if (tile_count(shapes[k]) <= 256 || t == k % 2) // long networks are slow to compile
        sorts(s, shapes[k], types[t], warps);
      flips(s, shapes[k], types[t], warps);
    }
}
