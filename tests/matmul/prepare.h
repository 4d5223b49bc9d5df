// SPDX-License-Identifier: Apache-2.0
// Functions of the forms of kernels (forms.c): p_NAME makes the array x of a form and
// changes the expected result; fits_NAME says which products it supports.
#ifndef TESTS_MATMUL_PREPARE_H
#define TESTS_MATMUL_PREPARE_H

#include "product.h"

bool fits_unrolled(const struct product *p);
bool fits_even(const struct product *p);
bool fits_promoted(const struct product *p);
bool fits_descriptors(const struct product *p);
bool fits_transposed_descriptors(const struct product *p);
bool fits_stored_descriptors(const struct product *p); // of C, too
bool fits_static(const struct product *p);
void p_persistent(struct product_run *r);
bool fits_one_k(const struct product *p);
void p_row_of_tiles(struct product_run *r);
bool fits_split(const struct product *p);
void p_split(struct product_run *r);
void p_gathered_rows(struct product_run *r);
void p_gathered_k(struct product_run *r);
void p_start(struct product_run *r);
void p_other(struct product_run *r);
bool fits_other(const struct product *p);
bool fits_cast_a(const struct product *p);
bool fits_cast_b(const struct product *p);
void p_scaled_rows(struct product_run *r);
bool fits_arithmetic(const struct product *p);
void p_scaled_k(struct product_run *r);
bool fits_same(const struct product *p);
void p_rectified(struct product_run *r);
bool fits_rectified(const struct product *p);
void p_no_loads(struct product_run *r);
void p_two_products(struct product_run *r);
bool fits_two_products(const struct product *p);
void p_row_sums(struct product_run *r);
bool fits_exact(const struct product *p);
void p_rescaled(struct product_run *r);
void p_skipped(struct product_run *r);
void p_epilogue(struct product_run *r);
void p_chained(struct product_run *r);
bool fits_chained(const struct product *p);
void p_through_memory(struct product_run *r);
bool fits_through_memory(const struct product *p);

#endif
