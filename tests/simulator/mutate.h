// SPDX-License-Identifier: Apache-2.0
// One deliberate fault in PTX text. A mutation selects an instruction by a part of its line and
// changes it; it applies to exactly one line, or fails.
#ifndef TESTS_SIMULATOR_MUTATE_H
#define TESTS_SIMULATOR_MUTATE_H

#include "base/arena.h"
#include "base/str.h"

enum mutation_kind {
  DROP,    // removes the line
  REPLACE, // `from` in the line becomes `to`
  INSERT,  // inserts `to` after the line; $1, $2, ... in `to` are the line's registers in order
  SWAP,    // its registers number from[0] and to[0], counted from '1', are swapped
  NEGATE,  // the guard `@%p` becomes `@!%p`, and vice versa
  UNGUARD, // removes the guard
  OPERAND, // its operand number from[0], counted from '1', becomes `to`, with $1 ... as INSERT
  LOWER,   // the line moves below the next one
  REWRITE, // the line becomes `to`, with $1 ... as INSERT
};

struct mutation {
  const char *name;
  enum mutation_kind kind;
  const char *line;    // part of the line
  unsigned occurrence; // which of those lines, from 1
  unsigned below;      // selects the line so many lines below instead
  const char *from, *to;
  const char *only; // target that has the instruction; NULL: all
};

// The mutated text, NUL-terminated, on `a`; NULL if there is no such line, or nothing to change in
// it.
const char *mutate(struct arena *a, const char *ptx, const struct mutation *m);

#endif
