// SPDX-License-Identifier: Apache-2.0
// Random well-typed kernels as data: generated from a seed (make.c), printed as source (text.c),
// and evaluated by a reference interpreter in double precision and 64-bit integers (eval*.c), which
// computes an error bound for every element.
#ifndef TESTS_FUZZ_KERNEL_H
#define TESTS_FUZZ_KERNEL_H

#include "../../language/num.h"
#include "base/arena.h"
#include "base/str.h"

enum { RANK_MAX = 4, VARS = 160, BODY = 48, ARRAYS = 14, COUNT_MAX = 4096, TRIPS_MAX = 4 };

// Rank 0 is a scalar.
struct shape {
  unsigned rank, dim[RANK_MAX];
};

// One element of a value. A right result is within `err` of f; 0: it equals f, except for the sign
// of zero.
struct cell {
  double f, err; // floating point
  int64_t i;     // integers and booleans
  bool wild;     // any result is right: undefined, or decided by digits that rounding may change
  bool product;  // may be fused with what adds to it: it is then not rounded
  // For a matrix product: an addend may become the first term of its sum (as Triton folds
  // `dot + x` into the accumulator), and then every step rounds by `step` of all magnitudes.
  // step 0: not a matrix product. Sums of integers within `whole` stay exact.
  double magnitude, step, whole;
};

struct var {
  enum dtype type;
  struct shape shape;
  struct cell *cells; // of the program that is evaluated
};

enum op {
  OP_PROGRAM, // dst: linear program id
  OP_INDEX,   // dst: row-major offsets of its shape; src[0]: scalar that it begins at, times the
              // count; number[0]: permuted
  OP_LOAD,   // dst = array number[0] at src[0]; number[1]: masked by number[2] > offset; number[3]:
             // other, in f16 or bf16
  OP_STORE,  // array number[0] at src[0] = src[1]; number[1], number[2] as above
  OP_ATOMIC, // word(array number[0] at src[0] modulo number[1], src[1])
  OP_FULL,   // dst = number[0] / 4 everywhere
  OP_BINARY, // word: the operator
  OP_LITERAL, // src[0] word number[0]
  OP_COMPARE, // word
  OP_EXTREME, // word: minimum, maximum
  OP_WHERE,   // src[0] ? src[1] : src[2]
  OP_UNARY,   // word: abs, -, exp, ...
  OP_CAST,
  OP_BITCAST,
  OP_EXPAND, // axis number[0] of size 1 inserted
  OP_BROADCAST,
  OP_RESHAPE,
  OP_TRANS, // number[]: the permutation
  OP_JOIN,
  OP_SPLIT,  // two results
  OP_FLIP,   // axis number[0]
  OP_GATHER, // src[0] along axis number[0] by src[1]
  OP_REDUCE, // word: sum, max, min, xor_sum, argmax, argmin; axis number[0]; number[1]: keep_dims
  OP_SCAN,   // word: cumsum, cumprod; axis number[0]; number[1]: reverse
  OP_FOLD,   // tl.reduce of src[0..count) by function number[1]; axis number[0]
  OP_FOLD_SCAN, // the same by associative_scan; number[2]: reverse
  OP_SORT,      // number[0]: descending
  OP_HISTOGRAM, // number[0]: bins; src[0] holds no others
  OP_DOT,       // word: input precision, or NULL; src[2]: accumulator
  OP_COPY,      // dst = src[0], for variables that loops and branches change
  OP_FOR,   // dst: counter; number[0]: trips; number[1]: stages, 0: range; number[2]: bound is an
            // argument
  OP_WHILE, // dst: counter, below number[0]
  OP_IF,    // src[0]: scalar condition
};

struct block {
  struct statement *at[BODY];
  unsigned count;
};

struct statement {
  enum op op;
  unsigned dst[3], dst_count, src[4], src_count;
  int number[6];
  const char *word;
  struct block *body, *other;
};

struct array {
  enum dtype type;
  size_t count;
  bool is_output;
  unsigned char *bytes; // before the launch
  struct cell *cells;   // inputs: what they hold; outputs: what is expected
  bool *is_written;     // outputs: others keep their bytes
  // For atomic sums, whose order is undefined: the magnitudes added to each element.
  struct atomic_sum {
    double magnitude;
    unsigned long count;
    bool is_whole;
  } * sums;
};

// A combine function: component j combines by words[j].
struct combine {
  unsigned count;
  const char *words[3];
  enum dtype types[3];
};

struct kernel {
  struct arena *arena;
  uint64_t random;
  struct var vars[VARS];
  unsigned var_count;
  struct array arrays[ARRAYS];
  unsigned array_count;
  struct combine combines[4];
  unsigned combine_count;
  struct block top;
  unsigned grid[3], programs;
  int32_t trips; // a scalar argument, number of iterations where those are not constants
  bool is_elementwise, has_dot; // nothing crosses elements: every launch shape gives the same bits
};

// Makes kernel `seed`: statements, arrays and their contents. All on `a`.
struct kernel *kernel_make(struct arena *a, uint64_t seed);
void kernel_write(const struct kernel *k, struct strbuf *out);
// Fills `cells` and `is_written` of the outputs.
void kernel_evaluate(struct kernel *k);
// Whether element i of an output may be `got`.
bool kernel_agrees(const struct array *a, size_t i, struct num got);

// ---- within ----
size_t shape_count(struct shape s);
void eval_elementwise(struct kernel *k, const struct statement *s);
void eval_across(struct kernel *k, const struct statement *s);
struct cell cell_of(struct num v);
struct num cell_num(enum dtype t, struct cell c);
struct cell cell_cast(struct cell c, enum dtype from, enum dtype to);
struct cell cell_combine(const char *word, enum dtype t, struct cell a, struct cell b);
// Rounds f to `t` and adds the rounding error to the bound.
struct cell cell_round(enum dtype t, double f, double err);
// Sums of integers up to this magnitude are exact in the type, in any order.
double cell_whole(enum dtype t);

#endif
