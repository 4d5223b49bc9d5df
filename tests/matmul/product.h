// SPDX-License-Identifier: Apache-2.0
// One matrix product: types, sizes, blocks, and the form of its kernel.
#ifndef TESTS_MATMUL_PRODUCT_H
#define TESTS_MATMUL_PRODUCT_H

#include "matrix.h"

struct types {
  enum dtype a, b, acc, out;
  const char *precision; // of tl.dot, or NULL
  double product, step;  // relative error of a product and of a sum
};

struct blocks {
  unsigned m, n, k;
};

struct product {
  const struct types *types;
  const struct form *form;
  size_t m, n, k;
  struct blocks block;
  unsigned warps, stages;
  bool a_columns, b_columns; // stored by columns
  unsigned pad;              // elements between the rows in memory; 16: up to a multiple of 16
  bool is_rounded;           // numbers between -1 and 1 instead of integers
};

// The state of a test of one product.
struct product_run {
  struct suite *s;
  const struct product *p;
  int limit; // of the integers, 0: between -1 and 1
  struct array *a, *b, *c;
  struct strides at_a, at_b, at_c;
  struct expected e;
  tile_grid grid;
};

// A way to write the kernel. Kernels are
//   k(a_ptr, b_ptr, c_ptr, x_ptr, M, N, K, sam, sak, sbk, sbn, scm)
// with the constants BM, BN, BK, STAGES, ACC, OUT; $ is replaced by the options of tl.dot.
struct form {
  const char *name;
  bool whole_text; // the body is a function of its own; otherwise it makes `acc` from
                   // am, bn and k, the indices along M, N and K of a tile
  const char *body;
  // Makes the array x and changes the expected result; NULL: x is unused.
  void (*prepare)(struct product_run *r);
  bool (*fits)(const struct product *p); // or NULL: any
};

extern const struct form forms[];
extern const size_t form_count;
const struct form *form_named(const char *name);

extern const struct types product_types[];
extern const size_t product_types_count;

// Shared memory of the stages of both operands.
size_t product_shared_bytes(const struct product *p);
// Whether the blocks fit in registers and shared memory, and the form supports such sizes.
bool product_fits(const struct product *p);
void product_case(struct suite *s, const struct product *p);

// ---- the parts of the program ----

// Cases of the random part: `count` from `seed` on.
struct settings {
  unsigned long count, seed;
};

void test_shapes(struct suite *s, const struct settings *t);
void test_forms(struct suite *s, const struct settings *t);
void test_batches(struct suite *s, const struct settings *t);
void test_descriptor_batches(struct suite *s); // part of the batches
void test_attention(struct suite *s, const struct settings *t);
void test_random(struct suite *s, const struct settings *t);

#endif
