// SPDX-License-Identifier: Apache-2.0
// Symbolic integers: sizes of tensors, and element offsets as functions of loop variables. They are
// hash-consed in a canonical form: equal expressions have equal pointers where the rules below can
// decide it.
//
// Canonical form: a sum of terms, each a constant times a product of factors (symbols, floor
// divisions, remainders, minima, maxima), terms and factors ordered by id. Division and remainder
// round towards minus infinity, and are 0 where the divisor is 0. The ranges of symbols simplify
// them where that is exact: (32*a + b) // 32 = a and (32*a + b) % 32 = b for 0 <= b < 32; and 32*(x
// // 32) + x % 32 = x. Sums of more than 48 terms and products of long sums are correct but not
// canonical. An expression of more than 4096 nodes or a depth above 128 `overflows`.
#ifndef TILE_GRAPH_EXPR_EXPR_H
#define TILE_GRAPH_EXPR_EXPR_H

#include "base/arena.h"
#include "base/str.h"

#include <assert.h>

enum expr_kind {
  EXPR_CONST,
  EXPR_SYMBOL,
  EXPR_ADD, // of two or more terms
  EXPR_MUL, // of two or more factors; a constant comes first
  EXPR_FLOORDIV,
  EXPR_MOD,
  EXPR_MIN,
  EXPR_MAX
};

struct scalar;

// What a symbol represents. Sizes belong to the graph; axes and indirect indices belong to one
// kernel.
struct symbol {
  const char *name;
  int64_t lo, hi;                // inclusive; INT64_MAX: no known upper bound
  const struct expr *limit;      // exclusive upper bound (extent of an axis); NULL: only `hi`
  int64_t hint;                  // a size's likely value; 0: none
  const struct scalar *indirect; // a loaded index: its value (graph/loops/loops.h); else NULL
};

struct expr {
  enum expr_kind kind;
  uint32_t id;    // in the order of creation: sorts terms
  uint32_t count; // of `in`
  int64_t value;  // of a constant
  const struct symbol *symbol;
  const struct expr *const *in;
  int64_t lo, hi; // all values are in this range; INT64_MIN, INT64_MAX: unknown
  bool overflows; // some value of it or of an operand may not fit 64 bits
};

// Builds and owns expressions, on the arena. Not thread-safe. The calls below return NULL only when
// out of memory; results beyond 64 bits are clamped constants that `overflow`.
struct exprs;
struct exprs *exprs_create(struct arena *a);

const struct expr *expr_const(struct exprs *x, int64_t value);
// A new symbol each time. `limit` may be NULL.
const struct expr *expr_symbol(struct exprs *x, const char *name, int64_t lo, int64_t hi,
                               const struct expr *limit);
// A dimension's size: at least `lo`, probably `hint`. The same name gives the same symbol.
const struct expr *expr_size(struct exprs *x, const char *name, int64_t lo, int64_t hi,
                             int64_t hint);
// Sets another hint for an existing size. False: there is none of that name.
bool expr_set_hint(struct exprs *x, const char *name, int64_t hint);
// A loaded index, in [0, limit).
const struct expr *expr_indirect(struct exprs *x, const char *name, const struct scalar *of,
                                 const struct expr *limit);

// The extent of an axis, which is a symbol that has a limit.
static inline const struct expr *axis_extent(const struct expr *axis) {
  assert(axis->kind == EXPR_SYMBOL && axis->symbol->limit);
  return axis->symbol->limit;
}

