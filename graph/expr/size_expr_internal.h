// SPDX-License-Identifier: Apache-2.0
// Shared by graph/expr/*.c: polynomials (sums of terms), and constructors of nodes that do not
// simplify.
#ifndef TILE_GRAPH_EXPR_EXPR_INTERNAL_H
#define TILE_GRAPH_EXPR_EXPR_INTERNAL_H

#include "base/map.h"
#include "graph/expr/size_expr.h"

enum {
  EXPR_MAX_TERMS = 48,     // of a sum that is simplified
  EXPR_MAX_FACTORS = 24,   // of a product
  EXPR_MAX_WEIGHT = 16384, // nodes of an expression, seen as a tree
  EXPR_MAX_DEPTH = 128,
  EXPR_MAX_BUSY = 24 // nesting of simplification rules
};

struct exprs {
  struct arena *arena;
  const struct expr **slots; // hash table of all nodes but symbols
  size_t slot_count, used;
  uint32_t next_id;
  unsigned busy;
  struct map sizes; // by name
};

// A constant times a product of factors: a MUL without constant, a single factor, or the
// constant 1.
struct term {
  int64_t coef;
  const struct expr *of;
};

// What the expression is known to equal (expr_equate); itself if nothing.
const struct expr *expr_known_as(const struct expr *e);

// A sum as its terms, ordered by the ids of their products, none with coefficient 0.
struct poly {
  size_t count;
  int64_t constant;
  bool overflow;
  struct term terms[EXPR_MAX_TERMS];
};

// A node with operands in canonical order, not simplified. Beyond the limits: expr_unfit.
const struct expr *expr_intern(struct exprs *x, enum expr_kind kind, int64_t value, uint32_t count,
                               const struct expr *const *in);
// The constant of an expression that is not representable: it `overflows`.
const struct expr *expr_unfit(struct exprs *x);

static inline size_t expr_factors(const struct expr *const *of, const struct expr *const **ret) {
  *ret = (*of)->kind == EXPR_MUL ? (*of)->in : of;
  return (*of)->kind == EXPR_MUL ? (*of)->count : 1;
}
bool expr_as_term(struct exprs *x, const struct expr *e, struct term *ret); // false for sums
const struct expr *term_expr(struct exprs *x, struct term t);
struct term term_mul(struct exprs *x, struct term a, struct term b, bool *ret_overflow);
// The product a / b if all factors of b are factors of a; coefficients are ignored.
bool product_divide(struct exprs *x, const struct expr *a, const struct expr *b,
                    const struct expr **ret);
// The common factors.
const struct expr *product_common(struct exprs *x, const struct expr *a, const struct expr *b);

void poly_init(struct poly *p);
void poly_add_term(struct exprs *x, struct poly *p, int64_t coef, const struct expr *of);
void poly_add(struct exprs *x, struct poly *p, const struct expr *e, int64_t times);
int64_t poly_coef(const struct poly *p, const struct expr *of); // 0 if there is no such term
const struct expr *poly_expr(struct exprs *x, struct poly *p);  // simplifies p first

// An expression that is >= e everywhere (<= e if not `upper`): axes are replaced by their last or
// first value, so that only sizes remain.
const struct expr *expr_bound(struct exprs *x, const struct expr *e, bool upper);

// c*(x // c) + x % c = x and its variations, until nothing changes (graph/expr/fold.c).
void poly_fold(struct exprs *x, struct poly *p);

static inline int64_t floor_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int64_t int_gcd(int64_t a, int64_t b) { // of magnitudes; INT64_MIN counts as 2^62
  a = a == INT64_MIN ? INT64_MAX / 2 + 1 : a < 0 ? -a : a;
  b = b == INT64_MIN ? INT64_MAX / 2 + 1 : b < 0 ? -b : b;
  while (b != 0) {
    int64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

#endif
