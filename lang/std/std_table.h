// SPDX-License-Identifier: Apache-2.0
// The functions of lang/std/*.tile, sorted by name; written by embed_std.c at build time.
#ifndef TILE_LANG_STD_STD_TABLE_H
#define TILE_LANG_STD_STD_TABLE_H

#include <stddef.h>

struct std_row {
  const char *name;
  const char *params; // "x axis= *rest", as in builtins.def
  const char *file;   // "std/standard.tile"
  const char *text;   // of the function alone
  size_t len;
};

extern const struct std_row std_table[];
extern const size_t std_table_len;

// NULL: the library has no function of that name.
const struct std_row *std_row_find(const char *name);

#endif
