// SPDX-License-Identifier: Apache-2.0
// Matrices in double precision, stored beside the arrays of a case, and the comparison of a product
// with A B. Elements are small integers, whose sums are exact in any order, or
// numbers between -1 and 1, whose sums have a bounded error.
#ifndef TESTS_MATMUL_MATRIX_H
#define TESTS_MATMUL_MATRIX_H

#include "../language/tile.h"

struct matrix {
  size_t rows, columns;
  double *at; // rows one behind the other
};

struct matrix matrix_new(struct suite *s, size_t rows, size_t columns);
// The row of a matrix.
double *matrix_row(struct matrix m, size_t row);

// The layout of a matrix in an array: element (i, j) at first + i * row + j * column.
struct strides {
  size_t first, row, column;
};

// Draws integers of at most `limit` (0: numbers between -1 and 1) into the matrix and its array.
void matrix_draw(struct suite *s, struct matrix m, struct array *x, struct strides strides,
                 int limit);
// Fills an array with NaN, or with an outlier for integers, before matrices are drawn into it.
void array_poison(struct array *x);

// start + a b, then `finish` of it.
struct expected {
  struct matrix a, b;
  const double *start; // as many as the product has elements, or NULL
  double (*finish)(double v, size_t row, size_t column, const void *user); // or NULL
  const void *user;
  bool is_exact;
  double product, step; // what is lost of a product and of a sum, relative to the magnitudes
};

// Compares all elements: one by one, or for large products of integers by a random combination of
// the columns, and then some rows one by one.
void expect_product(struct suite *s, const struct array *out, struct strides strides,
                    const struct expected *e);

#endif
