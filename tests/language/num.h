// SPDX-License-Identifier: Apache-2.0
// Numbers of the language's types for the references: integers as 64 bits that
// wrap at their type's width, floats as double, rounded only where the language rounds.
#ifndef TESTS_LANGUAGE_NUM_H
#define TESTS_LANGUAGE_NUM_H

#include "base/dtype.h"

struct num {
  enum dtype type;
  double f;  // floating point; not yet rounded to the type
  int64_t i; // integers: the value, for u64 its bits
};

struct num num_int(enum dtype type, int64_t bits);    // wraps
struct num num_float(enum dtype type, double value);  // exact, to be rounded
struct num num_number(enum dtype type, double value); // of either kind; integers truncate
struct num num_load(enum dtype type, const void *p);
void num_store(void *p, struct num v);
struct num num_round(struct num v); // as a store does
double num_double(struct num v);

// x.to(type): rounds to nearest even, truncates toward zero, wraps, compares with 0 for int1.
struct num num_cast(struct num v, enum dtype to);

// The promoted type of a binary operator's operands (section 4.3 of lang/REFERENCE.md);
// DTYPE_NONE if there is none. `divides`: `/` and `%`.
enum dtype num_promote(enum dtype a, enum dtype b, bool divides);

char num_kind(enum dtype t);            // 'b' int1, 'i', 'u', 'f', '8': 8-bit floating point
double num_ulp(enum dtype t, double v); // unit in the last place of `t` at v
double num_largest(enum dtype t);       // finite
int64_t num_min(enum dtype t);          // of an integer type
int64_t num_max(enum dtype t);          // of an integer type; of u64 its bits

// Whether `got` is within `ulps` units in the last place, or `atol`, of `want`.
bool num_agrees(struct num got, struct num want, double ulps, double atol);
void num_text(struct num v, char *text, size_t size);

#endif
