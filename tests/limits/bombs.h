// SPDX-License-Identifier: Apache-2.0
// Small programs that make large inputs, and what tilec has to say to each.
#ifndef TILE_TESTS_LIMITS_BOMBS_H
#define TILE_TESTS_LIMITS_BOMBS_H

#include <stdio.h>

struct bomb {
  const char *name;                 // its file: name and ending
  void (*write)(FILE *f, int size); // the input, of `size` parts
  int size;
  const char *options; // of tilec, separated by spaces
  const char *want;    // "" where it is compiled, else the code of the refusal
};

extern const struct bomb language_bombs[], graph_bombs[],
    text_bombs[]; // each ends with a NULL name

#endif