const struct expr *expr_add(struct exprs *x, const struct expr *a, const struct expr *b);
const struct expr *expr_sub(struct exprs *x, const struct expr *a, const struct expr *b);
const struct expr *expr_mul(struct exprs *x, const struct expr *a, const struct expr *b);
const struct expr *expr_floordiv(struct exprs *x, const struct expr *a, const struct expr *b);
// q with q * d = e for all values of the symbols; NULL if there is none or it is unknown.
const struct expr *expr_divide_exactly(struct exprs *x, const struct expr *e, const struct expr *d);
const struct expr *expr_mod(struct exprs *x, const struct expr *a, const struct expr *b);
const struct expr *expr_min(struct exprs *x, const struct expr *a, const struct expr *b);
const struct expr *expr_max(struct exprs *x, const struct expr *a, const struct expr *b);
const struct expr *expr_cdiv(struct exprs *x, const struct expr *a, const struct expr *b);
const struct expr *expr_addi(struct exprs *x, const struct expr *a, int64_t b);
const struct expr *expr_muli(struct exprs *x, const struct expr *a, int64_t b);
// The product of all; 1 for none.
const struct expr *expr_product(struct exprs *x, const struct expr *const *of, size_t count);

bool expr_is_const(const struct expr *e, int64_t *ret); // ret may be NULL
static inline bool expr_is(const struct expr *e, int64_t value) {
  return e->kind == EXPR_CONST && e->value == value;
}
// The constant of an expression that is not representable. The rules may assume that no other one
// overflows: sizes for which an expression would leave 64 bits are not those of existing tensors,
// whose bytes are bounded.
static inline bool expr_is_unfit(const struct expr *e) {
  return e->kind == EXPR_CONST && e->overflows;
}
// Its nodes, seen as a tree. Beyond EXPR_MAX_WEIGHT an expression becomes unfit.
uint32_t expr_weight(const struct expr *e);
// The value for likely sizes; other symbols count as 0. For heuristics, never for correctness.
int64_t expr_hint(const struct expr *e);
// The same, but 1024 if sizes without a hint make it 0.
static inline int64_t expr_likely(const struct expr *e) {
  int64_t value = expr_hint(e);
  return value > 0 || expr_is_const(e, NULL) ? value : 1024;
}
// The product of two likely sizes, none of them negative; at most 2^56, so that it does not
// overflow.
static inline int64_t expr_likely_product(int64_t x, int64_t y) {
  const int64_t most = INT64_C(1) << 56;
  return y > 0 && x > most / y ? most : x * y;
}
bool expr_has_symbol(const struct expr *e, const struct expr *symbol);
// Is every value a multiple of k? False if unknown.
bool expr_is_multiple(const struct expr *e, int64_t k);
// Is it known that 0 <= e < limit?
bool expr_is_within(struct exprs *x, const struct expr *e, const struct expr *limit);
// Splits e = coefficient * symbol + rest, where neither contains the symbol; false if e is not
// linear in it.
bool expr_linear(struct exprs *x, const struct expr *e, const struct expr *symbol,
                 const struct expr **ret_coefficient, const struct expr **ret_rest);

// A term of a sum: an expression times a constant.
enum { EXPR_SUMMANDS = 64 };
struct expr_summand {
  const struct expr *of;
  int64_t times;
};
// The terms of a sum, constants last; those of one symbol in mixed-radix digits if that is simpler,
// which makes all of them at least 0: m // 49 * 3136 + m % 49 instead of 64*m - 63*(m % 49).
// Returns how many: at most EXPR_SUMMANDS, further ones are left out.
uint32_t expr_summands(struct exprs *x, const struct expr *sum, struct expr_summand *ret);

// Two expressions that are equal for all sizes that the caller accepts: from here on both are built
// as the simpler one, which it returns. Expressions that contain the other already keep it, and so
// do symbols.
const struct expr *expr_equate(const struct expr *a, const struct expr *b);

// e with each symbol from[i] replaced by to[i], in canonical form.
const struct expr *expr_substitute(struct exprs *x, const struct expr *e, size_t count,
                                   const struct expr *const *from, const struct expr *const *to);

// The value where symbol i of `symbols` is values[i]. False if a symbol is missing or the value
// overflows.
bool expr_eval(const struct expr *e, size_t count, const struct expr *const *symbols,
               const int64_t *values, int64_t *ret);

// "4*s0 + 1", in Python's syntax, with the fewest brackets.
void expr_print(const struct expr *e, struct strbuf *out);

#endif
