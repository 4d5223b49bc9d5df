// SPDX-License-Identifier: Apache-2.0
// Generators of inputs that are small to describe and large to compile, with tilec's expected
// message.
#ifndef TILE_TESTS_LIMITS_BOMBS_H
#define TILE_TESTS_LIMITS_BOMBS_H

#include <stdio.h>

struct bomb {
  const char *name;                 // its file: name and ending
  void (*write)(FILE *f, int size); // the input, of `size` parts
  int size;
  const char *options; // of tilec, separated by spaces
  const char *want;    // "" if it compiles, else the code of the error
};

extern const struct bomb language_bombs[], graph_bombs[],
    text_bombs[]; // each ends with a NULL name

#endif
