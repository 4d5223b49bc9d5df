// SPDX-License-Identifier: Apache-2.0
// Shared functions of the kernel generator.
#ifndef TESTS_FUZZ_MAKE_H
#define TESTS_FUZZ_MAKE_H

#include "kernel.h"

enum { NONE = VARS };

struct maker {
  struct kernel *k;
  struct block *block;             // that statements go into
  unsigned pool[VARS], pool_count; // variables that may be read here
  unsigned program;                // scalar
  unsigned counter;                // of the loop around, or NONE
  unsigned depth, sorts;
};

unsigned pick(struct maker *m, unsigned n);
bool chance(struct maker *m, unsigned in);
unsigned new_var(struct maker *m, enum dtype t, struct shape s); // NONE where there is no room
// Appends a statement; NULL if the kernel is full. Results are added to the pool.
struct statement *put(struct maker *m, enum op op, unsigned dst, unsigned a, unsigned b);
// A variable of the pool that `fits`, or NONE.
unsigned find(struct maker *m, bool (*fits)(const struct var *v, const void *user),
              const void *user);
unsigned find_like(struct maker *m, enum dtype t, struct shape s); // that type and shape
unsigned any_tile(struct maker *m);                                // rank 1 or more, not int1
struct shape random_shape(struct maker *m, unsigned log_count);
bool shape_equal(struct shape a, struct shape b);
enum dtype random_type(struct maker *m);

unsigned add_array(struct maker *m, enum dtype t, size_t count, bool is_output);
// A new array, loaded as such a tile; in a loop perhaps another part each iteration. `draw`: NULL
// as usual, or for products.
unsigned make_load(struct maker *m, enum dtype t, struct shape s, bool is_moderate);
unsigned make_cast(struct maker *m, unsigned v, enum dtype to);
void make_store(struct maker *m, unsigned v);

// Each appends one random step, or nothing.
void make_elementwise(struct maker *m);
void make_move(struct maker *m);
void make_across(struct maker *m);
void make_dot(struct maker *m);
void make_atomic(struct maker *m);
void make_control(struct maker *m);
void make_steps(struct maker *m, unsigned count);

#endif
